"""The race detector as programs and tests use it: ``graph_races()``, and what the fixture of that name gives."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator

from tf1sessions.errors import UsageError
from tf1sessions.testing.deadlocks import listening
from tf1sessions.testing.hangs import free
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.reports import RaceKind, Report
from tf1sessions.testing.stalls import looking
from tf1sessions.testing.suppressions import Suppressions, read_suppressions
from tf1sessions.testing.synchronisation import watch
from tf1sessions.testing.tensorflow_hooks import watch_graphs
from tf1sessions.testing.vector_clocks import VectorClocks

__all__ = ["ExpectedRaces", "GraphRaces", "graph_races"]


class GraphRaces:
    """Result of :func:`graph_races`.

    Attributes:
        reports: A :class:`~tf1sessions.testing.reports.Report` for each pair, in the order in which they were found.
    """

    def __init__(self, detector: RaceDetector) -> None:
        self._detector = detector

    @property
    def reports(self) -> list[Report]:
        return self._detector.reports

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.reports)) or "no races"


@contextlib.contextmanager
def graph_races(
    *, ignore: Iterable[RaceKind] = (), suppressions: str | os.PathLike[str] | Suppressions | None = None
) -> Iterator[GraphRaces]:
    """Find accesses to graphs and sessions that nothing orders, in all threads, while this lasts.

    Args:
        ignore: Kinds that are not reported.
        suppressions: What else is not: a file, as :func:`~tf1sessions.testing.suppressions.read_suppressions` reads it.

    Raises:
        UsageError: The file cannot be read, or an entry is wrong.

    Example:
        >>> import threading
        >>> import tf1sessions as t1
        >>> graph = t1.tf1.Graph()
        >>> def build():
        ...     with graph.as_default():
        ...         t1.tf1.constant(1.0)
        >>> with graph_races() as races:
        ...     threads = [threading.Thread(target=build) for _ in range(2)]
        ...     for thread in threads:
        ...         thread.start()
        ...     for thread in threads:
        ...         thread.join()
        >>> [report.kind.value for report in races.reports]
        ['concurrent construction']
    """
    if suppressions is not None and not isinstance(suppressions, Suppressions):
        suppressions = Suppressions(read_suppressions(suppressions))
    detector = RaceDetector(VectorClocks(), ignore, suppressions=suppressions)
    with watch(detector.clocks), watch_graphs(detector), listening(detector.report_deadlock), looking(free):
        try:
            yield GraphRaces(detector)
        finally:
            detector.is_over = True


class ExpectedRaces:
    """The fixture ``graph_races``: as :func:`graph_races`, and it fails the test.

    A test fails when it ends with a report that it has neither read through :attr:`reports` nor allowed. Reports of a
    kind that may be intended (:attr:`RaceKind.is_warning`) are warnings instead.

    Thread-safety: all of it may be used from any thread.
    """

    def __init__(self, races: GraphRaces) -> None:
        self._races = races
        self._read = 0
        self._allowed: frozenset[RaceKind] = frozenset()

    @property
    def reports(self) -> list[Report]:
        """The reports until now. They do not fail the test any more: it has read them."""
        found = self._races.reports
        self._read = len(found)
        return found

    def allow(self, *kinds: RaceKind | str) -> None:
        """Let reports of these kinds not fail the test.

        Args:
            kinds: Members of :class:`RaceKind`, or their values, such as ``"graph growth in a loop"``.

        Raises:
            UsageError: There is no such kind.
        """
        try:
            self._allowed |= {RaceKind(kind) for kind in kinds}
        except ValueError as error:
            raise UsageError(
                str(error),
                where="graph_races.allow()",
                next_step=f"Give some of {', '.join(repr(kind.value) for kind in RaceKind)}.",
            ) from error

    def left(self) -> list[Report]:
        """Return the reports that the test has neither read nor allowed."""
        return [report for report in self._races.reports[self._read :] if report.kind not in self._allowed]

    def __str__(self) -> str:
        return str(self._races)
