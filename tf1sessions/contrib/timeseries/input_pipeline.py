"""Series from arrays and files, and batches of windows of them, as inputs of estimators.

Data flow: a reader gives chunks of the series, over and over, or the whole of it; an input function cuts windows from
the chunks and puts them in batches.

Letters of shapes: N times in a chunk, B series in a batch, W times in a window, F features of the series.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...estimator.feeding import enqueue
from ...runtime import tf1 as tf
from . import model_utils
from .feature_keys import FilteringResults, PredictionFeatures, TrainEvalFeatures

__all__ = [
    "CSVReader",
    "NumpyReader",
    "RandomWindowInputFn",
    "ReaderBaseTimeSeriesParser",
    "TFExampleReader",
    "TimeSeriesInputFn",
    "TimeSeriesReader",
    "WholeDatasetInputFn",
    "predict_continuation_input_fn",
]

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def predict_continuation_input_fn(
    evaluation: Mapping[str, Any],
    steps: int | None = None,
    times: Any = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> Callable[[], Any]:
    """An ``input_fn`` for predictions that go on from an evaluation.

    Args:
        evaluation: What ``evaluate`` returned.
        steps: How many times to predict, right after it; or
        times: The times, [B, W], or [W] if B is 1.
        exogenous_features: Those of the times, [B, W, ...], by name.

    Raises:
        ValueError: Both or neither of ``steps`` and ``times`` are given, or the times do not fit the evaluation.
    """
    times = model_utils.canonicalize_times_or_steps_from_output(times, steps, evaluation)
    features: dict[str, Any] = {
        PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE],
        PredictionFeatures.TIMES: times,
        **(exogenous_features or {}),
    }

    def once(value: Any) -> Any:
        return tf.train.limit_epochs(tf.convert_to_tensor(value), num_epochs=1)

    def input_fn() -> tuple[dict[str, Any], None]:
        return tf.nest.map_structure(once, features), None

    return input_fn


class TimeSeriesReader(abc.ABC):
    """The source of a series."""

    @abc.abstractmethod
    def read(self) -> dict[str, Any]:
        """Chunks of the series, over and over: "times" [N], "values" [N, F] and other features [N, ...]."""

    @abc.abstractmethod
    def read_full(self) -> dict[str, Any]:
        """The whole series, as tensors that are the same in each run."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises a ``ValueError`` if it is known that the series is shorter."""
        return  # it is not known


class NumpyReader(TimeSeriesReader):
    """A series in arrays, which queue runners feed.

    Args:
        data: "times" [N], "values" [N] or [N, F] and other features [N, ...]. All of it may have a first dimension 1.
        read_num_records_hint: N of a chunk.

    Raises:
        ValueError: "times" or "values" are missing, or shapes do not fit.
    """

    def __init__(self, data: Mapping[str, Any], read_num_records_hint: int = 4096) -> None:
        if _TIMES not in data or _VALUES not in data:
            raise ValueError(f"{_TIMES} and {_VALUES} are required features.")
        arrays = {name: np.asarray(data[name]) for name in sorted(data)}
        shape = arrays[_TIMES].shape
        for name, array in arrays.items():
            if array.shape[: len(shape)] != shape:
                raise ValueError(
                    f"All features must have their shapes prefixed by the shape of the times feature. Got shape "
                    f"{array.shape} for feature '{name}', but shape {shape} for '{_TIMES}'"
                )
        if len(shape) == 2:
            if shape[0] != 1:
                raise ValueError("Got batch input, was expecting unbatched input.")
            arrays = {name: array[0] for name, array in arrays.items()}
        if arrays[_VALUES].ndim == 1:
            arrays[_VALUES] = arrays[_VALUES][:, np.newaxis]
        self._arrays = arrays
        self._size = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        _check_size(len(self._arrays[_TIMES]), minimum_dataset_size)

    def read(self) -> dict[str, Any]:
        queue = enqueue(
            list(self._arrays.values()),
            capacity=1000,
            shuffle=False,
            num_threads=1,
            enqueue_size=16,
            num_epochs=None,
        )
        return dict(zip(self._arrays, queue.dequeue_many(self._size)[1:], strict=True))

    def read_full(self) -> dict[str, Any]:
        whole = [array[np.newaxis] for array in self._arrays.values()]
        queue = enqueue(whole, capacity=2, shuffle=False, num_threads=1, enqueue_size=1, num_epochs=None)
        found = queue.dequeue_many(1)[1:]
        return {name: tf.squeeze(value, [0]) for name, value in zip(self._arrays, found, strict=True)}


