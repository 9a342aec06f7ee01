"""Rules about how the values differ, whatever made them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tf1sessions.porting.parity.causes.evidence import Evidence, close, varied
from tf1sessions.porting.parity.comparison import Cause
from tf1sessions.porting.parity.measures import wide

__all__ = [
    "activation",
    "border",
    "constant_factor",
    "constant_offset",
    "dropout",
    "not_finite",
    "precision",
    "shifted",
    "text_form",
]


def not_finite(found: Evidence) -> Cause | None:
    """NaN or an infinity on one side only."""
    if not found.floats:
        return None
    left, right = (np.isfinite(wide(half.value)) for half in (found.left, found.right))
    if (odd := int(np.count_nonzero(left != right))) == 0:
        return None
    side, bad = ("right", found.right) if np.count_nonzero(~right) > np.count_nonzero(~left) else ("left", found.left)
    kind = "NaN" if np.isnan(wide(bad.value)).any() else "infinite"
    evidence = f"{odd:,} elements are {kind} on the {side} side only"
    if reason := _why_not_finite(bad.op, bad.inputs):
        evidence += f"; {reason}"
    return Cause("not finite", f"the {side} side has {kind} values where the other has numbers", evidence)


def _why_not_finite(op: str, inputs: tuple[Any, ...]) -> str:
    numbers = [wide(each) for each in inputs if each is not None and each.dtype.kind in "fc"]
    if any(not np.isfinite(each).all() for each in numbers):
        return "it was given some"
    if op in ("Log", "Log1p", "Sqrt", "Rsqrt", "Pow") and numbers and (numbers[0] <= 0).any():
        return f"{op} was given {numbers[0].min():g}"
    if op in ("RealDiv", "Div", "DivNoNan", "Reciprocal", "Inv") and numbers and (numbers[-1] == 0).any():
        return "it divides by 0"
    if op in ("Exp", "Softplus", "Square", "Mul", "MatMul") and numbers:
        return f"the largest number that {op} was given is {max(float(np.abs(each).max()) for each in numbers):g}"
    return ""


def shifted(found: Evidence) -> Cause | None:
    """One image is the other moved by a pixel: padding at the beginning against padding at the end."""
    left, right = found.left.value, found.right.value
    if not found.floats or left.ndim not in (3, 4) or not varied(left):
        return None
    places = [(1, 2)] + ([(2, 3)] if left.ndim == 4 else [(0, 1)])
    for axes in places:
        if min(left.shape[axis] for axis in axes) < 3:
            continue
        for by in ((1, 1), (-1, -1), (1, 0), (0, 1), (-1, 0), (0, -1), (1, -1), (-1, 1)):
            a, b = (_cut(each, axes, by, sign) for each, sign in ((left, 1), (right, -1)))
            if varied(a) and close(a, b):
                return Cause(
                    "padding",
                    "padding at the other end: SAME pads more at the end where strides leave a rest, other frameworks "
                    "at both",
                    f"moved by {by} pixels along axes {axes}, one side equals the other",
                )
    return None


def _cut(values: Any, axes: tuple[int, int], by: tuple[int, int], sign: int) -> Any:
    index = [slice(None)] * values.ndim
    for axis, step in zip(axes, by, strict=True):
        moved = step * sign
        index[axis] = slice(moved, None) if moved > 0 else slice(None, moved or None)
    return values[tuple(index)]


def border(found: Evidence) -> Cause | None:
    """Images that differ at their border only: something else was padded there."""
    left, right = found.left.value, found.right.value
    if not found.floats or left.ndim != 4 or not varied(left):
        return None
    for axes in ((1, 2), (2, 3)):
        if min(left.shape[axis] for axis in axes) < 5:
            continue
        inner = tuple(slice(1, -1) if axis in axes else slice(None) for axis in range(4))
        if close(left[inner], right[inner]) and varied(left[inner]):
            return Cause(
                "padding",
                "padding with other values, or another padding: zeros, edges, a mirror image",
                "only the outermost rows and columns differ",
            )
    return None


def dropout(found: Evidence) -> Cause | None:
    """One side has zeros, and its other elements are those of the other side times one number above 1."""
    if not found.floats:
        return None
    for mine, theirs, side in (
        (wide(found.left.value), wide(found.right.value), "right"),
        (wide(found.right.value), wide(found.left.value), "left"),
    ):
        kept = theirs != 0
        lost = ~kept & (mine != 0)
        if not kept.any() or not lost.any() or (mine[kept] == 0).any() or mine.size < 8:
            continue
        ratios = theirs[kept] / mine[kept]
        if ratios.min() > 1.001 and np.ptp(ratios) <= 1e-3 * ratios.mean() and varied(mine):
            keep = 1 / ratios.mean()
            return Cause(
                "dropout",
                f"dropout that is on, on the {side} side",
                f"{np.count_nonzero(lost) / mine.size:.0%} of its elements are 0, the others {ratios.mean():.4g} times "
                f"those of the other side, as dropout that keeps {keep:.2f} makes them",
            )
    return None


def constant_factor(found: Evidence) -> Cause | None:
    """One side is the other times one number."""
    if not found.floats or not varied(found.left.value):
        return None
    left, right = wide(found.left.value), wide(found.right.value)
    if np.iscomplexobj(left) or not (np.isfinite(left).all() and np.isfinite(right).all()):
        return None
    index = int(np.argmax(np.abs(left)))
    factor = right.reshape(-1)[index] / left.reshape(-1)[index]
    if factor == 0 or abs(factor - 1) < 1e-3 or not close(left * factor, right):
        return None
    return Cause(
        "factor",
        f"a factor: the right side is {factor:.6g} times the left",
        "such as a scale, a mean against a sum, a temperature",
    )


def constant_offset(found: Evidence) -> Cause | None:
    """One side is the other plus one number, or plus one number for each channel."""
    if found.left.value.shape != found.right.value.shape or not varied(found.left.value):
        return None
    if found.left.value.dtype.kind not in "iufV" or found.right.value.dtype.kind not in "iufV":
        return None
    left, right = (half.value.astype(np.float64) for half in (found.left, found.right))
    apart = right - left
    if not np.isfinite(apart).all():
        return None
    if close(apart, np.full_like(apart, apart.mean())):
        return Cause(
            "offset",
            f"an offset: the right side is the left plus {apart.mean():.6g}",
            "such as a bias, a forget bias, numbers that begin at 1",
        )
    rows = apart.reshape(-1, apart.shape[-1]) if apart.ndim else apart
    if apart.ndim >= 2 and len(rows) >= 3 and close(rows, np.broadcast_to(rows.mean(0), rows.shape)):
        return Cause(
            "offset",
            "an offset for each channel: a bias that one side lacks, or another one",
            "it is the same in all rows",
        )
    return None


def _softmax(x: Any) -> Any:
    if not x.ndim:
        return np.ones_like(x)
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "softmax": _softmax,
    "a sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "a logarithm": np.log,
    "an absolute value": np.abs,
    "a square": np.square,
    "a negation": np.negative,
}


def activation(found: Evidence) -> Cause | None:
    """One side is a well-known function of the other."""
    if not found.floats or not varied(found.left.value) or not varied(found.right.value, 2):
        return None
    left, right = wide(found.left.value), wide(found.right.value)
    with np.errstate(all="ignore"):
        for name, function in _ACTIVATIONS.items():
            for mine, theirs, side in ((left, right, "right"), (right, left, "left")):
                value = function(mine)
                if np.isfinite(value).all() and close(value, theirs):
                    return Cause("activation", f"{name} on the {side} side only", f"{name} of the other side equals it")
    return None


# The names of coarser dtypes -> how many of the 23 bits of a float32's fraction they lack; the coarsest first.
_LACKING = {"bfloat16": 16, "float16": 13}


def precision(found: Evidence) -> Cause | None:
    """One side has only values that a coarser dtype has, close to those of the other."""
    left, right = found.left.value, found.right.value
    if not found.floats or left.dtype != np.float32 or right.dtype != np.float32 or not varied(left):
        return None
    for mine, theirs, side in ((left, right, "right"), (right, left, "left")):
        for name, lacking in _LACKING.items():
            unit = 2.0 ** (lacking - 23)
            if _is_coarse(theirs, lacking) and not _is_coarse(mine, lacking):
                if float(np.abs(mine - theirs).max()) <= 8 * unit * float(np.abs(mine).max()):
                    return Cause(
                        "precision",
                        f"the {side} side computes in {name}",
                        f"all of its values are {name} ones, and lie as close to the other side's as that allows",
                    )
    return None


def _is_coarse(values: Any, lacking: int) -> bool:
    """Whether all values do without the last bits, and most need those before: whole numbers, for one, do not."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    last, before = (np.uint32((1 << count) - 1) for count in (lacking, lacking + 2))
    return not (bits & last).any() and float(np.mean((bits & before) != 0)) > 0.5


def text_form(found: Evidence) -> Cause | None:
    """Texts that differ in case, in spaces around them or in their encoding."""
    left, right = found.left.value, found.right.value
    if left.dtype.kind != "O" or right.dtype.kind != "O" or left.shape != right.shape:
        return None
    pairs = list(zip(left.reshape(-1), right.reshape(-1), strict=True))
    for name, form in (
        ("in the case of their letters", lambda text: text.lower()),
        ("in spaces around them", lambda text: text.strip()),
        ("in their encoding", lambda text: _decoded(text)),
    ):
        if pairs and all(isinstance(each, bytes) for pair in pairs for each in pair):
            if all(form(a) == form(b) for a, b in pairs):
                return Cause("text", f"texts that differ {name} only", "")
    return None


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")
