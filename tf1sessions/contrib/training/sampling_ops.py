"""Batches of examples that are drawn at random: queues before and after a draw that keeps or rejects each example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["rejection_sample", "stratified_sample"]

_SEEN_BEFORE = 10  # of each class, so that no share is 0 at the start; 1.15's number


def _one_by_one(tensors: Sequence[Any], threads: int, capacity: int) -> list[Any]:
    """The examples of batches, one at a time, by way of a queue."""
    batches = tf.train.batch(
        list(tensors), batch_size=1, num_threads=threads, capacity=capacity, enqueue_many=True, name="batch"
    )
    batches = batches if isinstance(batches, (list, tuple)) else [batches]
    return [tf.squeeze(tensor, [0]) for tensor in batches]


def _kept(tensors: Sequence[Any], probability: Any, batch_size: int, threads: int) -> list[Any]:
    """Batches of the examples that a draw keeps."""
    if probability.shape.rank not in (None, 0):
        raise ValueError(f"the probability of an example must be a scalar: {probability}")
    keep = tf.less(tf.random_uniform([]), probability)
    batches = tf.train.maybe_batch(list(tensors), keep, batch_size, num_threads=threads)
    return list(batches) if isinstance(batches, (list, tuple)) else [batches]


def rejection_sample(
    tensors: Sequence[Any],
    accept_prob_fn: Callable[[list[Any]], Any],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Any]:
    """Batches of examples, each of which is kept with a probability of its own.

    Args:
        tensors: One example, or with ``enqueue_many`` a batch of them.
        accept_prob_fn: From the tensors of one example to its probability, a scalar.
        batch_size: The examples of a batch.
        queue_threads: The threads that fill batches.
        enqueue_many: Whether ``tensors`` are batches.
        prebatch_capacity: How many examples of batches wait.
        prebatch_threads: The threads that take batches apart.
        runtime_checks: Whether it is an error if a probability is not between 0 and 1.
        name: The name scope.

    Returns:
        The tensors, [batch_size, ...].

    Raises:
        ValueError: The probability is no scalar.
    """
    with tf.name_scope(name, "rejection_sample", list(tensors)):
        examples = [tf.convert_to_tensor(tensor) for tensor in tensors]
        if enqueue_many:
            examples = _one_by_one(examples, prebatch_threads, prebatch_capacity)
        probability = tf.convert_to_tensor(accept_prob_fn(examples))
        if runtime_checks:
            checks = [tf.assert_less_equal(0.0, probability), tf.assert_less_equal(probability, 1.0)]
            with tf.control_dependencies(checks):
                probability = tf.identity(probability)
        return _kept(examples, probability, batch_size, queue_threads)


def stratified_sample(
    tensors: Sequence[Any],
    labels: Any,
    target_probs: Any,
    batch_size: int,
    init_probs: Any = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Any], Any]:
    """Batches in which each class has a share, by rejecting examples.

    Args:
        tensors: One example, or with ``enqueue_many`` a batch of them, [B, ...].
        labels: Its class, a scalar, or [B]; whole numbers below C.
        target_probs: [C], the shares in the batches.
        batch_size: The examples of a batch.
        init_probs: [C], the shares in the data; None to count them while it runs.
        enqueue_many: Whether ``tensors`` and ``labels`` are batches.
        queue_capacity: How many examples wait.
        threads_per_queue: The threads of each queue.
        name: The name scope.

    Returns:
        ``(tensors, labels)``: a list of [batch_size, ...], and [batch_size].

    Raises:
        TypeError: ``tensors`` are no list.
        ValueError: The labels are no scalar, or with ``enqueue_many`` no vector.
    """
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"tensors must be a list, not {tensors}")
    with tf.name_scope(name, "stratified_sample", [*tensors, labels]) as scope:
        examples = [tf.convert_to_tensor(tensor) for tensor in tensors]
        labels = tf.convert_to_tensor(labels)
        target_probs = tf.convert_to_tensor(target_probs, tf.float32)
        if labels.shape.rank != int(enqueue_many):
            raise ValueError(f"labels must be {'a vector' if enqueue_many else 'a scalar'}: {labels}")
        if not enqueue_many:
            labels, examples = tf.expand_dims(labels, 0), [tf.expand_dims(example, 0) for example in examples]
        classes = int(target_probs.shape[0])
        with tf.control_dependencies(_checks(labels, target_probs, classes)):
            labels = tf.identity(labels)
        if init_probs is None:
            present = _shares(labels, classes, scope)
        else:
            present = tf.convert_to_tensor(init_probs, tf.float32)
        *examples, label = _one_by_one([*examples, labels], threads_per_queue, queue_capacity)
        ratios = tf.math.divide_no_nan(target_probs, present)
        probability = tf.gather(ratios / tf.reduce_max(ratios), label)
        *batches, label_batch = _kept([*examples, label], probability, batch_size, threads_per_queue)
        return batches, label_batch


def _checks(labels: Any, target_probs: Any, classes: int) -> list[Any]:
    """Operations that fail when a label is no class, or the shares do not add up to 1."""
    total = tf.reduce_sum(target_probs)
    return [
        tf.assert_non_negative(labels),
        tf.assert_less(labels, tf.constant(classes, labels.dtype)),
        tf.assert_non_negative(target_probs),
        tf.assert_less(tf.abs(total - 1.0), 1e-3),
    ]


def _shares(labels: Any, classes: int, scope: str) -> Any:
    """[C], the share of each class in all labels so far."""
    seen = tf.Variable(tf.constant(_SEEN_BEFORE, tf.int64, [classes]), trainable=False, name="class_count")
    here = tf.reduce_sum(tf.one_hot(labels, classes, dtype=tf.int64), 0)
    counts = tf.assign_add(seen, here)
    counts = tf.cast(tf.convert_to_tensor(counts), tf.float32)
    return counts / tf.reduce_sum(counts)
