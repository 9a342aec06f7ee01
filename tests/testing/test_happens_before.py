"""What orders two threads and what does not: small programs around one thing that threads touch."""

from __future__ import annotations

import _queue
import _thread
import asyncio
import concurrent.futures
import contextlib
import dataclasses
import functools
import logging
import multiprocessing
import os
import queue
import select
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.pool import ThreadPool

import pytest
from support import PythonRun

from tf1sessions.testing import locks, race_detector
from tf1sessions.testing.access_records import AccessKind, Conflict, Location
from tf1sessions.testing.frames import is_library
from tf1sessions.testing.locks import held_locks, opaque_locks
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.reports import RaceKind
from tf1sessions.testing.synchronisation import watch
from tf1sessions.testing.vector_clocks import VectorClocks, hand_over, take_over

DEADLINE = 30.0
# What threading and queue make of C when nothing is watched.
# Also where another test module has begun the watching already.
MADE_BEFORE = locks.make_raw_lock()
MADE_BEFORE_AGAIN = locks.RawRLock()
QUEUE_MADE_BEFORE = _queue.SimpleQueue()


def unseen_pause() -> None:
    """Sleeps, as time.sleep() does when it is not watched."""
    select.select([], [], [], 0.001)


class Thing:
    """What the programs touch; and a turn, which no detector sees, so that the first thread is always first."""

    def __init__(self) -> None:
        self.detector = RaceDetector(VectorClocks())
        location = Location("the thing", lambda earlier, later: Conflict(RaceKind.CONSTRUCTION))
        self.write = AccessKind(location, "write", "touches it")
        self._second = False

    def touch(self) -> None:
        self.detector.access(sys._getframe(1), self.write)

    def first(self, *actions: Callable[[], object]) -> None:
        try:
            for action in actions:
                action()
        finally:
            self._second = True

    def then(self, *actions: Callable[[], object]) -> None:
        late = time.monotonic() + DEADLINE
        while not self._second:
            assert time.monotonic() < late
            unseen_pause()
        for action in actions:
            action()


def both(one: Callable[[], object], other: Callable[[], object]) -> None:
    threads = [threading.Thread(target=function) for function in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive()


# -- nothing orders them ----------------------------------------------------------------------------------------------


def nothing(it: Thing) -> None:
    both(lambda: it.first(it.touch), lambda: it.then(it.touch))


def different_locks(it: Thing) -> None:
    two = threading.Lock(), threading.Lock()

    def under(lock: threading.Lock) -> None:
        with lock:
            it.touch()

    both(lambda: it.first(lambda: under(two[0])), lambda: it.then(lambda: under(two[1])))


def a_lock_on_one_side(it: Thing) -> None:
    lock = threading.Lock()

    def locked() -> None:
        with lock:
            it.touch()

    both(lambda: it.first(locked), lambda: it.then(it.touch))


def a_lock_in_between(it: Thing) -> None:
    """Both take it, one after the other, and not while they touch."""
    lock = threading.RLock()

    def passing() -> None:
        with lock, lock:
            pass

    both(lambda: it.first(it.touch, passing), lambda: it.then(passing, it.touch))


def a_logger_in_between(it: Thing) -> None:
    log = logging.getLogger("tf1sessions.test")
    handler = logging.NullHandler()
    log.addHandler(handler)
    both(lambda: it.first(it.touch, lambda: log.error("a")), lambda: it.then(lambda: log.error("b"), it.touch))
    log.removeHandler(handler)


def two_that_put_into_a_queue(it: Thing) -> None:
    line: queue.Queue[int] = queue.Queue()
    both(lambda: it.first(it.touch, lambda: line.put(1)), lambda: it.then(lambda: line.put(2), it.touch))


def room_that_was_there_anyway(it: Thing) -> None:
    line: queue.Queue[int] = queue.Queue(2)
    line.put(0)
    both(lambda: it.first(it.touch, line.get), lambda: it.then(lambda: line.put(1), it.touch))


def an_item_from_before(it: Thing) -> None:
    line: queue.Queue[int] = queue.Queue()
    line.put(1)
    both(lambda: it.first(it.touch, lambda: line.put(2)), lambda: it.then(line.get, it.touch))


def an_item_of_a_stack_from_before(it: Thing) -> None:
    """The second thread gets what lay under the first one's item when a third has got that."""
    line: queue.LifoQueue[int] = queue.LifoQueue()
    line.put(1)
    taken = threading.Thread(target=line.get)

    def get() -> None:
        taken.start()
        while line.qsize() > 1:
            unseen_pause()
        line.get(timeout=DEADLINE)

    both(lambda: it.first(it.touch, lambda: line.put(2)), lambda: it.then(get, it.touch))
    taken.join(DEADLINE)


def an_item_that_was_thrown_away(it: Thing) -> None:
    line: queue.Queue[int] = queue.Queue()
    shut = getattr(line, "shutdown", None)  # from Python 3.13 on

    def throw_away() -> None:
        if shut is not None:
            shut(immediate=True)
        line.queue.clear()

    both(lambda: it.first(it.touch, lambda: line.put(1)), lambda: it.then(throw_away, it.touch))


def a_future_that_is_not_ready(it: Thing) -> None:
    """It orders what was before it only for its worker, or for a thread that gets its result."""
    jobs: list[concurrent.futures.Future[int]] = []

    def ask() -> None:
        for look in (jobs[0].result, jobs[0].exception):
            with pytest.raises(concurrent.futures.TimeoutError):
                look(timeout=0.001)
        assert not jobs[0].done()

    both(lambda: it.first(it.touch, lambda: jobs.append(concurrent.futures.Future())), lambda: it.then(ask, it.touch))


def an_event_that_did_not_come(it: Thing) -> None:
    event = threading.Event()
    both(lambda: it.first(it.touch), lambda: it.then(lambda: event.wait(0.01), it.touch))


def a_semaphore_for_two(it: Thing) -> None:
    semaphore = threading.Semaphore(2)

    def one_of_two() -> None:
        with semaphore:
            it.touch()

    both(lambda: it.first(one_of_two), lambda: it.then(one_of_two))


def both_after_a_barrier(it: Thing) -> None:
    barrier = threading.Barrier(2)
    both(lambda: (barrier.wait(DEADLINE), it.first(it.touch)), lambda: (barrier.wait(DEADLINE), it.then(it.touch)))


def two_jobs_of_a_pool(it: Thing) -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(it.then, it.touch), pool.submit(it.first, it.touch)]
        for job in jobs:
            job.result(DEADLINE)


