"""The older losses, whose first argument is the predictions; each adds itself to LOSSES."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from ..framework.arg_scope import add_arg_scope

__all__ = [
    "absolute_difference",
    "add_loss",
    "compute_weighted_loss",
    "cosine_distance",
    "get_losses",
    "get_regularization_losses",
    "get_total_loss",
    "hinge_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean of ``losses`` over the elements whose weight is not 0, with their weights; added to LOSSES.

    Args:
        losses: [B, ...].
        weights: A scalar, or the shape of ``losses`` without some of its last dimensions, or with 1 in them.
        scope: The name of the operations.

    Raises:
        ValueError: ``weights`` is None, or does not fit.
    """
    if weights is None:
        raise ValueError("`weights` cannot be None")
    with tf.name_scope(scope, "weighted_loss", [losses, weights]):
        losses = tf.cast(losses, tf.float32)
        weights = tf.cast(tf.convert_to_tensor(weights), tf.float32)
        rank, weight_rank = losses.shape.rank, weights.shape.rank
        if rank is None:
            raise ValueError("losses.get_shape().ndims cannot be None")
        if weight_rank is None:
            raise ValueError("weights.get_shape().ndims cannot be None")
        if weight_rank > 1 and weights.shape.as_list()[-1] == 1 and weight_rank > rank:
            weights = tf.squeeze(weights, [-1])
            weight_rank -= 1
        if weight_rank == 0 and rank > 0:
            total = tf.reduce_sum(tf.reduce_sum(losses, list(range(rank))) * weights)
            present = _counted(losses, weights)
        else:
            weights = tf.reshape(weights, tf.concat([tf.shape(weights), [1] * (rank - weight_rank)], 0))
            broadcast = tf.broadcast_to(weights, tf.shape(losses))
            present = tf.reduce_sum(tf.cast(tf.not_equal(broadcast, 0.0), tf.float32))
            total = losses * broadcast
        mean = tf.math.divide_no_nan(tf.reduce_sum(total), present, name="value")
        add_loss(mean)
        return mean


def _counted(losses: Any, weight: Any) -> Any:
    """Return the number of elements that count if all have one weight, by 1.15's way: so the operations are as many."""
    batch = tf.reshape(tf.slice(tf.shape(losses), [0], [1]), [])
    each = tf.cast(tf.size(losses), tf.float32) / tf.cast(batch, tf.float32)
    each = tf.where(tf.equal(weight, 0.0), 0.0, each)
    return tf.reduce_sum(tf.ones(tf.reshape(batch, [1])) * each)


@add_arg_scope
def add_loss(loss: Any, loss_collection: str | None = tf.GraphKeys.LOSSES) -> None:
    """Adds ``loss`` to a collection; None for none."""
    if loss_collection:
        tf.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = tf.GraphKeys.LOSSES) -> list[Any]:
    """The losses in a collection whose names start with ``scope``."""
    found: list[Any] = tf.get_collection(loss_collection, scope)
    return found


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The regularization losses whose names start with ``scope``."""
    found: list[Any] = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES, scope)
    return found


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """The sum of all losses, and of the regularization losses."""
    losses = get_losses()
    if add_regularization_losses:
        losses = losses + get_regularization_losses()
    return tf.add_n(losses, name=name)


def _floats(predictions: Any, labels: Any) -> tuple[Any, Any]:
    predictions, labels = tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return predictions, labels


def absolute_difference(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean of the absolute differences; see :func:`compute_weighted_loss`."""
    with tf.name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(tf.abs(predictions - labels), weights, scope)


