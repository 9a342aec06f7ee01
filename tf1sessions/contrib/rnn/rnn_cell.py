"""The recurrent cells of tf.contrib.rnn; those of conv_cells.py and independent_cells.py have their address here, too.

A cell's ``call(inputs, state)`` is one step: inputs [B, N] and a state to an output and the next state. Those on
``RNNCell`` make their variables in ``call``, by ``tf.get_variable`` in the cell's scope; those on ``LayerRNNCell`` in
``build``. Making a step is for the one thread that builds the graph.
"""

from __future__ import annotations

import math
from typing import Any

from ...runtime import tf1 as tf
from .conv_cells import Conv1DLSTMCell, Conv2DLSTMCell, Conv3DLSTMCell, ConvLSTMCell
from .core_rnn_cell import (
    Activation,
    CellWrapper,
    LayerRNNCell,
    LSTMState,
    LSTMStateTuple,
    RNNCell,
    UnitsState,
    check_cell,
    linear,
    sharded_variable,
    width,
)
from .independent_cells import IndRNNCell, IndyGRUCell, IndyLSTMCell, SRUCell

__all__ = [
    "AttentionCellWrapper",
    "Conv1DLSTMCell",
    "Conv2DLSTMCell",
    "Conv3DLSTMCell",
    "ConvLSTMCell",
    "CoupledInputForgetGateLSTMCell",
    "GLSTMCell",
    "HighwayWrapper",
    "IndRNNCell",
    "IndyGRUCell",
    "IndyLSTMCell",
    "IntersectionRNNCell",
    "LayerNormBasicLSTMCell",
    "NASCell",
    "PhasedLSTMCell",
    "SRUCell",
    "TimeFreqLSTMCell",
    "UGRNNCell",
]


def _layer_norm(inputs: Any, gain: float, shift: float, scope: str) -> Any:
    """``inputs`` [B, N], each row with mean 0 and variance 1, times ``<scope>/gamma``, plus ``<scope>/beta``."""
    size = [width(inputs, "inputs")]
    with tf.variable_scope(scope):
        gamma = tf.get_variable("gamma", shape=size, dtype=inputs.dtype, initializer=tf.constant_initializer(gain))
        beta = tf.get_variable("beta", shape=size, dtype=inputs.dtype, initializer=tf.constant_initializer(shift))
    with tf.name_scope(scope):
        mean, variance = tf.nn.moments(inputs, [1], keep_dims=True)
        return tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, 1e-12)


