"""The mechanisms that give :class:`AttentionWrapper` alignments [B, L] of a query [B, N] with a memory [B, L, ...].

::

    _BaseAttentionMechanism            keys and values of the memory, what the scores are masked with
        BahdanauAttention              v · tanh(keys + query)      arXiv:1409.0473
        LuongAttention                 keys · query                arXiv:1508.04025
        _BaseMonotonicAttentionMechanism
            BahdanauMonotonicAttention, LuongMonotonicAttention    arXiv:1704.00784
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from ..rnn.core_rnn_cell import zeros

__all__ = [
    "AttentionMechanism",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "LuongAttention",
    "LuongMonotonicAttention",
    "hardmax",
    "monotonic_attention",
    "safe_cumprod",
]


class AttentionMechanism:
    """The base of what :class:`AttentionWrapper` asks for alignments; a mechanism is a subclass."""

    @property
    def alignments_size(self) -> Any:
        """L."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the mechanism's state."""
        raise NotImplementedError


def _prepare_memory(
    memory: Any, memory_sequence_length: Any = None, memory_mask: Any = None, check_inner_dims_defined: bool = True
) -> Any:
    """``memory`` [B, L, ...], 0 beyond the lengths [B] or where the mask [B, L] is false.

    Raises:
        ValueError: Dimensions behind L are not known though they have to be, or both lengths and mask are given.
    """
    memory = tf.nest.map_structure(lambda part: tf.convert_to_tensor(part, name="memory"), memory)
    if memory_sequence_length is not None and memory_mask is not None:
        raise ValueError("memory_sequence_length and memory_mask can't be provided at same time.")
    if check_inner_dims_defined:
        for part in tf.nest.flatten(memory):
            if part.shape.rank is None or not part.shape[2:].is_fully_defined():
                raise ValueError(
                    f"Expected memory {part.name} to have fully defined inner dims, but saw shape: {part.shape}"
                )
    if memory_sequence_length is not None:
        first = tf.nest.flatten(memory)[0]
        lengths = tf.convert_to_tensor(memory_sequence_length, name="memory_sequence_length")
        memory_mask = tf.sequence_mask(lengths, maxlen=tf.shape(first)[1], dtype=first.dtype)
    if memory_mask is None:
        return memory

    def masked(part: Any) -> Any:
        inner = tf.ones((part.shape.rank or tf.rank(part)) - 2, tf.int32)
        mask = tf.reshape(tf.cast(memory_mask, part.dtype), tf.concat([tf.shape(memory_mask), inner], 0))
        return part * mask

    return tf.nest.map_structure(masked, memory)


def _maybe_mask_score(
    score: Any, memory_sequence_length: Any = None, memory_mask: Any = None, score_mask_value: Any = None
) -> Any:
    """``score`` [B, L], ``score_mask_value`` beyond the lengths [B], which have to be positive, or outside the mask.

    Raises:
        ValueError: Both lengths and mask are given.
    """
    if memory_sequence_length is None and memory_mask is None:
        return score
    if memory_sequence_length is not None:
        if memory_mask is not None:
            raise ValueError("memory_sequence_length and memory_mask can't be provided at same time.")
        message = "All values in memory_sequence_length must be greater than zero."
        with tf.control_dependencies([tf.assert_positive(memory_sequence_length, message=message)]):
            memory_mask = tf.sequence_mask(memory_sequence_length, maxlen=tf.shape(score)[1])
    return tf.where(memory_mask, score, score_mask_value * tf.ones_like(score))


