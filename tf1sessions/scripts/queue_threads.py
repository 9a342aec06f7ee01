"""Threads of a program that hang in queues: its Coordinator is ours, and its end is an end.

:func:`apply` gives the program tf1sessions' Coordinator, under every name. At the program's end Python waits for its
threads; on TF1 that is for ever when one of them is in a queue that nobody feeds or drains any more. :func:`wait`::

    main thread   waits for threads as Python does                                       ──▶ atexit, the exit code
    watcher       looks at all threads; a deadlock of queue_grace_secs:
                  names what hangs ─▶ asks Coordinators to stop ─▶ closes the sessions ─┬─▶ they end: as above
                                                                                       └─▶ another deadlock, as a
                                            Python function cannot be ended: atexit, flush, os._exit(the exit code)

A program without such threads pays one look at the list of its threads.
"""

from __future__ import annotations

import atexit
import functools
import logging
import math
import os
import sys
import threading
import time
from collections.abc import Sequence
from threading import Event, Thread, main_thread
from threading import enumerate as all_threads
from time import sleep
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tf1sessions.pipelines.deadlock import ThreadSnapshot

__all__ = ["apply", "end_process", "modules_with_coordinator", "wait"]

#: How long threads have to end by themselves when their Coordinator was asked to stop. Arbitrary.
_STOP_SECS = 1.0
#: How long threads that were ended may go on, at least, before that is reported. Arbitrary.
_TELL_SECS = 5.0
#: How long a session may take to close once no call of it runs any more. Arbitrary.
_CLOSE_SECS = 5.0
#: How many threads are named. Arbitrary.
_NAMED = 10

_log = logging.getLogger("tf1sessions")


def apply(queue_grace_secs: float | None, face: Any) -> None:
    """Make tf1sessions' Coordinator the one of this process, those that TensorFlow's classes make included.

    Args:
        queue_grace_secs: See :class:`~tf1sessions.pipelines.coordinator.Coordinator`; 0 or None for TF1's own times.
        face: The module that ``import tensorflow`` gives.
    """
    from tf1sessions.pipelines.coordinator import Coordinator

    Coordinator.queue_grace_secs = queue_grace_secs or None
    for module in modules_with_coordinator():
        module.Coordinator = Coordinator  # type: ignore[attr-defined]
    face.train.Coordinator = Coordinator


@functools.cache
def modules_with_coordinator() -> tuple[ModuleType, ...]:
    """Find TensorFlow's modules that have its Coordinator. A server looks once: it reads from thousands of modules."""
    from tf1sessions.pipelines.coordinator import Coordinator

    original = Coordinator.__base__
    modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
    return tuple(module for module in modules if module.__dict__.get("Coordinator") is original)


def wait(queue_grace_secs: float | None, exit_code: int) -> None:
    """Wait for the threads of a program that has ended, as Python does, but not for those that hang in queues.

    To be called in the main thread, as the last thing that it does. Daemon threads are not waited for.

    Args:
        queue_grace_secs: How long threads hang before they are ended; 0 or None: they are waited for.
        exit_code: The program's.

    Raises:
        KeyboardInterrupt: Ctrl-C while it waited.
    """
    main = main_thread()
    if not _keeping(main):
        return
    watcher = None
    if queue_grace_secs and "tf1sessions.sessions.watchdog" in sys.modules:  # else it has no sessions
        watcher = _ThreadWatcher(queue_grace_secs, main, exit_code)
        watcher.start()
    try:
        _wait_as_python()
    except KeyboardInterrupt:
        _log.warning(f"interrupted while the process waited for {_names(_keeping(main))}")
        raise
    if watcher is not None and not watcher.finish():
        end_process(exit_code)  # Python would crash in its end: a thread is in TensorFlow, closing a session


def _wait_as_python() -> None:
    """Does what the interpreter does at its end; it will do so once more, which has no effect then."""
    interrupts: list[Any] = []
    before = sys.unraisablehook

    def unraisablehook(report: Any) -> None:
        (interrupts.append if report.exc_type is KeyboardInterrupt else before)(report)

    sys.unraisablehook = unraisablehook
    try:
        threading._shutdown()  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - of what a program has replaced: Python reports it, at its own end
        pass
    finally:
        sys.unraisablehook = before
    if interrupts:  # from Python 3.13 on Ctrl-C ends the wait by a report
        raise KeyboardInterrupt


