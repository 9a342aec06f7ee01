"""Looking up embeddings."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from .sparse_feature_cross_op import sparse_feature_cross

__all__ = [
    "embedding_lookup_sparse_with_distributed_aggregation",
    "embedding_lookup_unique",
    "safe_embedding_lookup_sparse",
    "scattered_embedding_lookup",
    "scattered_embedding_lookup_sparse",
]

_NO_STRING, _NO_NUMBER = "6ZxWzWOHxZ", 1288896567  # the values of an empty row in 1.15


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


def embedding_lookup_sparse_with_distributed_aggregation(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Any:
    """The combined embeddings of each row of ids, up to the last row that has any.

    Args:
        params: The embeddings, [V, E], or a list of their parts.
        sp_ids: [B, T], a sparse tensor of whole numbers.
        sp_weights: Their weights, a sparse tensor of the same indices; or None.
        partition_strategy: "mod" or "div": which id is in which part.
        name: The name of the operations.
        combiner: "mean" (unless given), "sqrtn" or "sum". The mean of an empty row is not a number.
        max_norm: The greatest length of an embedding.

    Returns:
        [R, E], where R - 1 is the last row with an id.

    Raises:
        TypeError: ``sp_ids`` or ``sp_weights`` is no sparse tensor.
        ValueError: There is no such ``combiner`` or ``partition_strategy``, or no embeddings.
    """
    if combiner is None:
        tf.logging.warn('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    if not isinstance(sp_ids, tf.SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if not (sp_weights is None or isinstance(sp_weights, tf.SparseTensor)):
        raise TypeError("sp_weights must be either None or SparseTensor")
    if params is None or (isinstance(params, (list, tuple)) and not params):
        raise ValueError(f"Missing params: {params}")
    with tf.name_scope(name, "embedding_lookup_sparse", [sp_ids]):
        row = tf.cast(sp_ids.indices[:, 0], tf.int32)
        unique, positions = tf.unique(sp_ids.values)
        found = tf.gather(tf.nn.embedding_lookup(params, unique, partition_strategy, max_norm=max_norm), positions)
        if sp_weights is None:
            weights = tf.ones_like(found[:, :1])
        else:
            weights = tf.expand_dims(tf.cast(sp_weights.values, found.dtype), 1)
        summed = tf.segment_sum(found * weights, row)
        if combiner == "sum":
            return tf.identity(summed, name="embedding_lookup_with_distributed_aggregation")
        if combiner == "mean":
            return tf.div(summed, tf.segment_sum(weights, row), name="div")
        return tf.div(summed, tf.sqrt(tf.segment_sum(tf.square(weights), row)), name="div")


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


def scattered_embedding_lookup(
    params: Any, values: Any, dimension: int, name: str | None = None, hash_key: int | None = None
) -> Any:
    """Embeddings of values, whose numbers are anywhere in one vector: a hash of the value and the place says where.

    Args:
        params: The vector, [N], or a list of its parts.
        values: Strings or whole numbers, of any shape.
        dimension: E, the size of an embedding.
        name: The name of the operations.
        hash_key: The key of the hash.

    Returns:
        The shape of ``values``, and E.
    """
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    size = sum(part.shape.as_list()[0] for part in parts)
    with tf.name_scope(name, "scattered_embedding_lookup", [*parts, values]):
        values = tf.convert_to_tensor(values)
        column = tf.reshape(values, [-1, 1])
        places = tf.tile(tf.expand_dims(tf.range(tf.constant(dimension, tf.int64)), 0), [tf.shape(column)[0], 1])
        ids = sparse_feature_cross([places, column], True, size, hash_key=hash_key).values
        found = tf.nn.embedding_lookup(parts, ids, partition_strategy="div")
        result = tf.reshape(found, tf.concat([tf.shape(values), [dimension]], 0))
        result.set_shape(values.shape.concatenate(dimension))
        return result


def scattered_embedding_lookup_sparse(
    params: Any,
    sparse_values: Any,
    dimension: int,
    combiner: str | None = None,
    default_value: Any = None,
    name: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """The combined embeddings of each row of values; see :func:`scattered_embedding_lookup`.

    Args:
        params: See there.
        sparse_values: Strings or whole numbers, a sparse tensor [B, ?].
        dimension: E.
        combiner: "mean" (unless given), "sqrtn" or "sum".
        default_value: The value of an empty row; one that is unlikely unless given.
        name: The name of the operations.
        hash_key: The key of the hash.

    Returns:
        [B, E].

    Raises:
        TypeError: ``sparse_values`` is not sparse.
        ValueError: There is no such combiner.
    """
    if not isinstance(sparse_values, tf.SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    combiners = {"mean": tf.segment_mean, "sum": tf.segment_sum, "sqrtn": tf.sparse_segment_sqrt_n}
    combiner = combiner or "mean"
    if combiner not in combiners:
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'.")
    with tf.name_scope(name, "scattered_embedding_lookup_sparse"):
        if default_value is None:
            default_value = _NO_STRING if sparse_values.dtype == tf.string else _NO_NUMBER
        filled, _ = tf.sparse_fill_empty_rows(sparse_values, default_value)
        rows = tf.cast(filled.indices[:, 0], tf.int32)
        found = scattered_embedding_lookup(params, filled.values, dimension, hash_key=hash_key)
        if combiner == "sqrtn":
            return tf.sparse_segment_sqrt_n(found, tf.range(tf.size(rows)), rows)
        return combiners[combiner](found, rows)
