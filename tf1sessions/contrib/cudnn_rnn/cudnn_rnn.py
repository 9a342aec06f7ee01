"""The layers: several RNN layers, in one or in both directions, over a whole sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf
from . import cudnn_rnn_ops as ops

__all__ = ["CudnnGRU", "CudnnLSTM", "CudnnRNNRelu", "CudnnRNNTanh"]


class _CudnnRNN(tf.layers.Layer):  # type: ignore[misc]
    """Base of the layers; subclasses give the step.

    Args:
        num_layers: L.
        num_units: U.
        input_mode: "linear_input", or "auto_select" where that is linear.
        direction: "unidirectional" (D is 1) or "bidirectional" (D is 2).
        dropout: The rate of dropout between two layers.
        seed: Of the dropout and of the initial values.
        dtype: float16, float32 or float64.
        kernel_initializer: Of each canonical matrix; Glorot's uniform one without it.
        bias_initializer: Of each canonical vector; zeros without it.
        name: Of the scope.

    Raises:
        ValueError: A direction, mode or type that there is not.
    """

    _saveable_cls: type[Any]
    _num_states = 1  # tensors in a state

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = ops.LINEAR_INPUT,
        direction: str = ops.UNIDIRECTIONAL,
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = tf.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        ops.check_direction(direction)
        ops.check_input_mode(input_mode)
        dtype = tf.as_dtype(dtype)
        if dtype not in (tf.float16, tf.float32, tf.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._num_layers, self._num_units = num_layers, num_units
        self._input_mode, self._direction = input_mode, direction
        self._dropout, self._seed = dropout, seed
        self._kernel_initializer = kernel_initializer or tf.glorot_uniform_initializer(seed, dtype)
        self._bias_initializer = bias_initializer or tf.constant_initializer(0.0, dtype=dtype)
        self._number_type = dtype
        self._converter: Any = None
        self._opaque: Any = None
        self._saver: Any = None
        self._known_input_size: int | None = None

    @property
    def num_layers(self) -> int:
        return self._num_layers

    @property
    def num_units(self) -> int:
        return self._num_units

    @property
    def input_mode(self) -> str:
        return self._input_mode

    @property
    def direction(self) -> str:
        return self._direction

    @property
    def num_dirs(self) -> int:
        return 2 if self._direction == ops.BIDIRECTIONAL else 1

    @property
    def rnn_mode(self) -> str:
        mode: str = self._saveable_cls._format_converter_cls._rnn_mode
        return mode

    @property
    def input_size(self) -> int:
        """The last dimension of the inputs; a ``ValueError`` before the layer is built."""
        if self._known_input_size is None:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._known_input_size

    @property
    def saveable(self) -> Any:
        """The object that saves the layer as variables of cells; it is in SAVEABLE_OBJECTS."""
        return self._saver

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of cuDNN's matrices."""
        shapes: list[tuple[int, int]] = self._known("canonical_weight_shapes").weight_shapes
        return shapes

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """The shapes of cuDNN's vectors."""
        shapes: list[list[int]] = self._known("canonical_bias_shapes").bias_shapes
        return shapes

    def _known(self, asked: str) -> Any:
        if self._converter is None:
            raise RuntimeError(f"{type(self).__name__}.{asked} invoked before input shape is known")
        return self._converter

    def state_shape(self, batch_size: int) -> tuple[list[int], ...]:
        """The shapes of the state's tensors, [L * D, batch_size, U]."""
        return ([self._num_layers * self.num_dirs, batch_size, self._num_units],) * self._num_states

    def build(self, input_shape: Any) -> None:
        """Makes the variable for inputs of ``input_shape`` [T, B, N].

        Raises:
            ValueError: The rank is not 3, or N is not known.
        """
        shape = tf.TensorShape(input_shape)
        if shape.rank != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.rank}")
        size = shape.as_list()[-1]
        if size is None:
            raise ValueError("The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`.")
        self._known_input_size = size
        self._converter = self._saveable_cls._format_converter_cls(
            self._num_layers, self._num_units, size, input_mode=self._input_mode, direction=self._direction
        )
        self._opaque = self.add_weight(
            "opaque_kernel", shape=[self._converter.size], dtype=self._number_type, initializer=self._initial
        )
        self._saver = self._saveable_cls(
            self._opaque,
            self._num_layers,
            self._num_units,
            size,
            self._input_mode,
            self._direction,
            scope=self._opaque.op.name.rpartition("/")[0],
            name=f"{self._opaque.op.name}_saveable",
        )
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, self._saver)
        self.built = True

    def _initial(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        weights, biases = (
            [initializer(shape, dtype=self._number_type) for shape in shapes]
            for initializer, shapes in (
                (self._kernel_initializer, self._converter.weight_shapes),
                (self._bias_initializer, self._converter.bias_shapes),
            )
        )
        return self._converter.canonical_to_opaque(weights, biases)

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        sequence_lengths: Any = None,
        time_major: bool = True,
        training: Any = True,
    ) -> tuple[Any, tuple[Any, ...]]:
        """Runs over a sequence.

        Args:
            inputs: [T, B, N], or [B, T, N] if it is not ``time_major``.
            initial_state: A tuple of [L * D, B, U], or [B, L * D, U] if it is not ``time_major``; zeros without it.
            sequence_lengths: [B], whole numbers: outputs from there on are 0, and the final state is the one there.
            time_major: See there.
            training: Whether there is dropout.

        Returns:
            The outputs [T, B, D * U] or [B, T, D * U], and a tuple like ``initial_state``.

        Raises:
            TypeError: ``initial_state`` is no tuple.
        """
        inputs = tf.convert_to_tensor(inputs, dtype=self._number_type)
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")

        def swapped(tensor: Any) -> Any:
            return tensor if time_major else tf.transpose(tensor, [1, 0, 2])

        x = swapped(inputs)
        if initial_state is None:
            batch = x.shape.as_list()[1]
            batch = tf.shape(x)[1] if batch is None else batch
            zeros = tf.zeros([self._num_layers * self.num_dirs, batch, self._num_units], self._number_type)
            states = [zeros] * self._num_states
        else:
            states = [swapped(tf.convert_to_tensor(part, self._number_type)) for part in initial_state]
            if len(states) != self._num_states:
                raise ValueError(f"Expecting a state of {self._num_states} tensors, got {len(states)}")
        lengths = None if sequence_lengths is None else tf.cast(sequence_lengths, tf.int32)
        weights, biases = self._converter.opaque_to_canonical(tf.convert_to_tensor(self._opaque))
        finals: list[list[Any]] = []
        for layer in range(self._num_layers):
            if layer and self._dropout:
                x = self._dropped(x, training)
            outputs = []
            for way in range(self.num_dirs):
                block = layer * self.num_dirs + way
                y, final = self._run(
                    x, [part[block] for part in states], weights[block], biases[block], lengths, way == 1
                )
                outputs.append(y)
                finals.append(final)
            x = tf.concat(outputs, 2) if self.num_dirs == 2 else outputs[0]
        ends = tuple(swapped(tf.stack(parts)) for parts in zip(*finals, strict=True))
        return swapped(x), ends

    def _dropped(self, x: Any, training: Any) -> Any:
        dropped = tf.nn.dropout(x, rate=self._dropout, seed=self._seed)
        if isinstance(training, (bool, int)):
            return dropped if training else x
        return tf.where(training, dropped, x)

    def _run(
        self, x: Any, start: list[Any], weights: Sequence[Any], biases: Sequence[Any], lengths: Any, back: bool
    ) -> tuple[Any, list[Any]]:
        """One layer in one direction: the outputs [T, B, U] for ``x`` [T, B, N], and the final states [B, U]."""

        def turned(sequence: Any) -> Any:
            if not back:
                return sequence
            if lengths is None:
                return tf.reverse(sequence, [0])
            return tf.reverse_sequence(sequence, lengths, seq_axis=0, batch_axis=1)

        half = len(weights) // 2
        on_input, on_state = (tf.transpose(tf.concat(part, 0)) for part in (weights[:half], weights[half:]))
        input_bias, state_bias = (tf.concat(part, 0) for part in (biases[:half], biases[half:]))
        length = tf.shape(x)[0]
        projected = tf.tensordot(turned(x), on_input, [[2], [0]]) + input_bias
        steps = tf.TensorArray(self._number_type, length).unstack(projected)

        def step(time: Any, outputs: Any, *state: Any) -> tuple[Any, ...]:
            from_state = tf.matmul(state[0], on_state) + state_bias
            new = self._step(tf.split(steps.read(time), half, 1), tf.split(from_state, half, 1), *state)
            output = new[0]
            if lengths is not None:
                going = (time < lengths)[:, None]
                output = tf.where(tf.broadcast_to(going, tf.shape(output)), output, tf.zeros_like(output))
                new = [tf.where(tf.broadcast_to(going, tf.shape(a)), a, b) for a, b in zip(new, state, strict=True)]
            return (time + 1, outputs.write(time, output), *new)

        _, outputs, *final = tf.while_loop(
            lambda time, *_: time < length,
            step,
            (0, tf.TensorArray(self._number_type, length), *start),
            shape_invariants=(
                tf.TensorShape([]),
                tf.TensorShape(None),
                *[tf.TensorShape([None, self._num_units])] * len(start),
            ),
        )
        stacked = outputs.stack()
        stacked.set_shape([*x.shape.as_list()[:2], self._num_units])
        for state in final:
            state.set_shape([x.shape.as_list()[1], self._num_units])
        return turned(stacked), list(final)

    def _step(self, from_input: list[Any], from_state: list[Any], *state: Any) -> list[Any]:
        """The new state, the output first, for the gates' projections [B, U] of input and state."""
        raise NotImplementedError