def a_lock_given_back_early(it: Thing) -> None:
    lock = threading.Lock()

    def early() -> None:
        lock.acquire()
        lock.release()
        it.touch()

    both(lambda: it.first(early), lambda: it.then(early))


# -- something does ---------------------------------------------------------------------------------------------------


def start_and_join(it: Thing) -> None:
    it.touch()
    for _ in range(2):
        thread = threading.Thread(target=it.touch)
        thread.start()
        thread.join(DEADLINE)
    it.touch()


def is_alive(it: Thing) -> None:
    thread = threading.Thread(target=it.touch)
    thread.start()
    while thread.is_alive():
        pass
    it.touch()


def a_lock(it: Thing) -> None:
    lock = threading.Lock()

    def locked() -> None:
        with lock:
            it.touch()

    both(lambda: it.first(locked), lambda: it.then(locked))


def a_lock_by_acquire(it: Thing) -> None:
    lock = threading.RLock()

    def locked() -> None:
        lock.acquire()
        lock.acquire()
        lock.release()
        it.touch()
        lock.release()

    both(lambda: it.first(locked), lambda: it.then(locked))


def a_lock_of_several(it: Thing) -> None:
    shared, own = threading.Lock(), [threading.Lock(), threading.Lock()]

    def locked(number: int) -> None:
        with own[number], shared:
            it.touch()

    both(lambda: it.first(lambda: locked(0)), lambda: it.then(lambda: locked(1)))


def a_lock_as_a_signal(it: Thing) -> None:
    lock = threading.Lock()
    lock.acquire()
    both(lambda: it.first(it.touch, lock.release), lambda: it.then(lambda: lock.acquire(timeout=DEADLINE), it.touch))


def a_recursive_lock_made_before(it: Thing) -> None:
    def locked() -> None:
        with MADE_BEFORE_AGAIN:
            it.touch()

    both(lambda: it.first(locked), lambda: it.then(locked))


def an_item(it: Thing) -> None:
    line: queue.Queue[int] = queue.Queue()
    both(lambda: it.first(it.touch, lambda: line.put(1)), lambda: it.then(lambda: line.get(timeout=DEADLINE), it.touch))


def an_item_of_a_simple_queue(it: Thing) -> None:
    line: queue.SimpleQueue[str] = queue.SimpleQueue()
    both(
        lambda: it.first(it.touch, lambda: line.put("a")), lambda: it.then(lambda: line.get(timeout=DEADLINE), it.touch)
    )


def items_by_priority(it: Thing) -> None:
    line: queue.PriorityQueue[tuple[int, str]] = queue.PriorityQueue()
    line.put((5, "late"))
    both(
        lambda: it.first(it.touch, lambda: line.put((1, "soon"))),
        lambda: it.then(lambda: line.get(timeout=DEADLINE), it.touch),
    )


def an_item_of_a_stack(it: Thing) -> None:
    line: queue.LifoQueue[str] = queue.LifoQueue()
    line.put("early")
    get = functools.partial(line.get, timeout=DEADLINE)
    both(lambda: it.first(it.touch, lambda: line.put("late")), lambda: it.then(get, it.touch))


