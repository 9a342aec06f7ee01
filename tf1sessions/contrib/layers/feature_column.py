"""Feature columns: how the features of examples become the inputs of a network or of a linear model.

Columns are named tuples. ``input_from_feature_columns`` asks each of them for its part of an input layer [B, ...],
``weighted_sum_from_feature_columns`` for its share of logits [B, D]. Sparse columns are columns of numbers of
categories, of which an example has any number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from ..framework import variables as contrib_variables
from .embedding_ops import safe_embedding_lookup_sparse

__all__ = [
    "bucketized_column",
    "check_feature_columns",
    "create_feature_spec_for_parsing",
    "embedding_column",
    "input_from_feature_columns",
    "one_hot_column",
    "parse_feature_columns_from_examples",
    "real_valued_column",
    "shared_embedding_columns",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "weighted_sparse_column",
    "weighted_sum_from_feature_columns",
]

Features = Mapping[str, Any]


class _SparseIdLookupConfig(NamedTuple):
    vocabulary_file: str | None = None
    keys: tuple[Any, ...] | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


class _RealValued(NamedTuple):
    column_name: str
    dimension: int
    default_value: tuple[float, ...] | None
    dtype: Any
    normalizer: Callable[[Any], Any] | None


class _RealValuedColumn(_RealValued):
    """Numbers [B, dimension]."""

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: tf.FixedLenFeature([self.dimension], self.dtype, self.default_value)}

    def dense(self, features: Features) -> Any:
        """float32 [B, dimension]."""
        tensor = tf.convert_to_tensor(features[self.column_name])
        if self.normalizer is not None:
            tensor = self.normalizer(tensor)
        tensor = tf.cast(tensor, tf.float32)
        return tf.reshape(tensor, [-1, self.dimension])

    def input_layer(self, features: Features, collections: list[str], trainable: bool) -> Any:
        return self.dense(features)

    def weighted_sum(self, features: Features, units: int, collections: list[str], trainable: bool) -> Any:
        weight = _weights("weight", [self.dimension, units], tf.zeros_initializer(), collections, trainable)
        return tf.matmul(self.dense(features), weight), [weight]


class _Bucketized(NamedTuple):
    source_column: _RealValuedColumn
    boundaries: tuple[float, ...]


class _BucketizedColumn(_Bucketized):
    """The interval that each number is in."""

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def config(self) -> dict[str, Any]:
        return self.source_column.config

    @property
    def length(self) -> int:
        return len(self.boundaries) + 1

    def _buckets(self, features: Features) -> Any:
        """int32 [B, dimension]."""
        return tf.raw_ops.Bucketize(input=self.source_column.dense(features), boundaries=list(self.boundaries))

    def input_layer(self, features: Features, collections: list[str], trainable: bool) -> Any:
        hot = tf.one_hot(self._buckets(features), self.length)
        return tf.reshape(hot, [-1, self.length * self.source_column.dimension])

    def weighted_sum(self, features: Features, units: int, collections: list[str], trainable: bool) -> Any:
        dimension = self.source_column.dimension
        shape = [self.length * dimension, units]
        weights = _weights("weights", shape, tf.zeros_initializer(), collections, trainable)
        return tf.matmul(self.input_layer(features, collections, trainable), weights), [weights]


class _Sparse(NamedTuple):
    column_name: str
    is_integerized: bool
    bucket_size: int | None
    lookup_config: _SparseIdLookupConfig | None
    combiner: str
    dtype: Any


class _SparseColumn(_Sparse):
    """Numbers of categories."""

    @property
    def name(self) -> str:
        return self.column_name

    @property
    def config(self) -> dict[str, Any]:
        return {self.column_name: tf.VarLenFeature(self.dtype)}

    @property
    def length(self) -> int:
        """How many categories there are."""
        raise NotImplementedError("a sparse column has a length")

    def ids(self, features: Features) -> tuple[Any, Any]:
        """Numbers as a ``SparseTensor`` of int64, -1 where unknown, and weights of that form or None."""
        sparse = _sparse(features[self.column_name])
        return tf.SparseTensor(sparse.indices, self._numbers(sparse.values), sparse.dense_shape), None

    def _numbers(self, values: Any) -> Any:
        raise NotImplementedError("a sparse column has _numbers")

    def input_layer(self, features: Features, collections: list[str], trainable: bool) -> Any:
        raise ValueError(
            f"SparseColumn is not supported in DNN. Please use embedding_column or one_hot_column. column: {self}"
        )

    def weighted_sum(self, features: Features, units: int, collections: list[str], trainable: bool) -> Any:
        return _sparse_sum(self, self.combiner, features, units, collections, trainable)


class _SparseColumnHashed(_SparseColumn):
    @property
    def length(self) -> int:
        assert self.bucket_size is not None
        return self.bucket_size

    def _numbers(self, values: Any) -> Any:
        if values.dtype.is_integer:
            values = tf.as_string(values)
        return tf.strings.to_hash_bucket_fast(values, self.length)


class _SparseColumnIntegerized(_SparseColumn):
    @property
    def length(self) -> int:
        assert self.bucket_size is not None
        return self.bucket_size

    def _numbers(self, values: Any) -> Any:
        return tf.math.floormod(tf.cast(values, tf.int64), self.length)


class _SparseColumnKeys(_SparseColumn):
    @property
    def length(self) -> int:
        assert self.lookup_config is not None and self.lookup_config.vocab_size is not None
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    def _numbers(self, values: Any) -> Any:
        assert self.lookup_config is not None and self.lookup_config.keys is not None
        keys = tf.constant(list(self.lookup_config.keys), self.dtype)
        numbers = tf.range(len(self.lookup_config.keys), dtype=tf.int64)
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, numbers), self.lookup_config.default_value
        )
        return table.lookup(values)


class _SparseColumnVocabulary(_SparseColumnKeys):
    def _numbers(self, values: Any) -> Any:
        config = self.lookup_config
        assert config is not None
        if values.dtype.is_integer:
            values = tf.as_string(values)
        initializer = tf.lookup.TextFileInitializer(
            config.vocabulary_file,
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
            vocab_size=config.vocab_size,
        )
        if config.num_oov_buckets:
            return tf.lookup.StaticVocabularyTable(initializer, config.num_oov_buckets).lookup(values)
        return tf.lookup.StaticHashTable(initializer, config.default_value).lookup(values)


class _WeightedSparse(NamedTuple):
    sparse_id_column: _SparseColumn
    weight_column_name: str
    dtype: Any


class _WeightedSparseColumn(_WeightedSparse):
    """Numbers of categories, with a weight for each."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def config(self) -> dict[str, Any]:
        return {**self.sparse_id_column.config, self.weight_column_name: tf.VarLenFeature(self.dtype)}

    @property
    def length(self) -> int:
        return self.sparse_id_column.length

    def ids(self, features: Features) -> tuple[Any, Any]:
        """See the column without weights."""
        weights = _sparse(features[self.weight_column_name])
        weights = tf.SparseTensor(weights.indices, tf.cast(weights.values, tf.float32), weights.dense_shape)
        return self.sparse_id_column.ids(features)[0], weights

    def input_layer(self, features: Features, collections: list[str], trainable: bool) -> Any:
        raise ValueError(f"WeightedSparseColumn is not supported in DNN. Please use embedding_column. column: {self}")

    def weighted_sum(self, features: Features, units: int, collections: list[str], trainable: bool) -> Any:
        return _sparse_sum(self, self.sparse_id_column.combiner, features, units, collections, trainable)


