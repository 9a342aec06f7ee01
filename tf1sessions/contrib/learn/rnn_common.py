"""Cells of recurrent networks, and what is kept of their outputs.

Letters of shapes: B sequences in a batch, T steps, K numbers of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "PredictionType",
    "RNNKeys",
    "apply_dropout",
    "construct_rnn_cell",
    "mask_activations_and_labels",
    "select_last_activations",
]

_CELLS = {"basic_rnn": "BasicRNNCell", "gru": "GRUCell", "lstm": "LSTMCell"}


class PredictionType:
    """Whether a sequence has one prediction or one for each step."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


class RNNKeys:
    """Names of features."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


def construct_rnn_cell(
    num_units: Any, cell_type: Any = "basic_rnn", dropout_keep_probabilities: Sequence[float | None] | None = None
) -> Any:
    """A cell, or a ``MultiRNNCell`` of several.

    Args:
        num_units: The size of a cell, or a list of those of several.
        cell_type: "basic_rnn", "gru", "lstm" or a class of cells.
        dropout_keep_probabilities: See :func:`apply_dropout`.

    Raises:
        TypeError: An unknown ``cell_type``.
        ValueError: Another number of probabilities.
    """
    sizes = list(num_units) if isinstance(num_units, (list, tuple)) else [num_units]
    if isinstance(cell_type, str):
        if cell_type not in _CELLS:
            raise TypeError(f"The supported cell types are {sorted(_CELLS)}, and {cell_type!r} was given.")
        cell_type = getattr(tf.nn.rnn_cell, _CELLS[cell_type])
    cells = [cell_type(size) for size in sizes]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else tf.nn.rnn_cell.MultiRNNCell(cells)


def apply_dropout(
    cells: Sequence[Any], dropout_keep_probabilities: Sequence[float | None], random_seed: int | None = None
) -> list[Any]:
    """The cells with dropout of their inputs, and of the last one's output.

    Args:
        cells: Cells.
        dropout_keep_probabilities: For the input of each cell and for the output of the last one: the share that is
            kept, or None for all of it.
        random_seed: Of dropout.

    Raises:
        ValueError: There is not one probability more than cells.
    """
    if len(dropout_keep_probabilities) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number of cells. Got "
            f"{len(cells)} cells and {len(dropout_keep_probabilities)} dropout probabilities."
        )
    inputs = [1.0 if kept is None else kept for kept in dropout_keep_probabilities]
    outputs = [1.0] * (len(cells) - 1) + inputs[-1:]
    return [
        tf.nn.rnn_cell.DropoutWrapper(cell, input_keep_prob=before, output_keep_prob=after, seed=random_seed)
        for cell, before, after in zip(cells, inputs[:-1], outputs, strict=True)
    ]


def select_last_activations(activations: Any, sequence_lengths: Any) -> Any:
    """The outputs [B, K] of the last steps.

    Args:
        activations: [B, T, K].
        sequence_lengths: [B]; None if all sequences have T steps.
    """
    with tf.name_scope("select_last_activations"):
        activations = tf.convert_to_tensor(activations)
        if sequence_lengths is None:
            return activations[:, -1]
        last = tf.cast(sequence_lengths, tf.int32) - 1
        return tf.gather_nd(activations, tf.stack([tf.range(tf.shape(activations)[0]), last], 1))


def mask_activations_and_labels(activations: Any, labels: Any, sequence_lengths: Any) -> tuple[Any, Any]:
    """The outputs [N, K] and labels [N] of the N steps that the sequences have, one after the other.

    Args:
        activations: [B, T, K].
        labels: [B, T].
        sequence_lengths: [B]; None if all sequences have T steps.
    """
    with tf.name_scope("mask_activations_and_labels"):
        activations, labels = tf.convert_to_tensor(activations), tf.convert_to_tensor(labels)
        if sequence_lengths is None:
            return tf.reshape(activations, [-1, activations.shape.as_list()[2]]), tf.reshape(labels, [-1])
        there = tf.sequence_mask(sequence_lengths, tf.shape(activations)[1])
        return tf.boolean_mask(activations, there), tf.boolean_mask(labels, there)
