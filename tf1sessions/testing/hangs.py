"""Tests that hang: what each thread and each session waits for, and how it is ended.

Data flow::

    Deadline ──▶ after secs ──▶ report(): calls that wait, queues, stacks ──▶ free(): closes the sessions that threads
    its thread                                                                wait in; they go on with an error
                            └──▶ not ended a few seconds later: the caller's `stuck`, the last resort

A call that waits in TensorFlow notices no signal: pytest-timeout's methods can only kill the process then. Closing its
session ends it.
"""

from __future__ import annotations

import _thread
import contextlib
import linecache
import reprlib
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Event, Thread, current_thread, get_ident
from threading import enumerate as all_threads
from typing import Any

from tf1sessions.sessions.stacks import current_frames, without_collection
from tf1sessions.sessions.watchdog import list_operations, watchdog
from tf1sessions.testing.frames import format_frame, is_library
from tf1sessions.testing.stalls import of_program, stuck
from tf1sessions.testing.waits import waits

__all__ = ["CLOSER", "Deadline", "free", "report"]

#: The name of threads that close sessions in which others wait.
CLOSER = "tf1sessions-close"
#: How many lines a report has about threads, and how many of each. Arbitrary: a screen.
_SCREEN_LINES, _SHOWN_FRAMES = 36, 4

#: How long a test may take to fail once its sessions are closed, and when it waits in none; how long a queue is asked
#: for its size. Arbitrary.
_GRACE_SECS = 5.0
_OTHERWISE_SECS = 2.0
_ASK_SECS = 2.0

#: Where a thread is in a run of a session: the end of the file's path, and the function.
_RUN = ("tensorflow/python/client/session.py", "run")
#: Above whose frames the program's begin, in a test's thread.
_RUNNERS = ("_pytest.", "pluggy.", f"{__package__}.plugin.", f"{__package__}.threaded_body.")

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
        self._ended = Event()
        self._lock = _thread.allocate_lock()  # held while the report is made
        self._thread = Thread(target=self._wait, name="tf1sessions-timeout", daemon=True)
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
        if current_thread() is not self._thread:
            self._thread.join(_GRACE_SECS)

    def _wait(self) -> None:
        if self._ended.wait(self.secs):
            return
        text = self.look()
        since = time.monotonic()
        while time.monotonic() - since < (_GRACE_SECS if self.has_closed else _OTHERWISE_SECS):
            self.has_closed |= free(set(current_frames()) - {get_ident()})
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
            Thread(target=session.close, name=CLOSER, daemon=True).start()
    return bool(sessions)


def report(leave_out: Iterable[int | None] = ()) -> str:
    """Return what each thread waits for, and where it is, but for some, by their ``ident``: at most a screen.

    Threads that wait for each other come first, then those that wait in a session, with its queues. Asking queues for
    their sizes adds operations to their graphs.
    """
    frames = current_frames()
    names = {thread.ident: thread.name for thread in all_threads()}
    threads = of_program(frames).keys() - set(leave_out)
    calls = _calls(threads)
    found = waits({ident: frames[ident] for ident in threads})
    circle = stuck(found)
    does = {ident: f"waits for {wait.what}" for ident, wait in found.items() if wait is not None}
    does |= {ident: f"waits in {_name(session)} for {what}" for ident, session, what in calls}
    lines = [] if calls else ["no thread waits in a session"]
    if circle:
        lines.append(f"{len(circle)} thread{'s' * (len(circle) > 1)} can never go on:")
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    in_runs = {ident for ident, _, _ in calls}
    for ident in sorted(threads, key=lambda ident: (ident not in circle, ident not in in_runs, names.get(ident, "~"))):
        name = repr(names[ident]) if ident in names else "of a library"
        groups.setdefault((does.get(ident, ""), _stack(frames[ident])), []).append(name)
    lines += _shown(groups)
    for session in {id(session): session for _, session, _ in calls}.values():
        lines += [f"{line} (of {_name(session)})" for line in _queues(session)]
    return "\n".join(lines)


def _shown(groups: Mapping[tuple[str, tuple[str, ...]], Sequence[str]]) -> list[str]:
    """Return lines of the threads, by what they do and where they are, as many as fit."""
    lines: list[str] = []
    left = 0
    for (what, stack), names in groups.items():
        if len(lines) + len(stack) + 1 > _SCREEN_LINES:
            left += len(names)
            continue
        several = len(names) > 1
        does = f"{what.replace('waits', 'wait', 1) if several else what}," if what else "are" if several else "is"
        lines += [f"thread{'s' * several} {', '.join(names)} {does} at {stack[0]}"]
        lines += [f"    {frame}" for frame in stack[1:]]
    return [*lines, *([f"and {left} more threads"] if left else [])]


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
def _stack(frame: Any) -> tuple[str, ...]:
    """Return the innermost places of a stack with their lines, without libraries' and what is above the test."""
    found: list[str] = []
    first = frame
    while frame is not None and not f"{frame.f_globals.get('__name__')}.".startswith(_RUNNERS):
        if not is_library(frame.f_code.co_filename) and len(found) < _SHOWN_FRAMES:
            found.append(_with_line(frame))
        frame = frame.f_back
    return tuple(found) or (_with_line(first),)


def _with_line(frame: Any) -> str:
    place = format_frame(frame)
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return f"{place}: {line}" if line else place


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

    thread = Thread(target=ask, name="tf1sessions-ask", daemon=True)
    thread.start()
    thread.join(_ASK_SECS)
    return answers[0] if answers else None


@contextlib.contextmanager
def _writable(graph: Any) -> Iterator[None]:
    """Let this thread add operations to a graph while this lasts, also to a sealed one, or that of another thread."""
    ownership = getattr(graph, "ownership", None)
    changed: list[tuple[Any, str, Any]] = [(graph, "_finalized", False)]
    if ownership is not None:
        changed += [(ownership, "_owner", current_thread()), (ownership, "_sealed_at", None)]
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in changed]
    for owner, name, value in changed:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in kept:
            setattr(owner, name, value)
