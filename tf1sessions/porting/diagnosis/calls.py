"""The calls before a value that one side alone makes, and that change what the value rests on.

How often each kind of call was made before the value is counted on both sides. Where several threads call, when they
do is chance: there a kind counts only if one side makes more calls of it in all.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tf1sessions.porting.trace_alignment import Alignment, times
from tf1sessions.porting.trace_graphs import TraceGraph
from tf1sessions.porting.traces import CallKind, Trace

__all__ = ["OtherCalls", "endings", "other_calls"]

#: What changes state, or takes the next of something, each time that it runs.
_MOVES = re.compile(
    r"^(Resource)?(Assign|Scatter|Sparse\w*Apply|Apply)|Queue(Enqueue|Dequeue|Close)|IteratorGetNext|MakeIterator|"
    r"ReaderRead|ReaderReset|PyFunc|^Stack|^TensorArray(Write|Scatter)|LookupTable(Insert|Import)|Restore|Initialize"
)
#: How often a queue was filled until the program ends is chance.
_FILLS = re.compile(r"Queue(Enqueue|Close)|^Stage$|BarrierInsert")


@dataclasses.dataclass(frozen=True)
class OtherCalls:
    """Calls of a kind that one side makes, or ends, otherwise.

    Attributes:
        kind: Which; of the left side where it has it.
        left, right: How many of them were made before the value, without those that raised.
        number: The number of the first call of the kind, on the side that makes it.
    """

    kind: CallKind
    left: int
    right: int
    number: int

    def __str__(self) -> str:
        made = "is not made" if not self.right else f"is made {times(self.right)}"
        there = "not at all" if not self.left else times(self.left)
        return f"{self.kind} {made}, in the recording {there}"


def other_calls(
    alignment: Alignment,
    session: int,
    before: tuple[int, int],
    graphs: tuple[TraceGraph, TraceGraph] | None = None,
    rests_on: tuple[Collection[str], Collection[str]] = ((), ()),
) -> list[OtherCalls]:
    """Return the kinds of calls of which one side made more before a value, the earliest first.

    Args:
        alignment: Which call is which.
        session: Whose value it is.
        before: The numbers of the value's call on both sides: calls up to it are counted.
        graphs: The graphs of both sides; without them every kind counts.
        rests_on: The operations on which the value rests, on both sides.
    """
    sides = (alignment.left, alignment.right)
    made = [_made(trace, session, number) for trace, number in zip(sides, before, strict=True)]
    totals = [_made(trace, session, trace.count) for trace in sides]
    ordered = all(_threads(trace, session) < 2 for trace in sides)
    found = []
    for key in dict.fromkeys([*made[0], *made[1]]):
        other = alignment.renamed_kinds.get((session, *key), (session, *key))[1:]
        if key not in made[0] and (session, *key) in alignment.renamed_kinds.values():
            continue  # counted under its name on the left
        counts = len(made[0].get(key, ())), len(made[1].get(other, ()))
        in_all = len(totals[0].get(key, ())), len(totals[1].get(other, ()))
        if counts[0] == counts[1] or (in_all[0] == in_all[1] and not ordered):
            continue
        calls = made[0].get(key) or made[1][other]
        side = 0 if key in made[0] else 1
        kind = sides[side].kinds[calls[0][1]]
        if graphs is None or _matters(graphs[side], kind, rests_on[side]):
            found.append(OtherCalls(kind, *counts, calls[0][0]))
    return sorted(found, key=lambda each: each.number)


def _made(trace: Trace, session: int, until: int) -> Mapping[Any, list[tuple[int, int]]]:
    """Fetches, targets and feeds → number and kind of the calls that ended well, up to a number."""
    found: dict[Any, list[tuple[int, int]]] = {}
    for number, at, _, kind, error, _ in trace.table.tolist():
        if at == session and kind >= 0 and number <= until and not error:
            called = trace.kinds[kind]
            found.setdefault((called.fetches, called.targets, called.feeds), []).append((number, kind))
    return found


def _threads(trace: Trace, session: int) -> int:
    return len(set(trace.table[trace.table[:, 1] == session][:, 2].tolist()))


def _matters(graph: TraceGraph, kind: CallKind, rests_on: Collection[str]) -> bool:
    """Whether calls of a kind change something on which a value rests."""
    ran = [graph.nodes[name] for name in graph.ran([kind])]
    if not kind.fetches and any(_FILLS.search(node.op) for node in ran):
        return False
    return any(node.name in rests_on and (_MOVES.search(node.op) or graph.seeds(node.name) is not None) for node in ran)


def endings(alignment: Alignment) -> Iterator[str]:
    """Yield how programs ended that did not end well."""
    for where, trace in (("in the recording the program", alignment.left), ("the program", alignment.right)):
        if trace.ended.get("code"):
            yield f"{where} ended by {trace.ended.get('message') or trace.ended.get('how')}"
