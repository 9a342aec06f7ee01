"""Connects the predictions and labels of a model with a metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...estimator.util import function_args

__all__ = ["MetricSpec"]

_LABELS = ("labels", "label", "targets", "target")
_PREDICTIONS = ("predictions", "prediction", "preds", "pred")
_WEIGHTS = ("weights", "weight")


class MetricSpec:
    """A metric and the names of what it is computed from.

    Args:
        metric_fn: A function of predictions and labels (and weights) that returns (value, update op).
        prediction_key: Which prediction; not needed if there is a single one.
        label_key: Which label; not needed if there is a single one.
        weight_key: Which feature has the weights; None for no weights.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self._metric_fn = metric_fn
        self._prediction_key = prediction_key
        self._label_key = label_key
        self._weight_key = weight_key

    @property
    def prediction_key(self) -> str | None:
        return self._prediction_key

    @property
    def label_key(self) -> str | None:
        return self._label_key

    @property
    def weight_key(self) -> str | None:
        return self._weight_key

    @property
    def metric_fn(self) -> Callable[..., Any]:
        return self._metric_fn

    def __str__(self) -> str:
        name = getattr(self._metric_fn, "__name__", self._metric_fn)
        return (
            f"MetricSpec(metric_fn={name}, prediction_key={self._prediction_key}, label_key={self._label_key}, "
            f"weight_key={self._weight_key})"
        )

    __repr__ = __str__

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """Calls the metric.

        Args:
            inputs: Features by name.
            labels: A tensor, or labels by name.
            predictions: A tensor, or predictions by name.

        Raises:
            ValueError: A key is needed, or given and of no use.
            KeyError: There is nothing of that name.
        """
        takes = function_args(self._metric_fn)
        prediction = _one(predictions, self._prediction_key, "prediction", "predictions")
        label = _one(labels, self._label_key, "label", "labels")
        arguments = {}
        names = [name for name in takes if name in _PREDICTIONS]
        positional: tuple[Any, ...] = (prediction,)
        if names:
            arguments[names[0]] = prediction
            positional = ()
        label_names = [name for name in takes if name in _LABELS]
        if label_names:
            arguments[label_names[0]] = label
        elif names or len(takes) > 1:
            positional = (*positional, label)
        if self._weight_key is not None:
            weight_names = [name for name in takes if name in _WEIGHTS]
            if not weight_names:
                raise ValueError(f"{self} has a weight_key, and {self._metric_fn} takes no weights")
            arguments[weight_names[0]] = inputs[self._weight_key]
        return self._metric_fn(*positional, **arguments)


def _one(values: Any, key: str | None, name: str, plural: str) -> Any:
    """The value of ``key``, or the only one."""
    if key is not None:
        if not isinstance(values, Mapping):
            raise ValueError(
                f"MetricSpec with {name}_key specified requires {plural} dict, got {values}.\n"
                f"You must not provide a {name}_key if you only have a single Tensor as {plural}."
            )
        if key not in values:
            raise KeyError(f"Key '{key}' missing from {values.keys()}.")
        return values[key]
    if isinstance(values, Mapping):
        if len(values) != 1:
            raise ValueError(
                f"MetricSpec without specified {name}_key requires {plural} tensor or single element dict, got {values}"
            )
        return next(iter(values.values()))
    return values
