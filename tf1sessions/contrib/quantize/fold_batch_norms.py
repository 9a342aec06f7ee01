"""Batch normalizations that become part of the layers before them: their scale goes into weights, the rest into a bias.

A normalization by the statistics of the batch would let the weights, and what they are rounded to, change with each
batch. So the weights are scaled by the moving average, and the output is corrected by how far the batch is from it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...runtime import tf1 as tf
from .step import counted_step

__all__ = ["LAYERS", "fold", "is_read", "scope_of"]

#: Operations that multiply by weights, their second input.
LAYERS = ("Conv2D", "DepthwiseConv2dNative", "MatMul")
_FUSED = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_ADDITIONS = ("Add", "AddV2")
_GRADIENT = "FoldFusedBatchNormGrad"


@dataclass(frozen=True)
class _Normalization:
    """A layer, and the normalization of its output."""

    layer: Any  # the operation
    output: Any
    mean: Any
    variance: Any
    gamma: Any  # None, if there is none
    epsilon: Any
    by_batch: bool  # mean and variance are those of the batch
    scale: Any = None  # what the graph has already: 1 over the deviation, times gamma
    bias: Any = None  # and what is added
    beta: Any = None  # where it has not


@dataclass(frozen=True)
class _Correction:
    """Factors and offsets for the distance of the batch from the moving averages."""

    scale: Any
    reciprocal: Any
    offset: Any


def scope_of(op: Any) -> str:
    """Return the name of the scope of ``op`` with a slash at its end; empty, if it is in none."""
    scope, slash, _ = op.name.rpartition("/")
    return f"{scope}{slash}"


def fold(graph: Any, freeze_delay: int | None) -> None:
    """Fold the normalizations of the layers of ``graph``, the default graph.

    Args:
        graph: The graph.
        freeze_delay: Runs of the graph after which the moving averages stay, and are used; None, if never.
    """
    fused = [_bessel_undone(found) for found in _fused(graph)]
    for found in [*fused, *_composed(graph)]:
        _fold(found, freeze_delay)


def _fused(graph: Any) -> Iterator[_Normalization]:
    for op in list(graph.get_operations()):
        if op.type not in _FUSED:
            continue
        layer = _layer_of(op.inputs[0])
        if layer is None:
            continue
        by_batch = op.get_attr("is_training")
        mean, variance = (op.outputs[1], op.outputs[2]) if by_batch else (op.inputs[3], op.inputs[4])
        epsilon = op.get_attr("epsilon")
        yield _Normalization(layer, op.outputs[0], mean, variance, op.inputs[1], epsilon, by_batch, beta=op.inputs[2])


def _layer_of(tensor: Any) -> Any:
    """The layer whose output ``tensor`` is, as it is or reshaped."""
    op = tensor.op
    if op.type in ("Reshape", "Squeeze", "ExpandDims") and op.inputs[0].op.type == "MatMul":
        op = op.inputs[0].op
    return op if op.type in LAYERS else None


def _bessel_undone(found: _Normalization) -> _Normalization:
    """The variance of the batch itself: what the operation gives is an estimate for what the batch is drawn from."""
    if not found.by_batch:
        return found
    op = found.output.op
    _let_statistics_have_gradients(op)
    with tf.name_scope(scope_of(op) or None):
        count = tf.cast(tf.size(op.inputs[0]) / tf.size(found.variance), tf.float32)
        factor = (count - 1.0) / count
        variance = tf.multiply(found.variance, factor, name="Undo_Bessel_Correction")
    return replace(found, variance=variance)


def _let_statistics_have_gradients(op: Any) -> None:
    """Let gradients go through the mean and the variance that ``op`` gives: TensorFlow's stop at them."""
    _register_gradient()
    op._set_attr("_gradient_op_type", tf.AttrValue(s=_GRADIENT.encode()))


@functools.cache
def _register_gradient() -> None:
    tf.RegisterGradient(_GRADIENT)(_gradient)


def _gradient(op: Any, of_output: Any, of_mean: Any, of_variance: Any, *others: Any) -> tuple[Any, ...]:
    """The gradient for the input: nothing takes the normalized output any more, and scale and offset are not used."""
    del of_output, others
    inputs, mean = op.inputs[0], op.outputs[1]
    count = tf.cast(tf.size(inputs) / tf.size(mean), tf.float32)
    through_variance = 2.0 * of_variance * (inputs - mean) / (count - 1.0)
    return (of_mean / count + through_variance, *[None] * (len(op.inputs) - 1))


def _composed(graph: Any) -> Iterator[_Normalization]:
    """Normalizations of several operations: the layer times scale, and to it (beta - mean times scale)."""
    for op in list(graph.get_operations()):
        scaled = op.inputs[0].op if op.type in _ADDITIONS else None
        if scaled is None or scaled.type != "Mul" or _layer_of(scaled.inputs[0]) is None:
            continue
        scale, bias = scaled.inputs[1], op.inputs[1]
        deviation = _with_type(scale, "Rsqrt")
        shift = bias.op.inputs[1].op if bias.op.type == "Sub" else None
        if deviation is None or shift is None or shift.type != "Mul" or shift.inputs[1] is not scale:
            continue
        variance, epsilon = deviation.inputs[0].op.inputs
        gamma = None if scale.op is deviation else scale.op.inputs[1]
        mean = shift.inputs[0]
        by_batch = not is_read(mean)
        layer = _layer_of(scaled.inputs[0])
        yield _Normalization(layer, op.outputs[0], mean, variance, gamma, epsilon, by_batch, scale, bias)


