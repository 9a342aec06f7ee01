"""Holds one trace against another, call by call: the first value that parts, and how errors grow.

Data flow::

    two traces ──▶ Alignment: which call of the one is which of the other
               ──▶ for each tensor the rows of both, a block at a time ──▶ StepTensor
               ──▶ the first that parts, in the order of calls ──▶ why: other feeds, seeds, initial values
"""

from __future__ import annotations

import dataclasses
import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.porting.diagnosis.record import Diagnosis
from tf1sessions.porting.parity.measures import Difference, is_float, measure
from tf1sessions.porting.parity.tolerances import Tolerance, Tolerances, records_of
from tf1sessions.porting.trace_alignment import UNSEEDED, Alignment
from tf1sessions.porting.traces import CallKind, Series, Summary, Trace, summary_of
from tf1sessions.texts import printable

__all__ = [
    "ComparedTensor",
    "ComparedTraces",
    "Point",
    "StepParting",
    "StepTensor",
    "TraceComparison",
    "compare",
]

#: How many points of a tensor's errors are kept, and how many lines of a kind the text has. Arbitrary.
_POINTS = 240
_MOST = 12
#: How many elements are looked at at once. Arbitrary: 8 MB of float64.
_BLOCK = 1 << 20

_ROLES = ("feed", "initial", "fetch", "extra", "variable", "last")
#: In which order what belongs to one call comes about.
_RANK = {"feed": 0, "fetch": 1, "extra": 1, "initial": 2, "variable": 2, "last": 2}
#: From which part of the largest gradients on gradients count as rounding alone. Arbitrary: 24 bits are 6e-8, and
#: what cancels is a sum over many.
_NOISE = 3e-5
_SHOWN = {
    "feed": "what is fed to",
    "initial": "the initial value of",
    "fetch": "",
    "extra": "",
    "variable": "the variable",
    "last": "the last value of",
}


@dataclasses.dataclass(frozen=True)
class Point:
    """The error of a tensor at one call.

    Attributes:
        call: The number of the call on the left.
        step: Which value of the tensor that is, from 1.
        absolute: The largest error of an element; infinite where one is not finite, or no number.
        share: The same as a share of what was allowed.
    """

    call: int
    step: int
    absolute: float
    share: float


@dataclasses.dataclass(frozen=True)
class StepTensor:
    """One tensor in one role, at all calls that have it on both sides.

    Attributes:
        role: As in :class:`~tf1sessions.porting.traces.Series`.
        session: The number of the session.
        name, other: What it is called on the left and on the right.
        dtype: On the left.
        compared: At how many calls.
        differing: At how many of them it is not equal to the bit.
        beyond: At how many of them it is further apart than was allowed.
        sampled: At how many of them only a sample of its elements could be compared.
        lacking: At how many calls only one side has a value.
        first: Where it parts, or None.
        largest: Where the error is the largest share of what was allowed; None if there is none.
        growth: Errors by call, the largest of each stretch where there are many.
        tolerance: What was allowed.
        problem: What is wrong beside the values (shapes, dtypes), or None.
    """

    role: str
    session: int
    name: str
    other: str
    dtype: str
    compared: int
    differing: int
    beyond: int
    sampled: int
    lacking: int
    first: Point | None
    largest: Point | None
    growth: tuple[Point, ...]
    tolerance: Tolerance
    problem: str | None = None

    @property
    def equal(self) -> bool:
        """Whether it is equal within the tolerance, at all calls."""
        return self.first is None and self.problem is None

    def __str__(self) -> str:
        return " ".join(filter(None, (_SHOWN[self.role], self.name)))


