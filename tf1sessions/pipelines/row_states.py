"""The states that a tensor can have, where it has the rows of a batch; and what a rule is given to decide on one.

row_independence.py goes through a graph, and asks the rules of row_rules.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tf1sessions.runtime import tf

__all__ = [
    "COUNT",
    "FREE",
    "ROW_COUNT",
    "SOME_COUNT",
    "SOME_SIZE",
    "ElementStates",
    "GraphLeavesOpen",
    "GraphStates",
    "Mixed",
    "RowsAlong",
    "RuleCall",
    "State",
    "StateNotYetKnown",
]


@dataclasses.dataclass(frozen=True)
class RowsAlong:
    """A tensor whose rows lie along ``axis``.

    Attributes:
        axis: Counted from the front.
        block: How many entries of that axis belong to each row: 1, another number, or 0 where it is not known.
        outermost: Whether the entries of one row lie together. Otherwise (space to batch) the rows come again for each
            of the ``block``.
    """

    axis: int = 0
    block: int = 1
    outermost: bool = True

    def at(self, axis: int) -> RowsAlong:
        return dataclasses.replace(self, axis=axis)


@dataclasses.dataclass(frozen=True)
class ElementStates:
    """A TensorArray or a list of tensors: the state of each element, None while there is none."""

    of: RowsAlong | str | None = None


@dataclasses.dataclass(frozen=True)
class Mixed:
    """A tensor in which rows may depend on others, and the operation by which they do."""

    name: str
    type: str

    def __str__(self) -> str:
        return f"operation {self.name!r} of type {self.type}"


FREE = "free"
COUNT = "count"
State = RowsAlong | ElementStates | Mixed | str

#: An entry of a vector of sizes is a number, or one of these: the number of rows, a size that does not depend on it,
#: one that does.
ROW_COUNT, SOME_SIZE, SOME_COUNT = "rows", "some", "some count"


class GraphLeavesOpen(Exception):
    """A rule would have to know what the graph leaves open."""


class StateNotYetKnown(Exception):
    """A rule would have to know a state that a loop will give later."""


class GraphStates(Protocol):
    """Questions of rules about the graph; see :class:`~tf1sessions.pipelines.row_independence.RowStates`."""

    @property
    def fixed_rows(self) -> int | None: ...

    def is_fed(self, tensor: Any) -> bool: ...

    def entries(self, tensor: Any) -> list[Any] | None: ...

    def joined(self, states: Sequence[State], operation: Any) -> State: ...

    def body(self, name: str, states: Sequence[State], shapes: Sequence[Any]) -> Sequence[State]: ...


class RuleCall:
    """An operation with the states of its inputs, for a rule."""

    def __init__(self, states: GraphStates, operation: Any, inputs: Sequence[State]) -> None:
        self.all = states
        self.operation = operation
        self.inputs = inputs
        self.outputs = len(operation.outputs)
        self.attribute: Callable[[str], Any] = operation.get_attr

    def rank(self, index: int) -> int:
        found = self.operation.inputs[index].shape.rank
        if found is None:
            raise GraphLeavesOpen
        return int(found)

    def size(self, index: int, axis: int) -> int | None:
        """The size of an axis, which may be counted from the end; 1 beyond the first one."""
        sizes = self.operation.inputs[index].shape.as_list() if self.rank(index) else []
        if axis < 0:
            axis += len(sizes)
        return sizes[axis] if 0 <= axis < len(sizes) else 1

    def constant(self, index: int) -> Any:
        """The value of an input that the graph fixes."""
        found = tf.get_static_value(self.operation.inputs[index])
        if found is None or self.all.is_fed(self.operation.inputs[index]):
            raise GraphLeavesOpen
        return found

    def axis(self, index: int, of: int = 0) -> int:
        """An input that is one axis of another input, counted from the front."""
        found = int(self.constant(index).ravel()[0])
        return found if found >= 0 else found + self.rank(of)

    def rows(self, index: int = 0) -> RowsAlong:
        """The state of an input that must have rows."""
        found = self.inputs[index]
        if not isinstance(found, RowsAlong):
            raise GraphLeavesOpen
        return found

    def free(self, *indices: int) -> None:
        """Checks that inputs do not depend on the rows."""
        if any(self.inputs[index] != FREE for index in indices):
            raise GraphLeavesOpen

    def sizes(self, *indices: int) -> None:
        """Checks that inputs depend on nothing but the number of rows."""
        if any(self.inputs[index] not in (FREE, COUNT) for index in indices):
            raise GraphLeavesOpen

    def only_first(self) -> RowsAlong:
        """The state of the first input; the others must not depend on the rows."""
        self.free(*range(1, len(self.inputs)))
        return self.rows(0)
