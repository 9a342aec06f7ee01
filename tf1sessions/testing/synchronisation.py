"""Python's own means of synchronisation, watched: what threads tell each other by them.

::

    watch(order) ──▶ Thread, Event, Condition, Semaphore, Barrier, Queue, SimpleQueue, Future, asyncio.Handle ──▶ order

Methods of the standard library's classes are watched, so objects that exist already are, too. Of what libraries do
among themselves with conditions and semaphores nothing is taken as order: that two threads put something into a queue
says nothing about who came first; that one got what the other had put there does.

Two jobs that one worker of an executor runs are ordered, as a thread's own doings are: what a worker keeps for itself
is no hazard. So of two jobs that must not meet nothing is told when one worker happened to run both.

Thread-safety: may be called from any thread, several times at once.
"""

from __future__ import annotations

import _thread
import asyncio
import collections
import concurrent.futures
import contextlib
import itertools
import queue
import socketserver
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from tf1sessions.testing import unseen
from tf1sessions.testing.frames import STACK, asked_by_library, program_frames, told
from tf1sessions.testing.locks import WatchedLock, WatchedRLock, new_number, takes, watch_locks
from tf1sessions.testing.order import Message, Order, hear, listening, orders, tell
from tf1sessions.testing.patching import Patch, Switch

__all__ = ["watch", "wrapped"]

_guard = _thread.allocate_lock()


_Messages = list[tuple[Order, Message]]
#: What was told with a queue's items: id(item) -> one for each time it was put in, oldest first.
_Enclosed = dict[int, list[_Messages]]


def _enclose(enclosed: _Enclosed, item: Any) -> tuple[list[_Messages], _Messages]:
    """Sends with an item that is about to be put somewhere. Gives the list that has it, and what it has."""
    messages = [(order, order.send()) for order in orders()]
    waiting = enclosed.setdefault(id(item), [])
    waiting.append(messages)
    return waiting, messages


def _unwrap(enclosed: _Enclosed, item: Any) -> None:
    waiting = enclosed.get(id(item))
    if waiting:
        for order, message in waiting.pop(0):
            order.receive(message)
        if not waiting:
            enclosed.pop(id(item), None)


def _all_patches() -> Iterator[Patch]:
    for patches in (
        *(_threads, _events, _conditions, _semaphores, _barriers, _queues, _futures, _handles),
        unseen.patches,
    ):
        yield from patches()


def _threads() -> Iterator[Patch]:
    thread = threading.Thread
    start, bootstrap, is_alive, join = thread.start, thread._bootstrap_inner, thread.is_alive, thread.join  # type: ignore[attr-defined]

    started: weakref.WeakKeyDictionary[Any, tuple[str, ...]] = weakref.WeakKeyDictionary()

    def new_start(self: Any) -> None:
        if orders():
            frames = itertools.islice(program_frames(sys._getframe(1)), STACK)
            started[self] = tuple(map(told, frames))
            tell(self)
        start(self)

    def new_bootstrap(self: Any) -> None:
        for order in orders():
            order.begin(self.name, started.get(self, ()))
        hear(self)
        try:
            bootstrap(self)
        finally:
            tell(self)

    def new_is_alive(self: Any) -> bool:
        alive = is_alive(self)
        if not alive and sys._getframe(1).f_globals.get("__name__") != "socketserver":
            hear(self)
        return alive

    def new_join(self: Any, timeout: float | None = None) -> None:
        join(self, timeout)
        if not is_alive(self):
            hear(self)

    yield from _reaped_threads()
    yield thread, "start", new_start
    yield thread, "_bootstrap_inner", new_bootstrap
    yield thread, "is_alive", new_is_alive
    yield thread, "join", new_join


class _Reaped:
    """Stands for the threads that a server has forgotten."""


