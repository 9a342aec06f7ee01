"""Deadlines: functions that are called when something is late, with one timer for all that may take equally long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

__all__ = ["Deadlines"]


class Deadlines:
    """Calls functions after a number of seconds, unless they are stopped before.

    A timer of asyncio's own for each request would take as long as reading its JSON, and hardly any is ever late.

    Attention: this is **not** thread-safe! It is for one event loop, in its thread.

    Args:
        secs: The seconds, for all of them.
    """

    def __init__(self, secs: float) -> None:
        self._secs = secs
        self._ends: dict[Callable[[], object], float] = {}
        self._is_set = False  # a timer, for the first of them or for an earlier one

    def start(self, late: Callable[[], object]) -> None:
        """Call a function in so many seconds from now."""
        self._ends[late] = time.monotonic() + self._secs
        if not self._is_set:
            self._is_set = True
            asyncio.get_running_loop().call_later(self._secs, self._look)

    def stop(self, late: Callable[[], object]) -> bool:
        """Do not call it; returns whether that was in time."""
        return self._ends.pop(late, None) is not None

    def _look(self) -> None:
        now = time.monotonic()
        all_late = [late for late, end in self._ends.items() if end <= now]
        for late in all_late:
            del self._ends[late]
        self._is_set = bool(self._ends)
        if self._ends:
            asyncio.get_running_loop().call_later(min(self._ends.values()) - now, self._look)
        for late in all_late:
            late()
