"""VGG (http://arxiv.org/abs/1409.1556): the versions A, D and E, of 11, 16 and 19 layers."""

from __future__ import annotations

from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import arg_scope
from .heads import convolutional_classifier, ended

__all__ = ["vgg_16", "vgg_19", "vgg_a", "vgg_arg_scope", "vgg_d", "vgg_e"]

_FILTERS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """The arg scope in which the networks are built; ``weight_decay`` scales the L2 penalty of weights."""
    with (
        arg_scope(
            [layers.conv2d, layers.fully_connected],
            activation_fn=tf.nn.relu,
            weights_regularizer=layers.l2_regularizer(weight_decay),
            biases_initializer=tf.zeros_initializer(),
        ),
        arg_scope([layers.conv2d], padding="SAME") as scope,
    ):
        return scope


def vgg_a(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "vgg_a",
) -> tuple[Any, dict[str, Any]]:
    """VGG of 11 layers, whose fully connected layers are convolutions.

    Args:
        inputs: Images, [B, H, W, C]; 224 by 224 to classify them.
        num_classes: The number of classes.
        is_training: Whether dropout drops anything.
        dropout_keep_prob: How much it keeps.
        spatial_squeeze: Whether the logits, [B, 1, 1, ``num_classes``], lose their ones.
        scope: The variable scope.

    Returns:
        The logits, and the end points.
    """
    return _vgg((1, 1, 2, 2, 2), "vgg_a", inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope)


def vgg_16(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "vgg_16",
) -> tuple[Any, dict[str, Any]]:
    """VGG of 16 layers; the arguments are those of :func:`vgg_a`."""
    return _vgg((2, 2, 3, 3, 3), "vgg_16", inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope)


def vgg_19(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "vgg_19",
) -> tuple[Any, dict[str, Any]]:
    """VGG of 19 layers; the arguments are those of :func:`vgg_a`."""
    return _vgg((2, 2, 4, 4, 4), "vgg_19", inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope)


def _vgg(
    repeats: tuple[int, ...],
    name: str,
    inputs: Any,
    num_classes: int,
    is_training: Any,
    keep_prob: float,
    squeeze: bool,
    scope: Any,
) -> tuple[Any, dict[str, Any]]:
    with tf.variable_scope(scope, name, [inputs]) as sc:
        # 1.15 has another name for it in vgg_19
        collection = f"{sc.name if name == 'vgg_19' else sc.original_name_scope}_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, layers.max_pool2d], outputs_collections=collection):
            net = inputs
            for block, (times, filters) in enumerate(zip(repeats, _FILTERS, strict=True), 1):
                net = layers.repeat(net, times, layers.conv2d, filters, [3, 3], scope=f"conv{block}")
                net = layers.max_pool2d(net, [2, 2], scope=f"pool{block}")
            net = convolutional_classifier(net, (4096, 4096), 7, num_classes, keep_prob, is_training)
        return ended(net, collection, sc.name, squeeze)


vgg_d = vgg_16
vgg_e = vgg_19
