"""What is watched of TensorFlow: who changes graphs, runs and closes sessions; which variables a run takes and sets.

::

    graph_races() ──▶ _Watch ── puts itself around Graph, Operation, BaseSession, Session, CompiledCall ──▶ Judge
                              └─▶ where a thread was started, for graphs that were default there

While the block lasts TensorFlow's own methods are replaced by ones that do the same and tell of it. What a function's
body is made of (conditions, loops, tf.function) is not told: it belongs to the operation that is made from it.
"""

from __future__ import annotations

import _thread
import contextlib
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import is_
from types import FrameType
from typing import Any

from tf1sessions.pipelines import flow
from tf1sessions.runtime import private, tf
from tf1sessions.sessions import calls, graphs, plans
from tf1sessions.testing.frames import is_library, program_frame, program_frame_from, program_frames
from tf1sessions.testing.locks import Exclusive, held_locks, taken
from tf1sessions.testing.order import Order, hear, tell
from tf1sessions.testing.patching import put
from tf1sessions.testing.races import Counter, Judge, News, Number, Pair, Place, Seen
from tf1sessions.testing.reports import Kind, Report
from tf1sessions.testing.synchronisation import unheard, watch

__all__ = ["GraphRaces", "graph_races", "watch_graphs"]

#: How many rounds of running and adding, from one line, are a loop. Arbitrary.
_ROUNDS = 3
#: How far out the program is at least: plan.run and run() are between, or a compiled call.
_OUTSIDE = 3
_NOTHING: frozenset[int] = frozenset()
#: How many requests are remembered of a graph, and of a session. Arbitrary: more than most programs have.
_REMEMBERED = 1000
#: To look where the program runs a request is half of what watching costs. After so many runs in a row from one place,
#: and with nothing new in between, the next few are taken to be from there, then one is looked at again.
_SURE = 32
_UNLOOKED = 15
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
        self.news = News()
        self.structure = Place(told, _structure, lambda action: action == "run", lazily=True, news=self.news)
        self.runs = 0  # those that were followed by a new operation count once
        self.ran = False  # whether since the last operation
        self.last_run: Seen | None = None
        self.last_runs: dict[int, Seen] = {}  # by the thread's number
        self.leak: tuple[int, Pair] | None = None  # the thread's number
        self.growth: dict[Any, _Growth] = {}  # line -> how operations came from it
        self.uses: dict[Any, tuple[Any, Any]] = {}  # what is run -> (variables it takes, it sets), what it is

    def run(self, seen: Seen) -> None:
        """It was run, for the first time by this line and thread since there is news of it."""
        self.runs += 1
        self.ran = True
        self.last_run = self.last_runs[seen.member.number] = seen
        if len(self.last_runs) > _REMEMBERED:
            self.last_runs.clear()

    def gone(self) -> None:
        """The graph is not there any more."""


class _SessionState:
    """What is known of a session. What is new of it is new of its graph."""

    def __init__(self, told: str, raw: Any, news: News) -> None:
        self.openness = Place(told, _openness, lambda action: action == "run", news=news)
        self.variables = Place(told, _values, lambda action: not action[1], news=news)
        self.raw: Any = raw  # the session of TensorFlow's own

    def gone(self) -> None:
        """The session is not there any more; the next one's raw one may be the same object."""
        self.raw = None