class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """A series in files of records.

    Args:
        filenames: A file, or several in their order.
        read_num_records_hint: How many records a chunk has.
    """

    def __init__(self, filenames: Any, read_num_records_hint: int = 4096) -> None:
        self._filenames = [filenames] if isinstance(filenames, (str, bytes)) else list(filenames)
        self._size = read_num_records_hint

    @abc.abstractmethod
    def _records(self, filename: Any) -> Any:
        """A ``tf.data.Dataset`` of the records of a file."""

    @abc.abstractmethod
    def _parse(self, records: Any) -> dict[str, Any]:
        """The features of records [N]."""

    def _files(self) -> Any:
        return tf.data.Dataset.from_tensor_slices(tf.constant(self._filenames))

    def read(self) -> dict[str, Any]:
        chunks = self._files().flat_map(lambda file: self._records(file).batch(self._size)).repeat()
        return self._parse(tf.data.make_one_shot_iterator(chunks).get_next())

    def read_full(self) -> dict[str, Any]:
        records = self._files().flat_map(self._records)
        return self._parse(tf.data.experimental.get_single_element(records.batch(tf.int64.max)))


class CSVReader(ReaderBaseTimeSeriesParser):
    """A series in files of comma-separated values.

    Args:
        filenames: A file, or several in their order.
        column_names: A feature's name for each column; several columns of one name are one feature.
        column_dtypes: Types of the columns: int64 for "times" and float32 for the others unless given.
        skip_header_lines: How many lines at the beginning of each file are left out.
        read_num_records_hint: How many lines a chunk has.

    Raises:
        ValueError: There is no column "times" or "values", or there are more or fewer types than columns.
    """

    def __init__(
        self,
        filenames: Any,
        column_names: Sequence[str] = (_TIMES, _VALUES),
        column_dtypes: Sequence[Any] | None = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ) -> None:
        for name in (_TIMES, _VALUES):
            if name not in column_names:
                raise ValueError(f"'{name}' is a required column.")
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names (got column_dtypes="
                f"{column_dtypes} and column_names={column_names})."
            )
        super().__init__(filenames, read_num_records_hint)
        self._column_names = tuple(column_names)
        self._column_dtypes = column_dtypes or [tf.int64 if name == _TIMES else tf.float32 for name in column_names]
        self._skip = skip_header_lines or 0

    def _records(self, filename: Any) -> Any:
        return tf.data.TextLineDataset(filename).skip(self._skip)

    def _parse(self, records: Any) -> dict[str, Any]:
        # a column without a default must have a value
        columns = tf.io.decode_csv(records, [tf.constant([], dtype) for dtype in self._column_dtypes])
        by_name: dict[str, list[Any]] = {}
        for name, column in zip(self._column_names, columns, strict=True):
            by_name.setdefault(name, []).append(column)
        return {name: found[0] if name == _TIMES else tf.stack(found, 1) for name, found in by_name.items()}


class TFExampleReader(ReaderBaseTimeSeriesParser):
    """A series in TFRecord files of a ``tf.train.Example`` for each time.

    Args:
        filenames: A file, or several in their order.
        features: name -> ``tf.io.FixedLenFeature``; "times" is a scalar, "values" a vector.

    Raises:
        ValueError: "times" or "values" are missing.
    """

    def __init__(self, filenames: Any, features: Mapping[str, Any]) -> None:
        for name in (_TIMES, _VALUES):
            if name not in features:
                raise ValueError(f"'{name}' is a required column.")
        super().__init__(filenames)
        self._features = dict(features)

    def _records(self, filename: Any) -> Any:
        return tf.data.TFRecordDataset(filename)

    def _parse(self, records: Any) -> dict[str, Any]:
        found: dict[str, Any] = tf.io.parse_example(records, self._features)
        return found


class TimeSeriesInputFn(abc.ABC):
    """An ``input_fn`` that makes batches of windows of a series."""

    def __call__(self) -> tuple[dict[str, Any], None]:
        return self.create_batch()

    @abc.abstractmethod
    def create_batch(self) -> tuple[dict[str, Any], None]:
        """Features, "times" [B, W], "values" [B, W, F] and others [B, W, ...]; and None, as there are no labels."""