class Shortest(queue.Queue):  # type: ignore[type-arg]
    """Gives them in an order of its own."""

    def _init(self, maxsize: int) -> None:
        self.queue = []  # type: ignore[assignment]

    def _put(self, item: str) -> None:
        self.queue.append(item)
        self.queue.sort(key=len)  # type: ignore[attr-defined]

    def _get(self) -> str:
        return self.queue.pop(0)  # type: ignore[call-arg,no-any-return]


class Once(queue.Queue):  # type: ignore[type-arg]
    """Takes each item once."""

    def _put(self, item: str) -> None:
        if item not in self.queue:
            super()._put(item)  # type: ignore[misc]


class Same(queue.Queue):  # type: ignore[type-arg]
    """As others are, and puts and gets by ways of its own."""

    def put(self, item: str, *args: object, **named: object) -> None:
        super().put(item)

    def get_all(self) -> list[str]:
        with self.mutex:
            return [self._get() for _ in range(self._qsize())]  # type: ignore[attr-defined]


def an_item_of_a_queue_of_ones_own(it: Thing) -> None:
    for kind in (Shortest, Once, Same):
        line = kind()
        line.put("longer")
        later = "b" if kind is Shortest else "longest"
        gets = [functools.partial(line.get, timeout=DEADLINE)] * (1 if kind is Shortest else 2)
        both(lambda: it.first(it.touch, lambda: line.put(later)), lambda: it.then(*gets, it.touch))  # noqa: B023
        it._second = False


def an_item_that_others_went_before(it: Thing) -> None:
    """Items that are moved behind the queue's back; the token of one stays with that."""
    line: queue.Queue[str | None] = queue.Queue()
    for clear in (line.queue.clear, line.queue.popleft, lambda: line.queue.remove("b"), lambda: line.queue.rotate(1)):
        for item in "ab":
            line.put(item)
        clear()
        line.queue.appendleft("c")
        left = len(line.queue)

        def get(gets: int = left + 1) -> None:
            assert [line.get(timeout=DEADLINE) for _ in range(gets)][-1] == "d"

        both(lambda: it.first(it.touch, lambda: line.put("d")), lambda: it.then(get, it.touch))
        it._second = False


def an_equal_item_that_others_went_before(it: Thing) -> None:
    line: queue.Queue[None] = queue.Queue()
    for _ in range(3):
        line.put(None)
    line.queue.clear()
    get = functools.partial(line.get, timeout=DEADLINE)
    both(lambda: it.first(it.touch, lambda: line.put(None)), lambda: it.then(get, it.touch))


def the_latest_of_several_signals(it: Thing) -> None:
    """All that set an event are before those that see it; also those that set it again."""
    event, other = threading.Event(), Thing()
    other.detector = RaceDetector(it.detector.clocks, changed=lambda: pytest.fail("they touch two things"))
    both(lambda: it.first(it.touch, event.set), lambda: it.then(other.touch, event.set))
    thread = threading.Thread(target=lambda: (event.wait(DEADLINE), it.touch(), event.is_set(), other.touch()))
    thread.start()
    thread.join(DEADLINE)


def a_result_without_a_worker(it: Thing) -> None:
    """A future and its result, which the program hands over itself."""
    for give in (
        lambda job: job.set_result(result=1),
        lambda job: job.set_exception(exception=ValueError()),
        concurrent.futures.Future.cancel,
    ):
        job: concurrent.futures.Future[int] = concurrent.futures.Future()

        def look(job: concurrent.futures.Future[int] = job) -> None:
            with contextlib.suppress(ValueError, concurrent.futures.CancelledError):
                job.result(timeout=DEADLINE)

        both(lambda: it.first(it.touch, lambda: give(job)), lambda: it.then(look, it.touch))  # noqa: B023
        it._second = False


def all_items_done(it: Thing) -> None:
    line: queue.Queue[int] = queue.Queue()
    thread = threading.Thread(target=lambda: (line.get(timeout=DEADLINE), it.touch(), line.task_done()))
    thread.start()
    line.put(1)
    line.join()
    it.touch()
    thread.join(DEADLINE)


def an_event(it: Thing) -> None:
    event = threading.Event()
    both(lambda: it.first(it.touch, event.set), lambda: it.then(lambda: event.wait(DEADLINE), it.touch))


def an_event_that_is_polled(it: Thing) -> None:
    event = threading.Event()

    def poll() -> None:
        while not event.is_set():
            pass

    both(lambda: it.first(it.touch, event.set), lambda: it.then(poll, it.touch))


def a_condition(it: Thing, came_early: bool = False) -> None:
    condition = threading.Condition()
    box: list[int] = []

    def give() -> None:
        it.touch()
        with condition:
            box.append(1)
            condition.notify()

    def take() -> None:
        with condition:
            while not box:
                condition.wait(DEADLINE)
        it.touch()

    if came_early:
        both(take, give)
    else:
        both(lambda: it.first(give), lambda: it.then(take))


def a_condition_that_is_waited_for(it: Thing) -> None:
    a_condition(it, came_early=True)


