"""The loop that decodes step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from ..rnn.core_rnn_cell import exchanged, zeros
from ..rnn.rnn import transpose_batch_time

__all__ = ["Decoder", "dynamic_decode"]

_transpose_batch_time = transpose_batch_time


class Decoder:
    """The base of what :func:`dynamic_decode` runs; a decoder is a subclass.

    ``inputs``, ``state`` and ``outputs`` are tensors, ``TensorArray`` objects, or nested tuples of these; ``finished``
    is bool [B].
    """

    @property
    def batch_size(self) -> Any:
        """B, an int32 scalar."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The sizes or shapes of a step's outputs, without B."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The dtypes of a step's outputs."""
        raise NotImplementedError

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """``(finished, inputs, state)`` before the first step."""
        raise NotImplementedError

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> tuple[Any, Any, Any, Any]:
        """``(outputs, next_state, next_inputs, finished)`` of the step number ``time``, an int32 scalar."""
        raise NotImplementedError

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """``(outputs, state)`` after the last step, from outputs [T, B, ...] and lengths int32 [B]; may be left out."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether the decoder itself keeps finished examples finished, as it moves examples between steps."""
        return False


def _shape(size: Any) -> Any:
    return size if isinstance(size, tf.TensorShape) else tf.TensorShape(size)


def _step(decoder: Decoder, zero_outputs: Any) -> Callable[..., Any]:
    """The loop's body; with ``zero_outputs``, what is finished has these, and keeps its state."""

    def step(time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
        outputs, next_state, next_inputs, next_finished = decoder.step(time, inputs, state)
        if not decoder.tracks_own_finished:
            next_finished = tf.logical_or(next_finished, finished)
        lengths = tf.where(tf.logical_not(finished), tf.fill(tf.shape(lengths), time + 1), lengths)
        for old, new in ((state, next_state), (arrays, outputs), (inputs, next_inputs)):
            tf.nest.assert_same_structure(old, new)

        def kept(new: Any, old: Any) -> Any:
            if isinstance(old, tf.TensorArray):
                return new
            new.set_shape(old.shape)
            return new if new.shape.rank == 0 else tf.where(finished, old, new)

        if zero_outputs is not None:
            outputs = tf.nest.map_structure(
                lambda output, zero: tf.where(finished, zero, output), outputs, zero_outputs
            )
            next_state = tf.nest.map_structure(kept, next_state, state)
        arrays = tf.nest.map_structure(lambda array, output: array.write(time, output), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, next_finished, lengths

    return step


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """Runs a decoder until everything is finished.

    Args:
        decoder: The decoder.
        output_time_major: Whether outputs are [T, B, ...].
        impute_finished: Whether the state of a finished example stays as it is, and its outputs are 0.
        maximum_iterations: An int32 scalar: the most steps; None for no limit.
        parallel_iterations: How many steps may run at the same time.
        swap_memory: Whether tensors for the gradient may go from the GPU's memory to the host's.
        scope: The variable scope or its name; None for ``decoder``.
        **kwargs: Not used.

    Returns:
        ``(outputs, state, sequence_lengths)``: outputs [B, T, ...], the last state, and int32 [B].

    Raises:
        TypeError: ``decoder`` is not a ``Decoder``.
        ValueError: ``maximum_iterations`` is not a scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")

    with tf.variable_scope(scope, "decoder"):
        if maximum_iterations is not None:
            maximum_iterations = tf.convert_to_tensor(maximum_iterations, dtype=tf.int32, name="maximum_iterations")
            if maximum_iterations.shape.rank != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        batch = tf.convert_to_tensor(decoder.batch_size)

        def array(size: Any, dtype: Any) -> Any:
            shape = tf.TensorShape([tf.get_static_value(batch)]).concatenate(_shape(size))
            return tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=shape)

        sizes, dtypes = decoder.output_size, decoder.output_dtype
        zero_outputs = tf.nest.map_structure(lambda size, dtype: zeros(size, decoder.batch_size, dtype), sizes, dtypes)
        if maximum_iterations is not None:
            finished = tf.logical_or(finished, tf.less_equal(maximum_iterations, 0))

        def more(time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any) -> Any:
            return tf.logical_not(tf.reduce_all(finished))

        _, arrays, state, _, _, lengths = tf.while_loop(
            more,
            _step(decoder, zero_outputs if impute_finished else None),
            loop_vars=(
                tf.constant(0, dtype=tf.int32),
                tf.nest.map_structure(array, sizes, dtypes),
                state,
                inputs,
                finished,
                tf.zeros_like(finished, dtype=tf.int32),
            ),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs = tf.nest.map_structure(lambda array: array.stack(), arrays)
        if type(decoder).finalize is not Decoder.finalize:
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = tf.nest.map_structure(exchanged, outputs)
    return outputs, state, lengths
