"""Metrics that keep all values of all batches, or histograms of them: areas under curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from .common import Metric, collected

__all__ = [
    "AucData",
    "auc_using_histogram",
    "auc_with_confidence_intervals",
    "streaming_concat",
    "streaming_dynamic_auc",
]

_EPSILON = 1e-7


class AucData(NamedTuple):
    """An area under a curve, and the ends of its confidence interval; scalars."""

    auc: Any
    lower: Any
    upper: Any


def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The values of all batches, joined along ``axis``.

    Args:
        values: Of known rank, and of known size but for ``axis``.
        axis: Where they are joined.
        max_size: The size along ``axis`` at which it stops; None for no end.
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.

    Returns:
        The values, and an operation that adds the next ones and gives their number.

    Raises:
        ValueError: A size is not known, or ``axis`` is none of the values'.
    """
    with tf.variable_scope(name, "streaming_concat", (values,)):
        values = tf.convert_to_tensor(values)
        rank = values.shape.rank
        if rank is None:
            raise ValueError("`values` must have known statically known rank")
        place = axis + rank if -rank <= axis < 0 else axis
        if not 0 <= place < rank:
            raise ValueError(f"axis = {axis} not in [0, {rank})")
        shape = values.shape.as_list()
        if None in shape[:place] + shape[place + 1 :]:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must have statically known "
                "size"
            )
        if max_size is not None and max_size < 0:
            raise ValueError(f"max_size must not be negative: {max_size}")

        def variable(title: str, start: list[int]) -> Any:
            return tf.get_variable(
                title,
                initializer=lambda: tf.zeros(start, values.dtype if title == "array" else tf.int32),
                trainable=False,
                validate_shape=title == "size",
                use_resource=False,  # the shape changes
                collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
            )

        array = variable("array", [0 if at == place else size for at, size in enumerate(shape)])
        size = variable("size", [])
        shape[place] = None
        value = tf.identity(array, name="concat")
        value.set_shape(shape)
        room = [None if max_size is None or at != place else max_size for at in range(rank)]
        joined = tf.concat([value, values], place)[tuple(slice(None, end) for end in room)]
        with tf.control_dependencies([tf.assign(array, joined, validate_shape=False, name="append")]):
            update = tf.assign(size, tf.shape(joined)[place])
        return collected(value, update, metrics_collections, updates_collections)


def _accumulated(labels: Any, predictions: Any, weights: Any, weight_type: Any) -> tuple[Any, Any, Any, Any]:
    """All labels, predictions and weights, flat, and the operation that adds those of a batch."""
    labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
    predictions.shape.assert_is_compatible_with(labels.shape)
    kept = [
        streaming_concat(tf.reshape(tf.cast(predictions, tf.float64), [-1]), name="concat_preds"),
        streaming_concat(tf.reshape(tf.cast(labels, tf.int64), [-1]), name="concat_labels"),
    ]
    if weights is not None:
        weights = tf.broadcast_to(tf.cast(weights, weight_type), tf.shape(predictions))
        kept.append(streaming_concat(tf.reshape(weights, [-1]), name="concat_weights"))
    every = kept[2][0] if weights is not None else tf.ones_like(kept[0][0], weight_type)
    return kept[1][0], kept[0][0], every, tf.group(*[update for _, update in kept])


def streaming_dynamic_auc(
    labels: Any,
    predictions: Any,
    curve: str = "ROC",
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
    weights: Any = None,
) -> Metric:
    """The area under the ROC or PR curve, with each prediction of all batches as a threshold.

    Args:
        labels: Any shape, 0 and 1.
        predictions: The same shape.
        curve: "ROC" or "PR".
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.
        weights: Their weights, not negative.

    Returns:
        The area, a float64, 0 where all labels are the same; and the operation that adds a batch.

    Raises:
        ValueError: The shapes differ, or ``curve`` is neither.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with tf.variable_scope(name, "dynamic_auc"):
        labels, predictions, weights, update = _accumulated(labels, predictions, weights, tf.float64)
        positive = tf.where(tf.greater(labels, 0), weights, tf.zeros_like(weights))
        total, total_positive = tf.reduce_sum(weights), tf.reduce_sum(positive)

        def area() -> Any:
            ordered, order = tf.nn.top_k(predictions, k=tf.size(predictions))
            _, _, counts = tf.unique_with_counts(ordered)
            ends = tf.pad(tf.cumsum(counts), [[1, 0]])  # a threshold after each group of equal predictions
            true = tf.gather(tf.pad(tf.cumsum(tf.gather(positive, order)), [[1, 0]]), ends)
            both = tf.gather(tf.pad(tf.cumsum(tf.gather(weights, order)), [[1, 0]]), ends)
            recall = true / total_positive
            if curve == "ROC":
                across, up = (both - true) / (total - total_positive), recall
            else:
                across, up = recall, tf.where(tf.greater(ends, 0), true / both, tf.ones_like(true))
            return tf.reduce_sum((up[1:] + up[:-1]) / 2.0 * tf.abs(across[1:] - across[:-1]))

        alike = tf.logical_or(tf.equal(total_positive, 0.0), tf.equal(total_positive, total))
        value = tf.cond(alike, lambda: tf.constant(0.0, tf.float64), area)
        return collected(value, update, metrics_collections, updates_collections)


def auc_with_confidence_intervals(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
) -> Metric:
    """The area under the ROC curve and its confidence interval, from the placements of all predictions.

    The variance is that of DeLong et al., https://doi.org/10.2307/2531595, with weights.

    Args:
        labels: Any shape, 0 and 1.
        predictions: The same shape.
        weights: Their weights; the same shape, or one that can be repeated to it.
        alpha: The probability of the interval.
        logit_transformation: Whether the interval is made on the logit's scale, and so within [0, 1].
        metrics_collections: Collections of the value.
        updates_collections: Collections of the update.
        name: The variable scope.

    Returns:
        An :class:`AucData`, and the operation that adds a batch.

    Raises:
        ValueError: The shapes differ, or ``alpha`` is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    with tf.variable_scope(name, "auc_with_confidence_intervals"):
        weights = 1.0 if weights is None else weights
        labels, predictions, weights, added = _accumulated(labels, predictions, weights, tf.float32)
        with tf.control_dependencies([added]):
            update = tf.constant(True)
        mixed = tf.logical_and(tf.reduce_any(tf.equal(labels, 0)), tf.reduce_any(tf.equal(labels, 1)))
        value = AucData(
            *tf.cond(
                tf.logical_and(mixed, tf.greater_equal(tf.reduce_sum(weights), 1.0)),
                lambda: _interval(labels, predictions, weights, alpha, logit_transformation),
                lambda: [tf.constant(0.0)] * 3,
            )
        )
        return collected(value, update, metrics_collections, updates_collections)


