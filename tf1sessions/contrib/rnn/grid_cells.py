"""Grid LSTMs: at each step, one LSTM goes along the frequencies of the input, beside the one that goes in time.

Data flow of a step: the inputs [B, N] are cut into blocks, and a block into overlapping parts, its frequencies. From
one frequency to the next goes the state of the LSTM along the frequencies, which starts at zero in each block; the
state of the LSTM in time is the cell's, [B, num_units] twice for each frequency. Both LSTMs see both states.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from typing import Any

from ...runtime import tf1 as tf
from .core_rnn_cell import RNNCell, sharded_variable

__all__ = ["BidirectionalGridLSTMCell", "GridLSTMCell"]


class GridLSTMCell(RNNCell):  # type: ignore[misc]
    """A grid LSTM over time and frequency (arXiv:1507.01526), with the peepholes of Sainath and Li (Interspeech 2016).

    Its output is that of both LSTMs for all frequencies, side by side.

    Args:
        num_units: The size of the state for a frequency.
        use_peepholes: Whether the gates see the states.
        share_time_frequency_weights: Whether both LSTMs have the same weights.
        cell_clip: The state is kept within ±cell_clip.
        initializer: Not used.
        num_unit_shards: The parts of each kernel.
        forget_bias: Added to the forget gates.
        feature_size: The size of the input for a frequency.
        frequency_skip: How far one frequency's input is from the next one's.
        num_frequency_blocks: How many frequencies each block has.
        start_freqindex_list: Where each block of the input starts; None for one block, the whole input.
        end_freqindex_list: Where each block ends.
        couple_input_forget_gates: Whether as much is taken in as is forgotten, without forget gates.
        state_is_tuple: Whether the state is a named tuple, or its parts side by side.
        reuse: Whether the variables exist already.

    Raises:
        ValueError: ``num_frequency_blocks`` is not given.
    """

    _state_name = "GridLSTMStateTuple"
    _directions: Sequence[str] = ("",)

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share = share_time_frequency_weights
        self._cell_clip = cell_clip
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip
        self._blocks = tuple(num_frequency_blocks)
        self._starts = start_freqindex_list
        self._ends = end_freqindex_list
        self._couple = couple_input_forget_gates
        self._state_tuple_type: Any = None
        if state_is_tuple:
            fields = [
                f"{direction}state_f{frequency:02}_b{block:02}_{part}"
                for direction in self._directions
                for block, count in enumerate(self._blocks)
                for frequency in range(count)
                for part in "cm"
            ]
            self._state_tuple_type = collections.namedtuple(self._state_name, fields)  # type: ignore[misc]

    @property
    def state_tuple_type(self) -> Any:
        """The type of the state; None if it is a tensor."""
        return self._state_tuple_type

    @property
    def _parts(self) -> int:
        """Return the number of tensors of the state."""
        return 2 * sum(self._blocks) * len(self._directions)

    @property
    def state_size(self) -> Any:
        if self._state_tuple_type is None:
            return self._num_units * self._parts
        return self._state_tuple_type(*[self._num_units] * self._parts)

    @property
    def output_size(self) -> int:
        return self._num_units * self._parts

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and a state of :attr:`state_size`.

        Raises:
            ValueError: The blocks do not fit the size of the inputs, or the state is none of this cell.
            TypeError: ``feature_size`` or ``frequency_skip`` was not given.
        """
        if self._state_tuple_type is not None:
            state = self._checked(state)
        batch = inputs.shape.as_list()[0] or tf.shape(inputs)[0]
        outputs, states = self._along(self._cut(inputs), state, batch)
        new_state = self._joined(states)
        return tf.concat(outputs, 1), new_state

    def _checked(self, state: Any) -> list[Any]:
        """The tensors of a state that is a tuple."""
        parts: list[Any] = tf.nest.flatten(state)
        if len(parts) != self._parts:
            raise ValueError(
                f"The state must be a {self._state_tuple_type.__name__} of {self._parts} tensors: {state}."
            )
        return parts

    def _joined(self, states: list[Any]) -> Any:
        return tf.concat(states, 1) if self._state_tuple_type is None else self._state_tuple_type(*states)

    def _cut(self, inputs: Any, offset: int = 0) -> list[list[Any]]:
        """The input of each frequency, [B, feature_size], by block; ``offset`` moves them all."""
        size = inputs.shape.with_rank(2).as_list()[1]
        if size is None:
            raise ValueError("Cannot infer input_size from static shape inference.")
        if self._feature_size is None or self._frequency_skip is None:
            raise TypeError(
                f"feature_size and frequency_skip must be int, and are {self._feature_size} and {self._frequency_skip}"
            )
        found = []
        for count, (start, end) in zip(self._blocks, self._ranges(size), strict=True):
            fitting = int((end - start - self._feature_size) / self._frequency_skip) + 1
            if fitting != count:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {count} but gets {fitting}, please check the input size "
                    "and filter config are correct."
                )
            begins = [offset + start + i * self._frequency_skip for i in range(count)]
            found.append([tf.slice(inputs, [0, begin], [-1, self._feature_size]) for begin in begins])
        return found

    def _ranges(self, size: int) -> list[tuple[int, int]]:
        """Return the start and end of each block in an input of ``size``."""
        blocks = len(self._blocks)
        if self._starts is None:
            if blocks != 1:
                raise ValueError(f"Length of num_frequency_blocks is not 1, but instead is {blocks}")
            return [(0, size)]
        if self._ends is None:
            raise TypeError("end_freqindex_list must be a list, like start_freqindex_list, and is None")
        if len(self._starts) != len(self._ends):
            raise ValueError(
                f"Length of start and end freqindex_list does not match {len(self._starts)} {len(self._ends)}"
            )
        if blocks != len(self._starts):
            raise ValueError(
                f"Length of num_frequency_blocks is not equal to start_freqindex_list {blocks} {len(self._starts)}"
            )
        return list(zip(self._starts, self._ends, strict=True))

    def _along(self, blocks: list[list[Any]], state: Any, batch: Any) -> tuple[list[Any], list[Any]]:
        """The outputs of all frequencies, and the states, which ``state`` has the old ones of."""
        outputs, states = [], []
        for block, parts in enumerate(blocks):
            for c_time, m_time, m_frequency in self._block(block, parts, state, batch):
                states += [c_time, m_time]
                outputs += [m_time, m_frequency]
        return outputs, states

    def _old(self, state: Any, block: int, frequency: int) -> tuple[Any, Any]:
        """The state of the LSTM in time for a frequency."""
        if self._state_tuple_type is not None:
            first = 2 * (sum(self._blocks[:block]) + frequency)
            return state[first], state[first + 1]
        # of a state that is one tensor, each block reads the beginning, as in 1.15
        c = tf.slice(state, [0, 2 * frequency * self._num_units], [-1, self._num_units])
        m = tf.slice(state, [0, (2 * frequency + 1) * self._num_units], [-1, self._num_units])
        return c, m

    def _block(self, block: int, parts: list[Any], state: Any, batch: Any) -> Iterator[tuple[Any, Any, Any]]:
        """For each frequency of a block: the new state and output of the LSTM in time, and the other one's output."""
        units, dtype, size = self._num_units, parts[0].dtype, int(self._feature_size or 0)
        gates = 3 if self._couple else 4
        sides = "f" if self._share else "ft"
        weights = []
        for side in sides:
            kernel = sharded_variable(
                f"W_{side}_{block}", [size + 2 * units, gates * units], dtype, self._num_unit_shards
            )
            bias = tf.get_variable(
                f"B_{side}_{block}", [gates * units], dtype=dtype, initializer=tf.zeros_initializer()
            )
            weights.append((kernel, bias))
        peepholes = [self._peepholes(side, block, dtype) for side in ("freq", "time")[: len(sides)]]

        m_frequency = c_frequency = None
        for frequency, part in enumerate(parts):
            c_time, m_time = self._old(state, block, frequency)
            if m_frequency is None:
                m_frequency, c_frequency = tf.zeros([batch, units], dtype), tf.zeros([batch, units], dtype)
            args = tf.concat([part, m_time, m_frequency], 1)
            split = [
                tf.split(value=tf.nn.bias_add(tf.matmul(args, kernel), bias), num_or_size_splits=gates, axis=1)
                for kernel, bias in weights
            ]
            lstms = [(split[i], peepholes[i]) for i in (0, -1)]  # along the frequencies, and in time
            old = [c_frequency, c_time]
            new = [self._new_state(*own, old, state) for own, state in zip(lstms, old, strict=True)]
            c_frequency, c_time = new
            m_frequency, m_time = (
                tf.sigmoid(_seen(own[-1], diagonals.get("O"), new)) * tf.tanh(state)
                for (own, diagonals), state in zip(lstms, new, strict=True)
            )
            yield c_time, m_time, m_frequency

    def _peepholes(self, side: str, block: int, dtype: Any) -> dict[str, list[Any]]:
        """Return, by gate, the factors of the states of both LSTMs."""
        if not self._use_peepholes:
            return {}
        return {
            gate: [
                tf.get_variable(f"W_{gate}_diag_{side}{towards}_{block}", shape=[self._num_units], dtype=dtype)
                for towards in "ft"
            ]
            for gate in ("IO" if self._couple else "FIO")
        }

    def _new_state(self, split: list[Any], peepholes: dict[str, list[Any]], states: list[Any], state: Any) -> Any:
        """The new state of the LSTM whose old one is ``state``; ``states`` are those of both."""
        entering = tf.sigmoid(_seen(split[0], peepholes.get("I"), states))
        if self._couple:
            forget = 1.0 - entering
        else:
            forget = tf.sigmoid(_seen(split[2] + self._forget_bias, peepholes.get("F"), states))
        new = forget * state + entering * tf.tanh(split[1])
        return new if self._cell_clip is None else tf.clip_by_value(new, -self._cell_clip, self._cell_clip)


