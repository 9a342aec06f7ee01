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
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["Count", "can_fork", "divided", "in_shares"]

#: Yields what the other shares have to know, by number; is sent that of all; then yields its results, by number.
Work = Callable[[Sequence[int]], Generator[dict[int, Any], dict[int, Any], None]]


def can_fork() -> bool:
    """Whether a child of this process can do anything: there are no threads that it would miss, and no TensorFlow."""
    return sys.platform == "linux" and threading.active_count() == 1 and "tensorflow" not in sys.modules


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

    Thread-safety: only for a process in which :func:`can_fork` holds, if there is more than one share.
    """
    children = [_Child(share, work) for share in shares[1:]]
    try:
        mine = work(shares[0])
        published = next(mine)
        try:
            for child in children:
                published |= child.connection.recv()
            for child in children:
                child.connection.send(published)
            found = mine.send(published)
            for child in children:
                found |= child.connection.recv()
        except (EOFError, OSError):
            mine.close()
            return in_shares([sorted(number for share in shares for number in share)], work)
    finally:
        for child in children:
            child.end()
    return found


class _Child:
    """A forked child that does a share."""

    def __init__(self, share: Sequence[int], work: Work) -> None:
        import multiprocessing  # here: a small audit starts without it, a tenth sooner

        fork = multiprocessing.get_context("fork")
        self.connection, theirs = fork.Pipe()
        self._process = fork.Process(target=_do, args=(share, work, theirs, self.connection), daemon=True)
        self._process.start()
        theirs.close()

    def end(self) -> None:
        self.connection.close()
        self._process.kill()
        self._process.join()


def _do(share: Sequence[int], work: Work, connection: Connection, parents: Connection) -> None:
    """Do a share in a child. Ctrl-C is the parent's to handle; without it, and at an error, the child just ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parents.close()
    with contextlib.suppress(Exception):
        doing = work(share)
        connection.send(next(doing))
        connection.send(doing.send(connection.recv()))
        connection.close()
    os._exit(0)  # nothing of the parent's is flushed or ended here
