"""Small layers: dropout, flatten, biases, one-hot codes, maxout, norms, and layers of layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...runtime import tf1 as tf
from ..framework.arg_scope import add_arg_scope
from .utils import channels_last, claim_name, collect_named_outputs, finish, layer_scope, parameter, smart_cond

__all__ = [
    "bias_add",
    "dense_to_sparse",
    "dropout",
    "flatten",
    "images_to_sequence",
    "maxout",
    "one_hot_encoding",
    "repeat",
    "scale_gradient",
    "sequence_to_images",
    "softmax",
    "spatial_softmax",
    "stack",
    "unit_norm",
]


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = tf.zeros_initializer(),  # noqa: B008
    regularizer: Any = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Adds the variable ``biases``, [C].

    Args:
        inputs: [..., C]; or [B, C, ...] with ``data_format`` "NCHW".
        activation_fn: A function of the output, or None.
        initializer: The initializer of ``biases``.
        regularizer: A function of ``biases``, or None.
        reuse: Whether the layer's variables are those that are there.
        variables_collections: Collections of the variables: a list, or a dict with a list for "biases".
        outputs_collections: Collections of the output.
        trainable: Whether ``biases`` is trained.
        data_format: "NHWC" or "NCHW".
        scope: The layer's variable scope.

    Raises:
        ValueError: C is not known, or ``data_format`` does not fit.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with layer_scope(scope, "BiasAdd", [inputs], reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError("Dims of shape must be known but is None")
        if rank != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = inputs.shape.as_list()[1 if data_format == "NCHW" else -1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = parameter(
            "biases",
            [channels],
            inputs.dtype.base_dtype,
            initializer,
            variables_collections,
            trainable,
            regularizer,
        )
        outputs = tf.nn.bias_add(inputs, biases, data_format=data_format, name="BiasAdd")
        return finish(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> Any:
    """Sets each value to 0, or with probability ``keep_prob`` to itself / ``keep_prob``.

    Args:
        inputs: A tensor.
        keep_prob: A float, or a scalar tensor.
        noise_shape: The shape of the choices, which are repeated to that of ``inputs``.
        is_training: A bool, or a tensor; where it is false the output is the input.
        outputs_collections: Collections of the output.
        scope: The layer's variable scope.
        seed: The seed of the operation.
    """
    with layer_scope(scope, "Dropout", [inputs]) as sc:
        claim_name(sc)
        inputs = tf.convert_to_tensor(inputs)
        outputs = smart_cond(
            is_training,
            lambda: tf.nn.dropout(inputs, rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name="dropout"),
            lambda: tf.identity(inputs),
        )
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Any:
    """[B, ...] as [B, the product of the others].

    Args:
        inputs: A tensor with one dimension or more.
        outputs_collections: Collections of the output.
        scope: The name of the operations.

    Raises:
        ValueError: ``inputs`` is a scalar.
    """
    with tf.name_scope(scope, "Flatten", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        shape = inputs.shape
        if shape.rank == 0:
            raise ValueError(f"flatten: the inputs need at least one dimension, and {inputs.name} is a scalar.")
        sizes = [None] if shape.rank is None else shape.as_list()
        inner = None if shape.rank is None or None in sizes[1:] else math.prod(sizes[1:])
        with tf.name_scope("flatten"):
            if inner:
                outputs = tf.reshape(inputs, [-1, inner])
            else:
                outputs = tf.reshape(inputs, [tf.shape(inputs)[0], -1 if inner is None else 0])
        outputs.set_shape([sizes[0], inner])
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Labels, [B], as [B, ``num_classes``] with ``on_value`` at the label.

    Args:
        labels: Whole numbers.
        num_classes: The number of classes.
        on_value: See above.
        off_value: The value of all others.
        outputs_collections: Collections of the output.
        scope: The name of the operations.
    """
    with tf.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = tf.convert_to_tensor(labels)
        if labels.dtype == tf.int32:
            labels = tf.cast(labels, tf.int64)
        outputs = tf.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, sc, outputs)


