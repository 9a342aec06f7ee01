"""Counts of operations that 1.15.5's gradients make beyond today's, also gradients of gradients.

The rest of op_counts.py, measured in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .op_entries import (
    GRADIENTS,
    OPS,
    as_dtype,
    by,
    constant,
    default_graph,
    gradient_of,
    is_first,
    is_tensor,
    minor_release,
    module,
    of,
)

__all__: list[str] = []

_NOTED = "_tf1sessions_noted"
_ORDERED = "_tf1sessions_ordered"
_HANDED = "_tf1sessions_handed"


@dataclass(eq=False)
class _Noted:
    """The state of the gradients that are being made in a graph.

    Args:
        are_waiting: Whether those of one operation wait for each other, as an optimizer lets them.
        sought: The operations with respect to which they are taken.
        made: The operations whose gradients have been made by now, and what of tensordot has been counted.
    """

    are_waiting: bool = False
    sought: set[Any] = field(default_factory=set)
    made: set[Any] = field(default_factory=set)


GRADIENTS |= {
    "BesselI1e": by(0, 6),
    "Conv3D": by(0, 1),  # each shape was looked up by itself
    "ExtractImagePatches": by(0, 57),
    "MatrixDiagV3": by(0, 1),
    "SparseSegmentSumWithNumSegments": by(0, 2),
    "SparseSoftmaxCrossEntropyWithLogits": by(0, 1),
    "SparseTensorDenseMatMul": by(0, -3),
}


@gradient_of("MatrixDiagPartV3")
def _diagonal_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 set the diagonal of zeros where the matrix may not be square; today where it is not known."""
    rows, columns = op.inputs[0].shape[-2:].as_list() if op.inputs[0].shape.rank else (None, None)
    return 0, 1 + int(None not in (rows, columns) and rows != columns)


@gradient_of("MatrixSetDiagV3")
def _set_diagonal_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 computed the diagonal's shape where the matrix' is not known, today where the diagonal's is not."""
    matrix, diagonal = op.inputs[:2]
    was_known, is_known = (shape.is_fully_defined() for shape in (matrix.shape.merge_with(grad.shape), diagonal.shape))
    return 0, 2 + 18 * (not was_known) - 67 * (not is_known)


@gradient_of("LeakyReluGrad", "Relu6Grad", "ReluGrad", "Sign")
def _zero_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 filled zeros into a shape that it had looked up."""
    return 0, 0 if _is_large(op.inputs[1 if len(op.inputs) > 1 else 0].shape) else 2


@gradient_of("MaxPoolGrad")
def _pooling_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 filled zeros into the shapes of two tensors that it had looked up."""
    return 0, 0 if _is_large(op.inputs[0].shape) else 4


def _is_large(shape: Any) -> bool:
    """Whether today zeros of that shape are filled in, too."""
    return bool(shape.is_fully_defined()) and shape.num_elements() >= 1000


@gradient_of("Add", "AddV2", "Sub", "Mul", "Pow", "SquaredDifference")
def _broadcast_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """Count 1.15's lookups of broadcast shapes in the graph, once for each pair, where both are known."""
    x, y = op.inputs
    if op.type == "AddV2" and y.op.type == "Sub" and y.op.inputs[0] is y.op.inputs[1]:
        return 0, 1 - 3 * _noted(op.graph).are_waiting  # clip_by_global_norm lets see what is not finite
    is_equal = is_tensor(grad) and x.shape == y.shape == grad.shape and x.shape.is_fully_defined()
    if is_equal and op.type != "Pow" and (op.type != "Mul" or grad.dtype.name in ("float32", "int32")):
        return 0, 0
    sides = _broadcast_sides(x, y)
    if sides is None:
        return 0, 0
    if not (x.shape.is_fully_defined() and y.shape.is_fully_defined()):
        _pass_on(op, grad)
        return 0, 5 - 3 * sides + _kept_by_loops(op, 2) + _order_of_stacks(op)
    is_new = is_first(op.graph, "broadcasts", tuple(x.shape.as_list()), tuple(y.shape.as_list()))
    return 0, (1 if is_new else -2) + sides


@gradient_of("Complex", "RealDiv", "Div", "DivNoNan", "FloorMod")
def _division_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """Both sides were summed and reshaped, whether they had been broadcast or not."""
    sides = _broadcast_sides(*op.inputs)
    if sides is None:
        return 0, 0
    _pass_on(op, grad)
    return 0, 5 - 3 * sides + _kept_by_loops(op, _unknown_shapes(op))


