"""Feature columns of 1.15's ``contrib.layers``: what a feature is, and how it becomes the input of a model.

A column is a tuple of its settings. Its features are tensors by name, which ``transform`` turns into what the column
stands for: ids, ids with weights, or numbers. Those become dense for a network, or rows of weights for a linear model;
see feature_column_ops.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...runtime import tf1 as tf
from .sparse_columns import (  # noqa: F401 - this is their address in 1.15
    FeatureColumn,
    Features,
    _key_of,
    _sparse,
    _SparseColumn,
    _SparseColumnHashed,
    _SparseColumnIntegerized,
    _SparseColumnKeys,
    _SparseColumnVocabulary,
    _SparseIdLookupConfig,
    _WeightedSparseColumn,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
    transform,
    weighted_sparse_column,
)
from .sparse_feature_cross_op import SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY, sparse_feature_cross

__all__ = [
    "SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY",
    "bucketized_column",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "embedding_column",
    "make_place_holder_tensors_for_base_features",
    "one_hot_column",
    "real_valued_column",
    "scattered_embedding_column",
    "shared_embedding_columns",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "weighted_sparse_column",
]

# ------------------------------------------------------------------------------------------------ for networks only


class _OneHotSettings(NamedTuple):
    sparse_id_column: Any


class _OneHotColumn(_OneHotSettings, FeatureColumn):
    """Ids as ones among zeros."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def length(self) -> int:
        length: int = self.sparse_id_column.length
        return length

    @property
    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = self.sparse_id_column.config
        return config

    def insert_transformed_feature(self, columns_to_tensors: Features) -> None:
        columns_to_tensors[self] = transform(self.sparse_id_column, columns_to_tensors)


def one_hot_column(sparse_id_column: Any) -> _OneHotColumn:
    """A column whose input of a network is a one for each id of ``sparse_id_column``, and zeros."""
    return _OneHotColumn(sparse_id_column)


class _EmbeddingSettings(NamedTuple):
    sparse_id_column: Any
    dimension: int
    combiner: str = "mean"
    initializer: Any = None
    ckpt_to_load_from: str | None = None
    tensor_name_in_ckpt: str | None = None
    shared_embedding_name: str | None = None
    shared_vocab_size: int | None = None
    max_norm: float | None = None
    trainable: bool = True


class _EmbeddingColumn(_EmbeddingSettings, FeatureColumn):
    """Ids as embeddings."""

    @property
    def name(self) -> str:
        suffix = "embedding" if self.shared_embedding_name is None else "shared_embedding"
        return f"{self.sparse_id_column.name}_{suffix}"

    @property
    def length(self) -> int:
        length: int = self.shared_vocab_size or self.sparse_id_column.length
        return length

    @property
    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = self.sparse_id_column.config
        return config

    @property
    def key(self) -> str:
        return _key_of(self, "initializer")

    def insert_transformed_feature(self, columns_to_tensors: Features) -> None:
        columns_to_tensors[self] = transform(self.sparse_id_column, columns_to_tensors)


def _check_checkpoint(ckpt_to_load_from: Any, tensor_name_in_ckpt: Any) -> None:
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")


def _check_initializer(initializer: Any) -> None:
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified.")


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> _EmbeddingColumn:
    """A column whose input of a network is the combined embeddings of ids.

    Args:
        sparse_id_column: The column of the ids.
        dimension: The size of an embedding.
        combiner: How those of several ids are combined: "mean", "sqrtn" or "sum".
        initializer: The initializer of the embeddings; normal with the standard deviation ``1 / sqrt(ids)`` unless
            given.
        ckpt_to_load_from: A checkpoint with the embeddings.
        tensor_name_in_ckpt: Their name in it.
        max_norm: The greatest length of an embedding.
        trainable: Whether they are trained.

    Raises:
        ValueError: An argument is wrong.
    """
    _check_initializer(initializer)
    _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    if initializer is None:
        initializer = tf.truncated_normal_initializer(stddev=1 / math.sqrt(sparse_id_column.length))
    return _EmbeddingColumn(
        sparse_id_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm=max_norm,
        trainable=trainable,
    )


