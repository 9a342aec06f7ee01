"""Resampling within a batch: how often each example appears is drawn at random. B is the batch."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["resample_at_rate", "weighted_resample"]

_averages: Any = importlib.import_module(tf.train.ExponentialMovingAverage.__module__)


def resample_at_rate(
    inputs: Sequence[Any], rates: Any, scope: str | None = None, seed: int | None = None, back_prop: bool = False
) -> list[Any]:
    """Each example as often as a Poisson variable of its rate says.

    Args:
        inputs: Tensors [B, ...].
        rates: [B], how often each appears on average.
        scope: The name scope.
        seed: Of the Poisson variables.
        back_prop: Taken for 1.15's sake: gradients reach ``inputs`` either way, as they did there.

    Returns:
        The tensors, with another number of examples, which may be 0.
    """
    with tf.name_scope(scope, "resample_at_rate", list(inputs)):
        rates = tf.convert_to_tensor(rates, name="rates")
        counts = tf.cast(tf.random_poisson(rates, [], rates.dtype, seed=seed), tf.int32)
        chosen = tf.repeat(tf.range(tf.size(counts)), counts)
        return [tf.gather(tensor, chosen) for tensor in inputs]


def weighted_resample(
    inputs: Sequence[Any],
    weights: Any,
    overall_rate: float,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Any], Any]:
    """Examples, each in proportion to its weight.

    Args:
        inputs: Tensors [B, ...].
        weights: [B].
        overall_rate: How often an example appears, on average over all and over many calls.
        scope: The name scope, and the variable scope.
        mean_decay: The decay of the running mean of the weights.
        seed: Of the draws.

    Returns:
        ``(outputs, rates)``: the tensors with another number of examples, N, which may be 0, and the rate, [N], at
        which each was drawn.
    """
    weights = tf.convert_to_tensor(weights)
    with tf.variable_scope(scope, "estimate_mean", list(inputs)):
        estimate = tf.get_variable(
            "estimated_mean",
            [],
            tf.float32,
            tf.zeros_initializer(),
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES],
        )
        mean = _averages.assign_moving_average(estimate, tf.reduce_mean(weights), mean_decay, zero_debias=True)
    with tf.name_scope(scope, "weighted_resample", list(inputs)):
        rates = overall_rate * weights / tf.convert_to_tensor(mean)
        rates, *outputs = resample_at_rate([rates, *inputs], rates, scope=None, seed=seed)
        return outputs, rates
