"""Beam search: a decoder that keeps the K best sequences of each example.

A step scores each symbol after each beam, takes the K best of these B × [K * V], and moves the cell's state along.
The state of the cell is [B * K, ...] for the cell, [B, K, ...] between steps; scalars and arrays stay as they are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from ..rnn.core_rnn_cell import check_cell
from .attention_wrapper import AttentionWrapperState
from .basic_decoder import check_output_layer, output_size
from .beam_search_ops import gather_tree
from .decoder import Decoder
from .helper import embedding_function, tokens

__all__ = [
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "FinalBeamSearchDecoderOutput",
    "gather_tree_from_array",
    "tile_batch",
]


class BeamSearchDecoderState(NamedTuple):
    """The state between steps.

    ``cell_state`` [B, K, ...], ``log_probs`` [B, K], ``finished`` bool [B, K], ``lengths`` int64 [B, K], and
    ``accumulated_attention_probs`` [B, K, L], or () if coverage is not penalized.
    """

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """The outputs of a step, all [B, K]: scores, symbols, and the beams of the step before that they continue."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """``predicted_ids`` [B, T, K], the best beam first, and ``beam_search_decoder_output``, that of the steps."""

    predicted_ids: Any
    beam_search_decoder_output: Any


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Repeats each example ``multiplier`` times, next to each other.

    Args:
        t: [B, ...], or a nested tuple of such tensors.
        multiplier: How often.
        name: The name of the operations.

    Returns:
        [B * multiplier, ...].

    Raises:
        ValueError: A tensor is a scalar, or its rank is not known.
    """

    def tiled(tensor: Any) -> Any:
        tensor = tf.convert_to_tensor(tensor)
        if not tensor.shape.rank:
            raise ValueError("t must have statically known rank")
        shape = tf.shape(tensor)
        rows = tf.tile(tf.expand_dims(tensor, 1), [1, multiplier] + [1] * (tensor.shape.rank - 1))
        rows = tf.reshape(rows, tf.concat([[shape[0] * multiplier], shape[1:]], 0))
        size = tensor.shape.as_list()[0]
        rows.set_shape(tf.TensorShape([None if size is None else size * multiplier]).concatenate(tensor.shape[1:]))
        return rows

    with tf.name_scope(name, "tile_batch", [*tf.nest.flatten(t), multiplier]):
        return tf.nest.map_structure(tiled, t)


def gather_tree_from_array(t: Any, parent_ids: Any, sequence_length: Any) -> Any:
    """Orders what each step wrote by the beam that it belongs to in the end.

    Args:
        t: [T, B * K, ...] or [T, B, K, ...].
        parent_ids: int32 [T, B, K].
        sequence_length: [B, K].

    Returns:
        ``t``, in that order.
    """
    steps, batch, beams = tf.unstack(tf.shape(parent_ids))
    own = tf.tile(tf.reshape(tf.range(beams), [1, 1, -1]), [steps, batch, 1])
    longest = tf.cast(tf.reduce_max(sequence_length, axis=1), tf.int32)
    found = gather_tree(own, parent_ids, longest, beams + 1)
    inside = tf.transpose(tf.sequence_mask(sequence_length, maxlen=steps), [2, 0, 1])
    split = tf.reshape(t, [steps, batch, beams, -1])
    ordered = tf.reshape(tf.gather(split, tf.where(inside, found, own), axis=2, batch_dims=2), tf.shape(t))
    ordered.set_shape(t.shape)
    return ordered


def _attention_probs(state: Any) -> list[Any]:
    """The alignments [B, K, L] in a cell's state, those of cells in cells included."""
    if isinstance(state, AttentionWrapperState):
        found: list[Any] = tf.nest.flatten(state.alignments)
        return found
    return [probs for item in state for probs in _attention_probs(item)] if isinstance(state, tuple) else []


