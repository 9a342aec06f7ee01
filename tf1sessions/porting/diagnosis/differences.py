"""The first difference of two traces, looked at more closely: where, how large, and of which rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tf1sessions.porting.trace_comparison import ComparedTensor, ComparedTraces, StepParting, StepTensor
from tf1sessions.porting.traces import ProgramLine

__all__ = ["first_difference", "innermost", "is_large", "same_at", "same_rows", "stays"]

#: By which factor recorded seeds must lessen an error that stays where it is, to be its cause. Arbitrary.
_LEADING = 10
#: From which part of a value on an error is no rounding. Arbitrary.
_LARGE = 1e-2


def first_difference(compared: ComparedTraces) -> tuple[int, StepTensor] | None:
    """The first call with a value that is not equal to the bit, however little, and the tensor."""
    order = compared.alignment.left.order
    found = []
    for place, (tensor, outcome) in enumerate(zip(compared.tensors, compared.result.tensors, strict=True)):
        differing = np.flatnonzero(tensor.differs)
        if differing.size and outcome.role not in ("last", "feed"):
            call = int(tensor.calls[differing[0]])
            found.append(
                (call, outcome.role == "initial", order.get((outcome.session, outcome.name), 0), place, outcome)
            )
    if not found:
        return None
    call, *_, outcome = min(found, key=lambda each: each[:4])
    return call, outcome


def same_at(tensor: ComparedTensor, call: int) -> bool:
    """Whether a tensor is equal to the bit at a call."""
    return bool((~tensor.differs[tensor.calls == call]).any())


def same_rows(tensor: ComparedTensor, position: int) -> bool:
    """Whether both sides have the same rows, in another order."""
    left, right = (np.asarray(value) for value in tensor.values(position))
    if left.shape != right.shape or left.ndim < 1 or left.dtype == object or len(left) < 2:
        return False
    rows = [np.sort([row.tobytes() for row in np.ascontiguousarray(value)]) for value in (left, right)]
    return bool((rows[0] == rows[1]).all())


def stays(before: ComparedTraces, after: ComparedTraces) -> bool:
    """Whether the first difference is still there, and hardly less."""
    was, now = before.result.first, after.result.first
    if was is None or now is None:
        return False
    if (was.tensor.role, was.tensor.session, was.tensor.name, was.call) != (
        now.tensor.role,
        now.tensor.session,
        now.tensor.name,
        now.call,
    ):
        return False
    sizes = [each.tensor.first.absolute if each.tensor.first is not None else np.inf for each in (was, now)]
    return bool(sizes[0] <= _LEADING * sizes[1])


def is_large(first: StepParting) -> bool:
    found = first.difference
    if found is None or found.absolute is None or not isinstance(found.left, float):
        return True
    return bool(found.not_finite or found.absolute > _LARGE * max(abs(found.left), _LARGE))


def innermost(place: Iterable[ProgramLine]) -> str:
    """The innermost of some lines, as ``file:line``."""
    lines = list(place)
    return f"{lines[-1].file}:{lines[-1].line}" if lines else ""
