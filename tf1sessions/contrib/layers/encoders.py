"""Sequences of ids as embeddings: each by its own, or all of an example together."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from .embedding_ops import embedding_lookup_unique
from .utils import parameter

__all__ = ["bow_encoder", "embed_sequence"]


def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: bool | None = None,
) -> Any:
    """The rows of the variable ``embeddings``, [V, E], that ``ids`` name.

    Args:
        ids: [B, T], whole numbers below V.
        vocab_size: V.
        embed_dim: E.
        unique: Whether each id of the batch is looked up once only.
        initializer: The initializer of ``embeddings``.
        regularizer: A function of ``embeddings``, or None.
        trainable: Whether it is trained.
        scope: The variable scope.
        reuse: Whether ``embeddings`` is the one that is there; then the sizes may be left out.

    Returns:
        [B, T, E].

    Raises:
        ValueError: The sizes are missing, or ``reuse`` is given without ``scope``.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. "
            f"Got vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim]
        if reuse and (vocab_size is None or embed_dim is None):
            shape = None  # type: ignore[assignment]
        embeddings = parameter("embeddings", shape, tf.float32, initializer, None, trainable, regularizer)
        if unique:
            return embedding_lookup_unique(embeddings, ids)
        return tf.nn.embedding_lookup(embeddings, ids)


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: bool | None = None,
) -> Any:
    """The mean of the embeddings of each example's ids: a bag of words.

    Args:
        ids: [B, T], whole numbers below V; dense or sparse. In a dense one that is looked up sparsely 0 is no id.
        vocab_size: V.
        embed_dim: E.
        sparse_lookup: Whether a dense ``ids`` is made sparse, and its zeros are left out.
        initializer: The initializer of the variable ``embeddings``, [V, E].
        regularizer: A function of it, or None.
        trainable: Whether it is trained.
        scope: The variable scope.
        reuse: Whether it is the one that is there.

    Returns:
        [B, E].

    Raises:
        TypeError: ``ids`` is sparse and ``sparse_lookup`` is False.
    """
    with tf.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = parameter(
            "embeddings", [vocab_size, embed_dim], tf.float32, initializer, None, trainable, regularizer
        )
        if sparse_lookup:
            sparse = ids
            if not isinstance(ids, tf.SparseTensor):
                sparse = _dense_to_sparse(ids)
            return tf.nn.safe_embedding_lookup_sparse(
                [embeddings], sparse, combiner="mean", default_id=0, name="embedding_lookup"
            )
        if isinstance(ids, tf.SparseTensor):
            raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
        return tf.reduce_mean(tf.nn.embedding_lookup(embeddings, ids), axis=1)


def _dense_to_sparse(ids: Any) -> Any:
    ids = tf.convert_to_tensor(ids)
    indices = tf.where(tf.not_equal(ids, tf.zeros([], ids.dtype)))
    return tf.SparseTensor(indices, tf.gather_nd(ids, indices), tf.shape(ids, out_type=tf.int64))
