"""Estimators with more metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .estimator import Estimator
from .model_fn import EstimatorSpec, ModeKeys
from .util import function_args

__all__ = ["add_metrics"]

_ARGUMENTS = ("features", "labels", "predictions", "config")


def add_metrics(estimator: Estimator, metric_fn: Callable[..., dict[str, Any]]) -> Estimator:
    """A new Estimator whose evaluations give the metrics of ``metric_fn``, too.

    Args:
        estimator: The model.
        metric_fn: A function of some of ``features``, ``labels``, ``predictions`` and ``config`` that returns
            name -> (value, update op); its metrics go before those of the same name.

    Raises:
        ValueError: ``metric_fn`` takes other arguments.
    """
    takes = function_args(metric_fn)
    unknown = sorted(set(takes) - {*_ARGUMENTS, "self"})
    if unknown:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {unknown}")

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        given = {"features": features, "labels": labels, "predictions": spec.predictions, "config": config}
        new = metric_fn(**{name: value for name, value in given.items() if name in takes}) or {}
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **new})

    return Estimator(
        model_fn=model_fn,
        model_dir=estimator.model_dir,
        config=estimator.config,
        warm_start_from=estimator._warm_start_settings,
    )
