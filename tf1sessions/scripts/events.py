"""Events of a run while it goes on, and :class:`RunSummary`, its end. Frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tf1sessions.pools.workers import signal_name_of
from tf1sessions.scripts.folder import JobRecord

__all__ = [
    "Event",
    "Interrupted",
    "JobEnded",
    "JobStarted",
    "Note",
    "RunStarted",
    "RunSummary",
    "ServerReady",
    "UnendedLine",
]


@dataclass(frozen=True)
class RunStarted:
    """The folder is made, nothing is started yet. ``records`` has what an earlier run finished."""

    folder: Path
    records: tuple[JobRecord, ...]
    parallel: int


@dataclass(frozen=True)
class ServerReady:
    """TensorFlow is loaded; jobs start from here on."""

    seconds: float


@dataclass(frozen=True)
class JobStarted:
    """A job has a process."""

    index: int
    record: JobRecord
    pid: int


@dataclass(frozen=True)
class JobEnded:
    """A job's attempt is over; with ``retried`` it is waiting again."""

    index: int
    record: JobRecord
    retried: bool


@dataclass(frozen=True)
class Interrupted:
    """The run was asked to end, for the ``count``-th time; from the second on jobs are killed."""

    signum: int
    count: int
    running: tuple[int, ...]


@dataclass(frozen=True)
class Suspending:
    """The run is about to be stopped by Ctrl-Z; the jobs are."""


@dataclass(frozen=True)
class Continued:
    """The run goes on after Ctrl-Z."""


@dataclass(frozen=True)
class Note:
    """Something that the user should know."""

    text: str
    index: int | None = None


@dataclass(frozen=True)
class UnendedLine:
    """A single job has begun a line on the caller's stderr, in which the next event's would go on."""


Event = RunStarted | ServerReady | JobStarted | JobEnded | Interrupted | Suspending | Continued | Note | UnendedLine


@dataclass(frozen=True)
class RunSummary:
    """The outcome of a run.

    Args:
        folder: The run's folder.
        records: A record a job.
        seconds: That the run took.
        interrupted_by: The signal number that ended it, or None.
        output_lost: Whether a stream of the caller took no more of what the single job wrote, other than a broken pipe.
    """

    folder: Path
    records: tuple[JobRecord, ...]
    seconds: float
    interrupted_by: int | None = None
    output_lost: bool = False

    @property
    def ok(self) -> bool:
        """Whether every job succeeded."""
        return all(record.state == "done" for record in self.records)

    @property
    def exit_code(self) -> int:
        """0 when every job succeeded; 128 + signal when the run was interrupted; else 1, or a single job's own.

        A single job that was killed gives 128 + signal too, and one that ran out of time 124, as ``timeout`` does. One
        that succeeded, but whose output was lost, gives 120, as Python does when it cannot flush stdout at its end.
        """
        if self.interrupted_by is not None:
            return 128 + self.interrupted_by
        if self.ok:
            return 120 if self.output_lost else 0
        if len(self.records) > 1:
            return 1
        (record,) = self.records
        if record.state == "timeout":
            return 124
        code = record.exit_code or 1
        return 128 - code if code < 0 else code

    def counts(self) -> dict[str, int]:
        """Return the number of jobs in each state that any is in."""
        counts: dict[str, int] = {}
        for record in self.records:
            counts[record.state] = counts.get(record.state, 0) + 1
        return counts

    def to_json(self) -> dict[str, Any]:
        """Plain data, for ``--json``."""
        return {
            "folder": str(self.folder),
            "exit_code": self.exit_code,
            "seconds": round(self.seconds, 3),
            "interrupted_by": signal_name_of(-self.interrupted_by) if self.interrupted_by else None,
            "counts": self.counts(),
            "jobs": [record.to_json() for record in self.records],
        }
