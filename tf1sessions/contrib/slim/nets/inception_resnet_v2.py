"""Inception-ResNet v2 (http://arxiv.org/abs/1602.07261): mixed blocks whose output is added to their input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import arg_scope
from .inception_v4 import auxiliary_logits, global_average
from .parts import Avg, Conv, Layer, Max, Part, branches, build

__all__ = [
    "block8",
    "block17",
    "block35",
    "inception_resnet_v2",
    "inception_resnet_v2_arg_scope",
    "inception_resnet_v2_base",
]

_STEM: dict[str, Part] = {
    "Conv2d_1a_3x3": Conv("Conv2d_1a_3x3", 32, 2, "VALID"),
    "Conv2d_2a_3x3": Conv("Conv2d_2a_3x3", 32, padding="VALID"),
    "Conv2d_2b_3x3": Conv("Conv2d_2b_3x3", 64),
    "MaxPool_3a_3x3": Max("MaxPool_3a_3x3", 2, "VALID"),
    "Conv2d_3b_1x1": Conv("Conv2d_3b_1x1", 80, padding="VALID"),
    "Conv2d_4a_3x3": Conv("Conv2d_4a_3x3", 192, padding="VALID"),
    "MaxPool_5a_3x3": Max("MaxPool_5a_3x3", 2, "VALID"),
    "Mixed_5b": [
        [Conv("Conv2d_1x1", 96)],
        [Conv("Conv2d_0a_1x1", 48), Conv("Conv2d_0b_5x5", 64)],
        [Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96), Conv("Conv2d_0c_3x3", 96)],
        [Avg("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 64)],
    ],
}
_BLOCK_35 = (
    [Conv("Conv2d_1x1", 32)],
    [Conv("Conv2d_0a_1x1", 32), Conv("Conv2d_0b_3x3", 32)],
    [Conv("Conv2d_0a_1x1", 32), Conv("Conv2d_0b_3x3", 48), Conv("Conv2d_0c_3x3", 64)],
)
_BLOCK_17 = (
    [Conv("Conv2d_1x1", 192)],
    [Conv("Conv2d_0a_1x1", 128), Conv("Conv2d_0b_1x7", 160), Conv("Conv2d_0c_7x1", 192)],
)
_BLOCK_8 = (
    [Conv("Conv2d_1x1", 192)],
    [Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_0b_1x3", 224), Conv("Conv2d_0c_3x1", 256)],
)


def _mixed_6a(stride: int, padding: str) -> Part:
    return [
        [Conv("Conv2d_1a_3x3", 384, stride, padding)],
        [
            Conv("Conv2d_0a_1x1", 256),
            Conv("Conv2d_0b_3x3", 256),
            Conv("Conv2d_1a_3x3", 384, stride, padding),
        ],
        [Max("MaxPool_1a_3x3", stride, padding)],
    ]


def _mixed_7a(padding: str) -> Part:
    return [
        [Conv("Conv2d_0a_1x1", 256), Conv("Conv2d_1a_3x3", 384, 2, padding)],
        [Conv("Conv2d_0a_1x1", 256), Conv("Conv2d_1a_3x3", 288, 2, padding)],
        [Conv("Conv2d_0a_1x1", 256), Conv("Conv2d_0b_3x3", 288), Conv("Conv2d_1a_3x3", 320, 2, padding)],
        [Max("MaxPool_1a_3x3", 2, padding)],
    ]


def inception_resnet_v2_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    activation_fn: Any = tf.nn.relu,
    batch_norm_updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    batch_norm_scale: bool = False,
) -> Any:
    """The arg scope in which :func:`inception_resnet_v2` is built.

    Args:
        weight_decay: Scales the L2 penalty of weights and biases.
        batch_norm_decay: The decay of the moving averages.
        batch_norm_epsilon: Added to variances.
        activation_fn: The activation of convolutions.
        batch_norm_updates_collections: The collections of the averages' updates.
        batch_norm_scale: Whether there is the factor ``gamma``.
    """
    penalty = layers.l2_regularizer(weight_decay)
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "updates_collections": batch_norm_updates_collections,
        "fused": None,
        "scale": batch_norm_scale,
    }
    with (
        arg_scope([layers.conv2d, layers.fully_connected], weights_regularizer=penalty, biases_regularizer=penalty),
        arg_scope(
            [layers.conv2d],
            activation_fn=activation_fn,
            normalizer_fn=layers.batch_norm,
            normalizer_params=normalization,
        ) as scope,
    ):
        return scope


def _residual(
    net: Any, name: str, chains: Sequence[Sequence[Layer]], scale: float, activation_fn: Any, scope: Any, reuse: Any
) -> Any:
    with tf.variable_scope(scope, name, [net], reuse=reuse):
        mixed = tf.concat(axis=3, values=branches(net, chains, lambda depth: depth))
        channels = net.shape.as_list()[3]
        change = layers.conv2d(mixed, channels, 1, normalizer_fn=None, activation_fn=None, scope="Conv2d_1x1")
        net += change * scale
        return activation_fn(net) if activation_fn else net


def block35(net: Any, scale: float = 1.0, activation_fn: Any = tf.nn.relu, scope: Any = None, reuse: Any = None) -> Any:
    """A residual block for maps of 35 by 35: ``activation_fn`` of ``net`` and ``scale`` times what it makes of it."""
    return _residual(net, "Block35", _BLOCK_35, scale, activation_fn, scope, reuse)


def block17(net: Any, scale: float = 1.0, activation_fn: Any = tf.nn.relu, scope: Any = None, reuse: Any = None) -> Any:
    """:func:`block35` for maps of 17 by 17."""
    return _residual(net, "Block17", _BLOCK_17, scale, activation_fn, scope, reuse)


def block8(net: Any, scale: float = 1.0, activation_fn: Any = tf.nn.relu, scope: Any = None, reuse: Any = None) -> Any:
    """:func:`block35` for maps of 8 by 8."""
    return _residual(net, "Block8", _BLOCK_8, scale, activation_fn, scope, reuse)


def inception_resnet_v2_base(
    inputs: Any,
    final_endpoint: str = "Conv2d_7b_1x1",
    output_stride: int = 16,
    align_feature_maps: bool = False,
    scope: Any = None,
    activation_fn: Any = tf.nn.relu,
) -> tuple[Any, dict[str, Any]]:
    """The network without its classifiers.

    Args:
        inputs: Images, [B, H, W, C].
        final_endpoint: The end point that is the output; past "PreAuxLogits" only with ``output_stride`` 16.
        output_stride: 8 or 16: the height of the image over that of "PreAuxLogits".
        align_feature_maps: Whether all layers have "SAME" padding.
        scope: The variable scope.
        activation_fn: The activation of residual blocks.

    Returns:
        The output, and the end points up to it.

    Raises:
        ValueError: There is no such end point, or an argument is wrong.
    """
    if output_stride not in (8, 16):
        raise ValueError("output_stride must be 8 or 16.")
    padding = "SAME" if align_feature_maps else "VALID"
    end_points: dict[str, Any] = {}

    def residual_blocks(net: Any, times: int, block: Callable[..., Any], scale: float) -> Any:
        return layers.repeat(net, times, block, scale=scale, activation_fn=activation_fn)

    def parts(net: Any, chosen: dict[str, Part]) -> Any:
        last = final_endpoint if final_endpoint in chosen else [*chosen][-1]
        return build(net, chosen, lambda depth: depth, end_points, last)

    with (
        tf.variable_scope(scope, "InceptionResnetV2", [inputs]),
        arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], stride=1, padding="SAME"),
    ):
        net = parts(inputs, _aligned(_STEM) if align_feature_maps else _STEM)
        if final_endpoint in end_points:
            return net, end_points
        net = residual_blocks(net, 10, block35, 0.17)
        net = parts(net, {"Mixed_6a": _mixed_6a(1 if output_stride == 8 else 2, padding)})
        if final_endpoint in end_points:
            return net, end_points
        with arg_scope([layers.conv2d], rate=2 if output_stride == 8 else 1):
            net = residual_blocks(net, 20, block17, 0.10)
        end_points["PreAuxLogits"] = net
        if final_endpoint == "PreAuxLogits":
            return net, end_points
        if output_stride == 8:
            raise ValueError("output_stride==8 is only supported up to the PreAuxlogits end_point for now.")
        net = parts(net, {"Mixed_7a": _mixed_7a(padding)})
        if final_endpoint in end_points:
            return net, end_points
        net = residual_blocks(net, 9, block8, 0.20)
        net = block8(net, activation_fn=None)
        net = parts(net, {"Conv2d_7b_1x1": Conv("Conv2d_7b_1x1", 1536)})
        if final_endpoint in end_points:
            return net, end_points
    raise ValueError(f"final_endpoint ({final_endpoint}) not recognized")


def _aligned(stem: dict[str, Part]) -> dict[str, Part]:
    """The stem with "SAME" padding, which is the arg scope's."""
    return {
        name: type(part)(**{**vars(part), "padding": None}) if isinstance(part, (Conv, Max)) else part
        for name, part in stem.items()
    }