@dataclasses.dataclass(frozen=True)
class StepParting:
    """The first value that parts.

    Attributes:
        tensor: Whose value that is.
        call: The number of the call on the left.
        step: Which call of its kind, from 1.
        kind: The kind of the call, as text.
        difference: The difference there; None where it cannot be measured.
        causes: What may be why, the likeliest first.
    """

    tensor: StepTensor
    call: int
    step: int
    kind: str
    difference: Difference | None
    causes: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class TraceComparison:
    """The result of :func:`compare`. It can be pickled; ``str()`` of it is a report.

    Attributes:
        left, right: What was compared: script and TensorFlow's version.
        calls: How many calls of the left side have a counterpart.
        tensors: Every tensor that was compared, feeds first, then in the order of the left side.
        first: The first value that parts, in the order of calls; None if none does.
        unmatched: Calls that one side alone makes, and calls that ended otherwise: sentences.
        random: Random operations whose seeds are others, or that have none: operation → what is so.
        left_out: What could not be compared: reason → how many values.
        notes: What is to be known beside.
        diagnosis: The leading cause of the first difference, where it was looked for.
    """

    left: str
    right: str
    calls: int
    tensors: tuple[StepTensor, ...]
    first: StepParting | None
    unmatched: tuple[str, ...]
    random: Mapping[str, str]
    left_out: Mapping[str, int]
    notes: tuple[str, ...]
    diagnosis: Diagnosis | None = None

    @property
    def verdict(self) -> Diagnosis | None:
        """The former name of :attr:`diagnosis`."""
        return self.diagnosis

    @property
    def equal(self) -> bool:
        """Whether both sides made the same calls, and all values are equal within the tolerances."""
        return self.first is None and not self.unmatched and any(tensor.compared for tensor in self.tensors)

    @property
    def same(self) -> bool:
        """Whether all values are equal to the bit, besides."""
        return self.equal and not any(tensor.differing or tensor.sampled for tensor in self.tensors)

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON knows it; what is infinite is the text "inf"."""
        found: dict[str, Any] = _finite(dataclasses.asdict(dataclasses.replace(self, diagnosis=None)))
        del found["diagnosis"]
        found["verdict"] = None if self.diagnosis is None else _finite(self.diagnosis.as_dict())
        return found | {"equal": self.equal, "same": self.same}

    def to_json(self, **options: Any) -> str:
        """:meth:`as_dict` as text; ``options`` are those of :func:`json.dumps`."""
        return json.dumps(self.as_dict(), **options)

    def __str__(self) -> str:
        return "\n".join(map(printable, _report(self)))


def compare(left: Trace, right: Trace, tolerances: Any = None, notes: Sequence[str] = ()) -> TraceComparison:
    """Holds ``right`` against ``left``, the reference.

    Args:
        left, right: Traces, of the same script.
        tolerances: As for :func:`tf1sessions.porting.verify`. What a training computes rests on all that it computed
            before, so a record counts here by tensor, dtype and device, and for the operation ``"output"``.
        notes: For the report.

    Raises:
        UsageError: A trace is damaged, or a tolerance is none.

    Thread-safety: safe to call from any thread.
    """
    return ComparedTraces(left, right, tolerances, notes).result


class ComparedTraces:
    """A trace that is held against another, with what a diagnosis needs to look into.

    Args: as for :func:`compare`.

    Attributes:
        alignment: Which call is which.
        tolerances: What may differ.
        tensors: The tensors that were compared, as they were measured.
        result: What was found.
    """

    def __init__(self, left: Trace, right: Trace, tolerances: Any = None, notes: Sequence[str] = ()) -> None:
        self.alignment = alignment = Alignment(left, right)
        right = alignment.right  # its sessions are numbered as on the left
        self.tolerances = Tolerances(records_of(tolerances))
        self.tensors: list[ComparedTensor] = []
        left_out: dict[str, int] = {}
        for role in _ROLES:
            for session, name in _names(left, role):
                tensor = ComparedTensor(alignment, self.tolerances, role, session, name)
                if tensor.path_like:
                    _count(left_out, "texts that are paths of files", tensor.rows)
                elif not tensor.rows:
                    _count(left_out, f"values that one side alone has ({role})", tensor.lacking)
                else:
                    self.tensors.append(tensor)
                    if tensor.lacking:
                        _count(left_out, f"values that one side alone has ({role})", tensor.lacking)
        for side, trace in (("left", left), ("right", right)):
            for what, count in trace.left_out.items():
                _count(left_out, f"{what} for which the recording of the {side} side had no room", count)
        random = alignment.random()
        results = tuple(tensor.results() for tensor in self.tensors)
        self.result = TraceComparison(
            left=_shown(left),
            right=_shown(right),
            calls=len(alignment.calls),
            tensors=results,
            first=_first(alignment, self.tensors, results, random),
            unmatched=tuple(alignment.unmatched),
            random=random,
            left_out=left_out,
            notes=(*notes, *alignment.notes, *left.notes, *right.notes),
        )


def _shown(trace: Trace) -> str:
    return f"{trace.program.get('script')} on TensorFlow {trace.versions.get('tensorflow')}"


def _count(counts: dict[str, int], what: str, count: int) -> None:
    counts[what] = counts.get(what, 0) + count


def _names(trace: Trace, role: str) -> list[tuple[int, str]]:
    return list(dict.fromkeys((series.session, series.name) for series in trace.find(role)))


# -- one tensor -------------------------------------------------------------------------------------------------------


class ComparedTensor:
    """The comparison of one tensor in one role."""

    def __init__(self, alignment: Alignment, records: Tolerances, role: str, session: int, name: str) -> None:
        self.alignment = alignment
        self.role, self.session, self.name = role, session, name
        self.other = alignment.renamed.get((session, name), name)
        ours = alignment.left.find(role, session, name)
        self.dtype = ours[0].dtype
        self._tolerances = records
        self.tolerance = records.of("output", name, self.dtype)
        self.path_like = False
        self.problem: str | None = None
        self.sampled = 0
        pairs, self.lacking = self._pairs(ours)
        self.rows = len(pairs)
        self._measure(pairs)

    def _pairs(self, ours: list[Series]) -> tuple[list[Any], int]:
        """(call on the left, series, row, series on the right, row), by call; how many have no counterpart."""
        left, right = self.alignment.left, self.alignment.right
        mine = _rows(left, ours)
        theirs = _rows(right, right.find(self.role, self.session, self.other))
        if self.role in ("initial", "last"):  # there is one, whenever that was
            if not mine or not theirs:
                return [], max(len(mine), len(theirs))
            call = max(mine)
            return [(call, *mine[call], *theirs[max(theirs)])], 0
        pairs = []
        for call, place in mine.items():
            other = theirs.get(self.alignment.calls.get(call, 0))
            if other is not None:
                pairs.append((call, *place, *other))
        pairs.sort(key=lambda pair: pair[0])
        return pairs, len(mine) - len(pairs)

    def _measure(self, pairs: list[Any]) -> None:
        self.calls = np.array([pair[0] for pair in pairs], np.int64)
        self.absolute = np.zeros(len(pairs))
        self.share = np.zeros(len(pairs))
        self.differs = np.zeros(len(pairs), bool)
        self._places = pairs
        groups: dict[tuple[int, int], list[int]] = {}
        for position, (_, mine, _, theirs, _) in enumerate(pairs):
            groups.setdefault((mine.number, theirs.number), []).append(position)
        for positions in groups.values():
            self._measure_group(np.array(positions))
        if self.dtype == "string" and self.differs.any() and not self.problem:
            both = [value for position in np.flatnonzero(self.differs)[:3] for value in self.values(int(position))]
            self.path_like = all(_is_path(value) for value in both)

    def _measure_group(self, positions: Any) -> None:
        """Rows of one series on the left, of one on the right."""
        _, mine, _, theirs, _ = self._places[positions[0]]
        if mine.shape != theirs.shape:
            self._says(f"shape {list(mine.shape)} against {list(theirs.shape)}", positions)
            return
        if mine.dtype != theirs.dtype and not self.tolerance.other_dtype:
            self._says(f"dtype {mine.dtype} against {theirs.dtype}", positions)
            return
        if mine.form != "whole" or theirs.form != "whole":
            for position in positions:
                self._measure_one(int(position))
            return
        ours, others = (self.alignment.left.columns(mine), self.alignment.right.columns(theirs))
        step = max(1, _BLOCK // max(1, math.prod(mine.shape)))
        for start in range(0, len(positions), step):
            part = positions[start : start + step]
            a = _numbers(ours["values"][[self._places[position][2] for position in part]], mine.dtype)
            b = _numbers(others["values"][[self._places[position][4] for position in part]], theirs.dtype)
            flat = (len(part), -1) if math.prod(mine.shape) else (len(part), 0)
            self._note(part, *_errors(a.reshape(flat), b.reshape(flat), self.tolerance))

    def _measure_one(self, position: int) -> None:
        """A row of which one side has no more than a summary, or that is text."""
        a, b = self.values(position)
        if not isinstance(a, Summary) and not isinstance(b, Summary):  # texts
            parts = [self._of_texts(x, y) for x, y in zip(a.reshape(-1), b.reshape(-1), strict=True) if x != y]
            if parts:
                self._note(position, True, max(part[0] for part in parts), max(part[1] for part in parts))
            return
        a, b = summary_of(a), summary_of(b)
        if a.digest == b.digest:
            return
        if a.sample is None or b.sample is None:
            self._note(position, True, math.inf, math.inf)
            return
        self.sampled += 1
        sides = [np.concatenate([each.sample.ravel(), _ends(each)])[None] for each in (a, b)]
        _, absolute, share = _errors(_numbers(sides[0], a.dtype), _numbers(sides[1], b.dtype), self.tolerance)
        self._note(position, True, absolute[0], share[0])

    def _of_texts(self, left: bytes, right: bytes) -> tuple[float, float]:
        """The error of two texts that are not equal, and its share: of summaries that of the numbers in them."""
        ours, theirs = _numbers_in(left), _numbers_in(right)
        if ours is None or theirs is None or ours[0] != theirs[0]:
            return math.inf, math.inf
        tolerance = self._tolerances.of("output", self.name, "float32")
        _, absolute, share = _errors(np.array([ours[1]]), np.array([theirs[1]]), tolerance)
        return float(absolute[0]), float(share[0])

    def _note(self, positions: Any, differs: Any, absolute: Any, share: Any) -> None:
        self.differs[positions] = differs
        self.absolute[positions] = absolute
        self.share[positions] = share

    def _says(self, problem: str, positions: Any) -> None:
        self.problem = self.problem or problem
        self._note(positions, True, math.inf, math.inf)

    def values(self, position: int) -> tuple[Any, Any]:
        """Both values of a row, as they were kept."""
        _, mine, row, theirs, other = self._places[position]
        return self.alignment.left.value(mine, row), self.alignment.right.value(theirs, other)

    def difference(self, position: int) -> Difference | None:
        """The difference of a row of which both sides have all elements."""
        a, b = self.values(position)
        if isinstance(a, Summary) or isinstance(b, Summary) or a.shape != b.shape:
            return None
        _, mine, _, theirs, _ = self._places[position]
        tolerance = self.tolerance
        sides = _numbers(np.asarray(a), mine.dtype), _numbers(np.asarray(b), theirs.dtype)
        return measure(*sides, tolerance.absolute, tolerance.relative, tolerance.ulps)

    def point(self, position: int) -> Point:
        """A row, for people."""
        return Point(
            int(self.calls[position]), position + 1, float(self.absolute[position]), float(self.share[position])
        )

    @property
    def beyond(self) -> Any:
        """The rows that part."""
        return np.flatnonzero(self.share > 1)

    def results(self) -> StepTensor:
        """The result."""
        beyond = self.beyond
        stretches = np.array_split(np.arange(self.rows), min(self.rows, _POINTS))
        worst = sorted(
            {int(part[np.argmax(self.absolute[part])]) for part in stretches} | {int(row) for row in beyond[:1]}
        )
        largest = int(np.argmax(np.where(np.isinf(self.share), self.absolute, self.share)))
        return StepTensor(
            role=self.role,
            session=self.session,
            name=self.name,
            other=self.other,
            dtype=self.dtype,
            compared=self.rows,
            differing=int(self.differs.sum()),
            beyond=len(beyond),
            sampled=self.sampled,
            lacking=self.lacking,
            first=self.point(int(beyond[0])) if len(beyond) else None,
            largest=self.point(largest) if self.absolute[largest] > 0 else None,
            growth=tuple(self.point(row) for row in worst),
            tolerance=self.tolerance,
            problem=self.problem,
        )


def _rows(trace: Trace, found: Sequence[Series]) -> dict[int, tuple[Series, int]]:
    return {call: (series, row) for series in found for row, call in enumerate(trace.columns(series)["calls"].tolist())}


def _numbers(values: Any, dtype: str) -> Any:
    """Values as numbers that NumPy can reckon with: bfloat16 and its like are kept as their bits."""
    if dtype == "bfloat16" and values.dtype.kind == "u":
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values


def _errors(a: Any, b: Any, tolerance: Tolerance) -> tuple[Any, Any, Any]:
    """Return rows of arrays [rows, elements] that differ, their largest errors, and these as shares of the bound."""
    if not a.shape[1]:
        return np.zeros(len(a), bool), np.zeros(len(a)), np.zeros(len(a))
    if not (is_float(a.dtype) or is_float(b.dtype)):
        differs = (a != b).any(axis=1)
        error = np.abs(a.astype(np.float64) - b.astype(np.float64)).max(axis=1)
        return differs, error, np.where(differs, np.inf, 0.0)
    wide = np.complex128 if "c" in a.dtype.kind + b.dtype.kind else np.float64
    a, b = a.astype(wide), b.astype(wide)
    with np.errstate(all="ignore"):
        differs = (a != b) & ~(np.isnan(a) & np.isnan(b))
        odd = differs & ~(np.isfinite(a) & np.isfinite(b))
        error = np.where(odd, np.inf, np.where(differs, np.abs(a - b), 0.0))
        allowed = tolerance.absolute + tolerance.relative * np.where(np.isfinite(a), np.abs(a), 0.0)
        share = np.where(error > 0, error / allowed, 0.0)
    return differs.any(axis=1), error.max(axis=1), share.max(axis=1)


def _numbers_in(text: bytes) -> tuple[list[Any], list[float]] | None:
    """A protocol buffer, as summaries are: all but its floats, and these; None where it is none."""
    rest: list[Any] = []
    numbers: list[float] = []
    at = 0
    while at < len(text):
        key, at = _varint(text, at)
        kind = key & 7
        rest.append(key)
        if kind == 0:
            value, at = _varint(text, at)
            rest.append(value)
            continue
        size = {1: 8, 5: 4}.get(kind, 0)
        if kind == 2:
            size, at = _varint(text, at)
        part = text[at : at + size]
        at += size
        if kind not in (1, 2, 5) or len(part) != size or key < 8:
            return None
        if kind != 2:
            numbers.append(struct.unpack("<d" if kind == 1 else "<f", part)[0])
            continue
        inner = _numbers_in(part)
        rest.append(part if inner is None else inner[0])
        numbers += [] if inner is None else inner[1]
    return rest, numbers


def _varint(text: bytes, at: int) -> tuple[int, int]:
    """A number of a protocol buffer, and where it ends."""
    value = shift = 0
    while at < len(text):
        value |= (text[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if text[at - 1] < 0x80:
            break
    return value, at


def _ends(summary: Summary) -> Any:
    return np.array([summary.statistics[key] for key in ("smallest", "largest")])


def _is_path(value: Any) -> bool:
    return not isinstance(value, Summary) and value.size == 1 and b"/" in value.reshape(-1)[0]


# -- why --------------------------------------------------------------------------------------------------------------


def _first(
    alignment: Alignment, found: Sequence[ComparedTensor], results: Sequence[StepTensor], random: Mapping[str, str]
) -> StepParting | None:
    """The first value that parts: by call, then feeds, what is initialised, what is computed in the graph's order."""
    order = alignment.left.order
    parted = [
        ((result.first.call, _RANK[result.role], order.get((result.session, result.name), 0), place), place)
        for place, result in enumerate(results)
        if result.first is not None
    ]
    if not parted:
        return None
    _, place = min(parted)
    tensor, result = found[place], results[place]
    assert result.first is not None
    kind = alignment.kinds.get(result.first.call)
    position = int(tensor.beyond[0])
    causes = tuple(_causes(alignment, result, results, random, kind))
    difference = tensor.difference(position)
    step = alignment.steps.get(result.first.call, 1)
    return StepParting(result, result.first.call, step, str(kind or ""), difference, causes)