@gradient_of("BroadcastTo")
def _broadcast_to_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """Return what the gradient of a sum broadcasts today, it repeated."""
    first = op._original_op
    if first is None or first.type not in ("Sum", "Mean", "Prod"):
        return 0, -1
    return 0, 10 if first.get_attr("keep_dims") else 8


@gradient_of("IRFFT", "IRFFT2D")
def _inverse_real_transform_gradient(op: Any, grad: Any) -> tuple[int, int]:
    return 0, int(constant(op.inputs[1]) is not None)


@gradient_of("RFFT", "RFFT2D")
def _real_transform_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """A length that is known is made a constant once more, for the inverse."""
    return 0, -int(constant(op.inputs[1]) is not None)


@gradient_of("GatherV2")
def _gather_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 cast the shape, whose type may be chosen today, and knew less of other axes than the first."""
    axis = constant(op.inputs[2])
    cast = int(minor_release() >= 19)  # TensorFlow 2.16 to 2.18 cast it, too
    if axis is not None and axis == 0:
        return 0, cast + (37 if _is_of_frames(op) else 0)
    return 0, cast - (4 if op.get_attr("batch_dims") == 0 else 14)


def _is_of_frames(op: Any) -> bool:
    """Whether it gathers the frames of a signal, whose axis was computed in the graph."""
    scope, indices = op.name.rpartition("/")[0], op.inputs[1].op
    parts = [op.inputs[0].op, *(part.op for part in indices.inputs)]
    is_added = indices.type == "AddV2" and [part.type for part in parts] == ["Reshape"] * 3
    return bool(scope) and is_added and all(part.name.rpartition("/")[0] == scope for part in (indices, *parts))


@gradient_of("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum")
def _sparse_lookup_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 gathered before it summed; a sparse lookup went on through the rows that had been looked up."""
    gathered = 2 * (op.type == "SparseSegmentSum")
    return 0, gathered + (13 if op.get_attr("sparse_gradient") else 0)


@gradient_of("SelfAdjointEigV2")
def _eigenvalues_gradient(op: Any, *grads: Any) -> tuple[int, int]:
    """TensorFlow 1 set and read diagonals by operations that have no constants."""
    return 0, -4 if op.get_attr("compute_v") else 0


@gradient_of("Svd")
def _singular_values_gradient(op: Any, *grads: Any) -> tuple[int, int]:
    """TensorFlow 1 looked sizes up, and for how many values there are."""
    return 0, 8 if op.get_attr("compute_uv") else 0


@gradient_of("SparseReduceSum")
def _sparse_sum_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 looked the shape up."""
    if constant(op.inputs[2]) is None:
        return 0, 2 if minor_release() >= 19 else 0  # what TensorFlow 2.16 to 2.18 cast, too
    return 0, 9


@gradient_of("Atan2")
def _angle_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 did not look for what had been broadcast."""
    x, y = op.inputs
    return 0, -2 if x.shape.is_fully_defined() and y.shape.is_fully_defined() else -7


@gradient_of("SelectV2")
def _selection_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 looked for what had been broadcast although nothing had, but in gradients of selections."""
    sides = [_broadcast_sides(side, op.outputs[0]) for side in op.inputs[1:]]
    is_in_gradient = op._original_op is not None and op._original_op.type != "SelectV2"
    return 0, 5 - 3 * sum(side is None or side > 0 for side in sides) - 9 * is_in_gradient


@gradient_of("Maximum", "Minimum")
def _extreme_gradient(op: Any, grad: Any) -> tuple[int, int]:
    sides = _broadcast_sides(*op.inputs)
    kept = _kept_by_loops(op, _unknown_shapes(op))
    return 0, 2 if sides is None else 7 - 3 * sides + kept


@gradient_of("ClipByValue")
def _saturation_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """Each limit of a number that was cast was an operation of its own."""
    kinds = [as_dtype(user.get_attr("DstT")) for user in op.outputs[0].consumers() if user.type == "Cast"]
    given = op.outputs[0].dtype
    limits = sum(int(given.min < kind.min) + int(given.max > kind.max) for kind in kinds[:1])
    waiting = 3 * limits - 4 if _noted(op.graph).are_waiting else 0
    return 0, 13 * limits - 18 + waiting


@gradient_of("MatrixTriangularSolve")
def _triangular_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 did not look for what had been broadcast."""
    one, other = (tensor.shape for tensor in op.inputs)
    are_known = one.is_fully_defined() and other.is_fully_defined() and one[:-2] == other[:-2]
    return 0, 0 if are_known else -15


