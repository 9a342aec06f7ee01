"""Metrics from the counts of true and false positives and negatives at thresholds.

T is the number of thresholds. The variables of one metric have the names of its counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from .._named import named
from .common import Metric, collected, local

__all__ = [
    "PrecisionRecallData",
    "f1_score",
    "precision_at_recall",
    "precision_recall_at_equal_thresholds",
    "recall_at_precision",
    "streaming_curve_points",
    "streaming_false_negative_rate_at_thresholds",
    "streaming_false_negatives_at_thresholds",
    "streaming_false_positive_rate_at_thresholds",
    "streaming_false_positives_at_thresholds",
    "streaming_true_negatives_at_thresholds",
    "streaming_true_positives_at_thresholds",
]

_EPSILON = 1e-7
_ALL = ("true_positives", "false_negatives", "true_negatives", "false_positives")


class PrecisionRecallData(NamedTuple):
    """Counts, precision and recall at thresholds, each [T]."""

    tp: Any
    fp: Any
    tn: Any
    fn: Any
    precision: Any
    recall: Any
    thresholds: Any


def _evenly(count: int) -> list[float]:
    """``count`` thresholds from just below 0 to just above 1."""
    return [-_EPSILON, *((place + 1) / (count - 1) for place in range(count - 2)), 1.0 + _EPSILON]


def _counts(
    labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any, parts: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The counts named in ``parts`` at each threshold, [T], and the operations that update them."""
    predictions, labels = tf.cast(predictions, tf.float32), tf.cast(labels, tf.bool)
    predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is not None:
        weights = tf.cast(weights, tf.float32)
        if weights.shape.rank and predictions.shape.rank is not None:
            if weights.shape.rank == predictions.shape.rank - 1:
                weights = tf.expand_dims(weights, -1)
            elif weights.shape.rank == predictions.shape.rank + 1:
                weights = tf.squeeze(weights, [-1])
        if weights.shape.rank not in (None, 0, predictions.shape.rank):
            raise ValueError(f"weights can not be broadcast to values: {weights.shape}, {predictions.shape}")
        weights = tf.reshape(tf.broadcast_to(weights, tf.shape(predictions)), [1, -1])
    limits = tf.expand_dims(tf.constant(list(thresholds), tf.float32), 1)
    above = tf.greater(tf.reshape(predictions, [1, -1]), limits)
    truth = tf.reshape(labels, [1, -1])
    masks = {
        "true_positives": lambda: tf.logical_and(truth, above),
        "false_negatives": lambda: tf.logical_and(truth, tf.logical_not(above)),
        "true_negatives": lambda: tf.logical_and(tf.logical_not(truth), tf.logical_not(above)),
        "false_positives": lambda: tf.logical_and(tf.logical_not(truth), above),
    }
    values, updates = {}, {}
    for part in parts:
        values[part] = local(part, [len(thresholds)])
        hits = tf.cast(masks[part](), tf.float32)
        updates[part] = tf.assign_add(values[part], tf.reduce_sum(hits if weights is None else hits * weights, 1))
    return values, updates


def _both(
    counts: tuple[dict[str, Any], dict[str, Any]],
    compute: Callable[..., Any],
    names: Sequence[str | None],
    metrics_collections: Any,
    updates_collections: Any,
) -> Metric:
    """``compute(name, counts...)`` of the values and of the updates."""
    values, updates = counts
    value = compute(names[0], *(tf.convert_to_tensor(variable) for variable in values.values()))
    return collected(value, compute(names[1], *updates.values()), metrics_collections, updates_collections)


def _alone(part: str) -> Callable[..., Metric]:
    doc = f"""The number of {part.replace("_", " ")} at each threshold, over all batches.

    Args:
        predictions: Any shape, from 0 to 1.
        labels: The same shape, bools.
        thresholds: T numbers from 0 to 1.
        weights: Their weights; the same shape, or one that can be repeated to it.

    Returns:
        The variable, [T], and the operation that updates it.
    """

    @named(f"streaming_{part}_at_thresholds", doc)
    def streaming(predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None) -> Metric:
        values, updates = _counts(labels, predictions, thresholds, weights, (part,))
        return values[part], updates[part]

    return streaming


streaming_false_negatives_at_thresholds = _alone("false_negatives")
streaming_false_positives_at_thresholds = _alone("false_positives")
streaming_true_negatives_at_thresholds = _alone("true_negatives")
streaming_true_positives_at_thresholds = _alone("true_positives")


