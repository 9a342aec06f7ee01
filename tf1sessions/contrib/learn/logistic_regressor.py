"""Logistic regression with a model of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...estimator.util import function_args
from ...runtime import tf1 as tf
from .constants import MetricKey, ProblemType
from .estimator import Estimator
from .model_fn import ModeKeys, ModelFnOps

__all__ = ["LogisticRegressor"]


def LogisticRegressor(
    model_fn: Callable[..., Any],
    thresholds: Sequence[float] | None = None,
    model_dir: Any = None,
    config: Any = None,
    feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
) -> Estimator:
    """An estimator of two classes, with the metrics for that.

    Args:
        model_fn: A function of (features, labels, mode), and of ``params``, ``config`` and ``model_dir`` if it takes
            them, that returns (predictions, loss, train_op); predictions are probabilities of class 1.
        thresholds: From which probabilities on class 1 is predicted, for accuracy, precision and recall; 0.5 without
            it.
        model_dir: Where checkpoints and summaries go.
        config: A ``RunConfig``.
        feature_engineering_fn: A function of (features, labels) that returns others for ``model_fn``.
    """
    takes = function_args(model_fn)

    def with_metrics(features: Any, labels: Any, mode: str, params: Any, config: Any, model_dir: Any) -> ModelFnOps:
        given = {"mode": mode, "params": params, "config": config, "model_dir": model_dir}
        predictions, loss, train_op = model_fn(
            features, labels, **{name: value for name, value in given.items() if name in takes}
        )
        metrics = _metrics(labels, predictions, thresholds or [0.5]) if mode == ModeKeys.EVAL else None
        alternatives = {"head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})}
        return ModelFnOps(mode, predictions, loss, train_op, metrics, alternatives)

    return Estimator(with_metrics, model_dir, config, {}, feature_engineering_fn)


def _metrics(labels: Any, predictions: Any, thresholds: Sequence[float]) -> dict[str, Any]:
    labels = tf.cast(labels, tf.float32)
    found = {
        MetricKey.PREDICTION_MEAN: tf.metrics.mean(predictions),
        MetricKey.LABEL_MEAN: tf.metrics.mean(labels),
        MetricKey.ACCURACY_BASELINE: tf.metrics.mean(labels),  # of always predicting 1, as in 1.15
        MetricKey.AUC: tf.metrics.auc(labels, predictions),
    }
    for threshold in thresholds:
        classes = tf.cast(predictions >= threshold, tf.float32)
        found[MetricKey.ACCURACY_MEAN % threshold] = tf.metrics.accuracy(labels, classes)
        found[MetricKey.PRECISION_MEAN % threshold] = tf.metrics.precision(labels, classes)
        found[MetricKey.RECALL_MEAN % threshold] = tf.metrics.recall(labels, classes)
    return found
