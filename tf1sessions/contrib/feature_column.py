"""``tf.contrib.feature_column``: columns of sequences, and the input layer [B, T, D] that is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..runtime import private
from ..runtime import tf1 as tf

__all__ = [
    "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list",
    "sequence_input_layer",
    "sequence_numeric_column",
]

sequence_categorical_column_with_hash_bucket = tf.feature_column.sequence_categorical_column_with_hash_bucket
sequence_categorical_column_with_identity = tf.feature_column.sequence_categorical_column_with_identity
sequence_categorical_column_with_vocabulary_file = tf.feature_column.sequence_categorical_column_with_vocabulary_file
sequence_categorical_column_with_vocabulary_list = tf.feature_column.sequence_categorical_column_with_vocabulary_list
sequence_numeric_column = tf.feature_column.sequence_numeric_column


def sequence_input_layer(
    features: Mapping[str, Any],
    feature_columns: Iterable[Any],
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
) -> tuple[Any, Any]:
    """The columns' values, one after the other, and how long each sequence is.

    Args:
        features: name -> tensor, mostly a ``SparseTensor`` [B, T].
        feature_columns: ``sequence_numeric_column``, and embedding and indicator columns of
            ``sequence_categorical_column_with_*``.
        weight_collections: Names of collections that variables are added to.
        trainable: Whether embeddings are trained.

    Returns:
        (values [B, T, D], lengths [B] of int64).

    Raises:
        ValueError: There are no columns, or one is of another kind.
    """
    columns = sorted(_checked(feature_columns), key=lambda column: str(column.name))
    builder = private.feature_column._LazyBuilder(features)
    cache = private.feature_column_v2.FeatureTransformationCache(features)
    collections = list(weight_collections or ())
    if collections and tf.GraphKeys.GLOBAL_VARIABLES not in collections:
        collections.append(tf.GraphKeys.GLOBAL_VARIABLES)
    values, lengths = [], []
    with tf.variable_scope(None, default_name="sequence_input_layer", values=tuple(features.values())):
        for column in columns:
            with tf.variable_scope(None, default_name=getattr(column, "_var_scope_name", column.name)):
                if hasattr(column, "_get_sequence_dense_tensor"):
                    pair = column._get_sequence_dense_tensor(builder, collections or None, trainable)
                else:
                    pair = column.get_sequence_dense_tensor(cache, None)
                shape = tf.shape(pair.dense_tensor)
                size = column.variable_shape.num_elements()
                values.append(tf.reshape(pair.dense_tensor, [shape[0], shape[1], size]))
                lengths.append(pair.sequence_length)
        return tf.concat(values, -1), lengths[0]


def _checked(columns: Iterable[Any]) -> list[Any]:
    found = list(columns)
    if not found:
        raise ValueError("feature_columns must not be empty.")
    for column in found:
        if not (hasattr(column, "_get_sequence_dense_tensor") or hasattr(column, "get_sequence_dense_tensor")):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can wrap a sequence_categorical_column "
                f"with an embedding_column or indicator_column. Given (type {type(column)}): {column}"
            )
    return found
