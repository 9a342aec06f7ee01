"""Parameters of cuDNN's RNNs: as one vector, as matrices, and as the variables of cells; and those cells.

Three forms of the same numbers, for each layer and direction:

* canonical: a matrix [U, N] and a vector [U] for each gate, those on the input before those on the state;
* opaque: all canonical matrices, row by row, and after them all canonical vectors, as one vector;
* of cells: kernels and biases of ``CudnnCompatibleLSTMCell``, ``CudnnCompatibleGRUCell`` or ``BasicRNNCell``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import UnsupportedEnvironmentError
from ...runtime import private
from ...runtime import tf1 as tf
from ..rnn.core_rnn_cell import GRUCell
from ..rnn.lstm_ops import LSTMBlockCell

__all__ = [
    "CudnnCompatibleGRUCell",
    "CudnnCompatibleLSTMCell",
    "CudnnGRUSaveable",
    "CudnnLSTMSaveable",
    "CudnnParamsFormatConverterGRU",
    "CudnnParamsFormatConverterLSTM",
    "CudnnParamsFormatConverterRelu",
    "CudnnParamsFormatConverterTanh",
    "CudnnRNNReluSaveable",
    "CudnnRNNTanhSaveable",
]

LINEAR_INPUT, SKIP_INPUT, AUTO_SELECT = "linear_input", "skip_input", "auto_select"
UNIDIRECTIONAL, BIDIRECTIONAL = "unidirectional", "bidirectional"

# The names that 1.15's file had for what its operations take, and for how many matrices a layer has.
CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION = UNIDIRECTIONAL, BIDIRECTIONAL
CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_RELU, CUDNN_RNN_TANH = "lstm", "gru", "rnn_relu", "rnn_tanh"
CUDNN_LSTM_PARAMS_PER_LAYER, CUDNN_GRU_PARAMS_PER_LAYER = 8, 6
CUDNN_RNN_RELU_PARAMS_PER_LAYER = CUDNN_RNN_TANH_PARAMS_PER_LAYER = 2
CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE = LINEAR_INPUT, SKIP_INPUT, AUTO_SELECT


def check_direction(direction: str) -> None:
    """Raises a ``ValueError`` for an unknown direction."""
    if direction not in (UNIDIRECTIONAL, BIDIRECTIONAL):
        raise ValueError(f"Invalid direction: {direction}, expecting {UNIDIRECTIONAL} or {BIDIRECTIONAL}")


def check_input_mode(input_mode: str) -> None:
    """Raises a ``ValueError`` for an unknown input mode."""
    modes = LINEAR_INPUT, SKIP_INPUT, AUTO_SELECT
    if input_mode not in modes:
        raise ValueError(f"Invalid input_mode: {input_mode}, expect one of ({', '.join(modes)})")


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """``LSTMBlockCell`` with the variables that :class:`CudnnLSTM` saves, and without a bias for the forget gate.

    Args:
        num_units: The size of state and output.
        reuse: Whether the variables exist already.
    """

    def __init__(self, num_units: int, reuse: bool | None = None) -> None:
        super().__init__(num_units, forget_bias=0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):  # type: ignore[misc]
    """A GRU that applies the reset gate after the product with the state, as cuDNN does.

    Args:
        num_units: The size of state and output.
        reuse: Whether the variables exist already.
        kernel_initializer: Of the kernels.
    """

    def __init__(self, num_units: int, reuse: bool | None = None, kernel_initializer: Any = None) -> None:
        super().__init__(
            num_units, reuse=reuse, kernel_initializer=kernel_initializer, name="cudnn_compatible_gru_cell"
        )
        self._units = num_units
        self._initializer = kernel_initializer

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables for inputs of ``inputs_shape`` [B, N]."""
        size = tf.TensorShape(inputs_shape).as_list()[-1]
        if size is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        units = self._units

        def kernel(name: str, rows: int, columns: int) -> Any:
            return self.add_weight(f"{name}/kernel", [rows, columns], initializer=self._initializer)

        def bias(name: str, columns: int, value: float) -> Any:
            return self.add_weight(f"{name}/bias", [columns], initializer=tf.constant_initializer(value))

        self._gates = kernel("gates", size + units, 2 * units), bias("gates", 2 * units, 1.0)
        parts = (("candidate/input_projection", size), ("candidate/hidden_projection", units))
        kernels = [kernel(name, rows, units) for name, rows in parts]
        biases = [bias(name, units, 0.0) for name, _ in parts]
        self._on_input, self._on_state = zip(kernels, biases, strict=True)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """One step, for ``inputs`` [B, N] and the state [B, num_units]."""
        kernel, bias = self._gates
        gates = tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), kernel) + bias)
        reset, update = tf.split(gates, 2, axis=1)
        on_input, on_state = (
            tf.matmul(x, weights) + added for x, (weights, added) in ((inputs, self._on_input), (state, self._on_state))
        )
        new = (1 - update) * tf.tanh(on_input + reset * on_state) + update * state
        return new, new


