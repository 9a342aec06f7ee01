"""The heads of ``tf.estimator``: what makes of a model's logits its predictions, loss, metrics and signatures.

Data flow: logits -> predictions; labels, logits, weights -> unreduced loss -> loss; the loss -> ``train_op``.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple

from ...runtime import private
from ...runtime import tf1 as tf
from ..model_fn import EstimatorSpec, ModeKeys
from .head_parts import (
    SERVING,
    Metrics,
    accuracy_baseline,
    all_class_ids,
    all_classes,
    broadcast,
    call_loss_fn,
    check_loss_fn,
    checked_labels,
    checked_logits,
    checked_reduction,
    checked_thresholds,
    checked_vocabulary,
    class_ids_of,
    classes_of,
    classification,
    in_range,
    mean_of,
    regularized,
    summarize,
    threshold_metrics,
    train_op_of,
    weights_of,
)

__all__ = [
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "LossSpec",
    "MultiClassHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
]


class LossSpec(NamedTuple):
    """A loss, and what it was made from.

    Attributes:
        training_loss: A scalar.
        unreduced_loss: [D0, ..., DN, 1], or [D0, ..., DN, L] for regression.
        weights: A number, or a tensor that can be broadcast to ``unreduced_loss``.
        processed_labels: The labels as the loss takes them.
    """

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


class Head(abc.ABC):
    """A head turns logits into predictions, a loss, metrics and signatures; see :meth:`create_estimator_spec`."""

    _weight_column: Any = None
    _per_logit_weights = False
    _n_classes: int = 0
    _reduction: str = checked_reduction("sum_over_batch_size")
    _in_own_scope = False  # whether the scope of the head's name is open around everything, as OldHead has it

    def __init__(self, weight_column: Any, loss_reduction: str, loss_fn: Any, name: str | None) -> None:
        self._weight_column = weight_column
        self._loss_reduction = loss_reduction
        self._reduction = checked_reduction(loss_reduction)
        check_loss_fn(loss_fn)
        self._loss_fn = loss_fn
        self._name = name

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def loss_reduction(self) -> str:
        return self._loss_reduction

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The last dimension of the logits."""

    # What a kind of head is: these five.

    @abc.abstractmethod
    def _labels(self, labels: Any, logits: Any) -> Any:
        """The labels, checked, as :meth:`_unreduced_loss` takes them."""

    @abc.abstractmethod
    def _unreduced_loss(self, labels: Any, logits: Any, features: Any) -> Any:
        """The loss of each example."""

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Any = None) -> dict[str, Any]:
        """The predictions, or those of ``keys``, from logits of shape [D0, ..., DN, L]."""

    @abc.abstractmethod
    def _metrics(self, spec: LossSpec, predictions: Mapping[str, Any], logits: Any) -> Metrics:
        """Name -> (value, update operation); the names are without that of the head."""

    @abc.abstractmethod
    def _export_outputs(self, predictions: Mapping[str, Any], logits: Any) -> dict[str, Any]:
        """Signature -> ``ExportOutput``."""

    # What all have in common.

    def _auc(self, labels: Any, predictions: Any, weights: Any, curve: str, name: str) -> tuple[Any, Any]:
        pair: tuple[Any, Any] = tf.metrics.auc(
            labels=labels,
            predictions=predictions,
            weights=broadcast(weights, predictions),
            curve=curve,
            name=name,
            summation_method="trapezoidal" if self._in_own_scope else "careful_interpolation",
        )
        return pair

    def _key(self, key: str) -> str:
        return f"{key}/{self.name}" if self.name else key

    def _parts_of_loss(self, spec: LossSpec) -> dict[str, Any]:
        """Return what is shown besides the loss."""
        del spec
        return {}

    def _chosen(self, predictions: dict[str, Any], keys: Any) -> dict[str, Any]:
        if keys is None:
            return predictions
        for key in keys:
            if key not in predictions:
                raise ValueError(f"Prediction key must be in {sorted(predictions)}, given: {key}")
        return {key: predictions[key] for key in keys}

    def loss_spec(self, labels: Any, logits: Any, features: Any = None) -> LossSpec:
        """The loss with what it is made from."""
        logits = checked_logits(logits, self.logits_dimension)
        labels = self._labels(labels, logits)
        unreduced = self._unreduced_loss(labels, logits, features)
        weights = weights_of(self._weight_column, features, logits, self._per_logit_weights)
        loss = tf.losses.compute_weighted_loss(
            unreduced,
            weights,
            reduction=self._reduction,
            scope="weighted_loss",
            loss_collection=tf.GraphKeys.LOSSES if self._in_own_scope else None,
        )
        return LossSpec(loss, unreduced, weights, labels)

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None
    ) -> Any:
        """The scalar loss, with ``regularization_losses`` added.

        Args:
            labels: The labels.
            logits: [D0, ..., DN, L].
            features: name -> tensor, for the weights.
            mode: Not used.
            regularization_losses: Scalars.
        """
        with self._scope("losses"):
            return regularized(self.loss_spec(labels, logits, features).training_loss, regularization_losses)

    def _scope(self, part: str) -> Any:
        return tf.name_scope(None, part if self._in_own_scope else f"{self.name or 'head'}/{part}")

    def create_estimator_spec(
        self,
        features: Any,
        mode: Any,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Any = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """Return what a ``model_fn`` returns.

        Args:
            features: name -> tensor; the weights are taken from it.
            mode: One of ``ModeKeys``.
            logits: [D0, ..., DN, L].
            labels: The labels; needed but for PREDICT.
            optimizer: A ``tf.train.Optimizer``, or a Keras optimizer with ``get_updates``.
            trainable_variables: What it changes; by default the trainable variables of the graph.
            train_op_fn: A function of the loss that returns the operation that trains, in place of ``optimizer``.
            update_ops: Operations to run with it; by default those in UPDATE_OPS.
            regularization_losses: Scalars to add to the loss.

        Raises:
            ValueError: For TRAIN, neither or both of ``optimizer`` and ``train_op_fn`` are given; or a shape is wrong.
        """
        predictions = self.predictions(logits)
        if mode == ModeKeys.PREDICT:
            with tf.name_scope(f"{self.name or 'head'}/"):
                outputs = self._export_outputs(predictions, logits)
            return EstimatorSpec(mode=mode, predictions=predictions, export_outputs=outputs)
        with self._scope("losses"):
            spec = self.loss_spec(labels, logits, features)
            penalty = tf.add_n(regularization_losses) if regularization_losses else None
            loss = spec.training_loss if penalty is None else spec.training_loss + penalty
        if mode == ModeKeys.EVAL:
            with self._scope("metrics"):
                metrics = self._all_metrics(spec, predictions, logits, penalty)
            return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, eval_metric_ops=metrics)
        with tf.name_scope(""), tf.name_scope("training"):
            train_op = train_op_of(loss, optimizer, train_op_fn, trainable_variables, update_ops)
        summarize({**self._parts_of_loss(spec), self._key("loss"): loss, self._key("regularization_loss"): penalty})
        return EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op)

    def _all_metrics(self, spec: LossSpec, predictions: Mapping[str, Any], logits: Any, penalty: Any) -> Metrics:
        metrics = self._metrics(spec, predictions, logits)
        if penalty is not None:
            metrics["regularization_loss"] = tf.metrics.mean(penalty, name="regularization_loss")
        return {self._key(key): pair for key, pair in metrics.items()}


