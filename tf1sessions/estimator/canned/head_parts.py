"""Parts of heads: checks of their inputs, and predictions and metrics that several have.

Shapes: logits [D0, ..., DN, L] with the head's ``logits_dimension`` L; mostly [B, L] with a batch of B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...runtime import private
from ...runtime import tf1 as tf
from ..util import function_args

__all__ = [
    "SERVING",
    "Metrics",
    "accuracy_baseline",
    "all_class_ids",
    "all_classes",
    "broadcast",
    "call_loss_fn",
    "check_loss_fn",
    "checked_labels",
    "checked_logits",
    "checked_reduction",
    "checked_thresholds",
    "checked_vocabulary",
    "class_ids_of",
    "classes_of",
    "classification",
    "in_range",
    "mean_of",
    "regularized",
    "summarize",
    "threshold_metrics",
    "train_op_of",
    "weights_of",
]

Metrics = dict[str, tuple[Any, Any]]
SERVING = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
#: The names of Keras for reductions, which the heads of tf.estimator take too.
_REDUCTIONS = {"sum": "weighted_sum", "sum_over_batch_size": "weighted_sum_over_batch_size"}


def checked_reduction(loss_reduction: str) -> str:
    reduction = _REDUCTIONS.get(loss_reduction, loss_reduction)
    if reduction == tf.losses.Reduction.NONE or reduction not in tf.losses.Reduction.all():
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
    return reduction


def checked_thresholds(thresholds: Any) -> tuple[float, ...]:
    found = tuple(map(float, thresholds or ()))
    for threshold in found:
        if not 0.0 < threshold < 1.0:
            raise ValueError(f"thresholds not in (0, 1): {found}.")
    return found


def checked_vocabulary(label_vocabulary: Any, n_classes: int | None = None) -> list[str] | None:
    """``label_vocabulary`` as a list; with ``n_classes``, it has to have so many words."""
    if label_vocabulary is None:
        return None
    if not isinstance(label_vocabulary, (list, tuple)):
        raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}")
    if n_classes is not None and len(label_vocabulary) != n_classes:
        raise ValueError(f'"label_vocabulary" does not have "n_classes" items. n_classes={n_classes}')
    return list(label_vocabulary)


def check_loss_fn(loss_fn: Any) -> None:
    """``loss_fn`` has labels and logits, and besides at most features and loss_reduction."""
    if loss_fn is None:
        return
    names = function_args(loss_fn)
    for name in ("labels", "logits"):
        if name not in names:
            raise ValueError(f"loss_fn must contain argument: {name}. Given arguments: {names}")
    wrong = set(names) - {"labels", "logits", "features", "loss_reduction"}
    if wrong:
        raise ValueError(f"loss_fn has unexpected args: {sorted(wrong)}")


def checked_logits(logits: Any, dimension: int) -> Any:
    """``logits`` as floats.

    Raises:
        ValueError: Their last dimension is another.
    """
    with tf.name_scope(None, "logits", (logits,)):
        logits = tf.cast(tf.convert_to_tensor(logits), tf.float32)
        if logits.shape.rank is not None:
            if logits.shape.rank < 2 or logits.shape.as_list()[-1] not in (None, dimension):
                raise ValueError(f"logits shape must be [D0, D1, ... DN, {dimension}], got {logits.shape}.")
            return logits
        expected = tf.concat([tf.shape(logits)[:-1], [dimension]], 0)
        with tf.control_dependencies([tf.assert_rank_at_least(logits, 2), tf.assert_equal(expected, tf.shape(logits))]):
            return tf.identity(logits)


def checked_labels(labels: Any, logits: Any, dimension: int) -> Any:
    """Dense ``labels`` of shape [D0, ..., DN, dimension], that of ``logits`` but for the last.

    Raises:
        ValueError: There are none, they are sparse, or their shape is another.
    """
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. "
            "Suggested troubleshooting steps: Check that your data contains your label feature. "
            "Check that your input_fn properly parses and returns labels."
        )
    if isinstance(labels, tf.SparseTensor):
        raise ValueError(
            "SparseTensor labels are not supported. Labels must be a Tensor of shape "
            f"[D0, D1, ..., DN, {dimension}], e.g. [batch_size, {dimension}]. Suggested Fix (1): Check the label "
            "feature in your data. Each example must contain n labels. Suggested Fix (2): In your input_fn, use "
            "tf.sparse_tensor_to_dense() to turn labels into a Tensor."
        )
    with tf.name_scope(None, "labels", (labels, logits)) as scope:
        labels = tf.convert_to_tensor(labels)
        ranks = labels.shape.rank, logits.shape.rank
        if dimension == 1 and None not in ranks and ranks[0] == ranks[1] - 1:
            labels = tf.expand_dims(labels, -1)
        if None not in ranks:
            expected = tf.TensorShape([*logits.shape.as_list()[:-1], dimension])
            if not labels.shape.is_compatible_with(expected):
                raise ValueError(
                    f"Mismatched label shape. Expected labels dimension={dimension}.  Received "
                    f"{labels.shape.as_list()[-1]}. Suggested Fix: If your classifier expects one-hot encoding label, "
                    "check your n_classes argument to the estimator and/or the shape of your label. Otherwise, check "
                    f"the shape of your label: labels {labels.shape}, logits {logits.shape}."
                )
        wanted = tf.concat([tf.shape(logits)[:-1], [dimension]], 0)
        check = tf.assert_equal(wanted, tf.shape(labels), data=[wanted, tf.shape(labels)])
        with tf.control_dependencies([check]):
            return tf.identity(labels, name=scope)


def in_range(labels: Any, n_classes: int) -> Any:
    """``labels``, checked to be in [0, n_classes - 1] when the graph runs."""
    with tf.name_scope(None, "assert_range", (labels,)):
        greatest = tf.constant(n_classes - 1, labels.dtype)
        checks = [
            tf.assert_less_equal(labels, greatest, message=f"Labels must be <= n_classes - 1 = {n_classes - 1}"),
            tf.assert_non_negative(labels, message="Labels must be >= 0"),
        ]
        with tf.control_dependencies(checks):
            return tf.identity(labels)


def weights_of(weight_column: Any, features: Any, logits: Any, per_logit: bool) -> Any:
    """The weights of the examples: [D0, ..., DN, 1], or where each logit may have its own, [D0, ..., DN, L]; or 1.0.

    Raises:
        TypeError: ``weight_column`` is neither the name of a feature nor a numeric column.
        ValueError: There is no such feature, or its shape does not fit.
    """
    if weight_column is None:
        return 1.0
    with tf.name_scope(None, "weights", (logits,)) as scope:
        key, normalizer = weight_column, None
        if not isinstance(weight_column, str):
            key = getattr(weight_column, "key", None)
            if key is None or not hasattr(weight_column, "normalizer_fn"):
                raise TypeError(f"Weight column must be either a string or NumericColumn. Given type: {weight_column}.")
            normalizer = weight_column.normalizer_fn
        if features is None or key not in features:
            raise ValueError(f"Feature {key} is not in features dictionary.")
        weights = tf.convert_to_tensor(features[key])
        if normalizer is not None:
            weights = normalizer(weights)
        weights = tf.cast(weights, tf.float32)
        ranks = weights.shape.rank, logits.shape.rank
        if None not in ranks:
            if ranks[0] == ranks[1] - 1:
                weights = tf.expand_dims(weights, -1)
            shape = logits.shape.as_list()
            fits = [tf.TensorShape([*shape[:-1], last]) for last in ((1, shape[-1]) if per_logit else (1,))]
            if not any(weights.shape.is_compatible_with(one) for one in fits):
                raise ValueError(f"weights shape must be one of {fits}, got {weights.shape} for logits {logits.shape}.")
        logits_shape, weights_shape = tf.shape(logits), tf.shape(weights)
        same_rank = tf.assert_equal(tf.rank(weights), tf.rank(logits))
        with tf.control_dependencies([same_rank]):
            fit = tf.reduce_all(tf.equal(weights_shape, tf.concat([logits_shape[:-1], [1]], 0)))
            if per_logit:
                fit = tf.logical_or(fit, tf.reduce_all(tf.equal(weights_shape, logits_shape)))
        with tf.control_dependencies([tf.Assert(fit, ["logits and weights:", logits_shape, weights_shape])]):
            return tf.identity(weights, name=scope)


def call_loss_fn(
    loss_fn: Callable[..., Any], labels: Any, logits: Any, features: Any, dimension: int, loss_reduction: str
) -> Any:
    """The unreduced loss of a loss function that was passed in: [D0, ..., DN, dimension]."""
    given = {"features": features, "loss_reduction": loss_reduction}
    takes = function_args(loss_fn)
    with tf.name_scope(None, "call_loss_fn"):
        loss = loss_fn(labels=labels, logits=logits, **{name: given[name] for name in given if name in takes})
        expected = tf.concat([tf.shape(logits)[:-1], [dimension]], 0)
        right = tf.reduce_all(tf.equal(tf.shape(loss), expected))
        message = f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. "
        with tf.control_dependencies(
            [tf.Assert(right, [message, "logits_shape: ", tf.shape(logits), "loss_shape: ", tf.shape(loss)])]
        ):
            return tf.identity(loss)


# ------------------------------------------------------------------------------------------------- parts of heads


def _tiled(row: Any, logits: Any) -> Any:
    """[C] -> [B, C]: the same row for each example."""
    batch = tf.shape(logits)[0]
    return tf.tile(tf.expand_dims(row, 0), [batch, 1])


def all_class_ids(logits: Any, n_classes: int) -> Any:
    return _tiled(tf.range(n_classes), logits)


def all_classes(logits: Any, n_classes: int, vocabulary: list[str] | None) -> Any:
    return _tiled(tf.constant(vocabulary) if vocabulary else tf.as_string(tf.range(n_classes)), logits)


def class_ids_of(labels: Any, vocabulary: list[str]) -> Any:
    """Strings -> their places in ``vocabulary``; -1 for others."""
    keys = tf.constant(vocabulary)
    with tf.name_scope("class_id_lookup"):
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, tf.range(len(vocabulary), dtype=tf.int64)), -1
        )
    return table.lookup(labels)


def classes_of(class_ids: Any, vocabulary: list[str] | None) -> Any:
    """Class ids -> strings."""
    if vocabulary is None:
        return tf.as_string(class_ids, name="str_classes")
    with tf.name_scope("class_string_lookup"):
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(tf.range(len(vocabulary), dtype=tf.int64), tf.constant(vocabulary)),
            "UNK",
        )
    return table.lookup(class_ids)


def mean_of(values: Any, weights: Any, name: str) -> tuple[Any, Any]:
    """The mean as a metric; ``weights`` are broadcast to ``values``."""
    pair: tuple[Any, Any] = tf.metrics.mean(values, weights=broadcast(weights, values), name=name)
    return pair


def broadcast(weights: Any, values: Any) -> Any:
    if isinstance(weights, float):
        return weights
    return weights * tf.ones_like(values, weights.dtype)


def threshold_metrics(labels: Any, probabilities: Any, weights: Any, threshold: float) -> Metrics:
    """Accuracy, precision and recall of calling positive what is at least (for the latter two: above) ``threshold``."""
    weights = broadcast(weights, probabilities)
    name = f"accuracy/positive_threshold_{threshold:g}"
    positive = tf.cast(probabilities >= threshold, labels.dtype)
    found: Metrics = {name: tf.metrics.accuracy(labels, positive, weights, name=name)}
    for kind, metric in (
        ("precision", tf.metrics.precision_at_thresholds),
        ("recall", tf.metrics.recall_at_thresholds),
    ):
        name = f"{kind}/positive_threshold_{threshold:g}"
        value, update = metric(labels, probabilities, (threshold,), weights, name=name)
        found[name] = (tf.squeeze(value, name=f"{name}/Squeeze"), tf.squeeze(update))
    return found


def regularized(loss: Any, regularization_losses: Any) -> Any:
    return loss + tf.add_n(regularization_losses) if regularization_losses else loss


def train_op_of(loss: Any, optimizer: Any, train_op_fn: Any, variables: Any = None, update_ops: Any = None) -> Any:
    """The operation that trains, with the update operations of the model."""
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is None and train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    if train_op_fn is not None:
        train_op = train_op_fn(loss)
    elif isinstance(optimizer, tf.train.Optimizer):
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step(), var_list=variables)
    elif hasattr(optimizer, "get_updates"):
        optimizer.iterations = tf.train.get_or_create_global_step()  # its steps are the model's
        train_op = tf.group(*optimizer.get_updates(loss, variables or tf.trainable_variables()))
    else:
        raise ValueError(f"The given optimizer is neither a tf.train.Optimizer nor one of Keras. Given: {optimizer}")
    if update_ops is None:
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    return tf.group(train_op, *update_ops) if update_ops else train_op


def summarize(scalars: Mapping[str, Any]) -> None:
    """Scalar summaries of those that there are, outside of all name scopes."""
    with tf.name_scope(""):
        for key, value in scalars.items():
            if value is not None:
                tf.summary.scalar(key, value)


def accuracy_baseline(label_mean: tuple[Any, Any]) -> tuple[Any, Any]:
    """The accuracy of always saying the more frequent class."""
    value, update = label_mean
    with tf.name_scope(None, "accuracy_baseline"):
        return tf.maximum(value, 1.0 - value, name="value"), tf.maximum(update, 1.0 - update, name="update_op")


def classification(probabilities: Any, logits: Any, n_classes: int, vocabulary: list[str] | None) -> Any:
    return private.export_output.ClassificationOutput(
        scores=probabilities, classes=all_classes(logits, n_classes, vocabulary)
    )
