"""Every order of a program's threads: which are run, what is found in them, and how it is reported."""

from __future__ import annotations

import asyncio
import functools
import gc
import hashlib
import importlib
import queue
import random
import select
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

from tf1sessions.errors import ScheduleError, UsageError
from tf1sessions.testing.exploration import explore, same
from tf1sessions.testing.orders import parse
from tf1sessions.testing.schedules import point

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = threading.enumerate()
    yield
    left = [thread for thread in threading.enumerate() if thread not in before]
    for thread in left:
        thread.join(10.0)
    assert not any(thread.is_alive() for thread in left)


def in_threads(*functions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=each) for each in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def fails(*functions: Callable[..., Any], **options: Any) -> ScheduleError:
    """Return the error of an exploration, whose order fails alone as well."""
    with pytest.raises(ScheduleError) as caught:
        explore(*functions, **options)
    with pytest.raises(ScheduleError) as again:
        explore(*functions, **options, replay=caught.value.schedule)
    assert again.value.schedule == caught.value.schedule
    assert type(again.value.__cause__) is type(caught.value.__cause__)
    return caught.value


# -- which orders -----------------------------------------------------------------------------------------------------


def passing(name: str, *names: str) -> Callable[[list[str]], None]:
    def body(log: list[str]) -> None:
        for each in names:
            log.append(name + each)
            point(each)
        log.append(name + "end")

    return body


def test_every_order_of_points_is_run_once() -> None:
    seen: list[tuple[str, ...]] = []
    done = explore(passing("A", "1", "2"), passing("B", "1"), setup=list, check=lambda log: seen.append(tuple(log)))
    assert (done.schedules, done.complete, len(seen), len(set(seen))) == (10, True, 10, 10)  # 5! / (3! 2!)
    assert str(done) == "all 10 orders, of up to 5 steps"


def locking(threads: int, times: int, locks: int = 1) -> Callable[[], None]:
    def body() -> None:
        made = [threading.Lock() for _ in range(locks)]

        def work(number: int) -> None:
            for _ in range(times):
                with made[number % locks]:
                    pass

        in_threads(*[lambda number=number: work(number) for number in range(threads)])  # type: ignore[misc]

    return body


@pytest.mark.parametrize(
    ("threads", "times", "locks", "orders"),
    [
        (2, 1, 1, 2 * 2),  # orders of the starts, of the locks
        (2, 2, 1, 2 * 6),
        (3, 1, 1, 6 * 6),
        (2, 2, 2, 2),  # two locks that no two threads use
        (3, 1, 3, 6),
    ],
)
def test_orders_that_only_exchange_steps_which_use_different_things_are_run_once(
    threads: int, times: int, locks: int, orders: int
) -> None:
    done = explore(locking(threads, times, locks))
    assert (done.schedules, done.complete) == (orders, True)


def _try(lock: Any) -> bool:
    if not lock.acquire(False):
        return False
    lock.release()
    return True


def _try_for_a_while(lock: Any) -> bool:
    if not lock.acquire(timeout=0.5):
        return False
    lock.release()
    return True


def _hold(lock: Any) -> bool:
    with lock:
        return True


def _is_free(lock: Any) -> bool:
    return not lock.locked()


def one_lock(make: Callable[[], Any], *uses: Callable[[Any], bool]) -> Callable[[], list[bool]]:
    """Return a body whose threads use one lock each; it returns what they found."""

    def body() -> list[bool]:
        lock, found = make(), [False] * len(uses)

        def work(number: int) -> None:
            found[number] = uses[number](lock)

        in_threads(*[functools.partial(work, number) for number in range(len(uses))])
        return found

    return body


TRIES = [
    pytest.param(lambda: threading.Lock(), _try, id="lock"),
    pytest.param(lambda: threading.Lock(), _try_for_a_while, id="lock with a time-out"),
    pytest.param(lambda: threading.Lock(), _is_free, id="lock that is looked at"),
    pytest.param(lambda: threading.RLock(), _try, id="recursive lock"),
    pytest.param(lambda: threading.Semaphore(), lambda lock: _try(lock), id="semaphore"),
]