def a_condition_by_wait_for(it: Thing) -> None:
    condition = threading.Condition(threading.Lock())
    box: list[int] = []

    def give() -> None:
        it.touch()
        with condition:
            box.append(1)
            condition.notify_all()

    def take() -> None:
        with condition:
            condition.wait_for(lambda: box, DEADLINE)
        it.touch()

    both(give, take)


def a_condition_made_before(it: Thing) -> None:
    """Its lock cannot be seen, and the thread that waits has taken it before the other gives."""
    condition = threading.Condition(locks.make_raw_lock())
    box: list[int] = []

    def take() -> None:
        with condition:
            it.first()
            while not box:
                condition.wait(DEADLINE)
        it.touch()

    def give() -> None:
        it.touch()
        with condition:
            box.append(1)
            condition.notify()

    both(take, lambda: it.then(give))


def a_barrier(it: Thing) -> None:
    barrier = threading.Barrier(2)
    for _ in range(3):
        both(lambda: (it.touch(), barrier.wait(DEADLINE)), lambda: (barrier.wait(DEADLINE), it.touch()))


def a_barriers_action(it: Thing) -> None:
    barrier = threading.Barrier(2, action=it.touch)
    both(lambda: barrier.wait(DEADLINE), lambda: (it.touch(), barrier.wait(DEADLINE)))


def a_semaphore_for_one(it: Thing) -> None:
    semaphore = threading.Semaphore(1)

    def alone() -> None:
        with semaphore:
            it.touch()

    both(lambda: it.first(alone), lambda: it.then(alone))


def a_semaphore_as_a_signal(it: Thing) -> None:
    semaphore = threading.Semaphore(0)
    both(
        lambda: it.first(it.touch, semaphore.release),
        lambda: it.then(lambda: semaphore.acquire(timeout=DEADLINE), it.touch),
    )


def a_result(it: Thing) -> None:
    it.touch()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(it.touch).result(DEADLINE)
        it.touch()


def futures_that_are_waited_for(it: Thing) -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        concurrent.futures.wait([pool.submit(it.touch)], DEADLINE)
        it.touch()
        for done in concurrent.futures.as_completed([pool.submit(it.touch)], DEADLINE):
            done.exception()
        it.touch()


def what_a_result_brings_about(it: Thing) -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        job = pool.submit(it.touch)
        job.add_done_callback(lambda done: it.touch())
        job.result(DEADLINE)


def a_lock_of_multiprocessing(it: Thing) -> None:
    lock = multiprocessing.Lock()

    def locked() -> None:
        with lock:
            it.touch()

    both(lambda: it.first(locked), lambda: it.then(locked))


def a_coroutine_from_another_thread(it: Thing) -> None:
    async def touch() -> None:
        it.touch()
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    it.touch()
    asyncio.run_coroutine_threadsafe(touch(), loop).result(DEADLINE)
    it.touch()
    loop.call_soon_threadsafe(loop.stop)
    thread.join(DEADLINE)
    loop.close()


def what_the_program_declares(it: Thing) -> None:
    both(
        lambda: it.first(it.touch, lambda: hand_over("ready")),
        lambda: it.then(lambda: take_over("ready"), it.touch),
    )


def room_in_a_queue(it: Thing) -> None:
    """The get that makes room is before the put that takes the place: the third put needs the first get."""
    line: queue.Queue[int] = queue.Queue(2)
    line.put(0)
    line.put(1)
    both(lambda: it.first(it.touch, line.get), lambda: it.then(lambda: line.put(2), it.touch))


def what_imap_gives(it: Thing) -> None:
    for imap in (ThreadPool.imap, ThreadPool.imap_unordered):
        with ThreadPool(1) as pool:
            for _ in imap(pool, lambda _: it.touch(), range(2)):
                pass
            it.touch()


def a_thread_pool_of_multiprocessing(it: Thing) -> None:
    with ThreadPool(1) as pool:
        it.touch()
        pool.apply(it.touch)
        it.touch()


def an_event_loop(it: Thing) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, it.touch)
        it.touch()
        event = asyncio.Event()
        thread = threading.Thread(target=lambda: (it.touch(), loop.call_soon_threadsafe(event.set)))
        thread.start()
        await asyncio.wait_for(event.wait(), DEADLINE)
        it.touch()
        thread.join(DEADLINE)

    asyncio.run(main())


def a_byte_that_came_too_early(it: Thing) -> None:
    ends = os.pipe()
    os.write(ends[1], b"x")
    both(lambda: it.first(it.touch), lambda: it.then(lambda: os.read(ends[0], 1), it.touch))
    for end in ends:
        os.close(end)


