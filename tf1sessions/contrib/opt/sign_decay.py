"""Decays of the sign term of AddSign and PowerSign: functions that make functions of the global step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["get_cosine_decay_fn", "get_linear_decay_fn", "get_restart_decay_fn"]


def get_linear_decay_fn(decay_steps: int) -> Callable[[Any], Any]:
    """From 1 at step 0 to 0 at ``decay_steps``, and 0 after it."""

    def linear_decay_fn(global_step: Any) -> Any:
        if global_step is None:
            raise ValueError("global_step is required for linear_decay.")
        step = tf.minimum(tf.cast(global_step, tf.int32), decay_steps)
        return tf.cast(decay_steps - step, tf.float32) / tf.cast(decay_steps, tf.float32)

    return linear_decay_fn


def get_cosine_decay_fn(
    decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None
) -> Callable[[Any], Any]:
    """``0.5 * (1 + cos(2 pi num_periods step / decay_steps))``; the last step's value after it.

    Args:
        decay_steps: The steps to decay over.
        num_periods: Periods of the cosine in these steps.
        zero_after: The share of the steps, in periods, after which it is 0; None for never.
    """

    def cosine_decay_fn(global_step: Any) -> Any:
        if global_step is None:
            raise ValueError("global_step is required for cosine_decay.")
        step = tf.minimum(tf.cast(global_step, tf.int32), decay_steps)
        done = tf.cast(step, tf.float32) / tf.cast(decay_steps, tf.float32)
        fraction = 2.0 * num_periods * done
        decayed = 0.5 * (1.0 + tf.cos(tf.constant(math.pi) * fraction))
        if zero_after is not None:
            decayed = tf.where(fraction >= 2 * zero_after, tf.zeros_like(decayed), decayed)
        return decayed

    return cosine_decay_fn


def get_restart_decay_fn(
    decay_steps: int, num_periods: float = 1, zero_after: float | None = None
) -> Callable[[Any], Any]:
    """Half a cosine from 1 to 0, ``num_periods`` times in ``decay_steps``; see "SGDR" (arXiv 1608.03983).

    Args:
        decay_steps: The steps to decay over.
        num_periods: How often it starts again.
        zero_after: The number of periods after which it is 0; None for never.
    """

    def restart_decay_fn(global_step: Any) -> Any:
        if global_step is None:
            raise ValueError("global_step is required for cosine_decay.")
        step = tf.minimum(tf.cast(global_step, tf.int32), decay_steps)
        done = num_periods * tf.cast(step, tf.float32) / tf.cast(decay_steps, tf.float32)
        decayed = 0.5 * (1.0 + tf.cos(tf.constant(math.pi) * tf.math.floormod(done, 1.0)))
        if zero_after is not None:
            decayed = tf.where(done >= zero_after, tf.zeros_like(decayed), decayed)
        return decayed

    return restart_decay_fn
