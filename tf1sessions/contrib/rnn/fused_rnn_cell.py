"""RNNs over whole sequences, [T, B, N]: ordinary cells made into one, and one run backwards."""

from __future__ import annotations

import abc
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["FusedRNNCell", "FusedRNNCellAdaptor", "TimeReversedFusedRNN"]


class FusedRNNCell(abc.ABC):
    """An RNN with its loop over time inside."""

    @abc.abstractmethod
    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> Any:
        """Runs over a sequence.

        Args:
            inputs: [T, B, N], or a list of T tensors [B, N].
            initial_state: The state to start from; None for zeros.
            dtype: Of the zeros.
            sequence_length: [B], whole numbers: where each sequence ends.
            scope: The variable scope or its name.

        Returns:
            ``(outputs, final state)``; outputs are like ``inputs``.
        """


class FusedRNNCellAdaptor(FusedRNNCell):
    """An ordinary cell as a fused one.

    Args:
        cell: The cell.
        use_dynamic_rnn: Whether it runs in a loop, or in as many copies as there are steps.
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> Any:
        as_list = isinstance(inputs, list)
        common = dict(initial_state=initial_state, dtype=dtype, sequence_length=sequence_length, scope=scope)
        if self._use_dynamic_rnn:
            stacked = tf.stack(inputs) if as_list else inputs
            outputs, state = tf.nn.dynamic_rnn(self._cell, stacked, time_major=True, **common)
            return (tf.unstack(outputs, num=len(inputs)) if as_list else outputs), state
        outputs, state = tf.nn.static_rnn(self._cell, inputs if as_list else tf.unstack(inputs), **common)
        return (outputs if as_list else tf.stack(outputs)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that reads its inputs from the end, and gives its outputs in the inputs' order.

    As in 1.15, a list is read from its own end whatever ``sequence_length`` is, a tensor from the end of each sequence.

    Args:
        cell: The fused cell.
    """

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    @staticmethod
    def _reverse(sequence: Any, lengths: Any) -> Any:
        if isinstance(sequence, list):
            return sequence[::-1]
        if lengths is None:
            return tf.reverse(sequence, axis=[0])
        return tf.reverse_sequence(sequence, lengths, seq_axis=0, batch_axis=1)

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> Any:
        outputs, state = self._cell(
            self._reverse(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return self._reverse(outputs, sequence_length), state
