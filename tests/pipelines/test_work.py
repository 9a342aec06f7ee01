"""WorkQueue: what begins next, keys, limits, errors, interrupts, endings; at last all of it at once, at random.

A gate before each run takes the place of time: what happens while an item runs is done while the gate is shut.
"""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import gc
import itertools
import linecache
import logging
import random
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from support import interrupted_when, wait_for

import tf1sessions as t1
from tf1sessions.errors import (
    ClosedError,
    ConfigError,
    DeadlineError,
    Overloaded,
    StragglerError,
    UsageError,
)
from tf1sessions.pipelines import keyed_schedule, work
from tf1sessions.pipelines.work import WorkQueue
from tf1sessions.sessions.watchdog import watchdog

DEADLINE = 30.0


@pytest.fixture(scope="module")
def tf():
    return t1.tf1


@pytest.fixture(scope="module")
def graph(tf) -> Iterator[types.SimpleNamespace]:
    """One session with what most tests feed and fetch."""
    with t1.GraphSession() as gs:
        found = types.SimpleNamespace(gs=gs)
        found.x = tf.placeholder(tf.float32, [], name="x")
        found.y = tf.multiply(found.x, 2.0, name="y")
        found.checked = tf.check_numerics(found.y, "not a number", name="checked")
        found.queue = tf.FIFOQueue(100, tf.float32, [], name="queue")
        found.put = found.queue.enqueue(found.x, name="put")
        found.get = found.queue.dequeue(name="get")
        gs.seal()
        yield found


@pytest.fixture(autouse=True)
def no_second_look(monkeypatch):
    """What waits for work must not depend on looking again after a while."""
    monkeypatch.setattr(work, "_IDLE_SECS", 1000.0)


class Gate:
    """Stands before each run of a queue: notes what runs, and lets it pass when it is open, or has been let in."""

    def __init__(self, queue: WorkQueue, is_open: bool = False) -> None:
        self.begun: list[Any] = []
        self.ended: list[Any] = []
        self.threads: set[threading.Thread] = set()
        self.is_open = is_open
        self.arrived = threading.Semaphore(0)
        self._changed = threading.Condition()
        self._allowed: set[Any] = set()
        self._run = queue._run
        queue._run = self.run

    def run(self, fetches: Any, feeds: Any) -> Any:
        [value] = feeds.values()
        value = value.item() if isinstance(value, np.ndarray) else value
        with self._changed:
            self.begun.append(value)
            self.threads.add(threading.current_thread())
            self.arrived.release()
            let_in = self._changed.wait_for(lambda: self.is_open or value in self._allowed, DEADLINE)
            assert let_in, f"{value} was not let in"
        try:
            return self._run(fetches, feeds)
        finally:
            with self._changed:
                self.ended.append(value)

    def let(self, *values: Any) -> None:
        with self._changed:
            self._allowed.update(values)
            self._changed.notify_all()

    def open(self) -> None:
        with self._changed:
            self.is_open = True
            self._changed.notify_all()

    def wait_for(self, count: int = 1) -> None:
        """Waits until so many more runs have begun."""
        for _ in range(count):
            assert self.arrived.acquire(timeout=DEADLINE), "nothing is run"


def threads_of(queue_or_name: Any) -> list[threading.Thread]:
    name = getattr(queue_or_name, "name", queue_or_name)
    return [thread for thread in threading.enumerate() if thread.name.startswith(f"{name}-")]


def waits(queue: WorkQueue) -> None:
    """Returns when a worker waits in a run."""
    wait_for(lambda: any(watchdog.call_of(thread.ident) for thread in threads_of(queue)), "it waits")


@contextlib.contextmanager
def callers(count: int = 1) -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    with concurrent.futures.ThreadPoolExecutor(count) as executor:
        yield executor


@contextlib.contextmanager
def busy(queue: WorkQueue, graph: Any, count: int | None = None, **named: Any) -> Iterator[Gate]:
    """All workers (or so many) run items -1, -2, ... until the block lets them; its end opens the gate."""
    gate = Gate(queue)
    count = queue._workers if count is None else count
    futures = [submit(queue, graph, -1 - index, **named) for index in range(count)]
    gate.wait_for(count)
    del gate.begun[:]
    try:
        yield gate
    finally:
        gate.open()
    for future in futures:
        future.result(DEADLINE)


def results(futures: Iterable[Any]) -> list[float]:
    return [float(future.result(DEADLINE)) for future in futures]


def submit(queue: WorkQueue, graph: Any, value: float, *args: Any, **named: Any) -> Any:
    return queue.submit(graph.y, {"x:0": np.float32(value)}, *args, **named)


# ----------------------------------------------------------------------------------------------------- the schedule