def _causes(
    alignment: Alignment,
    parted: StepTensor,
    results: Sequence[StepTensor],
    random: Mapping[str, str],
    kind: CallKind | None,
) -> Iterator[str]:
    if parted.problem is not None:
        yield parted.problem
    if parted.role == "feed":
        yield "the program feeds other values: its data, or random numbers of Python or NumPy; give those of the trace"
        return
    sources: Sequence[str] = kind.random.get(parted.name, ()) if kind is not None else ()
    if parted.role == "initial":
        sources = [name for name in random if name.startswith(f"{parted.name}/")]
    for name in kind.races.get(parted.name, ()) if kind is not None else ():
        yield f"it reads {name}, which the same call changes: which of the two comes first is chance"
    counters = {name for each in alignment.left.kinds for name in each.races.get("", ())}
    for name in sorted(counters) if parted.role != "initial" else ():
        yield f"the training step reads {name}, which the same call changes: which of the two comes first is chance"
    for name in sources:
        if name in random:
            drawn = "; give the initial values of the trace" if parted.role == "initial" else ""
            yield f"{name} {random[name]}{drawn if UNSEEDED in random[name] else '; give the seeds of the trace'}"
    began = [tensor for tensor in results if tensor.role == "initial" and not tensor.equal]
    if parted.role != "initial" and began:
        yield f"{len(began)} variables began otherwise, {began[0].name} among them; give those of the trace"
    trained = kind.random.get("", ()) if kind is not None else ()
    for name in trained:
        if name in random and name not in sources and parted.role not in ("feed", "initial"):
            yield f"the training step draws from {name}, which {random[name]}"
            break
    if parted.role != "initial" and (noise := _moved_by_noise(alignment, results, parted.session)):
        more = f" and of {len(noise) - 1} more" if len(noise) > 1 else ""
        yield f"the gradients of {noise[0]}{more} are nothing but rounding, and Adam makes whole steps of them"
    if parted.growth and _drifts(parted):
        yield "the error grows from call to call, as rounding does in a training: nothing parts at once"


