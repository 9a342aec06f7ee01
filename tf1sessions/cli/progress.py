"""Printers of a run's events and of its end, for where ``tf1sessions run`` has no live table.

- one job: nothing of ours on stdout, which is the job's; a line on stderr at the end;
- several: a line when a job starts and one when it ends, then a table of all;
- ``--json``: the lines on stderr, and the summary alone on stdout.

Printers are used by the thread that runs the run.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import click

from tf1sessions.cli.formatting import (
    cold_start,
    count_jobs,
    deprecations,
    duration,
    ending,
    interruption,
    summary_line,
    summary_table,
)
from tf1sessions.scripts.events import (
    Event,
    Interrupted,
    JobEnded,
    JobStarted,
    Note,
    RunStarted,
    RunSummary,
    ServerReady,
    UnendedLine,
)
from tf1sessions.scripts.folder import JobRecord
from tf1sessions.scripts.logs import last_line, traceback_tail
from tf1sessions.texts import printable, quoted

__all__ = ["JsonPrinter", "Printer"]

_FAILED = ("failed", "killed", "timeout")


class Printer:
    """Plain lines; also what all printers share. Use it with ``with`` around the run, then :meth:`finish`.

    Args:
        of_cluster: Whether the jobs are the tasks of one cluster: none has the terminal for itself, of those that fail
            the first one alone is shown, as the others fail of it, and the run cannot be resumed.
    """

    def __init__(self, of_cluster: bool = False) -> None:
        self.of_cluster = of_cluster
        self._failed: list[int] = []
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
            self.single = len(self.records) == 1 and not isinstance(self, JsonPrinter) and not self.of_cluster
            if self.single:
                self.stream = sys.stderr
                if self.stream.isatty():
                    self._write("starting TensorFlow…")
                    self._waiting_line = True
                return
        elif isinstance(event, (JobStarted, JobEnded)):
            self.records[event.index] = event.record
            if isinstance(event, JobEnded) and not event.retried and event.record.state in _FAILED:
                self._failed.append(event.index)
        if self.single:
            self._clear_waiting_line()
            self.on_single(event)
        else:
            self.on_many(event)

    def on_single(self, event: Event) -> None:
        """One job: the terminal is the job's; only what it cannot say itself is said."""
        if isinstance(event, JobStarted) and event.record.cold_reasons:
            self.line(f"tf1sessions: {cold_start(event.record)}")
        elif isinstance(event, UnendedLine):
            self._write("\n")
        elif isinstance(event, Note):
            self.line(f"tf1sessions: {event.text}")
        elif isinstance(event, Interrupted) and (event.count > 1 or event.signum != signal.SIGINT):
            self.line(f"tf1sessions: {interruption(event)}")
        elif isinstance(event, JobEnded):
            record = event.record
            again = "; starting it again" if event.retried else ""
            log = self.folder / record.log
            self.line(f"tf1sessions: {record.name} {ending(record)}{again}. Log: {log}")
            if record.deprecations:
                self.line(f"tf1sessions: {deprecations([record])}, in {log.with_suffix('.deprecations.txt')}")

    def on_many(self, event: Event) -> None:
        """Several jobs, plain lines."""
        if isinstance(event, RunStarted):
            self.line(self.heading(event))
            if any(record.state != "done" for record in event.records):
                self.line("starting TensorFlow…")
        elif isinstance(event, ServerReady):
            self.line(f"TensorFlow started in {duration(event.seconds)}")
        elif isinstance(event, JobStarted):
            attempt = f", attempt {event.record.attempts}" if event.record.attempts > 1 else ""
            self.line(f"{self.label(event.index)} started{attempt}")
            if event.record.cold_reasons:
                self.line(f"{self.label(event.index)} {cold_start(event.record)}")
        elif isinstance(event, JobEnded):
            again = "; will start it again" if event.retried else ""
            last = ""
            if event.record.state in _FAILED:
                text = last_line(self.folder / event.record.log)
                last = f": {text}" if text else ""
            self.line(f"{self.label(event.index)} {ending(event.record)}{again}{last}")
            self.remarks(event)
        elif isinstance(event, Interrupted):
            self.line(interruption(event))
        elif isinstance(event, Note):
            where = f"{self.label(event.index)} " if event.index is not None else ""
            self.line(where + event.text)

    def heading(self, event: RunStarted) -> str:
        done = sum(record.state == "done" for record in event.records)
        todo = len(event.records) - done
        before = f", {done} done before" if done else ""
        return f"{count_jobs(todo)}{before}, {event.parallel} at a time; logs in {event.folder}"

    def remarks(self, event: JobEnded) -> None:
        """Print the parts of an attempt's end that the job's state does not say."""
        label, record = self.label(event.index), event.record
        if record.leftovers:
            self.line(f"{label} left processes behind, which were ended: {'; '.join(record.leftovers)}")
        for warning in record.warnings:
            self.line(f"{label} warning: {warning}")

    def label(self, index: int) -> str:
        return f"[{index + 1}/{len(self.records)}] {self.records[index].name}"

    def line(self, text: str) -> None:
        """Shows a text as one line: names of jobs and files in it cannot steer the terminal."""
        self.styled_line(printable(text))

    def styled_line(self, text: str) -> None:
        """Writes a line as it is."""
        self._write(text + "\n")

    def _write(self, text: str) -> None:
        """Writes to the stream. Where that takes no more (``| head``, a full disk) the jobs go on unshown."""
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:
            with open(os.devnull, "w") as null:
                os.dup2(null.fileno(), self.stream.fileno())  # or Python fails at exit, flushing what is left in it

    def finish(self, summary: RunSummary) -> None:
        """Shows how the run ended."""
        if self.single:
            if summary.interrupted_by is not None and summary.records[0].state == "pending":
                self.line("tf1sessions: interrupted before the job started")
            return
        self.line("")
        for line in summary_table(summary.records, colours=self.stream.isatty() and not os.environ.get("NO_COLOR")):
            self.styled_line(line)
        if self.of_cluster:
            shown = [summary.records[index] for index in self._failed[:1]]
        else:
            shown = [record for record in summary.records if record.state in _FAILED]
        for record in shown:
            self.failure(record)
        if any(record.deprecations for record in summary.records):
            self.line("")
            self.line(f"{deprecations(summary.records)}, in the run folder's *.deprecations.txt")
        self.line("")
        self.line(summary_line(summary))
        if not summary.ok and not self.of_cluster:
            what = "continue" if summary.interrupted_by is not None else "run what is not done again"
            self.line(f"To {what}: tf1sessions run --resume {quoted(str(summary.folder))}")

    def failure(self, record: JobRecord) -> None:
        path = self.folder / record.log
        tail = traceback_tail(path)
        self.line("")
        said = f"; the end of {path}:" if tail else f"; {path} is empty"
        self.line(f"{record.name} {ending(record)}{said}")
        for text in tail:
            self.line(f"  | {text}".rstrip())

    def _clear_waiting_line(self) -> None:
        if self._waiting_line:
            self._waiting_line = False
            self._write("\r\x1b[K")


class JsonPrinter(Printer):
    """Progress as plain lines on stderr, the summary on stdout.

    Args:
        more: Further entries of the summary.
        of_cluster: As for :class:`Printer`.
    """

    def __init__(self, more: Mapping[str, Any] | None = None, of_cluster: bool = False) -> None:
        super().__init__(of_cluster)
        self.more = more or {}
        self.stream = sys.stderr

    def finish(self, summary: RunSummary) -> None:
        import json

        click.echo(json.dumps({**summary.to_json(), **self.more}, indent=1))