def _with_type(tensor: Any, kind: str) -> Any:
    """The operation that gives ``tensor`` or its first factor, if it is of this type."""
    op = tensor.op.inputs[0].op if tensor.op.type == "Mul" else tensor.op
    return op if op.type == kind else None


def is_read(tensor: Any) -> bool:
    """Return whether ``tensor`` is the value of a variable."""
    op = tensor.op
    return bool(op.type == "ReadVariableOp" or (op.type == "Identity" and op.inputs[0].op.type.startswith("Var")))


def _fold(found: _Normalization, freeze_delay: int | None) -> None:
    layer, scope = found.layer, scope_of(found.layer)
    inside = f"{scope}BatchNorm_Fold/" if found.scale is None else scope
    with tf.name_scope(inside or None):
        scale, bias = found.scale, found.bias
        if scale is None:
            scale = found.gamma * tf.rsqrt(found.variance + found.epsilon)
            bias = tf.subtract(found.beta, found.mean * scale, name="bias")
        correction = _correction(found, inside, freeze_delay) if found.by_batch else None
        weights = layer.inputs[1]
        fits = _fitted(layer, weights)
        scale = fits(scale, "scale_reshape")
        weights_scale = fits(correction.scale, "correction_reshape") if correction else None
    with tf.name_scope(scope or None):
        if correction:
            weights = tf.multiply(weights_scale, weights, name="correction_mult")
        folded = _copied(layer, tf.multiply(weights, scale, name="mul_fold"))
        if correction:
            folded = tf.multiply(correction.reciprocal, folded, name="post_conv_mul")
            folded = tf.raw_ops.Add(x=folded, y=correction.offset, name="correction_add")
        output = found.output
        if folded.shape.ndims != output.shape.ndims:  # a matrix that was normalized as an image
            folded = tf.reshape(folded, tf.shape(output))
        takers = output.consumers()
        added = tf.raw_ops.Add(x=folded, y=bias, name="add_fold")
    for op in takers:
        for index in [index for index, tensor in enumerate(op.inputs) if tensor is output]:
            op._update_input(index, added)


def _fitted(layer: Any, weights: Any) -> Callable[[Any, str], Any]:
    """Return a function that gives a vector a shape by which the weights of ``layer`` can be multiplied."""
    if layer.type != "DepthwiseConv2dNative":
        return lambda vector, name: vector
    shape = weights.shape.as_list()[2:]
    return lambda vector, name: tf.reshape(vector, shape, name=name)


def _copied(layer: Any, weights: Any) -> Any:
    """The output of a layer like ``layer`` with other weights, named after it."""
    inputs = [layer.inputs[0], weights]
    name = f"{layer.name}_Fold"
    with layer.graph.name_scope(None):
        made = layer.graph.create_op(layer.type, inputs, [layer.outputs[0].dtype], name=name, attrs=layer.node_def.attr)
    made._set_device(layer.device)
    return made.outputs[0]


def _correction(found: _Normalization, scope: str, freeze_delay: int | None) -> _Correction:
    """Corrections of the layer's weights and output, by which the weights do not change with the batch."""
    moving_mean, mean_share = _moving(found.mean)
    moving_variance, variance_share = _moving(found.output.op.outputs[2] if found.beta is not None else found.variance)
    with tf.name_scope(f"{scope}batch_norm_correction/"):
        by_moving = tf.rsqrt(moving_variance + found.epsilon)
        by_batch = tf.rsqrt(found.variance + found.epsilon)
        scale = tf.identity(tf.divide(by_moving, by_batch, name="scale_compute"), name="correction_scale")
        reciprocal = tf.reciprocal(scale, name="reciprocal_compute")
        offset = found.mean * by_batch - moving_mean * by_moving
        if found.gamma is not None:
            offset = tf.multiply(found.gamma, offset, name="offset_compute")
        if freeze_delay is None:
            return _Correction(scale, reciprocal, tf.zeros(offset.shape, name="zeros"))
        frozen = tf.greater_equal(counted_step(), freeze_delay, name="use_moving_average")
        _freeze(mean_share, frozen, "freeze_moving_mean")
        _freeze(variance_share, frozen, "freeze_moving_var")
        reciprocal = tf.cond(frozen, lambda: tf.ones(reciprocal.shape), lambda: reciprocal, name="correction_recip")
        offset = tf.cond(frozen, lambda: offset, lambda: tf.zeros(offset.shape), name="correction_offset")
        return _Correction(scale, reciprocal, offset)


def _moving(statistic: Any) -> tuple[Any, tuple[Any, int]]:
    """The moving average of a batch's statistic, and the operation and input that say how much of the batch goes in."""
    for difference in _takers(statistic):
        if difference.type != "Sub" or not any(map(is_read, difference.inputs)):
            continue
        average = next(filter(is_read, difference.inputs))
        for product in difference.outputs[0].consumers():
            if product.type == "Mul":
                return average, (product, 1 if product.inputs[0] is difference.outputs[0] else 0)
    raise ValueError(
        f"{statistic.name}, which a batch normalization computes of its batch, has no moving average in this graph, so "
        "that the normalization cannot be folded into the layer before it. Build the layer with its updates (for "
        "tf.keras: call it in a graph that trains), or with training=False."
    )


def _takers(tensor: Any) -> Iterator[Any]:
    """The operations that take ``tensor``, also through others that hand it on."""
    for op in tensor.consumers():
        yield op
        if op.type in ("Identity", "Squeeze", "Reshape", "Cast", "Mul"):
            yield from _takers(op.outputs[0])


def _freeze(share: tuple[Any, int], frozen: Any, name: str) -> None:
    op, index = share
    before = op.inputs[index]
    op._update_input(index, tf.cond(frozen, lambda: tf.constant(0.0), lambda: before, name=name))
