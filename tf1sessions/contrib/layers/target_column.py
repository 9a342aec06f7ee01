"""Target columns: a model's loss, predictions and metrics from logits and labels, as they were before heads.

A column gives the losses of the examples, [B, ...]; they are weighted by a feature of the column's name, if there is
one, and become one loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf
from ..losses import hinge_loss
from ..metrics import (
    streaming_accuracy,
    streaming_auc,
    streaming_mean,
    streaming_precision_at_thresholds,
    streaming_recall_at_thresholds,
)

__all__ = [
    "ProblemType",
    "binary_svm_target",
    "get_default_binary_metrics_for_eval",
    "multi_class_target",
    "regression_target",
]

Metric = Callable[..., Any]
Metrics = dict[Any, Any]


class ProblemType:
    """The purposes of a model."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


def regression_target(
    label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1
) -> _RegressionTargetColumn:
    """The column of a regression with the squared error.

    Args:
        label_name: The label's name in a dict of labels.
        weight_column_name: The name of the feature with the examples' weights.
        label_dimension: The size of a label.
    """
    return _RegressionTargetColumn(_squared_error, label_name, weight_column_name, label_dimension)


def multi_class_target(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None
) -> _MultiClassTargetColumn:
    """The column of a classification with the cross entropy.

    Args:
        n_classes: How many classes there are; for 2 the logits are [B, 1].
        label_name: The label's name in a dict of labels.
        weight_column_name: The name of the feature with the examples' weights.

    Raises:
        ValueError: ``n_classes`` is less than 2.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    loss = _sigmoid_cross_entropy if n_classes == 2 else _softmax_cross_entropy
    return _MultiClassTargetColumn(loss, n_classes, label_name, weight_column_name)


def binary_svm_target(label_name: str | None = None, weight_column_name: str | None = None) -> _BinarySvmTargetColumn:
    """The column of a classification into two classes with the hinge loss.

    Args:
        label_name: The label's name in a dict of labels.
        weight_column_name: The name of the feature with the examples' weights.
    """
    return _BinarySvmTargetColumn(label_name, weight_column_name)


class _TargetColumn:
    """The base of the columns.

    Args:
        loss_fn: From logits and labels to the losses of the examples.
        num_label_columns: How many logits an example has.
        label_name: The label's name in a dict of labels.
        weight_column_name: The name of the feature with the examples' weights.
        problem_type: One of ``contrib.learn.ProblemType``.
    """

    def __init__(
        self,
        loss_fn: Callable[[Any, Any], Any],
        num_label_columns: int,
        label_name: str | None,
        weight_column_name: str | None,
        problem_type: int,
    ) -> None:
        if loss_fn is None:
            raise ValueError("loss_fn must be provided")
        if num_label_columns is None:
            raise ValueError("num_label_columns must be provided")
        self._loss_fn = loss_fn
        self._num_label_columns = num_label_columns
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._problem_type = problem_type

    @property
    def label_name(self) -> str | None:
        return self._label_name

    @property
    def weight_column_name(self) -> str | None:
        return self._weight_column_name

    @property
    def num_label_columns(self) -> int:
        return self._num_label_columns

    @property
    def problem_type(self) -> int:
        return self._problem_type

    def get_weight_tensor(self, features: Mapping[str, Any]) -> Any:
        """The examples' weights, [B], of ``features``; None if the column has none."""
        if not self._weight_column_name:
            return None
        return tf.reshape(tf.cast(features[self._weight_column_name], tf.float32), [-1])

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """Return what the model says for ``logits``: numbers or classes, or probabilities if ``proba``."""
        raise NotImplementedError()

    def get_eval_ops(
        self, features: Mapping[str, Any], logits: Any, labels: Any, metrics: Metrics | None = None
    ) -> Metrics:
        """Values and updates by name: of the loss, of the column's own metrics, and of ``metrics``."""
        raise NotImplementedError()

    def training_loss(self, logits: Any, target: Any, features: Mapping[str, Any], name: str = "training_loss") -> Any:
        """The sum of the weighted losses, divided by their number.

        Args:
            logits: [B, N].
            target: The labels, or a dict with them by name.
            features: With the weights.
            name: The name of the operation.
        """
        losses = self._loss_fn(logits, self._labels(target))
        weights = self.get_weight_tensor(features)
        if weights is not None:
            losses = tf.multiply(tf.reshape(losses, [-1]), weights)
        return tf.reduce_mean(losses, name=name)

    def loss(self, logits: Any, target: Any, features: Mapping[str, Any]) -> Any:
        """The weighted mean of the losses: their weighted sum, divided by the sum of the weights.

        Args:
            logits: [B, N].
            target: The labels, or a dict with them by name.
            features: With the weights.
        """
        losses = self._loss_fn(logits, self._labels(target))
        weights = self.get_weight_tensor(features)
        if weights is None:
            return tf.reduce_mean(losses, name="loss")
        losses = tf.multiply(tf.reshape(losses, [-1]), weights)
        return tf.div(tf.reduce_sum(losses), tf.cast(tf.reduce_sum(weights), tf.float32), name="loss")

    def _labels(self, target: Any) -> Any:
        return target[self._label_name] if isinstance(target, Mapping) else target

    def _mean_loss(self, logits: Any, target: Any, features: Mapping[str, Any]) -> Metrics:
        return {"loss": streaming_mean(self.loss(logits, target, features))}


