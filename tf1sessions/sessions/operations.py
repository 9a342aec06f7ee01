"""What the compiled call has to know about TensorFlow's operations, as tables of op types and two pure functions.

``prune`` walks a request's graph as the runtime will (from the fetches and targets back to the feeds); ``judge`` reads
off it what the call may do::

    fetches, targets, feeds ─▶ prune ─▶ operations ─▶ judge ─▶ Judgement
                                                               unsafe_in_caller  why not in the caller's thread
                                                               may_block         what it may wait for, for ever
                                                               fresh             fetches whose buffer nobody else holds

The tables are allow-lists: an operation that is on none of them is treated as the most dangerous kind. They rest on the
documentation of the operations and on tests/sessions/test_conformance.py, not on reading kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["BLOCKING", "CALLER_SAFE", "MAX_CALLER_OPERATIONS", "Judgement", "judge", "prune"]

#: Above this many operations a graph gains nothing from running in the caller's thread: what a call saves there is one
#: hand-over to a thread pool, and what it may lose is the pool's parallelism. An arbitrary figure, from
#: benchmarks/calls.py: the saving is below a tenth from about a hundred operations on.
MAX_CALLER_OPERATIONS = 400


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLAIN = _words(
    """
    Const Placeholder PlaceholderV2 PlaceholderWithDefault NoOp Identity IdentityN StopGradient PreventGradient Snapshot
    ControlTrigger EnsureShape Shape ShapeN Size Rank Reshape ExpandDims Squeeze Fill ZerosLike OnesLike Range LinSpace
    BroadcastTo BroadcastArgs BroadcastGradientArgs InvertPermutation Bitcast Cast GuaranteeConst
    """
)
_MATH = _words(
    """
    Abs Acos Acosh Add AddV2 AddN AccumulateNV2 Angle Asin Asinh Atan Atan2 Atanh BesselI0e BesselI1e Betainc Ceil
    Complex ComplexAbs Conj Cos Cosh Cross Cumprod Cumsum Digamma Div DivNoNan Equal Erf Erfc Erfinv Exp Expm1 Floor
    FloorDiv FloorMod Greater GreaterEqual Igamma Igammac Imag Inv InvGrad Invert IsFinite IsInf IsNan Less LessEqual Lgamma Log
    Log1p LogicalAnd LogicalNot LogicalOr Maximum Minimum Mod Mul MulNoNan Ndtri Neg NotEqual Polygamma Pow Real RealDiv
    Reciprocal ReciprocalGrad Rint Round Rsqrt RsqrtGrad Select SelectV2 Sigmoid SigmoidGrad Sign Sin Sinh Softplus
    SoftplusGrad Softsign SoftsignGrad Sqrt SqrtGrad Square SquaredDifference Sub Tan Tanh TanhGrad TruncateDiv
    TruncateMod Xdivy Xlog1py Xlogy Zeta ApproximateEqual BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift Bucketize
    ClipByValue CheckNumerics HistogramFixedWidth Bincount
    All Any ArgMax ArgMin EuclideanNorm L2Loss Max Mean Min Prod Sum NthElement TopK TopKV2 InTopK InTopKV2
    SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd
    UnsortedSegmentSum
    MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 Einsum Cholesky CholeskyGrad MatrixDeterminant LogMatrixDeterminant
    MatrixInverse MatrixSolve MatrixTriangularSolve MatrixBandPart MatrixDiag MatrixDiagPart MatrixDiagPartV2
    MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 Diag DiagPart Qr Svd
    SelfAdjointEigV2
    """
)
_ARRAY = _words(
    """
    BatchToSpace BatchToSpaceND Concat ConcatOffset ConcatV2 DepthToSpace DynamicPartition DynamicStitch
    ExtractImagePatches Gather GatherNd GatherV2 ListDiff MirrorPad MirrorPadGrad OneHot Pack Pad PadV2 ParallelConcat
    Reverse ReverseSequence ReverseV2 Roll ScatterNd Slice SpaceToBatch SpaceToBatchND SpaceToDepth Split SplitV
    StridedSlice StridedSliceGrad TensorScatterUpdate TensorScatterAdd TensorScatterSub Tile TileGrad Transpose Unique
    UniqueV2 UniqueWithCounts UniqueWithCountsV2 Unpack UnravelIndex Where SparseToDense SparseTensorDenseMatMul
    SparseReorder SparseReshape SparseMatMul
    """
)
_NN = _words(
    """
    AvgPool AvgPoolGrad BiasAdd BiasAddGrad BiasAddV1 Conv2D Conv2DBackpropFilter Conv2DBackpropInput
    DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput Elu EluGrad
    FusedBatchNorm FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2 FusedBatchNormV3 LRN LRNGrad
    LeakyRelu LeakyReluGrad LogSoftmax MaxPool MaxPoolGrad MaxPoolGradV2 MaxPoolV2 MaxPoolWithArgmax Relu Relu6 Relu6Grad ReluGrad
    Selu SeluGrad Softmax SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits LSTMBlockCell
    LSTMBlockCellGrad GRUBlockCell GRUBlockCellGrad CTCLoss CTCGreedyDecoder
    ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor ResizeNearestNeighborGrad RGBToHSV HSVToRGB
    FixedUnigramCandidateSampler UniformCandidateSampler LogUniformCandidateSampler ComputeAccidentalHits
    """
)
_RANDOM = _words(
    "Multinomial ParameterizedTruncatedNormal RandomGamma RandomShuffle RandomStandardNormal RandomUniform "
    "RandomUniformInt StatelessRandomNormal StatelessRandomUniform TruncatedNormal"
)
_STATE = _words(
    """
    Variable VariableV2 VarHandleOp ReadVariableOp VarIsInitializedOp IsVariableInitialized VariableShape RefIdentity
    Assign AssignAdd AssignSub AssignVariableOp AssignAddVariableOp AssignSubVariableOp CountUpTo ResourceCountUpTo
    ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterSub ScatterUpdate ScatterNdAdd ScatterNdSub
    ScatterNdUpdate ResourceGather ResourceGatherNd ResourceScatterAdd ResourceScatterSub ResourceScatterUpdate
    ResourceScatterNdAdd ResourceScatterNdUpdate
    """
) | frozenset(
    prefix + rule
    for prefix in ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
    for rule in (
        "Adadelta Adagrad AdagradDA AdagradV2 Adam AdaMax AddSign CenteredRMSProp Ftrl FtrlV2 GradientDescent "
        "KerasMomentum Momentum PowerSign ProximalAdagrad ProximalGradientDescent RMSProp"
    ).split()
)
_STRING = _words(
    "AsString DecodeRaw RegexReplace ReduceJoin StringJoin StringLength StringSplit StringSplitV2 StringStrip "
    "StringToHashBucketFast StringToNumber Substr DecodeCSV ParseExample ParseExampleV2 ParseSingleExample "
    "ScalarSummary HistogramSummary MergeSummary TensorSummary TensorSummaryV2"
)

#: Operations whose kernels return when they are done: they wait for nothing, call no Python and start no other
#: executor. Only a graph made of these alone may run in the caller's thread.
CALLER_SAFE = _PLAIN | _MATH | _ARRAY | _NN | _RANDOM | _STATE | _STRING

#: Operations that may wait for another thread, for ever. The watchdog names them.
BLOCKING = _words(
    """
    QueueDequeue QueueDequeueV2 QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2 QueueEnqueue
    QueueEnqueueV2 QueueEnqueueMany QueueEnqueueManyV2 ReaderRead ReaderReadV2 ReaderReadUpTo ReaderReadUpToV2
    BarrierTakeMany BarrierInsertMany AccumulatorTakeGradient SparseAccumulatorTakeGradient
    ResourceAccumulatorTakeGradient Stage Unstage MapStage MapUnstage OrderedMapStage OrderedMapUnstage PyFunc
    PyFuncStateless EagerPyFunc IteratorGetNext IteratorGetNextSync RecordInput MutexLock Recv _Recv
    CollectiveReduce CollectiveBcastRecv CollectiveGather BatchFunction Batch Unbatch
    """
)

# Each run writes a new buffer for the output of these, when at least one input cannot be known before the run.
_PRODUCERS = _words(
    "BatchMatMul BatchMatMulV2 BatchMatMulV3 Conv2D Conv3D DepthwiseConv2dNative MatMul RandomStandardNormal "
    "RandomUniform TruncatedNormal"
)
# These write a new buffer, or take over their input's when nobody else holds it.
_ELEMENTWISE = _words("BiasAdd Elu Exp LeakyRelu LogSoftmax Relu Relu6 Selu Sigmoid Softmax Softplus Tanh")


@dataclass(frozen=True)
class Judgement:
    """What one request may do. Names are those of the graph's operations.

    Attributes:
        unsafe_in_caller: Why the request must not run in the caller's thread, or None when it may.
        may_block: ``(name, type)`` of each operation that may wait for another thread.
        fresh: For each fetch, in order: True when its buffer is written anew by each run and held by nobody else.
        keeps_feeds: True when a variable could keep the buffer of a fed array.
    """

    unsafe_in_caller: str | None
    may_block: tuple[tuple[str, str], ...]
    fresh: tuple[bool, ...]
    keeps_feeds: bool


def prune(fetches: Iterable[Any], targets: Iterable[Any], feeds: Iterable[Any]) -> list[Any]:
    """Returns the operations that a request runs: all that its fetches and targets need, cut at its feeds."""
    fed = {id(tensor) for tensor in feeds}
    fed_operations = {id(tensor.op) for tensor in feeds}
    todo = [tensor.op for tensor in fetches if id(tensor) not in fed] + list(targets)
    seen = {id(operation) for operation in todo}
    found = []
    while todo:
        operation = todo.pop()
        found.append(operation)
        needed = [tensor.op for tensor in operation.inputs if id(tensor) not in fed]
        needed += operation.control_inputs
        for other in needed:
            if id(other) not in seen and not (id(other) in fed_operations and other.type.startswith("Placeholder")):
                seen.add(id(other))
                todo.append(other)
    return found


def judge(
    operations: Sequence[Any], fetches: Sequence[Any], feeds: Sequence[Any], *, only_device: bool = True
) -> Judgement:
    """Says what a request made of these operations may do.

    Args:
        operations: What :func:`prune` returned.
        fetches: The tensors fetched.
        feeds: The tensors fed.
        only_device: Whether the session has no other device than one CPU.
    """
    types = {operation.type for operation in operations}
    unsafe = None
    if not only_device:
        unsafe = "the session has more than one device"
    elif len(operations) > MAX_CALLER_OPERATIONS:
        unsafe = f"it has {len(operations)} operations, more than {MAX_CALLER_OPERATIONS}"
    elif not types <= CALLER_SAFE:
        culprit = min((operation for operation in operations if operation.type not in CALLER_SAFE), key=_name)
        unsafe = f"operation {culprit.name!r} of type {culprit.type} is not known to return without waiting"
    else:
        devices = {operation.device for operation in operations if operation.device}
        if len(devices) > 1:
            unsafe = f"its operations are placed on several devices: {', '.join(sorted(devices))}"
    may_block = tuple(
        sorted((operation.name, operation.type) for operation in operations if operation.type in BLOCKING)
    )
    fed = {id(tensor) for tensor in feeds}
    constant = _constants(operations, fed)
    fetched = {id(tensor) for tensor in fetches}
    running = {id(operation) for operation in operations}
    return Judgement(
        unsafe_in_caller=unsafe,
        may_block=may_block,
        fresh=tuple(
            not any(id(consumer) in running for consumer in tensor.consumers())
            and _is_fresh(tensor, fed, fetched, constant)
            for tensor in fetches
        ),
        keeps_feeds="AssignVariableOp" in types and bool(feeds),
    )


def _name(operation: Any) -> str:
    return str(operation.name)


def _constants(operations: Sequence[Any], fed: set[int]) -> set[int]:
    """The operations that grappler could replace by a constant: those without any input known only in the run."""
    varying = {"VariableV2", "Variable", "VarHandleOp", "ReadVariableOp"} | _RANDOM
    known = {id(operation) for operation in operations}
    constant: dict[int, bool] = {}

    def decide(start: Any) -> bool:
        stack = [start]
        while stack:
            operation = stack[-1]
            if id(operation) in constant:
                stack.pop()
                continue
            if (
                operation.type in varying
                or operation.type not in CALLER_SAFE
                or operation.type.startswith("Placeholder")
            ):
                constant[id(operation)] = False
                stack.pop()
                continue
            inputs = [tensor for tensor in operation.inputs]
            pending = [t.op for t in inputs if id(t) not in fed and id(t.op) in known and id(t.op) not in constant]
            if pending:
                stack.extend(pending)
                continue
            constant[id(operation)] = all(id(t) not in fed and constant.get(id(t.op), True) for t in inputs)
            stack.pop()
        return constant[id(start)]

    return {id(operation) for operation in operations if decide(operation)}


def _is_fresh(tensor: Any, fed: set[int], fetched: set[int], constant: set[int]) -> bool:
    while True:
        if id(tensor) in fed:
            return False
        operation = tensor.op
        if operation.type in _PRODUCERS:
            # A product with a constant may be folded into a constant (of zeros), which belongs to the graph.
            return not any(id(source.op) in constant and id(source) not in fed for source in operation.inputs) or (
                operation.type in _RANDOM
            )
        if operation.type not in _ELEMENTWISE:
            return False
        source = operation.inputs[0]
        if id(source) in fetched or len(source.consumers()) != 1:
            return False
        tensor = source
