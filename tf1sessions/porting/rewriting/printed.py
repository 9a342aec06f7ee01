"""Comparison of a program's output before and after a step: the same words, and numbers equal within a tolerance."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = [
    "FIRST_CHANGES",
    "RELATIVE",
    "PrintedComparison",
    "compared",
    "equal_changes",
    "grown_rounding",
    "rounding_says",
]

#: By how much of itself a number may differ: training amplifies how the last digit of a sum is rounded.
RELATIVE = 2e-3
_SMALL = 1e-2  # below it, numbers may differ by as much as this one may
#: How much further than by a change of its last digits a training may end elsewhere, and by how much of all that it has
#: changed. Of a convolutional network with Adam, 24 steps: 0.2 to 2.7 times as far, and 0.03 to 0.6 % of the change.
#: With dropout, 16 steps: 0.2 to 0.6 times, and up to 1.3 %, which is not kept. With another epsilon, 1e-7 in place of
#: 1e-8: 2.8 to 8.6 times, and 4 to 11 %.
_TIMES_AS_FAR, _OF_THE_CHANGE = 4.0, 0.01
#: How many of the first changes of variables have to be equal for those that they changed to end as far away as a
#: change of the last digits takes them, however far that is; and what they may differ by, of all that has changed until
#: then. Networks with Adam: nothing after the first two, 1e-5 after the third. With an epsilon of 1.1e-8, or beta_2 of
#: 0.9991, some variable differs by 7e-4 to 2e-2 after the first.
FIRST_CHANGES, _OF_FIRST_CHANGES = 3, 1e-4
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])|\b(?:nan|inf)\b")


@dataclasses.dataclass(frozen=True)
class PrintedComparison:
    """Two outputs of a program, and the last values of its variables.

    Attributes:
        lines, numbers, variables: How many were compared.
        difference: The first difference in a sentence; empty if there is none.
        differing: The variables that end with other values, where the lines are equal.
        set_aside: How many lines name variables, whose names and order differ, and were not compared.
    """

    lines: int
    numbers: int
    variables: int
    difference: str = ""
    differing: tuple[str, ...] = ()
    set_aside: int = 0


def compared(
    before: str,
    after: str,
    left: Mapping[str, Any] | None = None,
    right: Mapping[str, Any] | None = None,
    names: Iterable[str] = (),
) -> PrintedComparison:
    """Compare two outputs, and the variables that both have.

    Args:
        before, after: The texts.
        left, right: Last values of variables by their names.
        names: Names of variables. Lines that have one in them are set aside, if all are equal without them.

    Example:
        >>> compared("loss 0.50001\\n", "loss 0.5\\n").difference
        ''
        >>> compared("loss 0.6\\n", "loss 0.5\\n").difference
        "line 1: 'loss 0.6' before, 'loss 0.5' after"
    """
    found = _compared(before, after, left or {}, right or {})
    if not found.difference or not (names := [each for each in names if "/" in each or ":" in each]):
        return found
    named = re.compile("|".join(rf"(?<![\w/]){re.escape(each)}(?![\w/])" for each in names))
    lines, others = ([each for each in text.splitlines() if not named.search(each)] for text in (before, after))
    count = len(before.splitlines()) - len(lines)
    rest = _compared("\n".join(lines), "\n".join(others), left or {}, right or {})
    return found if rest.difference else dataclasses.replace(rest, set_aside=count)


def _compared(before: str, after: str, left: Mapping[str, Any], right: Mapping[str, Any]) -> PrintedComparison:
    one, other = before.splitlines(), after.splitlines()
    numbers = 0
    for number, (a, b) in enumerate(zip(one, other, strict=False), 1):
        found = _NUMBER.findall(a), _NUMBER.findall(b)
        numbers += len(found[0])
        same_words = _words(a) == _words(b) and len(found[0]) == len(found[1])
        if not same_words or not _are_close([float(each) for each in found[0]], [float(each) for each in found[1]]):
            return PrintedComparison(number, numbers, 0, f"line {number}: {a!r} before, {b!r} after")
    if len(one) != len(other):
        return PrintedComparison(0, numbers, 0, f"it printed {len(one):,} lines before, and {len(other):,} after")
    names = [name for name in left if name in right]
    differing = tuple(name for name in names if not _are_close(left[name], right[name]))
    what = _other_values(differing[0], left[differing[0]], right[differing[0]]) if differing else ""
    return PrintedComparison(len(one), numbers, len(names), what, differing)


def grown_rounding(
    names: Iterable[str],
    initial: Mapping[str, Any],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    nudged: Mapping[str, Any],
    proven: Collection[str] = (),
) -> set[str]:
    """Return the variables that end with other values by no more than rounding that a training has made large.

    Args:
        names: The variables that are looked at.
        initial: Their initial values, by name.
        before, after: Their last ones in the programs that are compared.
        nudged: Those of the first program again, from initial values that were changed in their last digits.
        proven: Those that were changed in the same way at first, from :func:`equal_changes`.

    Example:
        >>> w = {"initial": {"w": [1.0]}, "before": {"w": [2.0]}, "nudged": {"w": [2.001]}}
        >>> grown_rounding(["w"], after={"w": [1.998]}, **w), grown_rounding(["w"], after={"w": [1.99]}, **w)
        ({'w'}, set())
    """
    grown = set[str]()
    for name in names:
        if name not in initial or name not in nudged or np.shape(before[name]) != np.shape(after[name]):
            continue
        far, rounding = _distance(before[name], after[name]), _distance(before[name], nudged[name])
        is_small = far <= _OF_THE_CHANGE * _distance(before[name], initial[name])
        if (is_small and far <= _TIMES_AS_FAR * rounding) or (name in proven and far <= rounding):
            grown.add(name)
    return grown


def equal_changes(
    initial: Mapping[str, Any], before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> tuple[int, set[str]]:
    """Return how many of the first changes of variables are equal, and what is changed by these where they are enough.

    Args:
        initial: The initial values, by name.
        before, after: The values after each of the first changes, in the programs that are compared. What changes a
            variable that only one of them has does not count.

    Returns:
        A number up to :data:`FIRST_CHANGES`, and if it is that, the variables that differ from their initial values.

    Example:
        >>> equal_changes({"w": [1.0]}, [{"w": [2.0]}, {"w": [3.0]}], [{"w": [2.0]}, {"w": [3.1]}])
        (1, set())
    """
    both = set.intersection(*(set[str]().union(*states) for states in (before, after)))
    known = {name: initial[name] for name in both & set(initial) if np.asarray(initial[name]).dtype.kind in "fiu"}
    equal = 0
    pairs = zip(_distinct(known, before), _distinct(known, after), strict=False)
    for one, other in itertools.islice(pairs, FIRST_CHANGES):
        if not all(
            np.shape(one[name]) == np.shape(other[name])
            and _distance(one[name], other[name]) <= _OF_FIRST_CHANGES * _distance(one[name], value)
            for name, value in known.items()
        ):
            return equal, set()
        equal += 1
    is_enough = equal == FIRST_CHANGES
    return equal, {name for name, value in known.items() if is_enough and not np.array_equal(one[name], value)}


def _distinct(initial: Mapping[str, Any], states: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The values of the initial ones' names in each of the states that differs in them from the one before it."""
    known = [{name: state.get(name, value) for name, value in initial.items()} for state in (initial, *states)]
    pairs = itertools.pairwise(known)
    return [now for last, now in pairs if any(not np.array_equal(last[name], now[name]) for name in initial)]


