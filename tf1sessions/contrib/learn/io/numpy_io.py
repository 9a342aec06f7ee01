"""Arrays as the input of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....estimator import inputs

__all__ = ["numpy_input_fn"]


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """``tf.estimator.inputs.numpy_input_fn``, which shuffles unless set otherwise."""
    return inputs.numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
