"""Which tensors of a graph are computed row by row, so that the rows of several requests may share a run.

::

    feeds with rows ─▶ each operation's rule ─▶ a state for each of its outputs ─▶ that of a fetch

A state says where a tensor has the rows: on one axis (:class:`Rows`); nowhere, because it does not depend on them
(``FREE``); only their number (``COUNT``); as the elements of a TensorArray (:class:`Elements`); or that it mixes them
(:class:`Mixed`, which names the operation that does it).

The rules are an allow-list: an operation without a rule mixes whatever rows it gets. So does one whose rule needs to
know what the graph leaves open, such as an axis that is computed. Loops are followed until no state changes, functions
are entered. The result is meant to be sound, not complete: a graph that is refused may be right all the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tf1sessions.runtime import private, tf

__all__ = ["Mixed", "RowStates", "Rows", "State"]


@dataclasses.dataclass(frozen=True)
class Rows:
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

    def at(self, axis: int) -> Rows:
        return dataclasses.replace(self, axis=axis)


@dataclasses.dataclass(frozen=True)
class Elements:
    """A TensorArray or a list of tensors: the state of each element, None while there is none."""

    of: Rows | str | None = None


@dataclasses.dataclass(frozen=True)
class Mixed:
    """A tensor in which rows may depend on others, and the operation by which they do."""

    name: str
    type: str

    def __str__(self) -> str:
        return f"operation {self.name!r} of type {self.type}"


FREE = "free"
COUNT = "count"
State = Rows | Elements | Mixed | str

#: An entry of a vector of sizes is a number, or one of these: the number of rows, a size that does not depend on it,
#: one that does.
ROW_COUNT, SOME_SIZE, SOME_COUNT = "rows", "some", "some count"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ELEMENTWISE = _words(
    """
    Abs Acos Acosh Add AddN AddV2 Angle ApproximateEqual AsString Asin Asinh Atan Atan2 Atanh BesselI0e BesselI1e
    Betainc BitwiseAnd BitwiseOr BitwiseXor Bucketize Cast Ceil CheckNumerics ClipByValue Complex ComplexAbs Conj
    Cos Cosh DecodeBase64 Digamma Div DivNoNan Elu EncodeBase64 EnsureShape Equal Erf Erfc Erfinv Exp Expm1
    FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars Floor FloorDiv FloorMod Greater GreaterEqual GuaranteeConst
    Igamma Igammac Imag Inv Invert IsFinite IsInf IsNan LeakyRelu LeftShift Less LessEqual Lgamma Log Log1p
    LogicalAnd LogicalNot LogicalOr Maximum Minimum Mod Mul MulNoNan Ndtri Neg NextAfter NotEqual OnesLike
    PlaceholderWithDefault Polygamma Pow PreventGradient Real RealDiv Reciprocal RegexFullMatch
    RegexReplace Relu Relu6 RightShift Rint Round Rsqrt SelectV2 Selu Sigmoid Sign Sin Sinh Softplus
    Softsign Sqrt Square SquaredDifference StaticRegexFullMatch StaticRegexReplace StringJoin
    StringLength StringLower StringStrip StringToHashBucket StringToHashBucketFast StringToHashBucketStrong
    StringToNumber StringUpper Sub Tan Tanh TruncateDiv TruncateMod Xdivy Xlog1py Xlogy ZerosLike Zeta
    """
)
#: Rows on the first axis of the first input, and nowhere else: images, sequences.
_IMAGES = _words(
    """
    AvgPool AvgPool3D Conv2D Conv3D DepthToSpace DepthwiseConv2dNative Dilation2D ExtractImagePatches LRN MaxPool
    MaxPool3D MaxPoolV2 ResizeArea ResizeBicubic ResizeBilinear ResizeNearestNeighbor SpaceToDepth
    """
)
_REDUCTIONS = _words("All Any EuclideanNorm Max Mean Min Prod Sum")
_LAST_AXIS = _words("HSVToRGB LogSoftmax NthElement RGBToHSV Softmax TopK TopKV2")
_PASS = _words("Enter Exit Identity NextIteration RefEnter RefExit RefIdentity RefNextIteration Snapshot StopGradient")
_CALLS = _words("PartitionedCall StatefulPartitionedCall")
_CONDITIONS = _words("Case If StatelessCase StatelessIf")
_LOOPS = _words("StatelessWhile While")
#: Operations that give the number of rows, or what is made of it, when they are given sizes.
_ON_SIZES = _words(
    "Add AddV2 Cast FloorDiv FloorMod Greater GreaterEqual Less LessEqual LogicalAnd Maximum Minimum Mul Prod Sub Sum"
)
#: How often a graph is gone through until no state changes. Arbitrary: a loop inside a loop takes about five.
_MOST_PASSES = 50


class RowStates:
    """The states of a graph's tensors, for one choice of feeds.

    Args:
        graph: The graph.
        feeds: The fed tensors, each with its state.
        fixed_rows: The number of rows, where the graph fixes it.
        functions: The definitions of functions by name; those of the graph by default.

    Thread-safety: not safe; the graph must not change meanwhile.
    """

    def __init__(
        self,
        graph: Any,
        feeds: Sequence[tuple[Any, State]],
        fixed_rows: int | None = None,
        functions: Mapping[str, Any] | None = None,
    ) -> None:
        self._graph = graph
        self._fixed_rows = fixed_rows
        self._functions = functions
        self._states: dict[int, State] = {id(tensor): state for tensor, state in feeds}
        self._fed = frozenset(self._states)

    def of(self, tensor: Any) -> State:
        """The state of a tensor."""
        operations = self._needed(tensor)
        for _ in range(_MOST_PASSES):
            before = dict(self._states)
            for operation in operations:
                for output, state in zip(operation.outputs, self._outputs(operation), strict=True):
                    if state is not None and id(output) not in self._fed:
                        self._states[id(output)] = self._refined(output, state)
            if self._states == before:
                return self._states.get(id(tensor), Mixed(tensor.op.name, tensor.op.type))
        return Mixed(tensor.op.name, tensor.op.type)

    def _refined(self, output: Any, state: State) -> State:
        """FREE for what was made of sizes but has none that depends on the number of rows."""
        if state != COUNT:
            return state
        self._states[id(output)] = COUNT
        entries = self.entries(output)
        counted = entries is None or any(entry in (ROW_COUNT, SOME_COUNT) for entry in entries)
        return COUNT if counted else FREE

    def _needed(self, tensor: Any) -> list[Any]:
        """The operations that a tensor is computed from, each after its inputs but for a loop's back edges."""
        found: dict[int, Any] = {}
        entered: set[int] = set()
        todo = [] if id(tensor) in self._fed else [tensor.op]
        while todo:
            operation = todo[-1]
            before = [each.op for each in operation.inputs if id(each) not in self._fed]
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
            return [self._joined(known, operation), FREE] if known else [None, None]
        if len(known) < len(found):
            return [None] * count
        if kind == "Rank":
            return [FREE]
        mixed = next((state for state in known if isinstance(state, Mixed)), None)
        if mixed is not None:
            return [mixed] * count
        if kind in ("TensorArrayV3", "TensorListReserve", "EmptyTensorList"):
            return [Elements()] if count == 1 else [FREE, Elements()]
        if all(state == FREE for state in known):
            return [FREE] * count
        if kind in _ON_SIZES and set(known) <= {FREE, COUNT}:
            return [COUNT] * count
        rule = _RULES.get(kind)
        try:
            result = rule(_Call(self, operation, known)) if rule is not None else None
        except _NotYet:
            return [None] * count
        except _Unknown:
            result = None
        if result is None:
            return [Mixed(operation.name, kind)] * count
        return list(result) if isinstance(result, (list, tuple)) else [result] * count

    def _joined(self, states: Sequence[State], operation: Any) -> State:
        """What a tensor is that comes from one of several places."""
        if not states:
            return FREE
        first = next((state for state in states if isinstance(state, Mixed)), states[0])
        if isinstance(first, Mixed):
            return first
        if any(isinstance(state, Elements) for state in states):
            elements = {state.of for state in states if isinstance(state, Elements)} - {None}
            if len(elements) <= 1 and all(isinstance(state, Elements) for state in states):
                return Elements(elements.pop() if elements else None)
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
            if found is not None and self._fixed_rows is not None:
                found = [ROW_COUNT if each == self._fixed_rows else each for each in found]
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
        if isinstance(state, Rows):
            found[state.axis] = ROW_COUNT if state.block == 1 else SOME_COUNT
        elif state != FREE:
            found = [SOME_COUNT if size == SOME_SIZE else size for size in found]
        return found

    # -- functions --------------------------------------------------------------------------------------------------

    def body(self, name: str, states: Sequence[State], shapes: Sequence[Any]) -> Sequence[State]:
        """The states of a function's results for those of its arguments."""
        if self._functions is None:
            library = tf.GraphDef()
            self._graph._copy_functions_to_graph_def(library, 0)
            self._functions = {each.signature.name: each for each in library.library.function}
        definition = self._functions.get(name)
        if definition is None:
            raise _Unknown
        with self._graph.as_default():
            inner = private.function_def_to_graph.function_def_to_graph(definition, input_shapes=list(shapes))
        inside = RowStates(inner, list(zip(inner.inputs, states, strict=True)), self._fixed_rows, self._functions)
        return [inside.of(each) for each in inner.outputs]


