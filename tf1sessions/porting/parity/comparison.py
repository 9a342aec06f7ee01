"""Results of a comparison: records, their text and their JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from tf1sessions.models.graph_index import listed
from tf1sessions.porting.parity.inputs import Given
from tf1sessions.porting.parity.measures import Difference
from tf1sessions.porting.parity.tolerances import Tolerance
from tf1sessions.texts import printable

__all__ = [
    "Cause",
    "Compared",
    "Comparison",
    "LeftOut",
    "Parting",
    "ToleranceUse",
    "errors",
    "shown",
    "used",
    "verdict",
]

#: How many lines of a kind the text has. Arbitrary; the JSON has all.
_MOST = 12


@dataclasses.dataclass(frozen=True)
class Compared:
    """One tensor, or output, on both sides.

    Attributes:
        name, other: What it is called on the left and on the right.
        op: The operation that makes it on the left; ``"output"`` where that is not known.
        dtype, other_dtype, shape, other_shape: Of its values.
        difference: How far apart they are; None where their shapes differ.
        tolerance: What was allowed.
        inherited: Whether the tolerance is that of something it is made of, whose values differ already.
        inputs: What it is made of on the left, by name.
    """

    name: str
    other: str
    op: str
    dtype: str
    other_dtype: str
    shape: tuple[int, ...]
    other_shape: tuple[int, ...]
    difference: Difference | None
    tolerance: Tolerance
    inherited: bool = False
    inputs: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether they are equal within the tolerance."""
        return self.problem is None

    @property
    def same(self) -> bool:
        """Whether they are equal to the bit."""
        return self.difference is not None and self.difference.same and self.dtype == self.other_dtype

    @property
    def problem(self) -> str | None:
        """The difference, in words; None if there is none."""
        if self.difference is None:
            return f"shape {list(self.shape)} against {list(self.other_shape)}"
        if self.dtype != self.other_dtype and not self.tolerance.other_dtype:
            return f"dtype {self.dtype} against {self.other_dtype}"
        if not self.difference.beyond:
            return None
        beyond, size = self.difference.beyond, self.difference.size
        return f"{beyond:,} of {size:,} elements are further apart than {self.tolerance}"


@dataclasses.dataclass(frozen=True)
class Cause:
    """A possible cause of a difference.

    Attributes:
        rule: Which rule says so; ``"unknown"`` if none does.
        text: The cause, as a sentence without its full stop.
        evidence: What was seen that makes it likely.
    """

    rule: str
    text: str
    evidence: str = ""


@dataclasses.dataclass(frozen=True)
class Parting:
    """The first place where the sides part.

    Attributes:
        tensor: What parts there.
        inputs: What it is made of, as far as that was compared.
        causes: Likely ones, the likeliest first; one of rule ``"unknown"`` where nothing is evident.
    """

    tensor: Compared
    inputs: tuple[Compared, ...]
    causes: tuple[Cause, ...]


@dataclasses.dataclass(frozen=True)
class ToleranceUse:
    """The number of times that a tolerance was used.

    Attributes:
        tolerance: It.
        tensors: For how many tensors and outputs.
        beyond: How many of them differ by more.
        share: The largest error as a share of what it allows, of those that do not.
        largest: Which tensor that is.
    """

    tolerance: Tolerance
    tensors: int
    beyond: int
    share: float
    largest: str


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """Tensors that were not compared.

    Attributes:
        why: The reason.
        count: How many.
        names: The first of them.
    """

    why: str
    count: int
    names: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The result of :func:`~tf1sessions.porting.verify`. It can be pickled; ``str()`` of it is a report.

    Attributes:
        left, right: What was compared: what the user calls it, and its kind.
        inputs: What both were given.
        outputs: The outputs, in the left's order.
        missing: Outputs of the left that the right lacks, unless some were asked for by their names.
        tensors: With ``all_tensors``, all that both sides have, in topological order of the left.
        first: Where the sides part first; None if they do not.
        tolerances: Which were used.
        left_out: What could not be compared, and why.
        notes: What else there is to know, in sentences.
        device: The kind of device that computed.
        versions: Name -> version, of what computed.
    """

    left: tuple[str, str]
    right: tuple[str, str]
    inputs: tuple[Given, ...]
    outputs: tuple[Compared, ...]
    missing: tuple[str, ...] = ()
    tensors: tuple[Compared, ...] = ()
    first: Parting | None = None
    tolerances: tuple[ToleranceUse, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    device: str = "CPU"
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def equal(self) -> bool:
        """Whether no output is missing, and all that was compared is equal within its tolerance."""
        return bool(self.outputs) and not self.missing and all(each.equal for each in (*self.outputs, *self.tensors))

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON knows it; infinite numbers and NaN are texts there."""
        found: dict[str, Any] = _simple(self)
        found["equal"] = self.equal
        for kind in ("outputs", "tensors"):
            for record, each in zip(found[kind], getattr(self, kind), strict=True):
                record |= {"equal": each.equal, "problem": each.problem}
        return found

    def to_json(self, **options: Any) -> str:
        """:meth:`as_dict` as text; the options are those of ``json.dumps``."""
        return json.dumps(self.as_dict(), allow_nan=False, **options)

    def __str__(self) -> str:
        return "\n".join(map(printable, _lines(self)))


