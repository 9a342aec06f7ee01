"""Tells why the first value parts: seeds, a kernel, or the code; with what shows it.

Data flow::

    Held: two traces, and the first value that parts
      ├─ it was fed ─────────────────────────────────▶ code: other data
      └─ the operations that it rests on, of both graphs, with what changed the state that they read
           ├─ one draws with another seed, and with the recording's it is another story ──▶ seeds
           ├─ the program built one of them otherwise ───────────────────────────────────▶ code
           ├─ one has no seed ───────────────────────────────────────────────────────────▶ seeds
           ├─ the program leaves open what comes first, or reads other data ─────────────▶ code
           └─ the same operations of the same values ────────────────────────────────────▶ kernel

Whether seeds are to blame is tried: the script runs once more, with those of the recording.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.models.graph_index import listed, node_of, tensor_name
from tf1sessions.models.risks import RISKS
from tf1sessions.porting.parity.measures import measure
from tf1sessions.porting.parity.tolerances import Tolerance
from tf1sessions.porting.trace_comparison import Held, StepParting, StepTensor, TensorHeld
from tf1sessions.porting.trace_graphs import Change, GraphLacking, Node, TraceGraph, changes, counts_part
from tf1sessions.porting.traces import Place, Series, Trace
from tf1sessions.porting.verdict import CAUSES, Verdict
from tf1sessions.runtime import tf

__all__ = ["judge"]

#: How far behind its seed an operation may be that got it from their number: its inputs come in between.
_BEHIND = 8
#: By which factor recorded seeds must lessen an error that stays where it is, to be its cause. Arbitrary.
_LEADING = 10
#: From which part of a value on an error is no rounding. Arbitrary.
_LARGE = 1e-2
#: How many operations are computed again one by one, and of how many elements. Arbitrary.
_MOST, _LARGEST = 400, 1 << 22
#: What reads data that no graph shows.
_STILL = re.compile(
    r"Assign$|AssignVariableOp|Variable|VarHandle|Switch|Merge|Enter|Exit|NextIteration|Stack|LoopCond|TensorArray|Placeholder|"
    r"Greater|Less|Equal|Const$|Truncated|Random|Broadcast"
)
_READS = ("Identity", "VariableV2", "Variable")
_OUTSIDE = re.compile(
    r"ReadFile|Reader|TextLine|TFRecord|FixedLength|PyFunc|Generator|ReaderRead|MatchingFiles|SqlDataset"
)
_STATEFUL = re.compile(
    r"Variable|VarHandle|Assign|Apply|Scatter|Queue|Iterator|Table|TensorArray|Stack|Placeholder|Const$"
)
_OLD = "the recorder that wrote it did not note where operations were made: record again with today's recorder.py"

_ONEDNN = "which of them: in this process oneDNN computes, in a script it does not; set TF_ENABLE_ONEDNN_OPTS=0"

Again = Callable[[tuple[str, ...]], Held]


def judge(held: Held, again: Again | None = None, seeds: str = "tf1") -> Verdict:
    """The leading cause of the first difference.

    Args:
        held: What was compared.
        again: Runs the script once more and compares, given what it gets from the recording; None where it may not.
        seeds: Whose seeds the script was given, ``"tf1"`` or ``"tf2"``.

    Thread-safety: safe to call from any thread.
    """
    return _Judging(held, again, seeds).verdict()


class _Judging:
    """One verdict."""

    def __init__(self, held: Held, again: Again | None, seeds: str) -> None:
        self._held = held
        self._found = held.result
        self._again = again
        self._seeds = seeds
        self._alignment = held.alignment
        self._left, self._right = held.alignment.left, held.alignment.right
        self._untold = [] if self._left.sources else [_OLD]

    def verdict(self) -> Verdict:
        first = self._found.first
        if first is None:
            return self._other_calls() if self._found.unmatched else self._agrees()
        if first.tensor.role == "feed":
            return self._other_feed()
        try:
            return self._by_graph(first)
        except GraphLacking:
            return self._unknown("the graph was too large to be kept")

    def _unknown(self, why: str) -> Verdict:
        first = self._found.first
        text = f"{first.tensor} parts, and {why}" if first is not None else why
        return Verdict("unknown", text, tuple(self._lines()), untold=tuple(self._untold))

    # -- nothing parts, or no value does

    def _agrees(self) -> Verdict:
        values = sum(tensor.compared for tensor in self._found.tensors)
        if not values:
            return self._unknown("no value could be compared")
        if self._found.same:
            return Verdict("none", f"everything agrees to the bit: {values:,} values")
        sizes = [(tensor.largest, tensor) for tensor in self._found.tensors if tensor.largest is not None]
        if not sizes:
            return Verdict("none", CAUSES["none"], ("of values that were too large to keep, samples are equal",))
        largest, tensor = max(sizes, key=lambda each: each[0].share)
        text = f"the largest error is {largest.share:.1%} of what is allowed: {tensor}, {largest.absolute:.1e}"
        return Verdict("none", CAUSES["none"], (text,))

    def _other_calls(self) -> Verdict:
        text = "the program makes other calls; the values of those that both make agree"
        return Verdict("code", text, (*self._found.unmatched[:6], *self._lines()), untold=tuple(self._untold))

    def _lines(self) -> Iterator[str]:
        """What the program's text says."""
        sources = self._left.sources
        if not sources or not self._right.sources:
            return
        known = {line for lines in sources.values() for line in lines}
        news = []
        for file, lines in self._right.sources.items():
            if "-packages" not in file:
                news += [f"{file}:{number}" for number, line in enumerate(lines, 1) if line not in known]
        if news:
            yield f"lines that the recorded program has not: {listed(news)}"
        else:
            yield "the program's text is the recorded one"

    # -- feeds

    def _other_feed(self) -> Verdict:
        first = self._found.first
        assert first is not None
        kind = self._alignment.kinds.get(first.call)
        held = next(each for each in self._held.tensors if (each.role, each.name) == ("feed", first.tensor.name))
        evidence = []
        if kind is not None and kind.place:
            evidence.append(f"the call is that of {kind.place[-1].read}")
        difference = first.difference
        if difference is not None and difference.worst is not None:
            where, was, now = list(difference.worst), difference.left, difference.right
            evidence.append(
                f"at {where} it was {was!r} and is {now!r}; {difference.differing:,} of {difference.size:,} differ"
            )
        if first.tensor.problem is not None:
            evidence.append(first.tensor.problem)
        if _same_rows(held, int(held.beyond[0])):
            evidence.append("it has the same rows in another order: they were shuffled or listed otherwise")
        begins = self._begins()
        if begins is not None and begins[0] < first.call:
            evidence.append(f"before it, {begins[1]} differed already, within what is allowed: is it made of that?")
        evidence += self._lines()
        verdict = Verdict(
            "code",
            f"the program feeds other values to {first.tensor.name}, at step {first.step} of {first.kind}",
            tuple(evidence),
            (
                "see where they come from: files, their order (os.listdir, sets), random numbers of Python or NumPy",
                "--given feeds feeds those of the recording",
            ),
            tuple(self._untold),
            {"feed": first.tensor.name, "call": first.call, "line": _at(kind.place if kind is not None else ())},
        )
        return self._with(verdict, ("feeds",))

    def _with(self, verdict: Verdict, given: tuple[str, ...]) -> Verdict:
        """With what comes next when the script gets something from the recording."""
        if self._again is None:
            return verdict
        held = self._again(given)
        return dataclasses.replace(verdict, given=given, then=judge(held, None, self._seeds))

    # -- the graph

    @functools.lru_cache(maxsize=8)  # noqa: B019 - of as many graphs as a verdict looks at
    def _graphs(self, session: int) -> tuple[TraceGraph, TraceGraph]:
        return tuple(  # type: ignore[return-value]
            TraceGraph(trace, int(trace.sessions[session]["graph"])) for trace in (self._left, self._right)
        )

    def _ran(self, graph: TraceGraph, trace: Trace, session: int, before: int) -> set[str]:
        """The operations that the calls of a session before one have run."""
        rows = trace.table[(trace.table[:, 1] == session) & (trace.table[:, 0] < before)]
        return graph.ran(trace.kinds[number] for number in set(rows[:, 3].tolist()) if number >= 0)

    def _by_graph(self, first: StepParting) -> Verdict:
        tensor, call = first.tensor, first.call
        left, right = self._graphs(tensor.session)
        there = self._alignment.calls.get(call, self._right.count)
        if tensor.role == "last":
            call, there = self._left.count, self._right.count
        # What a call changes comes after what it computes, but where the change itself is what was looked at.
        is_state = tensor.role in ("initial", "variable", "last") or left.variable(node_of(tensor.name)) is not None
        ours = left.upstream([node_of(tensor.name)], self._ran(left, self._left, tensor.session, call + is_state))
        theirs = right.upstream(
            [node_of(tensor.other)], self._ran(right, self._right, tensor.session, there + is_state)
        )
        ours -= self._settled(left, self._left, tensor.session)
        theirs -= self._settled(right, self._right, tensor.session)
        moved = [
            name
            for name in left.draws(ours)
            if name in theirs and right.seeds(name) not in (None, left.seeds(name)) and any(left.seeds(name) or ())
        ]
        built = changes(left, right, ours, theirs)
        if moved:
            verdict = self._other_seeds(moved, left, right)
            if verdict is not None:
                return verdict
        if built:
            return self._built(built)
        loose = [name for name in left.draws(ours) if not any(left.seeds(name) or (1,))]
        if loose:
            return self._no_seed(loose, left, tensor)
        if raced := [cause for cause in first.causes if "which of the two comes first" in cause]:
            advice = ("order the two by tf.control_dependencies, or leave it: it was chance on TensorFlow 1, too",)
            return Verdict("code", f"{tensor}: {raced[0]}", tuple(self._lines()), advice, tuple(self._untold))
        return _Kernels(self._held, left, right, ours, tuple(self._lines())).verdict(self._untold)

    def _settled(self, graph: TraceGraph, trace: Trace, session: int) -> set[str]:
        """The operations that gave variables initial values which are equal on both sides, and did nothing else."""
        equal = {
            each.name
            for each in self._found.tensors
            if each.role == "initial" and each.session == session and each.equal
        }
        calls = {
            call for name in equal for each in trace.find("initial", session, name) for call in _calls(trace, each)
        }
        rows = trace.table[trace.table[:, 1] == session]
        first = {kind for number, kind in rows[:, [0, 3]].tolist() if number in calls}
        others = {kind for kind in rows[:, 3].tolist() if kind not in first and kind >= 0}
        ran = graph.ran(trace.kinds[kind] for kind in first if kind >= 0)
        writers = [each for name in equal for each in graph.consumers.get(name, ()) if each in ran]
        return graph.upstream(writers, ()) - graph.ran(trace.kinds[kind] for kind in others)

    # -- seeds

    def _other_seeds(self, moved: Sequence[str], left: TraceGraph, right: TraceGraph) -> Verdict | None:
        """The verdict about seeds, unless those of the recording change nothing."""
        name = moved[0]
        node = left.nodes[name]
        was, now = left.seeds(name), right.seeds(name)
        assert was is not None and now is not None
        line = right.nodes[name].line or node.line
        counted = left.seed == was[0] and 0 <= node.index - was[1] <= _BEHIND
        evidence = [f"{node.op}, made at {line.read}" if line is not None else f"a {node.op}"]
        advice = []
        if left.seed != right.seed and was[0] == left.seed:
            evidence.append(f"the graph's seed was {left.seed} in the recording and is {right.seed}")
            advice.append(f"tf.set_random_seed({left.seed}) before the graph is built")
        elif counted:
            evidence.append(
                f"in the recording the second was the number of operations before it, in a graph with the seed {was[0]}"
            )
            if self._seeds == "tf2":
                evidence.append("--seeds tf2: now it is TensorFlow 2's, which counts none")
                advice.append(
                    "leave --seeds tf2 away: with --seeds tf1 operations are counted as TensorFlow 1 made them"
                )
            else:
                evidence += counts_part(left, right, name)
            advice.append(f"seed={was[1]} for this operation gives it the recorded numbers, whatever is made before it")
            advice.append("tf1sessions run --seeds report shows which seeds follow from counts, and which are exact")
        else:
            evidence.append("in the recording its seed was no count: the program, or TensorFlow's function, gave it")
        if len(moved) > 1:
            evidence.append(f"{len(moved) - 1:,} more draw with other seeds: {listed(moved[1:], 3)}")
        advice.append("--given seeds runs the script with the seeds of the recording")
        verdict = Verdict(
            "seeds",
            f"{name} draws with the seeds {now}, in the recording with {was}",
            tuple(evidence),
            tuple(advice),
            tuple(self._untold),
            {
                "operation": name,
                "type": node.op,
                "line": _at(right.nodes[name].place or node.place),
                "recorded": list(was),
                "now": list(now),
                "counted": counted,
            },
        )
        if self._again is None:
            return verdict
        held = self._again(("seeds",))
        then = judge(held, None, self._seeds)
        if _stays(self._held, held):
            more = f"{len(moved):,} operations draw with other seeds ({name} with {now}, not {was}); that is not why: "
            return dataclasses.replace(then, evidence=(*then.evidence, f"{more}with the recorded ones it stays"))
        return dataclasses.replace(verdict, given=("seeds",), then=then)

    def _no_seed(self, loose: Sequence[str], left: TraceGraph, tensor: StepTensor) -> Verdict:
        node = left.nodes[loose[0]]
        evidence = [f"{node.op}, made at {node.line.read}" if node.line is not None else f"a {node.op}"]
        if len(loose) > 1:
            evidence.append(f"{len(loose) - 1:,} more have none: {listed(loose[1:], 3)}")
        verdict = Verdict(
            "seeds",
            f"{node.name} has no seed: it draws anew in each run, on TensorFlow 1 too",
            tuple(evidence),
            ("record again after tf.set_random_seed(1) at the beginning of the program, of each graph",)
            + (("--given variables begins with the recording's values",) if tensor.role == "initial" else ()),
            tuple(self._untold),
            {"operation": node.name, "type": node.op, "line": _at(node.place), "recorded": [0, 0]},
        )
        return self._with(verdict, ("variables",)) if tensor.role == "initial" else verdict

    # -- code

    def _built(self, found: Sequence[Change]) -> Verdict:
        first = found[0]
        evidence = []
        if first.right is not None:
            evidence.append(f"made at {first.right.read}")
        if first.left is not None and (first.right is None or first.left.text != first.right.text):
            evidence.append(f"in the recording at {first.left.read}")
        lines = {first.left, first.right} - {None}
        others = [each for each in found[1:] if not (each.of_tensorflow and lines & {each.left, each.right})]
        evidence += [f"{change.name}: {change.text}" for change in others[:3]]
        if len(others) > 3:
            evidence.append(f"and {len(others) - 3:,} more that the first difference rests on")
        evidence += self._lines()
        return Verdict(
            "code",
            f"{first.name}: {first.text}",
            tuple(evidence),
            ("see what builds it otherwise: the line, its arguments, flags, files of settings",),
            tuple(self._untold),
            {"operation": first.name, "line": _at(filter(None, (first.left, first.right))), "changes": len(found)},
        )

    def _begins(self) -> tuple[int, StepTensor] | None:
        """The first call with a value that is not equal to the bit, and the tensor."""
        return _first_difference(self._held)