class CudnnLSTM(_CudnnRNN):
    """LSTMs; the state is a pair of outputs and cells."""

    _saveable_cls = ops.CudnnLSTMSaveable
    _num_states = 2

    def _step(self, from_input: list[Any], from_state: list[Any], *state: Any) -> list[Any]:
        gates = [a + b for a, b in zip(from_input, from_state, strict=True)]
        enter, forget, new, leave = tf.sigmoid(gates[0]), tf.sigmoid(gates[1]), tf.tanh(gates[2]), tf.sigmoid(gates[3])
        cell = forget * state[1] + enter * new
        return [leave * tf.tanh(cell), cell]


class CudnnGRU(_CudnnRNN):
    """GRUs; see ``CudnnCompatibleGRUCell``."""

    _saveable_cls = ops.CudnnGRUSaveable

    def _step(self, from_input: list[Any], from_state: list[Any], *state: Any) -> list[Any]:
        reset, update = (tf.sigmoid(from_input[i] + from_state[i]) for i in (0, 1))
        new = tf.tanh(from_input[2] + reset * from_state[2])
        return [(1 - update) * new + update * state[0]]


class CudnnRNNTanh(_CudnnRNN):
    """Plain RNNs with tanh."""

    _saveable_cls = ops.CudnnRNNTanhSaveable

    def _step(self, from_input: list[Any], from_state: list[Any], *state: Any) -> list[Any]:
        return [tf.tanh(from_input[0] + from_state[0])]


class CudnnRNNRelu(_CudnnRNN):
    """Plain RNNs with relu."""

    _saveable_cls = ops.CudnnRNNReluSaveable

    def _step(self, from_input: list[Any], from_state: list[Any], *state: Any) -> list[Any]:
        return [tf.nn.relu(from_input[0] + from_state[0])]