def rounding_says(
    name: str, before: Mapping[str, Any], after: Mapping[str, Any], nudged: Mapping[str, Any], equal: int
) -> str:
    """Return a sentence on how far rounding takes a variable, for a reader to judge a difference by.

    Args:
        name: The variable.
        before, after, nudged: As for :func:`grown_rounding`.
        equal: How many of the first changes are equal, from :func:`equal_changes`.

    Example:
        >>> print(rounding_says("w", {"w": [2.0]}, {"w": [1.99]}, {"w": [2.04]}, 1))
        a change of the initial values in their last digits takes it 4.0 times as far, \
and all variables are equal after 1 of the first 3 changes
    """
    if name not in nudged or np.shape(before[name]) != np.shape(after[name]):
        return ""
    times = _distance(before[name], nudged[name]) / _distance(before[name], after[name])
    first = f"all variables are equal after {equal} of the first {FIRST_CHANGES} changes"
    return f"a change of the initial values in their last digits takes it {times:.1f} times as far, and {first}"


def _distance(one: Any, other: Any) -> float:
    return float(np.linalg.norm(np.subtract(one, other, dtype=np.float64)))


def _words(line: str) -> str:
    return re.sub(r"\s+", "", _NUMBER.sub("#", line))


def _other_values(name: str, one: Any, other: Any) -> str:
    a, b = np.asarray(one), np.asarray(other)
    text = f"the variable {name} ends with other values"
    if a.shape != b.shape or a.dtype.kind not in "fiu":
        return text
    far = ~np.isclose(a, b, rtol=RELATIVE, atol=RELATIVE * _SMALL, equal_nan=True)
    most = np.max(np.abs(np.subtract(a, b, dtype=np.float64))[far])
    size = f"{np.count_nonzero(far):,} of {a.size:,} differ, by up to {most:.2g}"
    return f"{text}: {size} (after many steps rounding may do that: give it fewer)"


def _are_close(one: Any, other: Any) -> bool:
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape or a.dtype.kind not in "fiu" or b.dtype.kind not in "fiu":
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a, b, rtol=RELATIVE, atol=RELATIVE * _SMALL, equal_nan=True))
