"""The distance of one array from another, over all elements; a block at a time, so that no temporary is as large.

NaN counts as equal to NaN, an infinity to the same infinity; strings, integers and booleans are equal or they are not.
The left array is the reference: relative errors are relative to it.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

__all__ = ["Difference", "is_float", "measure", "plain", "wide"]

#: How many elements are looked at at once. Arbitrary: 8 MB of float64.
_BLOCK = 1 << 20


@dataclasses.dataclass(frozen=True)
class Difference:
    """The distance of one array from another of its shape.

    Attributes:
        size: The number of elements.
        differing: How many are not equal.
        beyond: How many are further apart than was allowed.
        not_finite: How many are NaN or infinite, and are not so, or otherwise, on the other side.
        nans: How many are NaN on both sides.
        absolute: The largest absolute error of finite elements; None where elements are not numbers.
        relative: The largest error relative to the left one, where that is not 0.
        ulps: The largest error in units in the last place, for floats of one dtype.
        share: The largest error as a share of what was allowed; infinite where nothing was.
        worst: The index of that element; None if all are equal.
        left, right: Its values.
    """

    size: int
    differing: int = 0
    beyond: int = 0
    not_finite: int = 0
    nans: int = 0
    absolute: float | None = 0.0
    relative: float | None = 0.0
    ulps: int | None = None
    share: float = 0.0
    worst: tuple[int, ...] | None = None
    left: Any = None
    right: Any = None

    @property
    def same(self) -> bool:
        """Whether all elements are equal."""
        return not self.differing


def is_float(dtype: Any) -> bool:
    """Whether values of a NumPy dtype are rounded: floats, bfloat16 and its like, complex numbers."""
    return dtype.kind in "fc" or _is_small_float(dtype)


def measure(left: Any, right: Any, absolute: float = 0.0, relative: float = 0.0, ulps: int = 0) -> Difference:
    """Measures two arrays of one shape.

    Args:
        left, right: NumPy arrays, of any shape that is the same.
        absolute, relative: An element may differ by ``absolute + relative * abs(left)``,
        ulps: or by so many units in the last place.
    """
    if not (is_float(left.dtype) or is_float(right.dtype)):
        return _exact(left, right)
    flat_left, flat_right = left.reshape(-1), right.reshape(-1)
    total = Difference(left.size, ulps=0 if _has_ulps(left, right) else None)
    with np.errstate(all="ignore"):
        for start in range(0, left.size, _BLOCK):
            block = _floats(
                flat_left[start : start + _BLOCK], flat_right[start : start + _BLOCK], absolute, relative, ulps
            )
            total = _joined(total, block, start, left.shape)
    return total


def plain(value: Any) -> Any:
    """A value of an array as JSON and people know it."""
    if isinstance(value, np.generic):
        value = value.astype(np.float32).item() if _is_small_float(value.dtype) else value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value) if isinstance(value, complex) else value


def _is_small_float(dtype: Any) -> bool:
    return dtype.kind == "V" and "float" in dtype.name


def _has_ulps(left: Any, right: Any) -> bool:
    return bool(left.dtype == right.dtype and left.dtype.kind != "c")


def _exact(left: Any, right: Any) -> Difference:
    """Integers, booleans, strings."""
    differ = left.reshape(-1) != right.reshape(-1)
    count = int(np.count_nonzero(differ))
    numbers = left.dtype.kind in "iu" and right.dtype.kind in "iu"
    if not count:
        return Difference(left.size, absolute=0.0 if numbers else None, relative=None)
    index = int(np.argmax(differ))
    largest = None
    if numbers:
        far = np.abs(left.reshape(-1).astype(np.float64) - right.reshape(-1).astype(np.float64))
        index, largest = int(np.argmax(far)), float(far.max())
    worst = tuple(int(each) for each in np.unravel_index(index, left.shape))
    return Difference(
        left.size,
        differing=count,
        beyond=count,
        absolute=largest,
        relative=None,
        share=math.inf,
        worst=worst,
        left=plain(left[worst]),
        right=plain(right[worst]),
    )


def wide(values: Any) -> Any:
    """Values as float64, where they are not complex."""
    return values if values.dtype.kind == "c" else values.astype(np.float64)


def _floats(left: Any, right: Any, absolute: float, relative: float, ulps: int) -> Difference:
    """One block, of one dimension; ``worst`` has the index in it."""
    a, b = wide(left), wide(right)
    nan_left, nan_right = np.isnan(a), np.isnan(b)
    nans = nan_left & nan_right
    differ = (a != b) & ~nans
    count = int(np.count_nonzero(differ))
    units = _units(left, right) if _has_ulps(left, right) else None
    if not count:
        return Difference(a.size, nans=int(np.count_nonzero(nans)), ulps=None if units is None else 0)
    odd = differ & ~(np.isfinite(a) & np.isfinite(b))
    error = np.where(differ & ~odd, np.abs(a - b), 0.0)
    size = np.abs(a)
    allowed = absolute + relative * np.where(np.isfinite(size), size, 0.0)
    share = np.where(error > 0, error / allowed, 0.0)
    if units is not None and ulps:
        share = np.minimum(share, units / ulps)
    share[odd] = np.inf
    # Among those without any allowance the largest error is the worst, and before all what is not finite.
    order = np.where(odd, np.inf, error) if np.isinf(share).any() else share
    index = int(np.argmax(np.where(share == share.max(), order, -1.0)))
    ratio = error / np.where(size > 0, size, np.inf)
    return Difference(
        a.size,
        differing=count,
        beyond=int(np.count_nonzero(share > 1.0)),
        not_finite=int(np.count_nonzero(odd)),
        nans=int(np.count_nonzero(nans)),
        absolute=float(error.max()),
        relative=float(ratio.max()),
        ulps=None if units is None else int(np.max(np.where(differ & ~odd, units, 0))),
        share=float(share.max()),
        worst=(index,),
        left=plain(left[index]),
        right=plain(right[index]),
    )


def _units(left: Any, right: Any) -> Any:
    """Return the number of values of their dtype between elements. Zero and minus zero are one value."""
    integer = {2: np.int16, 4: np.int32, 8: np.int64}.get(left.dtype.itemsize, np.int8)
    bits = 8 * left.dtype.itemsize - 1
    ordered = []
    for values in (left, right):
        raw = np.ascontiguousarray(values).view(integer).astype(np.float64 if bits > 32 else np.int64)
        ordered.append(np.where(raw < 0, -(2**bits) - raw, raw))
    return np.abs(ordered[0] - ordered[1])


def _joined(total: Difference, block: Difference, start: int, shape: tuple[int, ...]) -> Difference:
    found = dataclasses.replace(
        total,
        differing=total.differing + block.differing,
        beyond=total.beyond + block.beyond,
        not_finite=total.not_finite + block.not_finite,
        nans=total.nans + block.nans,
        absolute=max(total.absolute or 0.0, block.absolute or 0.0),
        relative=max(total.relative or 0.0, block.relative or 0.0),
        ulps=None if block.ulps is None else max(total.ulps or 0, block.ulps),
    )
    worse = block.share > total.share or (
        block.share == total.share and (block.absolute or 0.0) > (total.absolute or 0.0) and not total.not_finite
    )
    if block.worst is None or not (worse or total.worst is None):
        return found
    worst = tuple(int(each) for each in np.unravel_index(start + block.worst[0], shape))
    return dataclasses.replace(found, share=block.share, worst=worst, left=block.left, right=block.right)