def _moved_by_noise(alignment: Alignment, results: Sequence[StepTensor], session: int) -> list[str]:
    """The variables that parted though their gradients, by Adam's averages of their squares, were as good as nought.

    Such are biases before a batch normalisation, which takes them away again.
    """
    last = alignment.left.variables(session)
    sizes = {
        name.removesuffix("/Adam_1"): float(np.sqrt(np.max(value)))
        for name, value in last.items()
        if name.endswith("/Adam_1") and not isinstance(value, Summary) and value.size and value.dtype.kind == "f"
    }
    parted = [
        tensor.name for tensor in results if tensor.role == "last" and not tensor.equal and tensor.session == session
    ]
    return [name for name in parted if name in sizes and sizes[name] <= _NOISE * max(sizes.values())]


def _drifts(parted: StepTensor) -> bool:
    """Whether the error was there before it was beyond what is allowed, and not much smaller."""
    assert parted.first is not None
    before = [point.share for point in parted.growth if point.call < parted.first.call]
    return bool(before) and parted.first.share < 100 * max(before)


# -- the report -------------------------------------------------------------------------------------------------------


def _report(found: TraceComparison) -> Iterator[str]:
    outcome = "equal to the bit" if found.same else "equal within the tolerances" if found.equal else "not equal"
    yield f"{found.right} against {found.left}: {outcome}"
    compared = sum(tensor.compared for tensor in found.tensors)
    yield f"{found.calls:,} calls, {compared:,} values of {len(found.tensors)} tensors compared"
    if found.diagnosis is not None:
        yield from found.diagnosis.lines
    if found.first is not None:
        yield from _parting(found.first, found.diagnosis is None)
    yield from _some("calls", found.unmatched)
    for title, roles in (
        ("variables", ("initial", "variable", "last")),
        ("feeds", ("feed",)),
        ("fetches", ("fetch", "extra")),
    ):
        yield from _table(title, [tensor for tensor in found.tensors if tensor.role in roles])
    yield from _some("random", [f"{name} {what}" for name, what in found.random.items()])
    yield from _some("not compared", [f"{count:,} {why}" for why, count in found.left_out.items()])
    yield from _some("notes", found.notes)


