"""Providers of the items of a data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["DataProvider"]


class DataProvider:
    """Items by name.

    Args:
        items_to_tensors: ``{item: tensor}``.
        num_samples: The number of samples in the data set.
    """

    def __init__(self, items_to_tensors: Mapping[str, Any], num_samples: int) -> None:
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Iterable[str]) -> list[Any]:
        """The tensors of ``items``.

        Raises:
            ValueError: There is no such item.
        """
        wanted = list(items)
        for item in wanted:
            if item not in self._items_to_tensors:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {list(self._items_to_tensors)}")
        return [self._items_to_tensors[item] for item in wanted]

    def list_items(self) -> Iterable[str]:
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> int:
        """The number of samples in the data set."""
        return self._num_samples
