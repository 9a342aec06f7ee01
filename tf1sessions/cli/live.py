"""The live table of ``tf1sessions run``: a line a job, drawn anew four times a second. Needs rich, and a terminal.

The run's thread sets what is shown, by replacing values whole; the table's own thread, which rich starts, only reads it
and the ends of the logs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tf1sessions.cli.formatting import COLOURS, cold_start, duration, ending, why
from tf1sessions.cli.progress import Printer
from tf1sessions.scripts.events import Continued, Event, JobEnded, JobStarted, RunStarted, ServerReady, Suspending
from tf1sessions.scripts.folder import JobRecord
from tf1sessions.scripts.logs import last_line
from tf1sessions.texts import printable

__all__ = ["LivePrinter"]


class LivePrinter(Printer):
    """A table with a line a job, drawn anew while the run lasts.

    Args:
        of_cluster: As for :class:`~tf1sessions.cli.progress.Printer`.
    """

    def __init__(self, of_cluster: bool = False) -> None:
        super().__init__(of_cluster)
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
                self.line(f"{self.label(event.index)} {cold_start(event.record)}")
        elif isinstance(event, JobEnded):
            self._started.pop(event.index, None)
            if event.retried:
                self.line(f"{self.label(event.index)} {ending(event.record)}; will start it again")
            self.remarks(event)
        elif isinstance(event, Suspending):  # the shell gets its terminal as it was
            self._close()
        elif isinstance(event, Continued):
            self._open()
        else:
            super().on_many(event)

    def _open(self) -> None:
        self._console = Console(file=self.stream, highlight=False)
        self._live = Live(
            get_renderable=self._table,
            console=self._console,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def _close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __exit__(self, *exc: object) -> None:
        self._close()
        super().__exit__(*exc)

    def styled_line(self, text: str) -> None:
        if self._live is None:
            super().styled_line(text)
        else:
            self._console.print(Text(text), soft_wrap=True)

    def _table(self) -> RenderableType:
        """The live table; called by its own thread."""
        records, started = list(self.records), dict(self._started)
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), expand=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=max(16, self._console.width // 3))
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        shown = _rows_that_fit(records, self._console.height - 4)
        for index in shown:
            record = records[index]
            state = record.state
            seconds = time.monotonic() - started[index] if index in started else record.seconds
            table.add_row(
                Text(str(index + 1), style="bright_black"),
                Text(printable(record.name)),
                Text(state, style=COLOURS[state]),
                Text("" if seconds is None else duration(seconds)),
                Text(self._last_words(index, record), style="bright_black"),
            )
        counts = ", ".join(
            f"{sum(record.state == state for record in records)} {state}"
            for state in COLOURS
            if any(record.state == state for record in records)
        )
        waiting = "" if self._ready else f"   starting TensorFlow… {duration(time.monotonic() - self._began)}"
        hidden = f" ({len(records) - len(shown)} not shown)" if len(shown) < len(records) else ""
        return Group(Text(printable(self._head)), table, Text(counts + hidden + waiting, style="bold"))

    def _last_words(self, index: int, record: JobRecord) -> str:
        """The last line of a job that has begun, read again only when its log has grown."""
        if record.state == "pending" and not record.attempts:
            return ""
        path = self.folder / record.log
        try:
            size = path.stat().st_size
        except FileNotFoundError:  # it was deleted
            return ""
        if self._last_lines.get(index, (-1, ""))[0] != size:
            self._last_lines[index] = (size, last_line(path))
        text = self._last_lines[index][1]
        return text or printable(why(record)) if record.over else text


def _rows_that_fit(records: Sequence[JobRecord], height: int) -> list[int]:
    """Choose the jobs to show when not all fit: running ones first, then failed, then the next to start, then done."""
    rank = {"running": 0, "failed": 1, "killed": 1, "timeout": 1, "pending": 2}
    order = sorted(range(len(records)), key=lambda index: (rank.get(records[index].state, 3), index))
    return sorted(order[: max(1, height)])
