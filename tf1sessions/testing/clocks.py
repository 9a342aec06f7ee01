"""The counts of threads that are past for one of them: immutable, and cheap to extend by a few.

A program with thousands of threads has as many clocks that differ in a few counts. So a clock is a dictionary that it
shares with others, and a small one of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

__all__ = ["Clock"]

#: How many counts of its own a clock has at least before it gets a dictionary of its own. Arbitrary.
_FEW = 16
#: How many other clocks' shared counts a clock knows to be past. Arbitrary.
_COVERED = 8


class Clock(Mapping[int, int]):
    """For the number of each thread the count of its latest access that is past.

    Thread-safety: never changed.
    """

    __slots__ = ("_covered", "_own", "_shared")

    def __init__(
        self,
        counts: Mapping[int, int] | None = None,
        own: Mapping[int, int] | None = None,
        covered: tuple[Mapping[int, int], ...] = (),
    ) -> None:
        self._shared: Mapping[int, int] = {} if counts is None else counts
        self._own: Mapping[int, int] = {} if own is None else own
        self._covered = covered  # other clocks' shared counts that are past for this one, too; those met last first

    def get(self, number: int, default: int = 0) -> int:  # type: ignore[override]
        """Return the count of a thread."""
        found = self._own.get(number)
        return self._shared.get(number, default) if found is None else found

    def __getitem__(self, number: int) -> int:
        found = self._own.get(number)
        return self._shared[number] if found is None else found

    def __iter__(self) -> Iterator[int]:
        yield from self._shared
        for number in self._own:
            if number not in self._shared:
                yield number

    def __len__(self) -> int:
        return len(self._shared) + sum(number not in self._shared for number in self._own)

    def size(self) -> int:
        """Return about how many threads it has, at once."""
        return len(self._shared) + len(self._own)

    def extended(self, newer: Mapping[int, int], covers: Mapping[int, int] | None = None) -> Clock:
        """Return a clock with later counts for some threads.

        Args:
            newer: The counts.
            covers: Another clock's shared counts, if all of them are past then.
        """
        if not newer:
            return self
        covered = self._covered
        if covers is not None and covers is not self._shared:
            covered = (covers, *(each for each in covered if each is not covers))[:_COVERED]
        own = {**self._own, **newer}
        if len(own) <= _FEW or len(own) <= math.isqrt(len(self._shared)):
            return Clock(self._shared, own, covered)
        return Clock({**self._shared, **own}, None, (*covered[:1], self._shared, *covered[1:])[:_COVERED])

    def joined(self, other: Clock) -> Clock:
        """Return a clock with the later counts of both; one of the two where that has them all."""
        if self is other:
            return self
        shared = other._shared
        if shared is self._shared or any(shared is each for each in self._covered):
            newer = _newer(other._own, self)
            if newer and shared is self._shared and len(newer) == len(other._own) and not _newer(self._own, other):
                return other
            return self.extended(newer, shared)
        if self.size() <= other.size() and not _newer(self, other):
            return other
        return self.extended(_newer(other, self), shared)

    def only(self, kept: Callable[[Mapping[int, int]], Mapping[int, int]]) -> Clock:
        """Return a clock without threads that do not matter any more; ``kept`` gives the counts that do."""
        return Clock(kept(self._shared), kept(self._own), (self._shared, *self._covered)[:_COVERED])


def _newer(counts: Mapping[int, int], than: Clock) -> dict[int, int]:
    get = than.get
    return {number: count for number, count in counts.items() if count > get(number, 0)}
