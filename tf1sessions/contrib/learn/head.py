"""Heads: what follows from a model's logits, which is loss, predictions, metrics and training.

B is the size of a batch, D the number of logits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf
from .. import layers
from .constants import MetricKey as mkey
from .constants import PredictionKey as pkey
from .constants import ProblemType
from .model_fn import ModeKeys, ModelFnOps

__all__ = [
    "Head",
    "binary_svm_head",
    "loss_only_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "no_op_train_fn",
    "poisson_regression_head",
    "regression_head",
]

TrainOpFn = Callable[[Any], Any]


def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[Any], Any] | None = None,
) -> Head:
    """A head for numbers: the mean squared error.

    Args:
        label_name: Which label, if they are a dict.
        weight_column_name: Which feature has the weights [B].
        label_dimension: How many numbers each example has.
        enable_centered_bias: Whether a bias is learned for all examples.
        head_name: Of the head; suffix of metrics.
        link_fn: Scores from logits.
    """
    return _RegressionHead(
        "mean_squared_loss",
        _squares,
        link_fn or tf.identity,
        label_dimension,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
    )


def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """A head for counts: the Poisson loss of exp(logits); see :func:`regression_head`."""
    return _RegressionHead(
        "_poisson_loss",
        lambda labels, logits: tf.nn.log_poisson_loss(labels, logits, compute_full_loss=True),
        tf.exp,
        label_dimension,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
    )


def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
    label_keys: Sequence[str] | None = None,
) -> Head:
    """A head for one of several classes: softmax, or for two classes a sigmoid.

    Args:
        n_classes: How many.
        label_name: Which label, if they are a dict.
        weight_column_name: Which feature has the weights [B].
        enable_centered_bias: Whether a bias is learned for all examples.
        head_name: Of the head; suffix of metrics.
        thresholds: Of metrics, for two classes.
        metric_class_ids: Classes with metrics of their own, for more than two.
        loss_fn: Losses [B] from labels and logits.
        label_keys: The classes' names, if labels are texts.

    Raises:
        ValueError: ``n_classes`` is less than 2, or an argument is not for that number.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    if n_classes == 2:
        if metric_class_ids:
            raise ValueError("metric_class_ids invalid for n_classes==2.")
        return _BinaryHead(
            thresholds, loss_fn, label_keys, label_name, weight_column_name, enable_centered_bias, head_name
        )
    if thresholds:
        raise ValueError("thresholds invalid for n_classes>2.")
    return _MultiClassHead(
        n_classes,
        metric_class_ids,
        loss_fn,
        label_keys,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
    )


def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
) -> Head:
    """A head for two classes: the hinge loss; see :func:`multi_class_head`."""
    return _SvmHead(thresholds, label_name, weight_column_name, enable_centered_bias, head_name)


def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
) -> Head:
    """A head for any of several classes, labels being [B, n_classes]; see :func:`multi_class_head`."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    if thresholds:
        raise ValueError("thresholds is not supported for multi_label_head.")
    return _MultiLabelHead(
        n_classes, metric_class_ids, loss_fn, label_name, weight_column_name, enable_centered_bias, head_name
    )


def loss_only_head(loss_fn: Callable[[], Any], head_name: str | None = None) -> Head:
    """A head that has a loss, and neither logits nor predictions."""
    return _LossOnlyHead(loss_fn, head_name)


def multi_head(heads: Sequence[Head], loss_weights: Sequence[float] | None = None) -> Head:
    """Several heads as one; the loss is their (weighted) sum."""
    return _MultiHead(heads, loss_weights)


def no_op_train_fn(loss: Any) -> Any:
    """A ``train_op_fn`` that does not train."""
    del loss
    return tf.no_op()


class Head:
    """A head: predictions, loss and metrics from a model's logits."""

    @property
    def logits_dimension(self) -> int:
        """D."""
        raise NotImplementedError("a Head has logits_dimension")

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """The model's operations.

        Args:
            features: Tensors by name.
            mode: One of :class:`ModeKeys`.
            labels: A tensor, or tensors by name.
            train_op_fn: A function of the loss that returns what trains; needed for TRAIN.
            logits: [B, D].
            logits_input: In place of ``logits``, which a layer makes of it.
            scope: The variable scope.
        """
        raise NotImplementedError("a Head has create_model_fn_ops")


