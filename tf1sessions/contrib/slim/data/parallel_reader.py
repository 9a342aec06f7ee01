"""Reading the records of several files at a time into one queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....runtime import tf1 as tf

__all__ = ["ParallelReader", "get_data_files", "parallel_read", "single_pass_read"]


class ParallelReader(tf.ReaderBase):  # type: ignore[misc]
    """Several readers that put their records into one queue, from which they are read.

    Args:
        reader_class: A class of readers, such as ``tf.TFRecordReader``.
        common_queue: A queue of two strings, keys and values; a shuffling one shuffles records.
        num_readers: How many readers there are.
        reader_kwargs: Arguments of ``reader_class``.

    Raises:
        TypeError: ``common_queue`` holds something else.
    """

    def __init__(
        self,
        reader_class: Any,
        common_queue: Any,
        num_readers: int = 4,
        reader_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if [tf.as_dtype(dtype) for dtype in common_queue.dtypes] != [tf.string, tf.string]:
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """The number of readers."""
        return len(self._readers)

    @property
    def common_queue(self) -> Any:
        """The queue of all records."""
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next record, a key and a value.

        Args:
            queue: A queue of files, which the readers take from; a queue runner is added that lets them.
            name: The name of the operation.
        """
        self._read_from(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: int, name: str | None = None) -> Any:
        """Keys and values of up to ``num_records`` records; the other arguments are those of :meth:`read`."""
        self._read_from(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _read_from(self, queue: Any) -> None:
        operations = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        tf.train.add_queue_runner(tf.train.QueueRunner(self._common_queue, operations))

    def num_records_produced(self, name: str | None = None) -> Any:
        """Return the number of records that all readers have read, an int64."""
        return tf.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """Return the number of files that all readers have finished, an int64."""
        return tf.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources: Any,
    reader_class: Any,
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: Mapping[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Sequence[Any] | None = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> Any:
    """The next record, a key and a value, of files that are read in parallel.

    Args:
        data_sources: The files: a list of them, or a pattern.
        reader_class: A class of readers, such as ``tf.TFRecordReader``.
        num_epochs: How often each file is read, counted by a local variable; None for no end.
        num_readers: How many readers there are.
        reader_kwargs: Arguments of ``reader_class``.
        shuffle: Whether files and records come in random order.
        dtypes: The types of a record's parts, two strings unless given.
        capacity: How many records are held.
        min_after_dequeue: How many of them stay when they are shuffled.
        seed: The seed of the random order.
        scope: The name of the operations.
    """
    files = get_data_files(data_sources)
    with tf.name_scope(scope, "parallel_read"):
        filenames = tf.train.string_input_producer(
            files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        dtypes = dtypes or [tf.string, tf.string]
        if shuffle:
            common_queue = tf.RandomShuffleQueue(
                capacity=capacity, min_after_dequeue=min_after_dequeue, dtypes=dtypes, seed=seed, name="common_queue"
            )
        else:
            common_queue = tf.FIFOQueue(capacity=capacity, dtypes=dtypes, name="common_queue")
        fullness = tf.cast(common_queue.size(), tf.float32) * (1.0 / capacity)
        tf.summary.scalar(f"fraction_of_{capacity}_full", fullness)
        return ParallelReader(reader_class, common_queue, num_readers, reader_kwargs).read(filenames)


def single_pass_read(
    data_sources: Any, reader_class: Any, reader_kwargs: Mapping[str, Any] | None = None, scope: str | None = None
) -> Any:
    """The next record, a key and a value, of files that are read once, in order.

    Args:
        data_sources: The files: a list of them, or a pattern.
        reader_class: A class of readers, such as ``tf.TFRecordReader``.
        reader_kwargs: Arguments of ``reader_class``.
        scope: The name of the operations.
    """
    files = get_data_files(data_sources)
    with tf.name_scope(scope, "single_pass_read"):
        filenames = tf.train.string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(filenames)


def get_data_files(data_sources: Any) -> list[str]:
    """The files that ``data_sources`` names: a file, a pattern such as ``train*``, or a list of such.

    Raises:
        ValueError: There is none.
    """
    if isinstance(data_sources, (list, tuple)):
        files = [file for source in data_sources for file in get_data_files(source)]
    elif set("*?[") & set(data_sources):
        files = tf.gfile.Glob(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files
