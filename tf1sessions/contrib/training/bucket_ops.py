"""Batches of examples that are alike: a queue for each bucket, and one on top for full batches.

Data flow: one queue runner puts each example into the queue of its bucket; another takes batches from these queues and
puts them into the top queue, from which a training step takes them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["bucket", "bucket_by_sequence_length"]

Tensors = Sequence[Any] | Mapping[str, Any]


def _per_bucket(value: Any, count: int, problem: str) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise ValueError(problem)
    return list(value)


def _known_shapes(flat: Sequence[Any], shapes: Any, dynamic_pad: bool) -> list[Any]:
    """The shapes of an example's tensors.

    Raises:
        ValueError: They are not known well enough.
    """
    known = [tf.TensorShape(shape) for shape in (shapes or [tensor.shape for tensor in flat])]
    if len(known) != len(flat):
        raise ValueError(f"bucket: {len(known)} shapes for {len(flat)} tensors")
    if dynamic_pad:
        if any(shape.rank is None for shape in known):
            raise ValueError(f"Cannot infer Tensor's rank: {flat}")
    elif not all(shape.is_fully_defined() for shape in known):
        raise ValueError(f"All shapes must be fully defined: {known}")
    return known


def _bucket_queues(
    make: Callable[..., Any], capacities: Sequence[int], types: Any, shapes: Any, shared_name: str | None
) -> list[Any]:
    return [
        make(
            capacity=capacity,
            dtypes=types,
            shapes=shapes,
            shared_name=f"{shared_name}_{i}" if shared_name else None,
            name=f"bucket_queue_{i}",
        )
        for i, capacity in enumerate(capacities)
    ]


def _enqueue_op(queues: Sequence[Any], example: Sequence[Any], which_bucket: Any, keep_input: Any) -> Any:
    """Puts ``example`` into the queue of its bucket, unless ``keep_input`` is False."""

    def enqueue_one(index: int) -> Any:
        with tf.control_dependencies([queues[index].enqueue(example)]):
            return tf.constant(True)

    def enqueue() -> Any:
        which = tf.convert_to_tensor(which_bucket, tf.int32)
        made = [
            tf.cond(tf.equal(which, i), functools.partial(enqueue_one, i), lambda: tf.constant(False))
            for i in range(len(queues))
        ]
        with tf.control_dependencies(made):
            return tf.constant(True)

    kept = tf.get_static_value(keep_input) if tf.is_tensor(keep_input) else keep_input
    if kept is None:
        return tf.cond(keep_input, enqueue, lambda: tf.constant(False)).op
    return enqueue().op if kept else tf.no_op()


def _batches(top: Any, queues: Sequence[Any], sizes: Sequence[Any], allow_smaller: bool) -> list[Any]:
    """For each bucket, the operation that puts a batch of it into the queue ``top``."""
    operations = []
    for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        take = queue.dequeue_up_to if allow_smaller else queue.dequeue_many
        batch = take(size, name=f"read_bucket_{i}")
        batch = [batch] if tf.is_tensor(batch) else batch
        operations.append(top.enqueue([tf.constant(i), *batch], name=f"enqueue_from_bucket_{i}"))
    return operations


def _add_runners(top: Any, queues: Sequence[Any], enqueue_op: Any, num_threads: int, batches: Sequence[Any]) -> None:
    """Adds the threads that fill the buckets from the input, and the top queue from the buckets."""
    ended = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
    tf.train.add_queue_runner(
        tf.train.QueueRunner(
            queues[0],
            batches,
            close_op=top.close(),
            cancel_op=top.close(cancel_pending_enqueues=True),
            queue_closed_exception_types=ended,
        )
    )
    tf.train.add_queue_runner(
        tf.train.QueueRunner(
            top,
            [enqueue_op] * num_threads,
            close_op=tf.group(*[queue.close() for queue in queues]),
            cancel_op=tf.group(*[queue.close(cancel_pending_enqueues=True) for queue in queues]),
            queue_closed_exception_types=ended,
        )
    )


def bucket(
    tensors: Tensors,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Batches of examples that are in the same bucket.

    Args:
        tensors: One example: a list or dict of tensors.
        which_bucket: Its bucket, an int32 scalar in [0, num_buckets).
        batch_size: The number of examples in a batch, or a list with one for each bucket.
        num_buckets: The number of buckets.
        num_threads: How many threads run ``tensors``.
        capacity: The number of batches that the top queue holds, and of examples that each bucket's queue does.
        bucket_capacities: A list with the number of examples for each bucket's queue, in place of ``capacity``.
        shapes: The shapes of ``tensors``; None for what is known of them.
        dynamic_pad: Whether dimensions that are unknown are padded with zeros (or empty strings) in a batch.
        allow_smaller_final_batch: Whether what is left when the examples end makes smaller batches.
        keep_input: A bool scalar: whether this example counts.
        shared_name: Sessions share the queues under this name.
        name: The name scope.

    Returns:
        ``(bucket, outputs)``: an int32 scalar, and the batch of it, a list or dict like ``tensors``.

    Raises:
        ValueError: A shape is not known enough, or a list has not one item for each bucket.
    """
    keys = sorted(tensors) if isinstance(tensors, Mapping) else None
    flat = [tensors[key] for key in keys] if isinstance(tensors, Mapping) and keys is not None else list(tensors)
    with tf.name_scope(name, "bucket", flat):
        flat = [tf.convert_to_tensor(tensor) for tensor in flat]
        if not flat:
            raise ValueError("Expected at least one tensor in bucket().")
        sizes = _per_bucket(batch_size, num_buckets, "If batch_size is a list it must have num_buckets elements")
        capacities = _per_bucket(
            list(bucket_capacities) if bucket_capacities is not None else capacity,
            num_buckets,
            f"The list bucket_capacities ({bucket_capacities}) must have exactly num_buckets ({num_buckets}) elements.",
        )
        known = _known_shapes(flat, shapes, dynamic_pad)
        sizes = [size if isinstance(size, int) else tf.get_static_value(size, partial=False) or size for size in sizes]
        fixed = sizes[0] if isinstance(sizes[0], int) and all(size is sizes[0] for size in sizes) else None
        if allow_smaller_final_batch:
            fixed = None
        types = [tensor.dtype.base_dtype for tensor in flat]
        make = tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue
        queues = _bucket_queues(make, capacities, types, known, shared_name)
        # batches of different buckets differ in size, so the top queue pads; there is one batch at a time in it
        top = tf.PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[tf.int32, *types],
            shapes=[tf.TensorShape([]), *(tf.TensorShape([fixed]).concatenate(shape) for shape in known)],
            shared_name=shared_name,
            name="top_queue",
        )

        enqueue_op = _enqueue_op(queues, flat, which_bucket, keep_input)
        batches = _batches(top, queues, sizes, allow_smaller_final_batch)
        _add_runners(top, queues, enqueue_op, num_threads, batches)
        for queue in queues:
            tf.summary.scalar(f"bucket/{queue.name}/size", tf.cast(top.size(), tf.float32))
        full = tf.cast(top.size(), tf.float32) * (1.0 / capacity)
        tf.summary.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", full)

        index, *outputs = top.dequeue(name="dequeue_top")
        for output, shape in zip(outputs, known, strict=True):
            output.set_shape(tf.TensorShape([fixed]).concatenate(shape))
        return index, outputs if keys is None else dict(zip(keys, outputs, strict=True))


