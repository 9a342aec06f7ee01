"""Columns of categories as columns of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .categorical_vocabulary import CategoricalVocabulary

__all__ = ["CategoricalProcessor"]


class CategoricalProcessor:
    """Maps rows of categories to rows of numbers, with a vocabulary for each column. Not thread-safe.

    Args:
        min_frequency: Categories that do not come more often than that have the number 0.
        share: Whether all columns have one vocabulary.
        vocabularies: The vocabularies; a list, or a single one if they share it.
    """

    def __init__(self, min_frequency: int = 0, share: bool = False, vocabularies: Any = None) -> None:
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Freezes the vocabularies, or lets them grow."""
        for vocabulary in self._all():
            vocabulary.freeze(freeze)

    def fit(self, x: Iterable[Any], unused_y: Any = None) -> CategoricalProcessor:
        """Learns the categories in ``x`` [rows, columns], and returns this object."""
        del unused_y
        for row in x:
            if self.vocabularies_ is None:
                vocabularies = [CategoricalVocabulary() for _ in row]
                self.vocabularies_ = vocabularies[0] if self.share else vocabularies
            for column, category in enumerate(row):
                if not _is_nan(category):
                    self._of(column).add(category)
        if self.min_frequency > 0:
            for vocabulary in self._all():
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Any, unused_y: Any = None) -> Iterator[Any]:
        """:meth:`fit` and then :meth:`transform`."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """Yields the numbers of each row: int64 [columns]."""
        self.freeze()
        for row in x:
            yield np.array(
                [0 if _is_nan(category) else self._of(column).get(category) for column, category in enumerate(row)],
                np.int64,
            )

    def _of(self, column: int) -> Any:
        return self.vocabularies_ if self.share else self.vocabularies_[column]

    def _all(self) -> list[Any]:
        if self.vocabularies_ is None:
            return []
        return [self.vocabularies_] if self.share else list(self.vocabularies_)


def _is_nan(category: Any) -> bool:
    return isinstance(category, float) and category != category
