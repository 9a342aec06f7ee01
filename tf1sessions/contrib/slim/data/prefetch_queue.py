"""A queue that holds batches before they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....runtime import tf1 as tf

__all__ = ["prefetch_queue"]


def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """A queue that a queue runner, which is added, fills with the values of ``tensors``.

    Args:
        tensors: A list of tensors, or a dict of them by name: what ``dequeue()`` of the queue gives.
        capacity: How many it holds.
        num_threads: How many threads fill it.
        dynamic_pad: Whether sizes may be unknown.
        shared_name: The queue's name for several sessions.
        name: The name of the operations.

    Raises:
        ValueError: A shape is not known.
    """
    by_name = isinstance(tensors, Mapping)
    names = sorted(tensors) if by_name else None
    values = [tensors[key] for key in names] if names is not None else list(tensors)
    with tf.name_scope(name, "prefetch_queue", values):
        queue = (tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue)(
            capacity=capacity,
            dtypes=[value.dtype for value in values],
            shapes=[value.shape for value in values],
            names=names,
            shared_name=shared_name,
        )
        operation = queue.enqueue(tensors if by_name else values)
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [operation] * num_threads))
        tf.summary.scalar(f"fraction_of_{capacity}_full", tf.cast(queue.size(), tf.float32) * (1.0 / capacity))
        return queue