@pytest.mark.parametrize("tried_first", [False, True])
@pytest.mark.parametrize(("make", "attempt"), TRIES)
def test_a_lock_that_is_tried_is_held_in_some_orders(
    make: Callable[[], Any], attempt: Callable[[Any], bool], tried_first: bool
) -> None:
    """Though nothing is done while it is held: its release is a stop, too."""
    uses = (attempt, _hold) if tried_first else (_hold, attempt)
    body = one_lock(make, *uses)
    seen: set[bool] = set()
    done = explore(lambda: seen.add(body()[uses.index(attempt)]))
    assert seen == {False, True} and done.complete and done.repeatable

    def always_gets_it() -> None:
        assert all(body())

    fails(always_gets_it)


def test_a_lock_that_is_tried_in_some_orders_only() -> None:
    """What the first order does not do: the search begins anew, and a replay knows it as well."""

    def body() -> None:
        lock, other, flags = threading.Lock(), threading.Lock(), [False]

        def set_flag() -> None:
            with other:
                flags[0] = True
            with lock:
                pass

        def try_it() -> None:
            with other:
                early = not flags[0]
            assert not early or _try(lock)

        in_threads(set_flag, try_it)

    fails(body)


def held(lock: Any, do: Callable[[], None]) -> None:
    with lock:
        do()


def passed(line: Any, do: Callable[[], None]) -> None:
    line.put(1)
    do()


@pytest.mark.parametrize(
    ("make", "use"),
    [
        (lambda: threading.Lock(), held),
        (lambda: threading.RLock(), held),
        (lambda: threading.Condition(), held),
        (lambda: threading.Semaphore(), held),
        (lambda: queue.Queue(), passed),
        (lambda: queue.SimpleQueue(), passed),
    ],
    ids=["lock", "recursive lock", "condition", "semaphore", "queue", "simple queue"],
)
def test_what_the_setup_makes_is_known_in_each_order(
    make: Callable[[], Any], use: Callable[[Any, Callable[[], None]], None]
) -> None:
    """Two tasks use it twice each, one after the other: in all six orders."""

    def body(name: str, given: tuple[Any, list[str]]) -> None:
        for number in "12":
            use(given[0], functools.partial(given[1].append, name + number))

    seen = set()
    bodies = [functools.partial(body, name) for name in "ab"]
    found = explore(*bodies, setup=lambda: (make(), []), check=lambda given: seen.add("".join(given[1])))
    assert found.complete and len(seen) == 6, (found, seen)


def one_that_sleeps_and_one_that_does_not(log: list[str]) -> None:
    def sleeps() -> None:
        time.sleep(0.01)
        time.sleep(0.01)
        log.append("a")

    in_threads(sleeps, lambda: [point("b"), log.append("b")])


def a_timer_and_a_point(log: list[str]) -> None:
    timer = threading.Timer(0.1, lambda: log.append("timer"))
    timer.start()
    point("a")
    log.append("caller")
    timer.join()


def a_semaphore_that_is_held(log: list[str]) -> None:
    few = threading.Semaphore(1)

    def hold() -> None:
        with few:
            point("held")

    thread = threading.Thread(target=hold)
    thread.start()
    if few.acquire(timeout=0.1):
        log.append("got")
        few.release()
    else:
        log.append("late")
    thread.join()


def an_event_that_is_waited_for_twice(log: list[str]) -> None:
    ready = threading.Event()
    thread = threading.Thread(target=lambda: [point("a"), point("b"), ready.set()])
    thread.start()
    log.append("".join("ny"[ready.wait(0.5)] for _ in range(2)))
    thread.join()


def a_queue_that_is_looked_at_twice(log: list[str]) -> None:
    line: queue.Queue[int] = queue.Queue()
    thread = threading.Thread(target=lambda: line.put(1))
    thread.start()
    for _ in range(2):
        try:
            log.append(str(line.get(timeout=0.5)))
        except queue.Empty:
            log.append("none")
    thread.join()


def a_lock_that_is_looked_at(log: list[str]) -> None:
    lock = threading.Lock()

    def hold() -> None:
        with lock:
            point("held")

    thread = threading.Thread(target=hold)
    thread.start()
    log.append("held" if lock.locked() else "free")
    thread.join()


