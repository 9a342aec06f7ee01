"""What threads are taken to be in, and when nothing moves: with real threads, and a clock that the test sets."""

from __future__ import annotations

import contextlib
import functools
import queue
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support import wait_for

import tf1sessions as t1
from tf1sessions.pipelines import deadlock
from tf1sessions.pipelines.coordinator import Coordinator
from tf1sessions.pipelines.deadlock import ThreadActivity, ThreadSnapshot, look
from tf1sessions.runtime import tf
from tf1sessions.sessions.watchdog import watchdog

DEADLINE = 30.0
FOREVER = 1000.0

# A worker of pytest-xdist has a thread that reads what is to be tested, and that none of these tests is about.
DeadlockDetector = functools.partial(deadlock.DeadlockDetector, leave_out=tuple(sys._current_frames()))


class Threads:
    """Threads of a test, by name; at its end all are let go and must end."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.items: queue.Queue[None] = queue.Queue()
        self.coordinator = Coordinator()
        self.threads: dict[str, threading.Thread] = {}

    def start(self, name: str, function: Callable[..., Any], *args: Any) -> threading.Thread:
        def run() -> None:
            with contextlib.suppress(tf.errors.OpError):
                function(*args)

        thread = self.threads[name] = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread

    def end(self) -> None:
        self.gate.set()
        self.items.put(None)
        self.coordinator.request_stop()
        for thread in self.threads.values():
            thread.join(DEADLINE)
        assert [thread.name for thread in self.threads.values() if thread.is_alive()] == []


@pytest.fixture
def threads() -> Iterator[Threads]:
    made = Threads()
    yield made
    made.end()


@pytest.fixture
def graph() -> Iterator[types.SimpleNamespace]:
    """A session with an empty queue; closed at the test's end, which lets its calls go."""
    with t1.GraphSession() as gs:
        found = types.SimpleNamespace(gs=gs)
        items = tf.FIFOQueue(1, tf.float32, [[]], name="items")
        found.take, found.put = items.dequeue(name="take"), items.enqueue(1.0)
        found.inner = tf.py_func(lambda: gs.run(found.take), [], tf.float32, name="inner")
        found.next = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
        gs.seal()
        yield found


def state_of(thread: threading.Thread | None) -> ThreadSnapshot | None:
    return next((one for one in look([]) if one.thread is thread), None)


def reaches(thread: threading.Thread, state: ThreadActivity) -> None:
    wait_for(lambda: (seen := state_of(thread)) and seen.state is state, f"{thread.name} is {state}")


def test_what_threads_are_in(threads: Threads, graph: Any) -> None:
    coordinator = threads.coordinator
    blocked = threads.start("dequeue", graph.gs.run, graph.take)
    states = {
        "dequeue": ThreadActivity.QUEUE,
        "python": ThreadActivity.PYTHON,
        "stop": ThreadActivity.STOP,
        "stop with a limit": ThreadActivity.IDLE,
        "event": ThreadActivity.LOCK,
        "event with a limit": ThreadActivity.IDLE,
        "queue": ThreadActivity.LOCK,
        "queue with a limit": ThreadActivity.IDLE,
        "join": ThreadActivity.LOCK,
        "join with a limit": ThreadActivity.IDLE,
        "coordinator": ThreadActivity.LOCK,
        "sleep": ThreadActivity.MOVING,
    }

    def sleep() -> None:
        while not threads.gate.is_set():
            time.sleep(0.05)

    starts: dict[str, tuple[Any, ...]] = {
        "python": (graph.gs.run, graph.inner),
        "stop": (coordinator.wait_for_stop,),
        "stop with a limit": (coordinator.wait_for_stop, FOREVER),
        "event": (threads.gate.wait,),
        "event with a limit": (threads.gate.wait, FOREVER),
        "queue": (threads.items.get,),
        "queue with a limit": (lambda: threads.items.get(timeout=FOREVER),),
        "join": (blocked.join,),
        "join with a limit": (blocked.join, FOREVER),
        "coordinator": (coordinator.join, [blocked]),
        "sleep": (sleep,),
    }
    for name, args in starts.items():
        threads.start(name, *args)
    for name, state in states.items():
        reaches(threads.threads[name], state)
    wait_for(
        lambda: (seen := state_of(None)) and seen.state is ThreadActivity.QUEUE, "the Python function's own thread"
    )
    stop = state_of(threads.threads["stop"])
    assert stop is not None and stop.coordinator is coordinator and not stop.keeps
    seen = state_of(blocked)
    assert seen is not None and seen.call is watchdog.call_of(blocked.ident)
    assert blocked.ident not in {one.thread and one.thread.ident for one in look([blocked.ident])}
    graph.gs.close()
    threads.items.put(None)  # for the second of the two


def test_services_are_idle(threads: Threads) -> None:
    looper = tf.train.LooperThread.loop(threads.coordinator, FOREVER, target=int)
    reaches(looper, ThreadActivity.IDLE)
    threads.coordinator.request_stop()
    looper.join(DEADLINE)


class Remote:
    sess_str = b"grpc://localhost:1"