class LayerNormBasicLSTMCell(LSTMState, RNNCell):  # type: ignore[misc]
    """An LSTM whose gates and state are normalised (arXiv:1607.06450), with dropout of what is new (arXiv:1603.05118).

    Args:
        num_units: The size of state and output.
        forget_bias: Added to the forget gate.
        input_size: Not used.
        activation: Of the new values and the state.
        layer_norm: Whether anything is normalised; if not, there is a bias instead.
        norm_gain: What the normalised values are multiplied with at first.
        norm_shift: What is added to them at first.
        dropout_keep_prob: The share of new values that are kept: a number, or a scalar tensor.
        dropout_prob_seed: The seed for that.
        reuse: Whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Activation = tf.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed

    def _norm(self, inputs: Any, scope: str) -> Any:
        return _layer_norm(inputs, self._norm_gain, self._norm_shift, scope) if self._layer_norm else inputs

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and an ``LSTMStateTuple`` of [B, num_units]."""
        c, h = state
        args = tf.concat([inputs, h], 1)
        shape = [width(args, "inputs"), 4 * self._num_units]
        kernel = tf.get_variable("kernel", shape, dtype=args.dtype)
        gates = tf.matmul(args, kernel)
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, tf.get_variable("bias", shape[1:], dtype=args.dtype))
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=1)
        i, j, f, o = (self._norm(*pair) for pair in ((i, "input"), (j, "transform"), (f, "forget"), (o, "output")))

        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = tf.nn.dropout(new, rate=1 - self._keep_prob, seed=self._seed)
        new_c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * new
        new_c = self._norm(new_c, "state")
        new_h = self._activation(new_c) * tf.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class AttentionCellWrapper(RNNCell):  # type: ignore[misc]
    """A cell that also sees a window of its own last outputs (arXiv:1601.06733).

    Args:
        cell: The cell.
        attn_length: How many outputs the window has.
        attn_size: The size of each; the cell's output if None.
        attn_vec_size: The size of the layer that weighs them; ``attn_size`` if None.
        input_size: The size of what the cell gets; that of the inputs if None.
        state_is_tuple: Whether the state is a tuple ``(cell's state, attention, window)``, or these side by side.
        reuse: Whether the variables exist already.

    Raises:
        TypeError: ``cell`` is not a cell.
        ValueError: The cell's state is a tuple and ``state_is_tuple`` is False, or ``attn_length`` is not positive.
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        if tf.nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. "
                f"State size is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._cell = cell
        self._attn_length = attn_length
        self._attn_size: int = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        sizes = self._cell.state_size, self._attn_size, self._attn_size * self._attn_length
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._attn_size

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and a state of :attr:`state_size`."""
        if self._state_is_tuple:
            state, attns, window = state
        else:
            size = self._cell.state_size
            state, attns, window = (
                tf.slice(state, [0, begin], [-1, columns])
                for begin, columns in (
                    (0, size),
                    (size, self._attn_size),
                    (size + self._attn_size, self._attn_size * self._attn_length),
                )
            )
        window = tf.reshape(window, [-1, self._attn_length, self._attn_size])
        cell_inputs = linear([inputs, attns], self._input_size or width(inputs, "inputs"))
        cell_output, new_state = self._cell(cell_inputs, state)
        query = tf.concat(tf.nest.flatten(new_state), 1) if self._state_is_tuple else new_state
        new_attns, rest = self._attend(query, window)
        with tf.variable_scope("attn_output_projection"):
            output = linear([cell_output, new_attns], self._attn_size)
        new_window = tf.concat([rest, tf.expand_dims(output, 1)], 1)
        new_window = tf.reshape(new_window, [-1, self._attn_length * self._attn_size])
        whole = (new_state, new_attns, new_window)
        return output, whole if self._state_is_tuple else tf.concat(whole, 1)

    def _attend(self, query: Any, window: Any) -> tuple[Any, Any]:
        """The weighted sum of ``window`` [B, attn_length, attn_size], and the window without its first output."""
        length, size, vec_size = self._attn_length, self._attn_size, self._attn_vec_size
        with tf.variable_scope("attention"):
            k = tf.get_variable("attn_w", [1, 1, size, vec_size])
            v = tf.get_variable("attn_v", [vec_size])
            hidden = tf.reshape(window, [-1, length, 1, size])
            features = tf.nn.conv2d(hidden, k, [1, 1, 1, 1], "SAME")
            y = tf.reshape(linear(query, vec_size), [-1, 1, 1, vec_size])
            scores = tf.reduce_sum(v * tf.tanh(features + y), [2, 3])
            weights = tf.reshape(tf.nn.softmax(scores), [-1, length, 1, 1])
            attended = tf.reshape(tf.reduce_sum(weights * hidden, [1, 2]), [-1, size])
            return attended, tf.slice(window, [0, 1, 0], [-1, -1, -1])


