"""Regularizers: functions of a weight that give its penalty, and what applies them to all weights."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["apply_regularization", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "sum_regularizer"]

Regularizer = Callable[..., Any]


def _check(scale: Any, name: str = "scale") -> bool:
    """Whether the penalty with ``scale`` is one at all; a ``ValueError`` if the scale is wrong."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"{name} cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
        if scale == 0.0:
            tf.logging.info("Scale of 0 disables regularizer.")
            return False
    return True


def _none(weights: Any, name: str | None = None) -> None:
    return None


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """A function that gives ``scale`` * the sum of the absolute weights; None for every weight if ``scale`` is 0.

    Args:
        scale: A float, 0 or above, or a tensor.
        scope: The name of the penalty's operation.

    Raises:
        ValueError: ``scale`` is negative or a whole number.
    """
    if not _check(scale):
        return _none

    def l1(weights: Any, name: str | None = None) -> Any:
        with tf.name_scope(scope, "l1_regularizer", [weights]) as opened:
            factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return tf.multiply(factor, tf.reduce_sum(tf.abs(weights)), name=name or opened)

    return l1


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """A function that gives ``scale`` * half the sum of the squared weights; None for every weight if it is 0.

    Args:
        scale: A float, 0 or above, or a tensor.
        scope: The name of the penalty's operation.

    Raises:
        ValueError: ``scale`` is negative or a whole number.
    """
    if not _check(scale):
        return _none

    def l2(weights: Any) -> Any:
        with tf.name_scope(scope, "l2_regularizer", [weights]) as opened:
            factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return tf.multiply(factor, tf.nn.l2_loss(weights), name=opened)

    return l2


def l1_l2_regularizer(scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None) -> Regularizer:
    """:func:`l1_regularizer` and :func:`l2_regularizer` together."""
    _check(scale_l1, "scale_l1")
    _check(scale_l2, "scale_l2")
    scope = scope or "l1_l2_regularizer"
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


def sum_regularizer(regularizer_list: Sequence[Regularizer | None], scope: str | None = None) -> Regularizer | Any:
    """The sum of several regularizers, of which some may be None; None if all are."""
    regularizers = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not regularizers:
        return None

    def sum_reg(weights: Any) -> Any:
        with tf.name_scope(scope, "sum_regularizer", [weights]) as opened:
            penalties = [
                penalty for penalty in (regularizer(weights) for regularizer in regularizers) if penalty is not None
            ]
            return tf.add_n(penalties, name=opened) if penalties else None

    return sum_reg


def apply_regularization(regularizer: Regularizer, weights_list: Sequence[Any] | None = None) -> Any:
    """The sum of the penalties of all weights; also put into REGULARIZATION_LOSSES.

    Args:
        regularizer: A function of a weight that gives a scalar or None.
        weights_list: The weights; those of the collection WEIGHTS unless given.

    Raises:
        ValueError: There are no weights, or a penalty is no scalar.
    """
    if weights_list is None:
        weights_list = tf.get_collection(tf.GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with tf.name_scope("get_regularization_penalty", values=weights_list) as scope:
        penalties = [penalty for penalty in (regularizer(weights) for weights in weights_list) if penalty is not None]
        for penalty in penalties:
            if penalty.shape.rank != 0:
                raise ValueError(
                    f"regularizer must return a scalar Tensor instead of a Tensor with rank {penalty.shape.rank}."
                )
        total = tf.add_n(penalties, name=scope) if penalties else tf.constant(0.0, name=scope)
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, total)
        return total