def an_event_loop_that_sleeps(log: list[str]) -> None:
    began, lock = threading.Event(), threading.Lock()

    def call(loop: asyncio.AbstractEventLoop) -> None:
        began.set()
        with lock:  # which nobody else uses
            loop.call_soon_threadsafe(log.append, "called")

    async def both() -> None:
        other = threading.Thread(target=call, args=(asyncio.get_running_loop(),))
        other.start()
        began.wait()
        await asyncio.sleep(0.1)
        log.append("slept")
        await asyncio.sleep(100.0)
        other.join()

    asyncio.run(both())


def two_long_time_outs(log: list[str]) -> None:
    def work(name: str) -> None:
        threading.Event().wait(30.0)
        log.append(name)

    in_threads(lambda: work("a"), lambda: work("b"))


def a_deadline_and_a_sleep(log: list[str]) -> None:
    def look() -> None:
        began = time.monotonic()
        point("looks")
        log.append("late" if time.monotonic() - began > 1.0 else "in time")

    in_threads(look, lambda: time.sleep(5.0))


@pytest.mark.parametrize(
    ("body", "logs"),
    [
        (one_that_sleeps_and_one_that_does_not, {"a b", "b a"}),
        (a_timer_and_a_point, {"timer caller", "caller timer"}),
        (a_semaphore_that_is_held, {"got", "late"}),
        (an_event_that_is_waited_for_twice, {"yy", "ny", "nn"}),
        (a_queue_that_is_looked_at_twice, {"1 none", "none 1", "none none"}),
        (a_lock_that_is_looked_at, {"held", "free"}),
        (an_event_loop_that_sleeps, {"called slept", "slept called"}),
        (two_long_time_outs, {"a b", "b a"}),
        (a_deadline_and_a_sleep, {"late", "in time"}),
    ],
)
def test_looks_sleeps_and_short_waits_at_any_moment(body: Callable[[list[str]], None], logs: set[str]) -> None:
    seen = set()

    def logged() -> None:
        log: list[str] = []
        body(log)
        seen.add(" ".join(log))

    found = explore(logged, patience_secs=5.0)
    assert found.complete and seen == logs, (found, seen)


