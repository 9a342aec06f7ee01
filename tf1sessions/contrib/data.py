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
    "assert_element_shape",
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
    "read_batch_features",
    "reduce_dataset",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sliding_window_batch",
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


def sliding_window_batch(
    window_size: int, stride: int | None = None, window_shift: int | None = None, window_stride: int = 1
) -> Apply:
    """Batches of ``window_size`` elements that overlap; what is left over at the end is dropped.

    Args:
        window_size: The elements of a window.
        stride: The old name of ``window_shift``.
        window_shift: How many elements on the next window begins; 1 unless given.
        window_stride: How far apart the elements of a window are.

    Raises:
        ValueError: Both ``stride`` and ``window_shift`` are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = 1 if stride is None and window_shift is None else stride or window_shift

    def join(*windows: Any) -> Any:
        batches = tf.nest.map_structure(
            lambda window: window.batch(window_size), windows if len(windows) > 1 else windows[0]
        )
        return tf.data.Dataset.zip(batches)

    return lambda dataset: dataset.window(window_size, shift, window_stride, drop_remainder=True).flat_map(join)


def assert_element_shape(expected_shapes: Any) -> Apply:
    """The elements, whose shapes are compared with ``expected_shapes`` and known from then on.

    Args:
        expected_shapes: A structure of ``TensorShape``\\ s like that of an element; unknown dimensions fit any.
    """

    shapes = [expected_shapes] if isinstance(expected_shapes, tf.TensorShape) else tf.nest.flatten(expected_shapes)

    def checked(*parts: Any) -> Any:
        element = parts if len(parts) > 1 else parts[0]
        found = [tf.ensure_shape(part, shape) for part, shape in zip(tf.nest.flatten(element), shapes, strict=True)]
        return tf.nest.pack_sequence_as(element, found)

    return lambda dataset: dataset.map(checked)


def reduce_dataset(dataset: Any, reducer: Any) -> Any:
    """What a :class:`Reducer` makes of all elements.

    Args:
        dataset: The elements.
        reducer: Its ``init_func`` and ``reduce_func`` are used; 1.15 did not call its ``finalize_func`` either.

    Raises:
        TypeError: ``dataset`` is none.
    """
    if not isinstance(dataset, (tf.data.Dataset, tf.compat.v2.data.Dataset)):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    state = reducer.init_func(tf.constant(0, tf.int64))
    return dataset.reduce(state, reducer.reduce_func)


def read_batch_features(
    file_pattern: Any,
    batch_size: int,
    features: Any,
    reader: Any = tf.data.TFRecordDataset,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> Any:
    """Batches of features of ``Example`` protos in files, as tensors: see :func:`make_batched_features_dataset`.

    Args:
        file_pattern: The files.
        batch_size: The examples of a batch.
        features: What ``tf.parse_example`` reads.
        reader: A kind of dataset.
        reader_args: Its arguments after the file names.
        randomize_input: Whether the examples are shuffled.
        num_epochs: How often they are read; None for ever.
        capacity: The size of the buffer in which they are shuffled.

    Returns:
        A dict of tensors.
    """
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return tf.data.make_one_shot_iterator(dataset).get_next()
