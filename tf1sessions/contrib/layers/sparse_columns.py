"""Feature columns of 1.15's ``contrib.layers``: what a column is, and columns of ids, with and without weights."""

from __future__ import annotations

import abc
from collections.abc import MutableMapping, Sequence
from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from ..lookup import index_table_from_file, index_table_from_tensor

__all__ = [
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "weighted_sparse_column",
]

Features = MutableMapping[Any, Any]


class FeatureColumn(metaclass=abc.ABCMeta):
    """The base of all columns."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The column's name, and that of its variables' scope."""

    @property
    @abc.abstractmethod
    def config(self) -> dict[str, Any]:
        """The specification by which its features are parsed."""

    @property
    def key(self) -> str:
        """The text that columns are distinguished and sorted by."""
        return str(self)

    @abc.abstractmethod
    def insert_transformed_feature(self, columns_to_tensors: Features) -> None:
        """Puts what the column stands for into ``columns_to_tensors``, which has its features, under the column."""


def transform(column: FeatureColumn, columns_to_tensors: Features) -> Any:
    """Return what ``column`` stands for; made once."""
    if column not in columns_to_tensors:
        column.insert_transformed_feature(columns_to_tensors)
    return columns_to_tensors[column]


def _key_of(column: Any, without: str) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in column._asdict().items() if name != without)
    return f"{type(column).__name__}({settings})"


class _SparseIdLookupConfig(NamedTuple):
    vocabulary_file: str | None = None
    keys: tuple[Any, ...] | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


class _SparseSettings(NamedTuple):
    column_name: str
    is_integerized: bool = False
    bucket_size: int | None = None
    lookup_config: _SparseIdLookupConfig | None = None
    combiner: str = "sum"
    dtype: Any = tf.string


class _SparseColumn(_SparseSettings, FeatureColumn):
    """Ids of a feature."""

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def length(self) -> int:
        """The number of ids."""
        if self.lookup_config is not None and self.lookup_config.vocab_size is not None:
            return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets
        assert self.bucket_size is not None
        return self.bucket_size

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: tf.VarLenFeature(self.dtype)}

    def insert_transformed_feature(self, columns_to_tensors: Features) -> None:
        columns_to_tensors[self] = self._ids(_sparse(columns_to_tensors[self.column_name]))

    def _ids(self, feature: Any) -> Any:
        return feature

    def is_compatible(self, other_column: Any) -> bool:
        """Whether both can share an embedding."""
        if self.lookup_config is None:
            return bool(self.length == other_column.length)
        return bool(self.lookup_config == other_column.lookup_config)


class _SparseColumnIntegerized(_SparseColumn):
    """The feature is ids."""


class _SparseColumnHashed(_SparseColumn):
    """Ids are hashes of the feature."""

    hash_keys: Any = None

    def __new__(cls, *args: Any, hash_keys: Any = None, **kwargs: Any) -> _SparseColumnHashed:
        column: _SparseColumnHashed = super().__new__(cls, *args, **kwargs)
        column.hash_keys = hash_keys
        return column

    def _ids(self, feature: Any) -> Any:
        values = feature.values if self.dtype == tf.string else tf.as_string(feature.values)
        if not self.hash_keys:
            ids = tf.string_to_hash_bucket_fast(values, self.bucket_size, name="lookup")
            return tf.SparseTensor(feature.indices, ids, feature.dense_shape)
        parts = [
            tf.SparseTensor(
                feature.indices,
                tf.string_to_hash_bucket_strong(values, self.bucket_size, key, name="lookup"),
                feature.dense_shape,
            )
            for key in self.hash_keys
        ]
        return tf.sparse_concat(axis=1, sp_inputs=parts, name="multi_hash_lookup")


class _SparseColumnKeys(_SparseColumn):
    """Ids are places in a list."""

    def _ids(self, feature: Any) -> Any:
        assert self.lookup_config is not None
        table = index_table_from_tensor(
            self.lookup_config.keys, default_value=self.lookup_config.default_value, dtype=self.dtype, name="lookup"
        )
        return table.lookup(feature)


class _SparseColumnVocabulary(_SparseColumn):
    """Ids are lines of a file."""

    def _ids(self, feature: Any) -> Any:
        if self.dtype.is_integer:
            values = tf.as_string(feature.values)
            feature = tf.SparseTensor(feature.indices, values, feature.dense_shape)
        config = self.lookup_config
        assert config is not None
        table = index_table_from_file(
            config.vocabulary_file,
            num_oov_buckets=config.num_oov_buckets,
            vocab_size=config.vocab_size,
            default_value=config.default_value,
            name=f"{self.column_name}_lookup",
        )
        return table.lookup(feature)


def _sparse(feature: Any) -> Any:
    """A feature as a sparse tensor; of a dense one, "" and -1 are left out."""
    if isinstance(feature, tf.SparseTensor):
        return feature
    feature = tf.convert_to_tensor(feature)
    if feature.shape.rank == 1:
        feature = tf.expand_dims(feature, -1)
    absent = tf.constant("" if feature.dtype == tf.string else -1, feature.dtype)
    indices = tf.where(tf.not_equal(feature, absent))
    return tf.SparseTensor(indices, tf.gather_nd(feature, indices), tf.shape(feature, out_type=tf.int64))