@pytest.mark.parametrize("first", range(0, 40, 5))
def test_what_may_come_of_a_program_comes(first: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Small random programs, and a model that goes through all their orders one by one."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    orders = importlib.import_module("attacks.orders")
    seen = [orders.explored(tmp_path, random.Random(number)) for number in range(first, first + 5)]
    assert seen == ["as by counting"] * 5


def test_many_orders_are_drawn_and_the_seed_decides_which() -> None:
    def drawn(seed: int) -> list[tuple[str, ...]]:
        seen: list[tuple[str, ...]] = []
        many = [str(number) for number in range(8)]
        done = explore(
            *(passing(name, *many) for name in "ABC"),
            setup=list,
            check=lambda log: seen.append(tuple(log)),
            max_schedules=30,
            seed=seed,
        )
        assert (done.schedules, done.complete) == (30, False)
        assert done.estimate > 1000 and str(done).startswith(f"30 of about {done.estimate} orders")
        return seen

    assert drawn(1) == drawn(1) != drawn(2)


def test_all_orders_of_few_preemptions() -> None:
    seen: set[tuple[str, ...]] = set()
    many = [str(number) for number in range(8)]

    def check(log: list[str]) -> None:
        seen.add(tuple(log))

    done = explore(passing("A", *many), passing("B", *many), setup=list, check=check, max_preemptions=1)
    assert not done.complete and done.preemptions == 1
    # One stops the other at one of its 8 points, or none does: either may be first.
    assert len(seen) == 2 * 8 + 2


# -- what is found ----------------------------------------------------------------------------------------------------


def lost_update(box: list[int]) -> None:
    value = box[0]
    point("read")
    box[0] = value + 1


def is_two(box: list[int]) -> None:
    assert box[0] == 2


def test_the_order_that_breaks_is_the_shortest_and_can_be_replayed() -> None:
    error = fails(lost_update, lost_update, setup=lambda: [0], check=is_two)
    assert isinstance(error.__cause__, AssertionError)
    assert error.schedule == "A1 B"
    assert "B starts" in str(error) and "replay='A1 B'" in str(error)
    explore(lost_update, lost_update, setup=lambda: [0], check=is_two, replay="A2 B")


def broken_counter() -> None:
    lock, box = threading.Lock(), [0]

    def add() -> None:
        with lock:
            value = box[0]
        with lock:
            box[0] = value + 1

    in_threads(add, add, add)
    assert box[0] == 3, box


def test_locks_are_points_by_themselves() -> None:
    error = fails(broken_counter)
    assert isinstance(error.__cause__, AssertionError)
    assert "waits for a lock at" in str(error) and "test_exploration.py" in str(error)
    assert len(error.schedule.split()) <= 4


@pytest.mark.parametrize("times", [1, 1000])
def test_an_order_that_goes_wrong_only_once_is_said_to(times: int) -> None:
    runs = []

    def body() -> None:
        runs.append(1)
        if len(runs) <= times:
            raise ValueError("now and then")

    with pytest.raises(ScheduleError, match="now and then") as caught:
        explore(body)
    assert ("Not when it was run once more" in str(caught.value)) is (times == 1)


class Letters:
    """Two tasks that write a letter twice each; ``runs`` has what each run wrote, the last one at the end."""

    def __init__(self, is_wrong: Callable[[list[str]], bool]) -> None:
        self.runs: list[str] = []
        self._is_wrong = is_wrong

    def explore(self) -> str:
        """Return the error's message, once its schedule has been replayed."""
        with pytest.raises(ScheduleError, match="it raises ValueError: wrong") as caught:
            self._run()
        self._is_wrong = lambda runs: False
        self._run(replay=caught.value.schedule)
        return str(caught.value)

    def _run(self, replay: str | None = None) -> None:
        a, b = (functools.partial(self._write, letter) for letter in "AB")
        explore(a, b, setup=self._begin, check=self._check, replay=replay)

    def _begin(self) -> None:
        self.runs.append("")

    def _write(self, letter: str, nothing: None) -> None:
        for _ in range(2):
            point("before a letter")
            self.runs[-1] += letter

    def _check(self, nothing: None) -> None:
        if self._is_wrong(self.runs):
            raise ValueError("wrong")


def test_an_order_that_went_wrong_once_is_printed_for_replay() -> None:
    letters = Letters(lambda runs: runs[-1] == "ABBA" and runs.count("ABBA") == 1)
    assert "Not when it was run once more" in letters.explore()
    assert letters.runs[-1] == "ABBA"


def test_of_two_orders_the_one_that_goes_wrong_again_is_printed() -> None:
    """The shorter one was found while the first was made short, and did so once."""
    letters = Letters(lambda runs: runs[-1] == "ABAB" or (runs[-2:-1] == ["ABAB"] and runs.count("ABAB") == 1))
    assert "Not when it was run once more" not in letters.explore()
    assert letters.runs[-1] == "ABAB"


def test_a_deadlock_is_known_at_once() -> None:
    def body() -> None:
        one, other = threading.Lock(), threading.RLock()

        def work(first: Any, second: Any) -> None:
            with first, second:
                pass

        in_threads(lambda: work(one, other), lambda: work(other, one))

    error = fails(body, timeout_secs=1000.0)
    assert "3 tasks wait, and none can go on" in str(error)
    assert str(error).count("waits for a lock") >= 2


def test_a_wait_that_nothing_ends() -> None:
    def body() -> None:
        came, ready = threading.Condition(), []

        def work() -> None:
            with came:
                ready.append(1)
                came.notify()

        thread = threading.Thread(target=work)
        thread.start()
        with came:
            came.wait()  # which may have been notified before
        thread.join()

    assert "none can go on" in str(fails(body))


def test_results_that_differ() -> None:
    def body() -> list[int]:
        line: queue.Queue[int] = queue.Queue()
        in_threads(lambda: line.put(1), lambda: line.put(2))
        return [line.get(), line.get()]

    assert "the result is [2, 1], and in the first order it was [1, 2]" in str(fails(body))


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), SystemExit(3), KeyboardInterrupt()])
def test_what_a_function_raises(error: BaseException) -> None:
    def raises() -> None:
        raise error

    assert fails(raises, lambda: point("a")).__cause__ is error


def test_what_a_thread_raises() -> None:
    def body() -> None:
        in_threads(lambda: 1 / 0)

    assert isinstance(fails(body).__cause__, ZeroDivisionError)


def test_a_program_without_an_end() -> None:
    def body() -> None:
        while True:
            point("again")

    assert "has made 500 steps and does not end" in str(fails(body, max_steps=500))