class _RegressionTargetColumn(_TargetColumn):
    """A column of numbers."""

    def __init__(
        self,
        loss_fn: Callable[[Any, Any], Any],
        label_name: str | None,
        weight_column_name: str | None,
        label_dimension: int,
    ) -> None:
        super().__init__(loss_fn, label_dimension, label_name, weight_column_name, ProblemType.LINEAR_REGRESSION)

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        return tf.squeeze(logits, axis=[1]) if self._num_label_columns == 1 else logits

    def get_eval_ops(
        self, features: Mapping[str, Any], logits: Any, labels: Any, metrics: Metrics | None = None
    ) -> Metrics:
        labels = self._labels(labels)
        result = self._mean_loss(logits, labels, features)
        if metrics:
            predictions = self.logits_to_predictions(logits, proba=False)
            result.update(_run_metrics(predictions, labels, metrics, self.get_weight_tensor(features)))
        return result


class _MultiClassTargetColumn(_TargetColumn):
    """A column of classes."""

    def __init__(
        self,
        loss_fn: Callable[[Any, Any], Any],
        n_classes: int,
        label_name: str | None,
        weight_column_name: str | None,
    ) -> None:
        super().__init__(
            loss_fn, 1 if n_classes == 2 else n_classes, label_name, weight_column_name, ProblemType.CLASSIFICATION
        )

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        if self._num_label_columns == 1:
            logits = tf.concat([tf.zeros_like(logits), logits], 1)
        return tf.nn.softmax(logits) if proba else tf.argmax(logits, 1)

    def get_eval_ops(
        self, features: Mapping[str, Any], logits: Any, labels: Any, metrics: Metrics | None = None
    ) -> Metrics:
        """Make metrics, as above; a metric's key is a name, or a name and "classes" or "probabilities": what it is of.

        Raises:
            ValueError: The key is another.
        """
        labels = self._labels(labels)
        result = self._mean_loss(logits, labels, features)
        weights = self.get_weight_tensor(features)
        if self._num_label_columns == 1:
            predictions = tf.sigmoid(logits)
            default = get_default_binary_metrics_for_eval(thresholds=[0.5])
            result.update(_run_metrics(predictions, labels, default, None))  # without weights, as in 1.15
        of: dict[str, Metrics] = {"classes": {}, "probabilities": {}}
        for key, metric in (metrics or {("accuracy", "classes"): streaming_accuracy}).items():
            name, what = _name_and_what(key)
            of[what][name] = metric
        for what, proba in (("classes", False), ("probabilities", True)):
            if of[what]:
                predictions = self.logits_to_predictions(logits, proba=proba)
                result.update(_run_metrics(predictions, labels, of[what], weights))
        return result


