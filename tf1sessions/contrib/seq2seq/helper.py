"""Helpers, which sample from the outputs of a decoder's cell and make its next inputs.

For training, from known sequences: ``TrainingHelper``, and two that take some inputs from the outputs instead
(arXiv:1506.03099). For inference: ``GreedyEmbeddingHelper``, ``SampleEmbeddingHelper``, ``InferenceHelper``. Of
functions of your own: ``CustomHelper``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from ..rnn.core_rnn_cell import exchanged

__all__ = [
    "CustomHelper",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper",
    "TrainingHelper",
]


class Helper:
    """The base of the helpers of :class:`BasicDecoder`; a helper is a subclass."""

    @property
    def batch_size(self) -> Any:
        """B, an int32 scalar."""
        raise NotImplementedError

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of the samples, without B."""
        raise NotImplementedError

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of the samples."""
        raise NotImplementedError

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """``(finished, inputs)`` before the first step."""
        raise NotImplementedError

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The samples of a step."""
        raise NotImplementedError

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """``(finished, next_inputs, next_state)`` of a step."""
        raise NotImplementedError


class _SymbolHelper(Helper):
    """One that samples a symbol, int32, for each example."""

    _batch_size: Any

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return tf.int32


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """``embedding`` if it can be called, else a look-up in it."""
    if callable(embedding):
        function: Callable[[Any], Any] = embedding
        return function
    return lambda ids: tf.nn.embedding_lookup(embedding, ids)


def tokens(start_tokens: Any, end_token: Any) -> tuple[Any, Any]:
    """Both as int32 tensors.

    Raises:
        ValueError: ``start_tokens`` is not a vector, or ``end_token`` not a scalar.
    """
    start_tokens = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
    end_token = tf.convert_to_tensor(end_token, dtype=tf.int32, name="end_token")
    if start_tokens.shape.rank != 1:
        raise ValueError("start_tokens must be a vector")
    if end_token.shape.rank != 0:
        raise ValueError("end_token must be a scalar")
    return start_tokens, end_token


def _best(outputs: Any) -> Any:
    return tf.argmax(outputs, axis=-1, output_type=tf.int32)


def _drawn(logits: Any, seed: Any) -> Any:
    """A symbol for each row of ``logits`` [B, V]."""
    return tf.squeeze(tf.random.categorical(logits, 1, dtype=tf.int32, seed=seed), [1])


def _chosen(batch_size: Any, probability: Any, seed: Any) -> Any:
    """bool [B], each true with ``probability``, a scalar or [B]."""
    return tf.random_uniform([batch_size], dtype=probability.dtype, seed=seed) < probability


def _unstacked(inputs: Any) -> Any:
    """``inputs`` [T, B, ...] as an array with an element for each step."""
    return tf.TensorArray(dtype=inputs.dtype, size=tf.shape(inputs)[0], element_shape=inputs.shape[1:]).unstack(inputs)


