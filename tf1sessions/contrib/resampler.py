"""``tf.contrib.resampler``: images read at points between their pixels."""

from __future__ import annotations

from typing import Any

from ..runtime import tf1 as tf

__all__ = ["resampler"]


def resampler(data: Any, warp: Any, name: str = "resampler") -> Any:
    """Read images at given points, by bilinear interpolation.

    Around an image there is a margin of one pixel in which it fades to 0; farther out, and for NaN, the value is 0.
    There are gradients for both arguments.

    Args:
        data: The images, ``[batch, height, width, channels]``, of floats.
        warp: The points, ``[batch, ..., 2]``: x, which counts columns, and y, which counts rows; of the same dtype.
        name: Of the scope.

    Returns:
        A tensor ``[batch, ..., channels]`` of the dtype of ``data``.

    Raises:
        TypeError: The dtypes differ.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     image = tf.constant([[[[1.0], [3.0]], [[5.0], [7.0]]]])
        ...     gs.run(t1.contrib.resampler.resampler(image, [[0.5, 0.0]])).tolist()
        [[2.0]]
    """
    with tf.name_scope(name, "resampler", [data, warp]):
        data = tf.convert_to_tensor(data, name="data")
        warp = tf.convert_to_tensor(warp, name="warp")
        if data.dtype.base_dtype != warp.dtype.base_dtype:
            raise TypeError(
                f"Input 'warp' of 'Resampler' has type {warp.dtype.name} that does not match type {data.dtype.name} of "
                "argument 'data'."
            )
        known = (warp.shape[:-1] if warp.shape.ndims else tf.TensorShape(None)).concatenate(data.shape[-1:])
        sizes = tf.shape(data)
        points = tf.reshape(warp, [sizes[0], -1, 2])
        pixels = tf.reshape(data, [sizes[0], -1, sizes[3]])
        values = _interpolate(pixels, sizes[1], sizes[2], points[..., 0], points[..., 1])
        values = tf.reshape(values, tf.concat([tf.shape(warp)[:-1], sizes[3:]], 0), name="Resampler")
        values.set_shape(known)
        return values


def _interpolate(pixels: Any, height: Any, width: Any, x: Any, y: Any) -> Any:
    """The values ``[batch, points, channels]`` of ``[batch, height * width, channels]`` at ``[batch, points]``."""
    columns, rows = tf.cast(width, x.dtype), tf.cast(height, y.dtype)
    is_near = (x > -1) & (y > -1) & (x < columns) & (y < rows)
    x, y = (tf.where(is_near, each, tf.zeros_like(each)) for each in (x, y))
    left, top = tf.stop_gradient(tf.floor(x)), tf.stop_gradient(tf.floor(y))
    total = None
    for right, across in ((0, left + 1 - x), (1, x - left)):
        for below, down in ((0, top + 1 - y), (1, y - top)):
            column, row = tf.cast(left, tf.int32) + right, tf.cast(top, tf.int32) + below
            is_inside = is_near & (column >= 0) & (row >= 0) & (column < width) & (row < height)
            index = tf.where(is_inside, row * width + column, tf.zeros_like(row))
            weight = tf.where(is_inside, across * down, tf.zeros_like(x))
            value = tf.expand_dims(weight, -1) * tf.gather(pixels, index, batch_dims=1)
            total = value if total is None else total + value
    return total
