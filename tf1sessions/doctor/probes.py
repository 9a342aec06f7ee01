"""In a watched program's process: notes what it does with sessions, graphs, threads and processes.

Data flow::

    dynamic.py ──▶ runner ──▶ execute(payload) ──▶ program.execute(payload, begin, end)
                                 begin: the hooks below, around TensorFlow's and Python's own functions
      Session.run ──▶ a Tally for each thread and graph ┐
      operations made ──▶ a GraphRecord                 ├──▶ once a second, and at the end: NoteWriter.state()
      feeds that are converted, constants fetched       ┘
      sessions, forks, children, environment, queues ──────▶ at once: NoteWriter.event()

A hook calls what it stands for with the same arguments, and notes; it raises nothing of its own, and what TensorFlow
raises goes through. No thread is started and no file stays open, so that the program sees as many as before. In a child
process that the program forks the hooks are taken out again; what a child does with TensorFlow is noted once.

A probe that fails says so in the notes, and not in the program. A traceback that a program prints in the midst of its
run shows one line more of tf1sessions for ``Session.run`` than without probes; the last one shows none.

The tallies say which thread writes what. ``_adding`` is held while a graph gets its record, and while sessions are
listed or added; ``_flushing`` lets one thread at a time write the counts.
"""

from __future__ import annotations

import dataclasses
import functools
import multiprocessing.process
import os
import subprocess
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from tf1sessions import forks
from tf1sessions.doctor.notes import NoteWriter
from tf1sessions.doctor.tallies import (
    Builder,
    ConvertedFeeds,
    FedConstant,
    GraphRecord,
    Local,
    Promotion,
    Site,
    Spot,
    Tally,
    ThreadClock,
    clock,
    cpu_clock,
    in_library,
    spot_of_program,
)
from tf1sessions.scripts import importer, program
from tf1sessions.sessions.machine import usable_cores

__all__ = ["execute"]

#: Seconds between two writings of the counts, and between two looks at a thread's clock. Arbitrary.
_FLUSH_SECS = 1.0
_SAMPLE_SECS = 0.1
#: From how many bytes on a constant that is fetched is reported. Arbitrary: a copy of it costs about 100 µs.
_BIG_BYTES = 1 << 20
#: How often a thread may run a graph between two operations that another makes, before that is no hand-over. Arbitrary.
_ROUNDS = 2
#: How many places of one kind are reported, the busiest first.
_MOST_REPORTED = 30


def execute(payload: Mapping[str, Any]) -> int:
    """As :func:`tf1sessions.scripts.program.execute`; ``payload["notes"]`` is the folder for what is noted."""
    watch = _Watch(NoteWriter(payload["notes"]))
    return program.execute(payload, watch.begin, watch.end)


# -- the watch --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Coordinated:
    """The state of a Coordinator."""

    spot: Spot | None
    threads: int = 0
    stopped: bool = False
    joined: bool = False


def _guarded(probe: Any) -> Any:
    """A method of :class:`_Watch` whose errors become notes: the program must not see them."""

    @functools.wraps(probe)
    def guarded(watch: _Watch, *args: Any, **named: Any) -> Any:
        try:
            return probe(watch, *args, **named)
        except Exception:
            watch._writer.event("failed", probe=probe.__name__.strip("_"), error=traceback.format_exc()[-2000:])

    return guarded


