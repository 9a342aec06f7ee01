"""Operations that are gone, composed of others: small graphs that take their place in an old one.

:func:`composition` builds a template: placeholders ``input_0``, ``input_1``, … and a node ``output``. operations.py
splices it in. A template has no functions and no variables, so that it can stand in a function's body, and its results
are those of 1.15.5's own kernels: to the bit for integers, to rounding for floats.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tf1sessions.runtime import tf

__all__ = ["COMPOSED", "composition"]


@functools.cache
def composition(op: str, count: int, dtype: int) -> Any:
    """The template of an operation in :data:`COMPOSED`, as a GraphDef.

    Args:
        op: The operation.
        count: How many inputs it has.
        dtype: Number of the DataType of its attribute ``T``.
    """
    inputs, _, build = COMPOSED[op, count]
    with tf.Graph().as_default() as graph:
        kind = tf.as_dtype(dtype)
        given = [
            tf.placeholder(kind if each is None else each, name=f"input_{index}") for index, each in enumerate(inputs)
        ]
        output, loops = build(*given)
        tf.identity(output, name="output")
    graph_def = graph.as_graph_def()
    for node in graph_def.node:
        if node.name in loops:
            node.input[1] = loops[node.name]
    return graph_def


def _gather_tree(step_ids: Any, parent_ids: Any, max_lengths: Any, end_token: Any) -> tuple[Any, dict[str, str]]:
    """The symbols of whole beams, from the symbols of each step and the beams that they continue.

    ``step_ids`` and ``parent_ids`` are [T, B, K], ``max_lengths`` [B]. Behind its end a beam has ``end_token``.
    """
    whole, loops = _follow_beams(step_ids, parent_ids, tf.expand_dims(max_lengths, 1), end_token)
    ended = tf.cumsum(tf.cast(tf.equal(whole, end_token), tf.int32), axis=0, exclusive=True) > 0
    return tf.raw_ops.SelectV2(condition=ended, t=end_token, e=whole), loops


def _gather_tree_of_1_4(step_ids: Any, parent_ids: Any, lengths: Any) -> tuple[Any, dict[str, str]]:
    """Compose GatherTree as it was before there was an end token.

    ``lengths`` [B, K] says where each beam ends; behind it is -1.
    """
    return _follow_beams(step_ids, parent_ids, lengths, tf.constant(-1))


def _follow_beams(step_ids: Any, parent_ids: Any, lengths: Any, fill: Any) -> tuple[Any, dict[str, str]]:
    """A loop from the last step to the first. ``lengths`` [B, 1] or [B, K]; behind them is ``fill``."""
    raw = tf.raw_ops
    shape = tf.shape(step_ids)
    steps, batch, beams = shape[0], shape[1], shape[2]
    own = tf.tile(tf.expand_dims(tf.range(beams), 0), [batch, 1])

    def frame(tensor: Any, constant: bool = True) -> Any:
        return raw.Enter(data=tensor, frame_name="loop", is_constant=constant)

    zero, one, lone = frame(tf.constant(0)), frame(tf.constant(1)), frame(tf.constant([1, 1]))
    ids, parents = (frame(tf.reshape(each, [-1])) for each in (step_ids, parent_ids))
    row = frame(batch * beams)
    starts = frame(tf.expand_dims(tf.range(batch) * beams, 1))
    lengths, end = frame(lengths), frame(fill)

    begun = [frame(each, False) for each in (steps - 1, own, tf.fill(shape, fill))]
    merged = [raw.Merge(inputs=[each, each]).output for each in begun]
    going = raw.LoopCond(input=raw.GreaterEqual(x=merged[0], y=zero))
    switched = [raw.Switch(data=each, pred=going) for each in merged]
    step, beam, found = (each.output_true for each in switched)

    where = raw.AddV2(x=raw.AddV2(x=raw.Mul(x=step, y=row), y=starts), y=beam)
    within = raw.Less(x=step, y=lengths)
    symbols = raw.SelectV2(condition=within, t=raw.GatherV2(params=ids, indices=where, axis=zero), e=end)
    before = raw.SelectV2(condition=within, t=raw.GatherV2(params=parents, indices=where, axis=zero), e=beam)
    found = raw.TensorScatterUpdate(
        tensor=found,
        indices=raw.Reshape(tensor=step, shape=lone),
        updates=raw.ExpandDims(input=symbols, axis=zero),
    )
    again = [raw.NextIteration(data=each) for each in (raw.Sub(x=step, y=one), before, found)]
    loops = {entry.op.name: following.op.name for entry, following in zip(merged, again, strict=True)}

    return raw.Exit(data=switched[2].output_false), loops


def _resampler(data: Any, warp: Any) -> tuple[Any, dict[str, str]]:
    """``data`` [B, H, W, C] at the points (x, y) of ``warp`` [B, ..., 2], bilinearly; zero outside."""
    size, points = tf.shape(data), tf.shape(warp)[:-1]
    batch, height, width, channels = (size[index] for index in range(4))
    warp = tf.reshape(warp, [batch, -1, 2])
    pixels = tf.reshape(data, [-1, channels])
    first = tf.expand_dims(tf.range(batch) * height * width, 1)
    low = tf.floor(warp)
    part = warp - low
    left, top = (tf.cast(low[..., index], tf.int32) for index in range(2))

    def corner(right: int, down: int) -> Any:
        x, y = left + right, top + down
        inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        weight = (part[..., 0] if right else 1 - part[..., 0]) * (part[..., 1] if down else 1 - part[..., 1])
        at = first + y * width + x
        values = tf.gather(pixels, tf.where(inside, at, tf.zeros_like(at))) * tf.expand_dims(weight, -1)
        return tf.where_v2(tf.expand_dims(inside, -1), values, tf.zeros_like(values))

    total = corner(0, 0) + corner(1, 1) + corner(1, 0) + corner(0, 1)
    return tf.reshape(total, tf.concat([points, [channels]], 0)), {}


def _compare_and_bitpack(values: Any, threshold: Any) -> tuple[Any, dict[str, str]]:
    """Eight comparisons ``values > threshold`` of the last dimension in each byte, the first one highest."""
    bits = tf.cast(values > threshold, tf.int32)
    shape = tf.shape(values)
    bits = tf.reshape(bits, tf.concat([shape[:-1], [shape[-1] // 8, 8]], 0))
    return tf.cast(tf.reduce_sum(bits * [128, 64, 32, 16, 8, 4, 2, 1], -1), tf.uint8), {}


def _bucketize(values: Any, boundaries: Any) -> tuple[Any, dict[str, str]]:
    """For each of ``values`` the number of ``boundaries``, float32 and sorted, that are not above it."""
    flat = tf.reshape(tf.cast(values, tf.float32), [1, -1])
    found = tf.raw_ops.UpperBound(sorted_inputs=tf.expand_dims(boundaries, 0), values=flat, out_type=tf.int32)
    return tf.reshape(found, tf.shape(values)), {}


_INTS, _FLOATS = (3, 9), (1, 2)  # int32, int64; float, double
_SHORT = (14, 19)  # bfloat16, half

#: Operation and number of its inputs -> the dtypes of those, None for its attribute T; numbers that T may be; what
#: builds it.
COMPOSED: dict[tuple[str, int], tuple[tuple[Any, ...], tuple[int, ...], Callable[..., tuple[Any, dict[str, str]]]]] = {
    ("GatherTree", 4): ((None, None, tf.int32, None), (3,), _gather_tree),
    ("GatherTree", 3): ((None, None, None), (3,), _gather_tree_of_1_4),
    ("Resampler", 2): ((None, None), (*_FLOATS, *_SHORT), _resampler),
    ("CompareAndBitpack", 2): ((None, None), (*_INTS, *_FLOATS, 19, 5, 6), _compare_and_bitpack),
    ("BucketizeWithInputBoundaries", 2): ((None, tf.float32), (*_INTS, *_FLOATS), _bucketize),
}
