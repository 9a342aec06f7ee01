"""A comparison as one HTML page, which needs nothing but a browser.

``page.html`` beside this file is the page: its style, and the script that draws. :func:`page` puts the data in it, as
JSON in which no tag can end.
"""

from __future__ import annotations

import importlib.resources
import json
import math
from collections.abc import Iterator
from typing import Any

from tf1sessions.porting.diagnosis.record import Diagnosis
from tf1sessions.porting.parity.comparison import Compared, Comparison, errors, shown, used, verdict
from tf1sessions.porting.parity.tolerances import Tolerance
from tf1sessions.porting.trace_comparison import StepTensor, TraceComparison

__all__ = ["page"]

#: What a point is, as a number.
_EQUAL, _WITHIN, _BEYOND = 0, 1, 2


def page(found: Comparison | TraceComparison) -> str:
    """The page, as text of one HTML file."""
    data = _of_calls(found) if isinstance(found, TraceComparison) else _of_graph(found)
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    template = importlib.resources.files("tf1sessions.porting.parity").joinpath("page.html").read_text("utf-8")
    return template.replace("@DATA@", text.replace("<", "\\u003c"), 1)


# ------------------------------------------------------------------------------------------------ tensors of a graph


def _of_graph(found: Comparison) -> dict[str, Any]:
    rows = [*found.tensors, *found.outputs]
    first = next((index for index, each in enumerate(rows) if not each.equal), None)
    return {
        "verdict": verdict(found),
        "equal": found.equal,
        "sides": [list(found.left), list(found.right)],
        "axis": "tensors, each after what it is made of; outputs at the end" if found.tensors else "outputs",
        "points": [[index, *_point(each)] for index, each in enumerate(rows)],
        "marked": first,
        "names": [each.name for each in rows],
        "columns": ["tensor", "operation", "dtype", "shape", "error", "allowed"],
        "rows": [_row(each, index >= len(found.tensors)) for index, each in enumerate(rows)],
        "first": _first(found),
        "sections": [
            ["Inputs", [f"{_both(each)}  {each.dtype} {list(each.shape)}: {each.how}" for each in found.inputs]],
            ["Outputs", [f"{_both(each)}: {errors(each)}" for each in found.outputs]],
            ["Tolerances that were used", [used(each) for each in found.tolerances]],
            ["Not compared", [_left_out(each.count, each.why, each.names) for each in found.left_out]],
            ["Notes", list(found.notes)],
            ["Computed by", [f"{name} {version}" for name, version in found.versions] + [f"on {found.device}"]],
        ],
    }


def _point(each: Compared) -> list[Any]:
    """The error, what is allowed, and the state; an error of None is no number."""
    error = each.difference.absolute if each.difference is not None else None
    if each.difference is not None and each.difference.not_finite:
        error = None
    if error is None and each.equal:
        error = 0.0
    return [_finite(error), _allowed(each), _BEYOND if not each.equal else _EQUAL if each.same else _WITHIN]


def _allowed(each: Compared) -> float:
    """Return what is allowed at the worst element; elsewhere, what is allowed at least."""
    left = each.difference.left if each.difference is not None else None
    size = abs(left) if isinstance(left, float) and math.isfinite(left) else 0.0
    return each.tolerance.absolute + each.tolerance.relative * size


def _row(each: Compared, is_output: bool) -> list[str]:
    shapes = dict.fromkeys((str(list(each.shape)), str(list(each.other_shape))))
    dtypes = dict.fromkeys((each.dtype, each.other_dtype))
    inherited = ", inherited" if each.inherited else ""
    op = "output" if is_output else each.op
    allowed = f"{each.tolerance}{inherited}"
    return [_both(each), op, " / ".join(dtypes), " / ".join(shapes), errors(each), allowed]