def _product(factors: Sequence[Any]) -> list[Any]:
    rest = [factor for factor in factors if factor != 1]
    if not rest:
        return [1]
    if len(rest) == 1:
        return rest
    return [SOME_COUNT if any(factor in (ROW_COUNT, SOME_COUNT) for factor in rest) else SOME_SIZE]


# -- the rules --------------------------------------------------------------------------------------------------------


class _Unknown(Exception):
    """A rule would have to know what the graph leaves open."""


class _NotYet(Exception):
    """A rule would have to know a state that a loop will give later."""


class _Call:
    """An operation with the states of its inputs, for a rule."""

    def __init__(self, states: RowStates, operation: Any, inputs: Sequence[State]) -> None:
        self.all = states
        self.operation = operation
        self.inputs = inputs
        self.outputs = len(operation.outputs)
        self.attribute: Callable[[str], Any] = operation.get_attr

    def rank(self, index: int) -> int:
        found = self.operation.inputs[index].shape.rank
        if found is None:
            raise _Unknown
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
        if found is None or id(self.operation.inputs[index]) in self.all._fed:
            raise _Unknown
        return found

    def axis(self, index: int, of: int = 0) -> int:
        """An input that is one axis of another input, counted from the front."""
        found = int(self.constant(index).ravel()[0])
        return found if found >= 0 else found + self.rank(of)

    def rows(self, index: int = 0) -> Rows:
        """The state of an input that must have rows."""
        found = self.inputs[index]
        if not isinstance(found, Rows):
            raise _Unknown
        return found

    def free(self, *indices: int) -> None:
        """Checks that inputs do not depend on the rows."""
        if any(self.inputs[index] != FREE for index in indices):
            raise _Unknown

    def sizes(self, *indices: int) -> None:
        """Checks that inputs depend on nothing but the number of rows."""
        if any(self.inputs[index] not in (FREE, COUNT) for index in indices):
            raise _Unknown

    def only_first(self) -> Rows:
        """The state of the first input; the others must not depend on the rows."""
        self.free(*range(1, len(self.inputs)))
        return self.rows(0)