class Reference:
    """The rules, in the words of the documentation: slow, and easy to read."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []  # in order of submission
        self.busy: set[Any] = set()

    def next(self) -> Any:
        groups: dict[Any, list[Any]] = {}
        for item in self.waiting:
            group = ("key", item.key) if item.key is not None else ("item", item.number)
            groups.setdefault(group, []).append(item)
        ready = [group for (kind, key), group in groups.items() if kind == "item" or key not in self.busy]
        if not ready:
            return None
        most_urgent = min(ready, key=lambda group: min((item.rank[0], item.number) for item in group))
        return most_urgent[0]

    def take(self) -> Any:
        item = self.next()
        if item is not None:
            self.waiting.remove(item)
            if item.key is not None:
                self.busy.add(item.key)
        return item


class Interrupts:
    """Raises KeyboardInterrupt in this thread before a certain line that a block executes, of work.py or its schedule.

    An interrupt cannot come between the last line of a ``with`` block and its lock's release, although there is an
    event for it; nor does it come in the code of other files.
    """

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0
        self.place: str | None = None

    def _trace(self, frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename not in (work.__file__, keyed_schedule.__file__):
            return None
        if event == "line" and not self._releases(frame):
            self.count += 1
            if self.count == self.at:
                self.place = f"{frame.f_code.co_name}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self._trace

    def _releases(self, frame: Any) -> bool:
        lock = getattr(frame.f_locals.get("self"), "_lock", None)
        return (
            lock is not None and lock.locked() and "with self._lock" in linecache.getline(work.__file__, frame.f_lineno)
        )

    @property
    def came(self) -> bool:
        return self.place is not None

    @contextlib.contextmanager
    def __call__(self) -> Iterator[Interrupts]:
        before = sys.gettrace()
        sys.settrace(self._trace if self.at else before)
        try:
            yield self
        except KeyboardInterrupt:
            assert self.came
        finally:
            sys.settrace(before)


def item_of(draw: random.Random, number: int) -> Any:
    deadline = draw.choice([None, None, draw.randrange(200)])
    item = work._WorkItem(
        None, None, None, draw.choice([0, 0, 0, 1, -1, 0.5, 10]), draw.choice([None, "a", "b", 3]), None
    )
    item.deadline = deadline
    item.enter(number)
    return item


@pytest.mark.parametrize("interrupts", [False, True], ids=["", "interrupted"])
def test_the_schedule_does_what_the_rules_say(interrupts):
    begun = drained = came = 0
    for seed in range(200):
        draw = random.Random(seed)
        schedule, rules = keyed_schedule.KeyedSchedule(), Reference()
        running: list[Any] = []
        numbers = itertools.count()
        for now in range(200):
            step = draw.random()
            interrupt = Interrupts(draw.randrange(1, 30) if interrupts and draw.random() < 0.3 else 0)
            if step < 0.45:
                item = item_of(draw, next(numbers))
                with interrupt():
                    schedule.add(item)
                came += interrupt.came
                if interrupt.came:
                    schedule.remove(item)
                else:
                    rules.waiting.append(item)
            elif step < 0.65:
                expected = rules.take()
                item = schedule.take()
                assert item is expected, (seed, now)
                if item is not None:
                    running.append(item)
                    begun += 1
            elif step < 0.85 and running:
                item = running.pop(draw.randrange(len(running)))
                schedule.ended(item)
                rules.busy.discard(item.key)
            elif step < 0.95 and rules.waiting:
                item = draw.choice(rules.waiting)
                rules.waiting.remove(item)
                with interrupt():
                    assert schedule.remove(item)
                came += interrupt.came
                if interrupt.came:
                    schedule.remove(item)
                assert not schedule.remove(draw.choice([item, *running]))
            else:
                late = [item for item in rules.waiting if item.deadline is not None and item.deadline <= now]
                found = []
                while (item := schedule.expired(now)) is not None:
                    if schedule.remove(item):
                        found.append(item)
                assert sorted(item.number for item in found) == [item.number for item in late]
                for item in late:
                    rules.waiting.remove(item)
                deadlines = [item.deadline for item in rules.waiting if item.deadline is not None]
                assert schedule.next_deadline() == min(deadlines, default=None)
            assert list(schedule.waiting.values()) == rules.waiting
        for item in running:
            schedule.ended(item)
        rules.busy.clear()
        while (expected := rules.take()) is not None:
            assert schedule.take() is expected
            schedule.ended(expected)
            rules.busy.clear()
            drained += 1
        assert schedule.take() is None
        assert schedule.next_deadline() is None
        assert not schedule.waiting and not schedule.key_queues and not schedule.ready.things
    assert begun > 2000 and drained > 1000 and (came > 2000) == interrupts, (begun, drained, came)


def test_an_item_that_an_interrupt_has_left_half_in_the_schedule_is_passed_over():
    for key in (None, "a"):
        for at in itertools.count(1):
            schedule = keyed_schedule.KeyedSchedule()
            first, second = (item_of(random.Random(0), number) for number in range(2))
            for item in (first, second):
                item.key, item.deadline = key, 5
                schedule.add(item)
            interrupt = Interrupts(at)
            with interrupt():
                schedule.remove(first)
            if first.number not in schedule.waiting:
                assert schedule.take() is second
                schedule.ended(second)
                assert schedule.take() is None and not schedule.key_queues
            if not interrupt.came:
                break
        assert at > 5


def test_what_is_gone_does_not_pile_up_in_the_schedule():
    schedule = keyed_schedule.KeyedSchedule()
    draw = random.Random(0)
    kept = item_of(draw, 0)
    kept.rank, kept.key, kept.deadline = (-5, 0), "a", None
    schedule.add(kept)
    for number in range(1, 2000):
        item = item_of(draw, number)
        schedule.add(item)
        schedule.remove(item)
    lines = [schedule.ready, schedule.deadlines, *schedule.key_queues.values()]
    assert [len(line.things) for line in lines] == [1, 0, 1]
    assert all(len(line._heap) <= 40 for line in lines)


# ------------------------------------------------------------------------------------------------ requests, results


def test_items_of_any_fetches_and_feeds(graph, tf):
    with WorkQueue(graph.gs, 2) as queue:
        futures = [
            queue.submit(graph.y, {graph.x: 1.0}),
            queue.submit({"a": [graph.y, "checked:0"], "b": (graph.x,)}, {"x:0": np.float32(2)}),
            queue.submit("y:0", {graph.x: 3}),
            queue.submit(graph.put, {graph.x: 4.0}),
            queue.submit(graph.get),
        ]
        assert all(isinstance(future, concurrent.futures.Future) for future in futures)
        found = [future.result(DEADLINE) for future in futures]
    assert found == [2.0, {"a": [4.0, 4.0], "b": (2.0,)}, 6.0, None, 4.0]
    assert isinstance(found[0], np.float32)


@pytest.mark.parametrize("kind", ["Session", "InteractiveSession"])
def test_a_session_of_tensorflow(tf, kind):
    """What runs in it is known to the watchdog, and its results are the caller's own."""
    with tf.Graph().as_default(), contextlib.closing(getattr(tf, kind)()) as session:
        x = tf.placeholder(tf.float32, [])
        constant = tf.constant([1.0, 2.0])
        items = tf.FIFOQueue(1, tf.float32, [[]])
        with WorkQueue(session) as queue:
            assert queue.submit(x * 2.0, {x: 1.0}).result(DEADLINE) == 2.0
            queue.submit(constant).result(DEADLINE)[:] = 7.0
            assert queue.submit(constant).result(DEADLINE).tolist() == [1.0, 2.0]
            taken = queue.submit(items.dequeue())
            wait_for(lambda: [call for call in watchdog.calls() if call.session is session], "a call that waits")
            session.run(items.enqueue(3.0))
            assert taken.result(DEADLINE) == 3.0


def test_a_session_that_runs_its_own_way_keeps_it(tf):
    class Counted(tf.Session):
        runs = 0

        def run(self, *args, **kwargs):
            self.runs += 1
            return super().run(*args, **kwargs)

    with tf.Graph().as_default(), Counted() as session, WorkQueue(session) as queue:
        assert queue.submit(tf.constant(2.0)).result(DEADLINE) == 2.0
        assert session.runs == 1


def test_what_is_no_session_is_refused(tf):
    with pytest.raises(ConfigError, match=r"session is 7 \(from WorkQueue\)\. .*InteractiveSession"):
        WorkQueue(7)


def test_the_dict_of_feeds_may_be_filled_again(graph):
    feeds = {}
    with WorkQueue(graph.gs, 1) as queue:
        with busy(queue, graph):
            futures = []
            for value in range(3):
                feeds["x:0"] = float(value)
                futures.append(queue.submit(graph.y, feeds))
        assert results(futures) == [0, 2, 4]


def test_items_in_asyncio(graph):
    async def ask(queue: WorkQueue) -> Any:
        first, second = (asyncio.wrap_future(submit(queue, graph, value, key="a")) for value in (1, 2))
        assert second.cancel()
        return await asyncio.wait_for(first, DEADLINE)

    with WorkQueue(graph.gs, 1) as queue, callers() as executor:
        with busy(queue, graph) as gate:
            asked = executor.submit(asyncio.run, ask(queue))
            wait_for(lambda: queue.statistics().cancelled, "one is withdrawn")
        assert asked.result(DEADLINE) == 2
        assert gate.begun == [1]


def test_an_item_that_fails_gets_tensorflows_error_and_disturbs_no_other(graph, tf):
    def caught(call: Callable[[], Any]) -> BaseException:
        with pytest.raises(Exception) as found:
            call()
        return found.value

    with WorkQueue(graph.gs, 2) as queue:
        good = [queue.submit(graph.checked, {graph.x: value}) for value in (1.0, 2.0)]
        for fetches, feeds in (
            (graph.checked, {graph.x: float("nan")}),
            (graph.y, {graph.x: [1.0, 2.0]}),
            (graph.y, {}),
            (graph.y, [1.0]),
            ("nobody:0", None),
            (3, None),
        ):
            expected = caught(lambda: graph.gs.run(fetches, feeds))  # noqa: B023
            error = queue.submit(fetches, feeds).exception(DEADLINE)
            assert type(error) is type(expected)
            assert str(error).partition("[[")[0] == str(expected).partition("[[")[0]
            assert getattr(error, "op", None) is getattr(expected, "op", None)
        assert results(good) == [2, 4]
        found = queue.statistics()
        assert (found.succeeded, found.failed) == (2, 6)