class WholeDatasetInputFn(TimeSeriesInputFn):
    """The whole series as one window, to evaluate it.

    Args:
        time_series_reader: Where the series comes from.
    """

    def __init__(self, time_series_reader: TimeSeriesReader) -> None:
        self._reader = time_series_reader

    def create_batch(self) -> tuple[dict[str, Any], None]:
        return {name: value[tf.newaxis] for name, value in self._reader.read_full().items()}, None


class RandomWindowInputFn(TimeSeriesInputFn):
    """Windows of a series in random order, to train on it.

    Args:
        time_series_reader: Where the series comes from.
        window_size: W.
        batch_size: B.
        queue_capacity_multiplier: How many batches there is room for.
        shuffle_min_after_dequeue_multiplier: How many batches wait, so that order is random.
        discard_out_of_order: Whether windows with decreasing times are left out; otherwise they are sorted.
        discard_consecutive_batches_limit: After how many of these in a row the input ends.
        jitter: Whether a random number of times is left out between windows.
        num_threads: How many threads take windows for batches. With 1 and a seed all runs are alike.
        shuffle_seed: Of the order.
    """

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int = 2,
        shuffle_seed: int | None = None,
    ) -> None:
        self._reader = time_series_reader
        self._window_size = window_size
        self._batch_size = batch_size
        self._multiplier = queue_capacity_multiplier
        self._least_multiplier = shuffle_min_after_dequeue_multiplier
        self._discard_out_of_order = discard_out_of_order
        self._discard_limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = num_threads
        self._seed = shuffle_seed

    def create_batch(self) -> tuple[dict[str, Any], None]:
        self._reader.check_dataset_size(self._window_size)
        chunk = self._reader.read()
        names = sorted(chunk)
        window = dict(zip(names, self._window([chunk[name] for name in names]), strict=True))
        windows = self._in_order(window) if self._discard_out_of_order else _sorted(window)
        found = tf.train.shuffle_batch(
            windows,
            batch_size=self._batch_size,
            capacity=self._multiplier * self._batch_size,
            min_after_dequeue=self._least_multiplier * self._batch_size,
            num_threads=self._num_threads,
            seed=self._seed,
            enqueue_many=True,
        )
        return found, None

    def _window(self, chunk: list[Any]) -> list[Any]:
        """A window [W, ...] of each feature, by a queue of times."""
        capacity = self._multiplier * self._batch_size * self._window_size
        with tf.name_scope("batch"):
            queue = tf.FIFOQueue(
                capacity, [part.dtype for part in chunk], [part.shape[1:] for part in chunk], name="fifo_queue"
            )
            tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue_many(chunk)]))  # one, for the order
            tf.summary.scalar(f"fraction_of_{capacity}_full", tf.cast(queue.size(), tf.float32) / capacity)
            left_out: list[Any] = []
            if self._jitter:
                number = tf.random.uniform([], maxval=self._window_size, dtype=tf.int32, seed=self._seed)
                left_out = _listed(queue.dequeue_many(number))
            with tf.control_dependencies(left_out):
                return _listed(queue.dequeue_many(self._window_size))

    def _in_order(self, window: dict[str, Any]) -> dict[str, Any]:
        """The window as [1, W, ...], or as [0, W, ...] if its times decrease."""
        times = window[_TIMES]
        fine = tf.reduce_all(times[1:] >= times[:-1])
        discarded = tf.Variable(
            0,
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES],
            name="discarded_windows_limiter",
            dtype=tf.int64,
            use_resource=True,
        )

        def reset() -> Any:
            return discarded.assign(0)

        def count() -> Any:
            return discarded.count_up_to(self._discard_limit)

        with tf.control_dependencies([tf.identity(tf.cond(fine, reset, count))]):
            number = tf.cast(fine, tf.int32)
            return {name: value[tf.newaxis][:number] for name, value in window.items()}


def _sorted(window: dict[str, Any]) -> dict[str, Any]:
    """The window as [1, W, ...], by its times."""
    order = tf.argsort(window[_TIMES], stable=True)
    return {name: tf.gather(value, order)[tf.newaxis] for name, value in window.items()}


def _listed(dequeued: Any) -> list[Any]:
    return list(dequeued) if isinstance(dequeued, (list, tuple)) else [dequeued]


def _check_size(size: int, least: int) -> None:
    if size < least:
        raise ValueError(
            f"A TimeSeriesInputFn is configured to create windows of size {least}, but only {size} records were "
            "available in the dataset. Either decrease the window size or provide more records."
        )