class _FormatConverter:
    """Base of what converts the three forms into each other; subclasses know the gates and the cell.

    Args:
        num_layers: Layers.
        num_units: U.
        input_size: N of the first layer.
        num_proj: None: there are no projections here.
        input_mode: "linear_input", or "auto_select" where that is linear.
        direction: "unidirectional" or "bidirectional".

    Raises:
        ValueError: An unknown mode or direction, or a projection.
        UnsupportedEnvironmentError: The input would skip its projection.
    """

    _num_params_per_layer: int
    _rnn_mode: str

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        num_proj: int | None = None,
        input_mode: str = LINEAR_INPUT,
        direction: str = UNIDIRECTIONAL,
    ) -> None:
        check_direction(direction)
        check_input_mode(input_mode)
        if num_proj:
            raise ValueError(f"num_proj is {num_proj}; projections are not supported")
        if input_mode == SKIP_INPUT or (input_mode == AUTO_SELECT and input_size == num_units):
            raise UnsupportedEnvironmentError(
                f"input_mode is {input_mode!r}, and the first layer would have no weights for its input",
                next_step="Use 'linear_input'.",
            )
        self._num_layers, self._num_units, self._input_size = num_layers, num_units, input_size
        self._num_dirs = 2 if direction == BIDIRECTIONAL else 1

    @property
    def weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of the canonical matrices."""
        gates, units, shapes = self._num_params_per_layer // 2, self._num_units, []
        for layer in range(self._num_layers):
            size = self._input_size if layer == 0 else units * self._num_dirs
            shapes += ([(units, size)] * gates + [(units, units)] * gates) * self._num_dirs
        return shapes

    @property
    def bias_shapes(self) -> list[list[int]]:
        """The shapes of the canonical vectors."""
        return [[self._num_units] for _ in self.weight_shapes]

    @property
    def size(self) -> int:
        """The length of the opaque vector."""
        return sum(int(np.prod(shape)) for shape in [*self.weight_shapes, *self.bias_shapes])

    def canonical_to_opaque(self, weights: Sequence[Any], biases: Sequence[Any]) -> Any:
        """The opaque vector of canonical matrices and vectors."""
        return tf.concat([tf.reshape(part, [-1]) for part in (*weights, *biases)], 0)

    def opaque_to_canonical(self, opaque: Any) -> tuple[list[list[Any]], list[list[Any]]]:
        """Canonical matrices and vectors: for each layer and direction, those of its gates."""
        shapes = [*self.weight_shapes, *self.bias_shapes]
        parts = tf.split(opaque, [int(np.prod(shape)) for shape in shapes])
        tensors = [tf.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]
        half, step = len(self.weight_shapes), self._num_params_per_layer
        blocks = [tensors[start : start + step] for start in range(0, len(tensors), step)]
        return blocks[: half // step], blocks[half // step :]

    def opaque_to_tf_canonical(self, opaque_param: Any) -> tuple[list[Any], list[Any]]:
        """The kernels and the biases of the cells, from the opaque vector."""
        weights, biases = self.opaque_to_canonical(opaque_param)
        return (
            [kernel for block in weights for kernel in self._cudnn_to_tf_weights(*block)],
            [bias for block in biases for bias in self._cudnn_to_tf_biases(*block)],
        )

    def tf_canonical_to_opaque(self, tf_canonicals: Sequence[Any], weights_proj: Any = None) -> Any:
        """The opaque vector, from the kernels of the cells and after them the biases."""
        if weights_proj is not None:
            raise ValueError("weights_proj is given; projections are not supported")
        half, blocks = len(tf_canonicals) // 2, self._num_layers * self._num_dirs
        kernels, biases = tf_canonicals[:half], tf_canonicals[half:]
        step = half // blocks
        cu_weights: list[Any] = []
        cu_biases: list[Any] = []
        for block in range(blocks):
            part = slice(block * step, (block + 1) * step)
            cu_weights += self._tf_to_cudnn_weights(block // self._num_dirs, *kernels[part])
            cu_biases += self._tf_to_cudnn_biases(*biases[part])
        return self.canonical_to_opaque(cu_weights, cu_biases)

    def _cudnn_to_tf_weights(self, *cu_weights: Any) -> tuple[Any, ...]:
        raise NotImplementedError

    def _cudnn_to_tf_biases(self, *cu_biases: Any) -> tuple[Any, ...]:
        raise NotImplementedError

    def _tf_to_cudnn_weights(self, layer: int, *tf_weights: Any) -> list[Any]:
        raise NotImplementedError

    def _tf_to_cudnn_biases(self, *tf_biases: Any) -> list[Any]:
        raise NotImplementedError

    def _sizes(self, layer: int) -> list[int]:
        """Return the numbers of a kernel's rows for the input and for the state."""
        size = self._input_size if layer == 0 else self._num_units * self._num_dirs
        return [size, self._num_units]


