"""ResNet of version 2 (http://arxiv.org/abs/1603.05027): normalization and activation come before each convolution.

With ``output_stride``, or without ``global_pool``, it makes features for each place of an image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from ...framework.arg_scope import add_arg_scope, arg_scope
from ...layers import utils
from . import resnet_utils
from .resnet_utils import resnet_arg_scope

__all__ = [
    "bottleneck",
    "resnet_arg_scope",
    "resnet_v2",
    "resnet_v2_101",
    "resnet_v2_152",
    "resnet_v2_200",
    "resnet_v2_50",
    "resnet_v2_block",
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
    with tf.variable_scope(scope, "bottleneck_v2", [inputs]) as sc:
        preact = layers.batch_norm(inputs, activation_fn=tf.nn.relu, scope="preact")
        if utils.last_dimension(inputs.shape, min_rank=4) == depth:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(
                preact, depth, [1, 1], stride=stride, normalizer_fn=None, activation_fn=None, scope="shortcut"
            )
        residual = layers.conv2d(preact, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = layers.conv2d(
            residual, depth, [1, 1], stride=1, normalizer_fn=None, activation_fn=None, scope="conv3"
        )
        return utils.collect_named_outputs(outputs_collections, sc.name, shortcut + residual)


def resnet_v2(
    inputs: Any,
    blocks: Sequence[resnet_utils.Block],
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    include_root_block: bool = True,
    reuse: bool | None = None,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """A ResNet of any blocks.

    Args:
        inputs: Images, [B, H, W, C].
        blocks: The blocks.
        num_classes: The number of classes; None for features without logits.
        is_training: Whether batch normalization uses the batch's moments.
        global_pool: Whether all places are averaged before the logits.
        output_stride: The height of the image over that of the features; that of the blocks unless given.
        include_root_block: Whether a convolution and pooling come first, of stride 4.
        reuse: Whether the variables are those that are there.
        scope: The variable scope.

    Returns:
        [B, H', W', F], the logits or the last block's output; and the end points.

    Raises:
        ValueError: The blocks do not reach ``output_stride``.
    """
    with tf.variable_scope(scope, "resnet_v2", [inputs], reuse=reuse) as sc:
        collection = f"{sc.original_name_scope}_end_points"
        with (
            arg_scope([layers.conv2d, bottleneck, resnet_utils.stack_blocks_dense], outputs_collections=collection),
            arg_scope([layers.batch_norm], is_training=is_training),
        ):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4:
                        raise ValueError("The output_stride needs to be a multiple of 4.")
                    output_stride //= 4
                with arg_scope([layers.conv2d], activation_fn=None, normalizer_fn=None):
                    net = resnet_utils.root_block(net)
            net = resnet_utils.stack_blocks_dense(net, blocks, output_stride)
            net = layers.batch_norm(net, activation_fn=tf.nn.relu, scope="postnorm")
            if global_pool:
                net = tf.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            end_points = utils.convert_collection_to_dict(collection)
            if num_classes is not None:
                end_points["predictions"] = layers.softmax(net, scope="predictions")
            return net, end_points


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> resnet_utils.Block:
    """A block of ``num_units`` units of ``base_depth * 4`` channels, of which the last one has the stride."""
    return resnet_utils.bottlenecks(scope, bottleneck, base_depth, num_units, stride)


def _blocks(*num_units: int) -> list[resnet_utils.Block]:
    """Four blocks of that many units each, as the paper has them."""
    return [
        resnet_v2_block(f"block{number}", 32 * 2**number, units, stride)
        for number, (units, stride) in enumerate(zip(num_units, (2, 2, 2, 1), strict=True), 1)
    ]


def resnet_v2_50(
    inputs: Any,
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    reuse: bool | None = None,
    scope: Any = "resnet_v2_50",
) -> tuple[Any, dict[str, Any]]:
    """The network of 50 layers; the arguments are those of :func:`resnet_v2`."""
    return resnet_v2(
        inputs,
        _blocks(3, 4, 6, 3),
        num_classes,
        is_training,
        global_pool,
        output_stride,
        include_root_block=True,
        reuse=reuse,
        scope=scope,
    )


def resnet_v2_101(
    inputs: Any,
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    reuse: bool | None = None,
    scope: Any = "resnet_v2_101",
) -> tuple[Any, dict[str, Any]]:
    """The network of 101 layers; the arguments are those of :func:`resnet_v2`."""
    return resnet_v2(
        inputs,
        _blocks(3, 4, 23, 3),
        num_classes,
        is_training,
        global_pool,
        output_stride,
        include_root_block=True,
        reuse=reuse,
        scope=scope,
    )


def resnet_v2_152(
    inputs: Any,
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    reuse: bool | None = None,
    scope: Any = "resnet_v2_152",
) -> tuple[Any, dict[str, Any]]:
    """The network of 152 layers; the arguments are those of :func:`resnet_v2`."""
    return resnet_v2(
        inputs,
        _blocks(3, 8, 36, 3),
        num_classes,
        is_training,
        global_pool,
        output_stride,
        include_root_block=True,
        reuse=reuse,
        scope=scope,
    )


def resnet_v2_200(
    inputs: Any,
    num_classes: int | None = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: int | None = None,
    reuse: bool | None = None,
    scope: Any = "resnet_v2_200",
) -> tuple[Any, dict[str, Any]]:
    """The network of 200 layers; the arguments are those of :func:`resnet_v2`."""
    return resnet_v2(
        inputs,
        _blocks(3, 24, 36, 3),
        num_classes,
        is_training,
        global_pool,
        output_stride,
        include_root_block=True,
        reuse=reuse,
        scope=scope,
    )
