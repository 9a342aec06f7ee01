"""Losses and metrics of Keras models in graphs: what masks and weights of samples make of them.

A model that is compiled has, for each output, a loss of its elements, which masks and weights scale before the mean is
taken. TensorFlow 1 programs had two rules, and tf_keras has a third one:

* ``tf.keras`` of 1.15.5 multiplies by mask and weights and takes the mean of all elements, masked ones included;
* the package ``keras`` up to 2.2 divides by the share of elements that are not masked, and by that of weights that are
  not zero. Its losses have any rank: one that gives a single number is weighted as that number. A metric is a number
  for each batch, and the mean of those counts each as often as the batch has samples.

The second rule is that of programs that have imported ``keras``, the first that of the others. What tests/golden/make/
make_sample_weights.py recorded of both is what tests/scripts/test_sample_weights.py compares with.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["apply"]


def apply(training: ModuleType) -> None:
    """Give models in graphs these rules. Idempotent.

    Args:
        training: ``tf_keras.src.engine.training_v1``, just imported.
    """
    real: Any = vars(training)["losses_utils"]
    if isinstance(real, _LossesUtils):
        return
    vars(training)["losses_utils"] = _LossesUtils(real)
    utils: Any = importlib.import_module("tf_keras.src.engine.training_utils_v1")
    utils.call_metric_function = _by_batches(utils.call_metric_function)
    wrapper: Any = importlib.import_module("tf_keras.src.losses").LossFunctionWrapper
    wrapper.call = _of_any_rank(wrapper.call)


def _is_of_package() -> bool:
    return "keras" in sys.modules


class _LossesUtils:
    """The module ``tf_keras.src.utils.losses_utils`` as a model in a graph uses it, with the rule of the program."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def apply_valid_mask(self, losses: Any, weights: Any, mask: Any, reduction: str) -> Any:
        """Return what the losses are to be multiplied by.

        Args:
            losses: The loss of each element.
            weights: Weights of samples, with as many axes as the mask where there is one; the mask itself, where it is
                there alone; None without both.
            mask: 1 for each element that counts and 0 for others, or None.
            reduction: How the loss is reduced, one of ``tf.losses.Reduction``.
        """
        kinds = self._real.ReductionV2
        if _is_of_package() and reduction in (kinds.AUTO, kinds.SUM_OVER_BATCH_SIZE):
            return _scale(losses, None if weights is mask else weights, mask)
        return self._real.apply_mask(losses, None if weights is mask else weights, mask)

    def compute_weighted_loss(self, losses: Any, sample_weight: Any = None, reduction: str = "none") -> Any:
        """Return the losses times their weights, not reduced."""
        if _is_of_package() and sample_weight is not None:
            return losses * sample_weight
        return self._real.compute_weighted_loss(losses, sample_weight=sample_weight, reduction=reduction)


def _scale(losses: Any, weights: Any, mask: Any) -> Any:
    """Return by what the package ``keras`` multiplies losses before it takes their mean; None for nothing."""
    tf: Any = importlib.import_module("tensorflow")
    scale = None
    if mask is not None:
        mask = tf.cast(mask, losses.dtype)
        scale = mask / tf.reduce_mean(mask)
    if weights is not None:
        weights = tf.cast(weights, losses.dtype)
        weights /= tf.reduce_mean(tf.cast(tf.not_equal(weights, 0), losses.dtype))
        ndim = (losses if scale is None else scale).shape.ndims
        for _ in range((ndim or 0) - weights.shape.ndims):
            weights = tf.expand_dims(weights, -1)
        scale = weights if scale is None else scale * weights
    return scale


def _by_batches(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def call_metric_function(
        metric_fn: Any, y_true: Any, y_pred: Any = None, weights: Any = None, mask: Any = None
    ) -> Any:
        if y_pred is None or not _is_of_package() or type(metric_fn).__name__ != "MeanMetricWrapper":
            return call(metric_fn, y_true, y_pred, weights=weights, mask=mask)
        tf: Any = importlib.import_module("tensorflow")
        function = metric_fn._fn

        def of_batch(y_true: Any, y_pred: Any, **named: Any) -> Any:
            values = tf.cast(function(y_true, y_pred, **named), y_pred.dtype)
            scale = _scale(values, weights, mask)
            return tf.reduce_mean(values if scale is None else values * scale)

        metric_fn._fn = of_batch
        try:
            return metric_fn(y_true, y_pred, sample_weight=tf.cast(tf.shape(y_true)[0], y_pred.dtype))
        finally:
            metric_fn._fn = function

    return call_metric_function


def _of_any_rank(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def call_(self: Any, y_true: Any, y_pred: Any) -> Any:
        if _is_of_package() and None in (_rank(y_true), _rank(y_pred)):
            return self.fn(y_true, y_pred, **self._fn_kwargs)
        return call(self, y_true, y_pred)

    return call_


def _rank(value: Any) -> int | None:
    """Return the number of axes; None where it is not known, and for what has none or no shape."""
    return getattr(getattr(value, "shape", None), "ndims", None) or None
