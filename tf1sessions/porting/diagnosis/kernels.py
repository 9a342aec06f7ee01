"""The diagnosis where the same operations of the same values give other ones: a kernel, or data that no graph shows.

Operations whose inputs and outputs a recording has are computed again, each by itself; else those are named that lie
between the first difference and what is known to be equal.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.models.graph_index import listed, node_of, tensor_name
from tf1sessions.models.risks import RISKS
from tf1sessions.porting.diagnosis.differences import first_difference, innermost, is_large, same_at
from tf1sessions.porting.diagnosis.queues import queue_of_threads, same_values
from tf1sessions.porting.diagnosis.record import Diagnosis
from tf1sessions.porting.parity.measures import measure
from tf1sessions.porting.parity.tolerances import Tolerance
from tf1sessions.porting.trace_comparison import ComparedTraces, StepTensor
from tf1sessions.porting.trace_graphs import Node, TraceGraph
from tf1sessions.porting.traces import Series, Trace
from tf1sessions.runtime import tf

__all__ = ["KernelDiagnosis"]

#: How many operations are computed again one by one, and of how many elements. Arbitrary.
_MOST, _LARGEST = 400, 1 << 22
#: What computes nothing that could be rounded.
_STILL = re.compile(
    r"Assign$|AssignVariableOp|Variable|VarHandle|Switch|Merge|Enter|Exit|NextIteration|Stack|LoopCond|TensorArray|Placeholder|"
    r"Greater|Less|Equal|Const$|Truncated|Random|Broadcast"
)
_READS = ("Identity", "VariableV2", "Variable")
#: What reads data that no graph shows.
_OUTSIDE = re.compile(
    r"ReadFile|Reader|TextLine|TFRecord|FixedLength|PyFunc|Generator|ReaderRead|MatchingFiles|SqlDataset"
)
_STATEFUL = re.compile(
    r"Variable|VarHandle|Assign|Apply|Scatter|Queue|Iterator|Table|TensorArray|Stack|Placeholder|Const$"
)
_ONEDNN = "which of them: in this process oneDNN computes, in a script it does not; set TF_ENABLE_ONEDNN_OPTS=0"


class KernelDiagnosis:
    """The diagnosis where the same operations of the same values give other ones."""

    def __init__(
        self, compared: ComparedTraces, left: TraceGraph, right: TraceGraph, ours: set[str], lines: tuple[str, ...]
    ) -> None:
        self._compared = compared
        self._left = left
        self._right = right
        self._ours = ours
        self._lines = lines
        assert compared.result.first is not None
        self._first = compared.result.first

    def diagnosis(self, unknowns: Sequence[str]) -> Diagnosis:
        first = self._first
        begins = first_difference(self._compared)
        call, tensor = begins if begins is not None else (first.call, first.tensor)
        alone = self._alone({call, first.call}) if _computes_as_scripts() else []
        region = self._region(tensor, call)
        is_fault = bool(alone) and alone[0].share > 1
        is_sudden = is_large(first) and not any("rounding" in cause for cause in first.causes)
        outside = [name for name in region if _OUTSIDE.search(self._left.nodes[name].op)]
        if outside and is_sudden and not is_fault:
            return self._other_data(outside, unknowns)
        if is_sudden and not is_fault and (by_chance := self._by_chance(region, tensor, unknowns)) is not None:
            return by_chance
        about: dict[str, Any] = {"call": call, "tensor": tensor.name}
        drawn = self._left.draws(region) if is_sudden else []
        if is_fault or (alone and not is_sudden):
            text, evidence = self._of_alone(alone, is_fault, about)
        else:
            text, evidence = self._of_drawn(drawn, about) if drawn else self._of_region(region, tensor, about)
            more = f"--tensors '{_scope(tensor.name)}*' --variables-every 1"
            hint = f"which of them: record with {more} to have each computed alone"
            unknowns = [*unknowns, hint if _computes_as_scripts() else _ONEDNN]
        if (call, tensor.name) != (first.call, first.tensor.name):
            evidence.append(f"a difference begins at call {call}, within what is allowed: {tensor}")
        evidence += [*self._growth(), *[cause for cause in first.causes if "rounding" in cause][:1]]
        if is_sudden and not is_fault and not drawn:
            evidence.append(
                "it is large for rounding: state that no recording shows may differ (tables, threads, devices)"
            )
        advice = (
            "where such an error does not matter, say so in --tolerances; migration_notes/fidelity.md lists kernels"
        )
        return Diagnosis("kernel", text, (*evidence, *self._lines), (advice,), tuple(unknowns), about)

    def _of_alone(self, alone: Sequence[_Isolated], is_fault: bool, about: dict[str, Any]) -> tuple[str, list[str]]:
        """Return what operations say that give another result of the recorded inputs; ``about`` is filled."""
        worst = alone[0]
        about |= {"operation": worst.node.name, "type": worst.node.op, "line": innermost(worst.node.place)}
        about |= {"error": worst.error, "share": worst.share, "call": worst.call}
        evidence = [f"computed alone from what it was given in the recording: {each}" for each in alone[:3]]
        if is_fault:
            return f"{worst.node.op} ({worst.node.name}) gives another result of the recorded inputs", evidence
        evidence.append("each operation that can be computed alone is within its tolerance")
        return f"rounding of {_or(list(dict.fromkeys(each.node.op for each in alone))[:3])}, which adds up", evidence

    def _of_drawn(self, drawn: Sequence[str], about: dict[str, Any]) -> tuple[str, list[str]]:
        """Return text and evidence about operations that draw, of which one must draw otherwise."""
        drawn = sorted(drawn, key=lambda name: "Dataset" not in self._left.nodes[name].op)
        node = self._left.nodes[drawn[0]]
        about |= {"operation": node.name, "type": node.op, "line": innermost(node.place), "suspects": drawn}
        others = f", or one of {len(drawn) - 1:,} more does" if len(drawn) > 1 else ""
        evidence = [f"{node.op}, made at {node.line.read}"] if node.line is not None else []
        evidence.append("the same operations, attributes and seeds; too large for rounding")
        if others:
            evidence.append(f"what draws: {listed(drawn, 4)}")
        seeds = self._left.seeds(node.name)
        return f"{node.op} ({node.name}) draws otherwise with the same seeds {seeds}{others}", evidence

    def _of_region(self, region: Sequence[str], tensor: StepTensor, about: dict[str, Any]) -> tuple[str, list[str]]:
        """Return text and evidence about all operations behind a tensor."""
        suspects = self._suspects(region)
        about |= {"type": next(iter(suspects), ""), "suspects": suspects}
        if not suspects:
            return f"{tensor} parts, though the same operations make it of the same values and seeds", []
        many = listed([f"{count} {op}" for op, count in suspects.items()], 8)
        evidence = f"the same operations of the same values and seeds; those that may round: {many}"
        return f"{_or(list(suspects)[:3])} before {tensor.name} rounds otherwise", [evidence]

    def _growth(self) -> Iterator[str]:
        """Describe how the error of the first difference goes on."""
        points = self._first.tensor.growth
        if len(points) > 1:
            shown = [points[int(place)] for place in np.unique(np.linspace(0, len(points) - 1, 6).astype(int))]
            how = "grows along" if shown[-1].absolute > shown[0].absolute else "along"
            errors = ", ".join(f"{point.step}: {point.absolute:.1e}" for point in shown)
            yield f"the error of {self._first.tensor} {how} the steps: {errors}"

    def _other_data(self, outside: Sequence[str], unknowns: Sequence[str]) -> Diagnosis:
        node = self._left.nodes[outside[0]]
        line = [f"{node.op}, made at {node.line.read}"] if node.line is not None else []
        return Diagnosis(
            "code",
            f"{self._first.tensor} rests on {node.name} ({node.op}), which reads other data, or in another order",
            (*line, "the operations, constants and seeds that it rests on are those of the recording", *self._lines),
            ("compare the files and Python functions that it reads with those of the old machine",),
            tuple(unknowns),
            {"operation": node.name, "type": node.op, "line": innermost(node.place)},
        )

    def _by_chance(self, region: Sequence[str], tensor: StepTensor, unknowns: Sequence[str]) -> Diagnosis | None:
        """The diagnosis where what the first difference rests on comes from a queue in an order that is chance."""
        alignment = self._compared.alignment
        found = queue_of_threads((alignment.left, alignment.right), tensor.session, self._left, region)
        if found is None:
            return None
        node, what = found
        evidence = [f"{node.op}, made at {node.line.read}"] if node.line is not None else []
        evidence.append("the error is too large for rounding; the operations, constants and seeds are those recorded")
        own = (tensor.role, tensor.session, tensor.name)
        if any(same_values(each) for each in self._compared.tensors if (each.role, each.session, each.name) == own):
            evidence.append(f"both sides have the same values of {tensor.name}, in another order")
        where = f"{node.name} ({node.op})"
        return Diagnosis(
            "code",
            f"{self._first.tensor} rests on {where}, whose queue several threads {what}: the order is chance",
            (*evidence, *self._lines),
            ("compare what does not rest on that order, or leave it: it was chance on TensorFlow 1, too",),
            tuple(unknowns),
            {"operation": node.name, "type": node.op, "line": innermost(node.place)},
        )

    def _region(self, tensor: StepTensor, call: int) -> list[str]:
        """The operations between a tensor and what is known to be equal at its call."""
        equal = {
            node_of(each.name)
            for each in self._compared.tensors
            if each.session == tensor.session and each.role in ("fetch", "extra", "feed") and same_at(each, call)
        }
        found: set[str] = set()
        ahead = [node_of(tensor.name)]
        while ahead:
            name = ahead.pop()
            node = self._left.nodes.get(name)
            if node is None or name in found or name in equal:
                continue
            found.add(name)
            ahead += node.inputs
            if not node.inputs:
                ahead += [each for each in self._left.consumers.get(name, ()) if each in self._ours]
            ahead += self._left.inside(name)
        return self._left.ordered(found)

    def _suspects(self, region: Iterable[str]) -> dict[str, int]:
        """The types of operations that may round otherwise, the most frequent first."""
        counts = Counter(node.op for node in map(self._left.nodes.__getitem__, region) if node.rounds)
        may = [
            each
            for each in counts.most_common()
            if not _STILL.search(each[0]) and any(self._compared.tolerances.of(each[0], "", "float32").looseness)
        ]
        return dict(may[:8])

    def _alone(self, calls: Iterable[int]) -> list[_Isolated]:
        """Operations that give another result of their recorded inputs, each computed by itself: the worst first."""
        found = [each for call in calls for each in self._aloneinnermost(call)]
        worst: dict[str, _Isolated] = {}
        for each in sorted(found, key=lambda each: -each.share):
            worst.setdefault(each.node.name, each)
        return list(worst.values())

    def _aloneinnermost(self, call: int) -> Iterator[_Isolated]:
        values = self._values(call)
        for name in self._left.ordered({node_of(tensor) for tensor in values})[:_MOST]:
            node = self._left.nodes[name]
            given = [_given(self._left, values, tensor) for tensor in node.tensors]
            unfit = not given or any(value is None for value in given) or self._left.seeds(name) is not None
            if unfit or _STATEFUL.search(node.op) or _STILL.search(node.op):
                continue
            results = _computed(node, given)
            for place, result in enumerate(results or ()):
                value = values.get(f"{name}:{place}")
                if value is None or value.shape != result.shape:
                    continue
                tolerance = self._compared.tolerances.of(node.op, f"{name}:{place}", value.dtype.name)
                found = measure(value, result, tolerance.absolute, tolerance.relative, tolerance.ulps)
                if not found.same:
                    yield _Isolated(node, call, float(found.absolute or 0.0), found.share, tolerance)

    def _values(self, call: int) -> dict[str, Any]:
        """Return what the recording has, by tensor, of what operations were given and gave at a call.

        A variable of TensorFlow 1 is read as a reference: what was fetched of one that the same call changes may be its
        next value. What it was before is known where nothing had changed it yet, or all variables were recorded.
        """
        trace, session = self._compared.alignment.left, self._first.tensor.session
        found: dict[str, Any] = {}
        for series in trace.series:
            if series.session == session and series.role in ("fetch", "extra", "feed"):
                found |= _row(trace, series, call, series.name)
        before = {name for name in found if (node := self._left.nodes.get(node_of(name))) and node.op in _READS}
        for name in before:
            variable = self._left.variable(node_of(name))
            if variable is not None:
                del found[name]
                found |= self._before(trace, session, variable, call, name)
        return found

    def _before(self, trace: Trace, session: int, variable: str, call: int, name: str) -> dict[str, Any]:
        """The value of a variable before a call, as that of ``name``; nothing where it is not known."""
        rows = trace.table[(trace.table[:, 1] == session) & (trace.table[:, 0] < call)]
        changed = [0]
        for number, _, _, kind, _, _ in rows.tolist():
            if kind < 0 or self._left.writes(trace.kinds[kind], variable):
                changed.append(number)
        known: dict[int, dict[str, Any]] = {}
        for role in ("initial", "variable"):
            for series in trace.find(role, session, variable):
                for number in trace.columns(series)["calls"].tolist():
                    if max(changed) <= number < call:
                        known[number] = _row(trace, series, number, name)
        return known[max(known)] if known else {}


@dataclasses.dataclass(frozen=True)
class _Isolated:
    """An operation that was computed by itself, from what the recording has of its inputs.

    Attributes:
        node: The operation.
        call: At which call.
        error, share: The largest error, and as a share of what its type is allowed.
        tolerance: That.
    """

    node: Node
    call: int
    error: float
    share: float
    tolerance: Tolerance

    def __str__(self) -> str:
        line = f", made at {self.node.line.read}" if self.node.line is not None else ""
        how = "beyond" if not np.isfinite(self.share) else f"{self.share:.2g} times"
        return (
            f"{self.node.op} ({self.node.name}) is off by {self.error:.1e} at call {self.call}, {how} its tolerance"
            f" ({self.tolerance}){line}"
        )


# -- values ------------------------------------------------------------------------------------------------------------


def _row(trace: Trace, series: Series, call: int, name: str) -> dict[str, Any]:
    """The value of a series at a call by a name, if it is there, whole, and one of numbers."""
    rows = np.flatnonzero(trace.columns(series)["calls"] == call)
    fits = series.form == "whole" and np.prod(series.shape, dtype=np.int64) <= _LARGEST
    if not rows.size or not fits or series.dtype == "bfloat16" or np.dtype(series.dtype).kind not in "fiub":
        return {}
    return {name: trace.value(series, int(rows[0]))}


def _given(graph: TraceGraph, values: Mapping[str, Any], tensor: str) -> Any:
    """Return what an operation was given, if the trace has it."""
    name = tensor_name(tensor)
    return values[name] if name in values else graph.constant(node_of(tensor))


def _computed(node: Node, given: Sequence[Any]) -> list[Any] | None:
    """Return what today's TensorFlow makes of these inputs; None where it does not take the operation so.

    An operation that would touch files or the network is not run: the trace may come from anywhere.
    """
    if node.op in RISKS:
        return None
    graph_def = tf.GraphDef()
    for number, value in enumerate(given):
        made = graph_def.node.add(name=f"given{number}", op="Placeholder")
        made.attr["dtype"].type = tf.as_dtype(value.dtype).as_datatype_enum
    made = graph_def.node.add(name="alone", op=node.op, input=[f"given{number}" for number in range(len(given))])
    for attr, value in node.attrs.items():
        if not attr.startswith("_"):
            made.attr[attr].CopyFrom(value)
    try:
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            tf.import_graph_def(graph_def, name="")
            outputs = graph.get_operation_by_name("alone").outputs
            return list(session.run(outputs, {f"given{number}:0": value for number, value in enumerate(given)}))
    except (ValueError, tf.errors.OpError):
        return None


def _computes_as_scripts() -> bool:
    """Whether this process has the kernels that scripts have: those without oneDNN."""
    return os.environ.get("TF_ENABLE_ONEDNN_OPTS") == "0"


def _or(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _scope(tensor: str) -> str:
    head, slash, _ = tensor.rpartition("/")
    return head + slash