class BeamSearchDecoder(Decoder):
    """Decodes with beam search.

    A cell with attention needs a memory and a state that were repeated with :func:`tile_batch`, and a first state made
    for B * K examples. As in 1.15.5, coverage is penalized in finished beams only.

    Args:
        cell: The cell.
        embedding: A function of symbols, int32, or what ``tf.nn.embedding_lookup`` takes.
        start_tokens: int32 [B].
        end_token: An int32 scalar: the symbol that finishes a sequence.
        initial_state: The cell's first state [B * K, ...].
        beam_width: K.
        output_layer: A layer that makes scores [B, K, V] of the cell's outputs; None for none.
        length_penalty_weight: p: scores are divided by ((5 + length) / 6)^p (arXiv:1609.08144).
        coverage_penalty_weight: What the penalty for memory that was not attended to is multiplied with.
        reorder_tensor_arrays: Whether arrays in the cell's state come back stacked, as [T, ...] in the order of the
            final beams. Where 1.15.5 could not do that they stay arrays, and a warning says so: elements of unknown
            rank, and elements of two known dimensions that are not exactly [B, K] while B is known, such as the
            alignments of a batch of known size.

    Raises:
        TypeError: ``cell`` is not a cell, or ``output_layer`` not a layer.
        ValueError: ``start_tokens`` is not a vector, or ``end_token`` not a scalar.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        check_cell("cell", cell)
        check_output_layer(output_layer)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens, self._end_token = tokens(start_tokens, end_token)
        self._batch_size = tf.size(self._start_tokens)
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._initial_cell_state = tf.nest.map_structure(self._split, initial_state)
        self._start_tokens = tf.tile(tf.expand_dims(self._start_tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        self._finished = tf.one_hot(
            tf.zeros([self._batch_size], tf.int32), depth=beam_width, on_value=False, off_value=True, dtype=tf.bool
        )

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams move between steps."""
        return True

    @property
    def output_size(self) -> Any:
        return BeamSearchDecoderOutput(*[tf.TensorShape([self._beam_width])] * 3)

    @property
    def output_dtype(self) -> Any:
        dtype = tf.nest.flatten(self._initial_cell_state)[0].dtype
        return BeamSearchDecoderOutput(
            tf.nest.map_structure(lambda _: dtype, output_size(self._cell, self._output_layer)), tf.int32, tf.int32
        )

    def _known_batch(self) -> int | None:
        known = tf.get_static_value(self._batch_size)
        return None if known is None else int(known)

    @staticmethod
    def _whole(tensor: Any, rank: int) -> bool:
        """Whether ``tensor`` stays as it is: an array, or of a lower rank than ``rank``."""
        if isinstance(tensor, tf.TensorArray):
            return True
        if tensor.shape.rank is None:
            raise ValueError(f"Expected tensor ({tensor}) to have known rank, but ndims == None.")
        return bool(tensor.shape.rank < rank)

    def _split(self, tensor: Any) -> Any:
        """[B * K, ...] as [B, K, ...]."""
        if self._whole(tensor, 1):
            return tensor
        shape = tf.concat([[self._batch_size, self._beam_width], tf.shape(tensor)[1:]], 0)
        split = tf.reshape(tensor, shape)
        split.set_shape(tf.TensorShape([self._known_batch(), self._beam_width]).concatenate(tensor.shape[1:]))
        return split

    def _merge(self, tensor: Any) -> Any:
        """[B, K, ...] as [B * K, ...]."""
        if self._whole(tensor, 2):
            return tensor
        merged = tf.reshape(tensor, tf.concat([[self._batch_size * self._beam_width], tf.shape(tensor)[2:]], 0))
        batch = self._known_batch()
        rows = None if batch is None else batch * self._beam_width
        merged.set_shape(tf.TensorShape([rows]).concatenate(tensor.shape[2:]))
        return merged

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        """``(finished, inputs, state)`` of the first step, in which only the first beam counts.

        Raises:
            ValueError: Coverage is penalized, and the cell has no attention.
        """
        dtype = tf.nest.flatten(self._initial_cell_state)[0].dtype
        log_probs = tf.one_hot(
            tf.zeros([self._batch_size], tf.int32),
            depth=self._beam_width,
            on_value=tf.cast(0.0, dtype),
            off_value=tf.cast(float("-inf"), dtype),
            dtype=dtype,
        )
        attended: Any = ()
        if self._penalizes_coverage():
            attended = tf.zeros_like(self._attended(self._initial_cell_state))
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=tf.zeros([self._batch_size, self._beam_width], dtype=tf.int64),
            accumulated_attention_probs=attended,
        )
        return self._finished, self._start_inputs, state

    def _penalizes_coverage(self) -> bool:
        return bool(tf.get_static_value(tf.convert_to_tensor(self._coverage_penalty_weight)) != 0)

    @staticmethod
    def _attended(cell_state: Any) -> Any:
        found = _attention_probs(cell_state)
        if not found:
            raise ValueError("coverage_penalty_weight needs a cell with attention: its state has no alignments.")
        return found[0] if len(found) == 1 else tf.concat(found, axis=-1)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> tuple[Any, Any, Any, Any]:
        """``(BeamSearchDecoderOutput, next_state, next_inputs, finished)``."""
        with tf.name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            outputs, cell_state = self._cell(
                tf.nest.map_structure(self._merge, inputs), tf.nest.map_structure(self._merge, state.cell_state)
            )
            outputs = tf.nest.map_structure(self._split, outputs)
            cell_state = tf.nest.map_structure(self._split, cell_state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, state = self._search(outputs, cell_state, state)
            next_inputs = tf.cond(
                tf.reduce_all(state.finished),
                lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )
        return output, state, next_inputs, state.finished

    def _search(self, logits: Any, cell_state: Any, state: Any) -> tuple[Any, Any]:
        """The K best of all beams [B, K] and symbols [V] behind them."""
        symbols = logits.shape.as_list()[-1] or tf.shape(logits)[-1]
        growing = tf.logical_not(state.finished)

        # A finished beam goes on with end_token, at no cost, and with nothing else.
        after_end = tf.one_hot(
            tf.fill(tf.shape(state.finished), self._end_token),
            symbols,
            on_value=tf.cast(0.0, logits.dtype),
            off_value=logits.dtype.min,
            dtype=logits.dtype,
        )
        ended = tf.tile(tf.expand_dims(state.finished, 2), [1, 1, symbols])
        log_probs = tf.where(ended, after_end, tf.nn.log_softmax(logits)) + tf.expand_dims(state.log_probs, 2)

        longer = tf.one_hot(
            tf.fill(tf.shape(state.finished), self._end_token),
            symbols,
            on_value=tf.constant(0, tf.int64),
            off_value=tf.constant(1, tf.int64),
            dtype=tf.int64,
        )
        lengths = longer * tf.expand_dims(tf.cast(growing, tf.int64), 2) + tf.expand_dims(state.lengths, 2)
        attended = state.accumulated_attention_probs
        if self._penalizes_coverage():
            probs = self._attended(cell_state)
            attended = attended + probs * tf.expand_dims(tf.cast(growing, probs.dtype), 2)
        scores = self._scores(log_probs, lengths, state.finished, attended)

        def flat(tensor: Any) -> Any:
            rows = tf.reshape(tensor, [self._batch_size, -1])
            rows.set_shape([self._known_batch(), None])
            return rows

        best, places = tf.math.top_k(flat(scores), k=self._beam_width)
        word_ids = tf.math.floormod(places, symbols, name="next_beam_word_ids")
        parent_ids = tf.math.floordiv(places, symbols, name="next_beam_parent_ids")

        def moved(tensor: Any) -> Any:
            if self._whole(tensor, 2):
                return tensor
            return tf.gather(tensor, parent_ids, axis=1, batch_dims=1)

        finished = moved(state.finished)
        next_state = BeamSearchDecoderState(
            cell_state=tf.nest.map_structure(moved, cell_state),
            log_probs=tf.gather(flat(log_probs), places, axis=1, batch_dims=1, name="next_beam_probs"),
            finished=tf.logical_or(finished, tf.equal(word_ids, self._end_token), name="next_beam_finished"),
            lengths=moved(state.lengths) + tf.cast(tf.logical_not(finished), tf.int64),
            accumulated_attention_probs=tf.nest.map_structure(moved, attended),
        )
        return BeamSearchDecoderOutput(best, word_ids, parent_ids), next_state

    def _scores(self, log_probs: Any, lengths: Any, finished: Any, attended: Any) -> Any:
        """``log_probs`` [B, K, V] with the penalties for length and coverage."""
        scores = log_probs
        weight = tf.convert_to_tensor(self._length_penalty_weight, name="penalty_factor")
        if tf.get_static_value(weight) != 0:
            weight = tf.cast(weight, scores.dtype)
            scores /= (5.0 + tf.cast(lengths, scores.dtype)) ** weight / tf.constant(6.0, scores.dtype) ** weight
        if self._penalizes_coverage():
            seen = tf.where(tf.equal(attended, 0.0), tf.ones_like(attended), attended)
            penalty = tf.reduce_sum(tf.math.log(tf.minimum(seen, tf.cast(1.0, seen.dtype))), 2)
            penalty *= tf.cast(finished, penalty.dtype)
            scores += tf.expand_dims(penalty * self._coverage_penalty_weight, 2)
        return scores

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """``(FinalBeamSearchDecoderOutput, state)``, outputs [T, B, K]."""
        longest = tf.cast(tf.reduce_max(final_state.lengths, axis=1), tf.int32)
        predicted_ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder_tensor_arrays:

            def ordered(item: Any) -> Any:
                if not isinstance(item, tf.TensorArray) or not self._can_be_ordered(item):
                    return item
                return gather_tree_from_array(item.stack(), outputs.parent_ids, final_state.lengths)

            final_state = final_state._replace(cell_state=tf.nest.map_structure(ordered, final_state.cell_state))
        return FinalBeamSearchDecoderOutput(predicted_ids, outputs), final_state

    def _can_be_ordered(self, array: Any) -> bool:
        shape, batch, beams = array.element_shape, self._known_batch(), self._beam_width
        if not shape.rank:
            tf.logging.warn(
                "The TensorArray %s in the cell state is not amenable to sorting based on the beam search result. For "
                "a TensorArray to be sorted, its elements shape must be defined and have at least a rank of 1, but saw "
                "shape: %s",
                array,
                shape,
            )
            return False
        rows, columns = [*shape.as_list(), None][:2]
        if batch is None or rows is None:
            return True
        if rows == batch * beams and columns in (None, beams if rows == batch else None):
            return True
        tf.logging.warn(
            "TensorArray reordering expects elements to be reshapable to %s which is incompatible with the current "
            "shape %s. Consider setting reorder_tensor_arrays to False to disable TensorArray reordering during the "
            "beam search.",
            (batch, beams, None),
            shape,
        )
        return False
