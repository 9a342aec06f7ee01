"""Common parts of both kinds of ResNet: blocks of residual units, and how densely they see the image.

In the shapes, B is the batch, H and W height and width, C the channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ....runtime import tf1 as tf
from ... import layers
from ..._named import named
from ...framework.arg_scope import add_arg_scope, arg_scope
from ...layers import utils

__all__ = [
    "Block",
    "Network",
    "bottlenecks",
    "conv2d_same",
    "of_the_paper",
    "resnet",
    "resnet_arg_scope",
    "root_block",
    "stack_blocks_dense",
    "subsample",
]

#: A network's logits or last features, and its end points.
Network = tuple[Any, dict[str, Any]]


class Block(NamedTuple):
    """A block of units.

    Attributes:
        scope: Its variable scope.
        unit_fn: Makes a unit: ``unit_fn(net, rate=..., **arguments)``.
        args: The arguments of each unit, dicts; "stride" is one of them.
    """

    scope: str
    unit_fn: Any
    args: Sequence[Any]


def bottlenecks(scope: str, unit_fn: Any, base_depth: int, num_units: int, stride: int) -> Block:
    """A block of bottleneck units, of which the last one has the stride."""
    unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    return Block(scope, unit_fn, [{**unit, "stride": 1}] * (num_units - 1) + [{**unit, "stride": stride}])


def subsample(inputs: Any, factor: int, scope: Any = None) -> Any:
    """Every ``factor``-th row and column of [B, H, W, C]."""
    return inputs if factor == 1 else layers.max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None) -> Any:
    """A convolution with "SAME" padding that is the same on both sides, whatever ``stride`` is.

    With ``stride`` above 1, ``conv2d`` pads an even size less in front; this one takes every ``stride``-th output of
    that with ``stride`` 1.

    Args:
        inputs: [B, H, W, C].
        num_outputs: The number of filters.
        kernel_size: The window's height and width.
        stride: The stride.
        rate: The dilation.
        scope: The layer's variable scope.
    """
    if stride == 1:
        return layers.conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    more = (kernel_size - 1) * rate
    sides = [more // 2, more - more // 2]
    inputs = tf.pad(inputs, [[0, 0], sides, sides, [0, 0]])
    return layers.conv2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(
    net: Any, blocks: Sequence[Block], output_stride: int | None = None, outputs_collections: Any = None
) -> Any:
    """Blocks after each other; past ``output_stride``, dilation takes the place of strides.

    Args:
        net: [B, H, W, C].
        blocks: The blocks.
        output_stride: The stride of the output, a product of the first units' strides; that of all unless given.
        outputs_collections: Collections of each block's output.

    Raises:
        ValueError: ``output_stride`` is not reached.
    """
    current, rate = 1, 1
    for block in blocks:
        with tf.variable_scope(block.scope, "block", [net]) as sc:
            for number, unit in enumerate(block.args, 1):
                if output_stride is not None and current > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                dilates = current == output_stride
                settings = {**unit, "stride": 1, "rate": rate} if dilates else {**unit, "rate": 1}
                with tf.variable_scope(f"unit_{number}", values=[net]):
                    net = block.unit_fn(net, **settings)
                if dilates:
                    rate *= unit.get("stride", 1)
                else:
                    current *= unit.get("stride", 1)
            net = utils.collect_named_outputs(outputs_collections, sc.name, net)
    if output_stride is not None and current != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def root_block(inputs: Any) -> Any:
    """The first layers: [B, H, W, C] to [B, H / 4, W / 4, 64] by a convolution and pooling."""
    net = conv2d_same(inputs, 64, 7, stride=2, scope="conv1")
    return layers.max_pool2d(net, [3, 3], stride=2, scope="pool1")


_RESNET = """A ResNet of any blocks.

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


def resnet(
    name: str, bottleneck: Callable[..., Any], root: Callable[[Any], Any], end: Callable[[Any], Any]
) -> Callable[..., Network]:
    """The ResNets of one version.

    Args:
        name: The function's name, and the variable scope unless a call gives another.
        bottleneck: The version's residual unit.
        root: Its first layers.
        end: What follows the last block.
    """

    @named(name, _RESNET, bottleneck.__module__)
    def network(
        inputs: Any,
        blocks: Sequence[Block],
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        include_root_block: bool = True,
        reuse: bool | None = None,
        scope: Any = None,
    ) -> Network:
        with tf.variable_scope(scope, name, [inputs], reuse=reuse) as sc:
            collection = f"{sc.original_name_scope}_end_points"
            with (
                arg_scope([layers.conv2d, bottleneck, stack_blocks_dense], outputs_collections=collection),
                arg_scope([layers.batch_norm], is_training=is_training),
            ):
                if include_root_block and output_stride is not None:
                    if output_stride % 4:
                        raise ValueError("The output_stride needs to be a multiple of 4.")
                    output_stride //= 4
                net = root(inputs) if include_root_block else inputs
                net = end(stack_blocks_dense(net, blocks, output_stride))
                if global_pool:
                    net = tf.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
                if num_classes is not None:
                    net = layers.conv2d(
                        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits"
                    )
                end_points = utils.convert_collection_to_dict(collection)
                if num_classes is not None:
                    end_points["predictions"] = layers.softmax(net, scope="predictions")
                return net, end_points

    return network


def of_the_paper(
    network: Callable[..., Network], block: Callable[[str, int, int, int], Block], num_units: tuple[int, int, int, int]
) -> Callable[..., Network]:
    """``network`` with four blocks of that many units, and so three layers for each of them and two more.

    Args:
        network: Makes it of blocks.
        block: Makes a block of its scope, base depth, number of units and stride.
        num_units: How many units each block has.
    """
    depth = 3 * sum(num_units) + 2
    name = f"{network.__name__}_{depth}"
    doc = f"The network of {depth} layers; the arguments are those of :func:`{network.__name__}`."

    @named(name, doc, network.__module__)
    def resnet_of_the_paper(
        inputs: Any,
        num_classes: int | None = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: bool | None = None,
        scope: Any = name,
    ) -> Network:
        blocks = [
            block(f"block{number}", 32 * 2**number, units, stride)
            for number, (units, stride) in enumerate(zip(num_units, (2, 2, 2, 1), strict=True), 1)
        ]
        return network(inputs, blocks, num_classes, is_training, global_pool, output_stride, reuse=reuse, scope=scope)

    return resnet_of_the_paper


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Any:
    """The arg scope in which ResNets are built.

    Args:
        weight_decay: Scales the L2 penalty of weights.
        batch_norm_decay: The decay of the moving averages.
        batch_norm_epsilon: Added to variances.
        batch_norm_scale: Whether there is the factor ``gamma``.
    """
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": tf.GraphKeys.UPDATE_OPS,
    }
    with (
        arg_scope(
            [layers.conv2d],
            weights_regularizer=layers.l2_regularizer(weight_decay),
            weights_initializer=layers.variance_scaling_initializer(),
            activation_fn=tf.nn.relu,
            normalizer_fn=layers.batch_norm,
            normalizer_params=normalization,
        ),
        arg_scope([layers.batch_norm], **normalization),
        arg_scope([layers.max_pool2d], padding="SAME") as scope,
    ):
        return scope