def _elementwise(call: _Call, indices: Sequence[int] | None = None) -> State:
    """Inputs that broadcast against each other."""
    chosen = range(len(call.inputs)) if indices is None else indices
    states = [call.inputs[index] for index in chosen]
    rows = [(index, state) for index, state in zip(chosen, states, strict=True) if isinstance(state, Rows)]
    if COUNT in states or any(isinstance(state, Elements) for state in states):
        raise _Unknown
    if len(chosen) == 1:
        return rows[0][1]
    scalars = [index for index in chosen if call.operation.inputs[index].shape.rank == 0]
    if len(rows) == 1 and len(scalars) == len(chosen) - 1:
        return rows[0][1]
    ranks = {index: call.rank(index) for index in chosen}
    places = {(state.axis - ranks[index], state.block, state.outermost) for index, state in rows}
    if len(places) != 1:
        raise _Unknown
    [(place, block, outermost)] = places
    for index in chosen:
        if not isinstance(call.inputs[index], Rows) and call.size(index, place) != 1:
            raise _Unknown
    return Rows(max(ranks.values()) + place, block, outermost)


def _select(call: _Call) -> State:
    """Select: a condition with rank 1 chooses whole rows."""
    if call.operation.inputs[0].shape.rank == 1 and call.rank(1) > 1:
        if all(state == Rows(0) for state in call.inputs):
            return Rows(0)
        raise _Unknown
    return _elementwise(call)


def _bias_add(call: _Call) -> State:
    rows = call.only_first()
    channels = 1 if call.operation.type == "BiasAdd" and call.attribute("data_format") == b"NCHW" else call.rank(0) - 1
    if rows.axis == channels:
        raise _Unknown
    return rows


