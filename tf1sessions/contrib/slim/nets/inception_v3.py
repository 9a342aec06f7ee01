"""Inception v3 (http://arxiv.org/abs/1512.00567): windows of one row or column, and a second, auxiliary classifier."""

from __future__ import annotations

from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import arg_scope
from .heads import pooled_logits, reduced_kernel, trunc_normal
from .inception_utils import convolutions_scope, moving_averages_in
from .parts import Avg, Conv, Fork, Max, Part, build, scaled_depth

__all__ = ["inception_v3", "inception_v3_arg_scope", "inception_v3_base", "trunc_normal"]


def _mixed_5(pool: int, five: tuple[str, str] = ("Conv2d_0a_1x1", "Conv2d_0b_5x5")) -> Part:
    """Branches of windows 1, 5, twice 3 and of pooling, with ``pool`` filters; ``five`` are the second's names."""
    return [
        [Conv("Conv2d_0a_1x1", 64)],
        [Conv(five[0], 48), Conv(five[1], 64)],
        [Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96), Conv("Conv2d_0c_3x3", 96)],
        [Avg("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", pool)],
    ]


def _mixed_6(inner: int) -> Part:
    """Branches of windows of 7 rows or columns, with ``inner`` filters between them."""
    return [
        [Conv("Conv2d_0a_1x1", 192)],
        [Conv("Conv2d_0a_1x1", inner), Conv("Conv2d_0b_1x7", inner), Conv("Conv2d_0c_7x1", 192)],
        [
            Conv("Conv2d_0a_1x1", inner),
            Conv("Conv2d_0b_7x1", inner),
            Conv("Conv2d_0c_1x7", inner),
            Conv("Conv2d_0d_7x1", inner),
            Conv("Conv2d_0e_1x7", 192),
        ],
        [Avg("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 192)],
    ]


def _mixed_7(column: str) -> Part:
    """Branches that end with a row's and a column's window side by side; ``column`` is the name of the second's."""
    return [
        [Conv("Conv2d_0a_1x1", 320)],
        [Conv("Conv2d_0a_1x1", 384), Fork([Conv("Conv2d_0b_1x3", 384), Conv(column, 384)])],
        [
            Conv("Conv2d_0a_1x1", 448),
            Conv("Conv2d_0b_3x3", 384),
            Fork([Conv("Conv2d_0c_1x3", 384), Conv("Conv2d_0d_3x1", 384)]),
        ],
        [Avg("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 192)],
    ]


_STEM: dict[str, Part] = {
    "Conv2d_1a_3x3": Conv("Conv2d_1a_3x3", 32, 2),
    "Conv2d_2a_3x3": Conv("Conv2d_2a_3x3", 32),
    "Conv2d_2b_3x3": Conv("Conv2d_2b_3x3", 64, padding="SAME"),
    "MaxPool_3a_3x3": Max("MaxPool_3a_3x3", 2),
    "Conv2d_3b_1x1": Conv("Conv2d_3b_1x1", 80),
    "Conv2d_4a_3x3": Conv("Conv2d_4a_3x3", 192),
    "MaxPool_5a_3x3": Max("MaxPool_5a_3x3", 2),
}
_MIXED: dict[str, Part] = {
    "Mixed_5b": _mixed_5(32),
    "Mixed_5c": _mixed_5(64, ("Conv2d_0b_1x1", "Conv_1_0c_5x5")),
    "Mixed_5d": _mixed_5(64),
    "Mixed_6a": [
        [Conv("Conv2d_1a_1x1", 384, 2, "VALID", window=(3, 3))],
        [
            Conv("Conv2d_0a_1x1", 64),
            Conv("Conv2d_0b_3x3", 96),
            Conv("Conv2d_1a_1x1", 96, 2, "VALID", window=(3, 3)),
        ],
        [Max("MaxPool_1a_3x3", 2, "VALID")],
    ],
    "Mixed_6b": _mixed_6(128),
    "Mixed_6c": _mixed_6(160),
    "Mixed_6d": _mixed_6(160),
    "Mixed_6e": _mixed_6(192),
    "Mixed_7a": [
        [Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_1a_3x3", 320, 2, "VALID")],
        [
            Conv("Conv2d_0a_1x1", 192),
            Conv("Conv2d_0b_1x7", 192),
            Conv("Conv2d_0c_7x1", 192),
            Conv("Conv2d_1a_3x3", 192, 2, "VALID"),
        ],
        [Max("MaxPool_1a_3x3", 2, "VALID")],
    ],
    "Mixed_7b": _mixed_7("Conv2d_0b_3x1"),
    "Mixed_7c": _mixed_7("Conv2d_0c_3x1"),
}


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool | None = True,
) -> Any:
    """The arg scope in which :func:`inception_v3` is built.

    Args:
        weight_decay: Scales the L2 penalty of weights.
        batch_norm_var_collection: The collection of the moving averages of batch normalization.
        batch_norm_decay: Their decay.
        batch_norm_epsilon: Added to variances.
        updates_collections: The collections of their updates.
        use_fused_batchnorm: Whether batch normalization is one operation.
    """
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "updates_collections": updates_collections,
        "variables_collections": moving_averages_in(batch_norm_var_collection),
        "fused": use_fused_batchnorm,
    }
    return convolutions_scope(weight_decay, normalization, tf.nn.relu)


def inception_v3_base(
    inputs: Any,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """The network without its classifiers.

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
    pooling: list[Any] = [layers.conv2d, layers.max_pool2d, layers.avg_pool2d]
    with tf.variable_scope(scope, "InceptionV3", [inputs]):
        with arg_scope(pooling, stride=1, padding="VALID"):
            if final_endpoint in _STEM:
                return build(inputs, _STEM, depth, end_points, final_endpoint), end_points
            net = build(inputs, _STEM, depth, end_points, "MaxPool_5a_3x3")
        with arg_scope(pooling, stride=1, padding="SAME"):
            return build(net, _MIXED, depth, end_points, final_endpoint), end_points


def inception_v3(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = layers.softmax,
    spatial_squeeze: bool = True,
    reuse: bool | None = None,
    scope: Any = "InceptionV3",
) -> tuple[Any, dict[str, Any]]:
    """The network; images are 299 by 299 to classify them.

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
        The logits, and the end points: "AuxLogits" are those of the auxiliary classifier.

    Raises:
        ValueError: ``depth_multiplier`` is not above 0.
    """
    depth = scaled_depth(depth_multiplier, min_depth)
    with (
        tf.variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as sc,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_v3_base(inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=sc)
        with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="SAME"):
            with tf.variable_scope("AuxLogits"):
                aux = layers.avg_pool2d(
                    end_points["Mixed_6e"], [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5"
                )
                aux = layers.conv2d(aux, depth(128), [1, 1], scope="Conv2d_1b_1x1")
                height, width = reduced_kernel(aux, 5)
                aux = layers.conv2d(
                    aux,
                    depth(768),
                    [height, width],
                    weights_initializer=trunc_normal(0.01),
                    padding="VALID",
                    scope=f"Conv2d_2a_{height}x{width}",
                )
                aux = layers.conv2d(
                    aux,
                    num_classes,
                    [1, 1],
                    activation_fn=None,
                    normalizer_fn=None,
                    weights_initializer=trunc_normal(0.001),
                    scope="Conv2d_2b_1x1",
                )
                if spatial_squeeze:
                    aux = tf.squeeze(aux, [1, 2], name="SpatialSqueeze")
                end_points["AuxLogits"] = aux
        with tf.variable_scope("Logits"):
            height, width = reduced_kernel(net, 8)
            net = layers.avg_pool2d(net, [height, width], padding="VALID", scope=f"AvgPool_1a_{height}x{width}")
            end_points["PreLogits"], logits = pooled_logits(
                net, num_classes, dropout_keep_prob, ("Dropout_1b", "Conv2d_1c_1x1"), spatial_squeeze
            )
        end_points["Logits"] = logits
        end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
        return logits, end_points
