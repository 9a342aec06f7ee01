"""Items of producers that fill the same arrays again for each item.

A loop that runs ``session.run(enqueue, {x: buffer})`` may fill ``buffer`` again afterwards. Where items are taken from
a producer before they are used, they have to be copied to allow the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["keeps_its_items", "own"]


def keeps_its_items(producer: Iterable[Any]) -> bool:
    """Whether all items of a producer are there at once, as those of a list and of an array are."""
    return isinstance(producer, (list, tuple, dict, range, np.ndarray))


def own(item: Any) -> Any:
    """Return an item whose arrays, lists and dicts nobody else writes to; what is none of these stays itself."""
    if isinstance(item, np.ndarray):
        return item.copy()
    if type(item) is list:
        return [own(each) for each in item]
    if type(item) is dict:
        return {key: own(value) for key, value in item.items()}
    if isinstance(item, tuple):
        values = [own(each) for each in item]
        return item._make(values) if hasattr(item, "_make") else tuple(values)
    return item
