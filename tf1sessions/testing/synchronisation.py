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
import concurrent.futures.thread
import contextlib
import functools
import itertools
import queue
import socketserver
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

from tf1sessions.testing import order as now
from tf1sessions.testing import unseen
from tf1sessions.testing.frames import STACK, asked_by_library, program_frames, told
from tf1sessions.testing.locks import WatchedLock, WatchedRLock, new_number, takes, watch_locks
from tf1sessions.testing.order import TOLD, Order, hear, listening, orders, tell
from tf1sessions.testing.patching import Patch, Switch

__all__ = ["unheard", "watch", "wrapped"]

_guard = _thread.allocate_lock()
_set = object.__setattr__  # a subclass may have its own ideas of what may be set


#: What was told with a queue's items: id(item) -> one bundle for each time it was put in, oldest first.
_Enclosed = dict[int, list[Any]]


#: What objects of Python's own classes have: what was told by them, and how they are used. The classes have None there,
#: for good: when the watching ends a thread may be in a method of ours yet.
_HAVE = {
    threading.Thread: [TOLD],
    threading.Event: [TOLD],
    threading.Condition: [TOLD],
    threading.Semaphore: [TOLD, "_tf1sessions_permits"],
    queue.Queue: [TOLD, "_tf1sessions_enclosed", "_tf1sessions_by_item"],
    concurrent.futures.Future: [TOLD],
}


