"""A cell that attends to a memory.

A step of :class:`AttentionWrapper` gives the cell the inputs and the last attention, asks an
:class:`AttentionMechanism` (attention_mechanisms.py) for the alignments [B, L] of the cell's output with the memory
[B, L, ...], and makes the next attention of the memory weighed by these.

Names with an underscore are those that programs with mechanisms of their own import from 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from ..framework.tensor_util import with_same_shape
from ..rnn.core_rnn_cell import RNNCell, check_cell, zeros
from .attention_mechanisms import (  # noqa: F401 - this is their address in 1.15
    AttentionMechanism,
    BahdanauAttention,
    BahdanauMonotonicAttention,
    LuongAttention,
    LuongMonotonicAttention,
    _bahdanau_score,
    _BaseAttentionMechanism,
    _BaseMonotonicAttentionMechanism,
    _luong_score,
    _maybe_mask_score,
    _monotonic_probability_fn,
    _prepare_memory,
    hardmax,
    monotonic_attention,
    safe_cumprod,
)

__all__ = [
    "AttentionMechanism",
    "AttentionWrapper",
    "AttentionWrapperState",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "LuongAttention",
    "LuongMonotonicAttention",
    "hardmax",
    "monotonic_attention",
    "safe_cumprod",
]


class AttentionWrapperState(NamedTuple):
    """The state of an :class:`AttentionWrapper`.

    ``cell_state`` is the cell's; ``attention`` [B, N] the last one; ``time`` an int32 scalar; ``alignments`` [B, L],
    ``alignment_history`` (an array of these over time, or ()) and ``attention_state`` are those of the mechanism, or
    tuples with one for each mechanism.
    """

    cell_state: Any
    attention: Any
    time: Any
    alignments: Any
    alignment_history: Any
    attention_state: Any

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """This state with other fields, tensors of the same shapes: ``zero_state.clone(cell_state=encoder_state)``.

        Args:
            **kwargs: The fields.

        Raises:
            ValueError: A shape differs.
        """

        def checked(old: Any, new: Any) -> Any:
            return with_same_shape(old, new) if tf.is_tensor(old) and tf.is_tensor(new) else new

        cloned: AttentionWrapperState = tf.nest.map_structure(checked, self, self._replace(**kwargs))
        return cloned


def _compute_attention(
    attention_mechanism: Any, cell_output: Any, attention_state: Any, attention_layer: Any
) -> tuple[Any, Any, Any]:
    """``(attention, alignments, next_attention_state)`` of a mechanism."""
    alignments, next_state = attention_mechanism(cell_output, state=attention_state)
    context = tf.squeeze(tf.matmul(tf.expand_dims(alignments, 1), attention_mechanism.values), [1])
    if attention_layer is None:
        return context, alignments, next_state
    return attention_layer(tf.concat([cell_output, context], 1)), alignments, next_state


class AttentionWrapper(RNNCell):  # type: ignore[misc]
    """A cell that attends to a memory.

    For beam search, memory and first state are repeated with ``tile_batch``, and ``zero_state`` gets B * K.

    Args:
        cell: The cell.
        attention_mechanism: The mechanism, or a list of them.
        attention_layer_size: The size of a layer without bias that makes the attention of the cell's output and the
            weighed memory; None to take the weighed memory. A list of sizes for a list of mechanisms.
        alignment_history: Whether the state keeps all alignments in an array.
        cell_input_fn: Makes the cell's inputs of inputs and attention; None to join them along the last dimension.
        output_attention: Whether the output is the attention, in place of the cell's output.
        initial_cell_state: The cell's first state; None for zeros.
        name: The layer's name.
        attention_layer: The layer itself, in place of ``attention_layer_size``; a list for a list.
        attention_fn: ``f(attention_mechanism, cell_output, attention_state, attention_layer)`` that gives
            ``(attention, alignments, next_attention_state)``.
        dtype: The layer's dtype.

    Raises:
        TypeError: An argument is of another type, or is a list where another is none.
        ValueError: Lists differ in length, or both size and layer are given.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[[Any, Any], Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., tuple[Any, Any, Any]] | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        check_cell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = _mechanisms(attention_mechanism)
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}")
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")

        sizes = _one_for_each("attention_layer_size", "integer", attention_layer_size, mechanisms)
        layers = _one_for_each("attention_layer", "layer", attention_layer, mechanisms)
        if sizes is not None:
            layers = tuple(tf.layers.Dense(size, name="attention_layer", use_bias=False, dtype=dtype) for size in sizes)
            self._attention_layer_size = sum(sizes)
        elif layers is not None:
            self._attention_layer_size = sum(
                _columns(layer, cell.output_size + mechanism.values.shape.as_list()[-1])
                for layer, mechanism in zip(layers, mechanisms, strict=True)
            )
        else:
            self._attention_layer_size = sum(mechanism.values.shape.as_list()[-1] for mechanism in mechanisms)

        self._cell = cell
        self._attention_mechanisms = mechanisms
        self._attention_layers = layers
        self._attention_fn = attention_fn or _compute_attention
        self._cell_input_fn = cell_input_fn or (lambda inputs, attention: tf.concat([inputs, attention], -1))
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._initial_cell_state = None
        if initial_cell_state is not None:
            with tf.name_scope(name, "AttentionWrapperInit"):
                last = tf.nest.flatten(initial_cell_state)[-1]
                batch = last.shape.as_list()[0] or tf.shape(last)[0]
                message = (
                    f"When constructing AttentionWrapper {self._base_name}: Non-matching batch sizes between the "
                    "memory (encoder output) and initial_cell_state.  Are you using the BeamSearchDecoder?  You may "
                    "need to tile your initial state via the tf.contrib.seq2seq.tile_batch function with argument "
                    "multiple=beam_width."
                )
                self._initial_cell_state = self._checked(initial_cell_state, batch, message, "check_initial_cell_state")

    def _checked(self, structure: Any, batch_size: Any, message: str, name: str) -> Any:
        """``structure``, once the memory is known to have ``batch_size`` examples."""
        checks = [
            tf.assert_equal(batch_size, mechanism.batch_size, message=message)
            for mechanism in self._attention_mechanisms
        ]
        with tf.control_dependencies(checks):
            return tf.nest.map_structure(lambda tensor: tf.identity(tensor, name=name), structure)

    def _item_or_tuple(self, items: Any) -> Any:
        """A tuple of ``items``, or the only one, as the mechanisms were given."""
        items = tuple(items)
        return items if self._is_multi else items[0]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            attention=self._attention_layer_size,
            time=tf.TensorShape([]),
            alignments=self._item_or_tuple(mechanism.alignments_size for mechanism in mechanisms),
            alignment_history=self._item_or_tuple(
                mechanism.alignments_size if self._alignment_history else () for mechanism in mechanisms
            ),
            attention_state=self._item_or_tuple(mechanism.state_size for mechanism in mechanisms),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """The state before the first step.

        Args:
            batch_size: B, or B * K for beam search.
            dtype: Of the state.

        Raises:
            tf.errors.InvalidArgumentError: The memory has another number of examples; now, or when the graph runs.
        """
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._initial_cell_state is not None:
                cell_state = self._initial_cell_state
            elif hasattr(self._cell, "zero_state"):
                cell_state = self._cell.zero_state(batch_size, dtype)
            else:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = (
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching batch sizes between the "
                "memory (encoder output) and the requested batch size.  Are you using the BeamSearchDecoder?  If so, "
                "make sure your encoder output has been tiled to beam_width via tf.contrib.seq2seq.tile_batch, and "
                "the batch_size= argument passed to zero_state is batch_size * beam_width."
            )
            cell_state = self._checked(cell_state, batch_size, message, "checked_cell_state")
            mechanisms = self._attention_mechanisms
            alignments = [mechanism.initial_alignments(batch_size, dtype) for mechanism in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=tf.zeros([], dtype=tf.int32),
                attention=zeros(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    mechanism.initial_state(batch_size, dtype) for mechanism in mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=alignment.shape)
                    if self._alignment_history
                    else ()
                    for alignment in alignments
                ),
            )

    def call(self, inputs: Any, state: Any) -> tuple[Any, AttentionWrapperState]:
        """``(attention or the cell's output, next state)``.

        Raises:
            TypeError: ``state`` is not an ``AttentionWrapperState``.
        """
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead."
            )
        cell_output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention), state.cell_state)
        batch = cell_output.shape.as_list()[0] or tf.shape(cell_output)[0]
        message = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the memory (encoder "
            "output) and the query (decoder output).  Are you using the BeamSearchDecoder?  You may need to tile your "
            "memory input via the tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width."
        )
        cell_output = self._checked(cell_output, batch, message, "checked_cell_output")

        attention_states = state.attention_state if self._is_multi else [state.attention_state]
        histories = state.alignment_history if self._is_multi else [state.alignment_history]
        layers = self._attention_layers or [None] * len(self._attention_mechanisms)
        attentions, alignments, next_states, next_histories = [], [], [], []
        for mechanism, attention_state, history, layer in zip(
            self._attention_mechanisms, attention_states, histories, layers, strict=True
        ):
            attention, alignment, next_state = self._attention_fn(mechanism, cell_output, attention_state, layer)
            attentions.append(attention)
            alignments.append(alignment)
            next_states.append(next_state)
            next_histories.append(history.write(state.time, alignment) if self._alignment_history else ())
        attention = tf.concat(attentions, 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(next_states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(next_histories),
        )
        return (attention if self._output_attention else cell_output), next_state


def _mechanisms(given: Any) -> tuple[Any, ...]:
    """The argument ``attention_mechanism`` as a tuple.

    Raises:
        TypeError: One is something else.
    """
    is_multi = isinstance(given, (list, tuple))
    mechanisms = tuple(given) if is_multi else (given,)
    for mechanism in mechanisms:
        if not isinstance(mechanism, AttentionMechanism):
            wanted = (
                "contain only instances of AttentionMechanism"
                if is_multi
                else "be an AttentionMechanism or list of multiple AttentionMechanism instances"
            )
            raise TypeError(f"attention_mechanism must {wanted}, saw type: {type(mechanism).__name__}")
    return mechanisms


def _columns(layer: Any, inputs: int) -> int:
    """The last dimension of what ``layer`` makes of [B, inputs]."""
    return int(tf.TensorShape(layer.compute_output_shape(tf.TensorShape([None, inputs]))).as_list()[-1])


def _one_for_each(name: str, what: str, values: Any, mechanisms: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """``values`` as a tuple, one for each mechanism; None if it is None.

    Raises:
        ValueError: Their number is another.
    """
    if values is None:
        return None
    found = tuple(values) if isinstance(values, (list, tuple)) else (values,)
    if len(found) != len(mechanisms):
        raise ValueError(
            f"If provided, {name} must contain exactly one {what} per attention_mechanism, saw: "
            f"{len(found)} vs {len(mechanisms)}"
        )
    return found
