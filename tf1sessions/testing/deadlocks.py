"""Threads that wait for each other: found by the one that closes the circle, or by a thread that looks.

Data flow::

    locks.py: an acquire that has to wait ──▶ waiting(lock) ── its holder, and what that waits for ──▶ DeadlockError
    synchronisation.py: Thread.join ────────▶ waiting(thread) ──▶   "
    stalls.py: a thread that looks ── name_circle(circle) ──▶ its first thread ── check() ──▶ DeadlockError
                                                                                   └──▶ listening()

A lock that one thread acquires and another one releases is a signal, and nobody holds it. So a plain lock counts as
held when it was entered by ``with``; a recursive one always does.

Locks: ``_guard`` guards ``_waiting``; a circle is looked for while it is held, and so by one thread at a time.
"""

from __future__ import annotations

import _thread
import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tf1sessions.errors import DeadlockError
from tf1sessions.sessions.stacks import current_frames
from tf1sessions.testing.frames import format_frame, program_frames

__all__ = ["SLICE_SECS", "Waiter", "announce", "check", "is_named", "listening", "name_circle", "unname", "waiting"]

#: After how long a thread that waits for a lock or another thread's end looks whether it has to give up. Arbitrary.
SLICE_SECS = 0.25
#: How many frames of each thread, and how many threads, an error shows. Arbitrary: a screen.
_SHOWN = 4
_SHOWN_THREADS = 8


class Waiter(NamedTuple):
    """A thread of a circle.

    Attributes:
        ident: Its identity.
        waits_for: The lock or the thread that it waits for; or that in words.
        holds: The lock that the one before it in the circle waits for; None where that waits for its end.
        frame: Where it is.
    """

    ident: int
    waits_for: Any
    holds: Any
    frame: Any = None

    @property
    def what(self) -> str:
        """The activity of the thread, in words."""
        held = f"holds {_named(self.holds)} and " if self.holds is not None else ""
        return f"{held}waits for {_named(self.waits_for)}"

    @property
    def place(self) -> str:
        """``file:line in function`` of the program."""
        return next((format_frame(frame) for frame in program_frames(self.frame)), "an unknown place")


_listeners: list[Callable[[Sequence[Waiter]], None]] = []
_guard = _thread.allocate_lock()
_waiting: dict[int, Any] = {}  # thread -> lock or thread
_circles: dict[int, list[Waiter]] = {}  # thread that has to give up -> its circle


@contextlib.contextmanager
def waiting(thing: Any) -> Iterator[None]:
    """Note that the calling thread waits for a lock, or for the end of a thread, while this lasts.

    Raises:
        DeadlockError: What it waits for waits for the calling thread.
    """
    me = _thread.get_ident()
    with _guard:
        circle = _circle(me, thing)
        if circle is None:
            _waiting[me] = thing
    if circle is not None:
        frames = current_frames()
        raise _error([waiter._replace(frame=frames.get(waiter.ident)) for waiter in circle])
    try:
        yield
    finally:
        _waiting.pop(me, None)


def name_circle(circle: list[Waiter]) -> None:
    """Let the first thread of a circle give up, by :func:`check`, in the wait that it is in."""
    _circles[circle[0].ident] = circle


def is_named(ident: int) -> bool:
    """Say whether a thread has to give up, and has not done so yet."""
    return ident in _circles


def unname(ident: int) -> bool:
    """Take that back for a thread that has not given up; says whether there was something to take back."""
    return _circles.pop(ident, None) is not None


def check() -> None:
    """Let the calling thread give up if it has to; to be called in a wait, and after it.

    Raises:
        DeadlockError: It is one of threads that wait for each other.
    """
    if _circles and (circle := _circles.pop(_thread.get_ident(), None)) is not None:
        raise _error(circle)


@contextlib.contextmanager
def listening(listener: Callable[[Sequence[Waiter]], None]) -> Iterator[None]:
    """Let a function know of each circle, by its threads, while this lasts; the first is the one that gives up."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def announce(circle: Sequence[Waiter]) -> None:
    """Let all listeners know of a circle."""
    for listener in tuple(_listeners):
        listener(circle)


def _error(circle: list[Waiter]) -> DeadlockError:
    announce(circle)
    return DeadlockError(_described(circle))


def _holder(thing: Any) -> int | None:
    if isinstance(thing, threading.Thread):
        return thing.ident if thing.is_alive() else None
    return thing.owner if thing.is_held else None


def _circle(me: int, thing: Any) -> list[Waiter] | None:
    """Return the threads that would wait for each other; None where one of them can go on."""
    found: list[Waiter] = []
    ident, wanted, held = me, thing, None
    while True:
        found.append(Waiter(ident, wanted, held))
        holder = _holder(wanted)
        held = None if isinstance(wanted, threading.Thread) else wanted
        if holder == me:
            return [found[0]._replace(holds=held), *found[1:]]
        next_wanted = None if holder is None else _waiting.get(holder)  # whose wait may end in this moment
        if holder is None or next_wanted is None or any(each.ident == holder for each in found):
            return None
        ident, wanted = holder, next_wanted


def _named(thing: Any) -> str:
    if isinstance(thing, str):
        return thing
    if isinstance(thing, threading.Thread):
        return f"the end of thread {thing.name!r}"
    return f"the lock made at {thing.place}"


def _described(circle: Sequence[Waiter]) -> str:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    lines = [f"deadlock of {len(circle)} thread{'s' * (len(circle) > 1)}:"]
    for waiter in circle[:_SHOWN_THREADS]:
        lines.append(f"  thread {names.get(waiter.ident, '?')!r} {waiter.what}")
        frames = [format_frame(frame) for frame in program_frames(waiter.frame)]
        lines += [f"      {frame}" for frame in frames[:_SHOWN]]
    if len(circle) > _SHOWN_THREADS:
        lines.append(f"  and {len(circle) - _SHOWN_THREADS} more threads")
    return "\n".join(lines)
