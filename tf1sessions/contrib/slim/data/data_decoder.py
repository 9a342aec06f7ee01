"""Decoders of the records of a data set."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

__all__ = ["DataDecoder"]


class DataDecoder(metaclass=abc.ABCMeta):
    """Makes items, tensors by name, of a record."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Sequence[str]) -> list[Any]:
        """The tensors of ``items``, of the record ``data``."""

    @abc.abstractmethod
    def list_items(self) -> list[str]:
        """The names of the items that there are."""
