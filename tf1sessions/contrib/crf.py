"""``tf.contrib.crf``: linear-chain conditional random fields: scores, log-likelihood, decoding.

Shapes: B sequences in the batch, T steps, N tags. ``inputs`` [B, T, N] are the scores of the tags at each step,
``transition_params`` [N, N] those of a tag (row) before another (column). Steps beyond a sequence's length do not
count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime import tf1 as tf
from .rnn.core_rnn_cell import RNNCell

__all__ = [
    "CrfDecodeBackwardRnnCell",
    "CrfDecodeForwardRnnCell",
    "CrfForwardRnnCell",
    "crf_binary_score",
    "crf_decode",
    "crf_log_likelihood",
    "crf_log_norm",
    "crf_multitag_sequence_score",
    "crf_sequence_score",
    "crf_unary_score",
    "viterbi_decode",
]


def _if_one_step(inputs: Any, one: Callable[[], Any], more: Callable[[], Any]) -> Any:
    """Return what ``one`` or ``more`` gives, by T; the graph decides if T is not known while it is built."""
    steps = inputs.shape.as_list()[1]
    if steps is None:
        return tf.cond(tf.equal(tf.shape(inputs)[1], 1), one, more)
    return one() if steps == 1 else more()


def _transitions_before(sequence_lengths: Any) -> Any:
    """The number of pairs of neighbours in sequences of these lengths."""
    return tf.maximum(tf.constant(0, dtype=sequence_lengths.dtype), sequence_lengths - 1)


def _mask(lengths: Any, steps: Any) -> Any:
    return tf.sequence_mask(lengths, maxlen=steps, dtype=tf.float32)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """The sum over each sequence of the scores of its tags.

    Args:
        tag_indices: [B, T], whole numbers.
        sequence_lengths: [B].
        inputs: [B, T, N].

    Returns:
        [B].
    """
    inputs, tag_indices = tf.convert_to_tensor(inputs), tf.cast(tag_indices, tf.int32)
    batch, steps, tags = tf.unstack(tf.shape(inputs))
    starts = tf.reshape(tf.range(batch * steps) * tags, [batch, steps])
    scores = tf.gather(tf.reshape(inputs, [-1]), starts + tag_indices)
    return tf.reduce_sum(scores * tf.cast(_mask(sequence_lengths, steps), scores.dtype), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The sum over each sequence of the scores of its transitions.

    Args:
        tag_indices: [B, T], whole numbers.
        sequence_lengths: [B].
        transition_params: [N, N].

    Returns:
        [B].
    """
    tag_indices = tf.cast(tag_indices, tf.int32)
    transition_params = tf.convert_to_tensor(transition_params)
    tags = tf.shape(transition_params)[0]
    pairs = tag_indices[:, :-1] * tags + tag_indices[:, 1:]
    scores = tf.gather(tf.reshape(transition_params, [-1]), pairs)
    lengths = tf.convert_to_tensor(sequence_lengths)
    mask = _mask(_transitions_before(lengths), tf.shape(pairs)[1])
    return tf.reduce_sum(scores * tf.cast(mask, scores.dtype), 1)


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The score of each sequence of tags: its tags' and its transitions'.

    Args:
        inputs: [B, T, N].
        tag_indices: [B, T], whole numbers.
        sequence_lengths: [B].
        transition_params: [N, N].

    Returns:
        [B].
    """
    return crf_unary_score(tag_indices, sequence_lengths, inputs) + crf_binary_score(
        tag_indices, sequence_lengths, transition_params
    )


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The logarithm of the sum, over all sequences of tags, of the exponential of their scores; 0 for length 0.

    Args:
        inputs: [B, T, N].
        sequence_lengths: [B].
        transition_params: [N, N].

    Returns:
        [B].
    """
    inputs, lengths = tf.convert_to_tensor(inputs), tf.convert_to_tensor(sequence_lengths)
    first = inputs[:, 0]

    def more() -> Any:
        _, alphas = tf.nn.dynamic_rnn(
            CrfForwardRnnCell(transition_params),
            inputs[:, 1:],
            sequence_length=_transitions_before(lengths),
            initial_state=first,
            dtype=tf.float32,
        )
        return tf.reduce_logsumexp(alphas, [1])

    norm = _if_one_step(inputs, lambda: tf.reduce_logsumexp(first, [1]), more)
    return tf.where(tf.less_equal(lengths, 0), tf.zeros_like(norm), norm)


