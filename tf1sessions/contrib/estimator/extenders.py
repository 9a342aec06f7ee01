"""Estimators made from others, and an optimizer that clips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...estimator.estimator import Estimator
from ...estimator.extenders import add_metrics
from ...estimator.model_fn import EstimatorSpec, ModeKeys
from ...runtime import private
from ...runtime import tf1 as tf
from .._wrapped_optimizer import WrappedOptimizer

__all__ = ["add_metrics", "clip_gradients_by_norm", "forward_features"]


class _ClippingOptimizer(WrappedOptimizer):
    """An optimizer whose gradients are clipped by their global norm before they are applied."""

    def __init__(self, optimizer: Any, clip_norm: float) -> None:
        super().__init__(name=f"Clip{optimizer.get_name()}", use_locking=False)
        self._opt = optimizer
        self._clip_norm = clip_norm

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        gradients, variables = zip(*grads_and_vars, strict=True)
        gradients, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
        return self._opt.apply_gradients(
            list(zip(gradients, variables, strict=True)), global_step=global_step, name=name
        )

    def variables(self) -> Any:
        return self._opt.variables()


def clip_gradients_by_norm(optimizer: Any, clip_norm: float) -> Any:
    """An optimizer that applies ``optimizer`` to gradients whose global norm is at most ``clip_norm``."""
    return _ClippingOptimizer(optimizer, clip_norm)


def forward_features(
    estimator: Estimator, keys: Any = None, sparse_default_values: Mapping[str, Any] | None = None
) -> Estimator:
    """A new Estimator whose predictions have features in them, as examples' keys have to be.

    Args:
        estimator: The model.
        keys: The features' names; None for all.
        sparse_default_values: name -> what fills up a sparse feature's rows.

    Raises:
        ValueError: There are no such features, or a prediction has such a name.
        TypeError: ``keys`` are of another kind, or the predictions are not a dict.
    """
    names = [keys] if isinstance(keys, str) else keys
    if names is not None and not (isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)):
        raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.PREDICT:
            return spec
        predictions = spec.predictions
        if not isinstance(predictions, dict):
            raise TypeError(f"Predictions should be a dict to be able to forward features. Given: {type(predictions)}")
        forwarded = _chosen_features(features, names, sparse_default_values or {})
        taken = sorted(set(forwarded) & set(predictions))
        if taken:
            raise ValueError(f"Cannot forward feature {taken}. Since it does exist in predictions.")
        outputs = {
            name: private.export_output.PredictOutput({**output.outputs, **forwarded})
            if isinstance(output, private.export_output.PredictOutput)
            else output
            for name, output in (spec.export_outputs or {}).items()
        }
        return spec._replace(predictions={**predictions, **forwarded}, export_outputs=outputs)

    return Estimator(model_fn=model_fn, model_dir=estimator.model_dir, config=estimator.config)


def _chosen_features(features: Any, names: Iterable[str] | None, defaults: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(features, dict):
        raise ValueError("forward_features needs features by name")
    names = list(features) if names is None else list(names)
    unknown = [name for name in names if name not in features]
    if unknown:
        raise ValueError(
            f"keys should be exist in features. Key ({unknown}) is not in features dict ({list(features)})"
        )
    found = {}
    for name in names:
        value = features[name]
        if isinstance(value, tf.SparseTensor):
            value = tf.sparse.to_dense(value, default_value=defaults.get(name))
        found[name] = tf.identity(value)
    return found
