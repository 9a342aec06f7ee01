"""Tests that hang: what each thread and each session waits for, and how it is ended.

Data flow::

    Deadline ──▶ after secs ──▶ report(): calls that wait, queues, stacks ──▶ free(): closes the sessions that threads
    its thread                                                                wait in; they go on with an error
                            └──▶ not ended a few seconds later: the caller's `stuck`, the last resort

A call that waits in TensorFlow notices no signal: pytest-timeout's methods can only kill the process then. Closing its
session ends it.
"""

from __future__ import annotations

import contextlib
import reprlib
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tf1sessions.sessions.stacks import current_frames, without_collection
from tf1sessions.sessions.watchdog import list_operations, place, watchdog

__all__ = ["Deadline", "free", "report"]

#: How long a test may take to fail once its sessions are closed, and when it waits in none; how long a queue is asked
#: for its size. Arbitrary.
_GRACE_SECS = 5.0
_OTHERWISE_SECS = 2.0
_ASK_SECS = 2.0

#: Where a thread is in a run of a session: the end of the file's path, and the function.
_RUN = ("tensorflow/python/client/session.py", "run")
#: Above whose frames the program's begin, in a test's thread.
_RUNNERS = ("_pytest.", "pluggy.", f"{__package__}.plugin.", f"{__package__}.threaded_body.")
#: How the names of threads of this package begin.
_OUR_THREADS = "'tf1sessions-"

_closing: weakref.WeakSet[Any] = weakref.WeakSet()