def _check_sparse(column_name: str, dtype: Any) -> None:
    if dtype != tf.string and not dtype.is_integer:
        raise ValueError(f"dtype must be string or integer. dtype: {dtype}, column_name: {column_name}")


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = tf.int64
) -> _SparseColumn:
    """A column whose feature is ids.

    Args:
        column_name: The feature's name.
        bucket_size: How many ids there are: they are below it.
        combiner: What becomes of the weights of several ids in a row: their "sum", "mean", or "sqrtn".
        dtype: The feature's type.

    Raises:
        ValueError: ``bucket_size`` is below 1, or ``dtype`` is no integer.
    """
    if bucket_size < 1:
        raise ValueError(f"bucket_size must be at least 1. bucket_size: {bucket_size}, column_name: {column_name}")
    if not dtype.is_integer:
        raise ValueError(
            f"dtype must be an integer if is_integerized is True. dtype: {dtype}, column_name: {column_name}."
        )
    return _SparseColumnIntegerized(column_name, True, bucket_size, None, combiner, dtype)


def sparse_column_with_hash_bucket(
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: Any = tf.string, hash_keys: Any = None
) -> _SparseColumn:
    """A column whose ids are hashes of the feature.

    Args:
        column_name: The feature's name.
        hash_bucket_size: How many ids there are.
        combiner: As in :func:`sparse_column_with_integerized_feature`.
        dtype: The feature's type, string or an integer.
        hash_keys: Pairs of numbers: the keys of strong hashes, each of which gives an id.

    Raises:
        ValueError: ``dtype`` is something else.
    """
    _check_sparse(column_name, dtype)
    return _SparseColumnHashed(column_name, False, hash_bucket_size, None, combiner, dtype, hash_keys=hash_keys)


def sparse_column_with_keys(
    column_name: str, keys: Sequence[Any], default_value: int = -1, combiner: str = "sum", dtype: Any = tf.string
) -> _SparseColumn:
    """A column whose ids are the places of the feature's values in ``keys``.

    Args:
        column_name: The feature's name.
        keys: The values.
        default_value: The id of all others; below 0 for none.
        combiner: As in :func:`sparse_column_with_integerized_feature`.
        dtype: The feature's type, string or an integer.
    """
    keys = tuple(keys)
    config = _SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value)
    return _SparseColumnKeys(column_name, False, None, config, combiner, dtype)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> _SparseColumn:
    """A column whose ids are the lines of a file that the feature's values are at.

    Args:
        column_name: The feature's name.
        vocabulary_file: The file.
        num_oov_buckets: How many more ids other values get, by their hash.
        vocab_size: The number of lines.
        default_value: The id of other values if there are no such buckets; below 0 for none.
        combiner: As in :func:`sparse_column_with_integerized_feature`.
        dtype: The feature's type, string or an integer.

    Raises:
        ValueError: ``vocab_size`` is not given, or ``dtype`` is something else.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    _check_sparse(column_name, dtype)
    config = _SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return _SparseColumnVocabulary(column_name, False, None, config, combiner, dtype)


class _WeightedSettings(NamedTuple):
    sparse_id_column: _SparseColumn
    weight_column_name: str
    dtype: Any


class _WeightedSparseColumn(_WeightedSettings, FeatureColumn):
    """Ids with weights: a pair of sparse tensors."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self) -> int:
        return self.sparse_id_column.length

    @property
    def combiner(self) -> str:
        return self.sparse_id_column.combiner

    @property
    def lookup_config(self) -> _SparseIdLookupConfig | None:
        return self.sparse_id_column.lookup_config

    @property
    def config(self) -> dict[str, Any]:
        return {**self.sparse_id_column.config, self.weight_column_name: tf.VarLenFeature(self.dtype)}

    def insert_transformed_feature(self, columns_to_tensors: Features) -> None:
        weights = columns_to_tensors[self.weight_column_name]
        if not isinstance(weights, tf.SparseTensor):
            weights = _sparse(weights)
        if not self.dtype.is_floating:
            weights = tf.cast(weights, tf.float32)
        columns_to_tensors[self] = (transform(self.sparse_id_column, columns_to_tensors), weights)

    def is_compatible(self, other_column: Any) -> bool:
        return self.sparse_id_column.is_compatible(getattr(other_column, "sparse_id_column", other_column))


def weighted_sparse_column(
    sparse_id_column: _SparseColumn, weight_column_name: str, dtype: Any = tf.float32
) -> _WeightedSparseColumn:
    """A column of ids with weights, which are in a feature of their own.

    Args:
        sparse_id_column: The column of the ids.
        weight_column_name: The feature of the weights.
        dtype: Its type.

    Raises:
        ValueError: ``dtype`` is no number.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)