def crf_multitag_sequence_score(inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The logarithm of the sum, over the sequences of allowed tags, of the exponential of their scores.

    With one step (T = 1), a sequence of length 0 has a score, too, as in 1.15.5.

    Args:
        inputs: [B, T, N].
        tag_bitmap: [B, T, N], bool: which tags are allowed.
        sequence_lengths: [B].
        transition_params: [N, N].

    Returns:
        [B].
    """
    inputs = tf.convert_to_tensor(inputs)
    allowed = tf.where(tag_bitmap, inputs, tf.fill(tf.shape(inputs), tf.cast(float("-inf"), inputs.dtype)))
    return _if_one_step(
        inputs,
        lambda: tf.reduce_logsumexp(allowed[:, 0], [1]),
        lambda: crf_log_norm(allowed, sequence_lengths, transition_params),
    )


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[Any, Any]:
    """The log-likelihood of each sequence of tags.

    Args:
        inputs: [B, T, N], N known.
        tag_indices: [B, T], whole numbers.
        sequence_lengths: [B].
        transition_params: [N, N]; None for a variable ``transitions`` in the current scope.

    Returns:
        ``(log_likelihood [B], transition_params)``.
    """
    tags = inputs.shape.as_list()[2]
    if transition_params is None:
        transition_params = tf.get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """The best sequence of tags, in NumPy.

    Args:
        score: An array [T, N].
        transition_params: An array [N, N].

    Returns:
        ``(tags, score)``: a list of T whole numbers, and the score of that sequence.
    """
    best = score[0]
    pointers = []
    for step in score[1:]:
        reached = np.expand_dims(best, 1) + transition_params
        pointers.append(np.argmax(reached, 0))
        best = step + np.max(reached, 0)
    tags = [int(np.argmax(best))]
    for pointer in reversed(pointers):
        tags.append(int(pointer[tags[-1]]))
    return tags[::-1], np.max(best)


class _TagsCell(RNNCell):  # type: ignore[misc]
    """A cell whose state and output have a number for each tag, [B, N]; its argument is [N, N]."""

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transition_params = tf.expand_dims(transition_params, 0)
        self._num_tags = int(transition_params.shape[0])

    @property
    def state_size(self) -> int:
        return self._num_tags

    @property
    def output_size(self) -> int:
        return self._num_tags


class CrfForwardRnnCell(_TagsCell):
    """One step of the forward algorithm (http://www.cs.columbia.edu/~mcollins/fb.pdf); output and state are the same.

    Args:
        transition_params: [N, N].
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """The logarithms of the sums up to this step [B, N], twice, from the last ones, ``state``."""
        sums = tf.reduce_logsumexp(tf.expand_dims(state, 2) + self._transition_params, [1])
        alphas = inputs + sums
        return alphas, alphas


class CrfDecodeForwardRnnCell(_TagsCell):
    """One step of the Viterbi algorithm.

    Args:
        transition_params: [N, N].
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """``(best tag before [B, N], best score [B, N])`` for each tag, from the last scores, ``state``."""
        reached = tf.expand_dims(state, 2) + self._transition_params
        return tf.cast(tf.argmax(reached, 1), tf.int32), inputs + tf.reduce_max(reached, [1])


class CrfDecodeBackwardRnnCell(RNNCell):  # type: ignore[misc]
    """Follows the pointers of :class:`CrfDecodeForwardRnnCell` one step back.

    Args:
        num_tags: N.
    """

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        return 1

    @property
    def output_size(self) -> int:
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """The tags before [B, 1], twice, from pointers ``inputs`` [B, N] and tags ``state`` [B, 1]."""
        tags = tf.gather(inputs, tf.squeeze(state, [1]), batch_dims=1, axis=1)
        tags = tf.expand_dims(tags, -1)
        return tags, tags


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[Any, Any]:
    """The best sequences of tags, in the graph.

    Args:
        potentials: [B, T, N], N known.
        transition_params: [N, N].
        sequence_length: [B].

    Returns:
        ``(tags, scores)``: int32 [B, T], 0 beyond the lengths, and [B].
    """
    potentials = tf.convert_to_tensor(potentials)
    first = potentials[:, 0]

    def one() -> tuple[Any, Any]:
        return tf.expand_dims(tf.cast(tf.argmax(first, 1), tf.int32), 1), tf.reduce_max(first, 1)

    def more() -> tuple[Any, Any]:
        lengths = tf.convert_to_tensor(sequence_length)
        before = _transitions_before(lengths)
        forward = CrfDecodeForwardRnnCell(transition_params)
        pointers, scores = tf.nn.dynamic_rnn(
            forward, potentials[:, 1:], before, initial_state=first, time_major=False, dtype=tf.int32
        )
        last = tf.expand_dims(tf.cast(tf.argmax(scores, 1), tf.int32), 1)
        backwards, _ = tf.nn.dynamic_rnn(
            CrfDecodeBackwardRnnCell(forward.state_size),
            tf.reverse_sequence(pointers, before, seq_axis=1),
            before,
            initial_state=last,
            time_major=False,
            dtype=tf.int32,
        )
        tags = tf.concat([last, tf.squeeze(backwards, [2])], 1)
        return tf.reverse_sequence(tags, lengths, seq_axis=1), tf.reduce_max(scores, 1)

    tags, scores = _if_one_step(potentials, one, more)
    return tags, scores