class _Request:
    """What a thread runs at one place of the program.

    Attributes:
        handle: Which of the session's compiled requests it is; None for one that is not compiled.
        code: Where it is run. Kept, so that its id stays its own; as ``fetches``.
        uses: Which variables it takes, and sets.
        seen: Its accesses: to the graph's structure, the session's openness and the variables that it uses.
        counter: Counts them while there is nothing to compare them with.
        news: What is new to it: what conflicts with none of its accesses is not.
        count, number, held: The thread's count, the number of the news and the locks, when they were compared.
        shares: Whether none of its accesses conflicts with another thread's of the same kind.
        row: How many times in a row the thread was seen to run this handle here, with nothing new.
        unlooked: How many of its next runs of the handle are taken to be here; only where no locks were held.
    """

    __slots__ = (
        "code",
        "count",
        "counter",
        "fetches",
        "handle",
        "held",
        "news",
        "number",
        "own",
        "row",
        "seen",
        "shares",
        "state",
        "unlooked",
        "uses",
    )

    def __init__(
        self, state: _GraphState, own: _SessionState, handle: int | None, code: Any, fetches: Any, uses: Uses
    ) -> None:
        self.state = state
        self.own = own
        self.handle = handle
        self.code = code
        self.fetches = fetches
        self.uses = uses
        self.news: Number = state.news
        self.count = self.number = self.row = self.unlooked = 0
        self.counter = Counter()
        self.held = _NOTHING
        self.seen: tuple[Seen, ...] = ()
        self.shares = False

    def again(self, here: _Here) -> bool:
        """Counts the calling thread's accesses once more, if there is nothing that they must be compared with.

        If the thread has told something since, they have a new count: which it tells first, as Judge.again() does, and
        then looks whether others have come.
        """
        if (here.taken or self.held) and held_locks() != self.held:
            return False
        me, counter, news = here.member, self.counter, self.news
        if self.count == me.count:
            if self.number != news.number:
                return False
        else:
            me.used = counter.count = me.count
            if self.number != news.number:
                return False
            if self.shares:
                self.state.news.come_of(self.seen)
                if self.number != news.number:
                    return False
            else:
                number = self.state.news.come_alone(self.seen, self.number)
                if not number:
                    return False
                self.number = number
            self.count = counter.count
        counter.times += 1
        return True

    def asks(self, fetches: Any) -> bool:
        """Whether just this is to be run, in the way in which a program asks for it that has its tensors at hand."""
        own = self.fetches
        if type(fetches) is list or type(fetches) is tuple:
            return len(fetches) == len(own) and all(map(is_, fetches, own))
        return len(own) == 1 and own[0] is fetches

    def make(self, seen: tuple[Seen, ...], held: frozenset[int] = _NOTHING) -> None:
        """From now on these are its accesses."""
        for each in self.seen:
            each.leave(self.counter)
        self.counter.times = self.counter.count = 0
        for each in seen:
            each.counters.append(self.counter)
        self.seen, self.held = seen, held
        self.row = self.unlooked = 0
        if not seen:
            self.number = 0  # there is none: the next time it is looked at
        self.shares = bool(seen) and all([each.shares for each in seen])
        self.news = self.state.news.changes if self.shares else self.state.news


class _Here:
    """The calling thread.

    Attributes:
        depth: How far out of the function that runs a compiled request the program was, the last time.
        outside: The same for one that is not compiled.
        inside: Whether the thread is in a run that will be told.
        requests: What it has run.
        latest: The same, by the place in the code and what it is, as far as they can be told at once.
        last: Those that are compiled and were met last when it was looked where they are run, by what they are.
    """

    __slots__ = ("depth", "inside", "last", "latest", "member", "outside", "requests", "taken")

    def __init__(self, order: Order) -> None:
        self.member = order.member()
        self.taken = taken()
        self.depth = self.outside = _OUTSIDE
        self.inside = False
        self.requests: dict[Any, _Request] = {}
        self.latest: dict[int, _Request] = {}
        self.last: dict[int, _Request] = {}

    def forget(self) -> None:
        """Begins anew."""
        for request in self.requests.values():
            request.make(())
        self.requests.clear()
        self.latest.clear()
        self.last.clear()

    def looked(self, request: _Request, handle: int) -> None:
        """A request was run where it was run before, and there was nothing new."""
        if self.last.get(handle) is not request:
            self.last[handle] = request
            request.row = 0
        request.row += 1
        if request.row > _SURE:
            request.unlooked = _UNLOOKED


class _Local(threading.local):
    def __init__(self, order: Order) -> None:
        self.here = _Here(order)


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
        number = id(thing)
        found = self.get(number)
        if found is None:
            found = self.setdefault(number, (make(), weakref.ref(thing, lambda gone: self.pop(number)[0].gone())))
        return found[0]


