"""Trace: what the threads of a pipeline did when, as a file that Perfetto (ui.perfetto.dev) and chrome://tracing show.

::

    any thread ── span, counter ──▶ the last ``limit`` events, in memory ── write() ──▶ out.json

The file is in the Trace Event Format's JSON object form. A group of tracks (a stage) is a process in it, a track (a
thread of the stage) a thread; counters, and what is said of dropped events, are in a first process that has the trace's
title. Viewers close a span when the one around it ends, and refuse or misplace what overlaps, so times are whole
microseconds, rounded down, begins and ends alike: what was nested, or one after the other, still is.

Of a long run the end matters: the newest events are kept. How many were dropped is in ``otherData``, and by an
instant where the trace begins.
"""

from __future__ import annotations

import collections
import errno
import gzip
import json
import math
import numbers
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import IO, Any, NamedTuple

from tf1sessions.errors import ConfigError

__all__ = ["Trace"]

#: How many events are kept by default. Arbitrary: 120 MB in memory, 40 MB as JSON and 3 MB as .json.gz, without args.
_LIMIT = 500_000
#: The longest text of a value that JSON does not have.
_LONGEST = 200


class _Event(NamedTuple):
    """An event that is remembered; times are of ``time.monotonic()``. Until it is written it is a plain tuple.

    A plain one of strings and numbers is nothing that Python's garbage collector has to look at again and again.
    """

    phase: str  # as in the file: X a span, C a counter, i an instant
    track: tuple[str, str]
    name: str
    begin: float
    end: float
    args: Mapping[str, Any] | None


