"""Counts of operations that 1.15.5's functions for models make beyond today's: layers, Keras, optimizers, tf.contrib.

The rest of op_counts.py, measured in the same way.
"""

from __future__ import annotations

from typing import Any

from .op_entries import (
    CONTRIB,
    FUNCTIONS,
    by,
    is_tensor,
    module,
    of,
    of_contrib,
)

__all__: list[str] = []

_KERAS = "tf_keras.src.layers."
_FEATURES = "tensorflow.python.feature_column.feature_column_v2:"

FUNCTIONS |= {
    "tensorflow.python.training.ftrl:FtrlOptimizer._prepare": by(0, -9),
    "tensorflow.python.training.saver:BaseSaverBuilder._AddShardedSaveOpsForV2": by(0, -3),
    "tensorflow.python.training.sync_replicas_optimizer:SyncReplicasOptimizer.apply_gradients": by(0, 1),
}


@of("tensorflow.python.training.ftrl:FtrlOptimizer._create_slots")
def _ftrl_slots(self: Any, var_list: Any) -> tuple[int, int]:
    return 0, -2 * len(var_list)


@of("tensorflow.python.training.gradient_descent:GradientDescentOptimizer._resource_apply_sparse_duplicate_indices")
def _sparse_descent(self: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """TensorFlow 1 took the learning rate as it was given, not the tensor of it."""
    is_reference = hasattr(self._learning_rate, "initializer") and not hasattr(self._learning_rate, "handle")
    return 0, int(not is_tensor(self._learning_rate) and not is_reference)


@of("tensorflow:train.polynomial_decay")
def _polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end: Any = None,
    power: Any = None,
    cycle: Any = False,
    *_: Any,
    **__: Any,
) -> tuple[int, int]:
    return 0, int(not is_tensor(decay_steps)) + (4 if cycle else 0)


# -- layers -----------------------------------------------------------------------------------------------------------


@of(_KERAS + "convolutional.base_conv:Conv.convolution_op")
def _convolution(self: Any, *_: Any, **__: Any) -> tuple[int, int]:
    return 0, int(all(rate == 1 for rate in self.dilation_rate))


@of(_KERAS + "convolutional.conv2d_transpose:Conv2DTranspose.call")
def _transposed_convolution(self: Any, inputs: Any) -> tuple[int, int]:
    """The size of its output was always computed in the graph."""
    rows, columns = (2, 3) if self.data_format == "channels_first" else (1, 2)
    shape = inputs.shape.as_list()
    known = (shape[rows] is not None) + (shape[columns] is not None)
    return 0, known * (13 if self.output_padding is not None else 5 if self.padding == "same" else 7)


@of(_KERAS + "normalization.batch_normalization:BatchNormalizationBase._fused_batch_norm")
def _fused_batch_norm(self: Any, inputs: Any, mask: Any, training: Any) -> tuple[int, int]:
    known = module("tf_keras.src.utils.control_flow_util").constant_value(training)
    read = 2 * (known is not False and hasattr(self.moving_mean, "handle"))  # what training has no use for
    return 0, (0 if known is None else 2 if known else 1) - read


