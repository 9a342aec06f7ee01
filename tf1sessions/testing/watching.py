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
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tf1sessions.runtime import private, tf
from tf1sessions.sessions import calls
from tf1sessions.testing.frames import program_frame, program_frames
from tf1sessions.testing.locks import held_locks
from tf1sessions.testing.order import Order
from tf1sessions.testing.patching import put
from tf1sessions.testing.races import Judge, Place, Seen
from tf1sessions.testing.reports import Kind, Report
from tf1sessions.testing.synchronisation import watch

__all__ = ["GraphRaces", "graph_races", "watch_graphs"]

#: How many rounds of running and adding, from one line, are a loop. Arbitrary.
_ROUNDS = 3
#: How many requests are remembered of a graph, and of a session. Arbitrary: more than most programs have.
_REMEMBERED = 1000
_PROCESS = "the process's default graph"
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
        self.structure = Place(told, _structure, lambda action: action == "run")
        self.runs = 0
        self.last_run: Seen | None = None
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
        self._local = threading.local()
        self._undo: list[Callable[[], None]] = []

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """The methods are watched while this lasts."""
        graph, operation = tf.Graph, tf.Operation
        changes: list[tuple[Any, str, str]] = [
            (graph, "name_scope", "enters a name scope"),
            (graph, "device", "enters a device scope"),
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
                for name, watched in (("run", self._runs), ("close", self._closes)):
                    if name in vars(kind):
                        watched(kind, name)
            self._calls(calls.CompiledCall)
            self._around(threading.Thread, "start", self._starts)
            yield
        finally:
            while self._undo:
                self._undo.pop()()

    # -- how methods are watched --------------------------------------------------------------------------------------

    def _put(self, owner: Any, name: str, value: Any) -> None:
        self._undo.append(put(owner, name, value))

    def _around(self, owner: Any, name: str, tell: Callable[..., None]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def method(self: Any, *args: Any, **named: Any) -> Any:
            tell(self, *args, **named)
            return original(self, *args, **named)

        self._put(owner, name, method)

    def _after(self, owner: Any, name: str, tell: Callable[..., None]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def method(self: Any, *args: Any, **named: Any) -> Any:
            result = original(self, *args, **named)
            tell(self, *args, **named)
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
            return _GraphState(_PROCESS if graph is _global_graph() else f"graph {id(graph):#x}")

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
            self._leaks(state, seen)

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
            if rounds == _ROUNDS and state.last_run is not None:
                self._judge.tell(Kind.GROWTH, state.structure.told, state.last_run, seen)

    def _leaks(self, state: _GraphState, seen: Seen) -> None:
        if not self._starters or state.structure.told is not _PROCESS or private.ops._default_graph_stack.stack:
            return
        starter = self._starters.get(threading.current_thread())
        if starter is not None:
            del self._starters[threading.current_thread()]
            self._judge.tell(Kind.LEAK, state.structure.told, starter, seen)

    def _starts(self, thread: Any, *args: Any, **named: Any) -> None:
        stack = private.ops._default_graph_stack.stack
        if stack and stack[-1] is not _global_graph():
            place = Place("", _openness)
            seen = self._judge.access(place, "start", "starts a thread with another default graph", "", program_frame())
            self._starters[thread] = seen

    # -- sessions -----------------------------------------------------------------------------------------------------

    def _session(self, session: Any) -> _SessionState:
        state: _SessionState = self._sessions.of(session, lambda: _SessionState(f"session {id(session):#x}"))
        return state

    def _runs(self, owner: Any, name: str) -> None:
        original = getattr(owner, name)
        watch = self

        @functools.wraps(original)
        def run(self: Any, fetches: Any, *args: Any, **named: Any) -> Any:
            if getattr(watch._local, "inside", False):
                return original(self, fetches, *args, **named)
            watch._local.inside = True
            try:
                return original(self, fetches, *args, **named)
            finally:
                watch._local.inside = False
                watch._ran(self, fetches)

        self._put(owner, name, run)

    def _calls(self, owner: Any) -> None:
        original = owner.__call__
        watch = self

        @functools.wraps(original)
        def call(self: Any, *values: Any) -> Any:
            try:
                return original(self, *values)
            finally:
                watch._ran(self._session, self._fetches)

        self._put(owner, "__call__", call)

    def _ran(self, session: Any, fetches: Any) -> None:
        judge, graph, frame = self._judge, session.graph, program_frame()
        state, own = self._state(graph), self._session(session)
        state.runs += 1
        line = (id(frame.f_code), frame.f_lineno) if frame is not None else None
        key = judge.order.member().number, line, held_locks(), _key(fetches)
        accesses = own.runs.get(key)
        if accesses is not None and judge.again(accesses):
            state.last_run = accesses[0]
            return
        state.last_run = judge.access(state.structure, "run", "runs the graph", "", frame)
        accesses = [state.last_run, judge.access(own.openness, "run", "runs the session", "", frame)]
        uses = _uses(graph, fetches, state.uses)
        if uses[0] or uses[1]:
            what = "assigns variables" if uses[1] else "reads variables"
            accesses.append(judge.access(own.variables, uses, what, "", frame))
        if len(own.runs) > _REMEMBERED:
            own.runs.clear()
        own.runs[key] = accesses

    def _closes(self, owner: Any, name: str) -> None:
        def tell(session: Any) -> None:
            self._judge.access(self._session(session).openness, "close", "closes the session", "", program_frame())

        self._around(owner, name, tell)


def _global_graph() -> Any:
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
