"""Common parts of the metrics: local variables, and the collections of values and updates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["Metric", "collected", "local"]

Metric = Any  # a pair: the value, and the operation that updates it


def local(name: str, shape: Sequence[int], dtype: Any = None) -> Any:
    """A local variable of zeros, float32 unless ``dtype`` says otherwise, that belongs to a metric."""
    return tf.get_variable(
        name,
        shape,
        dtype or tf.float32,
        tf.zeros_initializer(),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
    )


def collected(value: Any, update: Any, metrics_collections: Any, updates_collections: Any) -> Metric:
    """The pair, after it was added to the collections."""
    if metrics_collections:
        tf.add_to_collections(metrics_collections, value)
    if updates_collections:
        tf.add_to_collections(updates_collections, update)
    return value, update
