"""Metrics that stream over batches, as pairs of a value and an operation that updates it.

Most of them are ``tf.metrics`` with the predictions first. In the shapes, B is the batch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ...runtime import tf1 as tf
from .._named import named
from .common import Metric, collected, local

__all__ = [
    "accuracy",
    "aggregate_metric_map",
    "aggregate_metrics",
    "cohen_kappa",
    "confusion_matrix",
    "count",
    "set_difference",
    "set_intersection",
    "set_size",
    "set_union",
    "sparse_recall_at_top_k",
    "streaming_accuracy",
    "streaming_auc",
    "streaming_covariance",
    "streaming_false_negative_rate",
    "streaming_false_negatives",
    "streaming_false_positive_rate",
    "streaming_false_positives",
    "streaming_mean",
    "streaming_mean_absolute_error",
    "streaming_mean_cosine_distance",
    "streaming_mean_iou",
    "streaming_mean_relative_error",
    "streaming_mean_squared_error",
    "streaming_mean_tensor",
    "streaming_pearson_correlation",
    "streaming_percentage_less",
    "streaming_precision",
    "streaming_precision_at_thresholds",
    "streaming_recall",
    "streaming_recall_at_k",
    "streaming_recall_at_thresholds",
    "streaming_root_mean_squared_error",
    "streaming_sensitivity_at_specificity",
    "streaming_sparse_average_precision_at_k",
    "streaming_sparse_average_precision_at_top_k",
    "streaming_sparse_precision_at_k",
    "streaming_sparse_precision_at_top_k",
    "streaming_sparse_recall_at_k",
    "streaming_specificity_at_sensitivity",
    "streaming_true_negatives",
    "streaming_true_positives",
]

confusion_matrix: Any = tf.math.confusion_matrix
set_difference: Any = tf.sets.difference
set_intersection: Any = tf.sets.intersection
set_size: Any = tf.sets.size
set_union: Any = tf.sets.union


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """Return the share of predictions that are their labels, within this batch.

    Args:
        predictions: [B], whole numbers, bools or strings.
        labels: The same shape and type.
        weights: Their weights; the mean is then the weighted one.
        name: The name of the operations.

    Raises:
        ValueError: The types differ, or are floats.
    """
    predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
    if not (labels.dtype.is_integer or labels.dtype in (tf.bool, tf.string)):
        raise ValueError(f"Labels should have bool, string or integer dtype, not {labels.dtype}")
    if labels.dtype != predictions.dtype:
        raise ValueError(
            f"Dtypes of predictions and labels should match. Given: predictions ({predictions.dtype}) and labels "
            f"({labels.dtype})"
        )
    with tf.name_scope(name, "accuracy", [predictions, labels]):
        correct = tf.cast(tf.equal(predictions, labels), tf.float32)
        if weights is None:
            return tf.reduce_mean(correct)
        weights = tf.cast(weights, tf.float32)
        return tf.div(tf.reduce_sum(correct * weights), tf.reduce_sum(tf.ones_like(correct) * weights))


def aggregate_metrics(*value_update_tuples: Metric) -> tuple[list[Any], list[Any]]:
    """The values and the updates of several metrics, as two lists.

    Raises:
        ValueError: There are none.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Mapping[str, Metric]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values and the updates of metrics by name, as two dicts."""
    return (
        {name: pair[0] for name, pair in names_to_tuples.items()},
        {name: pair[1] for name, pair in names_to_tuples.items()},
    )


def _predictions_first(metric: Callable[..., Metric], what: str, prefix: str = "streaming_") -> Callable[..., Metric]:
    """``metric`` of ``tf.metrics``, but the predictions are its first argument and the labels its second."""
    labels, predictions, *others = inspect.signature(metric).parameters.values()

    @named(prefix + metric.__name__, f"{what}, over all batches: ``tf.metrics.{metric.__name__}``, predictions first.")
    def streaming(predictions: Any, labels: Any, *args: Any, **kwargs: Any) -> Metric:
        return metric(labels, predictions, *args, **kwargs)

    streaming.__signature__ = inspect.Signature([predictions, labels, *others])  # type: ignore[attr-defined]
    return streaming


streaming_accuracy = _predictions_first(tf.metrics.accuracy, "How many of the predictions are their labels")
streaming_false_negatives = _predictions_first(tf.metrics.false_negatives, "The number of false negatives")
streaming_false_positives = _predictions_first(tf.metrics.false_positives, "The number of false positives")
streaming_mean_absolute_error = _predictions_first(tf.metrics.mean_absolute_error, "The mean absolute error")
streaming_mean_cosine_distance = _predictions_first(
    tf.metrics.mean_cosine_distance, "The mean cosine distance along ``dim``"
)
streaming_mean_iou = _predictions_first(tf.metrics.mean_iou, "The mean intersection over union of the classes")
streaming_mean_relative_error = _predictions_first(
    tf.metrics.mean_relative_error, "The mean error relative to ``normalizer``"
)
streaming_mean_squared_error = _predictions_first(tf.metrics.mean_squared_error, "The mean squared error")
streaming_precision = _predictions_first(tf.metrics.precision, "How many of the positives are true")
streaming_precision_at_thresholds = _predictions_first(
    tf.metrics.precision_at_thresholds, "The precision at each threshold"
)
streaming_recall = _predictions_first(tf.metrics.recall, "How many of the true are positive")
streaming_recall_at_thresholds = _predictions_first(tf.metrics.recall_at_thresholds, "The recall at each threshold")
streaming_root_mean_squared_error = _predictions_first(
    tf.metrics.root_mean_squared_error, "The root of the mean squared error"
)
streaming_sensitivity_at_specificity = _predictions_first(
    tf.metrics.sensitivity_at_specificity, "The sensitivity where the specificity is as given"
)
streaming_sparse_average_precision_at_k = _predictions_first(
    tf.metrics.average_precision_at_k, "The average precision of the ``k`` greatest predictions", "streaming_sparse_"
)
streaming_sparse_precision_at_k = _predictions_first(
    tf.metrics.precision_at_k, "The precision of the ``k`` greatest predictions for sparse labels", "streaming_sparse_"
)
streaming_sparse_recall_at_k = _predictions_first(
    tf.metrics.recall_at_k, "The recall of sparse labels among the ``k`` greatest predictions", "streaming_sparse_"
)
streaming_specificity_at_sensitivity = _predictions_first(
    tf.metrics.specificity_at_sensitivity, "The specificity where the sensitivity is as given"
)
streaming_true_negatives = _predictions_first(tf.metrics.true_negatives, "The number of true negatives")
streaming_true_positives = _predictions_first(tf.metrics.true_positives, "The number of true positives")


def streaming_auc(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
) -> Metric:
    """The area under the ROC or PR curve: ``tf.metrics.auc``."""
    return tf.metrics.auc(
        labels=labels,
        predictions=predictions,
        weights=weights,
        num_thresholds=num_thresholds,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        curve=curve,
        name=name,
    )


def streaming_mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over all batches: ``tf.metrics.mean``."""
    return tf.metrics.mean(values, weights, metrics_collections, updates_collections, name)


