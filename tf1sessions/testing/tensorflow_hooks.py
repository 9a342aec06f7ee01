"""Watches TensorFlow for the race detector: changes of graphs, runs and ends of sessions, lost default graphs.

Data flow::

    watch_graphs() ──▶ TensorFlowHooks ── puts hooks around Graph, Operation, BaseSession, Session, run_callable
    a hook ──▶ GraphState, SessionState (graph_accesses.py) ── AccessKind ──▶ RaceDetector.access()

While the block lasts TensorFlow's own methods are replaced by ones that do the same and note it. What a function's body
is made of (conditions, loops, tf.function) is not noted: it belongs to the operation that is made from it.

States are made by whichever thread needs them first; if two make one at once, both use that which is kept.
"""

from __future__ import annotations

import _thread
import contextlib
import functools
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from threading import Thread, local, main_thread
from types import FrameType
from typing import Any, NamedTuple

from tf1sessions.pipelines import flow
from tf1sessions.pools import threads
from tf1sessions.runtime import private, tf
from tf1sessions.sessions import calls, graphs, plans, session_calls
from tf1sessions.testing.access_records import AccessKind, Location
from tf1sessions.testing.deadlocks import check
from tf1sessions.testing.frames import format_frame, is_library, program_frame
from tf1sessions.testing.graph_accesses import GraphState, RunRequest, SessionState, python_conflict
from tf1sessions.testing.handed_objects import ExecutorJob, Giver
from tf1sessions.testing.hangs import CLOSER
from tf1sessions.testing.locks import ExclusiveBlock
from tf1sessions.testing.lost_graphs import LostGraphs, own_graph
from tf1sessions.testing.patching import hooked, put
from tf1sessions.testing.publications import Maker, Needs, maker_of
from tf1sessions.testing.python_state import changed_state, functions_of
from tf1sessions.testing.race_detector import RaceDetector, Repeated
from tf1sessions.testing.raised_errors import listen
from tf1sessions.testing.result_arrays import ResultArrays
from tf1sessions.testing.scheduler import Scheduler
from tf1sessions.testing.tasks import PLAIN, born, current_task, pause, quietly
from tf1sessions.testing.value_hooks import HeldArrays, coordinator_patches, export_patches
from tf1sessions.testing.variable_uses import operations_of
from tf1sessions.testing.vector_clocks import Token, acquire, begin_job, current_giver, python_thread, release
from tf1sessions.testing.waits import queue_runs

__all__ = ["watch_graphs"]

_PROCESS = "the process's default graph"  # TensorFlow gives each thread one; that of the main thread
#: How many requests of a session, and compiled ones of all, are remembered. Arbitrary: more than most programs have.
_REMEMBERED = 10_000


def watch_graphs(detector: RaceDetector, scheduler: Scheduler | None = None) -> contextlib.AbstractContextManager[None]:
    """Let a detector know what is done with TensorFlow's graphs and sessions while this lasts.

    Args:
        detector: Gets the accesses.
        scheduler: That of the order that is explored, if one is: what is written to results is known then.
    """
    return TensorFlowHooks(detector, scheduler).installed()


class _RunAccess(NamedTuple):
    """Accesses of a run, of one request."""

    graph: GraphState
    session: SessionState
    kinds: tuple[AccessKind, ...]  # to the graph, to the session, and to the state of Python functions
    request: RunRequest
    needs: Needs
    queues: tuple[list[Token], list[Token]] | None  # that are filled, and emptied
    repeated: Repeated


def _pause_before(access: _RunAccess) -> None:
    """Stop before a run, if the order of threads is explored: it uses its session's variables and queues."""
    task = current_task()
    assert task is not None
    session = task.scheduler.name_of(access.session.raw)
    variables, fills, empties = access.request.uses
    changed = variables.writes | variables.updates | variables.begins | variables.takes | variables.closes
    used = [((session, name), False) for name in variables.reads - changed]
    used += [((session, name), True) for name in changed | fills | empties]
    python = [(PLAIN, True)] if access.graph.calls_python else []
    pause("runs a session", (access.session.raw, False), (access.graph.graph(), False), *used, *python)


