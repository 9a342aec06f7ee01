"""Threads that wait for each other: the end of the wait of one of them, by an error.

Data flow::

    stalls.py: a thread that looks ── name_circle(circle) ──▶ its first thread ── check() ──▶ DeadlockError
                                                                                   └──▶ listening()
    locks.py, synchronisation.py, item_tokens.py: waits in slices, with a check() between two
"""

from __future__ import annotations

import _thread
import contextlib
from collections.abc import Callable, Iterator, Sequence
from threading import enumerate as all_threads
from typing import Any, NamedTuple

from tf1sessions.errors import DeadlockError
from tf1sessions.testing.frames import format_frame, program_frames

__all__ = ["SLICE_SECS", "Waiter", "announce", "check", "is_named", "listening", "name_circle", "unname"]

#: After how long a thread that waits for a lock or another thread's end looks whether it has to give up. Arbitrary.
SLICE_SECS = 0.25
#: How many frames of each thread, and how many threads, an error shows. Arbitrary: a screen.
_SHOWN = 4
_SHOWN_THREADS = 8


class Waiter(NamedTuple):
    """A thread of a circle."""

    ident: int  # its identity
    waits_for: str  # what it waits for, in words
    holds: Any  # the lock that the one before it in the circle waits for; None where that waits for its end
    frame: Any = None  # where it is

    @property
    def what(self) -> str:
        """The activity of the thread, in words."""
        held = f"holds the lock made at {self.holds.place} and " if self.holds is not None else ""
        return f"{held}waits for {self.waits_for}"

    @property
    def place(self) -> str:
        """``file:line in function`` of the program."""
        return next((format_frame(frame) for frame in program_frames(self.frame)), "an unknown place")


_listeners: list[Callable[[Sequence[Waiter]], None]] = []
_circles: dict[int, list[Waiter]] = {}  # thread that has to give up -> its circle


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
        announce(circle)
        raise DeadlockError(_described(circle))


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


def _described(circle: Sequence[Waiter]) -> str:
    names = {thread.ident: thread.name for thread in all_threads()}
    lines = [f"deadlock of {len(circle)} thread{'s' * (len(circle) > 1)}:"]
    for waiter in circle[:_SHOWN_THREADS]:
        lines.append(f"  thread {names.get(waiter.ident, '?')!r} {waiter.what}")
        frames = [format_frame(frame) for frame in program_frames(waiter.frame)]
        lines += [f"      {frame}" for frame in frames[:_SHOWN]]
    if len(circle) > _SHOWN_THREADS:
        lines.append(f"  and {len(circle) - _SHOWN_THREADS} more threads")
    return "\n".join(lines)
