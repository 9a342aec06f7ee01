"""LSTM cells that are one op of TensorFlow each: one for a step, one for a whole sequence."""

from __future__ import annotations

import abc
from typing import Any

from ...runtime import tf1 as tf
from .core_rnn_cell import LayerRNNCell, LSTMState, LSTMStateTuple, register_gradient

__all__ = ["LSTMBlockCell", "LSTMBlockFusedCell", "LSTMBlockWrapper"]


def _gradient(op: Any, *grads: Any) -> list[Any]:
    x, cs_prev, h_prev, w, wci, wcf, wco, b = op.inputs
    i, cs, f, o, ci, co, _ = op.outputs
    d_cs_prev, d_gates, d_wci, d_wcf, d_wco = tf.raw_ops.LSTMBlockCellGrad(
        x=x,
        cs_prev=cs_prev,
        h_prev=h_prev,
        w=w,
        wci=wci,
        wcf=wcf,
        wco=wco,
        b=b,
        i=i,
        cs=cs,
        f=f,
        o=o,
        ci=ci,
        co=co,
        cs_grad=grads[1],
        h_grad=grads[6],
        use_peephole=op.get_attr("use_peephole"),
    )
    d_xh = tf.matmul(d_gates, w, transpose_b=True)
    size = tf.shape(x)[1]
    d_x, d_h_prev = d_xh[:, :size], d_xh[:, size:]
    d_x.set_shape(x.shape)
    d_h_prev.set_shape(h_prev.shape)
    d_w = tf.matmul(tf.concat([x, h_prev], 1), d_gates, transpose_a=True)
    return [d_x, d_cs_prev, d_h_prev, d_w, d_wci, d_wcf, d_wco, tf.reduce_sum(d_gates, 0)]


def _add_weights(layer: Any, size: int | None, units: int, use_peephole: bool, shape: Any) -> None:
    if size is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
    layer._kernel = layer.add_weight("kernel", [size + units, units * 4])
    layer._bias = layer.add_weight("bias", [units * 4], initializer=tf.constant_initializer(0.0))
    layer._diagonals = [layer.add_weight(f"w_{gate}_diag", [units]) for gate in "ifo"] if use_peephole else None


def _peepholes(layer: Any, units: int, dtype: Any) -> dict[str, Any]:
    diagonals = layer._diagonals or [tf.zeros([units], dtype)] * 3
    return dict(zip(("wci", "wcf", "wco"), diagonals, strict=True))


class LSTMBlockCell(LSTMState, LayerRNNCell):  # type: ignore[misc]
    """The LSTM of :class:`LSTMCell` as one op, with the same variables but for their shapes' order of peepholes.

    Args:
        num_units: The size of state and output.
        forget_bias: Added to the forget gate.
        cell_clip: The state is kept within ±cell_clip; None for no limit.
        use_peephole: Whether the gates see the state, through the variables ``w_i_diag``, ``w_f_diag``, ``w_o_diag``.
        dtype: Of the variables.
        reuse: Whether the variables exist already.
        name: Of the scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: bool | None = None,
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._use_peephole = use_peephole
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self.input_spec = tf.layers.InputSpec(ndim=2)

    def build(self, input_shape: Any) -> None:
        """Makes the variables for inputs of ``input_shape`` [B, N]."""
        register_gradient("LSTMBlockCell", _gradient)
        size = tf.TensorShape(input_shape).as_list()[1]
        _add_weights(self, size, self._num_units, self._use_peephole, input_shape)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and the state, a pair of [B, num_units]."""
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        cs_prev, h_prev = state
        _, cs, _, _, _, _, h = tf.raw_ops.LSTMBlockCell(
            x=inputs,
            cs_prev=cs_prev,
            h_prev=h_prev,
            w=self._kernel,
            b=self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
            **_peepholes(self, self._num_units, inputs.dtype),
        )
        return h, LSTMStateTuple(cs, h)


