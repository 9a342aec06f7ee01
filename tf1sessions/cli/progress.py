"""What ``tf1sessions run`` shows: three printers of the same events, and the summary at the end.

- one job: nothing of ours on stdout, which is the job's; a line on stderr at the end.
- several, stdout is a terminal: a table that is drawn anew four times a second, a line a job.
- else: a line when a job starts and one when it ends.

Printers are used by the run's thread; the live table's own thread only reads what that thread has set.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from tf1sessions.scripts.folder import JobRecord
from tf1sessions.scripts.logs import last_line, traceback_tail
from tf1sessions.scripts.runner import (
    Event,
    Interrupted,
    JobEnded,
    JobStarted,
    Note,
    RunStarted,
    RunSummary,
    ServerReady,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

__all__ = ["Printer", "make_printer"]

_COLOURS = {
    "done": "green",
    "running": "cyan",
    "failed": "red",
    "killed": "red",
    "timeout": "red",
    "cancelled": "yellow",
    "skipped": "yellow",
    "pending": "bright_black",
}


def make_printer(as_json: bool) -> Printer:
    """The printer for where stdout goes. One that turns out to have a single job shows that job's own output."""
    if as_json:
        return _JsonPrinter()
    return _LivePrinter() if sys.stdout.isatty() else Printer()


class Printer:
    """Plain lines; also what all printers share. Use it with ``with`` around the run, then :meth:`finish`."""

    def __init__(self) -> None:
        self.stream: TextIO = sys.stdout
        self.records: list[JobRecord] = []
        self.folder = Path()
        self.single = False
        self._waiting_line = False

    def __enter__(self) -> Printer:
        return self

    def __exit__(self, *exc: object) -> None:
        self._clear_waiting_line()

    def on_event(self, event: Event) -> None:
        """Shows an event of the run."""
        if isinstance(event, RunStarted):
            self.records, self.folder = list(event.records), event.folder
            self.single = len(self.records) == 1 and not isinstance(self, _JsonPrinter)
            if self.single:
                self.stream = sys.stderr
                if self.stream.isatty():
                    self.stream.write("starting TensorFlow…")
                    self.stream.flush()
                    self._waiting_line = True
                return
        elif isinstance(event, (JobStarted, JobEnded)):
            self.records[event.index] = event.record
        if self.single:
            self._clear_waiting_line()
            self.on_single(event)
        else:
            self.on_many(event)

    def on_single(self, event: Event) -> None:
        """One job: the terminal is the job's; only what it cannot say itself is said."""
        if isinstance(event, JobStarted) and event.record.cold_reasons:
            self.line(f"tf1sessions: {_cold(event.record)}")
        elif isinstance(event, Note):
            self.line(f"tf1sessions: {event.text}")
        elif isinstance(event, Interrupted) and event.count == 1 and event.signum != signal.SIGINT:
            self.line(f"tf1sessions: {_interrupted(event)}")
        elif isinstance(event, JobEnded):
            record = event.record
            again = "; starting it again" if event.retried else ""
            log = self.folder / record.log
            self.line(f"tf1sessions: {record.name} {_ending(record)}{again}. Log: {log}")

    def on_many(self, event: Event) -> None:
        """Several jobs, plain lines."""
        if isinstance(event, RunStarted):
            self.line(self.heading(event))
            if any(record.state != "done" for record in event.records):
                self.line("starting TensorFlow…")
        elif isinstance(event, ServerReady):
            self.line(f"TensorFlow started in {_time(event.seconds)}")
        elif isinstance(event, JobStarted):
            attempt = f", attempt {event.record.attempts}" if event.record.attempts > 1 else ""
            self.line(f"{self.label(event.index)} started{attempt}")
            if event.record.cold_reasons:
                self.line(f"{self.label(event.index)} {_cold(event.record)}")
        elif isinstance(event, JobEnded):
            again = "; will start it again" if event.retried else ""
            last = ""
            if event.record.state in ("failed", "killed", "timeout"):
                text = last_line(self.folder / event.record.log)
                last = f": {text}" if text else ""
            self.line(f"{self.label(event.index)} {_ending(event.record)}{again}{last}")
            self.leftovers(event)
        elif isinstance(event, Interrupted):
            self.line(_interrupted(event))
        else:
            where = f"{self.label(event.index)} " if event.index is not None else ""
            self.line(where + event.text)

    def heading(self, event: RunStarted) -> str:
        done = sum(record.state == "done" for record in event.records)
        todo = len(event.records) - done
        before = f", {done} done before" if done else ""
        return f"{_jobs(todo)}{before}, {event.parallel} at a time; logs in {event.folder}"

    def leftovers(self, event: JobEnded) -> None:
        if event.record.leftovers:
            self.line(
                f"{self.label(event.index)} left {len(event.record.leftovers)} processes behind, which were ended: "
                + "; ".join(event.record.leftovers)
            )

    def label(self, index: int) -> str:
        return f"[{index + 1}/{len(self.records)}] {self.records[index].name}"

    def line(self, text: str) -> None:
        """Writes a line. When nobody reads any more (``| head``) the jobs go on without being shown."""
        try:
            self.stream.write(text + "\n")
            self.stream.flush()
        except BrokenPipeError:
            self.stream = open(os.devnull, "w")  # noqa: SIM115  # for as long as this process lives
            os.dup2(self.stream.fileno(), sys.stdout.fileno())  # or Python fails at exit, flushing stdout

    def finish(self, summary: RunSummary) -> None:
        """Shows how the run ended."""
        if self.single:
            if summary.interrupted_by is not None and summary.records[0].state == "pending":
                self.line("tf1sessions: interrupted before the job started")
            return
        self.line("")
        for line in _summary_table(summary.records, colours=self.stream.isatty()):
            self.line(line)
        for record in summary.records:
            if record.state in ("failed", "killed", "timeout"):
                self.failure(record)
        self.line("")
        self.line(_summary_line(summary))
        if not summary.ok:
            what = "continue" if summary.interrupted_by is not None else "run what is not done again"
            self.line(f"To {what}: tf1sessions run --resume {shlex.quote(str(summary.folder))}")

    def failure(self, record: JobRecord) -> None:
        path = self.folder / record.log
        tail = traceback_tail(path)
        self.line("")
        said = f"; the end of {path}:" if tail else f"; {path} is empty"
        self.line(f"{record.name} {_ending(record)}{said}")
        for text in tail:
            self.line(f"  | {text}".rstrip())

    def _clear_waiting_line(self) -> None:
        if self._waiting_line:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self._waiting_line = False


