"""Checks of tensors: their types, and shapes that are known or found when the graph runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...runtime import tf1 as tf

__all__ = [
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_scalar_int",
    "convert_to_tensor_or_sparse_tensor",
    "is_tensor",
    "reduce_sum_n",
    "remove_squeezable_dimensions",
    "with_same_shape",
    "with_shape",
]


def is_tensor(x: Any) -> bool:
    """Whether ``x`` is a tensor, a sparse tensor, a ragged tensor or a variable."""
    return bool(tf.is_tensor(x))


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: Any = None) -> Any:
    """The floating type that all ``tensors`` and ``dtype`` have; float32 without any of them.

    Raises:
        ValueError: They differ, or the type is no floating type.
    """
    return tf.debugging.assert_same_float_dtype(tensors, dtype)


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Any:
    """``tensor`` as a tensor; a ``ValueError`` if it is known not to be a scalar."""
    return tf.debugging.assert_scalar(tensor, name=name, message=message)


def assert_scalar_int(tensor: Any, name: str | None = None) -> Any:
    """``tensor`` as a tensor; a ``ValueError`` if it is known not to be a scalar of a whole-number type."""
    with tf.name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = tf.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(f"Expected integer type for {tensor.name}, received type: {tensor.dtype}.")
        return tf.debugging.assert_scalar(tensor, name=scope)


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """``value`` as a ``SparseTensor`` if it is one, or a ``SparseTensorValue``, else as a ``Tensor``."""
    return tf.convert_to_tensor_or_sparse_tensor(value, dtype, name)


def reduce_sum_n(tensors: Sequence[Any], name: str | None = None) -> Any:
    """The sum of all elements of all ``tensors``, a scalar."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with tf.name_scope(name, "reduce_sum_n", tensors) as scope:
        parts = [tensor if tensor.shape.rank == 0 else tf.reduce_sum(tensor) for tensor in tensors]
        return tf.add_n(parts, name=scope)


def remove_squeezable_dimensions(predictions: Any, labels: Any, name: str | None = None) -> tuple[Any, Any]:
    """``predictions`` and ``labels``; if one's rank is one more, without its last dimension, which has to be 1.

    Raises:
        ValueError: It is known to be another.
    """
    with tf.name_scope(name, "remove_squeezable_dimensions", [predictions, labels]):
        predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
        if predictions.shape.rank is not None and labels.shape.rank is not None:
            more = predictions.shape.rank - labels.shape.rank
            if more == 1:
                predictions = tf.squeeze(predictions, [-1])
            elif more == -1:
                labels = tf.squeeze(labels, [-1])
            return predictions, labels
        difference = tf.rank(predictions) - tf.rank(labels)
        if predictions.shape.rank is None or predictions.shape[-1:].is_compatible_with([1]):
            wide = predictions
            predictions = tf.cond(tf.equal(difference, 1), lambda: tf.squeeze(wide, [-1]), lambda: wide)
        if labels.shape.rank is None or labels.shape[-1:].is_compatible_with([1]):
            tall = labels
            labels = tf.cond(tf.equal(difference, -1), lambda: tf.squeeze(tall, [-1]), lambda: tall)
        return predictions, labels


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """``tensor``, checked to have the shape of ``expected_tensor``: now if both are known, else when it runs."""
    with tf.name_scope(None, f"{tensor.op.name}/", [expected_tensor, tensor]):
        shape = expected_tensor.shape
        return with_shape(shape.as_list() if shape.is_fully_defined() else tf.shape(expected_tensor), tensor)


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """``tensor``, checked to have ``expected_shape``: now if both are known, else when the graph runs.

    Args:
        expected_shape: A list, a ``TensorShape`` or a 1-D tensor of whole numbers.
        tensor: The tensor.

    Raises:
        ValueError: The shapes are known and differ.
    """
    if isinstance(tensor, tf.SparseTensor):
        raise ValueError("SparseTensor not supported.")
    if isinstance(expected_shape, tf.TensorShape):
        expected_shape = expected_shape.as_list()
    if not is_tensor(expected_shape) and not len(expected_shape) and tensor.shape.is_compatible_with([1]):
        with tf.name_scope(f"{tensor.op.name}/"):
            return tf.reshape(tensor, [])  # one number, whatever its rank is
    known = tf.get_static_value(expected_shape) if is_tensor(expected_shape) else expected_shape
    if known is not None and None not in list(known):
        known = [int(size) for size in known]
        if not tensor.shape.is_compatible_with(known):
            raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {known}, got {tensor.shape}.")
        if tensor.shape.is_fully_defined() and not is_tensor(expected_shape):
            return tensor
    if not is_tensor(expected_shape):
        expected_shape = np.array([-1 if size is None else size for size in expected_shape], np.int32)
    with tf.name_scope(f"{tensor.op.name}/"):
        return _with_shape_found_late(expected_shape, known, tensor)


def _with_shape_found_late(expected: Any, known: Any, tensor: Any) -> Any:
    """The operations are 1.15.5's, for scripts' seeds: a size of -1 is any."""
    actual = tf.shape(tensor)
    is_rank = tf.equal(tf.size(expected), tf.rank(tensor))
    is_shape = tf.reduce_all(tf.equal(expected, -1) | tf.equal(expected, actual))
    check = tf.Assert(is_rank & is_shape, [f"Wrong shape for {tensor.name} [expected] [actual].", expected, actual])
    with tf.control_dependencies([check]):
        checked = tf.identity(tensor)
    if known is not None:
        checked.set_shape(known)
    return checked