class Deadline:
    """A test's time limit, with a thread of its own.

    Args:
        secs: From now.
        stuck: Called in its thread when the test has not ended some seconds after its sessions were closed.

    Attributes:
        secs: As given.
        text: What was found when the time was up; empty before.
        has_closed: Whether a session was closed in which a thread waited.
        is_stuck: Whether ``stuck`` was called.

    Thread-safety: all methods may be called from any thread.
    """

    def __init__(self, secs: float, stuck: Callable[[str], None] = lambda text: None) -> None:
        self.secs = secs
        self.text = ""
        self.has_closed = self.is_stuck = False
        self._stuck = stuck
        self._due = time.monotonic() + secs
        self._ended = threading.Event()
        self._lock = threading.Lock()  # held while the report is made
        self._thread = threading.Thread(target=self._wait, name="tf1sessions-timeout", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._due

    def look(self) -> str:
        """Return what the process hangs in, looked at once; to be called when the time is up."""
        with self._lock:
            if not self.text:
                self.text = report(leave_out={self._thread.ident})
            return self.text

    def end(self) -> None:
        """Note that the test has ended."""
        self._ended.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(_GRACE_SECS)

    def _wait(self) -> None:
        if self._ended.wait(self.secs):
            return
        text = self.look()
        since = time.monotonic()
        while time.monotonic() - since < (_GRACE_SECS if self.has_closed else _OTHERWISE_SECS):
            self.has_closed |= free(set(current_frames()) - {threading.get_ident()})
            if self._ended.wait(0.1):
                return
        self.is_stuck = True
        self._stuck(text)


def free(threads: Iterable[int | None]) -> bool:
    """Close the sessions that threads, by their ``ident``, wait in; says whether there are any.

    Each is closed by a thread of its own, as that may wait.
    """
    sessions = {id(session): session for _, session, _ in _calls(set(threads))}.values()
    for session in sessions:
        if session not in _closing:
            _closing.add(session)
            threading.Thread(target=session.close, name="tf1sessions-close", daemon=True).start()
    return bool(sessions)


def report(leave_out: Iterable[int | None] = ()) -> str:
    """Return what threads and sessions wait for, and where each thread is, but for some, by their ``ident``.

    Asking queues for their sizes adds operations to their graphs.
    """
    frames = current_frames()
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    threads = frames.keys() - {threading.get_ident(), *leave_out}
    calls = _calls(threads)
    lines = [
        f"thread {names.get(thread, '?')!r} waits in {_name(session)} for {what}, at {place(frames.get(thread))}"
        for thread, session, what in calls
    ] or ["no thread waits in a session"]
    for session in {id(session): session for _, session, _ in calls}.values():
        lines += [f"{line} (of {_name(session)})" for line in _queues(session)]
    stacks: dict[str, list[str]] = {}
    for thread in threads:
        name = repr(names[thread]) if thread in names else "of a library"
        if not name.startswith(_OUR_THREADS):
            stacks.setdefault(_stack(frames[thread]), []).append(name)
    for stack, same in stacks.items():
        lines += [f"stack of thread{'s' * (len(same) > 1)} {', '.join(sorted(same))}:", stack]
    return "\n".join(lines)


def _name(session: Any) -> str:
    return f"session {id(session):#x}"


def _calls(threads: Iterable[int | None]) -> list[tuple[int, Any, str]]:
    """Return the calls in which threads wait: thread, session, operations or fetches."""
    frames = current_frames()
    found = []
    for thread in threads:
        call = watchdog.call_of(thread)
        if call is not None:
            secs = time.monotonic() - call.since
            found.append((call.thread, call.session, f"{list_operations(call.operations)} since {secs:.1f} s"))
        elif thread in frames and (frame := _run_frame(frames[thread])) is not None:
            session, fetches = _arguments(frame)
            found.append((thread, session, reprlib.repr(fetches)))
    return found


@without_collection
def _run_frame(frame: Any) -> Any:
    """Return the innermost frame of a session's ``run``, of those that TensorFlow made; None if there is none."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename.endswith(_RUN[0]) and code.co_name == _RUN[1]:
            return frame
        frame = frame.f_back
    return None


@without_collection
def _arguments(frame: Any) -> tuple[Any, Any]:
    return frame.f_locals["self"], frame.f_locals["fetches"]


@without_collection
def _stack(frame: Any) -> str:
    """Return a stack, without what is above the test."""
    frames = []
    while frame is not None and not f"{frame.f_globals.get('__name__')}.".startswith(_RUNNERS):
        frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    return "".join(traceback.StackSummary.extract(reversed(frames)).format()).rstrip()


# -- queues -----------------------------------------------------------------------------------------------------------


def _queues(session: Any) -> Iterator[str]:
    """Yield the state of each queue of a session's graph."""
    from tf1sessions.pipelines.queues import QUEUE_OPERATIONS, queue_from

    queues = [operation for operation in session.graph.get_operations() if operation.type in QUEUE_OPERATIONS]
    if not queues:
        return
    with _writable(session.graph):
        asked = [queue_from(operation) for operation in queues]
    for queue in asked:
        state = _ask(session, [queue.size_now, queue.closed_now])
        capacity = f"of {queue.capacity}" if queue.capacity > 0 else "without bound"
        items = f"{state[0]} items {capacity}, {'closed' if state[1] else 'open'}" if state else "does not answer"
        yield f"queue {queue.name!r} ({queue.kind}): {items}"


def _ask(session: Any, fetches: Any) -> Any:
    """Return what they give; None if that takes long, or fails."""
    answers: list[Any] = []

    def ask() -> None:
        with contextlib.suppress(Exception):  # closed, or broken: what waits in it is reported
            answers.append(session.run(fetches))

    thread = threading.Thread(target=ask, name="tf1sessions-ask", daemon=True)
    thread.start()
    thread.join(_ASK_SECS)
    return answers[0] if answers else None


@contextlib.contextmanager
def _writable(graph: Any) -> Iterator[None]:
    """Let this thread add operations to a graph while this lasts, also to a sealed one, or that of another thread."""
    ownership = getattr(graph, "ownership", None)
    changed: list[tuple[Any, str, Any]] = [(graph, "_finalized", False)]
    if ownership is not None:
        changed += [(ownership, "_owner", threading.current_thread()), (ownership, "_sealed_at", None)]
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in changed]
    for owner, name, value in changed:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in kept:
            setattr(owner, name, value)
