"""The pairs of sessions of two sides where several threads make alike ones, so that their order is chance.

Sessions are alike that run the same fetches, targets and feeds. Those belong together whose seeds, initial values and
first values are nearest.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.porting.traces import Trace, summary_of

__all__ = ["as_one_session", "with_sessions_of"]

#: The tensor by which a Saver is given the name of a file.
_FILE_OF_SAVER = re.compile(r"(^|/)save(_\d+)?/Const:0$")


def with_sessions_of(left: Trace, right: Trace) -> Trace:
    """Return ``right``, its sessions with the numbers that those of ``left`` have to which they belong."""
    ours, theirs = _alike(left), _alike(right)
    pairs: dict[int, int] = {}
    for key in ours.keys() & theirs.keys():
        several = len(ours[key]) > 1 or len(theirs[key]) > 1
        if several and max(_threads(left, ours[key]), _threads(right, theirs[key])) > 1:
            pairs.update(_nearest(left, ours[key], right, theirs[key]))
    if all(number == new for number, new in pairs.items()):
        return right
    free = max([*left.sessions, *right.sessions]) + 1
    for number in right.sessions:
        if number not in pairs:
            new = number if number not in pairs.values() else free
            free += new == free
            pairs[number] = new
    return _numbered(right, pairs)


def as_one_session(trace: Trace) -> Trace:
    """Return a trace as a LegacyGraph makes it of the same program, whose sessions have one set of variables.

    They always have values, so that no session asks which have none, and a LegacySaver makes no request.
    """
    first: dict[int, int] = {}
    numbers = {number: first.setdefault(entry["graph"], number) for number, entry in trace.sessions.items()}
    saves = {number for number, kind in enumerate(trace.kinds) if any(map(_FILE_OF_SAVER.search, kind.feeds))}
    dropped = sorted(saves | _questions_for_missing_values(trace))
    if all(number == new for number, new in numbers.items()) and not dropped:
        return trace
    found = _numbered(trace, numbers)
    begins, ends = set(first.values()), {numbers[number]: number for number in sorted(numbers)}
    kept = {
        index
        for index, each in enumerate(trace.series)
        if (each.role != "initial" or each.session in begins)
        and (each.role != "last" or ends[numbers[each.session]] == each.session)
    }
    found.series = tuple(each for index, each in enumerate(found.series) if index in kept)
    found.table = found.table[~np.isin(found.table[:, 3], dropped)]
    return found


def _questions_for_missing_values(trace: Trace) -> set[int]:
    """Return the kinds of calls that fetch names alone, and never got one: report_uninitialized_variables() of a
    session that has been initialised.
    """
    names: dict[tuple[int, str], bool] = {}  # (graph, fetch) -> whether all of its values are texts, and empty
    for series in trace.find("fetch"):
        key = int(trace.sessions[series.session]["graph"]), series.name
        names[key] = names.get(key, True) and series.dtype == "string" and 0 in series.shape
    return {
        number
        for number, kind in enumerate(trace.kinds)
        if kind.fetches and not kind.targets and all(names.get((kind.graph, name), False) for name in kind.fetches)
    }


def _numbered(trace: Trace, numbers: Mapping[int, int]) -> Trace:
    """A view of a trace that gives its sessions other numbers."""
    found = copy.copy(trace)
    found.sessions = {numbers[number]: entry for number, entry in trace.sessions.items()}
    found.series = tuple(
        dataclasses.replace(each, session=numbers.get(each.session, each.session)) for each in trace.series
    )
    found.table = trace.table.copy()
    found.table[:, 1] = [numbers[number] for number in trace.table[:, 1].tolist()]
    found._rows = None  # it has the series as they were
    return found


def _alike(trace: Trace) -> dict[Any, list[int]]:
    """Sessions that run the same, by what they run."""
    ran: dict[int, set[Any]] = {}
    for session, number in trace.table[:, [1, 3]].tolist():
        if number >= 0:
            kind = trace.kinds[number]
            ran.setdefault(session, set()).add((kind.fetches, kind.targets, kind.feeds))
    found: dict[Any, list[int]] = {}
    for session in sorted(ran):
        found.setdefault(frozenset(ran[session]), []).append(session)
    return found


def _threads(trace: Trace, sessions: Sequence[int]) -> int:
    return len(set(trace.table[np.isin(trace.table[:, 1], sessions)][:, 2].tolist()))


def _nearest(left: Trace, ours: Sequence[int], right: Trace, theirs: Sequence[int]) -> dict[int, int]:
    """Session on the right → session on the left, the nearest pairs first, then as they were made."""
    contents = [
        {session: _contents(trace, session) for session in each} for trace, each in ((left, ours), (right, theirs))
    ]
    distances = sorted(
        (_distance(contents[0][mine], contents[1][other]), abs(place - at), place, at)
        for place, mine in enumerate(ours)
        for at, other in enumerate(theirs)
    )
    found: dict[int, int] = {}
    for _, _, place, at in distances:
        if theirs[at] not in found and ours[place] not in found.values():
            found[theirs[at]] = ours[place]
    return found


def _contents(trace: Trace, session: int) -> dict[Any, Any]:
    """Seeds, and the first value of each tensor: elements of numbers, a digest of others."""
    found: dict[Any, Any] = {
        "seeds": repr(sorted(trace.graphs[int(trace.sessions[session]["graph"])].get("seeds", {}).items()))
    }
    for role in ("initial", "feed", "fetch"):
        for series in trace.find(role, session):
            if series.rows and (role, series.name) not in found:
                summary = summary_of(trace.value(series, 0))
                numbers = summary.sample is not None and summary.sample.dtype.kind in "fiub"
                found[role, series.name] = (
                    np.asarray(summary.sample, np.float64).reshape(-1) if numbers else summary.digest
                )
    return found


def _distance(ours: Mapping[Any, Any], theirs: Mapping[Any, Any]) -> float:
    """Return the distance of two sessions: from 0 to 1 for each thing that both have, 1 for what one has alone."""
    total = float(len(ours.keys() ^ theirs.keys()))
    for key in ours.keys() & theirs.keys():
        mine, other = ours[key], theirs[key]
        if isinstance(mine, str) or isinstance(other, str) or mine.shape != other.shape:
            total += not (isinstance(mine, str) and isinstance(other, str) and mine == other)
        elif mine.size and not np.array_equal(mine, other, equal_nan=True):
            scale = float(np.abs(mine).max() + np.abs(other).max())
            share = float(np.abs(mine - other).max()) / scale if np.isfinite(scale) and scale > 0 else 1.0
            total += min(1.0, share) if np.isfinite(share) else 1.0
    return round(total, 4)