class _SingleHead(Head):
    _scope = ""
    _loss_scope = ""
    problem_type = ProblemType.UNSPECIFIED

    def __init__(
        self,
        dimension: int,
        label_name: str | None = None,
        weight_column_name: str | None = None,
        enable_centered_bias: bool = False,
        head_name: str | None = None,
    ) -> None:
        self._dimension = dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._enable_centered_bias = enable_centered_bias
        self.head_name = head_name

    @property
    def logits_dimension(self) -> int:
        return self._dimension

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if mode == ModeKeys.TRAIN and train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        values = [value for value in tf.nest.flatten(features) if isinstance(value, tf.Tensor)]
        with tf.variable_scope(scope, self.head_name or self._scope, values):
            logits = self._logits(logits, logits_input)
            bias = None
            if self._enable_centered_bias:
                bias = self._centered_bias()
                logits = tf.nn.bias_add(logits, bias)
            with tf.name_scope("predictions", values=[logits]):
                predictions = self._predictions(logits)
            alternatives = {self.head_name: (self.problem_type, self._output_alternative(logits, predictions))}
            if mode == ModeKeys.INFER or labels is None:
                return ModelFnOps(mode, predictions=predictions, output_alternatives=alternatives)
            labels = self._labels(labels)
            weights = self._weights(features)
            in_scope = tf.name_scope(self._loss_scope, values=[logits, labels])
            with in_scope if self._loss_scope else contextlib.nullcontext():
                loss, weighted_average = _weighted(self._losses(labels, logits), weights)
            with tf.name_scope(None):  # under this name, so that the estimator adds none
                tf.summary.scalar(self._key(mkey.LOSS), loss)
            with tf.name_scope("metrics"):
                metrics = self._metrics(weighted_average, predictions, labels, logits, weights)
            train_op = None
            if mode == ModeKeys.TRAIN:
                assert train_op_fn is not None
                train_op = self._train(train_op_fn, loss, labels, logits, bias)
            return ModelFnOps(
                mode,
                predictions=predictions,
                loss=loss,
                train_op=train_op,
                eval_metric_ops=metrics,
                output_alternatives=alternatives,
            )

    def _logits(self, logits: Any, logits_input: Any) -> Any:
        if (logits is None) == (logits_input is None):
            raise ValueError("Exactly one of logits and logits_input must be supplied.")
        if logits is not None:
            return tf.convert_to_tensor(logits)
        return layers.fully_connected(logits_input, self._dimension, activation_fn=None, scope="logits")

    def _centered_bias(self) -> Any:
        # not by get_variable, which would split it as the scope says
        bias = tf.Variable(tf.zeros([self._dimension]), name="centered_bias_weight")
        for i in range(self._dimension):
            tf.summary.scalar(self._key(f"centered_bias/bias_{i}"), bias[i])
        return bias

    def _train(self, train_op_fn: TrainOpFn, loss: Any, labels: Any, logits: Any, bias: Any) -> Any:
        step = None
        if bias is not None:
            centered = tf.reduce_mean(self._losses(labels, tf.nn.bias_add(tf.zeros_like(logits), bias)))
            optimizer = tf.train.AdagradOptimizer(learning_rate=0.1)
            step = optimizer.minimize(centered, var_list=[bias], name="centered_bias_step")
        with tf.name_scope("train_op", values=[loss]):
            train_op = train_op_fn(loss)
            return train_op if step is None else tf.group(train_op, step)

    def _labels(self, labels: Any) -> Any:
        if isinstance(labels, Mapping):
            if self._label_name is not None:
                labels = labels[self._label_name]
            elif len(labels) == 1:
                (labels,) = labels.values()
            else:
                raise ValueError(f"label_name must be given: labels are {sorted(labels)}")
        return self._checked_labels(labels)

    def _checked_labels(self, labels: Any) -> Any:
        return tf.convert_to_tensor(labels)

    def _weights(self, features: Any) -> Any:
        """float32 [B], or None."""
        if not self._weight_column_name:
            return None
        if self._weight_column_name not in features:
            raise ValueError(f"Weights {self._weight_column_name} missing from features.")
        return tf.reshape(tf.cast(features[self._weight_column_name], tf.float32), [-1])

    def _key(self, name: str) -> str:
        return name if self.head_name is None else f"{name}/{self.head_name}"

    def _predictions(self, logits: Any) -> dict[str, Any]:
        raise NotImplementedError("a head has _predictions")

    def _output_alternative(self, logits: Any, predictions: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError("a head has _output_alternative")

    def _losses(self, labels: Any, logits: Any) -> Any:
        """[B], or [B, D]."""
        raise NotImplementedError("a head has _losses")

    def _metrics(
        self, loss: Any, predictions: dict[str, Any], labels: Any, logits: Any, weights: Any
    ) -> dict[str, Any]:
        del predictions, labels, logits, weights
        return {self._key(mkey.LOSS): tf.metrics.mean(loss)}


def _weighted(losses: Any, weights: Any) -> tuple[Any, Any]:
    """Return what is trained with, the mean of the weighted losses; and the weighted mean of them, for metrics."""
    if weights is None:
        loss = tf.reduce_mean(losses, name="loss")
        return loss, loss
    if losses.shape.rank == 2:
        weights = tf.reshape(weights, [-1, 1])
    weighted = losses * weights
    present = tf.reduce_mean(tf.broadcast_to(weights, tf.shape(losses)))
    average = tf.math.divide(tf.reduce_mean(weighted), present, name="weighted_average_loss")
    return tf.reduce_mean(weighted, name="loss"), average


def _squares(labels: Any, logits: Any) -> Any:
    return tf.math.squared_difference(logits, tf.cast(labels, tf.float32))


class _RegressionHead(_SingleHead):
    _scope = "regression_head"
    problem_type = ProblemType.LINEAR_REGRESSION

    def __init__(
        self,
        loss_scope: str,
        losses: Callable[[Any, Any], Any],
        link_fn: Callable[[Any], Any],
        dimension: int,
        *rest: Any,
    ) -> None:
        super().__init__(dimension, *rest)
        self._loss_scope = loss_scope
        self._loss_fn = losses
        self._link_fn = link_fn

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {pkey.SCORES: self._link_fn(tf.squeeze(logits, axis=[1]) if self._dimension == 1 else logits)}

    def _output_alternative(self, logits: Any, predictions: dict[str, Any]) -> dict[str, Any]:
        return predictions

    def _checked_labels(self, labels: Any) -> Any:
        return tf.cast(tf.convert_to_tensor(labels), tf.float32)

    def _losses(self, labels: Any, logits: Any) -> Any:
        return self._loss_fn(tf.reshape(labels, tf.shape(logits)), logits)


class _ClassHead(_SingleHead):
    """The base of heads for one class of several."""

    problem_type = ProblemType.CLASSIFICATION
    _classes = 0

    def __init__(self, label_keys: Sequence[str] | None, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._label_keys = list(label_keys) if label_keys else None

    def _checked_labels(self, labels: Any) -> Any:
        """int64 [B]."""
        labels = tf.convert_to_tensor(labels)
        if self._label_keys is not None:
            table = tf.lookup.StaticVocabularyTable(
                tf.lookup.KeyValueTensorInitializer(
                    tf.constant(self._label_keys), tf.range(len(self._label_keys), dtype=tf.int64)
                ),
                num_oov_buckets=1,
            )
            labels = table.lookup(labels)
        elif not labels.dtype.is_integer and not labels.dtype.is_bool:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        return tf.cast(tf.reshape(labels, [-1]), tf.int64)

    def _class_names(self, classes: Any) -> Any:
        return classes if self._label_keys is None else tf.gather(tf.constant(self._label_keys), classes)

    def _output_alternative(self, logits: Any, predictions: dict[str, Any]) -> dict[str, Any]:
        probabilities = predictions[pkey.PROBABILITIES]
        with tf.name_scope("_classification_output_alternatives"):
            names = tf.constant(self._label_keys) if self._label_keys else tf.as_string(tf.range(self._classes))
            classes = tf.tile(tf.expand_dims(names, 0), [tf.shape(probabilities)[0], 1], name="classes_tensor")
        return {pkey.PROBABILITIES: probabilities, pkey.CLASSES: classes}

    def _ids(self, predictions: dict[str, Any]) -> Any:
        """The number of the predicted class: int64 [B]."""
        return tf.argmax(predictions[pkey.PROBABILITIES], 1)


class _MultiClassHead(_ClassHead):
    _scope = "multi_class_head"
    _loss_scope = "softmax_cross_entropy_loss"

    def __init__(
        self,
        n_classes: int,
        metric_class_ids: Sequence[int] | None,
        loss_fn: Callable[..., Any] | None,
        label_keys: Sequence[str] | None,
        *rest: Any,
    ) -> None:
        super().__init__(label_keys, n_classes, *rest)
        self._classes = n_classes
        self._metric_class_ids = list(metric_class_ids or ())
        self._loss_fn = loss_fn

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {
            pkey.LOGITS: logits,
            pkey.PROBABILITIES: tf.nn.softmax(logits, name=pkey.PROBABILITIES),
            pkey.CLASSES: self._class_names(tf.argmax(logits, 1, name=pkey.CLASSES)),
        }

    def _losses(self, labels: Any, logits: Any) -> Any:
        if self._loss_fn is not None:
            return self._loss_fn(labels, logits)
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    def _metrics(
        self, loss: Any, predictions: dict[str, Any], labels: Any, logits: Any, weights: Any
    ) -> dict[str, Any]:
        found = super()._metrics(loss, predictions, labels, logits, weights)
        found[self._key(mkey.ACCURACY)] = tf.metrics.accuracy(labels, self._ids(predictions), weights)
        for i in self._metric_class_ids:
            share = predictions[pkey.PROBABILITIES][:, i]
            is_class = tf.cast(tf.equal(labels, i), tf.float32)
            found.update(_class_metrics(self._key, i, share, is_class, weights))
        return found


def _class_metrics(key: Callable[[str], str], i: int, probability: Any, is_class: Any, weights: Any) -> dict[str, Any]:
    return {
        key(mkey.CLASS_PREDICTION_MEAN % i): tf.metrics.mean(probability, weights),
        key(mkey.CLASS_LABEL_MEAN % i): tf.metrics.mean(is_class, weights),
        key(mkey.CLASS_AUC % i): tf.metrics.auc(is_class, probability, weights),
        key(mkey.CLASS_AUC_PR % i): tf.metrics.auc(is_class, probability, weights, curve="PR"),
    }


class _BinaryHead(_ClassHead):
    _scope = "binary_logistic_head"
    _loss_scope = "log_loss_with_two_classes"
    problem_type = ProblemType.LOGISTIC_REGRESSION
    _classes = 2

    def __init__(
        self,
        thresholds: Sequence[float] | None,
        loss_fn: Callable[..., Any] | None,
        label_keys: Sequence[str] | None,
        *rest: Any,
    ) -> None:
        super().__init__(label_keys, 1, *rest)
        self._thresholds = list(thresholds) if thresholds else [0.5]
        self._loss_fn = loss_fn

    def _predictions(self, logits: Any) -> dict[str, Any]:
        two = tf.concat([tf.zeros_like(logits), logits], 1)
        return {
            pkey.LOGITS: logits,
            pkey.LOGISTIC: tf.sigmoid(logits, name=pkey.LOGISTIC),
            pkey.PROBABILITIES: tf.nn.softmax(two, name=pkey.PROBABILITIES),
            pkey.CLASSES: self._class_names(tf.argmax(two, 1, name=pkey.CLASSES)),
        }

    def _losses(self, labels: Any, logits: Any) -> Any:
        labels = tf.cast(tf.reshape(labels, [-1, 1]), tf.float32)
        if self._loss_fn is not None:
            return self._loss_fn(labels, logits)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _metrics(
        self, loss: Any, predictions: dict[str, Any], labels: Any, logits: Any, weights: Any
    ) -> dict[str, Any]:
        found = super()._metrics(loss, predictions, labels, logits, weights)
        logistic = tf.reshape(predictions[pkey.LOGISTIC], [-1])
        truth = tf.cast(labels, tf.float32)
        found[self._key(mkey.ACCURACY)] = tf.metrics.accuracy(labels, self._ids(predictions), weights)
        found[self._key(mkey.PREDICTION_MEAN)] = tf.metrics.mean(logistic, weights)
        found[self._key(mkey.LABEL_MEAN)] = tf.metrics.mean(truth, weights)
        found[self._key(mkey.ACCURACY_BASELINE)] = tf.metrics.mean(truth, weights)
        found[self._key(mkey.AUC)] = tf.metrics.auc(truth, logistic, weights)
        found[self._key(mkey.AUC_PR)] = tf.metrics.auc(truth, logistic, weights, curve="PR")
        for threshold in self._thresholds:
            guess = tf.cast(tf.greater_equal(logistic, threshold), tf.float32)
            accuracy = tf.metrics.accuracy(truth, guess, weights)
            precision = tf.metrics.precision_at_thresholds(truth, logistic, [threshold], weights)
            recall = tf.metrics.recall_at_thresholds(truth, logistic, [threshold], weights)
            found[self._key(mkey.ACCURACY_MEAN % threshold)] = accuracy
            found[self._key(mkey.PRECISION_MEAN % threshold)] = tuple(tf.squeeze(part) for part in precision)
            found[self._key(mkey.RECALL_MEAN % threshold)] = tuple(tf.squeeze(part) for part in recall)
        return found


class _SvmHead(_ClassHead):
    _scope = "binary_svm_head"
    _loss_scope = "hinge_loss"
    problem_type = ProblemType.LOGISTIC_REGRESSION
    _classes = 2

    def __init__(self, thresholds: Sequence[float] | None, *rest: Any) -> None:
        super().__init__(None, 1, *rest)
        self._thresholds = list(thresholds or ())

    def _predictions(self, logits: Any) -> dict[str, Any]:
        with tf.name_scope(None, "convert_to_two_logits"):
            two = tf.concat([tf.zeros_like(logits), logits], 1)
        return {pkey.LOGITS: logits, pkey.CLASSES: tf.argmax(two, 1, name=pkey.CLASSES)}

    def _output_alternative(self, logits: Any, predictions: dict[str, Any]) -> dict[str, Any]:
        return predictions

    def _losses(self, labels: Any, logits: Any) -> Any:
        signs = 2.0 * tf.cast(tf.reshape(labels, [-1, 1]), tf.float32) - 1.0
        return tf.nn.relu(1.0 - signs * logits)

    def _metrics(
        self, loss: Any, predictions: dict[str, Any], labels: Any, logits: Any, weights: Any
    ) -> dict[str, Any]:
        found = super()._metrics(loss, predictions, labels, logits, weights)
        found[self._key(mkey.ACCURACY)] = tf.metrics.accuracy(labels, predictions[pkey.CLASSES], weights)
        for threshold in self._thresholds:
            guess = tf.cast(tf.greater_equal(tf.reshape(logits, [-1]), threshold), tf.int64)
            found[self._key(mkey.ACCURACY_MEAN % threshold)] = tf.metrics.accuracy(labels, guess, weights)
        return found


class _MultiLabelHead(_ClassHead):
    _scope = "multi_label_head"
    _loss_scope = "sigmoid_cross_entropy_loss"

    def __init__(
        self,
        n_classes: int,
        metric_class_ids: Sequence[int] | None,
        loss_fn: Callable[..., Any] | None,
        *rest: Any,
    ) -> None:
        super().__init__(None, n_classes, *rest)
        self._classes = n_classes
        self._metric_class_ids = list(metric_class_ids or ())
        self._loss_fn = loss_fn

    def _checked_labels(self, labels: Any) -> Any:
        return tf.cast(tf.convert_to_tensor(labels), tf.int64)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {
            pkey.LOGITS: logits,
            pkey.PROBABILITIES: tf.sigmoid(logits, name=pkey.PROBABILITIES),
            pkey.CLASSES: tf.cast(tf.greater(logits, 0), tf.int64, name=pkey.CLASSES),
        }

    def _losses(self, labels: Any, logits: Any) -> Any:
        labels = tf.cast(labels, tf.float32)
        if self._loss_fn is not None:
            return self._loss_fn(labels, logits)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _metrics(
        self, loss: Any, predictions: dict[str, Any], labels: Any, logits: Any, weights: Any
    ) -> dict[str, Any]:
        found = super()._metrics(loss, predictions, labels, logits, weights)
        probabilities = predictions[pkey.PROBABILITIES]
        truth = tf.cast(labels, tf.float32)
        all_weights = None
        if weights is not None:
            all_weights = tf.broadcast_to(tf.reshape(weights, [-1, 1]), tf.shape(probabilities))
        found[self._key(mkey.ACCURACY)] = tf.metrics.accuracy(labels, predictions[pkey.CLASSES], all_weights)
        found[self._key(mkey.AUC)] = tf.metrics.auc(truth, probabilities, all_weights)
        found[self._key(mkey.AUC_PR)] = tf.metrics.auc(truth, probabilities, all_weights, curve="PR")
        for i in self._metric_class_ids:
            found.update(_class_metrics(self._key, i, probabilities[:, i], truth[:, i], weights))
        return found


class _LossOnlyHead(Head):
    def __init__(self, loss_fn: Callable[[], Any], head_name: str | None) -> None:
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self) -> int:
        return 0

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if mode != ModeKeys.TRAIN:
            raise NotImplementedError("loss_only_head only supports TRAIN mode")
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        with tf.variable_scope(scope, self.head_name):
            loss = self._loss_fn()
            if isinstance(loss, (list, tuple)):
                loss = tf.add_n(loss)
            with tf.name_scope("train_op"):
                train_op = train_op_fn(loss)
        return ModelFnOps(mode, predictions={}, loss=loss, train_op=train_op)


class _MultiHead(Head):
    def __init__(self, heads: Sequence[Head], loss_weights: Sequence[float] | None) -> None:
        if not heads:
            raise ValueError("heads must not be empty.")
        if loss_weights and len(loss_weights) != len(heads):
            raise ValueError("heads and loss_weights must be of one length.")
        for head in heads:
            if not getattr(head, "head_name", None):
                raise ValueError("Members of MultiHead must have names.")
        self._heads: list[Any] = list(heads)
        self._loss_weights = list(loss_weights) if loss_weights else [1.0] * len(self._heads)

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        if logits is None and logits_input is None:
            raise ValueError("Exactly one of logits and logits_input must be supplied.")
        parts: list[Any] = [None] * len(self._heads)
        if isinstance(logits, Mapping):
            parts = [logits[head.head_name] for head in self._heads]
        elif logits is not None:
            parts = tf.split(logits, [head.logits_dimension for head in self._heads], 1)
        every = [
            head.create_model_fn_ops(
                features, mode, labels, train_op_fn=no_op_train_fn, logits=part, logits_input=logits_input, scope=scope
            )
            for head, part in zip(self._heads, parts, strict=True)
        ]
        predictions = {
            (head.head_name, key): value
            for head, ops in zip(self._heads, every, strict=True)
            for key, value in ops.predictions.items()
        }
        alternatives = {key: value for ops in every for key, value in (ops.output_alternatives or {}).items()}
        if mode == ModeKeys.INFER:
            return ModelFnOps(mode, predictions=predictions, output_alternatives=alternatives)
        weighted = [ops.loss * weight for ops, weight in zip(every, self._loss_weights, strict=True)]
        with tf.name_scope("merge_losses"):
            loss = tf.add_n(weighted)
        metrics = {key: value for ops in every for key, value in ops.eval_metric_ops.items()}
        train_op = None
        if mode == ModeKeys.TRAIN:
            if train_op_fn is None:
                raise ValueError("train_op_fn can not be None in TRAIN mode.")
            train_op = train_op_fn(loss)
        return ModelFnOps(
            mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=alternatives,
        )
