"""Generalized divisive normalization: each channel divided by a root of a weighted sum of all channels' squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime import tf1 as tf

__all__ = ["GDN", "gdn"]


class GDN(tf.layers.Layer):  # type: ignore[misc]
    """The layer of :func:`gdn`, for inputs [B, ..., C] of rank 3 to 5.

    Args:
        inverse: Whether the inputs are multiplied by the root, where they are divided by it: an approximate inverse.
        beta_min: The least ``beta``.
        gamma_init: ``gamma`` is this on its diagonal at first, and 0 elsewhere; ``beta`` is 1.
        reparam_offset: Keeps the gradients of the variables, which are roots of ``beta`` and ``gamma``, from vanishing.
        data_format: "channels_last", or "channels_first" for [B, C, ...].
        activity_regularizer: A function of the output, or None.
        trainable: Whether the variables are trained.
        name: The name of the layer.
        **kwargs: Arguments of any layer.

    Attributes:
        beta: What is added to the sum, [C].
        gamma: The weights, [C, C]: those of channel j for channel i at [j, i].

    Raises:
        ValueError: ``data_format`` is another, or the inputs' rank is, or their channels are not known.
    """

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2**-18,
        data_format: str = "channels_last",
        activity_regularizer: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        if data_format not in ("channels_last", "channels_first"):
            raise ValueError(f"Unsupported `data_format` for GDN layer: {data_format}.")
        self.inverse = inverse
        self.data_format = data_format
        self._beta_min = beta_min
        self._gamma_init = gamma_init
        self._offset = reparam_offset
        self.input_spec = tf.layers.InputSpec(min_ndim=3, max_ndim=5)

    def build(self, input_shape: Any) -> None:
        """Makes the variables ``reparam_beta`` and ``reparam_gamma`` for inputs of ``input_shape``."""
        shape = tf.TensorShape(input_shape)
        axis = self._channel_axis(shape.rank)
        channels = shape.as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self.input_spec = tf.layers.InputSpec(min_ndim=3, max_ndim=5, axes={axis: channels})
        least = (self._beta_min + self._offset**2) ** 0.5
        self.beta = self._parameter("reparam_beta", np.ones([channels]), least)
        self.gamma = self._parameter("reparam_gamma", self._gamma_init * np.eye(channels), self._offset)
        super().build(input_shape)

    def _parameter(self, name: str, start: Any, least: float) -> Any:
        """A parameter that is ``start`` at first, of a variable: its root, which counts as ``least`` if it is less."""
        root = self.add_weight(
            name,
            shape=start.shape,
            dtype=self.dtype,
            initializer=tf.constant_initializer(np.sqrt(start + self._offset**2)),
            trainable=True,
        )
        return tf.square(_at_least(root, least)) - self._offset**2

    def _channel_axis(self, rank: int) -> int:
        return 1 if self.data_format == "channels_first" else rank - 1

    def call(self, inputs: Any) -> Any:
        """The normalized inputs, of the same shape."""
        inputs = tf.convert_to_tensor(inputs, dtype=self.dtype)
        rank = inputs.shape.rank
        axis = self._channel_axis(rank)
        sums = tf.tensordot(tf.square(inputs), self.gamma, [[axis], [0]]) + self.beta
        if axis != rank - 1:
            sums = tf.transpose(sums, [0, rank - 1, *range(1, rank - 1)])
        root = tf.sqrt(sums)
        outputs = inputs * root if self.inverse else inputs / root
        outputs.set_shape(inputs.shape)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the inputs."""
        return tf.TensorShape(input_shape)


def _at_least(value: Any, least: float) -> Any:
    """``value``, or ``least`` where that is more; the gradient of it passes where it would raise ``value``."""

    def bounded(value: Any) -> Any:
        def backward(grad: Any) -> Any:
            return tf.cast((value >= bound) | (grad < 0), grad.dtype) * grad

        return tf.maximum(value, bound), backward

    value = tf.convert_to_tensor(value)
    bound = tf.constant(least, value.dtype)
    return tf.custom_gradient(bounded)(value)


def gdn(
    inputs: Any,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2**-18,
    data_format: str = "channels_last",
    activity_regularizer: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> Any:
    """Generalized divisive normalization (arXiv:1511.06281): ``x[i] / sqrt(beta[i] + sum_j gamma[j, i] * x[j]**2)``.

    Args:
        inputs: [B, ..., C], of rank 3 to 5.
        inverse: Whether the inputs are multiplied by the root, where they are divided by it: an approximate inverse.
        beta_min: The least ``beta``.
        gamma_init: ``gamma`` is this on its diagonal at first, and 0 elsewhere; ``beta`` is 1.
        reparam_offset: Keeps the gradients of the variables, which are roots of ``beta`` and ``gamma``, from vanishing.
        data_format: "channels_last", or "channels_first" for [B, C, ...].
        activity_regularizer: A function of the output, or None.
        trainable: Whether the variables are trained.
        name: The layer's variable scope.
        reuse: Whether the layer's variables are those that are there.

    Raises:
        ValueError: ``data_format`` is another, or the inputs' rank is, or their channels are not known.
    """
    inputs = tf.convert_to_tensor(inputs)
    layer = GDN(
        inverse,
        beta_min,
        gamma_init,
        reparam_offset,
        data_format,
        activity_regularizer,
        trainable,
        name,
        dtype=inputs.dtype.base_dtype,
        _scope=name,
        _reuse=reuse,
    )
    return layer(inputs)
