"""The pairs of calls of two traces that are one call of the program.

Calls belong together that are the same time of the same kind (fetches, targets, feeds) at the same line of the program
in the same session: calls that only one side makes move nothing. Where several threads make calls of a kind, their
order is chance, and those belong together that have the same values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tf1sessions.porting.session_matching import with_sessions_of
from tf1sessions.porting.thread_matching import matched
from tf1sessions.porting.traces import CallKind, Trace

__all__ = ["UNSEEDED", "Alignment", "calls_by_kind", "times"]

UNSEEDED = "has no seed"


class Alignment:
    """The pairs of calls on the left and on the right."""

    def __init__(self, left: Trace, right: Trace) -> None:
        self.left = left
        self.right = right = with_sessions_of(left, right)
        self.calls: dict[int, int] = {}
        self.steps: dict[int, int] = {}  # call on the left -> which of its kind
        self.kinds: dict[int, CallKind] = {}
        self.renamed: dict[tuple[int, str], str] = {}
        self.renamed_kinds: dict[Any, Any] = {}  # (session, fetches, targets, feeds) on the left -> on the right
        self.unmatched: list[str] = []
        self.notes: list[str] = []
        for side, trace in (("left", left), ("right", right)):
            if trace.ended.get("code"):
                why = trace.ended.get("message") or trace.ended.get("how")
                self.notes.append(f"the program on the {side} did not end well: {why}")
        by_line = left.by_place and right.by_place
        ours, theirs = calls_by_kind(left, by_line), calls_by_kind(right, by_line)
        pairs = [(key, key) for key in ours if key in theirs]
        pairs += self._otherwise_named(
            [key for key in ours if key not in theirs], [key for key in theirs if key not in ours]
        )
        for key, other in pairs:
            self._pair(key, ours.pop(key), theirs.pop(other))
        for side, rest in (("left", ours), ("right", theirs)):
            for key, (kind, calls) in rest.items():
                text = f"only the {side} side calls {kind}: {times(len(calls))} in session {key[0]}"
                (self.notes if _looks_at_the_step(kind) else self.unmatched).append(text)

    def _otherwise_named(self, ours: list[Any], theirs: list[Any]) -> Iterator[tuple[Any, Any]]:
        """Pairs kinds that look alike but for the order of their names, and then those that do but for the names."""
        for key in list(ours):
            for other in theirs:
                if list(map(sorted, key[1:])) == list(map(sorted, other[1:])) and key[0] == other[0]:
                    ours.remove(key)
                    theirs.remove(other)
                    self.renamed_kinds[key] = other
                    yield key, other
                    break
        for key in ours:
            for other in theirs:
                if key[0] == other[0] and [len(part) for part in key[1:]] == [len(part) for part in other[1:]]:
                    theirs.remove(other)
                    self.renamed_kinds[key] = other
                    for name, new in zip((*key[1], *key[3]), (*other[1], *other[3]), strict=True):
                        self.renamed[key[0], name] = new
                    self.notes.append(
                        f"taken for the same: {', '.join(key[1] + key[2])} and {', '.join(other[1] + other[2])}"
                    )
                    yield key, other
                    break

    def _pair(self, key: Any, ours: tuple[CallKind, list[Any]], theirs: tuple[CallKind, list[Any]]) -> None:
        kind, calls = ours
        others = theirs[1]
        if _looks_at_the_step(kind):
            self.notes.append(f"how often TensorFlow's hooks call {kind} is their own affair: not compared")
            return
        pairs = _by_line(calls, others)
        if len({call[2] for call in calls}) > 1 or len({call[2] for call in others}) > 1:
            pairs = self._by_value(key[0], (kind, theirs[0]), calls, others, pairs)
        if len(calls) != len(others):
            text = f"{kind} is called {times(len(calls))} on the left and {times(len(others))} on the right"
            # How often a queue was filled when a program ends is a matter of luck.
            (self.unmatched if kind.fetches else self.notes).append(text)
        raised = {call[0] for call in others if call[1]}
        errors = 0
        for step, call in enumerate(calls, 1):
            if call[0] in pairs:
                self.calls[call[0]] = pairs[call[0]]
                self.steps[call[0]] = step
                self.kinds[call[0]] = kind
                errors += bool(call[1]) != (pairs[call[0]] in raised)
        if errors and kind.fetches:
            self.unmatched.append(f"{kind} raises on one side alone, {times(errors)}")

    def _by_value(
        self, session: int, kinds: tuple[CallKind, CallKind], calls: list[Any], others: list[Any], pairs: dict[int, int]
    ) -> dict[int, int]:
        """Call on the left → call on the right, by their values."""
        numbers = [call[0] for call in calls], [call[0] for call in others]
        found = matched((self.left, self.right), session, kinds, numbers)
        moved = sum(pairs.get(call) != other for call, other in found.items())
        if moved:
            self.notes.append(f"several threads call {kinds[0]}: matched by their values, {moved:,} in another order")
        return found

    def random(self) -> dict[str, str]:
        """Random operations that do not draw the same on both sides."""
        found = {}
        belongs = {
            int(entry["graph"]): int(self.right.sessions[session]["graph"])
            for session, entry in self.left.sessions.items()
            if session in self.right.sessions
        }
        for number, graph in self.left.graphs.items():
            other = self.right.graphs.get(belongs.get(number, number), {}).get("seeds", {})
            for name, seeds in graph.get("seeds", {}).items():
                if not any(seeds) or not any(other.get(name, [1])):
                    found[name] = f"{UNSEEDED}: it draws anew in each run"
                elif name in other and other[name] != seeds:
                    found[name] = f"has the seeds {tuple(seeds)} on the left and {tuple(other[name])} on the right"
        return found


def _looks_at_the_step(kind: CallKind) -> bool:
    """Whether a call is one of a hook that asks for the global step, to see whether its time has come."""
    return not kind.targets and not kind.feeds and bool(kind.fetches) and all(map(_is_the_step, kind.fetches))


def _is_the_step(tensor: str) -> bool:
    return tensor.startswith(("global_step:", "global_step/"))


def _by_line(calls: list[Any], others: list[Any]) -> dict[int, int]:
    """Call on the left → call on the right: the same time at the same line; at lines of one side alone, in order."""
    both = {call[3] for call in calls} & {call[3] for call in others}
    groups: dict[Any, tuple[list[int], list[int]]] = {}
    for side, each in enumerate((calls, others)):
        for call in each:
            groups.setdefault(call[3] if call[3] in both else None, ([], []))[side].append(call[0])
    return {call: other for mine, theirs in groups.values() for call, other in zip(mine, theirs, strict=False)}


def calls_by_kind(trace: Trace, by_line: bool = True) -> dict[Any, tuple[CallKind, list[Any]]]:
    """Return the calls of each kind: number, error, thread, and the text of the lines that made it.

    Args:
        by_line: Whether lines count; where they do not, or the trace does not have them for each call, they are empty.
    """
    found: dict[Any, tuple[CallKind, list[Any]]] = {}
    keys = [(kind.fetches, kind.targets, kind.feeds) for kind in trace.kinds]
    lines = [tuple(line.text for line in kind.place if by_line and trace.by_place) for kind in trace.kinds]
    for number, session, thread, kind, error, _ in trace.table.tolist():
        if kind >= 0:
            calls = found.setdefault((session, *keys[kind]), (trace.kinds[kind], []))[1]
            calls.append((number, error, thread, lines[kind]))
    return found


def times(count: int) -> str:
    """Return how often something happens, in words."""
    return "once" if count == 1 else f"{count:,} times"
