"""A pool's counts, and its progress: on a terminal as a bar, else as a line in the log for each job that ended."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Any

from tf1sessions.texts import figures

__all__ = ["COUNTED", "PoolBar", "PoolProgress", "PoolStatistics"]

logger = logging.getLogger("tf1sessions")


@dataclass(frozen=True)
class PoolStatistics:
    """A pool's counts at one moment; ``print()`` shows them as a table.

    Attributes:
        workers: How many jobs may run at once.
        submitted: Jobs submitted so far.
        waiting, running: Jobs not started, and started and not ended.
        succeeded, failed, timed_out, cancelled: Jobs that ended, by how they did.
        busy_seconds: Time that ended jobs took, summed over the workers.
        stuck_threads: Names of the threads of a ThreadSessionPool whose job's time was up and whose code has not ended
            yet. They are no workers any more.
    """

    workers: int
    submitted: int = 0
    waiting: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    timed_out: int = 0
    cancelled: int = 0
    busy_seconds: float = 0.0
    stuck_threads: tuple[str, ...] = ()

    def __str__(self) -> str:
        names = ("workers", *COUNTED)
        rows = figures([name.replace("_", " ") for name in names], [[getattr(self, name) for name in names]])
        if self.stuck_threads:
            rows.append(f"stuck threads: {', '.join(self.stuck_threads)}")
        return "\n".join(rows)


COUNTED = ("submitted", "waiting", "running", "succeeded", "failed", "timed_out", "cancelled", "busy_seconds")
"""The names of the counts."""


@dataclass(frozen=True)
class PoolProgress:
    """The argument of a pool's ``progress`` function: a job's change of state.

    Attributes:
        job: The job's name.
        state: ``"running"``, ``"succeeded"``, ``"failed"``, ``"timed_out"`` or ``"cancelled"``.
        seconds: How long the job ran; 0.0 before it has ended.
        statistics: The pool's counts after the change.
    """

    job: str
    state: str
    seconds: float
    statistics: PoolStatistics


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
