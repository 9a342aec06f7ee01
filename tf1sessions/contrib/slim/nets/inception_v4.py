"""Inception v4 (http://arxiv.org/abs/1602.07261)."""

from __future__ import annotations

from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import arg_scope
from .inception_utils import inception_arg_scope
from .parts import Avg, Conv, Fork, Max, Part, build

__all__ = ["inception_v4", "inception_v4_arg_scope", "inception_v4_base"]

_MIXED_5: Part = [
    [Conv("Conv2d_0a_1x1", 96)],
    [Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96)],
    [Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96), Conv("Conv2d_0c_3x3", 96)],
    [Avg("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 96)],
]
_MIXED_6: Part = [
    [Conv("Conv2d_0a_1x1", 384)],
    [Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_0b_1x7", 224), Conv("Conv2d_0c_7x1", 256)],
    [
        Conv("Conv2d_0a_1x1", 192),
        Conv("Conv2d_0b_7x1", 192),
        Conv("Conv2d_0c_1x7", 224),
        Conv("Conv2d_0d_7x1", 224),
        Conv("Conv2d_0e_1x7", 256),
    ],
    [Avg("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 128)],
]
_MIXED_7: Part = [
    [Conv("Conv2d_0a_1x1", 256)],
    [Conv("Conv2d_0a_1x1", 384), Fork([Conv("Conv2d_0b_1x3", 256), Conv("Conv2d_0c_3x1", 256)])],
    [
        Conv("Conv2d_0a_1x1", 384),
        Conv("Conv2d_0b_3x1", 448),
        Conv("Conv2d_0c_1x3", 512),
        Fork([Conv("Conv2d_0d_1x3", 256), Conv("Conv2d_0e_3x1", 256)]),
    ],
    [Avg("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 256)],
]
_PARTS: dict[str, Part] = {
    "Conv2d_1a_3x3": Conv("Conv2d_1a_3x3", 32, 2, "VALID"),
    "Conv2d_2a_3x3": Conv("Conv2d_2a_3x3", 32, padding="VALID"),
    "Conv2d_2b_3x3": Conv("Conv2d_2b_3x3", 64),
    "Mixed_3a": [[Max("MaxPool_0a_3x3", 2, "VALID")], [Conv("Conv2d_0a_3x3", 96, 2, "VALID")]],
    "Mixed_4a": [
        [Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_1a_3x3", 96, padding="VALID")],
        [
            Conv("Conv2d_0a_1x1", 64),
            Conv("Conv2d_0b_1x7", 64),
            Conv("Conv2d_0c_7x1", 64),
            Conv("Conv2d_1a_3x3", 96, padding="VALID"),
        ],
    ],
    "Mixed_5a": [[Conv("Conv2d_1a_3x3", 192, 2, "VALID")], [Max("MaxPool_1a_3x3", 2, "VALID")]],
    **dict.fromkeys(("Mixed_5b", "Mixed_5c", "Mixed_5d", "Mixed_5e"), _MIXED_5),
    "Mixed_6a": [
        [Conv("Conv2d_1a_3x3", 384, 2, "VALID")],
        [
            Conv("Conv2d_0a_1x1", 192),
            Conv("Conv2d_0b_3x3", 224),
            Conv("Conv2d_1a_3x3", 256, 2, "VALID"),
        ],
        [Max("MaxPool_1a_3x3", 2, "VALID")],
    ],
    **dict.fromkeys(("Mixed_6b", "Mixed_6c", "Mixed_6d", "Mixed_6e", "Mixed_6f", "Mixed_6g", "Mixed_6h"), _MIXED_6),
    "Mixed_7a": [
        [Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_1a_3x3", 192, 2, "VALID")],
        [
            Conv("Conv2d_0a_1x1", 256),
            Conv("Conv2d_0b_1x7", 256),
            Conv("Conv2d_0c_7x1", 320),
            Conv("Conv2d_1a_3x3", 320, 2, "VALID"),
        ],
        [Max("MaxPool_1a_3x3", 2, "VALID")],
    ],
    **dict.fromkeys(("Mixed_7b", "Mixed_7c", "Mixed_7d"), _MIXED_7),
}

inception_v4_arg_scope = inception_arg_scope


def inception_v4_base(inputs: Any, final_endpoint: str = "Mixed_7d", scope: Any = None) -> tuple[Any, dict[str, Any]]:
    """The network without its classifiers.

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
        tf.variable_scope(scope, "InceptionV4", [inputs]),
        arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="SAME"),
    ):
        return build(inputs, _PARTS, lambda depth: depth, end_points, final_endpoint), end_points


def inception_v4(
    inputs: Any,
    num_classes: int | None = 1001,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    reuse: bool | None = None,
    scope: Any = "InceptionV4",
    create_aux_logits: bool = True,
) -> tuple[Any, dict[str, Any]]:
    """The network; images are 299 by 299 to classify them.

    Args:
        inputs: Images, [B, H, W, C].
        num_classes: The number of classes; None or 0 for the pooled features, [B, 1, 1, F], in place of logits.
        is_training: Whether dropout drops anything and batch normalization uses the batch's moments.
        dropout_keep_prob: How much dropout keeps.
        reuse: Whether the variables are those that are there.
        scope: The variable scope.
        create_aux_logits: Whether there is the auxiliary classifier.

    Returns:
        The logits, [B, ``num_classes``], and the end points: "AuxLogits" are those of the auxiliary classifier.
    """
    with (
        tf.variable_scope(scope, "InceptionV4", [inputs], reuse=reuse) as sc,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_v4_base(inputs, scope=sc)
        with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="SAME"):
            if create_aux_logits and num_classes:
                with tf.variable_scope("AuxLogits"):
                    end_points["AuxLogits"] = auxiliary_logits(
                        end_points["Mixed_6h"], num_classes, ("AvgPool_1a_5x5", "Conv2d_2a", "Aux_logits")
                    )
            with tf.variable_scope("Logits"):
                net = global_average(net, "AvgPool_1a")
                end_points["global_pool"] = net
                if not num_classes:
                    return net, end_points
                net = layers.dropout(net, dropout_keep_prob, scope="Dropout_1b")
                net = layers.flatten(net, scope="PreLogitsFlatten")
                end_points["PreLogitsFlatten"] = net
                logits = layers.fully_connected(net, num_classes, activation_fn=None, scope="Logits")
                end_points["Logits"] = logits
                end_points["Predictions"] = tf.nn.softmax(logits, name="Predictions")
        return logits, end_points


def auxiliary_logits(net: Any, num_classes: int, names: tuple[str, str, str]) -> Any:
    """The logits of the auxiliary classifier; ``names`` are the scopes of its first and its last two layers."""
    net = layers.avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope=names[0])
    net = layers.conv2d(net, 128, [1, 1], scope="Conv2d_1b_1x1")
    net = layers.conv2d(net, 768, net.shape.as_list()[1:3], padding="VALID", scope=names[1])
    return layers.fully_connected(layers.flatten(net), num_classes, activation_fn=None, scope=names[2])


def global_average(net: Any, scope: str) -> Any:
    """[B, H, W, C] as [B, 1, 1, C]: the averages of all places."""
    window = net.shape.as_list()[1:3]
    if None in window:
        return tf.reduce_mean(net, [1, 2], keepdims=True, name="global_pool")
    return layers.avg_pool2d(net, window, padding="VALID", scope=scope)