def streaming_false_negative_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """False negatives / (false negatives + true positives) at each threshold, [T], over all batches.

    Args:
        predictions: Any shape, from 0 to 1.
        labels: The same shape, bools.
        thresholds: T numbers from 0 to 1.
        weights: Their weights; the same shape, or one that can be repeated to it.
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.
    """
    with tf.variable_scope(name, "false_negative_rate_at_thresholds", (predictions, labels, weights)):
        counts = _counts(labels, predictions, thresholds, weights, ("true_positives", "false_negatives"))
        return _both(
            counts,
            lambda title, tp, fn: tf.div(fn, _EPSILON + fn + tp, name=title),
            ("fnr_value", "fnr_update_op"),
            metrics_collections,
            updates_collections,
        )


def streaming_false_positive_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """False positives / (false positives + true negatives) at each threshold, [T], over all batches.

    The arguments are those of :func:`streaming_false_negative_rate_at_thresholds`.
    """
    with tf.variable_scope(name, "false_positive_rate_at_thresholds", (predictions, labels, weights)):
        counts = _counts(labels, predictions, thresholds, weights, ("true_negatives", "false_positives"))
        return _both(
            counts,
            lambda title, tn, fp: tf.div(fp, _EPSILON + fp + tn, name=title),
            ("fpr_value", "fpr_update_op"),
            metrics_collections,
            updates_collections,
        )


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The best F1 score, 2 * precision * recall / (precision + recall), over thresholds; over all batches.

    Args:
        labels: Any shape, 0 and 1.
        predictions: The same shape, from 0 to 1.
        weights: Their weights; the same shape, or one that can be repeated to it.
        num_thresholds: The number of thresholds.
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.
    """

    def best(title: str | None, tp: Any, fn: Any, fp: Any) -> Any:
        precision, recall = tp / (_EPSILON + tp + fp), tp / (_EPSILON + tp + fn)
        return tf.reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON), name=title)

    with tf.variable_scope(name, "f1", (labels, predictions, weights)):
        parts = ("true_positives", "false_negatives", "false_positives")
        counts = _counts(labels, predictions, _evenly(num_thresholds), weights, parts)
        return _both(counts, best, (None, None), metrics_collections, updates_collections)


def _in_unit(value: float, name: str) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be in the range [0, 1].")


def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The precision at the highest threshold where the recall is at least ``target_recall``, over all batches.

    Args:
        labels: Any shape, 0 and 1.
        predictions: The same shape, from 0 to 1.
        target_recall: From 0 to 1.
        weights: Their weights; the same shape, or one that can be repeated to it.
        num_thresholds: The number of thresholds.
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.

    Raises:
        ValueError: ``target_recall`` is not from 0 to 1.
    """
    _in_unit(target_recall, "target_recall")

    def precision(title: str | None, tp: Any, fn: Any, tn: Any, fp: Any) -> Any:
        recall = tp / (tp + fn + _EPSILON)
        place = tf.reduce_sum(tf.cast(tf.greater_equal(recall, target_recall), tf.int32)) - 1
        return tf.div(tp[place] + _EPSILON, tp[place] + fp[place] + _EPSILON, name=title)

    with tf.variable_scope(name, "precision_at_recall", (labels, predictions, weights)):
        counts = _counts(labels, predictions, _evenly(num_thresholds), weights, _ALL)
        return _both(counts, precision, ("value", "update_op"), metrics_collections, updates_collections)


def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> Metric:
    """The recall at the threshold where the precision is closest to ``precision``, over all batches.

    Args:
        labels: Any shape, 0 and 1.
        predictions: The same shape, from 0 to 1.
        precision: From 0 to 1.
        weights: Their weights; the same shape, or one that can be repeated to it.
        num_thresholds: The number of thresholds.
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.
        strict_mode: Whether only thresholds with at least that precision count; 0 without any.

    Raises:
        ValueError: ``precision`` is not from 0 to 1.
    """
    _in_unit(precision, "precision")

    def recall(title: str | None, tp: Any, fn: Any, tn: Any, fp: Any) -> Any:
        precisions = tp / (tp + fp + _EPSILON)
        if not strict_mode:
            place = tf.argmin(tf.abs(precisions - precision), 0, output_type=tf.int32)
            return tf.div(tp[place], tp[place] + fn[place] + _EPSILON, name=title)
        place = tf.argmax(1.0 / (precisions - precision + _EPSILON), 0, output_type=tf.int32)
        return tf.cond(
            tf.greater_equal(precisions[place], precision),
            lambda: tp[place] / (tp[place] + fn[place] + _EPSILON),
            lambda: tf.constant(0.0),
        )

    with tf.variable_scope(name, "recall_at_precision", (labels, predictions, weights)):
        counts = _counts(labels, predictions, _evenly(num_thresholds), weights, _ALL)
        return _both(counts, recall, ("value", "update_op"), metrics_collections, updates_collections)