class CudnnParamsFormatConverterLSTM(_FormatConverter):
    """LSTMs: cuDNN's gates are input, forget, new, output, and a cell's input, new, forget, output."""

    _num_params_per_layer = 8
    _rnn_mode = "lstm"
    _order = (0, 2, 1, 3)

    def _cudnn_to_tf_weights(self, *cu_weights: Any) -> tuple[Any, ...]:
        gates = len(self._order)
        rows = [tf.concat([cu_weights[i], cu_weights[i + gates]], 1) for i in self._order]
        return (tf.transpose(tf.concat(rows, 0)),)

    def _cudnn_to_tf_biases(self, *cu_biases: Any) -> tuple[Any, ...]:
        gates = len(self._order)
        return (tf.concat([cu_biases[i] + cu_biases[i + gates] for i in self._order], 0),)

    def _tf_to_cudnn_weights(self, layer: int, *tf_weights: Any) -> list[Any]:
        (kernel,) = tf_weights
        gates = tf.split(tf.transpose(kernel), len(self._order), axis=0)
        pairs = [tf.split(gates[i], self._sizes(layer), axis=1) for i in self._order]
        return [pair[0] for pair in pairs] + [pair[1] for pair in pairs]

    def _tf_to_cudnn_biases(self, *tf_biases: Any) -> list[Any]:
        (bias,) = tf_biases
        gates = tf.split(0.5 * bias, len(self._order))
        return [gates[i] for i in self._order] * 2


class CudnnParamsFormatConverterGRU(_FormatConverter):
    """GRUs: the gates are reset, update and new; the new one has a kernel for the input and one for the state."""

    _num_params_per_layer = 6
    _rnn_mode = "gru"

    def _cudnn_to_tf_weights(self, *cu_weights: Any) -> tuple[Any, ...]:
        w_r, w_u, w_h, r_r, r_u, r_h = cu_weights
        gates = tf.concat([tf.concat([w_r, r_r], 1), tf.concat([w_u, r_u], 1)], 0)
        return tf.transpose(gates), tf.transpose(w_h), tf.transpose(r_h)

    def _cudnn_to_tf_biases(self, *cu_biases: Any) -> tuple[Any, ...]:
        w_r, w_u, w_h, r_r, r_u, r_h = cu_biases
        return tf.concat([w_r + r_r, w_u + r_u], 0), w_h, r_h

    def _tf_to_cudnn_weights(self, layer: int, *tf_weights: Any) -> list[Any]:
        gates, on_input, on_state = (tf.transpose(kernel) for kernel in tf_weights)
        (w_r, r_r), (w_u, r_u) = (tf.split(gate, self._sizes(layer), axis=1) for gate in tf.split(gates, 2, axis=0))
        return [w_r, w_u, on_input, r_r, r_u, on_state]

    def _tf_to_cudnn_biases(self, *tf_biases: Any) -> list[Any]:
        gates, on_input, on_state = tf_biases
        reset, update = tf.split(0.5 * gates, 2)
        return [reset, update, on_input, reset, update, on_state]