def _interval(labels: Any, predictions: Any, weights: Any, alpha: float, logit: bool) -> list[Any]:
    """The area and the ends of its interval, for labels of both kinds, each argument [N]."""
    ordered, order = tf.nn.top_k(-predictions, k=tf.size(predictions))  # ascending
    _, group = tf.unique(ordered)
    positive = tf.cast(tf.gather(labels, order), tf.float32)
    weights = tf.gather(weights, order)
    sides = [weights * (1.0 - positive), weights * positive]
    totals = [tf.reduce_sum(side) for side in sides]
    below = []  # what share of the negatives (positives) is lower, with half of those that are equal
    for side, total in zip(sides, totals, strict=True):
        heap = tf.math.segment_sum(side, group)
        below.append(tf.gather((tf.cumsum(heap, exclusive=True) + heap / 2.0) / (total + _EPSILON), group))
    placements = [1.0 - below[1], below[0]]
    areas = [
        tf.reduce_sum(side * placement) / (total + _EPSILON)
        for side, placement, total in zip(sides, placements, totals, strict=True)
    ]
    area = tf.where(tf.less(totals[0], totals[1]), areas[1], areas[0])
    variance = sum(
        tf.reduce_sum(side * tf.square(placement - mean)) / (total - 1.0 + _EPSILON) / (total + _EPSILON)
        for side, placement, mean, total in zip(sides, placements, areas, totals, strict=True)
    )
    deviation = tf.sqrt(variance) * tf.math.ndtri(tf.constant(0.5 + alpha / 2.0))
    if not logit:
        return [area, area - deviation, area + deviation]
    odds = tf.math.log(area / (1.0 - area + _EPSILON))
    step = deviation / (area * (1.0 - area) + _EPSILON)
    return [area, tf.sigmoid(odds - step), tf.sigmoid(odds + step)]


def auc_using_histogram(
    boolean_labels: Any,
    scores: Any,
    score_range: Any,
    nbins: int = 100,
    collections: Sequence[str] | None = None,
    check_shape: bool = True,
    name: str | None = None,
) -> Metric:
    """The area under the ROC curve, from histograms of the scores of both kinds, over all batches.

    Args:
        boolean_labels: [B], bools.
        scores: [B].
        score_range: [2]: the least and the greatest score; others are clipped.
        nbins: The number of bins.
        collections: Of the histograms; local variables unless given.
        check_shape: Whether the shapes are compared when it runs.
        name: The variable scope.

    Returns:
        The area, a float32, NaN before the first batch; and the operation that adds a batch.
    """
    collections = [tf.GraphKeys.LOCAL_VARIABLES] if collections is None else list(collections)
    with tf.variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        labels, scores = tf.convert_to_tensor(boolean_labels), tf.convert_to_tensor(scores)
        with tf.variable_scope("hist_accumulate"):
            checks = []
            if check_shape:
                checks = [
                    tf.assert_rank(labels, 1),
                    tf.assert_rank(scores, 1),
                    tf.assert_equal(tf.shape(labels), tf.shape(scores)),
                ]
            added = []
            histograms = []
            for kind, mask in (("true", labels), ("false", tf.logical_not(labels))):
                histogram = tf.get_variable(
                    f"hist_{kind}_acc",
                    [nbins],
                    tf.int64,
                    tf.zeros_initializer(),
                    trainable=False,
                    collections=collections,
                )
                with tf.control_dependencies(checks):
                    here = tf.histogram_fixed_width(tf.boolean_mask(scores, mask), score_range, nbins, tf.int64)
                added.append(tf.assign_add(histogram, here))
                histograms.append(tf.convert_to_tensor(histogram))
            update = tf.group(*added, name="update_op")
        true, false = (tf.reverse(bins / tf.reduce_sum(bins), [0]) for bins in histograms)
        before = tf.cumsum(true, exclusive=True)
        area = tf.reduce_sum(false * (before + true / 2.0))
        return tf.cast(area, tf.float32, name="auc"), update
