"""Runs a script on today's TensorFlow as ``tf1sessions run`` does, and records it as an older trace of it was recorded.

Data flow; no TensorFlow in the caller's process::

    replay(trace, script) ──▶ scripts.runner.Run ──▶ the script's process: execute
                                  └─▶ Guided, a Recorder: gives the script what the trace has (feeds, initial values,
                                      seeds), as far as asked, and notes what it computes ──▶ another trace

What is then compared is ``trace_comparison.compare(trace, replayed.trace)``. :func:`record` does the same for a script
of which there is no trace yet.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import dataclasses
import os
import signal
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import ScriptUsageError, UsageError
from tf1sessions.files import temporary_folder
from tf1sessions.porting import recorder as _recorder
from tf1sessions.porting.ordered_inputs import keep_order, loop_in_order, seed_python
from tf1sessions.porting.trace_alignment import calls_by_kind
from tf1sessions.porting.traces import Series, Summary, Trace, read
from tf1sessions.scripts import importer, program, seeds
from tf1sessions.scripts.events import Event
from tf1sessions.scripts.jobs import Job, JobSettings
from tf1sessions.scripts.runner import Run, RunSettings

__all__ = ["DEFAULT_SEED", "GIVEN", "Guided", "Replay", "execute", "record", "recording", "replay"]

recorder: Any = _recorder  # it has no annotations
_Recorder: Any = _recorder.Recorder

#: What a trace can give to the script that is held against it.
GIVEN = ("variables", "feeds", "seeds")
#: The seed of what has none, where two runs are to draw the same. Arbitrary.
DEFAULT_SEED = 20191014


@dataclasses.dataclass(frozen=True)
class Replay:
    """A script that was run again.

    Attributes:
        exit_code: The script's, as a shell would have it.
        trace: What it computed.
    """

    exit_code: int
    trace: Trace


def replay(
    trace: Trace,
    script: str | os.PathLike[str] | Job,
    args: Sequence[str] | None = None,
    *,
    out: str | os.PathLike[str],
    given: Collection[str] = (),
    time_limit: float | None = None,
    stdio: tuple[int | None, int, int] | None = (0, 1, 2),
    listener: Callable[[Event], None] | None = None,
) -> Replay:
    """Runs a script in a process of its own, and records what a trace of it has.

    Args:
        trace: What it computed elsewhere; it decides what is recorded, too.
        script: The script, or a job, whose settings count.
        args: Its arguments; by default those that the trace has.
        out: Where the new trace is to be. One that is there is replaced.
        given: What the script gets from the trace, of :data:`GIVEN`: ``"variables"``, each variable's initial value as
            soon as the script has initialised it; ``"feeds"``, the values of the same calls; ``"seeds"``, those of the
            random operations of the same names.
        time_limit: Seconds after which the script is ended.
        stdio: File descriptors that the script's stdin, stdout and stderr are.
        listener: Called with the events of the run, in this thread.

    Raises:
        UsageError: ``given`` names something else.
        ScriptUsageError: The script cannot be run, ran no session, or was killed before its trace was written.
        WorkerStartError: TensorFlow could not be loaded.

    A signal that ended the run (Ctrl-C, SIGTERM) does then here what it does without a run.

    Thread-safety: may be called from any thread, by several at once.

    Example:
        >>> from tf1sessions.porting.trace_comparison import compare
        >>> with read("trace.npz") as trace:    # doctest: +SKIP
        ...     replayed = replay(trace, "train.py", out="today.npz", given=["variables", "feeds"])
        ...     print(compare(trace, replayed.trace))
    """
    if unknown := sorted(set(given) - set(GIVEN)):
        raise UsageError(
            f"a trace cannot give {unknown[0]!r}", where="given=", next_step=f"It can give: {', '.join(GIVEN)}."
        )
    job = script if isinstance(script, Job) else Job(script=os.fspath(script), args=tuple(_arguments(trace, args)))
    wanted = recording(out, job.shown, job.args, job.path, options=trace.options, trace=trace.path, given=given)
    return _recorded(job, wanted, time_limit, stdio, listener)


def record(
    job: Job,
    *,
    out: str | os.PathLike[str],
    in_order: bool = False,
    time_limit: float | None = None,
    stdio: tuple[int | None, int, int] | None = (0, 1, 2),
    listener: Callable[[Event], None] | None = None,
) -> Replay:
    """Runs a script in a process of its own, and records what it computes; what has no seed gets one.

    Args: as for :func:`replay`; ``in_order``, as for :func:`recording`.

    Raises: as :func:`replay`.

    Thread-safety: may be called from any thread, by several at once.

    Example:
        >>> with record(Job(script="train.py"), out="today.npz").trace as trace:    # doctest: +SKIP
        ...     print(trace.count, "calls")
    """
    wanted = recording(out, job.shown, job.args, job.path, in_order=in_order)
    return _recorded(job, wanted, time_limit, stdio, listener)


def recording(
    out: str | os.PathLike[str],
    script: str,
    args: Sequence[str],
    path: str,
    *,
    options: Mapping[str, Any] | None = None,
    trace: str | None = None,
    given: Collection[str] = (),
    in_order: bool = False,
) -> dict[str, Any]:
    """Return as plain data what a :class:`Guided` is made from.

    Args:
        out: Where the new trace is to be.
        script, args, path: What the trace says about the program; the last is absolute.
        options: What is recorded, as a trace has it.
        trace: The path of the trace that the program is given things from. Without one, what has no seed gets
            :data:`DEFAULT_SEED`.
        given: What it is given, of :data:`GIVEN`.
        in_order: Whether queues and data sets keep their order, as ordered_inputs.py has it.
    """
    return {
        "out": os.path.abspath(out),
        "options": dict(options or {}),
        "program": {"script": os.path.basename(script), "arguments": list(args), "path": path},
        "trace": None if trace is None else os.path.abspath(trace),
        "given": sorted(given),
        "in_order": in_order,
    }


def _recorded(
    job: Job,
    wanted: Mapping[str, Any],
    time_limit: float | None,
    stdio: tuple[int | None, int, int] | None,
    listener: Callable[[Event], None] | None,
) -> Replay:
    own = JobSettings(fast_path=False) if time_limit is None else JobSettings(fast_path=False, time_limit=time_limit)
    path = wanted["out"]
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    with temporary_folder("tf1sessions-replay-") as folder:
        running = Run(
            [dataclasses.replace(job, settings=own.over(job.settings))],
            RunSettings(
                out=os.path.join(folder, "run"),
                stdio=stdio,
                target="tf1sessions.porting.replaying:execute",
                more={"recording": wanted},
            ),
            listener,
        )
        with running.heeding_signals():
            summary = running.run()
    if summary.interrupted_by is not None:  # what it was cut short to is no result
        signal.raise_signal(summary.interrupted_by)
    if not os.path.exists(path):
        if time_limit is not None and summary.exit_code == 124:
            raise ScriptUsageError(
                f"{job.shown} took longer than {time_limit:g} seconds, and nothing of it was recorded",
                next_step="Give it more time, or fewer steps.",
            )
        raise ScriptUsageError(
            f"{job.shown} ended with exit code {summary.exit_code}, and nothing of it was recorded",
            next_step="Look at what it printed: either it ran no session, or it was killed.",
        )
    return Replay(summary.exit_code, read(path))


def _arguments(trace: Trace, args: Sequence[str] | None) -> Sequence[str]:
    return [str(each) for each in trace.program.get("arguments", ())] if args is None else args


# -- in the script's process ------------------------------------------------------------------------------------------


def execute(payload: Mapping[str, Any]) -> int:
    """As :func:`tf1sessions.scripts.program.execute`, and writes the trace that ``payload["recording"]`` asks for."""
    exit_code = 1
    stack = contextlib.ExitStack()
    guided = stack.enter_context(Guided.opened(payload["recording"]))

    def end() -> None:
        with stack:
            guided.write(exit_code)  # with what functions of atexit have done since

    atexit.register(end)  # before the program registers its own: called after these
    exit_code = program.execute(payload, guided.start, guided.write, guided.raised)
    guided.write(exit_code)  # with what the program's threads have done since
    return exit_code


class _LegacySession:
    """The session of a LegacyGraph, for the recorder: it has the attributes of a session that the recorder reads."""

    _closed = False

    def __init__(self, legacy: Any) -> None:
        self.legacy = legacy
        self.graph = legacy.graph


class Guided(_Recorder):  # type: ignore[misc]
    """A recorder that gives the program what a trace has; made by :meth:`opened`."""

    def __init__(self, out: str, options: Any, about: Any, trace: Trace | None, given: frozenset[str]) -> None:
        super().__init__(out, options, about)
        self._trace = trace
        self._given = given
        self._written = 0
        self._in_order = False
        self._unordered = contextlib.ExitStack()
        self._raised: Mapping[str, Any] = {}
        self._values: dict[int, Mapping[str, Any]] = {}
        self._calls_of: dict[Any, dict[tuple[str, ...], collections.deque[int]]] = {}
        self._counts: Any = weakref.WeakKeyDictionary()  # graph -> operation -> count
        self._legacy_sessions: Any = weakref.WeakKeyDictionary()
        self._fed: dict[tuple[int, str], dict[int, tuple[Series, int]]] = {}
        self._lines_at: dict[int, tuple[str, ...]] = {}
        self._script_lines: frozenset[bytes] = frozenset()
        if "feeds" in given:
            self._find_feeds()
            if about["path"]:  # a module has none
                with open(about["path"], "rb") as file:
                    self._script_lines = frozenset(line.strip() for line in file)

    @classmethod
    @contextlib.contextmanager
    def opened(cls, wanted: Mapping[str, Any]) -> Iterator[Guided]:
        """Give the recorder that :func:`recording` describes, and close it and its trace at the end."""
        known = vars(recorder.Options())
        options = recorder.Options(**{name: value for name, value in wanted["options"].items() if name in known})
        with contextlib.nullcontext() if wanted["trace"] is None else read(wanted["trace"]) as trace:
            guided = cls(wanted["out"], options, wanted["program"], trace, frozenset(wanted["given"]))
            guided._in_order = wanted["in_order"]
            try:
                yield guided
            finally:
                guided._unordered.close()
                guided.close()

    def start(self) -> None:
        """Puts the hooks in place as soon as the program imports TensorFlow."""
        importer.after_import(lambda _: self.hook_tensorflow())
        self.seed_python()

    def seed_python(self) -> None:
        """Gives Python and NumPy a seed, unless a trace decides what is drawn."""
        if self._trace is None:
            seed_python(DEFAULT_SEED)

    def hook_tensorflow(self) -> None:
        """Puts the hooks in place, now that TensorFlow is imported."""
        from tf1sessions.runtime import private, tf

        if self._in_order:
            keep_order(self._unordered, self._ignore_this_thread)
        super().hook(private.session.BaseSession)
        self._count(private.ops.Graph)
        if self._trace is None:
            loop_in_order(self._unordered)
            self._seed_graphs(private.ops)
        if "seeds" in self._given:
            self._give_seeds(private.ops.Graph, tf.AttrValue)

    def _ignore_this_thread(self) -> None:
        """Notes nothing of what the calling thread runs: it fills a queue, where a data set has no such requests."""
        self._inside.reading = True

    def hook_legacy_graphs(self) -> None:
        """Has the functions of a LegacyGraph recorded as the requests of a session.

        For values of any shapes they are one function, as they are one graph in a session: where TensorFlow knows more
        of the shapes it chooses other kernels, which round otherwise, and a training makes that large.
        """
        from tf1sessions.porting.calls import PreparedFunction
        from tf1sessions.porting.legacy_graph import LegacyFunction

        def _exactly_for(function: PreparedFunction, shapes: Any) -> None:
            return None

        super()._put(PreparedFunction, "_exactly_for", _exactly_for)

        call = LegacyFunction.__call__

        def __call__(function: LegacyFunction, *values: Any) -> Any:
            if not self._noting():
                return call(function, *values)
            session = self._legacy_sessions.setdefault(function.legacy, _LegacySession(function.legacy))
            fed = list(function.fed)
            flat = [
                np.asarray(value, tensor.dtype.as_numpy_dtype)
                for tensor, value in zip(fed, function.flat(values), strict=True)
            ]
            kind, turn, given = self.begin(session, "run", function.tensors, function.operations, fed, flat)
            try:
                results = function.compute(given, kind.extras)
            except BaseException as error:
                self.end(session, kind, turn, fed, given, None, error)
                raise
            self.end(session, kind, turn, fed, given, results, None)
            return function.packed(given, results)

        super()._put(LegacyFunction, "__call__", __call__)

    def _values_of(self, session: Any, about: Any, names: Any) -> Any:
        if not isinstance(session, _LegacySession):
            return super()._values_of(session, about, names)
        return list(session.legacy.values(names).items())

    def _count(self, graph_class: Any) -> None:
        """Notes how many operations TensorFlow 1 would have made before each one."""
        create = graph_class._create_op_helper

        def _create_op_helper(graph: Any, operation: Any, *args: Any, **named: Any) -> Any:
            if not graph.building_function:
                counts = self._counts.setdefault(graph, {})
                counts[operation.name] = seeds._count(graph) - 1
            return create(graph, operation, *args, **named)

        super()._put(graph_class, "_create_op_helper", _create_op_helper)

    def describe(self, about: Any, graph: Any) -> None:
        """Puts a graph, as it is now, into the trace."""
        super().describe(about, graph)
        about.entry["counts"] = self._counts.get(graph, {})

    def write(self, exit_code: int) -> None:
        """Writes the trace, unless nothing has happened since it was written last."""
        if self.calls > self._written:
            self._written = self.calls
            ended = {"how": "done" if exit_code == 0 else "exit", **self._raised}
            super().finish({**ended, "code": exit_code})

    def raised(self, error: BaseException) -> None:
        """Notes the exception that ended the program."""
        with contextlib.suppress(BaseException):  # what the program raises may raise when it is looked at
            self._raised = recorder.how_it_ended(error)

    # Seeds

    def _seed_graphs(self, ops: Any) -> None:
        """Gives each graph a seed, as if the program had: what it sets itself comes later, and counts."""
        make = ops.Graph.__init__

        def __init__(graph: Any, *args: Any, **named: Any) -> None:
            make(graph, *args, **named)
            graph.seed = DEFAULT_SEED

        super()._put(ops.Graph, "__init__", __init__)
        default = ops._default_graph_stack._global_default_graph
        if default is not None:  # else it is made when it is used first; where it is, eager execution cannot begin
            default.seed = DEFAULT_SEED

    def _give_seeds(self, graph_class: Any, attribute: Any) -> None:
        assert self._trace is not None
        recorded: dict[str, list[list[int]]] = {}
        for number in sorted(self._trace.graphs):
            for name, pair in self._trace.graphs[number].get("seeds", {}).items():
                recorded.setdefault(name, []).append(pair)
        create = graph_class._create_op_helper

        def _create_op_helper(graph: Any, operation: Any, *args: Any, **named: Any) -> Any:
            result = create(graph, operation, *args, **named)
            pairs = recorded.get(operation.name)
            if pairs and not graph.building_function:
                # The next graph that has an operation of this name takes the next seeds.
                for name, seed in zip(("seed", "seed2"), pairs.pop(0) if len(pairs) > 1 else pairs[0], strict=True):
                    operation._set_attr(name, attribute(i=seed))
            return result

        super()._put(graph_class, "_create_op_helper", _create_op_helper)

    # Feeds

    def _find_feeds(self) -> None:
        assert self._trace is not None
        for key, (_, calls) in calls_by_kind(self._trace).items():
            lines = self._calls_of.setdefault(key, {})
            for number, _, _, line in calls:
                lines.setdefault(line, collections.deque()).append(number)
        for series in self._trace.find("feed"):
            rows = self._fed.setdefault((series.session, series.name), {})
            for row, call in enumerate(self._trace.columns(series)["calls"].tolist()):
                rows[call] = series, row

    def feeds(self, about: Any, kind: Any, turn: int, names: list[str], values: list[Any]) -> list[Any]:
        """The values of the trace, where it has them whole; else those of the program."""
        if "feeds" not in self._given or not names:
            return values
        entry = kind.entry
        key = (about.number, *(tuple(entry[part]) for part in ("fetches", "targets", "feeds")))
        calls = self._calls_at(self._calls_of.get(key, {}), entry["place"])
        if not calls:
            self.note(f"run({', '.join(key[1] + key[2])}): not so often in the trace")
            return values
        call = calls.popleft()
        return [self._feed(about.number, name, call, value) for name, value in zip(names, values, strict=True)]

    def _calls_at(self, lines: Mapping[Any, Any], place: int) -> Any:
        """The calls of the trace that are still to come at a place; at one that it lacks, those of its next such line.

        Where the program makes more or fewer calls at a line than the trace has, those of other lines keep their feeds.
        """
        assert self._trace is not None
        if place not in self._lines_at:
            self._lines_at[place] = self._places.texts(place) if self._trace.by_place else ()
        line = self._lines_at[place]
        if line in lines:
            return lines[line]
        return next((calls for other, calls in lines.items() if calls and not self._has_line(other)), None)

    def _has_line(self, line: tuple[str, ...]) -> bool:
        """Whether the program that runs has the innermost of these lines, too."""
        return bool(line) and line[-1].encode() in self._script_lines

    def _feed(self, session: int, name: str, call: int, value: Any) -> Any:
        series, row = self._fed.get((session, name), {}).get(call, (None, 0))
        if series is None or self._trace is None:
            self.note(f"feeds of {name}: the trace lacks some")
            return value
        kept = self._trace.value(series, row)
        own = np.asarray(value)
        if isinstance(kept, Summary):
            if recorder.digest(own).tobytes().hex() != kept.digest:
                self.note(f"feeds of {name}: the trace has no more than a digest, and it is another one")
            return value
        if kept.dtype == object:  # texts; the path of a file stays the one that is meant here
            return value if any(b"/" in text for text in kept.reshape(-1)) else kept
        if own.dtype != kept.dtype:
            if own.dtype.itemsize == kept.dtype.itemsize and own.dtype.kind == "V":  # bfloat16, kept as its bits
                return kept.view(own.dtype)
            self.note(f"feeds of {name}: {own.dtype} here, {kept.dtype} in the trace")
            return value
        return np.array(kept)

    # Variables

    def initial(self, session: Any, about: Any, name: str, value: Any) -> Any:
        """Sets a variable to the initial value that the trace has, by its own initializer."""
        if "variables" not in self._given or self._trace is None:
            return value
        if about.number not in self._values:
            self._values[about.number] = self._trace.variables(about.number, "initial")
        kept = self._values[about.number].get(name)
        problem = self._set(session, name, np.asarray(value), kept)
        if problem:
            self.note(f"the variable {name} keeps its own initial value: {problem}")
            return value
        return kept

    def _set(self, session: Any, name: str, value: Any, kept: Any) -> str | None:
        """Set a value; return why that could not be done, or None."""
        if kept is None:
            return "the trace has none"
        if isinstance(kept, Summary):
            return "the trace has no more than a summary of it"
        if kept.dtype != value.dtype and kept.dtype.itemsize == value.dtype.itemsize and value.dtype.kind == "V":
            kept = kept.view(value.dtype)
        if kept.shape != value.shape or (kept.dtype != value.dtype):
            return f"{kept.dtype}{list(kept.shape)} in the trace, {value.dtype}{list(value.shape)} here"
        assign = _initializer(session.graph, name)
        if assign is None:
            return "it has no initializer that can be fed"
        self._inside.reading = True
        try:
            session.run(assign, {assign.inputs[1]: kept})
        finally:
            self._inside.reading = False
        return None


def _initializer(graph: Any, name: str) -> Any:
    """The operation that gives a variable its first value, if its value can be fed."""
    variable = graph.get_operation_by_name(name).outputs[0]
    found = [
        reader
        for reader in variable.consumers()
        if reader.type in ("Assign", "AssignVariableOp") and reader.inputs[0] is variable and not reader.control_inputs
    ]
    found.sort(key=lambda operation: operation.name != f"{name}/Assign")
    for operation in found:
        if graph.is_feedable(operation.inputs[1]):
            return operation
    return None
