"""Features and labels as a forest takes them: one float32 matrix of dense columns, one of sparse ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...runtime import tf1 as tf

__all__ = ["CastToFloat", "GetColumnName", "ParseDataTensorOrDict", "ParseLabelTensorOrDict", "TensorForestDataSpec"]

DATA_FLOAT = 0
DATA_CATEGORICAL = 1
DTYPE_TO_FTYPE = {
    tf.string: DATA_CATEGORICAL,
    tf.int32: DATA_CATEGORICAL,
    tf.int64: DATA_CATEGORICAL,
    tf.float32: DATA_FLOAT,
    tf.float64: DATA_FLOAT,
}


class DataColumn(NamedTuple):
    """Columns of one feature: its name, its kind (DATA_FLOAT or DATA_CATEGORICAL), and how many there are."""

    name: str
    original_type: int
    size: int


class TensorForestDataSpec:
    """The descriptions of the columns, as ``dense`` and ``sparse``: lists of :class:`DataColumn`."""

    def __init__(self) -> None:
        self.dense: list[DataColumn] = []
        self.sparse: list[DataColumn] = []
        self.dense_features_size = 0


def CastToFloat(tensor: Any) -> Any:
    """``tensor`` as float32; a string becomes a number that is the same for the same string."""
    if tensor.dtype == tf.string:
        return tf.cast(tf.string_to_hash_bucket_fast(tensor, 1 << 24), tf.float32)  # 1.15.5 had other numbers
    return tf.cast(tensor, tf.float32)


def GetColumnName(column_key: str, col_num: int) -> str:
    """The name of a column: its key, or its number where there is none."""
    return column_key or f"column_{col_num}"


def ParseDataTensorOrDict(data: Any) -> tuple[Any, Any, TensorForestDataSpec]:
    """Features as a dense and a sparse matrix.

    Args:
        data: A tensor or ``SparseTensor`` [B, N], or a dict of them, which are put side by side by their keys.

    Returns:
        The dense matrix or None, the sparse one or None, and what their columns are.
    """
    spec = TensorForestDataSpec()
    features: Mapping[str, Any] = data if isinstance(data, Mapping) else {"": data}
    dense, sparse = [], []
    for name in sorted(features):
        value = features[name]
        kind = DTYPE_TO_FTYPE[value.dtype]
        if isinstance(value, tf.SparseTensor):
            spec.sparse.append(DataColumn(name, kind, -1))
            sparse.append(tf.SparseTensor(value.indices, CastToFloat(value.values), value.dense_shape))
            continue
        if value.shape.ndims == 1:
            value = tf.expand_dims(value, 1)
        size = value.shape.as_list()[1] or 1
        spec.dense.append(DataColumn(name, kind, size))
        spec.dense_features_size += size
        dense.append(CastToFloat(value))
    whole = tf.concat(dense, 1) if len(dense) > 1 else dense[0] if dense else None
    return whole, tf.sparse_concat(1, sparse) if len(sparse) > 1 else sparse[0] if sparse else None, spec


def ParseLabelTensorOrDict(labels: Any) -> Any:
    """Labels as a float32 tensor: of a dict, side by side by their keys; of a sparse tensor, with -1 for what lacks."""
    if isinstance(labels, Mapping):
        return tf.concat([ParseLabelTensorOrDict(labels[name]) for name in sorted(labels)], 1 if len(labels) > 1 else 0)
    if isinstance(labels, tf.SparseTensor):
        return tf.cast(tf.sparse_tensor_to_dense(labels, default_value=-1), tf.float32)
    return tf.cast(labels, tf.float32)
