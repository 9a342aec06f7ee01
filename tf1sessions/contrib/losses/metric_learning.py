"""``tf.contrib.losses.metric_learning``: losses that bring the embeddings of one label together.

In the shapes, B is the batch and D the size of an embedding. None of them adds itself to LOSSES.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "contrastive_loss",
    "lifted_struct_loss",
    "npairs_loss",
    "npairs_loss_multilabel",
    "triplet_semihard_loss",
]


def contrastive_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0) -> Any:
    """Pairs of one label near each other, others at least ``margin`` apart.

    See http://yann.lecun.com/exdb/publis/pdf/hadsell-chopra-lecun-06.pdf.

    Args:
        labels: [B], 1 for a pair of one label, else 0.
        embeddings_anchor: [B, D], of length 1.
        embeddings_positive: [B, D], of length 1.
        margin: How far apart others should be.

    Returns:
        A scalar.
    """
    squares = tf.reduce_sum(tf.math.squared_difference(embeddings_anchor, embeddings_positive), 1)
    alike = tf.cast(labels, tf.float32)
    short = tf.maximum(margin - tf.sqrt(squares), 0.0)
    return tf.reduce_mean(alike * squares + (1.0 - alike) * tf.square(short), name="contrastive_loss")


def _squared_distances(embeddings: Any) -> Any:
    """[B, B], 0 on the diagonal."""
    squares = tf.reduce_sum(tf.square(embeddings), 1, keepdims=True)
    distances = tf.maximum(
        squares + tf.transpose(squares) - 2.0 * tf.matmul(embeddings, embeddings, transpose_b=True), 0
    )
    return distances * (1.0 - tf.eye(tf.shape(embeddings)[0]))


def _distances(embeddings: Any) -> Any:
    """[B, B], whose gradient is 0 where they are 0."""
    squares = _squared_distances(embeddings)
    zero = tf.cast(tf.less_equal(squares, 0.0), tf.float32)
    return tf.sqrt(squares + zero * 1e-16) * (1.0 - zero)


def _pairs(labels: Any) -> tuple[Any, Any]:
    """Find pairs of different labels, as bools, and pairs of one label, as 1.0; both [B, B]."""
    column = tf.reshape(labels, [-1, 1])
    alike = tf.equal(column, tf.transpose(column))
    return tf.logical_not(alike), tf.cast(alike, tf.float32) - tf.eye(tf.shape(column)[0])


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Two of one label nearer than the nearest of another label that is farther than they; else than the farthest.

    See https://arxiv.org/abs/1503.03832; the distances are squared.

    Args:
        labels: [B], whole numbers.
        embeddings: [B, D], of length 1.
        margin: By how much nearer.

    Returns:
        A scalar, the mean over pairs of one label.
    """
    distances = _squared_distances(tf.convert_to_tensor(embeddings))
    different, alike = _pairs(labels)
    lowest = tf.reduce_min(distances, 1, keepdims=True)
    highest = tf.reduce_max(distances, 1, keepdims=True)
    farthest = tf.reduce_max(tf.where(different, distances, tf.zeros_like(distances) + lowest), 1, keepdims=True)
    others = tf.expand_dims(distances, 1)  # [B, 1, B]: from the first of a pair to any
    harder = tf.logical_and(tf.expand_dims(different, 1), tf.greater(others, tf.expand_dims(distances, 2)))
    nearest = tf.reduce_min(
        tf.where(
            harder, tf.zeros_like(harder, tf.float32) + others, tf.zeros_like(harder, tf.float32) + highest[..., None]
        ),
        2,
    )
    negative = tf.where(tf.reduce_any(harder, 2), nearest, tf.zeros_like(distances) + farthest)
    losses = tf.maximum((margin + distances - negative) * alike, 0.0)
    return tf.truediv(tf.reduce_sum(losses), tf.reduce_sum(alike), name="triplet_semihard_loss")


def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Two of one label nearer than all that are of another label than one of them.

    See https://arxiv.org/abs/1511.06452.

    Args:
        labels: [B], whole numbers.
        embeddings: [B, D].
        margin: By how much nearer.

    Returns:
        A scalar.
    """
    distances = _distances(tf.convert_to_tensor(embeddings))
    different, alike = _pairs(labels)
    nothing = tf.zeros_like(distances) - float("inf")
    push = tf.reduce_logsumexp(tf.where(different, margin - distances, nothing), 1, keepdims=True)  # [B, 1]
    both = tf.reduce_logsumexp(
        tf.stack([push + tf.zeros_like(distances), tf.transpose(push) + tf.zeros_like(distances)]), 0
    )
    losses = tf.maximum(tf.where(alike > 0, both + distances, tf.zeros_like(distances)), 0.0)
    return tf.truediv(0.25 * tf.reduce_sum(tf.square(losses)), tf.reduce_sum(alike) / 2.0, name="liftedstruct_loss")


def npairs_loss(
    labels: Any,
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """The cross entropy of similarities of anchors and positives, and a regularization of both.

    See http://www.nec-labs.com/uploads/images/Department-Images/MediaAnalytics/papers/nips16_npairmetriclearning.pdf.

    Args:
        labels: [B], whole numbers.
        embeddings_anchor: [B, D].
        embeddings_positive: [B, D], each of the label of its anchor.
        reg_lambda: How much the regularization counts.
        print_losses: Whether the two parts are printed when the loss is computed.

    Returns:
        A scalar.
    """
    column = tf.reshape(labels, [-1, 1])
    alike = tf.cast(tf.equal(column, tf.transpose(column)), tf.float32)
    return _npairs(alike, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


def npairs_loss_multilabel(
    sparse_labels: Sequence[Any],
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """:func:`npairs_loss` of examples with several labels: similar by how many labels they have in common.

    Args:
        sparse_labels: B ``SparseTensor``\\ s, each with the labels of an anchor and its positive: 1 or
            True for each class that it is of.
        embeddings_anchor: [B, D].
        embeddings_positive: [B, D].
        reg_lambda: How much the regularization counts.
        print_losses: Whether the two parts are printed when the loss is computed.

    Returns:
        A scalar.

    Raises:
        TypeError: ``sparse_labels`` are no ``SparseTensor``\\ s.
    """
    if not all(isinstance(labels, tf.SparseTensor) for labels in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with tf.name_scope("NpairsLossMultiLabel"):
        rows = [tf.reshape(tf.sparse_tensor_to_dense(tf.cast(labels, tf.float32)), [-1]) for labels in sparse_labels]
        labels = tf.stack(rows)
        common = tf.matmul(labels, labels, transpose_b=True)
        return _npairs(common, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


def _npairs(alike: Any, anchors: Any, positives: Any, reg_lambda: float, print_losses: bool) -> Any:
    """The loss for pairs that are alike as ``alike``, [B, B], says."""
    lengths = [tf.reduce_mean(tf.reduce_sum(tf.square(embeddings), 1)) for embeddings in (anchors, positives)]
    regularization = tf.multiply(0.25 * reg_lambda, lengths[0] + lengths[1], name="l2loss")
    similarities = tf.matmul(anchors, positives, transpose_b=True)
    targets = alike / tf.reduce_sum(alike, 1, keepdims=True)
    entropy = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.stop_gradient(targets), logits=similarities),
        name="xentropy",
    )
    if print_losses:
        entropy = tf.Print(entropy, ["cross entropy:", entropy, "l2loss:", regularization])
    return regularization + entropy
