"""Bijectors of vectors, and of an event's shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....runtime import tf1 as tf
from ..common import checked, parameter
from .base import Bijector

__all__ = ["Ordered", "Permute", "Reshape", "SoftmaxCentered"]


class Ordered(Bijector):  # type: ignore[misc]
    """Maps an increasing vector to one without order: its first element, and the logarithms of the differences."""

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _valid_x(self, x: Any) -> Any:
        message = "Forward transformation input must be strictly increasing."
        return checked(self.validate_args, x, lambda t: tf.assert_positive(t[..., 1:] - t[..., :-1], message=message))

    def _forward(self, x: Any) -> Any:
        x = self._valid_x(x)
        return tf.concat([x[..., :1], tf.log(x[..., 1:] - x[..., :-1])], axis=-1)

    def _inverse(self, y: Any) -> Any:
        return tf.cumsum(tf.concat([y[..., :1], tf.exp(y[..., 1:])], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._valid_x(x)
        return -tf.reduce_sum(tf.log(x[..., 1:] - x[..., :-1]), axis=-1)


class Permute(Bijector):  # type: ignore[misc]
    """Reorders the last dimension: element i of y is element ``permutation[i]`` of x."""

    permutation = parameter("permutation", "The order, [N].")

    def __init__(self, permutation: Any, validate_args: bool = False, name: str | None = None) -> None:
        with tf.name_scope(name or "permute", values=[permutation]):
            permutation = tf.convert_to_tensor(permutation, name="permutation")
            if not permutation.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({permutation.dtype.name}) should be `int`-like.")
            known = tf.get_static_value(permutation)
            message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
            if known is not None and not np.array_equal(np.sort(known), np.arange(known.size)):
                raise ValueError(message)
            self._permutation = checked(
                validate_args and known is None,
                permutation,
                lambda t: tf.assert_equal(tf.sort(t), tf.range(tf.size(t), dtype=t.dtype), message=message),
            )
        super().__init__(
            forward_min_event_ndims=1,
            graph_parents=[self._permutation],
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "permute",
        )

    def _forward(self, x: Any) -> Any:
        return tf.gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return tf.gather(y, tf.invert_permutation(self.permutation), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.constant(0.0, dtype=y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.constant(0.0, dtype=x.dtype.base_dtype)


class Reshape(Bijector):  # type: ignore[misc]
    """Reshapes an event from ``event_shape_in`` to ``event_shape_out``, each with one -1 at most."""

    def __init__(
        self,
        event_shape_out: Any,
        event_shape_in: Any = (-1,),
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        with tf.name_scope(name or "reshape", values=[event_shape_out, event_shape_in]):
            shapes = []
            checks: list[Any] = []
            for key, shape in (("event_shape_out", event_shape_out), ("event_shape_in", event_shape_in)):
                shape = tf.convert_to_tensor(shape, name=key, preferred_dtype=tf.int32)
                checks += self._checks(shape, validate_args)
                shapes.append(shape)
            out, into = shapes
            if checks:
                with tf.control_dependencies(checks):
                    out, into = tf.identity(out), tf.identity(into)
        self._out, self._in = out, into
        super().__init__(
            # as in 1.15.5, whatever the rank of an event is
            forward_min_event_ndims=0,
            inverse_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "reshape",
        )

    @staticmethod
    def _checks(shape: Any, validate_args: bool) -> list[Any]:
        if not shape.dtype.is_integer:
            raise TypeError(f"{shape.op.name} dtype ({shape.dtype.name}) should be `int`-like.")
        if shape.shape.ndims is not None and shape.shape.ndims > 1:
            raise ValueError(f"`{shape.op.name}` rank should be <= 1.")
        known = tf.get_static_value(shape)
        if known is not None:
            if (known == -1).sum() > 1:
                raise ValueError(f"`{shape.op.name}` must have at most one `-1` (given {known})")
            if (known < -1).any():
                raise ValueError(f"`{shape.op.name}` elements must be positive integers or `-1` (given {known}).")
            return []
        if not validate_args:
            return []
        unknown = tf.reduce_sum(tf.cast(tf.equal(shape, -1), tf.int32))
        return [
            tf.assert_less(unknown, 2, message="elements must have at most one `-1`."),
            tf.assert_greater(shape, -2, message="elements must be either positive integers or `-1`."),
        ]

    def _reshape(self, x: Any, before: Any, after: Any) -> Any:
        rank = tf.compat.dimension_value(before.shape[0])
        lead = x.shape[: x.shape.ndims - rank] if x.shape.ndims is not None else None
        known_lead = lead.as_list() if lead is not None and lead.is_fully_defined() else tf.shape(x)[: -rank or None]
        if rank and self.validate_args:
            actual, wanted = tf.shape(x)[-rank:], before
            same = tf.logical_or(tf.equal(wanted, -1), tf.equal(actual, wanted))
            with tf.control_dependencies([tf.Assert(tf.reduce_all(same), ["Input event shape", actual, wanted])]):
                x = tf.identity(x)
        y = tf.reshape(x, tf.concat([known_lead, after], axis=0))
        known = tf.get_static_value(after)
        if lead is not None and known is not None:
            y.set_shape(lead.concatenate([None if size == -1 else int(size) for size in known]))
        return y

    def _forward(self, x: Any) -> Any:
        return self._reshape(x, self._in, self._out)

    def _inverse(self, y: Any) -> Any:
        return self._reshape(y, self._out, self._in)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.constant(0.0, dtype=x.dtype)

    @staticmethod
    def _known_shape(shape: Any, before: Any, after: Any) -> Any:
        old, new = tf.get_static_value(before), tf.get_static_value(after)
        rank = tf.compat.dimension_value(before.shape[0])
        if old is None or new is None or shape.ndims is None:
            return tf.TensorShape(None)
        event = shape[shape.ndims - rank :]
        if not event.is_compatible_with([None if size == -1 else int(size) for size in old]):
            raise ValueError(f"Input `event_shape` does not match `event_shape_in` ({event} vs {old}).")
        sizes: list[int | None] = [int(size) for size in new]
        if -1 in sizes:
            at = sizes.index(-1)
            rest = math.prod([size for size in sizes if size is not None and size != -1])
            sizes[at] = event.num_elements() // rest if event.is_fully_defined() else None
        return shape[: shape.ndims - rank].concatenate(sizes)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._known_shape(input_shape, self._in, self._out)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._known_shape(output_shape, self._out, self._in)

    @staticmethod
    def _shape_tensor(shape: Any, before: Any, after: Any) -> Any:
        rank = tf.compat.dimension_value(before.shape[0])
        size = tf.shape(shape)[0]
        lead, event = shape[: size - rank], shape[size - rank :]
        rest = tf.reduce_prod(tf.where(tf.equal(after, -1), tf.ones_like(after), after))
        event = tf.where(tf.equal(after, -1), tf.fill(tf.shape(after), tf.reduce_prod(event) // rest), after)
        return tf.concat([lead, event], axis=0)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._shape_tensor(input_shape, self._in, self._out)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._shape_tensor(output_shape, self._out, self._in)


class SoftmaxCentered(Bijector):  # type: ignore[misc]
    """Maps a vector to a point of the simplex with one element more: the softmax of it and a 0."""

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        if input_shape.ndims is None or input_shape[-1] is None:
            return input_shape
        size = tf.compat.dimension_value(input_shape[-1])
        return input_shape[:-1].concatenate([None if size is None else size + 1])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return tf.concat([input_shape[:-1], input_shape[-1:] + 1], axis=0)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        if output_shape.ndims is None:
            return output_shape
        size = tf.compat.dimension_value(output_shape[-1])
        if size is not None and size <= 1:
            raise ValueError(f"output_shape[-1] = {size} <= 1")
        return output_shape[:-1].concatenate([None if size is None else size - 1])

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return tf.concat([output_shape[:-1], output_shape[-1:] - 1], axis=0)

    def _forward(self, x: Any) -> Any:
        y = tf.concat([x, tf.zeros_like(x[..., :1])], axis=-1)
        return tf.nn.softmax(y)

    def _inverse(self, y: Any) -> Any:
        logs = tf.log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -tf.reduce_sum(tf.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        size = tf.cast(tf.shape(x)[-1] + 1, x.dtype)
        total = tf.nn.softplus(tf.reduce_logsumexp(x, axis=-1, keepdims=True))
        return tf.squeeze(tf.reduce_sum(x, axis=-1, keepdims=True) - size * total, axis=-1)
