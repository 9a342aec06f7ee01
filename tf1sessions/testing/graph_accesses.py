"""Hazards of graphs and sessions: which accesses conflict, and when a graph grows.

Data flow::

    tensorflow_hooks.py ──▶ GraphState, SessionState: the locations of one graph, one session ──▶ AccessKind
    race_detector.py ── earlier and later action ──▶ structure_conflict, session_conflict ──▶ Conflict
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from tf1sessions.runtime import private, tf
from tf1sessions.sessions.calls import CompiledCall
from tf1sessions.sessions.session import GraphSession
from tf1sessions.testing.access_records import AccessKind, AccessRecord, Conflict, Location, Race
from tf1sessions.testing.graph_growth import GraphGrowth
from tf1sessions.testing.handed_objects import ExecutorJob, named_by
from tf1sessions.testing.publications import Maker, Needs, judge_export, judge_publication, maker_of
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.reports import RaceKind
from tf1sessions.testing.variable_uses import VariableUses, is_of_queue, may_wait, operations_of, uses_of
from tf1sessions.testing.vector_clocks import ThreadState, Token, VectorClocks

__all__ = ["GraphState", "RunRequest", "SessionState", "session_conflict", "structure_conflict"]

#: How many requests of a graph are remembered. Arbitrary: more than programs have.
_REMEMBERED = 1000

_RUN, _CHANGE, _REFUSED, _EXPORT, _CLOSE = "run", "change", "refused", "export", "close"


def structure_conflict(earlier: str, later: str) -> Conflict | None:
    """Compare two actions on a graph's structure: run it, change it, write or finalize it, change what is final."""
    if {earlier, later} == {_EXPORT, _REFUSED}:
        return Conflict(RaceKind.EXPORT)
    if _CHANGE not in (earlier, later) or _REFUSED in (earlier, later):
        return None
    if _EXPORT in (earlier, later):
        judge = judge_export if later == _EXPORT else None
        return Conflict(RaceKind.EXPORT, lock_orders=later == _EXPORT, any_lock=True, judge=judge)
    if later == _RUN:
        return Conflict(RaceKind.MUTATION, lock_orders=True, judge=judge_publication)
    return Conflict(RaceKind.CONSTRUCTION if earlier == later else RaceKind.MUTATION)


def session_conflict(earlier: VariableUses | str, later: VariableUses | str) -> Conflict | None:
    """Compare two actions on a session: to close it, or to run it with the variables that a run uses.

    A run is past for the closing thread if both have passed a lock in between: the last to close has counted the
    others.
    """
    if isinstance(earlier, str) or isinstance(later, str):
        if earlier == later:
            return None
        if later == _CLOSE:
            return Conflict(RaceKind.CLOSED, lock_orders=True, any_lock=True, judge=_judge_close)
        return Conflict(RaceKind.CLOSED)
    both = (
        (earlier.writes & (later.reads | later.writes | later.updates))
        | ((earlier.reads | earlier.updates) & later.writes)
        | _seen_half_updated(earlier, later)
        | _seen_half_updated(later, earlier)
    )
    if both:
        judge = functools.partial(_judge_values, RaceKind.VARIABLE, both) if earlier.writes else None
        return Conflict(RaceKind.VARIABLE, tuple(sorted(both)[:3]), (earlier.what, later.what), judge=judge)
    return _resource_conflict(earlier, later)


def python_conflict(earlier: tuple[str, ...], later: tuple[str, ...]) -> Conflict:
    """Compare two runs that call one Python function, which changes its own state."""
    return Conflict(RaceKind.PYTHON, later, ("runs it in a session", "runs it in a session"))


def _resource_conflict(earlier: VariableUses, later: VariableUses) -> Conflict | None:
    """Compare two runs that use queues, iterators and tables."""
    begun = (earlier.begins & (later.takes | later.begins)) | (earlier.takes & later.begins)
    if begun:
        what = tuple("initializes it" if begun & each.begins else "takes values from it" for each in (earlier, later))
        judge = functools.partial(_judge_values, RaceKind.RESTART, begun) if begun & earlier.begins else None
        return Conflict(RaceKind.RESTART, tuple(sorted(begun)[:3]), (what[0], what[1]), judge=judge)
    closed = (earlier.closes & later.fills) | (earlier.fills & later.closes)
    if closed:
        what = tuple("closes the queue" if closed & each.closes else "fills the queue" for each in (earlier, later))
        locked = later.closes & closed
        conflict = Conflict(
            RaceKind.QUEUE, tuple(sorted(closed)[:3]), (what[0], what[1]), lock_orders=bool(locked), any_lock=True
        )
        return conflict._replace(judge=functools.partial(_judge_queue, conflict))
    return None