class _Watch:
    """All that is noted in this process, and the hooks that note it."""

    def __init__(self, writer: NoteWriter) -> None:
        self._writer = writer
        self._pid = os.getpid()
        self._began = clock()
        self._cores = usable_cores()
        self._undo: list[Callable[[], None]] = []
        self._local: Any = None
        self._due = 0.0
        self._flushing = threading.Lock()
        self._adding = threading.RLock()  # see above
        self._first_device: tuple[str, Spot | None] | None = None  # what initialised TensorFlow's devices, and where
        self._records: list[GraphRecord] = []
        self._sessions: weakref.WeakKeyDictionary[Any, Spot | None] = weakref.WeakKeyDictionary()
        self._feeds: dict[Any, ConvertedFeeds] = {}
        self._constants: dict[Any, FedConstant] = {}
        self._promotions: dict[Spot | None, Promotion] = {}
        self._coordinators: list[_Coordinated] = []
        self._runners: list[tuple[Any, Spot | None]] = []
        self._most_threads = 0
        self._base: Any = None
        self._face: Any = None  # what the program imports as tensorflow

    def begin(self) -> None:
        """Puts the hooks in place; those of TensorFlow as soon as the program imports it."""
        self._local = Local()
        self._due = clock() + _FLUSH_SECS
        self._writer.event("begin", cores=self._cores, pid=self._pid)
        self._watch_environment()
        self._watch_children()
        importer.after_import(self._after_tensorflow)

    def _after_tensorflow(self, face: Any) -> None:
        self._face = face
        self._watch_numpy()
        # After install_fast_path(), which puts its own functions in the places of TensorFlow's.
        self._watch_tensorflow()

    @_guarded
    def end(self, exit_code: int) -> None:
        """The program's main thread has ended: what is still open, and which threads still run."""
        if os.getpid() != self._pid:  # a child that the program forked has come out here
            return
        left: dict[Spot | None, int] = {}
        with self._adding:
            for session, spot in self._sessions.items():
                if not session._closed:
                    left[spot] = left.get(spot, 0) + 1
        for about in self._coordinators:
            self._writer.event("coordinator", **dataclasses.asdict(about))
        for ref, spot in self._runners:
            thread = ref()
            if thread is not None and thread.is_alive():
                self._writer.event("runner", spot=spot, name=thread.name, daemon=thread.daemon)
        for spot, count in left.items():
            self._writer.event("open", spot=spot, count=count)
        self._writer.event("end", exit_code=exit_code)
        self._flush(clock(), wait=True)

    # Hooks -----------------------------------------------------------------------------------------------------------

    def _put(self, owner: Any, name: str, function: Any) -> None:
        """``owner.name = function``, with the looks of what was there, until the hooks are taken out."""
        before = owner.__dict__[name]
        setattr(owner, name, functools.update_wrapper(function, before))
        self._undo.append(lambda: setattr(owner, name, before))

    @_guarded
    def _watch_environment(self) -> None:
        kind: Any = type(os.environ)
        set_item, delete_item = kind.__setitem__, kind.__delitem__

        def __setitem__(environ: Any, key: Any, value: Any) -> None:
            before = environ.get(key) if key == "CUDA_VISIBLE_DEVICES" else None
            set_item(environ, key, value)
            if key == "CUDA_VISIBLE_DEVICES" and environ is os.environ and before != value:
                self._note_visible(before, value)

        def __delitem__(environ: Any, key: Any) -> None:
            before = environ.get(key) if key == "CUDA_VISIBLE_DEVICES" else None
            delete_item(environ, key)
            if before is not None and environ is os.environ:
                self._note_visible(before, None)

        self._put(kind, "__setitem__", __setitem__)
        self._put(kind, "__delitem__", __delitem__)

    @_guarded
    def _note_visible(self, before: str | None, value: str | None) -> None:
        if self._first_device is not None:
            what, spot = self._first_device
            self._writer.event("visible", spot=spot_of_program(), before=before, value=value, what=what, first=spot)

    def _devices(self, what: str) -> None:
        if self._first_device is None:
            self._first_device = what, spot_of_program()

    @_guarded
    def _watch_children(self) -> None:
        popen, start = subprocess.Popen.__init__, multiprocessing.process.BaseProcess.start
        starting = threading.local()

        def popen_init(process: Any, args: Any, *more: Any, **named: Any) -> None:
            if _is_python(args):
                self._writer.event("child", spot=spot_of_program(), how="subprocess")
            starting.by = "an exec"  # what follows a fork: TensorFlow is not in the new program
            try:
                popen(process, args, *more, **named)
            finally:
                starting.by = None

        def process_start(process: Any) -> None:
            method = getattr(process, "_start_method", None) or multiprocessing.get_start_method(allow_none=True)
            self._writer.event("child", spot=spot_of_program(), how=f"multiprocessing ({method or 'default'})")
            starting.by = "multiprocessing"
            try:
                start(process)
            finally:
                starting.by = None

        self._put(subprocess.Popen, "__init__", popen_init)
        self._put(multiprocessing.process.BaseProcess, "start", process_start)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: self._before_fork(getattr(starting, "by", None)), after_in_child=self._in_child
            )

    @_guarded
    def _before_fork(self, starting: str | None) -> None:
        if os.getpid() != self._pid or starting == "an exec":
            return
        spot = spot_of_program()
        if starting is None:
            self._writer.event("child", spot=spot, how="os.fork")
        if self._first_device is not None:
            what, first = self._first_device
            self._writer.event("fork", spot=spot, what=what, first=first)

    @_guarded
    def _in_child(self) -> None:
        """In a forked child: nothing is watched but its first use of TensorFlow."""
        while self._undo:
            self._undo.pop()()
        if self._base is None or self._first_device is None:
            return
        used: list[bool] = []

        def note(function: Any, name: str) -> Any:
            def first(*args: Any, **named: Any) -> Any:
                if not used:
                    used.append(True)
                    self._writer.event("child-use", spot=spot_of_program(), name=name)
                return function(*args, **named)

            return first

        forks.error = note(forks.error, "TensorFlow")  # the fork guard refuses each use by it
        self._base.__init__ = note(self._base.__init__, "a session")  # where the guard is off
        self._base.run = note(self._base.run, "Session.run")

    def _watch_tensorflow(self) -> None:
        from tf1sessions.runtime import private
        from tf1sessions.sessions import calls

        self._base = private.session.BaseSession
        self._watch_sessions(self._base, calls)
        self._watch_graphs(private.ops.Graph)
        self._watch_devices(private.context, private.device_lib)
        self._watch_requests()
        self._watch_queues()

    # Sessions --------------------------------------------------------------------------------------------------------

    @_guarded
    def _watch_sessions(self, base: Any, calls: Any) -> None:
        init, make_callable = base.__init__, base.make_callable

        def __init__(session: Any, *args: Any, **named: Any) -> None:
            asked = dict(zip(("target", "graph", "config"), args, strict=False)) | named
            if not asked.get("target"):
                self._devices("a session")
            init(session, *args, **named)
            self._note_session(session, asked.get("config") is not None)

        def make(session: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Any:
            if feed_list:
                self._writer.event("callable", spot=spot_of_program(), feeds=len(feed_list))
            return make_callable(session, fetches, feed_list, accept_options)

        self._put(base, "__init__", __init__)
        self._put(base, "make_callable", make)
        self._put(base, "run", self._watched(base.run))
        if "run" in calls.Session.__dict__:
            self._put(calls.Session, "run", self._watched(calls.Session.run))
        self._put(calls.CompiledCall, "__call__", self._watched(calls.CompiledCall.__call__, compiled=True))

    @_guarded
    def _note_session(self, session: Any, given: bool) -> None:
        spot = spot_of_program()
        session._tf1sessions_watched = self._record(session.graph)
        with self._adding:
            open_now = sum(not other._closed for other in self._sessions)
            self._sessions[session] = spot
        config, target = session._config, session.sess_str
        described: dict[str, Any] = {}
        if given:
            gpu = config.gpu_options
            described = {
                "fraction": gpu.per_process_gpu_memory_fraction,
                "growth": gpu.allow_growth,
                "visible": gpu.visible_device_list,
                "lanes": [list(device.memory_limit_mb) for device in gpu.experimental.virtual_devices],
                "gpus": config.device_count.get("GPU", None),
                "intra": config.intra_op_parallelism_threads,
                "inter": config.inter_op_parallelism_threads,
                "own_pool": config.use_per_session_threads,
                "pools": [pool.num_threads for pool in config.session_inter_op_thread_pool],
            }
        self._writer.event(
            "session",
            spot=spot,
            remote=target.decode(errors="replace") if target else "",
            given=given,
            open=open_now,
            thread=self._local.thread.name,
            first=self._first_device,
            graph=session._tf1sessions_watched.number,
            **described,
        )

    def _watched(self, original: Any, compiled: bool = False) -> Any:
        """``Session.run``, or a compiled call, with a tally. Most runs pay two readings of a clock."""
        local, watch = self._local, self

        def run(self: Any, *args: Any, **named: Any) -> Any:
            session = self._session if compiled else self
            try:
                tally = local.tallies[session._tf1sessions_watched]
            except (AttributeError, KeyError):
                tally = watch._new_tally(session)
            count = tally.runs = tally.runs + 1
            tally.running = True
            began = clock()
            if count & 15 and began < tally.due:
                try:
                    return original(self, *args, **named)
                finally:
                    ended = tally.last = clock()
                    tally.running = False
                    tally.inside += ended - began
            cpu = cpu_clock()
            try:
                return original(self, *args, **named)
            finally:
                ended = tally.last = clock()
                tally.running = False
                tally.inside += ended - began
                tally.sampled_wall += ended - began
                tally.sampled_cpu += cpu_clock() - cpu
                if ended > tally.due:
                    tally.due = tally.thread.sample() + _SAMPLE_SECS
                if ended > watch._due:
                    watch._flush(ended)

        return run

    def _new_tally(self, session: Any) -> Tally:
        record = session.__dict__.get("_tf1sessions_watched")
        if record is None:
            record = session._tf1sessions_watched = self._record(session.graph)
        return self._tally(record)

    def _tally(self, record: GraphRecord) -> Tally:
        local = self._local
        tally = local.tallies.get(record)
        if tally is None:
            tally = local.tallies[record] = record.tallies[local.thread] = Tally(local.thread)
        return tally  # type: ignore[no-any-return]

    # Graphs ----------------------------------------------------------------------------------------------------------

    def _record(self, graph: Any) -> GraphRecord:
        record = getattr(graph, "_tf1sessions_watched", None)
        if record is None:
            with self._adding:
                record = getattr(graph, "_tf1sessions_watched", None)
                if record is None:
                    record = graph._tf1sessions_watched = GraphRecord(len(self._records) + 1)
                    self._records.append(record)
        return record

    @_guarded
    def _watch_graphs(self, graph_class: Any) -> None:
        create = graph_class._create_op_helper

        def _create_op_helper(graph: Any, operation: Any, *args: Any, **named: Any) -> Any:
            result = create(graph, operation, *args, **named)
            if not graph.building_function:
                self._note_operation(graph, operation)
            return result

        self._put(graph_class, "_create_op_helper", _create_op_helper)

    @_guarded
    def _note_operation(self, graph: Any, operation: Any) -> None:
        record = self._record(graph)
        thread = self._local.thread
        record.operations += 1
        builder = record.builders.get(thread)
        spot: Spot | None = None
        if builder is None:
            spot = spot_of_program()
            builder = record.builders[thread] = Builder(spot)
        builder.operations += 1
        if record.turn is not thread:
            record.turn = thread
            builder.turns += 1
        if not record.reported and len(record.tallies.keys() | record.builders.keys()) > 1:
            self._look_for_race(record, thread, builder, spot or spot_of_program())
        builder.last = clock()
        tally = self._local.tallies.get(record)
        if tally is not None:
            spot = spot or spot_of_program()
            if spot is not None:
                site = record.sites.get(spot)
                if site is None:
                    site = record.sites[spot] = Site(operation.type, in_library())
                site.operations += 1
                if site.runs != tally.runs:
                    site.runs = tally.runs
                    site.episodes += 1

    def _look_for_race(self, record: GraphRecord, thread: ThreadClock, builder: Builder, spot: Spot | None) -> None:
        """Whether another thread builds or runs the graph while this one builds it.

        One that hands the graph over and waits does neither: then there is one turn, or one round.
        """
        how, other = "", None
        for other, tally in list(record.tallies.items()):
            if other is thread:
                continue
            if tally.last > builder.last:
                builder.rounds[other] = builder.rounds.get(other, 0) + 1
            if tally.running or builder.rounds.get(other, 0) > _ROUNDS:
                how = "ran"
                break
        else:
            for other, theirs in list(record.builders.items()):
                if other is not thread and theirs.turns > 1 and builder.turns > 1:
                    how = "built"
                    break
        if not how or other is None:
            return
        record.reported = True
        built = record.builders.get(other)
        self._writer.event(
            "race",
            graph=record.number,
            spot=spot,
            thread=thread.name,
            how=how,
            other=other.name,
            other_spot=None if built is None else built.spot,
        )

    # Devices ---------------------------------------------------------------------------------------------------------

    @_guarded
    def _watch_devices(self, context: Any, device_lib: Any) -> None:
        cls = context.Context
        ensure, physical, local_devices = (
            cls.ensure_initialized,
            cls._initialize_physical_devices,
            device_lib.list_local_devices,
        )

        def ensure_initialized(current: Any) -> None:
            if not current._initialized:
                self._devices("an eager operation")
            ensure(current)

        def initialize_physical_devices(current: Any, *args: Any, **named: Any) -> Any:
            self._devices("a list of the devices")
            return physical(current, *args, **named)

        def list_local_devices(*args: Any, **named: Any) -> Any:
            self._devices("a list of the devices")
            return local_devices(*args, **named)

        self._put(cls, "ensure_initialized", ensure_initialized)
        self._put(cls, "_initialize_physical_devices", initialize_physical_devices)
        self._put(device_lib, "list_local_devices", list_local_devices)

    # Requests --------------------------------------------------------------------------------------------------------

    @_guarded
    def _watch_requests(self) -> None:
        from tf1sessions.sessions.feed_values import Feed
        from tf1sessions.sessions.session_calls import SessionCalls

        convert, plan = Feed._convert, SessionCalls.plan

        def _convert(feed: Any, value: Any) -> Any:
            began = clock()
            result = convert(feed, value)
            if getattr(result, "ndim", 0):  # a scalar costs nothing
                self._note_feed(feed, value, result, clock() - began)
            return result

        def planned(session_calls: Any, session: Any, key: Any, fetches: Any, feeds: Any, refs: Any) -> Any:
            made = plan(session_calls, session, key, fetches, feeds, refs)
            if made is not None:
                self._look_for_constants(session, made, refs[0])
            return made

        self._put(Feed, "_convert", _convert)
        self._put(SessionCalls, "plan", planned)

    @_guarded
    def _note_feed(self, feed: Any, value: Any, result: Any, seconds: float) -> None:
        spot = spot_of_program()
        given = str(value.dtype) if hasattr(value, "dtype") else f"a {type(value).__name__}"
        key = (spot, feed.tensor.name)
        noted = self._feeds.get(key)
        if noted is None:
            noted = self._feeds[key] = ConvertedFeeds(spot, feed.tensor.name, given, str(feed.dtype))
        noted.count += 1
        noted.nbytes += result.nbytes
        noted.seconds += seconds

    @_guarded
    def _look_for_constants(self, session: Any, plan: Any, fetched: Any) -> None:
        for fetch in fetched:
            tensor = fetch if hasattr(fetch, "op") else None
            if isinstance(fetch, str):
                tensor = session.graph.as_graph_element(fetch)
            operation = getattr(tensor, "op", None)
            while operation is not None and operation.type == "Identity":
                operation = operation.inputs[0].op
            if operation is None or operation.type != "Const":
                continue
            shape = operation.outputs[0].shape
            nbytes = (shape.num_elements() or 0) * operation.outputs[0].dtype.size
            if nbytes >= _BIG_BYTES:
                self._count_constant(plan, FedConstant(spot_of_program(), operation.name, nbytes))

    def _count_constant(self, plan: Any, constant: FedConstant) -> None:
        constant = self._constants.setdefault((constant.spot, constant.name), constant)
        constant.runs += 1  # the run that it was made for
        run = plan.run

        def counted(session: Any, values: Any) -> Any:
            constant.runs += 1
            return run(session, values)

        plan.run = counted

    # NumPy -----------------------------------------------------------------------------------------------------------

    @_guarded
    def _watch_numpy(self) -> None:
        from tf1sessions.scripts import numpy_operators

        numpy_operators.notice(self._note_promotion)
        self._undo.append(lambda: numpy_operators.notice(None))

    @_guarded
    def _note_promotion(self, operands: str, result: str) -> None:
        spot = spot_of_program()
        noted = self._promotions.get(spot)
        if noted is None:
            noted = self._promotions[spot] = Promotion(spot, operands, result)
        noted.count += 1

    # Queues ----------------------------------------------------------------------------------------------------------

    @_guarded
    def _watch_queues(self) -> None:
        ours = self._face.train.Coordinator  # which settings.py has put there
        theirs = next(base for base in ours.__mro__ if "register_thread" in base.__dict__)
        runner = self._face.train.QueueRunner
        init, register, stop, join = theirs.__init__, theirs.register_thread, ours.request_stop, ours.join
        create = runner.create_threads

        def __init__(coordinator: Any, *args: Any, **named: Any) -> None:
            init(coordinator, *args, **named)
            coordinator._tf1sessions_watched = about = _Coordinated(spot_of_program())
            self._coordinators.append(about)

        def register_thread(coordinator: Any, thread: Any) -> Any:
            coordinator._tf1sessions_watched.threads += 1
            return register(coordinator, thread)

        def request_stop(coordinator: Any, *args: Any, **named: Any) -> Any:
            coordinator._tf1sessions_watched.stopped = True
            return stop(coordinator, *args, **named)

        def joined(coordinator: Any, *args: Any, **named: Any) -> Any:
            coordinator._tf1sessions_watched.joined = True
            return join(coordinator, *args, **named)

        def create_threads(runner: Any, *args: Any, **named: Any) -> Any:
            threads = create(runner, *args, **named)
            spot = spot_of_program()
            self._runners += [(weakref.ref(thread), spot) for thread in threads]
            return threads

        self._put(theirs, "__init__", __init__)
        self._put(theirs, "register_thread", register_thread)
        self._put(ours, "request_stop", request_stop)
        self._put(ours, "join", joined)
        self._put(runner, "create_threads", create_threads)

    # Counts ----------------------------------------------------------------------------------------------------------

    @_guarded
    def _flush(self, now: float, wait: bool = False) -> None:
        """Writes the counts, unless another thread does."""
        if os.getpid() != self._pid or not self._flushing.acquire(blocking=wait):
            return
        try:
            self._due = now + _FLUSH_SECS
            self._writer.state(self._counts(now))
        finally:
            self._flushing.release()

    def _counts(self, now: float) -> dict[str, Any]:
        try:
            self._most_threads = max(self._most_threads, len(os.listdir("/proc/self/task")))
        except OSError:  # not Linux
            pass
        threads: dict[ThreadClock, dict[str, Any]] = {}
        sites: list[dict[str, Any]] = []
        for record in list(self._records):
            for thread, tally in list(record.tallies.items()):
                about = threads.setdefault(thread, {"runs": 0, "inside": 0.0, "sampled_wall": 0.0, "sampled_cpu": 0.0})
                about["runs"] += tally.runs
                for name in ("inside", "sampled_wall", "sampled_cpu"):
                    about[name] += getattr(tally, name)
            runs = sum(tally.runs for tally in list(record.tallies.values()))
            sites += [
                {
                    "spot": spot,
                    "graph": record.number,
                    "operations": site.operations,
                    "episodes": site.episodes,
                    "type": site.first,
                    "in_library": site.in_library,
                    "in_all": record.operations,
                    "runs": runs,
                }
                for spot, site in list(record.sites.items())
                if site.episodes > 1
            ]
        return {
            "seconds": now - self._began,
            "most_threads": self._most_threads,
            "threads": [_about(thread, about) for thread, about in threads.items()],
            "sites": sorted(sites, key=lambda site: -site["episodes"])[:_MOST_REPORTED],
            "feeds": [
                {name: getattr(feed, name) for name in ConvertedFeeds.__slots__}
                for feed in sorted(self._feeds.values(), key=lambda feed: -feed.seconds)[:_MOST_REPORTED]
            ],
            "constants": [
                {name: getattr(constant, name) for name in FedConstant.__slots__}
                for constant in sorted(self._constants.values(), key=lambda one: -one.runs)[:_MOST_REPORTED]
            ],
            "promotions": [
                {name: getattr(one, name) for name in Promotion.__slots__}
                for one in sorted(self._promotions.values(), key=lambda one: -one.count)[:_MOST_REPORTED]
            ],
        }


def _is_python(args: Any) -> bool:
    """Whether a command line starts Python."""
    first = args[0] if isinstance(args, (list, tuple)) and args else args
    if not isinstance(first, (str, bytes, os.PathLike)):
        return False
    words = os.fsdecode(first).split()
    return bool(words) and (first == sys.executable or os.path.basename(words[0]).startswith("python"))


def _about(thread: ThreadClock, about: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": thread.name,
        "since": thread.since,
        "until": thread.wall,
        "cpu": thread.cpu - thread.cpu_since,
        "waited": thread.waited - thread.waited_since,
        **about,
    }