def a_request_over_the_network(it: Thing) -> None:
    """The next may come at any time."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        with server.accept()[0] as accepted:
            both(lambda: (it.touch(), client.sendall(b"x")), lambda: (accepted.recv(1), it.touch()))


def a_loop_that_goes_on(it: Thing) -> None:
    """It sleeps between its rounds, and waits for nothing that another thread does."""

    def rounds() -> None:
        for _ in range(3):
            time.sleep(0.001)
            it.touch()

    both(lambda: it.first(it.touch), lambda: it.then(rounds))


def a_loop_that_asks_what_is_seen(it: Thing) -> None:
    event = threading.Event()

    def ask() -> None:
        while not event.is_set() or not event.is_set():
            time.sleep(0.001)
        it.touch()

    threading.Timer(0.02, event.set).start()
    both(lambda: it.first(it.touch), lambda: it.then(ask))


def a_lock_of_c(it: Thing) -> None:
    lock = _thread.allocate_lock()

    def locked() -> None:
        with lock:
            it.touch()

    both(lambda: it.first(locked), lambda: it.then(locked))


def a_lock_of_c_as_a_signal(it: Thing) -> None:
    lock = _thread.allocate_lock()
    lock.acquire()
    both(lambda: it.first(it.touch, lock.release), lambda: it.then(lock.acquire, it.touch))


RACES = [
    room_that_was_there_anyway,
    nothing,
    different_locks,
    a_lock_on_one_side,
    a_lock_in_between,
    a_logger_in_between,
    two_that_put_into_a_queue,
    an_item_from_before,
    an_item_of_a_stack_from_before,
    an_item_that_was_thrown_away,
    a_future_that_is_not_ready,
    an_event_that_did_not_come,
    a_semaphore_for_two,
    both_after_a_barrier,
    two_jobs_of_a_pool,
    a_lock_given_back_early,
    a_byte_that_came_too_early,
    a_request_over_the_network,
    a_loop_that_goes_on,
    a_loop_that_asks_what_is_seen,
]
ORDERED = [
    a_lock_of_c,
    a_lock_of_c_as_a_signal,
    room_in_a_queue,
    what_imap_gives,
    start_and_join,
    is_alive,
    a_lock,
    a_lock_by_acquire,
    a_lock_of_several,
    a_lock_as_a_signal,
    a_recursive_lock_made_before,
    an_item,
    an_item_of_a_simple_queue,
    items_by_priority,
    an_item_of_a_stack,
    an_item_of_a_queue_of_ones_own,
    an_item_that_others_went_before,
    an_equal_item_that_others_went_before,
    the_latest_of_several_signals,
    a_result_without_a_worker,
    all_items_done,
    an_event,
    an_event_that_is_polled,
    a_condition,
    a_condition_that_is_waited_for,
    a_condition_by_wait_for,
    a_condition_made_before,
    a_barrier,
    a_barriers_action,
    a_semaphore_for_one,
    a_semaphore_as_a_signal,
    a_result,
    futures_that_are_waited_for,
    what_a_result_brings_about,
    a_thread_pool_of_multiprocessing,
    a_lock_of_multiprocessing,
    a_coroutine_from_another_thread,
    what_the_program_declares,
    an_event_loop,
]


def kinds(program: Callable[[Thing], None]) -> list[RaceKind]:
    it = Thing()
    with watch(it.detector.clocks):
        program(it)
    return [report.kind for report in it.detector.reports]


@pytest.mark.parametrize("program", RACES, ids=lambda program: program.__name__)
def test_nothing_orders_them(program: Callable[[Thing], None]) -> None:
    assert kinds(program) == [RaceKind.CONSTRUCTION]


def test_a_queue_that_was_used_before_a_detector_was_on() -> None:
    """Equal items have no tokens while no detector is on; those of one detector are none of the next."""
    line: queue.Queue[None] = queue.Queue()

    def hand_over(it: Thing, gets: int = 1) -> None:
        def get() -> None:
            for _ in range(gets):
                line.get(timeout=DEADLINE)

        both(lambda: it.first(it.touch, lambda: line.put(None)), lambda: it.then(get, it.touch))

    line.put(None)
    assert kinds(hand_over) == [RaceKind.CONSTRUCTION]
    assert kinds(lambda it: hand_over(it, gets=2)) == []
    line.put(None)
    assert kinds(hand_over) == [RaceKind.CONSTRUCTION]
    line.get(timeout=DEADLINE)
    assert kinds(hand_over) == []
    assert line.empty()


def test_an_item_that_could_not_be_put() -> None:
    def program(it: Thing) -> None:
        line: queue.Queue[None] = queue.Queue(maxsize=1)
        line.put(None)

        def put() -> None:
            with pytest.raises(queue.Full):
                line.put(None, block=False)

        def get() -> None:
            line.get(timeout=DEADLINE)
            line.put(None)
            line.get(timeout=DEADLINE)

        both(lambda: it.first(it.touch, put), lambda: it.then(get, it.touch))

    assert kinds(program) == [RaceKind.CONSTRUCTION]


def test_an_item_that_is_taken_by_another_way() -> None:
    """Its token is not taken for that of the next one."""

    def program(it: Thing) -> None:
        line = Same()
        line.put("before")
        both(lambda: it.first(it.touch, lambda: line.put("a")), lambda: it.then(line.get_all))
        it._second = False
        line.put("b")
        both(lambda: it.first(it.touch), lambda: it.then(lambda: line.get(timeout=DEADLINE), it.touch))

    assert kinds(program) == [RaceKind.CONSTRUCTION]


@pytest.mark.parametrize(
    "program", [nothing, an_item, an_item_of_a_stack, an_item_of_a_simple_queue, a_result, an_event, a_condition]
)
def test_several_detectors_at_once(program: Callable[[Thing], None]) -> None:
    """Each finds the same; one that is put on later knows nothing of what was before."""
    its = [Thing(), Thing(), Thing()]
    expected = [RaceKind.CONSTRUCTION] if program is nothing else []
    for watching in (its[:1], its[:2], its):
        with contextlib.ExitStack() as watched:
            for it in watching:
                watched.enter_context(watch(it.detector.clocks))
            touched = Thing()
            touched.touch = lambda touched=watching: [it.touch() for it in touched]  # type: ignore[method-assign,misc]
            program(touched)
        assert [[report.kind for report in it.detector.reports] for it in watching] == [expected] * len(watching)


def test_what_outlives_the_watching_orders_nothing() -> None:
    """A future, an event, a lock and items of queues, which the next detector meets with tokens of the last one."""
    job: concurrent.futures.Future[int] = concurrent.futures.Future()
    event = threading.Event()
    lines = [queue.Queue(), queue.LifoQueue(), queue.SimpleQueue()]  # type: ignore[var-annotated]

    def give(it: Thing) -> None:
        lines.append(queue.SimpleQueue())
        puts = [functools.partial(line.put, 1) for line in lines]
        both(
            lambda: it.first(it.touch, lambda: job.set_result(1), event.set, *puts),
            lambda: it.then(it.touch),
        )

    def take(it: Thing) -> None:
        gets = [functools.partial(line.get, timeout=DEADLINE) for line in lines]
        both(lambda: it.first(it.touch), lambda: it.then(job.result, event.wait, *gets, it.touch))
        assert [line.qsize() for line in lines] == [0] * 4

    assert kinds(give) == [RaceKind.CONSTRUCTION]
    assert kinds(take) == [RaceKind.CONSTRUCTION]
    event.set()
    assert kinds(lambda it: both(lambda: it.first(it.touch, event.set), lambda: it.then(event.wait, it.touch))) == []


def test_threads_that_wait_when_the_watching_ends(run_python: Callable[..., PythonRun]) -> None:
    """They are within methods of ours, and go on as if nothing had been."""
    done = run_python(_WAITING, deadline=60).results
    assert done == {"ended": 10, "wrong": [], "again": []}


_WAITING = """
import concurrent.futures, queue, sys, threading, time
from tf1sessions.testing.vector_clocks import VectorClocks
from tf1sessions.testing.synchronisation import watch