def _images(call: _Call) -> Sequence[State]:
    rows = call.only_first()
    if rows.axis != 0:
        raise _Unknown
    return [rows] * call.outputs


def _transposed_convolution(call: _Call) -> State:
    call.sizes(0)
    call.free(1)
    if call.rows(2).axis != 0:
        raise _Unknown
    return call.rows(2)


def _space_to_batch(call: _Call) -> State:
    rows = call.only_first()
    block = (
        int(call.constant(1).prod()) if call.operation.type.endswith("ND") else int(call.attribute("block_size")) ** 2
    )
    if rows.axis != 0:
        raise _Unknown
    if call.operation.type.startswith("SpaceToBatch"):
        if rows.block != 1:
            raise _Unknown
        return Rows(0, block, outermost=block == 1)
    if rows.block != block or (rows.outermost and block != 1):
        raise _Unknown
    return Rows(0)


def _batch_norm(call: _Call) -> Sequence[State]:
    if call.attribute("is_training"):
        raise _Unknown
    rows = call.only_first()
    if rows.axis != 0:
        raise _Unknown
    return [rows] + [FREE] * (call.outputs - 1)


def _matmul(call: _Call) -> State:
    left, right = call.inputs
    if isinstance(left, Rows) and right == FREE:
        if left.axis == (1 if call.attribute("transpose_a") else 0):
            return left.at(0)
    elif left == FREE and isinstance(right, Rows) and right.axis == (0 if call.attribute("transpose_b") else 1):
        return right.at(1)
    raise _Unknown


def _batch_matmul(call: _Call) -> State:
    ranks = call.rank(0), call.rank(1)
    rank = max(ranks)
    found = set()
    for index, flag in ((0, "adj_x"), (1, "adj_y")):
        state = call.inputs[index]
        if not isinstance(state, Rows):
            continue
        place = state.axis - ranks[index]
        if place < -2:
            if not isinstance(call.inputs[1 - index], Rows) and call.size(1 - index, place) != 1:
                raise _Unknown
            found.add(state.at(rank + place))
        elif place == ((-1 if call.attribute(flag) else -2) if index == 0 else (-2 if call.attribute(flag) else -1)):
            call.free(1 - index)
            found.add(state.at(rank - 2 + index))
        else:
            raise _Unknown
    if len(found) != 1 or any(state not in (FREE,) and not isinstance(state, Rows) for state in call.inputs):
        raise _Unknown
    return found.pop()


def _einsum(call: _Call) -> State:
    equation = call.attribute("equation").decode()
    terms, _, result = equation.replace(" ", "").partition("->")
    labels, found = set(), set()
    parts = terms.split(",")
    if "." in equation or "->" not in equation:
        raise _Unknown
    for part, state in zip(parts, call.inputs, strict=True):
        if isinstance(state, Rows):
            labels.add(part[state.axis])
            found.add((state.block, state.outermost))
        elif state != FREE:
            raise _Unknown
    if len(labels) != 1 or found != {(1, True)}:
        raise _Unknown
    [label] = labels
    for part, state in zip(parts, call.inputs, strict=True):
        if part.count(label) != (1 if isinstance(state, Rows) else 0):
            raise _Unknown
    if result.count(label) != 1:
        raise _Unknown
    return Rows(result.index(label))


def _reduction(call: _Call) -> State:
    rows = call.only_first()
    axes = [int(axis) for axis in call.constant(1).ravel()]
    if any(axis < 0 for axis in axes):
        axes = [axis % call.rank(0) for axis in axes]
    if rows.axis in axes:
        raise _Unknown
    if call.attribute("keep_dims"):
        return rows
    return rows.at(rows.axis - len({axis for axis in axes if axis < rows.axis}))


def _arg(call: _Call) -> State:
    rows, axis = call.only_first(), call.axis(1)
    if rows.axis == axis:
        raise _Unknown
    return rows.at(rows.axis - (axis < rows.axis))


def _along_axis(call: _Call) -> State:
    """Cumsum and the like, along one axis or several."""
    rows = call.only_first()
    index = 2 if call.operation.type == "Roll" else 1
    axes = [int(axis) % call.rank(0) for axis in call.constant(index).ravel()]
    if rows.axis in axes:
        raise _Unknown
    return rows


