"""Hazards of graphs and sessions: which accesses conflict, and when a graph grows.

Data flow::

    tensorflow_hooks.py ──▶ GraphState, SessionState: the locations of one graph, one session ──▶ AccessKind
    race_detector.py ── earlier and later action ──▶ structure_conflict, session_conflict ──▶ Conflict
"""

from __future__ import annotations

import weakref
from types import CodeType, FrameType
from typing import Any

from tf1sessions.testing.frames import program_frames
from tf1sessions.testing.race_detector import AccessKind, AccessRecord, Conflict, Location, Race, RaceDetector
from tf1sessions.testing.reports import RaceKind
from tf1sessions.testing.variable_uses import VariableUses, uses_of

__all__ = ["GraphState", "SessionState", "session_conflict", "structure_conflict"]

#: How many rounds of running and adding, from one line, are a loop. Arbitrary.
_ROUNDS = 3
#: How many threads that ran a graph, and how many requests of it, are remembered. Arbitrary: more than programs have.
_REMEMBERED = 1000

_RUN, _CHANGE, _CLOSE = "run", "change", "close"


def structure_conflict(earlier: str, later: str) -> Conflict | None:
    """Compare two actions on a graph's structure: run and change."""
    if earlier == later == _RUN:
        return None
    kind = RaceKind.CONSTRUCTION if earlier == later else RaceKind.MUTATION
    return Conflict(kind, lock_orders=later == _RUN)


def session_conflict(earlier: VariableUses | str, later: VariableUses | str) -> Conflict | None:
    """Compare two actions on a session: to close it, or to run it with the variables that a run uses."""
    if isinstance(earlier, str) or isinstance(later, str):
        return None if earlier == later else Conflict(RaceKind.CLOSED)
    both = (earlier.writes & (later.reads | later.writes)) | (earlier.reads & later.writes)
    if not both:
        return None
    return Conflict(RaceKind.VARIABLE, tuple(sorted(both)[:3]), (earlier.what, later.what))


class GraphState:
    """A graph: the locations of its structure, the variables of its runs, and how it grows.

    Attributes:
        run: The access to its structure that each run is.
        calls_python: Whether runs may call functions of Python.
        leak: The report that its thread lost another default graph, until that thread runs it.
    """

    def __init__(self, name: str, graph: Any) -> None:
        self.location = Location(name, structure_conflict)
        self.run = AccessKind(self.location, _RUN, "runs the graph")
        self.leak: tuple[int, Race] | None = None  # with the thread's number
        self._graph = weakref.ref(graph)
        self.look_for_python()
        self._changes: dict[str, AccessKind] = {}
        self._uses: dict[Any, tuple[VariableUses, Any]] = {}
        self._runs = 0
        self._last_run: AccessRecord | None = None
        self._last_runs: dict[int, AccessRecord] = {}  # by the thread's number
        self._growth: dict[Any, _Growth] = {}

    def look_for_python(self) -> None:
        """Note whether operations call functions of Python by now."""
        self.calls_python = hasattr(self._graph(), "_py_funcs_used_in_graph")

    def change(self, what: str) -> AccessKind:
        """Return the access to its structure that a change is."""
        return self._changes.get(what) or self._changes.setdefault(what, AccessKind(self.location, _CHANGE, what))

    def uses(self, fetches: Any) -> VariableUses:
        """Return the variables that a run of these fetches uses."""
        leaves = _leaves(fetches)
        key = tuple([each if isinstance(each, str) else id(each) for each in leaves])
        found = self._uses.get(key)
        if found is None:
            if len(self._uses) > _REMEMBERED:
                self._uses.clear()
            found = self._uses[key] = uses_of(self._graph(), leaves), leaves  # kept, so that no id is used again
        return found[0]

    def ran(self, record: AccessRecord, detector: RaceDetector) -> None:
        """Note a run of the graph."""
        self._runs += 1
        if self._last_run is not record:
            if len(self._last_runs) > _REMEMBERED:
                self._last_runs.clear()
            self._last_run = self._last_runs[record.thread.number] = record
        if self.leak is not None and self.leak[0] == record.thread.number:  # it was meant to be the thread's own
            detector.withdraw(self.leak[1])
            self.leak = None

    def grew(self, record: AccessRecord, frame: FrameType | None, detector: RaceDetector) -> None:
        """Note an operation, and report its line if it has added some in several rounds of runs."""
        self.look_for_python()
        line = (id(frame.f_code), frame.f_lineno) if frame is not None else None
        growth = self._growth.get(line)
        if growth is None:
            self._growth[line] = _Growth(frame and frame.f_code, self._runs)
        elif growth.runs != self._runs:
            growth.runs = self._runs
            last_run = self._last_runs.get(record.thread.number, self._last_run)
            if growth.rounds_by(frame) == _ROUNDS and last_run is not None:
                detector.report(RaceKind.GROWTH, self.location.name, last_run, record)


class _Growth:
    """Operations from one line. It may be a function's, so the rounds are counted for each way that leads to it."""

    def __init__(self, code: CodeType | None, runs: int) -> None:
        self.code = code  # kept, so that its id stays its own
        self.runs = runs  # of the graph, when the last operation was added
        self._rounds: dict[Any, int] = {}

    def rounds_by(self, frame: FrameType | None) -> int:
        """Count another round, and return how many there were by this stack."""
        way = tuple((each.f_code, each.f_lineno) for each in program_frames(frame))
        rounds = self._rounds[way] = self._rounds.get(way, 0) + 1
        return rounds


class SessionState:
    """A session: its location, and the accesses to it.

    Attributes:
        graph: The state of its graph.
        raw: The session of TensorFlow's own; None when the session is gone: another one may be the same object then.
        close: The access that closing it is.
    """

    def __init__(self, name: str, raw: Any, graph: GraphState) -> None:
        self.graph = graph
        self.raw: Any = raw
        self._location = Location(name, session_conflict)
        self.close = AccessKind(self._location, _CLOSE, "closes the session")
        self._runs: dict[VariableUses, AccessKind] = {}

    def run(self, uses: VariableUses) -> AccessKind:
        """Return the access to the session that a run is."""
        kind = self._runs.get(uses)
        return kind or self._runs.setdefault(uses, AccessKind(self._location, uses, "runs the session"))


def _leaves(fetches: Any) -> list[Any]:
    kind = type(fetches)  # isinstance() would ask each tensor for its class: half a microsecond
    if issubclass(kind, dict):
        fetches = list(fetches.values())
    elif not issubclass(kind, (list, tuple)):
        return [fetches]
    return [leaf for each in fetches for leaf in _leaves(each)]
