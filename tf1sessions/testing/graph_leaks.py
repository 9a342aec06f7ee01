"""Leaks of programs in TensorFlow: sessions, graphs and sessions that stay default, operations, growth.

Data flow::

    BaseSession.__init__, __del__ ──▶ leak_hooks.py: the program is to close it, and not the garbage collector
    DefaultStack.get_controller   ──▶ GraphLog: where what is default was entered
    run of any session            ──▶ GraphLog: how many operations its graph has by now
    begin() and end() of a watch  ──▶ the stacks of the thread, and the operations of the process's default graph

TensorFlow is not imported for it. In a process that imports it in the meantime it is watched from then on.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tf1sessions.testing.leak_candidates import Creator, LeakCandidate
from tf1sessions.testing.leak_hooks import creation_logs, log
from tf1sessions.testing.leak_origins import Line, format_line, is_program, program_line
from tf1sessions.testing.leak_reports import FIX, Leak, LeakKind
from tf1sessions.testing.patching import LatePatch, Observers, Patch, hooked

__all__ = ["GraphLog", "graph_logs"]

#: In how many rounds of running and adding, from one line, a graph grows. As the race detector has it; arbitrary.
_ROUNDS = 3
#: How many names of operations, and how many lines, a report has. Arbitrary.
_NAMED = 3
#: Of how many operations it is looked which line made them. Arbitrary: a hundred thousand take a second.
_ASKED = 10_000
_UNKNOWN = "an unknown place"


class _LeakedSession(LeakCandidate):
    kind = LeakKind.SESSION

    def __init__(self, session: Any, creator: Creator) -> None:
        super().__init__(session, creator)
        self.dropped = False
        self._name = f"{type(session).__name__} {id(session):#x}{self._of()}"
        # In the session itself: where it is part of a cycle, no weak reference to it is left when it is deleted.
        vars(session).setdefault("_tf1sessions_candidates", []).append(self)

    def is_left(self) -> bool:
        session = self.thing()
        return self.dropped or (session is not None and _is_open(session))

    def describe(self) -> str:
        return f"{self._name} was not closed" + (" when the last reference to it was dropped" if self.dropped else "")


def _is_open(session: Any) -> bool:
    return vars(session).get("_session") is not None and not session._closed


class _GraphRuns:
    """A graph that is run."""

    def __init__(self, count: int) -> None:
        self.count = count  # how many operations it had at the last run
        # Between which counts it grew from one run to the next. By the lower one: threads may see it at once.
        self.rounds: dict[int, int] = {}


class GraphLog:
    """Log of runs of all threads, and of what becomes default and is built in the thread that has made it."""

    def __init__(self) -> None:
        self._runs: weakref.WeakKeyDictionary[Any, _GraphRuns] = weakref.WeakKeyDictionary()
        self._grown: list[Any] = []  # kept until the end, when it is looked which lines made its operations
        self._entered: dict[int, Line | None] = {}
        self.resets = False
        self._process_graph, self._count = _process_graph()
        self._added: list[Any] = []
        self._kept = {id(each) for each in _defaults()}

    def ran(self, graph: Any) -> None:
        """Note that a session is about to run a graph."""
        count = graph.num_operations()
        runs = self._runs.get(graph)
        if runs is None:
            self._runs[graph] = _GraphRuns(count)
        elif count > runs.count:
            runs.rounds[runs.count] = count
            runs.count = count
            if len(runs.rounds) == _ROUNDS:
                self._grown.append(graph)

    def entered(self, default: Any) -> None:
        """Note that a graph or a session becomes default. Each run does this, too."""
        self._entered[id(default)] = program_line()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Leave out what is entered or built in this block, and not left."""
        self._note_added()
        before = {id(each) for each in _defaults()}
        try:
            yield
        finally:
            self._kept |= {id(each) for each in _defaults()} - before
            self._process_graph, self._count = _process_graph()

    def _note_added(self) -> None:
        graph, count = _process_graph()
        if graph is None or (graph is not self._process_graph and self.resets):
            return
        first = self._count if graph is self._process_graph else 0
        if count > first:
            self._added += graph.get_operations()[first:]

    def leaks(self, kinds: Iterable[LeakKind], sessions: Sequence[LeakCandidate]) -> Iterator[Leak]:
        """Yield what is left now, but no default that is there because one of ``sessions`` is open."""
        if LeakKind.DEFAULT in kinds:
            yield from self._defaults({id(made.thing()) for made in sessions})
        if LeakKind.OPERATIONS in kinds:
            self._note_added()
            graph, _ = _process_graph()
            if added := [each for each in self._added if each.graph is graph]:  # not if it was reset since
                text, where = _lines(added, "were added to the process's default graph and stay there")
                yield Leak(LeakKind.OPERATIONS, text, where, FIX[LeakKind.OPERATIONS])
        if LeakKind.GROWTH in kinds:
            for graph in self._grown:
                yield from _growth(graph, self._runs[graph])

    def _defaults(self, open_sessions: set[int]) -> Iterator[Leak]:
        by_line: dict[Line | None, list[Any]] = {}
        for each in _defaults():
            if id(each) not in self._kept:
                by_line.setdefault(self._entered.get(id(each)), []).append(each)
        for line, left in by_line.items():
            if not any(id(each) in open_sessions for each in left):
                what = " and ".join(_name(each) for each in left)
                text = f"{what} {'are' if len(left) > 1 else 'is'} still default in this thread, for all that follows"
                yield Leak(LeakKind.DEFAULT, text, format_line(line) if line else _UNKNOWN, FIX[LeakKind.DEFAULT])


