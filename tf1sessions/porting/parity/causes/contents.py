"""Rules about variables and constants that have another value, and how it is another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from tf1sessions.porting.parity.causes.evidence import Evidence, close, varied
from tf1sessions.porting.parity.comparison import Cause

__all__ = ["gate_order", "other_value", "reversed_axis", "transposed"]

_VALUES = frozenset("Const Variable VariableV2 VarHandleOp ReadVariableOp Placeholder PlaceholderWithDefault".split())
#: The gates of cells, in the order of their blocks: LSTM i, j, f, o; GRU r, u; GRU of cuDNN and Keras z, r, h.
_GATES = (4, 3, 2)


def transposed(found: Evidence) -> Cause | None:
    """One side has its axes in another order."""
    left, right = found.left.value, found.right.value
    if left.ndim != right.ndim or not 2 <= left.ndim <= 5 or not varied(left):
        return None
    for axes in _orders(left.ndim):
        if close(left.transpose(axes), right):
            return Cause(
                "transposed",
                f"{_thing(found)} has its axes in another order: {_order_text(axes)}",
                f"left.transpose({list(axes)}) equals the right side",
            )
    return None


def reversed_axis(found: Evidence) -> Cause | None:
    """One side is the mirror image: channels RGB against BGR, kernels of a true convolution."""
    left, right = found.left.value, found.right.value
    if left.shape != right.shape or not 1 <= left.ndim <= 5 or not varied(left):
        return None
    sets = [(axis,) for axis in range(left.ndim)] + ([(0, 1)] if left.ndim == 4 else [])
    for axes in sets:
        if close(np.flip(left, axes), right):
            named = f"axis {axes[0]}" if len(axes) == 1 else "axes 0 and 1"
            return Cause(
                "reversed",
                f"{_thing(found)} is reversed along {named}: channels or time in another order",
                f"numpy.flip(left, {axes}) equals the right side",
            )
    return None


def gate_order(found: Evidence) -> Cause | None:
    """The blocks of a recurrent cell's kernel or bias are in another order."""
    left, right = found.left.value, found.right.value
    if left.shape != right.shape or not 1 <= left.ndim <= 2 or not varied(left):
        return None
    for axis in range(left.ndim - 1, -1, -1):
        for count in _GATES:
            if left.shape[axis] % count or left.shape[axis] == count:
                continue
            blocks = np.split(left, count, axis)
            for order in itertools.permutations(range(count)):
                if list(order) != sorted(order) and close(np.concatenate([blocks[i] for i in order], axis), right):
                    return Cause(
                        "gate order",
                        f"{_thing(found)} has its {count} blocks along axis {axis} in the order {list(order)}: gates "
                        "of a recurrent cell in another order",
                        "the blocks of the left side in this order equal the right side",
                    )
    return None


def other_value(found: Evidence) -> Cause | None:
    """A variable or a constant simply has another value."""
    if found.left.op not in _VALUES or found.right.op not in _VALUES:
        return None
    left, right = found.left.value, found.right.value
    if left.shape != right.shape:
        return Cause(
            "other value", f"{_thing(found)} has another shape: {list(left.shape)} against {list(right.shape)}"
        )
    count = int(np.count_nonzero(left != right))
    evidence = f"{count:,} of {left.size:,} elements differ"
    if left.size == 1:
        evidence = f"{left.reshape(-1)[0]!s} against {right.reshape(-1)[0]!s}"
    return Cause(
        "other value", f"{_thing(found)} has another value: other weights, or a constant that was changed", evidence
    )


def _thing(found: Evidence) -> str:
    op = found.left.op
    name = f" {found.left.node.name}" if found.left.node is not None else ""
    if op == "Const":
        return f"the constant{name}"
    return f"the variable{name}" if op in _VALUES else "one side"


def _orders(rank: int) -> Iterator[tuple[int, ...]]:
    """Orders of axes, those that programs use first."""
    usual: dict[int, list[tuple[int, ...]]] = {
        2: [(1, 0)],
        3: [(1, 0, 2), (0, 2, 1)],
        4: [(0, 3, 1, 2), (0, 2, 3, 1), (3, 2, 0, 1), (2, 3, 1, 0), (0, 1, 3, 2)],
    }
    yield from dict.fromkeys([*usual.get(rank, []), *list(itertools.permutations(range(rank)))[1:]])


def _order_text(axes: tuple[int, ...]) -> str:
    known = {
        (0, 3, 1, 2): "NHWC against NCHW",
        (0, 2, 3, 1): "NCHW against NHWC",
        (1, 0): "a transposed matrix",
        (1, 0, 2): "batch and time are swapped",
        (3, 2, 0, 1): "kernels HWIO against OIHW",
        (2, 3, 1, 0): "kernels OIHW against HWIO",
        (0, 1, 3, 2): "kernels with channels in and out swapped",
    }
    return known.get(axes, str(list(axes)))