class _Watch:
    """See the module. The states are made by whoever comes first; losing one that another made harms nothing."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._graphs = _States()
        self._sessions = _States()
        self._starters: weakref.WeakKeyDictionary[threading.Thread, Seen] = weakref.WeakKeyDictionary()
        self._local = _Local(judge.order)
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
            self._runs()
            for kind in (private.session.BaseSession, calls.Session):
                self._callables(kind)
                self._around(kind, "close", self._closes)
            if private.script_ops is not None:
                self._python_functions(private.script_ops.FuncRegistry)
            self._building(graphs.Ownership)
            if private.importer is not None:
                self._imports(private.importer)
            self._pipelines(flow.Flow)
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
            lock = getattr(graph, "_group_lock", None)  # each run takes it, and it may be older than the watching
            unheard(getattr(lock, "_ready", None))
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
        if state.ran:
            state.ran = False
            state.news.come()  # so that the next runs are looked at
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
                state.news.come()

    def _building(self, owner: Any) -> None:
        """Threads that build a GraphSession's graph in turns hold a lock of ours, which is as good as one of theirs."""
        building = owner.building
        turns: weakref.WeakKeyDictionary[Any, Exclusive] = weakref.WeakKeyDictionary()

        @contextlib.contextmanager
        def new_building(self: Any) -> Iterator[None]:
            with building(self), turns.setdefault(self, Exclusive()).held():
                yield

        self._put(owner, "building", new_building)

    def _pipelines(self, owner: Any) -> None:
        """A pipeline's keeper, which was there before it, comes after what was declared once it sees the start."""

        def started(self: Any) -> Any:
            if self.__dict__["started"]:
                hear(self)
            return self.__dict__["started"]

        def start(self: Any, value: Any) -> None:
            tell(self)
            self.__dict__["started"] = value

        self._put(owner, "started", property(started, start))

    def _imports(self, importer: Any) -> None:
        """Imports into one graph take turns: TensorFlow lets one take up operations of the other as if it made them."""
        original = importer._import_graph_def_internal
        turns: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

        def new_import(*args: Any, **named: Any) -> Any:
            with turns.setdefault(tf.get_default_graph(), _thread.RLock()):
                return original(*args, **named)

        self._put(importer, "_import_graph_def_internal", new_import)

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
        def make() -> _SessionState:
            return _SessionState(f"session {id(session):#x}", session._session, self._state(session.graph).news)

        state: _SessionState = self._sessions.of(session, make)
        return state

    def _runs(self) -> None:
        """Whatever runs a session comes to one of two functions. What they cost is told in microseconds."""
        watch, base, local, getframe = self, private.session.BaseSession, self._local, sys._getframe
        run, run_callable = base._run, plans.run_callable

        def new_run(self: Any, handle: Any, fetches: Any, *args: Any) -> Any:
            here = local.here
            if handle is not None or here.inside:  # of a partial run; or of what is told already
                return run(self, handle, fetches, *args)
            try:
                frame = getframe(here.outside)
                request = here.latest[frame.f_lasti - _which(fetches)]
            except (ValueError, KeyError):  # as below
                return watch._run(self, fetches, None, run, self, handle, fetches, *args)
            if request.code is not frame.f_code or request.own.raw is not self._session or not request.asks(fetches):
                return watch._run(self, fetches, None, run, self, handle, fetches, *args)
            here.inside = True
            try:
                return run(self, handle, fetches, *args)
            finally:
                here.inside = False
                if not request.again(here):
                    watch._access(here, request, frame)

        def new_run_callable(raw: Any, handle: int, values: Any, metadata: Any) -> Any:
            here = local.here
            try:
                request = here.last[handle]
            except KeyError:
                pass
            else:
                unlooked = request.unlooked
                if unlooked and request.own.raw is raw:
                    request.unlooked = unlooked - 1
                    try:
                        return run_callable(raw, handle, values, metadata)
                    finally:  # as below
                        if (
                            request.count == here.member.count
                            and request.number == request.news.number
                            and not here.taken
                        ):
                            request.counter.times += 1
                        else:
                            request.row = request.unlooked = 0
                            watch._ran(here, *_asked(), handle, False)
            try:
                frame = getframe(here.depth)
                request = here.latest[frame.f_lasti - handle]
            except (ValueError, KeyError):  # this one is called by the outermost, or for the first time
                return watch._run_compiled(run_callable, raw, handle, values, metadata)
            if request.handle != handle or request.own.raw is not raw or request.code is not frame.f_code:
                return watch._run_compiled(run_callable, raw, handle, values, metadata)
            try:
                return run_callable(raw, handle, values, metadata)
            finally:  # first what again() does where no locks are held
                if (
                    request.count == here.member.count
                    and request.number == request.news.number
                    and not here.taken
                    and not request.held
                ):
                    request.counter.times += 1
                    here.looked(request, handle)
                elif not request.again(here):
                    watch._access(here, request, frame)

        self._put(base, "_run", new_run)
        self._put(plans, "run_callable", new_run_callable)

    def _callables(self, owner: Any) -> None:
        watch, make = self, owner.make_callable

        def new_make(self: Any, fetches: Any, *args: Any, **named: Any) -> Any:
            return functools.partial(watch._run, self, fetches, None, make(self, fetches, *args, **named))

        if "make_callable" in vars(owner):
            self._put(owner, "make_callable", new_make)

    def _run_compiled(self, original: Callable[..., Any], raw: Any, handle: int, *args: Any) -> Any:
        here = self._local.here
        if here.inside:
            return original(raw, handle, *args)
        frame, depth = program_frame_from(_OUTSIDE + 2)
        here.depth = depth - 1
        request = here.requests.get(_place(frame, (raw, handle)))
        if request is None or request.own.raw is not raw:
            return self._run(*_asked(), handle, original, raw, handle, *args)
        if frame is not None:
            here.latest[frame.f_lasti - handle] = here.last[handle] = request
        try:
            return original(raw, handle, *args)
        finally:
            if not request.again(here):
                self._access(here, request, frame)

    def _run(
        self, session: Any, fetches: Any, handle: int | None, original: Callable[..., Any], *args: Any, **named: Any
    ) -> Any:
        """Calls what runs a session, and tells of it unless that is told already."""
        here = self._local.here
        if here.inside:
            return original(*args, **named)
        here.inside = True
        # What TensorFlow calls in threads of its own comes after what was before the run, and before what is after it.
        calls_python = hasattr(session.graph, "_py_funcs_used_in_graph")
        if calls_python:
            tell(self._into_python)
        try:
            return original(*args, **named)
        finally:
            here.inside = False
            if calls_python:
                hear(self._out_of_python)
            self._ran(here, session, fetches, handle, calls_python)

    def _python_functions(self, owner: Any) -> None:
        watch, call = self, owner.__call__

        def new_call(self: Any, *args: Any, **named: Any) -> Any:
            here = watch._local.here
            inside, here.inside = here.inside, False
            hear(watch._into_python)
            try:
                return call(self, *args, **named)
            finally:
                tell(watch._out_of_python)
                here.inside = inside

        self._put(owner, "__call__", new_call)

    def _ran(self, here: _Here, session: Any, fetches: Any, handle: int | None, calls_python: bool) -> None:
        raw, leaves = session._session, _leaves(fetches)
        frame, depth = program_frame_from(_OUTSIDE)
        key = tuple([each if isinstance(each, str) else id(each) for each in leaves])
        place = _place(frame, (raw, key if handle is None else handle))
        found = here.requests.get(place)
        if found is not None and found.own.raw is raw:
            request = found
        else:
            graph = session.graph
            state = self._state(graph)
            uses = _uses(graph, key, leaves, state.uses)
            request = _Request(state, self._session(session), handle, frame and frame.f_code, leaves, uses)
            if not calls_python:
                if len(here.requests) >= _REMEMBERED:
                    here.forget()
                here.requests[place] = request
        if not calls_python:
            self._note(here, request, frame, depth - 2, fetches)
        if request is found and request.again(here):
            return
        self._access(here, request, frame)
        if calls_python:
            request.make(())

    def _note(self, here: _Here, request: _Request, frame: FrameType | None, outside: int, fetches: Any) -> None:
        """So that what is not compiled is known at once, if it is run here again; not what make_callable() gave."""
        if frame is not None and request.handle is None and outside > 0 and request.asks(fetches):
            here.outside = outside
            here.latest[frame.f_lasti - _which(fetches)] = request

    def _access(self, here: _Here, request: _Request, frame: FrameType | None) -> None:
        judge, state, me, seen = self._judge, request.state, here.member, request.seen
        held = held_locks() if here.taken else _NOTHING
        changes, number = state.news.changes.number, state.news.number  # with what comes now, not all are compared
        if seen and held == request.held and all([each.kept for each in seen]):
            request.counter.times += 1
            number = judge.again(seen, me, frame, number) or number
        else:
            own, uses = request.own, request.uses
            accesses = [
                judge.access(state.structure, "run", "runs the graph", "", frame),
                judge.access(own.openness, "run", "runs the session", "", frame),
            ]
            if uses[0] or uses[1]:
                what = "assigns variables" if uses[1] else "reads variables"
                accesses.append(judge.access(own.variables, uses, what, "", frame))
            request.make(tuple(accesses), held)
        request.count = me.count
        request.number = changes if request.shares else number
        if not state.ran or state.last_run is not request.seen[0]:
            state.run(request.seen[0])
        if state.leak is not None and state.leak[0] == here.member.number:  # it was meant to be the thread's own
            judge.take_back(state.leak[1])
            state.leak = None

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


