"""Inception v2 (http://arxiv.org/abs/1502.03167): batch normalization, and two windows of 3 in place of one of 5."""

from __future__ import annotations

from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import arg_scope
from .heads import pooled_logits, reduced_kernel, trunc_normal
from .inception_utils import convolutions_scope, moving_averages_in
from .parts import Avg, Conv, Max, Part, build, scaled_depth

__all__ = ["inception_v2", "inception_v2_arg_scope", "inception_v2_base", "trunc_normal"]


def _mixed(one: int, three: tuple[int, int], double: tuple[int, int], pool: int, kind: Avg | Max | None = None) -> Part:
    """Branches of windows 1, 3, twice 3 and of pooling; the numbers are filters."""
    return [
        [Conv("Conv2d_0a_1x1", one)],
        [Conv("Conv2d_0a_1x1", three[0], stddev=0.09), Conv("Conv2d_0b_3x3", three[1])],
        [
            Conv("Conv2d_0a_1x1", double[0], stddev=0.09),
            Conv("Conv2d_0b_3x3", double[1]),
            Conv("Conv2d_0c_3x3", double[1]),
        ],
        [kind or Avg("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", pool, stddev=0.1)],
    ]


def _reduction(three: tuple[int, int], double: tuple[int, int]) -> Part:
    """Branches of stride 2 of windows 3, twice 3 and of pooling; the numbers are filters."""
    return [
        [Conv("Conv2d_0a_1x1", three[0], stddev=0.09), Conv("Conv2d_1a_3x3", three[1], 2)],
        [
            Conv("Conv2d_0a_1x1", double[0], stddev=0.09),
            Conv("Conv2d_0b_3x3", double[1]),
            Conv("Conv2d_1a_3x3", double[1], 2),
        ],
        [Max("MaxPool_1a_3x3", 2)],
    ]


_FIRST = "Conv2d_1a_7x7"
_PARTS: dict[str, Part] = {
    "MaxPool_2a_3x3": Max("MaxPool_2a_3x3", 2),
    "Conv2d_2b_1x1": Conv("Conv2d_2b_1x1", 64, stddev=0.1),
    "Conv2d_2c_3x3": Conv("Conv2d_2c_3x3", 192),
    "MaxPool_3a_3x3": Max("MaxPool_3a_3x3", 2),
    "Mixed_3b": _mixed(64, (64, 64), (64, 96), 32),
    "Mixed_3c": _mixed(64, (64, 96), (64, 96), 64),
    "Mixed_4a": _reduction((128, 160), (64, 96)),
    "Mixed_4b": _mixed(224, (64, 96), (96, 128), 128),
    "Mixed_4c": _mixed(192, (96, 128), (96, 128), 128),
    "Mixed_4d": _mixed(160, (128, 160), (128, 160), 96),
    "Mixed_4e": _mixed(96, (128, 192), (160, 192), 96),
    "Mixed_5a": _reduction((128, 192), (192, 256)),
    "Mixed_5b": _mixed(352, (192, 320), (160, 224), 128),
    "Mixed_5c": _mixed(352, (192, 320), (192, 224), 128, Max("MaxPool_0a_3x3")),
}


def inception_v2_arg_scope(weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars") -> Any:
    """The arg scope in which :func:`inception_v2` is built.

    Args:
        weight_decay: Scales the L2 penalty of weights.
        batch_norm_var_collection: The collection of the moving averages of batch normalization.
    """
    normalization = {
        "decay": 0.9997,
        "epsilon": 0.001,
        "updates_collections": tf.GraphKeys.UPDATE_OPS,
        "variables_collections": moving_averages_in(batch_norm_var_collection),
    }
    return convolutions_scope(weight_decay, normalization, tf.nn.relu)


def inception_v2_base(
    inputs: Any,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """The network without its classifier.

    Args:
        inputs: Images, [B, H, W, C].
        final_endpoint: The end point that is the output.
        min_depth: The fewest filters of a layer.
        depth_multiplier: How many times the paper's filters a layer has.
        scope: The variable scope.

    Returns:
        The output, and the end points up to it.

    Raises:
        ValueError: There is no such end point, or ``depth_multiplier`` is not above 0.
    """
    depth = scaled_depth(depth_multiplier, min_depth)
    end_points: dict[str, Any] = {}
    with (
        tf.variable_scope(scope, "InceptionV2", [inputs]),
        arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="SAME"),
    ):
        net = layers.separable_conv2d(
            inputs,
            depth(64),
            [7, 7],
            depth_multiplier=min(int(depth(64) / 3), 8),
            stride=2,
            weights_initializer=trunc_normal(1.0),
            scope=_FIRST,
        )
        end_points[_FIRST] = net
        if final_endpoint != _FIRST:
            net = build(net, _PARTS, depth, end_points, final_endpoint)
        return net, end_points


def inception_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: bool | None = None,
    scope: Any = "InceptionV2",
) -> tuple[Any, dict[str, Any]]:
    """The network; images are 224 by 224 to classify them.

    Args:
        inputs: Images, [B, H, W, C].
        num_classes: The number of classes.
        is_training: Whether dropout drops anything and batch normalization uses the batch's moments.
        dropout_keep_prob: How much dropout keeps.
        min_depth: The fewest filters of a layer.
        depth_multiplier: How many times the paper's filters a layer has.
        prediction_fn: A function of the logits that gives the end point "Predictions".
        spatial_squeeze: Whether the logits, [B, 1, 1, ``num_classes``], lose their ones.
        reuse: Whether the variables are those that are there.
        scope: The variable scope.

    Returns:
        The logits, and the end points.

    Raises:
        ValueError: ``depth_multiplier`` is not above 0.
    """
    scaled_depth(depth_multiplier, min_depth)
    with (
        tf.variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as sc,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_v2_base(inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=sc)
        with tf.variable_scope("Logits"):
            height, width = reduced_kernel(net, 7)
            net = layers.avg_pool2d(net, [height, width], padding="VALID", scope=f"AvgPool_1a_{height}x{width}")
            _, logits = pooled_logits(
                net, num_classes, dropout_keep_prob, ("Dropout_1b", "Conv2d_1c_1x1"), spatial_squeeze
            )
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
        return logits, end_points
