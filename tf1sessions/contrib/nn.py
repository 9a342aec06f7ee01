"""``tf.contrib.nn``: dropout for self-normalising networks, a smooth relu, losses with arguments in another order."""

from __future__ import annotations

import numbers
from typing import Any

from ..errors import UsageError
from ..runtime import private
from ..runtime import tf1 as tf
from .util import constant_value

__all__ = [
    "alpha_dropout",
    "conv1d_transpose",
    "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits",
    "nth_element",
    "scaled_softplus",
]

conv1d_transpose: Any = private.nn_ops.conv1d_transpose
nth_element: Any = private.nn_ops.nth_element

_SATURATED = -1.7580993408473766
"""The limit of ``tf.nn.selu``: -scale * alpha of https://arxiv.org/abs/1706.02515, as 1.15.5 rounds it."""


def alpha_dropout(x: Any, keep_prob: Any, noise_shape: Any = None, seed: int | None = None, name: Any = None) -> Any:
    """Sets elements to what ``tf.nn.selu`` saturates at, and scales all so that mean and variance stay 0 and 1.

    Args:
        x: A tensor of floats.
        keep_prob: How likely an element is to be kept, above 0 and at most 1; a float or a scalar tensor.
        noise_shape: The shape of what is drawn, which is broadcast to that of ``x``; by default that of ``x``.
        seed: Of the draw.
        name: Of the scope.

    Returns:
        A tensor of the shape and dtype of ``x``; ``x`` itself where ``keep_prob`` is known to be 1.

    Raises:
        UsageError: ``keep_prob`` is a number out of its range. It is a ValueError, too.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     kept = t1.contrib.nn.alpha_dropout(tf.zeros([2, 3]), keep_prob=0.9)
        ...     gs.run(kept).shape
        (2, 3)
    """
    with tf.name_scope(name, "alpha_dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < float(keep_prob) <= 1:
            raise UsageError(
                f"keep_prob is {keep_prob}, which is no probability to keep an element",
                where="tf.contrib.nn.alpha_dropout",
                next_step="Give a number above 0 and at most 1.",
            )
        keep = tf.convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep.shape.assert_has_rank(0)
        if constant_value(keep) == 1:
            return x
        drawn = tf.random_uniform(tf.shape(x) if noise_shape is None else noise_shape, seed=seed, dtype=x.dtype)
        kept = tf.cast(drawn >= 1 - keep, x.dtype)
        mixed = x * kept + _SATURATED * (1 - kept)
        scale = (keep + keep * (1 - keep) * _SATURATED**2) ** -0.5
        shift = -scale * _SATURATED * (1 - keep)
        return scale * mixed + shift


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: Any = None
) -> Any:
    """``tf.nn.softmax_cross_entropy_with_logits`` with the arguments in another order.

    Args:
        logits: ``[..., classes]``.
        labels: Probabilities of that shape; no gradient goes there.
        dim: Which dimension has the classes.
        name: Of the operation.
    """
    return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits: Any, labels: Any, name: Any = None) -> Any:
    """``tf.nn.sparse_softmax_cross_entropy_with_logits`` with the arguments in another order.

    Args:
        logits: ``[..., classes]``.
        labels: ``[...]``, numbers of classes.
        name: Of the operation.
    """
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits: Any, targets: Any, name: Any = None) -> Any:
    """``tf.nn.sigmoid_cross_entropy_with_logits`` with the arguments in another order.

    Args:
        logits: Of any shape.
        targets: Probabilities of that shape.
        name: Of the operation.
    """
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: Any = None) -> Any:
    """``alpha * log(1 + exp(x / alpha))``, or ``clip`` where that is less.

    Args:
        x: A tensor of floats.
        alpha: How smooth it is, above 0; near 0 it is a relu.
        clip: The upper bound; by default there is none.
        name: Of the scope.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     gs.run(t1.contrib.nn.scaled_softplus([0.0, 9.0], 1.0, clip=6.0)).round(3).tolist()
        [0.6930000185966492, 6.0]
    """
    with tf.name_scope(name, "scaled_softplus", [x, alpha]):
        x = tf.convert_to_tensor(x, name="x")
        alpha = tf.convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        y = alpha * tf.nn.softplus(x / alpha)
        if clip is None:
            return tf.identity(y, name=f"ScaledSoftplusHelper_{x.dtype.name}")
        y = tf.minimum(y, tf.convert_to_tensor(clip, dtype=x.dtype, name="clip"))
        return tf.identity(y, name=f"ScaledSoftplusHelper_clip_{x.dtype.name}")
