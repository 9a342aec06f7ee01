"""Texts of ``tf1sessions run``: durations, how a job ended, the summary. Pure functions that print nothing."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import replace

import click

from tf1sessions.pools.workers import signal_name_of
from tf1sessions.scripts.events import Interrupted, RunSummary
from tf1sessions.scripts.folder import JobRecord
from tf1sessions.texts import printable

__all__ = [
    "COLOURS",
    "cold_start",
    "count_jobs",
    "deprecations",
    "duration",
    "ending",
    "interruption",
    "summary_line",
    "summary_table",
    "why",
]

COLOURS = {
    "done": "green",
    "running": "cyan",
    "failed": "red",
    "killed": "red",
    "timeout": "red",
    "cancelled": "yellow",
    "skipped": "yellow",
    "pending": "bright_black",
}


def summary_table(records: Sequence[JobRecord], colours: bool) -> list[str]:
    """The jobs in columns: number, name, state, time, memory, why."""
    rows = [("", "job", "state", "time", "memory", "")]
    for number, record in enumerate(records, 1):
        seconds = "" if record.seconds is None else duration(record.seconds)
        memory = "" if record.peak_memory_mb is None else f"{record.peak_memory_mb:.0f} MB"
        rows.append((str(number), printable(record.name), record.state, seconds, memory, printable(why(record))))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = []
    for row in rows:
        cells = [
            row[0].rjust(widths[0]),
            row[1].ljust(widths[1]),
            row[2].ljust(widths[2]),
            row[3].rjust(widths[3]),
            row[4].rjust(widths[4]),
            row[5],
        ]
        if colours and row[2] in COLOURS:
            cells[2] = click.style(cells[2], fg=COLOURS[row[2]])
        lines.append("  ".join(cells).rstrip())
    return lines


def summary_line(summary: RunSummary) -> str:
    counts = summary.counts()
    done = counts.pop("done", 0)
    others = "".join(f", {count} {'not started' if state == 'pending' else state}" for state, count in counts.items())
    start = "interrupted: " if summary.interrupted_by is not None else ""
    return (
        f"{start}{done} of {count_jobs(len(summary.records))} done{others}, in {duration(summary.seconds)}; "
        f"logs and jobs.json in {summary.folder}"
    )


def why(record: JobRecord) -> str:
    parts = []
    if record.reason:
        parts.append(record.reason)
    elif record.exit_code:
        parts.append(f"exit code {record.exit_code}")
    if record.attempts > 1:
        parts.append(f"{record.attempts} attempts")
    return ", ".join(parts)


def ending(record: JobRecord) -> str:
    """Describe how an attempt ended: ``failed after 3.2 s (exit code 1)``."""
    seconds = "" if record.seconds is None else f" after {duration(record.seconds)}"
    if record.state == "killed":
        return f"{record.reason}{seconds}"
    memory = "" if record.peak_memory_mb is None else f", {record.peak_memory_mb:.0f} MB"
    reason = why(replace(record, attempts=1))
    return f"{record.state}{seconds}" + (f" ({reason})" if reason else memory)


def interruption(event: Interrupted) -> str:
    name = "Ctrl-C" if event.signum == signal.SIGINT else signal_name_of(-event.signum)
    if not event.running:
        return f"{name}: nothing is running; ending"
    if event.count > 1:
        return f"{name}: killing {count_jobs(len(event.running))}"
    again = "Ctrl-C again" if event.signum == signal.SIGINT else "a second signal"
    return f"{name}: ending {count_jobs(len(event.running))}; {again} kills at once"


def cold_start(record: JobRecord) -> str:
    return f"starts cold, which takes seconds longer: {', '.join(record.cold_reasons)}"


def deprecations(records: Sequence[JobRecord]) -> str:
    """Say how many deprecation warnings are not shown, and how to see them."""
    count = sum(record.deprecations for record in records)
    return f"{count} deprecation warning{'s' * (count != 1)} of TensorFlow not shown (--warnings shows them)"


def count_jobs(count: int) -> str:
    return f"{count} job" if count == 1 else f"{count} jobs"


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
