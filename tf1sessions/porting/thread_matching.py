"""The pairs of calls where several threads make calls of a kind, so that their order is chance.

First those belong together that have the same feeds and fetches to the bit; of the rest those with the same feeds, then
those whose fetches are nearest; what is left belongs together as it came.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from tf1sessions.porting.traces import CallKind, Trace, summary_of

__all__ = ["matched"]

#: Of how many calls on a side the nearest are looked for: distances of all pairs are kept. Arbitrary.
_MOST = 1000


@dataclasses.dataclass
class _Contents:
    """The feeds and the fetched values of a call.

    Attributes:
        feeds, fetches: Digests of the values, each with its place among the names of the kind.
        numbers: Up to 64 elements of each fetch that has numbers.
    """

    feeds: list[bytes] = dataclasses.field(default_factory=list)
    fetches: list[bytes] = dataclasses.field(default_factory=list)
    numbers: list[Any] = dataclasses.field(default_factory=list)


def matched(
    sides: tuple[Trace, Trace],
    session: int,
    kinds: tuple[CallKind, CallKind],
    calls: tuple[Sequence[int], Sequence[int]],
) -> dict[int, int]:
    """Return call on the left → call on the right; what is not in it one side alone makes."""
    ours, theirs = (
        _contents(trace, session, kind, set(numbers)) for trace, kind, numbers in zip(sides, kinds, calls, strict=True)
    )
    found: dict[int, int] = {}

    def left() -> list[int]:
        return [call for call in calls[0] if call not in found]

    def right() -> list[int]:
        taken = set(found.values())
        return [call for call in calls[1] if call not in taken]

    for mine, others in _groups(left(), right(), ours, theirs, lambda each: (*each.feeds, *each.fetches)):
        found.update(zip(mine, others, strict=False))
    for mine, others in _groups(left(), right(), ours, theirs, lambda each: tuple(each.feeds)):
        near = _nearest(mine, others, ours, theirs)
        mine, others = (
            [call for call in mine if call not in near],
            [call for call in others if call not in near.values()],
        )
        found.update(near)
        found.update(zip(mine, others, strict=False))
    found.update(_nearest(left(), right(), ours, theirs))
    found.update(zip(left(), right(), strict=False))
    return found


def _groups(
    mine: Sequence[int],
    others: Sequence[int],
    ours: dict[int, _Contents],
    theirs: dict[int, _Contents],
    key_of: Callable[[_Contents], Hashable],
) -> Iterable[tuple[list[int], list[int]]]:
    """The calls of both sides that have the same key, which is not empty, in the order in which they came."""
    found: dict[Any, tuple[list[int], list[int]]] = {}
    for place, (calls, contents) in enumerate(((mine, ours), (others, theirs))):
        for call in calls:
            if call in contents and (key := key_of(contents[call])):
                found.setdefault(key, ([], []))[place].append(call)
    return [group for group in found.values() if all(group)]


def _nearest(
    mine: Sequence[int], others: Sequence[int], ours: dict[int, _Contents], theirs: dict[int, _Contents]
) -> dict[int, int]:
    """Call on the left → call on the right whose fetches are nearest, the nearest pairs first."""
    found: dict[int, int] = {}
    vectors = {call: np.concatenate(ours[call].numbers) for call in mine if call in ours and ours[call].numbers}
    points = {call: np.concatenate(theirs[call].numbers) for call in others if call in theirs and theirs[call].numbers}
    for size in sorted({len(vector) for vector in vectors.values()}):
        rows = [call for call, vector in vectors.items() if len(vector) == size]
        columns = [call for call, vector in points.items() if len(vector) == size]
        if not columns or max(len(rows), len(columns)) > _MOST:
            continue
        right = np.stack([points[call] for call in columns])
        distances = np.stack([np.abs(right - vectors[call]).sum(axis=1) for call in rows])
        distances = np.where(np.isfinite(distances), distances, np.inf)
        for place in np.argsort(distances, axis=None, kind="stable").tolist():
            row, column = divmod(place, len(columns))
            if rows[row] not in found and columns[column] in points:
                found[rows[row]] = columns[column]
                del points[columns[column]]
    return found


def _contents(trace: Trace, session: int, kind: CallKind, calls: Collection[int]) -> dict[int, _Contents]:
    """Call → its values."""
    found: dict[int, _Contents] = {}
    names = [("fetch", name) for name in kind.fetches] + [("feed", name) for name in kind.feeds]
    for place, (role, name) in enumerate(names):
        for series in trace.find(role, session, name):
            for row, call in enumerate(trace.columns(series)["calls"].tolist()):
                if call not in calls:
                    continue
                summary = summary_of(trace.value(series, row))
                contents = found.setdefault(call, _Contents())
                digests = contents.fetches if role == "fetch" else contents.feeds
                digests.append(b"%d:" % place + bytes.fromhex(summary.digest))
                if role == "fetch" and summary.sample is not None and summary.sample.dtype.kind in "fiub":
                    contents.numbers.append(np.asarray(summary.sample, np.float64).reshape(-1))
    return found