def test_settings_and_arguments_that_are_none(graph):
    for wrong, text in (
        ({"workers": 0}, "workers is 0"),
        ({"workers": True}, "workers is True"),
        ({"workers": 1.5}, "workers is 1.5"),
        ({"queue_limit": 0}, "queue_limit is 0"),
        ({"on_full": "drop"}, "on_full is 'drop'"),
        ({"deadline_secs": -1}, "deadline_secs is -1"),
        ({"deadline_secs": float("inf")}, "deadline_secs is inf"),
        ({"join_secs": None}, "join_secs is None"),
    ):
        with pytest.raises(ConfigError, match=text):
            WorkQueue(graph.gs, **wrong)
    with pytest.raises(ConfigError, match="session is 'gs'"):
        WorkQueue("gs")
    with WorkQueue(graph.gs) as queue:
        for wrong, kind in (
            ({"priority": "high"}, UsageError),
            ({"priority": float("nan")}, UsageError),
            ({"priority": True}, UsageError),
            ({"priority": 1j}, UsageError),
            ({"deadline_secs": "soon"}, UsageError),
            ({"key": ["no", "hash"]}, TypeError),
        ):
            with pytest.raises(kind):
                submit(queue, graph, 1, **wrong)
        for ahead in (0, True, 1.5):
            with pytest.raises(UsageError, match="ahead"):
                queue.map(graph.y, [], ahead=ahead)
        with pytest.raises(ConfigError):
            queue.close(join_secs=-1)
        assert queue.statistics().submitted == 0 and threads_of(queue) == []


# ---------------------------------------------------------------------------------------------------- what is next


def test_the_smaller_priority_first_and_equal_ones_in_order(graph):
    priorities = [0, 5, -1, 0, 5, -1, np.float32(-0.5), np.int64(0), float("-inf"), 10**400, float("inf")]
    with WorkQueue(graph.gs, 1) as queue:
        with busy(queue, graph) as gate:
            futures = [submit(queue, graph, index, priority=each) for index, each in enumerate(priorities)]
        assert results(futures) == [2 * index for index in range(len(priorities))]
        assert gate.begun == [8, 2, 5, 6, 0, 3, 7, 1, 4, 9, 10]
        assert gate.begun == sorted(range(len(priorities)), key=lambda index: priorities[index])


def test_items_of_a_key_run_one_at_a_time_in_order_and_others_meanwhile(graph):
    """Nothing is kept waiting by a key that is busy, however urgent its next items are."""
    with WorkQueue(graph.gs, 2) as queue:
        gate = Gate(queue)
        of_key = [submit(queue, graph, value, key="a", priority=-9) for value in range(3)]
        gate.wait_for()
        others = [submit(queue, graph, value) for value in (10, 11)]
        other_key = [submit(queue, graph, value, key=("b", 1)) for value in (20, 21)]
        gate.wait_for()
        assert gate.begun == [0, 10], "the second worker passes over the key that is busy"
        gate.let(10)
        gate.wait_for()
        gate.let(11)
        gate.wait_for()
        gate.let(20)
        gate.wait_for()
        assert gate.begun == [0, 10, 11, 20, 21]
        gate.let(0)
        gate.wait_for()
        assert gate.begun[-1] == 1
        gate.open()
        assert results([*of_key, *others, *other_key]) == [0, 2, 4, 20, 22, 40, 42]
        assert gate.begun.index(1) < gate.begun.index(2) and gate.ended.index(1) < gate.ended.index(2)


def test_a_key_stands_where_its_most_urgent_item_stands(graph):
    with WorkQueue(graph.gs, 1) as queue:
        with busy(queue, graph) as gate:
            submit(queue, graph, 1, key="a", priority=9)
            submit(queue, graph, 2, key="b", priority=5)
            submit(queue, graph, 3, priority=0)
            submit(queue, graph, 4, key="a", priority=0)
            submit(queue, graph, 5, priority=0)
            submit(queue, graph, 6, key="a", priority=9)
            submit(queue, graph, 7, priority=7)
        queue.close()
        # 1 goes where 4 stands: after 3, which came before 4, and before 5
        assert gate.begun == [3, 1, 4, 5, 2, 7, 6]


def test_a_key_is_no_longer_urgent_when_its_urgent_item_is_withdrawn(graph):
    with WorkQueue(graph.gs, 1) as queue:
        with busy(queue, graph) as gate:
            submit(queue, graph, 1, key="a", priority=9)
            submit(queue, graph, 2, priority=5)
            urgent = submit(queue, graph, 3, key="a", priority=0)
            assert urgent.cancel()
        queue.close()
        assert gate.begun == [2, 1]


def test_a_keys_next_item_runs_although_the_last_one_failed(graph, tf):
    with WorkQueue(graph.gs, 2) as queue, busy(queue, graph):
        failed = queue.submit(graph.checked, {graph.x: float("nan")}, key="a")
        fine = submit(queue, graph, 1, key="a")
    assert isinstance(failed.exception(DEADLINE), tf.errors.InvalidArgumentError)
    assert fine.result(DEADLINE) == 2


def test_a_keys_next_item_begins_after_the_functions_of_the_last_one(graph):
    with WorkQueue(graph.gs, 2) as queue:
        gate = Gate(queue)
        called, goes_on = threading.Event(), threading.Event()

        def function(future: Any) -> None:
            assert queue.statistics().succeeded == 1, "it is counted before its future is set"
            called.set()
            assert goes_on.wait(DEADLINE)

        first = submit(queue, graph, 1, key="a")
        first.add_done_callback(function)
        second = submit(queue, graph, 2, key="a")
        gate.open()
        assert called.wait(DEADLINE)
        assert submit(queue, graph, 3).result(DEADLINE) == 6, "the other worker looked for work"
        assert not second.running() and first.done()
        goes_on.set()
        assert second.result(DEADLINE) == 4
        assert gate.begun == [1, 3, 2]


def test_as_many_items_run_at_once_as_there_are_workers(graph):
    with WorkQueue(graph.gs, 3) as queue:
        gate = Gate(queue)
        futures = [submit(queue, graph, value) for value in range(10)]
        gate.wait_for(3)
        wait_for(lambda: queue.statistics().running == 3, "three run")
        assert queue.statistics().waiting == 7
        assert sorted(gate.begun) == [0, 1, 2] and len(gate.threads) == 3
        gate.open()
        assert results(futures) == [2 * value for value in range(10)]
        assert len(gate.threads) == 3


def test_workers_are_started_when_they_are_needed_and_used_again(graph):
    queue = WorkQueue(graph.gs, 3)
    assert threads_of(queue) == []
    gate = Gate(queue, is_open=True)
    for value in range(5):
        assert submit(queue, graph, value).result(DEADLINE) == 2 * value
        wait_for(lambda: queue._idle, "the worker has nothing to do")
    assert len(threads_of(queue)) == len(gate.threads) == 1
    gate.is_open = False
    futures = [submit(queue, graph, value, key="a") for value in range(5)]
    gate.wait_for(6)
    assert len(threads_of(queue)) == 1, "one key needs one worker"
    futures += [submit(queue, graph, value) for value in range(2)]
    gate.wait_for(2)
    assert len(threads_of(queue)) == 3
    gate.open()
    results(futures)
    queue.close()
    assert threads_of(queue) == []