class _Kernels:
    """What is known when the same operations of the same values give other ones."""

    def __init__(self, held: Held, left: TraceGraph, right: TraceGraph, ours: set[str], lines: tuple[str, ...]) -> None:
        self._held = held
        self._left = left
        self._right = right
        self._ours = ours
        self._lines = lines
        assert held.result.first is not None
        self._first = held.result.first

    def verdict(self, untold: Sequence[str]) -> Verdict:
        first = self._first
        begins = _first_difference(self._held)
        call, tensor = begins if begins is not None else (first.call, first.tensor)
        alone = self._alone({call, first.call}) if _computes_as_scripts() else []
        region = self._region(tensor, call)
        is_fault = bool(alone) and alone[0].share > 1
        is_sudden = _is_large(first) and not any("rounding" in cause for cause in first.causes)
        outside = [name for name in region if _OUTSIDE.search(self._left.nodes[name].op)]
        if outside and is_sudden and not is_fault:
            return self._other_data(outside, untold)
        about: dict[str, Any] = {"call": call, "tensor": tensor.name}
        drawn = self._left.draws(region) if is_sudden else []
        if is_fault or (alone and not is_sudden):
            text, evidence = self._of_alone(alone, is_fault, about)
        else:
            text, evidence = self._of_drawn(drawn, about) if drawn else self._of_region(region, tensor, about)
            more = f"--tensors '{_scope(tensor.name)}*' --variables-every 1"
            hint = f"which of them: record with {more} to have each computed alone"
            untold = [*untold, hint if _computes_as_scripts() else _ONEDNN]
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
        return Verdict("kernel", text, (*evidence, *self._lines), (advice,), tuple(untold), about)

    def _of_alone(self, alone: Sequence[_Alone], is_fault: bool, about: dict[str, Any]) -> tuple[str, list[str]]:
        """What operations say that give another result of the recorded inputs; ``about`` is filled."""
        worst = alone[0]
        about |= {"operation": worst.node.name, "type": worst.node.op, "line": _at(worst.node.place)}
        about |= {"error": worst.error, "share": worst.share, "call": worst.call}
        evidence = [f"computed alone from what it was given in the recording: {each}" for each in alone[:3]]
        if is_fault:
            return f"{worst.node.op} ({worst.node.name}) gives another result of the recorded inputs", evidence
        evidence.append("each operation that can be computed alone is within its tolerance")
        return f"rounding of {_or(list(dict.fromkeys(each.node.op for each in alone))[:3])}, which adds up", evidence

    def _of_drawn(self, drawn: Sequence[str], about: dict[str, Any]) -> tuple[str, list[str]]:
        """What is to be said of operations that draw, of which one must draw otherwise."""
        drawn = sorted(drawn, key=lambda name: "Dataset" not in self._left.nodes[name].op)
        node = self._left.nodes[drawn[0]]
        about |= {"operation": node.name, "type": node.op, "line": _at(node.place), "suspects": drawn}
        others = f", or one of {len(drawn) - 1:,} more does" if len(drawn) > 1 else ""
        evidence = [f"{node.op}, made at {node.line.read}"] if node.line is not None else []
        evidence.append("the same operations, attributes and seeds; too large for rounding")
        if others:
            evidence.append(f"what draws: {listed(drawn, 4)}")
        seeds = self._left.seeds(node.name)
        return f"{node.op} ({node.name}) draws otherwise with the same seeds {seeds}{others}", evidence

    def _of_region(self, region: Sequence[str], tensor: StepTensor, about: dict[str, Any]) -> tuple[str, list[str]]:
        """What is to be said of all operations behind a tensor."""
        suspects = self._suspects(region)
        about |= {"type": next(iter(suspects), ""), "suspects": suspects}
        if not suspects:
            return f"{tensor} parts, though the same operations make it of the same values and seeds", []
        many = listed([f"{count} {op}" for op, count in suspects.items()], 8)
        evidence = f"the same operations of the same values and seeds; those that may round: {many}"
        return f"{_or(list(suspects)[:3])} before {tensor.name} rounds otherwise", [evidence]

    def _growth(self) -> Iterator[str]:
        """How the error of what parts first goes on."""
        points = self._first.tensor.growth
        if len(points) > 1:
            shown = [points[int(place)] for place in np.unique(np.linspace(0, len(points) - 1, 6).astype(int))]
            how = "grows along" if shown[-1].absolute > shown[0].absolute else "along"
            errors = ", ".join(f"{point.step}: {point.absolute:.1e}" for point in shown)
            yield f"the error of {self._first.tensor} {how} the steps: {errors}"

    def _other_data(self, outside: Sequence[str], untold: Sequence[str]) -> Verdict:
        node = self._left.nodes[outside[0]]
        line = [f"{node.op}, made at {node.line.read}"] if node.line is not None else []
        return Verdict(
            "code",
            f"{self._first.tensor} rests on {node.name} ({node.op}), which reads other data, or in another order",
            (*line, "the operations, constants and seeds that it rests on are those of the recording", *self._lines),
            ("compare the files and Python functions that it reads with those of the old machine",),
            tuple(untold),
            {"operation": node.name, "type": node.op, "line": _at(node.place)},
        )

    def _region(self, tensor: StepTensor, call: int) -> list[str]:
        """The operations between a tensor and what is known to be equal at its call."""
        equal = {
            node_of(each.name)
            for each in self._held.tensors
            if each.session == tensor.session and each.role in ("fetch", "extra", "feed") and _same_at(each, call)
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
            if not _STILL.search(each[0]) and any(self._held.tolerances.of(each[0], "", "float32").looseness)
        ]
        return dict(may[:8])

    def _alone(self, calls: Iterable[int]) -> list[_Alone]:
        """Operations that give another result of their recorded inputs, each computed by itself: the worst first."""
        found = [each for call in calls for each in self._alone_at(call)]
        worst: dict[str, _Alone] = {}
        for each in sorted(found, key=lambda each: -each.share):
            worst.setdefault(each.node.name, each)
        return list(worst.values())

    def _alone_at(self, call: int) -> Iterator[_Alone]:
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
                tolerance = self._held.tolerances.of(node.op, f"{name}:{place}", value.dtype.name)
                found = measure(value, result, tolerance.absolute, tolerance.relative, tolerance.ulps)
                if not found.same:
                    yield _Alone(node, call, float(found.absolute or 0.0), found.share, tolerance)

    def _values(self, call: int) -> dict[str, Any]:
        """What the recording has, by tensor, of what operations were given and gave at a call.

        A variable of TensorFlow 1 is read as a reference: what was fetched of one that the same call changes may be its
        next value. What it was before is known where nothing had changed it yet, or all variables were recorded.
        """
        trace, session = self._held.alignment.left, self._first.tensor.session
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
class _Alone:
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


