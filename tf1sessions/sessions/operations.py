"""Facts about TensorFlow's operations for the compiled call: tables of op types and two pure functions.

``prune`` walks a request's graph as the runtime will (from the fetches and targets back to the feeds); ``judge`` reads
off it what the call may do, and ``may_lack_values`` whether a fetch may be of a branch that is not taken::

    fetches, targets, feeds ─▶ prune ─▶ operations ─▶ judge ─▶ Judgement
                                                               unsafe_in_caller  why not in the caller's thread
                                                               may_block         what it may wait for, for ever
                                                               fresh             fetches whose buffer nobody else holds

The tables are allow-lists: an operation that is on none of them is treated as the most dangerous kind. They rest on the
documentation of the operations and on tests/sessions/test_conformance.py, not on reading kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

__all__ = [
    "BLOCKING",
    "CALLER_SAFE",
    "MAX_CALLER_OPERATIONS",
    "MAX_CALLER_OVERLAP",
    "Judgement",
    "judge",
    "may_lack_values",
    "overlap",
    "prune",
]

#: A request with more operations than this, or with operations that could fill more than this many microseconds beside
#: others (see ``overlap``), runs in the pool. What the calling thread saves is the hand-overs between threads, what it
#: loses is the pool's parallelism. benchmarks/calls.py measures where the two meet (2 cores, 2026-11-21): a training
#: step of dense layers of 32 is 1.9 times as fast with 48 operations, 1.5 with 61, 1.1 with 87 and 113, and no faster
#: with 165; of 25 small networks those with an overlap under 15 are 1.0 to 2.7 times as fast in the calling thread,
#: those above 24 between 0.9 and 1.1 times, but for one (1.5, a batch of 8 where ``_OPEN`` expects 32). A pool of one
#: thread has no parallelism to lose: the calling thread takes all that is safe in it.
MAX_CALLER_OPERATIONS = 96
MAX_CALLER_OVERLAP = 20.0


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLAIN = _words(
    """
    Const Placeholder PlaceholderV2 PlaceholderWithDefault NoOp Identity IdentityN StopGradient PreventGradient
    Snapshot ControlTrigger EnsureShape Shape ShapeN Size Rank Reshape ExpandDims Squeeze Fill ZerosLike OnesLike
    Range LinSpace BroadcastTo BroadcastArgs BroadcastGradientArgs InvertPermutation Bitcast Cast GuaranteeConst
    """
)
_MATH = _words(
    """
    Abs Acos Acosh Add AddV2 AddN AccumulateNV2 Angle Asin Asinh Atan Atan2 Atanh BesselI0e BesselI1e Betainc Ceil
    Complex ComplexAbs Conj Cos Cosh Cross Cumprod Cumsum Digamma Div DivNoNan Equal Erf Erfc Erfinv Exp Expm1 Floor
    FloorDiv FloorMod Greater GreaterEqual Igamma Igammac Imag Inv InvGrad Invert IsFinite IsInf IsNan Less
    LessEqual Lgamma Log Log1p LogicalAnd LogicalNot LogicalOr Maximum Minimum Mod Mul MulNoNan Ndtri Neg NotEqual
    Polygamma Pow Real RealDiv Reciprocal ReciprocalGrad Rint Round Rsqrt RsqrtGrad Select SelectV2 Sigmoid
    SigmoidGrad Sign Sin Sinh Softplus SoftplusGrad Softsign SoftsignGrad Sqrt SqrtGrad Square SquaredDifference Sub
    Tan Tanh TanhGrad TruncateDiv TruncateMod Xdivy Xlog1py Xlogy Zeta ApproximateEqual BitwiseAnd BitwiseOr
    BitwiseXor LeftShift RightShift Bucketize ClipByValue CheckNumerics HistogramFixedWidth Bincount All Any ArgMax
    ArgMin EuclideanNorm L2Loss Max Mean Min Prod Sum NthElement TopK TopKV2 InTopK InTopKV2 SegmentMax SegmentMean
    SegmentMin SegmentProd SegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
    MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 Einsum Cholesky CholeskyGrad MatrixDeterminant
    LogMatrixDeterminant MatrixInverse MatrixSolve MatrixTriangularSolve MatrixBandPart MatrixDiag MatrixDiagPart
    MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 Diag
    DiagPart Qr Svd SelfAdjointEigV2
    """
)
_ARRAY = _words(
    """
    BatchToSpace BatchToSpaceND Concat ConcatOffset ConcatV2 DepthToSpace DynamicPartition DynamicStitch
    ExtractImagePatches Gather GatherNd GatherV2 ListDiff MirrorPad MirrorPadGrad OneHot Pack Pad PadV2
    ParallelConcat Reverse ReverseSequence ReverseV2 Roll ScatterNd Slice SpaceToBatch SpaceToBatchND SpaceToDepth
    Split SplitV StridedSlice StridedSliceGrad TensorScatterUpdate TensorScatterAdd TensorScatterSub Tile TileGrad
    Transpose Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 Unpack UnravelIndex Where SparseToDense
    SparseTensorDenseMatMul SparseReorder SparseReshape SparseMatMul
    """
)
_NN = _words(
    """
    AvgPool AvgPoolGrad BiasAdd BiasAddGrad BiasAddV1 Conv2D Conv2DBackpropFilter Conv2DBackpropInput
    DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput Elu EluGrad
    FusedBatchNorm FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2 FusedBatchNormV3
    LRN LRNGrad LeakyRelu LeakyReluGrad LogSoftmax MaxPool MaxPoolGrad MaxPoolGradV2 MaxPoolV2 MaxPoolWithArgmax
    Relu Relu6 Relu6Grad ReluGrad Selu SeluGrad Softmax SoftmaxCrossEntropyWithLogits
    SparseSoftmaxCrossEntropyWithLogits LSTMBlockCell LSTMBlockCellGrad GRUBlockCell GRUBlockCellGrad CTCLoss
    CTCGreedyDecoder ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor ResizeNearestNeighborGrad RGBToHSV
    HSVToRGB FixedUnigramCandidateSampler UniformCandidateSampler LogUniformCandidateSampler ComputeAccidentalHits
    """
)
_RANDOM = _words(
    "Multinomial ParameterizedTruncatedNormal RandomGamma RandomShuffle RandomStandardNormal RandomUniform "
    "RandomUniformInt StatelessRandomNormal StatelessRandomUniform TruncatedNormal"
)
_STATE = _words(
    """
    Variable VariableV2 VarHandleOp ReadVariableOp VarIsInitializedOp IsVariableInitialized VariableShape
    RefIdentity Assign AssignAdd AssignSub AssignVariableOp AssignAddVariableOp AssignSubVariableOp CountUpTo
    ResourceCountUpTo ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul ScatterSub ScatterUpdate ScatterNdAdd
    ScatterNdSub ScatterNdUpdate ResourceGather ResourceGatherNd ResourceScatterAdd ResourceScatterSub
    ResourceScatterUpdate ResourceScatterNdAdd ResourceScatterNdUpdate
    """
)
_SPARSE_RULES = _words(
    "Adadelta Adagrad AdagradDA AdagradV2 CenteredRMSProp Ftrl FtrlV2 Momentum ProximalAdagrad "
    "ProximalGradientDescent RMSProp"
)
_RULES = _SPARSE_RULES | _words("Adam AdaMax AddSign GradientDescent PowerSign")
_OPTIMIZERS = frozenset(
    [prefix + rule for prefix in ("Apply", "ResourceApply") for rule in _RULES]
    + [prefix + rule for prefix in ("SparseApply", "ResourceSparseApply") for rule in _SPARSE_RULES]
    + ["ResourceApplyKerasMomentum", "ResourceSparseApplyKerasMomentum"]
)
# Operations that change the variable which is their first input.
_CHANGES = _OPTIMIZERS | frozenset(
    name for name in _STATE if "Assign" in name or "Scatter" in name or name.endswith("CountUpTo")
)
_STRING = _words(
    "AsString DecodeRaw RegexReplace ReduceJoin StringJoin StringLength StringSplit StringSplitV2 StringStrip "
    "StringToHashBucketFast StringToNumber Substr DecodeCSV ParseExample ParseExampleV2 ParseSingleExample "
    "ScalarSummary HistogramSummary MergeSummary TensorSummary TensorSummaryV2"
)

# Looking at a queue takes its lock for a moment; reading, writing and closing it may run what others wait for.
_QUEUES = frozenset(
    f"{name}{version}"
    for name in ("FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue", "QueueSize", "QueueIsClosed")
    for version in ("", "V2")
)

#: Operations whose kernels return when they are done: they wait for nothing, call no Python and start no other
#: executor. Only a graph made of these alone may run in the caller's thread.
CALLER_SAFE = _PLAIN | _MATH | _ARRAY | _NN | _RANDOM | _STATE | _OPTIMIZERS | _STRING | _QUEUES

#: Operations that may wait for another thread, for ever. The watchdog names them.
BLOCKING = _words(
    """
    QueueDequeue QueueDequeueV2 QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2 QueueEnqueue
    QueueEnqueueV2 QueueEnqueueMany QueueEnqueueManyV2 ReaderRead ReaderReadV2 ReaderReadUpTo ReaderReadUpToV2
    BarrierTakeMany BarrierInsertMany AccumulatorTakeGradient SparseAccumulatorTakeGradient
    ResourceAccumulatorTakeGradient Stage Unstage MapStage MapUnstage OrderedMapStage OrderedMapUnstage PyFunc
    PyFuncStateless EagerPyFunc IteratorGetNext IteratorGetNextSync RecordInput MutexLock Recv _Recv
    QueueClose QueueCloseV2 CollectiveReduce CollectiveBcastRecv CollectiveGather BatchFunction Batch Unbatch
    """
)

# Each run writes a new buffer for the output of these, unless the optimizer knows their value before it.
_PRODUCERS = _words("BatchMatMul BatchMatMulV2 BatchMatMulV3 Conv2D Conv3D DepthwiseConv2dNative MatMul")
# These write a new buffer, or take over their input's when nobody else holds it.
_ELEMENTWISE = _words("BiasAdd Elu Exp LeakyRelu LogSoftmax Relu Relu6 Selu Sigmoid Softmax Softplus Tanh")
# Values that only the run knows ...
_DRAWN = _RANDOM - {"StatelessRandomNormal", "StatelessRandomUniform"}
_VARIABLES = _words("Variable VariableV2 VarHandleOp")
_ROOTS = _DRAWN | _VARIABLES | {"Placeholder", "PlaceholderV2", "ReadVariableOp"}
# ... and what the value of the first input shows through, so that no optimizer can make a constant of it. A product
# with a constant is not among them (of zeros, it is folded), nor a sum or a difference (x - x is).
_TRANSPARENT = _ELEMENTWISE | _words(
    "AvgPool Cast ExpandDims Identity MaxPool ReadVariableOp Reshape Squeeze StopGradient Transpose"
)

# Operations outside CALLER_SAFE that keep no buffer of a fed array beyond the run.
_KEEPS_NOTHING = (CALLER_SAFE - {"AssignVariableOp"}) | _words(
    """
    Assert Enter Exit LoopCond Merge NextIteration Print PrintV2 RefEnter RefExit RefMerge RefNextIteration RefSwitch
    Switch SaveV2 StackPopV2 StackPushV2 StackV2 TensorArrayGatherV3 TensorArrayGradV3 TensorArrayReadV3
    TensorArrayScatterV3 TensorArraySizeV3 TensorArrayV3 TensorArrayWriteV3 LookupTableFind LookupTableFindV2
    """
)


_SWITCHES = _words("Switch RefSwitch")
_MERGES = _words("Merge RefMerge")
_BACK = _words("NextIteration RefNextIteration")

#: How far up two tensors are compared. Arbitrary: beyond it their results are copied, which is right as well.
_DEPTH = 8


@dataclass(frozen=True)
class Judgement:
    """The effects that one request may have. Names are those of the graph's operations.

    Attributes:
        unsafe_in_caller: Why the request must not run in the caller's thread, or None when it may.
        may_block: ``(name, type)`` of each operation that may wait for another thread.
        fresh: For each fetch, in order: True when its buffer is written anew by each run and held by nobody else.
        keeps_feeds: True when a variable, a queue or Python code could keep the buffer of a fed array.
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
            # The runtime drops the control edges of a fed placeholder, and of no other kind of operation.
            if id(other) not in seen and not (id(other) in fed_operations and other.type == "Placeholder"):
                seen.add(id(other))
                todo.append(other)
    return found