def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """The greatest of each group of values along ``axis`` (https://arxiv.org/abs/1302.4389).

    Args:
        inputs: A tensor whose size along ``axis`` is known and a multiple of ``num_units``.
        num_units: How many are left.
        axis: The dimension.
        scope: The name of the operations.

    Raises:
        ValueError: The size is not known, or no multiple.
    """
    with tf.name_scope(scope, "MaxOut", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        sizes = inputs.shape.as_list()
        channels = sizes[axis]
        if channels is None:
            raise ValueError(f"maxout: the size of the inputs along axis {axis} should be defined. Found `None`.")
        if channels % num_units:
            raise ValueError(f"number of features({channels}) is not a multiple of num_units({num_units})")
        shape = [tf.shape(inputs)[at] if size is None else size for at, size in enumerate(sizes)]
        shape[axis] = num_units
        outputs = tf.reduce_max(tf.reshape(inputs, [*shape, channels // num_units]), -1)
        sizes[axis] = num_units
        outputs.set_shape(sizes)
        return outputs


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Softmax over the last dimension of a tensor with at least two.

    Args:
        logits: [..., N].
        scope: The layer's variable scope.
    """
    with layer_scope(scope, "softmax", [logits]):
        logits = tf.convert_to_tensor(logits)
        flat = tf.reshape(logits, [-1, logits.shape.as_list()[-1]])
        predictions = tf.reshape(tf.nn.softmax(flat), tf.shape(logits))
        predictions.set_shape(logits.shape)
        return predictions


def spatial_softmax(
    features: Any,
    temperature: Any = None,
    name: str | None = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """The expected position of each channel's activation in the image (https://arxiv.org/abs/1509.06113).

    Args:
        features: [B, H, W, C]; or [B, C, H, W] with ``data_format`` "NCHW".
        temperature: The start of the variable ``temperature``; 1 unless given.
        name: The layer's variable scope.
        variables_collections: Collections of the variable: a list, or a dict with a list for "temperature".
        trainable: Whether it is trained.
        data_format: "NHWC" or "NCHW".

    Returns:
        [B, 2 C]: the positions of each channel from -1 to 1, along H and then along W.

    Raises:
        ValueError: C is not known, or ``data_format`` is another.
    """
    with tf.variable_scope(name, "spatial_softmax"):
        features = tf.convert_to_tensor(features)
        if data_format not in ("NHWC", "NCHW"):
            raise ValueError("data_format has to be either NCHW or NHWC.")
        last = channels_last(data_format)
        sizes = tf.shape(features)
        rows, columns = (sizes[1], sizes[2]) if last else (sizes[2], sizes[3])
        channels = features.shape.as_list()[3 if last else 1]
        if channels is None:
            raise ValueError(
                "The num_channels dimension of the inputs to `spatial_softmax` should be defined. Found `None`."
            )
        with tf.name_scope("spatial_softmax_op"):
            positions = tf.meshgrid(
                tf.linspace(-1.0, 1.0, num=rows), tf.linspace(-1.0, 1.0, num=columns), indexing="ij"
            )
            positions = [tf.reshape(position, [rows * columns]) for position in positions]
            initializer = tf.ones_initializer() if temperature is None else tf.constant_initializer(temperature)
            collections = variables_collections if temperature is None else None
            scale = parameter("temperature", (), tf.float32, initializer, collections, trainable)
            images = tf.transpose(features, [0, 3, 1, 2]) if last else features
            attention = tf.nn.softmax(tf.reshape(images, [-1, rows * columns]) / scale)
            expected = [tf.reduce_sum(position * attention, [1], keepdims=True) for position in positions]
            keypoints = tf.reshape(tf.concat(expected, 1), [-1, channels * 2])
        keypoints.set_shape([None, channels * 2])
        return keypoints


def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """``inputs`` divided by its length along one dimension.

    Args:
        inputs: A tensor of known rank.
        dim: The dimension, 0 or above.
        epsilon: Added to the squared length.
        scope: The name of the operations.

    Raises:
        ValueError: The rank is not known, or ``dim`` is not below it.
    """
    with tf.variable_scope(scope, "UnitNorm", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError("The input rank must be known.")
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = tf.sqrt(epsilon + tf.reduce_sum(tf.square(inputs), dim, keepdims=True))
        multiples = [tf.ones([dim], tf.int32)] if dim else []
        multiples.append(tf.strided_slice(tf.shape(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            multiples.append(tf.ones([rank - 1 - dim], tf.int32))
        return tf.div(inputs, tf.tile(lengths, tf.concat(multiples, 0)))


def _name(layer: Callable[..., Any]) -> str:
    """The name of a function, or of the one that a ``functools.partial`` calls."""
    while not hasattr(layer, "__name__") and hasattr(layer, "func"):
        layer = layer.func
    name: str = getattr(layer, "__name__", "layer")
    return name


@add_arg_scope
def repeat(inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``layer`` applied ``repetitions`` times, each with variables of its own: ``conv_1``, ``conv_2``, ...

    Args:
        inputs: The input of the first.
        repetitions: How often.
        layer: A layer with an argument ``scope``.
        *args: More arguments of each.
        **kwargs: More arguments of each; ``scope`` is that of all together.
    """
    scope = kwargs.pop("scope", None)
    with tf.variable_scope(scope, "Repeat", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        name = _scope_name(scope) or _name(layer)
        outputs = inputs
        for number in range(1, repetitions + 1):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{number}"})
        return outputs


@add_arg_scope
def stack(inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any) -> Any:
    """``layer`` applied once for each of ``stack_args``, each with variables of its own: ``conv_1``, ``conv_2``, ...

    Args:
        inputs: The input of the first.
        layer: A layer with an argument ``scope``.
        stack_args: For each application its argument, or a list of its arguments.
        **kwargs: More arguments of each; ``scope`` is that of all together.

    Raises:
        ValueError: ``stack_args`` is no list.
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with tf.variable_scope(scope, "Stack", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        name = _scope_name(scope) or _name(layer)
        outputs = inputs
        for number, layer_args in enumerate(stack_args, 1):
            if not isinstance(layer_args, (list, tuple)):
                layer_args = [layer_args]
            outputs = layer(outputs, *layer_args, **{**kwargs, "scope": f"{name}_{number}"})
        return outputs


def _scope_name(scope: Any) -> str | None:
    name: str | None = getattr(scope, "name", scope)
    return name


@add_arg_scope
def dense_to_sparse(tensor: Any, eos_token: int = 0, outputs_collections: Any = None, scope: Any = None) -> Any:
    """A tensor without its ``eos_token`` as a sparse one, such as labels for ``tf.nn.ctc_loss``.

    Args:
        tensor: Whole numbers.
        eos_token: What is left out.
        outputs_collections: Collections of the output.
        scope: The name of the operations.
    """
    with tf.name_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = tf.convert_to_tensor(tensor)
        indices = tf.where(tf.not_equal(tensor, tf.constant(eos_token, tensor.dtype)))
        shape = tf.shape(tensor, out_type=tf.int64)
        outputs = tf.SparseTensor(indices, tf.gather_nd(tensor, indices), shape)
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def images_to_sequence(
    inputs: Any, data_format: str = "NHWC", outputs_collections: Any = None, scope: Any = None
) -> Any:
    """Images, [B, H, W, C], as sequences of columns, [W, B * H, C].

    Args:
        inputs: The images; [B, C, H, W] with ``data_format`` "NCHW".
        data_format: "NHWC" or "NCHW".
        outputs_collections: Collections of the output.
        scope: The name of the operations.

    Raises:
        ValueError: ``data_format`` is something else.
    """
    last = channels_last(data_format)
    with tf.name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        if not last:
            inputs = tf.transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.shape.as_list()
        sizes = tf.shape(inputs)
        columns = tf.transpose(inputs, [2, 0, 1, 3])
        shape = [sizes[2] if width is None else width, sizes[0] * sizes[1], sizes[3] if depth is None else depth]
        return collect_named_outputs(outputs_collections, sc, tf.reshape(columns, shape))


@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Sequences of columns, [W, B * H, C], as images, [B, H, W, C]: what :func:`images_to_sequence` undoes.

    Args:
        inputs: The sequences.
        height: H.
        output_data_format: "channels_last", or "channels_first" for [B, C, H, W].
        outputs_collections: Collections of the output.
        scope: The name of the operations.
    """
    with tf.name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        width, rows, depth = inputs.shape.as_list()
        sizes = tf.shape(inputs)
        batch = -1 if rows is None else rows // height
        shape = [sizes[0] if width is None else width, batch, height, sizes[2] if depth is None else depth]
        first = output_data_format == "channels_first"
        outputs = tf.transpose(tf.reshape(inputs, shape), [1, 3, 2, 0] if first else [1, 2, 0, 3])
        return collect_named_outputs(outputs_collections, sc, outputs)


def scale_gradient(inputs: Any, gradient_multiplier: Any, name: str | None = None) -> Any:
    """``inputs``, the gradient of which is multiplied by ``gradient_multiplier``.

    Args:
        inputs: A tensor.
        gradient_multiplier: A number, or a tensor of any type; it gets no gradient itself.
        name: The name of the operation.
    """

    def scaled(tensor: Any) -> Any:
        def backward(grad: Any) -> Any:
            return grad * tf.cast(gradient_multiplier, grad.dtype)

        return tf.identity(tensor), backward

    return tf.identity(tf.custom_gradient(scaled)(tf.convert_to_tensor(inputs)), name=name or "scale_gradient")
