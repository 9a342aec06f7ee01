"""A generator of dicts as the input of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ....runtime import tf1 as tf

__all__ = ["generator_input_fn"]


def generator_input_fn(
    x: Callable[[], Iterator[dict[str, Any]]],
    target_key: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    pad_value: Any = None,
) -> Callable[[], Any]:
    """An ``input_fn`` of what a generator yields.

    Args:
        x: A function that returns a generator of dicts of arrays, one for each example.
        target_key: The key of the labels, or keys of them.
        batch_size: The size of a batch.
        num_epochs: How often the function is called; None for ever.
        shuffle: Whether examples are shuffled.
        queue_capacity: Among how many examples.
        num_threads: Of no effect.
        pad_value: What fills up shorter examples of a batch: a value, or one for each key.

    Raises:
        TypeError: ``x`` is no function that returns a generator.
        KeyError: There is no ``target_key``.
    """
    del num_threads
    if not callable(x):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    first = next(x())
    if not isinstance(first, dict):
        raise TypeError(f"data must be yielded as dict ; got {type(first).__name__}")
    keys = [target_key] if isinstance(target_key, str) else list(target_key or ())
    for key in keys:
        if key not in first:
            raise KeyError(f"target_key {key} not in yielded dict")

    def rows() -> Iterator[dict[str, Any]]:
        for row in x():
            yield {key: np.atleast_1d(np.asarray(value)) for key, value in row.items()}

    def input_fn() -> Any:
        arrays = {key: np.atleast_1d(np.asarray(value)) for key, value in first.items()}
        types = {key: tf.as_dtype(array.dtype) for key, array in arrays.items()}
        shapes = {key: [None] * array.ndim if pad_value is not None else array.shape for key, array in arrays.items()}
        dataset = tf.data.Dataset.from_generator(rows, types, shapes).repeat(num_epochs)
        if shuffle:
            dataset = dataset.shuffle(queue_capacity)
        if pad_value is None:
            dataset = dataset.batch(batch_size)
        else:
            values = pad_value if isinstance(pad_value, dict) else dict.fromkeys(arrays, pad_value)
            padding = {key: np.array(values[key], arrays[key].dtype) for key in arrays}
            dataset = dataset.padded_batch(batch_size, shapes, padding)
        iterator = tf.data.make_initializable_iterator(dataset)
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        features = iterator.get_next()
        if target_key is None:
            return features
        targets = {key: features.pop(key) for key in keys}
        return features, targets[target_key] if isinstance(target_key, str) else targets

    return input_fn
