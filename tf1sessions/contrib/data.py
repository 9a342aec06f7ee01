"""``tf.contrib.data``: what ``tf.data.experimental`` has of it, under the names of 1.15.

Functions that are given to ``dataset.apply``, readers and kinds of datasets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..runtime import tf1 as tf

__all__ = [
    "AUTOTUNE",
    "Counter",
    "CsvDataset",
    "Optional",
    "RandomDataset",
    "Reducer",
    "SqlDataset",
    "TFRecordWriter",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sloppy_interleave",
    "unbatch",
    "unique",
]

AUTOTUNE: Any = tf.data.experimental.AUTOTUNE
Counter: Any = tf.data.experimental.Counter
CsvDataset: Any = tf.data.experimental.CsvDataset
Optional: Any = tf.data.experimental.Optional
RandomDataset: Any = tf.data.experimental.RandomDataset
Reducer: Any = tf.data.experimental.Reducer
SqlDataset: Any = tf.data.experimental.SqlDataset
TFRecordWriter: Any = tf.data.experimental.TFRecordWriter
bucket_by_sequence_length: Any = tf.data.experimental.bucket_by_sequence_length
choose_from_datasets: Any = tf.data.experimental.choose_from_datasets
copy_to_device: Any = tf.data.experimental.copy_to_device
dense_to_sparse_batch: Any = tf.data.experimental.dense_to_sparse_batch
enumerate_dataset: Any = tf.data.experimental.enumerate_dataset
get_next_as_optional: Any = tf.data.experimental.get_next_as_optional
get_single_element: Any = tf.data.experimental.get_single_element
group_by_reducer: Any = tf.data.experimental.group_by_reducer
group_by_window: Any = tf.data.experimental.group_by_window
ignore_errors: Any = tf.data.experimental.ignore_errors
make_batched_features_dataset: Any = tf.data.experimental.make_batched_features_dataset
make_csv_dataset: Any = tf.data.experimental.make_csv_dataset
make_saveable_from_iterator: Any = tf.data.experimental.make_saveable_from_iterator
map_and_batch: Any = tf.data.experimental.map_and_batch
parallel_interleave: Any = tf.data.experimental.parallel_interleave
parse_example_dataset: Any = tf.data.experimental.parse_example_dataset
prefetch_to_device: Any = tf.data.experimental.prefetch_to_device
rejection_resample: Any = tf.data.experimental.rejection_resample
sample_from_datasets: Any = tf.data.experimental.sample_from_datasets
scan: Any = tf.data.experimental.scan
shuffle_and_repeat: Any = tf.data.experimental.shuffle_and_repeat
unbatch: Any = tf.data.experimental.unbatch
unique: Any = tf.data.experimental.unique

Apply = Callable[[Any], Any]


def batch_and_drop_remainder(batch_size: Any) -> Apply:
    """Batches of ``batch_size`` elements; what is left over at the end is dropped."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size: Any, padded_shapes: Any, padding_values: Any = None) -> Apply:
    """Padded batches of ``batch_size`` elements; what is left over at the end is dropped."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sloppy_interleave(map_func: Callable[..., Any], cycle_length: int, block_length: int = 1) -> Apply:
    """:func:`parallel_interleave` that takes whichever element is there first."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)  # type: ignore[no-any-return]