class _BaseAttentionMechanism(AttentionMechanism):
    """A mechanism with a memory, whose scores become alignments by a function.

    Args:
        query_layer: A layer on the query; None for none.
        memory: [B, L, ...].
        probability_fn: Makes alignments of scores [B, L] and the last state.
        memory_sequence_length: [B]; None if all of the memory counts.
        memory_layer: A layer on the memory, that makes the keys; None for none.
        check_inner_dims_defined: Whether the dimensions behind L have to be known.
        score_mask_value: The score beyond the lengths; None for -inf.
        custom_key_value_fn: Makes keys and values of keys and values.
        name: The name of the operations.

    Raises:
        TypeError: A layer is something else.
        ValueError: The dimensions behind L are not known.
    """

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        name: str | None = None,
    ) -> None:
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not callable(layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = tf.nest.flatten(memory)[0].dtype if memory_layer is None else memory_layer.dtype
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        with tf.name_scope(name, "BaseAttentionMechanismInit", tf.nest.flatten(memory)):
            self._values = _prepare_memory(
                memory, memory_sequence_length, check_inner_dims_defined=check_inner_dims_defined
            )
            self._keys = self._values if memory_layer is None else memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            known = self._keys.shape.as_list()
            self._batch_size = tf.shape(self._keys)[0] if known[0] is None else known[0]
            self._alignments_size = tf.shape(self._keys)[1] if known[1] is None else known[1]
        if score_mask_value is None:
            score_mask_value = tf.as_dtype(self._values.dtype).as_numpy_dtype(float("-inf"))

        def masked_probability(score: Any, previous: Any) -> Any:
            score = _maybe_mask_score(score, memory_sequence_length, score_mask_value=score_mask_value)
            return probability_fn(score, previous)

        self._probability_fn = masked_probability

    @property
    def memory_layer(self) -> Any:
        """The layer that makes the keys, or None."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer on the query, or None."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory, masked: [B, L, ...]."""
        return self._values

    @property
    def keys(self) -> Any:
        """The keys that the query is compared with: [B, L, ...]."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """B."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """The alignments before the first step: zeros [B, L]."""
        return zeros(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step: the alignments."""
        return self.initial_alignments(batch_size, dtype)


def _luong_score(query: Any, keys: Any, scale: Any) -> Any:
    """keys · query, times a variable ``attention_g`` if ``scale``: [B, L] of [B, N] and [B, L, N].

    Raises:
        ValueError: The last dimensions are unknown or differ.
    """
    depth, units = query.shape.as_list()[-1], keys.shape.as_list()[-1]
    if depth is None or depth != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  "
            f"Query ({query}) has units: {depth}.  Keys ({keys}) have units: {units}.  "
            "Perhaps you need to set num_units to the keys' dimension?"
        )
    score = tf.squeeze(tf.matmul(tf.expand_dims(query, 1), keys, transpose_b=True), [1])
    if scale:
        gain = tf.get_variable("attention_g", dtype=query.dtype, initializer=tf.ones_initializer(), shape=())
        score = gain * score
    return score


class LuongAttention(_BaseAttentionMechanism):
    """Scores by keys · query (arXiv:1508.04025), keys = memory · the variable ``memory_layer/kernel``.

    Args:
        num_units: The size of the keys and of the query.
        memory: [B, L, N].
        memory_sequence_length: [B]; None if all of the memory counts.
        scale: Whether the scores are multiplied with a variable ``attention_g``.
        probability_fn: Makes alignments of scores [B, L]; None for ``tf.nn.softmax``.
        score_mask_value: The score beyond the lengths; None for -inf.
        dtype: Of the variables; None for float32.
        custom_key_value_fn: Makes keys and values of keys and values.
        name: The name of the operations.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        probability = probability_fn or tf.nn.softmax
        super().__init__(
            query_layer=None,
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: probability(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._name = name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments [B, L] of ``query`` [B, num_units], twice: they are the state, too."""
        with tf.variable_scope(None, "luong_attention", [query]):
            score = _luong_score(query, self._keys, self._scale)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _dense(units: int, name: str, dtype: Any) -> Any:
    return tf.layers.Dense(units, name=name, use_bias=False, dtype=dtype or tf.float32)


def _bahdanau_score(
    processed_query: Any, keys: Any, attention_v: Any, attention_g: Any = None, attention_b: Any = None
) -> Any:
    """v · tanh(keys + query), or with g and b normalized: [B, L] of [B, N] and [B, L, N]."""
    query = tf.expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return tf.reduce_sum(attention_v * tf.tanh(keys + query), [2])
    normed_v = attention_g * attention_v * tf.math.rsqrt(tf.reduce_sum(tf.square(attention_v)))
    return tf.reduce_sum(normed_v * tf.tanh(keys + query + attention_b), [2])


def _bahdanau_variables_score(query: Any, keys: Any, num_units: int, normalize: bool) -> Any:
    """The score with variables ``attention_v``, and if ``normalize`` ``attention_g`` and ``attention_b``."""
    dtype = query.dtype
    v = tf.get_variable("attention_v", [num_units], dtype=dtype)
    if not normalize:
        return _bahdanau_score(query, keys, v)
    start = tf.constant_initializer(math.sqrt(1.0 / num_units))
    g = tf.get_variable("attention_g", dtype=dtype, initializer=start, shape=())
    b = tf.get_variable("attention_b", [num_units], dtype=dtype, initializer=tf.zeros_initializer())
    return _bahdanau_score(query, keys, v, g, b)


