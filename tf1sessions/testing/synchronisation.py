"""Python's own means of synchronisation, watched: what threads release and acquire by them.

Data flow::

    watch(clocks) ── hooks ──▶ Thread, Event, Condition, Semaphore, Barrier, Future, asyncio.Handle
                     item_tokens.py: Queue, SimpleQueue · uncertain_order.py: what possibly orders threads
    a hook ── release(object), acquire(object) ──▶ vector_clocks.py
    a lock, a semaphore of one ── takes(it) ─────▶ locks.py: which locks a thread holds

Methods of the standard library's classes are hooked, so objects that exist already are watched, too. Of what libraries
do among themselves with conditions and semaphores nothing is taken as order: that two threads put something into a
queue says nothing about which came first; that one got what the other had put there does.

Two jobs that one worker of an executor runs are ordered, as a thread's own doings are: what a worker keeps for itself
is no hazard. Where another worker may have run the second one, it is noted where each begins, so that
race_detector.py finds what only luck has ordered (handed_objects.py).

Thread-safety: may be called from any thread, several times at once.
"""

from __future__ import annotations

import _thread
import asyncio
import concurrent.futures
import contextlib
import itertools
import multiprocessing.pool
import queue
import socketserver
import sys
import weakref
from collections.abc import Iterable, Iterator
from threading import Barrier, BoundedSemaphore, Condition, Event, Semaphore, Thread
from types import FrameType
from typing import Any

from tf1sessions.testing import item_tokens, uncertain_order
from tf1sessions.testing.deadlocks import SLICE_SECS, check
from tf1sessions.testing.frames import STACK, asked_by_library, format_frame, program_frames, program_place
from tf1sessions.testing.handed_objects import ExecutorJob, Giver
from tf1sessions.testing.ignored_results import ignores_result
from tf1sessions.testing.locks import WatchedLock, WatchedRLock, new_number, takes, watch_locks
from tf1sessions.testing.patching import Patch, Switch, hooked
from tf1sessions.testing.polling import passed_loop
from tf1sessions.testing.vector_clocks import (
    Token,
    VectorClocks,
    acquire,
    active,
    begin_job,
    current_giver,
    end_claim,
    python_thread,
    release,
    tracking,
)
from tf1sessions.testing.waits import untimed

__all__ = ["hooks_in_place", "watch"]

_guard = _thread.allocate_lock()  # for the meetings at barriers


def _acquire_if_true(self: Any, result: Any) -> None:
    if result:
        acquire(self)


def _event_waits() -> Iterator[Patch]:
    """Order what comes after a wait, unless it may have timed out and nobody looks whether it has."""
    wait = Event.wait

    def new_wait(self: Any, timeout: float | None = None) -> bool:
        came = wait(self, timeout)
        if came and timeout is not None and ignores_result(sys._getframe(1)):
            for clocks in active():
                clocks.may_acquire(self, f"a wait with a time-out of {timeout:g} s, whose result nobody looks at")
        else:
            _acquire_if_true(self, came)
        return came

    yield Event, "wait", new_wait


def _patches() -> Iterator[Patch]:
    for each in (_threads, _server_threads, _conditions, _semaphores, _barriers, _futures, _thread_pools):
        yield from each()
    yield hooked(Event, "set", before=release)
    yield hooked(Event, "is_set", after=_acquire_if_true)
    yield from _event_waits()
    yield hooked(queue.Queue, "task_done", before=release)
    yield hooked(queue.Queue, "join", after=lambda self, _: acquire(self))
    # What is given to an event loop, by call_soon_threadsafe for one, runs after it was given.
    yield hooked(asyncio.Handle, "__init__", after=lambda self, _: release(self))
    yield hooked(asyncio.Handle, "_run", before=acquire)
    yield from item_tokens.patches()
    yield from uncertain_order.patches()


# -- threads ----------------------------------------------------------------------------------------------------------


