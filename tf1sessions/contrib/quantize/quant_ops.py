"""One tensor that is quantized: variables with its range, how they follow it, and the operation that rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...runtime import tf1 as tf
from .step import counted_step

__all__ = ["ACTIVATION", "SUMMAND", "WEIGHTS", "Role", "Settings", "quantized"]

_AVERAGE_DECAY = 0.999  # of the ranges of activations; those of weights are the last ones
_FIRST_HIGH = 6.0


@dataclass(frozen=True)
class Settings:
    """Settings by which the tensors of a graph are quantized."""

    is_training: bool
    weight_bits: int = 8
    activation_bits: int = 8
    symmetric: bool = False
    delay: int | None = None  # runs that go by before


@dataclass(frozen=True)
class Role:
    """The part that a tensor has in its layer."""

    first_low: float  # the least value, before any was seen
    of_weights: bool = False


WEIGHTS = Role(-6.0, of_weights=True)
ACTIVATION = Role(0.0)
SUMMAND = Role(-6.0)  # of an addition, or a sum that no activation follows


def quantized(tensor: Any, scope: str, settings: Settings, role: Role) -> Any:
    """Return ``tensor``, rounded to the 2**bits levels between its least and its largest value.

    Args:
        tensor: The weights of a layer, or an activation; of float32.
        scope: For the variables and operations.
        settings: How many bits, and when.
        role: For weights, the range is that of this run and not a moving average, and there is one level fewer (a
            narrow range), so that 0 is in the middle of a symmetric one.
    """
    of_weights = role.of_weights
    bits = settings.weight_bits if of_weights else settings.activation_bits
    with tf.variable_scope(None, default_name=scope, values=[tensor]):
        low = _limit("min", role.first_low)
        high = _limit("max", _FIRST_HIGH)
        if settings.is_training:
            low_now, high_now = _range_of(tensor, settings.symmetric, of_weights, bits)
            if of_weights:
                low = tf.assign(low, low_now, name="AssignMinLast")
                high = tf.assign(high, high_now, name="AssignMaxLast")
            else:
                low = _averaged(low, low_now, "AssignMinEma")
                high = _averaged(high, high_now, "AssignMaxEma")
        rounded = tf.quantization.fake_quant_with_min_max_vars(
            tensor, low, high, num_bits=bits, narrow_range=of_weights, name="FakeQuantWithMinMaxVars"
        )
        if not settings.delay:
            return rounded
        is_time = tf.greater_equal(counted_step(), settings.delay, name="activate_quant")
        return tf.cond(is_time, lambda: rounded, lambda: tensor, name="delayed_quant")


def _limit(name: str, value: float) -> Any:
    return tf.get_variable(
        name,
        [],
        initializer=tf.constant_initializer(value),
        trainable=False,
        collections=[tf.GraphKeys.GLOBAL_VARIABLES],
    )


def _range_of(tensor: Any, symmetric: bool, of_weights: bool, bits: int) -> tuple[Any, Any]:
    """The least and the largest value, of which 0 is always between them."""
    low = tf.reduce_min(tensor, name="BatchMin")
    high = tf.reduce_max(tensor, name="BatchMax")
    if not symmetric:
        return tf.minimum(low, 0.0, name="Minimum"), tf.maximum(high, 0.0, name="Maximum")
    # a range with one value more below 0 than above it, unless it is narrow
    ratio = -1.0 if of_weights else -((1 << bits) - 2) / (1 << bits)
    return tf.minimum(low, high / ratio, name="Minimum"), tf.maximum(high, low * ratio, name="Maximum")


def _averaged(limit: Any, value: Any, name: str) -> Any:
    """``limit`` after it took in ``value``: an average over the runs, without the weight of the zero it began with."""
    with tf.name_scope(name) as scope:
        share = tf.constant(1.0 - _AVERAGE_DECAY, name="decay")
        biased = tf.get_variable(f"{limit.op.name}/biased", [], initializer=tf.zeros_initializer(), trainable=False)
        count = tf.get_variable(f"{limit.op.name}/local_step", [], initializer=tf.zeros_initializer(), trainable=False)
        summed = tf.assign_sub(biased, (biased - value) * share, name="AssignSub")
        counted = tf.assign_add(count, 1.0, name="AssignAdd")
        return tf.assign(limit, summed / (1.0 - tf.pow(1.0 - share, counted)), name=scope)
