"""Runs a program as ``tf1sessions run`` does, with probes in its process, and reports what they found.

Data flow; no TensorFlow in the caller's process::

    watch(job) ──▶ scripts.runner.Run ──▶ the program's process: probes.execute ──▶ the program, as it would run anyway
                                                 └─▶ notes in a temporary folder (notes.py)
    notes ──▶ evidence.judge ──▶ findings, with the places as the user names them
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tf1sessions.doctor import evidence, notes
from tf1sessions.doctor.findings import Finding, in_order
from tf1sessions.files import temporary_folder
from tf1sessions.scripts.events import Event
from tf1sessions.scripts.jobs import Job, JobSettings
from tf1sessions.scripts.runner import Run, RunSettings

__all__ = ["watch"]


def watch(
    job: Job,
    *,
    time_limit: float | None = None,
    stdio: tuple[int | None, int, int] | None = (0, 1, 2),
    listener: Callable[[Event], None] | None = None,
) -> tuple[int, list[Finding]]:
    """Runs a program to its end, in a process of its own, and reports what it did that is a problem.

    The program's output, exit code and results are those of ``tf1sessions run``. Child processes that it starts are not
    watched; a finding says so. In the main thread SIGINT, SIGTERM and SIGHUP end the program while this waits, the
    second one kills it; what was found until then is returned.

    Args:
        job: The program, its arguments and settings.
        time_limit: Seconds after which the program is ended; by default the job's own limit.
        stdio: File descriptors that the program's stdin, stdout and stderr are; None for an output that nobody sees.
        listener: Called with the events of the run, in this thread.

    Returns:
        The exit code, as a shell would have it (124 after the time limit, 128 + signal after a signal), and the
        findings, the worst first.

    Raises:
        ScriptUsageError: The program cannot be run; nothing was started.
        WorkerStartError: TensorFlow could not be loaded.

    Thread-safety: may be called from any thread, by several at once.

    Example:
        >>> from tf1sessions.scripts.jobs import Job
        >>> exit_code, findings = watch(Job(script="train.py"), time_limit=60)    # doctest: +SKIP
    """
    shown = evidence.Shown(os.getcwd(), {job.path: job.shown} if job.script else {})  # the job may delete the folder
    with temporary_folder("tf1sessions-doctor-") as name:
        folder = Path(name)
        noted = folder / "notes"
        noted.mkdir()
        running = Run(
            [replace(job, settings=JobSettings(time_limit=time_limit).over(job.settings))],
            RunSettings(
                out=str(folder / "run"),
                stdio=stdio,
                target="tf1sessions.doctor.probes:execute",
                more={"notes": str(noted)},
            ),
            listener,
        )
        with running.heeding_signals():
            summary = running.run()
        events, state = notes.read(noted)
        return summary.exit_code, in_order(evidence.judge(events, state, shown))
