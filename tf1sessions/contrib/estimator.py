"""``tf.contrib.estimator``: heads of the older face, and what canned estimators are built from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..estimator.canned.dnn import dnn_logit_fn_builder
from ..estimator.canned.head import (
    BinaryClassHead,
    LogisticRegressionHead,
    MultiClassHead,
    MultiLabelHead,
    PoissonRegressionHead,
    RegressionHead,
)
from ..estimator.canned.linear import linear_logit_fn_builder
from ..estimator.canned.old_head import OldHead, OldMultiHead
from ..estimator.model_fn import call_logit_fn
from ..runtime import tf1 as tf

__all__ = [
    "binary_classification_head",
    "call_logit_fn",
    "dnn_logit_fn_builder",
    "linear_logit_fn_builder",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
]

_REDUCTION = tf.losses.Reduction.SUM_OVER_BATCH_SIZE


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _REDUCTION,
    loss_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    """``tf.estimator.BinaryClassHead``, with its operations in the scope of the head."""
    return OldHead(BinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name))


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _REDUCTION,
    loss_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    """``tf.estimator.MultiClassHead``, with its operations in the scope of the head."""
    return OldHead(MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name))


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _REDUCTION,
    loss_fn: Any = None,
    classes_for_class_based_metrics: Any = None,
    name: str | None = None,
) -> OldHead:
    """``tf.estimator.MultiLabelHead``, with its operations in the scope of the head."""
    return OldHead(
        MultiLabelHead(
            n_classes,
            weight_column,
            thresholds,
            label_vocabulary,
            loss_reduction,
            loss_fn,
            classes_for_class_based_metrics,
            name,
        )
    )


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _REDUCTION,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    """``tf.estimator.RegressionHead``, with its operations in the scope of the head."""
    return OldHead(RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name))


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _REDUCTION,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> OldHead:
    """``tf.estimator.PoissonRegressionHead``, with its operations in the scope of the head."""
    return OldHead(PoissonRegressionHead(label_dimension, weight_column, loss_reduction, compute_full_loss, name))


def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = _REDUCTION, name: str | None = None
) -> OldHead:
    """``tf.estimator.LogisticRegressionHead``, with its operations in the scope of the head."""
    return OldHead(LogisticRegressionHead(weight_column, loss_reduction, name))


def multi_head(heads: Sequence[OldHead], head_weights: Sequence[float] | None = None) -> OldMultiHead:
    """Several heads on one model; see ``tf.estimator.MultiHead``."""
    return OldMultiHead(heads, head_weights)