def _judge_queue(
    conflict: Conflict, earlier: AccessRecord, later: AccessRecord, clocks: VectorClocks
) -> Conflict | None:
    """Judge a queue that is closed: what a QueueRunner does in its own threads, it has counted."""
    return None if earlier.code is None and later.code is None else conflict


def _seen_half_updated(reader: VariableUses, updater: VariableUses) -> frozenset[str]:
    """Return the variables that one run reads while another one updates several: one is new, another one old.

    Each update by itself is atomic. Training steps that lock their updates are meant to meet each other.
    """
    if len(updater.updates) < 2:
        return frozenset()
    return (reader.reads - reader.updates) & updater.updates


def _judge_close(run: AccessRecord, close: AccessRecord, clocks: VectorClocks) -> Conflict | None:
    """Judge a run and a later close by the calling thread, which nothing seems to order.

    It is past for a thread that has used the values that it gave.
    """
    known = close.needs is not None and close.needs.known_run(run.thread, close.thread) >= run.last
    return None if known else Conflict(RaceKind.CLOSED)


def _judge_values(
    kind: RaceKind, both: frozenset[str], write: AccessRecord, use: AccessRecord, clocks: VectorClocks
) -> Conflict | None:
    """Judge a run that gives values to something and a later use by the calling thread, which nothing seems to order.

    A use of objects that the same thread has made could not have come before it gave the first value.
    """
    first_values = use.needs.first_values if use.needs is not None else {}
    if use.needs is not None and all(maker.thread != write.thread.number for maker in use.needs.makers()):
        first_values = {}
    left = set(both)
    for name in both & first_values.keys():
        maker, run = first_values[name]
        if maker.thread == write.thread.number:
            is_published = clocks.is_before(write.thread, maker.at)
            if write.last <= run or not is_published:
                left.discard(name)
    if not left:
        return None
    known = session_conflict(write.key[1], use.key[1])  # type: ignore[arg-type]
    return Conflict(kind, tuple(sorted(left)[:3]), known.what if known is not None else ("", ""))


class RunRequest:
    """A request of a graph: what its runs use."""

    def __init__(self, state: GraphState, graph: Any, leaves: list[Any]) -> None:
        self.uses = uses_of(graph, leaves)  # the variables and queues
        self.leaves = leaves  # its fetches; kept, so that no identity of theirs is used again
        self.runs = 0  # how many times it was run; 2 stands for more
        self._state = state
        self._operations: list[int] | None = None
        self._waits_in: tuple[str, ...] | None = None

    def operations(self) -> list[int]:
        """Return the numbers of its operations."""
        if self._operations is None:
            graph = self._state.graph()
            self._operations = [] if graph is None else [each._id for each in operations_of(graph, self.leaves)]
        return self._operations

    def waits_in(self) -> tuple[str, ...]:
        """Return the names of its operations on queues; none where it may wait for something else."""
        if self._waits_in is None:
            graph = self._state.graph()
            found = [] if graph is None else list(operations_of(graph, self.leaves))
            kinds = [each for each in found if may_wait(each)]
            queues = all(is_of_queue(each) for each in kinds) and not _has_gpu()
            self._waits_in = tuple(f"{each.name!r} ({each.type})" for each in kinds) if queues else ()
        return self._waits_in

    def makers(self) -> list[Maker]:
        """Return the threads that made its operations, each with the last one that it made."""
        latest: dict[int, Maker] = {}  # by the maker's identity: many operations share one
        for number in sorted(self.operations()):
            maker = self._state.makers.get(number)
            if maker is not None:
                latest[id(maker)] = maker._replace(last=number)
        return list(latest.values())


@functools.cache
def _has_gpu() -> bool:
    """Say whether TensorFlow has a GPU, which computes while the process sleeps."""
    return bool(tf.config.list_physical_devices("GPU"))