def inception_resnet_v2(
    inputs: Any,
    num_classes: int | None = 1001,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    reuse: bool | None = None,
    scope: Any = "InceptionResnetV2",
    create_aux_logits: bool = True,
    activation_fn: Any = tf.nn.relu,
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
        activation_fn: The activation of residual blocks.

    Returns:
        The logits, [B, ``num_classes``], and the end points: "AuxLogits" are those of the auxiliary classifier.
    """
    with (
        tf.variable_scope(scope, "InceptionResnetV2", [inputs], reuse=reuse) as sc,
        arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_resnet_v2_base(inputs, scope=sc, activation_fn=activation_fn)
        if create_aux_logits and num_classes:
            with tf.variable_scope("AuxLogits"):
                end_points["AuxLogits"] = auxiliary_logits(
                    end_points["PreAuxLogits"], num_classes, ("Conv2d_1a_3x3", "Conv2d_2a_5x5", "Logits")
                )
        with tf.variable_scope("Logits"):
            net = global_average(net, "AvgPool_1a_8x8")
            end_points["global_pool"] = net
            if not num_classes:
                return net, end_points
            net = layers.flatten(net)
            net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="Dropout")
            end_points["PreLogitsFlatten"] = net
            logits = layers.fully_connected(net, num_classes, activation_fn=None, scope="Logits")
            end_points["Logits"] = logits
            end_points["Predictions"] = tf.nn.softmax(logits, name="Predictions")
        return logits, end_points
