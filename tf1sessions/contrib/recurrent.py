"""``tf.contrib.recurrent``: a step of a network repeated over time, for cells and for functions.

1.15.5 made functions of the graph of the steps; here they are loops, with the same variables and numbers.

Shapes: T steps, B examples in the batch; inputs are ``[T, ...]`` for ``Recurrent``, and ``[B, T, ...]`` for cells
unless ``time_major`` is set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import UsageError
from ..runtime import tf1 as tf

__all__ = ["Recurrent", "bidirectional_functional_rnn", "functional_rnn"]


def Recurrent(
    theta: Any,
    state0: Any,
    inputs: Any,
    cell_fn: Callable[[Any, Any, Any], tuple[Any, Any]],
    cell_grad: Callable[..., tuple[Any, Any, Any]] | None = None,
    extras: Any = None,
    max_input_length: Any = None,
    use_tpu: bool = False,
    aligned_end: bool = False,
) -> tuple[Any, Any]:
    """Compute ``state = cell_fn(theta, state, inputs[t])`` for each step.

    Args:
        theta: Weights: a structure of tensors.
        state0: The first state: a structure of tensors.
        inputs: A structure of tensors ``[T, ...]``.
        cell_fn: A function of (theta, state, inputs of a step) that returns the next state, and a structure of extras.
        cell_grad: A function of (theta, state, inputs, extras, gradients of the next state) that returns the gradients
            of the first three, in place of those that TensorFlow computes.
        extras: Not needed here: the structure of the extras.
        max_input_length: How many steps are computed, a scalar int32 tensor; by default all.
        use_tpu: Not used here.
        aligned_end: Whether those are the last steps, and not the first.

    Returns:
        All states, a structure of tensors ``[T, ...]`` that are 0 at steps which are not computed; and the last state.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     states, last = t1.contrib.recurrent.Recurrent(
        ...         {"w": tf.constant(2.0)}, tf.constant(1.0), tf.constant([0.0, 1.0]),
        ...         lambda theta, state, x: (theta["w"] * state + x, ()))
        ...     [value.tolist() for value in gs.run([states, last])]
        [[2.0, 5.0], 5.0]
    """
    theta, state0, inputs = (tf.nest.map_structure(tf.convert_to_tensor, each) for each in (theta, state0, inputs))
    first_input = tf.nest.flatten(inputs)[0]
    steps = tf.shape(first_input)[0]
    computed = steps if max_input_length is None else tf.minimum(tf.cast(max_input_length, tf.int32), steps)
    begin, end = (steps - computed, steps) if aligned_end else (tf.zeros_like(steps), computed)
    step = _with_gradient(cell_fn, cell_grad, theta, state0, inputs)

    def array(value: Any) -> Any:
        return tf.TensorArray(value.dtype, steps, element_shape=value.shape, clear_after_read=False)

    def zeros(time: Any, arrays: list[Any]) -> tuple[Any, list[Any]]:
        states = tf.nest.flatten(state0)
        return time + 1, [each.write(time, tf.zeros_like(state)) for each, state in zip(arrays, states, strict=True)]

    def body(time: Any, arrays: list[Any], states: list[Any]) -> tuple[Any, list[Any], list[Any]]:
        state = tf.nest.pack_sequence_as(state0, states)
        given = tf.nest.map_structure(lambda value: tf.gather(value, time), inputs)
        new = tf.nest.flatten(step(theta, state, given))
        for old, each in zip(states, new, strict=True):
            each.set_shape(old.shape)
        return time + 1, [each.write(time, value) for each, value in zip(arrays, new, strict=True)], new

    arrays = [array(value) for value in tf.nest.flatten(state0)]
    time, arrays = tf.while_loop(lambda time, _: time < begin, zeros, (tf.constant(0), arrays))
    time, arrays, states = tf.while_loop(
        lambda time, *_: time < end, body, (time, arrays, tf.nest.flatten(state0)), parallel_iterations=1
    )
    _, arrays = tf.while_loop(lambda time, _: time < steps, zeros, (time, arrays))
    stacked = [each.stack() for each in arrays]
    for value, state in zip(stacked, states, strict=True):
        value.set_shape(first_input.shape[:1].concatenate(state.shape))
    return tf.nest.pack_sequence_as(state0, stacked), tf.nest.pack_sequence_as(state0, states)


def _with_gradient(
    cell_fn: Callable[..., Any], cell_grad: Callable[..., Any] | None, *structures: Any
) -> Callable[..., Any]:
    """A function of (theta, state, inputs) that returns the next state of ``cell_fn``, with the gradient given."""
    if cell_grad is None:
        return lambda theta, state, given: cell_fn(theta, state, given)[0]
    gradient_of = cell_grad
    counts = [len(tf.nest.flatten(each)) for each in structures]

    def packed(flat: tuple[Any, ...]) -> list[Any]:
        found, start = [], 0
        for structure, count in zip(structures, counts, strict=True):
            found.append(tf.nest.pack_sequence_as(structure, flat[start : start + count]))
            start += count
        return found

    def step(theta: Any, state: Any, given: Any) -> Any:
        def flat_step(*flat: Any) -> Any:
            new, extras = cell_fn(*packed(flat))

            def gradient(*of_new: Any) -> Any:
                return tf.nest.flatten(gradient_of(*packed(flat), extras, tf.nest.pack_sequence_as(state, of_new)))

            return tf.nest.flatten(new), gradient

        flat = [value for each in (theta, state, given) for value in tf.nest.flatten(each)]
        return tf.nest.pack_sequence_as(state, tf.nest.flatten(tf.custom_gradient(flat_step)(*flat)))

    return step


def functional_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    time_major: bool = False,
    scope: Any = None,
    use_tpu: bool = False,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """``tf.nn.dynamic_rnn``, also from the last step to the first.

    Args:
        cell: An RNNCell.
        inputs: A tensor ``[B, T, ...]``.
        sequence_length: How long each example is, ``[B]``. Backwards, as in 1.15.5, every example begins at the end of
            the longest one; only outputs are cut.
        initial_state: The first state; by default 0, for which ``dtype`` is needed.
        dtype: Of that state.
        time_major: Whether inputs and outputs are ``[T, B, ...]``.
        scope: For variables; by default "rnn".
        use_tpu: Not used here.
        reverse: Whether to begin with the last step.

    Returns:
        The outputs ``[B, T, ...]``, and the last state.

    Raises:
        ValueError: There is neither a first state nor a dtype.
    """
    arguments = {"initial_state": initial_state, "dtype": dtype, "time_major": True, "scope": scope}
    given = inputs if time_major else _exchanged(inputs)
    if not reverse:
        outputs, state = tf.nn.dynamic_rnn(cell, given, sequence_length=sequence_length, **arguments)
    else:
        steps = tf.shape(given)[0]
        longest = steps if sequence_length is None else tf.reduce_max(tf.cast(sequence_length, tf.int32))
        outputs, state = tf.nn.dynamic_rnn(cell, tf.reverse(given[:longest], [0]), **arguments)
        outputs = tf.reverse(outputs, [0])
        if sequence_length is not None:
            outputs = _cut(outputs, sequence_length, steps, longest)
        outputs.set_shape(given.shape[:2].concatenate(outputs.shape[2:]))
    return (outputs if time_major else _exchanged(outputs)), state


def _exchanged(value: Any) -> Any:
    """The tensor with its first two dimensions exchanged."""
    return tf.transpose(value, [1, 0, *range(2, value.shape.ndims)])


def _cut(outputs: Any, lengths: Any, steps: Any, longest: Any) -> Any:
    """Outputs ``[longest, B, ...]`` as ``[steps, B, ...]``, with 0 after the length of each example."""
    rank = outputs.shape.ndims
    is_in = tf.transpose(tf.sequence_mask(lengths, longest, dtype=outputs.dtype))
    outputs *= tf.reshape(is_in, tf.concat([tf.shape(is_in), [1] * (rank - 2)], 0))
    return tf.pad(outputs, [[0, steps - longest], *[[0, 0]] * (rank - 1)])


def bidirectional_functional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """``tf.nn.bidirectional_dynamic_rnn``.

    Args:
        cell_fw: The RNNCell that goes forward.
        cell_bw: The one that goes backward.
        inputs: A tensor ``[B, T, ...]``.
        initial_state_fw: The first state of ``cell_fw``; by default 0, for which ``dtype`` is needed.
        initial_state_bw: The same of ``cell_bw``.
        dtype: Of those states.
        sequence_length: How long each example is, ``[B]``.
        time_major: Whether inputs and outputs are ``[T, B, ...]``.
        use_tpu: Only together with ``fast_reverse``.
        fast_reverse: Whether ``cell_bw`` goes backward as :func:`functional_rnn` does, for lengths that are equal.
        scope: For variables; by default "bidirectional_rnn".

    Returns:
        The outputs of both, and the last states of both.

    Raises:
        UsageError: ``use_tpu`` is set without ``fast_reverse``. It is a ValueError, too.
    """
    if use_tpu and not fast_reverse:
        raise UsageError(
            "use_tpu is set, and fast_reverse is not",
            where="tf.contrib.recurrent.bidirectional_functional_rnn",
            next_step="Set both or none, as TensorFlow 1.15.5 refuses the one without the other.",
        )
    if not fast_reverse:
        outputs, states = tf.nn.bidirectional_dynamic_rnn(
            cell_fw,
            cell_bw,
            inputs,
            sequence_length=sequence_length,
            initial_state_fw=initial_state_fw,
            initial_state_bw=initial_state_bw,
            dtype=dtype,
            time_major=time_major,
            scope=scope,
        )
        return outputs, states
    common = {"sequence_length": sequence_length, "dtype": dtype, "time_major": time_major}
    with tf.variable_scope(scope or "bidirectional_rnn"):
        with tf.variable_scope("fw") as fw_scope:
            fw, fw_state = functional_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=fw_scope, **common)
        with tf.variable_scope("bw") as bw_scope:
            common.update(initial_state=initial_state_bw, scope=bw_scope)
            bw, bw_state = functional_rnn(cell_bw, inputs, reverse=True, **common)
    return (fw, bw), (fw_state, bw_state)
