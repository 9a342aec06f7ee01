"""Initializers that keep the scale of signals, as functions ``(shape, dtype, partition_info) -> tensor``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d"]

_MODES = ("FAN_IN", "FAN_OUT", "FAN_AVG")


def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: Any = tf.float32) -> Callable[..., Any]:
    """Glorot and Bengio's initialization: the variance is 2 / (fan in + fan out).

    Args:
        uniform: Uniform values; else values of a normal distribution, cut at two standard deviations.
        seed: The seed of the operation.
        dtype: A floating type.
    """
    return variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = tf.float32,
) -> Callable[..., Any]:
    """Initialization with the variance ``factor`` / n (He's with the defaults, https://arxiv.org/abs/1502.01852).

    Args:
        factor: See above.
        mode: What n is: "FAN_IN", "FAN_OUT" or "FAN_AVG", the inputs or outputs of a unit, or their mean.
        uniform: Uniform values; else values of a normal distribution, cut at two standard deviations.
        seed: The seed of the operation.
        dtype: A floating type.

    Raises:
        TypeError: ``dtype`` is no floating type, or ``mode`` is another.
    """
    if not tf.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in _MODES:
        raise TypeError(f"Unknown mode {mode} [{', '.join(_MODES)}]")

    def _initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Any:
        if not tf.as_dtype(dtype).is_floating:
            raise TypeError("Cannot create initializer for non-floating point type.")
        sizes = [int(size) for size in (shape.as_list() if isinstance(shape, tf.TensorShape) else shape)]
        window = math.prod(sizes[:-2])
        fan_in = window * float(sizes[-2] if len(sizes) > 1 else sizes[-1] if sizes else 1)
        fan_out = window * float(sizes[-1] if sizes else 1)
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return tf.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # cutting at two standard deviations leaves 1 / 1.3 of the variance
        return tf.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / n), dtype, seed=seed)

    return _initializer
