"""Bijectors with networks or layers inside: normalizing flows, and batch normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....runtime import tf1 as tf
from .base import Bijector

__all__ = [
    "BatchNormalization",
    "MaskedAutoregressiveFlow",
    "RealNVP",
    "masked_autoregressive_default_template",
    "masked_dense",
    "real_nvp_default_template",
]


class MaskedAutoregressiveFlow(Bijector):  # type: ignore[misc]
    """An affine map of each element, by a shift and a scale that are functions of the elements before it.

    ``shift_and_log_scale_fn`` takes [..., D] and returns two such tensors, each of which may be None for none. The
    inverse calls it once, ``forward`` D times.
    """

    def __init__(
        self,
        shift_and_log_scale_fn: Callable[..., tuple[Any, Any]],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ) -> None:
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _step(self, x: Any, y: Any) -> Any:
        shift, log_scale = self._shift_and_log_scale_fn(y)
        result = x if log_scale is None else x * tf.exp(log_scale)
        return result if shift is None else result + shift

    def _forward(self, x: Any) -> Any:
        size = tf.compat.dimension_value(x.shape[-1]) if x.shape.ndims is not None else None
        y = tf.zeros_like(x, name="y0")
        if self._unroll_loop:
            if size is None:
                raise ValueError("The final dimension of `x` must be known at graph construction time")
            for _ in range(size):
                y = self._step(x, y)
            return y
        # the first step makes the function's variables outside of the loop
        y = self._step(x, y)
        _, y = tf.while_loop(
            cond=lambda index, _: index < (tf.shape(x)[-1] if size is None else size),
            body=lambda index, y0: (index + 1, self._step(x, y0)),
            loop_vars=(1, y),
        )
        return y

    def _inverse(self, y: Any) -> Any:
        shift, log_scale = self._shift_and_log_scale_fn(y)
        x = y if shift is None else y - shift
        return x if log_scale is None else x * tf.exp(-log_scale)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        _, log_scale = self._shift_and_log_scale_fn(y)
        if log_scale is None:
            return tf.constant(0.0, dtype=y.dtype, name="ildj")
        return -tf.reduce_sum(log_scale, axis=-1)


def _mask(blocks: int, size_in: int, size_out: int, exclusive: bool, dtype: Any) -> Any:
    """Return the inputs that an output sees, [size_in, size_out]: of earlier blocks, without ``exclusive`` its own."""
    block_in = np.arange(size_in) // (size_in // blocks)
    block_out = np.arange(size_out) // (size_out // blocks)
    # what is beyond the last whole block sees all, and is seen by none
    block_in = np.where(block_in >= blocks, size_in + size_out, block_in)
    block_out = np.minimum(block_out, blocks)
    seen = block_in[:, None] < block_out if exclusive else block_in[:, None] <= block_out
    return seen.astype(dtype.as_numpy_dtype)


def masked_dense(
    inputs: Any,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: Any = None,
    reuse: bool | None = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Apply a dense layer whose kernel is masked, so that output block i depends on input blocks up to i.

    Args:
        inputs: [..., D], with a known D.
        units: How many outputs.
        num_blocks: How many blocks.
        exclusive: Whether an output block is independent of the input block of its own number.
        kernel_initializer: Makes the kernel, before its mask; Glorot's normal one without it.
        reuse: Whether the layer's variables are there.
        name: The layer's name.
        *args: What else ``tf.layers.Dense`` takes.
        **kwargs: What else ``tf.layers.Dense`` takes by name.
    """
    size = tf.compat.dimension_value(inputs.shape.with_rank_at_least(1)[-1])
    if size is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    mask = _mask(num_blocks or 1, size, units, exclusive, inputs.dtype)
    initial = kernel_initializer or tf.glorot_normal_initializer()

    def masked_initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return mask * (initial(shape, dtype, partition_info) if partition_info else initial(shape, dtype))

    with tf.name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        layer = tf.layers.Dense(
            units,
            *args,
            kernel_initializer=masked_initializer,
            kernel_constraint=lambda x: mask * x,
            name=name,
            dtype=inputs.dtype.base_dtype,
            _scope=name,
            _reuse=reuse,
            **kwargs,
        )
        return layer.apply(inputs)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _clip_passing_gradients(t: Any, low: Any, high: Any) -> Any:
    return tf.clip_by_value(t, low, high), lambda upstream: (upstream, tf.zeros_like(low), tf.zeros_like(high))