class TrainingHelper(_SymbolHelper):
    """Gives the steps of known sequences; its samples are the symbols with the greatest scores.

    Args:
        inputs: [B, T, ...], or a nested tuple of such tensors.
        sequence_length: int32 [B].
        time_major: Whether ``inputs`` are [T, B, ...].
        name: The name of the operations.

    Raises:
        ValueError: ``sequence_length`` is not a vector.
    """

    def __init__(self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None) -> None:
        with tf.name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = tf.nest.map_structure(tf.convert_to_tensor, inputs)
            self._inputs = inputs
            if not time_major:
                inputs = tf.nest.map_structure(exchanged, inputs)
            self._input_tas = tf.nest.map_structure(_unstacked, inputs)
            self._sequence_length = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.rank != 1:
                raise ValueError(
                    f"Expected sequence_length to be a vector, but received shape: {self._sequence_length.shape}"
                )
            self._zero_inputs = tf.nest.map_structure(lambda given: tf.zeros_like(given[0]), inputs)
            self._batch_size = tf.size(sequence_length)

    @property
    def inputs(self) -> Any:
        """The inputs, as they were given."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """int32 [B]."""
        return self._sequence_length

    def _at(self, time: Any, finished: Any) -> Any:
        """The inputs of a step; zeros if everything is ``finished``."""
        return tf.cond(
            tf.reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: tf.nest.map_structure(lambda array: array.read(time), self._input_tas),
        )

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """``(finished, inputs)`` of the first step."""
        with tf.name_scope(name, "TrainingHelperInitialize"):
            finished = tf.equal(0, self._sequence_length)
            return finished, self._at(0, finished)

    def sample(  # type: ignore[override]
        self, time: Any, outputs: Any, name: str | None = None, **unused_kwargs: Any
    ) -> Any:
        """The symbols with the greatest scores, int32 [B]."""
        with tf.name_scope(name, "TrainingHelperSample", [time, outputs]):
            return tf.cast(tf.argmax(outputs, axis=-1), tf.int32)

    def next_inputs(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, name: str | None = None, **unused_kwargs: Any
    ) -> tuple[Any, Any, Any]:
        """``(finished, next_inputs, state)``."""
        with tf.name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            return finished, self._at(next_time, finished), state


def _probability(value: Any) -> Any:
    probability = tf.convert_to_tensor(value, name="sampling_probability")
    if probability.shape.rank not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {probability.shape}")
    return probability


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Gives known inputs or, with some probability, the embedding of a symbol drawn from the last outputs.

    Its samples are -1 where nothing was drawn.

    Args:
        inputs: [B, T, ...], or a nested tuple of such tensors.
        sequence_length: int32 [B].
        embedding: A function of symbols, int32 [B], or what ``tf.nn.embedding_lookup`` takes.
        sampling_probability: A scalar or [B].
        time_major: Whether ``inputs`` are [T, B, ...].
        seed: The seed for drawing symbols.
        scheduling_seed: The seed for deciding whether to draw.
        name: The name of the operations.

    Raises:
        ValueError: ``sampling_probability`` is neither scalar nor vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        with tf.name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            self._embedding_fn = embedding_function(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:  # type: ignore[override]
        """Symbols drawn from ``outputs`` [B, V], or -1: int32 [B]."""
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            chosen = _chosen(self.batch_size, self._sampling_probability, self._scheduling_seed)
            return tf.where(chosen, _drawn(outputs, self._seed), tf.fill([self.batch_size], -1))

    def next_inputs(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """``(finished, next_inputs, state)``."""
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, known, state = super().next_inputs(time=time, outputs=outputs, state=state)
            drawn = sample_ids > -1

            def mixed() -> Any:
                return tf.where(drawn, self._embedding_fn(tf.maximum(sample_ids, 0)), known)

            return finished, tf.cond(tf.reduce_all(finished), lambda: known, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Gives known inputs or, with some probability, the last outputs.

    Its samples are 1 where the outputs are taken, else 0.

    Args:
        inputs: [B, T, N], or a nested tuple of such tensors.
        sequence_length: int32 [B].
        sampling_probability: A scalar or [B].
        time_major: Whether ``inputs`` are [T, B, N].
        seed: The seed for deciding.
        next_inputs_fn: Makes inputs of outputs; None to take them as they are.
        auxiliary_inputs: [B, T, A], joined to ``inputs`` and to the outputs, along the last dimension.
        name: The name of the operations.

    Raises:
        ValueError: ``sampling_probability`` is neither scalar nor vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ) -> None:
        with tf.name_scope(name, "ScheduledOutputTrainingHelper", [inputs, auxiliary_inputs, sampling_probability]):
            self._sampling_probability = _probability(sampling_probability)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn or (lambda outputs: outputs)
            self._auxiliary: Any = None
            if auxiliary_inputs is not None:
                inputs = tf.nest.map_structure(
                    lambda given, more: tf.concat((given, more), -1), inputs, auxiliary_inputs
                )
                arranged = auxiliary_inputs
                if not time_major:
                    arranged = tf.nest.map_structure(exchanged, arranged)
                self._auxiliary = tf.nest.map_structure(_unstacked, arranged)
            super().__init__(inputs=inputs, sequence_length=sequence_length, time_major=time_major, name=name)

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:  # type: ignore[override]
        """Whether each example takes its outputs, int32 [B]."""
        with tf.name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return tf.cast(_chosen(self.batch_size, self._sampling_probability, self._seed), tf.int32)

    def next_inputs(  # type: ignore[override]
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """``(finished, next_inputs, state)``."""
        with tf.name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, known, state = super().next_inputs(time=time, outputs=outputs, state=state)
            chosen = tf.cast(sample_ids, tf.bool)

            def mixed() -> Any:
                taken = self._next_inputs_fn(outputs)
                if self._auxiliary is not None:
                    taken = tf.nest.map_structure(
                        lambda given, array: tf.concat((given, array.read(time + 1)), -1), taken, self._auxiliary
                    )
                return tf.nest.map_structure(lambda new, old: tf.where(chosen, new, old), taken, known)

            all_known = tf.logical_or(tf.reduce_all(finished), tf.logical_not(tf.reduce_any(chosen)))
            return finished, tf.cond(all_known, lambda: known, mixed), state


class GreedyEmbeddingHelper(_SymbolHelper):
    """Gives the embedding of the symbol with the greatest score.

    Args:
        embedding: A function of symbols, int32 [B], or what ``tf.nn.embedding_lookup`` takes.
        start_tokens: int32 [B].
        end_token: An int32 scalar: the symbol that finishes a sequence.

    Raises:
        ValueError: ``start_tokens`` is not a vector, or ``end_token`` not a scalar.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any) -> None:
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens, self._end_token = tokens(start_tokens, end_token)
        self._batch_size = tf.size(start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """``(finished, inputs)`` of the first step."""
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """The symbols with the greatest scores, int32 [B].

        Raises:
            TypeError: ``outputs`` is not a tensor.
        """
        return _best(_one_tensor(outputs))

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """``(finished, next_inputs, state)``."""
        finished = tf.equal(sample_ids, self._end_token)
        inputs = tf.cond(tf.reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids))
        return finished, inputs, state


