"""Random operations as a session runs them: each has one stream of numbers, whichever request draws from it.

A session keeps the kernel of a random operation, so that the next run goes on where the last one stopped. Each function
of TensorFlow 2 has kernels of its own, which begin anew. Here a variable holds how far the stream of an operation is,
and all functions share it.

The numbers are those of the kernel, bit by bit: it is Philox with the operation's ``seed`` as key and ``seed2`` as the
upper half of the counter, and skips 256 blocks for each number that it gives (measured, and held by
tests/porting/test_legacy_graph.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.runtime import tf

__all__ = ["draw", "new_stream", "streams_in"]

tf2: Any = tf.compat.v2

_BLOCKS = 256
_PHILOX = 1

_KINDS: Mapping[str, Callable[..., Any]] = {
    "RandomUniform": tf.raw_ops.StatelessRandomUniformV2,
    "RandomStandardNormal": tf.raw_ops.StatelessRandomNormalV2,
    "TruncatedNormal": tf.raw_ops.StatelessTruncatedNormalV2,
    "RandomUniformInt": tf.raw_ops.StatelessRandomUniformIntV2,
}


def streams_in(graph_def: Any) -> list[str]:
    """The random operations of a graph that have a stream: those with a seed, of a kind that is known."""
    return [node.name for node in graph_def.node if node.op in _KINDS and _seeds(node) != (0, 0)]


def new_stream(place: int = 0) -> Any:
    """A variable for how far a stream is: at its beginning, or at a place."""
    return tf2.Variable(np.int64(place), trainable=False, name="stream")


def draw(node: Any, values: Sequence[Any], stream: Any) -> Any:
    """Make an operation that gives the next numbers of a stream.

    Args:
        node: The random operation.
        values: Its inputs: the shape, and the bounds of a RandomUniformInt.
        stream: From :func:`new_stream`.
    """
    shape, *bounds = values
    seed, seed2 = _seeds(node)
    place = stream.read_value()
    with tf.control_dependencies([place]):
        size = tf.cast(tf.reduce_prod(tf.cast(shape, tf.int64)), tf.int64)
        stream.assign_add(size * _BLOCKS)
    counter = tf.bitcast(tf.stack([place, tf.constant(seed2, tf.int64)]), tf.uint64)
    key = tf.constant(np.array([seed], np.int64).astype(np.uint64))
    more: dict[str, Any] = {"minval": bounds[0], "maxval": bounds[1]} if bounds else {"dtype": _dtype(node)}
    return _KINDS[node.op](shape=shape, key=key, counter=counter, alg=_PHILOX, **more)


def _seeds(node: Any) -> tuple[int, int]:
    return node.attr["seed"].i, node.attr["seed2"].i


def _dtype(node: Any) -> Any:
    return tf.as_dtype(node.attr["dtype"].type)
