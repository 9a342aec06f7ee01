"""MobileNet v1 (http://arxiv.org/abs/1704.04861): each convolution is one of each channel and one of each place."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import arg_scope
from .heads import pooled_logits, reduced_kernel
from .parts import scaled_depth

__all__ = [
    "MOBILENETV1_CONV_DEFS",
    "Conv",
    "DepthSepConv",
    "fixed_padding",
    "mobilenet_v1",
    "mobilenet_v1_025",
    "mobilenet_v1_050",
    "mobilenet_v1_075",
    "mobilenet_v1_arg_scope",
    "mobilenet_v1_base",
]


class Conv(NamedTuple):
    """A convolution: its window, stride and number of filters."""

    kernel: Sequence[int]
    stride: int
    depth: int


class DepthSepConv(NamedTuple):
    """A convolution of each channel by that window and stride, and then one of each place to ``depth`` filters."""

    kernel: Sequence[int]
    stride: int
    depth: int


MOBILENETV1_CONV_DEFS: list[Conv | DepthSepConv] = [
    Conv([3, 3], 2, 32),
    *(
        DepthSepConv([3, 3], stride, depth)
        for stride, depth in (
            (1, 64),
            (2, 128),
            (1, 128),
            (2, 256),
            (1, 256),
            (2, 512),
            *[(1, 512)] * 5,
            (2, 1024),
            (1, 1024),
        )
    ),
]


def fixed_padding(inputs: Any, kernel_size: Sequence[int], rate: int = 1) -> Any:
    """[B, H, W, C] padded as "SAME" pads for stride 1, whatever H and W are; ``rate`` is the dilation."""
    sides = [[0, 0]]
    for size in kernel_size:
        more = (size - 1) * rate
        sides.append([more // 2, more - more // 2])
    return tf.pad(inputs, [*sides, [0, 0]])


def mobilenet_v1_arg_scope(
    is_training: Any = True,
    weight_decay: float = 0.00004,
    stddev: float = 0.09,
    regularize_depthwise: bool = False,
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    batch_norm_updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    normalizer_fn: Any = layers.batch_norm,
) -> Any:
    """The arg scope in which :func:`mobilenet_v1` is built.

    Args:
        is_training: Whether batch normalization uses the batch's moments; None for that of an outer scope.
        weight_decay: Scales the L2 penalty of weights.
        stddev: The standard deviation of the initial weights.
        regularize_depthwise: Whether weights of one channel have a penalty, too.
        batch_norm_decay: The decay of the moving averages.
        batch_norm_epsilon: Added to variances.
        batch_norm_updates_collections: The collections of the averages' updates.
        normalizer_fn: What follows each convolution.
    """
    normalization: dict[str, Any] = {
        "center": True,
        "scale": True,
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "updates_collections": batch_norm_updates_collections,
    }
    if is_training is not None:
        normalization["is_training"] = is_training
    penalty = layers.l2_regularizer(weight_decay)
    with (
        arg_scope(
            [layers.conv2d, layers.separable_conv2d],
            weights_initializer=tf.truncated_normal_initializer(stddev=stddev),
            activation_fn=tf.nn.relu6,
            normalizer_fn=normalizer_fn,
        ),
        arg_scope([layers.batch_norm], **normalization),
        arg_scope([layers.conv2d], weights_regularizer=penalty),
        arg_scope([layers.separable_conv2d], weights_regularizer=penalty if regularize_depthwise else None) as scope,
    ):
        return scope


def mobilenet_v1_base(
    inputs: Any,
    final_endpoint: str = "Conv2d_13_pointwise",
    min_depth: int = 8,
    depth_multiplier: float = 1.0,
    conv_defs: Sequence[Conv | DepthSepConv] | None = None,
    output_stride: int | None = None,
    use_explicit_padding: bool = False,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """The network without its classifier.

    Args:
        inputs: Images, [B, H, W, C].
        final_endpoint: The end point that is the output.
        min_depth: The fewest filters of a layer.
        depth_multiplier: How many times the paper's filters a layer has.
        conv_defs: The layers; those of the paper unless given.
        output_stride: 8, 16 or 32: past it, dilation takes the place of strides.
        use_explicit_padding: Whether images are padded the same, whatever their size.
        scope: The variable scope.

    Returns:
        The output, and the end points up to it.

    Raises:
        ValueError: There is no such end point, or an argument is wrong.
    """
    depth = scaled_depth(depth_multiplier, min_depth)
    if output_stride not in (None, 8, 16, 32):
        raise ValueError("Only allowed output_stride values are 8, 16, 32.")
    end_points: dict[str, Any] = {}
    padding = "VALID" if use_explicit_padding else "SAME"
    net, current, rate = inputs, 1, 1
    with (
        tf.variable_scope(scope, "MobilenetV1", [inputs]),
        arg_scope([layers.conv2d, layers.separable_conv2d], padding=padding),
    ):
        for number, layer in enumerate(MOBILENETV1_CONV_DEFS if conv_defs is None else conv_defs):
            stride, dilation = layer.stride, 1
            if current == output_stride:
                stride, dilation = 1, rate
                rate *= layer.stride
            else:
                current *= layer.stride
            name = f"Conv2d_{number}"
            if use_explicit_padding:
                net = fixed_padding(net, layer.kernel, dilation)
            if isinstance(layer, Conv):
                net = layers.conv2d(net, depth(layer.depth), layer.kernel, stride=stride, scope=name)
            else:
                net = layers.separable_conv2d(
                    net,
                    None,
                    layer.kernel,
                    depth_multiplier=1,
                    stride=stride,
                    rate=dilation,
                    scope=f"{name}_depthwise",
                )
                end_points[f"{name}_depthwise"] = net
                if final_endpoint == f"{name}_depthwise":
                    return net, end_points
                name += "_pointwise"
                net = layers.conv2d(net, depth(layer.depth), [1, 1], stride=1, scope=name)
            end_points[name] = net
            if final_endpoint == name:
                return net, end_points
    raise ValueError(f"Unknown final endpoint {final_endpoint}")


def mobilenet_v1(
    inputs: Any,
    num_classes: int | None = 1000,
    dropout_keep_prob: float = 0.999,
    is_training: Any = True,
    min_depth: int = 8,
    depth_multiplier: float = 1.0,
    conv_defs: Sequence[Conv | DepthSepConv] | None = None,
    prediction_fn: Any = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: bool | None = None,
    scope: Any = "MobilenetV1",
    global_pool: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """The network; images are 224 by 224 to classify them.

    Args:
        inputs: Images, [B, H, W, C].
        num_classes: The number of classes; None or 0 for the pooled features in place of logits.
        dropout_keep_prob: How much dropout keeps.
        is_training: Whether dropout drops anything and batch normalization uses the batch's moments.
        min_depth: The fewest filters of a layer.
        depth_multiplier: How many times the paper's filters a layer has.
        conv_defs: The layers; those of the paper unless given.
        prediction_fn: A function of the logits that gives the end point "Predictions".
        spatial_squeeze: Whether the logits, [B, 1, 1, ``num_classes``], lose their ones.
        reuse: Whether the variables are those that are there.
        scope: The variable scope.
        global_pool: Whether all places are averaged, and not windows of 7 by 7.

    Returns:
        The logits, and the end points.

    Raises:
        ValueError: ``inputs`` has not four dimensions, or an argument is wrong.
    """
    shape = inputs.shape.as_list()
    if len(shape) != 4:
        raise ValueError(f"Invalid input tensor rank, expected 4, was: {len(shape)}")
    with (
        tf.variable_scope(scope, "MobilenetV1", [inputs], reuse=reuse) as sc,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = mobilenet_v1_base(
            inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, conv_defs=conv_defs, scope=sc
        )

        with tf.variable_scope("Logits"):
            if global_pool:
                net = tf.reduce_mean(net, [1, 2], keepdims=True, name="global_pool")
                end_points["global_pool"] = net
            else:
                net = layers.avg_pool2d(net, reduced_kernel(net, 7), padding="VALID", scope="AvgPool_1a")
                end_points["AvgPool_1a"] = net
            if not num_classes:
                return net, end_points
            _, logits = pooled_logits(
                net, num_classes, dropout_keep_prob, ("Dropout_1b", "Conv2d_1c_1x1"), spatial_squeeze
            )
        end_points["Logits"] = logits
        if prediction_fn:
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
        return logits, end_points


def _narrow(depth_multiplier: float) -> Any:
    network = functools.partial(mobilenet_v1, depth_multiplier=depth_multiplier)
    return functools.update_wrapper(network, mobilenet_v1)


mobilenet_v1_075 = _narrow(0.75)
mobilenet_v1_050 = _narrow(0.50)
mobilenet_v1_025 = _narrow(0.25)