wrong, begun, ended = [], [], []
threading.excepthook = lambda what: wrong.append(repr(what.exc_value))

def where():
    if len(begun) < len(threads):
        return None
    frames = sys._current_frames()
    return [(frames[thread.ident].f_code, frames[thread.ident].f_lasti) for thread in threads]

def waiter(wait, released):
    def run():
        begun.append(1)
        wait()
        ended.append(1)
        for _ in range(100):  # in and out of what was in place
            released()
    return threading.Thread(target=run)

full = queue.Queue(1)
full.put(0)
condition, event, semaphore, lock = threading.Condition(), threading.Event(), threading.Semaphore(0), threading.Lock()
lines = [queue.Queue(), queue.LifoQueue(), queue.PriorityQueue(), queue.SimpleQueue()]
with watch(VectorClocks()):
    lines.append(queue.SimpleQueue())
    job = concurrent.futures.Future()
    lock.acquire()
    waits = [*(line.get for line in lines), job.result, event.wait]
    waits += [semaphore.acquire, lambda: full.put(1), lock.acquire]
    threads = [waiter(wait, lambda: (event.is_set(), semaphore.release(), job.done())) for wait in waits]
    for thread in threads:
        thread.start()
    before = now = None
    while now is None or now != before:  # until all wait
        time.sleep(0.05)
        before, now = now, where()
for line in lines:
    line.put(1)
job.set_result(1)
event.set()
semaphore.release()
full.get()
lock.release()
for thread in threads:
    thread.join(20)
full.get()

again = []
for order in (VectorClocks(), VectorClocks()):  # items of before are none of those
    with watch(order):
        for line in (*lines, full):
            line.put(None)
            while not line.empty():
                line.get()
    for line in (*lines, full):
        line.put(None)
        line.get()
        again += [line] if line.qsize() else []