class GraphState:
    """A graph: the locations of its structure, the requests of its runs, and how it grows.

    Attributes:
        graph: Gives it, or None when it is gone.
        run: The access to its structure that each run is.
        maker: The thread that made it, if that was seen.
        makers: The threads that made its operations, by their numbers; not those from before the watching.
        growth: How it grows.
        calls_python: Whether runs may call functions of Python.
        leak: The report that its thread lost another default graph, until that thread runs it.
    """

    def __init__(self, name: str, graph: Any, maker: Maker | None = None, made: str = "") -> None:
        self.location = Location(name, structure_conflict, made, self._is_named_by)
        self.location.maker = None if maker is None else maker.thread
        self.run = AccessKind(self.location, _RUN, "runs the graph")
        self.leak: tuple[int, Race] | None = None  # with the thread's number
        self.graph = weakref.ref(graph)
        self.maker = maker
        self.makers: dict[int, Maker] = {}
        self.growth = GraphGrowth(self.location, self._reused)
        self.look_for_python()
        self._changes: dict[str, AccessKind] = {}
        self._requests: dict[Any, RunRequest] = {}
        self._last_maker: Maker | None = None

    def look_for_python(self) -> None:
        """Note whether operations call functions of Python by now."""
        self.calls_python = hasattr(self.graph(), "_py_funcs_used_in_graph")

    def change(self, what: str) -> AccessKind:
        """Return the access to its structure that a change is."""
        return self._changes.get(what) or self._changes.setdefault(what, AccessKind(self.location, _CHANGE, what))

    def refused(self) -> AccessKind:
        """Return the access to its structure that a change is which it refuses."""
        what = "changes the graph, which is refused"
        return self._changes.get(what) or self._changes.setdefault(what, AccessKind(self.location, _REFUSED, what))

    def export(self, what: str) -> AccessKind:
        """Return the access to its structure that writing or finalizing it is."""
        return self._changes.get(what) or self._changes.setdefault(what, AccessKind(self.location, _EXPORT, what))

    def request(self, fetches: Any) -> RunRequest:
        """Return the request that a run of these fetches is."""
        leaves = _leaves(fetches)
        key = tuple([each if isinstance(each, str) else id(each) for each in leaves])
        found = self._requests.get(key)
        if found is None:
            if len(self._requests) > _REMEMBERED:
                self._requests.clear()
            found = self._requests[key] = RunRequest(self, self.graph(), leaves)
        return found

    def ran(self, record: AccessRecord, request: RunRequest, detector: RaceDetector) -> None:
        """Note a run of the graph."""
        if request.runs < 2:
            request.runs += 1
        self.growth.ran(record, detector)
        if self.leak is not None and self.leak[0] == record.thread.number:  # it was meant to be the thread's own
            detector.withdraw(self.leak[1])
            self.leak = None

    def grew(self, record: AccessRecord, frame: FrameType | None, operation: Any) -> None:
        """Note an operation that the calling thread has added."""
        self.look_for_python()
        thread, maker = record.thread, self._last_maker
        if maker is None or maker[:2] != (thread.number, thread.count) or maker.past is not thread.past.certain:
            maker = self._last_maker = maker_of(thread, 0)
        self.makers[operation._id] = maker
        self.growth.grew(record, frame, operation)

    def is_final(self) -> bool:
        """Say whether nothing can be added any more."""
        graph = self.graph()
        return graph is None or bool(graph.finalized)

    def _is_named_by(self, job: ExecutorJob, needs: Needs | None) -> bool:
        graph = self.graph()
        return _names(job, needs, lambda each: each is graph)

    def _reused(self) -> set[int]:
        """Return the numbers of the operations that were run more than once."""
        found: set[int] = set()
        for request in list(self._requests.values()):
            if request.runs > 1:
                found.update(request.operations())
        return found