class BinaryClassHead(Head):
    """Two classes: labels [D0, ..., DN, 1] of 0 and 1 (or between), logits [D0, ..., DN, 1].

    Args:
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        thresholds: Numbers in (0, 1): accuracy, precision and recall are measured for each.
        label_vocabulary: The labels of both classes, if labels are strings.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
        loss_fn: A function of labels and logits (and features, loss_reduction) that returns the unreduced loss.
        name: The suffix of the names of metrics and summaries, and the name scope.
    """

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes = 2
        self._thresholds = checked_thresholds(thresholds)
        self._vocabulary = checked_vocabulary(label_vocabulary)

    @property
    def logits_dimension(self) -> int:
        return 1

    def _labels(self, labels: Any, logits: Any) -> Any:
        labels = checked_labels(labels, logits, 1)
        if self._vocabulary is not None:
            labels = class_ids_of(labels, self._vocabulary)
        elif labels.dtype == tf.string:
            raise ValueError("labels are strings: the head needs a label_vocabulary.")
        return in_range(tf.to_float(labels), 2)

    def _unreduced_loss(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn is not None:
            return call_loss_fn(self._loss_fn, labels, logits, features, 1, self._loss_reduction)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def predictions(self, logits: Any, keys: Any = None) -> dict[str, Any]:
        logits = checked_logits(logits, 1)
        with self._scope("predictions"):
            logistic = tf.sigmoid(logits, name="logistic")
            two = tf.concat([tf.zeros_like(logits), logits], -1, name="two_class_logits")
            probabilities = tf.nn.softmax(two, name="probabilities")
            class_ids = tf.expand_dims(tf.argmax(two, axis=-1, name="class_ids"), -1)
            found = {
                "logits": logits,
                "logistic": logistic,
                "probabilities": probabilities,
                "class_ids": class_ids,
                "all_class_ids": all_class_ids(logits, 2),
                "all_classes": all_classes(logits, 2, self._vocabulary),
                "classes": classes_of(class_ids, self._vocabulary),
            }
            return self._chosen(found, keys)

    def _metrics(self, spec: LossSpec, predictions: Mapping[str, Any], logits: Any) -> Metrics:
        labels, weights = spec.processed_labels, spec.weights
        logistic, class_ids = predictions["logistic"], predictions["class_ids"]
        label_mean = mean_of(labels, weights, "label/mean")
        found: Metrics = {
            "average_loss": tf.metrics.mean(spec.unreduced_loss, weights, name="average_loss"),
            "accuracy": tf.metrics.accuracy(labels, class_ids, weights, name="accuracy"),
            "precision": tf.metrics.precision(labels, class_ids, weights, name="precision"),
            "recall": tf.metrics.recall(labels, class_ids, weights, name="recall"),
            "prediction/mean": mean_of(logistic, weights, "prediction/mean"),
            "label/mean": label_mean,
            "accuracy_baseline": accuracy_baseline(label_mean),
            "auc": self._auc(labels, logistic, weights, "ROC", "auc"),
            "auc_precision_recall": self._auc(labels, logistic, weights, "PR", "auc_precision_recall"),
        }
        for threshold in self._thresholds:
            found.update(threshold_metrics(labels, logistic, weights, threshold))
        return found

    def _export_outputs(self, predictions: Mapping[str, Any], logits: Any) -> dict[str, Any]:
        classes = classification(predictions["probabilities"], logits, 2, self._vocabulary)
        return {
            SERVING: classes,
            "classification": classes,
            "regression": private.export_output.RegressionOutput(value=predictions["logistic"]),
            "predict": private.export_output.PredictOutput(dict(predictions)),
        }


class MultiClassHead(Head):
    """``n_classes`` > 2 classes: labels [D0, ..., DN, 1] of class ids, logits [D0, ..., DN, n_classes].

    Args:
        n_classes: The number of classes.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        label_vocabulary: The labels of the classes, if labels are strings.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
        loss_fn: A function of labels and logits (and features, loss_reduction) that returns the unreduced loss.
        name: The suffix of the names of metrics and summaries, and the name scope.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        self._n_classes = n_classes
        self._vocabulary = checked_vocabulary(label_vocabulary, n_classes)

    @property
    def logits_dimension(self) -> int:
        return self._n_classes

    def _labels(self, labels: Any, logits: Any) -> Any:
        labels = checked_labels(labels, logits, 1)
        if self._vocabulary is not None:
            labels = class_ids_of(labels, self._vocabulary)
        elif not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        return in_range(labels, self._n_classes)

    def _unreduced_loss(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn is not None:
            return call_loss_fn(self._loss_fn, labels, logits, features, 1, self._loss_reduction)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits, reduction=tf.losses.Reduction.NONE)
        return tf.expand_dims(loss, -1)

    def predictions(self, logits: Any, keys: Any = None) -> dict[str, Any]:
        logits = checked_logits(logits, self._n_classes)
        with self._scope("predictions"):
            found = {"logits": logits}
            if self._in_own_scope:  # the order decides over the names of the operations
                found.update(self._all(logits))
            found["class_ids"] = tf.expand_dims(tf.argmax(logits, axis=-1, name="class_ids"), -1)
            if not self._in_own_scope:
                found.update(self._all(logits))
            found["classes"] = classes_of(found["class_ids"], self._vocabulary)
            found["probabilities"] = tf.nn.softmax(logits, name="probabilities")
            return self._chosen(found, keys)

    def _all(self, logits: Any) -> dict[str, Any]:
        return {
            "all_class_ids": all_class_ids(logits, self._n_classes),
            "all_classes": all_classes(logits, self._n_classes, self._vocabulary),
        }

    def _metrics(self, spec: LossSpec, predictions: Mapping[str, Any], logits: Any) -> Metrics:
        labels, weights = spec.processed_labels, spec.weights
        return {
            "average_loss": tf.metrics.mean(spec.unreduced_loss, weights, name="average_loss"),
            "accuracy": tf.metrics.accuracy(labels, predictions["class_ids"], weights, name="accuracy"),
        }

    def _export_outputs(self, predictions: Mapping[str, Any], logits: Any) -> dict[str, Any]:
        classes = classification(predictions["probabilities"], logits, self._n_classes, self._vocabulary)
        return {
            SERVING: classes,
            "classification": classes,
            "predict": private.export_output.PredictOutput(dict(predictions)),
        }


class MultiLabelHead(Head):
    """Any number of ``n_classes`` > 1 classes for each example: logits [D0, ..., DN, n_classes].

    Labels are [D0, ..., DN, n_classes] of 0 and 1, or a ``SparseTensor`` of class ids or of words of the vocabulary.

    Args:
        n_classes: The number of classes.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        thresholds: Numbers in (0, 1): accuracy, precision and recall are measured for each.
        label_vocabulary: The labels of the classes, if labels are strings.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
        loss_fn: A function of labels and logits (and features, loss_reduction) that returns the unreduced loss.
        classes_for_class_based_metrics: Ids or labels of classes that are measured on their own.
        name: The suffix of the names of metrics and summaries, and the name scope.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Any = None,
        label_vocabulary: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Any = None,
        classes_for_class_based_metrics: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None or n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
        self._n_classes = n_classes
        self._thresholds = checked_thresholds(thresholds)
        self._vocabulary = checked_vocabulary(label_vocabulary, n_classes)
        self._measured = [self._class_id(one) for one in classes_for_class_based_metrics or ()]

    def _class_id(self, class_: Any) -> int:
        if isinstance(class_, str):
            if self._vocabulary is None or class_ not in self._vocabulary:
                raise ValueError(f"{class_!r} of classes_for_class_based_metrics is not in the label_vocabulary.")
            return self._vocabulary.index(class_)
        if not 0 <= class_ < self._n_classes:
            raise ValueError(f"All classes_for_class_based_metrics must be in range [0, {self._n_classes}): {class_}")
        return int(class_)

    @property
    def logits_dimension(self) -> int:
        return self._n_classes

    def _labels(self, labels: Any, logits: Any) -> Any:
        if isinstance(labels, tf.SparseTensor):
            ids = labels.values
            if labels.dtype == tf.string:
                if self._vocabulary is None:
                    raise ValueError("label_vocabulary must be given for labels of strings.")
                ids = class_ids_of(ids, self._vocabulary)
            ids = in_range(tf.cast(ids, tf.int64), self._n_classes)
            sparse = tf.SparseTensor(labels.indices, ids, labels.dense_shape)
            labels = tf.cast(tf.sparse_to_indicator(sparse, self._n_classes), tf.int64)
            return checked_labels(labels, logits, self._n_classes)
        return in_range(checked_labels(labels, logits, self._n_classes), 2)

    def _unreduced_loss(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn is not None:
            return call_loss_fn(self._loss_fn, labels, logits, features, 1, self._loss_reduction)
        loss = tf.losses.sigmoid_cross_entropy(labels, logits, reduction=tf.losses.Reduction.NONE)
        return tf.reduce_mean(loss, axis=-1, keepdims=True)

    def predictions(self, logits: Any, keys: Any = None) -> dict[str, Any]:
        logits = checked_logits(logits, self._n_classes)
        with self._scope("predictions"):
            return self._chosen({"logits": logits, "probabilities": tf.sigmoid(logits, name="probabilities")}, keys)

    def _metrics(self, spec: LossSpec, predictions: Mapping[str, Any], logits: Any) -> Metrics:
        labels, weights, probabilities = spec.processed_labels, spec.weights, predictions["probabilities"]
        found: Metrics = {
            "average_loss": tf.metrics.mean(spec.unreduced_loss, weights, name="average_loss"),
            "auc": self._auc(labels, probabilities, weights, "ROC", "auc"),
            "auc_precision_recall": self._auc(labels, probabilities, weights, "PR", "auc_precision_recall"),
        }
        for threshold in self._thresholds:
            found.update(threshold_metrics(labels, probabilities, weights, threshold))
        for class_id in self._measured:
            suffix = self._vocabulary[class_id] if self._vocabulary else f"class{class_id}"
            label, probability = (part[..., class_id : class_id + 1] for part in (labels, probabilities))
            name = f"probability_mean/{suffix}"
            found[name] = mean_of(probability, weights, name)
            for key, curve in ((f"auc/{suffix}", "ROC"), (f"auc_precision_recall/{suffix}", "PR")):
                found[key] = self._auc(label, probability, weights, curve, key)
        return found

    def _export_outputs(self, predictions: Mapping[str, Any], logits: Any) -> dict[str, Any]:
        classes = classification(predictions["probabilities"], logits, self._n_classes, self._vocabulary)
        return {
            SERVING: classes,
            "classification": classes,
            "predict": private.export_output.PredictOutput(dict(predictions)),
        }


class RegressionHead(Head):
    """Numbers: labels and logits of shape [D0, ..., DN, label_dimension].

    Args:
        label_dimension: How many numbers an example has.
        weight_column: The name of a feature, or a numeric column, with weights, [D0, ..., DN] with a last dimension of
            1 or ``label_dimension`` or none.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
        loss_fn: A function of labels and logits (and features, loss_reduction) that returns the unreduced loss; by
            default the squared error.
        inverse_link_fn: A function of the logits that returns the predictions; by default they are the logits.
        name: The suffix of the names of metrics and summaries, and the name scope.
    """

    _per_logit_weights = True

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Any = None,
        inverse_link_fn: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        return self._dimension

    def _labels(self, labels: Any, logits: Any) -> Any:
        return tf.cast(checked_labels(labels, logits, self._dimension), tf.float32)

    def _unreduced_loss(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn is not None:
            return call_loss_fn(self._loss_fn, labels, logits, features, self._dimension, self._loss_reduction)
        return tf.losses.mean_squared_error(labels, logits, reduction=tf.losses.Reduction.NONE)

    def predictions(self, logits: Any, keys: Any = None) -> dict[str, Any]:
        logits = checked_logits(logits, self._dimension)
        if self._inverse_link_fn is None:
            return self._chosen({"predictions": logits}, keys)
        with nullcontext() if self._in_own_scope else self._scope("predictions"):
            return self._chosen({"predictions": self._inverse_link_fn(logits), "logits": logits}, keys)

    def _metrics(self, spec: LossSpec, predictions: Mapping[str, Any], logits: Any) -> Metrics:
        labels, weights, predicted = spec.processed_labels, spec.weights, predictions["predictions"]
        return {
            "average_loss": tf.metrics.mean(spec.unreduced_loss, weights),
            "prediction/mean": mean_of(predicted, weights, "prediction/mean"),
            "label/mean": tf.metrics.mean(labels, weights),
        }

    def _export_outputs(self, predictions: Mapping[str, Any], logits: Any) -> dict[str, Any]:
        regression = private.export_output.RegressionOutput(value=predictions["predictions"])
        return {
            SERVING: regression,
            "regression": regression,
            "predict": private.export_output.PredictOutput(dict(predictions)),
        }


class PoissonRegressionHead(RegressionHead):
    """Counts: :class:`RegressionHead` with ``tf.nn.log_poisson_loss``; predictions are ``exp(logits)``.

    Args:
        label_dimension: How many numbers an example has.
        weight_column: As in :class:`RegressionHead`.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
        compute_full_loss: Whether the loss has the term of ``log(z!)``.
        name: The suffix of the names of metrics and summaries, and the name scope.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        def poisson_loss(labels: Any, logits: Any) -> Any:
            return tf.nn.log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=compute_full_loss)

        super().__init__(label_dimension, weight_column, loss_reduction, poisson_loss, tf.exp, name)


class LogisticRegressionHead(RegressionHead):
    """Fractions in [0, 1]: :class:`RegressionHead` with the cross entropy; predictions are ``sigmoid(logits)``.

    Args:
        weight_column: As in :class:`RegressionHead`.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
        name: The suffix of the names of metrics and summaries, and the name scope.
    """

    def __init__(
        self, weight_column: Any = None, loss_reduction: str = "sum_over_batch_size", name: str | None = None
    ) -> None:
        def logistic_loss(labels: Any, logits: Any) -> Any:
            return tf.nn.sigmoid_cross_entropy_with_logits(labels=in_range(labels, 2), logits=logits)

        super().__init__(1, weight_column, loss_reduction, logistic_loss, tf.sigmoid, name)
