"""Layers of Keras that TensorFlow 1 composed of other operations, so that they gave other bits and had other seeds.

The rest of compositions.py: :func:`apply` replaces them inside TensorFlow's Keras, for whoever calls them.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

__all__ = ["apply"]


def apply(face: Any) -> None:
    """Replace the functions, once a process."""
    regularizers: Any = importlib.import_module("tf_keras.src.regularizers")
    _with_sums(regularizers, face)
    normalization = "tf_keras.src.layers.normalization."
    layer_norm: Any = importlib.import_module(normalization + "layer_normalization").LayerNormalization
    layer_norm._fused_can_be_used = lambda self, ndims: False
    batch_norm: Any = importlib.import_module(normalization + "batch_normalization").BatchNormalizationBase
    batch_norm.build = _with_images_alone(batch_norm.build)
    attention: Any = importlib.import_module("tf_keras.src.layers.attention.base_dense_attention").BaseDenseAttention
    attention._apply_scores = _without_phase(attention._apply_scores)
    masks: Any = importlib.import_module("tf_keras.src.layers.rnn.dropout_rnn_cell_mixin")
    _with_filled_ones(masks, face)
    losses: Any = importlib.import_module("tf_keras.src.utils.losses_utils")
    losses.compute_weighted_loss = _with_ones(losses.compute_weighted_loss, face)
    backend: Any = importlib.import_module("tf_keras.src.backend")
    backend.batch_dot = face.keras.backend.batch_dot = _with_one_product(backend.batch_dot, face)


def _with_sums(regularizers: Any, tf: Any) -> None:
    """They added to a zero, and squared without TensorFlow's one operation for it."""

    def penalty(self: Any, x: Any) -> Any:
        l1, l2 = (getattr(self, name, 0.0) for name in ("l1", "l2"))
        if not l1 and not l2:
            return tf.constant(0.0, x.dtype)
        total = 0.0
        if l1:
            total += l1 * tf.reduce_sum(tf.abs(x))
        if l2:
            total += l2 * tf.reduce_sum(tf.square(x))
        return total

    for kind in (regularizers.L1, regularizers.L2, regularizers.L1L2):
        kind.__call__ = penalty


def _with_filled_ones(masks: Any, tf: Any) -> None:
    """Masks of recurrent cells dropped of ones that had no gradient with respect to the cell's inputs."""

    def creating(rate: str) -> Any:
        def create(self: Any, inputs: Any, training: Any, count: int = 1) -> Any:
            ones = tf.fill(tf.shape(inputs), tf.constant(1, inputs.dtype))
            ones.set_shape(inputs.shape)
            generator = self._random_generator
            return masks._generate_dropout_mask(generator, ones, getattr(self, rate), training=training, count=count)

        return create

    masks.DropoutRNNCellMixin._create_dropout_mask = creating("dropout")
    masks.DropoutRNNCellMixin._create_recurrent_dropout_mask = creating("recurrent_dropout")


def _with_images_alone(build: Any) -> Any:
    """TensorFlow's one operation for it took tensors of four dimensions, not those of five."""

    @functools.wraps(build)
    def built(self: Any, input_shape: Any) -> Any:
        if len(input_shape) == 5:
            self.fused = False
        return build(self, input_shape)

    return built


def _with_ones(original: Any, tf: Any) -> Any:
    """Multiply by ones of the losses' shape where no weights are given, as 1.15 did."""
    weights_ops: Any = importlib.import_module("tensorflow.python.ops.weights_broadcast_ops")

    @functools.wraps(original)
    def compute_weighted_loss(losses: Any, sample_weight: Any = None, *args: Any, **kwargs: Any) -> Any:
        if sample_weight is None and isinstance(losses, tf.Tensor) and losses.dtype.is_floating:
            sample_weight = weights_ops.broadcast_weights(tf.constant(1.0, losses.dtype), losses)
        return original(losses, sample_weight, *args, **kwargs)

    return compute_weighted_loss


def _without_phase(apply_scores: Any) -> Any:
    """TensorFlow 1 had no dropout, and did not ask whether it is trained."""

    @functools.wraps(apply_scores)
    def applied(self: Any, scores: Any, value: Any, scores_mask: Any = None, training: Any = None) -> Any:
        if training is None and not self.dropout:
            training = False
        return apply_scores(self, scores, value, scores_mask, training)

    return applied


def _with_one_product(original: Any, tf: Any) -> Any:
    """TensorFlow 1 transposed nothing, but let the product of matrices do it."""

    @functools.wraps(original)
    def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
        ranks = [x.shape.rank, y.shape.rank]
        pair = [axes, axes] if isinstance(axes, int) else [ranks[0] - 1, ranks[1] - 2] if axes is None else axes
        if ranks == [2, 2] and list(pair) == [1, 1]:
            return tf.expand_dims(tf.reduce_sum(tf.multiply(x, y), 1), 1)
        if sorted(ranks) not in ([2, 3], [3, 3]) or any(
            axis not in (1, rank - 1) for axis, rank in zip(pair, ranks, strict=True)
        ):
            return original(x, y, axes)
        x, y = (
            one if rank == 3 else tf.reshape(one, tf.concat([tf.shape(one), [1]], axis=0))
            for one, rank in zip((x, y), ranks, strict=True)
        )
        product = tf.matmul(x, y, adjoint_a=pair[0] != 2, adjoint_b=pair[1] == 2)
        return product if ranks == [3, 3] else tf.squeeze(product, [ranks[0] - 1])

    return batch_dot