def shared_embedding_columns(
    sparse_id_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[_EmbeddingColumn]:
    """Columns of embeddings that are one variable; the other arguments are those of :func:`embedding_column`.

    Args:
        sparse_id_columns: The columns of the ids, which have as many each.
        dimension: See there.
        combiner: See there.
        shared_embedding_name: The variable's name; made of the columns' names unless given.
        initializer: See there.
        ckpt_to_load_from: See there.
        tensor_name_in_ckpt: See there.
        max_norm: See there.
        trainable: See there.

    Raises:
        ValueError: There are no columns, or they do not fit to each other.
        TypeError: ``sparse_id_columns`` is no sequence of columns of ids.
    """
    _check_initializer(initializer)
    _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    _check_shared(sparse_id_columns)
    if len(sparse_id_columns) == 1:
        return [
            embedding_column(
                sparse_id_columns[0],
                dimension,
                combiner,
                initializer,
                ckpt_to_load_from,
                tensor_name_in_ckpt,
                max_norm,
                trainable,
            )
        ]
    first = sparse_id_columns[0]
    if not all(first.is_compatible(column) for column in sparse_id_columns[1:]):
        raise ValueError("The input sparse id columns are not compatible.")
    if not shared_embedding_name:
        names = [column.name for column in sparse_id_columns]
        more = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
        shared_embedding_name = "_".join(sorted(names)[:3]) + more + "_shared_embedding"
    initializer = initializer or tf.truncated_normal_initializer(stddev=1 / math.sqrt(first.length))
    return [
        _EmbeddingColumn(
            column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            shared_embedding_name,
            first.length,
            max_norm,
            trainable,
        )
        for column in sparse_id_columns
    ]


def _check_shared(sparse_id_columns: Any) -> None:
    if not isinstance(sparse_id_columns, Sequence) or isinstance(sparse_id_columns, str):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type "
            f"{type(sparse_id_columns)}."
        )
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in sparse_id_columns:
        if not isinstance(column, (_SparseColumn, _WeightedSparseColumn)):
            raise TypeError(
                "Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but get "
                f"{type(column).__name__}"
            )


class _ScatteredSettings(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int
    combiner: str
    initializer: Any


class _ScatteredEmbeddingColumn(_ScatteredSettings, FeatureColumn):
    """Embeddings whose numbers are anywhere in one vector: a hash says where."""

    @property
    def name(self) -> str:
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: tf.VarLenFeature(tf.string)}

    @property
    def key(self) -> str:
        return _key_of(self, "initializer")

    def insert_transformed_feature(self, columns_to_tensors: Features) -> None:
        columns_to_tensors[self] = _sparse(columns_to_tensors[self.column_name])


