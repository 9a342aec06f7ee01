"""A recording of a TensorFlow 1 program as a side: one of its calls, with what was fed and fetched there.

Of two recordings, or of a recording and a script, all calls are compared: that is what traces are for
(``trace_comparison.py``).
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.files import temporary_folder
from tf1sessions.models.graph_index import listed
from tf1sessions.models.interface import TensorSpec
from tf1sessions.porting.diagnosis.diagnose import diagnose
from tf1sessions.porting.parity.sides import Side, array
from tf1sessions.porting.replaying import replay
from tf1sessions.porting.trace_comparison import ComparedTraces, TraceComparison
from tf1sessions.porting.traces import Summary, Trace, TracedCall, is_trace, read
from tf1sessions.runtime import tf
from tf1sessions.scripts.jobs import Job, JobSettings

__all__ = ["RecordingSide", "compared_call_by_call", "is_recording"]


class RecordingSide(Side):
    """One call of a recording: its feeds are the inputs, its fetches the outputs.

    Args:
        path: Of the recording.
        wanted: Names of tensors that the other side gives: the last call that fetched most of them is taken. Without
            any, the last call that was fed something and fetched something.

    Attributes:
        recorded: The values of the inputs.

    Raises:
        UsageError: The recording has no such call.
    """

    no_view = "a recording has the values of one call and no graph to run"

    def __init__(self, path: str, wanted: Collection[str] = ()) -> None:
        super().__init__(path, "recording")
        with read(path) as trace:
            call = _chosen(trace, frozenset(wanted))
            if call is None:
                fetched = sorted({name for kind in trace.kinds for name in kind.fetches})
                missing = listed(sorted(wanted)) or "anything"
                raise UsageError(
                    f"no call of the recording {path} was fed something and fetched {missing}",
                    where=path,
                    next_step=f"It has {listed(fetched)}." if fetched else "It has no calls of use.",
                )
            step = trace.step(call)
            self.kind = f"recording of TensorFlow {trace.versions.get('tensorflow')}"
        self.recorded = {name: array(value) for name, value in _whole(step.feeds).items()}
        self._fetches = {name: array(value) for name, value in _whole(step.fetches).items()}
        self.inputs = _specs(self.recorded)
        self.outputs = _specs(self._fetches)
        self.notes.append(f"of the recording, call {call.number}, {call.kind}, is what is compared")
        if left_out := sorted({*step.feeds, *step.fetches} - {*self.recorded, *self._fetches}):
            self.notes.append(f"the recording has no more than a summary of {listed(left_out)}")

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return self._fetches


def is_recording(source: Any) -> bool:
    """Whether a side is the path of a recording."""
    return isinstance(source, str | os.PathLike) and os.path.isfile(source) and is_trace(source)


def compared_call_by_call(
    left: Any,
    right: Any,
    tolerances: Any,
    given: Collection[str],
    seeds: str | None = None,
    once: bool = False,
    args: Sequence[str] | None = None,
) -> TraceComparison:
    """Holds a recording, or what a script computes now, against the recording on the left, and finds why they part.

    Args:
        left: The path of a recording.
        right: The path of a recording, or of a script.
        tolerances: As for :func:`tf1sessions.porting.verify`.
        given: What a script gets from the recording.
        seeds: Whose seeds a script gets, ``"tf1"`` or ``"tf2"``; by default TensorFlow 1's.
        once: Whether the script runs once alone, even where a second run would show the cause.
        args: The arguments of the script; by default those that the recording has.
    """
    with read(left) as trace, contextlib.ExitStack() as stack:
        if is_recording(right):
            held = ComparedTraces(trace, stack.enter_context(read(right)), tolerances)
            return dataclasses.replace(held.result, diagnosis=diagnose(held))
        folder = stack.enter_context(temporary_folder("tf1sessions-verify-"))
        job = Job(script=os.fspath(right), args=tuple(trace.program.get("arguments", ()) if args is None else args))
        job = dataclasses.replace(job, settings=JobSettings(seeds=seeds))

        def run(wanted: Collection[str]) -> ComparedTraces:
            out = os.path.join(folder, f"{'-'.join(sorted(wanted)) or 'as-it-is'}.npz")
            again = replay(trace, job, out=out, given=wanted, stdio=(0, 2, 2))
            other = stack.enter_context(again.trace)
            ended = [f"the script ended with exit code {again.exit_code}"] if again.exit_code else []
            return ComparedTraces(trace, other, tolerances, ended)

        held = run(given)
        more = None if once else lambda wanted: run({*given, *wanted})
        return dataclasses.replace(held.result, diagnosis=diagnose(held, more, seeds or "tf1"))


def _chosen(trace: Trace, wanted: frozenset[str]) -> TracedCall | None:
    best: TracedCall | None = None
    most = 0
    for call in trace.calls:
        kind = call.kind
        if call.error or not kind.feeds or not kind.fetches:
            continue
        found = len(wanted & set(kind.fetches)) if wanted else 1
        if found and found >= most:
            best, most = call, found
    return best


def _whole(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not isinstance(value, Summary)}


def _specs(values: Mapping[str, Any]) -> dict[str, TensorSpec]:
    return {
        name: TensorSpec(
            name, name, tf.string if value.dtype == object else tf.as_dtype(value.dtype), tf.TensorShape(value.shape)
        )
        for name, value in values.items()
    }
