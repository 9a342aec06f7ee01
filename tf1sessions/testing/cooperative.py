"""Python's means of synchronisation under a scheduler: each use of one is a stop, and none waits in C.

Data flow::

    cooperative() ── puts in place ──▶ locks, SimpleQueue, Thread.start and join, sleep, clocks, selectors
    a use of one by a task ──▶ Scheduler.pause(), block() (scheduler.py); by any other thread ──▶ as without it

Events, conditions, semaphores, barriers, queues, futures, timers and executors are made of such locks by the standard
library itself, so these are the program's own, and stop where they lock. Locks that were made before, and watched
(locks.py), become cooperative when they are used; those of C stay what they are.

Thread-safety: a :class:`CooperativeLock` may be used by any thread, by tasks and by others.
"""

from __future__ import annotations

import concurrent.futures.thread
import contextlib
import logging
import os
import queue
import selectors
import sys
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from types import FrameType
from typing import Any

from tf1sessions.testing import item_tokens, locks
from tf1sessions.testing.frames import in_package, is_library
from tf1sessions.testing.locks import RawLock, RawRLock, make_raw_lock
from tf1sessions.testing.patching import Patch, Switch
from tf1sessions.testing.scheduler import Abandoned
from tf1sessions.testing.synchronisation import hooks_in_place
from tf1sessions.testing.tasks import TRIES, Task, born, current_task, new_name, pause

__all__ = ["CooperativeLock", "cooperative"]

#: What event loops wait for, of any selector: who wakes one is not known by which.
_EVENTS = "events of selectors"
_ROOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


class CooperativeLock:
    """A lock that tasks stop at; otherwise as ``threading.Lock``.

    Args:
        raw: A lock of C to be used from now on through this one only.
    """

    def __init__(self, raw: Any = None) -> None:
        self._raw: Any = make_raw_lock() if raw is None else raw
        made = new_name() if raw is None else None
        # One that was made before is the same object in each order, also where each order has a process.
        self.explored_name: Hashable = ("lock", id(self._raw)) if made is None else made
        self.holder = ""  # the task that acquired it last
        self.is_own = False  # whether no other thread can know it yet

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        task = current_task()
        got: bool
        if task is None:
            got = self._raw.acquire(blocking, timeout)
        else:
            got = self._acquire(task, blocking, timeout)
        self.holder = "" if task is None else task.name
        return got

    def _acquire(self, task: Task, blocking: bool, timeout: float) -> bool:
        scheduler = task.scheduler
        if self.is_own:
            self.is_own = False
            got: bool = self._raw.acquire(False)
            return got
        touching = ((self.explored_name, True),)
        if not blocking:
            if not task.quiet:
                scheduler.pause(task, "tries a lock", *touching)
            scheduler.touch(task, self.explored_name)
            self._note_try(task)
            got = self._raw.acquire(False)
            return got
        if task.quiet and self._raw.acquire(False):
            scheduler.touch(task, self.explored_name)
            return True
        limit = None if timeout < 0 else timeout
        if limit is not None:
            self._note_try(task)
        while True:
            if not scheduler.block(task, "waits for a lock", touching, self._is_free, limit):
                return False
            if self._raw.acquire(False):  # else a thread that is no task was faster
                return True

    def _note_try(self, task: Task) -> None:
        """Notes that what a task does depends on whether the lock is held, unless a condition asks for its own."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename.startswith(_ROOM):
            frame = frame.f_back
        if frame is None or frame.f_code not in (_WAIT, _IS_OWNED):
            task.scheduler.touch(task, (TRIES, self.explored_name), writes=False)

    def release(self) -> None:
        task = current_task()
        try:
            if task is not None and not task.quiet and self.explored_name in task.scheduler.tried:
                task.scheduler.pause(task, "releases a lock", (self.explored_name, True))
        finally:
            self._raw.release()
        if task is not None:
            task.scheduler.touch(task, self.explored_name)

    def locked(self) -> bool:
        pause("looks at a lock", (self.explored_name, False))
        task = current_task()
        if task is not None:
            self._note_try(task)
        locked: bool = self._raw.locked()
        return locked

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<cooperative {self._raw!r}>"

    def _is_free(self) -> bool:
        return not self._raw.locked()

    def _at_fork_reinit(self) -> None:
        self._raw._at_fork_reinit()


def _adapted(lock: Any) -> Any:
    """Return a cooperative lock for one of C that was made before; a recursive one that is held stays as it is."""
    if type(lock) is RawLock:
        return CooperativeLock(lock)
    if type(lock) is RawRLock and lock.acquire(False):
        lock.release()
        if not lock._is_owned():  # type: ignore[attr-defined]
            return threading._PyRLock()  # type: ignore[attr-defined]
    return lock


# -- what is put in place ---------------------------------------------------------------------------------------------


def _patches() -> Iterator[Patch]:
    recursive = threading._PyRLock  # type: ignore[attr-defined]
    yield locks.AnyLock, "raw", _unless_ours(CooperativeLock, make_raw_lock)
    yield locks.AnyRLock, "raw", _unless_ours(recursive, RawRLock)
    yield locks.WatchedLock, "_make", CooperativeLock
    yield locks.WatchedRLock, "_make", recursive
    yield locks.WatchedLock, "adapt", staticmethod(_adapted)
    yield threading, "_allocate_lock", _allocate_in_threading
    yield concurrent.futures.thread, "_global_shutdown_lock", CooperativeLock()
    yield from _threads()
    yield from _time()
    yield from _selectors()
    yield from _event_loops()


class _InOrder(dict[Any, None]):
    """Set of threads, in the order in which they came: an executor joins them in the order of its set."""

    def add(self, thread: Any) -> None:
        self[thread] = None

    def remove(self, thread: Any) -> None:
        del self[thread]


_WAIT = threading.Condition.wait.__code__
_IS_OWNED = threading.Condition._is_owned.__code__  # type: ignore[attr-defined]


def _allocate_in_threading() -> CooperativeLock:
    lock = CooperativeLock()
    # A condition's wait acquires the lock that it has made, before any other thread knows it, to acquire it once more.
    lock.is_own = sys._getframe(1).f_code is _WAIT
    return lock


def _unless_ours(make: Callable[[], Any], raw: Callable[[], Any]) -> Any:
    """Return what makes locks; those of this room stay out of the program's orders."""

    def made() -> Any:
        return raw() if sys._getframe(2).f_code.co_filename.startswith(_ROOM) else make()

    return made


