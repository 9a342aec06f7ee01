"""Work on numbered things that several processes share, each with a part of them.

::

    work(share) ──▶ what the others have to know ──▶ all of that goes to every process ──▶ results
         in this process, and for each further share in a forked child, which ends with it

A child that ends early (killed, out of memory) is no error: its share is done here.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from typing import Any, BinaryIO, NoReturn

__all__ = ["Count", "can_fork", "divided", "in_shares"]

#: How often a child looks whether its parent is still there, in seconds. Arbitrary.
_LOOKS_SECS = 0.2

#: Yields what the other shares have to know, by number; is sent that of all; then yields its results, by number.
Work = Callable[[Sequence[int]], Generator[dict[int, Any], dict[int, Any], None]]


def can_fork() -> bool:
    """Whether a child of this process can do anything: TensorFlow's threads would not be in it."""
    return sys.platform == "linux" and "tensorflow" not in sys.modules


def divided(weights: Sequence[int], parts: int) -> list[list[int]]:
    """Divide things into parts of about equal weight, the heaviest first to the lightest part; numbers are in order.

    Example:
        >>> divided([5, 1, 1, 3], 2)
        [[0], [1, 2, 3]]
    """
    shares: list[list[int]] = [[] for _ in range(parts)]
    sums = [0] * parts
    for number in sorted(range(len(weights)), key=lambda each: -weights[each]):
        least = sums.index(min(sums))
        shares[least].append(number)
        sums[least] += weights[number]
    return [sorted(share) for share in shares if share]


class Count:
    """A sum that several processes add to: each has a number of its own in shared memory."""

    def __init__(self, processes: int) -> None:
        self._counts = memoryview(mmap.mmap(-1, 8 * processes)).cast("q")

    def add(self, process: int) -> int:
        """Count one more, and return the sum."""
        self._counts[process] += 1
        return sum(self._counts)


def in_shares(shares: Sequence[Sequence[int]], work: Work) -> dict[int, Any]:
    """Do each share, the first one here and each further one in a child of its own.

    Args:
        shares: The numbers of the things in each share.
        work: Does a share. What it yields and is sent goes through pipes, pickled.

    Returns:
        The results by number.

    Thread-safety: with more than one share only where :func:`can_fork`, and no other thread may hold a lock of
    Python's or of a library: it would stay locked in the children.
    """
    children = [_Child(share, work) for share in shares[1:]]
    try:
        mine = work(shares[0])
        published = next(mine)
        try:
            for child in children:
                published |= child.receive()
            for child in children:
                child.send(published)
            found = mine.send(published)
            for child in children:
                found |= child.receive()
        except (EOFError, OSError, pickle.UnpicklingError):
            mine.close()
            return in_shares([sorted(number for share in shares for number in share)], work)
    finally:
        for child in children:
            child.end()
    return found


class _Child:
    """A forked child that does a share. By hand: the import of multiprocessing takes as long as reading 1,000 lines."""

    def __init__(self, share: Sequence[int], work: Work) -> None:
        theirs, ours = os.pipe(), os.pipe()
        parent, self._pid = os.getpid(), os.fork()
        if not self._pid:
            os.close(theirs[1])
            os.close(ours[0])
            _do(share, work, open(theirs[0], "rb"), open(ours[1], "wb"), parent)
        os.close(theirs[0])
        os.close(ours[1])
        self._to, self._from = open(theirs[1], "wb"), open(ours[0], "rb")

    def send(self, what: object) -> None:
        pickle.dump(what, self._to, pickle.HIGHEST_PROTOCOL)
        self._to.flush()

    def receive(self) -> Any:
        """Return what it sends next.

        Raises:
            EOFError: It has ended.
        """
        return pickle.load(self._from)

    def end(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        self._from.close()
        with contextlib.suppress(OSError):  # of what it has not read
            self._to.close()


def _do(share: Sequence[int], work: Work, requests: BinaryIO, replies: BinaryIO, parent: int) -> NoReturn:
    """Do a share in a child. Ctrl-C is the parent's to handle; without it, and at an error, the child just ends."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, lambda *_: os.getppid() == parent or os._exit(1))  # where it has been killed
        signal.setitimer(signal.ITIMER_REAL, _LOOKS_SECS, _LOOKS_SECS)
        doing = work(share)
        pickle.dump(next(doing), replies, pickle.HIGHEST_PROTOCOL)
        replies.flush()
        pickle.dump(doing.send(pickle.load(requests)), replies, pickle.HIGHEST_PROTOCOL)
        replies.flush()
    finally:
        os._exit(0)  # without flushing what is the parent's; after an error the parent does the share