def _threads() -> Iterator[Patch]:
    thread = Thread
    bootstrap, is_alive = thread._bootstrap_inner, thread.is_alive  # type: ignore[attr-defined]
    stacks: weakref.WeakKeyDictionary[Any, tuple[str, ...]] = weakref.WeakKeyDictionary()

    def before_start(self: Any) -> None:
        if active():
            frames = list(itertools.islice(program_frames(sys._getframe(1)), STACK))
            stacks[self] = tuple(map(format_frame, frames))
            _learn_by_loops(frames)
            release(self)

    def new_bootstrap(self: Any) -> None:
        for clocks in active():
            clocks.begin(self.name, stacks.get(self, ()))
        acquire(self)
        try:
            bootstrap(self)
        finally:
            release(self)

    def new_is_alive(self: Any) -> bool:
        alive = is_alive(self)
        if not alive and sys._getframe(1).f_globals.get("__name__") != "socketserver":
            acquire(self)
        return alive

    join = thread.join

    def new_join(self: Any, timeout: float | None = None) -> None:
        if timeout is None and self is not python_thread() and is_alive(self):
            if WatchedLock.adapt is not None:  # an exploration knows by itself which threads wait for ever
                join(self)
            while is_alive(self):
                join(self, SLICE_SECS)
                check()
        else:
            join(self, timeout)
        if not is_alive(self):
            acquire(self)

    untimed[new_join.__code__] = "timeout"
    yield hooked(thread, "start", before=before_start)
    yield thread, "_bootstrap_inner", new_bootstrap
    yield thread, "is_alive", new_is_alive
    yield thread, "join", new_join


def _learn_by_loops(frames: Iterable[FrameType]) -> None:
    """Let the calling thread know possibly what was done until now, if it has passed a loop that waits by sleeping.

    What it starts now comes after that, also where the loop did not have to sleep.
    """
    loop = next((found for each in frames if (found := passed_loop(each.f_code, each.f_lineno))), None)
    for clocks in active() if loop is not None else ():
        clocks.may_acquire_all(str(loop))


def _server_threads() -> Iterator[Patch]:
    """Order a server's end after its threads, also after those that it has forgotten.

    It forgets ended threads at its next request; that may as well come before their end, so it orders nothing.
    """
    kind = getattr(socketserver, "_Threads", None)
    if kind is None:
        return
    reap = kind.reap

    def token_of(threads: Any) -> Token:
        found: Token = vars(threads).setdefault("_tf1sessions_ended", Token())
        return found

    def new_reap(self: Any) -> None:
        before = list(self)
        reap(self)
        if active():
            for thread in before:
                for clocks in active() if thread not in self else ():
                    clocks.forward(thread, token_of(self))

    yield kind, "reap", new_reap
    yield hooked(kind, "join", after=lambda self, _: acquire(token_of(self)))


# -- conditions, semaphores, barriers ---------------------------------------------------------------------------------


def _conditions() -> Iterator[Patch]:
    """Order a condition's holder before all that hold it later: it guards something that threads wait for."""
    condition = Condition
    make, wait = condition.__init__, condition.wait

    def new_make(self: Any, lock: Any = None) -> None:
        by_program = not asked_by_library()
        if lock is None and by_program:
            lock = WatchedRLock()
        make(self, lock)
        self._tf1sessions_made = program_place()
        if by_program and isinstance(lock, WatchedLock):
            lock.orders = True

    def orders(self: Any) -> bool:
        """Say whether the order is that of the condition itself, and not that of its lock."""
        return not (isinstance(self._lock, WatchedLock) and self._lock.orders)

    def before(self: Any) -> None:
        if orders(self):
            release(self)

    def after(self: Any, _: object = None) -> None:
        if orders(self):
            acquire(self)

    def new_wait(self: Any, timeout: float | None = None) -> bool:
        try:
            return wait(self, timeout)
        finally:
            check()

    yield condition, "__init__", new_make
    yield condition, "wait", new_wait
    yield hooked(condition, "__enter__", after=after, by_program=True)
    for name in ("__exit__", "notify", "notify_all"):
        yield hooked(condition, name, before=before, by_program=True)
    for name in ("wait", "wait_for"):
        yield hooked(condition, name, before=before, at_end=after, by_program=True)