def streaming_mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of each element over all batches: ``tf.metrics.mean_tensor``."""
    return tf.metrics.mean_tensor(values, weights, metrics_collections, updates_collections, name)


def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Count the elements of all batches, or sum their weights.

    Args:
        values: Any shape.
        weights: The same shape, or one that can be repeated to it.
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.
    """
    with tf.variable_scope(name, "count", (values, weights)):
        total = local("count", [])
        if weights is None:
            here = tf.cast(tf.size(values), tf.float32)
        else:
            here = tf.reduce_sum(tf.cast(weights, tf.float32) * tf.ones_like(values, tf.float32))
        with tf.control_dependencies([here]):
            update = tf.assign_add(total, here)
        return collected(tf.identity(total), update, metrics_collections, updates_collections)


def streaming_percentage_less(
    values: Any,
    threshold: float,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return the share of values below ``threshold``: ``tf.metrics.percentage_below``."""
    return tf.metrics.percentage_below(values, threshold, weights, metrics_collections, updates_collections, name)


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Return how often the label, [B], is among the ``k`` greatest predictions, [B, N]."""
    hit = tf.cast(tf.nn.in_top_k(predictions, labels, k), tf.float32)
    return streaming_mean(hit, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The precision of predicted classes, [B, k], for sparse labels: ``tf.metrics.precision_at_top_k``."""
    return tf.metrics.precision_at_top_k(
        labels,
        top_k_predictions,
        class_id=class_id,
        weights=weights,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        name=name,
    )


def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The recall of sparse labels among predicted classes, [B, k]: ``tf.metrics.recall_at_top_k``."""
    return tf.metrics.recall_at_top_k(
        labels,
        top_k_predictions,
        class_id=class_id,
        weights=weights,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        name=name,
    )


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The average precision of predicted classes, over all batches.

    Args:
        top_k_predictions: [B..., k], the predicted classes, best first.
        labels: The true classes, int64: [B..., N], or a ``SparseTensor`` of that shape, or [B...] for one each.
        weights: A scalar or [B...].
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.

    Raises:
        ValueError: k is not known.
    """
    scope = name or "average_precision_at_top_k"
    with tf.variable_scope(None, scope, (top_k_predictions, labels, weights)) as variables:
        with tf.name_scope(variables.original_name_scope):
            predictions = tf.cast(top_k_predictions, tf.int64)
            count = predictions.shape[-1]
            if count is None or getattr(count, "value", count) is None:
                raise ValueError("The last dimension of predictions must be set.")
            count = int(count)
            if not isinstance(labels, tf.SparseTensor):
                labels = tf.cast(labels, tf.int64)
                if labels.shape.rank == predictions.shape.rank - 1:
                    labels = tf.expand_dims(labels, -1)
            relevant = tf.stack(
                [
                    tf.sets.size(tf.sets.intersection(predictions[..., place : place + 1], labels))
                    for place in range(count)
                ],
                -1,
            )
            relevant = tf.cast(relevant, tf.float64)
            precisions = tf.cumsum(relevant, -1) / tf.range(1.0, count + 1.0, dtype=tf.float64)
            most = tf.minimum(_how_many(labels), tf.constant(count, tf.float64))
            average = tf.math.divide_no_nan(tf.reduce_sum(precisions * relevant, -1), most)
            if weights is None:
                number = tf.cast(tf.size(average), tf.float64)
            else:
                weights = tf.broadcast_to(tf.cast(weights, tf.float64), tf.shape(average))
                number, average = tf.reduce_sum(weights), average * weights
        highest = local("max", [], tf.float64)
        total = local("total", [], tf.float64)
        with tf.name_scope(variables.original_name_scope):
            new_highest = tf.assign_add(highest, number)
            new_total = tf.assign_add(total, tf.reduce_sum(average))
            value = tf.math.divide_no_nan(tf.identity(total), tf.identity(highest), name="mean")
        update = tf.math.divide_no_nan(new_total, new_highest, name=variables.original_name_scope)
        return collected(value, update, metrics_collections, updates_collections)


def _how_many(labels: Any) -> Any:
    """The number of labels in the last dimension of ``labels``, dense or sparse, as float64."""
    if isinstance(labels, tf.SparseTensor):
        return tf.sparse_reduce_sum(
            tf.SparseTensor(labels.indices, tf.ones_like(labels.values, tf.float64), labels.dense_shape), -1
        )
    return tf.cast(tf.shape(labels)[-1], tf.float64)


def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Cohen's kappa, the agreement of labels and predictions beyond chance, over all batches.

    Args:
        labels: [B], whole numbers from 0.
        predictions_idx: [B], of the same type.
        num_classes: Their number, at least 2.
        weights: [B], or None.
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.

    Raises:
        ValueError: ``num_classes`` is below 2, or the shapes differ.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2. Found: {num_classes}")
    with tf.variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions_idx)
        predictions.shape.assert_is_compatible_with(labels.shape)
        kind = tf.int64 if weights is None else tf.float32
        diagonal, rows, columns = (local(part, [num_classes], kind) for part in ("po", "pe_row", "pe_col"))
        counts = tf.math.confusion_matrix(
            labels, predictions, num_classes, weights=weights, dtype=kind, name="counts_in_table"
        )
        updates = [
            tf.assign_add(diagonal, tf.linalg.diag_part(counts)),
            tf.assign_add(rows, tf.reduce_sum(counts, 0)),
            tf.assign_add(columns, tf.reduce_sum(counts, 1)),
        ]

        def kappa(title: str, diagonal: Any, rows: Any, columns: Any) -> Any:
            total = tf.cast(tf.reduce_sum(rows), tf.float64)
            chance = tf.reduce_sum(tf.math.divide_no_nan(tf.cast(rows * columns, tf.float64), total))
            agreed = tf.cast(tf.reduce_sum(diagonal), tf.float64)
            return tf.math.divide_no_nan(agreed - chance, total - chance, name=title)

        value = kappa("value", *(tf.identity(variable) for variable in (diagonal, rows, columns)))
        return collected(value, kappa("update_op", *updates), metrics_collections, updates_collections)


def streaming_false_negative_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """False negatives / (false negatives + true positives), 0 without any; see ``streaming_recall``."""
    with tf.variable_scope(name, "false_negative_rate", (predictions, labels, weights)):
        return _rate(
            streaming_false_negatives(predictions, labels, weights),
            streaming_true_positives(predictions, labels, weights),
            metrics_collections,
            updates_collections,
        )


def streaming_false_positive_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """False positives / (false positives + true negatives), 0 without any; see ``streaming_recall``."""
    with tf.variable_scope(name, "false_positive_rate", (predictions, labels, weights)):
        return _rate(
            streaming_false_positives(predictions, labels, weights),
            streaming_true_negatives(predictions, labels, weights),
            metrics_collections,
            updates_collections,
        )


def _rate(part: Metric, rest: Metric, metrics_collections: Any, updates_collections: Any) -> Metric:
    value = tf.math.divide_no_nan(part[0], part[0] + rest[0], name="value")
    update = tf.math.divide_no_nan(part[1], part[1] + rest[1], name="update_op")
    return collected(value, update, metrics_collections, updates_collections)


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The unbiased covariance of predictions and labels, over all batches; 0 for fewer than two.

    Args:
        predictions: Any shape.
        labels: The same shape.
        weights: How often each pair counts; the same shape, or one that can be repeated to it.
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.

    The means and the comoment of each batch are joined to those before, as in Chan et al.,
    https://doi.org/10.1007/978-3-642-51461-6_3.
    """
    with tf.variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels = tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32)
        predictions.shape.assert_is_compatible_with(labels.shape)
        number = local("count", [])
        mean_prediction, mean_label = local("mean_prediction", []), local("mean_label", [])
        comoment = local("comoment", [])
        weights = tf.ones_like(labels) * (1.0 if weights is None else tf.cast(weights, tf.float32))
        here = tf.reduce_sum(weights)
        batch_prediction = tf.math.divide_no_nan(tf.reduce_sum(predictions * weights), here)
        batch_label = tf.math.divide_no_nan(tf.reduce_sum(labels * weights), here)
        batch_comoment = tf.reduce_sum((predictions - batch_prediction) * (labels - batch_label) * weights)
        before = [tf.identity(variable) for variable in (number, mean_prediction, mean_label, comoment)]
        total = before[0] + here
        share = tf.math.divide_no_nan(here, total)
        apart = batch_prediction - before[1], batch_label - before[2]
        joined = [
            total,
            before[1] + apart[0] * share,
            before[2] + apart[1] * share,
            before[3] + batch_comoment + apart[0] * apart[1] * before[0] * share,
        ]
        with tf.control_dependencies(joined):
            updates = [
                tf.assign(variable, value)
                for variable, value in zip((number, mean_prediction, mean_label, comoment), joined, strict=True)
            ]
        value = tf.math.divide_no_nan(tf.identity(comoment), tf.maximum(tf.identity(number) - 1, 0), name="covariance")
        with tf.control_dependencies(updates):
            update = tf.math.divide_no_nan(joined[3], tf.maximum(total - 1, 0), name="update_op")
        return collected(value, update, metrics_collections, updates_collections)


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Pearson's correlation of predictions and labels, over all batches; see :func:`streaming_covariance`."""
    with tf.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels = tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32)
        both = streaming_covariance(predictions, labels, weights, name="covariance")
        first = streaming_covariance(predictions, predictions, weights, name="variance_predictions")
        second = streaming_covariance(labels, labels, weights, name="variance_labels")
        value, update = (
            tf.math.divide_no_nan(both[at], tf.sqrt(first[at]) * tf.sqrt(second[at]), name=title)
            for at, title in enumerate(("pearson_r", "update_op"))
        )
        return collected(value, update, metrics_collections, updates_collections)
