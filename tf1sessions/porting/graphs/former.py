"""Operations of old graphs that graphs of today cannot have, or have no gradients of, as others.

A GraphDef says from which version of TensorFlow it is, and imported as a whole it keeps what operations did then. Made
again beside others it cannot. What the optimiser has fused has no gradient; apart, it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tf1sessions.runtime import private, tf

__all__ = ["COMPOSED", "current_name"]


def current_name(operation: str) -> str:
    """The operation of today for one that is no more: BatchCholesky has become Cholesky."""
    definition = private.op_def_registry.get(operation)
    if definition is None or not definition.HasField("deprecation"):
        return operation
    other = operation.replace("Batch", "", 1)
    return other if private.op_def_registry.get(other) is not None else operation


def _normalized(node: Any, values: Sequence[Any]) -> list[Any]:
    value, mean, variance, offset, scale = values
    if not node.attr["scale_after_normalization"].b:
        scale = None
    return [tf.nn.batch_normalization(value, mean, variance, offset, scale, node.attr["variance_epsilon"].f)]


def _fused_convolution(node: Any, values: Sequence[Any]) -> list[Any]:
    made = tf.raw_ops.Conv2D(
        input=values[0],
        filter=values[1],
        strides=list(node.attr["strides"].list.i),
        padding=node.attr["padding"].s,
        explicit_paddings=list(node.attr["explicit_paddings"].list.i),
        data_format=_format(node),
        dilations=list(node.attr["dilations"].list.i) or [1, 1, 1, 1],
    )
    return [_fused(node, made, values[2:])]


def _fused_product(node: Any, values: Sequence[Any]) -> list[Any]:
    made = tf.raw_ops.MatMul(
        a=values[0], b=values[1], transpose_a=node.attr["transpose_a"].b, transpose_b=node.attr["transpose_b"].b
    )
    return [_fused(node, made, values[2:])]


def _fused(node: Any, made: Any, others: Sequence[Any]) -> Any:
    """Return what follows a product or a convolution in a fused operation, from what else it takes."""
    for each in node.attr["fused_ops"].list.s:
        step = each.decode()
        if step == "BiasAdd":
            made = tf.raw_ops.BiasAdd(value=made, bias=others[0], data_format=_format(node))
        elif step == "FusedBatchNorm":
            scale, offset, mean, variance = others[:4]
            made = tf.raw_ops.FusedBatchNormV3(
                x=made,
                scale=scale,
                offset=offset,
                mean=mean,
                variance=variance,
                epsilon=node.attr["epsilon"].f,
                data_format=_format(node),
                is_training=False,
            )[0]
        elif step == "Add":
            made = made + others[-1]
        elif step == "LeakyRelu":
            made = tf.nn.leaky_relu(made, node.attr["leakyrelu_alpha"].f)
        else:
            made = _ACTIVATIONS[step](made)
    return made


def _format(node: Any) -> str:
    return node.attr["data_format"].s.decode() or "NHWC"


_ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
    "Relu": tf.nn.relu,
    "Relu6": tf.nn.relu6,
    "Elu": tf.nn.elu,
    "Sigmoid": tf.nn.sigmoid,
    "Tanh": tf.nn.tanh,
    "GeluExact": lambda x: 0.5 * x * (1.0 + tf.math.erf(x * 2**-0.5)),
}

#: Operation -> what makes its outputs, of its NodeDef and its inputs.
COMPOSED: Mapping[str, Callable[[Any, Sequence[Any]], list[Any]]] = {
    "BatchNormWithGlobalNormalization": _normalized,
    "_FusedConv2D": _fused_convolution,
    "_FusedMatMul": _fused_product,
}
