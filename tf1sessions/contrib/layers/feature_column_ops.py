"""The first layer of a model, from feature columns: the input of a network, or the sums of a linear model.

Data flow: features by name, and columns; each column's features are transformed (feature_column.py) in a variable scope
of the column's name, and become dense, or look up weights; the parts are concatenated, or added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...runtime import tf1 as tf
from ..framework.variables import model_variable
from .embedding_ops import safe_embedding_lookup_sparse, scattered_embedding_lookup_sparse
from .feature_column import (
    _BucketizedColumn,
    _CrossedColumn,
    _EmbeddingColumn,
    _OneHotColumn,
    _RealValuedColumn,
    _ScatteredEmbeddingColumn,
    create_feature_spec_for_parsing,
    real_valued_column,
)
from .sparse_columns import FeatureColumn, Features, _SparseColumn, _WeightedSparseColumn, transform

__all__ = [
    "check_feature_columns",
    "infer_real_valued_columns",
    "input_from_feature_columns",
    "joint_weighted_sum_from_feature_columns",
    "parse_feature_columns_from_examples",
    "parse_feature_columns_from_sequence_examples",
    "sequence_input_from_feature_columns",
    "transform_features",
    "weighted_sum_from_feature_columns",
]


def check_feature_columns(feature_columns: Any) -> None:
    """Checks that no column is there twice.

    Raises:
        ValueError: One is; or ``feature_columns`` is a dict.
    """
    if isinstance(feature_columns, Mapping):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen: set[str] = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means that the column is "
                "almost identical to another column, and one must be discarded."
            )
        seen.add(column.key)


def _in_order(feature_columns: Iterable[Any]) -> list[Any]:
    columns = list(feature_columns)
    check_feature_columns(columns)
    return sorted(columns, key=lambda column: str(column.key))


def parse_feature_columns_from_examples(
    serialized: Any, feature_columns: Any, name: str | None = None, example_names: Any = None
) -> Features:
    """Parses ``tf.train.Example`` records, and transforms their features.

    Args:
        serialized: Serialized records, [B].
        feature_columns: The columns.
        name: The name of the operation.
        example_names: The records' names for messages, [B].

    Returns:
        The features by name, and what each column stands for by column.
    """
    ordered = _in_order(feature_columns)
    parsed = tf.parse_example(serialized, create_feature_spec_for_parsing(ordered), example_names, name)
    columns_to_tensors = dict(parsed)
    for column in ordered:
        transform(column, columns_to_tensors)
    return columns_to_tensors


def parse_feature_columns_from_sequence_examples(
    serialized: Any,
    context_feature_columns: Any,
    sequence_feature_columns: Any,
    name: str | None = None,
    example_name: Any = None,
) -> tuple[Features, Features]:
    """Parses a ``tf.train.SequenceExample`` record.

    Args:
        serialized: A serialized record, a scalar.
        context_feature_columns: The columns of its context, or None.
        sequence_feature_columns: The columns of its feature lists, or None.
        name: The name of the operation.
        example_name: The record's name for messages, a scalar.

    Returns:
        The features of the context by name, and those of the lists, which have the steps as their first dimension.
    """
    steps = {
        key: tf.FixedLenSequenceFeature(feature.shape, feature.dtype)
        if isinstance(feature, tf.FixedLenFeature)
        else feature
        for key, feature in create_feature_spec_for_parsing(sequence_feature_columns or ()).items()
    }
    context, lists = tf.parse_single_sequence_example(
        serialized, create_feature_spec_for_parsing(context_feature_columns or ()), steps, example_name, name
    )
    return context, lists


def transform_features(features: Mapping[Any, Any], feature_columns: Any) -> dict[Any, Any]:
    """Return what each column stands for, by column, of features by name."""
    ordered = _in_order(feature_columns)
    columns_to_tensors = dict(features)
    return {column: transform(column, columns_to_tensors) for column in ordered}


def infer_real_valued_columns(features: Any) -> list[Any]:
    """A column of numbers for each of ``features``, dense tensors by name or one tensor."""
    if not isinstance(features, Mapping):
        return [_column_of("", features)]
    return [_column_of(name, tensor) for name, tensor in features.items()]


def _column_of(name: str, tensor: Any) -> Any:
    if isinstance(tensor, tf.SparseTensor):
        raise ValueError(
            "SparseTensor is not supported for auto detection. Please define corresponding FeatureColumn for tensor "
            f"{name} {tensor}."
        )
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            "Non integer or non floating types are not supported for auto detection. Please define corresponding "
            f"FeatureColumn for tensor {name} {tensor}."
        )
    dimension = 1
    for size in tensor.shape.as_list()[1:]:
        dimension *= size
    return real_valued_column(name, dimension=dimension, dtype=tensor.dtype)


# --------------------------------------------------------------------------------------------------------- networks


def input_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Any:
    """The input of a network, [B, N]: what columns make of features, side by side.

    Args:
        columns_to_tensors: The features by name, and what is transformed already by column.
        feature_columns: The columns.
        weight_collections: Collections of the variables.
        trainable: Whether they are trained.
        scope: The variable scope.
        cols_to_outs: Gets each column's part.

    Raises:
        ValueError: A column cannot be the input of a network.
    """
    outputs = {} if cols_to_outs is None else cols_to_outs
    ordered = _in_order(feature_columns)
    features = dict(columns_to_tensors)
    with tf.variable_scope(scope, default_name="input_from_feature_columns", values=_tensors(features)):
        for column in ordered:
            with tf.variable_scope(None, default_name=column.name, values=_tensors(features)):
                try:
                    outputs[column] = _dense(column, transform(column, features), weight_collections, trainable)
                except ValueError as error:
                    raise ValueError(f"Error creating input layer for column: {column.name}.\n{error}") from error
        return tf.concat([outputs[column] for column in ordered], 1)


def sequence_input_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """The input of a recurrent network, [B, T, N]: what columns make of features of T steps, side by side.

    Args:
        columns_to_tensors: The features by name, [B, T] or [B, T, ...], and what is transformed already by column.
        feature_columns: Columns of numbers, of embeddings or one-hot, without crossed and bucketized ones in them.
        weight_collections: Collections of the variables.
        trainable: Whether they are trained.
        scope: The variable scope.

    Raises:
        ValueError: A column is of another kind, or a feature has no steps.
    """
    ordered = _in_order(feature_columns)
    features = dict(columns_to_tensors)
    with tf.variable_scope(scope, default_name="sequence_input_from_feature_columns", values=_tensors(features)):
        outputs = []
        for column in ordered:
            _check_for_steps(column)
            with tf.variable_scope(None, default_name=column.name, values=_tensors(features)):
                outputs.append(_of_steps(column, transform(column, features), weight_collections, trainable))
        return tf.concat(outputs, 2)


def _check_for_steps(column: Any) -> None:
    if not isinstance(column, (_OneHotColumn, _EmbeddingColumn, _RealValuedColumn)):
        raise ValueError(f"FeatureColumn type {type(column).__name__} is not currently supported for sequence data.")
    inside: Any = column
    while inside := getattr(inside, "sparse_id_column", None):
        if isinstance(inside, _CrossedColumn):
            raise ValueError(
                f"Column {inside.name} is of type {type(inside).__name__}, which is not currently supported for "
                "sequences."
            )


def _of_steps(column: Any, transformed: Any, collections: Any, trainable: bool) -> Any:
    """Return what a recurrent network gets of a column, [B, T, N]."""
    if isinstance(column, _RealValuedColumn):
        return tf.cast(_three_dimensions(column.name, transformed), tf.float32)
    ids, weights = (None if part is None else _three_dimensions(column.name, part) for part in _ids(transformed))
    if isinstance(column, _EmbeddingColumn):
        return _embedded(column, ids, weights, collections, trainable)
    if weights is None:
        return _one_hot(column, ids, None)
    return tf.sparse_tensor_to_dense(tf.sparse_merge(ids, weights, column.length))


def _three_dimensions(name: str, feature: Any) -> Any:
    """``feature``, dense or sparse, of the column ``name``, as [B, T, N]: N is 1, or all dimensions after T."""
    rank = feature.shape.rank
    if rank is None:
        raise ValueError(f"Error while processing column {name}. Rank of input Tensor can not be None.")
    if rank < 2:
        raise ValueError(
            f"Error while processing column {name}. Rank of input Tensor ({rank}) should be the same as output_rank "
            "(3). For example, sequence data should typically be 3 dimensional (rank 3) while non-sequence data is "
            "typically 2 dimensional (rank 2)."
        )
    if rank == 3:
        return feature
    sparse = isinstance(feature, tf.SparseTensor)
    shape = feature.dense_shape if sparse else tf.shape(feature)
    last = [1] if rank == 2 else tf.reshape(tf.reduce_prod(shape[2:]), [1])
    shape = tf.concat([shape[:2], tf.cast(last, shape.dtype)], 0)
    return tf.sparse_reshape(feature, shape) if sparse else tf.reshape(feature, shape)


def _tensors(features: Mapping[Any, Any]) -> list[Any]:
    """The features for a name scope, to check that they are of this graph."""
    return [feature for name, feature in features.items() if isinstance(name, str)]


def _ids(transformed: Any) -> tuple[Any, Any]:
    """Ids, and their weights or None."""
    return transformed if isinstance(transformed, tuple) else (transformed, None)


def _dense(column: Any, transformed: Any, collections: Any, trainable: bool) -> Any:
    """Return what a network gets of a column, [B, N]."""
    if isinstance(column, _RealValuedColumn):
        return _numbers(column, transformed)
    if isinstance(column, _BucketizedColumn):
        ones = tf.one_hot(tf.cast(transformed, tf.int64), column.length, 1.0, 0.0, name="one_hot")
        return tf.reshape(ones, [-1, column.length * column.source_column.dimension], name="reshape")
    if isinstance(column, _OneHotColumn):
        return _one_hot(column, *_ids(transformed))
    if isinstance(column, _EmbeddingColumn):
        return _embedded(column, *_ids(transformed), collections, trainable)
    if isinstance(column, _ScatteredEmbeddingColumn):
        weights = model_variable(
            "weights", [column.size], tf.float32, column.initializer, trainable=trainable, collections=collections
        )
        return scattered_embedding_lookup_sparse(
            weights, transformed, column.dimension, combiner=column.combiner, hash_key=column.hash_key, name="lookup"
        )
    kind = type(column).__mro__[1].__name__ if isinstance(column, _SparseColumn) else type(column).__name__
    other = "embedding_column" if isinstance(column, _CrossedColumn) else "embedding_column or one_hot_column"
    raise ValueError(f"{kind.lstrip('_')} is not supported in DNN. Please use {other}. column: {column}")


def _numbers(column: Any, transformed: Any) -> Any:
    if isinstance(transformed, tf.SparseTensor):
        transformed = tf.sparse_tensor_to_dense(transformed)
    return tf.reshape(tf.cast(transformed, tf.float32), [-1, column.dimension], name="reshape")


def _one_hot(column: Any, ids: Any, weights: Any) -> Any:
    if weights is not None:
        merged = tf.sparse_merge(ids, weights, column.length)
        rows = tf.SparseTensor(
            tf.stack([merged.indices[:, 0], merged.indices[:, -1]], 1),
            merged.values,
            tf.stack([merged.dense_shape[0], merged.dense_shape[-1]]),
        )
        dense = tf.sparse_tensor_to_dense(rows)
        dense.set_shape([ids.shape.as_list()[0], column.length])
        return dense
    filled = tf.sparse_tensor_to_dense(ids, default_value=-1)
    return tf.reduce_sum(tf.one_hot(filled, column.length, 1.0, 0.0), [-2])


def _embedded(column: Any, ids: Any, weights: Any, collections: Any, trainable: bool) -> Any:
    def make(name: str) -> Any:
        return model_variable(
            name,
            [column.length, column.dimension],
            tf.float32,
            column.initializer,
            trainable=trainable and column.trainable,
            collections=collections,
        )

    if column.shared_embedding_name is None:
        embeddings = _parts(make("weights"))
    else:
        shared = "SHARED_EMBEDDING_COLLECTION_" + column.shared_embedding_name.upper()
        found = tf.get_collection(shared)
        if found:
            embeddings = found
        else:
            embeddings = _parts(make(column.shared_embedding_name))
            for part in embeddings:
                tf.add_to_collection(shared, part)
    if column.ckpt_to_load_from is not None:
        tf.train.init_from_checkpoint(
            column.ckpt_to_load_from, {column.tensor_name_in_ckpt: embeddings if len(embeddings) > 1 else embeddings[0]}
        )
    return safe_embedding_lookup_sparse(
        embeddings,
        ids,
        sparse_weights=weights,
        combiner=column.combiner,
        name=f"{column.name}weights",
        max_norm=column.max_norm,
    )


def _parts(variable: Any) -> list[Any]:
    """The variable, or those that it is split into."""
    return list(variable) if hasattr(variable, "as_tensor") else [variable]  # a tf.PartitionedVariable


# ---------------------------------------------------------------------------------------------------- linear models


def weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[Any, list[Any]], Any]:
    """The sums of a linear model, [B, ``num_outputs``].

    Args:
        columns_to_tensors: The features by name, and what is transformed already by column.
        feature_columns: The columns.
        num_outputs: How many sums there are.
        weight_collections: Collections of the variables.
        trainable: Whether they are trained.
        scope: The variable scope.

    Returns:
        The sums; the variables of each column; and the bias.

    Raises:
        ValueError: A column has embeddings.
        NotImplementedError: A column is for networks in another way.
    """
    ordered = _in_order(feature_columns)
    features = dict(columns_to_tensors)

    def make(name: str, size: int) -> Any:
        return model_variable(
            name,
            [size, num_outputs],
            initializer=tf.zeros_initializer(),
            trainable=trainable,
            collections=weight_collections,
        )

    with tf.variable_scope(scope, default_name="weighted_sum_from_feature_columns", values=_tensors(features)):
        sums, variables = [], {}
        for column in ordered:
            transformed = transform(column, features)
            with tf.variable_scope(None, default_name=column.name, values=_tensors(features)):
                if isinstance(column, _EmbeddingColumn):
                    raise ValueError(
                        f"Error creating weighted sum for column: {column.name}.\nColumn {column} is not supported in "
                        "linear models. Please use sparse_column."
                    )
                sums_of_column, variable = _weighted(column, transformed, make)
            sums.append(sums_of_column)
            variables[column] = _parts(variable)
        return _with_bias(tf.add_n(sums), num_outputs, weight_collections, trainable, variables)


def _weighted(column: Any, transformed: Any, make: Callable[[str, int], Any]) -> tuple[Any, Any]:
    """The sums of one column, and its variable."""
    if isinstance(column, _RealValuedColumn):
        variable = make("weight", column.dimension)
        return tf.matmul(_numbers(column, transformed), variable, name="matmul"), variable
    if isinstance(column, _BucketizedColumn):
        length, combiner = column.length * column.source_column.dimension, "sum"
        ids, weights = column.to_sparse_tensor(transformed), None
    elif isinstance(column, (_SparseColumn, _WeightedSparseColumn, _CrossedColumn)):
        length, combiner = column.length, column.combiner
        ids, weights = _ids(transformed)
    else:
        raise NotImplementedError(f"No dense tensor representation for column {column}.")
    variable = make("weights", length)
    if isinstance(column, _CrossedColumn) and column.ckpt_to_load_from is not None:
        tf.train.init_from_checkpoint(column.ckpt_to_load_from, {column.tensor_name_in_ckpt: variable})
    sums = safe_embedding_lookup_sparse(variable, ids, sparse_weights=weights, combiner=combiner, name="weights")
    return sums, variable


def _with_bias(sums: Any, num_outputs: int, collections: Any, trainable: bool, variables: Any) -> tuple[Any, Any, Any]:
    bias = model_variable(
        "bias_weight",
        [num_outputs],
        initializer=tf.zeros_initializer(),
        trainable=trainable,
        collections=collections,
    )
    return tf.nn.bias_add(sums, bias), variables, bias


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, list[Any], Any]:
    """:func:`weighted_sum_from_feature_columns` whose weights are one variable; for columns of ids without weights.

    Returns:
        The sums; the variables; and the bias.

    Raises:
        NotImplementedError: A column is of another kind.
    """
    ordered = _in_order(feature_columns)
    features = dict(columns_to_tensors)
    with tf.variable_scope(scope, default_name="joint_weighted_sum_from_feature_columns", values=_tensors(features)):
        parts, total = [], 0
        for column in ordered:
            ids, size = _joint_ids(column, transform(column, features))
            parts.append(tf.SparseTensor(ids.indices, tf.cast(ids.values, tf.int64) + total, ids.dense_shape))
            total += size
        with tf.variable_scope(None, default_name="linear_weights", values=_tensors(features)):
            variable = model_variable(
                "weights",
                [total, num_outputs],
                initializer=tf.zeros_initializer(),
                trainable=trainable,
                collections=weight_collections,
            )
            joined = tf.sparse_concat(1, parts)
            sums = safe_embedding_lookup_sparse(variable, joined, combiner="sum", name="_weights")
        return _with_bias(sums, num_outputs, weight_collections, trainable, _parts(variable))


def _joint_ids(column: FeatureColumn, transformed: Any) -> tuple[Any, int]:
    if isinstance(column, _BucketizedColumn):
        return column.to_sparse_tensor(transformed), column.length * column.source_column.dimension
    if isinstance(column, (_SparseColumn, _CrossedColumn)):
        return transformed, column.length
    if isinstance(column, _RealValuedColumn):
        raise NotImplementedError(
            "Real-valued columns are not supported. Use weighted_sum_from_feature_columns instead, or bucketize these "
            "columns."
        )
    raise NotImplementedError(f"Column {column} is not supported by joint_weighted_sum_from_feature_columns.")
