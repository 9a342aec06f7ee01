"""Values that a loop of TensorFlow 1 need not compute where the shapes of all that goes into it are known.

A graph of TensorFlow 1 is mostly built for batches of any size. So each gradient in a loop finds out in each iteration
to which shapes it belongs: the shapes of the way forth are pushed on stacks, and popped on the way back, to learn of
which dimensions to make a sum, which mostly is of none::

    forth:  Mul ──▶ Shape ──▶ StackPush        back:  StackPop ──▶ BroadcastGradientArgs ──▶ Sum ──▶ Reshape

With the shapes of the inputs these are numbers, and what is left of them is the gradient as it came. Then a step of an
LSTM of 64 units and 20 iterations takes three quarters of its time (benchmarks/ported.py, 2026-11-23).

What is known is made a constant where something else takes it, in the place of what it was made of: after the same
operation, so that it is there in an iteration, or a branch, if that is.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import ConversionError
from tf1sessions.porting.graphs.structure import ENTER, SWITCH, Key, Structure
from tf1sessions.runtime import tf

__all__ = ["KNOWN", "Known", "Stacks", "Value"]

#: In the environment of a graph that is made with shapes that are known: what its stacks hold.
KNOWN = "known"

_STACKS = {"Stack", "StackV2"}
_PUSHES = {"StackPush", "StackPushV2"}
_POPS = {"StackPop", "StackPopV2"}
_HAND_ON = {"Identity", "RefIdentity", *SWITCH, *ENTER}


@dataclasses.dataclass(frozen=True)
class Value:
    """Numbers that are known.

    Attributes:
        numbers: The numbers.
        after: The operations after which they were there; a tensor where it is one of the two that a Switch gives, of
            which only one is there.
    """

    numbers: Any
    after: tuple[Any, ...]


class Stacks:
    """The values that are pushed on the stacks of a graph, as far as it is always the same, or of the same shape.

    Args:
        structure: Of the graph.
        members: The nodes in loops.
    """

    def __init__(self, structure: Structure, members: Sequence[str]) -> None:
        self._structure = structure
        pushes: dict[str, list[str]] = defaultdict(list)
        for name in members:
            if structure.nodes[name].op in _PUSHES and (stack := self.of(name)) is not None:
                pushes[stack].append(name)
        self.of_one_push = frozenset(stack for stack, names in pushes.items() if len(names) == 1)

    def of(self, name: str) -> str | None:
        """The stack on which a node works; None if that is not clear."""
        key = self._structure.inputs[name][0]
        while not self._structure.is_given(key) and key[0] in self._structure.nodes:
            node = self._structure.nodes[key[0]]
            if node.op in _STACKS:
                return key[0]
            if node.op not in _HAND_ON:
                return None
            key = self._structure.inputs[key[0]][0]
        return None


class Known:
    """The values that are known in a loop while it is made.

    Args:
        stacks: Of the graph.
        held: The value, or the shape, of what a stack holds; None for one of which something was popped. Shared by all
            loops of the graph, in the order in which they are made.
        inside: Gives the tensor for a key that is in the loop; None for another one.
        outside: The same for those outside of it.
    """

    def __init__(
        self,
        stacks: Stacks,
        held: dict[str, Any],
        inside: Callable[[Key], Any],
        outside: Callable[[Key], Any],
    ) -> None:
        self._stacks = stacks
        self._held = held
        self._inside = inside
        self._outside = outside
        self._values: dict[Key, Value] = {}

    def value(self, key: Key) -> Value | None:
        """Return what is known of a tensor that was not made."""
        return self._values.get(key)

    def find(
        self, name: str, node: Any, inputs: Sequence[Key], controls: Sequence[Any]
    ) -> Mapping[Key, Value | Any] | None:
        """Return what a node gives, if it is known or another tensor is the same; None if it is to be made.

        Args:
            name, node: The node, and its NodeDef.
            inputs: What it takes, without what it waits for.
            controls: The operations for which it waits.

        Raises:
            ConversionError: It cannot be said when something is there that is known.
        """
        found: Sequence[Value | Any] | None = None
        if node.op in _PUSHES:
            found = self._push(name, inputs)
        elif node.op in _POPS:
            found = self._pop(name, inputs, controls)
        elif not controls and node.op in _RULES:
            found = _RULES[node.op](self, node, inputs)
        if found is None:
            return None
        self._values.update({(name, index): each for index, each in enumerate(found) if isinstance(each, Value)})
        return {(name, index): each for index, each in enumerate(found)}

    def made(self, name: str, node: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """A node was made after all, of these tensors."""
        if node.op in ENTER:
            outputs[0].set_shape(inputs[0].shape)  # which TensorFlow leaves open
        if node.op in _PUSHES | _POPS:
            stack = self._stacks.of(name)
            if stack is None:
                return
            if node.op in _PUSHES and stack in self._stacks.of_one_push and stack not in self._held:
                self._held[stack] = outputs[0].shape
            elif node.op in _POPS and isinstance(self._held.setdefault(stack, None), tf.TensorShape):
                outputs[0].set_shape(self._held[stack])

    # -- stacks

    def _push(self, name: str, inputs: Sequence[Key]) -> list[Any] | None:
        stack, value = self._stacks.of(name), self._values.get(inputs[1])
        if value is None or stack not in self._stacks.of_one_push or stack in self._held:
            return None
        self._held[stack] = value.numbers
        return [value]

    def _pop(self, name: str, inputs: Sequence[Key], controls: Sequence[Any]) -> list[Any] | None:
        numbers = self._held.get(self._stacks.of(name) or "")
        if not isinstance(numbers, np.ndarray):
            return None
        after = tuple(each for each in controls if each.type not in ENTER) or self._after(self._inside(inputs[0]))
        if not after:
            raise ConversionError(
                f"node {name!r} pops what is known, and nothing says when",
                where="a loop with shapes that are known",
                next_step="Make it without.",
                nodes=(name,),
            )
        return [Value(numbers, after)]

    def _after(self, tensor: Any) -> tuple[Any, ...]:
        """Return what comes when a tensor comes, in each iteration; nothing if that is not known."""
        if tensor is None or tensor.op.type in ENTER or tensor.dtype._is_ref_dtype:
            return ()
        return (tensor,) if tensor.op.type in SWITCH else (tensor.op,)

    # -- operations

    def _shape(self, key: Key) -> tuple[list[int], tuple[Any, ...]] | None:
        """The shape of a tensor, and after what it is there; None where that is not known."""
        value = self._values.get(key)
        if value is not None:
            return list(value.numbers.shape), value.after
        tensor = self._inside(key)
        after = self._after(tensor)
        return (tensor.shape.as_list(), after) if after and tensor.shape.is_fully_defined() else None

    def _numbers(self, key: Key) -> Value | None:
        value = self._values.get(key)
        if value is None:
            tensor = self._inside(key)
            tensor = self._outside(key) if tensor is None else tensor
            numbers = None if tensor is None else tf.get_static_value(tensor)
            value = None if numbers is None else Value(np.asarray(numbers), ())
        return value

    def _shapes_of(self, node: Any, inputs: Sequence[Key]) -> list[Any] | None:
        found = [self._shape(key) for key in inputs]
        kind = tf.as_dtype(node.attr["out_type"].type or tf.int32).as_numpy_dtype
        return None if None in found else [Value(np.asarray(each[0], kind), each[1]) for each in found if each]

    def _rank(self, node: Any, inputs: Sequence[Key]) -> list[Any] | None:
        shape = self._shape(inputs[0])
        return None if shape is None else [Value(np.asarray(len(shape[0]), np.int32), shape[1])]

    def _size(self, node: Any, inputs: Sequence[Key]) -> list[Any] | None:
        shape = self._shape(inputs[0])
        kind = tf.as_dtype(node.attr["out_type"].type or tf.int32).as_numpy_dtype
        return None if shape is None else [Value(np.asarray(np.prod(shape[0], dtype=kind), kind), shape[1])]

    def _dimensions_to_sum(self, node: Any, inputs: Sequence[Key]) -> list[Any] | None:
        """In which dimensions each of two shapes was stretched to fit the other."""
        one, other = (self._numbers(key) for key in inputs)
        after = (one.after if one else ()) + (other.after if other else ())
        if one is None or other is None or not after:
            return None
        rank = max(len(one.numbers), len(other.numbers))
        same = one.numbers.tolist() == other.numbers.tolist()
        found = []
        for each in (one, other):
            padded = [1] * (rank - len(each.numbers)) + each.numbers.tolist()
            axes = [] if same else [axis for axis in range(rank) if padded[axis] == 1]
            found.append(Value(np.asarray(axes, each.numbers.dtype), after))
        return found

    def _offsets(self, node: Any, inputs: Sequence[Key]) -> list[Any] | None:
        """Return where the parts of a concatenation begin."""
        axis, *shapes = [self._numbers(key) for key in inputs]
        after = tuple(dict.fromkeys(each for shape in shapes if shape is not None for each in shape.after))
        if axis is None or None in shapes or not after:
            return None
        begin, found = 0, []
        for shape in shapes:
            assert shape is not None
            offset = np.zeros_like(shape.numbers)
            offset[int(axis.numbers)] = begin
            begin += int(shape.numbers[int(axis.numbers)])
            found.append(Value(offset, after))
        return found

    def _sum(self, node: Any, inputs: Sequence[Key]) -> list[Any] | None:
        axes, tensor = self._numbers(inputs[1]), self._inside(inputs[0])
        return None if axes is None or axes.numbers.size or tensor is None else [tensor]  # of no dimension

    def _reshape(self, node: Any, inputs: Sequence[Key]) -> list[Any] | None:
        target, shape, tensor = self._numbers(inputs[1]), self._shape(inputs[0]), self._inside(inputs[0])
        if target is None or shape is None or tensor is None:
            return None
        return [tensor] if target.numbers.tolist() == shape[0] else None


_RULES: Mapping[str, Callable[[Known, Any, Sequence[Key]], list[Any] | None]] = {
    "Shape": Known._shapes_of,
    "ShapeN": Known._shapes_of,
    "Rank": Known._rank,
    "Size": Known._size,
    "BroadcastGradientArgs": Known._dimensions_to_sum,
    "ConcatOffset": Known._offsets,
    "Sum": Known._sum,
    "Reshape": Known._reshape,
}