def _reaped_threads() -> Iterator[Patch]:
    """A server forgets threads that have ended at its next request, which may as well come before that end; not so its
    own end, for which it waits for the others.
    """
    kind = getattr(socketserver, "_Threads", None)
    if kind is None:
        return
    reap, join = kind.reap, kind.join

    def new_reap(self: Any) -> None:
        before = list(self)
        reap(self)
        if orders() and len(self) < len(before):
            collector = vars(self).setdefault("_tf1sessions_reaped", _Reaped())
            for thread in before:
                for order in orders() if thread not in self else ():
                    order.collect(thread, collector)

    def new_join(self: Any) -> None:
        join(self)
        if "_tf1sessions_reaped" in vars(self):
            hear(vars(self)["_tf1sessions_reaped"])

    yield kind, "reap", new_reap
    yield kind, "join", new_join


def _events() -> Iterator[Patch]:
    event = threading.Event
    set_it, is_set, wait = event.set, event.is_set, event.wait

    def new_set(self: Any) -> None:
        tell(self)
        set_it(self)

    def new_is_set(self: Any) -> bool:
        found = is_set(self)
        if found:
            hear(self)
        return found

    def new_wait(self: Any, timeout: float | None = None) -> bool:
        found = wait(self, timeout)
        if found:
            hear(self)
        return found

    yield event, "set", new_set
    yield event, "is_set", new_is_set
    yield event, "wait", new_wait


class _Unheard(threading.Condition):
    """One that a library made for itself. It is as all are while nobody watches."""

    __enter__, __exit__ = threading.Condition.__enter__, threading.Condition.__exit__
    notify, notify_all = threading.Condition.notify, threading.Condition.notify_all
    wait, wait_for = threading.Condition.wait, threading.Condition.wait_for


def _unheard(condition: Any) -> None:
    if type(condition) is threading.Condition:
        condition.__class__ = _Unheard


def _conditions() -> Iterator[Patch]:
    """A Condition guards something that threads wait for, so one that has held it tells all that hold it after."""
    condition = threading.Condition
    make, enter, leave = condition.__init__, condition.__enter__, condition.__exit__

    def new_make(self: Any, lock: Any = None) -> None:
        ours = not asked_by_library()
        if lock is None and ours:
            lock = WatchedRLock()
        make(self, lock)
        if not ours:
            _unheard(self)
        elif isinstance(lock, WatchedLock):
            lock.orders = True

    def new_enter(self: Any) -> Any:
        got = enter(self)
        if orders() and not asked_by_library():
            hear(self)
        return got

    def new_leave(self: Any, *error: Any) -> Any:
        if orders() and not asked_by_library():
            tell(self)
        return leave(self, *error)

    def before(method: Any) -> Any:
        def notify(self: Any, *args: Any, **named: Any) -> Any:
            if orders() and not asked_by_library():
                tell(self)
            return method(self, *args, **named)

        return notify

    def after(method: Any) -> Any:
        def wait(self: Any, *args: Any, **named: Any) -> Any:
            ours = not asked_by_library()
            if ours:
                tell(self)
            try:
                return method(self, *args, **named)
            finally:
                if ours:
                    hear(self)

        return wait

    yield condition, "__init__", new_make
    yield condition, "__enter__", new_enter
    yield condition, "__exit__", new_leave
    for name in ("notify", "notify_all"):
        yield condition, name, before(getattr(condition, name))
    for name in ("wait", "wait_for"):
        yield condition, name, after(getattr(condition, name))


class _Permits:
    """Who holds a semaphore. One that begins with 1 is a lock as long as whoever takes it gives it back."""

    def __init__(self, single: bool) -> None:
        self.single = single
        self.holders: collections.Counter[int] = collections.Counter()
        self.number = new_number()
        self.owner: int | None = None

    def taken(self) -> None:
        me = _thread.get_ident()
        self.holders[me] += 1
        if self.single:
            self.owner = me
            takes(self)

    def given_back(self) -> bool:
        """Whether the one who gives it had it; if not, giving is a message."""
        me = _thread.get_ident()
        self.owner = None
        if self.holders[me] > 0:
            self.holders[me] -= 1
            return True
        self.single = False
        return False


