"""ResNet of version 1 (http://arxiv.org/abs/1512.03385): the activation follows the sum.

With ``output_stride``, or without ``global_pool``, it makes features for each place of an image.
"""

from __future__ import annotations

from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import add_arg_scope
from ...layers import utils
from . import resnet_utils
from .resnet_utils import resnet_arg_scope

__all__ = [
    "bottleneck",
    "resnet_arg_scope",
    "resnet_v1",
    "resnet_v1_50",
    "resnet_v1_101",
    "resnet_v1_152",
    "resnet_v1_200",
    "resnet_v1_block",
]


@add_arg_scope
def bottleneck(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """A residual unit of three convolutions, of which the middle one has fewer channels.

    Args:
        inputs: [B, H, W, C].
        depth: The channels of the output.
        depth_bottleneck: Those of the first two convolutions.
        stride: The stride.
        rate: The dilation.
        outputs_collections: Collections of the output.
        scope: The variable scope.
    """
    with tf.variable_scope(scope, "bottleneck_v1", [inputs]) as sc:
        if utils.last_dimension(inputs.shape, min_rank=4) == depth:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")
        residual = layers.conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = layers.conv2d(residual, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        return utils.collect_named_outputs(outputs_collections, sc.name, tf.nn.relu(shortcut + residual))


resnet_v1 = resnet_utils.resnet("resnet_v1", bottleneck, resnet_utils.root_block, lambda net: net)


def resnet_v1_block(scope: str, base_depth: int, num_units: int, stride: int) -> resnet_utils.Block:
    """A block of ``num_units`` units of ``base_depth * 4`` channels, of which the last one has the stride."""
    return resnet_utils.bottlenecks(scope, bottleneck, base_depth, num_units, stride)


resnet_v1_50 = resnet_utils.of_the_paper(resnet_v1, resnet_v1_block, (3, 4, 6, 3))
resnet_v1_101 = resnet_utils.of_the_paper(resnet_v1, resnet_v1_block, (3, 4, 23, 3))
resnet_v1_152 = resnet_utils.of_the_paper(resnet_v1, resnet_v1_block, (3, 8, 36, 3))
resnet_v1_200 = resnet_utils.of_the_paper(resnet_v1, resnet_v1_block, (3, 24, 36, 3))
