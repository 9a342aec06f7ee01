"""What the fixture ``graph_races`` gives: the reports of the race detector, and which of them a test has dealt with."""

from __future__ import annotations

from tf1sessions.errors import UsageError
from tf1sessions.testing.reports import Kind, Report
from tf1sessions.testing.watching import GraphRaces

__all__ = ["ExpectedRaces"]


class ExpectedRaces:
    """The fixture ``graph_races``: as :func:`~tf1sessions.testing.watching.graph_races`, and it fails the test.

    A test fails when it ends with a report that it has neither read through :attr:`reports` nor allowed. Reports of a
    kind that programs may mean so (:attr:`Kind.is_warning`) are warnings instead.

    Thread-safety: all of it may be used from any thread.
    """

    def __init__(self, races: GraphRaces) -> None:
        self._races = races
        self._read = 0
        self._allowed: frozenset[Kind] = frozenset()

    @property
    def reports(self) -> list[Report]:
        """The reports until now. They are the test's own matter from here on: they do not fail it."""
        found = self._races.reports
        self._read = len(found)
        return found

    def allow(self, *kinds: Kind | str) -> None:
        """Reports of these kinds do not fail the test.

        Args:
            kinds: Members of :class:`Kind`, or their values, such as ``"graph growth in a loop"``.

        Raises:
            UsageError: There is no such kind.
        """
        try:
            self._allowed |= {Kind(kind) for kind in kinds}
        except ValueError as error:
            raise UsageError(
                str(error),
                where="graph_races.allow()",
                next_step=f"Give some of {', '.join(repr(kind.value) for kind in Kind)}.",
            ) from error

    def left(self) -> list[Report]:
        """The reports that the test has neither read nor allowed."""
        return [report for report in self._races.reports[self._read :] if report.kind not in self._allowed]

    def __str__(self) -> str:
        return str(self._races)
