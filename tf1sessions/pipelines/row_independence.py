"""The tensors of a graph that are computed row by row, so that the rows of several requests may share a run.

::

    feeds with rows ─▶ each operation's rule ─▶ a state for each of its outputs ─▶ that of a fetch

A state says where a tensor has the rows: on one axis (:class:`RowsAlong`); nowhere, because it does not depend on them
(``FREE``); only their number (``COUNT``); as the elements of a TensorArray (:class:`ElementStates`); or that it mixes
them (:class:`Mixed`, which names the operation that does it).

The rules are an allow-list: an operation without a rule mixes whatever rows it gets. So does one whose rule needs to
know what the graph leaves open, such as an axis that is computed. Loops are followed until no state changes, functions
are entered. An operation that puts something of the rows where another one may read it, such as an assignment or an
enqueue, mixes them too; also where only a control dependency makes it run. The result is meant to be sound, not
complete: a graph that is refused may be right all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from tf1sessions.pipelines.retry_safety import changed_by, functions_of
from tf1sessions.pipelines.row_rules import RULES
from tf1sessions.pipelines.row_states import (
    COUNT,
    FREE,
    ROW_COUNT,
    SOME_COUNT,
    SOME_SIZE,
    ElementStates,
    GraphLeavesOpen,
    Mixed,
    RowsAlong,
    RuleCall,
    State,
    StateNotYetKnown,
)
from tf1sessions.runtime import private, tf

__all__ = ["RowStates"]

#: Operations that give the number of rows, or what is made of it, when they are given sizes.
_ON_SIZES = frozenset(
    "Add AddV2 Cast FloorDiv FloorMod Greater GreaterEqual Less LessEqual LogicalAnd".split()
    + "Maximum Minimum Mul Prod Sub Sum".split()
)
#: How often a graph is gone through until no state changes. Arbitrary: a loop inside a loop takes about five.
_MOST_PASSES = 50
#: What TensorFlow raises of a function that it cannot import.
_NOT_IMPORTED = (ValueError, TypeError, LookupError, tf.errors.OpError)


class RowStates:
    """The states of a graph's tensors, for one choice of feeds.

    Args:
        graph: The graph.
        feeds: The fed tensors, each with its state.
        fixed_rows: The number of rows, where the graph fixes it.
        functions: The definitions of functions by name; those of the graph by default.
        always: Operations that run whatever is fetched, as those of a function that have effects do.

    Thread-safety: not safe; the graph must not change meanwhile.
    """

    def __init__(
        self,
        graph: Any,
        feeds: Sequence[tuple[Any, State]],
        fixed_rows: int | None = None,
        functions: Mapping[str, Any] | None = None,
        always: Sequence[Any] = (),
    ) -> None:
        self._graph = graph
        self.fixed_rows = fixed_rows
        self._functions = functions
        self._always = always
        self._states: dict[int, State] = {id(tensor): state for tensor, state in feeds}
        self._fed = frozenset(self._states)

    def is_fed(self, tensor: Any) -> bool:
        """Whether a tensor is fed, so that its value and shape in the graph count for nothing."""
        return id(tensor) in self._fed

    def of(self, tensor: Any) -> State:
        """The state of a tensor."""
        fetched = [] if self.is_fed(tensor) else [tensor.op]
        operations = self._needed([*self._always, *fetched])
        for _ in range(_MOST_PASSES):
            before = dict(self._states)
            for operation in operations:
                for output, state in zip(operation.outputs, self._outputs(operation), strict=True):
                    if state is not None and id(output) not in self._fed:
                        self._states[id(output)] = self._refined(output, state)
            if self._states == before:
                state = self._states.get(id(tensor), Mixed(tensor.op.name, tensor.op.type))
                by_data = {id(each) for each in self._needed(fetched, control=False)}
                return self._mixed_by_state(operations, by_data) or state
        return Mixed(tensor.op.name, tensor.op.type)

    def _refined(self, output: Any, state: State) -> State:
        """FREE for what was made of sizes but has none that depends on the number of rows."""
        if state != COUNT:
            return state
        self._states[id(output)] = COUNT
        entries = self.entries(output)
        counted = entries is None or any(entry in (ROW_COUNT, SOME_COUNT) for entry in entries)
        return COUNT if counted else FREE

    def _mixed_by_state(self, operations: Sequence[Any], by_data: Set[int]) -> Mixed | None:
        """Return an operation that writes something of the rows to where another one may read it.

        Args:
            operations: Those that run, with states for all of their inputs.
            by_data: The ids of those that the fetch takes data from. A TensorArray that is written by these is
                followed, by its flow.
        """
        for operation in operations:
            if all(self._states.get(id(each)) == FREE for each in operation.inputs):
                continue
            is_array = operation.type.startswith("TensorArray")
            if is_array if id(operation) not in by_data else operation.type.startswith("StackPush"):
                return Mixed(operation.name, operation.type)
            if not is_array and changed_by(self._graph, [operation], self._all_functions()):
                return Mixed(operation.name, operation.type)
        return None

    def _needed(self, operations: Sequence[Any], control: bool = True) -> list[Any]:
        """Return the operations that run for these, each after its inputs but for a loop's back edges.

        Args:
            operations: What is fetched.
            control: Whether to follow control dependencies too.
        """
        found: dict[int, Any] = {}
        entered: set[int] = set()
        todo = list(operations)
        while todo:
            operation = todo[-1]
            before = [each.op for each in operation.inputs if id(each) not in self._fed]
            before += operation.control_inputs if control else ()
            new = [each for each in before if id(each) not in entered]
            entered.add(id(operation))
            if new:
                todo += new
            else:
                found[id(todo.pop())] = operation
        return list(found.values())

    # -- one operation ----------------------------------------------------------------------------------------------

    def _outputs(self, operation: Any) -> Sequence[State | None]:
        """The states of an operation's outputs; None where one of its inputs, in a loop, has none yet."""
        kind, count = operation.type, len(operation.outputs)
        found = [self._states.get(id(each)) for each in operation.inputs]
        known = [state for state in found if state is not None]
        if kind in ("Merge", "RefMerge"):
            return [self.joined(known, operation), FREE] if known else [None, None]
        if len(known) < len(found):
            return [None] * count
        if kind == "Rank":
            return [FREE]
        mixed = next((state for state in known if isinstance(state, Mixed)), None)
        if mixed is not None:
            return [mixed] * count
        if kind in ("TensorArrayV3", "TensorListReserve", "EmptyTensorList"):
            return [ElementStates()] if count == 1 else [FREE, ElementStates()]
        if all(state == FREE for state in known):
            return [FREE] * count
        if kind in _ON_SIZES and set(known) <= {FREE, COUNT}:
            return [COUNT] * count
        rule = RULES.get(kind)
        try:
            result = rule(RuleCall(self, operation, known)) if rule is not None else None
        except StateNotYetKnown:
            return [None] * count
        except GraphLeavesOpen:
            result = None
        states = list(result) if isinstance(result, (list, tuple)) else [result] * count
        if result is None or len(states) != count:  # the results of a function are not those that the operation has
            return [Mixed(operation.name, kind)] * count
        return states

    def joined(self, states: Sequence[State], operation: Any) -> State:
        """Return what a tensor is that comes from one of several places."""
        if not states:
            return FREE
        first = next((state for state in states if isinstance(state, Mixed)), states[0])
        if isinstance(first, Mixed):
            return first
        if any(isinstance(state, ElementStates) for state in states):
            elements = {state.of for state in states if isinstance(state, ElementStates)} - {None}
            if len(elements) <= 1 and all(isinstance(state, ElementStates) for state in states):
                return ElementStates(elements.pop() if elements else None)
            return Mixed(operation.name, operation.type)
        kinds = set(states)
        if len(kinds) == 1:
            return states[0]
        return COUNT if kinds == {FREE, COUNT} else Mixed(operation.name, operation.type)

    # -- sizes ------------------------------------------------------------------------------------------------------

    def entries(self, tensor: Any) -> list[Any] | None:
        """The entries of a scalar or vector of sizes; None when their number is not known."""
        value = tf.get_static_value(tensor)
        state = self._states.get(id(tensor), COUNT)
        if value is not None and id(tensor) not in self._fed:
            found: list[Any] | None = [int(each) for each in value.ravel()] if value.dtype.kind in "iu" else None
            if found is not None and self.fixed_rows is not None:
                found = [ROW_COUNT if each == self.fixed_rows else each for each in found]
            return found
        if state not in (FREE, COUNT):
            return None
        found = self._computed(tensor) if id(tensor) not in self._fed else None
        size = tensor.shape.num_elements() if tensor.shape.rank is not None else None
        if found is None and size is not None:
            found = [SOME_SIZE if state == FREE else SOME_COUNT] * size
        return found

    def _computed(self, tensor: Any) -> list[Any] | None:
        """The entries of a tensor that an operation has put together of sizes; None if they are not known."""
        operation = tensor.op
        inputs = operation.inputs
        kind = operation.type
        if kind in ("Shape", "ShapeN"):
            return self._shape_entries(inputs[tensor.value_index])
        if kind in ("Identity", "Cast", "ExpandDims", "Squeeze", "Reshape"):
            return self.entries(inputs[0])
        if kind in ("Pack", "ConcatV2", "Concat"):
            parts = {"Pack": inputs, "ConcatV2": inputs[:-1], "Concat": inputs[1:]}[kind]
            lists = [self.entries(each) for each in parts]
            return None if None in lists else [entry for each in lists for entry in each or ()]
        if kind in ("Mul", "Prod"):
            factors = [entry for each in inputs[: 2 if kind == "Mul" else 1] for entry in self.entries(each) or [None]]
            return None if None in factors or tensor.shape.num_elements() != 1 else _product(factors)
        whole = self.entries(inputs[0]) if inputs and inputs[0].shape.rank == 1 else None
        if whole is None:
            return None
        if kind == "Unpack":
            return [whole[tensor.value_index]]
        if kind == "StridedSlice":
            numbers = [tf.get_static_value(each) for each in inputs[1:]]
            if any(number is None or number.size != 1 for number in numbers):
                return None
            begin, end, stride = (int(number.ravel()[0]) for number in numbers)
            if operation.get_attr("shrink_axis_mask"):
                return [whole[begin]] if -len(whole) <= begin < len(whole) else None
            first = None if operation.get_attr("begin_mask") else begin
            last = None if operation.get_attr("end_mask") else end
            return whole[slice(first, last, stride)]
        if kind in ("GatherV2", "Gather"):
            chosen = tf.get_static_value(inputs[1])
            if chosen is None or any(not 0 <= int(each) < len(whole) for each in chosen.ravel()):
                return None
            return [whole[int(each)] for each in chosen.ravel()]
        return None

    def _shape_entries(self, tensor: Any) -> list[Any] | None:
        if tensor.shape.rank is None:
            return None
        state = self._states.get(id(tensor), COUNT)
        found: list[Any] = [SOME_SIZE if size is None else size for size in tensor.shape.as_list()]
        if isinstance(state, RowsAlong):
            found[state.axis] = ROW_COUNT if state.block == 1 else SOME_COUNT
        elif state != FREE:
            found = [SOME_COUNT if size == SOME_SIZE else size for size in found]
        return found

    # -- functions --------------------------------------------------------------------------------------------------

    def _all_functions(self) -> Mapping[str, Any]:
        if self._functions is None:
            self._functions = functions_of(self._graph)
        return self._functions

    def body(self, name: str, states: Sequence[State], shapes: Sequence[Any]) -> Sequence[State]:
        """The states of a function's results for those of its arguments."""
        functions = self._all_functions()
        definition = functions.get(name)
        if definition is None:
            raise GraphLeavesOpen
        try:
            with self._graph.as_default():
                inner = private.function_def_to_graph.function_def_to_graph(definition, input_shapes=list(shapes))
            feeds = list(zip(inner.inputs, states, strict=True))
        except _NOT_IMPORTED as error:  # a body that TensorFlow refuses when it is run
            raise GraphLeavesOpen from error
        effects = [each for each in inner.get_operations() if each.op_def is not None and each.op_def.is_stateful]
        inside = RowStates(inner, feeds, self.fixed_rows, functions, effects)
        return [inside.of(each) for each in inner.outputs]


def _product(factors: Sequence[Any]) -> list[Any]:
    rest = [factor for factor in factors if factor != 1]
    if not rest:
        return [1]
    if len(rest) == 1:
        return rest
    return [SOME_COUNT if any(factor in (ROW_COUNT, SOME_COUNT) for factor in rest) else SOME_SIZE]
