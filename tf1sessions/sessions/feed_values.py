"""Values that are fed: converted and checked as ``Session.run`` would, and kept apart from results."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import numpy as np

from tf1sessions.runtime import private, tf

__all__ = ["Feed", "asarray", "with_own_arrays", "without_fed_arrays"]

_Tensor: Any = tf.Tensor
_RaggedTensorValue: Any = tf.ragged.RaggedTensorValue
_ndarray = np.ndarray

# Where TensorFlow meets NumPy 2 it converts in two steps, which lets integers that are too large wrap around.
_TWO_STEPS = private.numpy_compat is not None and int(np.__version__.partition(".")[0]) >= 2


def asarray(value: Any, dtype: Any) -> Any:
    if _TWO_STEPS and np.issubdtype(dtype, np.number):
        return np.asarray(value).astype(dtype, copy=False)
    return np.asarray(value, dtype=dtype)


def _whole_numbers(dtype: Any) -> tuple[int, int]:
    """The Python ints that ``run`` surely takes for a dtype: it refuses those that the dtype would change."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(limits.min), int(limits.max)
    if dtype.kind in "fc":
        largest = 2 ** int(np.finfo(dtype).nmant)
        return -largest, largest
    return 1, 0  # none


class Feed:
    """One tensor that is fed: its dtype and static shape, and what ``run`` would do to a value for it."""

    __slots__ = ("accepted", "dims", "dtype", "shape", "tensor", "whole_numbers")

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.dtype = np.dtype(tensor.dtype.as_numpy_dtype)
        self.whole_numbers = _whole_numbers(self.dtype)
        self.shape: Any = None
        self.dims: tuple[int | None, ...] | None = None
        # The shape that was accepted last under `shape`: the next value usually has it too.
        self.accepted: tuple[int, ...] | None = None
        self.refresh()

    def refresh(self) -> None:
        """Reads the static shape again; ``set_shape`` may have narrowed it."""
        shape = self.tensor.shape
        self.dims = None if shape.rank is None else tuple(shape.as_list())
        self.shape = shape
        self.accepted = None

    def array(self, value: Any) -> Any:
        """The array to feed for a value, or None: ask ``run``."""
        if type(value) is not _ndarray or (value.dtype is not self.dtype and value.dtype != self.dtype):
            value = self._convert(value)
        return value if value is not None and self._accepts(value.shape) else None

    def _accepts(self, shape: tuple[int, ...]) -> bool:
        if self.tensor._shape_val is not self.shape:
            self.refresh()
        dims = self.dims
        if dims is not None and dims != shape:
            if len(dims) != len(shape):
                return False
            for known, given in zip(dims, shape):  # noqa: B905 - the lengths are equal
                if known is not None and known != given:
                    return False
        self.accepted = shape
        return True

    def _convert(self, value: Any) -> Any:
        """The array that ``run`` would make of a value that is not one of the right dtype, or None: ask ``run``."""
        kind = type(value)
        if kind is int or kind is bool:
            if not self.whole_numbers[0] <= value <= self.whole_numbers[1]:
                return None
        elif not (kind is float or kind is _ndarray or kind is list or kind is tuple or issubclass(kind, np.generic)):
            return None
        try:
            return asarray(value, self.dtype)
        except Exception:  # noqa: BLE001 - the slow way meets the same error and raises it as TensorFlow words it
            return None


def with_own_arrays(value: Any) -> Any:
    """Return a value that is fed later, with copies of its arrays: their owner may fill them again until then.

    Arrays in tuples, lists and dicts are copied as well; all else is as it was.
    """
    if isinstance(value, _ndarray):
        return value.copy()
    if type(value) in (tuple, list):
        return type(value)([with_own_arrays(each) for each in value])
    if type(value) is dict:
        return {key: with_own_arrays(each) for key, each in value.items()}
    return value


def without_fed_arrays(result: Any, feed_dict: Any) -> Any:
    """Copies what the slow way returned of the fed arrays themselves (a tensor both fed and fetched)."""
    fed = [array for feed, value in feed_dict.items() for array in _arrays(value, feed)] if feed_dict else []
    return _own_parts(result, fed) if fed else result


def _arrays(value: Any, feed: Any) -> list[Any]:
    """The arrays among what is fed for one key; a key that is a composite or a tuple has several values."""
    if isinstance(value, _ndarray):
        return [value]
    if isinstance(value, _RaggedTensorValue):
        return [*_arrays(value.values, feed), value.row_splits]
    if isinstance(value, (tuple, list)) and not isinstance(feed, (_Tensor, tf.Variable, str)):
        parts = feed if isinstance(feed, tuple) and len(feed) == len(value) else [feed] * len(value)
        return [array for part, each in zip(parts, value, strict=True) for array in _arrays(each, part)]
    return []


def _own_parts(item: Any, fed: list[Any]) -> Any:
    """``item`` with copies of what shares memory with ``fed``; its containers were made by TensorFlow just now."""
    if isinstance(item, _ndarray):
        return item.copy() if any(np.may_share_memory(item, other) for other in fed) else item
    if isinstance(item, tuple):
        parts = [_own_parts(each, fed) for each in item]
        if all(part is each for part, each in zip(parts, item, strict=True)):
            return item
        return tuple(parts) if type(item) is tuple else type(item)(*parts)
    if isinstance(item, list):
        item[:] = [_own_parts(each, fed) for each in item]
    elif isinstance(item, MutableMapping):
        for key, each in item.items():
            item[key] = _own_parts(each, fed)
    elif isinstance(item, _RaggedTensorValue):
        return _RaggedTensorValue(_own_parts(item.values, fed), _own_parts(item.row_splits, fed))
    elif hasattr(type(item), "__attrs_attrs__"):
        return type(item)(*[_own_parts(getattr(item, part.name), fed) for part in type(item).__attrs_attrs__])
    return item
