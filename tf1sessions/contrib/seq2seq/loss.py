"""The cross-entropy of sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["sequence_loss"]


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross-entropy, summed over the dimensions that are asked for.

    "Average" divides a sum by the sum of its weights, "sum over" by the number of weights that are not 0. If one
    dimension is averaged, "sum over" of the other does nothing.

    Args:
        logits: [B, T, V].
        targets: [B, T], whole numbers below V.
        weights: [B, T].
        average_across_timesteps: Whether T is averaged.
        average_across_batch: Whether B is averaged.
        sum_over_timesteps: Whether T is summed.
        sum_over_batch: Whether B is summed.
        softmax_loss_function: ``f(labels=..., logits=...)`` of [B * T] and [B * T, V] that gives [B * T], in place of
            the softmax.
        name: The name of the operations; None for ``sequence_loss``.

    Returns:
        [B, T], without the dimensions that were summed.

    Raises:
        ValueError: A tensor has another rank, or a dimension is to be averaged and summed.
    """
    for tensor, rank, text in (
        (logits, 3, "Logits must be a [batch_size x sequence_length x logits] tensor"),
        (targets, 2, "Targets must be a [batch_size x sequence_length] tensor"),
        (weights, 2, "Weights must be a [batch_size x sequence_length] tensor"),
    ):
        if len(tensor.shape) != rank:
            raise ValueError(text)
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")

    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        flat_logits = tf.reshape(logits, [-1, tf.shape(logits)[2]])
        loss = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
        losses = loss(labels=tf.reshape(targets, [-1]), logits=flat_logits) * tf.reshape(weights, [-1])
        average = average_across_timesteps or average_across_batch
        over_batch, over_time = (
            (average_across_batch, average_across_timesteps) if average else (sum_over_batch, sum_over_timesteps)
        )
        axes = [axis for axis, wanted in enumerate((over_batch, over_time)) if wanted]
        if len(axes) < 2:
            losses = tf.reshape(losses, tf.shape(logits)[:2])
        if not axes:
            return losses
        over = axes if len(axes) < 2 else None
        total = tf.reduce_sum(losses, axis=over)
        if average:
            size = tf.reduce_sum(weights, axis=over)
        else:
            size = tf.cast(tf.math.count_nonzero(weights, axis=over), losses.dtype)
        return tf.math.divide_no_nan(total, size)