def _first_difference(held: Held) -> tuple[int, StepTensor] | None:
    """The first call with a value that is not equal to the bit, however little, and the tensor."""
    order = held.alignment.left.order
    found = []
    for place, (tensor, outcome) in enumerate(zip(held.tensors, held.result.tensors, strict=True)):
        differing = np.flatnonzero(tensor.differs)
        if differing.size and outcome.role not in ("last", "feed"):
            call = int(tensor.calls[differing[0]])
            found.append(
                (call, outcome.role == "initial", order.get((outcome.session, outcome.name), 0), place, outcome)
            )
    if not found:
        return None
    call, *_, outcome = min(found, key=lambda each: each[:4])
    return call, outcome


def _same_at(tensor: TensorHeld, call: int) -> bool:
    """Whether a tensor is equal to the bit at a call."""
    return bool((~tensor.differs[tensor.calls == call]).any())


def _same_rows(tensor: TensorHeld, position: int) -> bool:
    """Whether both sides have the same rows, in another order."""
    left, right = (np.asarray(value) for value in tensor.values(position))
    if left.shape != right.shape or left.ndim < 1 or left.dtype == object or len(left) < 2:
        return False
    rows = [np.sort([row.tobytes() for row in np.ascontiguousarray(value)]) for value in (left, right)]
    return bool((rows[0] == rows[1]).all())


