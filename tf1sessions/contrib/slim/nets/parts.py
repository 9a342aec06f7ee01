"""Networks as tables: layers named by their variable scopes, and mixed blocks of branches that are concatenated.

A name ends with the layer's window, ``Conv2d_0b_1x7``; a kind of layer that has another one says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....runtime import tf1 as tf
from ... import layers
from .heads import trunc_normal

__all__ = ["Avg", "Conv", "Fork", "Max", "Part", "apply", "branches", "build", "scaled_depth"]

Depth = Callable[[int], int]


@dataclasses.dataclass(frozen=True)
class Conv:
    """A convolution of ``depth`` filters.

    Attributes:
        name: Its variable scope.
        depth: The number of filters.
        stride: The stride; the arg scope's unless given.
        padding: "SAME" or "VALID"; the arg scope's unless given.
        stddev: The standard deviation of the initial weights; the arg scope's initializer unless given.
        window: The height and width, where the name says something else.
    """

    name: str
    depth: int
    stride: int | None = None
    padding: str | None = None
    stddev: float | None = None
    window: tuple[int, int] | None = None

    def __call__(self, net: Any, depth: Depth) -> Any:
        given = _given(stride=self.stride, padding=self.padding)
        if self.stddev is not None:
            given["weights_initializer"] = trunc_normal(self.stddev)
        window = list(self.window or _window(self.name))
        return layers.conv2d(net, depth(self.depth), window, scope=self.name, **given)


@dataclasses.dataclass(frozen=True)
class Max:
    """Max pooling; the attributes are those of :class:`Conv`."""

    name: str
    stride: int | None = None
    padding: str | None = None

    def __call__(self, net: Any, depth: Depth) -> Any:
        given = _given(stride=self.stride, padding=self.padding)
        return layers.max_pool2d(net, _window(self.name), scope=self.name, **given)


@dataclasses.dataclass(frozen=True)
class Avg:
    """Average pooling."""

    name: str

    def __call__(self, net: Any, depth: Depth) -> Any:
        return layers.avg_pool2d(net, _window(self.name), scope=self.name)


class Fork(tuple[Conv, ...]):
    """Convolutions of the same input whose outputs are concatenated."""

    def __call__(self, net: Any, depth: Depth) -> Any:
        return tf.concat(axis=3, values=[layer(net, depth) for layer in self])


Layer = Conv | Max | Avg | Fork
#: One layer, or the branches of a mixed block: the layers of each.
Part = Conv | Max | Sequence[Sequence[Layer]]


def _given(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _window(name: str) -> list[int]:
    return [int(size) for size in name.rpartition("_")[2].split("x")]


def scaled_depth(depth_multiplier: float, min_depth: int) -> Depth:
    """Return the number of filters of a layer: so many times those of the paper, and not below ``min_depth``.

    Raises:
        ValueError: ``depth_multiplier`` is not above 0.
    """
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def apply(net: Any, chain: Sequence[Layer], depth: Depth) -> Any:
    """The layers of ``chain`` after each other."""
    for layer in chain:
        net = layer(net, depth)
    return net


def branches(net: Any, chains: Sequence[Sequence[Layer]], depth: Depth) -> list[Any]:
    """The output of each branch of ``net``, in the scopes ``Branch_0`` and so on."""
    outputs = []
    for number, chain in enumerate(chains):
        with tf.variable_scope(f"Branch_{number}"):
            outputs.append(apply(net, chain, depth))
    return outputs


def build(
    net: Any,
    parts: Mapping[str, Part],
    depth: Depth,
    end_points: dict[str, Any],
    final_endpoint: str,
) -> Any:
    """The parts after each other up to ``final_endpoint``; each is an end point.

    Args:
        net: [B, H, W, C].
        parts: End point -> part.
        depth: The number of filters for that of the paper.
        end_points: Gets the output of each part.
        final_endpoint: The end point that is the output.

    Raises:
        ValueError: There is no such end point.
    """
    for name, part in parts.items():
        if isinstance(part, (Conv, Max)):
            net = part(net, depth)
        else:
            with tf.variable_scope(name):
                net = tf.concat(axis=3, values=branches(net, part, depth))
        end_points[name] = net
        if name == final_endpoint:
            return net
    raise ValueError(f"Unknown final endpoint {final_endpoint}")
