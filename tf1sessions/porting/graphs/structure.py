"""The loops and conditions of a GraphDef.

TensorFlow 1 writes them as single operations: Switch and Merge for a condition; Enter, Merge, Switch, Exit and
NextIteration, with a frame's name, for a loop. A frozen graph has nothing else that says so. This module finds out, for
each tensor, in which loops it is computed (its *frame*), and under which *condition*: which predicates must have come
out how for it to be computed at all::

                       ┌─ Switch:1 ──▶ x * 2 ──┐        x * 2      {(pred, True)}
    x ──▶ Switch(pred) ┤                       ├─▶ Merge            {}   computed in either case
                       └─ Switch:0 ──▶ tanh  ──┘        tanh       {(pred, False)}

A condition is a set: all of it must hold. Values of a loop's body hold under the loop's own condition, and begin anew
inside its frame. A loop in a branch may ask within for what decided about the branch, as gradients do before they take
what the branch has stored: that is no condition any more.

A ControlTrigger runs when all that it waits for has run, or will not run because its condition does not hold; gradients
of loops use it to push on stacks in one branch only. What it waits for in a branch is an *effect*: a branch that ends
in no Merge. It gets a node of ours at its end, so that there is one place for each end of a branch.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ConversionError
from tf1sessions.models.graph_index import listed, node_of

__all__ = [
    "CONTROL",
    "Branch",
    "Condition",
    "Frame",
    "Key",
    "Structure",
    "WhileLoop",
    "described",
    "key_of",
    "loop_starts",
    "reach",
]

#: A tensor: name of its node and output index; or with CONTROL: that the node has run.
Key = tuple[str, int]
CONTROL = -1
#: The names of the loops around something, from the outside in.
Frame = tuple[str, ...]
Condition = frozenset[tuple[Key, bool]]

ENTER = {"Enter", "RefEnter"}
EXIT = {"Exit", "RefExit"}
MERGE = {"Merge", "RefMerge"}
NEXT = {"NextIteration", "RefNextIteration"}
SWITCH = {"Switch", "RefSwitch"}

#: What a graph says about itself, where it was computed, and how gradients were made in the process that wrote it.
NOT_KEPT = ("_class", "_output_shapes", "_gradient_op_type")

_NOTHING: Condition = frozenset()


def key_of(entry: str) -> Key:
    """The key of an input as a node names it: ``"a"``, ``"a:1"`` or ``"^a"``."""
    name = node_of(entry)
    if entry.startswith("^"):
        return name, CONTROL
    return name, int(entry[len(name) + 1 :] or 0)


def described(key: Key) -> str:
    """A key for people: ``"a:0"``."""
    return f"^{key[0]}" if key[1] == CONTROL else f"{key[0]}:{key[1]}"


@dataclasses.dataclass
class WhileLoop:
    """One while loop.

    Attributes:
        frame: Its own, which ends with its name.
        variables: Its loop variables by their Merge; the Enter that begins each, and the NextIteration that goes on.
        constants: The Enters of what stays the same in all iterations.
        exits: Its Exits, by the Merge whose last value they give.
        condition: The tensor that is True as long as it goes on.
        outside: Under which condition it runs at all.
        parallel_iterations: As its Enters say.
    """

    frame: Frame
    variables: dict[str, tuple[str, str]]
    constants: list[str]
    exits: dict[str, str]
    condition: Key
    outside: Condition
    parallel_iterations: int


@dataclasses.dataclass(frozen=True)
class Branch:
    """A Merge, or an effect, that ends a condition.

    Attributes:
        predicate: What decides.
        inputs: What it gives when that is False, and when it is True; of an effect, one of them is None.
        indices: Which of its inputs these are; None for an effect, which gives nothing.
    """

    predicate: Key
    inputs: tuple[Key | None, Key | None]
    indices: tuple[int, int] | None


class Structure:
    """The part of a GraphDef that some tensors need, with its loops and conditions.

    Args:
        graph_def: As TensorFlow 1 wrote it. Not changed.
        targets: What is wanted.
        given: Tensors that come from outside: what only they need is left out.
        where: Where the graph comes from, for errors.

    Attributes:
        nodes: The NodeDefs by name.
        inputs: The keys of each node's inputs.
        order: The nodes, each after what it needs; a loop's Exits after all of its Enters.
        loops: By frame.
        branches: By the name of the Merge, or of the effect.

    Raises:
        ConversionError: Loops or conditions are put together in a way that TensorFlow 1 does not; or a tensor is not in
            the graph.
    """

    def __init__(self, graph_def: Any, targets: Iterable[Key], given: Collection[Key], where: str) -> None:
        self._where = where
        self._given = set(given)
        self._targets = targets = set(targets)
        known = {node.name: node for node in graph_def.node}
        self.nodes: dict[str, Any] = {}
        self.inputs: dict[str, tuple[Key, ...]] = {}
        self._gather(known, targets)
        first = self._sorted({})
        self.frames: dict[str, Frame] = self._find_frames(first)
        enters: dict[Frame, list[str]] = defaultdict(list)
        exits: dict[Frame, list[str]] = defaultdict(list)
        switches: list[str] = []
        for name in first:
            kind = self.nodes[name].op
            if kind in ENTER:
                enters[self.frames[name]].append(name)
            elif kind in EXIT:
                exits[self.frames[name]].append(name)
            elif kind in SWITCH:
                switches.append(name)
        ends = [*switches, *(name for names in exits.values() for name in names)]
        self.order = self._sorted({name: enters[self.frames[name]] for name in ends if self.frames[name]})
        self._conditions: dict[str, Condition] = {}
        self._outside: dict[Frame, Condition] = defaultdict(frozenset)
        self.branches: dict[str, Branch] = {}
        self._find_conditions()
        self.loops: dict[Frame, WhileLoop] = {frame: self._loop(frame, enters[frame], exits[frame]) for frame in enters}

    # -- what others ask -------------------------------------------------------------------------------------------

    def context(self, key: Key) -> tuple[Frame, Condition]:
        """The loops in which a tensor is computed, and the condition within the innermost of them."""
        if key in self._given:
            return (), _NOTHING
        name, index = key
        frame = self.frames[name]
        kind = self.nodes[name].op
        if kind in EXIT:
            return frame[:-1], self._outside[frame]
        predicate = self.predicate(name) if kind in SWITCH and index != CONTROL else None
        if predicate is None or self._holds(predicate, bool(index), frame):
            return frame, self._conditions[name]
        return frame, self._conditions[name] | {(predicate, bool(index))}

    def predicate(self, switch: str) -> Key:
        """Return what decides a Switch, without the Identities between, which TensorFlow 1 makes in each branch."""
        return self._handed_on(self.inputs[switch][1])

    def _handed_on(self, key: Key) -> Key:
        while key not in self._given and self.nodes[key[0]].op in ("Identity", "PlaceholderWithDefault"):
            key = self.inputs[key[0]][0]
        return key

    def _holds(self, predicate: Key, value: bool, frame: Frame) -> bool:
        """Whether a predicate is known in a frame, because one of the loops runs under that condition only."""
        while frame and predicate not in self._given and self.nodes[predicate[0]].op in ENTER:
            predicate = self._handed_on(self.inputs[predicate[0]][0])
            if (predicate, value) in self._outside[frame]:
                return True
            frame = frame[:-1]
        return False

    def goes_back(self, key: Key, name: str) -> bool:
        """Whether an input of a node is that of the iteration before."""
        return self.nodes[name].op in MERGE and key[0] in self.nodes and self.nodes[key[0]].op in NEXT

    def is_given(self, key: Key) -> bool:
        return key in self._given

    def taken(self) -> set[Key]:
        """Return what nodes take."""
        return {key for keys in self.inputs.values() for key in keys}

    # -- finding out -----------------------------------------------------------------------------------------------

    def _error(self, message: str, *names: str) -> ConversionError:
        return ConversionError(
            message,
            where=self._where,
            next_step="Convert a part of the graph that does without, by naming other outputs or inputs.",
            nodes=names,
        )

    def _gather(self, known: Mapping[str, Any], targets: Iterable[Key]) -> None:
        queue = [key for key in targets if key not in self._given]
        while queue:
            name, _ = queue.pop()
            if name in self.nodes:
                continue
            if name not in known:
                raise self._error(f"the graph has no node {name!r}", name)
            node = self.nodes[name] = known[name]
            self.inputs[name] = keys = tuple(map(key_of, node.input))
            queue += [key for key in keys if key not in self._given]

    def _before(self, name: str) -> Iterable[Key]:
        """The inputs of a node that must be there before it."""
        return [key for key in self.inputs[name] if key not in self._given and not self.goes_back(key, name)]

    def _sorted(self, more: Mapping[str, Iterable[str]]) -> list[str]:
        after: dict[str, list[str]] = defaultdict(list)
        missing: dict[str, int] = {}
        for name in self.nodes:
            needs = [key[0] for key in self._before(name)] + list(more.get(name, ()))
            missing[name] = len(needs)
            for need in needs:
                after[need].append(name)
        ready = [name for name in reversed(self.nodes) if not missing[name]]
        order = []
        while ready:
            name = ready.pop()
            order.append(name)
            for other in after[name]:
                missing[other] -= 1
                if not missing[other]:
                    ready.append(other)
        if len(order) < len(self.nodes):
            left = sorted(name for name, count in missing.items() if count)
            raise self._error(f"the graph has a cycle that is no loop of TensorFlow's, through {listed(left)}", *left)
        return order

    def _find_frames(self, order: Iterable[str]) -> dict[str, Frame]:
        frames: dict[str, Frame] = {}
        for name in order:
            innermost: Frame = ()
            for source, _ in self._before(name):
                frame = frames[source]
                if self.nodes[source].op in EXIT:
                    frame = frame[:-1]
                if len(frame) > len(innermost):
                    innermost = frame
                elif frame != innermost[: len(frame)]:
                    raise self._error(
                        f"node {name!r} takes values of two loops, {innermost[-1]!r} and {frame[-1]!r}", name
                    )
            node = self.nodes[name]
            if node.op in ENTER:
                innermost = (*innermost, node.attr["frame_name"].s.decode())
            elif node.op in EXIT and not innermost:
                raise self._error(f"node {name!r} leaves a loop that nothing enters", name)
            frames[name] = innermost
        return frames

    def _find_conditions(self) -> None:
        for name in self.order:
            kind = self.nodes[name].op
            keys = self._before(name)
            if kind in MERGE and not any(self.goes_back(key, name) for key in self.inputs[name]):
                self.branches[name], self._conditions[name] = self._branch(name)
                continue
            conditions = [self.context(key)[1] for key in keys if self._frame_of(key) == self._inside(name)]
            found = _NOTHING.union(*conditions)
            if kind == "ControlTrigger":
                found = frozenset(each for each in found if self._is_loop(each[0]))
                self.inputs[name] = tuple(self._effect(key, found, name) for key in keys)
            if kind in ENTER:
                self._outside[self.frames[name]] |= found  # whole before any Switch or Exit of the loop
                found = _NOTHING
            elif kind in EXIT:
                found = _NOTHING
            self._conditions[name] = found

    def _is_loop(self, predicate: Key) -> bool:
        return predicate not in self._given and self.nodes[predicate[0]].op == "LoopCond"

    def _effect(self, key: Key, around: Condition, name: str) -> Key:
        """Return what to wait for instead of ``key``, which is in a branch, where only ``around`` it holds."""
        frame, condition = self.context(key)
        if frame != self.frames[name] or condition == around:
            return key
        for predicate, value in condition - around:
            if self.context(predicate)[1] <= around:  # the outermost of the branches
                inner = self._effect(key, around | {(predicate, value)}, name)
                end = f"{name}/{described(inner)}"
                self.nodes[end] = type(self.nodes[name])(name=end, op="NoOp")
                self.inputs[end] = (inner,)
                self.frames[end] = frame
                self._conditions[end] = around
                self.branches[end] = Branch(predicate, (None, inner) if value else (inner, None), None)
                return end, CONTROL
        raise self._error(f"node {name!r} waits for {described(key)}, in a branch that nothing decides about", name)

    def _frame_of(self, key: Key) -> Frame:
        frame = self.frames[key[0]]
        return frame[:-1] if self.nodes[key[0]].op in EXIT else frame

    def _inside(self, name: str) -> Frame:
        """The frame of a node's inputs."""
        return self.frames[name][:-1] if self.nodes[name].op in ENTER else self.frames[name]

    def _branch(self, name: str) -> tuple[Branch, Condition]:
        keys = [key for key in self.inputs[name] if key[1] != CONTROL]
        if len(keys) > 2 and (name, 1) not in self._targets and (name, 1) not in self.taken():
            keys = list(self._two_sides(name, keys))
        if len(keys) == 2:
            first, second = self._sides(name, keys)
            for predicate, value in first:
                rest = first - {(predicate, value)}
                if second - {(predicate, not value)} == rest and (predicate, not value) in second:
                    indices = (0, 1) if not value else (1, 0)
                    return Branch(predicate, (keys[indices[0]], keys[indices[1]]), indices), rest
        raise self._error(
            f"Merge {name!r} takes {listed([described(key) for key in keys])}, which are not the two sides of one "
            "condition",
            name,
        )

    def _sides(self, name: str, keys: Sequence[Key]) -> tuple[Condition, Condition]:
        """The conditions of two inputs of a Merge; with what is known in the loop, where the other one denies it."""
        first, second = (self.context(key)[1] for key in keys)
        frame = self.frames[name]
        return (
            first | {(key, not value) for key, value in second if self._holds(key, not value, frame)},
            second | {(key, not value) for key, value in first if self._holds(key, not value, frame)},
        )

    def _two_sides(self, name: str, keys: Sequence[Key]) -> Sequence[Key]:
        """The inputs of a Merge of more than two, as two: where a side has several, a Merge of ours makes them one."""
        conditions = [self.context(key)[1] for key in keys]
        for predicate in sorted({predicate for predicate, _ in conditions[0]}):
            sides = [
                [key for key, held in zip(keys, conditions, strict=True) if (predicate, value) in held]
                for value in (False, True)
            ]
            if all(sides) and sum(map(len, sides)) == len(keys):
                two = [self._merged(f"{name}/{value}", name, side) for value, side in enumerate(sides)]
                self.inputs[name] = (*two, *(key for key in self.inputs[name] if key[1] == CONTROL))
                return two
        return keys

    def _merged(self, new: str, name: str, keys: Sequence[Key]) -> Key:
        if len(keys) == 1:
            return keys[0]
        self.nodes[new] = type(self.nodes[name])(name=new, op="Merge")
        self.inputs[new] = tuple(keys)
        self.frames[new] = self.frames[name]
        self.branches[new], self._conditions[new] = self._branch(new)
        return new, 0

    def _loop(self, frame: Frame, enters: Iterable[str], exits: Iterable[str]) -> WhileLoop:
        variables: dict[str, tuple[str, str]] = {}
        condition: Key | None = None
        for name in self.order:
            if self.frames[name] != frame:
                continue
            if self.nodes[name].op == "LoopCond":
                condition = self.inputs[name][0]
            elif self.nodes[name].op in MERGE and name not in self.branches:
                sources = [source for source, index in self.inputs[name] if index != CONTROL]
                if len(sources) != 2 or self.nodes[sources[0]].op not in ENTER:
                    raise self._error(f"Merge {name!r} of loop {frame[-1]!r} has the inputs {listed(sources)}", name)
                variables[name] = (sources[0], sources[1])
        if condition is None:
            raise self._error(f"loop {frame[-1]!r} has no LoopCond", *enters)
        begins = {enter for enter, _ in variables.values()}
        leaves = {}
        for name in exits:
            switch = self.inputs[name][0][0]
            while self.nodes[switch].op == "Identity":  # a gradient's Exit may wait for the other gradients
                switch = self.inputs[switch][0][0]
            merge = self.inputs[switch][0][0] if self.nodes[switch].op in SWITCH else switch
            if merge not in variables:
                raise self._error(f"{name!r} leaves loop {frame[-1]!r} with what is none of its variables", name)
            leaves[name] = merge
        return WhileLoop(
            frame=frame,
            variables=variables,
            constants=[name for name in enters if name not in begins],
            exits=leaves,
            condition=condition,
            outside=self._outside[frame],
            parallel_iterations=max(1, *(self.nodes[name].attr["parallel_iterations"].i for name in enters), 1),
        )


def reach(structure: Structure, starts: Iterable[Key], inside: Callable[[Key], bool]) -> Iterable[Key]:
    """The starts and what they need, directly or not, up to the first that is not inside. A loop is needed whole."""
    seen: set[Key] = set()
    queue = list(starts)
    while queue:
        key = queue.pop()
        if key in seen:
            continue
        seen.add(key)
        yield key
        if inside(key):
            queue += structure.inputs[key[0]]
            if structure.nodes[key[0]].op in EXIT:
                loop = structure.loops[structure.frames[key[0]]]
                queue += [*loop_starts(loop), *((name, 0) for name in loop.exits)]


def loop_starts(loop: WhileLoop) -> list[Key]:
    ends = [back for _, back in loop.variables.values()]
    return [loop.condition, *((name, 0) for name in (*loop.variables, *loop.constants, *ends))]