def _stays(before: Held, after: Held) -> bool:
    """Whether the first difference is still there, and hardly less."""
    was, now = before.result.first, after.result.first
    if was is None or now is None:
        return False
    if (was.tensor.role, was.tensor.session, was.tensor.name, was.call) != (
        now.tensor.role,
        now.tensor.session,
        now.tensor.name,
        now.call,
    ):
        return False
    sizes = [each.tensor.first.absolute if each.tensor.first is not None else np.inf for each in (was, now)]
    return bool(sizes[0] <= _LEADING * sizes[1])


def _is_large(first: StepParting) -> bool:
    found = first.difference
    if found is None or found.absolute is None or not isinstance(found.left, float):
        return True
    return bool(found.not_finite or found.absolute > _LARGE * max(abs(found.left), _LARGE))


def _calls(trace: Trace, series: Series) -> list[int]:
    found: list[int] = trace.columns(series)["calls"].tolist()
    return found


def _row(trace: Trace, series: Series, call: int, name: str) -> dict[str, Any]:
    """The value of a series at a call by a name, if it is there, whole, and one of numbers."""
    rows = np.flatnonzero(trace.columns(series)["calls"] == call)
    fits = series.form == "whole" and np.prod(series.shape, dtype=np.int64) <= _LARGEST
    if not rows.size or not fits or series.dtype == "bfloat16" or np.dtype(series.dtype).kind not in "fiub":
        return {}
    return {name: trace.value(series, int(rows[0]))}


def _given(graph: TraceGraph, values: Mapping[str, Any], tensor: str) -> Any:
    """What an operation was given, if the trace has it."""
    name = tensor_name(tensor)
    return values[name] if name in values else graph.constant(node_of(tensor))


def _computed(node: Node, given: Sequence[Any]) -> list[Any] | None:
    """What today's TensorFlow makes of these inputs; None where it does not take the operation so.

    An operation that would touch files or the network is not run: the trace may be somebody else's.
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


# -- words -------------------------------------------------------------------------------------------------------------


def _at(place: Iterable[Place]) -> str:
    """The innermost of some lines, as ``file:line``."""
    lines = list(place)
    return f"{lines[-1].file}:{lines[-1].line}" if lines else ""


def _or(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _scope(tensor: str) -> str:
    head, slash, _ = tensor.rpartition("/")
    return head + slash