def streaming_curve_points(
    labels: Any = None,
    predictions: Any = None,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
) -> Metric:
    """Points of the ROC or PR curve, [num_thresholds, 2], over all batches.

    Args:
        labels: Any shape, 0 and 1.
        predictions: The same shape, from 0 to 1.
        weights: Their weights; the same shape, or one that can be repeated to it.
        num_thresholds: The number of thresholds.
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        curve: "ROC": false positive and true positive rates; "PR": recall and precision.
        name: The variable scope.

    Raises:
        ValueError: ``curve`` is neither.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")

    with tf.variable_scope(name, "curve_points", (labels, predictions, weights)):
        values, updates = _counts(labels, predictions, _evenly(num_thresholds), weights, _ALL)
        update = tf.group(*updates.values())
        tp, fn, tn, fp = (tf.convert_to_tensor(variable) for variable in values.values())
        recall = tf.div(tp + _EPSILON, tp + fn + _EPSILON)
        if curve == "ROC":
            points = tf.stack([tf.div(fp, fp + tn + _EPSILON), recall], 1)
        else:
            points = tf.stack([recall, tf.div(tp + _EPSILON, tp + fp + _EPSILON)], 1)
        return collected(points, update, metrics_collections, updates_collections)


def precision_recall_at_equal_thresholds(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, Any]:
    """Counts, precision and recall at thresholds at equal distances from 0 to 1, over all batches.

    A prediction is counted in one bucket, so that many of them cost no more memory than themselves.

    Args:
        labels: Any shape, bools.
        predictions: The same shape, from 0 to 1.
        weights: Of the predictions' type; the same shape, or one that can be repeated to it.
        num_thresholds: The number of thresholds, 201 unless given.
        use_locking: Whether updates exclude each other; True unless given.
        name: The variable scope.

    Raises:
        TypeError: The labels are no bools.
        ValueError: The shapes differ.
    """
    count = 201 if num_thresholds is None else num_thresholds
    locking = True if use_locking is None else use_locking
    with tf.variable_scope(name, "precision_recall_at_equal_thresholds", (labels, predictions, weights)):
        labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
        if labels.dtype.base_dtype != tf.bool:
            raise TypeError(f"{labels.name} must be of type {tf.bool}")
        predictions.shape.assert_is_compatible_with(labels.shape)
        kind = predictions.dtype
        flat, truth = tf.reshape(predictions, [-1]), tf.reshape(labels, [-1])
        ones = tf.ones_like(predictions) if weights is None else tf.cast(weights, kind)
        each = tf.cast(tf.reshape(tf.broadcast_to(ones, tf.shape(predictions)), [-1]), tf.float64)
        bucket = tf.cast(tf.floor(flat * tf.cast(count - 1, kind)), tf.int32)
        with tf.variable_scope("variables"):
            tp_buckets, fp_buckets = local("tp_buckets", [count], tf.float64), local("fp_buckets", [count], tf.float64)
        zero = tf.zeros_like(each)
        update = tf.group(
            tf.scatter_add(tp_buckets, bucket, tf.where(truth, each, zero), use_locking=locking),
            tf.scatter_add(fp_buckets, bucket, tf.where(truth, zero, each), use_locking=locking),
        )
        tp = tf.cumsum(tf.convert_to_tensor(tp_buckets), reverse=True)
        fp = tf.cumsum(tf.convert_to_tensor(fp_buckets), reverse=True)
        tn, fn = fp[0] - fp, tp[0] - tp
        smallest = tf.constant(1e-10, tf.float64)
        result = PrecisionRecallData(
            tp=tf.cast(tp, kind),
            fp=tf.cast(fp, kind),
            tn=tf.cast(tn, kind),
            fn=tf.cast(fn, kind),
            precision=tf.cast(tp / tf.maximum(smallest, tp + fp), kind),
            recall=tf.cast(tp / tf.maximum(smallest, tp + fn), kind),
            thresholds=tf.cast(tf.linspace(0.0, 1.0, count), kind),
        )
        return result, update
