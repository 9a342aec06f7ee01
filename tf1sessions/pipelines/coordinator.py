"""Coordinator: TF1's ``tf.train.Coordinator`` that raises the cause, and says where threads are that do not end.

One error in a pipeline makes others: its queue is closed, so whoever reads from it or writes to it fails as well, and
it is chance whose error is reported first. The first that is no such *consequence* is the one that join() raises::

    thread 1: CancelledError ──▶ request_stop() ──▶ recorded, stop        ─┐
    thread 2: ValueError     ──▶ request_stop() ──▶ takes its place        ├──▶ join() raises the ValueError
    thread 3: OutOfRange…    ──▶ request_stop() ──▶ kept in `others`      ─┘
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Iterable
from time import sleep
from typing import Any

from tf1sessions.errors import ClosedError
from tf1sessions.pipelines.deadlock import DeadlockDetector, wait_for_stop_frame
from tf1sessions.runtime import tf
from tf1sessions.sessions.stacks import current_frames, without_collection
from tf1sessions.sessions.watchdog import ActiveCall, list_operations, made_at, place, program_frame, watchdog

__all__ = ["Coordinator", "is_consequence", "join_all", "whereabouts"]

#: How many errors ``others`` keeps. Arbitrary: more than a program has threads, fewer than one makes that goes on
#: after its end.
_MOST_OTHERS = 100
#: What TF1 lets pass at most between two looks at its threads, in seconds.
_LONGEST_PAUSE = 1.0

_CLOSED_QUEUE = "is closed and has insufficient elements"
_CLOSED_SESSION = "Attempted to use a closed Session"

# CancelledError, AbortedError: what runs is ended from outside, by a closed queue or a closed session.
_CONSEQUENCES: tuple[type[BaseException], ...] = (tf.errors.CancelledError, tf.errors.AbortedError, ClosedError)


def is_consequence(error: BaseException | None) -> bool:
    """Whether an error says no more than that something was closed or cancelled, for a reason that lies elsewhere.

    Example:
        >>> from tf1sessions.runtime import tf
        >>> is_consequence(tf.errors.CancelledError(None, None, "FIFOQueue '_0_q' is closed."))
        True
        >>> is_consequence(tf.errors.OutOfRangeError(None, None, "End of sequence"))
        False
    """
    if isinstance(error, _CONSEQUENCES):
        return True
    if isinstance(error, tf.errors.OutOfRangeError):
        return _CLOSED_QUEUE in str(error)
    return isinstance(error, RuntimeError) and _CLOSED_SESSION in str(error)


# -- where a thread is ------------------------------------------------------------------------------------------------


@without_collection
def whereabouts(thread: threading.Thread) -> str:
    """Says in words where a thread is, now: in which operations of which call, or at which line of Python.

    Safe to call from any thread, for any thread.
    """
    if thread.ident is None:
        return "not started"
    if not thread.is_alive():
        return "ended"
    frame = current_frames().get(thread.ident)
    call = watchdog.call_of(thread.ident)
    if call is not None:
        secs = time.monotonic() - call.since
        return f"waits in Session.run for {secs:.0f} s, in {list_operations(call.operations)}{_line_of(call, frame)}"
    if frame is None:
        return "ended"
    if wait_for_stop_frame(frame) is None:
        return f"at {place(frame)}"
    return "waits for a stop request" + (f", at {place(frame)}" if program_frame(frame) else "")


def _line_of(call: ActiveCall, frame: Any) -> str:
    """Return the line of a call; of a queue runner's, which TensorFlow makes, the line of its operation."""
    if program_frame(frame):
        return f", called at {place(frame)}"
    operation = call.session.graph.get_operation_by_name(call.operations[0][0])
    line = made_at(operation)
    return f", made at {line}" if line else ""


# -- the coordinator --------------------------------------------------------------------------------------------------


