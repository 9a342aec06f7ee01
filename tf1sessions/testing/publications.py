"""The order of threads that a run implies: it could not have come before what it uses was made.

Data flow::

    graph_accesses.py: which thread made which operation, session, first value of a variable ──▶ Maker
    race_detector.py ── a change, and a later run that nothing orders ──▶ judge_publication() ──▶ Conflict or None

A program that publishes a model in a global name, or in a dictionary, orders the threads by the data alone: the one
that runs ``model.y`` can only do so after ``model.y`` was made. What was built before that is past for the run. What
the builder adds afterwards is not; but as long as no change comes after another thread's first run, that is said as a
note and not as a hazard: these are the ownership states of Eraser (Savage et al., 1997), exclusive and then shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tf1sessions.testing.access_records import AccessRecord, Conflict
from tf1sessions.testing.clocks import Clock
from tf1sessions.testing.reports import RaceKind
from tf1sessions.testing.vector_clocks import ThreadState, VectorClocks

__all__ = ["Maker", "Needs", "judge_export", "judge_publication", "maker_of"]


class Maker(NamedTuple):
    """The thread that made something, and when."""

    thread: int  # its number
    at: int  # its count then
    past: Clock  # what was past for it
    last: int  # the number of operations that the graph had


def maker_of(thread: ThreadState, last: int) -> Maker:
    """Return the calling thread as a maker; its next release publishes it."""
    thread.used = thread.count
    return Maker(thread.number, thread.count, thread.past.certain, last)


class Needs(NamedTuple):
    """The graph and the operations that a run uses."""

    makers: Callable[[], Iterable[Maker]]  # gives the threads that made it
    is_final: Callable[[], Any]  # says whether nothing can be added to the graph any more
    # The threads that gave variables of the session their first values, and by which run of it.
    first_values: Mapping[str, tuple[Maker, int]]
    # Gives the last run of one thread of which another one has used the values.
    known_run: Callable[[ThreadState, ThreadState], int]
    fetched: Sequence[Any] = ()  # what a run fetches


def judge_publication(change: AccessRecord, run: AccessRecord, clocks: VectorClocks) -> Conflict | None:
    """Judge a change of a graph and a later run of it by the calling thread, which nothing seems to order."""
    builder = change.thread
    hazard = Conflict(RaceKind.MUTATION)
    if run.needs is None:
        return hazard
    makers = list(run.needs.makers())
    if any(maker.past.get(builder.number, 0) >= change.count for maker in makers):
        return None
    own = [maker for maker in makers if maker.thread == builder.number]
    if not own:
        return hazard
    if change.last <= max(maker.last for maker in own):
        return None
    if clocks.is_before(builder, max(maker.at for maker in own)):
        return hazard  # the publication was seen, and the builder went on after it
    if change.imports or run.needs.is_final() or clocks.followed_lock(builder, change.count):
        return None
    return Conflict(RaceKind.PUBLICATION)


def judge_export(change: AccessRecord, export: AccessRecord, clocks: VectorClocks) -> Conflict | None:
    """Judge a change of a graph, and that the calling thread later writes or finalizes it.

    A graph that its maker has built, and of which the other has only heard by the data, is complete as far as can be
    seen: a change that comes afterwards is reported.
    """
    makers = list(export.needs.makers()) if export.needs is not None else []
    if any(maker.thread == change.thread.number and not clocks.is_before(change.thread, maker.at) for maker in makers):
        return None
    return Conflict(RaceKind.EXPORT)
