"""Whether threads wait in queues for ever: no thread is left that could feed or drain what they wait for.

Nothing is measured while programs run. Whoever waits for threads to end looks at them from time to time, and takes
stock of what each thread of the process is in::

    QUEUE    one call of a session with an operation on a queue (the watchdog's note of it says since when)
    PYTHON   one call with a Python function in it; the function itself shows as a thread of TensorFlow's
    STOP     wait_for_stop() of a Coordinator
    LOCK     another wait for a thread: join(), an Event, a queue.Queue
    IDLE     the same with a time limit, or a service of TensorFlow or of this package
    MOVING   anything else: it computes, sleeps, reads a file, or waits for another process

A deadlock is what has looked the same for some seconds in which the process used next to no processor time, and when
none of its threads wants to run at the end of them (on a busy machine a thread that computes may get little time).
"""

from __future__ import annotations

import enum
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tf1sessions.runtime import tf
from tf1sessions.sessions.stacks import current_frames, other_threads_run, without_collection
from tf1sessions.sessions.watchdog import ActiveCall, program_frame, watchdog

__all__ = ["DeadlockDetector", "ThreadActivity", "ThreadSnapshot", "wait_for_stop_frame"]

#: The share of one processor above which a process computes. Arbitrary: one that only waits and looks uses a
#: hundredth, one that computes uses all of it.
_WORKING = 0.05
#: How much longer a deadlock has to last when a thread moves that does not keep the process alive, as it might feed
#: the others. Arbitrary.
_DOUBT = 6.0

_QUEUES = ("Queue", "Reader", "Barrier", "Stage", "Unstage", "MapStage", "MapUnstage", "OrderedMap", "Mutex")
_ACCUMULATORS = ("AccumulatorTakeGradient", "SparseAccumulatorTakeGradient", "ResourceAccumulatorTakeGradient")
_PYTHON = ("PyFunc", "EagerPyFunc")
_WAITS = ("wait", "join", "_wait_for_tstate_lock")  # of threading.py; everything else there is made of them
_WAIT_FOR_STOP = tf.train.Coordinator.wait_for_stop.__code__


class ThreadActivity(enum.Enum):
    """The state of a thread; see the module."""

    QUEUE = enum.auto()
    PYTHON = enum.auto()
    STOP = enum.auto()
    LOCK = enum.auto()
    IDLE = enum.auto()
    MOVING = enum.auto()


@dataclass(frozen=True)
class ThreadSnapshot:
    """One thread at one moment.

    Attributes:
        thread: None if it is TensorFlow's own, which runs a Python function.
        state: What it is in.
        call: The session's call that it is in.
        coordinator: Whose stop it waits for.
    """

    thread: threading.Thread | None
    state: ThreadActivity
    call: ActiveCall | None = None
    coordinator: Any = None

    @property
    def keeps(self) -> bool:
        """Whether Python waits for it before the process ends."""
        return self.thread is not None and not self.thread.daemon


@without_collection
def wait_for_stop_frame(frame: Any) -> Any:
    """The frame of a Coordinator's wait_for_stop() on a stack; None if there is none."""
    while frame is not None and frame.f_code is not _WAIT_FOR_STOP:
        frame = frame.f_back
    return frame


@without_collection
def look(leave_out: Iterable[int | None]) -> list[ThreadSnapshot]:
    """Return what each thread of this process is in, but for some, by their ``ident``."""
    # Started threads only: for the others (TensorFlow's) enumerate() has a dummy at most, once Python ran in them.
    dummy = threading._DummyThread
    threads = {thread.ident: thread for thread in threading.enumerate() if not isinstance(thread, dummy)}
    without = set(leave_out)
    return [_see(ident, threads.get(ident), frame) for ident, frame in current_frames().items() if ident not in without]


def _see(ident: int, thread: threading.Thread | None, frame: Any) -> ThreadSnapshot:
    call = watchdog.call_of(ident)
    if call is not None:
        return ThreadSnapshot(thread, _state_of_call(call), call)
    stop = wait_for_stop_frame(frame)
    limited = _time_limit(stop or frame)
    if stop is not None and limited is False:
        return ThreadSnapshot(thread, ThreadActivity.STOP, coordinator=stop.f_locals["self"])
    if _joins(frame) or limited is False:
        return ThreadSnapshot(thread, ThreadActivity.LOCK)
    is_service = thread is not None and thread.daemon and program_frame(frame) is None
    return ThreadSnapshot(thread, ThreadActivity.IDLE if limited or is_service else ThreadActivity.MOVING)