def test_workers_end_when_there_is_nothing_to_do_and_start_again(graph, monkeypatch):
    monkeypatch.setattr(work, "_IDLE_SECS", 0.01)
    with WorkQueue(graph.gs, 2) as queue:
        for _ in range(3):
            futures = [submit(queue, graph, value, deadline_secs=1000) for value in range(2)]
            assert results(futures) == [0, 2]
            wait_for(lambda: not threads_of(queue), "the threads end")
            assert not queue._idle and not queue._threads


def test_an_item_that_comes_while_a_worker_ends(graph, monkeypatch):
    """The worker's time is up, and before it can say so it is woken."""
    monkeypatch.setattr(work, "_IDLE_SECS", 0.01)

    class Wake:
        """Its lock, which meets a caller when the time is up."""

        def __init__(self) -> None:
            self.lock = threading.Lock()
            self.locked, self.release = self.lock.locked, self.lock.release

        def acquire(self, *args: Any, **named: Any) -> bool:
            acquired = self.lock.acquire(*args, **named)
            if not acquired and not futures and named.get("timeout"):
                monkeypatch.setattr(work, "_IDLE_SECS", 1000.0)
                futures.append(submit(queue, graph, 5))
            return acquired

    futures: list[Any] = []
    with WorkQueue(graph.gs, 1) as queue:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(work, "threading", types.SimpleNamespace(**{**vars(threading), "Lock": Wake}))
            submit(queue, graph, 1).result(DEADLINE)
            wait_for(lambda: futures, "the worker's time is up")
            assert results(futures) == [10]
        wait_for(lambda: queue._idle, "the worker has nothing to do")
        with busy(queue, graph):
            assert queue._idle == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_worker_that_dies_is_replaced(graph, monkeypatch):
    with WorkQueue(graph.gs, 1) as queue:
        answer = work._WorkItem.answer

        def broken(*args: Any) -> Any:
            raise MemoryError

        with busy(queue, graph):
            futures = [submit(queue, graph, value, key="a") for value in range(3)]
            monkeypatch.setattr(futures[0], "answer", broken)
        assert results(futures[1:]) == [2, 4]
        assert len(queue._threads) == 1
        answer(futures[0], None)


def test_the_system_has_no_more_threads(graph, monkeypatch):
    def no_more(thread: Any) -> None:
        raise RuntimeError("can't start new thread")

    with WorkQueue(graph.gs, 2) as queue:
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", no_more)
            with pytest.raises(RuntimeError, match="can't start"):
                submit(queue, graph, 1)
        assert queue.statistics().waiting == 0
        with busy(queue, graph, 1), monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", no_more)
            future = submit(queue, graph, 2)  # there is one, which will run it
        assert future.result(DEADLINE) == 4


# ----------------------------------------------------------------------------------------------------------- limits


def test_a_caller_is_held_until_there_is_room(graph):
    with WorkQueue(graph.gs, 1, queue_limit=2) as queue, callers(3) as executor:
        with busy(queue, graph) as gate:
            futures = [submit(queue, graph, value) for value in (0, 1)]
            held = []
            for value in (2, 3, 4):
                held.append(executor.submit(submit, queue, graph, value))
                wait_for(lambda count=value + 1: queue.statistics().waiting == count, "the item is there")
            assert not any(each.done() for each in held)
            gate.let(-1)
            gate.wait_for()  # 0 runs, so there is one place
            futures.append(held[0].result(DEADLINE))
            assert not held[1].done() and not held[2].done()
            assert futures[1].cancel()  # and one more
            futures.append(held[1].result(DEADLINE))
            assert not held[2].done() and queue.statistics().waiting == 3
        assert results([futures[0], *futures[2:], held[2].result(DEADLINE)]) == [0, 4, 6, 8]
        assert gate.begun == [0, 2, 3, 4]


def test_the_item_of_a_caller_that_is_held_takes_part_in_the_order(graph):
    with WorkQueue(graph.gs, 1, queue_limit=2) as queue, callers(2) as executor:
        with busy(queue, graph) as gate:
            futures = [submit(queue, graph, value, priority=5) for value in (0, 1)]
            late = executor.submit(submit, queue, graph, 2, priority=5)
            wait_for(lambda: queue.statistics().waiting == 3, "the item is there")
            urgent = executor.submit(submit, queue, graph, 3, priority=0)
            wait_for(lambda: queue.statistics().waiting == 4, "the item is there")
            gate.let(-1)
            gate.wait_for()
            assert gate.begun == [3], "an urgent item is not kept waiting by the others"
            futures.append(urgent.result(DEADLINE))
            assert not late.done(), "its place is its own"
        assert results([*futures, late.result(DEADLINE)]) == [0, 2, 6, 4]


def test_a_full_queue_that_refuses(graph):
    with WorkQueue(graph.gs, 1, queue_limit=2, on_full="refuse") as queue:
        with busy(queue, graph):
            futures = [submit(queue, graph, 1), submit(queue, graph, 2, deadline_secs=0)]
            assert isinstance(futures[1].exception(DEADLINE), DeadlineError)
            futures.append(submit(queue, graph, 3))  # the place of the one whose time was up
            with pytest.raises(Overloaded, match=r"2 items wait already.*queue_limit=2"):
                submit(queue, graph, 4)
            assert futures[0].cancel()
            futures.append(submit(queue, graph, 5))
        assert results(futures[2:]) == [6, 10]
        found = queue.statistics()
        assert (found.overloaded, found.expired, found.cancelled, found.succeeded, found.submitted) == (1, 1, 1, 3, 5)


@pytest.mark.parametrize("on_full", ["wait", "refuse"])
def test_a_function_added_to_a_future_is_never_held(graph, on_full):
    """Its worker would be needed to make room."""
    with WorkQueue(graph.gs, 1, queue_limit=1, on_full=on_full) as queue:
        found: concurrent.futures.Future[Any] = concurrent.futures.Future()
        with busy(queue, graph):
            first = submit(queue, graph, 1)
            first.add_done_callback(lambda done: found.set_result([submit(queue, graph, each) for each in range(5)]))
        assert results(found.result(DEADLINE)) == [0, 2, 4, 6, 8]


def test_an_item_whose_time_is_up_is_ended_while_all_workers_are_busy(graph):
    with WorkQueue(graph.gs, 1, deadline_secs=1000) as queue:
        with busy(queue, graph) as gate:
            long = submit(queue, graph, 1)
            short = [submit(queue, graph, value, deadline_secs=0.01) for value in (2, 3)]
            of_key = submit(queue, graph, 4, key="a", deadline_secs=0)
            after = submit(queue, graph, 5, key="a")
            _done, waiting = concurrent.futures.wait([*short, of_key], timeout=DEADLINE)
            assert not waiting and not gate.is_open
            for each in short:
                error = each.exception(0)
                assert isinstance(error, DeadlineError) and isinstance(error, TimeoutError)
                assert "deadline_secs=0.01" in str(error)
                assert not each.cancel()
            assert queue.statistics().waiting == 2
        assert results([long, after]) == [2, 10]
        assert gate.begun == [1, 5]
        assert queue.statistics().expired == 3