class CoupledInputForgetGateLSTMCell(RNNCell):  # type: ignore[misc]
    """An LSTM that takes in as much as it forgets (arXiv:1503.04069), with the variables ``W_0`` and ``B``.

    Args:
        num_units: The size of the state.
        use_peepholes: Whether the gates see the state, through ``W_F_diag`` and ``W_O_diag``.
        initializer: Of the weights.
        num_proj: The size of the output, through ``W_P_0``; None for ``num_units`` and no projection.
        proj_clip: The projection is kept within ±proj_clip.
        num_unit_shards: The parts of the variable ``W``.
        num_proj_shards: The parts of the variable ``W_P``.
        forget_bias: Added to the forget gate.
        state_is_tuple: Whether the state is an ``LSTMStateTuple``, or its two parts side by side.
        activation: Of the new values and the state.
        reuse: Whether the variables exist already.
        layer_norm: Whether gates and state are normalised (arXiv:1607.06450).
        norm_gain: What the normalised values are multiplied with at first.
        norm_shift: What is added to them at first.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation = tf.tanh,
        reuse: bool | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self) -> Any:
        sizes = self._num_units, self._num_proj or self._num_units
        return LSTMStateTuple(*sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _norm(self, inputs: Any, scope: str) -> Any:
        return _layer_norm(inputs, self._norm_gain, self._norm_shift, scope) if self._layer_norm else inputs

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and a state of :attr:`state_size`."""
        units, projected = self._num_units, self._num_proj or self._num_units
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            c_prev = tf.slice(state, [0, 0], [-1, units])
            m_prev = tf.slice(state, [0, units], [-1, projected])
        dtype = inputs.dtype
        rows = width(inputs, "inputs") + projected
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer, auxiliary_name_scope=False):
            kernel = sharded_variable("W", [rows, 3 * units], dtype, self._num_unit_shards)
            bias = tf.get_variable("B", shape=[3 * units], initializer=tf.zeros_initializer(), dtype=dtype)
            gates = tf.matmul(tf.concat([inputs, m_prev], 1), kernel)
            if not self._layer_norm:
                gates = tf.nn.bias_add(gates, bias)
            j, f, o = tf.split(value=gates, num_or_size_splits=3, axis=1)
            j, f, o = self._norm(j, "transform"), self._norm(f, "forget"), self._norm(o, "output")
            forget = f + self._forget_bias
            if self._use_peepholes:
                w_f_diag = tf.get_variable("W_F_diag", shape=[units], dtype=dtype)
                w_o_diag = tf.get_variable("W_O_diag", shape=[units], dtype=dtype)
                forget = forget + w_f_diag * c_prev
            forget = tf.sigmoid(forget)
            c = forget * c_prev + (1 - forget) * self._activation(j)
            c = self._norm(c, "state")
            m = tf.sigmoid(o + w_o_diag * c if self._use_peepholes else o) * self._activation(c)
            if self._num_proj is not None:
                m = tf.matmul(m, sharded_variable("W_P", [units, projected], dtype, self._num_proj_shards))
                if self._proj_clip is not None:
                    m = tf.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else tf.concat([c, m], 1)


class TimeFreqLSTMCell(RNNCell):  # type: ignore[misc]
    """An LSTM that goes along the frequencies of its input at each step; its state is [B, 2 · units · frequencies].

    Args:
        num_units: The size of the state for a frequency.
        use_peepholes: Whether the gates see the state.
        cell_clip: The state is kept within ±cell_clip.
        initializer: Of the weights.
        num_unit_shards: The parts of the variable ``W``.
        forget_bias: Added to the forget gate.
        feature_size: The size of the input for a frequency.
        frequency_skip: How far one frequency's input is from the next one's.
        reuse: Whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip

    @property
    def state_size(self) -> int:
        return 2 * self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N]; the outputs of the frequencies are side by side."""
        units, dtype = self._num_units, inputs.dtype
        size = width(inputs, "inputs")
        feature_size = size if self._feature_size is None else self._feature_size
        parts = [
            tf.slice(inputs, [0, i * self._frequency_skip], [-1, feature_size])
            for i in range((size - feature_size) // self._frequency_skip + 1)
        ]
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer, auxiliary_name_scope=False):
            kernel = sharded_variable("W", [feature_size + 2 * units, 4 * units], dtype, self._num_unit_shards)
            bias = tf.get_variable("B", shape=[4 * units], initializer=tf.zeros_initializer(), dtype=dtype)
            w_f_diag = w_i_diag = w_o_diag = None
            if self._use_peepholes:
                w_f_diag, w_i_diag, w_o_diag = (
                    tf.get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype) for gate in "FIO"
                )
            states, outputs = [], []
            below = None
            for n, part in enumerate(parts):
                c_prev = tf.slice(state, [0, 2 * n * units], [-1, units])
                m_prev = tf.slice(state, [0, (2 * n + 1) * units], [-1, units])
                below = tf.zeros_like(m_prev) if below is None else below
                gates = tf.nn.bias_add(tf.matmul(tf.concat([part, m_prev, below], 1), kernel), bias)
                i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=1)
                forget = f + self._forget_bias
                if self._use_peepholes:
                    forget, i = forget + w_f_diag * c_prev, i + w_i_diag * c_prev
                c = tf.sigmoid(forget) * c_prev + tf.sigmoid(i) * tf.tanh(j)
                if self._cell_clip is not None:
                    c = tf.clip_by_value(c, -self._cell_clip, self._cell_clip)
                m = tf.sigmoid(o + w_o_diag * c if self._use_peepholes else o) * tf.tanh(c)
                below = m
                states += [c, m]
                outputs.append(m)
        return tf.concat(outputs, 1) if len(outputs) > 1 else outputs[0], tf.concat(states, 1)