def _reverse_sequence(call: _Call) -> State:
    rows = call.rows(0)
    along, batch = call.attribute("seq_dim"), call.attribute("batch_dim")
    if rows.axis == along or rows.block != 1:
        raise _Unknown
    lengths = call.inputs[1]
    if (lengths == FREE and rows.axis != batch) or (lengths == Rows(0) and rows.axis == batch):
        return rows
    raise _Unknown


def _last_axis(call: _Call) -> Sequence[State]:
    rows = call.only_first()
    if rows.axis == call.rank(0) - 1:
        raise _Unknown
    return [rows] * call.outputs


def _cross_entropy(call: _Call) -> Sequence[State]:
    if any(state != call.rows(0) for state in call.inputs) or call.rows(0).axis != 0:
        raise _Unknown
    return [call.rows(0)] * call.outputs


def _in_top(call: _Call) -> State:
    call.free(*range(2, len(call.inputs)))
    if call.inputs[0] != Rows(0) or call.inputs[1] != Rows(0):
        raise _Unknown
    return Rows(0)


def _concat(call: _Call) -> State:
    last = len(call.inputs) - 1
    place, parts = (last, range(last)) if call.operation.type == "ConcatV2" else (0, range(1, last + 1))
    states = {call.inputs[index] for index in parts}
    if states <= {FREE, COUNT}:
        return COUNT
    if len(states) != 1:
        raise _Unknown
    rows = call.rows(parts[0])
    if rows.axis == call.axis(place, of=parts[0]):
        raise _Unknown
    return rows


def _pack(call: _Call) -> State:
    states = set(call.inputs)
    if states <= {FREE, COUNT}:
        return COUNT
    if len(states) != 1:
        raise _Unknown
    rows, axis = call.rows(0), call.attribute("axis")
    if axis < 0:
        axis += call.rank(0) + 1
    return rows.at(rows.axis + (axis <= rows.axis))


def _unpack(call: _Call) -> Sequence[State]:
    if call.inputs[0] == COUNT:
        return [COUNT] * call.outputs
    rows, axis = call.rows(0), call.attribute("axis")
    if axis < 0:
        axis += call.rank(0)
    if axis == rows.axis:
        raise _Unknown
    return [rows.at(rows.axis - (axis < rows.axis))] * call.outputs


def _split(call: _Call) -> Sequence[State]:
    index, place = (1, 0) if call.operation.type == "Split" else (0, 2)
    if call.inputs[index] == COUNT:
        return [COUNT] * call.outputs
    call.free(*(other for other in range(len(call.inputs)) if other != index))
    rows = call.rows(index)
    if rows.axis == call.axis(place, of=index):
        raise _Unknown
    return [rows] * call.outputs


def _expand_dims(call: _Call) -> State:
    if call.inputs[0] == COUNT:
        return COUNT
    rows = call.only_first()
    axis = int(call.constant(1).ravel()[0])
    if axis < 0:
        axis += call.rank(0) + 1
    return rows.at(rows.axis + (axis <= rows.axis))


def _squeeze(call: _Call) -> State:
    if call.inputs[0] == COUNT:
        return COUNT
    rows = call.rows(0)
    axes = list(call.attribute("squeeze_dims"))
    if not axes and call.all._fixed_rows in (None, 1):
        raise _Unknown  # a batch of one row would lose its axis
    if not axes:
        axes = [axis for axis in range(call.rank(0)) if call.size(0, axis) == 1]
    axes = [axis if axis >= 0 else axis + call.rank(0) for axis in axes]
    if rows.axis in axes:
        raise _Unknown
    return rows.at(rows.axis - sum(axis < rows.axis for axis in axes))


def _transpose(call: _Call) -> State:
    rows = call.only_first()
    return rows.at([int(axis) for axis in call.constant(1).ravel()].index(rows.axis))


