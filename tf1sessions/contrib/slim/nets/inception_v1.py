"""Inception v1, GoogLeNet (http://arxiv.org/abs/1409.4842), with batch normalization."""

from __future__ import annotations

from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import arg_scope
from .heads import pooled_logits, trunc_normal
from .inception_utils import convolutions_scope, moving_averages_in
from .parts import Conv, Max, Part, build

__all__ = ["inception_v1", "inception_v1_arg_scope", "inception_v1_base", "trunc_normal"]


def _mixed(one: int, three: tuple[int, int], five: tuple[int, int], pool: int, third: str = "Conv2d_0b_3x3") -> Part:
    """Branches of windows 1, 3, 5 (of 3, in fact) and of pooling; the numbers are filters."""
    return [
        [Conv("Conv2d_0a_1x1", one)],
        [Conv("Conv2d_0a_1x1", three[0]), Conv("Conv2d_0b_3x3", three[1])],
        [Conv("Conv2d_0a_1x1", five[0]), Conv(third, five[1])],
        [Max("MaxPool_0a_3x3"), Conv("Conv2d_0b_1x1", pool)],
    ]


_PARTS: dict[str, Part] = {
    "Conv2d_1a_7x7": Conv("Conv2d_1a_7x7", 64, 2),
    "MaxPool_2a_3x3": Max("MaxPool_2a_3x3", 2),
    "Conv2d_2b_1x1": Conv("Conv2d_2b_1x1", 64),
    "Conv2d_2c_3x3": Conv("Conv2d_2c_3x3", 192),
    "MaxPool_3a_3x3": Max("MaxPool_3a_3x3", 2),
    "Mixed_3b": _mixed(64, (96, 128), (16, 32), 32),
    "Mixed_3c": _mixed(128, (128, 192), (32, 96), 64),
    "MaxPool_4a_3x3": Max("MaxPool_4a_3x3", 2),
    "Mixed_4b": _mixed(192, (96, 208), (16, 48), 64),
    "Mixed_4c": _mixed(160, (112, 224), (24, 64), 64),
    "Mixed_4d": _mixed(128, (128, 256), (24, 64), 64),
    "Mixed_4e": _mixed(112, (144, 288), (32, 64), 64),
    "Mixed_4f": _mixed(256, (160, 320), (32, 128), 128),
    "MaxPool_5a_2x2": Max("MaxPool_5a_2x2", 2),
    "Mixed_5b": _mixed(256, (160, 320), (32, 128), 128, "Conv2d_0a_3x3"),
    "Mixed_5c": _mixed(384, (192, 384), (48, 128), 128),
}


def inception_v1_arg_scope(
    weight_decay: float = 0.00004, use_batch_norm: bool = True, batch_norm_var_collection: str = "moving_vars"
) -> Any:
    """The arg scope in which :func:`inception_v1` is built.

    Args:
        weight_decay: Scales the L2 penalty of weights.
        use_batch_norm: Whether batch normalization follows each convolution.
        batch_norm_var_collection: The collection of its moving averages.
    """
    normalization = {
        "decay": 0.9997,
        "epsilon": 0.001,
        "updates_collections": tf.GraphKeys.UPDATE_OPS,
        "variables_collections": moving_averages_in(batch_norm_var_collection),
    }
    return convolutions_scope(weight_decay, normalization if use_batch_norm else None, tf.nn.relu)


def inception_v1_base(
    inputs: Any, final_endpoint: str = "Mixed_5c", scope: Any = "InceptionV1"
) -> tuple[Any, dict[str, Any]]:
    """The network without its classifier.

    Args:
        inputs: Images, [B, H, W, C].
        final_endpoint: The end point that is the output.
        scope: The variable scope.

    Returns:
        The output, and the end points up to it.

    Raises:
        ValueError: There is no such end point.
    """
    end_points: dict[str, Any] = {}
    with (
        tf.variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([layers.conv2d, layers.fully_connected], weights_initializer=trunc_normal(0.01)),
        arg_scope([layers.conv2d, layers.max_pool2d], stride=1, padding="SAME"),
    ):
        return build(inputs, _PARTS, lambda depth: depth, end_points, final_endpoint), end_points


def inception_v1(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Any = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: bool | None = None,
    scope: Any = "InceptionV1",
) -> tuple[Any, dict[str, Any]]:
    """The network; images are 224 by 224 to classify them.

    Args:
        inputs: Images, [B, H, W, C].
        num_classes: The number of classes.
        is_training: Whether dropout drops anything and batch normalization uses the batch's moments.
        dropout_keep_prob: How much dropout keeps.
        prediction_fn: A function of the logits that gives the end point "Predictions".
        spatial_squeeze: Whether the logits, [B, 1, 1, ``num_classes``], lose their ones.
        reuse: Whether the variables are those that are there.
        scope: The variable scope.

    Returns:
        The logits, and the end points.
    """
    with (
        tf.variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as sc,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_v1_base(inputs, scope=sc)
        with tf.variable_scope("Logits"):
            net = layers.avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
            _, logits = pooled_logits(
                net, num_classes, dropout_keep_prob, ("Dropout_0b", "Conv2d_0c_1x1"), spatial_squeeze
            )
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
        return logits, end_points
