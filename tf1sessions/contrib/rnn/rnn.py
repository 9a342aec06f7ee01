"""Bidirectional RNNs in layers, and two helpers of tf.nn's own loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "best_effort_input_batch_size",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "transpose_batch_time",
]

static_bidirectional_rnn: Any = tf.nn.static_bidirectional_rnn
static_rnn: Any = tf.nn.static_rnn
static_state_saving_rnn: Any = tf.nn.static_state_saving_rnn


def transpose_batch_time(x: Any) -> Any:
    """``x`` with its first two dimensions exchanged; as it is if it has fewer than two."""
    x = tf.convert_to_tensor(x)
    rank = x.shape.rank
    if rank is not None and rank < 2:
        return x
    if rank is not None:
        return tf.transpose(x, [1, 0, *range(2, rank)])
    return tf.transpose(x, tf.concat([[1, 0], tf.range(2, tf.rank(x))], axis=0))


def best_effort_input_batch_size(flat_input: Iterable[Any]) -> Any:
    """The batch size B of tensors [T, B, ...]: a number if one of them has it, else a tensor.

    Raises:
        ValueError: A tensor has fewer than two dimensions.
    """
    flat_input = list(flat_input)
    for tensor in flat_input:
        shape = tensor.shape
        if shape.rank is None:
            continue
        if shape.rank < 2:
            raise ValueError(f"Expected input tensor {tensor} to have rank at least 2")
        size = shape.as_list()[1]
        if size is not None:
            return size
    return tf.shape(flat_input[0])[1]


def _check(cells_fw: Any, cells_bw: Any, initial_states_fw: Any, initial_states_bw: Any) -> None:
    for what, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not cells:
            raise ValueError(f"Must specify at least one {what} cell for BidirectionalRNN.")
    for what, cells in (("Forward", cells_fw), ("Backward", cells_bw)):
        if not isinstance(cells, list):
            raise ValueError(f"cells_{what[0].lower()}w must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for what, states, cells in (("fw", initial_states_fw, cells_fw), ("bw", initial_states_bw, cells_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells)):
            raise ValueError(f"initial_states_{what} must be a list of state tensors (one per layer).")


def _stacked(
    layer: Callable[..., tuple[Any, Any, Any]],
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Any,
    initial_states_fw: Sequence[Any] | None,
    initial_states_bw: Sequence[Any] | None,
    scope: Any,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Layers on each other: ``layer(cell_fw, cell_bw, inputs, scope, **initial states)`` is one of them."""
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with tf.variable_scope(f"cell_{i}") as cell_scope:
                inputs, state_fw, state_bw = layer(
                    cell_fw,
                    cell_bw,
                    inputs,
                    cell_scope,
                    initial_state_fw=initial_states_fw[i] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[i] if initial_states_bw else None,
                )
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Sequence[Any],
    initial_states_fw: Sequence[Any] | None = None,
    initial_states_bw: Sequence[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Any:
    """Layers of bidirectional RNNs, each on both outputs of the layer below, unrolled over time.

    Args:
        cells_fw: The forward cells, one for each layer.
        cells_bw: The backward cells.
        inputs: A list of T tensors [B, N].
        initial_states_fw: A list with the state that each forward cell starts from; None for zeros.
        initial_states_bw: The same for the backward cells.
        dtype: Of the zeros.
        sequence_length: [B], whole numbers: where each sequence ends.
        scope: The variable scope or its name; None for ``stack_bidirectional_rnn``.

    Returns:
        ``(outputs, states_fw, states_bw)``: T tensors with forward and backward output side by side, and for each
        direction the final states of the layers.

    Raises:
        ValueError: There are no cells, or lists differ in length.
    """

    def layer(cell_fw: Any, cell_bw: Any, previous: Any, scope: Any, **starts: Any) -> tuple[Any, Any, Any]:
        outputs, state_fw, state_bw = static_bidirectional_rnn(
            cell_fw, cell_bw, previous, sequence_length=sequence_length, dtype=dtype, scope=scope, **starts
        )
        return outputs, state_fw, state_bw

    return _stacked(layer, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)


def stack_bidirectional_dynamic_rnn(
    cells_fw: Sequence[Any],
    cells_bw: Sequence[Any],
    inputs: Any,
    initial_states_fw: Sequence[Any] | None = None,
    initial_states_bw: Sequence[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> Any:
    """Layers of bidirectional RNNs, each on both outputs of the layer below, with a loop over time.

    Args:
        cells_fw: The forward cells, one for each layer.
        cells_bw: The backward cells.
        inputs: [B, T, N].
        initial_states_fw: A list with the state that each forward cell starts from; None for zeros.
        initial_states_bw: The same for the backward cells.
        dtype: Of the zeros.
        sequence_length: [B], whole numbers: where each sequence ends.
        parallel_iterations: How many steps may run at the same time.
        time_major: Whether inputs and outputs are [T, B, N].
        scope: The variable scope or its name; None for ``stack_bidirectional_rnn``.
        swap_memory: Whether tensors for the gradient may go from the GPU's memory to the host's.

    Returns:
        ``(outputs, states_fw, states_bw)``: [B, T, forward and backward output], and for each direction the final
        states of the layers.

    Raises:
        ValueError: There are no cells, or lists differ in length.
    """

    def layer(cell_fw: Any, cell_bw: Any, previous: Any, scope: Any, **starts: Any) -> tuple[Any, Any, Any]:
        outputs, (state_fw, state_bw) = tf.nn.bidirectional_dynamic_rnn(
            cell_fw,
            cell_bw,
            previous,
            sequence_length=sequence_length,
            parallel_iterations=parallel_iterations,
            dtype=dtype,
            swap_memory=swap_memory,
            time_major=time_major,
            **starts,
        )
        return tf.concat(outputs, 2), state_fw, state_bw

    return _stacked(layer, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)
