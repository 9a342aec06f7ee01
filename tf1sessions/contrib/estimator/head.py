"""Heads as the canned estimators of TensorFlow 1 have them.

Each is today's head, given all the arguments by their names; only the default of ``loss_reduction`` differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...estimator.canned import head as _heads
from ...estimator.canned.old_head import OldHead, OldMultiHead

__all__ = [
    "binary_classification_head",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
]

_MEAN = "weighted_sum_over_batch_size"


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    """A head for two classes; see ``tf.estimator.BinaryClassHead``."""
    return OldHead(_heads.BinaryClassHead(**locals()))


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    """A head for one of several classes; see ``tf.estimator.MultiClassHead``."""
    return OldHead(_heads.MultiClassHead(**locals()))


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    classes_for_class_based_metrics: Any = None,
    name: str | None = None,
) -> OldHead:
    """A head for any of several classes; see ``tf.estimator.MultiLabelHead``."""
    return OldHead(_heads.MultiLabelHead(**locals()))


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    """A head for numbers; see ``tf.estimator.RegressionHead``."""
    return OldHead(_heads.RegressionHead(**locals()))


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> OldHead:
    """A head for counts; see ``tf.estimator.PoissonRegressionHead``."""
    return OldHead(_heads.PoissonRegressionHead(**locals()))


def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None
) -> OldHead:
    """A head for numbers from 0 to 1; see ``tf.estimator.LogisticRegressionHead``."""
    return OldHead(_heads.LogisticRegressionHead(**locals()))


def multi_head(heads: Sequence[OldHead], head_weights: Sequence[float] | None = None) -> OldMultiHead:
    """Several heads as one; see ``tf.estimator.MultiHead``."""
    return OldMultiHead(heads, head_weights)