def _threads() -> Iterator[Patch]:
    thread = threading.Thread
    start, join, is_alive = thread.start, thread.join, thread.is_alive

    def new_start(self: Any) -> None:
        task = current_task()
        if task is None or task.scheduler.is_over or self._started.is_set():
            return start(self)
        child = task.scheduler.add(self, is_daemon=self.daemon)
        run, own = self.run, vars(self).get("run")

        def new_run() -> None:
            if own is None:
                del self.run
            else:
                self.run = own
            child.scheduler.run(child, run)

        self.run = new_run
        vars(self)["_tf1sessions_task"] = child
        with _aside(task):
            start(self)

    def new_join(self: Any, timeout: float | None = None) -> None:
        task, child = current_task(), vars(self).get("_tf1sessions_task")
        if task is None or child is None or task is child or child.scheduler is not task.scheduler:
            return join(self, timeout)
        name = ("end", child.name)
        what = f"waits for the end of task {child.name}"
        if not task.scheduler.block(task, what, ((name, False),), lambda: child.ended, timeout):
            return None
        with _aside(task):
            join(self)

    def new_is_alive(self: Any) -> bool:
        task, child = current_task(), vars(self).get("_tf1sessions_task")
        if task is None or child is None or child.scheduler is not task.scheduler:
            return is_alive(self)
        if not child.ended:
            return True
        with _aside(task):
            join(self)
        return is_alive(self)

    pool = concurrent.futures.ThreadPoolExecutor
    make = pool.__init__

    def new_make(self: Any, *args: Any, **named: Any) -> None:
        make(self, *args, **named)
        self._threads = _InOrder()

    yield pool, "__init__", new_make
    yield thread, "start", new_start
    yield thread, "join", new_join
    yield thread, "is_alive", new_is_alive


@contextlib.contextmanager
def _aside(task: Task) -> Iterator[None]:
    """Let a task be a thread as any other while this lasts: what it waits for comes at once."""
    task.hide()
    try:
        yield
    finally:
        task.show()


def _is_own(frame: FrameType) -> bool:
    """Say whether a frame is of tf1sessions, whose time is the real one; this room's hooks stand for the program."""
    return in_package(frame) and not frame.f_code.co_filename.startswith(_ROOM)


