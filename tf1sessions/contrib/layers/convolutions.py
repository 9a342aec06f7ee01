"""Convolutions: plain ones in one to three dimensions, transposed, separable, and one window for all channels.

In the shapes, B is the batch, S the spatial dimensions, C the channels of the input and F the filters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from .._named import named
from ..framework.arg_scope import add_arg_scope
from .initializers import xavier_initializer
from .utils import (
    channel_dimension,
    channels_last,
    finish,
    layer_scope,
    n_positive_integers,
    parameter,
    two_element_tuple,
)

__all__ = [
    "conv1d",
    "conv2d",
    "conv2d_in_plane",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "convolution",
    "convolution1d",
    "convolution2d",
    "convolution2d_in_plane",
    "convolution2d_transpose",
    "convolution3d",
    "convolution3d_transpose",
    "separable_conv2d",
    "separable_convolution2d",
]

_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


def _channels(inputs: Any, data_format: str, layer: str, min_rank: int) -> int:
    size = channel_dimension(inputs.shape, data_format, min_rank=min_rank)
    if size is None:
        raise ValueError(f"{layer}: the channel dimension of the inputs should be defined. Found `None`.")
    return size


def _spatial_dimensions(inputs: Any, wanted: int | None) -> int:
    rank: int | None = inputs.shape.rank
    if wanted is not None and wanted + 2 != rank:
        raise ValueError(f"Convolution expects input with rank {wanted + 2}, got {rank}")
    if rank not in (3, 4, 5):
        raise ValueError(f"Convolution not supported for input with rank {rank}")
    return rank - 2


def _normalize_or_add_bias(
    outputs: Any,
    filters: int,
    normalizer_fn: Any,
    normalizer_params: Any,
    biases_initializer: Any,
    biases_regularizer: Any,
    variables_collections: Any,
    trainable: bool,
    data_format: str,
    regularized_as: str | None = "bias",
) -> Any:
    if normalizer_fn is not None:
        return normalizer_fn(outputs, **(normalizer_params or {}))
    if biases_initializer is None:
        return outputs
    biases = parameter(
        "biases",
        [filters],
        outputs.dtype.base_dtype,
        biases_initializer,
        variables_collections,
        trainable,
        biases_regularizer,
        regularized_as,
    )
    return tf.nn.bias_add(
        outputs, biases, data_format="NCHW" if data_format.startswith("NC") else "NHWC", name="BiasAdd"
    )


@add_arg_scope
def convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
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
    conv_dims: int | None = None,
) -> Any:
    """A convolution with the variables ``weights``, [window..., C, F], and ``biases``, [F].

    Args:
        inputs: [B, S..., C], with one to three dimensions S; or [B, C, S...] where ``data_format`` says so.
        num_outputs: F.
        kernel_size: The window's size: a number, or one for each S.
        stride: A number, or one for each S.
        padding: "SAME" or "VALID".
        data_format: "NWC", "NCW", "NHWC", "NCHW", "NDHWC" or "NCDHW"; channels last unless given.
        rate: The dilation: a number, or one for each S. Above 1 only with ``stride`` 1.
        activation_fn: A function of the output, or None.
        normalizer_fn: A function of the convolution's output in place of ``biases``, such as ``batch_norm``.
        normalizer_params: Its arguments, a dict.
        weights_initializer: The initializer of ``weights``.
        weights_regularizer: A function of ``weights``, or None.
        biases_initializer: The initializer of ``biases``; None for a layer without them.
        biases_regularizer: A function of ``biases``, or None.
        reuse: Whether the layer's variables are those that are there.
        variables_collections: Collections of the variables: a list, or a dict with lists for "weights" and "biases".
        outputs_collections: Collections of the output.
        trainable: Whether the variables are trained.
        scope: The layer's variable scope.
        conv_dims: The number of dimensions S that ``inputs`` must have.

    Returns:
        [B, S..., F], or [B, F, S...].

    Raises:
        ValueError: ``inputs`` has the wrong rank, its channels are not known, or another argument is wrong.
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    inputs = tf.convert_to_tensor(inputs)
    spatial = _spatial_dimensions(inputs, conv_dims)
    data_format = data_format or ("NWC", "NHWC", "NDHWC")[spatial - 1]
    with layer_scope(scope, "Conv", [inputs], reuse) as sc:
        channels = _channels(inputs, data_format, "convolution", spatial + 2)
        weights = parameter(
            "weights",
            [*n_positive_integers(spatial, kernel_size), channels, num_outputs],
            inputs.dtype.base_dtype,
            weights_initializer,
            variables_collections,
            trainable,
            weights_regularizer,
            "kernel",
        )
        outputs = tf.nn.convolution(
            inputs,
            weights,
            padding=padding.upper(),
            strides=n_positive_integers(spatial, stride),
            dilation_rate=n_positive_integers(spatial, rate),
            data_format=data_format,
            name=("conv1d", "Conv2D", "Conv3D")[spatial - 1],
        )
        outputs = _normalize_or_add_bias(
            outputs,
            num_outputs,
            normalizer_fn,
            normalizer_params,
            biases_initializer,
            biases_regularizer,
            variables_collections,
            trainable,
            data_format,
        )
        return finish(outputs, activation_fn, outputs_collections, sc.name)