def _all_patches() -> Iterator[Patch]:
    for owner, names in _HAVE.items():
        for name in names:
            if name not in vars(owner):
                setattr(owner, name, None)
    for patches in (
        *(_libraries, _threads, _events, _conditions, _semaphores, _barriers, _queues, _futures, _handles),
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

    __init__ = threading.Condition.__init__
    __enter__, __exit__ = threading.Condition.__enter__, threading.Condition.__exit__
    notify, notify_all = threading.Condition.notify, threading.Condition.notify_all
    wait, wait_for = threading.Condition.wait, threading.Condition.wait_for


def unheard(condition: Any) -> None:
    """Leaves a condition alone, if it is one, that a library uses among its own."""
    if type(condition) is threading.Condition:
        condition.__class__ = _Unheard


class _UnheardSemaphore(threading.Semaphore):
    """The same."""

    __init__ = threading.Semaphore.__init__
    acquire, release = threading.Semaphore.acquire, threading.Semaphore.release
    __enter__, __exit__ = threading.Semaphore.__enter__, threading.Semaphore.__exit__


def _condition(lock: Any = None) -> Any:
    return _Unheard(_thread.RLock() if lock is None else lock)


def _threading(condition: Any) -> types.ModuleType:
    """``threading``, as modules of the standard library have it that make such things for themselves, and many."""
    module = types.ModuleType("threading", threading.__doc__)
    vars(module).update(
        Lock=_thread.allocate_lock,
        RLock=_thread.RLock,
        Condition=condition,
        Semaphore=_UnheardSemaphore,
        __getattr__=functools.partial(getattr, threading),
    )
    return module


def _libraries() -> Iterator[Patch]:
    of_queues = _threading(_Unheard), queue  # whose conditions all have a lock already
    others = _threading(_condition)
    for each, module in (of_queues, (others, concurrent.futures._base), (others, concurrent.futures.thread)):
        if vars(module).get("threading") is threading:
            yield module, "threading", each


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
            unheard(self)
        elif isinstance(lock, WatchedLock):
            lock.orders = True

    def apart(self: Any) -> bool:
        """Whether it tells and hears for itself: its lock does not do so for it each time it is given back and got."""
        lock = self._lock
        return not (isinstance(lock, WatchedLock) and lock.orders) and not asked_by_library(3)

    def new_enter(self: Any) -> Any:
        got = enter(self)
        if orders() and apart(self):
            hear(self)
        return got

    def new_leave(self: Any, *error: Any) -> Any:
        if orders() and apart(self):
            tell(self)
        return leave(self, *error)

    def before(method: Any) -> Any:
        def notify(self: Any, *args: Any, **named: Any) -> Any:
            if orders() and apart(self):
                tell(self)
            return method(self, *args, **named)

        return notify

    def after(method: Any) -> Any:
        def wait(self: Any, *args: Any, **named: Any) -> Any:
            heard = apart(self)
            if heard:
                tell(self)
            try:
                return method(self, *args, **named)
            finally:
                if heard:
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
        self.holders: dict[int, int] = {}
        self.number = new_number()
        self.owner: int | None = None

    def taken(self) -> None:
        me = _thread.get_ident()
        self.holders[me] = self.holders.get(me, 0) + 1
        if self.single:
            self.owner = me
            takes(self)

    def given_back(self) -> bool:
        """Whether the one who gives it had it; if not, giving is a message."""
        me = _thread.get_ident()
        self.owner = None
        held = self.holders.pop(me, 0)
        if held:
            if held > 1:
                self.holders[me] = held - 1
            return True
        self.single = False
        return False


def _semaphores() -> Iterator[Patch]:
    semaphore, bounded = threading.Semaphore, threading.BoundedSemaphore
    make = semaphore.__init__

    def permits(self: Any) -> _Permits:
        known: _Permits | None = self._tf1sessions_permits
        if known is None:  # made before anybody watched
            with _guard:
                known = self._tf1sessions_permits
                if known is None:
                    known = _Permits(getattr(self, "_initial_value", None) == 1)
                    _set(self, "_tf1sessions_permits", known)
        return known

    def new_make(self: Any, value: int = 1) -> None:
        make(self, value)
        _set(self, "_tf1sessions_permits", _Permits(value == 1))

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


# -- queues -----------------------------------------------------------------------------------------------------------


def _queues() -> Iterator[Patch]:
    """A queue into which nothing was put while somebody listened is left alone.

    Items of one that gives them in the order in which they came have what was told with them beside them, in the same
    order, and both are moved under the queue's mutex. Direct changes of its items are noticed when one is got: each has
    its identity there, and there are as many of them. What a subclass does with its items is not known: there what was
    told with one is found by the item.
    """
    kind = queue.Queue
    put, get, task_done, join = kind.put, kind.get, kind.task_done, kind.join
    put_in, take_out = kind._put, kind._get
    known: dict[type, bool] = {}

    def in_turn(its: Any) -> bool:
        found = known.get(its)
        if found is None:
            found = known[its] = its._put is new_put_in and its._get is new_take_out
        return found

    def new_put_in(self: Any, item: Any) -> None:
        """With the mutex held."""
        put_in(self, item)
        enclose, enclosed = now.enclose, self._tf1sessions_enclosed
        if enclosed is not None:
            enclosed.append((id(item), None if enclose is None else enclose()))
        elif enclose is not None and (type(self) is kind or in_turn(type(self))):
            _begin_beside(self, (id(item), enclose()))

    def new_take_out(self: Any) -> Any:
        """With the mutex held."""
        item, enclosed = take_out(self), self._tf1sessions_enclosed
        if enclosed:
            number, bundle = first = enclosed.popleft()
            if number != id(item) or len(enclosed) != len(self.queue):
                bundle = _found_again([first, *enclosed], item, self)
            unwrap = now.unwrap
            if bundle is not None and unwrap is not None:
                if _emptied is None or (_thread.get_ident(), id(self)) not in _emptied:
                    unwrap(bundle)
        return item

    def new_put(self: Any, item: Any, block: bool = True, timeout: float | None = None) -> None:
        if type(self) is kind or in_turn(type(self)):
            return put(self, item, block, timeout)
        enclose, enclosed = now.enclose, self._tf1sessions_by_item
        if enclosed is None:
            if enclose is None:
                return put(self, item, block, timeout)
            enclosed = _by_item(self)
        bundle = None if enclose is None else enclose()
        waiting = enclosed.setdefault(id(item), [])
        waiting.append(bundle)
        try:
            return put(self, item, block, timeout)
        except BaseException:
            waiting.remove(bundle)
            raise

    def new_get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        item = get(self, block, timeout)
        if type(self) is not kind and not in_turn(type(self)):
            enclosed = self._tf1sessions_by_item
            waiting = None if enclosed is None else enclosed.get(id(item))
            if waiting:
                bundle, unwrap = waiting.pop(0), now.unwrap
                if bundle is not None and unwrap is not None:
                    unwrap(bundle)
                if not waiting:
                    enclosed.pop(id(item), None)
        return item

    def new_task_done(self: Any) -> None:
        tell(self)
        task_done(self)

    def new_join(self: Any) -> None:
        join(self)
        hear(self)

    yield kind, "_put", new_put_in
    yield kind, "_get", new_take_out
    yield kind, "put", new_put
    yield kind, "get", new_get
    yield kind, "task_done", new_task_done
    yield kind, "join", new_join
    if hasattr(kind, "shutdown"):  # from Python 3.13 on
        shutdown = kind.shutdown

        def new_shutdown(self: Any, immediate: bool = False) -> None:
            """Items that are thrown away tell nobody anything."""
            global _emptied
            with _guard:
                _emptied = {*(_emptied or ()), (here := (_thread.get_ident(), id(self)))}
            try:
                shutdown(self, immediate)
            finally:
                with _guard:
                    _emptied = (_emptied or set()) - {here} or None

        yield kind, "shutdown", new_shutdown
    yield queue, "SimpleQueue", _SimpleQueue


#: The threads and queues of which items are being thrown away.
_emptied: set[tuple[int, int]] | None = None


def _begin_beside(line: Any, latest: tuple[int, Any]) -> None:
    """From now on a queue has what is told with each item. The latest is the first; others in it came with nothing."""
    if type(line.not_empty) is not _Unheard:
        _unheard_conditions(line)
    items = line.queue
    before = [(id(item), None) for item in items] if len(items) > 1 else None
    _set(line, "_tf1sessions_enclosed", collections.deque([*before[:-1], latest] if before else (latest,)))


def _by_item(line: Any) -> _Enclosed:
    """The same for one of which the order is not known."""
    with line.mutex:
        enclosed: _Enclosed | None = line._tf1sessions_by_item
        if enclosed is None:
            _unheard_conditions(line)
            enclosed = {}
            items = getattr(line, "queue", None)
            for item in items if isinstance(items, (collections.deque, list)) else ():
                enclosed.setdefault(id(item), []).append(None)
            _set(line, "_tf1sessions_by_item", enclosed)
        return enclosed


def _unheard_conditions(line: Any) -> None:
    for condition in (line.not_empty, line.not_full, line.all_tasks_done):
        unheard(condition)


def _found_again(enclosed: list[tuple[int, Any]], item: Any, line: Any) -> Any:
    """What was told with an item that was got, where items came or went otherwise. Of equal ones the latest are left.

    With the mutex held.
    """
    bundles: _Enclosed = {}
    for number, bundle in enclosed:
        bundles.setdefault(number, []).append(bundle)
    found: list[tuple[int, Any]] = []  # backwards
    for each in reversed((item, *line.queue)):
        waiting = bundles.get(id(each))
        found.append((id(each), waiting.pop() if waiting else None))
    line._tf1sessions_enclosed.clear()
    line._tf1sessions_enclosed.extendleft(found[:-1])
    return found[-1][1]


_SEALED = object()


class _SimpleQueue(queue.SimpleQueue):  # type: ignore[type-arg]
    """The one of C cannot be changed; who asks for one while somebody watches gets this. Items are in it with what was
    told with them.
    """

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        enclose = now.enclose
        _put_simply(self, item if enclose is None else (_SEALED, item, enclose()))

    def put_nowait(self, item: Any) -> None:
        self.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        item = _get_simply(self, block, timeout)
        if type(item) is tuple and len(item) == 3 and item[0] is _SEALED:
            _, item, bundle = item
            unwrap = now.unwrap
            if unwrap is not None:
                unwrap(bundle)
        return item

    def get_nowait(self) -> Any:
        return self.get(False)


_put_simply, _get_simply = queue.SimpleQueue.put, queue.SimpleQueue.get


# -- futures ----------------------------------------------------------------------------------------------------------


def _futures() -> Iterator[Patch]:
    future = concurrent.futures.Future

    make, set_result, set_exception = future.__init__, future.set_result, future.set_exception
    done, cancel = future.done, future.cancel
    add, begin = future.add_done_callback, future.set_running_or_notify_cancel

    def new_init(self: Any) -> None:
        make(self)
        enclose = now.enclose
        if enclose is not None:
            _set(self, TOLD, enclose())

    def new_set_result(self: Any, result: Any) -> None:
        sent = now.sent
        if sent is not None:
            sent(self)
        set_result(self, result)

    def new_set_exception(self: Any, exception: BaseException | None) -> None:
        tell(self)
        set_exception(self, exception)

    def new_cancel(self: Any) -> bool:
        tell(self)
        return cancel(self)

    def new_begin(self: Any) -> bool:
        """By the worker: whoever made the future has submitted the job, by whatever queue."""
        bundle, unwrap = self._tf1sessions_told, now.unwrap
        if bundle is not None and unwrap is not None:
            unwrap(bundle)
        return begin(self)

    def hearing(method: Any) -> Any:
        def look(self: Any, timeout: float | None = None) -> Any:
            try:
                return method(self, timeout)
            finally:
                unwrap = now.unwrap
                if unwrap is not None and self._state in _FINISHED:
                    bundle = self._tf1sessions_told
                    if bundle is not None:
                        unwrap(bundle)

        return look

    def new_done(self: Any) -> bool:
        found: bool = done(self)
        if found:
            hear(self)
        return found

    def new_add(self: Any, function: Any) -> None:
        """The function may be called at once. A library goes on as if it were called later, and so is no wiser."""
        if asked_by_library():
            return add(self, function)
        if self._state in _FINISHED:
            hear(self)
            return add(self, function)
        try:
            return add(self, function)
        finally:
            if self._state in _FINISHED:
                hear(self)

    yield future, "__init__", new_init
    yield future, "set_result", new_set_result
    yield future, "set_exception", new_set_exception
    for name in ("result", "exception"):
        yield future, name, hearing(getattr(future, name))
    yield future, "cancel", new_cancel
    yield future, "set_running_or_notify_cancel", new_begin
    yield future, "done", new_done
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


_FINISHED = ("FINISHED", "CANCELLED", "CANCELLED_AND_NOTIFIED")


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