def test_an_item_whose_key_is_busy_too_long_is_ended(graph):
    with WorkQueue(graph.gs, 2) as queue, busy(queue, graph, 1, key="a"):
        assert isinstance(submit(queue, graph, 1, key="a", deadline_secs=0.01).exception(DEADLINE), DeadlineError)


def test_a_caller_that_is_held_until_its_items_time_is_up(graph):
    with WorkQueue(graph.gs, 1, queue_limit=1) as queue, busy(queue, graph):
        submit(queue, graph, 1)
        late = submit(queue, graph, 2, deadline_secs=0.01)
        assert isinstance(late.exception(DEADLINE), DeadlineError)


def test_an_item_that_has_begun_is_not_ended_by_its_deadline(graph):
    with WorkQueue(graph.gs, 1, deadline_secs=1000) as queue:
        gate = Gate(queue)
        future = submit(queue, graph, 1)
        gate.wait_for()
        future.deadline = 0.0
        assert isinstance(submit(queue, graph, 2, deadline_secs=0).exception(DEADLINE), DeadlineError)
        gate.open()
        assert future.result(DEADLINE) == 2


def test_an_earlier_deadline_wakes_the_clock(graph):
    with WorkQueue(graph.gs, 1) as queue, busy(queue, graph):
        far = submit(queue, graph, 1, deadline_secs=1000)
        wait_for(lambda: queue._clock_until == far.deadline, "the clock has looked")
        near = submit(queue, graph, 2, deadline_secs=0.01)
        assert isinstance(near.exception(DEADLINE), DeadlineError)
        assert not far.done()


# ----------------------------------------------------------------------------------------------- withdrawn requests


def test_cancelled_items_are_not_run(graph):
    with WorkQueue(graph.gs, 1) as queue:
        with busy(queue, graph) as gate:
            futures = [submit(queue, graph, value, key="a" if value < 3 else None) for value in range(5)]
            assert futures[1].cancel() and futures[1].cancel() and futures[4].cancel()
            assert queue.statistics().waiting == 3
            done, _ = concurrent.futures.wait(futures, 0)
            assert done == {futures[1], futures[4]}, "those that wait for Futures are woken"
        assert results([futures[index] for index in (0, 2, 3)]) == [0, 4, 6]
        assert not futures[0].cancel()
        assert gate.begun == [0, 2, 3] and queue.statistics().cancelled == 2


def test_an_item_that_runs_cannot_be_cancelled(graph):
    with WorkQueue(graph.gs, 1) as queue:
        gate = Gate(queue)
        future = submit(queue, graph, 1)
        gate.wait_for()
        assert not future.cancel() and future.running()
        gate.open()
        assert future.result(DEADLINE) == 2


@pytest.mark.parametrize("key", [None, "a"])
@pytest.mark.parametrize("deadline", [None, 0])
def test_an_item_that_is_cancelled_just_when_it_would_begin_or_expire(graph, key, deadline):
    with WorkQueue(graph.gs, 1) as queue:
        with busy(queue, graph) as gate:
            future = submit(queue, graph, 1, key=key)
            after = submit(queue, graph, 2, key=key)
            if deadline is not None:
                future.deadline = 0.0
                queue._schedule.deadlines.add((0.0, future.number), future)
            assert concurrent.futures.Future.cancel(future)  # and before it is taken out, a worker comes
        assert after.result(DEADLINE) == 4
        assert queue.statistics().waiting == 0
        assert concurrent.futures.wait([future], DEADLINE).done
        assert future.cancel() and future.cancelled(), "now it is taken out, and is not there"
        assert gate.begun == [2]
        found = queue.statistics()
        assert (found.cancelled, found.expired) == (1, 0)


def test_cancelling_and_beginning_at_once(graph):
    """Each item either runs or is cancelled, and everybody agrees which."""
    with WorkQueue(graph.gs, 2) as queue:
        gate = Gate(queue, is_open=True)
        for turn in range(200):
            futures = [submit(queue, graph, 10 * turn + index, key=turn % 2 or None) for index in range(8)]
            start = threading.Barrier(3)

            def cancel(mine: list[Any], start: Any = start) -> list[Any]:
                start.wait(DEADLINE)
                return [each for each in mine if each.cancel()]

            with callers(2) as executor:
                sides = [executor.submit(cancel, list(reversed(futures))), executor.submit(cancel, futures[::2])]
                start.wait(DEADLINE)
            cancelled = {each for side in sides for each in side.result(DEADLINE)}
            assert concurrent.futures.wait(futures, DEADLINE).not_done == set()
            assert cancelled == {each for each in futures if each.cancelled()}
            ran = [10 * turn + index for index, each in enumerate(futures) if not each.cancelled()]
            assert sorted(value for value in gate.begun if value >= 10 * turn) == ran
        found = queue.statistics()
        assert found.succeeded == len(gate.begun) and found.cancelled == 1600 - len(gate.begun)
        assert found.waiting == found.running == 0


# ----------------------------------------------------------------------------------------------------- interrupts


def test_a_caller_that_is_interrupted_while_it_is_held_withdraws_its_item(graph):
    with WorkQueue(graph.gs, 1, queue_limit=1) as queue:
        with busy(queue, graph) as gate:
            first = submit(queue, graph, 1)
            with pytest.raises(KeyboardInterrupt), interrupted_when(lambda: queue._held):
                submit(queue, graph, 2)
            assert queue.statistics().waiting == 1 and not queue._held
            assert first.cancel()
            after = submit(queue, graph, 3)  # there is room
        assert after.result(DEADLINE) == 6
        assert gate.begun == [3]


def test_a_program_that_is_interrupted_while_it_waits_for_a_result_ends(graph):
    queue = WorkQueue(graph.gs, 1)
    with callers() as executor:
        with pytest.raises(KeyboardInterrupt), queue:
            gate = Gate(queue)
            futures = [submit(queue, graph, value) for value in range(3)]
            gate.wait_for()
            opened = executor.submit(lambda: (wait_for(lambda: futures[2].cancelled(), "the end"), gate.open()))
            with interrupted_when(lambda: futures[1]._condition._waiters):
                futures[1].result(DEADLINE)
        opened.result(DEADLINE)
    assert queue.closed and threads_of(queue) == []
    assert futures[0].result(0) == 0 and futures[1].cancelled() and futures[2].cancelled()


def test_a_close_that_is_interrupted_cancels_what_was_not_begun(graph):
    queue = WorkQueue(graph.gs, 1)
    gate = Gate(queue)
    futures = [submit(queue, graph, value) for value in range(3)]
    gate.wait_for()
    with pytest.raises(KeyboardInterrupt), interrupted_when(lambda: queue.closed):
        queue.close()
    assert futures[1].cancelled() and futures[2].cancelled() and not futures[0].done()
    gate.open()
    queue.close()
    assert futures[0].result(0) == 0 and threads_of(queue) == []


