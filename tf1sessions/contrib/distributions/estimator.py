"""A head of ``tf.contrib.learn`` whose loss is a distribution's negative log-likelihood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from ..learn.head import _RegressionHead

__all__ = ["estimator_head_distribution_regression"]


def estimator_head_distribution_regression(
    make_distribution_fn: Callable[[Any], Any],
    label_dimension: int = 1,
    logits_dimension: int | None = None,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Any:
    """Return a head for labels that a distribution of the logits draws; predictions are its mean.

    Args:
        make_distribution_fn: Makes the distribution of the logits [B, D].
        label_dimension: How many numbers each example has.
        logits_dimension: D; ``label_dimension`` without it.
        label_name: Which label, if they are a dict.
        weight_column_name: Which feature has the weights [B].
        enable_centered_bias: Whether a bias is learned for all examples.
        head_name: Of the head; suffix of metrics.
    """
    return _DistributionRegressionHead(
        make_distribution_fn,
        label_dimension,
        label_dimension if logits_dimension is None else logits_dimension,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
    )


class _DistributionRegressionHead(_RegressionHead):
    def __init__(self, make: Callable[[Any], Any], label_dimension: int, dimension: int, *rest: Any) -> None:
        super().__init__("", self._negative_log_prob, self._mean, dimension, *rest)
        self._make = make
        self._label_dimension = label_dimension
        self._made: dict[Any, Any] = {}

    def distribution(self, logits: Any, name: str | None = None) -> Any:
        """Return the distribution of ``logits``, made once."""
        key = logits.ref()
        if key not in self._made:
            with tf.name_scope(name, "distribution", [logits]):
                self._made[key] = self._make(logits)
        return self._made[key]

    def _mean(self, logits: Any) -> Any:
        return self.distribution(logits).mean()

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {"scores": self._mean(logits)}

    def _losses(self, labels: Any, logits: Any) -> Any:
        return self._negative_log_prob(labels, logits)

    def _negative_log_prob(self, labels: Any, logits: Any) -> Any:
        found = self.distribution(logits)
        shape = tf.concat([found.batch_shape_tensor(), found.event_shape_tensor()], axis=0)
        return -found.log_prob(tf.reshape(labels, shape))