def _of_dims(conv_dims: int, shape: str) -> Callable[..., Any]:
    """:func:`convolution` with this number of dimensions S, the input being of this ``shape``."""

    @add_arg_scope
    @named(f"convolution{conv_dims}d", f":func:`convolution` of {shape}.")
    def layer(
        inputs: Any,
        num_outputs: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: str = "SAME",
        data_format: str | None = None,
        rate: Any = 1,
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
        return convolution(
            inputs,
            num_outputs,
            kernel_size,
            stride,
            padding,
            data_format,
            rate,
            activation_fn,
            normalizer_fn,
            normalizer_params,
            weights_initializer,
            weights_regularizer,
            biases_initializer,
            biases_regularizer,
            reuse,
            variables_collections,
            outputs_collections,
            trainable,
            scope,
            conv_dims=conv_dims,
        )

    return layer


conv1d = convolution1d = _of_dims(1, "[B, S, C]")
conv2d = convolution2d = _of_dims(2, "[B, H, W, C]")
conv3d = convolution3d = _of_dims(3, "[B, D, H, W, C]")


def _transposed(
    inputs: Any,
    weights: Any,
    window: tuple[int, ...],
    strides: tuple[int, ...],
    padding: str,
    data_format: str,
    filters: int,
) -> Any:
    """The transposed convolution, with the static shape that is known."""
    first = 2 if data_format.startswith("NC") else 1
    known = inputs.shape.as_list()
    actual = tf.shape(inputs)
    static, dynamic = [], []
    for axis, (size, step) in enumerate(zip(window, strides, strict=True)):
        more = max(size - step, 0) if padding == "VALID" else 0
        length = known[first + axis]
        static.append(None if length is None else length * step + more)
        dynamic.append(actual[first + axis] * step + more if length is None else static[-1])
    batch = actual[0] if known[0] is None else known[0]
    if first == 2:
        shape, full_strides = [batch, filters, *dynamic], [1, 1, *strides]
        static = [known[0], filters, *static]
    else:
        shape, full_strides = [batch, *dynamic, filters], [1, *strides, 1]
        static = [known[0], *static, filters]
    transpose = tf.nn.conv2d_transpose if len(window) == 2 else tf.nn.conv3d_transpose
    outputs = transpose(
        inputs,
        weights,
        output_shape=tf.stack(shape),
        strides=full_strides,
        padding=padding,
        data_format=data_format,
        name=f"conv{len(window)}d_transpose",
    )
    outputs.set_shape(static)
    return outputs


_TRANSPOSING = """The transpose of a convolution of {shape}; ``weights`` is [window..., F, C].

    The arguments are those of :func:`convolution`.
    """


def _transposing(last: str, first: str, shape: str) -> Callable[..., Any]:
    """The transpose of a convolution, of inputs of this ``shape``.

    Args:
        last: The ``data_format`` with the channels last, the default.
        first: That with the channels second.
        shape: The inputs' shape, for the docstring.
    """
    dims = len(last) - 2

    @add_arg_scope
    @named(f"convolution{dims}d_transpose", _TRANSPOSING.format(shape=shape))
    def layer(
        inputs: Any,
        num_outputs: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: str = "SAME",
        data_format: str = last,
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
        if data_format not in (last, first):
            raise ValueError(f"data_format has to be either {first} or {last}.")
        inputs = tf.convert_to_tensor(inputs)
        with layer_scope(scope, f"Conv{dims}d_transpose", [inputs], reuse) as sc:
            channels = _channels(inputs, data_format, f"conv{dims}d_transpose", dims + 2)
            window = n_positive_integers(dims, kernel_size)
            strides = n_positive_integers(dims, stride)
            weights = parameter(
                "weights",
                [*window, num_outputs, channels],
                inputs.dtype.base_dtype,
                weights_initializer,
                variables_collections,
                trainable,
                weights_regularizer,
                "kernel",
            )
            outputs = _transposed(inputs, weights, window, strides, padding.upper(), data_format, num_outputs)
            outputs = _normalize_or_add_bias(
                outputs,
                num_outputs,
                normalizer_fn,
                normalizer_params,
                biases_initializer,
                biases_regularizer,
                variables_collections,
                trainable,
                data_format,
            )
            return finish(outputs, activation_fn, outputs_collections, sc.name)

    return layer


conv2d_transpose = convolution2d_transpose = _transposing("NHWC", "NCHW", "[B, H, W, C]")
conv3d_transpose = convolution3d_transpose = _transposing("NDHWC", "NCDHW", "[B, D, H, W, C]")


@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
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
    """One window of weights, [height, width, 1, 1], for every channel of [B, H, W, C].

    The arguments are those of :func:`convolution`.
    """
    with layer_scope(scope, "ConvInPlane", [inputs], reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        channels = _channels(inputs, "NHWC", "conv2d_in_plane", 4)
        height, width = two_element_tuple(stride)
        weights = parameter(
            "weights",
            [*two_element_tuple(kernel_size), 1, 1],
            inputs.dtype.base_dtype,
            weights_initializer,
            variables_collections,
            trainable,
            weights_regularizer,
        )
        outputs = tf.nn.depthwise_conv2d(
            inputs, tf.tile(weights, [1, 1, channels, 1]), [1, height, width, 1], padding.upper()
        )
        outputs = _normalize_or_add_bias(
            outputs,
            channels,
            normalizer_fn,
            normalizer_params,
            biases_initializer,
            biases_regularizer,
            variables_collections,
            trainable,
            "NHWC",
            None,
        )
        return finish(outputs, activation_fn, outputs_collections, sc.name)


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = tf.zeros_initializer(),  # noqa: B008
    biases_regularizer: Any = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution of each channel, [height, width, C, M], and then one that mixes them, [1, 1, C * M, F].

    The variables are ``depthwise_weights``, ``pointwise_weights`` and ``biases``. The arguments are those of
    :func:`convolution`, and:

    Args:
        inputs: [B, H, W, C], or [B, C, H, W] with ``data_format`` "NCHW".
        num_outputs: F; None leaves the second convolution out.
        kernel_size: The first convolution's window.
        depth_multiplier: M.
        stride: The first convolution's stride, the same in both dimensions.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        rate: The first convolution's dilation.
        weights_initializer: The initializer of ``depthwise_weights``.
        pointwise_initializer: The initializer of ``pointwise_weights``; ``weights_initializer`` unless given.
        weights_regularizer: A function of each of the two.
    """
    with layer_scope(scope, "SeparableConv2d", [inputs], reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        channels = _channels(inputs, data_format, "separable_conv2d", 4)

        def weights(name: str, initializer: Any, *shape: int) -> Any:
            return parameter(
                f"{name}_weights",
                list(shape),
                inputs.dtype.base_dtype,
                initializer,
                variables_collections,
                trainable,
                weights_regularizer,
                f"{name}_kernel" if num_outputs is not None else None,
                group="weights",
            )

        mixed = depth_multiplier * channels
        window = two_element_tuple(kernel_size)
        depthwise = weights("depthwise", weights_initializer, *window, channels, depth_multiplier)
        pointwise = None
        if num_outputs is not None:
            pointwise = weights("pointwise", pointwise_initializer or weights_initializer, 1, 1, mixed, num_outputs)
        outputs = _separated(inputs, depthwise, pointwise, stride, padding, rate, data_format)
        outputs = _normalize_or_add_bias(
            outputs,
            num_outputs if num_outputs is not None else mixed,
            normalizer_fn,
            normalizer_params,
            biases_initializer,
            biases_regularizer,
            variables_collections,
            trainable,
            data_format,
            "bias" if num_outputs is not None else None,
        )
        return finish(outputs, activation_fn, outputs_collections, sc.name)


def _separated(
    inputs: Any, depthwise: Any, pointwise: Any, stride: Any, padding: str, rate: Any, data_format: str
) -> Any:
    """The convolution of each channel, and the one that mixes them unless ``pointwise`` is None."""
    strides = two_element_tuple(stride)
    settings: dict[str, Any] = {
        "strides": [1, *strides, 1] if channels_last(data_format) else [1, 1, *strides],
        "padding": padding.upper(),
        "rate": two_element_tuple(rate),
        "data_format": data_format,
    }
    if pointwise is None:
        return tf.nn.depthwise_conv2d(inputs, depthwise, **settings)
    return tf.nn.separable_conv2d(inputs, depthwise, pointwise, **settings)


conv2d_in_plane = convolution2d_in_plane
separable_conv2d = separable_convolution2d