# -- what is right in every order -------------------------------------------------------------------------------------


def with_events() -> int:
    ready, done = threading.Event(), threading.Event()

    def work() -> None:
        ready.wait()
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    ready.set()
    done.wait(100.0)
    assert done.is_set()
    thread.join()
    return 1


def with_polls() -> None:
    ready: list[int] = []
    thread = threading.Thread(target=lambda: ready.append(1))
    thread.start()
    while not ready:
        time.sleep(0.01)
    thread.join()


def with_a_queue() -> list[int]:
    line: queue.Queue[int | None] = queue.Queue(1)
    found = []

    def put() -> None:
        for number in range(3):
            line.put(number)
        line.put(None)

    thread = threading.Thread(target=put)
    thread.start()
    while (item := line.get(timeout=100.0)) is not None:
        found.append(item)
    thread.join()
    return found


def with_a_pool() -> list[int]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda number: number * number, range(3)))


def with_a_pool_that_is_left() -> int:
    return ThreadPoolExecutor(1).submit(int, "3").result()


def with_a_barrier_and_a_semaphore() -> None:
    meet, few, inside = threading.Barrier(2), threading.Semaphore(1), [0]

    def work() -> None:
        meet.wait(100.0)
        with few:
            inside[0] += 1
            point("inside")
            assert inside[0] == 1
            inside[0] -= 1

    in_threads(work, work)


def with_a_timer() -> None:
    rung = threading.Event()
    timer = threading.Timer(3600.0, rung.set)
    timer.start()
    before = time.monotonic()
    rung.wait()
    assert time.monotonic() - before >= 3600.0  # of the scheduler's time
    timer.join()


def with_a_daemon() -> None:
    line: queue.SimpleQueue[int] = queue.SimpleQueue()
    threading.Thread(target=lambda: [line.get() for _ in range(9)], daemon=True).start()
    line.put(1)


def with_an_event_loop() -> int:
    async def work() -> int:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as pool:
            first, second = await asyncio.gather(loop.run_in_executor(pool, lambda: 1), asyncio.sleep(100.0, result=2))
        return first + second

    return asyncio.run(work())


def with_random_numbers() -> float:
    in_threads(lambda: None)
    return random.random()


@pytest.mark.parametrize(
    "body",
    [
        with_events,
        with_polls,
        with_a_queue,
        with_a_pool,
        with_a_pool_that_is_left,
        with_a_barrier_and_a_semaphore,
        with_a_timer,
        with_a_daemon,
        with_an_event_loop,
        with_random_numbers,
    ],
)
def test_what_is_right_in_every_order(body: Callable[[], Any]) -> None:
    done = explore(body, max_schedules=60, timeout_secs=20.0)
    assert done.schedules and done.repeatable and not done.outside, done


def test_what_is_not_under_control_is_named() -> None:
    import _thread

    raw = _thread.allocate_lock()  # of C, made before

    def body() -> None:
        gate = threading.Event()

        def work() -> None:
            gate.wait()
            point("lets go")
            raw.release()

        thread = threading.Thread(target=work)
        thread.start()
        raw.acquire()
        gate.set()
        with raw:
            pass
        thread.join()

    done = explore(body, max_schedules=2, patience_secs=0.05, timeout_secs=20.0)
    assert any("test_exploration.py" in place for place in done.outside)
    assert "not under control" in str(done)


def test_what_is_not_under_control_is_never_complete() -> None:
    """A thread that comes back from C may do so before or after what others do meanwhile."""

    def body() -> None:
        in_threads(lambda: select.select([], [], [], 0.3), lambda: point("a"))

    done = explore(body, patience_secs=0.05)
    assert done.outside and not done.complete
    assert f"all {done.schedules} orders that are under control" in str(done)