def _state_of_call(call: ActiveCall) -> ThreadActivity:
    if getattr(call.session, "sess_str", None):
        return ThreadActivity.MOVING  # its queues are another process's, which may feed and drain them
    kinds = [kind for _, kind in call.operations]
    if any(kind.startswith(_QUEUES) or kind in _ACCUMULATORS for kind in kinds):
        return ThreadActivity.QUEUE
    return ThreadActivity.PYTHON if all(kind.startswith(_PYTHON) for kind in kinds) else ThreadActivity.MOVING


def _time_limit(frame: Any) -> bool | None:
    """Whether a wait of ``threading`` has a time limit; None if the innermost frame is none."""
    code = frame.f_code
    if code is not _WAIT_FOR_STOP and (code.co_filename != threading.__file__ or code.co_name not in _WAITS):
        return None
    return frame.f_locals.get("timeout") not in (None, -1)


def _joins(frame: Any) -> bool:
    """Whether a Coordinator's join() is on the stack: it has a time limit, and goes on until threads end."""
    while frame is not None:
        if frame.f_code.co_name == "join" and isinstance(frame.f_locals.get("self"), tf.train.Coordinator):
            return True
        frame = frame.f_back
    return False


class DeadlockDetector:
    """Says when nothing has moved for ``secs``, by looking again and again. For one thread.

    Args:
        secs: How long a deadlock lasts before it is one.
        leave_out: Threads that do not count, by their ``ident``; the one that looks never does.
    """

    def __init__(self, secs: float, leave_out: Iterable[int | None] = ()) -> None:
        self.secs = secs
        self._leave_out = tuple(leave_out)
        self._since = time.monotonic()
        self._processor_secs = time.process_time()

    def restart(self) -> None:
        """Forgets what was seen."""
        self._since, self._processor_secs = time.monotonic(), time.process_time()

    def of(self, threads: Iterable[threading.Thread]) -> list[ThreadSnapshot]:
        """Return these threads, if each of them hangs in a queue; else nothing."""
        waited_for = set(threads)
        seen = self._look()
        theirs = [one for one in seen if one.thread in waited_for]
        others = [one for one in seen if one.thread is None]  # Python functions in calls
        hangs = (
            len(theirs) == len(waited_for)
            and all(one.state in (ThreadActivity.QUEUE, ThreadActivity.PYTHON) for one in theirs)
            and any(one.state is ThreadActivity.QUEUE for one in seen)
            and all(one.state is not ThreadActivity.MOVING for one in others)
        )
        return theirs if self._lasts(hangs, theirs) else []

    def of_process(self) -> list[ThreadSnapshot]:
        """The threads that hang, if the process will never end because of them; else nothing."""
        seen = self._look()
        keeping = [one for one in seen if one.keeps]
        stuck = [one for one in seen if one.state in (ThreadActivity.QUEUE, ThreadActivity.PYTHON, ThreadActivity.STOP)]
        hangs = (
            bool(keeping)
            and any(one.state in (ThreadActivity.QUEUE, ThreadActivity.STOP) for one in seen)
            and all(one.state not in (ThreadActivity.MOVING, ThreadActivity.IDLE) for one in keeping)
        )
        doubtful = any(one.state is ThreadActivity.MOVING for one in seen)
        return stuck if self._lasts(hangs, stuck, _DOUBT if doubtful else 1.0) else []

    def _look(self) -> list[ThreadSnapshot]:
        return look([*self._leave_out, threading.get_ident()])

    def _lasts(self, hangs: bool, seen: Iterable[ThreadSnapshot], factor: float = 1.0) -> bool:
        now, processor_secs = time.monotonic(), time.process_time()
        if not hangs or processor_secs - self._processor_secs > _WORKING * self.secs * factor:
            self.restart()
            return False
        since = max([self._since, *(one.call.since for one in seen if one.call is not None)])
        if now - since < self.secs * factor:
            return False
        if other_threads_run():
            self.restart()
            return False
        return True
