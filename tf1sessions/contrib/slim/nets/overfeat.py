"""OverFeat (http://arxiv.org/abs/1312.6229), the fast model."""

from __future__ import annotations

from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import arg_scope
from .heads import convolutional_classifier, ended, trunc_normal

__all__ = ["overfeat", "overfeat_arg_scope", "trunc_normal"]


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
    """The arg scope in which :func:`overfeat` is built; ``weight_decay`` scales the L2 penalty of weights."""
    with (
        arg_scope(
            [layers.conv2d, layers.fully_connected],
            activation_fn=tf.nn.relu,
            weights_regularizer=layers.l2_regularizer(weight_decay),
            biases_initializer=tf.zeros_initializer(),
        ),
        arg_scope([layers.conv2d], padding="SAME"),
        arg_scope([layers.max_pool2d], padding="VALID") as scope,
    ):
        return scope


def overfeat(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "overfeat",
) -> tuple[Any, dict[str, Any]]:
    """OverFeat, whose fully connected layers are convolutions.

    Args:
        inputs: Images, [B, H, W, C]; 231 by 231 to classify them.
        num_classes: The number of classes.
        is_training: Whether dropout drops anything.
        dropout_keep_prob: How much it keeps.
        spatial_squeeze: Whether the logits, [B, 1, 1, ``num_classes``], lose their ones.
        scope: The variable scope.

    Returns:
        The logits, and the end points.
    """
    with tf.variable_scope(scope, "overfeat", [inputs]) as sc:
        collection = f"{sc.name}_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, layers.max_pool2d], outputs_collections=collection):
            net = layers.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = layers.max_pool2d(net, [2, 2], scope="pool1")
            net = layers.conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
            net = layers.max_pool2d(net, [2, 2], scope="pool2")
            net = layers.conv2d(net, 512, [3, 3], scope="conv3")
            net = layers.conv2d(net, 1024, [3, 3], scope="conv4")
            net = layers.conv2d(net, 1024, [3, 3], scope="conv5")
            net = layers.max_pool2d(net, [2, 2], scope="pool5")
            with arg_scope(
                [layers.conv2d],
                weights_initializer=trunc_normal(0.005),
                biases_initializer=tf.constant_initializer(0.1),
            ):
                net = convolutional_classifier(net, (3072, 4096), 6, num_classes, dropout_keep_prob, is_training)
        return ended(net, collection, sc.name, spatial_squeeze)