def _parting(first: StepParting, with_causes: bool) -> Iterator[str]:
    tensor = first.tensor
    yield f"first parts: {tensor}, at step {first.step} of {first.kind} (call {first.call})"
    difference = first.difference
    if difference is not None and difference.worst is not None:
        yield f"  worst at {list(difference.worst)}: {difference.left!r} against {difference.right!r}"
        yield f"  allowed: {tensor.tolerance} ({tensor.tolerance.reason})"
    for cause in first.causes if with_causes else ():
        yield f"  perhaps: {cause}"
    if len(tensor.growth) > 1:
        yield "  its error by step: " + ", ".join(
            f"{point.step}: {point.absolute:.1e}" for point in _spread(tensor.growth)
        )


def _spread(points: Sequence[Point]) -> list[Point]:
    return [points[int(place)] for place in np.unique(np.linspace(0, len(points) - 1, 8).astype(int))]


def _table(title: str, tensors: Sequence[StepTensor]) -> Iterator[str]:
    if not tensors:
        return
    parted = [tensor for tensor in tensors if not tensor.equal]
    exact = sum(not tensor.differing for tensor in tensors)
    yield f"{title}: {len(tensors)}, of which {exact} equal to the bit, {len(parted)} part"
    shown = sorted(parted, key=lambda tensor: tensor.first.call if tensor.first else 0)[:_MOST]
    for tensor in shown:
        first = f"from step {tensor.first.step}" if tensor.first else ""
        worst = f"largest error {tensor.largest.absolute:.1e}" if tensor.largest else ""
        yield f"  {tensor}: {', '.join(filter(None, (tensor.problem, first, worst)))}"
    if len(parted) > _MOST:
        yield f"  and {len(parted) - _MOST:,} more"
    close = [(tensor.largest.share, tensor) for tensor in tensors if tensor.equal and tensor.largest is not None]
    if close:
        share, tensor = max(close, key=lambda each: each[0])
        yield f"  largest error of the others: {share:.1%} of what is allowed ({tensor})"


def _some(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines[:_MOST])
        if len(lines) > _MOST:
            yield f"  and {len(lines) - _MOST:,} more"


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
