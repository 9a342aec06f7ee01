"""Floating-point operations of a node, from the shapes around it.

A multiplication and an addition are two. A function of each element (Relu, Exp) counts one for an element whatever it
costs, Softmax five and LeakyRelu two, as TensorFlow's own profiler counts. Moving and choosing values is free. What
has no rule here is not counted, and said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

__all__ = ["FREE", "Shape", "count", "has_rule"]

#: The sizes of a tensor, [] for a scalar, None for a size that is not known; None where even the rank is not.
Shape = tuple[int | None, ...] | None


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Operations without arithmetic.
FREE = _words(
    """
    Assert AssignVariableOp Assign BatchToSpace BatchToSpaceND Bitcast BroadcastArgs BroadcastGradientArgs BroadcastTo
    Cast CheckNumerics Concat ConcatOffset ConcatV2 Const ControlTrigger ConjugateTranspose DataFormatDimMap
    DataFormatVecPermute DepthToSpace Dequantize Diag DiagPart DynamicPartition DynamicStitch EmptyTensorList
    EnsureShape Enter Exit ExpandDims ExtractImagePatches Fill Gather GatherNd GatherV2 GuaranteeConst HashTable
    HashTableV2 Identity IdentityN Imag InvertPermutation Iterator IteratorGetNext IteratorV2 LookupTableFind
    LookupTableFindV2 LookupTableSize LookupTableSizeV2 LoopCond MatrixBandPart MatrixDiag MatrixDiagPart
    MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 Merge
    MirrorPad MutableDenseHashTableV2 MutableHashTableV2 NextIteration NoOp OneHot OnesLike Pack Pad PadV2 ParseExample
    ParseSingleExample ParseExampleV2 Placeholder PlaceholderV2 PlaceholderWithDefault PreventGradient Print PrintV2
    QueueDequeueManyV2 QueueDequeueUpToV2 QueueDequeueV2 Range Rank ReadVariableOp Real RefEnter RefExit RefIdentity
    RefMerge RefNextIteration RefSwitch Reshape ResizeNearestNeighbor ResourceGather Reverse ReverseSequence ReverseV2
    Roll ScatterNd Shape ShapeN Size Slice Snapshot SpaceToBatch SpaceToBatchND SpaceToDepth SparseReshape
    SparseToDense Split SplitV Squeeze StackPopV2 StackPushV2 StackV2 StopGradient StridedSlice Switch
    TensorArrayCloseV3 TensorArrayConcatV3 TensorArrayGatherV3 TensorArrayReadV3 TensorArrayScatterV3
    TensorArraySizeV3 TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3 TensorListFromTensor TensorListGetItem
    TensorListReserve TensorListSetItem TensorListStack Tile Transpose Unpack VarHandleOp VarIsInitializedOp Variable
    VariableShape VariableV2 Where ZerosLike
    AsString DecodeBase64 DecodeBmp DecodeCSV DecodeGif DecodeJpeg DecodePng DecodeRaw EncodeBase64 EncodeJpeg EncodePng
    ReduceJoin RegexFullMatch RegexReplace StaticRegexFullMatch StaticRegexReplace StringJoin StringLength StringLower
    StringSplit StringSplitV2 StringStrip StringToHashBucket StringToHashBucketFast StringToHashBucketStrong
    StringToNumber StringUpper Substr Unique UniqueV2 UniqueWithCounts
    """
)
# For each element of the result.
_ELEMENTWISE = dict.fromkeys(
    _words(
        """
        Abs Acos Acosh Add AddV2 Asin Asinh Atan Atan2 Atanh BiasAdd BiasAddV1 Ceil Cos Cosh Div DivNoNan Elu Equal Erf
        Erfc Exp Expm1 Floor FloorDiv FloorMod Greater GreaterEqual Inv IsFinite IsInf IsNan Less LessEqual Lgamma Log
        Log1p LogicalAnd LogicalNot LogicalOr Maximum Minimum Mod Mul MulNoNan Neg NotEqual Pow RealDiv Reciprocal
        Relu Relu6 Rint Round Rsqrt Select SelectV2 Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Square Sub Tan
        Tanh TruncateDiv TruncateMod Xdivy Xlogy
        """
    ),
    1,
) | {"ClipByValue": 2, "LeakyRelu": 2, "LogSoftmax": 5, "Softmax": 5, "SquaredDifference": 2}
# For each element of the first input.
_REDUCTIONS = dict.fromkeys(
    _words(
        """
        All Any ArgMax ArgMin Cumprod Cumsum Max Mean Min Prod SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum
        Sum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
        """
    ),
    1,
) | {"EuclideanNorm": 2, "L2Loss": 2}


class _Unknown(Exception):
    """A size that the count needs is not known."""


class _KnownShapes:
    """The shapes around a node; asking for one that is not known raises :class:`_Unknown`."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self._shapes = shapes

    def __getitem__(self, index: int) -> tuple[int, ...]:
        shape = self._shapes[index] if -len(self._shapes) <= index < len(self._shapes) else None
        if shape is None:
            raise _Unknown
        sizes = tuple(size for size in shape if size is not None)
        if len(sizes) != len(shape):
            raise _Unknown
        return sizes

    def size(self, index: int, axis: int) -> int | None:
        """One size of a shape, where the others need not be known."""
        shape = self._shapes[index] if index < len(self._shapes) else None
        return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None

    def __len__(self) -> int:
        return len(self._shapes)