def judge(
    operations: Sequence[Any],
    fetches: Sequence[Any],
    feeds: Sequence[Any],
    *,
    refused: str | None = None,
    one_thread: bool = False,
) -> Judgement:
    """Says what a request made of these operations may do.

    Args:
        operations: What :func:`prune` returned.
        fetches: The tensors fetched.
        feeds: The tensors fed.
        refused: Why the session runs nothing in the caller's thread, if so.
        one_thread: Whether the pool has one thread only. It could run nothing side by side, so size does not matter.
    """
    types = {operation.type for operation in operations}
    unsafe = refused
    if unsafe is not None:
        pass
    elif len(operations) > MAX_CALLER_OPERATIONS and not one_thread:
        unsafe = f"it has {len(operations)} operations, more than {MAX_CALLER_OPERATIONS}"
    elif not types <= CALLER_SAFE:
        culprit = min((operation for operation in operations if operation.type not in CALLER_SAFE), key=_name)
        unsafe = f"operation {culprit.name!r} of type {culprit.type} is not known to return without waiting"
    else:
        devices = {operation.device for operation in operations if operation.device}
        if len(devices) > 1:
            unsafe = f"its operations are placed on several devices: {', '.join(sorted(devices))}"
        elif not one_thread and overlap(operations) > MAX_CALLER_OVERLAP:
            largest = max(operations, key=_microseconds)
            unsafe = f"its operations are large enough to run side by side, {largest.name!r} before all"
    unsafe = unsafe or _race(operations, fetches)
    may_block = tuple(
        sorted((operation.name, operation.type) for operation in operations if operation.type in BLOCKING)
    )
    fresh = _Fresh(operations, fetches, feeds) if types <= CALLER_SAFE else None
    return Judgement(
        unsafe_in_caller=unsafe,
        may_block=may_block,
        fresh=tuple(fresh is not None and fresh.is_fresh(tensor) for tensor in fetches),
        keeps_feeds=bool(feeds) and not types <= _KEEPS_NOTHING,
    )