class _ThreadWatcher(Thread):
    """Looks at the threads while the main thread waits for them, and ends those that hang."""

    def __init__(self, queue_grace_secs: float, main: Thread, exit_code: int) -> None:
        super().__init__(name="tf1sessions-end", daemon=True)
        self._grace_secs = queue_grace_secs
        self._main = main
        self._exit_code = exit_code
        self._done = Event()
        self._closing: list[Thread] = []  # changed by this thread alone

    def finish(self) -> bool:
        """Ends it; for the main thread. False if sessions are still being closed."""
        self._done.set()
        self.join(_CLOSE_SECS)
        threads = [self, *self._closing]
        for thread in threads:
            thread.join(_CLOSE_SECS)
        return not any(thread.is_alive() for thread in threads)

    def run(self) -> None:
        from tf1sessions.pipelines.deadlock import DeadlockDetector

        deadlock = DeadlockDetector(self._grace_secs, leave_out=[self._main.ident])
        tried: list[Any] = []
        report_at = math.inf
        while not self._done.wait(min(1.0, self._grace_secs / 10)):
            hanging = deadlock.of_process()
            if not hanging:
                if time.monotonic() > report_at:
                    report_at = math.inf
                    _log.warning(f"the process still waits for {_names(_keeping(self._main))}")
                continue
            if all(any(_held_by(one) is other for other in tried) for one in hanging):
                _log.warning(f"the process ends without threads that cannot be ended: {_names(_keeping(self._main))}")
                end_process(self._exit_code)
            _report(hanging, self._grace_secs)
            tried += map(_held_by, hanging)
            self._end(hanging)
            report_at = time.monotonic() + max(self._grace_secs, _TELL_SECS)
            deadlock.restart()

    def _end(self, hanging: Sequence[ThreadSnapshot]) -> None:
        """Let threads go on that hang: by a stop request to their Coordinator, then by closing their session."""
        from tf1sessions.sessions.watchdog import watchdog

        _expect_errors({one.thread for one in hanging})
        coordinators = {one.coordinator for one in hanging if one.coordinator is not None}
        for coordinator in coordinators:
            coordinator.request_stop()
        until = time.monotonic() + (_STOP_SECS if coordinators else 0.0)
        calls = {one.call for one in hanging if one.call is not None}
        while calls.intersection(watchdog.calls()) and time.monotonic() < until:
            sleep(0.01)
        # InteractiveSession's own close() is for the thread that made it.
        close = sys.modules["tensorflow.python.client.session"].BaseSession.close
        for session in {call.session for call in calls.intersection(watchdog.calls())}:
            # In a thread of its own, as it waits for Python functions to return.
            thread = Thread(target=close, args=(session,), name="tf1sessions-close", daemon=True)
            self._closing.append(thread)
            thread.start()


def _held_by(one: ThreadSnapshot) -> Any:
    """The session or Coordinator by which a thread can be ended."""
    return one.coordinator if one.call is None else one.call.session


def _report(hanging: Sequence[ThreadSnapshot], secs: float) -> None:
    from tf1sessions.pipelines.coordinator import whereabouts

    threads = [one.thread for one in hanging if one.thread is not None]
    _log.warning(
        f"the program has ended, but threads of it have hung in queues for {secs:g} s (--queue-grace), and nobody is "
        "left to feed or drain them. They are ended; TensorFlow 1 would wait for them for ever. A program stops its "
        "threads by coord.request_stop() and coord.join(threads)."
    )
    for thread in threads[:_NAMED]:
        _log.warning(f"thread {thread.name!r} {whereabouts(thread)}")
    if len(threads) > _NAMED:
        _log.warning(f"and {len(threads) - _NAMED} more")


def _keeping(main: Thread) -> list[Thread]:
    """The threads that Python waits for."""
    return [thread for thread in all_threads() if not thread.daemon and thread is not main]


def _names(threads: Sequence[Thread]) -> str:
    """The threads by name, each with where it is."""
    coordinator = sys.modules.get("tf1sessions.pipelines.coordinator")  # not there without TensorFlow
    if coordinator is None:
        return ", ".join(f"thread {thread.name!r}" for thread in threads[:_NAMED])
    return ", ".join(f"thread {thread.name!r} ({coordinator.whereabouts(thread)})" for thread in threads[:_NAMED])


def _expect_errors(threads: set[Thread | None]) -> None:
    """Leave out what threads say of the errors by which we end them."""
    from tf1sessions.pipelines.coordinator import is_consequence
    from tf1sessions.runtime import tf

    before = threading.excepthook

    def excepthook(args: Any) -> None:
        expected = is_consequence(args.exc_value) or isinstance(args.exc_value, tf.errors.OpError)
        if args.thread not in threads or not expected:
            before(args)

    threading.excepthook = excepthook
    idents = {thread.ident for thread in threads if thread is not None}
    logging.getLogger("tensorflow").addFilter(
        lambda record: record.thread not in idents or not str(record.msg).startswith("Exception in QueueRunner")
    )


def end_process(exit_code: int) -> NoReturn:
    """End this process as Python ends, but without waiting for threads. From any thread."""
    try:
        atexit._run_exitfuncs()
    finally:
        try:
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
        finally:
            os._exit(exit_code)
