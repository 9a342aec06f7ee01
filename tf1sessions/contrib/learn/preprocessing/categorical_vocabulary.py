"""Numbers of categories, given in the order in which the categories come; 0 is what is unknown."""

from __future__ import annotations

import collections
from typing import Any

__all__ = ["CategoricalVocabulary"]


class CategoricalVocabulary:
    """Maps categories to numbers, and back. Not thread-safe.

    The names of its attributes are those of 1.15.5, as programs read them and files of pickled objects have them.

    Args:
        unknown_token: The category of number 0.
        support_reverse: Whether :meth:`reverse` can be called.
    """

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token = unknown_token
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._support_reverse = support_reverse
        if support_reverse:
            self._reverse_mapping: list[Any] = [unknown_token]
        self._freq: dict[Any, int] = collections.defaultdict(int)
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """After this, categories that are not known yet have the number 0; before, they get one of their own."""
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """The number of ``category``."""
        number = self._mapping.get(category, 0)
        if number or self._freeze or category == self._unknown_token:
            return number
        number = self._mapping[category] = len(self._mapping)
        if self._support_reverse:
            self._reverse_mapping.append(category)
        return number

    def add(self, category: Any, count: int = 1) -> None:
        """Counts ``category``, unless it has the number 0."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Forgets categories and numbers the others anew, the most frequent first.

        Args:
            min_frequency: What was not counted more often is forgotten.
            max_frequency: If it is positive, what was counted as often as that, too.
        """
        kept = [
            (category, count)
            for category, count in sorted(sorted(self._freq.items(), key=lambda item: _isnan_key(item[0])), key=_count)
            if count > min_frequency and (max_frequency <= 0 or count < max_frequency)
        ]
        self._freq = dict(kept)
        categories = [self._unknown_token, *(category for category, _ in kept)]
        self._mapping = {category: number for number, category in enumerate(categories)}
        if self._support_reverse:
            self._reverse_mapping = categories

    def reverse(self, class_id: int) -> Any:
        """The category of a number.

        Raises:
            ValueError: The vocabulary was made without ``support_reverse``.
        """
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]


def _count(item: tuple[Any, int]) -> int:
    return -item[1]


def _isnan_key(category: Any) -> tuple[bool, Any]:
    """Sorts categories of one kind by their value, and NaN last."""
    return category != category, category
