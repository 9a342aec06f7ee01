"""Durations of jobs of one kind, as far as a pool has seen: short ones share a message."""

from __future__ import annotations

from typing import Any

__all__ = ["SHORT_SECS", "JobDurations", "job_kind"]

SHORT_SECS = 0.001
"""Jobs share a message while they take less than this in sum, so that it costs none of them much. Arbitrary, but well
above what a message costs, and below what anybody notices."""

_MOST_AHEAD = 64  # jobs of a map, whose items may take memory; arbitrary
_MOST_KINDS = 1000  # arbitrary
_WEIGHT = 1 / 8  # of a new duration that is shorter than what is known; arbitrary


def job_kind(function: Any) -> tuple[str, str]:
    """The name of a function: jobs of one name take about the same time."""
    function = getattr(function, "func", function)  # of functools.partial
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return getattr(function, "__module__", None) or "", name


class JobDurations:
    """Expected seconds by kind. It is safe to call its methods simultaneously from multiple threads."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, str], float] = {}  # single operations only

    def expected(self, kind: tuple[str, str]) -> float:
        """Seconds that such a job takes; what is not known is taken for too long to share a message."""
        return self._seconds.get(kind, SHORT_SECS)

    def count_ahead(self, kind: tuple[str, str]) -> int:
        """Return how many of such jobs a map shall have ready for a message."""
        return max(1, min(_MOST_AHEAD, int(SHORT_SECS / max(self.expected(kind), 1e-9))))

    def learn(self, kind: tuple[str, str], secs: float) -> None:
        """Take in how long a job took. One that a busy machine has kept waiting must not hide that all are short."""
        known = self._seconds.get(kind)
        if known is None:
            if len(self._seconds) >= _MOST_KINDS:
                self._seconds.clear()
            known = secs
        self._seconds[kind] = min(secs, 2 * known) if secs > known else known + (secs - known) * _WEIGHT