class CudnnParamsFormatConverterTanh(CudnnParamsFormatConverterLSTM):
    """Plain RNNs with tanh."""

    _num_params_per_layer = 2
    _rnn_mode = "rnn_tanh"
    _order = (0,)  # type: ignore[assignment]


class CudnnParamsFormatConverterRelu(CudnnParamsFormatConverterTanh):
    """Plain RNNs with relu."""

    _rnn_mode = "rnn_relu"


_SaveableObject: Any = private.saveable_object.SaveableObject


class _OpaqueParamsSaveable(_SaveableObject):  # type: ignore[misc]
    """Base: saves an opaque vector as the variables of the cells, and restores it from them.

    Args:
        opaque_params: The variable of the layer.
        num_layers: Layers.
        num_units: U.
        input_size: N of the first layer.
        input_mode: As in the layer.
        direction: As in the layer.
        scope: The variable scope, or its name, in which the cells' variables have their names.
        name: Of this object.
    """

    _format_converter_cls: type[_FormatConverter]
    _cell_weights: tuple[str, ...] = ("basic_rnn_cell/kernel",)
    _cell_biases: tuple[str, ...] = ("basic_rnn_cell/bias",)

    def __init__(
        self,
        opaque_params: Any,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = LINEAR_INPUT,
        direction: str = UNIDIRECTIONAL,
        scope: Any = None,
        name: str = "cudnn_rnn_saveable",
    ) -> None:
        self._variables = opaque_params
        self._scope = getattr(scope, "name", scope)
        self._num_layers, self._direction = num_layers, direction
        self.format_converter = self._format_converter_cls(
            num_layers, num_units, input_size, input_mode=input_mode, direction=direction
        )
        opaque = tf.identity(opaque_params)
        kernels, biases = self.format_converter.opaque_to_tf_canonical(opaque)
        specs = [
            private.saveable_object.SaveSpec(tensor, "", key)
            for tensor, key in zip([*kernels, *biases], self._tf_canonical_names(), strict=True)
        ]
        super().__init__(opaque, specs, name)

    def _tf_canonical_names(self) -> list[str]:
        """The names of the kernels, and after them of the biases."""
        prefixes = [
            self._prefix(layer, way)
            for layer in range(self._num_layers)
            for way in (("fw", "bw") if self._direction == BIDIRECTIONAL else ("",))
        ]
        return [
            f"{prefix}/{name}"
            for names in (self._cell_weights, self._cell_biases)
            for prefix in prefixes
            for name in names
        ]

    def _prefix(self, layer: int, way: str) -> str:
        if way:
            prefix = f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{way}"
        else:
            prefix = f"rnn/multi_rnn_cell/cell_{layer}"
        return f"{self._scope}/{prefix}" if self._scope else prefix

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """The operation that assigns the opaque vector of ``restored_tensors``."""
        return self._variables.assign(self.format_converter.tf_canonical_to_opaque(restored_tensors))


class CudnnLSTMSaveable(_OpaqueParamsSaveable):
    """Saves the vector of a :class:`CudnnLSTM` as the variables of ``CudnnCompatibleLSTMCell``."""

    _format_converter_cls = CudnnParamsFormatConverterLSTM
    _cell_weights = ("cudnn_compatible_lstm_cell/kernel",)
    _cell_biases = ("cudnn_compatible_lstm_cell/bias",)


class CudnnGRUSaveable(_OpaqueParamsSaveable):
    """Saves the vector of a :class:`CudnnGRU` as the variables of ``CudnnCompatibleGRUCell``."""

    _format_converter_cls = CudnnParamsFormatConverterGRU
    _cell_weights, _cell_biases = (
        tuple(
            f"cudnn_compatible_gru_cell/{part}/{kind}"
            for part in ("gates", "candidate/input_projection", "candidate/hidden_projection")
        )
        for kind in ("kernel", "bias")
    )


class CudnnRNNTanhSaveable(_OpaqueParamsSaveable):
    """Saves the vector of a :class:`CudnnRNNTanh` as the variables of ``BasicRNNCell``."""

    _format_converter_cls = CudnnParamsFormatConverterTanh


class CudnnRNNReluSaveable(_OpaqueParamsSaveable):
    """Saves the vector of a :class:`CudnnRNNRelu` as the variables of ``BasicRNNCell``."""

    _format_converter_cls = CudnnParamsFormatConverterRelu
