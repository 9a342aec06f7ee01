"""Numbers to the buckets that they are in."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["bucketize"]


def bucketize(input_tensor: Any, boundaries: Any, name: str | None = None) -> Any:
    """Return the number of ``boundaries`` that each number has reached.

    Args:
        input_tensor: Numbers, of any shape.
        boundaries: A list of numbers, the least first.
        name: The name of the operation.

    Returns:
        int32, the shape of ``input_tensor``.

    Raises:
        TypeError: ``boundaries`` is no list.
    """
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"Expected list for 'boundaries' argument to 'bucketize' Op, not {boundaries!r}.")
    return tf.raw_ops.Bucketize(input=input_tensor, boundaries=boundaries, name=name)