@pytest.mark.parametrize(
    ("operations", "session", "state"),
    [
        ([("a", "QueueDequeueManyV2")], None, ThreadActivity.QUEUE),
        ([("a", "PyFunc"), ("b", "QueueEnqueueV2")], None, ThreadActivity.QUEUE),
        ([("a", "IteratorGetNext"), ("b", "QueueEnqueueV2")], None, ThreadActivity.QUEUE),
        ([("a", "ReaderReadV2")], None, ThreadActivity.QUEUE),
        ([("a", "Unstage")], None, ThreadActivity.QUEUE),
        ([("a", "BarrierTakeMany")], None, ThreadActivity.QUEUE),
        ([("a", "ResourceAccumulatorTakeGradient")], None, ThreadActivity.QUEUE),
        ([("a", "PyFunc"), ("b", "EagerPyFunc")], None, ThreadActivity.PYTHON),
        ([("a", "IteratorGetNext")], None, ThreadActivity.MOVING),
        ([("a", "PyFunc"), ("b", "IteratorGetNext")], None, ThreadActivity.MOVING),
        ([("a", "RecordInput")], None, ThreadActivity.MOVING),
        ([("a", "QueueDequeueV2")], Remote(), ThreadActivity.MOVING),
    ],
)
def test_what_a_call_is(threads: Threads, operations: Any, session: Any, state: ThreadActivity) -> None:
    session = session or t1.Session(graph=tf.Graph())

    def call() -> None:
        with watchdog.call(session, tuple(operations)):
            threads.gate.wait(DEADLINE)

    reaches(threads.start("call", call), state)


# ------------------------------------------------------------------------------------------------------- deadlock


class Clock:
    """Time and processor time, as the test sets them, and whether something wants to run."""

    def __init__(self) -> None:
        self.now = time.monotonic()
        self.processor = 0.0
        self.busy = False

    def monotonic(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.processor


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(deadlock, "time", clock)
    monkeypatch.setattr(deadlock, "other_threads_run", lambda: clock.busy)
    return clock


@pytest.fixture
def hanging(threads: Threads, graph: Any, clock: Clock) -> threading.Thread:
    thread = threads.start("dequeue", graph.gs.run, graph.take)
    reaches(thread, ThreadActivity.QUEUE)
    call = watchdog.call_of(thread.ident)
    assert call is not None
    clock.now = call.since + 1000.0  # it has been there for long
    return thread


def test_a_thread_hangs_after_the_time_and_not_before(hanging: threading.Thread, clock: Clock) -> None:
    still = DeadlockDetector(10.0)
    assert still.of([hanging]) == []
    clock.now += 9.9
    assert still.of([hanging]) == []
    clock.now += 0.2
    (seen,) = still.of([hanging])
    assert (seen.thread, seen.state) == (hanging, ThreadActivity.QUEUE)
    still.restart()
    clock.now += 9.9
    assert still.of([hanging]) == []


def test_a_call_that_began_later_counts_from_then(hanging: threading.Thread, clock: Clock) -> None:
    still = DeadlockDetector(10.0)
    clock.now += 100.0
    call = watchdog.call_of(hanging.ident)
    assert call is not None
    call.since = clock.now - 1.0
    assert still.of([hanging]) == []
    clock.now += 9.1
    assert still.of([hanging]) != []


def test_processor_time_is_a_sign_of_life(hanging: threading.Thread, clock: Clock) -> None:
    still = DeadlockDetector(10.0)
    clock.now += 9.0
    clock.processor += 0.6  # six hundredths of the time
    assert still.of([hanging]) == []
    clock.now += 9.9
    assert still.of([hanging]) == []
    clock.now += 0.2
    clock.processor += 0.4  # waiting and looking
    assert still.of([hanging]) != []


def test_so_is_a_thread_that_wants_to_run(hanging: threading.Thread, clock: Clock) -> None:
    still = DeadlockDetector(10.0)
    clock.now += 11.0
    clock.busy = True
    assert still.of([hanging]) == []
    clock.busy = False
    assert still.of([hanging]) == []  # it begins anew
    clock.now += 11.0
    assert still.of([hanging]) != []


@pytest.mark.parametrize(
    "state", [ThreadActivity.LOCK, ThreadActivity.IDLE, ThreadActivity.MOVING, ThreadActivity.STOP]
)
def test_one_of_them_that_is_elsewhere(
    hanging: threading.Thread, threads: Threads, clock: Clock, state: ThreadActivity
) -> None:
    wait = {
        ThreadActivity.LOCK: threads.gate.wait,
        ThreadActivity.IDLE: lambda: threads.gate.wait(FOREVER),
        ThreadActivity.STOP: threads.coordinator.wait_for_stop,
        ThreadActivity.MOVING: lambda: [time.sleep(0.01) for _ in iter(threads.gate.is_set, True)],
    }[state]
    other = threads.start("other", wait)
    reaches(other, state)
    still = DeadlockDetector(10.0)
    clock.now += 11.0
    assert still.of([hanging, other]) == []
    clock.now += 11.0
    assert still.of([hanging]) != []  # others do not count


def test_somebody_runs_is_right(threads: Threads) -> None:
    """The busy thread is seen, and the one that asks is not."""

    def compute() -> None:
        while not threads.gate.is_set():
            sum(range(1000))

    thread = threads.start("busy", compute)
    wait_for(deadlock.other_threads_run, "the busy thread is seen")
    threads.gate.set()
    thread.join(DEADLINE)
    wait_for(lambda: not deadlock.other_threads_run(), "all are idle")