def _name(operation: Any) -> str:
    return str(operation.name)


# What `overlap` reckons with: microseconds for an element written and for a term of a product (one core, measured
# roughly on the networks of benchmarks/calls.py), and the size of a dimension that the graph leaves open.
_ELEMENT = 0.0005
_TERM = 0.000012
_OPEN = 32
_FREE = (_PLAIN | _VARIABLES | {"ReadVariableOp"}) - _words("BroadcastTo Cast Fill LinSpace OnesLike Range ZerosLike")


def _inputs(operation: Any) -> list[Any]:
    """The inputs of an operation but those that go back in a loop."""
    return [tensor for tensor in operation.inputs if operation.type not in _MERGES or tensor.op.type not in _BACK]


def _needed(operation: Any) -> list[Any]:
    """The operations that one waits for."""
    return [tensor.op for tensor in _inputs(operation)] + list(operation.control_inputs)


def _in_order(operations: Sequence[Any]) -> Iterator[Any]:
    """Yield operations, each once and behind those of them that it waits for."""
    running = {id(operation) for operation in operations}
    todo, entered, done = list(operations), set[int](), set[int]()
    while todo:
        operation = todo[-1]
        new = [each for each in _needed(operation) if id(each) in running and id(each) not in entered]
        entered.add(id(operation))
        if new:
            todo += new
            continue
        todo.pop()
        if id(operation) not in done:
            done.add(id(operation))
            yield operation


