"""Runs a program as ``tf1sessions run`` does, with the race detector in its process, and returns what it found.

Data flow; no TensorFlow in the caller's process::

    find_races(job) ──▶ scripts.runner.Run ──▶ the program's process: race_detector_main.py ──▶ the program
                                                    └─▶ the reports so far, in a file of a temporary folder
    the file ──▶ DetectedRun, with the files as the user names them
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tf1sessions.files import temporary_folder
from tf1sessions.scripts.jobs import Job, JobSettings
from tf1sessions.scripts.runner import Run, RunSettings
from tf1sessions.testing import findings
from tf1sessions.testing.reports import Access, RaceKind, Report
from tf1sessions.testing.suppressions import Suppression

__all__ = ["DetectedRun", "find_races", "named", "run_with", "shown"]


@dataclass(frozen=True)
class DetectedRun:
    """Result of a program's run with the race detector.

    Attributes:
        reports: In the order in which they were found.
        exit_code: The program's, as a shell would have it: 124 after the time limit, 128 + signal after a signal.
        ended: Whether it ended by itself, not by the time limit or an interrupt.
        forked: Whether it made child processes by forking, which are not watched.
        unused: The suppressions that have covered nothing.
        lost: Why something that was found could not be written; None where all was.
    """

    reports: tuple[Report, ...]
    exit_code: int
    ended: bool
    forked: bool
    unused: tuple[Suppression, ...] = ()
    lost: str | None = None


def find_races(
    job: Job,
    *,
    ignore: Iterable[RaceKind] = (),
    suppressions: Sequence[Suppression] = (),
    time_limit: float | None = None,
    stdio: tuple[int | None, int, int] | None = (0, 1, 2),
) -> DetectedRun:
    """Run a program to its end, in a process of its own, and find which of its accesses nothing orders.

    In the main thread SIGINT, SIGTERM and SIGHUP end the program while this waits, the second one kills it; what was
    found until then is returned.

    Args:
        job: The program, its arguments and settings.
        ignore: Kinds that are not reported.
        suppressions: What else is not; see :func:`~tf1sessions.testing.suppressions.read_suppressions`.
        time_limit: Seconds after which the program is ended; by default the job's own limit.
        stdio: File descriptors that the program's stdin, stdout and stderr are; None for an output that is discarded.

    Raises:
        ScriptUsageError: The program cannot be run; nothing was started.
        WorkerStartError: TensorFlow could not be loaded.

    Thread-safety: may be called from any thread, by several at once.

    Example:
        >>> from tf1sessions.scripts.jobs import Job
        >>> found = find_races(Job(script="server.py"), time_limit=60)    # doctest: +SKIP
    """
    more = {
        "ignore": [kind.value for kind in ignore],
        "suppressions": [rule.to_json() for rule in suppressions],
    }
    target = "tf1sessions.testing.race_detector_main:execute"
    notes, lost, exit_code, ended = run_with(target, more, job, time_limit, stdio)
    found = notes or {"reports": [], "forked": False, "unused": range(len(suppressions))}
    return DetectedRun(
        tuple(shown(Report.from_json(report), job) for report in found["reports"]),
        exit_code,
        ended,
        found["forked"],
        tuple(suppressions[number] for number in found["unused"]),
        lost,
    )


def run_with(
    target: str,
    more: dict[str, Any],
    job: Job,
    time_limit: float | None,
    stdio: tuple[int | None, int, int] | None,
) -> tuple[dict[str, Any] | None, str | None, int, bool]:
    """Run a program with code of ours in its process, which leaves its findings in the file ``notes`` of its payload.

    Args:
        target: The function that executes the program, ``"module:function"``.
        more: Its payload besides.
        job, time_limit, stdio: As for :func:`find_races`.

    Returns:
        The findings, None if there are none; why something of them could not be written, None if all was; the exit
        code; whether the program ended by itself.
    """
    with temporary_folder("tf1sessions-races-") as name:
        folder, notes = Path(name), Path(name, "notes")
        running = Run(
            [replace(job, settings=JobSettings(time_limit=time_limit).over(job.settings))],
            RunSettings(
                out=str(folder / "run"),
                stdio=stdio,
                target=target,
                more={"notes": str(notes), **more},
            ),
        )
        with running.heeding_signals():
            summary = running.run()
        found, lost = findings.read(str(notes)), findings.lost(str(notes))
    (record,) = summary.records
    return found, lost, summary.exit_code, summary.interrupted_by is None and record.state != "timeout"


def shown(report: Report, job: Job) -> Report:
    """Name the script as the user did, and other files relative to the current folder."""

    def access_shown(access: Access) -> Access:
        stack, locks = (tuple(named(each, job) for each in frames) for frames in (access.stack, access.locks))
        return replace(access, stack=stack, locks=locks, started=named(access.started, job))

    first, second = access_shown(report.first), access_shown(report.second)
    return replace(report, first=first, second=second, made=named(report.made, job))


def named(frame: str, job: Job) -> str:
    """Return a line of a stack, or a place, with the file's name as the user knows it."""
    if ":" not in frame:
        return frame
    path, rest = frame[: frame.rindex(":")], frame[frame.rindex(":") :]
    if path == job.path:
        return job.shown + rest
    below = os.path.relpath(path, os.getcwd()) if os.path.isabs(path) else path
    return (path if below.startswith(os.pardir) else below) + rest