def _which(fetches: Any) -> int:
    """What is run without having been compiled, as far as it can be told at once."""
    if type(fetches) is list or type(fetches) is tuple:
        return id(fetches[0]) if fetches else 0
    return id(fetches)


def _place(frame: FrameType | None, which: tuple[Any, Any]) -> Any:
    return which if frame is None else (id(frame.f_code), frame.f_lasti, *which)


_COMPILED_CALL, _RUN = calls.CompiledCall.__call__.__code__, calls.run.__code__


def _asked() -> tuple[Any, Any]:
    """The session, and what is to be run in it, where the calling thread is in a compiled request."""
    frame: Any = sys._getframe(1)
    while frame.f_code not in (_RUN, _COMPILED_CALL):
        frame = frame.f_back
    found = frame.f_locals
    if frame.f_code is _RUN:
        return found["session"], found["fetches"]
    return found["self"]._session, found["self"]._fetches


class _Token:
    """What is told by it comes before what hears of it."""


def _own_graph() -> Any:
    """The default graph of the calling thread where it has entered none; None until it is used."""
    return private.ops._default_graph_stack._global_default_graph


# -- which variables are taken and set --------------------------------------------------------------------------------

Uses = tuple[frozenset[str], frozenset[str]]


def _leaves(fetches: Any) -> list[Any]:
    kind = type(fetches)  # isinstance() would ask each tensor for its class: half a microsecond
    if issubclass(kind, dict):
        fetches = list(fetches.values())
    elif not issubclass(kind, (list, tuple)):
        return [fetches]
    return [leaf for each in fetches for leaf in _leaves(each)]


def _uses(graph: Any, key: Any, leaves: Sequence[Any], known: dict[Any, tuple[Uses, Any]]) -> Uses:
    found = known.get(key)
    if found is None:
        if len(known) > _REMEMBERED:
            known.clear()
        found = known[key] = _closure(_operations(graph, leaves)), leaves  # kept, so that no id is used again
    return found[0]


def _operations(graph: Any, leaves: Sequence[Any]) -> list[Any]:
    found = []
    for leaf in tf.nest.flatten(leaves):
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
