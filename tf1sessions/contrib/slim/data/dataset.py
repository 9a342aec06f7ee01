"""Data sets: files, how they are read, and how records are decoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Dataset"]


class Dataset:
    """The specification of a data set.

    Args:
        data_sources: Its files: a list of them, or a pattern.
        reader: A class of readers, such as ``tf.TFRecordReader``.
        decoder: A ``DataDecoder``.
        num_samples: The number of samples.
        items_to_descriptions: ``{item: what it is}``.
        **kwargs: More attributes of the data set.
    """

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: int,
        items_to_descriptions: Mapping[str, str],
        **kwargs: Any,
    ) -> None:
        vars(self).update(kwargs)
        self.data_sources = data_sources
        self.reader = reader
        self.decoder = decoder
        self.num_samples = num_samples
        self.items_to_descriptions = items_to_descriptions
