"""Functions that TensorFlow 1 composed of other operations, so that they gave other bits, or another type.

Data flow: :func:`apply` replaces them inside TensorFlow, for whoever calls them. Those that draw are as they were only
where seeds are TensorFlow 1's (seeds.py): they make other numbers of operations than today's.

The table of what differs besides is in migration_notes/fidelity.md.
"""

from __future__ import annotations

import functools
import importlib
import numbers
from types import ModuleType
from typing import Any

from . import seeds

__all__ = ["apply"]


def apply(face: ModuleType) -> None:
    """Replace the functions, once a process."""
    nn_ops: Any = importlib.import_module("tensorflow.python.ops.nn_ops")
    nn_ops._dropout = _with_dropout(nn_ops, face)
    face.image.per_image_standardization = _with_type(face)


def _with_dropout(nn_ops: Any, tf: Any) -> Any:
    """It multiplied by the mask: dropped negative numbers are -0, and a rate that is fed is rounded otherwise.

    Today's divides by what is kept, and selects.
    """
    original = nn_ops._dropout

    @functools.wraps(original)
    def dropout(
        x: Any, rate: Any, noise_shape: Any, uniform_sampler: Any, dummy_rng_step: Any, name: Any, default_name: str
    ) -> Any:
        is_number = isinstance(rate, numbers.Real)
        dtype = getattr(x, "dtype", None)
        is_other_type = not is_number and getattr(rate, "dtype", None) != dtype
        if default_name != "dropout" or not seeds.are_counted() or (is_number and not 0 < rate < 1) or is_other_type:
            return original(x, rate, noise_shape, uniform_sampler, dummy_rng_step, name, default_name)
        with tf.name_scope(name, default_name, [x]):
            x = tf.convert_to_tensor(x, name="x")
            if not tf.executing_eagerly():
                rate = tf.convert_to_tensor(rate, x.dtype, name="rate")
                rate.shape.assert_has_rank(0)
                if tf.get_static_value(rate) == 0:
                    return x
            drawn = uniform_sampler(shape=nn_ops._get_noise_shape(x, noise_shape), dtype=x.dtype)
            scale = 1 / (1 - rate)
            kept = tf.cast(drawn >= rate, x.dtype)
            result = x * scale * kept
            if not tf.executing_eagerly():
                result.set_shape(x.shape)
            return result

    return dropout


def _with_type(tf: Any) -> Any:
    """What is neither float16 nor float32 was scaled to [0, 1] before, and back to its type, saturating, after."""
    image_ops: Any = importlib.import_module("tensorflow.python.ops.image_ops_impl")

    @functools.wraps(image_ops.per_image_standardization)
    def per_image_standardization(image: Any) -> Any:
        image = tf.convert_to_tensor(image, name="image")
        if image.dtype in (tf.float16, tf.float32):
            return image_ops.per_image_standardization(image)
        scaled = tf.image.convert_image_dtype(image, tf.float32)
        return tf.image.convert_image_dtype(image_ops.per_image_standardization(scaled), image.dtype, saturate=True)

    return per_image_standardization
