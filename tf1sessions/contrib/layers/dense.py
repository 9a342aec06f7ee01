"""Fully connected layers."""

from __future__ import annotations

import functools
from typing import Any

from ...runtime import tf1 as tf
from ..framework.arg_scope import add_arg_scope
from .convolutions import _normalize_or_add_bias
from .initializers import xavier_initializer
from .utils import finish, layer_scope, parameter

__all__ = ["elu", "fully_connected", "linear", "relu", "relu6"]


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