class Trace:
    """Records events, and writes them as a Chrome trace.

    Args:
        path: The file; it is compressed if its name ends in ``.gz``. It is written by :meth:`write` alone, and as a
            whole: until then, a file of that name stays as it is. Of a symbolic link the target is written.
        limit: How many events are kept: the newest.
        title: What the trace is of.

    Raises:
        ConfigError: The file cannot be written there, or the limit is no positive integer.

    Thread-safety: everything may be called from any thread at any time.

    Example:
        >>> import tempfile, time
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trace = Trace(f"{folder}/out.json")
        ...     begin = time.monotonic()
        ...     trace.span(("train", "train-0"), "run", begin, time.monotonic(), {"step": 1})
        ...     trace.counter("images", {"size": 12}, time.monotonic())
        ...     trace.write()
        ...     print(open(trace.path).read().count('"run"'))
        1
    """

    def __init__(self, path: str | os.PathLike[str], *, limit: int = _LIMIT, title: str = "pipeline") -> None:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ConfigError(f"limit is {limit!r}", where="Trace", next_step="Give an integer of 1 or more.")
        self.path = os.path.abspath(os.fspath(path))
        self._title = title
        self._own_track = (title, "events")
        self._begin = time.monotonic()
        self._begin_clock = time.time()
        # Guards the two below; held for one append, or one copy.
        self._lock = threading.Lock()
        self._events: collections.deque[tuple[Any, ...]] = collections.deque(maxlen=limit)
        self._recorded = 0
        self._check_path()

    # -- recording -----------------------------------------------------------------------------------------------------

    def span(
        self, track: tuple[str, str], name: str, begin: float, end: float, args: Mapping[str, Any] | None = None
    ) -> None:
        """Records that something lasted.

        Args:
            track: The group (a stage) and the track in it (a thread). The spans of a track must be nested or one after
                the other, as those of a thread are.
            name: What it was.
            begin, end: When, by ``time.monotonic()``; what was before the trace began is cut off.
            args: More about it; must not be changed afterwards.
        """
        self._record(("X", track, name, begin, end, args))

    def counter(self, name: str, values: Mapping[str, float], at: float) -> None:
        """Records numbers that change, each a curve of its own, which keeps its height until the next one.

        Args:
            name: Of what: a queue.
            values: Name of a number -> number; what is not finite is left out.
            at: When, by ``time.monotonic()``.
        """
        self._record(("C", self._own_track, name, at, at, values))

    def _record(self, event: tuple[Any, ...]) -> None:
        with self._lock:
            self._events.append(event)
            self._recorded += 1

    # -- writing -------------------------------------------------------------------------------------------------------

    def write(self) -> None:
        """Writes what was recorded so far. May be called again, for more.

        Raises:
            OSError: The file could not be written; if there was one before, it is as it was.
        """
        with self._lock:
            kept, recorded = list(self._events), self._recorded
        events = [_Event(*event) for event in kept]
        beside = self._beside()
        try:
            with open(beside, "wb") as file:
                if self.path.endswith(".gz"):
                    with gzip.GzipFile(os.path.basename(self.path[:-3]), "wb", 6, file) as packed:
                        self._write_to(packed, events, recorded - len(events))
                else:
                    self._write_to(file, events, recorded - len(events))
            if self._is_special():
                raise FileExistsError(errno.EEXIST, "it is no plain file", self.path)
            os.replace(beside, os.path.realpath(self.path))
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(beside)
            raise

    def _write_to(self, file: IO[bytes] | gzip.GzipFile, events: list[_Event], dropped: int) -> None:
        other = {
            "producer": "tf1sessions",
            "title": self._title,
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._begin_clock)),
            "dropped_events": dropped,
        }
        head = {"displayTimeUnit": "ms", "otherData": other}
        file.write(_json(head)[:-1].encode() + b',"traceEvents":[')
        separator = b"\n"
        for record in self._records(events, dropped):
            file.write(separator + _json(record).encode())
            separator = b",\n"
        file.write(b"\n]}\n")

    def _records(self, events: list[_Event], dropped: int) -> Iterator[dict[str, Any]]:
        """The events as the file has them: in the order of time, what is around others before them."""
        events.sort(key=lambda event: (event.begin, -event.end))
        if dropped:
            message = f"{dropped:,} earlier events were dropped: the trace keeps the last {len(events):,}"
            first = events[0].begin
            events.insert(0, _Event("i", self._own_track, message, first, first, None))
        processes = {self._title: 1}
        threads = {self._own_track: 1}
        yield from _named("process", self._title, 1, 1)
        yield from _named("thread", "events", 1, 1)
        for event in events:
            process = processes.get(event.track[0])
            if process is None:
                process = processes[event.track[0]] = len(processes) + 1
                yield from _named("process", event.track[0], process, 0)
            thread = threads.get(event.track)
            if thread is None:
                thread = threads[event.track] = len(threads) + 1  # a number of its own in all of the trace
                yield from _named("thread", event.track[1], process, thread)
            begin = self._microseconds(event.begin)
            record = {"ph": event.phase, "pid": process, "tid": thread, "name": event.name, "ts": begin}
            if event.phase == "C":
                yield from _curves(record, event.args or {})
                continue
            if event.phase == "X":
                record["dur"] = max(0, self._microseconds(event.end) - begin)
            else:
                record["s"] = "t"  # of its thread: for others, Perfetto does not show the args
            if event.args:
                record["args"] = _plain(event.args)
            yield record

    def _microseconds(self, moment: float) -> int:
        return max(0, int((moment - self._begin) * 1e6))

    def _beside(self) -> str:
        """Return what is written first, in the same folder, so that it can take the place of the file at once."""
        folder, name = os.path.split(os.path.realpath(self.path))
        return os.path.join(folder, f".{name}.{os.getpid()}.{id(self):x}")

    def _is_special(self) -> bool:
        """Whether a device, a pipe or a socket is there, which a new file would take the place of."""
        return os.path.exists(self.path) and not os.path.isfile(self.path)

    def _check_path(self) -> None:
        """Finds now, and not when a long run has ended, that the file cannot be written."""
        folder = os.path.dirname(self.path)
        if not os.path.isdir(folder):
            raise ConfigError(f"{folder!r} is no folder", where="Trace", next_step="Make it before you trace into it.")
        if os.path.isdir(self.path):
            raise ConfigError(f"{self.path!r} is a folder", where="Trace", next_step="Give the path of a file in it.")
        if self._is_special():
            raise ConfigError(
                f"{self.path!r} is no plain file", where="Trace", next_step="Give the path of a file, or a new one."
            )
        beside = self._beside()
        try:
            open(beside, "wb").close()
            os.unlink(beside)
        except OSError as error:
            raise ConfigError(
                f"{self.path!r} cannot be written: {error.strerror}",
                where="Trace",
                next_step="Give a path where you may write.",
            ) from error


def _named(kind: str, name: str, process: int, thread: int) -> Iterator[dict[str, Any]]:
    """Says what a process or a thread is called, and where it stands: in the order of numbers."""
    place = {"ph": "M", "pid": process, "tid": thread, "ts": 0}
    yield {**place, "name": f"{kind}_name", "args": {"name": name}}
    yield {**place, "name": f"{kind}_sort_index", "args": {"sort_index": process if kind == "process" else thread}}


def _curves(record: dict[str, Any], values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A counter for each number: Chrome stacks those of one event, and not every Perfetto takes more than one."""
    for key, value in values.items():
        value = _plain(value)
        if isinstance(value, (int, float)):
            name = record["name"] if len(values) == 1 else f"{record['name']} {key}"
            yield {**record, "name": name, "args": {str(key): value}}


def _plain(value: Any) -> Any:
    """``value`` as JSON can hold it: other things, and what is not finite, as text."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _json(record: Mapping[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), allow_nan=False)
