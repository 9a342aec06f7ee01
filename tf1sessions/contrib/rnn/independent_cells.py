"""Recurrent cells of tf.contrib.rnn whose units see only their own state, or whose products do not see the state."""

from __future__ import annotations

import math
from typing import Any

from ...runtime import tf1 as tf
from .core_rnn_cell import Activation, LayerRNNCell, LSTMStateTuple, UnitsState

__all__ = ["IndRNNCell", "IndyGRUCell", "IndyLSTMCell", "SRUCell"]


class _UnitsCell(UnitsState, LayerRNNCell):  # type: ignore[misc]
    """Base of the cells below: ``num_units`` is the size of output and state."""

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = tf.layers.InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or tf.tanh

    @staticmethod
    def _input_size(inputs_shape: Any) -> int:
        size = tf.TensorShape(inputs_shape).as_list()[1]
        if size is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        return int(size)


class IndRNNCell(_UnitsCell):
    """An RNN whose units see only their own state (arXiv:1803.04831).

    Args:
        num_units: The size of state and output.
        activation: Of the state; tanh if None.
        reuse: Whether the variables exist already.
        name: Of the scope.
        dtype: Of the variables.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables for inputs of ``inputs_shape`` [B, N]."""
        size = self._input_size(inputs_shape)
        self._kernel_w = self.add_weight("kernel_w", shape=[size, self._num_units])
        self._kernel_u = self.add_weight(
            "kernel_u", shape=[1, self._num_units], initializer=tf.random_uniform_initializer(-1, 1)
        )
        self._bias = self.add_weight("bias", shape=[self._num_units], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and a state [B, num_units]."""
        gates = tf.matmul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(tf.nn.bias_add(gates, self._bias))
        return output, output


class IndyGRUCell(_UnitsCell):
    """A GRU whose units see only their own state.

    Args:
        num_units: The size of state and output.
        activation: Of the new state; tanh if None.
        reuse: Whether the variables exist already.
        kernel_initializer: Of the weights of the inputs.
        bias_initializer: Of the biases.
        name: Of the scope.
        dtype: Of the variables.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables for inputs of ``inputs_shape`` [B, N]."""
        size, units = self._input_size(inputs_shape), self._num_units
        scale = 1.0 / math.sqrt(units)
        weights = []
        for scope, name, parts, bias in (
            ("gates", "kernel_w", 2, tf.constant_initializer(1.0)),
            ("candidate", "kernel", 1, tf.zeros_initializer()),
        ):
            weights += [
                self.add_weight(f"{scope}/{name}", [size, parts * units], initializer=self._kernel_initializer),
                self.add_weight(
                    f"{scope}/kernel_u", [1, parts * units], initializer=tf.random_uniform_initializer(-scale, scale)
                ),
                self.add_weight(f"{scope}/bias", [parts * units], initializer=self._bias_initializer or bias),
            ]
        self._gates, self._candidate = weights[:3], weights[3:]
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and a state [B, num_units]."""
        kernel, kernel_u, bias = self._gates
        gates = tf.matmul(inputs, kernel) + tf.tile(state, [1, 2]) * kernel_u
        r, u = tf.split(value=tf.sigmoid(tf.nn.bias_add(gates, bias)), num_or_size_splits=2, axis=1)
        kernel, kernel_u, bias = self._candidate
        candidate = self._activation(tf.nn.bias_add(tf.matmul(inputs, kernel) + r * state * kernel_u, bias))
        new = u * state + (1 - u) * candidate
        return new, new


class IndyLSTMCell(_UnitsCell):
    """An LSTM whose units see only their own state (arXiv:1903.08023).

    Args:
        num_units: The size of state and output.
        forget_bias: Added to the forget gate.
        activation: Of the new values and the state; tanh if None.
        reuse: Whether the variables exist already.
        kernel_initializer: Of the weights of the inputs.
        bias_initializer: Of the bias.
        name: Of the scope.
        dtype: Of the variables.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Activation | None = None,
        reuse: bool | None = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)
        self._forget_bias = forget_bias
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables for inputs of ``inputs_shape`` [B, N]."""
        size, units = self._input_size(inputs_shape), self._num_units
        scale = 1.0 / math.sqrt(units)
        self._kernel_w = self.add_weight("kernel_w", [size, 4 * units], initializer=self._kernel_initializer)
        self._kernel_u = self.add_weight(
            "kernel_u", [1, 4 * units], initializer=tf.random_uniform_initializer(-scale, scale)
        )
        initializer = self._bias_initializer or tf.zeros_initializer()
        self._bias = self.add_weight("bias", [4 * units], initializer=initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and an ``LSTMStateTuple``."""
        c, h = state
        gates = tf.matmul(inputs, self._kernel_w) + tf.tile(h, [1, 4]) * self._kernel_u
        i, j, f, o = tf.split(value=tf.nn.bias_add(gates, self._bias), num_or_size_splits=4, axis=1)
        new_c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(j)
        new_h = self._activation(new_c) * tf.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class SRUCell(_UnitsCell):
    """A simple recurrent unit: its products do not depend on its state (arXiv:1709.02755).

    Args:
        num_units: The size of state and output.
        activation: Of the state; tanh if None.
        reuse: Whether the variables exist already.
        name: Of the scope.
        **kwargs: Such as ``dtype``.
    """

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, **kwargs)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables for inputs of ``inputs_shape`` [B, N]."""
        size = self._input_size(inputs_shape)
        self._kernel = self.add_weight("kernel", shape=[size, 4 * self._num_units])
        self._bias = self.add_weight("bias", shape=[2 * self._num_units], initializer=tf.zeros_initializer())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and a state [B, num_units]."""
        x, f, r, straight = tf.split(value=tf.matmul(inputs, self._kernel), num_or_size_splits=4, axis=1)
        gates = tf.sigmoid(tf.nn.bias_add(tf.concat([f, r], 1), self._bias))
        f, r = tf.split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * x
        return r * self._activation(c) + (1.0 - r) * straight, c