def overlap(operations: Sequence[Any]) -> float:
    """About how many microseconds of a request's operations the pool could run beside others.

    The sum over all of them less the sum along the most expensive chain: 0 for a plain chain, however large. A loop's
    back edge is not followed.
    """
    ends: dict[int, float] = {}  # id of an operation -> when the most expensive chain to it ends
    for operation in _in_order(operations):
        start = max((ends.get(id(each), 0.0) for each in _needed(operation)), default=0.0)
        ends[id(operation)] = start + _microseconds(operation)
    return sum(map(_microseconds, operations)) - max(ends.values(), default=0.0)


def _microseconds(operation: Any) -> float:
    kind = operation.type
    if kind in _FREE:
        return 0.0
    inputs, outputs = [[_dims(tensor) for tensor in tensors] for tensors in (operation.inputs, operation.outputs)]
    terms = 0
    if "MatMul" in kind:
        flag = "adj_x" if kind.startswith("Batch") else "transpose_a"
        transposed = flag in operation.node_def.attr and operation.get_attr(flag)
        terms = prod(outputs[0]) * prod(inputs[0][-2:-1] if transposed else inputs[0][-1:])
    elif "Conv" in kind and len(inputs) > 1:  # a term for each weight of the filter and each place that it is laid on
        weights = outputs[0] if kind.endswith("BackpropFilter") else inputs[1]
        image = inputs[2] if "Backprop" in kind else outputs[0]
        terms = prod(weights[:-1]) * prod(image)
    return terms * _TERM + sum(map(prod, outputs)) * _ELEMENT