def _name(default: Any) -> str:
    return f"{type(default).__name__} {id(default):#x}"


def _growth(graph: Any, runs: _GraphRuns) -> Iterator[Leak]:
    operations = graph.get_operations()
    rounds: dict[Any, list[Any]] = {}
    for first, end in runs.rounds.items():
        by_stack: dict[Any, list[Any]] = {}
        for operation in operations[first:end][:_ASKED]:
            by_stack.setdefault(_stack(operation), []).append(operation)
        for stack, added in by_stack.items():
            rounds.setdefault(stack, []).append(added)
    grown = [added for stack, added in rounds.items() if stack and len(added) >= _ROUNDS]
    if grown:
        added = [operation for parts in grown for part in parts for operation in part]
        text, where = _lines(added, f"were added to a graph between its runs, in {max(map(len, grown))} rounds")
        yield Leak(LeakKind.GROWTH, text, where, FIX[LeakKind.GROWTH])


def _stack(operation: Any) -> tuple[str, ...]:
    """Return the program's lines that made an operation, the innermost first."""
    frames = reversed(operation.traceback or ())
    return tuple(f"{each.filename}:{each.lineno} in {each.name}" for each in frames if is_program(each.filename))


def _lines(operations: Sequence[Any], how: str) -> tuple[str, str]:
    """Return operations in words, with the lines that made them but the first, and that one."""
    lines = list(dict.fromkeys((*_stack(each), _UNKNOWN)[0] for each in operations[:_ASKED]))
    names = ", ".join(repr(each.name) for each in operations[:_NAMED])
    more = ", ..." if len(operations) > _NAMED else ""
    what = f"{len(operations)} operation{'s' * (len(operations) != 1)} ({names}{more}) {how}"
    if len(lines) > 1:
        what += f"; also at {'; '.join(lines[1 : _NAMED + 1])}" + ("; ..." if len(lines) > _NAMED + 1 else "")
    return what, lines[0]


# -- TensorFlow's books -----------------------------------------------------------------------------------------------


def _process_graph() -> tuple[Any, int]:
    ops = sys.modules.get("tensorflow.python.framework.ops")
    stack = getattr(ops, "_default_graph_stack", None)
    graph = None if stack is None else stack._global_default_graph
    return graph, 0 if graph is None else graph.num_operations()


def _defaults() -> list[Any]:
    """Return what is default in the calling thread, besides the process's graph."""
    found: list[Any] = []
    for module, name in (("ops", "_default_graph_stack"), ("stack", "_default_session_stack")):
        stack = getattr(sys.modules.get(f"tensorflow.python.framework.{module}"), name, None)
        found += () if stack is None else stack.stack
    return found


# -- hooks ------------------------------------------------------------------------------------------------------------


def _sessions(session: Any) -> Iterator[Patch]:
    def after_init(self: Any, _: object) -> None:
        graph_logs.catch_up()
        log(functools.partial(_LeakedSession, self))

    def before_delete(self: Any) -> None:
        candidates = vars(self).get("_tf1sessions_candidates")
        if candidates and _is_open(self):
            for each in candidates:
                each.dropped = True

    yield hooked(session.BaseSession, "__init__", after=after_init)
    yield hooked(session.BaseSession, "__del__", before=before_delete)


def _note_run(session: Any) -> None:
    for each in graph_logs.now:
        each.ran(session.graph)


def _runs(session: Any) -> Iterator[Patch]:
    yield hooked(session.BaseSession, "run", before=_note_run)


def _own_runs(calls: Any) -> Iterator[Patch]:
    yield hooked(calls.Session, "run", before=_note_run)
    yield hooked(calls.CompiledCall, "__call__", before=lambda self: _note_run(self._session))


def _entering(stack: Any) -> Iterator[Patch]:
    original = stack.DefaultStack.get_controller

    def get_controller(self: Any, default: Any) -> Any:
        for each in graph_logs.now:
            each.entered(default)
        return original(self, default)

    yield stack.DefaultStack, "get_controller", get_controller


def _resets(ops: Any) -> Iterator[Patch]:
    def after_reset(self: Any, _: object) -> None:
        for each in graph_logs.now:
            each.resets = True

    yield hooked(ops._DefaultGraphStack, "reset", after=after_reset)


_SESSION = "tensorflow.python.client.session"
_LATE: list[LatePatch] = [
    (_SESSION, _runs),
    ("tf1sessions.sessions.calls", _own_runs),
    ("tensorflow.python.framework.stack", _entering),
    ("tensorflow.python.framework.ops", _resets),
]

#: The logs of all watches that are open.
graph_logs: Observers[GraphLog] = Observers(_LATE)
creation_logs.late.append((_SESSION, _sessions))
