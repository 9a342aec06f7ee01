"""Recurrent cells of tf.contrib.rnn whose products are convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...runtime import tf1 as tf
from .core_rnn_cell import LSTMStateTuple, RNNCell

__all__ = ["Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell", "ConvLSTMCell"]


class ConvLSTMCell(RNNCell):  # type: ignore[misc]
    """An LSTM whose products are convolutions (arXiv:1506.04214), with the variables ``kernel`` and ``biases``.

    Args:
        conv_ndims: The number of dimensions, 1 to 3.
        input_shape: The shape of the input without the batch: that many dimensions, and the channels.
        output_channels: The channels of state and output.
        kernel_shape: The shape of the kernel, a number for each dimension.
        use_bias: Whether there is a bias.
        skip_connection: Whether the input is added to the channels of the output.
        forget_bias: Added to the forget gate.
        initializers: Not used.
        name: Of the scope.

    Raises:
        ValueError: ``input_shape`` has another number of dimensions.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._conv_ndims = conv_ndims
        self._input_shape = input_shape
        self._output_channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection

    def _size(self, channels: int) -> Any:
        return tf.TensorShape([*self._input_shape[:-1], channels])

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._size(self._output_channels), self._size(self._output_channels))

    @property
    def output_size(self) -> Any:
        more = self._input_shape[-1] if self._skip_connection else 0
        return self._size(self._output_channels + more)

    def call(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step, for ``inputs`` [B, ..., channels] and an ``LSTMStateTuple``."""
        cell, hidden = state
        axis = self._conv_ndims + 1
        gates = self._convolve(tf.concat([inputs, hidden], axis), 4 * self._output_channels)
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=axis)
        new_cell = tf.sigmoid(f + self._forget_bias) * cell
        new_cell += tf.sigmoid(i) * tf.tanh(j)
        output = tf.tanh(new_cell) * tf.sigmoid(o)
        if self._skip_connection:
            output = tf.concat([output, inputs], axis=-1)  # 1.15's state has them too, so this is for one step
        return output, LSTMStateTuple(new_cell, output)

    def _convolve(self, args: Any, features: int) -> Any:
        channels = args.shape.as_list()[-1]
        shape = [*self._kernel_shape, channels, features]
        kernel = tf.get_variable("kernel", shape, dtype=args.dtype)
        convolutions: dict[int, Callable[..., Any]] = {
            1: lambda x, w: tf.nn.conv1d(x, w, 1, padding="SAME"),
            2: lambda x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], padding="SAME"),
            3: lambda x, w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], padding="SAME"),
        }
        if self._conv_ndims not in convolutions:
            raise ValueError(f"ConvLSTMCell: conv_ndims must be 1, 2 or 3, and is {self._conv_ndims}")
        result = convolutions[self._conv_ndims](args, kernel)
        if not self._use_bias:
            return result
        return result + tf.get_variable(
            "biases", [features], dtype=args.dtype, initializer=tf.constant_initializer(0.0, dtype=args.dtype)
        )


class Conv1DLSTMCell(ConvLSTMCell):
    """:class:`ConvLSTMCell` for inputs [B, width, channels]."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """:class:`ConvLSTMCell` for inputs [B, height, width, channels]."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """:class:`ConvLSTMCell` for inputs [B, depth, height, width, channels]."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
