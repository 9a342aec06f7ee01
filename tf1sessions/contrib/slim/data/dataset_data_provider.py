"""The items of a data set's records, read by queues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import parallel_reader
from .data_provider import DataProvider
from .dataset import Dataset

__all__ = ["DatasetDataProvider"]


class DatasetDataProvider(DataProvider):
    """Reads the next record of a data set each time that an item of it is fetched.

    Args:
        dataset: The data set.
        num_readers: How many files are read at a time.
        reader_kwargs: Arguments of the data set's class of readers.
        shuffle: Whether files and records come in random order.
        num_epochs: How often each file is read, counted by a local variable; None for no end.
        common_queue_capacity: How many records are held.
        common_queue_min: How many of them stay, so that there is something to choose from.
        record_key: The name of the item that says where a record comes from.
        seed: The seed of the random order.
        scope: The name of the operations.

    Raises:
        ValueError: ``record_key`` is an item of the data set.
    """

    def __init__(
        self,
        dataset: Dataset,
        num_readers: int = 1,
        reader_kwargs: Mapping[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        key, data = parallel_reader.parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = dataset.decoder.list_items()
        if record_key in items:
            raise ValueError(
                f"The item name used for `record_key` cannot also be used for a dataset item: {record_key}"
            )
        tensors = dict(zip(items, dataset.decoder.decode(data, items), strict=True))
        super().__init__({**tensors, record_key: key}, num_samples=dataset.num_samples)