class Coordinator(tf.train.Coordinator):  # type: ignore[misc]
    """``tf.train.Coordinator`` with its contract and its texts, and these differences:

    - Of several errors that are reported, join() raises the first that is not a consequence (:func:`is_consequence`)
      of another one; ``others`` are the rest.
    - The error that is raised is the one that was given, in an ``except`` block or not; TensorFlow takes the one that
      is being handled, and fails with a TypeError if there is none.
    - "Coordinator stopped with threads still running" says where each of them is.
    - join() returns at once when the threads end without a stop request, rather than within a second.

    As in TensorFlow, an error of a type in ``clean_stop_exception_types`` is a stop without an error, and what is
    reported after a stop without an error is not raised (it is in ``others``).

    Args:
        clean_stop_exception_types: As in TensorFlow: OutOfRangeError by default.

    Attributes:
        queue_grace_secs: When all threads that join() still waits for after a stop request have been in one call with a
            queue for so long, it waits no longer. None by default: for the whole ``stop_grace_period_secs``.

    Thread-safety: everything may be used from any number of threads at once.
    """

    queue_grace_secs: float | None = None

    def __init__(self, clean_stop_exception_types: Iterable[type[BaseException]] | None = None) -> None:
        self._registered_threads: set[threading.Thread] = set()  # these two are TensorFlow's, guarded by its _lock
        self._exc_info_to_raise: Any = None
        super().__init__(clean_stop_exception_types)
        # Makes one step of what request_stop() and clear_stop() do to the inherited attributes and to _others. Taken
        # before the inherited _lock, never while it is held.
        self._reports = threading.Lock()
        self._others: deque[BaseException] = deque(maxlen=_MOST_OTHERS)

    @property
    def others(self) -> tuple[BaseException, ...]:
        """The errors that were reported and are not raised, in the order of their reports."""
        with self._reports:
            return tuple(self._others)

    def request_stop(self, ex: Any = None) -> None:
        """Requests that the threads stop, and reports an error.

        Args:
            ex: The error, or what ``sys.exc_info()`` returns.
        """
        error = ex[1] if isinstance(ex, tuple) and len(ex) == 3 else ex
        with self._reports:
            if isinstance(error, BaseException):
                info = (type(error), error, error.__traceback__)
                if sys.exc_info()[1] is not error:
                    ex = info  # TensorFlow would take the error that is being handled, if there is one
                if self._stop_event.is_set() and not self._joined and self._filter_exception(error) is not None:
                    self._report_another(error, info)
            super().request_stop(ex)

    def _report_another(self, error: BaseException, info: tuple[Any, ...]) -> None:
        """Keeps an error that is not the first one. With ``_reports`` held."""
        with self._lock:
            raised = self._exc_info_to_raise[1] if self._exc_info_to_raise else None
            if error is raised or any(error is other for other in self._others):
                return
            if raised is not None and is_consequence(raised) and not is_consequence(error):
                self._exc_info_to_raise = info
                error = raised
            self._others.append(error)

    def clear_stop(self) -> None:
        """Forgets the stop request, and all errors."""
        with self._reports:
            self._others.clear()
            super().clear_stop()

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits until the threads (and those that were registered) have ended; for a time, once a stop was requested.

        Args:
            threads: Threads to wait for.
            stop_grace_period_secs: How long they have to end after a stop request.
            ignore_live_threads: Do not raise the RuntimeError about threads that are still running then.

        Raises:
            BaseException: The error that was reported; see the class.
            RuntimeError: Threads are still running; the message says where.
        """
        with self._lock:
            waited_for = list({*list(threads or ()), *self._registered_threads})
        pauses = _Pauses()
        while _alive(waited_for) and not self.wait_for_stop(pauses.next()):
            pass
        pauses, until = _Pauses(), time.monotonic() + stop_grace_period_secs
        deadlock = None if self.queue_grace_secs is None else DeadlockDetector(self.queue_grace_secs)
        hang = False
        while not hang and (alive := _alive(waited_for)) and (left := until - time.monotonic()) >= 0:
            sleep(min(pauses.next(), left))
            hang = deadlock is not None and bool(deadlock.of(alive))
        stragglers = _alive(waited_for)
        text = "Coordinator stopped with threads still running: " + " ".join(thread.name for thread in stragglers)
        text += "".join(f"\n  {thread.name}: {whereabouts(thread)}" for thread in stragglers)
        if hang:
            text += f"\n  They have hung in queues for {self.queue_grace_secs:g} s, and were not waited for any longer."
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._exc_info_to_raise:
                raise self._exc_info_to_raise[1]
        if stragglers:
            if not ignore_live_threads:
                raise RuntimeError(text)
            tf.logging.info("%s", text)


def join_all(threads: Iterable[threading.Thread], until: float) -> list[threading.Thread]:
    """Waits until threads have ended, or for a time by ``time.monotonic()``; returns those that have not.

    Not by ``Thread.join()``: before Python 3.13 a thread counts as ended when Ctrl-C interrupts that (bpo-45274).
    """
    pauses = _Pauses()
    while (alive := _alive(threads)) and (left := until - time.monotonic()) > 0:
        sleep(min(pauses.next(), left))
    return alive


class _Pauses:
    """The time to wait before the next look: an eighth of the time so far, within bounds."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def next(self) -> float:
        return min(max((time.monotonic() - self._begun) / 8, 0.001), _LONGEST_PAUSE)


def _alive(threads: Iterable[threading.Thread]) -> list[threading.Thread]:
    return [thread for thread in threads if thread.is_alive()]