def _reshape(call: _Call) -> State:
    """Keeps the rows where the elements of one row stay together."""
    call.sizes(1)
    if call.inputs[0] == COUNT:
        return COUNT
    if call.inputs[0] == FREE:
        raise _Unknown  # to as many entries as there are rows
    rows = call.rows(0)
    if rows.axis != 0 or not rows.outermost:
        raise _Unknown
    entries = call.all.entries(call.operation.inputs[1])
    if entries is None or not entries:
        raise _Unknown
    if entries[0] == ROW_COUNT and ROW_COUNT not in entries[1:]:
        return Rows(0)
    if entries[0] not in (-1, SOME_COUNT) or not all(type(size) is int and size > 0 for size in entries[1:]):
        raise _Unknown
    per_entry = 1
    for size in entries[1:]:
        per_entry *= size
    sizes = call.operation.inputs[0].shape.as_list()[1:] if call.rank(0) else []
    if None not in sizes and rows.block:
        elements = rows.block
        for size in sizes:
            elements *= size
        if per_entry and elements % per_entry == 0:
            return Rows(0, elements // per_entry)
        raise _Unknown
    known = 1
    for size in reversed(sizes):  # the sizes at the end that are known
        if size is None:
            break
        known *= size
        if per_entry and known % per_entry == 0:
            return Rows(0, 0)
    if per_entry == 1:
        return Rows(0, 0)
    raise _Unknown


def _strided_slice(call: _Call) -> State:
    if call.inputs[0] == COUNT:
        return COUNT
    rows = call.rows(0)
    call.sizes(1, 2, 3)
    masks = {name: call.attribute(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    places = call.operation.inputs[1].shape.num_elements()
    if places is None:
        raise _Unknown
    begins, strides = call.all.entries(call.operation.inputs[1]), call.constant(3).ravel()
    before = axis = 0  # axes of the result, and of the input, so far
    for place in range(places):
        bit = 1 << place
        if masks["ellipsis"] & bit:
            left = sum(not masks["new_axis"] & (1 << other) for other in range(place + 1, places))
            skipped = call.rank(0) - left - axis
            if axis <= rows.axis < axis + skipped:
                return rows.at(before + rows.axis - axis)
            axis += skipped
            before += skipped
        elif masks["new_axis"] & bit:
            before += 1
        else:
            if axis == rows.axis:
                from_first = masks["begin"] & bit or (begins is not None and begins[place] == 0)
                whole = from_first and masks["end"] & bit and strides[place] == 1
                if not whole or masks["shrink_axis"] & bit:
                    raise _Unknown
                return rows.at(before)
            axis += 1
            before += not masks["shrink_axis"] & bit
    return rows.at(before + rows.axis - axis)


def _slice(call: _Call) -> State:
    if call.inputs[0] == COUNT:
        return COUNT
    rows = call.rows(0)
    call.sizes(1, 2)
    begin, size = (call.all.entries(call.operation.inputs[index]) for index in (1, 2))
    if begin is None or size is None or begin[rows.axis] != 0 or size[rows.axis] not in (-1, ROW_COUNT):
        raise _Unknown
    if size[rows.axis] == ROW_COUNT and rows.block != 1:
        raise _Unknown
    return rows


def _gather(call: _Call) -> State:
    if all(state in (FREE, COUNT) for state in call.inputs):
        return COUNT
    axis = call.axis(2) if call.operation.type == "GatherV2" else 0
    batch = 0
    if call.operation.type == "GatherV2" and "batch_dims" in call.operation.node_def.attr:
        batch = call.attribute("batch_dims")
    table, indices = call.inputs[:2]
    if batch:
        if table == indices == Rows(0) and axis >= batch:
            return Rows(0)
    elif table == FREE and isinstance(indices, Rows):
        return indices.at(axis + indices.axis)
    elif isinstance(table, Rows) and indices == FREE and axis != table.axis:
        return table.at(table.axis if table.axis < axis else table.axis - 1 + call.rank(1))
    raise _Unknown


def _resource_gather(call: _Call) -> State:
    call.free(0)
    if call.attribute("batch_dims"):
        raise _Unknown
    return call.rows(1)


def _gather_nd(call: _Call) -> State:
    call.free(0)
    rows = call.rows(1)
    if rows.axis == call.rank(1) - 1:
        raise _Unknown
    return rows


def _one_hot(call: _Call) -> State:
    rows = call.only_first()
    axis = call.attribute("axis")
    if axis < 0:
        return rows
    return rows.at(rows.axis + (axis <= rows.axis))


def _made_for_rows(call: _Call, sizes: int, value: int | None) -> State:
    """A tensor of one value in all places, with as many entries as there are rows on one axis."""
    if value is not None:
        call.free(value)
    entries = call.all.entries(call.operation.inputs[sizes])
    if entries is None or entries.count(ROW_COUNT) != 1 or SOME_COUNT in entries:
        raise _Unknown
    return Rows(entries.index(ROW_COUNT))


def _fill(call: _Call) -> State:
    return _made_for_rows(call, 0, 1)


def _broadcast_to(call: _Call) -> State:
    entries = call.all.entries(call.operation.inputs[1])
    if entries is None:
        raise _Unknown
    if isinstance(call.inputs[0], Rows):
        rows = call.rows(0)
        axis = len(entries) - call.rank(0) + rows.axis
        if entries[axis] != ROW_COUNT or rows.block != 1:
            raise _Unknown
        return rows.at(axis)
    found = _made_for_rows(call, 1, 0)
    assert isinstance(found, Rows)
    if call.size(0, found.axis - len(entries)) != 1:
        raise _Unknown
    return found


def _tile(call: _Call) -> State:
    entries = call.all.entries(call.operation.inputs[1])
    if entries is None:
        raise _Unknown
    if isinstance(call.inputs[0], Rows):
        rows = call.rows(0)
        if entries[rows.axis] != 1:
            raise _Unknown
        return rows
    found = _made_for_rows(call, 1, 0)
    assert isinstance(found, Rows)
    if call.size(0, found.axis) != 1:
        raise _Unknown
    return found


def _pad(call: _Call) -> State:
    rows = call.only_first()
    if any(int(each) for each in call.constant(1)[rows.axis]):
        raise _Unknown
    return rows


def _shape(call: _Call) -> Sequence[State]:
    return [COUNT] * call.outputs


def _lookup(call: _Call) -> State:
    call.free(0, 2)
    return call.rows(1)


def _decode_raw(call: _Call) -> State:
    return call.only_first()


def _parse_csv(call: _Call) -> Sequence[State]:
    rows = call.only_first()
    return [rows] * call.outputs


def _parse_example(call: _Call) -> Sequence[State]:
    rows = call.only_first()
    if rows != Rows(0):
        raise _Unknown
    sparse = Mixed(call.operation.name, call.operation.type)
    if call.operation.type == "ParseExampleV2":
        count = 3 * call.attribute("num_sparse")
        ragged = len(call.attribute("ragged_value_types")) + len(call.attribute("ragged_split_types"))
        dense = call.outputs - count - ragged
        return [sparse] * count + [rows] * dense + [sparse] * ragged
    count = 3 * call.attribute("Nsparse")
    return [sparse] * count + [rows] * (call.outputs - count)


# -- rules of loops, conditions and functions -------------------------------------------------------------------------


def _pass(call: _Call) -> State:
    return call.inputs[0]


def _each(call: _Call) -> Sequence[State]:
    return list(call.inputs)


def _switch(call: _Call) -> Sequence[State]:
    call.free(1)
    return [call.inputs[0]] * 2


def _loop_condition(call: _Call) -> State:
    call.free(0)  # as often as there are rows is not row by row
    return FREE


def _called(call: _Call, name: str, first: int = 0) -> Sequence[State]:
    shapes = [each.shape for each in call.operation.inputs][first:]
    return call.all.body(name, list(call.inputs)[first:], shapes)


def _function(call: _Call) -> Sequence[State]:
    return _called(call, call.attribute("f").name)


def _condition(call: _Call) -> Sequence[State]:
    call.free(0)
    kind = call.operation.type
    if kind.endswith("Case"):
        names = [each.name for each in call.attribute("branches")]
    else:
        names = [call.attribute("then_branch").name, call.attribute("else_branch").name]
    found = [_called(call, name, first=1) for name in names]
    return [call.all._joined(states, call.operation) for states in zip(*found, strict=True)]


def _loop(call: _Call) -> Sequence[State]:
    states = list(call.inputs)
    shapes = [each.shape for each in call.operation.outputs]
    for _ in range(2 + 2 * len(states)):  # each state goes up twice at most
        after = call.all.body(call.attribute("body").name, states, shapes)
        joined = [call.all._joined(pair, call.operation) for pair in zip(states, after, strict=True)]
        if joined == states:
            break
        states = joined
    else:
        raise _Unknown
    [condition] = call.all.body(call.attribute("cond").name, states, shapes)
    if condition != FREE:
        raise _Unknown
    return states


def _moved(state: State, by: int) -> Rows | str:
    """The state of what is put together of elements (1), or of an element of it (-1), along the first axis."""
    if state == FREE:
        return FREE
    if not isinstance(state, Rows) or state.axis + by < 0:
        raise _Unknown
    return state.at(state.axis + by)


def _with(call: _Call, array: int, element: State) -> Elements:
    """A TensorArray or list after an element, or all of them, were written."""
    now = call.inputs[array]
    found = _moved(element, 0)
    if not isinstance(now, Elements) or now.of not in (None, found):
        raise _Unknown
    return Elements(found)


def _element(call: _Call, array: int) -> Rows | str:
    """An element of a TensorArray or list."""
    found = call.inputs[array]
    if not isinstance(found, Elements):
        raise _Unknown
    if found.of is None:
        raise _NotYet
    return found.of


def _array_read(call: _Call) -> State:
    call.free(1)
    return _element(call, 2)


def _array_write(call: _Call) -> State:
    call.free(1)
    return _with(call, 3, call.inputs[2])


def _array_scatter(call: _Call) -> State:
    call.free(1)
    return _with(call, 3, _moved(call.inputs[2], -1))


def _array_gather(call: _Call) -> State:
    call.free(1)
    return _moved(_element(call, 2), 1)


def _list_set(call: _Call) -> State:
    call.free(1)
    return _with(call, 0, call.inputs[2])


def _list_push(call: _Call) -> State:
    return _with(call, 0, call.inputs[1])


def _list_get(call: _Call) -> State:
    call.free(1)
    return _element(call, 0)


def _list_from(call: _Call) -> State:
    return Elements(_moved(call.inputs[0], -1))


def _list_stack(call: _Call) -> State:
    return _moved(_element(call, 0), 1)


def _array_size(call: _Call) -> State:
    return FREE


def _rules() -> dict[str, Callable[[_Call], Any]]:
    found: dict[str, Callable[[_Call], Any]] = {}

    def add(names: Iterable[str], rule: Callable[[_Call], Any]) -> None:
        found.update(dict.fromkeys(names, rule))

    add(_ELEMENTWISE, _elementwise)
    add(_IMAGES, _images)
    add(_REDUCTIONS, _reduction)
    add(_LAST_AXIS, _last_axis)
    add(_PASS, _pass)
    add(_CALLS, _function)
    add(_CONDITIONS, _condition)
    add(_LOOPS, _loop)
    add(("Select",), _select)
    add(("BiasAdd", "BiasAddV1"), _bias_add)
    add(("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput"), _transposed_convolution)
    add(("SpaceToBatchND", "BatchToSpaceND"), _space_to_batch)
    add(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), _batch_norm)
    add(("MatMul",), _matmul)
    add(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), _batch_matmul)
    add(("Einsum",), _einsum)
    add(("ArgMax", "ArgMin"), _arg)
    add(("Cumprod", "Cumsum", "ReverseV2", "Roll"), _along_axis)
    add(("ReverseSequence",), _reverse_sequence)
    add(("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"), _cross_entropy)
    add(("InTopK", "InTopKV2"), _in_top)
    add(("Concat", "ConcatV2"), _concat)
    add(("Pack",), _pack)
    add(("Unpack",), _unpack)
    add(("Split", "SplitV"), _split)
    add(("ExpandDims",), _expand_dims)
    add(("Squeeze",), _squeeze)
    add(("Transpose",), _transpose)
    add(("Reshape",), _reshape)
    add(("StridedSlice",), _strided_slice)
    add(("Slice",), _slice)
    add(("Gather", "GatherV2"), _gather)
    add(("ResourceGather",), _resource_gather)
    add(("GatherNd",), _gather_nd)
    add(("OneHot",), _one_hot)
    add(("Fill",), _fill)
    add(("BroadcastTo",), _broadcast_to)
    add(("Tile",), _tile)
    add(("MirrorPad", "Pad", "PadV2"), _pad)
    add(("Shape", "ShapeN", "Size"), _shape)
    add(("LookupTableFind", "LookupTableFindV2"), _lookup)
    add(("DecodeRaw",), _decode_raw)
    add(("DecodeCSV",), _parse_csv)
    add(("ParseExample", "ParseExampleV2"), _parse_example)
    add(("IdentityN",), _each)
    add(("RefSwitch", "Switch"), _switch)
    add(("LoopCond",), _loop_condition)
    add(("TensorArrayReadV3",), _array_read)
    add(("TensorArrayWriteV3",), _array_write)
    add(("TensorArrayScatterV3",), _array_scatter)
    add(("TensorArrayGatherV3",), _array_gather)
    add(("TensorListSetItem",), _list_set)
    add(("TensorListPushBack",), _list_push)
    add(("TensorListGetItem",), _list_get)
    add(("TensorListFromTensor",), _list_from)
    add(("TensorListStack",), _list_stack)
    add(("TensorArraySizeV3", "TensorListLength"), _array_size)
    return found


_RULES: Mapping[str, Callable[[_Call], Any]] = _rules()