_permits: weakref.WeakKeyDictionary[Any, _Permits] = weakref.WeakKeyDictionary()


def _semaphores() -> Iterator[Patch]:
    semaphore, bounded = threading.Semaphore, threading.BoundedSemaphore
    make = semaphore.__init__

    def permits(self: Any) -> _Permits:
        known = _permits.get(self)
        if known is None:  # made before anybody watched
            known = _permits[self] = _Permits(getattr(self, "_initial_value", None) == 1)
        return known

    def new_make(self: Any, value: int = 1) -> None:
        make(self, value)
        _permits[self] = _Permits(value == 1)

    def taking(method: Any) -> Any:
        def acquire(self: Any, *args: Any, **named: Any) -> Any:
            got = method(self, *args, **named)
            if got and not asked_by_library():
                hear(self)
                permits(self).taken()
            return got

        return acquire

    def giving(method: Any) -> Any:
        def release(self: Any, *args: Any, **named: Any) -> Any:
            if not asked_by_library() and not permits(self).given_back():
                tell(self)
            return method(self, *args, **named)

        return release

    yield semaphore, "__init__", new_make
    for name in ("acquire", "__enter__"):
        yield semaphore, name, taking(getattr(semaphore, name))
    for name in ("release", "__exit__"):
        yield semaphore, name, giving(getattr(semaphore, name))
    yield bounded, "release", giving(bounded.release)


class _Cycle:
    """One meeting at a barrier."""


def _barriers() -> Iterator[Patch]:
    barrier = threading.Barrier
    wait, release, reset = barrier.wait, barrier._release, barrier.reset  # type: ignore[attr-defined]
    cycles: weakref.WeakKeyDictionary[Any, tuple[int, _Cycle]] = weakref.WeakKeyDictionary()

    def new_wait(self: Any, timeout: float | None = None) -> int:
        with _guard:
            arrived, cycle = cycles.get(self, (0, _Cycle()))
            if arrived == self.parties:
                arrived, cycle = 0, _Cycle()
            cycles[self] = arrived + 1, cycle
        tell(cycle)
        try:
            return wait(self, timeout)
        finally:
            hear(cycle)

    def new_release(self: Any) -> None:
        """By the last that comes: what its action does is after all arrivals, and before all go on."""
        cycle = cycles[self][1] if self in cycles else _Cycle()
        hear(cycle)
        release(self)
        tell(cycle)

    def new_reset(self: Any) -> None:
        with _guard:
            cycles.pop(self, None)
        reset(self)

    yield barrier, "wait", new_wait
    yield barrier, "_release", new_release
    yield barrier, "reset", new_reset


def _enclosed(line: Any) -> _Enclosed:
    """Where a queue has what is told with its items, from now on. Those that are in it came with nothing."""
    with line.mutex:
        for condition in (line.not_empty, line.not_full, line.all_tasks_done):
            _unheard(condition)
        enclosed: _Enclosed | None = getattr(line, _ENCLOSED, None)
        if enclosed is None:
            enclosed = {}
            items = getattr(line, "queue", None)
            for item in items if isinstance(items, (collections.deque, list)) else ():
                enclosed.setdefault(id(item), []).append([])
            setattr(line, _ENCLOSED, enclosed)
        return enclosed


_ENCLOSED = "_tf1sessions_enclosed"


def _queues() -> Iterator[Patch]:
    """A queue into which nothing was put while somebody listened is left alone."""
    kind = queue.Queue
    put, get, task_done, join = kind.put, kind.get, kind.task_done, kind.join

    def new_put(self: Any, item: Any, block: bool = True, timeout: float | None = None) -> None:
        enclosed = getattr(self, _ENCLOSED, None)
        if enclosed is None:
            if not orders():
                return put(self, item, block, timeout)
            enclosed = _enclosed(self)
        waiting, messages = _enclose(enclosed, item)
        try:
            return put(self, item, block, timeout)
        except BaseException:
            waiting.remove(messages)
            raise

    def new_get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        item = get(self, block, timeout)
        enclosed = getattr(self, _ENCLOSED, None)
        if enclosed is not None:
            _unwrap(enclosed, item)
        return item

    def new_task_done(self: Any) -> None:
        tell(self)
        task_done(self)

    def new_join(self: Any) -> None:
        join(self)
        hear(self)

    yield kind, "put", new_put
    yield kind, "get", new_get
    yield kind, "task_done", new_task_done
    yield kind, "join", new_join
    yield queue, "SimpleQueue", _SimpleQueue


