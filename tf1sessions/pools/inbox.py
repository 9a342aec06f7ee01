"""The inbox of a pool's dispatcher: items from other threads, and a descriptor that wakes it."""

from __future__ import annotations

import contextlib
import socket
from collections import deque
from typing import Any

__all__ = ["Inbox"]


class Inbox:
    """A queue whose reader sleeps in a ``select``.

    It is safe to put from any thread, also in a signal's handler, and to interrupt that: there is no lock. The reader
    first counts its sleep and then looks for items, the others first append an item and then look whether the reader
    sleeps: one of them sees the other. Only one byte is written for a sleep.
    """

    def __init__(self) -> None:
        self._reading, self._writing = socket.socketpair()
        self._reading.setblocking(False)
        self._writing.setblocking(False)
        self._items: deque[Any] = deque()
        self._sleeps = 0  # how often the reader has gone to sleep
        self._woken = 0  # the number of the sleep from which it was woken last, or that it did not take

    def fileno(self) -> int:
        """The descriptor for the reader's ``select``."""
        return self._reading.fileno()

    def put(self, item: Any) -> None:
        """Append an item. Call :meth:`wake` after it, without the locks that the reader is going to need."""
        self._items.append(item)

    def wake(self) -> None:
        """Wake the reader, if it sleeps. Nothing happens once the inbox is closed."""
        sleep = self._sleeps
        if sleep != self._woken:
            with contextlib.suppress(OSError):  # it is closed
                self._writing.send(b"w")
            self._woken = sleep

    # -- the reader --

    def may_sleep(self) -> bool:
        """Whether there is nothing to take; from now on it is to be woken."""
        self._sleeps += 1
        if self._items:
            self._woken = self._sleeps
        return not self._items

    def take(self, is_woken: bool) -> list[Any]:
        """Take all items.

        Args:
            is_woken: The descriptor is readable.
        """
        self._woken = self._sleeps
        if is_woken:
            self._reading.recv(4096)
        return [self._items.popleft() for _ in range(len(self._items))]

    def close(self) -> None:
        """Close the descriptor."""
        self._reading.close()
        self._writing.close()
