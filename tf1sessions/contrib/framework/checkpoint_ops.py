"""Initializers that take rows and columns of a checkpoint's matrix, in the order of another vocabulary."""

from __future__ import annotations

import importlib
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "load_and_remap_matrix_initializer",
    "load_embedding_initializer",
    "load_linear_multiclass_bias_initializer",
    "load_variable_slot_initializer",
]

# warm starting is built on them
_native: Any = importlib.import_module(tf.train.warm_start.__module__).checkpoint_ops

load_and_remap_matrix_initializer: Any = _native._load_and_remap_matrix_initializer
load_embedding_initializer: Any = _native._load_embedding_initializer


def load_linear_multiclass_bias_initializer(
    ckpt_path: Any,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: Any,
    new_class_vocab_file: Any,
    num_class_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Any:
    """An initializer of the biases of a classifier, [classes, 1], from those of other classes.

    Args:
        ckpt_path: The checkpoint.
        bias_tensor_name: The biases in it.
        new_class_vocab_size: The number of classes.
        old_class_vocab_file: The classes of the checkpoint, a line each.
        new_class_vocab_file: The classes now.
        num_class_oov_buckets: How many classes more.
        initializer: Of classes that the checkpoint has not; zeros unless given.
        max_rows_in_memory: How many rows are read at once; -1 for all.
    """
    return load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=bias_tensor_name,
        new_row_vocab_size=new_class_vocab_size,
        new_col_vocab_size=1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer or tf.zeros_initializer(),
        max_rows_in_memory=max_rows_in_memory,
    )


def load_variable_slot_initializer(
    ckpt_path: Any,
    old_tensor_name: str,
    primary_partition_info: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Any:
    """An initializer of an optimizer's slot, from the slot of another vocabulary.

    Args:
        ckpt_path: The checkpoint.
        old_tensor_name: The slot in it.
        primary_partition_info: Which part of the slot's variable this is the slot of.
        new_row_vocab_size: The number of rows.
        new_col_vocab_size: The number of columns.
        old_row_vocab_file: What the rows in the checkpoint are, a line each.
        new_row_vocab_file: What the rows are now.
        old_col_vocab_file: What the columns in the checkpoint are.
        new_col_vocab_file: What the columns are now.
        num_row_oov_buckets: How many rows more.
        num_col_oov_buckets: How many columns more.
        initializer: Of what the checkpoint has not; zeros unless given.
        max_rows_in_memory: How many rows are read at once; -1 for all.
    """
    load = load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=old_tensor_name,
        new_row_vocab_size=new_row_vocab_size,
        new_col_vocab_size=new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer or tf.zeros_initializer(),
        max_rows_in_memory=max_rows_in_memory,
    )

    def initialize(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
        return load(shape, dtype, partition_info=primary_partition_info)

    return initialize