def _dims(tensor: Any) -> list[int]:
    shape = tensor.shape
    return [] if shape.rank is None else [_OPEN if size is None else size for size in shape.as_list()]


def may_lack_values(operations: Sequence[Any], fetches: Iterable[Any], feeds: Iterable[Any]) -> bool:
    """Whether a fetched tensor may be of a branch of TensorFlow 1's ``cond`` that a run does not take.

    ``Session.run`` raises InvalidArgumentError then, and a compiled request gives an empty array of float32.

    Args:
        operations: What :func:`prune` returned.
        fetches: The tensors fetched.
        feeds: The tensors fed.
    """
    if not any(operation.type in _SWITCHES for operation in operations):
        return False
    branches = _Branches(operations, feeds)
    return any(branches.of(tensor) for tensor in fetches)


class _Branches:
    """The branches that a tensor is of: each is the id of a condition, and which of its values is needed.

    A Merge is of those that all of its inputs are of. Loops are taken to end, and their bodies to be a branch.
    """

    def __init__(self, operations: Sequence[Any], feeds: Iterable[Any]) -> None:
        self._fed = {id(tensor) for tensor in feeds}
        self._found: dict[int, frozenset[tuple[int, int]]] = {}
        for operation in _in_order(operations):
            self._found[id(operation)] = self._of_operation(operation)

    def _of_operation(self, operation: Any) -> frozenset[tuple[int, int]]:
        inputs = [self.of(tensor) for tensor in _inputs(operation)]
        waited = frozenset().union(*(self._found.get(id(each), frozenset()) for each in operation.control_inputs))
        if operation.type in _MERGES and inputs:
            return waited | inputs[0].intersection(*inputs[1:])
        return waited.union(*inputs)

    def of(self, tensor: Any) -> frozenset[tuple[int, int]]:
        """The branches of a tensor."""
        if id(tensor) in self._fed:
            return frozenset()
        operation = tensor.op
        found = self._found.get(id(operation), frozenset())
        if operation.type in _SWITCHES:
            condition, taken = operation.inputs[1], tensor.value_index
            if taken or condition.op.type != "LoopCond":
                return found | {(id(condition), taken)}
        return found