class _OneHot(NamedTuple):
    sparse_id_column: Any


class _OneHotColumn(_OneHot):
    """How often an example has each category."""

    @property
    def name(self) -> str:
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def config(self) -> Any:
        return self.sparse_id_column.config

    def input_layer(self, features: Features, collections: list[str], trainable: bool) -> Any:
        ids, weights = self.sparse_id_column.ids(features)
        length = self.sparse_id_column.length
        hot = tf.one_hot(tf.sparse.to_dense(ids, default_value=-1), length)
        if weights is not None:
            hot *= tf.expand_dims(tf.sparse.to_dense(weights), -1)
        return tf.reshape(tf.reduce_sum(hot, axis=1), [-1, length])

    def weighted_sum(self, features: Features, units: int, collections: list[str], trainable: bool) -> Any:
        raise NotImplementedError(f"No dense tensor representation for column {self}")


class _Embedding(NamedTuple):
    sparse_id_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    shared_embedding_name: str | None
    shared_vocab_size: int | None
    max_norm: float | None
    trainable: bool


class _EmbeddingColumn(_Embedding):
    """The embeddings of an example's categories, combined to one."""

    @property
    def name(self) -> str:
        kind = "embedding" if self.shared_embedding_name is None else "shared_embedding"
        return f"{self.sparse_id_column.name}_{kind}"

    @property
    def config(self) -> Any:
        return self.sparse_id_column.config

    def input_layer(self, features: Features, collections: list[str], trainable: bool) -> Any:
        ids, weights = self.sparse_id_column.ids(features)
        return safe_embedding_lookup_sparse(
            self._table(collections, trainable and self.trainable),
            ids,
            sparse_weights=weights,
            combiner=self.combiner,
            max_norm=self.max_norm,
            name=f"{self.name}weights",
        )

    def _table(self, collections: list[str], trainable: bool) -> Any:
        shape = [self.shared_vocab_size or self.sparse_id_column.length, self.dimension]
        if self.shared_embedding_name is None:
            table = _weights("weights", shape, self.initializer, collections, trainable)
        else:
            key = f"SHARED_EMBEDDING_COLLECTION_{self.shared_embedding_name.upper()}"
            known = tf.get_collection(key)
            if known:
                return known[0]
            table = _weights(self.shared_embedding_name, shape, self.initializer, collections, trainable)
            tf.add_to_collection(key, table)
        if self.ckpt_to_load_from is not None:
            tf.train.init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: table})
        return table

    def weighted_sum(self, features: Features, units: int, collections: list[str], trainable: bool) -> Any:
        raise ValueError(f"EmbeddingColumn is not supported in linear models. column: {self}")