def bucket_by_sequence_length(
    input_length: Any,
    tensors: Tensors,
    batch_size: Any,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Batches of examples whose lengths are in the same range.

    Args:
        input_length: The length of this example, an int32 scalar.
        tensors: As for :func:`bucket`, like all that is not here.
        batch_size: See there.
        bucket_boundaries: Lengths, increasing: n of them make n + 1 buckets, and a boundary is in the one above it.
        num_threads: See there.
        capacity: See there.
        bucket_capacities: See there.
        shapes: See there.
        dynamic_pad: See there.
        allow_smaller_final_batch: See there.
        keep_input: See there.
        shared_name: See there.
        name: See there.

    Returns:
        ``(lengths, outputs)``: int32 of shape [batch_size], and the batch, a list or dict like ``tensors``.

    Raises:
        TypeError: ``bucket_boundaries`` is no list of whole numbers.
        ValueError: It is empty or does not increase; and as for :func:`bucket`.
    """
    if not isinstance(bucket_boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {bucket_boundaries}")
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for low, high in itertools.pairwise(bucket_boundaries):
        if not isinstance(low, int) or not isinstance(high, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {low} and {high}")
        if low >= high:
            raise ValueError(f"Buckets must contain sequential increasing lengths, but saw: {low} before {high}")

    keys = sorted(tensors) if isinstance(tensors, Mapping) else None
    flat = [tensors[key] for key in keys] if isinstance(tensors, Mapping) and keys is not None else list(tensors)
    with tf.name_scope(name, "bucket_by_sequence_length", [input_length, *flat]):
        input_length = tf.convert_to_tensor(input_length, dtype=tf.int32, name="input_length")
        above = tf.less_equal(tf.constant(list(bucket_boundaries), tf.int32), input_length)
        _, outputs = bucket(
            [input_length, *flat],
            which_bucket=tf.reduce_sum(tf.cast(above, tf.int32)),
            batch_size=batch_size,
            num_buckets=len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=[[], *shapes] if shapes else None,
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
    lengths, *batch = outputs
    return lengths, batch if keys is None else dict(zip(keys, batch, strict=True))