def scattered_embedding_column(
    column_name: str, size: int, dimension: int, hash_key: int, combiner: str = "mean", initializer: Any = None
) -> _ScatteredEmbeddingColumn:
    """A column of embeddings whose numbers are found in one vector, by a hash of the value and the place.

    Args:
        column_name: The feature's name.
        size: The size of the vector.
        dimension: The size of an embedding.
        hash_key: The key of the hash.
        combiner: How those of several values are combined: "mean", "sqrtn" or "sum".
        initializer: The vector's initializer; normal with the standard deviation 0.1 unless given.

    Raises:
        ValueError: An argument is wrong.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            "Dimension and size must be greater than 0. "
            f"dimension: {dimension}, size: {size}, column_name: {column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: {combiner}")
    initializer = initializer or tf.truncated_normal_initializer(mean=0.0, stddev=0.1)
    return _ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)


# ---------------------------------------------------------------------------------------------------------- numbers


class _RealValuedSettings(NamedTuple):
    column_name: str
    dimension: int
    default_value: tuple[Any, ...] | None
    dtype: Any
    normalizer: Any


class _RealValuedColumn(_RealValuedSettings, FeatureColumn):
    """Numbers, [B, D]."""

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: tf.FixedLenFeature([self.dimension], self.dtype, default)}

    @property
    def key(self) -> str:
        return _key_of(self, "normalizer")

    def insert_transformed_feature(self, columns_to_tensors: Features) -> None:
        feature = columns_to_tensors[self.column_name]
        numbers = feature if self.normalizer is None else self.normalizer(feature)
        columns_to_tensors[self] = tf.cast(numbers, tf.float32)


def real_valued_column(
    column_name: str, dimension: int = 1, default_value: Any = None, dtype: Any = tf.float32, normalizer: Any = None
) -> _RealValuedColumn:
    """A column of numbers.

    Args:
        column_name: The feature's name.
        dimension: How many numbers an example has.
        default_value: What they are where an example has none: a number, or a list of ``dimension``.
        dtype: Their type.
        normalizer: A function of the feature that gives the column's numbers.

    Raises:
        TypeError: ``dimension`` is no int, or ``default_value`` is no number.
        ValueError: An argument is wrong.
    """
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    default = None
    if default_value is not None:
        values = default_value if isinstance(default_value, (list, tuple)) else [default_value] * dimension
        if len(values) != dimension:
            raise ValueError(
                "The length of default_value must be equal to dimension. "
                f"default_value: {default_value}, dimension: {dimension}, column_name: {column_name}"
            )
        kinds = (int,) if dtype.is_integer else (int, float)
        if not all(isinstance(value, (*kinds, np.generic)) for value in values):
            raise TypeError(
                f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}, "
                f"column_name: {column_name}"
            )
        default = tuple(values)
    return _RealValuedColumn(column_name, dimension, default, dtype, normalizer)


class _BucketizedSettings(NamedTuple):
    source_column: _RealValuedColumn
    boundaries: tuple[float, ...]


class _BucketizedColumn(_BucketizedSettings, FeatureColumn):
    """A column of the interval that each number is in."""

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:
        """The number of intervals for a number."""
        return len(self.boundaries) + 1

    @property
    def config(self) -> dict[str, Any]:
        return self.source_column.config

    def insert_transformed_feature(self, columns_to_tensors: Features) -> None:
        numbers = transform(self.source_column, columns_to_tensors)
        columns_to_tensors[self] = tf.raw_ops.Bucketize(
            input=numbers, boundaries=list(self.boundaries), name="bucketize"
        )

    def to_sparse_tensor(self, input_tensor: Any) -> Any:
        """Intervals, [B, D], as ids: those of the D-th number come after those of the ones before."""
        dimension = self.source_column.dimension
        batch = tf.shape(input_tensor, out_type=tf.int64)[0]
        flat = tf.reshape(tf.cast(input_tensor, tf.int64), [-1])
        place = tf.tile(tf.range(tf.constant(dimension, tf.int64)), tf.expand_dims(batch, 0))
        row = tf.reshape(tf.tile(tf.expand_dims(tf.range(batch), 1), [1, dimension]), [-1])
        return tf.SparseTensor(
            tf.stack([row, place], 1), flat + self.length * place, tf.stack([batch, tf.constant(dimension, tf.int64)])
        )


def bucketized_column(source_column: _RealValuedColumn, boundaries: Sequence[float]) -> _BucketizedColumn:
    """A column of the intervals in which the numbers of ``source_column`` are.

    Args:
        source_column: The numbers.
        boundaries: Where the intervals meet, sorted.

    Raises:
        TypeError: ``source_column`` is no column of numbers.
        ValueError: ``boundaries`` is empty or not sorted.
    """
    if not isinstance(source_column, _RealValuedColumn):
        raise TypeError(f"source_column must be an instance of _RealValuedColumn. source_column: {source_column}")
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return _BucketizedColumn(source_column, tuple(dict.fromkeys(boundaries)))


# ---------------------------------------------------------------------------------------------------------- crosses


class _CrossedSettings(NamedTuple):
    columns: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None
    combiner: str = "sum"
    ckpt_to_load_from: str | None = None
    tensor_name_in_ckpt: str | None = None


class _CrossedColumn(_CrossedSettings, FeatureColumn):
    """Ids of combinations."""

    @property
    def name(self) -> str:
        return "_X_".join(column.name for column in self._leaves())

    @property
    def length(self) -> int:
        return self.hash_bucket_size

    @property
    def config(self) -> dict[str, Any]:
        return {key: feature for column in self.columns for key, feature in column.config.items()}

    def _leaves(self) -> list[Any]:
        """The columns that are crossed, those of crossed ones among them."""
        found: list[Any] = []
        for column in self.columns:
            found.extend(column._leaves() if isinstance(column, _CrossedColumn) else [column])
        return found

    def insert_transformed_feature(self, columns_to_tensors: Features) -> None:
        features = []
        for column in self._leaves():
            if isinstance(column, _BucketizedColumn):
                features.append(column.to_sparse_tensor(transform(column, columns_to_tensors)))
            else:
                feature = _sparse(columns_to_tensors[column.column_name])
                features.append(feature if feature.dtype == tf.string else tf.cast(feature, tf.int64))
        columns_to_tensors[self] = sparse_feature_cross(
            features, True, self.hash_bucket_size, name="cross", hash_key=self.hash_key
        )


def crossed_column(
    columns: Sequence[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> _CrossedColumn:
    """A column whose ids are hashes of the combinations of the values of ``columns``.

    Args:
        columns: Columns of ids, of intervals, or of combinations.
        hash_bucket_size: How many ids there are.
        combiner: As in :func:`sparse_column_with_integerized_feature`.
        ckpt_to_load_from: A checkpoint with a linear model's weights of the column.
        tensor_name_in_ckpt: Their name in it.
        hash_key: The key of the hash.

    Raises:
        TypeError: A column is of another kind.
        ValueError: There is only one column, or ``hash_bucket_size`` is below 2.
    """
    if hash_bucket_size < 2:
        raise ValueError(f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}")
    if len(columns) < 2:
        raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
    _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    for column in columns:
        if not isinstance(column, (_SparseColumn, _CrossedColumn, _BucketizedColumn)):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn instances. "
                f"(column {column} is a {type(column).__name__})"
            )
    ordered = tuple(sorted(columns, key=lambda column: str(column.name)))
    return _CrossedColumn(ordered, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt)


# ---------------------------------------------------------------------------------------------------------- parsing


def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """Return the specification by which columns are parsed: the argument ``features`` of ``tf.parse_example``.

    Args:
        feature_columns: Columns, or a dict of them.
    """
    if isinstance(feature_columns, Mapping):
        feature_columns = feature_columns.values()
    return {key: feature for column in feature_columns for key, feature in column.config.items()}


def make_place_holder_tensors_for_base_features(feature_columns: Any) -> dict[str, Any]:
    """Placeholders for the features of columns, by name."""
    return {
        name: tf.sparse_placeholder(feature.dtype, name=f"Placeholder_{name}")
        if isinstance(feature, tf.VarLenFeature)
        else tf.placeholder(feature.dtype, [None, *feature.shape], name=f"Placeholder_{name}")
        for name, feature in create_feature_spec_for_parsing(feature_columns).items()
    }