class BahdanauAttention(_BaseAttentionMechanism):
    """Scores by v · tanh(keys + query) (arXiv:1409.0473).

    keys = memory · ``memory_layer/kernel``, and the query is multiplied with ``query_layer/kernel``.

    Args:
        num_units: The size of keys, query and v.
        memory: [B, L, N].
        memory_sequence_length: [B]; None if all of the memory counts.
        normalize: Whether v is normalized (arXiv:1602.07868), with variables ``attention_g`` and ``attention_b``.
        probability_fn: Makes alignments of scores [B, L]; None for ``tf.nn.softmax``.
        score_mask_value: The score beyond the lengths; None for -inf.
        dtype: Of the variables; None for float32.
        custom_key_value_fn: Makes keys and values of keys and values.
        name: The name of the operations.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        probability = probability_fn or tf.nn.softmax
        super().__init__(
            query_layer=_dense(num_units, "query_layer", dtype),
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: probability(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments [B, L] of ``query`` [B, N], twice: they are the state, too."""
        with tf.variable_scope(None, "bahdanau_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            score = _bahdanau_variables_score(processed, self._keys, self._num_units, self._normalize)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """The cumulative product of ``x``, values between 0 and 1, by their logarithms, which does not underflow.

    Args:
        x: The tensor.
        *args: As for ``tf.cumsum``.
        **kwargs: As for ``tf.cumsum``.
    """
    with tf.name_scope(None, "SafeCumprod", [x]):
        x = tf.convert_to_tensor(x, name="x")
        tiny = _tiny(x.dtype)
        return tf.exp(tf.cumsum(tf.math.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def _tiny(dtype: Any) -> float:
    """The least normal number of a floating type."""
    return {tf.float16: 2.0**-14, tf.float64: 2.0**-1022}.get(dtype, 2.0**-126)


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """The distribution of an attention that only moves forward (arXiv:1704.00784).

    Args:
        p_choose_i: [B, L]: the probability of stopping at each step of the memory.
        previous_attention: [B, L]: the last distribution; at first 1 at the first step.
        mode: "recursive": exact and slow; "parallel": inexact where probabilities are close to 0 or 1; "hard":
            probabilities are 0 or 1.

    Returns:
        [B, L].

    Raises:
        ValueError: ``mode`` is none of these.
    """
    p = tf.convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = tf.convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        passed = tf.concat([tf.ones_like(p[:, :1]), 1 - p[:, :-1]], 1)
        reached = tf.scan(
            lambda last, step: step[0] * last + step[1],
            (tf.transpose(passed), tf.transpose(previous)),
            initializer=tf.zeros_like(previous[:, 0]),
        )
        attention = p * tf.transpose(reached)
        attention.set_shape(p.shape)
        return attention
    if mode == "parallel":
        passed = safe_cumprod(1 - p, axis=1, exclusive=True)
        return p * passed * tf.cumsum(previous / tf.clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        stops = p * tf.cumsum(previous, axis=1)
        return stops * tf.math.cumprod(1 - stops, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _monotonic_probability_fn(
    score: Any, previous_alignments: Any, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Any:
    """Alignments [B, L] of scores, by the sigmoid of scores with noise, or in mode "hard" by their sign."""
    if sigmoid_noise > 0:
        score += sigmoid_noise * tf.random_normal(tf.shape(score), dtype=score.dtype, seed=seed)
    p = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
    return monotonic_attention(p, previous_alignments, mode)


class _BaseMonotonicAttentionMechanism(_BaseAttentionMechanism):
    """A mechanism that starts at the first step of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """The alignments before the first step: 1 at the first step, [B, L]."""
        return tf.one_hot(tf.zeros([batch_size], tf.int32), self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """:class:`BahdanauAttention` that only moves forward; a variable ``attention_score_bias`` is added to the scores.

    What is not named here is as there.

    Args:
        sigmoid_noise: The standard deviation of noise that is added to the scores.
        sigmoid_noise_seed: Its seed.
        score_bias_init: The first value of the variable.
        mode: See :func:`monotonic_attention`.
        dtype: Of the variables; None for float32.
        name: The name of the operations.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=_dense(num_units, "query_layer", dtype),
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                _monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments [B, L] of ``query`` [B, N], twice: they are the state, too."""
        with tf.variable_scope(None, "bahdanau_monotonic_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            score = _bahdanau_variables_score(processed, self._keys, self._num_units, self._normalize)
            score += tf.get_variable("attention_score_bias", dtype=processed.dtype, initializer=self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


class LuongMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """:class:`LuongAttention` that only moves forward; a variable ``attention_score_bias`` is added to the scores.

    What is not named here is as there.

    Args:
        sigmoid_noise: The standard deviation of noise that is added to the scores.
        sigmoid_noise_seed: Its seed.
        score_bias_init: The first value of the variable.
        mode: See :func:`monotonic_attention`.
        dtype: Of the variables; None for float32.
        name: The name of the operations.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                _monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._score_bias_init = score_bias_init
        self._name = name

    def __call__(self, query: Any, state: Any) -> tuple[Any, Any]:
        """The alignments [B, L] of ``query`` [B, num_units], twice: they are the state, too."""
        with tf.variable_scope(None, "luong_monotonic_attention", [query]):
            score = _luong_score(query, self._keys, self._scale)
            score += tf.get_variable("attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def hardmax(logits: Any, name: str | None = None) -> Any:
    """1 at the greatest value of each row of ``logits`` [..., N], else 0."""
    with tf.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        depth = logits.shape.as_list()[-1] or tf.shape(logits)[-1]
        return tf.one_hot(tf.argmax(logits, -1), depth, dtype=logits.dtype)