@of(_KERAS + "normalization.batch_normalization:BatchNormalizationBase.call")
def _virtual_batch_norm(self: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Shapes were written down."""
    return -13 * (self.virtual_batch_size is not None), 0


@of(_KERAS + "reshaping.flatten:Flatten.call")
def _flatten(self: Any, inputs: Any) -> tuple[int, int]:
    shape = inputs.shape.as_list() if inputs.shape.rank else [1]
    return 0, 6 if shape[0] is None and None not in shape[1:] and len(shape) > 1 else 0


@of("tf_keras.src.backend:resize_images")
def _keras_resize_images(x: Any, height: Any, width: Any, data_format: str, *_: Any, **__: Any) -> tuple[int, int]:
    """The size was always looked up in the graph."""
    sizes = x.shape[2:4] if data_format == "channels_first" else x.shape[1:3]
    return 0, 4 if sizes.is_fully_defined() else 0


@of(_KERAS + "rnn.time_distributed:TimeDistributed.call")
def _time_distributed(self: Any, inputs: Any, *_: Any, **__: Any) -> tuple[int, int]:
    return 0, -2 if is_tensor(inputs) and inputs.shape.as_list()[0] is None else 0


@of("tf_keras.src.utils.metrics_utils:sparse_categorical_matches")
def _sparse_matches(y_true: Any, y_pred: Any) -> tuple[int, int]:
    """Today labels that were squeezed make the shape of the result again."""
    return 0, -1 - int(_ranks_are_one(y_true, y_pred))


@of("tf_keras.src.metrics.accuracy_metrics:sparse_categorical_accuracy")
def _sparse_accuracy(y_true: Any, y_pred: Any) -> tuple[int, int]:
    """And that is squeezed."""
    return 0, -int(_ranks_are_one(y_true, y_pred) and y_true.shape.as_list()[1:][-1:] == [1])


def _ranks_are_one(one: Any, other: Any) -> bool:
    return is_tensor(one) and is_tensor(other) and one.shape.rank is not None and one.shape.rank == other.shape.rank


@of(_FEATURES + "IdentityCategoricalColumn._transform_input_tensor")
def _identity_column(self: Any, input_tensor: Any) -> tuple[int, int]:
    """TensorFlow 1 asserted that numbers are in range."""
    return 0, 38 if self.default_value is None else 0


@of("tf_keras.src.optimizers.legacy.optimizer_v2:OptimizerV2.apply_gradients")
def _keras_apply_gradients(self: Any, grads_and_vars: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """Gradients of several devices are gathered today, where there is only one, too."""
    return 0, -1 - len(grads_and_vars) if isinstance(grads_and_vars, (list, tuple)) else 0


# -- contrib ----------------------------------------------------------------------------------------------------------

_CONTRIB = "tf1sessions.contrib."


CONTRIB |= {
    _CONTRIB + "crf:crf_log_likelihood": by(0, 36),
    _CONTRIB + "opt.weight_decay_optimizers:DecoupledWeightDecayExtension._decay_weights_op": by(0, 1),
    # Samples had a shape of any rank, which was computed before they were drawn, and given to them after it.
    _CONTRIB + "seq2seq.helper:_chosen": by(16, 8),
    _CONTRIB + "seq2seq.helper:_drawn": by(24, 12),
    # It looked up the rows that had been sampled, and put them between the others.
    _CONTRIB + "seq2seq.helper:ScheduledEmbeddingTrainingHelper.next_inputs": by(0, 8),
}


@of_contrib("rnn.core_rnn_cell:zeros")
def _contrib_zeros(size: Any, batch_size: Any, *_: Any, **__: Any) -> tuple[int, int]:
    """TensorFlow 1 made both sizes once more, to learn the shape."""
    return 0, sum(2 if is_tensor(part) else 1 for part in (size, batch_size))


@of_contrib("layers.convolutions:convolution")
def _contrib_convolution(
    inputs: Any,
    num_outputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: Any = "SAME",
    data_format: Any = None,
    rate: Any = 1,
    *_: Any,
    **__: Any,
) -> tuple[int, int]:
    return 0, int(all(each == 1 for each in module("numpy").ravel(rate)))


@of_contrib("layers.convolutions:_transposed")
def _contrib_transposed(
    inputs: Any, weights: Any, window: Any, strides: Any, padding: Any, data_format: str, filters: Any
) -> tuple[int, int]:
    batch, *sizes = inputs.shape.as_list()
    sizes = sizes[1:] if data_format.startswith("NC") else sizes[:-1]
    if len(sizes) != 2:
        return 0, 0
    return 0, 7 * sum(size is not None for size in (batch, *sizes)) + (4 if padding == "VALID" else 0)


@of_contrib("layers.layers:flatten")
def _contrib_flatten(inputs: Any, *_: Any, **__: Any) -> tuple[int, int]:
    return _flatten(None, inputs) if is_tensor(inputs) else (0, 0)
