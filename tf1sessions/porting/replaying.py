"""Runs a script on today's TensorFlow as ``tf1sessions run`` does, and records it as an older trace of it was recorded.

Data flow; no TensorFlow in the caller's process::

    replay(trace, script) ──▶ scripts.runner.Run ──▶ the script's process: execute
                                  └─▶ _Guided, a Recorder: gives the script what the trace has (feeds, initial values,
                                      seeds), as far as asked, and notes what it computes ──▶ another trace

What is then compared is ``trace_comparison.compare(trace, replayed.trace)``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import ScriptUsageError, UsageError
from tf1sessions.porting import recorder as _recorder
from tf1sessions.porting.traces import Series, Summary, Trace, read
from tf1sessions.scripts import importer, program, seeds
from tf1sessions.scripts.events import Event
from tf1sessions.scripts.jobs import Job, JobSettings
from tf1sessions.scripts.runner import Run, RunSettings

__all__ = ["GIVEN", "Replay", "execute", "replay"]

recorder: Any = _recorder  # it has no annotations
_Recorder: Any = _recorder.Recorder

#: What a trace can give to the script that is held against it.
GIVEN = ("variables", "feeds", "seeds")


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
    path = os.path.abspath(out)
    job = script if isinstance(script, Job) else Job(script=os.fspath(script), args=tuple(_arguments(trace, args)))
    own = JobSettings(fast_path=False) if time_limit is None else JobSettings(fast_path=False, time_limit=time_limit)
    recording = {
        "out": path,
        "options": dict(trace.options),
        "program": {
            "script": os.path.basename(job.shown),
            "arguments": list(job.args),
            "path": job.path,
        },
        "trace": os.path.abspath(trace.path),
        "given": sorted(given),
    }
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    with tempfile.TemporaryDirectory(prefix="tf1sessions-replay-") as folder:
        running = Run(
            [dataclasses.replace(job, settings=own.over(job.settings))],
            RunSettings(
                out=os.path.join(folder, "run"),
                stdio=stdio,
                target="tf1sessions.porting.replaying:execute",
                more={"recording": recording},
            ),
            listener,
        )
        with running.heeding_signals():
            summary = running.run()
    if not os.path.exists(path):
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
    wanted = payload["recording"]
    known = vars(recorder.Options())
    options = recorder.Options(**{name: value for name, value in wanted["options"].items() if name in known})
    with read(wanted["trace"]) as trace:
        guided = _Guided(wanted["out"], options, wanted["program"], trace, frozenset(wanted["given"]))
        try:
            exit_code = program.execute(payload, guided.start, guided.write, guided.raised)
            guided.write(exit_code)  # with what the program's threads have done since
        finally:
            guided.close()
    return exit_code


class _Guided(_Recorder):  # type: ignore[misc]
    """A recorder that gives the program what a trace has."""

    def __init__(self, out: str, options: Any, about: Any, trace: Trace, given: frozenset[str]) -> None:
        super().__init__(out, options, about)
        self._trace = trace
        self._given = given
        self._written = 0
        self._raised: Mapping[str, Any] = {}
        self._values: dict[int, Mapping[str, Any]] = {}
        self._calls_of: dict[Any, list[int]] = {}
        self._counts: Any = weakref.WeakKeyDictionary()  # graph -> operation -> count
        self._fed: dict[tuple[int, str], dict[int, tuple[Series, int]]] = {}
        if "feeds" in given:
            self._find_feeds()

    def start(self) -> None:
        """Puts the hooks in place as soon as the program imports TensorFlow."""
        importer.after_import(lambda _: self._hook())

    def _hook(self) -> None:
        from tf1sessions.runtime import private, tf

        super().hook(private.session.BaseSession)
        self._count(private.ops.Graph)
        if "seeds" in self._given:
            self._give_seeds(private.ops.Graph, tf.AttrValue)

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

    def _give_seeds(self, graph_class: Any, attribute: Any) -> None:
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
        keys = [(kind.fetches, kind.targets, kind.feeds) for kind in self._trace.kinds]
        for number, session, _, kind, _, _ in self._trace.table.tolist():
            if kind >= 0:
                self._calls_of.setdefault((session, *keys[kind]), []).append(number)
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
        calls = self._calls_of.get(key, [])
        if turn > len(calls):
            self.note(f"run({', '.join(key[1] + key[2])}): not so often in the trace")
            return values
        return [
            self._feed(about.number, name, calls[turn - 1], value) for name, value in zip(names, values, strict=True)
        ]

    def _feed(self, session: int, name: str, call: int, value: Any) -> Any:
        series, row = self._fed.get((session, name), {}).get(call, (None, 0))
        if series is None:
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
        if "variables" not in self._given:
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
        """Why it could not be set, or None."""
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
