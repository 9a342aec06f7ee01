"""The waits of threads, as their frames show: locks, conditions, events, queues, futures, ends of threads, runs.

Data flow::

    the innermost frames ──▶ waits() ──▶ a Wait for each thread that waits without a time-out; None for the others
    tensorflow_hooks.py: a run that uses TensorFlow's queues ──▶ queue_runs ──▶  "

Nothing is noted when a thread begins to wait, so programs pay nothing, and what was made before anybody looked is known
as well. The innermost frame says that a thread waits, the library's frames around it for what. A condition hands each
waiting thread a lock of its own, which is locked exactly as long as that thread was not notified.

Thread-safety: all functions may be called from any thread.
"""

from __future__ import annotations

import concurrent.futures
import concurrent.futures.thread
import multiprocessing.pool
import queue
import signal
import sys
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from threading import Barrier, Condition, Event, Semaphore, Thread, Timer, main_thread
from threading import enumerate as all_threads
from types import CodeType, FrameType
from typing import Any, Protocol

from tf1sessions.sessions.stacks import without_collection
from tf1sessions.testing.frames import in_package, is_library

__all__ = ["Wait", "has_signal_handler", "is_tool", "queue_runs", "untimed", "waits"]

#: Functions of ours that wait for their first argument, in slices, and the argument by which they would have an end.
untimed: dict[CodeType, str] = {}
#: Requests that are run now and may wait in a queue of TensorFlow's, by thread. Each thread has its own entry.
queue_runs: dict[int, QueueRequest] = {}

_WAIT = Condition.wait.__code__
_WAIT_FOR = Condition.wait_for.__code__
_SHUTDOWN = threading._shutdown.__code__  # type: ignore[attr-defined]
_IDLE = (
    concurrent.futures.thread._worker.__code__,
    multiprocessing.pool.worker.__code__,  # type: ignore[attr-defined]
)
_THREADING = threading.__file__
#: Packages that have threads of their own in a test run, which no program waits for.
_TOOLS = ("execnet.", "xdist.", "pytest_timeout.", "debugpy.", "pydevd.", "_pydevd_bundle.")
#: How many frames a thread's wait may be inside of. Arbitrary: more than the standard library's waits have.
_DEPTH = 12


class QueueRequest(Protocol):
    """A request that uses queues of TensorFlow's."""

    def waits_in(self) -> tuple[str, ...]:
        """Return the names of its operations on queues; none where it may wait for something else."""
        ...


@dataclass(frozen=True)
class Wait:
    """The thing that one thread waits for, without a time-out."""

    thing: Any  # the lock, thread, queue, event, ...
    what: str  # the same in words
    # The threads of which one has to go on to end the wait, by ``ident``; None if any thread may end it.
    holders: Collection[int] | None
    frame: FrameType  # a frame that is there as long as the thread waits, the innermost or one around it
    by: Any = None  # the lock in which a thread waits for a notification; None where it waits otherwise
    is_idle: bool = False  # whether it is a worker without work, which waits for nothing in particular
    in_run: bool = False  # whether it waits in TensorFlow, or computes there

    def is_same(self, other: Wait | None) -> bool:
        """Say whether a later look has found the same wait, and not another one of the same thread."""
        return other is not None and self.frame is other.frame and self.thing is other.thing and self.by is other.by


@without_collection
def waits(frames: Mapping[int, FrameType]) -> dict[int, Wait | None]:
    """Return for each thread what it waits for; None if it goes on, may do so by itself, or this cannot be known."""
    return {ident: _wait(ident, frame) for ident, frame in frames.items()}


def _wait(ident: int, innermost: FrameType) -> Wait | None:
    request = queue_runs.get(ident)
    if request is not None:
        names = request.waits_in()
        what = f"{', '.join(names[:3])} in a run of a session"
        return Wait(request, what, None, innermost, in_run=True) if names else None
    frame: FrameType | None = innermost
    for _ in range(_DEPTH):
        if frame is None:
            return None
        code = frame.f_code
        if code is _WAIT:
            return _notification(innermost, frame)
        if code in untimed:
            return _sliced(frame)
        if code in _IDLE:
            return Wait(frame.f_code, "work", None, innermost, is_idle=True)
        if code is _SHUTDOWN:
            return _shutdown(innermost)
        if code.co_filename == _THREADING and code.co_name in ("_wait_for_tstate_lock", "join"):
            if frame.f_locals.get("timeout") in (None, -1):
                return _end_of(frame.f_locals["self"], innermost)
        elif not in_package(frame):
            return None
        frame = frame.f_back
    return None


# -- locks and threads ------------------------------------------------------------------------------------------------


