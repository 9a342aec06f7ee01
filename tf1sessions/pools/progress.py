"""``progress=True`` of a pool: a bar on a terminal, else a line in the log for each job that ended."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tf1sessions.pools.base import PoolProgress, PoolStatistics

__all__ = ["PoolBar"]

logger = logging.getLogger("tf1sessions")


class PoolBar:
    """Shows on stderr how many jobs have ended. It is safe to call it simultaneously from multiple threads.

    Args:
        name: Of the pool.
        console: A ``rich`` console; by default this process's stderr.
    """

    def __init__(self, name: str, console: Any = None) -> None:
        from rich.console import Console  # here, because a pool without it shall not wait for its import
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._name = name
        self._lock = threading.Lock()  # protects what stands below it
        self._ended = 0
        self._bar: Progress | None = None
        console = console or Console(stderr=True)
        if console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, TextColumn("{task.fields[note]}"), console=console)
            self._task = self._bar.add_task(name, total=0, note="")

    def __call__(self, event: PoolProgress) -> None:
        """Takes a change of a job in."""
        now = event.statistics
        ended = _ended(now)
        if self._bar is None:
            if event.state != "running":
                text = "%s: job %r %s after %.1f s; %d of %d have ended"
                logger.info(
                    text, self._name, event.job, event.state.replace("_", " "), event.seconds, ended, now.submitted
                )
            return
        with self._lock:
            if ended < self._ended:  # of a moment before what is shown
                return
            self._ended = ended
            self._bar.start()
            self._bar.update(self._task, total=now.submitted, completed=ended, note=_note(now))

    def close(self) -> None:
        """Leaves the bar as it is. It may be called again, and shows up again when a job changes."""
        with self._lock:
            if self._bar is not None:
                self._bar.stop()


def _ended(now: PoolStatistics) -> int:
    return now.succeeded + now.failed + now.timed_out + now.cancelled


def _note(now: PoolStatistics) -> str:
    counts = {"running": now.running, "failed": now.failed, "timed out": now.timed_out, "cancelled": now.cancelled}
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)
