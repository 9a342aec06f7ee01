"""Losses for each example: functions that return losses ``[N, 1]``, weighted, and an operation that does nothing."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "per_example_exp_loss",
    "per_example_full_exp_loss",
    "per_example_logistic_loss",
    "per_example_maxent_loss",
    "per_example_quantile_regression_loss",
    "per_example_squared_hinge_loss",
    "per_example_squared_loss",
]


def per_example_squared_hinge_loss(labels: Any, weights: Any, predictions: Any) -> tuple[Any, Any]:
    """The square of the mean hinge loss, one number for all examples, as in 1.15.5.

    Args:
        labels: ``[N, 1]``, 0 or 1.
        weights: ``[N, 1]``.
        predictions: ``[N, 1]``, logits.
    """
    return tf.square(tf.losses.hinge_loss(labels=labels, logits=predictions, weights=weights)), tf.no_op()


def per_example_logistic_loss(labels: Any, weights: Any, predictions: Any) -> tuple[Any, Any]:
    """The logistic loss.

    Args:
        labels: ``[N, 1]``, 0 or 1.
        weights: ``[N, 1]``.
        predictions: ``[N, 1]``, logits.
    """
    labels = tf.cast(labels, tf.float32)
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions) * weights, tf.no_op()


def per_example_quantile_regression_loss(
    labels: Any, weights: Any, predictions: Any, quantile: float
) -> tuple[Any, Any]:
    """The loss of a regression to a quantile, squared where it is below 1.

    Args:
        labels: ``[N, D]`` floats.
        weights: ``[N, 1]``.
        predictions: ``[N, D]``.
        quantile: Between 0 and 1.
    """
    error = tf.cast(labels, tf.float32) - predictions
    losses = []
    for factor in (quantile, quantile - 1):
        losses.append(tf.where(error * factor < 1, tf.square(factor * error), factor * error))
    return tf.where(error > 0, *losses) * weights, tf.no_op()


def per_example_maxent_loss(
    labels: Any, weights: Any, logits: Any, num_classes: int, eps: float = 1e-15
) -> tuple[Any, Any]:
    """The negative logarithm of the probability of the label's class.

    Args:
        labels: ``[N, 1]`` or ``[N]``, numbers of classes.
        weights: ``[N, 1]``.
        logits: ``[N, num_classes]``; as in 1.15.5, they are not shifted before their exp.
        num_classes: How many classes there are.
        eps: The least probability.
    """
    labels = tf.cast(labels, tf.int64)
    if labels.shape.ndims == 1:
        labels = tf.expand_dims(labels, 1)
    is_label = tf.reduce_sum(tf.one_hot(labels, num_classes), [1])
    unnormalized = tf.exp(logits)
    probabilities = unnormalized / (tf.reduce_sum(unnormalized, 1, keepdims=True) + eps)
    likelihood = tf.reduce_sum(is_label * probabilities, 1)
    least = tf.zeros_like(likelihood) + eps
    most = tf.ones_like(likelihood) - eps
    likelihood = tf.where(likelihood >= eps, likelihood, least)
    likelihood = tf.where(likelihood <= 1 - eps, likelihood, most)
    return tf.expand_dims(-tf.math.log(likelihood), 1) * weights, tf.no_op()


def per_example_squared_loss(labels: Any, weights: Any, predictions: Any) -> tuple[Any, Any]:
    """The sum of the squared differences.

    Args:
        labels: ``[N, D]``.
        weights: ``[N, 1]``.
        predictions: ``[N, D]``.
    """
    differences = tf.math.squared_difference(predictions, labels)
    return tf.reduce_sum(differences, 1, keepdims=True) * weights, tf.no_op()


def per_example_exp_loss(
    labels: Any, weights: Any, predictions: Any, name: str | None = None, eps: float = 0.1
) -> tuple[Any, Any]:
    """The exponential loss of predictions that are cut: -1 and 1, with a slope between probabilities 0.5 +- eps.

    Args:
        labels: ``[N, D]``, 0 or 1.
        weights: ``[N, 1]``.
        predictions: ``[N, D]``, logits.
        name: Not used, as in 1.15.5.
        eps: Half of the width of the slope.
    """
    signs, ones, minus_ones = _signs(labels)
    slope = (1.0 / eps) * tf.sigmoid(predictions) + (-0.5 / eps)
    cut = tf.where(slope < -1, minus_ones, slope)
    cut = tf.where(cut > 1, ones, cut)
    return tf.exp(-cut * signs) * weights, tf.no_op()


def per_example_full_exp_loss(labels: Any, weights: Any, predictions: Any, name: str | None = None) -> tuple[Any, Any]:
    """The exponential loss.

    Args:
        labels: ``[N, D]``, 0 or 1.
        weights: ``[N, 1]``.
        predictions: ``[N, D]``, logits.
        name: Not used, as in 1.15.5.
    """
    signs, _, _ = _signs(labels)
    return tf.exp(-1.0 * predictions * signs) * weights, tf.no_op()


def _signs(labels: Any) -> tuple[Any, Any, Any]:
    """1 for positive labels and -1 for others; and ones, and minus ones."""
    labels = tf.cast(labels, tf.float32)
    zeros = tf.zeros_like(labels)
    ones, minus_ones = tf.ones_like(labels), -tf.ones_like(labels)
    return tf.where(labels > zeros, ones, minus_ones), ones, minus_ones