def _sliced(frame: FrameType) -> Wait | None:
    """Return the wait of a function of ours, if it has no time-out."""
    values = frame.f_locals
    thing, limit = values["self"], values.get(untimed[frame.f_code])
    if limit not in (None, -1) or not values.get("blocking", True) or not values.get("block", True):
        return None
    if isinstance(thing, Thread):
        return _end_of(thing, frame)
    if isinstance(thing, queue.SimpleQueue):
        caller = frame.f_back
        if caller is not None and caller.f_code in _IDLE:
            return Wait(caller.f_code, "work", None, frame, is_idle=True)
        return Wait(thing, "an item of a SimpleQueue", None, frame) if thing.empty() else None
    if not thing.locked():
        return None
    owner = thing.owner if thing.is_held else None
    return Wait(thing, f"the lock made at {thing.place}", None if owner is None else (owner,), frame)


def _end_of(thread: Thread, innermost: FrameType) -> Wait | None:
    if not thread.is_alive():
        return None
    return Wait(thread, f"the end of thread {thread.name!r}", (thread.ident or 0,), innermost)


def _shutdown(innermost: FrameType) -> Wait | None:
    """Return what the main thread waits for at the end of the program: one of the threads that are no daemons."""
    main = main_thread()
    for thread in all_threads():
        if thread is not main and not thread.daemon and thread.ident is not None:
            return _end_of(thread, innermost)
    return None


# -- conditions, and what is made of them -----------------------------------------------------------------------------


def _notification(innermost: FrameType, frame: FrameType) -> Wait | None:
    """Return what a thread waits for in a condition, which has no time-out and has not been notified."""
    values = frame.f_locals
    by = values.get("waiter")
    if values.get("timeout") is not None or by is None or not by.locked() or innermost is not frame:
        return None
    caller = frame.f_back
    while caller is not None and (in_package(caller) or caller.f_code is _WAIT_FOR):
        caller = caller.f_back
    if caller is None:
        return None
    condition, method = values["self"], caller.f_code.co_name
    owner = caller.f_locals.get("self") if is_library(caller.f_code.co_filename) else None
    if isinstance(owner, Event) and caller.f_code.co_filename == _THREADING:
        return _event(owner, caller, frame, by)
    if isinstance(owner, concurrent.futures.Future):
        return _result(owner, frame, by)
    what = f"a notification of the condition{_made(condition)}"
    if isinstance(owner, queue.Queue):
        what = {"put": "room in", "join": "the end of all work for"}.get(method, "an item of")
        what += f" the queue{_made(owner.not_empty)}"
    elif isinstance(owner, Semaphore):
        what = f"the semaphore{_made(owner._cond)}"  # type: ignore[attr-defined]
    elif isinstance(owner, Barrier):
        what = f"other threads at the barrier{_made(owner._cond)}"  # type: ignore[attr-defined]
    else:
        owner = condition
    return Wait(owner, what, None, frame, by)


def _event(event: Event, caller: FrameType, frame: FrameType, by: Any) -> Wait | None:
    outer = caller.f_back
    while outer is not None and in_package(outer):
        outer = outer.f_back
    if outer is not None and outer.f_code is Thread.start.__code__:
        return None  # the new thread is about to begin
    if outer is not None and outer.f_code.co_filename == concurrent.futures._base.__file__:
        return Wait(event, "results of jobs", None, frame, by)
    return Wait(event, f"the event{_made(event._cond)}", None, frame, by)  # type: ignore[attr-defined]


def _result(future: Any, frame: FrameType, by: Any) -> Wait:
    """Return the wait for a job; which worker runs it, and which may, is known while futures are watched."""
    runner, name = vars(future).get("_tf1sessions_runner"), vars(future).get("_tf1sessions_job", "")
    job = f"the result of a job{f' ({name})' if name else ''}"
    if runner is not None:
        return Wait(future, f"{job} that runs", (runner,), frame, by)
    pool = vars(future).get("_tf1sessions_executor")
    workers = None if pool is None else [thread.ident or 0 for thread in tuple(pool._threads)]
    return Wait(future, f"{job} that no worker has begun", workers, frame, by)


def _made(condition: Any) -> str:
    place = vars(condition).get("_tf1sessions_made")
    return f" made at {place[0]}:{place[1]}" if place else ""


# -- other ways in which a wait may end -------------------------------------------------------------------------------


def is_tool(thread: Thread | None, frame: FrameType | None) -> bool:
    """Say whether a thread is one of a tool's around a test: pytest-xdist's connection, pytest-timeout's timer."""
    if isinstance(thread, Timer) and f"{getattr(thread.function, '__module__', '')}.".startswith(_TOOLS):
        return True
    return thread is not main_thread() and _is_called_by_tool(frame)


@without_collection
def _is_called_by_tool(frame: FrameType | None) -> bool:
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and f"{frame.f_globals.get('__name__')}.".startswith(_TOOLS)


def has_signal_handler() -> bool:
    """Say whether a signal would run code of the program in its main thread."""
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if not callable(handler) or isinstance(handler, signal.Handlers) or handler is signal.default_int_handler:
            continue
        name = f"{getattr(sys.modules.get(handler.__module__ or ''), '__name__', '')}."
        if not name.startswith((*_TOOLS, "tf1sessions.", "_pytest.")):
            return True
    return False