class UGRNNCell(UnitsState, RNNCell):  # type: ignore[misc]
    """A cell with one gate between its old state and the new one (arXiv:1611.09913).

    Args:
        num_units: The size of state and output.
        initializer: Of the weights.
        forget_bias: Added to the gate.
        activation: Of the new state.
        reuse: Whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Activation = tf.tanh,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and a state [B, num_units]."""
        width(inputs, "inputs")
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            gates = linear([inputs, state], 2 * self._num_units)
            g, c = tf.split(value=gates, num_or_size_splits=2, axis=1)
            c = self._activation(c)
            g = tf.sigmoid(g + self._forget_bias)
            new = g * state + (1.0 - g) * c
        return new, new


class IntersectionRNNCell(UnitsState, RNNCell):  # type: ignore[misc]
    """A cell with gates along time and along depth, for deep stacks (arXiv:1611.09913).

    Args:
        num_units: The size of state and output.
        num_in_proj: ``num_units`` for the first of a stack, whose inputs are projected; else None.
        initializer: Of the weights.
        forget_bias: Added to both gates.
        y_activation: Of the new output.
        reuse: Whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Activation = tf.nn.relu,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._num_in_proj = num_in_proj
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._y_activation = y_activation

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and a state [B, num_units].

        Raises:
            ValueError: The size of the inputs is not ``num_units``, and they are not projected.
        """
        size = width(inputs, "inputs")
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            if size != self._num_units:
                if not self._num_in_proj:
                    raise ValueError(
                        "Must have input size == output size for Intersection RNN. "
                        "To fix, num_in_proj should be set to num_units at cell init."
                    )
                with tf.variable_scope("in_projection"):
                    inputs = linear(inputs, self._num_in_proj)
            gates = linear([inputs, state], 4 * self._num_units)
            gh, h, gy, y = (gates[:, i * self._num_units : (i + 1) * self._num_units] for i in range(4))
            h, y = tf.tanh(h), self._y_activation(y)
            gh = tf.sigmoid(gh + self._forget_bias)
            gy = tf.sigmoid(gy + self._forget_bias)
            new_state = gh * state + (1.0 - gh) * h
            new_y = gy * inputs + (1.0 - gy) * y
        return new_y, new_state


class NASCell(LSTMState, LayerRNNCell):  # type: ignore[misc]
    """A cell that was found by a search over cells (arXiv:1611.01578).

    Args:
        num_units: The size of the state.
        num_proj: The size of the output, through ``projection_weights``; None for ``num_units`` and no projection.
        use_bias: Whether there is a bias.
        reuse: Whether the variables exist already.
        **kwargs: Such as ``name`` and ``dtype``.
    """

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables for inputs of ``inputs_shape`` [B, N]."""
        size = tf.TensorShape(inputs_shape).as_list()[1]
        if size is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        self.recurrent_kernel = self.add_weight("recurrent_kernel", shape=[self.output_size, 8 * self._num_units])
        self.kernel = self.add_weight("kernel", shape=[size, 8 * self._num_units])
        if self._use_bias:
            self.bias = self.add_weight("bias", shape=[8 * self._num_units], initializer=tf.zeros_initializer())
        if self._num_proj is not None:
            self.projection_weights = self.add_weight("projection_weights", shape=[self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and an ``LSTMStateTuple``."""
        c_prev, m_prev = state
        from_state = tf.matmul(m_prev, self.recurrent_kernel)
        from_inputs = tf.matmul(inputs, self.kernel)
        if self._use_bias:
            from_state = tf.nn.bias_add(from_state, self.bias)
        m = tf.split(axis=1, num_or_size_splits=8, value=from_state)
        x = tf.split(axis=1, num_or_size_splits=8, value=from_inputs)
        # the tree of the paper, from its eight leaves to the root
        relu, sigmoid, tanh = tf.nn.relu, tf.sigmoid, tf.tanh
        first = [
            sigmoid(x[0] + m[0]),
            relu(x[1] + m[1]),
            sigmoid(x[2] + m[2]),
            relu(x[3] * m[3]),
            tanh(x[4] + m[4]),
            sigmoid(x[5] + m[5]),
            tanh(x[6] + m[6]),
            sigmoid(x[7] + m[7]),
        ]
        second = [
            tanh(first[0] * first[1]),
            tanh(first[2] + first[3]),
            tanh(first[4] * first[5]),
            sigmoid(first[6] + first[7]),
        ]
        second[0] = tanh(second[0] + c_prev)
        new_c = second[0] * second[1]
        new_m = tanh(new_c * tanh(second[2] + second[3]))
        if self._num_proj is not None:
            new_m = tf.matmul(new_m, self.projection_weights)
        return new_m, LSTMStateTuple(new_c, new_m)