class _SimpleQueue(queue.SimpleQueue):  # type: ignore[type-arg]
    """The one of C cannot be changed; who asks for one while somebody watches gets this."""

    def __init__(self) -> None:
        self._enclosed: _Enclosed = {}

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        _enclose(self._enclosed, item)
        super().put(item)

    def put_nowait(self, item: Any) -> None:
        self.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        item = super().get(block, timeout)
        _unwrap(self._enclosed, item)
        return item

    def get_nowait(self) -> Any:
        return self.get(False)


def _futures() -> Iterator[Patch]:
    future = concurrent.futures.Future

    def telling(method: Any) -> Any:
        def finish(self: Any, *args: Any, **named: Any) -> Any:
            tell(self)
            return method(self, *args, **named)

        return finish

    def hearing(method: Any) -> Any:
        def look(self: Any, *args: Any, **named: Any) -> Any:
            if self._state in _FINISHED:
                hear(self)
                return method(self, *args, **named)
            try:
                return method(self, *args, **named)
            finally:
                if self._state in _FINISHED:
                    hear(self)

        return look

    for name in ("set_result", "set_exception", "cancel"):
        yield future, name, telling(getattr(future, name))
    for name in ("result", "exception", "done"):
        yield future, name, hearing(getattr(future, name))
    add, begin = future.add_done_callback, future.set_running_or_notify_cancel
    heard = hearing(add)

    def new_add(self: Any, function: Any) -> None:
        """The function may be called at once. A library goes on as if it were called later, and so is no wiser."""
        (add if asked_by_library() else heard)(self, function)

    def new_init(self: Any) -> None:
        make(self)
        tell(self)

    def new_begin(self: Any) -> Any:
        """By the worker: whoever made the future has submitted the job, by whatever queue."""
        hear(self)
        return begin(self)

    make = future.__init__
    yield future, "__init__", new_init
    yield future, "set_running_or_notify_cancel", new_begin
    yield future, "add_done_callback", new_add

    wait, as_completed = concurrent.futures.wait, concurrent.futures.as_completed

    def new_wait(*args: Any, **named: Any) -> Any:
        found = wait(*args, **named)
        for each in found.done:
            hear(each)
        return found

    def new_as_completed(*args: Any, **named: Any) -> Iterator[Any]:
        for each in as_completed(*args, **named):
            hear(each)
            yield each

    yield concurrent.futures, "wait", new_wait
    yield concurrent.futures, "as_completed", new_as_completed


_FINISHED = ("CANCELLED", "CANCELLED_AND_NOTIFIED", "FINISHED")


def _handles() -> Iterator[Patch]:
    """What is given to an event loop, by call_soon_threadsafe for one, runs after it was given."""
    handle = asyncio.Handle
    make, run = handle.__init__, handle._run

    def new_make(self: Any, *args: Any, **named: Any) -> None:
        make(self, *args, **named)
        tell(self)

    def new_run(self: Any) -> Any:
        hear(self)
        return run(self)

    yield handle, "__init__", new_make
    yield handle, "_run", new_run


_switch = Switch(_all_patches)


@contextlib.contextmanager
def wrapped() -> Iterator[None]:
    """While this lasts, all is in place for who listens, and locks that are made will be known to them."""
    with watch_locks(), _switch.on():
        yield


@contextlib.contextmanager
def watch(order: Order) -> Iterator[None]:
    """While this lasts, ``order`` is told what threads tell each other; locks that are made are watched as well."""
    with wrapped(), listening(order):
        yield
