"""A script of TensorFlow 1 as a side: what its last session leaves behind, as a model.

Data flow; the script's process is one of its own, as that of ``tf1sessions run``::

    captured(script) ──▶ scripts.runner.Run ──▶ the script's process: execute
                                                  └─▶ _Capture: when a session is closed, its graph and its variables
                                                      go into a folder; of several sessions the last one counts
    the folder ──▶ load() ──▶ an ArtifactSide
"""

from __future__ import annotations

import difflib
import json
import os
import signal
import tempfile
import weakref
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ScriptUsageError, UsageError, WorkError
from tf1sessions.models.graph_index import node_of
from tf1sessions.models.model import load
from tf1sessions.porting.parity.artifacts import ArtifactSide
from tf1sessions.scripts import importer, program
from tf1sessions.scripts.jobs import Job
from tf1sessions.scripts.runner import Run, RunSettings

__all__ = ["ProgramSide", "execute"]

_GRAPH, _VALUES, _INDEX = "graph.pb", "values", "index.json"
_REFERENCES = ("VariableV2", "Variable")


class ProgramSide(ArtifactSide):
    """The graph and variables that a script leaves behind.

    Args:
        script: Its path.
        args: Its arguments.
        outputs: The tensors that are compared, by name; by default the ends of its inference graph.
        inputs: The tensors that are fed, where the script's graph has them; by default its placeholders.
        allow_ops: As for :func:`tf1sessions.load`.

    Raises:
        ScriptUsageError: It cannot be run, or ran no session.
        UsageError: Its graph has no such tensors.
        WorkError: It failed.
    """

    def __init__(
        self,
        script: str,
        args: Sequence[str] = (),
        outputs: Sequence[str] | None = None,
        inputs: Sequence[str] | None = None,
        allow_ops: Collection[str] = (),
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tf1sessions-verify-")
        try:
            found = _captured(Job(script=script, args=tuple(args)), self._folder.name, outputs or ())
            have = set(found["nodes"])
            if missing := [name for name in outputs or () if node_of(name) not in have]:
                near = difflib.get_close_matches(node_of(missing[0]), have, 3)
                raise UsageError(
                    f"the graph of {script} has no {missing[0]!r}",
                    where=script,
                    next_step=f"Near to it are {', '.join(near)}: say which it is by --map." if near else None,
                )
            fed = [name for name in inputs or () if node_of(name) in have]
            model = load(
                found["graph"],
                checkpoint=found["values"],
                outputs=list(outputs) if outputs else None,
                inputs=fed if fed and len(fed) == len(inputs or ()) else None,
                allow_ops=allow_ops,
            )
        except BaseException:
            self._folder.cleanup()
            raise
        super().__init__(model, script)
        self.kind = "script, as its last session left it"

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


def _captured(job: Job, folder: str, wanted: Sequence[str]) -> dict[str, Any]:
    """Runs a script and returns what was captured: its ``graph``, its ``values`` or None, and its ``nodes``."""
    running = Run(
        [job],
        RunSettings(
            out=os.path.join(folder, "run"),
            stdio=(0, 2, 2),  # what it prints is none of ours
            target="tf1sessions.porting.parity.programs:execute",
            more={"capture": {"folder": folder, "wanted": [node_of(name) for name in wanted]}},
        ),
    )
    with running.heeding_signals():
        summary = running.run()
    if summary.interrupted_by is not None:  # it is no error of the script's
        signal.raise_signal(summary.interrupted_by)
    index = os.path.join(folder, _INDEX)
    if summary.exit_code:
        raise WorkError(
            f"the script {job.shown} ended with exit code {summary.exit_code}",
            next_step=f"See how by itself: tf1sessions run {job.shown}.",
        )
    if not os.path.exists(index):
        raise ScriptUsageError(
            f"the script {job.shown} made no session, so there is nothing to compare", where=job.shown
        )
    with open(index, encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


# -- in the script's process ------------------------------------------------------------------------------------------


def execute(payload: Mapping[str, Any]) -> int:
    """As :func:`tf1sessions.scripts.program.execute`, and captures what ``payload["capture"]`` asks for."""
    capture = _Capture(payload["capture"]["folder"], payload["capture"]["wanted"])
    return program.execute(payload, capture.start, capture.finish)


class _Capture:
    """Writes the graph and the variables of sessions as they are closed, each over the one before.

    A session whose graph has what is wanted is never replaced by one whose graph has not.
    """

    def __init__(self, folder: str, wanted: Sequence[str]) -> None:
        self._folder = folder
        self._wanted = frozenset(wanted)
        self._best = -1
        self._count = 0
        self._sessions: Any = weakref.WeakSet()

    def start(self) -> None:
        """Puts the hooks in place as soon as the program imports TensorFlow."""
        importer.after_import(lambda _: self._hook())

    def finish(self, exit_code: int) -> None:
        """Captures the sessions that are still open when the program has ended."""
        for session in list(self._sessions):
            self._take(session)

    def _hook(self) -> None:
        from tf1sessions.runtime import private

        session_class = private.session.BaseSession
        begin, close = session_class.__init__, session_class.close

        def __init__(session: Any, *args: Any, **named: Any) -> None:
            begin(session, *args, **named)
            self._sessions.add(session)

        def close_and_keep(session: Any) -> None:
            self._take(session)
            close(session)

        session_class.__init__, session_class.close = __init__, close_and_keep

    def _take(self, session: Any) -> None:
        """Writes a session down, unless it is closed, or a better one was."""
        if session not in self._sessions or getattr(session, "_closed", True):
            return
        self._sessions.discard(session)
        graph_def = session.graph.as_graph_def()
        nodes = [node.name for node in graph_def.node]
        fit = len(self._wanted & set(nodes)) if self._wanted else min(1, len(nodes))
        if not nodes or fit < self._best:
            return
        values = _values(session)
        self._best = fit
        self._count += 1
        folder = os.path.join(self._folder, f"session-{self._count}")
        os.mkdir(folder)
        graph, prefix = os.path.join(folder, _GRAPH), os.path.join(folder, _VALUES)
        with open(graph, "wb") as file:
            file.write(graph_def.SerializeToString())
        if values:
            _write(values, prefix)
        with open(os.path.join(self._folder, _INDEX), "w", encoding="utf-8") as file:
            json.dump({"graph": graph, "values": prefix if values else None, "nodes": nodes}, file)


def _values(session: Any) -> dict[str, Any]:
    """The values of the variables of a session, by name; those that have none are left out."""
    from tf1sessions.runtime import tf

    readers = {}
    for operation in session.graph.get_operations():
        if operation.type in _REFERENCES:
            readers[operation.name] = operation.outputs[0]
        elif operation.type == "ReadVariableOp" and operation.inputs[0].op.type == "VarHandleOp":
            readers.setdefault(operation.inputs[0].op.name, operation.outputs[0])
    try:
        return dict(session.run(readers))
    except tf.errors.FailedPreconditionError:  # some were never initialised
        found = {}
        for name, reader in readers.items():
            try:
                found[name] = session.run(reader)
            except tf.errors.FailedPreconditionError:
                continue
        return found


def _write(values: Mapping[str, Any], prefix: str) -> None:
    """Writes a checkpoint."""
    from tf1sessions.runtime import tf

    with tf.Graph().as_default(), tf.Session() as session:
        given = {tf.placeholder(tf.as_dtype(value.dtype)): value for value in values.values()}
        save = tf.raw_ops.SaveV2(
            prefix=prefix, tensor_names=list(values), shape_and_slices=[""] * len(values), tensors=list(given)
        )
        session.run(save, given)