def count(node: Any, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int | None:
    """Counts a node's operations; None when there is no rule for it, or a shape is not known.

    Args:
        node: Its NodeDef.
        inputs: The shapes of its data inputs, in order.
        outputs: The shapes of its outputs.
    """
    if node.op in FREE:
        return 0
    ins, outs = _KnownShapes(inputs), _KnownShapes(outputs)
    try:
        if node.op in _ELEMENTWISE:
            return _ELEMENTWISE[node.op] * prod(outs[0])
        if node.op in _REDUCTIONS:
            return _REDUCTIONS[node.op] * prod(ins[0])
        rule = _RULES.get(node.op)
        return None if rule is None else rule(node, ins, outs)
    except (_Unknown, IndexError):  # IndexError: a shape of another rank than the operation takes
        return None


def has_rule(op: str) -> bool:
    """Whether an operation does arithmetic that :func:`count` knows."""
    return op in _ELEMENTWISE or op in _REDUCTIONS or op in _RULES


# ------------------------------------------------------------------------------------------------------------ rules


def _flag(node: Any, *names: str) -> bool:
    return any(name in node.attr and node.attr[name].b for name in names)


def _matmul(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    """[..., M, K] and [..., K, N]; either has K."""
    terms = ins.size(0, -2 if _flag(node, "transpose_a", "adj_x") else -1)
    if terms is None:
        terms = ins.size(1, -1 if _flag(node, "transpose_b", "adj_y") else -2)
    if terms is None:
        raise _Unknown
    return 2 * prod(outs[0]) * terms


def _convolution(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    """The filter is [spatial..., inputs of a group, outputs]: for each result, all but the last."""
    return 2 * prod(outs[0]) * prod(ins[1][:-1])


def _transposed_convolution(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    """Each element of the third input is laid out by the filter, over all but its last dimension."""
    return 2 * prod(ins[2]) * prod(ins[1][:-1])


def _depthwise(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    """The filter is [height, width, channels, multiplier]."""
    return 2 * prod(outs[0]) * prod(ins[1][:2])


def _pooling(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    window = list(node.attr["ksize"].list.i)
    return prod(outs[0]) * int(prod(window))


def _batch_norm(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    """A scale and an offset; in training the mean and the variance before them, which take 5 more."""
    training = "is_training" not in node.attr or node.attr["is_training"].b
    return (7 if training else 2) * prod(outs[0])


def _response_normalization(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    """The squares of 2 * radius + 1 neighbours, a sum of them, a power and a division."""
    radius = node.attr["depth_radius"].i if "depth_radius" in node.attr else 5
    return prod(outs[0]) * (2 * (2 * radius + 1) + 2)


def _add_n(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    return prod(outs[0]) * (len(ins) - 1)


def _einsum(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    left, _, right = node.attr["equation"].s.decode(errors="replace").replace(" ", "").partition("->")
    terms = left.split(",")
    if "." in left or len(terms) != len(ins):
        raise _Unknown
    sizes: dict[str, int] = {}
    for index, term in enumerate(terms):
        if len(term) != len(ins[index]):
            raise _Unknown
        sizes.update(zip(term, ins[index], strict=True))
    return (1 if set(right) == set(sizes) else 2) * prod(sizes.values())


def _lstm_cell(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    """x is [B, I], the weights [I + H, 4 * H]. The gates' 12 operations on [B, H] are small beside the product."""
    return ins[0][0] * (2 * prod(ins[3]) + 12 * ins[3][1] // 4)


def _lstm_sequence(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    """x is [T, B, I], the weights are the fifth input."""
    return prod(ins[1][:2]) * (2 * prod(ins[4]) + 12 * ins[4][1] // 4)


def _gru_cell(node: Any, ins: _KnownShapes, outs: _KnownShapes) -> int:
    """x is [B, I]; weights [I + H, 2 * H] for the gates and [I + H, H] for the candidate."""
    return ins[0][0] * (2 * (prod(ins[2]) + prod(ins[3])) + 9 * ins[3][1])


_RULES: Mapping[str, Callable[[Any, _KnownShapes, _KnownShapes], int]] = {
    "AddN": _add_n,
    "AccumulateNV2": _add_n,
    "BlockLSTM": _lstm_sequence,
    "BlockLSTMV2": _lstm_sequence,
    "Einsum": _einsum,
    "GRUBlockCell": _gru_cell,
    "LRN": _response_normalization,
    "LSTMBlockCell": _lstm_cell,
} | {
    op: rule
    for rule, ops in (
        (_matmul, "BatchMatMul BatchMatMulV2 BatchMatMulV3 MatMul QuantizedMatMul SparseMatMul"),
        (_convolution, "Conv2D Conv3D QuantizedConv2D"),
        (_transposed_convolution, "Conv2DBackpropInput Conv3DBackpropInput Conv3DBackpropInputV2"),
        (_depthwise, "DepthwiseConv2dNative"),
        (_pooling, "AvgPool AvgPool3D MaxPool MaxPool3D MaxPoolWithArgmax QuantizedAvgPool QuantizedMaxPool"),
        (_batch_norm, "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3"),
    )
    for op in ops.split()
}
