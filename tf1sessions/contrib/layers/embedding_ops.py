"""Looking up embeddings."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["embedding_lookup_unique", "safe_embedding_lookup_sparse"]


def embedding_lookup_unique(params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None) -> Any:
    """``tf.nn.embedding_lookup`` that looks every id up once, however often it is in ``ids``.

    Args:
        params: The embeddings, [V, E], or a list of their parts.
        ids: Whole numbers, of any shape.
        partition_strategy: "mod" or "div": which id is in which part.
        name: The name of the operations.

    Returns:
        The shape of ``ids``, and E.
    """
    with tf.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        flat = tf.reshape(ids, [-1])
        unique, positions = tf.unique(flat)
        rows = tf.gather(tf.nn.embedding_lookup(params, unique, partition_strategy), positions)
        result = tf.reshape(rows, tf.concat([tf.shape(ids), tf.shape(rows)[1:]], 0))
        result.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return result


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: Any = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Any:
    """The combined embeddings of each row of ids; invalid ids are left out, and an empty row is ``default_id``'s.

    Args:
        embedding_weights: The embeddings, [V, E], or a list of their parts.
        sparse_ids: [..., T], a sparse tensor of whole numbers; those below 0 are left out.
        sparse_weights: Their weights, a sparse tensor of the same indices; an id whose weight is 0 or below is left
            out.
        combiner: "mean" (unless given), "sqrtn" or "sum".
        default_id: The id that an empty row gets; without one its embedding is zeros.
        name: The name of the operations.
        partition_strategy: "mod" or "div": which id is in which part.
        max_norm: The greatest length of an embedding.

    Returns:
        [..., E].
    """
    if combiner is None:
        tf.logging.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights=sparse_weights,
        combiner=combiner,
        default_id=default_id,
        name=name,
        partition_strategy=partition_strategy,
        max_norm=max_norm,
    )
