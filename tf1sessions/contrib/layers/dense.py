"""Fully connected layers."""

from __future__ import annotations

import functools
from typing import Any

from ...runtime import tf1 as tf
from ..framework.arg_scope import add_arg_scope
from ..framework.variables import variable
from .convolutions import _normalize_or_add_bias
from .initializers import xavier_initializer
from .utils import finish, last_dimension, layer_scope, parameter

__all__ = [
    "elu",
    "fully_connected",
    "legacy_fully_connected",
    "legacy_linear",
    "legacy_relu",
    "linear",
    "relu",
    "relu6",
]


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),  # noqa: B008
    biases_regularizer: Any = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """``activation_fn(inputs . weights + biases)``, along the last dimension.

    Args:
        inputs: [..., C].
        num_outputs: N, an int.
        activation_fn: A function of the output, or None.
        normalizer_fn: A function of the product in place of ``biases``, such as ``batch_norm``.
        normalizer_params: Its arguments, a dict.
        weights_initializer: The initializer of ``weights``, [C, N].
        weights_regularizer: A function of ``weights``, or None.
        biases_initializer: The initializer of ``biases``, [N]; None for a layer without them.
        biases_regularizer: A function of ``biases``, or None.
        reuse: Whether the layer's variables are those that are there.
        variables_collections: Collections of the variables: a list, or a dict with lists for "weights" and "biases".
        outputs_collections: Collections of the output.
        trainable: Whether the variables are trained.
        scope: The layer's variable scope.

    Returns:
        [..., N].

    Raises:
        ValueError: ``num_outputs`` is no int, or C is not known.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of [{int}], got {type(num_outputs)}.")
    with layer_scope(scope, "fully_connected", [inputs], reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.rank
        channels = None if not rank else inputs.shape.as_list()[-1]
        if channels is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        weights = parameter(
            "weights",
            [channels, num_outputs],
            inputs.dtype.base_dtype,
            weights_initializer,
            variables_collections,
            trainable,
            weights_regularizer,
            "kernel",
        )
        if rank == 2:
            outputs = tf.matmul(inputs, weights, name="MatMul")
        else:
            outputs = tf.tensordot(inputs, weights, [[rank - 1], [0]], name="Tensordot")
            outputs.set_shape([*inputs.shape.as_list()[:-1], num_outputs])
        outputs = _normalize_or_add_bias(
            outputs,
            num_outputs,
            normalizer_fn,
            normalizer_params,
            biases_initializer,
            biases_regularizer,
            variables_collections,
            trainable,
            "NHWC",
        )
        return finish(outputs, activation_fn, outputs_collections, sc.name)


elu = functools.partial(fully_connected, activation_fn=tf.nn.elu)
linear = functools.partial(fully_connected, activation_fn=None)
relu = functools.partial(fully_connected, activation_fn=tf.nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=tf.nn.relu6)


def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Any = None,
    weight_init: Any = xavier_initializer(),  # noqa: B008
    bias_init: Any = tf.zeros_initializer(),  # noqa: B008
    name: Any = None,
    weight_collections: Any = (tf.GraphKeys.WEIGHTS,),
    bias_collections: Any = (tf.GraphKeys.BIASES,),
    output_collections: Any = (tf.GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Any = None,
    bias_regularizer: Any = None,
) -> Any:
    """``activation_fn(x . weights + bias)``, along the last dimension; the variables are no model variables.

    Args:
        x: [..., C].
        num_output_units: N.
        activation_fn: A function of the output, or None.
        weight_init: The initializer of ``weights``, [C, N].
        bias_init: The initializer of ``bias``, [N]; None for a layer without it.
        name: The layer's variable scope.
        weight_collections: Collections of ``weights``.
        bias_collections: Collections of ``bias``.
        output_collections: Collections of the output, besides ACTIVATIONS.
        trainable: Whether the variables are trained.
        weight_regularizer: A function of ``weights``, or None.
        bias_regularizer: A function of ``bias``, or None.

    Returns:
        [..., N].

    Raises:
        ValueError: ``x`` has not two dimensions, or C is not known.
    """
    with tf.variable_scope(name, "fully_connected", [x]):
        x = tf.convert_to_tensor(x)
        rank = x.shape.rank
        if rank is not None and rank < 2:
            raise ValueError(f"rank of x must be at least 2 not: {rank}")
        channels = last_dimension(x.shape, min_rank=2)
        if channels is None:
            raise ValueError("last dimension of x must be known but is None")

        def make(name: str, shape: list[int], initializer: Any, collections: Any, regularizer: Any) -> Any:
            return variable(
                name,
                shape,
                dtype=x.dtype.base_dtype,
                initializer=initializer,
                collections=[*(collections or ()), tf.GraphKeys.GLOBAL_VARIABLES],
                regularizer=regularizer,
                trainable=trainable,
            )

        weights = make("weights", [channels, num_output_units], weight_init, weight_collections, weight_regularizer)
        outputs = tf.matmul(x if rank == 2 else tf.reshape(x, [-1, channels]), weights)
        if bias_init is not None:
            bias = make("bias", [num_output_units], bias_init, bias_collections, bias_regularizer)
            outputs = tf.nn.bias_add(outputs, bias)
        if rank != 2:
            sizes = tf.unstack(tf.shape(x))
            outputs = tf.reshape(outputs, tf.stack([*sizes[:-1], num_output_units]))
            outputs.set_shape([*x.shape.as_list()[:-1], num_output_units])
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        tf.add_to_collections({*(output_collections or ()), tf.GraphKeys.ACTIVATIONS}, outputs)
        return outputs


legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=tf.nn.relu)
