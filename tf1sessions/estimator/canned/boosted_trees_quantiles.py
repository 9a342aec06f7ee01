"""The buckets of numeric columns: approximate quantiles of the values that the first batches have.

They are 1.15.5's, so that the trees are: a batch is summed up in blocks, blocks are merged by twos and thinned out, and
so are the batches. See "A fast algorithm for approximate quantiles in high speed data streams" (Zhang and Wang, 2007)
for the scheme, and "XGBoost" (arXiv:1603.02754, appendix A) for weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["boundaries"]

_MAX_EXAMPLES = 2**40  # 1.15.5's limit for all batches


class _Summary(NamedTuple):
    """Some of the values of a stream in order, and what is known of their ranks.

    Attributes:
        values: [n] float32, ascending.
        weights: [n] float32.
        lowest: [n] float32, the least that the values before weigh together.
        highest: [n] float32, the most that the values up to this one weigh together.
    """

    values: Any
    weights: Any
    lowest: Any
    highest: Any

    @property
    def size(self) -> int:
        return len(self.values)

    def known_after(self) -> Any:
        """Return what at least is up to each value."""
        return self.lowest + self.weights

    def known_before(self) -> Any:
        """Return what at most is before each value."""
        return self.highest - self.weights


_EMPTY = _Summary(*[np.zeros(0, np.float32)] * 4)


def boundaries(batches: Sequence[tuple[Any, Any]], epsilon: float) -> Any:
    """The upper ends of the buckets, ascending; at most ``1 / epsilon + 1``.

    Args:
        batches: The values [B] float32 and the weights [B] or [1] float32 of each batch.
        epsilon: The error of a rank, as a part of all.
    """
    epsilon, number = float(np.float32(epsilon)), int(1.0 / epsilon)
    stream = _Stream(epsilon, _MAX_EXAMPLES)
    for values, weights in batches:
        stream.add(_of_batch(values, np.broadcast_to(weights, values.shape), epsilon))
    found = stream.summary()
    if not found.size:
        return found.values
    return _thinned(found, number, _error(found) + 1.0 / number).values


def _of_batch(values: Any, weights: Any, epsilon: float) -> _Summary:
    values, weights = values[weights > 0], weights[weights > 0]
    stream = _Stream(epsilon, len(values) + 1)
    for start in range(0, len(values), stream.buffer):
        part = slice(start, start + stream.buffer)
        stream.add(_exact(values[part], weights[part]))
    return stream.summary()


class _Stream:
    """Summaries by twos: a level has none, or one of about twice as many values as the level below.

    Args:
        epsilon: The error of a rank, as a part of all.
        max_examples: How many values there are at most.
    """

    def __init__(self, epsilon: float, max_examples: int) -> None:
        depth, self._block = 1, 2
        while 2**depth * self._block < max_examples:
            self._block = math.ceil(depth / epsilon) + 1
            depth += 1
        self._epsilon = epsilon
        self._levels: list[_Summary] = []
        self.buffer = min(2 * self._block, max_examples)

    def add(self, part: _Summary) -> None:
        part = _thinned(part, self._block, self._epsilon)
        for level, there in enumerate([*self._levels, _EMPTY]):
            if level == len(self._levels):
                self._levels.append(there)
            merged = _merged(part, there)
            if not there.size or merged.size <= self._block + 1:
                self._levels[level] = merged
                return
            self._levels[level] = _EMPTY
            part = _thinned(merged, self._block, self._epsilon)

    def summary(self) -> _Summary:
        found = _EMPTY
        for level in self._levels:
            found = _merged(found, level)
        return found


def _exact(values: Any, weights: Any) -> _Summary:
    unique, place = np.unique(values, return_inverse=True)
    summed = np.zeros(len(unique), np.float32)
    np.add.at(summed, place, weights)
    highest = np.cumsum(summed, dtype=np.float32)
    return _Summary(unique, summed, np.concatenate([np.zeros(1, np.float32), highest[:-1]]), highest)


def _merged(one: _Summary, other: _Summary) -> _Summary:
    if not (one.size and other.size):
        return one if one.size else other
    values = np.union1d(one.values, other.values)

    def seen_from(values: Any, summary: _Summary) -> tuple[Any, Any, Any]:
        place = np.searchsorted(summary.values, values)
        at = np.minimum(place, summary.size - 1)
        has = summary.values[at] == values
        before = np.where(place > 0, summary.known_after()[np.maximum(place - 1, 0)], np.float32(0))
        after = np.where(place < summary.size, summary.known_before()[at], summary.highest[-1])
        return (
            np.where(has, summary.weights[at], np.float32(0)),
            np.where(has, summary.lowest[at], before),
            np.where(has, summary.highest[at], after),
        )

    return _Summary(values, *(a + b for a, b in zip(seen_from(values, one), seen_from(values, other), strict=True)))


def _thinned(summary: _Summary, number: int, epsilon: float) -> _Summary:
    """About ``number`` of the values, the first and the last among them; gaps in the ranks stay small."""
    number = max(number, 2)
    if summary.size <= number:
        return summary
    largest_gap = float(summary.highest[-1]) * max(1.0 / number, epsilon)
    before, after = summary.known_before(), summary.known_after()
    kept, here, debt = [0], 0, 0
    while here + 1 < summary.size:
        ahead = here + 1
        while ahead < summary.size and debt < summary.size and before[ahead] - after[here] <= largest_gap:
            debt += number
            ahead += 1
        here = max(here + 1, ahead - 1)
        kept.append(here)
        debt -= summary.size
    if kept[-1] != summary.size - 1:
        kept.append(summary.size - 1)
    return _Summary(*(part[kept] for part in summary))


def _error(summary: _Summary) -> float:
    """The largest error of a rank, as a part of all."""
    own = (summary.highest - summary.lowest - summary.weights)[1:]
    between = summary.known_before()[1:] - summary.known_after()[:-1]
    gap = max([0.0, *own.tolist(), *between.tolist()])
    return float(np.float32(gap) / summary.highest[-1])