class LSTMBlockWrapper(tf.layers.Layer):  # type: ignore[misc]
    """Base of LSTMs that take a whole sequence: subclasses give ``num_units`` and ``_call_cell``."""

    @property
    @abc.abstractmethod
    def num_units(self) -> int:
        """The size of state and output."""

    @abc.abstractmethod
    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any
    ) -> Any:
        """The states and outputs, both [T, B, num_units], for ``inputs`` [T, B, N]."""

    def call(
        self, inputs: Any, *args: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None
    ) -> Any:
        """Runs over a sequence.

        Args:
            inputs: [T, B, N], or a list of T tensors [B, N].
            *args: ``initial_state``, ``dtype`` and ``sequence_length`` by position.
            initial_state: A pair ``(state, output)`` of [B, num_units]; None for zeros.
            dtype: Of the zeros, if there is no ``initial_state``.
            sequence_length: [B], whole numbers: outputs from there on are 0, and the final state is the one there.

        Returns:
            ``(outputs, LSTMStateTuple(final state, final output))``; outputs are like ``inputs``.

        Raises:
            ValueError: A shape does not fit, or neither ``initial_state`` nor ``dtype`` is given.
        """
        initial_state, dtype, sequence_length = (*args, *(initial_state, dtype, sequence_length)[len(args) :])
        as_list = isinstance(inputs, list)
        if as_list:
            inputs = tf.stack(inputs)
        shape = inputs.shape.with_rank(3).as_list()
        if shape[2] is None:
            raise ValueError(f"Expected inputs.shape[2] to be known, saw shape: {inputs.shape}")
        length = tf.shape(inputs)[0] if shape[0] is None else shape[0]
        batch = tf.shape(inputs)[1] if shape[1] is None else shape[1]
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zeros = tf.zeros(tf.stack([batch, self.num_units]), dtype=dtype)
            initial_state = zeros, zeros
        else:
            if len(initial_state) != 2:
                raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
            if dtype is None:
                dtype = initial_state[0].dtype
        cell_state, output = initial_state
        if sequence_length is not None:
            sequence_length = tf.cast(tf.convert_to_tensor(sequence_length), tf.int32)
        states, outputs = self._call_cell(inputs, cell_state, output, dtype, sequence_length)

        if sequence_length is None:
            final = LSTMStateTuple(states[-1], outputs[-1])
        else:
            mask = tf.transpose(tf.sequence_mask(sequence_length, length, dtype=outputs.dtype))
            outputs = outputs * tf.expand_dims(mask, -1)
            places = tf.stack([sequence_length, tf.range(batch)], axis=1)
            final = LSTMStateTuple(
                tf.gather_nd(tf.concat([tf.expand_dims(cell_state, 0), states], 0), places),
                tf.gather_nd(tf.concat([tf.expand_dims(output, 0), outputs], 0), places),
            )
        return (tf.unstack(outputs) if as_list else outputs), final


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM over a whole sequence as one op, with the variables of :class:`LSTMBlockCell`.

    Args:
        num_units: The size of state and output.
        forget_bias: Added to the forget gate.
        cell_clip: The state is kept within ±cell_clip; None for no limit.
        use_peephole: Whether the gates see the state.
        reuse: Whether the variables exist already.
        dtype: Of the variables.
        name: Of the scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = tf.layers.InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        """Makes the variables for inputs of ``input_shape`` [T, B, N]."""
        size = tf.TensorShape(input_shape).as_list()[2]
        _add_weights(self, size, self._num_units, self._use_peephole, input_shape)
        self.built = True

    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any
    ) -> Any:
        steps = inputs.shape.as_list()[0]
        if sequence_length is not None:
            length = tf.reduce_max(sequence_length)
        else:
            length = tf.shape(inputs)[0] if steps is None else steps
        _, cs, _, _, _, _, h = tf.raw_ops.BlockLSTM(
            seq_len_max=tf.cast(length, tf.int64),
            x=inputs,
            cs_prev=initial_cell_state,
            h_prev=initial_output,
            w=self._kernel,
            b=self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
            **_peepholes(self, self._num_units, dtype),
        )
        return cs, h