@gradient_of("Sum", "Mean")
def _sum_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 computed in the graph what a sum over some axes leaves: once for each known shape, else each time.

    Today it is, too, where both are known, and takes fewer operations.
    """
    shape = op.inputs[0].shape
    axes = constant(op.inputs[1])
    beyond = int(op.type == "Mean" and not (shape.is_fully_defined() and op.outputs[0].shape.is_fully_defined()))
    is_whole = shape.rank is not None and axes is not None and axes.tolist() == list(range(shape.rank))  # not 0 alone
    was_looked_up = _was_summed(op._original_op) and axes is not None  # what was broadcast, and is known today
    if is_whole:
        return 0, 12 if was_looked_up else beyond
    if shape.is_fully_defined() and axes is not None:
        key = tuple(shape.as_list()), tuple(axes.reshape(-1).tolist())
        today = 5 * is_first(op.graph, "reductions today", *key)
        if was_looked_up:
            return 0, 12 - today
        first = 17 + int(axes.size == 0 and op._original_op is None)
        return 0, beyond + first * is_first(op.graph, "reductions", *key) - today
    return 0, beyond + (14 + _is_in_loop(op) if op.get_attr("keep_dims") else 3)


@gradient_of("Max", "Min")
def _extremes_gradient(op: Any, grad: Any) -> tuple[int, int]:
    if op.get_attr("keep_dims"):
        return 0, 11
    return 0, 7 if op.inputs[0].shape.is_fully_defined() else 0


@gradient_of("Prod")
def _product_gradient(op: Any, grad: Any) -> tuple[int, int]:
    if op.get_attr("keep_dims"):
        return 0, 14
    return 0, 12 if op.inputs[0].shape.is_fully_defined() else 3


@gradient_of("StridedSlice")
def _slice_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """Today what is known of a shape and a slice is written anew; in a loop, of a slice, it always was."""
    tensor, *slices = op.inputs
    written = 0 if _is_in_loop(op) else sum(constant(part) is not None for part in slices)
    return 0, -int(tensor.shape.is_fully_defined()) - written


@of(OPS + "gradients_util:_GradientsHelper")
def _gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: Any = "",
    colocate: Any = False,
    gate: Any = False,
    *_: Any,
    **more: Any,
) -> tuple[int, int]:
    """Notes for the others whether gradients wait for each other, with respect to what they are taken, and of what."""
    sought = {getattr(x, "op", None) for x in (xs if isinstance(xs, (list, tuple)) else [xs])}
    setattr(default_graph(), _NOTED, _Noted(bool(more.get("gate_gradients", gate)), sought))
    return 0, 0


def _noted(graph: Any) -> _Noted:
    if not hasattr(graph, _NOTED):
        setattr(graph, _NOTED, _Noted())
    found: _Noted = getattr(graph, _NOTED)
    return found


#: Gradients that end with a sum over what was broadcast, and with the shape of the operand.
_SUMMED = ("Add", "AddV2", "Sub", "Mul", "Pow", "SquaredDifference")
_ALWAYS_SUMMED = ("RealDiv", "Div", "DivNoNan", "FloorMod", "Maximum", "Minimum")  # although all shapes are known
#: Of these, for which operands the gradient is what they get.
_HANDING_ON = {"Add": (0, 1), "AddV2": (0, 1), "Sub": (0,), "FloorMod": (0,)}


def _pass_on(op: Any, grad: Any) -> None:
    """Notes that a gradient becomes an operand's as it is, where it was summed and reshaped."""
    if is_tensor(grad) and any(not _is_broadcast(op, side) for side in _HANDING_ON.get(op.type, ())):
        handed = getattr(op.graph, _HANDED, {})
        setattr(op.graph, _HANDED, {**handed, grad.name: (*handed.get(grad.name, ()), op)})


def _is_broadcast(op: Any, side: int) -> bool:
    """Whether an operand was, as far as that is known."""
    axes = module(OPS + "math_grad")._InferGradientReductionAxes(*(operand.shape for operand in op.inputs))[side]
    rank, other = op.inputs[side].shape.rank, op.inputs[1 - side].shape.rank
    return bool(axes) or rank < other


