"""Static shapes that 1.15.5 inferred and today's TensorFlow does not.

Found among 3,900 calls (those of tests/golden/cases/static_shapes.txt and of seed_calls.py): nowhere else did 1.15.5
know more, but for a ``tf.sparse_placeholder`` of a known shape, which could not be fed there.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

__all__ = ["apply"]


def apply(face: Any) -> None:
    """Let the functions set the shapes, once a process."""
    gen_nn_ops: Any = importlib.import_module("tensorflow.python.ops.gen_nn_ops")
    gen_nn_ops.conv2d_backprop_input = _of_given_size(gen_nn_ops.conv2d_backprop_input, face)
    image_ops: Any = importlib.import_module("tensorflow.python.ops.image_ops_impl")
    image_ops.rot90 = face.image.rot90 = _of_one_image(face.image.rot90)
    image_ops.transpose = face.image.transpose = face.image.transpose_image = _of_one_image(face.image.transpose)


def _of_given_size(original: Any, tf: Any) -> Any:
    """The result has the size that is given, batch included: so have all transposed convolutions in two dimensions."""
    tensor_util: Any = importlib.import_module("tensorflow.python.framework.tensor_util")

    @functools.wraps(original)
    def conv2d_backprop_input(input_sizes: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(input_sizes, *args, **kwargs)
        if not tf.executing_eagerly():
            # a list is not made a tensor: that would be an operation more
            known = tensor_util.constant_value_as_shape(input_sizes) if tf.is_tensor(input_sizes) else input_sizes
            result.set_shape(known)
        return result

    return conv2d_backprop_input


def _of_one_image(original: Any) -> Any:
    """An image of which not even the rank is known is one image, and no batch."""

    @functools.wraps(original)
    def function(image: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(image, *args, **kwargs)
        if result.shape.rank is None:
            result.set_shape([None, None, None])
        return result

    return function