def _seen(gate: Any, diagonals: Sequence[Any] | None, states: Sequence[Any]) -> Any:
    """A gate that sees ``states`` through ``diagonals``, if there are any."""
    if diagonals is not None:
        for diagonal, state in zip(diagonals, states, strict=True):
            gate = gate + diagonal * state
    return gate


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A grid LSTM that goes along the frequencies in both directions, each with weights of its own.

    Time has one direction, so that it can be used on sound as it comes in. The state is always a named tuple; see
    :class:`GridLSTMCell` for what is not here, which is for each of the directions.

    Args:
        backward_slice_offset: How far the inputs of the backward direction are moved.

    Raises:
        ValueError: ``num_frequency_blocks`` is not given.
    """

    _state_name = "BidirectionalGridLSTMStateTuple"
    _directions = ("fwd_", "bwd_")

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._backward_slice_offset = backward_slice_offset

    def call(self, inputs: Any, state: Any) -> Any:
        """One step, for ``inputs`` [B, N] and a state of :attr:`state_size`; raises what the other cell raises."""
        parts = self._checked(state)
        half = len(parts) // 2
        batch = inputs.shape.as_list()[0] or tf.shape(inputs)[0]
        forward = self._cut(inputs)
        offset = self._backward_slice_offset
        backward = [block[::-1] for block in (self._cut(inputs, offset) if offset else forward)]
        with tf.variable_scope("fwd"):
            outputs, states = self._along(forward, parts[:half], batch)
        with tf.variable_scope("bwd"):
            outputs_back, states_back = self._along(backward, parts[half:], batch)
        return tf.concat(outputs + outputs_back, 1), self._joined(states + states_back)
