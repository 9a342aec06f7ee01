"""MobileNet v2 (http://arxiv.org/abs/1801.04381): residual units that widen, convolve each channel, and narrow."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import add_arg_scope, arg_scope
from .mobilenet_v1 import fixed_padding

__all__ = [
    "mobilenet",
    "mobilenet_base",
    "mobilenet_v2_035",
    "mobilenet_v2_050",
    "mobilenet_v2_140",
    "training_scope",
]

_EXPANSION = 6


class _Unit(NamedTuple):
    """A residual unit: the factor by which it widens, its stride, and the channels of its output."""

    expansion: int
    stride: int
    depth: int


_UNITS = [
    _Unit(1, 1, 16),
    *(
        _Unit(_EXPANSION, stride if first else 1, depth)
        for stride, depth, times in ((2, 24, 2), (2, 32, 3), (2, 64, 4), (1, 96, 3), (2, 160, 3), (1, 320, 1))
        for first in [True] + [False] * (times - 1)
    ),
]


def training_scope(
    is_training: Any = True,
    weight_decay: float = 0.00004,
    stddev: float = 0.09,
    dropout_keep_prob: float = 0.8,
    bn_decay: float | None = 0.997,
) -> Any:
    """The arg scope in which :func:`mobilenet` is trained.

    Args:
        is_training: Whether dropout drops anything and batch normalization uses the batch's moments; None for the
            layers' own settings.
        weight_decay: Scales the L2 penalty of weights.
        stddev: The standard deviation of the initial weights; below 0 for Xavier's.
        dropout_keep_prob: How much dropout keeps.
        bn_decay: The decay of the moving averages; that of the layer if it is None.
    """
    normalization = {"decay": bn_decay, "is_training": is_training}
    initializer = layers.xavier_initializer() if stddev < 0 else tf.truncated_normal_initializer(stddev=stddev)
    with (
        arg_scope(
            [layers.conv2d, layers.fully_connected, layers.separable_conv2d],
            weights_initializer=initializer,
            normalizer_fn=layers.batch_norm,
        ),
        arg_scope([mobilenet_base, _network], is_training=is_training),
        arg_scope([layers.batch_norm], **{name: value for name, value in normalization.items() if value is not None}),
        arg_scope([layers.dropout], keep_prob=dropout_keep_prob, **_if_given(is_training=is_training)),
        arg_scope([layers.conv2d], weights_regularizer=layers.l2_regularizer(weight_decay)),
        arg_scope([layers.separable_conv2d], weights_regularizer=None) as scope,
    ):
        return scope


def _if_given(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _divisible(size: float, divisor: int, least: int) -> int:
    """The multiple of ``divisor`` that is next to ``size``, not below ``least`` nor below nine tenths of ``size``."""
    rounded = max(least, int(size + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * size else rounded


def _expanded_conv(
    inputs: Any,
    unit: _Unit,
    depth: int,
    stride: int,
    rate: int,
    explicit_padding: bool,
    scope: str,
    end_points: dict[str, Any],
) -> Any:
    """A residual unit; ``end_points`` gets what it widens to, what it convolves to, and its output."""
    with tf.variable_scope(scope), tf.name_scope(tf.get_variable_scope().original_name_scope):
        net = inputs = tf.identity(inputs, "input")
        channels = inputs.shape.as_list()[3]
        inner = _divisible(channels * unit.expansion, 8, 8) if unit.expansion > 1 else channels
        if inner > channels:
            net = layers.conv2d(net, inner, [1, 1], scope="expand")
            net = end_points["expansion_output"] = tf.identity(net, "expansion_output")
        net = layers.separable_conv2d(
            fixed_padding(net, [3, 3], rate) if explicit_padding else net,
            None,
            [3, 3],
            depth_multiplier=1,
            stride=stride,
            rate=rate,
            padding="VALID" if explicit_padding else "SAME",
            scope="depthwise",
        )
        net = end_points["depthwise_output"] = tf.identity(net, "depthwise_output")
        net = layers.conv2d(net, depth, [1, 1], activation_fn=tf.identity, scope="project")
        if stride == 1 and depth == channels:
            net += inputs
        net = end_points["output"] = tf.identity(net, "output")
        return net


@contextlib.contextmanager
def _scopes(scope: Any, inputs: Any, is_training: Any, activation_fn: Any) -> Iterator[None]:
    """The scopes of the network's names, and of its layers' arguments."""
    with (
        tf.variable_scope(scope, "MobilenetV2", [inputs]),
        tf.name_scope(tf.get_variable_scope().original_name_scope),
        arg_scope([layers.batch_norm], center=True, scale=True, **_if_given(is_training=is_training)),
        arg_scope(
            [layers.conv2d, layers.fully_connected, layers.separable_conv2d],
            normalizer_fn=layers.batch_norm,
            activation_fn=activation_fn,
        ),
    ):
        yield


@add_arg_scope
def mobilenet_base(
    input_tensor: Any,
    depth_multiplier: float = 1.0,
    final_endpoint: str | None = None,
    output_stride: int | None = None,
    use_explicit_padding: bool = False,
    scope: Any = None,
    is_training: Any = False,
    finegrain_classification_mode: bool = False,
    min_depth: int | None = None,
    divisible_by: int | None = None,
    activation_fn: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """The network without its classifier.

    Args:
        input_tensor: Images, [B, H, W, C].
        depth_multiplier: How many times the paper's filters a layer has.
        final_endpoint: "layer_7", for instance, for that layer's output; that of the last, "layer_19", unless given.
        output_stride: 1 or an even number: past it, dilation takes the place of strides.
        use_explicit_padding: Whether images are padded the same, whatever their size.
        scope: The variable scope.
        is_training: Whether batch normalization uses the batch's moments; None for the arg scope's setting.
        finegrain_classification_mode: Whether the last layer keeps its filters where ``depth_multiplier`` is below 1.
        min_depth: The fewest filters of a layer, 8 unless given.
        divisible_by: The number of which filters are a multiple, 8 unless given.
        activation_fn: The activation, ``tf.nn.relu6`` unless given.

    Returns:
        The output, and the end points up to it.

    Raises:
        ValueError: An argument is wrong.
    """
    if depth_multiplier <= 0:
        raise ValueError("multiplier is not greater than zero.")
    if output_stride is not None and (output_stride == 0 or (output_stride > 1 and output_stride % 2)):
        raise ValueError("Output stride must be None, 1 or a multiple of 2.")

    def filters(depth: int, multiplier: float = depth_multiplier) -> int:
        return _divisible(depth * multiplier, divisible_by or 8, min_depth or 8)

    outputs: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    padding = "VALID" if use_explicit_padding else "SAME"
    current, rate = 1, 1

    def strides(stride: int) -> tuple[int, int]:
        """The stride and the dilation of the next layer."""
        nonlocal current, rate
        if current == output_stride:
            before, rate = rate, rate * stride
            return 1, before
        current *= stride
        return stride, 1

    with _scopes(scope, input_tensor, is_training, activation_fn or tf.nn.relu6):
        stride, _ = strides(2)
        net = fixed_padding(input_tensor, [3, 3]) if use_explicit_padding else input_tensor
        net = layers.conv2d(net, filters(32), [3, 3], stride=stride, padding=padding, scope="Conv")
        outputs["layer_1"] = net
        for number, unit in enumerate(_UNITS):
            if final_endpoint in outputs:
                break
            name, layer = f"expanded_conv_{number}" if number else "expanded_conv", f"layer_{number + 2}"
            parts: dict[str, Any] = {}
            net = _expanded_conv(
                net, unit, filters(unit.depth), *strides(unit.stride), use_explicit_padding, name, parts
            )
            outputs[layer] = net
            inner.update((f"{layer}/{part}", value) for part, value in parts.items())
        if final_endpoint not in outputs:
            keep = finegrain_classification_mode and depth_multiplier < 1
            net = layers.conv2d(
                net, filters(1280, 1.0 if keep else depth_multiplier), [1, 1], padding=padding, scope="Conv_1"
            )
            outputs["layer_19"] = net
        return net, {**outputs, **inner}


@add_arg_scope
def _network(
    inputs: Any,
    num_classes: int | None = 1001,
    prediction_fn: Callable[..., Any] | None = layers.softmax,
    reuse: bool | None = None,
    scope: Any = "MobilenetV2",
    base_only: bool = False,
    is_training: Any = False,
    **base: Any,
) -> tuple[Any, dict[str, Any]]:
    shape = inputs.shape.as_list()
    if len(shape) != 4:
        raise ValueError(f"Expected rank 4 input, was: {len(shape)}")
    with tf.variable_scope(scope, "Mobilenet", reuse=reuse) as sc:
        net, end_points = mobilenet_base(tf.identity(inputs, "input"), scope=sc, is_training=is_training, **base)
        if base_only:
            return net, end_points
        with tf.variable_scope("Logits"):
            net = end_points["global_pool"] = _global_pool(net)
            if not num_classes:
                return net, end_points
            net = layers.dropout(net, scope="Dropout", is_training=is_training)
            logits = layers.conv2d(
                net,
                num_classes,
                [1, 1],
                activation_fn=None,
                normalizer_fn=None,
                biases_initializer=tf.zeros_initializer(),
                scope="Conv2d_1c_1x1",
            )
            logits = tf.identity(tf.squeeze(logits, [1, 2]), name="output")
        end_points["Logits"] = logits
        if prediction_fn is not None:
            end_points["Predictions"] = prediction_fn(logits, "Predictions")
        return logits, end_points


def _global_pool(net: Any) -> Any:
    """[B, H, W, C] as [B, 1, 1, C]: the averages of all places."""
    batch, height, width, channels = net.shape.as_list()
    if height is None or width is None:
        sizes = tf.shape(net)
        window = tf.stack([1, sizes[1], sizes[2], 1])
    else:
        window = [1, height, width, 1]
    pooled = tf.nn.avg_pool(net, ksize=window, strides=[1, 1, 1, 1], padding="VALID")
    pooled.set_shape([batch, 1, 1, channels])
    return pooled


def mobilenet(
    input_tensor: Any,
    num_classes: int | None = 1001,
    depth_multiplier: float = 1.0,
    scope: Any = "MobilenetV2",
    finegrain_classification_mode: bool = False,
    min_depth: int | None = None,
    divisible_by: int | None = None,
    activation_fn: Any = None,
    **kwargs: Any,
) -> tuple[Any, dict[str, Any]]:
    """The network; images are 224 by 224 to classify them. It is trained within :func:`training_scope`.

    What is not named here is as in :func:`mobilenet_base`.

    Args:
        input_tensor: Images, [B, H, W, C].
        num_classes: The number of classes; None or 0 for the pooled features, [B, 1, 1, F], in place of logits.
        scope: The variable scope.
        **kwargs: ``prediction_fn``, a function of the logits that gives the end point "Predictions"; ``reuse``,
            whether the variables are those that are there; ``base_only``, whether the classifier is left out;
            ``is_training``, that of :func:`training_scope` unless given; and what :func:`mobilenet_base` takes.

    Returns:
        The logits, [B, ``num_classes``], and the end points.

    Raises:
        ValueError: ``input_tensor`` has not four dimensions, or an argument is wrong.
    """
    return _network(
        input_tensor,
        num_classes=num_classes,
        depth_multiplier=depth_multiplier,
        scope=scope,
        finegrain_classification_mode=finegrain_classification_mode,
        min_depth=min_depth,
        divisible_by=divisible_by,
        activation_fn=activation_fn,
        **kwargs,
    )


def _sized(depth_multiplier: float, **settings: Any) -> Any:
    network = functools.partial(mobilenet, depth_multiplier=depth_multiplier, **settings)
    return functools.update_wrapper(network, mobilenet)


mobilenet_v2_140 = _sized(1.4)
mobilenet_v2_050 = _sized(0.50, finegrain_classification_mode=True)
mobilenet_v2_035 = _sized(0.35, finegrain_classification_mode=True)
