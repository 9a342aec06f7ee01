"""``tf.contrib.data``: what ``tf.data.experimental`` has of it, under the names of 1.15.

Functions that are given to ``dataset.apply``, readers and kinds of datasets; and a hook that keeps where an estimator's
input is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..runtime import private
from ..runtime import tf1 as tf

__all__ = [
    "AUTOTUNE",
    "CheckpointInputPipelineHook",
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
    """Return what a :class:`Reducer` makes of all elements.

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


_SaveableObject: Any = private.saveable_object.SaveableObject


class _IteratorState(_SaveableObject):  # type: ignore[misc]
    """The state of an iterator for a ``tf.train.Saver``; the iterator is given as a resource."""

    def __init__(self, resource: Any) -> None:
        state = tf.raw_ops.SerializeIterator(resource_handle=resource)
        name = f"{resource.name}-state"
        super().__init__(resource, [private.saveable_object.SaveSpec(state, "", name)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        with tf.colocate_with(self.op):
            return tf.raw_ops.DeserializeIterator(resource_handle=self.op, serialized=restored_tensors[0])


class CheckpointInputPipelineHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Keeps in an estimator's folder how far its input was read, so that a training that resumes goes on from there.

    The files are ``input.ckpt-<step>``, beside the checkpoints of the model and as often; in a cluster each task has
    its own. What is kept are the iterators of the graph's collection "iterators".

    Args:
        estimator: The ``tf.estimator.Estimator``, whose ``RunConfig`` says how often.

    Raises:
        ValueError: Its ``RunConfig`` saves no checkpoints; or, when a training begins, there are no iterators.
    """

    def __init__(self, estimator: Any) -> None:
        config = estimator.config
        task = f"_{config.task_type}_{config.task_id}" if config.num_worker_replicas > 1 else ""
        self._folder = estimator.model_dir
        self._path = os.path.join(self._folder, f"input{task}.ckpt")
        self._latest = f"checkpoint_input{task}"
        self._timer = tf.train.SecondOrStepTimer(config.save_checkpoints_secs, config.save_checkpoints_steps)
        self._saver: Any = None
        self._step: Any = None
        self._started = False

    def begin(self) -> None:
        self._saver = tf.train.Saver([_IteratorState(iterator) for iterator in tf.get_collection("iterators")])
        self._step = tf.train.get_global_step()
        if self._step is None:
            raise RuntimeError("Global step should be created to use CheckpointInputPipelineHook.")
        self._started = False

    def before_run(self, run_context: Any) -> Any:
        # only here have the other hooks initialized the iterators
        if not self._started:
            self._started = True
            session = run_context.session
            if path := tf.train.latest_checkpoint(self._folder, self._latest):
                self._saver.restore(session, path)
            else:
                self._save(session, session.run(self._step))
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        # the step that was read is before or after that of the run
        if self._timer.should_trigger_for_step(run_values.results + 1):
            step = run_context.session.run(self._step)
            if self._timer.should_trigger_for_step(step):
                self._save(run_context.session, step)

    def end(self, session: Any) -> None:
        step = session.run(self._step)
        if step != self._timer.last_triggered_step():
            self._save(session, step)

    def _save(self, session: Any, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        self._saver.save(session, self._path, global_step=step, latest_filename=self._latest)