class _Permits:
    """Holders of a semaphore. One that begins with 1 is a lock as long as its holders release it themselves."""

    def __init__(self, single: bool) -> None:
        self.single = single
        self.holders: dict[int, int] = {}
        self.number = new_number()
        self.owner: int | None = None
        self.orders = False

    def acquired(self) -> None:
        """Note that the calling thread has acquired the semaphore."""
        me = _thread.get_ident()
        self.holders[me] = self.holders.get(me, 0) + 1
        if self.single:
            self.owner = me
            takes(self)

    def released(self) -> bool:
        """Note that the calling thread releases it; says whether it held it. If not, the release is a signal."""
        me = _thread.get_ident()
        self.owner = None
        held = self.holders.pop(me, 0)
        if held > 1:
            self.holders[me] = held - 1
        self.single = self.single and held > 0
        end_claim(self.number)
        return held > 0


def _semaphores() -> Iterator[Patch]:
    semaphore, attribute = Semaphore, "_tf1sessions_permits"
    make = semaphore.__init__

    def permits(self: Any) -> _Permits:
        known: _Permits | None = vars(self).get(attribute)
        if known is None:  # made before the watching began
            single = getattr(self, "_initial_value", None) == 1
            known = vars(self).setdefault(attribute, _Permits(single))
        return known

    def new_make(self: Any, value: int = 1) -> None:
        make(self, value)
        vars(self)[attribute] = _Permits(value == 1)

    def after_acquire(self: Any, got: Any) -> None:
        if got:
            acquire(self)
            permits(self).acquired()

    def before_release(self: Any) -> None:
        if not permits(self).released():
            release(self)

    yield semaphore, "__init__", new_make
    for name in ("acquire", "__enter__"):
        yield hooked(semaphore, name, after=after_acquire, by_program=True)
    for kind, name in ((semaphore, "release"), (semaphore, "__exit__"), (BoundedSemaphore, "release")):
        yield hooked(kind, name, before=before_release, by_program=True)


def _barriers() -> Iterator[Patch]:
    """Order what threads do before a meeting at a barrier before what all do after it."""
    barrier = Barrier
    wait, release_all, reset = barrier.wait, barrier._release, barrier.reset  # type: ignore[attr-defined]
    meetings: weakref.WeakKeyDictionary[Any, tuple[int, Token]] = weakref.WeakKeyDictionary()

    def new_wait(self: Any, timeout: float | None = None) -> int:
        with _guard:
            arrived, meeting = meetings.get(self, (0, Token()))
            if arrived == self.parties:
                arrived, meeting = 0, Token()
            meetings[self] = arrived + 1, meeting
        release(meeting)
        try:
            return wait(self, timeout)
        finally:
            acquire(meeting)

    def new_release(self: Any) -> None:
        """Run the barrier's action, by the last thread that comes: after all arrivals, and before all go on."""
        meeting = meetings[self][1] if self in meetings else Token()
        acquire(meeting)
        release_all(self)
        release(meeting)

    def new_reset(self: Any) -> None:
        with _guard:
            meetings.pop(self, None)
        reset(self)

    yield barrier, "wait", new_wait
    yield barrier, "_release", new_release
    yield barrier, "reset", new_reset


# -- futures ----------------------------------------------------------------------------------------------------------

_FINISHED = ("FINISHED", "CANCELLED", "CANCELLED_AND_NOTIFIED")


def _acquire_if_finished(self: Any) -> None:
    if self._state in _FINISHED:
        acquire(self)


