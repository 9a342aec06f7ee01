"""Reduces the arrays that all ranks gave for one exchange, or says why they do not fit together.

An exchange has a name and one or more parts, each with what is to be done: ``"sum"``, ``"min"``, ``"max"`` and
``"product"`` reduce, ``"gather"`` joins along the first dimension, ``"broadcast"`` takes the array of the root. Ranks
are taken in their order, so that results are the same in each run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["REDUCTIONS", "Contribution", "ExchangePart", "combine", "mismatch"]

#: By name: the function of two arrays.
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "product": np.multiply,
}


@dataclass(frozen=True)
class ExchangePart:
    """One part of an exchange.

    Args:
        kind: A name of :data:`REDUCTIONS`, ``"gather"`` or ``"broadcast"``.
        root: Of a broadcast, the rank whose array all get; otherwise -1.
    """

    kind: str
    root: int = -1


@dataclass(frozen=True)
class Contribution:
    """The arrays of one rank for an exchange.

    Args:
        parts: What is to be done with each array.
        arrays: One for each part. For a broadcast, that of the root is used; the others' only say what they expect.
    """

    parts: tuple[ExchangePart, ...]
    arrays: Sequence[NDArray[Any]]


def mismatch(given: Mapping[int, Contribution]) -> str | None:
    """Return why contributions do not fit together: one sentence with the ranks and their values; None if they do."""
    first = given[0]
    for rank, other in sorted(given.items()):
        if other.parts != first.parts:
            return f"rank 0 asks for {_asked(first)}, and rank {rank} for {_asked(other)}"
        for part, ours, theirs in zip(first.parts, first.arrays, other.arrays, strict=True):
            ignored = part.kind == "gather"
            if ours.dtype != theirs.dtype or ours.shape[ignored:] != theirs.shape[ignored:]:
                return (
                    f"for the {part.kind}, rank 0 has {ours.dtype} of shape {list(ours.shape)}, and rank {rank} "
                    f"{theirs.dtype} of shape {list(theirs.shape)}"
                )
    return None


def _asked(given: Contribution) -> str:
    kinds = [part.kind + (f" from rank {part.root}" if part.root >= 0 else "") for part in given.parts]
    return f"a {kinds[0]}" if len(kinds) == 1 else f"{len(kinds)} tensors ({', '.join(sorted(set(kinds)))})"


def combine(given: Mapping[int, Contribution]) -> list[NDArray[Any]]:
    """Return the array of each part for all ranks: new ones, which share no memory with those that were given."""
    return [
        _combined(part, [given[rank].arrays[number] for rank in sorted(given)])
        for number, part in enumerate(given[0].parts)
    ]


def _combined(part: ExchangePart, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    if part.kind == "broadcast":
        return np.array(arrays[part.root])
    if part.kind == "gather":
        return np.concatenate(arrays)
    reduce = REDUCTIONS[part.kind]
    result = np.array(arrays[0])
    for array in arrays[1:]:
        reduce(result, array, out=result)
    return result
