"""Threads that wait for each other: found by the one that closes the circle, before it waits.

Data flow::

    locks.py: an acquire that has to wait ──▶ waiting(lock) ── who holds it, and what that waits for ──▶ DeadlockError
    synchronisation.py: Thread.join ────────▶ waiting(thread) ──▶   "                              └──▶ listening()

A lock that one thread acquires and another one releases is a signal, and nobody holds it. So a plain lock counts as
held when it was entered by ``with``; a recursive one always does.

Locks: ``_guard`` guards ``_waiting``; a circle is looked for while it is held, and so by one thread at a time.
"""

from __future__ import annotations

import _thread
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tf1sessions.errors import DeadlockError
from tf1sessions.sessions.stacks import current_frames
from tf1sessions.testing.frames import format_frame, program_frames

__all__ = ["Waiter", "listening", "waiting"]

#: How many frames of each thread an error shows. Arbitrary.
_SHOWN = 4


class Waiter(NamedTuple):
    """A thread of a circle.

    Attributes:
        ident: Its identity.
        waits_for: The lock or the thread that it waits for.
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


_listeners: list[Callable[[list[Waiter]], None]] = []
_guard = _thread.allocate_lock()
_waiting: dict[int, Any] = {}  # thread -> lock or thread


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
        circle = [waiter._replace(frame=frames.get(waiter.ident)) for waiter in circle]
        for listener in tuple(_listeners):
            listener(circle)
        raise DeadlockError(_described(circle))
    try:
        yield
    finally:
        _waiting.pop(me, None)


@contextlib.contextmanager
def listening(listener: Callable[[list[Waiter]], None]) -> Iterator[None]:
    """Let a function know of each circle, by its threads, while this lasts; the calling thread is the first."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _holder(thing: Any) -> int | None:
    if isinstance(thing, threading.Thread):
        return thing.ident if thing.is_alive() else None
    return thing.owner if thing.is_held else None


def _circle(me: int, thing: Any) -> list[Waiter] | None:
    """Return the threads that would wait for each other; None where somebody can go on."""
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
    if isinstance(thing, threading.Thread):
        return f"the end of thread {thing.name!r}"
    return f"the lock made at {thing.place}"


def _described(circle: list[Waiter]) -> str:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    lines = [f"deadlock of {len(circle)} thread{'s' * (len(circle) > 1)}:"]
    for waiter in circle:
        lines.append(f"  thread {names.get(waiter.ident, '?')!r} {waiter.what}")
        frames = [format_frame(frame) for frame in program_frames(waiter.frame)]
        lines += [f"      {frame}" for frame in frames[:_SHOWN]]
    return "\n".join(lines)
