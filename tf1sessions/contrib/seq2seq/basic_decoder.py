"""The decoder of a cell and a helper."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from ..rnn.core_rnn_cell import check_cell
from .decoder import Decoder
from .helper import Helper

__all__ = ["BasicDecoder", "BasicDecoderOutput"]


class BasicDecoderOutput(NamedTuple):
    """``rnn_output`` [B, ...], what the cell or the output layer gave, and ``sample_id`` [B, ...], the helper's."""

    rnn_output: Any
    sample_id: Any


def check_output_layer(output_layer: Any) -> None:
    """Raises a ``TypeError`` if ``output_layer`` is something else than a layer or None."""
    is_layer = callable(output_layer) and hasattr(output_layer, "compute_output_shape")
    if output_layer is not None and not is_layer:
        raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")


def output_size(cell: Any, output_layer: Any) -> Any:
    """The size or shape, without B, of what ``cell`` gives, and then ``output_layer``, which may be None."""
    if output_layer is None:
        return cell.output_size
    shapes = tf.nest.map_structure(lambda size: tf.TensorShape([None]).concatenate(size), cell.output_size)
    return tf.TensorShape(output_layer.compute_output_shape(shapes))[1:]


class BasicDecoder(Decoder):
    """Runs a cell; a helper samples from its outputs and makes the next inputs.

    Args:
        cell: The cell.
        helper: The helper.
        initial_state: The cell's first state.
        output_layer: A layer on the cell's outputs, before they are stored and sampled from; None for none.

    Raises:
        TypeError: An argument is of another type.
    """

    def __init__(self, cell: Any, helper: Helper, initial_state: Any, output_layer: Any = None) -> None:
        check_cell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_output_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    @property
    def output_size(self) -> Any:
        return BasicDecoderOutput(output_size(self._cell, self._output_layer), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        dtypes = tf.nest.map_structure(lambda _: dtype, output_size(self._cell, self._output_layer))
        return BasicDecoderOutput(dtypes, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """``(finished, inputs, state)``: the helper's, and the first state."""
        finished, inputs = self._helper.initialize()
        return finished, inputs, self._initial_state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> tuple[Any, Any, Any, Any]:
        """``(BasicDecoderOutput, next_state, next_inputs, finished)``."""
        with tf.name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )
            return BasicDecoderOutput(outputs, sample_ids), next_state, next_inputs, finished