class HighwayWrapper(CellWrapper):
    """A cell around which a part of the inputs goes straight to the output (arXiv:1505.00387).

    Args:
        cell: The cell; its output is as large as its input.
        couple_carry_transform_gates: Whether the parts of input and output add up to 1.
        carry_bias_init: What the bias of the gate is at first.
    """

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0) -> None:
        super().__init__()
        self._cell = cell
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    def _highway(self, inputs: Any, output: Any) -> Any:
        size = width(inputs, "inputs")

        def gate(name: str, bias: float) -> Any:
            w = tf.get_variable(f"{name}_w", [size, size])
            b = tf.get_variable(f"{name}_b", [size], initializer=tf.constant_initializer(bias))
            return tf.sigmoid(tf.nn.xw_plus_b(inputs, w, b))

        carry = gate("carry", self._carry_bias_init)
        coupled = self._couple_carry_transform_gates
        transform = 1 - carry if coupled else gate("transform", -self._carry_bias_init)
        return inputs * carry + output * transform

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """One step, for ``inputs`` [B, N] (or a structure of them) and the cell's state."""
        outputs, new_state = self._cell(inputs, state, scope=scope)
        tf.nest.assert_same_structure(inputs, outputs)
        for one, other in zip(tf.nest.flatten(inputs), tf.nest.flatten(outputs), strict=True):
            one.shape.assert_is_compatible_with(other.shape)
        return tf.nest.map_structure(self._highway, inputs, outputs), new_state


