"""Reads traces: what :mod:`~tf1sessions.porting.recorder` wrote about one run of a program.

A trace is an ``.npz`` of plain arrays; the recorder says which there are, and how they are named. Its array ``index``
is a JSON object in UTF-8:

* ``format`` ``"tf1sessions trace"``, ``version`` 1; ``versions`` of tensorflow, numpy, python and the platform;
* ``program``: ``script``, ``arguments``; ``began``, ``seconds``; ``options``: those of the recorder;
* ``ended``: ``how`` ("done", "exit", "exception", "interrupted", "terminated"), ``code``, perhaps ``message``;
* ``calls``: ``count``, and ``pieces`` of the table; ``threads``: their names; ``errors``: ``type``, ``message``;
* ``kinds`` of calls: ``graph``, ``how`` ("run", "partial_run", "callable"), ``fetches``, ``targets``, ``feeds``,
  ``extras`` (what the recorder fetched beside), ``random`` (fetch, "" for the targets, to random operations),
  ``order`` (fetch to the number of its operation: as they were made), ``races`` (fetch, "" for changes of others, to
  the variables that it reads and that the same call changes, in no order);
* ``sessions``: ``number``, ``graph``, ``target``, ``config`` as text, ``calls``;
* ``sources``: the program's files, ``file`` and ``lines`` (a CRC-32 for each, without what is before and after it);
  ``lines``: [source, number, text]; ``places``: lists of lines by their numbers, the outermost first. A kind's
  ``place`` is where it was called first; ``graph.G.places`` says where operations were made. The first recorders
  wrote none of these;
* ``graphs``: ``number``, ``seed``, ``seed_at_first`` call, ``seeds`` (operation → [seed, seed2]), ``losses``,
  ``variables`` (``name``, ``trainable``, ``readable``), ``nodes``, ``digest`` of their names, operations and inputs,
  ``kept`` (whether the GraphDef is there), ``places`` (whether those of its operations are), ``counts`` (of a replay:
  operation → how many TensorFlow 1 would have made before it); ``lacking`` instead, where it could not be made;
* ``series``: ``role`` ("fetch", "extra", "feed", "initial", "variable", "last"), ``session``, ``name``, ``dtype``,
  ``shape``, ``form`` ("whole", "summary", "text", "digest"), ``rows``, ``pieces``;
* ``left_out``: what was not kept, and how often; ``notes``.

bfloat16 and its like are kept as unsigned integers of their bits; ``dtype`` says what they are. Sessions and graphs
count from 1, kinds, threads and series from 0.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import threading
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tf1sessions.errors import UsageError
from tf1sessions.files import NOT_ARRAYS, open_regular, read_array
from tf1sessions.porting import recorder as _recorder
from tf1sessions.porting import trace_index

__all__ = [
    "CallKind",
    "ProgramLine",
    "Series",
    "Step",
    "Summary",
    "Trace",
    "TracedCall",
    "is_trace",
    "read",
    "steps",
    "summary_of",
]

recorder: Any = _recorder  # it has no annotations

_ROLES = ("fetch", "extra", "feed", "initial", "variable", "last")
_FORMS: Mapping[str, tuple[str, ...]] = {
    "whole": ("values",),
    "summary": ("digests", "statistics", "samples"),
    "text": ("values", "lengths"),
    "digest": ("digests",),
}


@dataclasses.dataclass(frozen=True)
class Summary:
    """The summary of a value that was too large to keep.

    Attributes:
        shape, dtype: Of the value.
        digest: SHA-256 of its bytes, in hexadecimal.
        sample: Up to 64 of its elements, at equal distances; none of a text.
        statistics: By name: smallest, largest, mean, deviation, norm (of the finite elements), nans, infinities.
    """

    shape: tuple[int, ...]
    dtype: str
    digest: str
    sample: Any = None
    statistics: Mapping[str, float] = dataclasses.field(default_factory=dict)


def summary_of(value: Any) -> Summary:
    """Return the summary that a recorder would write of a value; a summary as it is."""
    if isinstance(value, Summary):
        return value
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return Summary(array.shape, "string", recorder.digest_of_texts(array).tobytes().hex())
    about = dict(zip(("smallest", "largest"), recorder.statistics(array)[:2].tolist(), strict=True))
    digest = recorder.digest(array).tobytes().hex()
    return Summary(array.shape, array.dtype.name, digest, recorder.sample_of(array), about)


_STATISTICS = ("smallest", "largest", "mean", "deviation", "norm", "nans", "infinities")


@dataclasses.dataclass(frozen=True)
class ProgramLine:
    """A line of the program.

    Attributes:
        file: Its path, as seen from the script's folder; of others the end of it.
        line: Its number, from 1.
        text: What it says, without what is before and after it.
    """

    file: str
    line: int
    text: str

    @property
    def installed(self) -> bool:
        """Whether it is of a library that was installed."""
        return "site-packages" in self.file or "dist-packages" in self.file

    @property
    def read(self) -> str:
        """Return the path and the content."""
        return f"{self}: {self.text}" if self.text else str(self)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclasses.dataclass(frozen=True)
class CallKind:
    """Calls of one graph with the same fetches, targets and feeds at one place: what a line of the program does.

    Attributes:
        number: From 0, in the order of their first calls.
        graph: The number of the graph.
        how: ``"run"``, ``"partial_run"`` or ``"callable"``.
        fetches, targets, feeds: Names of tensors, operations, tensors.
        extras: Tensors that the recorder fetched beside.
        random: Fetch, or "" for the targets → random operations that it comes from.
        races: Fetch, or "" for changes of other variables → variables that it reads and that the same call changes,
            in no order.
        place: Where the program called it, the outermost line first; in older traces, where it did so first. None where
            that is not known.
    """

    number: int
    graph: int
    how: str
    fetches: tuple[str, ...]
    targets: tuple[str, ...]
    feeds: tuple[str, ...]
    extras: tuple[str, ...]
    random: Mapping[str, tuple[str, ...]]
    races: Mapping[str, tuple[str, ...]]
    place: tuple[ProgramLine, ...] = ()

    def __str__(self) -> str:
        shown = [*self.fetches, *self.targets]
        more = f", and {len(shown) - 3} more" if len(shown) > 3 else ""
        return f"{self.how}({', '.join(shown[:3])}{more})"


@dataclasses.dataclass(frozen=True)
class TracedCall:
    """One call of a session.

    Attributes:
        number: From 1, in the order in which calls ended.
        session: The number of the session.
        thread: The name of the thread.
        kind: What was called.
        turn: Which call of this kind in this session, from 1.
        error: What it raised, or None.
    """

    number: int
    session: int
    thread: str
    kind: CallKind
    turn: int
    error: str | None


@dataclasses.dataclass(frozen=True)
class Series:
    """The values of one tensor, of one shape, in one role.

    Attributes:
        number: From 0.
        role: ``"fetch"``, ``"extra"`` (fetched by the recorder), ``"feed"``, or of a variable ``"initial"``,
            ``"variable"`` (at a chosen call), ``"last"``.
        session, name, dtype, shape: Whose they are, and what.
        form: ``"whole"``, ``"summary"``; for texts ``"text"``, ``"digest"``.
        rows: How many values.
        pieces: In how many arrays.
    """

    number: int
    role: str
    session: int
    name: str
    dtype: str
    shape: tuple[int, ...]
    form: str
    rows: int
    pieces: int


@dataclasses.dataclass(frozen=True)
class Step:
    """A call with its values: arrays, or a :class:`Summary` where an array was too large to keep.

    Attributes:
        call: The call.
        fetches, feeds: By name.
        variables: Those that were read after it, by name.
    """

    call: TracedCall
    fetches: Mapping[str, Any]
    feeds: Mapping[str, Any]
    variables: Mapping[str, Any]


class Trace:
    """One run of a program, as its recording has it. A context manager; made by :func:`read`.

    Values are read when they are asked for. Safe to use from several threads at once.

    Attributes:
        path: The file.
        versions: Of ``tensorflow``, ``numpy``, ``python``, and the ``platform``.
        program: Its ``script`` and ``arguments``.
        ended: ``how``, ``code``, perhaps ``message``.
        options: What was recorded.
        kinds: The kinds of calls.
        sessions, graphs: As in the index, by number.
        sources: The program's files → what their lines say, as CRC-32; empty in a trace of an older recorder.
        series: What values there are.
        count: How many calls were made; ``table`` may have fewer, where the recorder ran out of room.
        table: int64 [n, 6]: number, session, thread, kind, error, turn; in the order of numbers.
        left_out, notes: What was not kept, and why.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._lock = threading.Lock()  # one thread at a time reads the file
        self._loaded: dict[int, dict[str, Any]] = {}
        self._rows: dict[int, list[tuple[Series, int]]] | None = None
        try:
            open_regular(self.path).close()  # np.load would wait for a pipe
            self._file = np.load(self.path, allow_pickle=False)
        except FileNotFoundError:
            raise UsageError(f"there is no trace {self.path!r}") from None
        except NOT_ARRAYS as error:
            raise self.damaged(f"is no trace, or is damaged: {error}") from error
        try:
            self._read_index()
        except BaseException:
            self.close()
            raise

    def _read_index(self) -> None:
        if not isinstance(self._file, np.lib.npyio.NpzFile) or "index" not in self._file.files:
            raise self.damaged("is no trace: it has no index")
        self._names = frozenset(self._file.files)
        index = self._index()
        version = index.get("version")
        if isinstance(version, int) and version > recorder.VERSION:
            raise UsageError(
                f"the trace {self.path!r} has version {version}; this tf1sessions reads up to {recorder.VERSION}",
                next_step="Update tf1sessions, or record again with the recorder.py of this version.",
            )
        try:
            trace_index.check(index)
            self._take(index)
        except UsageError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise self.damaged(f"has an index that cannot be understood: {error}") from error

    def _index(self) -> dict[str, Any]:
        try:
            index = json.loads(self._member("index").tobytes().decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise self.damaged(f"is no trace, or is damaged: its index cannot be read: {error}") from error
        if not isinstance(index, dict) or index.get("format") != recorder.FORMAT:
            raise self.damaged("is no trace: its index is of another kind")
        return index

    def _take(self, index: Mapping[str, Any]) -> None:
        self.versions: Mapping[str, str] = dict(index["versions"])
        self.program: Mapping[str, Any] = dict(index["program"])
        self.ended: Mapping[str, Any] = dict(index["ended"])
        self.options: Mapping[str, Any] = dict(index["options"])
        self.sources: Mapping[str, tuple[int, ...]] = {
            str(entry["file"]): tuple(map(int, entry["lines"])) for entry in index.get("sources", ())
        }
        names = [str(entry["file"]) for entry in index.get("sources", ())]
        lines = [ProgramLine(names[source], int(line), str(text)) for source, line, text in index.get("lines", ())]
        self._places = [tuple(lines[line] for line in place) for place in index.get("places", ())]
        self.kinds = tuple(self._kind(number, entry) for number, entry in enumerate(index["kinds"]))
        self.by_place = bool(index.get("by_place"))
        self._order = [
            (int(entry["graph"]), str(name), int(place))
            for entry in index["kinds"]
            for name, place in entry["order"].items()
        ]
        self.sessions: Mapping[int, Mapping[str, Any]] = {int(entry["number"]): entry for entry in index["sessions"]}
        self.graphs: Mapping[int, Mapping[str, Any]] = {int(entry["number"]): entry for entry in index["graphs"]}
        self.series = tuple(_series(number, entry) for number, entry in enumerate(index["series"]))
        self.left_out: Mapping[str, int] = dict(index["left_out"])
        self.notes = tuple(str(note) for note in index["notes"])
        self._threads = [str(name) for name in index["threads"]]
        self._errors = [": ".join(filter(None, (entry["type"], entry["message"]))) for entry in index["errors"]]
        self.count = int(index["calls"]["count"])
        pieces = int(index["calls"]["pieces"])
        self._require(_pieces("calls", pieces))
        self._require(f"graph.{number}" for number, entry in self.graphs.items() if entry["kept"])
        self._require(f"graph.{number}.places" for number, entry in self.graphs.items() if entry.get("places"))
        for series in self.series:
            for name in ("calls", *_FORMS[series.form]):
                self._require(_pieces(f"series.{series.number}.{name}", series.pieces))
        members = _pieces("calls", pieces)
        self.table = self._with_turns(np.concatenate([np.zeros([0, 5], np.int64), *map(self._member, members)]))

    def _require(self, names: Iterable[str]) -> None:
        """Raise at the first array that is not there: how many there are to be is said by the file, and may be any."""
        for name in names:
            if name not in self._names:
                raise self.damaged(f"is damaged: {name} is missing")

    def _kind(self, number: int, entry: Mapping[str, Any]) -> CallKind:
        fetches, targets, feeds, extras = (_strings(entry[key]) for key in ("fetches", "targets", "feeds", "extras"))
        random, races = (
            {str(name): _strings(sources) for name, sources in entry[key].items()} for key in ("random", "races")
        )
        place = self._place(int(entry.get("place", -1)))
        return CallKind(
            number, int(entry["graph"]), str(entry["how"]), fetches, targets, feeds, extras, random, races, place
        )

    def _with_turns(self, table: Any) -> Any:
        if table.dtype.kind != "i":
            raise ValueError(f"the calls are {table.dtype}")
        table = table[np.argsort(table[:, 0], kind="stable")]
        limits = (self.count, None, len(self._threads) - 1, len(self.kinds) - 1, len(self._errors))
        for column, limit in enumerate(limits):
            # Kind -1: more kinds than the recorder distinguishes.
            if (
                len(table)
                and limit is not None
                and not (table[:, column].min() >= -1 and table[:, column].max() <= limit)
            ):
                raise ValueError(f"column {column} of the calls names what is not there")
        if len(table) and not set(table[:, 1].tolist()) <= set(self.sessions):
            raise ValueError("a call of a session that is not there")
        turns = np.zeros(len(table), np.int64)
        counts: dict[tuple[int, int], int] = {}
        for row, key in enumerate(zip(table[:, 1].tolist(), table[:, 3].tolist(), strict=True)):
            turns[row] = counts[key] = counts.get(key, 0) + 1
        return np.column_stack([table, turns])

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file. Idempotent; what was read stays."""
        close = getattr(self._file, "close", None)
        if close is not None:
            close()

    def __repr__(self) -> str:
        return f"<Trace {self.path}: {self.count} calls on TensorFlow {self.versions.get('tensorflow')}>"

    def damaged(self, what: str) -> UsageError:
        return UsageError(
            f"{self.path!r} {what}",
            next_step="Traces are written by recorder.py; record again, or copy the file again, in binary mode.",
        )

    def _member(self, name: str) -> Any:
        with self._lock:
            try:
                array = read_array(self._file, name)
            except (*NOT_ARRAYS, MemoryError, AttributeError) as error:
                raise self.damaged(f"is damaged: {name} cannot be read: {error}") from error
        if not isinstance(array, np.ndarray) or not array.ndim:  # NumPy gives bytes for what is no array
            raise self.damaged(f"is damaged: {name} is no array")
        return array

    # What is in it

    @property
    def calls(self) -> Iterator[TracedCall]:
        """The calls, in the order in which they ended."""
        for row in range(len(self.table)):
            yield self._call(row)

    def _call(self, row: int) -> TracedCall:
        number, session, thread, kind, error, turn = (int(value) for value in self.table[row])
        known = self.kinds[kind] if kind >= 0 else CallKind(-1, 0, "run", (), (), (), (), {}, {})
        raised = self._errors[error - 1] if error > 0 else None
        return TracedCall(number, session, self._threads[thread], known, turn, raised)

    def columns(self, series: Series) -> Mapping[str, Any]:
        """The arrays of a series: ``calls``, and those of its form. Kept once they were read."""
        found = self._loaded.get(series.number)
        if found is None:
            found = {}
            for name in ("calls", *_FORMS[series.form]):
                pieces = [self._member(piece) for piece in _pieces(f"series.{series.number}.{name}", series.pieces)]
                try:
                    found[name] = np.concatenate(pieces) if pieces else np.zeros([0], np.int64)
                except ValueError as error:
                    raise self.damaged(f"is damaged: the pieces of series {series.number} do not fit") from error
            self._check(series, found)
            self._loaded[series.number] = found
        return found

    def _check(self, series: Series, found: Mapping[str, Any]) -> None:
        rows, size = series.rows, math.prod(series.shape)
        if not rows and not series.pieces:
            return  # the recorder's disk was full before the first
        shapes = {
            "calls": (rows,),
            "digests": (rows, 32),
            "statistics": (rows, len(_STATISTICS)),
            "lengths": (rows, size),
        }
        if series.form == "whole":
            shapes["values"] = (rows, *series.shape)
        right = all(found[name].shape == shape for name, shape in shapes.items() if name in found)
        dtypes = {"calls": "int64", "lengths": "int64", "digests": "uint8", "statistics": "float64"}
        right = right and all(found[name].dtype.name == dtype for name, dtype in dtypes.items() if name in found)
        values = (
            found["values" if series.form == "whole" else "samples"] if series.form in ("whole", "summary") else None
        )
        right = right and (values is None or values.dtype.name == series.dtype or values.dtype.kind == "u")
        if series.form == "summary":
            right = right and found["samples"].shape[:1] == (rows,) and found["samples"].ndim == 2
        if series.form == "text":
            right = right and found["values"].ndim == 1 and found["values"].dtype == "uint8"
            right = right and bool((found["lengths"] >= 0).all())
            right = right and int(found["lengths"].sum()) == len(found["values"])
        if not right:
            raise self.damaged(f"is damaged: series {series.number} ({series.name}) has not {series.rows} values")

    def value(self, series: Series, row: int) -> Any:
        """One value: an array, of objects (bytes) for texts, or a :class:`Summary`."""
        columns = self.columns(series)
        if series.form == "whole":
            return columns["values"][row]
        if series.form == "text":
            starts = np.concatenate([[0], np.cumsum(columns["lengths"].reshape(-1))])
            size = columns["lengths"].shape[1]
            texts = [
                columns["values"][starts[number] : starts[number + 1]].tobytes()
                for number in range(row * size, (row + 1) * size)
            ]
            return np.array([*texts, None], object)[:-1].reshape(series.shape)
        digest = columns["digests"][row].tobytes().hex()
        if series.form == "digest":
            return Summary(series.shape, series.dtype, digest)
        statistics = dict(zip(_STATISTICS, columns["statistics"][row].tolist(), strict=True))
        return Summary(series.shape, series.dtype, digest, columns["samples"][row], statistics)

    def find(self, role: str, session: int | None = None, name: str | None = None) -> list[Series]:
        """The series of a role, of one session and one tensor where they are given."""
        return [
            series
            for series in self.series
            if series.role == role and session in (None, series.session) and name in (None, series.name)
        ]

    def variables(self, session: int, role: str = "last") -> dict[str, Any]:
        """Variables by name: their ``"initial"`` or their ``"last"`` values."""
        found: dict[str, tuple[int, Any]] = {}
        for series in self.find(role, session):
            if not series.rows:
                continue
            call = int(self.columns(series)["calls"][-1])
            if series.name not in found or found[series.name][0] <= call:
                found[series.name] = call, self.value(series, series.rows - 1)
        return {name: value for name, (_, value) in found.items()}

    @property
    def order(self) -> dict[tuple[int, str], int]:
        """(session, fetch) → where its operation stands among those of its graph, in the order of their making."""
        sessions: dict[int, list[int]] = {}
        for number, entry in self.sessions.items():
            sessions.setdefault(int(entry["graph"]), []).append(number)
        return {(session, name): place for graph, name, place in self._order for session in sessions.get(graph, ())}

    @property
    def losses(self) -> dict[str, tuple[Any, Any]]:
        """Loss → (calls, values): numbers that were fetched and are losses of the graph, or are called so."""
        declared = {name for graph in self.graphs.values() for name in graph.get("losses", ())}
        found: dict[str, tuple[Any, Any]] = {}
        for series in (*self.find("fetch"), *self.find("extra")):
            called = any(word in series.name.lower() for word in ("loss", "cost", "error", "entropy"))
            if series.shape or not series.dtype.startswith("float") or not (called or series.name in declared):
                continue
            columns = self.columns(series)
            calls, values = found.get(series.name, (np.zeros(0, np.int64), np.zeros(0)))
            joined = np.concatenate([calls, columns["calls"]])
            order = np.argsort(joined, kind="stable")
            found[series.name] = joined[order], np.concatenate([values, columns["values"]])[order]
        return found

    def graph_def(self, number: int) -> bytes | None:
        """A GraphDef, serialised; None where it was too large to keep."""
        return self._member(f"graph.{number}").tobytes() if self.graphs[number]["kept"] else None

    def places(self, number: int) -> list[tuple[ProgramLine, ...]]:
        """Return where the program made the operations of a graph, in their order; of an older trace an empty list."""
        if not self.graphs[number].get("places"):
            return []
        numbers = self._member(f"graph.{number}.places")
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not (numbers < len(self._places)).all():
            raise self.damaged(f"is damaged: graph.{number}.places names what is not there")
        return [self._place(place) for place in numbers.tolist()]

    def _place(self, number: int) -> tuple[ProgramLine, ...]:
        return self._places[number] if number >= 0 else ()

    def step(self, call: TracedCall) -> Step:
        """A call with its values."""
        if self._rows is None:
            rows: dict[int, list[tuple[Series, int]]] = {}
            for series in self.series:
                for row, number in enumerate(self.columns(series)["calls"].tolist()):
                    rows.setdefault(number, []).append((series, row))
            self._rows = rows
        parts: dict[str, dict[str, Any]] = {"fetches": {}, "feeds": {}, "variables": {}}
        for series, row in self._rows.get(call.number, ()):
            part = {"fetch": "fetches", "extra": "fetches", "feed": "feeds"}.get(series.role, "variables")
            parts[part][series.name] = self.value(series, row)
        return Step(call, **parts)


def _pieces(name: str, count: int) -> Iterator[str]:
    """The names of the arrays that one array was written in."""
    return (f"{name}.{piece}" for piece in range(count))


def _strings(values: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def _series(number: int, entry: Mapping[str, Any]) -> Series:
    if entry["role"] not in _ROLES or entry["form"] not in _FORMS:
        raise ValueError(f"series {number} is a {entry['role']!r} in the form {entry['form']!r}")
    return Series(
        number,
        entry["role"],
        int(entry["session"]),
        str(entry["name"]),
        str(entry["dtype"]),
        tuple(int(size) for size in entry["shape"]),
        entry["form"],
        int(entry["rows"]),
        int(entry["pieces"]),
    )


def is_trace(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a trace, from its list of arrays alone: an ``.npz`` with an index and calls."""
    if not os.path.isfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, NotImplementedError):
        return False
    return {"index.npy", "calls.0.npy"} <= set(names)


def read(path: str | os.PathLike[str]) -> Trace:
    """Opens a trace.

    Raises:
        UsageError: There is no such file, it is no trace, it is damaged, or a newer recorder wrote it.

    Example:
        >>> is_trace("train.py")
        False
        >>> with read("trace.npz") as trace:    # doctest: +SKIP
        ...     calls, losses = trace.losses["loss:0"]
    """
    return Trace(path)


def steps(trace: Trace) -> Iterator[Step]:
    """The calls of a trace with their values, in the order in which they ended."""
    for call in trace.calls:
        yield trace.step(call)