def test_a_thread_that_wants_to_run_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is only slow, though the process uses no processor meanwhile, as on a busy machine."""
    monkeypatch.setattr("tf1sessions.testing.scheduler._process_time", lambda: 0.0)
    key = functools.partial(hashlib.pbkdf2_hmac, "sha256", b"a", b"b")  # others may go on meanwhile
    began = time.perf_counter()
    key(100_000)
    rounds = int(100_000 * 0.4 / (time.perf_counter() - began))
    done = explore(lambda: in_threads(lambda: key(rounds), lambda: point("a")), max_schedules=4, patience_secs=0.1)
    assert not done.outside


def test_a_long_time_out_waits_for_what_is_in_c() -> None:
    def body() -> None:
        thread = threading.Thread(target=select.select, args=([], [], [], 0.75))  # longer than the patience
        thread.start()
        thread.join(30.0)
        assert not thread.is_alive()

    done = explore(body, max_schedules=1, patience_secs=0.5, timeout_secs=20.0)
    assert done.outside


def test_a_long_time_out_does_not_wait_for_ever_for_what_is_in_c() -> None:
    import _thread

    raw = _thread.allocate_lock()

    def body() -> None:
        raw.acquire()
        thread = threading.Thread(target=lambda: [raw.acquire(), raw.release()])
        thread.start()
        thread.join(30.0)
        assert thread.is_alive()
        raw.release()
        thread.join()

    assert explore(body, max_schedules=2, patience_secs=0.05, timeout_secs=20.0).schedules


def test_what_is_done_once_in_a_process_is_no_difference() -> None:
    done: list[int] = []

    def body() -> None:
        if not done:  # as an import is
            point("once")
            done.append(1)
        in_threads(lambda: point("a"), lambda: point("b"))

    found = explore(body)
    assert found.repeatable and found.complete, found


def test_an_event_loop_whose_order_is_over_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def both() -> None:
        loop = asyncio.get_running_loop()
        await asyncio.gather(*[loop.run_in_executor(None, point, "works") for _ in range(2)])

    explore(lambda: asyncio.run(both()), max_schedules=30)
    gc.collect()
    assert not caplog.records


def test_the_usual_order_is_replayed_where_the_first_task_has_no_choice() -> None:
    def raises() -> None:
        point("a")
        raise ValueError

    assert fails(lambda: in_threads(lambda: in_threads(raises, raises))).schedule == "C"


def test_who_waits_in_c_for_ever() -> None:
    import _thread

    raw = _thread.allocate_lock()
    raw.acquire()
    try:
        with pytest.raises(ScheduleError, match="nothing has gone on for"):
            explore(raw.acquire, lambda: None, patience_secs=0.02, timeout_secs=0.3)
    finally:
        raw.release()


# -- calls ------------------------------------------------------------------------------------------------------------


def test_wrong_calls() -> None:
    with pytest.raises(UsageError, match="0 functions"):
        explore()
    with pytest.raises(UsageError, match="at least one schedule"):
        explore(print, max_schedules=0)
    with pytest.raises(UsageError, match="fail_on='warning'.*'hazards', 'warnings', 'notes'"):
        explore(print, fail_on="warning")
    with pytest.raises(UsageError, match="task 'C' should go on after 0 steps, and only A B can"):
        explore(lambda: None, lambda: None, replay="C1")
    with pytest.raises(UsageError, match="'A:start' in 'A:start' is no part of an order"):
        explore(print, replay="A:start")


@pytest.mark.parametrize("order", ["A\u0663 B2", "A\uff13", "A\u00b3", "\u0391 B", "A\u2082"])
def test_an_order_has_the_letters_and_digits_of_ascii(order: str) -> None:
    with pytest.raises(UsageError, match="is no part of an order"):
        parse(order)


@pytest.mark.parametrize("order", ["A99999999999999999999", "B1000000 A", "A" + "9" * 5000, "A600000 B600000"])
def test_an_order_of_more_steps_than_memory_holds(order: str) -> None:
    with pytest.raises(UsageError, match="has more than 1,000,000 steps"):
        parse(order)


def test_all_is_put_back() -> None:
    before = (threading.Lock, threading.Thread.start, time.sleep, queue.SimpleQueue, random.getstate())
    explore(with_a_pool, max_schedules=3)
    assert (threading.Lock, threading.Thread.start, time.sleep, queue.SimpleQueue, random.getstate()) == before


def test_same() -> None:
    import numpy as np

    assert same({"a": [1, (2.0, None)]}, {"a": [1, (2.0, None)]})
    assert not same([1], [2]) and not same([1], [1, 1]) and not same(1, 1.0) and not same({"a": 1}, {"b": 1})
    assert same(np.array([np.nan]), np.array([np.nan])) and not same(np.zeros(2), np.zeros(3))
    assert same(object(), object())  # nothing is known of them