def _first(found: Comparison) -> dict[str, Any] | None:
    if found.first is None:
        return None
    tensor = found.first.tensor
    worst = ""
    if tensor.difference is not None and tensor.difference.worst is not None:
        worst = (
            f"worst at {list(tensor.difference.worst)}: {shown(tensor.difference.left)} against "
            f"{shown(tensor.difference.right)}"
        )
    return {
        "name": _both(tensor),
        "op": tensor.op,
        "lines": [line for line in (tensor.problem, worst) if line],
        "inputs": [f"{each.name} ({each.op}): {errors(each)}" for each in found.first.inputs],
        "causes": [[each.text, each.evidence] for each in found.first.causes if each.rule != "unknown"],
    }


def _left_out(count: int, why: str, names: tuple[str, ...]) -> str:
    return f"{count:,} tensors {why}" + (
        f": {', '.join(names)}" + (", …" if count > len(names) else "") if names else ""
    )


# ---------------------------------------------------------------------------------------------------- calls of a trace


def _of_calls(found: TraceComparison) -> dict[str, Any]:
    first = found.first
    points = list(_points(found))
    marked = None
    if first is not None:
        marked = next((point[0] for point in points if point[0] == first.call and point[3] == _BEYOND), first.call)
    outcome = "equal to the bit" if found.same else "equal within the tolerances" if found.equal else "different"
    return {
        "verdict": f"{outcome}: {len(found.tensors):,} tensors at {found.calls:,} calls",
        "equal": found.equal,
        "diagnosis": None if found.diagnosis is None else _diagnosed(found.diagnosis),
        "sides": [[found.left, "the recording"], [found.right, "held against it"]],
        "axis": "calls of the left side",
        "points": points,
        "marked": marked,
        "names": [str(each) for each in found.tensors],
        "columns": ["tensor", "role", "dtype", "calls", "error", "allowed"],
        "rows": [_step_row(each) for each in found.tensors],
        "first": None
        if first is None
        else {
            "name": str(first.tensor),
            "op": first.kind,
            "lines": [f"at call {first.call}, number {first.step} of its kind", first.tensor.problem or ""],
            "inputs": [],
            "causes": [[cause, ""] for cause in first.causes],
        },
        "sections": [
            ["Calls of one side only", list(found.unmatched)],
            ["Random operations", [f"{name} {how}" for name, how in found.random.items()]],
            ["Tolerances that were used", sorted({_tolerance_text(each.tolerance) for each in found.tensors})],
            ["Not compared", [f"{count:,} {why}" for why, count in found.left_out.items()]],
            ["Notes", list(found.notes)],
        ],
    }


def _diagnosed(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "cause": diagnosis.cause,
        "text": diagnosis.text,
        "parts": [
            ["Evidence", list(diagnosis.evidence)],
            ["Run again", [diagnosis.again, *diagnosis.then.evidence] if diagnosis.then is not None else []],
            ["To do", list(diagnosis.advice)],
            ["Not known", list(diagnosis.unknowns)],
        ],
    }


def _points(found: TraceComparison) -> Iterator[list[Any]]:
    for index, tensor in enumerate(found.tensors):
        for point in tensor.growth:
            state = _BEYOND if point.share > 1 else _WITHIN if point.absolute else _EQUAL
            yield [point.call, _finite(point.absolute), tensor.tolerance.absolute, state, index]


def _step_row(each: StepTensor) -> list[str]:
    error = "equal"
    if each.largest is not None and each.largest.absolute:
        error = f"largest error {each.largest.absolute:.3g}, at call {each.largest.call}"
    if each.beyond:
        error += f"; beyond at {each.beyond:,} calls"
    return [str(each), each.role, each.dtype, f"{each.compared:,}", each.problem or error, str(each.tolerance)]


def _tolerance_text(record: Tolerance) -> str:
    return f"{record.about}: {record} [{record.source}; {record.reason or 'no reason given'}]"


def _both(each: Any) -> str:
    return str(each.name) if each.name == each.other else f"{each.name} = {each.other}"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