@pytest.mark.parametrize("what", ["first item", "idle worker", "held", "cancel", "map", "close"])
def test_an_interrupt_at_any_line_leaves_a_queue_that_works(graph, what, monkeypatch):
    """Ctrl-C comes before each line of ours that the main thread executes, one after the other."""
    monkeypatch.setattr(work, "_IDLE_SECS", 0.05)  # a thread that nothing knows of may live so long
    places = []
    for at in itertools.count(1):
        queue = WorkQueue(graph.gs, 2, queue_limit=2 if what == "held" else 1000)
        interrupts = Interrupts(at)
        with contextlib.ExitStack() as stack:
            gate = None
            if what == "idle worker":
                submit(queue, graph, 1).result(DEADLINE)
                wait_for(lambda q=queue: q._idle, "the worker has nothing to do")
            elif what not in ("first item", "map"):
                gate = stack.enter_context(busy(queue, graph))
                others = [submit(queue, graph, value, key="a") for value in range(2)]
            if what == "held":
                executor = stack.enter_context(callers())
                executor.submit(
                    lambda q=queue, g=gate, i=interrupts: (wait_for(lambda: q._held or i.came, ""), g.open())
                )
                with interrupts():
                    submit(queue, graph, 3, key="a", priority=-1, deadline_secs=1000)
            elif what == "cancel":
                with interrupts():
                    assert others[0].cancel()
                if not interrupts.came or interrupts.place.partition(":")[0] != "cancel":
                    assert queue.statistics().waiting == 1, interrupts.place
            elif what == "map":
                with interrupts():
                    assert list(queue.map(graph.y, [{"x:0": each} for each in (1, 2, 3)], ahead=2)) == [2, 4, 6]
            elif what == "close":
                stack.enter_context(callers()).submit(
                    lambda q=queue, g=gate, i=interrupts: (wait_for(lambda: q._cancelling or i.came, ""), g.open())
                )
                with interrupts():
                    queue.close(cancel_pending=True, join_secs=DEADLINE)
            else:
                with interrupts():
                    submit(queue, graph, 2, key="a", priority=-1, deadline_secs=1000)
            places.append(interrupts.place)
            if gate is not None:
                gate.open()
        was_open = not queue.closed
        if was_open:
            after = [submit(queue, graph, value, key=key) for value in range(3) for key in (None, "a", "b")]
            assert results(after) == [0, 0, 0, 2, 2, 2, 4, 4, 4], places[-1]
        if what == "close":
            queue.close(cancel_pending=True, join_secs=DEADLINE)
            assert was_open or all(each.cancelled() for each in others), places[-1]
        queue.close(join_secs=DEADLINE)
        found = queue.statistics()
        assert found.waiting == found.running == 0 and not queue._held, places[-1]
        wait_for(lambda q=queue: not threads_of(q), places[-1])
        if not interrupts.came:
            break
    least = {"cancel": 15, "close": 15, "held": 40, "map": 60}.get(what, 30)
    assert len(set(places)) > least, places


# ------------------------------------------------------------------------------------------------------------- map


def test_map_gives_the_results_in_order_and_reads_no_further_than_it_runs(graph):
    read = []

    def feeds() -> Iterator[Any]:
        for value in itertools.count():
            read.append(value)
            yield {"x:0": float(value)}

    with WorkQueue(graph.gs, 2) as queue:
        gate = Gate(queue)
        found = queue.map(graph.y, feeds(), ahead=3)
        gate.wait_for(2)
        assert read == [0, 1, 2]
        gate.open()
        assert [next(found) for _ in range(5)] == [0, 2, 4, 6, 8]
        assert read == list(range(7))
        assert list(queue.map(graph.y, [])) == []
        found.close()
        queue.close()
        assert queue.statistics().succeeded + queue.statistics().cancelled == 7


def test_map_of_a_generator_that_fills_its_array_again(graph):
    array = np.zeros(())

    def feeds() -> Iterator[Any]:
        for value in range(6):
            array[...] = value
            yield {"x:0": array}

    with WorkQueue(graph.gs, 2) as queue:
        with busy(queue, graph):
            found = queue.map(graph.y, feeds(), ahead=6)
        assert list(found) == [0, 2, 4, 6, 8, 10]


def test_map_with_one_key_and_a_priority_and_the_default_ahead(graph):
    with WorkQueue(graph.gs, 2) as queue:
        with busy(queue, graph) as gate:
            last = submit(queue, graph, 100, priority=0)
            found = queue.map(
                graph.y, ({"x:0": float(value)} for value in range(6)), key="a", priority=-1, deadline_secs=1000
            )
            assert queue.statistics().waiting == 5
        assert list(found) == [0, 2, 4, 6, 8, 10]
        last.result(DEADLINE)
        assert [value for value in gate.begun if value < 100] == [0, 1, 2, 3, 4, 5]
        assert gate.begun[0] == 0


def test_map_ends_with_the_first_error_and_cancels_the_rest(graph, tf):
    bad = float("inf")
    with WorkQueue(graph.gs, 1) as queue:
        gate = Gate(queue)
        found = queue.map(graph.checked, [{"x:0": value} for value in (1.0, bad, 3.0, 4.0, 5.0, 6.0)], ahead=6)
        gate.let(1.0, bad)
        assert next(found) == 2
        with pytest.raises(tf.errors.InvalidArgumentError):
            next(found)
        assert list(found) == []
        assert queue.statistics().waiting == 0
        gate.open()
    assert gate.begun in ([1.0, bad], [1.0, bad, 3.0])
    assert queue.statistics().cancelled == 6 - len(gate.begun)


def test_map_whose_feeds_raise(graph):
    def feeds() -> Iterator[Any]:
        yield {"x:0": 1.0}
        raise LookupError

    with WorkQueue(graph.gs, 1) as queue:
        with busy(queue, graph), pytest.raises(LookupError):
            queue.map(graph.y, feeds())
        assert queue.statistics().cancelled == 1
        found = queue.map(graph.y, feeds(), ahead=1)
        assert next(found) == 2
        with pytest.raises(LookupError):
            next(found)


# ---------------------------------------------------------------------------------------------------------- the end


def test_a_block_that_ends_well_waits_for_all(graph):
    with callers() as executor:
        with WorkQueue(graph.gs, 2) as queue:
            gate = Gate(queue)
            futures = [submit(queue, graph, value, key=value % 2) for value in range(20)]
            gate.wait_for(2)
            executor.submit(lambda: (wait_for(lambda: queue.closed, "the end of the block"), gate.open()))
        assert [future.result(0) for future in futures] == [2 * value for value in range(20)]
    assert queue.closed and threads_of(queue) == []
    queue.close()
    with pytest.raises(ClosedError, match=queue.name):
        submit(queue, graph, 1)
    assert queue.statistics().succeeded == 20
    assert "closed" in repr(queue)
    assert graph.gs.run(graph.y, {"x:0": 1.0}) == 2, "the session is open"


def test_a_block_that_raises_cancels_what_was_not_begun(graph):
    with callers() as executor:
        with pytest.raises(LookupError), WorkQueue(graph.gs, 1) as queue:
            gate = Gate(queue)
            futures = [submit(queue, graph, value, key="a", deadline_secs=1000) for value in range(5)]
            gate.wait_for()
            executor.submit(lambda: (wait_for(lambda: futures[4].cancelled(), "it is cancelled"), gate.open()))
            raise LookupError
    assert futures[0].result(0) == 0
    assert all(each.cancelled() for each in futures[1:]) and gate.begun == [0]
    assert not concurrent.futures.wait(futures, 0).not_done
    assert threads_of(queue) == []
    assert (queue.statistics().cancelled, queue.statistics().waiting) == (4, 0)


def test_nothing_is_begun_while_all_are_cancelled(graph):
    queue = WorkQueue(graph.gs, 1)
    with busy(queue, graph) as gate:
        futures = [submit(queue, graph, value) for value in range(3)]

        def function(future: Any) -> None:
            gate.open()
            wait_for(lambda: not queue._threads, "the worker has ended its item and looked for another")

        futures[0].add_done_callback(function)
        queue.close(cancel_pending=True)
    assert gate.begun == [] and all(each.cancelled() for each in futures)


