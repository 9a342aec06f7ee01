"""Names calls that wait for ever.

A deadlock that the program would have on TF1 too (a dequeue that nobody feeds, a Python function that runs the session
whose only thread it occupies) is not hidden and not ended: it is named, once, in the log ``tf1sessions``::

    CompiledRequest.run_watched() ──▶ watchdog.call()  notes thread, time, operations   for requests that may wait
    one daemon thread, while such sessions are open ──▶ looks once a second ──▶ logs a call older than stall_secs
    watchdog.calls(), call_of(thread) ──▶ the notes, for whoever asks in what a thread waits
"""

from __future__ import annotations

import logging
import os
import sysconfig
import threading
import time
import weakref
from threading import Event, Thread, get_ident
from threading import enumerate as all_threads
from types import TracebackType
from typing import Any

from tf1sessions.sessions.stacks import current_frames, without_collection

__all__ = [
    "STALL_SECS",
    "ActiveCall",
    "Watchdog",
    "is_program",
    "list_operations",
    "made_at",
    "place",
    "program_frame",
    "program_traceback",
    "raised_by_tensorflow",
    "watchdog",
]

#: Seconds after which a call that may wait for another thread is named. Arbitrary: longer than any input step that is
#: worth running, shorter than a reader's patience.
STALL_SECS = 60.0

_LOOK_SECS = 1.0
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_STANDARD_LIBRARY = (sysconfig.get_path("stdlib") + os.sep, "<frozen ")
_INSTALLED = (sysconfig.get_path("purelib") + os.sep, sysconfig.get_path("platlib") + os.sep)  # lies in the former

logger = logging.getLogger("tf1sessions")


class ActiveCall:
    """One call in flight. Entered and left by the calling thread alone; any thread may read it.

    Attributes:
        session: The session that runs it.
        operations: ``(name, type)`` of each operation that may wait for another thread.
        thread: The calling thread's ``ident``.
        since: When it began, by ``time.monotonic()``.
    """

    __slots__ = ("named", "operations", "owner", "session", "since", "thread")

    def __init__(self, owner: Watchdog, session: Any, operations: tuple[tuple[str, str], ...]) -> None:
        self.owner = owner
        self.session = session
        self.operations = operations
        self.thread = get_ident()
        self.since = time.monotonic()
        self.named = False

    def __enter__(self) -> None:
        self.owner._calls.add(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.owner._calls.discard(self)


class Watchdog:
    """Watches the calls of all sessions of the process. Safe to use from any thread.

    ``_calls`` is changed by single set operations, which are atomic; ``_lock`` guards the sessions and the thread. It
    is re-entrant, and nothing waits while holding it: the garbage collector may close a session inside any statement.
    """

    def __init__(self, stall_secs: float = STALL_SECS, look_secs: float = _LOOK_SECS) -> None:
        self.stall_secs = stall_secs
        self._look_secs = look_secs
        self._calls: set[ActiveCall] = set()
        self._sessions: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.RLock()
        self._wake = Event()
        self._thread: Thread | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self) -> None:
        self._calls = set()
        self._sessions = weakref.WeakSet()
        self._lock = threading.RLock()
        self._wake = Event()
        self._thread = None

    def call(self, session: Any, operations: tuple[tuple[str, str], ...]) -> ActiveCall:
        """A context manager around one call; ``operations`` are (name, type) of those that may wait."""
        if session not in self._sessions:
            self._watch(session)
        return ActiveCall(self, session, operations)

    def calls(self, session: Any = None) -> list[ActiveCall]:
        """The calls in flight that may wait, the oldest first; those of all sessions or of one."""
        if not self._calls:
            return []
        return sorted((call for call in tuple(self._calls) if session in (None, call.session)), key=_since)

    def call_of(self, thread: int | None) -> ActiveCall | None:
        """The call that a thread (its ``ident``) is in, if it may wait; the innermost of several."""
        return max((call for call in tuple(self._calls) if call.thread == thread), key=_since, default=None)

    def _watch(self, session: Any) -> None:
        with self._lock:
            self._sessions.add(session)
            if self._thread is not None:
                return
            wake = self._wake = Event()  # the last thread may not have seen yet that its own was set
            thread = Thread(target=self._look, args=(wake,), name="tf1sessions-watchdog", daemon=True)
            self._thread = thread
        thread.start()

    def forget(self, session: Any) -> None:
        """Stops watching a session; the thread ends soon after the last one."""
        with self._lock:
            self._sessions.discard(session)
            if not len(self._sessions):
                self._thread = None
                self._wake.set()

    def _look(self, wake: Event) -> None:
        while not wake.wait(self._look_secs):
            with self._lock:
                if wake is not self._wake:
                    return
                if not len(self._sessions):  # closed by the garbage collector
                    self._thread = None
                    return
            now = time.monotonic()
            late = [call for call in tuple(self._calls) if not call.named and now - call.since >= self.stall_secs]
            if late:
                frames = current_frames()
                names = {thread.ident: thread.name for thread in all_threads()}
                for call in late:
                    call.named = True
                    logger.warning("%s", _describe(call, now, frames, names))


