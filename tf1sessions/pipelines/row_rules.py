"""The rules of row_independence.py: the states of an operation's outputs, for those of its inputs.

A rule is a function of a :class:`RuleCall`; the table :data:`RULES` at the end says which operations it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tf1sessions.pipelines.row_states import (
    COUNT,
    FREE,
    ROW_COUNT,
    SOME_COUNT,
    ElementStates,
    GraphLeavesOpen,
    Mixed,
    RowsAlong,
    RuleCall,
    State,
    StateNotYetKnown,
)

__all__ = ["RULES"]


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


def _elementwise(call: RuleCall, indices: Sequence[int] | None = None) -> State:
    """Inputs that broadcast against each other."""
    chosen = range(len(call.inputs)) if indices is None else indices
    states = [call.inputs[index] for index in chosen]
    rows = [(index, state) for index, state in zip(chosen, states, strict=True) if isinstance(state, RowsAlong)]
    if COUNT in states or any(isinstance(state, ElementStates) for state in states):
        raise GraphLeavesOpen
    if len(chosen) == 1:
        return rows[0][1]
    scalars = [index for index in chosen if call.operation.inputs[index].shape.rank == 0]
    if len(rows) == 1 and len(scalars) == len(chosen) - 1:
        return rows[0][1]
    ranks = {index: call.rank(index) for index in chosen}
    places = {(state.axis - ranks[index], state.block, state.outermost) for index, state in rows}
    if len(places) != 1:
        raise GraphLeavesOpen
    [(place, block, outermost)] = places
    for index in chosen:
        if not isinstance(call.inputs[index], RowsAlong) and call.size(index, place) != 1:
            raise GraphLeavesOpen
    return RowsAlong(max(ranks.values()) + place, block, outermost)


def _select(call: RuleCall) -> State:
    """Select: a condition with rank 1 chooses whole rows."""
    if call.operation.inputs[0].shape.rank == 1 and call.rank(1) > 1:
        if all(state == RowsAlong(0) for state in call.inputs):
            return RowsAlong(0)
        raise GraphLeavesOpen
    return _elementwise(call)


def _bias_add(call: RuleCall) -> State:
    rows = call.only_first()
    channels = 1 if call.operation.type == "BiasAdd" and call.attribute("data_format") == b"NCHW" else call.rank(0) - 1
    if rows.axis == channels:
        raise GraphLeavesOpen
    return rows


def _images(call: RuleCall) -> Sequence[State]:
    rows = call.only_first()
    if rows.axis != 0:
        raise GraphLeavesOpen
    return [rows] * call.outputs


def _transposed_convolution(call: RuleCall) -> State:
    call.sizes(0)
    call.free(1)
    if call.rows(2).axis != 0:
        raise GraphLeavesOpen
    return call.rows(2)


def _space_to_batch(call: RuleCall) -> State:
    rows = call.only_first()
    block = (
        int(call.constant(1).prod()) if call.operation.type.endswith("ND") else int(call.attribute("block_size")) ** 2
    )
    if rows.axis != 0:
        raise GraphLeavesOpen
    if call.operation.type.startswith("SpaceToBatch"):
        if rows.block != 1:
            raise GraphLeavesOpen
        return RowsAlong(0, block, outermost=block == 1)
    if rows.block != block or (rows.outermost and block != 1):
        raise GraphLeavesOpen
    return RowsAlong(0)


def _batch_norm(call: RuleCall) -> Sequence[State]:
    if call.attribute("is_training"):
        raise GraphLeavesOpen
    rows = call.only_first()
    if rows.axis != 0:
        raise GraphLeavesOpen
    return [rows] + [FREE] * (call.outputs - 1)


def _matmul(call: RuleCall) -> State:
    left, right = call.inputs
    if isinstance(left, RowsAlong) and right == FREE:
        if left.axis == (1 if call.attribute("transpose_a") else 0):
            return left.at(0)
    elif left == FREE and isinstance(right, RowsAlong) and right.axis == (0 if call.attribute("transpose_b") else 1):
        return right.at(1)
    raise GraphLeavesOpen


def _batch_matmul(call: RuleCall) -> State:
    ranks = call.rank(0), call.rank(1)
    rank = max(ranks)
    found = set()
    for index, flag in ((0, "adj_x"), (1, "adj_y")):
        state = call.inputs[index]
        if not isinstance(state, RowsAlong):
            continue
        place = state.axis - ranks[index]
        if place < -2:
            if not isinstance(call.inputs[1 - index], RowsAlong) and call.size(1 - index, place) != 1:
                raise GraphLeavesOpen
            found.add(state.at(rank + place))
        elif place == ((-1 if call.attribute(flag) else -2) if index == 0 else (-2 if call.attribute(flag) else -1)):
            call.free(1 - index)
            found.add(state.at(rank - 2 + index))
        else:
            raise GraphLeavesOpen
    if len(found) != 1 or any(state not in (FREE,) and not isinstance(state, RowsAlong) for state in call.inputs):
        raise GraphLeavesOpen
    return found.pop()


def _einsum(call: RuleCall) -> State:
    equation = call.attribute("equation").decode()
    terms, _, result = equation.replace(" ", "").partition("->")
    labels, found = set(), set()
    parts = terms.split(",")
    if "." in equation or "->" not in equation:
        raise GraphLeavesOpen
    for part, state in zip(parts, call.inputs, strict=True):
        if isinstance(state, RowsAlong):
            labels.add(part[state.axis])
            found.add((state.block, state.outermost))
        elif state != FREE:
            raise GraphLeavesOpen
    if len(labels) != 1 or found != {(1, True)}:
        raise GraphLeavesOpen
    [label] = labels
    for part, state in zip(parts, call.inputs, strict=True):
        if part.count(label) != (1 if isinstance(state, RowsAlong) else 0):
            raise GraphLeavesOpen
    if result.count(label) != 1:
        raise GraphLeavesOpen
    return RowsAlong(result.index(label))


def _reduction(call: RuleCall) -> State:
    rows = call.only_first()
    axes = [int(axis) for axis in call.constant(1).ravel()]
    if any(axis < 0 for axis in axes):
        axes = [axis % call.rank(0) for axis in axes]
    if rows.axis in axes:
        raise GraphLeavesOpen
    if call.attribute("keep_dims"):
        return rows
    return rows.at(rows.axis - len({axis for axis in axes if axis < rows.axis}))


def _arg(call: RuleCall) -> State:
    rows, axis = call.only_first(), call.axis(1)
    if rows.axis == axis:
        raise GraphLeavesOpen
    return rows.at(rows.axis - (axis < rows.axis))


def _along_axis(call: RuleCall) -> State:
    """Cumsum and the like, along one axis or several."""
    rows = call.only_first()
    index = 2 if call.operation.type == "Roll" else 1
    axes = [int(axis) % call.rank(0) for axis in call.constant(index).ravel()]
    if rows.axis in axes:
        raise GraphLeavesOpen
    return rows


def _reverse_sequence(call: RuleCall) -> State:
    rows = call.rows(0)
    along, batch = call.attribute("seq_dim"), call.attribute("batch_dim")
    if rows.axis == along or rows.block != 1:
        raise GraphLeavesOpen
    lengths = call.inputs[1]
    if (lengths == FREE and rows.axis != batch) or (lengths == RowsAlong(0) and rows.axis == batch):
        return rows
    raise GraphLeavesOpen


def _last_axis(call: RuleCall) -> Sequence[State]:
    rows = call.only_first()
    if rows.axis == call.rank(0) - 1:
        raise GraphLeavesOpen
    return [rows] * call.outputs


def _cross_entropy(call: RuleCall) -> Sequence[State]:
    if any(state != call.rows(0) for state in call.inputs) or call.rows(0).axis != 0:
        raise GraphLeavesOpen
    return [call.rows(0)] * call.outputs


def _in_top(call: RuleCall) -> State:
    call.free(*range(2, len(call.inputs)))
    if call.inputs[0] != RowsAlong(0) or call.inputs[1] != RowsAlong(0):
        raise GraphLeavesOpen
    return RowsAlong(0)


def _concat(call: RuleCall) -> State:
    last = len(call.inputs) - 1
    place, parts = (last, range(last)) if call.operation.type == "ConcatV2" else (0, range(1, last + 1))
    states = {call.inputs[index] for index in parts}
    if states <= {FREE, COUNT}:
        return COUNT
    if len(states) != 1:
        raise GraphLeavesOpen
    rows = call.rows(parts[0])
    if rows.axis == call.axis(place, of=parts[0]):
        raise GraphLeavesOpen
    return rows


def _pack(call: RuleCall) -> State:
    states = set(call.inputs)
    if states <= {FREE, COUNT}:
        return COUNT
    if len(states) != 1:
        raise GraphLeavesOpen
    rows, axis = call.rows(0), call.attribute("axis")
    if axis < 0:
        axis += call.rank(0) + 1
    return rows.at(rows.axis + (axis <= rows.axis))


def _unpack(call: RuleCall) -> Sequence[State]:
    if call.inputs[0] == COUNT:
        return [COUNT] * call.outputs
    rows, axis = call.rows(0), call.attribute("axis")
    if axis < 0:
        axis += call.rank(0)
    if axis == rows.axis:
        raise GraphLeavesOpen
    return [rows.at(rows.axis - (axis < rows.axis))] * call.outputs


def _split(call: RuleCall) -> Sequence[State]:
    index, place = (1, 0) if call.operation.type == "Split" else (0, 2)
    if call.inputs[index] == COUNT:
        return [COUNT] * call.outputs
    call.free(*(other for other in range(len(call.inputs)) if other != index))
    rows = call.rows(index)
    if rows.axis == call.axis(place, of=index):
        raise GraphLeavesOpen
    return [rows] * call.outputs


def _expand_dims(call: RuleCall) -> State:
    if call.inputs[0] == COUNT:
        return COUNT
    rows = call.only_first()
    axis = int(call.constant(1).ravel()[0])
    if axis < 0:
        axis += call.rank(0) + 1
    return rows.at(rows.axis + (axis <= rows.axis))


def _squeeze(call: RuleCall) -> State:
    if call.inputs[0] == COUNT:
        return COUNT
    rows = call.rows(0)
    axes = list(call.attribute("squeeze_dims"))
    if not axes and call.all.fixed_rows in (None, 1):
        raise GraphLeavesOpen  # a batch of one row would lose its axis
    if not axes:
        axes = [axis for axis in range(call.rank(0)) if call.size(0, axis) == 1]
    axes = [axis if axis >= 0 else axis + call.rank(0) for axis in axes]
    if rows.axis in axes:
        raise GraphLeavesOpen
    return rows.at(rows.axis - sum(axis < rows.axis for axis in axes))


def _transpose(call: RuleCall) -> State:
    rows = call.only_first()
    return rows.at([int(axis) for axis in call.constant(1).ravel()].index(rows.axis))


def _reshape(call: RuleCall) -> State:
    """Keeps the rows where the elements of one row stay together."""
    call.sizes(1)
    if call.inputs[0] == COUNT:
        return COUNT
    if call.inputs[0] == FREE:
        raise GraphLeavesOpen  # to as many entries as there are rows
    rows = call.rows(0)
    if rows.axis != 0 or not rows.outermost:
        raise GraphLeavesOpen
    entries = call.all.entries(call.operation.inputs[1])
    if entries is None or not entries:
        raise GraphLeavesOpen
    if entries[0] == ROW_COUNT and ROW_COUNT not in entries[1:]:
        return RowsAlong(0)
    if entries[0] not in (-1, SOME_COUNT) or not all(type(size) is int and size > 0 for size in entries[1:]):
        raise GraphLeavesOpen
    per_entry = 1
    for size in entries[1:]:
        per_entry *= size
    sizes = call.operation.inputs[0].shape.as_list()[1:] if call.rank(0) else []
    if None not in sizes and rows.block:
        elements = rows.block
        for size in sizes:
            elements *= size
        if per_entry and elements % per_entry == 0:
            return RowsAlong(0, elements // per_entry)
        raise GraphLeavesOpen
    known = 1
    for size in reversed(sizes):  # the sizes at the end that are known
        if size is None:
            break
        known *= size
        if per_entry and known % per_entry == 0:
            return RowsAlong(0, 0)
    if per_entry == 1:
        return RowsAlong(0, 0)
    raise GraphLeavesOpen


def _strided_slice(call: RuleCall) -> State:
    if call.inputs[0] == COUNT:
        return COUNT
    rows = call.rows(0)
    call.sizes(1, 2, 3)
    masks = {name: call.attribute(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    places = call.operation.inputs[1].shape.num_elements()
    if places is None:
        raise GraphLeavesOpen
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
                    raise GraphLeavesOpen
                return rows.at(before)
            axis += 1
            before += not masks["shrink_axis"] & bit
    return rows.at(before + rows.axis - axis)


def _slice(call: RuleCall) -> State:
    if call.inputs[0] == COUNT:
        return COUNT
    rows = call.rows(0)
    call.sizes(1, 2)
    begin, size = (call.all.entries(call.operation.inputs[index]) for index in (1, 2))
    if begin is None or size is None or begin[rows.axis] != 0 or size[rows.axis] not in (-1, ROW_COUNT):
        raise GraphLeavesOpen
    if size[rows.axis] == ROW_COUNT and rows.block != 1:
        raise GraphLeavesOpen
    return rows


def _gather(call: RuleCall) -> State:
    if all(state in (FREE, COUNT) for state in call.inputs):
        return COUNT
    axis = call.axis(2) if call.operation.type == "GatherV2" else 0
    batch = 0
    if call.operation.type == "GatherV2" and "batch_dims" in call.operation.node_def.attr:
        batch = call.attribute("batch_dims")
    table, indices = call.inputs[:2]
    if batch:
        if table == indices == RowsAlong(0) and axis >= batch:
            return RowsAlong(0)
    elif table == FREE and isinstance(indices, RowsAlong):
        return indices.at(axis + indices.axis)
    elif isinstance(table, RowsAlong) and indices == FREE and axis != table.axis:
        return table.at(table.axis if table.axis < axis else table.axis - 1 + call.rank(1))
    raise GraphLeavesOpen


def _resource_gather(call: RuleCall) -> State:
    call.free(0)
    if call.attribute("batch_dims"):
        raise GraphLeavesOpen
    return call.rows(1)


def _gather_nd(call: RuleCall) -> State:
    call.free(0)
    rows = call.rows(1)
    if rows.axis == call.rank(1) - 1:
        raise GraphLeavesOpen
    return rows


def _one_hot(call: RuleCall) -> State:
    rows = call.only_first()
    axis = call.attribute("axis")
    if axis < 0:
        return rows
    return rows.at(rows.axis + (axis <= rows.axis))


def _made_for_rows(call: RuleCall, sizes: int, value: int | None) -> State:
    """A tensor of one value in all places, with as many entries as there are rows on one axis."""
    if value is not None:
        call.free(value)
    entries = call.all.entries(call.operation.inputs[sizes])
    if entries is None or entries.count(ROW_COUNT) != 1 or SOME_COUNT in entries:
        raise GraphLeavesOpen
    return RowsAlong(entries.index(ROW_COUNT))


def _fill(call: RuleCall) -> State:
    return _made_for_rows(call, 0, 1)


def _broadcast_to(call: RuleCall) -> State:
    entries = call.all.entries(call.operation.inputs[1])
    if entries is None:
        raise GraphLeavesOpen
    if isinstance(call.inputs[0], RowsAlong):
        rows = call.rows(0)
        axis = len(entries) - call.rank(0) + rows.axis
        if entries[axis] != ROW_COUNT or rows.block != 1:
            raise GraphLeavesOpen
        return rows.at(axis)
    found = _made_for_rows(call, 1, 0)
    assert isinstance(found, RowsAlong)
    if call.size(0, found.axis - len(entries)) != 1:
        raise GraphLeavesOpen
    return found


def _tile(call: RuleCall) -> State:
    entries = call.all.entries(call.operation.inputs[1])
    if entries is None:
        raise GraphLeavesOpen
    if isinstance(call.inputs[0], RowsAlong):
        rows = call.rows(0)
        if entries[rows.axis] != 1:
            raise GraphLeavesOpen
        return rows
    found = _made_for_rows(call, 1, 0)
    assert isinstance(found, RowsAlong)
    if call.size(0, found.axis) != 1:
        raise GraphLeavesOpen
    return found


def _pad(call: RuleCall) -> State:
    rows = call.only_first()
    if any(int(each) for each in call.constant(1)[rows.axis]):
        raise GraphLeavesOpen
    return rows


def _shape(call: RuleCall) -> Sequence[State]:
    return [COUNT] * call.outputs


def _lookup(call: RuleCall) -> State:
    call.free(0, 2)
    return call.rows(1)


def _decode_raw(call: RuleCall) -> State:
    return call.only_first()


def _parse_csv(call: RuleCall) -> Sequence[State]:
    rows = call.only_first()
    return [rows] * call.outputs


def _parse_example(call: RuleCall) -> Sequence[State]:
    rows = call.only_first()
    if rows != RowsAlong(0):
        raise GraphLeavesOpen
    sparse = Mixed(call.operation.name, call.operation.type)
    if call.operation.type == "ParseExampleV2":
        count = 3 * call.attribute("num_sparse")
        ragged = len(call.attribute("ragged_value_types")) + len(call.attribute("ragged_split_types"))
        dense = call.outputs - count - ragged
        return [sparse] * count + [rows] * dense + [sparse] * ragged
    count = 3 * call.attribute("Nsparse")
    return [sparse] * count + [rows] * (call.outputs - count)


# -- rules of loops, conditions and functions -------------------------------------------------------------------------


def _pass(call: RuleCall) -> State:
    return call.inputs[0]


def _each(call: RuleCall) -> Sequence[State]:
    return list(call.inputs)


def _switch(call: RuleCall) -> Sequence[State]:
    call.free(1)
    return [call.inputs[0]] * 2


def _loop_condition(call: RuleCall) -> State:
    call.free(0)  # as often as there are rows is not row by row
    return FREE


def _called(call: RuleCall, name: str, first: int = 0) -> Sequence[State]:
    shapes = [each.shape for each in call.operation.inputs][first:]
    return call.all.body(name, list(call.inputs)[first:], shapes)


def _function(call: RuleCall) -> Sequence[State]:
    return _called(call, call.attribute("f").name)


def _condition(call: RuleCall) -> Sequence[State]:
    call.free(0)
    kind = call.operation.type
    if kind.endswith("Case"):
        names = [each.name for each in call.attribute("branches")]
    else:
        names = [call.attribute("then_branch").name, call.attribute("else_branch").name]
    found = [_called(call, name, first=1) for name in names]
    return [call.all.joined(states, call.operation) for states in zip(*found, strict=True)]


def _loop(call: RuleCall) -> Sequence[State]:
    states = list(call.inputs)
    shapes = [each.shape for each in call.operation.outputs]
    for _ in range(2 + 2 * len(states)):  # each state goes up twice at most
        after = call.all.body(call.attribute("body").name, states, shapes)
        joined = [call.all.joined(pair, call.operation) for pair in zip(states, after, strict=True)]
        if joined == states:
            break
        states = joined
    else:
        raise GraphLeavesOpen
    [condition] = call.all.body(call.attribute("cond").name, states, shapes)
    if condition != FREE:
        raise GraphLeavesOpen
    return states


def _moved(state: State, by: int) -> RowsAlong | str:
    """The state of what is put together of elements (1), or of an element of it (-1), along the first axis."""
    if state == FREE:
        return FREE
    if not isinstance(state, RowsAlong) or state.axis + by < 0:
        raise GraphLeavesOpen
    return state.at(state.axis + by)


def _with(call: RuleCall, array: int, element: State) -> ElementStates:
    """A TensorArray or list after an element, or all of them, were written."""
    now = call.inputs[array]
    found = _moved(element, 0)
    if not isinstance(now, ElementStates) or now.of not in (None, found):
        raise GraphLeavesOpen
    return ElementStates(found)


def _element(call: RuleCall, array: int) -> RowsAlong | str:
    """An element of a TensorArray or list."""
    found = call.inputs[array]
    if not isinstance(found, ElementStates):
        raise GraphLeavesOpen
    if found.of is None:
        raise StateNotYetKnown
    return found.of


def _array_read(call: RuleCall) -> State:
    call.free(1)
    return _element(call, 2)


def _array_write(call: RuleCall) -> State:
    call.free(1)
    return _with(call, 3, call.inputs[2])


def _array_scatter(call: RuleCall) -> State:
    call.free(1)
    return _with(call, 3, _moved(call.inputs[2], -1))


def _array_gather(call: RuleCall) -> State:
    call.free(1)
    return _moved(_element(call, 2), 1)


def _list_set(call: RuleCall) -> State:
    call.free(1)
    return _with(call, 0, call.inputs[2])


def _list_push(call: RuleCall) -> State:
    return _with(call, 0, call.inputs[1])


def _list_get(call: RuleCall) -> State:
    call.free(1)
    return _element(call, 0)


def _list_from(call: RuleCall) -> State:
    return ElementStates(_moved(call.inputs[0], -1))


def _list_stack(call: RuleCall) -> State:
    return _moved(_element(call, 0), 1)


def _array_size(call: RuleCall) -> State:
    return FREE


#: Gives the state of each output, or one for all of them.
Rule: TypeAlias = "Callable[[RuleCall], Any]"
#: Types of operations -> their rule.
_RULES: tuple[tuple[Iterable[str], Rule], ...] = (
    (_ELEMENTWISE, _elementwise),
    (_IMAGES, _images),
    (_REDUCTIONS, _reduction),
    (_LAST_AXIS, _last_axis),
    (_PASS, _pass),
    (_CALLS, _function),
    (_CONDITIONS, _condition),
    (_LOOPS, _loop),
    (("Select",), _select),
    (("BiasAdd", "BiasAddV1"), _bias_add),
    (("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput"), _transposed_convolution),
    (("SpaceToBatchND", "BatchToSpaceND"), _space_to_batch),
    (("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), _batch_norm),
    (("MatMul",), _matmul),
    (("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), _batch_matmul),
    (("Einsum",), _einsum),
    (("ArgMax", "ArgMin"), _arg),
    (("Cumprod", "Cumsum", "ReverseV2", "Roll"), _along_axis),
    (("ReverseSequence",), _reverse_sequence),
    (("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"), _cross_entropy),
    (("InTopK", "InTopKV2"), _in_top),
    (("Concat", "ConcatV2"), _concat),
    (("Pack",), _pack),
    (("Unpack",), _unpack),
    (("Split", "SplitV"), _split),
    (("ExpandDims",), _expand_dims),
    (("Squeeze",), _squeeze),
    (("Transpose",), _transpose),
    (("Reshape",), _reshape),
    (("StridedSlice",), _strided_slice),
    (("Slice",), _slice),
    (("Gather", "GatherV2"), _gather),
    (("ResourceGather",), _resource_gather),
    (("GatherNd",), _gather_nd),
    (("OneHot",), _one_hot),
    (("Fill",), _fill),
    (("BroadcastTo",), _broadcast_to),
    (("Tile",), _tile),
    (("MirrorPad", "Pad", "PadV2"), _pad),
    (("Shape", "ShapeN", "Size"), _shape),
    (("LookupTableFind", "LookupTableFindV2"), _lookup),
    (("DecodeRaw",), _decode_raw),
    (("DecodeCSV",), _parse_csv),
    (("ParseExample", "ParseExampleV2"), _parse_example),
    (("IdentityN",), _each),
    (("RefSwitch", "Switch"), _switch),
    (("LoopCond",), _loop_condition),
    (("TensorArrayReadV3",), _array_read),
    (("TensorArrayWriteV3",), _array_write),
    (("TensorArrayScatterV3",), _array_scatter),
    (("TensorArrayGatherV3",), _array_gather),
    (("TensorListSetItem",), _list_set),
    (("TensorListPushBack",), _list_push),
    (("TensorListGetItem",), _list_get),
    (("TensorListFromTensor",), _list_from),
    (("TensorListStack",), _list_stack),
    (("TensorArraySizeV3", "TensorListLength"), _array_size),
)
RULES: Mapping[str, Rule] = {name: rule for names, rule in _RULES for name in names}