@of(OPS + "gradients_util:_MaybeCompile")
def _gradient_of_gradient(scope: Any, op: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Sums and shapes had gradients of their own; today there is neither where nothing was broadcast."""
    made = _noted(op.graph).made
    made.add(op)
    first = op._original_op
    is_summed = _was_summed(first) and _is_last(op)
    beyond = sum(_handed_gradients(output, made) + _joined_in_tensordot(output, made) for output in op.outputs)
    return 0, 18 * is_summed + beyond - _both_chosen(op, made)


def _was_summed(op: Any) -> bool:
    """Whether the gradient of an operation was summed over what a look-up in the graph found."""
    if op is not None and op.type == "BatchMatMulV2":
        return _are_batches_alike(op)
    if op is None or op.type not in (*_SUMMED, *_ALWAYS_SUMMED):
        return False
    return op.type in _ALWAYS_SUMMED or not all(side.shape.is_fully_defined() for side in op.inputs)


def _is_last(op: Any) -> bool:
    """Whether the gradient that an operation is part of ends with it, without a sum."""
    return op.type != "Reshape" and not any(user._original_op is op._original_op for user in op.outputs[0].consumers())


def _handed_gradients(tensor: Any, made: set[Any]) -> int:
    """Count the sums of a gradient that was handed on: each time it had a gradient of its own."""
    handing = getattr(tensor.graph, _HANDED, {}).get(tensor.name, ())
    first = tensor.op._original_op
    if first is not None and first.type == "SquaredDifference" and tensor.op.type == "Mul" and _was_summed(first):
        is_difference = any(user.type == "Neg" and user._original_op is first for user in tensor.consumers())
        handing = ((first,) if is_difference and not _is_broadcast(first, 0) else ()) + handing
    if not handing:
        return 0
    users = [user for user in tensor.consumers() if user in made for part in user.inputs if part is tensor]
    arriving = sum(user._original_op not in handing for user in users)
    beyond = int(arriving > 1) - int(len(users) > 1)
    for op in reversed(handing):
        is_handed = int(arriving > 0)
        arriving = is_handed + sum(user._original_op is op for user in users)
        beyond += 18 * is_handed + int(arriving > 1)
    return beyond


def _joined_in_tensordot(tensor: Any, made: set[Any]) -> int:
    """Return what tensordot gave for it was added up before what others gave."""
    if tensor.name not in made:
        return 0
    users = [user for user in tensor.consumers() if user in made]
    inside = sum(bool(_tensordot_scope(user) or _tensordot_scope(user._original_op)) for user in users)
    return int(inside > 1 and len(users) > inside)


def _both_chosen(op: Any, made: set[Any]) -> int:
    """Zeros that a maximum's gradient chooses for either operand had no gradient where shapes are unknown."""
    if op.type != "SelectV2" or op._original_op is None or op._original_op.type not in ("Maximum", "Minimum"):
        return 0
    zeros = [part for part in op.inputs[1:] if part.op.type == "ZerosLike"]
    return sum(user is not op and user in made for part in zeros for user in part.consumers())


def _is_sought(tensor: Any) -> bool:
    """Whether the gradients that are being made go on through a tensor."""
    sought = _noted(tensor.graph).sought
    waiting, seen = [tensor.op], set()
    while waiting:
        op = waiting.pop()
        if op in sought:
            return True
        if op not in seen:
            seen.add(op)
            waiting += [part.op for part in op.inputs]
    return False


@gradient_of("MatMul")
def _product_gradient_of_matrices(op: Any, grad: Any) -> tuple[int, int]:
    """Count the operations of tensordot's gradient, through its transposes and reshapes; and of these gradients."""
    first = op if _tensordot_scope(op) else op._original_op
    scope = _tensordot_scope(first)
    if not scope or first.type != "MatMul":
        return 0, 0
    made = _noted(op.graph).made
    beyond = 0
    for operand in first.inputs:
        missing = _missing_in_tensordot(operand, scope)
        if not any(part is operand for part in op.inputs):
            beyond += missing  # of which this is the gradient
        elif missing and (scope, operand.name) not in made and _is_sought(operand):
            beyond += missing
            made.update([(scope, operand.name), operand.name])
    is_reshaped = any(user.type == "Reshape" and f"{user.name}/" == scope for user in first.outputs[0].consumers())
    if not is_reshaped and (scope, op is first) not in made:
        beyond += 2
        made.add((scope, op is first))
    return 0, beyond


def _tensordot_scope(op: Any) -> str:
    """The scope of the tensordot that an operation computes, with a slash; empty if it is in none, or there is none."""
    scope: str = op.name.rpartition("/")[0] if op is not None else ""
    return f"{scope}/" if scope.rpartition("/")[2].startswith("Tensordot") else ""


def _missing_in_tensordot(operand: Any, scope: str) -> int:
    """Count the operations that a gradient made on its way back to what was given, beyond today's."""
    if not operand.op.name.startswith(scope) or operand.op.type not in ("Reshape", "Transpose"):
        return 4
    inner = operand.op.inputs[0].op
    is_both = operand.op.type == "Reshape" and inner.type == "Transpose" and inner.name.startswith(scope)
    return 0 if is_both else 2


@gradient_of("BatchMatMulV2")
def _batches_gradient(op: Any, grad: Any) -> tuple[int, int]:
    """TensorFlow 1 looked for what had been broadcast although nothing had, but where both are of one shape."""
    return 0, 15 if _are_batches_alike(op) else 0


def _are_batches_alike(op: Any) -> bool:
    one, other = (tensor.shape for tensor in op.inputs)
    if one.is_fully_defined() and other.is_fully_defined() and one == other:
        return False
    first, second = one[:-2], other[:-2]
    return bool(first.is_fully_defined() and second.is_fully_defined() and first == second)


@gradient_of("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _fused_batch_norm_gradient(op: Any, *grads: Any) -> tuple[int, int]:
    """TensorFlow 1 gave gradients of the batch's own statistics, which an optimizer let wait for the others."""
    return 0, 2 if op.get_attr("is_training") and _noted(op.graph).are_waiting else 0


@gradient_of("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _fused_batch_norm_gradients_gradient(op: Any, *grads: Any) -> tuple[int, int]:
    if op.get_attr("is_training"):
        return 0, 4
    return 0, -3 if op.inputs[1].shape.is_fully_defined() else 3


@gradient_of("TensorArrayWriteV3", "TensorArrayScatterV3")
def _array_gradient(op: Any, *grads: Any) -> tuple[int, int]:
    """Today it waits for the write, whose flow a loop has to keep for that."""
    return 0, -8 if _is_in_loop(op) else -2


def _broadcast_sides(x: Any, y: Any) -> int | None:
    """Count the operands, of two, that were broadcast; None where today's TensorFlow finds that out when it runs."""
    found = module(OPS + "math_grad")._InferGradientReductionAxes(x.shape, y.shape)
    if found[0] is None or found[1] is None:
        return None
    return int(bool(found[0]) or x.shape.rank < y.shape.rank) + int(bool(found[1]) or y.shape.rank < x.shape.rank)


def _unknown_shapes(op: Any) -> int:
    return sum(not tensor.shape.is_fully_defined() for tensor in op.inputs)


def _kept_by_loops(op: Any, shapes: int) -> int:
    """A loop keeps shapes on stacks, for its gradients; each loop and each condition around them lets these through."""
    if not _is_in_loop(op):
        return 0
    contexts, context = 0, op._get_control_flow_context()
    while context is not None:
        contexts, context = contexts + 1, context.outer_context
    return shapes * (4 + 2 * contexts)


def _is_in_loop(op: Any) -> bool:
    """Whether it is in a loop, and its gradient, which is being made, in the gradient of that loop."""
    loop, now = (
        context and context.GetWhileContext()
        for context in (op._get_control_flow_context(), default_graph()._get_control_flow_context())
    )
    return loop is not None and now is not None and now.grad_state is not None


def _order_of_stacks(op: Any) -> int:
    """The first that the gradients of a loop take from a stack makes what all such wait for."""
    if not _is_in_loop(op):
        return 0
    loop = default_graph()._get_control_flow_context().GetWhileContext()
    if loop.parallel_iterations == 1 or loop.grad_state._grad_sync is not None or hasattr(loop, _ORDERED):
        return 0
    setattr(loop, _ORDERED, True)
    return 1


@of(OPS + "control_flow_state:_GradLoopState.AddBackpropAccumulatedValue")
def _taken_from_stack(self: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Take back the order of a loop's stack, where it has been counted already."""
    loop = self.grad_context
    is_order_made = loop.parallel_iterations > 1 and self._grad_sync is None
    return 0, -int(is_order_made and hasattr(loop, _ORDERED))