class SessionState:
    """A session: its location, and the accesses to it."""

    def __init__(self, name: str, raw: Any, graph: GraphState, made: str = "") -> None:
        self.graph = graph  # the state of its graph
        # The session of TensorFlow's own; None when the session is gone: another one may be the same object then.
        self.raw: Any = raw
        self._location = Location(name, session_conflict, made, self._is_named_by)
        self.close = AccessKind(self._location, _CLOSE, "closes the session")  # the access that closing it is
        self._runs: dict[VariableUses, AccessKind] = {}
        self._maker: Maker | None = None
        self._is_fresh = False  # whether it was seen from its beginning on
        self.runs = 0  # how many runs of it have ended; roughly, as threads count at once
        self._first_values: dict[str, tuple[Maker, int]] = {}  # by the variable's name, with the number of the run
        self.accesses: dict[RunRequest, Any] = {}  # what a run of each request accesses, by tensorflow_hooks.py
        self._queues: dict[str, Token] = {}

    def run(self, uses: VariableUses) -> AccessKind:
        """Return the access to the session that a run is."""
        kind = self._runs.get(uses)
        return kind or self._runs.setdefault(uses, AccessKind(self._location, uses, "runs the session"))

    def made_by(self, thread: ThreadState, last: int, *, alone: bool) -> None:
        """Note that the calling thread has made it.

        Args:
            thread: The calling one.
            last: How many operations the graph had.
            alone: Whether its variables have no values yet; those of a server may have some.
        """
        self._maker = maker_of(thread, last)
        self._location.maker = thread.number
        self._is_fresh = alone

    def assigned(self, uses: VariableUses, thread: ThreadState, last: int) -> None:
        """Note which variables the calling thread's run has given their first values."""
        if self._is_fresh:
            for name in uses.writes | uses.begins:
                if name not in self._first_values:
                    self._first_values[name] = maker_of(thread, last), self.runs

    def needs(self, request: RunRequest) -> Needs:
        """Return what runs of a request use."""
        makers = functools.partial(self._makers, request)
        return Needs(makers, self.graph.is_final, self._first_values, self._known_run, request.leaves)

    def needs_of_close(self) -> Needs:
        """Return what the end of it uses."""
        return Needs(tuple, self.graph.is_final, self._first_values, self._known_run)

    def _known_run(self, by: ThreadState, user: ThreadState) -> int:
        """Return the last run of one thread of which another has used the values."""
        records = [each for each in list(self._location.records.values()) if each.thread is user]
        used = {
            name
            for each in records
            if isinstance(each.action, VariableUses)
            for name in each.action.reads | each.action.updates | each.action.takes
        }
        found = [self._first_values[name] for name in used if name in self._first_values]
        return max((run for maker, run in found if maker.thread == by.number), default=0)

    def _makers(self, request: RunRequest) -> Iterator[Maker]:
        """Yield the makers of what runs of a request use: objects, and the first values that the same threads gave.

        A thread that has an object has waited for its maker. A run does not wait for values: it fails where there are
        none.
        """
        threads = set()
        for maker in (*request.makers(), *filter(None, (self._maker,))):
            threads.add(maker.thread)
            yield maker
        uses = request.uses.variables
        for name in uses.reads | uses.updates | uses.takes:
            if name in self._first_values and self._first_values[name][0].thread in threads:
                yield self._first_values[name][0]

    def _is_named_by(self, job: ExecutorJob, needs: Needs | None) -> bool:
        sessions = private.session.BaseSession
        return _names(job, needs, lambda each: issubclass(type(each), sessions) and each._session is self.raw)

    def queue(self, name: str) -> Token:
        """Return what a run that fills a queue releases, and one that empties it acquires."""
        return self._queues.get(name) or self._queues.setdefault(name, Token())


def _names(job: ExecutorJob, needs: Needs | None, is_meant: Callable[[Any], bool]) -> bool:
    """Say whether a job names a graph or a session, and what it fetches there."""
    named = named_by(job, _parts)
    strings = {each for each in named.values() if type(each) is str}
    fetched = needs.fetched if needs is not None else ()
    if not all(each in strings if type(each) is str else id(each) in named for each in fetched):
        return False
    return any(is_meant(each) for each in named.values())


def _parts(thing: Any) -> Iterator[Any]:
    """Yield what an object of TensorFlow's or of tf1sessions' is about."""
    kind = type(thing)
    if issubclass(kind, _with_graph()):
        for name in ("graph", "op", "initializer"):
            yield getattr(thing, name, None)  # not all have each, and what computes at once has none
    elif kind is GraphSession:
        yield thing.session
    elif kind is CompiledCall:
        yield thing._session
        yield from _leaves(thing._fetches)


@functools.cache
def _with_graph() -> tuple[type, ...]:
    return tf.Tensor, tf.Operation, tf.Variable, private.session.BaseSession


def _leaves(fetches: Any) -> list[Any]:
    kind = type(fetches)  # isinstance() would ask each tensor for its class: half a microsecond
    if issubclass(kind, dict):
        fetches = list(fetches.values())
    elif not issubclass(kind, (list, tuple)):
        return [fetches]
    return [leaf for each in fetches for leaf in _leaves(each)]