def _since(call: ActiveCall) -> float:
    return call.since


def list_operations(operations: tuple[tuple[str, str], ...]) -> str:
    """``'name' (type)`` of the operations, of four at most."""
    text = ", ".join(f"{name!r} ({kind})" for name, kind in operations[:4])
    return text if len(operations) <= 4 else f"{text} and {len(operations) - 4} more"


def _describe(call: ActiveCall, now: float, frames: dict[int, Any], names: dict[int | None, str]) -> str:
    return (
        f"thread {names.get(call.thread, '?')!r} has been waiting in Session.run for {now - call.since:.0f} s, "
        f"at {place(frames.get(call.thread))}. What may hold it: {list_operations(call.operations)}. "
        "It would wait on TensorFlow 1 too; look at what should feed or drain it."
    )


def _is_ours(path: str) -> bool:
    return path.startswith(_PACKAGE) or f"{os.sep}tensorflow{os.sep}" in path


def made_at(operation: Any) -> str | None:
    """The line of the program that made an operation, as ``file:line``; None where that is not known."""
    lines = [line for line in operation.traceback or () if is_program(line.filename)]
    return f"{lines[-1].filename}:{lines[-1].lineno}" if lines else None


def is_program(path: str) -> bool:
    """Whether a file is the program's: neither TensorFlow's nor ours nor the standard library's."""
    return not _is_ours(path) and (path.startswith(_INSTALLED) or not path.startswith(_STANDARD_LIBRARY))


def program_traceback(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without TensorFlow's frames and ours; None if there are no others. Changes the links in it."""
    first: TracebackType | None = None
    last: TracebackType | None = None
    while traceback is not None:
        following = traceback.tb_next
        if not _is_ours(traceback.tb_frame.f_code.co_filename):
            if last is None:
                first = traceback
            else:
                last.tb_next = traceback
            last = traceback
            last.tb_next = None
        traceback = following
    return first


def raised_by_tensorflow(error: BaseException) -> bool:
    """Whether the code that raised an error is TensorFlow's or ours, and not the program's."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and _is_ours(traceback.tb_frame.f_code.co_filename)


@without_collection
def program_frame(frame: Any) -> Any:
    """The innermost frame of the program on the stack that ends with ``frame``; None if there is none."""
    while frame is not None and not is_program(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


@without_collection
def place(frame: Any) -> str:
    """The file and line of the innermost frame of the program; without one, of the standard library."""
    found = program_frame(frame)
    if found is None:
        found = frame
        while found is not None and _is_ours(found.f_code.co_filename):
            found = found.f_back
    return "an unknown place" if found is None else f"{found.f_code.co_filename}:{found.f_lineno}"


watchdog = Watchdog()