def _name_and_what(key: Any) -> tuple[str, str]:
    """The name of a metric in its key, and what it is of."""
    if isinstance(key, str):
        return key, "classes"
    if len(key) != 2:
        raise ValueError(f"Ignoring metric {key}. It returned a tuple with len {len(key)}, expected 2.")
    if key[1] not in ("classes", "probabilities"):
        raise ValueError(
            f"Ignoring metric {key}. The 2nd element of its name should be either 'classes' or 'probabilities'."
        )
    name, what = key
    return name, what


class _BinarySvmTargetColumn(_MultiClassTargetColumn):
    """A column of two classes that have no probabilities."""

    def __init__(self, label_name: str | None, weight_column_name: str | None) -> None:
        super().__init__(_hinge, 2, label_name, weight_column_name)

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return super().logits_to_predictions(logits)


# ------------------------------------------------------------------------------------------------- losses and metrics


def _squared_error(logits: Any, target: Any) -> Any:
    return tf.square(logits - tf.cast(_column(target), tf.float32))


def _sigmoid_cross_entropy(logits: Any, target: Any) -> Any:
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(_column(target), tf.float32), logits=logits)


def _hinge(logits: Any, target: Any) -> Any:
    return hinge_loss(logits, _column(target))


def _softmax_cross_entropy(logits: Any, target: Any) -> Any:
    if target.shape.rank == 2:
        target = tf.squeeze(target, axis=[1])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


def _column(target: Any) -> Any:
    """Labels [B] as [B, 1]; others as they are."""
    return tf.expand_dims(target, axis=1) if target.shape.rank == 1 else target


def _run_metrics(predictions: Any, labels: Any, metrics: Metrics, weights: Any) -> Metrics:
    labels = tf.cast(labels, predictions.dtype)
    arguments = {} if weights is None else {"weights": weights}
    return {name: metric(predictions, labels, **arguments) for name, metric in (metrics or {}).items()}


def get_default_binary_metrics_for_eval(thresholds: Sequence[float]) -> dict[str, Metric]:
    """The metrics of two classes, functions of probabilities and labels, by name.

    Args:
        thresholds: From where on a probability counts as the second class, for accuracy, precision and recall.
    """
    metrics: dict[str, Metric] = {
        "labels/prediction_mean": lambda predictions, labels, weights=None: streaming_mean(predictions, weights),
        "labels/actual_target_mean": _mean_label,
        "accuracy/baseline_target_mean": _mean_label,
        "auc": lambda predictions, labels, weights=None: streaming_auc(predictions, labels, _floating(weights)),
    }
    for threshold in thresholds:
        metrics[f"accuracy/threshold_{threshold:f}_mean"] = _accuracy_at(threshold)
        metrics[f"precision/positive_threshold_{threshold:f}_mean"] = _at(streaming_precision_at_thresholds, threshold)
        metrics[f"recall/positive_threshold_{threshold:f}_mean"] = _at(streaming_recall_at_thresholds, threshold)
    return metrics


def _mean_label(predictions: Any, labels: Any, weights: Any = None) -> Any:
    return streaming_mean(labels, weights)


def _floating(weights: Any) -> Any:
    return None if weights is None else tf.cast(weights, tf.float32)


def _accuracy_at(threshold: float) -> Metric:
    def accuracy(predictions: Any, labels: Any, weights: Any = None) -> Any:
        above = tf.cast(tf.greater_equal(predictions, threshold), tf.float32)
        return streaming_accuracy(above, labels, weights)

    return accuracy


def _at(metric: Metric, threshold: float) -> Metric:
    def at_threshold(predictions: Any, labels: Any, weights: Any = None) -> Any:
        values, update = metric(predictions, labels, thresholds=[threshold], weights=_floating(weights))
        return tf.squeeze(values), update

    return at_threshold