def mean_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean of the squared differences; see :func:`compute_weighted_loss`."""
    with tf.name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(tf.math.squared_difference(predictions, labels), weights, scope)


def log_loss(
    predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None
) -> Any:
    """The mean of the log losses of probabilities, ``epsilon`` added to each; see :func:`compute_weighted_loss`."""
    with tf.name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        losses = -labels * tf.math.log(predictions + epsilon) - (1 - labels) * tf.math.log(1 - predictions + epsilon)
        return compute_weighted_loss(losses, weights, scope)


def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Any:
    """The hinge losses themselves, of labels 0 and 1; they are not added to LOSSES.

    Args:
        logits: Any shape.
        labels: The same shape.
        scope: The name of the operations.
    """
    with tf.name_scope(scope, "hinge_loss", [logits, labels]):
        logits, labels = tf.convert_to_tensor(logits), tf.cast(labels, tf.float32)
        logits.shape.assert_is_compatible_with(labels.shape)
        return tf.nn.relu(1.0 - (2.0 * labels - 1.0) * logits)


def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Any:
    """The mean of 1 - the products of vectors of length 1 along ``axis``; see :func:`compute_weighted_loss`.

    Raises:
        ValueError: ``axis`` is missing, or given by its old name ``dim`` as well.
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'")
        axis = dim
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with tf.name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _floats(predictions, labels)
        return compute_weighted_loss(1 - tf.reduce_sum(predictions * labels, axis=[axis]), weights, scope)


def sigmoid_cross_entropy(
    logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None
) -> Any:
    """The mean of ``tf.nn.sigmoid_cross_entropy_with_logits``; see :func:`compute_weighted_loss`.

    Args:
        logits: [B, N].
        multi_class_labels: [B, N], 0 and 1.
        weights: See there.
        label_smoothing: How far the labels move towards 0.5.
        scope: The name of the operations.
    """
    with tf.name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        logits = tf.convert_to_tensor(logits)
        labels = tf.cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope)


def softmax_cross_entropy(
    logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None
) -> Any:
    """The mean of ``tf.nn.softmax_cross_entropy_with_logits``; see :func:`compute_weighted_loss`.

    Args:
        logits: [B, N].
        onehot_labels: [B, N].
        weights: A scalar or [B].
        label_smoothing: How far the labels move towards 1 / N.
        scope: The name of the operations.
    """
    with tf.name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits = tf.convert_to_tensor(logits)
        labels = tf.cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = tf.cast(tf.shape(labels)[1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope)


def sparse_softmax_cross_entropy(logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean of ``tf.nn.sparse_softmax_cross_entropy_with_logits``; see :func:`compute_weighted_loss`.

    Args:
        logits: [B, N].
        labels: [B] or [B, 1], whole numbers below N.
        weights: A scalar, [B] or [B, 1].
        scope: The name of the operations.
    """
    with tf.name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels = tf.reshape(labels, [tf.shape(labels)[0]])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        losses = tf.reshape(losses, [-1])
        weights = tf.squeeze(tf.convert_to_tensor(weights, tf.float32))
        return compute_weighted_loss(losses, weights, scope)


def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """The mean over the batch of the squared differences of all pairs of differences within an example.

    Args:
        predictions: [B, N...].
        labels: The same shape.
        weights: A scalar or [B].
        scope: The name of the operations.
    """
    with tf.name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        predictions, labels = _floats(predictions, labels)
        weights = tf.cast(tf.convert_to_tensor(weights), tf.float32)
        differences = predictions - labels
        inner = list(range(1, differences.shape.rank))
        present = tf.broadcast_to(
            tf.reshape(weights, tf.concat([tf.shape(weights), [1] * (differences.shape.rank - weights.shape.rank)], 0)),
            tf.shape(differences),
        )
        count = tf.reduce_sum(tf.cast(tf.not_equal(present, 0.0), tf.float32), inner)
        squares = tf.math.divide_no_nan(tf.reduce_sum(tf.square(differences), inner), count)
        means = tf.math.divide_no_nan(tf.square(tf.reduce_sum(differences, inner)), tf.square(count))
        value = tf.reduce_sum(2.0 * (squares - means) * weights, name="value_2")
        add_loss(value)
        return value