def _race(operations: Sequence[Any], fetches: Sequence[Any]) -> str | None:
    """Return why a fetched variable has no certain value: the request changes it too, and nothing orders the two.

    In the calling thread the read would come first, always. In the pool, as on TF1, it mostly comes last, and programs
    that fetch ``[train_op, global_step]`` have got used to that.
    """
    read = set()
    for tensor in fetches:
        operation = tensor.op
        while operation.type in ("Identity", "ReadVariableOp") and not operation.control_inputs:
            operation = operation.inputs[0].op
        if operation.type in _VARIABLES:
            read.add(_resource(operation))
    if not read:
        return None
    for operation in operations:
        if operation.type in _CHANGES and operation.inputs and operation.inputs[0].op.type in _VARIABLES:
            if _resource(operation.inputs[0].op) in read:
                return f"operation {operation.name!r} changes a variable that is fetched too, in no certain order"
    return None


def _resource(operation: Any) -> str:
    """Return what a root stands for: its variable, which two operations may share, or itself."""
    shared = operation.get_attr("shared_name") if operation.type in _VARIABLES else b""
    return str(shared.decode(errors="replace") or operation.name)


class _Fresh:
    """The results of a request that are written anew by each run and held by nobody else.

    Three things could give others the buffer, and each is looked for: another operation reads the same tensor;
    an optimizer replaces the tensor by a constant; an optimizer merges the operation with a twin of it (the runtime
    does so with two equal products, which then give two results in one buffer).
    """

    def __init__(self, operations: Sequence[Any], fetches: Sequence[Any], feeds: Sequence[Any]) -> None:
        self._running = {id(operation) for operation in operations}
        self._fed = {id(tensor) for tensor in feeds}
        self._fetched = {id(tensor) for tensor in fetches}
        self._by_type: dict[str, list[Any]] = {}
        for operation in operations:
            self._by_type.setdefault(operation.type, []).append(operation)

    def is_fresh(self, tensor: Any) -> bool:
        if id(tensor) in self._fed or any(id(consumer) in self._running for consumer in tensor.consumers()):
            return False
        while True:
            operation = tensor.op
            if operation.type in _DRAWN and operation.type != "RandomShuffle":  # which may give its input back
                return True  # stateful: never folded, never merged
            if operation.type in _PRODUCERS:
                return all(map(self._varies, operation.inputs)) and not self._has_twin(operation)
            if operation.type not in _ELEMENTWISE or self._has_twin(operation):
                return False
            tensor = operation.inputs[0]
            if id(tensor) in self._fed or id(tensor) in self._fetched or len(tensor.consumers()) != 1:
                return False

    def _varies(self, start: Any) -> bool:
        """Whether no optimizer can know the value of this tensor."""
        todo, seen = [start], {id(start)}
        while todo:
            tensor = todo.pop()
            kind = tensor.op.type
            if id(tensor) in self._fed or kind in _ROOTS:
                continue
            if kind in _PRODUCERS:
                needed = list(tensor.op.inputs)
            elif kind in _TRANSPARENT:
                needed = [tensor.op.inputs[0]]
            else:
                return False
            todo += [each for each in needed if id(each) not in seen]
            seen.update(map(id, needed))
        return True

    def _has_twin(self, operation: Any) -> bool:
        return any(
            other is not operation and not self._differ(operation.outputs[0], other.outputs[0], _DEPTH)
            for other in self._by_type[operation.type]
        )

    def _differ(self, one: Any, other: Any, depth: int) -> bool:
        """Whether two tensors surely have different values: they come, the same way, from different roots."""
        if one is other or depth == 0:
            return False
        if one.shape.is_fully_defined() and other.shape.is_fully_defined() and one.shape != other.shape:
            return True
        if self._is_root(one) and self._is_root(other):
            return id(one) in self._fed or id(other) in self._fed or _resource(one.op) != _resource(other.op)
        if id(one) in self._fed or id(other) in self._fed or one.op.type != other.op.type:
            return False
        pairs = zip(one.op.inputs, other.op.inputs, strict=False)
        return any(self._differ(first, second, depth - 1) for first, second in pairs)

    def _is_root(self, tensor: Any) -> bool:
        return id(tensor) in self._fed or (tensor.op.type in _ROOTS and tensor.op.type != "ReadVariableOp")
