"""GRU cells that are one op of TensorFlow each."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from .core_rnn_cell import LayerRNNCell, register_gradient

__all__ = ["GRUBlockCell", "GRUBlockCellV2"]


def _gradient(op: Any, *grads: Any) -> list[Any]:
    x, h_prev, w_ru, w_c, b_ru, b_c = op.inputs
    r, u, c, _ = op.outputs
    d_x, d_h_prev, d_c_bar, d_ru_bar = tf.raw_ops.GRUBlockCellGrad(
        x=x, h_prev=h_prev, w_ru=w_ru, w_c=w_c, b_ru=b_ru, b_c=b_c, r=r, u=u, c=c, d_h=grads[3]
    )
    d_w_ru = tf.matmul(tf.concat([x, h_prev], 1), d_ru_bar, transpose_a=True)
    d_w_c = tf.matmul(tf.concat([x, h_prev * r], 1), d_c_bar, transpose_a=True)
    return [d_x, d_h_prev, d_w_ru, d_w_c, tf.reduce_sum(d_ru_bar, 0), tf.reduce_sum(d_c_bar, 0)]


class GRUBlockCell(LayerRNNCell):  # type: ignore[misc]
    """The GRU of :class:`GRUCell` as one op, with the variables ``w_ru``, ``b_ru``, ``w_c`` and ``b_c``.

    Args:
        num_units: The size of state and output.
        cell_size: The old name of ``num_units``.
        reuse: Whether the variables exist already.
        name: Of the scope.

    Raises:
        ValueError: Both sizes are given, or none.
    """

    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: bool | None = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name)
        if (num_units is None) == (cell_size is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size: Any = cell_size if num_units is None else num_units
        self.input_spec = tf.layers.InputSpec(ndim=2)

    @property
    def state_size(self) -> Any:
        return self._cell_size

    @property
    def output_size(self) -> Any:
        return self._cell_size

    def build(self, input_shape: Any) -> None:
        """Makes the variables for inputs of ``input_shape`` [B, N]."""
        size = tf.TensorShape(input_shape).as_list()[1]
        if size is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {input_shape}")
        register_gradient("GRUBlockCell", _gradient)
        units = self._cell_size
        w_ru, b_ru, w_c, b_c = self._NAMES
        self._w_ru = self.add_weight(w_ru, shape=[size + units, units * 2])
        self._b_ru = self.add_weight(b_ru, shape=[units * 2], initializer=tf.constant_initializer(1.0))
        self._w_c = self.add_weight(w_c, shape=[size + units, units])
        self._b_c = self.add_weight(b_c, shape=[units], initializer=tf.constant_initializer(0.0))
        self.built = True

    def call(self, inputs: Any, h_prev: Any) -> Any:
        """One step, for ``inputs`` [B, N] and the state ``h_prev`` [B, num_units]."""
        _, _, _, new_h = tf.raw_ops.GRUBlockCell(
            x=inputs, h_prev=h_prev, w_ru=self._w_ru, w_c=self._w_c, b_ru=self._b_ru, b_c=self._b_c
        )
        return new_h, new_h


class GRUBlockCellV2(GRUBlockCell):
    """:class:`GRUBlockCell` with the variable names of :class:`GRUCell`."""

    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