def _futures() -> Iterator[Patch]:
    """Order the maker of a future before the worker that begins it, and that which ends it before those that look."""
    future = concurrent.futures.Future
    add, wait, as_completed = future.add_done_callback, concurrent.futures.wait, concurrent.futures.as_completed

    def new_add(self: Any, function: Any) -> None:
        """Order the function after the future if it is called at once; a library goes on as if it were called later."""
        if asked_by_library():
            return add(self, function)
        _acquire_if_finished(self)
        try:
            return add(self, function)
        finally:
            _acquire_if_finished(self)

    def new_wait(*args: Any, **named: Any) -> Any:
        found = wait(*args, **named)
        for each in found.done:
            acquire(each)
        return found

    def new_as_completed(*args: Any, **named: Any) -> Iterator[Any]:
        for each in as_completed(*args, **named):
            acquire(each)
            yield each

    yield hooked(future, "__init__", after=lambda self, _: release(self))
    for name in ("set_result", "set_exception", "cancel"):
        yield hooked(future, name, before=release)
    begin, submit = future.set_running_or_notify_cancel, concurrent.futures.ThreadPoolExecutor.submit

    def new_begin(self: Any) -> bool:
        acquire(self)
        self._tf1sessions_runner = _thread.get_ident()
        return begin(self)

    def new_submit(self: Any, function: Any, /, *args: Any, **named: Any) -> Any:
        frames = list(itertools.islice(program_frames(sys._getframe(1)), STACK)) if active() else []
        _learn_by_loops(frames)
        if active() and self._max_workers > 1:
            made = submit(self, _run_job, ExecutorJob(function, args, named, current_giver()))
        else:
            made = submit(self, function, *args, **named)
        vars(made).update(_tf1sessions_job=getattr(function, "__qualname__", ""), _tf1sessions_executor=self)
        return made

    yield future, "set_running_or_notify_cancel", new_begin
    yield concurrent.futures.ThreadPoolExecutor, "submit", new_submit
    for name in ("result", "exception"):
        yield hooked(future, name, at_end=_acquire_if_finished)
    yield hooked(future, "done", after=_acquire_if_true)
    yield future, "add_done_callback", new_add
    yield concurrent.futures, "wait", new_wait
    yield concurrent.futures, "as_completed", new_as_completed


def _run_job(job: ExecutorJob) -> Any:
    """Run a job of an executor that may have several workers."""
    begin_job(job)
    try:
        return job.function(*job.args, **job.named)
    finally:
        begin_job(None)


#: What workers of a ThreadPool call for some jobs at a time.
_CHUNKS = tuple(getattr(multiprocessing.pool, name) for name in ("mapstar", "starmapstar"))
#: Where the result of a ThreadPool has its maker.
_GIVER = "_tf1sessions_giver"


class _TaskQueue(item_tokens.WatchedSimpleQueue):
    """The queue of a ``ThreadPool``, from which its workers get their jobs, one by one or some at a time."""

    def __init__(self, pool: Any) -> None:
        self._pool = weakref.ref(pool)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        if not block:  # by what ends the pool
            return super().get(block, timeout)
        begin_job(None)
        task, pool = super().get(block, timeout), self._pool()
        if task is not None and pool is not None and pool._processes > 1:
            number, _, function, args, named = task
            if any(function is each for each in _CHUNKS):
                ((function, args),) = args  # of some jobs, which are always one worker's
            begin_job(ExecutorJob(function, args, named, getattr(pool._cache.get(number), _GIVER, Giver())))
        return task


def _thread_pools() -> Iterator[Patch]:
    """Know the jobs of a ``ThreadPool``; order the end of each before what ``imap()`` gives for it."""

    def after_make(self: Any, _: object) -> None:
        vars(self)[_GIVER] = current_giver()

    def after_setup(self: Any, _: object) -> None:
        self._inqueue = _TaskQueue(self)
        self._quick_put = self._inqueue.put

    yield hooked(multiprocessing.pool.ThreadPool, "_setup_queues", after=after_setup)
    for kind in (multiprocessing.pool.ApplyResult, multiprocessing.pool.IMapIterator):
        yield hooked(kind, "__init__", after=after_make)
    for kind in (multiprocessing.pool.IMapIterator, multiprocessing.pool.IMapUnorderedIterator):
        yield hooked(kind, "_set", before=release)
    for name in ("next", "__next__"):
        yield hooked(multiprocessing.pool.IMapIterator, name, after=lambda self, _: acquire(self))


_switch = Switch(_patches)


@contextlib.contextmanager
def hooks_in_place() -> Iterator[None]:
    """Keep all hooks in place while this lasts; locks that are made will be known to later detectors."""
    with watch_locks(), _switch.on():
        yield


@contextlib.contextmanager
def watch(clocks: VectorClocks) -> Iterator[None]:
    """Let clocks follow what threads release and acquire while this lasts; locks that are made are watched as well."""
    with hooks_in_place(), tracking(clocks):
        yield