def _one_tensor(outputs: Any) -> Any:
    if not isinstance(outputs, tf.Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
    return outputs


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Gives the embedding of a symbol drawn by its score.

    Args:
        embedding: See :class:`GreedyEmbeddingHelper`.
        start_tokens: See there.
        end_token: See there.
        softmax_temperature: What the scores are divided by; None for 1.
        seed: The seed for drawing.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Symbols drawn from ``outputs`` [B, V], int32 [B].

        Raises:
            TypeError: ``outputs`` is not a tensor.
        """
        logits = _one_tensor(outputs)
        if self._softmax_temperature is not None:
            logits = logits / self._softmax_temperature
        return _drawn(logits, self._seed)


class InferenceHelper(Helper):
    """Samples by a function.

    Args:
        sample_fn: Makes samples [B, ...] of outputs.
        sample_shape: The shape of the samples, without B.
        sample_dtype: Their dtype.
        start_inputs: The first inputs [B, ...].
        end_fn: Says of samples which sequences are finished, bool [B].
        next_inputs_fn: Makes inputs of samples; None to take them as they are.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = tf.TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn or (lambda samples: samples)
        self._batch_size = tf.shape(start_inputs)[0]
        self._start_inputs = tf.convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """``(finished, inputs)`` of the first step."""
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return what ``sample_fn`` gives."""
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """``(finished, next_inputs, state)``."""
        return self._end_fn(sample_ids), self._next_inputs_fn(sample_ids), state


class CustomHelper(Helper):
    """A helper of three functions.

    Args:
        initialize_fn: Gives ``(finished, inputs)`` of the first step.
        sample_fn: Makes samples of ``time``, ``outputs`` and ``state``.
        next_inputs_fn: Makes ``(finished, next_inputs, next_state)`` of these and of ``sample_ids``.
        sample_ids_shape: The shape of the samples, without B; None for scalars.
        sample_ids_dtype: Their dtype; None for int32.
    """

    def __init__(
        self,
        initialize_fn: Callable[[], tuple[Any, Any]],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., tuple[Any, Any, Any]],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ) -> None:
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = tf.TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or tf.int32

    @property
    def batch_size(self) -> Any:
        """B.

        Raises:
            ValueError: ``initialize`` was not called yet.
        """
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
        """Return what ``initialize_fn`` gives."""
        with tf.name_scope(name, "CustomHelperInitialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = tf.size(finished)
        return finished, inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Return what ``sample_fn`` gives."""
        with tf.name_scope(name, "CustomHelperSample", (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> tuple[Any, Any, Any]:
        """Return what ``next_inputs_fn`` gives."""
        with tf.name_scope(name, "CustomHelperNextInputs", (time, outputs, state)):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)
