"""What is watched of TensorFlow: who changes graphs, runs and closes sessions; which variables a run takes and sets.

::

    graph_races() ──▶ _Watch ── puts itself around Graph, Operation, BaseSession, Session, CompiledCall ──▶ Judge
                              └─▶ where a thread was started, for graphs that were default there

While the block lasts TensorFlow's own methods are replaced by ones that do the same and tell of it. What a function's
body is made of (conditions, loops, tf.function) is not told: it belongs to the operation that is made from it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any

from tf1sessions.runtime import private, tf
from tf1sessions.sessions import calls, graphs
from tf1sessions.testing.frames import is_library, program_frame, program_frames
from tf1sessions.testing.locks import Exclusive, held_locks
from tf1sessions.testing.order import Order, hear, tell
from tf1sessions.testing.patching import put
from tf1sessions.testing.races import Judge, Pair, Place, Seen
from tf1sessions.testing.reports import Kind, Report
from tf1sessions.testing.synchronisation import watch

__all__ = ["GraphRaces", "graph_races", "watch_graphs"]

#: How many rounds of running and adding, from one line, are a loop. Arbitrary.
_ROUNDS = 3
#: How many requests are remembered of a graph, and of a session. Arbitrary: more than most programs have.
_REMEMBERED = 1000
_PROCESS = "the process's default graph"  # TensorFlow gives each thread one; that of the main thread
_COLLECTIONS = ("add_to_collection", "add_to_collections", "clear_collection")
_CONTROL_INPUTS = ("_add_control_input", "_add_control_inputs", "_remove_all_control_inputs")
_OPERATIONS = ("_update_input", "_set_attr", "_set_device")
_WRITES = ("Assign", "Scatter", "Apply", "SparseApply", "Resource", "CountUpTo")
_HANDED_ON = ("Identity", "RefIdentity", "Switch", "RefSwitch", "Enter", "RefEnter")
_READS = ("ResourceGather", "ResourceGatherNd")


class GraphRaces:
    """What :func:`graph_races` gives.

    Attributes:
        reports: A :class:`~tf1sessions.testing.reports.Report` for each pair, in the order in which they were found.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def reports(self) -> list[Report]:
        return list(self._judge.reports)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.reports)) or "no races"


@contextlib.contextmanager
def graph_races(*, ignore: Iterable[Kind] = ()) -> Iterator[GraphRaces]:
    """While this lasts, accesses to graphs and sessions that nothing orders are found, in all threads.

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
    order = Order()
    judge = Judge(order, ignore)
    with watch(order), watch_graphs(judge):
        yield GraphRaces(judge)


def watch_graphs(judge: Judge) -> contextlib.AbstractContextManager[None]:
    """While this lasts, a judge is told what is done with TensorFlow's graphs and sessions."""
    return _Watch(judge).installed()


def _structure(one: Any, other: Any) -> tuple[Kind, tuple[str, ...]] | None:
    if one == other == "run":
        return None
    return (Kind.CONSTRUCTION if one == other else Kind.MUTATION), ()


def _openness(one: Any, other: Any) -> tuple[Kind, tuple[str, ...]] | None:
    return None if one == other else (Kind.CLOSED, ())


def _values(one: Any, other: Any) -> tuple[Kind, tuple[str, ...]] | None:
    (reads, writes), (other_reads, other_writes) = one, other
    both = (writes & (other_reads | other_writes)) | (reads & other_writes)
    return (Kind.VARIABLE, tuple(sorted(both)[:3])) if both else None


class _GraphState:
    """What is known of a graph."""

    def __init__(self, told: str) -> None:
        self.structure = Place(told, _structure, lambda action: action == "run", lazily=True)
        self.runs = 0
        self.last_run: Seen | None = None
        self.last_runs: dict[int, Seen] = {}  # by the thread's number
        self.leak: tuple[int, Pair] | None = None  # the thread's number
        self.growth: dict[Any, _Growth] = {}  # line -> how operations came from it
        self.uses: dict[Any, tuple[Any, Any]] = {}  # what is run -> (variables it takes, it sets), what it is


class _SessionState:
    def __init__(self, told: str) -> None:
        self.openness = Place(told, _openness, lambda action: action == "run")
        self.variables = Place(told, _values, lambda action: not action[1])
        self.runs: dict[Any, list[Seen]] = {}  # by thread, line, locks and what is run