def _weights(name: str, shape: list[int], initializer: Any, collections: list[str], trainable: bool) -> Any:
    return contrib_variables.model_variable(
        name,
        shape=shape,
        dtype=tf.float32,
        initializer=initializer,
        trainable=trainable,
        collections=collections,
    )


def _sparse_sum(
    column: Any, combiner: str, features: Features, units: int, collections: list[str], trainable: bool
) -> Any:
    ids, weights = column.ids(features)
    table = _weights("weights", [column.length, units], tf.zeros_initializer(), collections, trainable)
    found = safe_embedding_lookup_sparse(table, ids, sparse_weights=weights, combiner=combiner, name="weights")
    return tf.reshape(found, [-1, units]), [table]


def _sparse(tensor: Any) -> Any:
    """``tensor`` as a ``SparseTensor``: without the empty texts and the -1 of a dense one."""
    if isinstance(tensor, tf.SparseTensor):
        return tensor
    tensor = tf.convert_to_tensor(tensor)
    if tensor.shape.rank == 1:
        tensor = tf.expand_dims(tensor, 1)
    nothing = tf.constant("" if tensor.dtype == tf.string else -1, tensor.dtype)
    places = tf.where(tf.not_equal(tensor, nothing))
    return tf.SparseTensor(places, tf.gather_nd(tensor, places), tf.shape(tensor, out_type=tf.int64))


# ---------------------------------------------------------------------------------------------------- making columns


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = tf.float32,
    normalizer: Callable[[Any], Any] | None = None,
) -> Any:
    """A column of numbers.

    Args:
        column_name: The feature's name.
        dimension: How many numbers an example has.
        default_value: For examples without it: a number, or ``dimension`` of them.
        dtype: The type of the feature.
        normalizer: A function of the tensor.

    Raises:
        TypeError: ``dimension`` or ``default_value`` is of another kind.
        ValueError: An argument is out of its range.
    """
    if dimension is None:
        raise TypeError("dimension must be an integer. Use the _real_valued_var_len_column for variable length.")
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    dtype = tf.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    if default_value is not None:
        if isinstance(default_value, (int, float)):
            default_value = (default_value,) * dimension
        elif not isinstance(default_value, (list, tuple)):
            raise TypeError(
                f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}, "
                f"column_name: {column_name}"
            )
        if len(default_value) != dimension:
            raise ValueError(
                f"The length of default_value must be equal to dimension. default_value: {default_value}, "
                f"dimension: {dimension}, column_name: {column_name}"
            )
        default_value = tuple(float(value) if dtype.is_floating else int(value) for value in default_value)
    return _RealValuedColumn(column_name, dimension, default_value, dtype, normalizer)


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> Any:
    """A column of the intervals, between ``boundaries``, that the numbers of ``source_column`` are in.

    Raises:
        TypeError: ``source_column`` is of another kind.
        ValueError: ``boundaries`` are not in their order.
    """
    if not isinstance(source_column, _RealValuedColumn):
        raise TypeError(f"source_column must be an instance of _RealValuedColumn. source_column: {source_column}")
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return _BucketizedColumn(source_column, tuple(sorted(set(boundaries))))


