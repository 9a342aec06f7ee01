"""Finds why the first value parts: seeds, a kernel, or the code; with what shows it.

Data flow::

    ComparedTraces: two traces, and the first value that parts
      ├─ it was fed ─────────────────────────────────▶ code: other data
      └─ the operations that it rests on, of both graphs, with what changed the state that they read
           ├─ one draws with another seed, and with the recording's it is another story ──▶ seeds
           ├─ the program built one of them otherwise ───────────────────────────────────▶ code
           ├─ one has no seed ───────────────────────────────────────────────────────────▶ seeds
           ├─ one side alone made calls before it that change what it rests on ──────────▶ code
           ├─ the program leaves open what comes first, or reads other data ─────────────▶ code
           └─ the same operations of the same values ────────────────────────────────────▶ kernel

Whether seeds are to blame is tried: the script runs once more, with those of the recording.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

from tf1sessions.models.graph_index import listed, node_of
from tf1sessions.porting.diagnosis.calls import OtherCalls, endings, other_calls
from tf1sessions.porting.diagnosis.differences import first_difference, innermost, same_rows, stays
from tf1sessions.porting.diagnosis.kernels import KernelDiagnosis
from tf1sessions.porting.diagnosis.record import CAUSES, Diagnosis
from tf1sessions.porting.trace_comparison import ComparedTraces, StepParting, StepTensor
from tf1sessions.porting.trace_graphs import GraphChange, GraphLacking, TraceGraph, changes, counts_part
from tf1sessions.porting.traces import Series, Trace

__all__ = ["diagnose"]

#: How far behind its seed an operation may be that got it from their number: its inputs come in between.
_BEHIND = 8
_OLD = "the recorder that wrote it did not note where operations were made: record again with today's recorder.py"

Again = Callable[[tuple[str, ...]], ComparedTraces]


def diagnose(compared: ComparedTraces, again: Again | None = None, seeds: str = "tf1") -> Diagnosis:
    """Return the leading cause of the first difference.

    Args:
        compared: What was compared.
        again: Runs the script once more and compares, given what it gets from the recording; None where it may not.
        seeds: Whose seeds the script was given, ``"tf1"`` or ``"tf2"``.

    Thread-safety: safe to call from any thread.
    """
    return _Diagnosing(compared, again, seeds).diagnosis()


class _Diagnosing:
    """The state of one diagnosis."""

    def __init__(self, compared: ComparedTraces, again: Again | None, seeds: str) -> None:
        self._compared = compared
        self._found = compared.result
        self._again = again
        self._seeds = seeds
        self._alignment = compared.alignment
        self._left, self._right = compared.alignment.left, compared.alignment.right
        self._unknowns = [] if self._left.sources else [_OLD]

    def diagnosis(self) -> Diagnosis:
        first = self._found.first
        if first is None:
            return self._other_calls() if self._found.unmatched else self._agrees()
        if first.tensor.role == "feed":
            return self._other_feed()
        try:
            return self._by_graph(first)
        except GraphLacking:
            there = self._alignment.calls.get(first.call, self._right.count)
            if others := other_calls(self._alignment, first.tensor.session, (first.call, there)):
                return self._calls_before(first, others)
            return self._unknown("the graph was too large to be kept")

    def _unknown(self, why: str) -> Diagnosis:
        first = self._found.first
        text = f"{first.tensor} parts, and {why}" if first is not None else why
        return Diagnosis("unknown", text, tuple(self._lines()), unknowns=tuple(self._unknowns))

    # -- nothing parts, or no value does

    def _agrees(self) -> Diagnosis:
        values = sum(tensor.compared for tensor in self._found.tensors)
        if not values:
            return self._unknown("no value could be compared")
        if self._found.same:
            return Diagnosis("none", f"everything agrees to the bit: {values:,} values")
        sizes = [(tensor.largest, tensor) for tensor in self._found.tensors if tensor.largest is not None]
        if not sizes:
            return Diagnosis("none", CAUSES["none"], ("of values that were too large to keep, samples are equal",))
        largest, tensor = max(sizes, key=lambda each: each[0].share)
        text = f"the largest error is {largest.share:.1%} of what is allowed: {tensor}, {largest.absolute:.1e}"
        return Diagnosis("none", CAUSES["none"], (text,))

    def _other_calls(self) -> Diagnosis:
        compared = any(tensor.compared for tensor in self._found.tensors)
        agree = (
            "the values of those that both make agree" if compared else "of those that both make no value was compared"
        )
        evidence = (*endings(self._alignment), *self._found.unmatched[:6], *self._lines())
        return Diagnosis("code", f"the program makes other calls; {agree}", evidence, unknowns=tuple(self._unknowns))

    def _calls_before(self, first: StepParting, found: Sequence[OtherCalls]) -> Diagnosis:
        """The diagnosis where one side alone made calls that change what the first difference rests on."""
        kind = found[0].kind
        evidence = [*endings(self._alignment), *map(str, found[1:4])]
        if kind.place:
            evidence.insert(0, f"the call is that of {kind.place[-1].read}")
        evidence += [text for text in self._found.unmatched[:6] if not any(str(each.kind) in text for each in found)]
        return Diagnosis(
            "code",
            f"the program makes other calls: before {first.tensor} parts, {found[0]}",
            (*evidence, *self._lines()),
            ("see which calls the program leaves out, adds, or makes in another order",),
            tuple(self._unknowns),
            {"call": first.call, "tensor": first.tensor.name, "line": innermost(kind.place)},
        )

    def _lines(self) -> Iterator[str]:
        """Yield what the program's text says."""
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

    def _other_feed(self) -> Diagnosis:
        first = self._found.first
        assert first is not None
        kind = self._alignment.kinds.get(first.call)
        compared = next(
            each for each in self._compared.tensors if (each.role, each.name) == ("feed", first.tensor.name)
        )
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
        if same_rows(compared, int(compared.beyond[0])):
            evidence.append("it has the same rows in another order: they were shuffled or listed otherwise")
        begins = self._begins()
        if begins is not None and begins[0] < first.call:
            evidence.append(f"before it, {begins[1]} differed already, within what is allowed: is it made of that?")
        evidence += [*self._found.unmatched[:3], *self._lines()]
        diagnosis = Diagnosis(
            "code",
            f"the program feeds other values to {first.tensor.name}, at step {first.step} of {first.kind}",
            tuple(evidence),
            (
                "see where they come from: files, their order (os.listdir, sets), random numbers of Python or NumPy",
                "--given feeds feeds those of the recording",
            ),
            tuple(self._unknowns),
            {"feed": first.tensor.name, "call": first.call, "line": innermost(kind.place if kind is not None else ())},
        )
        return self._with(diagnosis, ("feeds",))

    def _with(self, diagnosis: Diagnosis, given: tuple[str, ...]) -> Diagnosis:
        """Add what comes next when the script gets something from the recording."""
        if self._again is None:
            return diagnosis
        compared = self._again(given)
        return dataclasses.replace(diagnosis, given=given, then=diagnose(compared, None, self._seeds))

    # -- the graph

    @functools.lru_cache(maxsize=8)  # noqa: B019 - of as many graphs as a diagnosis looks at
    def _graphs(self, session: int) -> tuple[TraceGraph, TraceGraph]:
        return tuple(  # type: ignore[return-value]
            TraceGraph(trace, int(trace.sessions[session]["graph"])) for trace in (self._left, self._right)
        )

    def _ran(self, graph: TraceGraph, trace: Trace, session: int, before: int) -> set[str]:
        """The operations that the calls of a session before one have run."""
        rows = trace.table[(trace.table[:, 1] == session) & (trace.table[:, 0] < before)]
        return graph.ran(trace.kinds[number] for number in set(rows[:, 3].tolist()) if number >= 0)

    def _by_graph(self, first: StepParting) -> Diagnosis:
        tensor, call = first.tensor, first.call
        left, right = self._graphs(tensor.session)
        there = self._alignment.calls.get(call, self._right.count)
        if tensor.role == "last":
            call, there = self._left.count, self._right.count
        # What a call changes follows what it computes, but where the change itself is what was looked at.
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
            diagnosis = self._other_seeds(moved, left, right)
            if diagnosis is not None:
                return diagnosis
        if built:
            return self._built(built)
        loose = [name for name in left.draws(ours) if not any(left.seeds(name) or (1,))]
        if loose:
            return self._no_seed(loose, left, tensor)
        if others := other_calls(self._alignment, tensor.session, (call, there), (left, right), (ours, theirs)):
            return self._calls_before(first, others)
        if raced := [cause for cause in first.causes if "which of the two comes first" in cause]:
            advice = ("order the two by tf.control_dependencies, or leave it: it was chance on TensorFlow 1, too",)
            return Diagnosis("code", f"{tensor}: {raced[0]}", tuple(self._lines()), advice, tuple(self._unknowns))
        return KernelDiagnosis(self._compared, left, right, ours, tuple(self._lines())).diagnosis(self._unknowns)

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

    def _other_seeds(self, moved: Sequence[str], left: TraceGraph, right: TraceGraph) -> Diagnosis | None:
        """The diagnosis about seeds, unless those of the recording change nothing."""
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
        diagnosis = Diagnosis(
            "seeds",
            f"{name} draws with the seeds {now}, in the recording with {was}",
            tuple(evidence),
            tuple(advice),
            tuple(self._unknowns),
            {
                "operation": name,
                "type": node.op,
                "line": innermost(right.nodes[name].place or node.place),
                "recorded": list(was),
                "now": list(now),
                "counted": counted,
            },
        )
        if self._again is None:
            return diagnosis
        compared = self._again(("seeds",))
        then = diagnose(compared, None, self._seeds)
        if stays(self._compared, compared):
            more = f"{len(moved):,} operations draw with other seeds ({name} with {now}, not {was}); that is not why: "
            return dataclasses.replace(then, evidence=(*then.evidence, f"{more}with the recorded ones it stays"))
        return dataclasses.replace(diagnosis, given=("seeds",), then=then)

    def _no_seed(self, loose: Sequence[str], left: TraceGraph, tensor: StepTensor) -> Diagnosis:
        node = left.nodes[loose[0]]
        evidence = [f"{node.op}, made at {node.line.read}" if node.line is not None else f"a {node.op}"]
        if len(loose) > 1:
            evidence.append(f"{len(loose) - 1:,} more have none: {listed(loose[1:], 3)}")
        diagnosis = Diagnosis(
            "seeds",
            f"{node.name} has no seed: it draws anew in each run, on TensorFlow 1 too",
            tuple(evidence),
            ("record again after tf.set_random_seed(1) at the beginning of the program, of each graph",)
            + (("--given variables begins with the recording's values",) if tensor.role == "initial" else ()),
            tuple(self._unknowns),
            {"operation": node.name, "type": node.op, "line": innermost(node.place), "recorded": [0, 0]},
        )
        return self._with(diagnosis, ("variables",)) if tensor.role == "initial" else diagnosis

    # -- code

    def _built(self, found: Sequence[GraphChange]) -> Diagnosis:
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
        return Diagnosis(
            "code",
            f"{first.name}: {first.text}",
            tuple(evidence),
            ("see what builds it otherwise: the line, its arguments, flags, files of settings",),
            tuple(self._unknowns),
            {
                "operation": first.name,
                "line": innermost(filter(None, (first.left, first.right))),
                "changes": len(found),
            },
        )

    def _begins(self) -> tuple[int, StepTensor] | None:
        """The first call with a value that is not equal to the bit, and the tensor."""
        return first_difference(self._compared)


def _calls(trace: Trace, series: Series) -> list[int]:
    found: list[int] = trace.columns(series)["calls"].tolist()
    return found