def _time() -> Iterator[Patch]:
    sleep = time.sleep

    def new_sleep(secs: float) -> None:
        task = current_task()
        if task is None or _is_own(sys._getframe(1)):
            return sleep(secs)
        task.scheduler.rest(task, "sleeps", secs)

    def clock(real: Callable[[], float], offset: float, *, is_programs: bool = True) -> Callable[[], float]:
        def now() -> float:
            task = current_task()
            if task is None or _is_own(sys._getframe(1)):
                return real()
            seen = task.scheduler.look_at_clock(task) if is_programs else task.scheduler.now()
            return float(seen + offset)

        return now

    yield time, "sleep", new_sleep
    yield time, "monotonic", clock(time.monotonic, 0.0)
    monotonic = clock(time.monotonic, 0.0, is_programs=False)  # of waits, which may time out at any moment
    yield time, "time", clock(time.time, time.time() - time.monotonic())
    yield time, "perf_counter", clock(time.perf_counter, time.perf_counter() - time.monotonic())
    yield threading, "_time", monotonic
    yield queue, "time", monotonic


def _selectors() -> Iterator[Patch]:
    """Let event loops wait for their tasks' wake-ups by the scheduler."""
    kinds = {getattr(selectors, name, None) for name in ("SelectSelector", "PollSelector", "EpollSelector")}
    for kind in kinds - {None}:
        select = kind.select  # type: ignore[union-attr]

        def new_select(self: Any, timeout: float | None = None, select: Any = select) -> Any:
            task = current_task()
            if task is None or (timeout is not None and timeout <= 0):
                return select(self, timeout)
            task.outside = True
            try:
                events = ((_EVENTS, True),)
                task.scheduler.block(task, "waits for events", events, lambda: bool(select(self, 0)), timeout)
            finally:
                task.outside = False
            return select(self, 0)

        yield kind, "select", new_select


def _event_loops() -> Iterator[Patch]:
    """Let an order know who wakes an event loop; one that is over leaves the loop's tasks without a word."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return
    run_forever = asyncio.BaseEventLoop.run_forever
    wake = asyncio.BaseEventLoop.call_soon_threadsafe

    def new_wake(self: Any, *args: Any, **named: Any) -> Any:
        task = current_task()
        if task is not None:
            task.scheduler.touch(task, _EVENTS)
        return wake(self, *args, **named)

    def new_run_forever(self: Any) -> None:
        try:
            run_forever(self)
        except Abandoned:
            for task in asyncio.all_tasks(self):
                task._log_destroy_pending = False
            raise

    yield asyncio.BaseEventLoop, "run_forever", new_run_forever
    yield asyncio.BaseEventLoop, "call_soon_threadsafe", new_wake


# -- what is put in place above the race detector's hooks --------------------------------------------------------------


class _SimpleQueue(item_tokens.WatchedSimpleQueue):
    """The queue that programs, and executors, get: its waits are the scheduler's."""

    def __init__(self) -> None:
        born(self)

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        task = current_task()
        if task is not None and not task.scheduler.is_over:  # else it may be a finalizer that puts it
            pause("puts an item into a queue", (self, True))
        super().put(item, block, timeout)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        task = current_task()
        if task is None:
            return super().get(block, timeout)
        name = task.scheduler.name_of(self)
        if block:
            task.scheduler.block(task, "waits for an item", ((name, True),), lambda: not self.empty(), timeout)
        else:
            pause("looks for an item", (self, True))
        return super().get(False)


def _upper_patches() -> Iterator[Patch]:
    yield queue, "SimpleQueue", _SimpleQueue
    is_set = threading.Event.is_set

    def new_is_set(self: Any) -> bool:
        if current_task() is not None and not is_library(sys._getframe(1).f_code.co_filename):
            pause("looks at an event", (self._cond._lock, False))
        return is_set(self)

    yield threading.Event, "is_set", new_is_set
    is_alive = threading.Thread.is_alive

    def new_is_alive(self: Any) -> bool:
        if current_task() is not None and not is_library(sys._getframe(1).f_code.co_filename):
            child = vars(self).get("_tf1sessions_task")
            pause("asks whether a thread is alive", *([(("end", child.name), False)] if child else []))
        return is_alive(self)

    yield threading.Thread, "is_alive", new_is_alive


_switch, _upper_switch = Switch(_patches), Switch(_upper_patches)


@contextlib.contextmanager
def cooperative() -> Iterator[None]:
    """Make means of synchronisation cooperative while this lasts, those of tasks."""
    loggers = [logging.getLogger(name) for name in ("concurrent.futures", "asyncio")]

    def is_ours(record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], Abandoned))

    for logger in loggers:
        logger.addFilter(is_ours)
    try:
        with _switch.on(), hooks_in_place(), _upper_switch.on():
            yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_ours)