def sparse_column_with_hash_bucket(
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: Any = tf.string, hash_keys: Any = None
) -> Any:
    """A column of categories, numbered by their hash.

    Args:
        column_name: The feature's name.
        hash_bucket_size: How many numbers there are.
        combiner: How an example's categories are combined: "sum", "mean" or "sqrtn".
        dtype: Texts or whole numbers.
        hash_keys: None: other hashes cannot be had.
    """
    if hash_keys is not None:
        raise ValueError("sparse_column_with_hash_bucket: hash_keys is not available")
    if hash_bucket_size < 1:
        raise ValueError(f"bucket_size must be at least 1. bucket_size: {hash_bucket_size}, column_name: {column_name}")
    return _SparseColumnHashed(column_name, False, hash_bucket_size, None, combiner, tf.as_dtype(dtype))


def sparse_column_with_keys(
    column_name: str, keys: Sequence[Any], default_value: int = -1, combiner: str = "sum", dtype: Any = tf.string
) -> Any:
    """A column of categories, numbered by their place in ``keys``; all others have the number ``default_value``."""
    config = _SparseIdLookupConfig(keys=tuple(keys), vocab_size=len(keys), default_value=default_value)
    return _SparseColumnKeys(column_name, False, None, config, combiner, tf.as_dtype(dtype))


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> Any:
    """A column of categories, numbered by their line in a file.

    Args:
        column_name: The feature's name.
        vocabulary_file: The file.
        num_oov_buckets: How many numbers there are for the hashes of what is not in the file.
        vocab_size: How many lines count; all without it.
        default_value: The number of what is not in the file.
        combiner: How an example's categories are combined.
        dtype: Texts or whole numbers.
    """
    if not vocabulary_file:
        raise ValueError(f"vocabulary_file must be specified for column_name: {column_name}")
    if vocab_size is None:
        with tf.gfile.Open(vocabulary_file) as file:
            vocab_size = sum(1 for _ in file)
    config = _SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return _SparseColumnVocabulary(column_name, False, None, config, combiner, tf.as_dtype(dtype))


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = tf.int64
) -> Any:
    """A column of categories that are numbers already, taken modulo ``bucket_size``."""
    if bucket_size < 1:
        raise ValueError(f"bucket_size must be at least 1. bucket_size: {bucket_size}, column_name: {column_name}")
    if not tf.as_dtype(dtype).is_integer:
        raise ValueError(f"dtype must be an integer. dtype: {dtype}, column_name: {column_name}")
    return _SparseColumnIntegerized(column_name, True, bucket_size, None, combiner, tf.as_dtype(dtype))


def weighted_sparse_column(sparse_id_column: Any, weight_column_name: str, dtype: Any = tf.float32) -> Any:
    """A column of categories with weights, which the feature ``weight_column_name`` has."""
    dtype = tf.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)


def one_hot_column(sparse_id_column: Any) -> Any:
    """A column of the numbers of times that an example has each category of ``sparse_id_column``."""
    return _OneHotColumn(sparse_id_column)


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """A column of the embeddings of categories.

    Args:
        sparse_id_column: A column of categories.
        dimension: The size of an embedding.
        combiner: How an example's embeddings are combined: "mean", "sum" or "sqrtn".
        initializer: Of the embeddings; a truncated normal one without it.
        ckpt_to_load_from: A checkpoint that has them.
        tensor_name_in_ckpt: Their name in it.
        max_norm: The most that an embedding's norm may be.
        trainable: Whether they are trained.
    """
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(
            f"initializer must be callable if specified. Embedding of column_name: {sparse_id_column.name}"
        )
    return _EmbeddingColumn(
        sparse_id_column,
        dimension,
        combiner,
        initializer or _default_initializer(sparse_id_column),
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        None,
        None,
        max_norm,
        trainable,
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
) -> list[Any]:
    """Columns of embeddings that are the same for all of ``sparse_id_columns``; see :func:`embedding_column`."""
    if len(sparse_id_columns) < 1:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    name = shared_embedding_name
    if name is None:
        name = "_".join(sorted(column.name for column in sparse_id_columns)) + "_shared_embedding"
    return [
        embedding_column(
            column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            max_norm,
            trainable,
        )._replace(shared_embedding_name=name, shared_vocab_size=sparse_id_columns[0].length)
        for column in sparse_id_columns
    ]