def test_closing_lets_callers_go_that_are_held(graph):
    queue = WorkQueue(graph.gs, 1, queue_limit=1)
    with callers(3) as executor:
        gate = Gate(queue)
        running = submit(queue, graph, 0)
        gate.wait_for()
        waits = submit(queue, graph, 1)
        held = executor.submit(submit, queue, graph, 2)
        wait_for(lambda: queue._held, "one is held")
        closing = executor.submit(queue.close, cancel_pending=True)
        assert held.result(DEADLINE).cancelled() and waits.cancelled()
        assert not closing.done()
        gate.open()
        closing.result(DEADLINE)
    assert running.result(0) == 0

    queue = WorkQueue(graph.gs, 1, queue_limit=1)
    with callers(3) as executor:
        gate = Gate(queue)
        futures = [submit(queue, graph, 0)]
        gate.wait_for()
        futures.append(submit(queue, graph, 1))
        held = executor.submit(submit, queue, graph, 2)
        wait_for(lambda: queue._held, "one is held")
        closing = executor.submit(queue.close)
        wait_for(lambda: queue.closed, "it is closing")
        gate.open()
        assert results([*futures, held.result(DEADLINE)]) == [0, 2, 4], "it was taken before the end"
        closing.result(DEADLINE)


def test_an_item_that_does_not_end_is_named(graph, tf):
    """Its thread, what it waits in, what it fetches; the items behind it are cancelled; and it may end after all."""
    queue = WorkQueue(graph.gs, 2, name="work")
    stuck = queue.submit(graph.get, key="a")
    behind = queue.submit(graph.y, {"x:0": 1.0}, key="a", deadline_secs=1000)
    waits(queue)
    with pytest.raises(StragglerError) as caught:
        queue.close(join_secs=0.01)
    assert list(caught.value.threads) == ["work-1"]
    for text in ("waits in Session.run", "'get' (QueueDequeueV2)", "running <tf.Tensor 'get:0'"):
        assert text in caught.value.threads["work-1"]
        assert text in str(caught.value) and "1 of the threads of work did not end" in str(caught.value)
    assert behind.cancelled() and not stuck.done()
    with pytest.raises(StragglerError):
        queue.close(join_secs=0)
    graph.gs.run(graph.put, {"x:0": 7.0})
    queue.close()
    assert stuck.result(0) == 7 and threads_of(queue) == []


def test_an_item_that_does_not_end_does_not_hide_what_the_block_raised(graph, caplog):
    with caplog.at_level(logging.WARNING), pytest.raises(LookupError), WorkQueue(graph.gs, 1, join_secs=0.01) as queue:
        stuck = queue.submit(graph.get)
        waits(queue)
        raise LookupError
    assert "'get' (QueueDequeueV2)" in caplog.text
    graph.gs.run(graph.put, {"x:0": 7.0})
    assert stuck.result(DEADLINE) == 7
    queue.close()


def test_an_item_that_waits_for_ever_is_named_by_the_watchdog(graph, monkeypatch):
    reported = threading.Event()
    texts = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            texts.append(record.getMessage())
            reported.set()

    monkeypatch.setattr(watchdog, "stall_secs", 0.0)
    handler = Handler()
    logging.getLogger("tf1sessions").addHandler(handler)
    try:
        with WorkQueue(graph.gs, 2, name="stalled") as queue:
            stuck = queue.submit(graph.get)
            assert reported.wait(DEADLINE)
            assert submit(queue, graph, 1).result(DEADLINE) == 2, "the other worker works"
            graph.gs.run(graph.put, {"x:0": 7.0})
            assert stuck.result(DEADLINE) == 7
    finally:
        logging.getLogger("tf1sessions").removeHandler(handler)
    assert "'stalled-1'" in texts[0] and "'get' (QueueDequeueV2)" in texts[0]


def test_closing_the_session_ends_the_items(tf):
    gs = t1.GraphSession()
    with gs.as_default():
        x = tf.placeholder(tf.float32, [])
        y = x * 2.0
        empty = tf.FIFOQueue(1, tf.float32).dequeue()
    with WorkQueue(gs, 1) as queue:
        stuck = queue.submit(empty)
        waits(queue)
        behind = queue.submit(y, {x.name: 1.0})
        gs.close()
        assert isinstance(stuck.exception(DEADLINE), tf.errors.CancelledError)
        assert "closed Session" in str(behind.exception(DEADLINE))


@pytest.mark.parametrize("cancel", [False, True])
def test_closing_from_a_function_added_to_a_future(graph, cancel):
    queue = WorkQueue(graph.gs, 2)
    found: list[Any] = []
    with busy(queue, graph) as gate:
        futures = [submit(queue, graph, value) for value in range(3)]
        futures[0].add_done_callback(lambda done: found.append((queue.close(cancel_pending=cancel), queue.closed)))
        gate.let(-1, 0)
        assert futures[0].result(DEADLINE) == 0
        wait_for(lambda: queue.closed, "it is closed")
    queue.close()
    assert found == [(None, True)]
    assert [each.cancelled() for each in futures[1:]] == [cancel] * 2
    assert threads_of(queue) == []


def test_several_threads_close_at_once(graph):
    queue = WorkQueue(graph.gs, 2)
    with callers(4) as executor:
        with busy(queue, graph):
            future = submit(queue, graph, 1)
            closing = [executor.submit(queue.close) for _ in range(4)]
            wait_for(lambda: queue.closed, "it is closing")
        for each in closing:
            each.result(DEADLINE)
    assert future.result(0) == 2 and threads_of(queue) == []


def test_a_function_that_raises_while_all_are_cancelled(graph):
    def wrong(future: Any) -> None:
        raise SystemExit("wrong")

    queue = WorkQueue(graph.gs, 1)
    with busy(queue, graph):
        futures = [submit(queue, graph, value) for value in range(3)]
        futures[0].add_done_callback(wrong)
        with pytest.raises(SystemExit):
            queue.close(cancel_pending=True)
        assert all(each.cancelled() for each in futures), "the others are cancelled first"
    queue.close()


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, ValueError])
def test_a_function_that_raises_disturbs_no_other(graph, caplog, kind):
    def wrong(future: Any) -> None:
        raise kind("wrong")

    with WorkQueue(graph.gs, 1) as queue:
        with busy(queue, graph), caplog.at_level(logging.ERROR):
            futures = [submit(queue, graph, value, key="a") for value in (1, 2)]
            futures[0].add_done_callback(wrong)
        assert results(futures) == [2, 4]
        assert "wrong" in caplog.text
        assert submit(queue, graph, 3).result(DEADLINE) == 6


def test_opening_and_closing_again_and_again_leaves_no_thread(graph):
    before = threading.active_count()
    for turn in range(1000):
        queue = WorkQueue(graph.gs, 1 + turn % 3, name="again")
        if turn % 7 == 6:
            with pytest.raises(LookupError), queue:
                futures = [submit(queue, graph, value, deadline_secs=1000) for value in range(turn % 5)]
                raise LookupError
            assert all(each.cancelled() or each.result(0) == 2 * value for value, each in enumerate(futures))
        else:
            with queue:
                futures = [submit(queue, graph, value, key=turn % 2 or None) for value in range(turn % 5)]
            assert [each.result(0) for each in futures] == [2 * value for value in range(turn % 5)]
        assert threads_of("again") == []
    assert threading.active_count() == before