report(ended=len(ended), wrong=wrong, again=[repr(line) for line in again])
"""


def test_threads_that_differ_in_their_numbers_are_reported_once() -> None:
    def program(it: Thing) -> None:
        def two() -> None:
            it.touch()

        for names in (("w-1", "w-2"), ("w-1", "w-3"), ("pool-0_1", "pool-1_0"), ("w-1", "x-1")):
            functions = [lambda: it.first(it.touch), lambda: it.then(two)]
            threads = [threading.Thread(target=each, name=name) for each, name in zip(functions, names, strict=True)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(DEADLINE)

    it = Thing()
    with watch(it.detector.clocks):
        program(it)
    names = [(report.first.thread, report.second.thread) for report in it.detector.reports]
    assert names == [("w-1", "w-2"), ("pool-0_1", "pool-1_0"), ("w-1", "x-1")]


@pytest.mark.parametrize("program", ORDERED, ids=lambda program: program.__name__)
def test_something_orders_them(program: Callable[[Thing], None]) -> None:
    assert kinds(program) == []


# -- what cannot be seen ----------------------------------------------------------------------------------------------


def test_the_holder_of_a_lock_made_before_is_not_known() -> None:
    def program(it: Thing) -> None:
        def locked() -> None:
            with MADE_BEFORE:
                it.touch()

        both(lambda: it.first(locked), lambda: it.then(locked))
        assert "The lock MADE_BEFORE was made before the watching began" in it.detector.reports[0].note

    assert kinds(program) == [RaceKind.UNKNOWN]


def a_queue_made_before(it: Thing) -> str:
    def give() -> None:
        it.touch()
        QUEUE_MADE_BEFORE.put(1)

    def take() -> None:
        QUEUE_MADE_BEFORE.get(timeout=DEADLINE)
        it.touch()

    both(lambda: it.first(give), lambda: it.then(take))
    return "The queue QUEUE_MADE_BEFORE was made before the watching began. Which items went through it is not known."


def give_after(rounds: list[int], it: Thing, ready: list[int]) -> None:
    """Touches it and says so when the other waits."""
    late = time.monotonic() + DEADLINE
    while not rounds:
        assert time.monotonic() < late
        unseen_pause()
    it.touch()
    ready.append(1)


def a_flag_that_is_polled(it: Thing) -> str:
    ready: list[int] = []
    rounds: list[int] = []

    def wait() -> None:  # has returned when the thing is touched
        while not ready:
            time.sleep(0.001)
            rounds.append(1)

    both(lambda: give_after(rounds, it, ready), lambda: (wait(), it.touch()))
    return f"may have waited for the other, by the loop at {__file__}:"


def a_loop_that_is_left(it: Thing) -> str:
    ready: list[int] = []
    rounds: list[int] = []

    def wait() -> None:
        while True:
            time.sleep(0.001)
            rounds.append(1)
            if ready:
                break
        it.touch()

    both(lambda: give_after(rounds, it, ready), wait)
    return f"by the loop at {__file__}:"


def a_byte_in_a_pipe(it: Thing) -> str:
    ends = os.pipe()
    both(lambda: (it.touch(), os.write(ends[1], b"x")), lambda: (os.read(ends[0], 1), it.touch()))
    for end in ends:
        os.close(end)
    return "by a pipe."


def a_pipe_that_is_looked_at(it: Thing) -> str:
    ends = os.pipe()
    both(lambda: (it.touch(), os.write(ends[1], b"x")), lambda: (select.select(ends[:1], [], [], DEADLINE), it.touch()))
    for end in ends:
        os.close(end)
    return "by a pipe."


def a_pair_of_sockets(it: Thing) -> str:
    one, other = socket.socketpair()
    with one, other:
        both(lambda: (it.touch(), one.sendall(b"x")), lambda: (other.recv(1), it.touch()))
    return "by a pair of sockets."


def a_selector(it: Thing) -> str:
    one, other = socket.socketpair()
    with one, other, selectors.DefaultSelector() as selector:
        selector.register(other, selectors.EVENT_READ)
        both(lambda: (it.touch(), one.send(b"x")), lambda: (selector.select(DEADLINE), it.touch()))
    return "by a pair of sockets."


def an_event_of_multiprocessing(it: Thing) -> str:
    event = multiprocessing.Event()
    both(lambda: (it.touch(), event.set()), lambda: (event.wait(DEADLINE), it.touch()))
    return "by an event of multiprocessing."


def a_semaphore_of_multiprocessing(it: Thing) -> str:
    semaphore = multiprocessing.Semaphore(0)
    both(lambda: (it.touch(), semaphore.release()), lambda: (semaphore.acquire(timeout=DEADLINE), it.touch()))
    return "by a semaphore of multiprocessing."


def a_queue_of_multiprocessing(it: Thing) -> str:
    line: multiprocessing.Queue[int] = multiprocessing.Queue()
    both(lambda: (it.touch(), line.put(1)), lambda: (line.get(timeout=DEADLINE), it.touch()))
    line.close()
    line.join_thread()
    return "by a queue of multiprocessing."


def a_pipe_of_multiprocessing(it: Thing) -> str:
    one, other = multiprocessing.Pipe()
    with one, other:
        both(lambda: (it.touch(), one.send(1)), lambda: (other.recv(), it.touch()))
    return "by a pipe of multiprocessing."


def what_is_published_again(it: Thing) -> str:
    """By a third thread, which publishes what it possibly knows."""
    ends, event = os.pipe(), threading.Event()
    threads = [
        threading.Thread(target=lambda: (it.touch(), os.write(ends[1], b"x"))),
        threading.Thread(target=lambda: (os.read(ends[0], 1), event.set())),
        threading.Thread(target=lambda: (event.wait(DEADLINE), it.touch())),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    for end in ends:
        os.close(end)
    return "may have waited for the other, by something between them."


UNSEEN = [
    a_queue_made_before,
    a_flag_that_is_polled,
    a_loop_that_is_left,
    a_byte_in_a_pipe,
    a_pipe_that_is_looked_at,
    a_pair_of_sockets,
    a_selector,
    an_event_of_multiprocessing,
    a_semaphore_of_multiprocessing,
    a_queue_of_multiprocessing,
    a_pipe_of_multiprocessing,
    what_is_published_again,
]


@pytest.mark.parametrize("program", UNSEEN, ids=lambda program: program.__name__)
def test_what_may_order_them(program: Callable[[Thing], str]) -> None:
    it = Thing()
    with watch(it.detector.clocks):
        why = program(it)
    (report,) = it.detector.reports
    assert report.kind is RaceKind.UNKNOWN and why in report.note, report
    assert report.note in str(report)


def test_a_thread_from_elsewhere() -> None:
    def program(it: Thing) -> None:
        ended = _thread.allocate_lock()
        ended.acquire()
        it.touch()
        _thread.start_new_thread(lambda: (it.touch(), ended.release()), ())
        assert ended.acquire(timeout=DEADLINE)
        ended.release()

    assert kinds(program) == [RaceKind.UNKNOWN]


# -- what is watched --------------------------------------------------------------------------------------------------


def test_locks_outlive_the_watching() -> None:
    with watch(VectorClocks()), watch(VectorClocks()):
        made, again = threading.Lock(), threading.RLock()
    with made, again, again:  # go on working, and are known
        assert made.locked()
        assert len(held_locks()) == 2
    assert held_locks() == frozenset()


def test_watched_locks_are_locks() -> None:
    with watch(VectorClocks()):
        lock, recursive = threading.Lock(), threading.RLock()
        assert isinstance(lock, threading.Lock) and isinstance(MADE_BEFORE, threading.Lock)  # type: ignore[arg-type]
        assert not isinstance(lock, threading.RLock)  # type: ignore[arg-type]
        with lock:
            assert not lock.acquire(blocking=False) and not lock.acquire(timeout=0.01)
        for each in (lock, recursive):
            with pytest.raises(RuntimeError):
                each.release()
            assert each.acquire(False)
            each.release()
        condition = threading.Condition(recursive)
        with recursive, condition:
            assert not condition.wait(0.01)
            assert len(held_locks()) == 1
        with pytest.raises(RuntimeError):
            condition.wait()


def test_locks_taken_again_and_again_are_not_kept() -> None:
    with watch(VectorClocks()):
        for _ in range(100):
            with threading.Lock(), MADE_BEFORE_AGAIN, threading.RLock() as held:
                assert held and len(held_locks()) == 2
        assert len(locks.holding.locks) < 20


def test_libraries_lock_for_themselves() -> None:
    with watch(VectorClocks()):
        line: queue.Queue[int] = queue.Queue()
        job: concurrent.futures.Future[int] = concurrent.futures.Future()
        assert hasattr(threading.Lock(), "number") and hasattr(threading.Condition()._lock, "number")  # type: ignore[attr-defined]
        for condition in (line.not_empty, threading.Event()._cond, job._condition):  # type: ignore[attr-defined]
            assert not hasattr(condition._lock, "number")
    assert is_library(threading.__file__) and not is_library(__file__)


def test_locks_that_a_frame_can_name() -> None:
    holder = threading.Event()  # anything with attributes
    holder.guard = locks.make_raw_lock()  # type: ignore[attr-defined]
    with MADE_BEFORE_AGAIN, holder.guard:  # type: ignore[attr-defined]
        found = {lock.name: lock.mine for lock in opaque_locks([sys._getframe()])}
    assert found == {"MADE_BEFORE_AGAIN": True, "holder.guard": None}
    assert opaque_locks([sys._getframe()]) == []


def test_pairs_of_places_are_counted_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of thousands of lines would take hundreds of megabytes."""
    monkeypatch.setattr(race_detector, "MOST_PAIRS", 2)
    it = Thing()
    touches = (
        lambda: it.touch(),
        lambda: it.touch(),
        lambda: it.touch(),
    )
    with watch(it.detector.clocks):
        both(lambda: it.first(*touches), lambda: it.then(*touches))
    (report,) = it.detector.reports
    assert report.others == 2
    assert "at least 1000 more pairs" in str(dataclasses.replace(report, others=1000))
    assert "and 2 more pairs" in str(report)