def _simple(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _simple(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [_simple(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


# ---------------------------------------------------------------------------------------------------------- as text


def _lines(found: Comparison) -> Iterator[str]:
    yield f"left   {found.left[0]} ({found.left[1]})"
    yield f"right  {found.right[0]} ({found.right[1]})"
    yield ""
    yield verdict(found)
    if found.first is not None:
        yield ""
        yield from _parting(found.first)
    yield from _section("inputs", [_input(each) for each in found.inputs])
    yield from _section("outputs", [_compared(each) for each in found.outputs])
    if found.tensors:
        yield from _section("tensors", list(_counts(found.tensors)))
    yield from _section("tolerances", [used(each) for each in found.tolerances])
    yield from _section("not compared", [f"{each.count:,} tensors {each.why}" for each in found.left_out])
    yield from _section("notes", list(found.notes))


def verdict(found: Comparison) -> str:
    """The outcome, in a sentence."""
    compared = (*found.outputs, *found.tensors)
    beyond = sum(not each.equal for each in compared)
    what = _count(len(found.outputs), "output")
    if found.tensors:
        what += f" and {_count(len(found.tensors), 'tensor')}"
    if beyond:
        return f"DIFFERENT: of {what}, {beyond:,} differ by more than is allowed, on {found.device}"
    same = sum(each.same for each in compared)
    if found.missing:
        lacking = (
            f"the right side lacks the {'output' if len(found.missing) == 1 else 'outputs'} {listed(found.missing)}"
        )
        return f"INCOMPLETE: {lacking}; {what} equal, {same:,} of them to the bit, on {found.device}"
    return f"EQUAL: {what}, {same:,} of them to the bit, on {found.device}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield title
        for line in lines[:_MOST]:
            yield f"  {line}"
        if len(lines) > _MOST:
            yield f"  and {len(lines) - _MOST:,} more"


def _parting(first: Parting) -> Iterator[str]:
    tensor = first.tensor
    yield f"they part first at {tensor.name} ({tensor.op})"
    yield f"  {tensor.problem}"
    found = tensor.difference
    if found is not None and found.worst is not None:
        yield f"  worst at {list(found.worst)}: {shown(found.left)} against {shown(found.right)}"
    for each in first.inputs:
        yield f"  its input {each.name} ({each.op}): {errors(each)}"
    for cause in first.causes:
        yield f"  likely cause: {cause.text}" if cause.rule != "unknown" else "  cause unknown: no rule found evidence"
        if cause.evidence:
            yield f"    {cause.evidence}"


def _input(given: Given) -> str:
    name = given.name if given.name == given.other else f"{given.name} = {given.other}"
    return f"{name}  {given.dtype} {list(given.shape)}  {given.how}"


def _compared(each: Compared) -> str:
    name = each.name if each.name == each.other else f"{each.name} = {each.other}"
    return f"{'ok  ' if each.equal else 'DIFF'} {name}  {each.dtype} {list(each.shape)}  {errors(each)}"


def errors(each: Compared) -> str:
    """Return the differences between the two, in words."""
    found = each.difference
    if found is None or (each.problem or "").startswith("dtype"):
        return each.problem or ""
    nans = f", {found.nans:,} NaN on both sides" if found.nans else ""
    if found.same:
        return f"equal{nans}"
    if found.absolute is None:
        return f"{found.differing:,} of {found.size:,} differ"
    text = f"largest error {found.absolute:.3g}"
    if found.relative is not None:
        text += f", relative {found.relative:.3g}"
    if found.ulps is not None:
        text += f", {found.ulps:,} ulp"
    if found.not_finite:
        text += f", {found.not_finite:,} NaN or infinite on one side only"
    return text + nans


def shown(value: Any) -> str:
    """A value of an element, with as many digits as distinguish floats of 32 bits."""
    return f"{value:.9g}" if isinstance(value, float) else repr(value)


def _counts(tensors: Sequence[Compared]) -> Iterator[str]:
    same = sum(each.same for each in tensors)
    beyond = [each for each in tensors if not each.equal]
    yield f"{same:,} equal to the bit, {len(tensors) - same - len(beyond):,} within tolerance, {len(beyond):,} beyond"
    for each in beyond[: _MOST - 1]:
        yield f"{_compared(each)}  ({each.op})"


def used(use: ToleranceUse) -> str:
    """A tolerance, where it is from and how often it was used, in a line."""
    record = use.tolerance
    if use.beyond:
        text = f"{use.tensors:,} used it, {use.beyond:,} went beyond"
    else:
        text = f"{use.tensors:,} used it"
    if use.share:
        text += f", the largest error is {use.share:.1%} of it, at {use.largest}"
    return f"{record.about}: {record} [{record.source}; {record.reason or 'no reason given'}]; {text}"
