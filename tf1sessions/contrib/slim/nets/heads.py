"""Ends of networks: fully connected layers as convolutions, and logits from a pooled feature map."""

from __future__ import annotations

from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...layers import utils

__all__ = ["convolutional_classifier", "ended", "pooled_logits", "reduced_kernel", "trunc_normal"]


def trunc_normal(stddev: float) -> Any:
    """An initializer: normal around 0, without what is further than two ``stddev`` away."""
    return tf.truncated_normal_initializer(0.0, stddev)


def convolutional_classifier(
    net: Any, sizes: tuple[int, int], window: int, num_classes: int, keep_prob: float, is_training: Any
) -> Any:
    """The layers fc6, fc7 and fc8 of networks before batch normalization, with dropout between them.

    Args:
        net: [B, H, W, C].
        sizes: The units of fc6 and fc7.
        window: The height and width that one output sees: [B, H - window + 1, W - window + 1, ``num_classes``].
        num_classes: The units of fc8.
        keep_prob: How much dropout keeps.
        is_training: Whether it drops anything.
    """
    net = layers.conv2d(net, sizes[0], [window, window], padding="VALID", scope="fc6")
    net = layers.dropout(net, keep_prob, is_training=is_training, scope="dropout6")
    net = layers.conv2d(net, sizes[1], [1, 1], scope="fc7")
    net = layers.dropout(net, keep_prob, is_training=is_training, scope="dropout7")
    return layers.conv2d(
        net,
        num_classes,
        [1, 1],
        activation_fn=None,
        normalizer_fn=None,
        biases_initializer=tf.zeros_initializer(),
        scope="fc8",
    )


def ended(net: Any, collection: str, name: str, squeeze: bool) -> tuple[Any, dict[str, Any]]:
    """The logits and end points of a network that ends with :func:`convolutional_classifier`.

    Args:
        net: What that gave, [B, 1, 1, ``num_classes``].
        collection: Where the network's end points are.
        name: The network's variable scope.
        squeeze: Whether the logits lose their ones.
    """
    end_points = utils.convert_collection_to_dict(collection)
    if squeeze:
        net = tf.squeeze(net, [1, 2], name="fc8/squeezed")
        end_points[f"{name}/fc8"] = net
    return net, end_points


def pooled_logits(
    net: Any, num_classes: int, keep_prob: float, names: tuple[str, str], squeeze: bool
) -> tuple[Any, Any]:
    """Return what dropout leaves of pooled features, and their logits.

    Args:
        net: [B, 1, 1, C].
        num_classes: The number of classes.
        keep_prob: How much dropout keeps.
        names: The scopes of dropout and of the last convolution.
        squeeze: Whether the logits, [B, 1, 1, ``num_classes``], lose their ones.
    """
    net = layers.dropout(net, keep_prob=keep_prob, scope=names[0])
    logits = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=names[1])
    return net, tf.squeeze(logits, [1, 2], name="SpatialSqueeze") if squeeze else logits


def reduced_kernel(net: Any, size: int) -> list[int]:
    """``size`` in both directions, or what a smaller [B, H, W, C] has; ``size`` if that is not known."""
    _, height, width, _ = net.shape.as_list()
    return [size, size] if None in (height, width) else [min(height, size), min(width, size)]