def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Any = tf.nn.relu,
    log_scale_min_clip: float = -5.0,
    log_scale_max_clip: float = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Return a template of masked dense layers that gives a shift and a log scale: MADE.

    Args:
        hidden_layers: Units of the hidden layers.
        shift_only: Whether there is no log scale.
        activation: Of the hidden layers.
        log_scale_min_clip: The least log scale.
        log_scale_max_clip: The greatest log scale.
        log_scale_clip_gradient: Whether a clipped log scale has a gradient of 0.
        name: The template's name.
        *args: What else ``tf.layers.Dense`` takes.
        **kwargs: What else ``tf.layers.Dense`` takes by name.
    """
    name = name or "masked_autoregressive_default_template"
    with tf.name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):

        def shift_and_log_scale(x: Any) -> tuple[Any, Any]:
            size = tf.compat.dimension_value(x.shape.with_rank_at_least(1)[-1])
            if size is None:
                raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
            shape = [-1 if each is None else each for each in x.shape.as_list()]
            shape = tf.shape(x) if shape.count(-1) > 1 else shape
            for index, units in enumerate(hidden_layers):
                x = masked_dense(x, units, size, index == 0, activation=activation, *args, **kwargs)  # noqa: B026
            outputs = size if shift_only else 2 * size
            x = masked_dense(x, outputs, size, not hidden_layers, activation=None, *args, **kwargs)  # noqa: B026
            if shift_only:
                return tf.reshape(x, shape), None
            shift, log_scale = tf.unstack(tf.reshape(x, tf.concat([shape, [2]], axis=0)), num=2, axis=-1)
            clip = tf.clip_by_value if log_scale_clip_gradient else _clip_passing_gradients
            low, high = (
                tf.convert_to_tensor(limit, dtype=log_scale.dtype) for limit in (log_scale_min_clip, log_scale_max_clip)
            )
            return shift, clip(log_scale, low, high)

        return tf.make_template(name, shift_and_log_scale)


class RealNVP(Bijector):  # type: ignore[misc]
    """An affine map of the last elements of a vector, by functions of its first ``num_masked`` ones.

    ``shift_and_log_scale_fn`` takes the first ones and the number of the others, and returns the shift and the log
    scale for these; each may be None for none.
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Callable[..., tuple[Any, Any]],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._input_depth: int | None = None
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "real_nvp",
        )

    def _parts(self, x: Any) -> tuple[Any, Any, Any, Any]:
        """The first elements, the others, their shift and their log scale."""
        if self._input_depth is None:
            self._input_depth = tf.compat.dimension_value(x.shape.with_rank_at_least(1)[-1])
            if self._input_depth is None:
                raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
            if self._num_masked >= self._input_depth:
                raise ValueError("Number of masked units must be smaller than the event size.")
        first, rest = x[..., : self._num_masked], x[..., self._num_masked :]
        shift, log_scale = self._shift_and_log_scale_fn(first, self._input_depth - self._num_masked)
        return first, rest, shift, log_scale

    def _forward(self, x: Any) -> Any:
        first, rest, shift, log_scale = self._parts(x)
        if log_scale is not None:
            rest = rest * tf.exp(log_scale)
        return tf.concat([first, rest if shift is None else rest + shift], axis=-1)

    def _inverse(self, y: Any) -> Any:
        first, rest, shift, log_scale = self._parts(y)
        if shift is not None:
            rest = rest - shift
        return tf.concat([first, rest if log_scale is None else rest * tf.exp(-log_scale)], axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        log_scale = self._parts(y)[3]
        if log_scale is None:
            return tf.constant(0.0, dtype=y.dtype, name="ildj")
        return -tf.reduce_sum(log_scale, axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        log_scale = self._parts(x)[3]
        if log_scale is None:
            return tf.constant(0.0, dtype=x.dtype, name="fldj")
        return tf.reduce_sum(log_scale, axis=-1)


def real_nvp_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Any = tf.nn.relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Return a template of dense layers that gives the shift and the log scale of :class:`RealNVP`.

    Args:
        hidden_layers: Units of the hidden layers.
        shift_only: Whether there is no log scale.
        activation: Of the hidden layers.
        name: The template's name.
        *args: What else ``tf.layers.dense`` takes.
        **kwargs: What else ``tf.layers.dense`` takes by name.
    """
    name = name or "real_nvp_default_template"
    with tf.name_scope(name):

        def shift_and_log_scale(x: Any, output_units: int) -> tuple[Any, Any]:
            vector = x.shape.ndims == 1
            if vector:
                x = x[tf.newaxis, ...]
            for units in hidden_layers:
                x = tf.layers.dense(x, units, activation, *args, **kwargs)
            x = tf.layers.dense(x, (1 if shift_only else 2) * output_units, None, *args, **kwargs)
            if vector:
                x = x[0]
            if shift_only:
                return x, None
            shift, log_scale = tf.split(x, 2, axis=-1)
            return shift, log_scale

        # as in 1.15.5, the variables' scope has this name always
        return tf.make_template("real_nvp_default_template", shift_and_log_scale)


def _undo_batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, epsilon: float) -> Any:
    deviation = tf.sqrt(variance + epsilon)
    if scale is not None:
        deviation = deviation / scale
    if offset is not None:
        x = x - offset
    return x * deviation + mean


class BatchNormalization(Bijector):  # type: ignore[misc]
    """A bijector whose inverse normalizes a batch, by a layer, and whose ``forward`` undoes that."""

    def __init__(
        self,
        batchnorm_layer: Any = None,
        training: bool = True,
        validate_args: bool = False,
        name: str = "batch_normalization",
    ) -> None:
        positive = tf.nn.relu
        self.batchnorm = batchnorm_layer or tf.layers.BatchNormalization(
            gamma_constraint=lambda gamma: positive(gamma) + 1e-6
        )
        if not isinstance(self.batchnorm, (tf.layers.BatchNormalization, tf.keras.layers.BatchNormalization)):
            raise ValueError("batchnorm_layer must be an instance of tf.layers.BatchNormalization")
        if getattr(self.batchnorm, "renorm", False):
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if getattr(self.batchnorm, "virtual_batch_size", None):
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self._training = training
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _axes(self) -> list[int]:
        axis = self.batchnorm.axis
        return [axis] if isinstance(axis, int) else list(axis)

    def _broadcast(self, x: Any) -> Callable[[Any], Any]:
        """A function that gives a layer's variable the rank of ``x``."""
        axes = [axis % x.shape.ndims for axis in self._axes()]
        if axes == [x.shape.ndims - 1]:
            return lambda v: v
        shape = [x.shape[axis] if axis in axes else 1 for axis in range(x.shape.ndims)]
        return lambda v: None if v is None else tf.reshape(v, shape)

    def _forward(self, x: Any) -> Any:
        if not self.batchnorm.built:
            self.batchnorm.build(x.shape)
        to, layer = self._broadcast(x), self.batchnorm
        return _undo_batch_normalization(
            x,
            to(layer.moving_mean),
            to(layer.moving_variance),
            to(layer.beta) if layer.center else None,
            to(layer.gamma) if layer.scale else None,
            layer.epsilon,
        )

    def _inverse(self, y: Any) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _log_det(self, y: Any, saved: bool) -> Any:
        """The inverse's, by the moments of ``y`` or by those that the layer has ``saved``."""
        if not y.shape.is_fully_defined() and y.shape.ndims is None:
            raise ValueError("Input must have shape known at graph construction.")
        shape = y.shape.as_list()
        if not self.batchnorm.built:
            self.batchnorm.build(y.shape)
        axes = [axis % len(shape) for axis in self._axes()]
        if saved or not self._training:
            variance = self.batchnorm.moving_variance
        else:
            _, variance = tf.nn.moments(y, axes=[i for i in range(len(shape)) if i not in axes], keep_dims=True)
        total = -0.5 * tf.reduce_sum(tf.log(variance + self.batchnorm.epsilon))
        if self.batchnorm.gamma is not None:
            total = total + tf.reduce_sum(tf.log(self.batchnorm.gamma))
        # elements of an event that share a normalization
        return total

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._log_det(y, saved=False)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -self._log_det(x, saved=True)