# ------------------------------------------------------------------------------------------------- the rest


@pytest.mark.parametrize("closes", [True, False])
def test_a_future_that_is_kept_keeps_neither_the_queue_nor_what_was_fed(graph, monkeypatch, closes):
    monkeypatch.setattr(work, "_IDLE_SECS", 0.01)
    queue = WorkQueue(graph.gs, 1)
    fed = np.array(1.0, np.float32)
    with busy(queue, graph) as gate:
        futures = [queue.submit(graph.y, {"x:0": fed}, key="a", deadline_secs=secs) for secs in (None, 0, None)]
        futures[2].cancel()
        futures.append(queue.submit(graph.checked, {"x:0": float("nan")}))
    concurrent.futures.wait(futures, DEADLINE)
    assert [type(each.exception(0)).__name__ for each in (futures[0], futures[1], futures[3])] == [
        "NoneType",
        "DeadlineError",
        "InvalidArgumentError",
    ]
    if closes:
        queue.close()
    kept = [weakref.ref(queue), weakref.ref(fed)]
    del queue, fed, gate
    wait_for(lambda: gc.collect() == 0 and [each() for each in kept] == [None, None], "both are collected")


def test_a_worker_without_work_does_not_keep_the_last_result(graph):
    with WorkQueue(graph.gs, 1) as queue:
        future = submit(queue, graph, 1, deadline_secs=1000)
        future.result(DEADLINE)
        wait_for(lambda: queue._idle, "the worker has nothing to do")
        kept = weakref.ref(future)
        del future
        gc.collect()
        assert kept() is None


def test_statistics(graph, tf, monkeypatch):
    monkeypatch.setattr(work, "_RECENT", 3)
    with WorkQueue(graph.gs, 2) as queue:
        assert queue.statistics().queue_secs.largest == 0
        with busy(queue, graph):
            futures = [submit(queue, graph, value) for value in range(5)]
            found = queue.statistics()
            assert (found.workers, found.submitted, found.waiting, found.running, found.succeeded) == (2, 7, 5, 2, 0)
            assert "5 items wait, 2 run" in repr(queue)
        results(futures)
        assert len(queue._queued) == len(queue._runs) == 3
        before = queue.statistics()
        assert 0 < before.run_secs.p50 <= before.run_secs.largest
        assert (before.submitted, before.succeeded, before.running) == (7, 7, 0)
        submit(queue, graph, 1).result(DEADLINE)
        assert before.succeeded == 7


def test_names(graph):
    with WorkQueue(graph.gs) as first, WorkQueue(graph.gs, name="mine") as second:
        assert first.name.startswith("WorkQueue-") and second.name == "mine"
        submit(second, graph, 1).result(DEADLINE)
        assert [thread.name for thread in threads_of(second)] == ["mine-1"]


def test_forks_and_exits(run_python):
    done = run_python(
        """
        import os, signal, sys, threading
        import tf1sessions as t1

        tf = t1.tf1
        gs = t1.GraphSession()
        with gs.as_default():
            x = tf.placeholder(tf.float32, [512, 512], name="x")
            y = x
            for _ in range(20):
                y = tf.matmul(y, x * 1e-3)
        assert type(t1.WorkQueue) is type
        queue = t1.WorkQueue(gs)
        value = [[1.0] * 512] * 512
        queue.submit(y, {"x:0": value}).result()
        waiting = [queue.submit(y, {"x:0": value}) for _ in range(50)]
        read, write = os.pipe()
        with queue._lock:  # as another thread could hold it at the fork
            child = os.fork()
        if not child:
            signal.alarm(30)
            queue._lock = threading.Lock()
            queue._lock.acquire()
            found = []
            for ask in (lambda: queue.submit(y), lambda: next(queue.map(y, [{}])), queue.statistics):
                try:
                    ask()
                except t1.errors.ForkedAfterSessionError:
                    found.append("forked")
            waiting[-1].cancel()
            repr(queue)
            with queue:
                pass
            try:
                with queue:
                    raise LookupError
            except LookupError:
                queue.close(cancel_pending=True)
            os.write(write, " ".join(found).encode())
            os._exit(0)
        os.close(write)
        report(child=os.read(read, 100).decode(), status=os.waitpid(child, 0)[1])
        # What is still waiting when the program ends does not hold it up.
        print("end", flush=True)
        """
    )
    assert done.results == {"child": "forked forked forked", "status": 0}
    assert done.stdout == "end\n"
    assert "of its items were not begun when the program ended" in done.stderr


# ----------------------------------------------------------------------------------------------------------- stress


def test_everything_at_once_at_random(graph, tf):
    """12 threads, priorities, keys, errors, cancellations, deadlines, a small queue: each result, each key's order."""
    order: dict[Any, list[Any]] = collections.defaultdict(list)
    wrong: list[Any] = []
    lock = threading.Lock()
    active: collections.Counter[Any] = collections.Counter()
    allowed = {
        "failed": tf.errors.InvalidArgumentError,
        "expired": DeadlineError,
        "cancelled": concurrent.futures.CancelledError,
    }

    queue = WorkQueue(graph.gs, 4, queue_limit=16)
    run, keys = queue._run, {}

    def checked(number: Any, feeds: Any) -> Any:
        key = keys[number]
        with lock:
            active[key] += 1
            order[key].append(number)
            if key is not None and active[key] > 1:
                wrong.append(("at once", key, number))
        try:
            return run(graph.checked, feeds)
        finally:
            with lock:
                active[key] -= 1

    queue._run = checked
    numbers = itertools.count()
    outcomes: collections.Counter[str] = collections.Counter()

    def ask(seed: int) -> None:
        draw = random.Random(seed)
        mine: list[tuple[int, bool, Any]] = []
        for _ in range(60):
            number, bad = next(numbers), draw.random() < 0.1
            keys[number] = draw.choice([None, None, (seed, "a"), (seed, "b")])
            future = queue.submit(
                number,
                {"x:0": float("nan") if bad else number},
                priority=draw.choice([0, 0, 1, -1]),
                key=keys[number],
                deadline_secs=draw.choice([None, None, None, 0.001, DEADLINE]),
            )
            mine.append((number, bad, future))
            if draw.random() < 0.2:
                draw.choice(mine)[2].cancel()
            if draw.random() < 0.1:
                concurrent.futures.wait([future], DEADLINE)
        for number, bad, future in mine:
            try:
                outcome = "succeeded" if future.result(DEADLINE) == 2 * number and not bad else "wrong result"
            except BaseException as error:  # noqa: BLE001 - all of them are looked at
                outcome = next((name for name, kind in allowed.items() if isinstance(error, kind)), repr(error))
                if outcome == "failed" and not bad:
                    wrong.append((number, error))
            with lock:
                outcomes[outcome] += 1

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * DEADLINE)
    assert not any(thread.is_alive() for thread in threads)
    queue.close(join_secs=DEADLINE)
    assert wrong == []
    for key, found in order.items():
        assert key is None or found == sorted(found), key
    found = queue.statistics()
    reported = {name: getattr(found, name) for name in ("succeeded", "failed", "expired", "cancelled")}
    assert {name: count for name, count in reported.items() if count} == outcomes
    assert found.submitted == 12 * 60 and found.waiting == found.running == 0
    assert outcomes["succeeded"] > 100 and outcomes["cancelled"] > 5
