"""Arrays in batches, for estimators that are given ``x`` and ``y``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...runtime import tf1 as tf

__all__ = ["input_fn_of"]


def input_fn_of(
    x: Any, y: Any = None, batch_size: int | None = None, shuffle: bool = False, epochs: int | None = 1
) -> Callable[[], tuple[Any, Any]]:
    """An ``input_fn`` that returns batches of arrays, which have the types of the arrays.

    Args:
        x: An array [N, ...], or a dict of them.
        y: An array [N, ...], or a dict of them; None for no labels.
        batch_size: The size of a batch; None for all examples at once. The last batch of an epoch may be smaller.
        shuffle: Whether each epoch has another order, the same in each run and in 1.15.5.
        epochs: How often; None for ever.

    Raises:
        ValueError: Arrays are not of one length.
    """
    x, y = _features(x), _labels(y)
    lengths = {len(value) for part in (x, y) for value in _values(part)}
    if len(lengths) != 1:
        raise ValueError(f"x and y must have one length, and have {sorted(lengths)}")
    (number,) = lengths
    size = number if batch_size is None else min(batch_size, number)

    def batches() -> Iterator[Any]:
        rng = np.random.RandomState(42)
        left = epochs
        while left is None or left > 0:
            order = rng.permutation(number) if shuffle else np.arange(number)
            for start in range(0, number, size):
                chosen = order[start : start + size]
                yield tuple(_take(part, chosen) for part in (x, y) if part is not None)
            left = None if left is None else left - 1

    def input_fn() -> tuple[Any, Any]:
        parts = tuple(part for part in (x, y) if part is not None)
        types = tuple(_map(part, lambda value: tf.as_dtype(value.dtype)) for part in parts)
        shapes = tuple(_map(part, lambda value: tf.TensorShape([None, *value.shape[1:]])) for part in parts)
        dataset = tf.data.Dataset.from_generator(batches, types, shapes)
        iterator = tf.data.make_initializable_iterator(dataset)
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        found = iterator.get_next()
        return found[0], (found[1] if y is not None else None)

    return input_fn


def _features(part: Any) -> Any:
    """Arrays of rank 2 or more: a number alone is a row, too."""
    return _map(part, lambda value: _array(value) if np.ndim(value) > 1 else _array(value).reshape(-1, 1))


def _labels(part: Any) -> Any:
    """Arrays in which a column alone is a vector."""
    return None if part is None else _map(part, _label)


def _label(value: Any) -> Any:
    array = _array(value)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _array(value: Any) -> Any:
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind == "U" else array


def _values(part: Any) -> list[Any]:
    if part is None:
        return []
    return list(part.values()) if isinstance(part, dict) else [part]


def _map(part: Any, function: Callable[[Any], Any]) -> Any:
    return {key: function(value) for key, value in part.items()} if isinstance(part, dict) else function(part)


def _take(part: Any, chosen: Any) -> Any:
    return _map(part, lambda value: value[chosen])