class _Growth:
    """Operations from one line. It may be a function's, so the rounds are counted for each way that leads to it."""

    __slots__ = ("code", "rounds", "runs")

    def __init__(self, code: Any, runs: int) -> None:
        self.code = code  # kept, so that its id stays its own
        self.runs = runs  # of the graph, when the last one came
        self.rounds: dict[Any, int] = {}  # the lines of the stack -> how often there were runs in between


class _States(dict[int, Any]):
    """What is known of objects that may compare as they like, until they are gone."""

    def of(self, thing: Any, make: Callable[[], Any]) -> Any:
        found = self.get(id(thing))
        if found is None:
            number = id(thing)
            found = self.setdefault(number, (make(), weakref.ref(thing, lambda gone: self.pop(number, None))))
        return found[0]


class _Watch:
    """See the module. The states are made by whoever comes first; losing one that another made harms nothing."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._graphs = _States()
        self._sessions = _States()
        self._starters: weakref.WeakKeyDictionary[threading.Thread, Seen] = weakref.WeakKeyDictionary()
        self._local = _Local()
        self._into_python, self._out_of_python = _Token(), _Token()
        self._undo: list[Callable[[], None]] = []

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """The methods are watched while this lasts."""
        graph, operation = tf.Graph, tf.Operation
        changes: list[tuple[Any, str, str]] = [
            (graph, "name_scope", "enters a name scope"),
            (graph, "device", "enters a device scope"),
            (graph, "colocate_with", "enters a colocation scope"),
            (graph, "gradient_override_map", "overrides gradients"),
            (graph, "_push_control_dependencies_controller", "enters control dependencies"),
            *((graph, name, "changes a collection") for name in _COLLECTIONS),
            *((operation, name, "changes control inputs") for name in _CONTROL_INPUTS),
            *((operation, name, "changes an operation") for name in _OPERATIONS),
        ]
        try:
            self._after(graph, "_create_op_helper", self._made)
            for owner, name, what in changes:
                self._around(owner, name, functools.partial(self._will_change, what=what))
            self._seeds(graph)
            for kind in (private.session.BaseSession, calls.Session):
                self._runs(kind)
                self._around(kind, "close", self._closes)
            self._calls(calls.CompiledCall)
            if private.script_ops is not None:
                self._python_functions(private.script_ops.FuncRegistry)
            self._building(graphs.Ownership)
            self._around(threading.Thread, "start", self._starts)
            _watches.add(self)
            yield
        finally:
            self.remove()

    def remove(self) -> None:
        """Nothing is watched any more."""
        _watches.discard(self)
        while self._undo:
            self._undo.pop()()

    # -- how methods are watched --------------------------------------------------------------------------------------

    def _put(self, owner: Any, name: str, value: Any) -> None:
        self._undo.append(put(owner, name, value))

    def _around(self, owner: Any, name: str, note: Callable[..., None]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def method(self: Any, *args: Any, **named: Any) -> Any:
            note(self, *args, **named)
            return original(self, *args, **named)

        self._put(owner, name, method)

    def _after(self, owner: Any, name: str, note: Callable[..., None]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def method(self: Any, *args: Any, **named: Any) -> Any:
            result = original(self, *args, **named)
            note(self, *args, **named)
            return result

        self._put(owner, name, method)

    def _seeds(self, graph: Any) -> None:
        seed = graph.seed

        def change(self_: Any, value: Any) -> None:
            self._changed(self_, "sets the seed")
            seed.fset(self_, value)

        self._put(graph, "seed", seed.setter(change))

    # -- graphs -------------------------------------------------------------------------------------------------------

    def _state(self, graph: Any) -> _GraphState:
        def make() -> _GraphState:
            if graph is not _own_graph():
                return _GraphState(f"graph {id(graph):#x}")
            thread = threading.current_thread()
            mine = f"the default graph of thread {thread.name!r}"
            return _GraphState(_PROCESS if thread is threading.main_thread() else mine)

        state: _GraphState = self._graphs.of(graph, make)
        return state

    def _will_change(self, owner: Any, *args: Any, what: str, **named: Any) -> None:
        self._changed(owner.graph if isinstance(owner, tf.Operation) else owner, what)

    def _changed(self, graph: Any, what: str, name: str = "") -> None:
        if graph.building_function:
            return
        state = self._state(graph)
        frame = program_frame()
        seen = self._judge.access(state.structure, "write", what, name, frame)
        if name:
            self._grows(state, seen, frame)
            self._leaks(graph, state, seen)

    def _made(self, graph: Any, operation: Any, *args: Any, **named: Any) -> None:
        self._changed(graph, "adds operations", operation.name)

    def _grows(self, state: _GraphState, seen: Seen, frame: Any) -> None:
        line = (id(frame.f_code), frame.f_lineno) if frame is not None else None
        at = state.growth.get(line)
        if at is None:
            state.growth[line] = _Growth(frame and frame.f_code, state.runs)
        elif at.runs != state.runs:
            at.runs = state.runs
            way = tuple((each.f_code, each.f_lineno) for each in program_frames(frame))
            rounds = at.rounds[way] = at.rounds.get(way, 0) + 1
            last_run = state.last_runs.get(seen.member.number, state.last_run)
            if rounds == _ROUNDS and last_run is not None:
                self._judge.tell(Kind.GROWTH, state.structure.told, last_run, seen)

    def _leaks(self, graph: Any, state: _GraphState, seen: Seen) -> None:
        if not self._starters or private.ops._default_graph_stack.stack or graph is not _own_graph():
            return
        starter = self._starters.pop(threading.current_thread(), None)
        if starter is not None:
            pair = self._judge.tell(Kind.LEAK, state.structure.told, starter, seen)
            if pair is not None:
                state.leak = seen.member.number, pair

    def _building(self, owner: Any) -> None:
        """Threads that build a GraphSession's graph in turns hold a lock of ours, which is as good as one of theirs."""
        building = owner.building
        turns: weakref.WeakKeyDictionary[Any, Exclusive] = weakref.WeakKeyDictionary()

        @contextlib.contextmanager
        def new_building(self: Any) -> Iterator[None]:
            with building(self), turns.setdefault(self, Exclusive()).held():
                yield

        self._put(owner, "building", new_building)

    def _starts(self, thread: Any, *args: Any, **named: Any) -> None:
        stack, own = private.ops._default_graph_stack.stack, _own_graph()
        if own is not None:
            self._state(own)  # named here: other threads do not know whose it is
        if any(graph is not own for graph in stack[-1:]) or (own is not None and own.get_operations()):
            place = Place("", _openness)
            what = "starts a thread with another default graph"
            self._starters[thread] = self._judge.access(place, "start", what, "", program_frame())

    # -- sessions -----------------------------------------------------------------------------------------------------

    def _session(self, session: Any) -> _SessionState:
        state: _SessionState = self._sessions.of(session, lambda: _SessionState(f"session {id(session):#x}"))
        return state

    def _run(self, session: Any, fetches: Any, original: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Calls what runs a session, and tells of it unless that is told already."""
        local = self._local
        if local.inside:
            return original(*args, **named)
        local.inside = True
        # What TensorFlow calls in threads of its own comes after what was before the run, and before what is after it.
        calls_python = hasattr(session.graph, "_py_funcs_used_in_graph")
        if calls_python:
            tell(self._into_python)
        try:
            return original(*args, **named)
        finally:
            local.inside = False
            if calls_python:
                hear(self._out_of_python)
            self._ran(session, fetches)

    def _runs(self, owner: Any) -> None:
        watch, run, make = self, owner.run, owner.make_callable

        def new_run(self: Any, fetches: Any, *args: Any, **named: Any) -> Any:
            return watch._run(self, fetches, run, self, fetches, *args, **named)

        def new_make(self: Any, fetches: Any, *args: Any, **named: Any) -> Any:
            return functools.partial(watch._run, self, fetches, make(self, fetches, *args, **named))

        for name, method in (("run", new_run), ("make_callable", new_make)):
            if name in vars(owner):
                self._put(owner, name, method)

    def _calls(self, owner: Any) -> None:
        watch, call = self, owner.__call__

        def new_call(self: Any, *values: Any) -> Any:
            return watch._run(self._session, self._fetches, call, self, *values)

        self._put(owner, "__call__", new_call)

    def _python_functions(self, owner: Any) -> None:
        watch, call = self, owner.__call__

        def new_call(self: Any, *args: Any, **named: Any) -> Any:
            inside, watch._local.inside = watch._local.inside, False
            hear(watch._into_python)
            try:
                return call(self, *args, **named)
            finally:
                tell(watch._out_of_python)
                watch._local.inside = inside

        self._put(owner, "__call__", new_call)

    def _ran(self, session: Any, fetches: Any) -> None:
        judge, graph, frame = self._judge, session.graph, program_frame()
        state, own = self._state(graph), self._session(session)
        state.runs += 1
        number = judge.order.member().number
        line = (id(frame.f_code), frame.f_lineno) if frame is not None else None
        key = number, line, held_locks(), _key(fetches)
        accesses = own.runs.get(key)
        if accesses is None or not judge.again(accesses):
            accesses = own.runs[key] = self._access(state, own, fetches, graph, frame)
            if len(own.runs) > _REMEMBERED:
                own.runs.clear()
        state.last_run = state.last_runs[number] = accesses[0]
        if len(state.last_runs) > _REMEMBERED:
            state.last_runs.clear()
        if state.leak is not None and state.leak[0] == number:  # it was meant to be the thread's own
            judge.take_back(state.leak[1])
            state.leak = None

    def _access(self, state: _GraphState, own: _SessionState, fetches: Any, graph: Any, frame: Any) -> list[Seen]:
        accesses = [
            self._judge.access(state.structure, "run", "runs the graph", "", frame),
            self._judge.access(own.openness, "run", "runs the session", "", frame),
        ]
        uses = _uses(graph, fetches, state.uses)
        if uses[0] or uses[1]:
            what = "assigns variables" if uses[1] else "reads variables"
            accesses.append(self._judge.access(own.variables, uses, what, "", frame))
        return accesses

    def _closes(self, session: Any) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and is_library(frame.f_code.co_filename):
            if frame.f_code.co_name == "__del__":
                return  # nobody has it any more who could run it
            frame = frame.f_back
        self._judge.access(self._session(session).openness, "close", "closes the session", "", frame)


_watches: weakref.WeakSet[_Watch] = weakref.WeakSet()


def _in_child() -> None:
    """After a fork nothing is watched: locks of the judge may be held by threads that are not there."""
    for each in list(_watches):
        each.remove()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


class _Local(threading.local):
    inside = False  # whether the thread is in a run that will be told


class _Token:
    """What is told by it comes before what hears of it."""


def _own_graph() -> Any:
    """The default graph of the calling thread where it has entered none; None until it is used."""
    return private.ops._default_graph_stack._global_default_graph


# -- which variables are taken and set --------------------------------------------------------------------------------

Uses = tuple[frozenset[str], frozenset[str]]


def _uses(graph: Any, fetches: Any, known: dict[Any, tuple[Uses, Any]]) -> Uses:
    key = _key(fetches)
    found = known.get(key)
    if found is None:
        if len(known) > _REMEMBERED:
            known.clear()
        found = known[key] = _closure(_operations(graph, fetches)), fetches  # kept, so that no id is used again
    return found[0]


def _key(fetches: Any) -> Any:
    if isinstance(fetches, (list, tuple)):
        return tuple([_key(each) for each in fetches])
    if isinstance(fetches, dict):
        return tuple([_key(each) for each in fetches.values()])
    return fetches if isinstance(fetches, str) else id(fetches)


def _operations(graph: Any, fetches: Any) -> list[Any]:
    found = []
    for leaf in tf.nest.flatten(fetches):
        if isinstance(leaf, (str, bytes)) or hasattr(leaf, "name"):
            with contextlib.suppress(ValueError, KeyError, TypeError):
                element = graph.as_graph_element(leaf)
                found.append(getattr(element, "op", element))
        elif isinstance(leaf, (tf.SparseTensor, tf.IndexedSlices)):
            found += [part.op for part in (leaf.values, leaf.indices)]
    return found


def _closure(starts: Sequence[Any]) -> Uses:
    reads: set[str] = set()
    writes: set[str] = set()
    met = set(starts)
    waiting = list(starts)
    while waiting:
        operation = waiting.pop()
        variables = [tensor for tensor in operation.inputs if tensor.dtype._is_ref_dtype or tensor.dtype == tf.resource]
        for tensor in variables:
            kept = writes if operation.type.startswith(_WRITES) and operation.type not in _READS else reads
            kept.add(_variable(tensor))
        for other in (*(tensor.op for tensor in operation.inputs), *operation.control_inputs):
            if other not in met:
                met.add(other)
                waiting.append(other)
    return frozenset(reads), frozenset(writes)


def _variable(tensor: Any) -> str:
    while (
        tensor.op.type in ("Identity", "RefIdentity", "Switch", "RefSwitch", "Enter", "RefEnter") and tensor.op.inputs
    ):
        tensor = tensor.op.inputs[0]
    name: str = tensor.op.name
    return name