class _JsonPrinter(Printer):
    """Progress as plain lines on stderr, the summary on stdout."""

    def __init__(self) -> None:
        super().__init__()
        self.stream = sys.stderr

    def finish(self, summary: RunSummary) -> None:
        import json

        click.echo(json.dumps(summary.to_json(), indent=1))


class _LivePrinter(Printer):
    """A table with a line a job, drawn anew while the run lasts."""

    def __init__(self) -> None:
        super().__init__()
        self._live: Live | None = None
        self._head = ""
        self._ready = False
        self._began = time.monotonic()
        self._started: dict[int, float] = {}
        self._last_lines: dict[int, tuple[int, str]] = {}

    def on_many(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._head = self.heading(event)
            if all(record.state == "done" for record in event.records):
                self.line(self._head)
                return
            self._open()
        elif isinstance(event, ServerReady):
            self._ready = True
        elif isinstance(event, JobStarted):
            self._started[event.index] = time.monotonic()
            if event.record.cold_reasons:
                self.line(f"{self.label(event.index)} {_cold(event.record)}")
        elif isinstance(event, JobEnded):
            self._started.pop(event.index, None)
            if event.retried:
                self.line(f"{self.label(event.index)} {_ending(event.record)}; will start it again")
            self.leftovers(event)
        else:
            super().on_many(event)

    def _open(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._live = Live(
            get_renderable=self._table,
            console=Console(file=self.stream, highlight=False),
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def __exit__(self, *exc: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
        super().__exit__(*exc)

    def line(self, text: str) -> None:
        if self._live is None:
            super().line(text)
        else:
            self._live.console.print(text, markup=False, soft_wrap=True)

    def _table(self) -> RenderableType:
        """The live table; called by its own thread."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        assert self._live is not None
        records, started = list(self.records), dict(self._started)
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), expand=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=max(16, self._live.console.width // 3))
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        shown = _rows_that_fit(records, self._live.console.height - 4)
        for index in shown:
            record = records[index]
            state = record.state
            seconds = time.monotonic() - started[index] if index in started else record.seconds
            table.add_row(
                Text(str(index + 1), style="bright_black"),
                Text(record.name),
                Text(state, style=_COLOURS[state]),
                Text("" if seconds is None else _time(seconds)),
                Text(self._last_words(index, record), style="bright_black"),
            )
        counts = ", ".join(
            f"{sum(record.state == state for record in records)} {state}"
            for state in _COLOURS
            if any(record.state == state for record in records)
        )
        waiting = "" if self._ready else f"   starting TensorFlow… {_time(time.monotonic() - self._began)}"
        hidden = f" ({len(records) - len(shown)} not shown)" if len(shown) < len(records) else ""
        return Group(Text(self._head), table, Text(counts + hidden + waiting, style="bold"))

    def _last_words(self, index: int, record: JobRecord) -> str:
        """The last line of a job that has begun, read again only when its log has grown."""
        if record.state == "pending" and not record.attempts:
            return ""
        path = self.folder / record.log
        size = path.stat().st_size if path.exists() else 0
        if self._last_lines.get(index, (-1, ""))[0] != size:
            self._last_lines[index] = (size, last_line(path))
        return self._last_lines[index][1]


def _rows_that_fit(records: Sequence[JobRecord], height: int) -> list[int]:
    """Which jobs to show when not all fit: running ones first, then failed, then the next to start, then done."""
    rank = {"running": 0, "failed": 1, "killed": 1, "timeout": 1, "pending": 2}
    order = sorted(range(len(records)), key=lambda index: (rank.get(records[index].state, 3), index))
    return sorted(order[: max(1, height)])


def _summary_table(records: Sequence[JobRecord], colours: bool) -> list[str]:
    """The jobs in columns: number, name, state, time, memory, why."""
    rows = [("", "job", "state", "time", "memory", "")]
    for number, record in enumerate(records, 1):
        seconds = "" if record.seconds is None else _time(record.seconds)
        memory = "" if record.peak_memory_mb is None else f"{record.peak_memory_mb:.0f} MB"
        rows.append((str(number), record.name, record.state, seconds, memory, _why(record)))
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
        if colours and row[2] in _COLOURS:
            cells[2] = click.style(cells[2], fg=_COLOURS[row[2]])
        lines.append("  ".join(cells).rstrip())
    return lines


def _summary_line(summary: RunSummary) -> str:
    counts = summary.counts()
    done = counts.pop("done", 0)
    others = "".join(f", {count} {'not started' if state == 'pending' else state}" for state, count in counts.items())
    start = "interrupted: " if summary.interrupted_by is not None else ""
    return (
        f"{start}{done} of {_jobs(len(summary.records))} done{others}, in {_time(summary.seconds)}; "
        f"logs and jobs.json in {summary.folder}"
    )


def _why(record: JobRecord) -> str:
    parts = []
    if record.reason:
        parts.append(record.reason)
    elif record.exit_code:
        parts.append(f"exit code {record.exit_code}")
    if record.attempts > 1:
        parts.append(f"{record.attempts} attempts")
    return ", ".join(parts)


def _ending(record: JobRecord) -> str:
    """How an attempt ended, in words: ``failed after 3.2 s (exit code 1)``."""
    seconds = "" if record.seconds is None else f" after {_time(record.seconds)}"
    if record.state == "killed":
        return f"{record.reason}{seconds}"
    memory = "" if record.peak_memory_mb is None else f", {record.peak_memory_mb:.0f} MB"
    why = _why(replace(record, attempts=1))
    return f"{record.state}{seconds}" + (f" ({why})" if why else memory)


def _interrupted(event: Interrupted) -> str:
    name = "Ctrl-C" if event.signum == signal.SIGINT else signal.Signals(event.signum).name
    if not event.running:
        return f"{name}: nothing is running; ending"
    if event.count > 1:
        return f"{name}: killing {_jobs(len(event.running))}"
    return f"{name}: ending {_jobs(len(event.running))}; Ctrl-C again kills at once"


def _cold(record: JobRecord) -> str:
    return f"starts cold, which takes seconds longer: {', '.join(record.cold_reasons)}"


def _jobs(count: int) -> str:
    return f"{count} job" if count == 1 else f"{count} jobs"


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

