"""Estimators of recurrent networks: :class:`RNNClassifier`, :class:`RNNEstimator`.

``rnn/sequence_input_layer`` -> ``rnn/rnn/<cell>`` -> the last output of each sequence -> ``rnn/logits/dense``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...estimator.canned.dnn import checked_features, input_partitioner, no_model_variables, partitioner
from ...estimator.canned.optimizers import optimizer_instance
from ...estimator.estimator import Estimator
from ...estimator.model_fn import EstimatorSpec
from ...runtime import tf1 as tf
from ..feature_column import sequence_input_layer
from . import head as _heads
from .extenders import clip_gradients_by_norm

__all__ = ["RNNClassifier", "RNNEstimator"]

_DEFAULT: Any = object()
_LEARNING_RATE = 0.05
#: Of the gradients together, for an optimizer that is made here.
_CLIP_NORM = 5.0
_CELLS = {
    "basic_rnn": tf.nn.rnn_cell.BasicRNNCell,
    "gru": tf.nn.rnn_cell.GRUCell,
    "lstm": tf.nn.rnn_cell.BasicLSTMCell,
}
_BOTH = "num_units and cell_type must not be specified when using rnn_cell_fn"


def _cell_maker(num_units: Iterable[int] | None, cell_type: Any, rnn_cell_fn: Any) -> Callable[[str], Any]:
    """A function of the mode that makes the cell.

    Raises:
        ValueError: The arguments exclude each other.
    """
    if rnn_cell_fn is not None:
        if num_units is not None or cell_type is not _DEFAULT:
            raise ValueError(_BOTH)
        return lambda mode: rnn_cell_fn(mode)
    if cell_type is _DEFAULT:
        cell_type = "basic_rnn"

    def make(mode: str) -> Any:
        del mode
        kind = _CELLS.get(cell_type) if isinstance(cell_type, str) else cell_type
        if not (isinstance(kind, type) and issubclass(kind, tf.nn.rnn_cell.RNNCell)):
            raise TypeError(f"cell_type must be one of {[*_CELLS]}, or a subclass of RNNCell. Given: {cell_type}")
        cells = [kind(num_units=units) for units in num_units or ()]
        return cells[0] if len(cells) == 1 else tf.nn.rnn_cell.MultiRNNCell(cells)

    return make


def _last_of_each(outputs: Any, lengths: Any) -> Any:
    """The last output [B, N] of each sequence: of ``outputs`` [B, T, N] the one before ``lengths`` [B]."""
    with tf.name_scope("select_last_activations", values=[outputs, lengths]):
        shape = tf.shape(outputs)
        last = tf.range(shape[0]) * shape[1] + tf.cast(lengths, tf.int32) - 1
        return tf.gather(tf.reshape(outputs, [-1, shape[2]]), last)


def _with_context(sequence: Any, context: Any) -> Any:
    """``context`` [B, C] at each step of ``sequence`` [B, T, D]: [B, T, D + C]."""
    every_step = tf.tile(tf.expand_dims(context, 1), [1, tf.shape(sequence)[1], 1])
    return tf.concat([sequence, every_step], 2)


def _model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    cell_fn: Callable[[str], Any],
    sequence_columns: Sequence[Any],
    context_columns: Sequence[Any],
    optimizer: Any,
    input_layer_partitioner: Any,
    config: Any,
) -> EstimatorSpec:
    checked_features(features)
    if not isinstance(optimizer, tf.train.Optimizer):
        optimizer = clip_gradients_by_norm(optimizer_instance(optimizer, _LEARNING_RATE), _CLIP_NORM)
    values = tuple(tf.nest.flatten(features))
    with tf.variable_scope("rnn", values=values, partitioner=partitioner(config)):
        with tf.variable_scope(
            "sequence_input_layer", values=values, partitioner=input_partitioner(input_layer_partitioner, config)
        ):
            with no_model_variables():
                inputs, lengths = sequence_input_layer(features, sequence_columns)
                tf.summary.histogram("sequence_length", lengths)
                if context_columns:
                    inputs = _with_context(inputs, tf.feature_column.input_layer(features, context_columns))
        outputs, _ = tf.nn.dynamic_rnn(cell_fn(mode), inputs, lengths, dtype=tf.float32)
        with tf.variable_scope("logits", values=[outputs]):
            logits = tf.layers.dense(
                _last_of_each(outputs, lengths),
                head.logits_dimension,
                kernel_initializer=tf.glorot_uniform_initializer(),
            )
        spec: EstimatorSpec = head.create_estimator_spec(
            features=features, mode=mode, labels=labels, optimizer=optimizer, logits=logits
        )
        return spec


class RNNEstimator(Estimator):
    """A recurrent network with a head of your choice.

    Args:
        head: A head of ``tf.estimator`` or ``tf.contrib.estimator``.
        sequence_feature_columns: Columns of sequences; see ``tf.contrib.feature_column.sequence_input_layer``.
        context_feature_columns: Dense columns, which each step of the sequence gets.
        num_units: The sizes of the cells, from the lowest.
        cell_type: "basic_rnn", "lstm", "gru", or a class of cells.
        rnn_cell_fn: A function of the mode that makes the cell, instead of the two before.
        return_sequences: Not with the heads that there are: they are for one prediction an example.
        model_dir: Where checkpoints and summaries go.
        optimizer: A ``tf.train.Optimizer``, its name, or a function that returns one; the gradients of the latter two
            are clipped to a global norm of 5.
        input_layer_partitioner: Splits the variables of the input layer.
        config: A ``RunConfig``.

    Raises:
        ValueError: Arguments exclude each other.
    """

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: Any = _DEFAULT,
        rnn_cell_fn: Callable[[str], Any] | None = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        input_layer_partitioner: Any = None,
        config: Any = None,
    ) -> None:
        if return_sequences:
            raise ValueError("Provided head must be a `_SequentialHead` object when `return_sequences` is set to True.")
        cell_fn = _cell_maker(num_units, cell_type, rnn_cell_fn)

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            return _model_fn(
                features,
                labels,
                mode,
                head,
                cell_fn,
                tuple(sequence_feature_columns or ()),
                tuple(context_feature_columns or ()),
                optimizer,
                input_layer_partitioner,
                config,
            )

        super().__init__(model_fn, model_dir=model_dir, config=config)


class RNNClassifier(RNNEstimator):
    """A recurrent network that predicts classes; see :class:`RNNEstimator` for what is not here.

    Args:
        n_classes: The number of classes.
        weight_column: The name of a feature, or a numeric column, with the weights of the examples.
        label_vocabulary: The labels of the classes, if labels are strings.
        loss_reduction: One of ``tf.losses.Reduction`` but NONE.
    """

    def __init__(
        self,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: Any = _DEFAULT,
        rnn_cell_fn: Callable[[str], Any] | None = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = "weighted_sum_over_batch_size",
        input_layer_partitioner: Any = None,
        config: Any = None,
    ) -> None:
        if n_classes == 2:
            head = _heads.binary_classification_head(
                weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction
            )
        else:
            head = _heads.multi_class_head(
                n_classes,
                weight_column=weight_column,
                label_vocabulary=label_vocabulary,
                loss_reduction=loss_reduction,
            )
        super().__init__(
            head,
            sequence_feature_columns,
            context_feature_columns,
            num_units,
            cell_type,
            rnn_cell_fn,
            model_dir=model_dir,
            optimizer=optimizer,
            input_layer_partitioner=input_layer_partitioner,
            config=config,
        )
