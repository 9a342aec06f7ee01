"""``tf.contrib.estimator``: heads as the canned estimators have them, and estimators made from others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..estimator.canned import head as _heads
from ..estimator.canned.dnn import dnn_logit_fn_builder
from ..estimator.canned.linear import linear_logit_fn_builder
from ..estimator.canned.old_head import OldHead, OldMultiHead
from ..estimator.estimator import Estimator
from ..estimator.export import build_raw_supervised_input_receiver_fn
from ..estimator.extenders import add_metrics
from ..estimator.model_fn import EstimatorSpec, ModeKeys, call_logit_fn
from ..runtime import private
from ..runtime import tf1 as tf

__all__ = [
    "add_metrics",
    "binary_classification_head",
    "build_raw_supervised_input_receiver_fn",
    "call_logit_fn",
    "clip_gradients_by_norm",
    "dnn_logit_fn_builder",
    "export_all_saved_models",
    "export_saved_model_for_mode",
    "forward_features",
    "linear_logit_fn_builder",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
]

_MEAN = "weighted_sum_over_batch_size"


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    """A head for two classes; see ``tf.estimator.BinaryClassHead``."""
    return OldHead(
        _heads.BinaryClassHead(
            weight_column=weight_column,
            thresholds=thresholds,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
            loss_fn=loss_fn,
            name=name,
        )
    )


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    """A head for one of several classes; see ``tf.estimator.MultiClassHead``."""
    return OldHead(
        _heads.MultiClassHead(
            n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
            loss_fn=loss_fn,
            name=name,
        )
    )


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    classes_for_class_based_metrics: Any = None,
    name: str | None = None,
) -> OldHead:
    """A head for any of several classes; see ``tf.estimator.MultiLabelHead``."""
    return OldHead(
        _heads.MultiLabelHead(
            n_classes,
            weight_column=weight_column,
            thresholds=thresholds,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
            loss_fn=loss_fn,
            classes_for_class_based_metrics=classes_for_class_based_metrics,
            name=name,
        )
    )


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> OldHead:
    """A head for numbers; see ``tf.estimator.RegressionHead``."""
    return OldHead(
        _heads.RegressionHead(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            loss_fn=loss_fn,
            inverse_link_fn=inverse_link_fn,
            name=name,
        )
    )


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> OldHead:
    """A head for counts; see ``tf.estimator.PoissonRegressionHead``."""
    return OldHead(
        _heads.PoissonRegressionHead(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            compute_full_loss=compute_full_loss,
            name=name,
        )
    )


def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None
) -> OldHead:
    """A head for numbers from 0 to 1; see ``tf.estimator.LogisticRegressionHead``."""
    return OldHead(_heads.LogisticRegressionHead(weight_column=weight_column, loss_reduction=loss_reduction, name=name))


def multi_head(heads: Sequence[OldHead], head_weights: Sequence[float] | None = None) -> OldMultiHead:
    """Several heads as one; see ``tf.estimator.MultiHead``."""
    return OldMultiHead(heads, head_weights)


class _ClippingOptimizer(tf.train.Optimizer):  # type: ignore[misc]
    """An optimizer whose gradients are clipped by their global norm before they are applied."""

    def __init__(self, optimizer: Any, clip_norm: float) -> None:
        super().__init__(name=f"Clip{optimizer.get_name()}", use_locking=False)
        self._optimizer = optimizer
        self._clip_norm = clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        gradients, variables = zip(*grads_and_vars, strict=True)
        gradients, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
        return self._optimizer.apply_gradients(
            list(zip(gradients, variables, strict=True)), global_step=global_step, name=name
        )

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot_names(*args, **kwargs)

    def variables(self) -> Any:
        return self._optimizer.variables()


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


def export_saved_model_for_mode(
    estimator: Estimator,
    export_dir_base: Any,
    input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = ModeKeys.PREDICT,
) -> bytes:
    """Exports the model built for ``mode``; see ``Estimator.export_saved_model``."""
    return export_all_saved_models(
        estimator, export_dir_base, {mode: input_receiver_fn}, assets_extra, as_text, checkpoint_path
    )


def export_all_saved_models(
    estimator: Estimator,
    export_dir_base: Any,
    input_receiver_fn_map: Mapping[str, Callable[[], Any]],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Exports the model built for each mode of the map; see ``Estimator.export_saved_model``."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
    )