class GLSTMCell(LSTMState, RNNCell):  # type: ignore[misc]
    """An LSTM in groups, each of which sees a part of input and state (arXiv:1703.10722).

    Args:
        num_units: The size of the state.
        initializer: Of the weights.
        num_proj: The size of the output; None for ``num_units`` and no projection.
        number_of_groups: How many groups there are.
        forget_bias: Added to the forget gate.
        activation: Of the new values and the state.
        reuse: Whether the variables exist already.

    Raises:
        ValueError: A size cannot be divided by the number of groups.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Activation = tf.tanh,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._num_proj = num_proj
        self._forget_bias = forget_bias
        self._activation = activation
        self._number_of_groups = number_of_groups
        if num_units % number_of_groups:
            raise ValueError("num_units must be divisible by number_of_groups")
        if num_proj and num_proj % number_of_groups:
            raise ValueError("num_proj must be divisible by number_of_groups")
        self._group_shape = [(num_proj or num_units) // number_of_groups, num_units // number_of_groups]

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and an ``LSTMStateTuple``.

        Raises:
            ValueError: N is not known, or cannot be divided by the number of groups.
        """
        c_prev, m_prev = state
        size = width(inputs, "inputs")
        groups, (state_part, units) = self._number_of_groups, self._group_shape
        if size % groups:
            raise ValueError(f"input size ({size}) must be divisible by number_of_groups ({groups})")
        dtype = inputs.dtype
        gates = []
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            for n in range(groups):
                with tf.variable_scope(f"group{n}"):
                    label = f"GLSTM_group{n}_input_generation"
                    x = tf.slice(inputs, [0, n * size // groups], [-1, size // groups], name=label)
                    m = tf.slice(m_prev, [0, n * state_part], [-1, state_part], name=label)
                    kernel = tf.get_variable("kernel", [size // groups + state_part, 4 * units], dtype=dtype)
                    product = tf.matmul(tf.concat([x, m], axis=1), kernel)
                    gates.append(tf.split(product, 4, 1))
            i, j, f, o = (
                tf.nn.bias_add(
                    tf.concat([group[k] for group in gates], axis=1),
                    tf.get_variable(
                        f"bias_{gate}", [self._num_units], dtype=dtype, initializer=tf.constant_initializer(0.0)
                    ),
                )
                for k, gate in enumerate("ijfo")
            )
        c = tf.sigmoid(f + self._forget_bias) * c_prev + tf.sigmoid(i) * self._activation(j)
        m = tf.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with tf.variable_scope("projection"):
                m = linear(m, self._num_proj, bias=False, kernel_initializer=self._initializer)
        return m, LSTMStateTuple(c, m)


class PhasedLSTMCell(LSTMState, RNNCell):  # type: ignore[misc]
    """An LSTM whose units are open for a part of their own period of time (arXiv:1610.09513).

    Args:
        num_units: The size of state and output.
        use_peepholes: Whether the gates see the state.
        leak: How much gets through while a unit is closed.
        ratio_on: The part of a period in which a unit is open, at first.
        trainable_ratio_on: Whether that is trained.
        period_init_min: The shortest period at first.
        period_init_max: The longest one.
        reuse: Whether the variables exist already.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_init_min = period_init_min
        self._period_init_max = period_init_max

    def _period_initializer(self, shape: Any, dtype: Any, partition_info: Any = None) -> Any:
        low, high = math.log(self._period_init_min), math.log(self._period_init_max)
        return tf.exp(tf.random_uniform(shape, low, high, dtype))

    @staticmethod
    def _cycle(time: Any, phase: Any, period: Any) -> Any:
        """Return the part of its period at ``time``, from 0 to 1; its gradient is that of (time - phase) / period."""
        shifted = time - phase
        return (tf.stop_gradient(tf.mod(shifted, period) - shifted) + shifted) / period

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` ``(time [B, 1], features [B, N])`` and an ``LSTMStateTuple``."""
        c_prev, h_prev = state
        time, x = inputs
        units, dtype = self._num_units, x.dtype
        seen = [x, h_prev, c_prev] if self._use_peepholes else [x, h_prev]
        with tf.variable_scope("mask_gates"):
            gates = tf.sigmoid(linear(seen, 2 * units))
            input_gate, forget_gate = tf.split(axis=1, num_or_size_splits=2, value=gates)
        with tf.variable_scope("new_input"):
            new_input = tf.tanh(linear([x, h_prev], units))
        new_c = c_prev * forget_gate + input_gate * new_input
        with tf.variable_scope("output_gate"):
            seen = [x, h_prev, new_c] if self._use_peepholes else [x, h_prev]
            output_gate = tf.sigmoid(linear(seen, units))
        new_h = tf.tanh(new_c) * output_gate

        period = tf.get_variable("period", [units], initializer=self._period_initializer, dtype=time.dtype)
        longest = period.initial_value

        def random_phase(shape: Any, dtype: Any, partition_info: Any = None) -> Any:
            return tf.random_uniform(shape, 0.0, longest, dtype)

        phase = tf.get_variable("phase", [units], initializer=random_phase, dtype=time.dtype)
        ratio_on = tf.get_variable(
            "ratio_on",
            [units],
            initializer=tf.constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
            dtype=dtype,
        )
        cycle = self._cycle(time, phase, period)
        if cycle.dtype != dtype:
            cycle = tf.cast(cycle, dtype)
        opening = 2 * cycle / ratio_on
        k = tf.where(cycle < ratio_on, 2 - opening, self._leak * cycle)
        k = tf.where(cycle < 0.5 * ratio_on, opening, k)
        new_c = k * new_c + (1 - k) * c_prev
        new_h = k * new_h + (1 - k) * h_prev
        return new_h, LSTMStateTuple(new_c, new_h)
