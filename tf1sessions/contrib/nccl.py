"""``tf.contrib.nccl``, which TensorFlow had until 1.13: sums and copies over the devices of a machine.

They are made of additions and copies, which run on CPUs, too, and have gradients; programs may import the module under
1.15 that fell back to other code there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import UsageError
from ..runtime import tf1 as tf

__all__ = ["all_max", "all_min", "all_prod", "all_sum", "broadcast", "reduce_sum"]


def all_sum(tensors: Iterable[Any]) -> list[Any]:
    """Return the sum of all tensors on the device of each of them.

    Args:
        tensors: Tensors of one shape and dtype.

    Raises:
        UsageError: There are none. It is a ValueError, too.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     with tf.device("/cpu:0"):
        ...         parts = [tf.constant([1.0]), tf.constant([2.0])]
        ...     [value.tolist() for value in gs.run(t1.contrib.nccl.all_sum(parts))]
        [[3.0], [3.0]]
    """
    return _on_each(tensors, tf.add_n, "NcclAllReduce")


def all_prod(tensors: Iterable[Any]) -> list[Any]:
    """Return the product of all tensors on the device of each of them; see :func:`all_sum`."""
    return _on_each(tensors, lambda given: functools.reduce(tf.multiply, given), "NcclAllReduce")


def all_min(tensors: Iterable[Any]) -> list[Any]:
    """Return the least of all tensors, by element, on the device of each of them; see :func:`all_sum`."""
    return _on_each(tensors, lambda given: functools.reduce(tf.minimum, given), "NcclAllReduce")


def all_max(tensors: Iterable[Any]) -> list[Any]:
    """Return the greatest of all tensors, by element, on the device of each of them; see :func:`all_sum`."""
    return _on_each(tensors, lambda given: functools.reduce(tf.maximum, given), "NcclAllReduce")


def reduce_sum(tensors: Iterable[Any]) -> Any:
    """Return the sum of all tensors on the current device.

    Args:
        tensors: Tensors of one shape and dtype.

    Raises:
        UsageError: There are none. It is a ValueError, too.
    """
    return tf.add_n(_given(tensors), name="NcclReduce")


def broadcast(tensor: Any) -> Any:
    """Return a tensor that operations on other devices take; it is copied there when they do."""
    tensor = tf.convert_to_tensor(tensor)
    with tf.device(tensor.device or None):
        return tf.identity(tensor, name="NcclBroadcast")


def _given(tensors: Iterable[Any]) -> list[Any]:
    given = [tf.convert_to_tensor(tensor) for tensor in tensors]
    if not given:
        raise UsageError(
            "there are no tensors", where="tf.contrib.nccl", next_step="Give at least one, of each device one."
        )
    return given


def _on_each(tensors: Iterable[Any], reduced: Callable[[list[Any]], Any], name: str) -> list[Any]:
    """``reduced`` of all tensors, on the device of each of them."""
    given = _given(tensors)
    results = []
    for tensor in given:
        with tf.name_scope(name), tf.device(tensor.device or None):
            results.append(tf.identity(reduced(given)))
    return results