def _quiet(function: Callable[..., Any], may_wait: bool) -> Callable[..., Any]:
    """Return a function which does not stop for other tasks while it runs a session."""

    def run(*args: Any, **named: Any) -> Any:
        with quietly(may_wait=may_wait):
            return function(*args, **named)

    return run


class _Local(local):
    """State of each thread: whether it is in a run that will be noted."""

    inside = False


class _States(dict[int, Any]):
    """States of objects, by identity, until they are gone."""

    def of(self, thing: Any, make: Callable[[], Any]) -> Any:
        number = id(thing)
        found = self.get(number)
        if found is None:
            found = self.setdefault(number, (make(), weakref.ref(thing, lambda gone: self._forget(number))))
        return found[0]

    def _forget(self, number: int) -> None:
        state = self.pop(number)[0]
        if hasattr(state, "raw"):  # of a session; at the end of the interpreter, no class can be asked for
            state.raw = None


class TensorFlowHooks:
    """The hooks of one detector."""

    def __init__(self, detector: RaceDetector, scheduler: Scheduler | None = None) -> None:
        self._detector = detector
        self._graphs = _States()
        self._born: weakref.WeakKeyDictionary[Any, tuple[Maker, str]] = weakref.WeakKeyDictionary()
        self._sessions = _States()
        self._compiled: dict[tuple[int, int], _RunAccess] = {}  # by the identity of the raw session, and the handle
        self._python: dict[Any, Location] = {}
        self._lost = LostGraphs(detector, self._graph)
        self._feeds = HeldArrays(detector)
        self._results = None if scheduler is None else ResultArrays(detector, scheduler)
        self._local = _Local()
        self._into_python, self._out_of_python = Token(), Token()
        self._undo: list[Callable[[], None]] = []

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Keep the hooks in place while this lasts."""
        try:
            self._hook_graphs()
            self._hook_runs()
            self._hook_building()
            self._before(Thread, "start", self._lost.starts)
            more = (self._lost.patches(), self._feeds.patches(), export_patches(self._detector, self._graph))
            for patch in (*more[0], *more[1], *more[2], *coordinator_patches(self._detector)):
                self._put(*patch)
            self._undo.append(listen(self._feeds.look_at_caught))
            _installed.add(self)
            yield
        finally:
            self.remove()

    def remove(self) -> None:
        """Take all hooks out again."""
        _installed.discard(self)
        while self._undo:
            self._undo.pop()()

    def _put(self, owner: Any, name: str, value: Any) -> None:
        self._undo.append(put(owner, name, value))

    def _before(self, owner: Any, name: str, note: Callable[[Any], None]) -> None:
        self._put(*hooked(owner, name, before=note))

    # -- graphs -------------------------------------------------------------------------------------------------------

    def _graph(self, graph: Any) -> GraphState:
        def make() -> GraphState:
            return GraphState(_graph_name(graph), graph, *self._born.get(graph, ()))

        state: GraphState = self._graphs.of(graph, make)
        return state

    def _hook_graphs(self) -> None:
        graph, operation = tf.Graph, tf.Operation
        changes: dict[str, tuple[Any, tuple[str, ...]]] = {
            "enters a name scope": (graph, ("name_scope",)),
            "enters a device scope": (graph, ("device",)),
            "enters a colocation scope": (graph, ("colocate_with",)),
            "overrides gradients": (graph, ("gradient_override_map",)),
            "enters control dependencies": (graph, ("_push_control_dependencies_controller",)),
            "changes a collection": (graph, ("add_to_collection", "add_to_collections", "clear_collection")),
            "changes control inputs": (
                operation,
                ("_add_control_input", "_add_control_inputs", "_remove_all_control_inputs"),
            ),
            "changes an operation": (operation, ("_update_input", "_set_attr", "_set_device")),
        }
        for what, (owner, names) in changes.items():
            for name in names:
                self._before(owner, name, functools.partial(self._changes, what=what))
        hooks, create, seed, enter = self, graph._create_op_helper, graph.seed, graph._create_op_internal
        check = graph._check_not_finalized

        def new_check(self: Any) -> None:
            """Note a change that is refused: asked before the check, the graph might still be open."""
            try:
                check(self)
            except RuntimeError:
                if not self.building_function:
                    hooks._detector.access(program_frame(), hooks._graph(self).refused())
                raise

        def new_enter(self: Any, *args: Any, **named: Any) -> Any:
            """Stop before the graph is locked, if the order of threads is explored."""
            if not self.building_function:
                pause("adds an operation to a graph", (self, True))
            with quietly():
                return enter(self, *args, **named)

        def new_create(self: Any, operation: Any, *args: Any, **named: Any) -> Any:
            result = create(self, operation, *args, **named)
            hooks._changes(self, "adds operations", operation)
            return result

        def new_seed(self: Any, value: Any) -> None:
            hooks._changes(self, "sets the seed")
            seed.fset(self, value)

        self._put(*hooked(graph, "__init__", after=self._begins))
        self._put(graph, "_check_not_finalized", new_check)
        self._put(graph, "_create_op_helper", new_create)
        self._put(graph, "_create_op_internal", new_enter)
        self._put(graph, "seed", seed.setter(new_seed))

    def _begins(self, graph: Any, _: object) -> None:
        born(graph)
        if not getattr(graph, "building_function", True):
            self._born[graph] = maker_of(self._detector.clocks.thread(), 0), _made_here()

    def _changes(self, owner: Any, what: str, operation: Any = None) -> None:
        graph = owner.graph if isinstance(owner, tf.Operation) else owner
        if graph.building_function:
            return
        if operation is None:
            pause(f"{what} of a graph", (graph, True))
        state = self._graph(graph)
        frame = program_frame()
        if operation is None:
            self._detector.access(frame, state.change(what), last=graph.version + 1)
            return
        record = self._detector.access(frame, state.change(what), name=operation.name, last=operation._id)
        state.grew(record, frame, operation)
        self._lost.adds(graph, state, record)

    # -- what takes turns ---------------------------------------------------------------------------------------------

    def _hook_building(self) -> None:
        building = graphs.Ownership.building
        turns: weakref.WeakKeyDictionary[Any, ExclusiveBlock] = weakref.WeakKeyDictionary()

        @contextlib.contextmanager
        def new_building(self: Any) -> Iterator[None]:
            """Hold a lock of ours, which is as good as one of the program's, while threads build in turns."""
            with building(self), turns.setdefault(self, ExclusiveBlock()).held():
                yield

        def started(self: Any) -> Any:
            """Order a pipeline's monitor thread, which was there before, after all that was declared."""
            if self.__dict__["started"]:
                acquire(self)
            return self.__dict__["started"]

        def start(self: Any, value: Any) -> None:
            release(self)
            self.__dict__["started"] = value

        self._put(graphs.Ownership, "building", new_building)
        self._put(flow.Flow, "started", property(started, start))
        if private.importer is not None:
            self._hook_imports(private.importer)
        self._hook_pools(threads.ThreadSessionPool)

    def _hook_pools(self, pool: Any) -> None:
        """Know the jobs of a ThreadSessionPool, as those of an executor are known."""
        enqueue, run = pool._enqueue, pool._run

        def new_enqueue(self: Any, jobs: Any) -> None:
            giver = current_giver()
            for job in jobs:
                job.future._tf1sessions_giver = giver
            enqueue(self, jobs)

        def new_run(self: Any, me: Any, job: Any, session: Any) -> Any:
            if self._most_workers > 1:
                giver = getattr(job.future, "_tf1sessions_giver", Giver())
                begin_job(ExecutorJob(job.function, job.args, job.kwargs, giver))
            try:
                return run(self, me, job, session)
            finally:
                begin_job(None)

        self._put(pool, "_enqueue", new_enqueue)
        self._put(pool, "_run", new_run)

    def _hook_imports(self, importer: Any) -> None:
        """Let imports into one graph take turns: TensorFlow lets one take up operations of the other as its own."""
        original = importer._import_graph_def_internal
        turns: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

        def new_import(*args: Any, **named: Any) -> Any:
            with turns.setdefault(tf.get_default_graph(), _thread.RLock()):
                return original(*args, **named)

        self._put(importer, "_import_graph_def_internal", new_import)

    # -- sessions -----------------------------------------------------------------------------------------------------

    def _session(self, session: Any, made: str = "") -> SessionState:
        def make() -> SessionState:
            return SessionState(f"session {id(session):#x}", session._session, self._graph(session.graph), made)

        state: SessionState = self._sessions.of(session, make)
        return state

    def _hook_runs(self) -> None:
        """Hook the two functions that run whatever a session runs, and what goes around them."""
        hooks, base = self, private.session.BaseSession
        run, run_callable = base._run, plans.run_callable
        local, compiled, feeds, ordered, ran = self._local, self._compiled, self._feeds, self._ordered, self._ran

        def new_run(self: Any, handle: Any, fetches: Any, *args: Any) -> Any:
            if handle is not None:  # of a partial run
                return run(self, handle, fetches, *args)
            given = args[0] if args else None
            held = feeds.hold(given.values()) if isinstance(given, dict) and given else None
            try:
                return hooks._run(self, fetches, run, self, handle, fetches, *args)
            finally:
                if held:
                    feeds.release(held)

        def new_run_callable(raw: Any, handle: int, values: Any, metadata: Any) -> Any:
            if local.inside:
                return run_callable(raw, handle, values, metadata)
            known = compiled.get((id(raw), handle))
            if known is None or known.session.raw is not raw:
                known = hooks._compile(raw, handle)
            held = feeds.hold(values) if values else None
            try:
                return ordered(known, run_callable)(raw, handle, values, metadata)
            finally:
                if held:
                    feeds.release(held)
                ran(known, program_frame(4))

        self._put(base, "_run", new_run)
        self._put(plans, "run_callable", new_run_callable)
        self._put(*hooked(base, "__init__", after=self._makes))
        self._put(base, "_make_callable_from_options", self._callables_of_options(base._make_callable_from_options))
        for owner in (base, calls.Session):
            self._before(owner, "close", self._closes)
            if "make_callable" in vars(owner):
                self._put(owner, "make_callable", self._callables(owner.make_callable))
        if private.script_ops is not None:
            self._hook_python_functions(private.script_ops.FuncRegistry)

    def _makes(self, session: Any, _: object) -> None:
        born(session._session)
        thread, last = self._detector.clocks.thread(), int(session.graph.version) + 1
        self._session(session, _made_here()).made_by(thread, last, alone=not session.sess_str)

    def _callables(self, make: Any) -> Any:
        """Wrap make_callable(): what TensorFlow's own callables run goes another way than the two functions."""
        hooks = self

        def new_make(self: Any, fetches: Any, *args: Any, **named: Any) -> Any:
            return functools.partial(hooks._run, self, fetches, make(self, fetches, *args, **named))

        return new_make

    def _callables_of_options(self, make: Any) -> Any:
        """Wrap what Keras runs its models by."""
        hooks = self

        def new_make(self: Any, options: Any) -> Any:
            made = make(self, options)
            if sys._getframe(2).f_code.co_filename == session_calls.__file__:  # run by plans.run_callable()
                return made
            return functools.partial(hooks._run, self, [*options.fetch, *options.target], made)

        return new_make

    def _hook_python_functions(self, registry: Any) -> None:
        """Order what a run calls in TensorFlow's threads after what was before the run, and before what follows it."""
        hooks, call = self, registry.__call__

        def new_call(self: Any, *args: Any, **named: Any) -> Any:
            local = hooks._local
            inside, local.inside = local.inside, False
            acquire(hooks._into_python)
            try:
                return call(self, *args, **named)
            finally:
                release(hooks._out_of_python)
                local.inside = inside

        self._put(registry, "__call__", new_call)

    def _run(self, session: Any, fetches: Any, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        local = self._local
        if local.inside:
            return function(*args, **named)
        access = self._access_of(session, fetches)
        local.inside = True
        try:
            return self._ordered(access, function)(*args, **named)
        finally:
            local.inside = False
            self._ran(access, program_frame(2))

    def _access_of(self, session: Any, fetches: Any) -> _RunAccess:
        state = self._session(session)
        request = state.graph.request(fetches)
        known: _RunAccess | None = state.accesses.get(request)
        if known is not None:
            return known
        uses = request.uses
        queues = [state.queue(name) for name in uses.fills], [state.queue(name) for name in uses.empties]
        used = queues if any(queues) else None
        kinds = (state.graph.run, state.run(uses.variables), *self._state_of_python(state.graph, request))
        if len(state.accesses) > _REMEMBERED:
            state.accesses.clear()
        made = _RunAccess(state.graph, state, kinds, request, state.needs(request), used, {})
        return state.accesses.setdefault(request, made)  # type: ignore[no-any-return]

    def _state_of_python(self, state: GraphState, request: RunRequest) -> tuple[AccessKind, ...]:
        """Return the accesses to what Python functions of a request keep from call to call."""
        graph = state.graph()
        if not state.calls_python or graph is None:
            return ()
        found: list[AccessKind] = []
        for function in functions_of(operations_of(graph, request.leaves)):
            changed = changed_state(function)
            if changed:
                name = getattr(function, "__qualname__", type(function).__qualname__)
                key = getattr(function, "__func__", function), id(getattr(function, "__self__", None))
                location = self._python.setdefault(key, Location(f"the function {name}", python_conflict))
                found.append(AccessKind(location, changed, "runs it in a session"))
        return tuple(found)

    def _compile(self, raw: Any, handle: int) -> _RunAccess:
        if len(self._compiled) > _REMEMBERED:
            self._compiled.clear()
        found = self._compiled[id(raw), handle] = self._access_of(*_asked())
        return found

    def _ordered(self, access: _RunAccess, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that runs a session with what the run orders: by queues, and by functions of Python."""
        if access.queues is None and not access.graph.calls_python and self._results is None:
            return function
        fills, empties = access.queues or ((), ())

        def run(*args: Any, **named: Any) -> Any:
            call = function
            if current_task() is not None:
                _pause_before(access)
                call = _quiet(function, may_wait=access.queues is not None)
            if access.graph.calls_python:
                release(self._into_python)
            for queue in fills:
                release(queue)
            me = _thread.get_ident()
            if access.queues is not None:
                queue_runs[me] = access.request
            try:
                result = call(*args, **named)
                for queue in empties:
                    acquire(queue)
                if self._results is not None:
                    self._results.hold(result)
                return result
            finally:
                queue_runs.pop(me, None)
                if access.graph.calls_python:
                    acquire(self._out_of_python)
                if access.queues is not None:
                    check()

        return run

    def _ran(self, access: _RunAccess, frame: FrameType | None) -> None:
        """Note that the calling thread has run a session."""
        graph, session, kinds, request, needs, _, repeated = access
        session.runs = number = session.runs + 1
        is_first = not repeated
        record = self._detector.run(frame, kinds, number, needs, repeated)
        if is_first:
            session.assigned(request.uses.variables, record.thread, self._operations_of(graph))
        graph.ran(record, request, self._detector)

    @staticmethod
    def _operations_of(state: GraphState) -> int:
        graph = state.graph()
        return 0 if graph is None else int(graph.version) + 1

    def _closes(self, session: Any) -> None:
        thread = python_thread()
        if thread is not None and thread.name == CLOSER:
            return  # hangs.py ends what hangs by that
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and is_library(frame.f_code.co_filename):
            if frame.f_code.co_name == "__del__":
                return  # nothing refers to it any more that could run it
            frame = frame.f_back
        state = self._session(session)
        pause("closes a session", (state.raw, True))
        self._detector.access(frame, state.close, needs=state.needs_of_close())


_installed: weakref.WeakSet[TensorFlowHooks] = weakref.WeakSet()


def _in_child() -> None:
    """Watch nothing after a fork: locks of a detector may be held by threads that are not there."""
    for each in list(_installed):
        each.remove()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)

_COMPILED_CALL, _RUN = calls.CompiledCall.__call__.__code__, calls.run.__code__


def _asked() -> tuple[Any, Any]:
    """Return the session and the fetches of the compiled request that the calling thread is in."""
    frame: Any = sys._getframe(1)
    while frame.f_code not in (_RUN, _COMPILED_CALL):
        frame = frame.f_back
    found = frame.f_locals
    if frame.f_code is _RUN:
        return found["session"], found["fetches"]
    return found["self"]._session, found["self"]._fetches


def _made_here() -> str:
    """Return where the program makes what is just made."""
    frame = program_frame(2)
    return "" if frame is None else format_frame(frame)


def _graph_name(graph: Any) -> str:
    if graph is not own_graph():
        return f"graph {id(graph):#x}"
    thread = python_thread()
    name = f"Dummy-{_thread.get_ident()}" if thread is None else thread.name
    return _PROCESS if thread is main_thread() else f"the default graph of thread {name!r}"