def _default_initializer(column: Any) -> Any:
    return tf.truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(column.length))


# ----------------------------------------------------------------------------------------------------- using columns


def check_feature_columns(feature_columns: Iterable[Any]) -> None:
    """Raises a ``ValueError`` if two columns have one name."""
    names: set[str] = set()
    for column in feature_columns:
        if column.name in names:
            raise ValueError(f"Duplicate feature column key found for column: {column.name}.")
        names.add(column.name)


def _ordered(feature_columns: Iterable[Any]) -> list[Any]:
    return sorted(set(feature_columns), key=str)


def input_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Iterable[Any],
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Any:
    """An input layer: what the columns make of the features, side by side, in the order of the columns' texts.

    Args:
        columns_to_tensors: Tensors by name.
        feature_columns: Columns.
        weight_collections: Collections of the variables.
        trainable: Whether they are trained.
        scope: The variable scope.
        cols_to_outs: Gets the part of each column.

    Returns:
        float32 [B, inputs].

    Raises:
        ValueError: A column is not for networks, or two have one name.
    """
    columns = _ordered(feature_columns)
    check_feature_columns(columns)
    collections = list(weight_collections or [])
    with tf.variable_scope(scope, "input_from_feature_columns", list(columns_to_tensors.values())):
        parts = []
        for column in columns:
            with tf.variable_scope(None, column.name or "column", list(columns_to_tensors.values())):
                try:
                    part = column.input_layer(columns_to_tensors, collections, trainable)
                except ValueError as error:
                    raise ValueError(f"Error creating input layer for column: {column.name}.\n{error}") from error
            parts.append(part)
            if cols_to_outs is not None:
                cols_to_outs[column] = part
        return tf.concat(parts, 1)


def weighted_sum_from_feature_columns(
    columns_to_tensors: Features,
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[Any, list[Any]], Any]:
    """The logits of a linear model of the columns.

    Args:
        columns_to_tensors: Tensors by name.
        feature_columns: Columns.
        num_outputs: D.
        weight_collections: Collections of the variables.
        trainable: Whether they are trained.
        scope: The variable scope.

    Returns:
        float32 [B, D], column -> its variables, and the bias [D].

    Raises:
        ValueError: A column is not for linear models, or two have one name.
    """
    columns = _ordered(feature_columns)
    check_feature_columns(columns)
    collections = list(weight_collections or [])
    with tf.variable_scope(scope, "weighted_sum_from_feature_columns", list(columns_to_tensors.values())):
        sums, found = [], {}
        for column in columns:
            with tf.variable_scope(column.name):
                try:
                    part, found[column] = column.weighted_sum(columns_to_tensors, num_outputs, collections, trainable)
                except ValueError as error:
                    raise ValueError(f"Error creating weighted sum for column: {column.name}.\n{error}") from error
            sums.append(part)
        bias = _weights("bias_weight", [num_outputs], tf.zeros_initializer(), collections, trainable)
        return tf.nn.bias_add(tf.add_n(sums), bias), found, bias


def create_feature_spec_for_parsing(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """What ``tf.parse_example`` needs for the columns."""
    spec: dict[str, Any] = {}
    for column in feature_columns:
        spec.update(column.config)
    return spec


def parse_feature_columns_from_examples(
    serialized: Any, feature_columns: Iterable[Any], name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """The columns' features of serialized ``tf.train.Example`` protos [B], by name."""
    found: dict[str, Any] = tf.parse_example(
        serialized, features=create_feature_spec_for_parsing(feature_columns), name=name, example_names=example_names
    )
    return found
