"""Arguments and results of a ``model_fn``: :class:`ModeKeys` and :class:`EstimatorSpec`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..runtime import private
from ..runtime import tf1 as tf
from .util import function_args, is_metric

__all__ = ["EstimatorSpec", "ModeKeys", "call_logit_fn"]

LOSS_METRIC_KEY = "loss"
AVERAGE_LOSS_METRIC_KEY = "average_loss"
#: What :meth:`Estimator.export_saved_model` tags the graph of each mode with.
EXPORT_TAG_MAP: Mapping[str, list[str]] = private.export_utils.EXPORT_TAG_MAP


class ModeKeys:
    """The purposes that a model is built for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class _Fields(NamedTuple):
    mode: Any
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    export_outputs: Any
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any
    evaluation_hooks: Any
    prediction_hooks: Any


class EstimatorSpec(_Fields):
    """The model that a ``model_fn`` built in the default graph: a named tuple, checked when it is made.

    Args:
        mode: One of :class:`ModeKeys`.
        predictions: A tensor or a dict of them; needed for PREDICT.
        loss: A scalar, or of shape [1]; needed for TRAIN and EVAL.
        train_op: What to run for a step; needed for TRAIN.
        eval_metric_ops: name -> (value, update op), or a Keras metric that was updated.
        export_outputs: name -> ``ExportOutput``; the default for PREDICT is a ``PredictOutput`` of the predictions.
        training_chief_hooks: ``SessionRunHook`` objects of the chief when it trains.
        training_hooks: Those of every worker.
        scaffold: A ``tf.train.Scaffold``.
        evaluation_hooks: Hooks of evaluations.
        prediction_hooks: Hooks of predictions.

    Raises:
        ValueError: Something that ``mode`` needs is missing, or is not of the default graph.
        TypeError: An argument is of another kind.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: Any,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        training_chief_hooks: Iterable[Any] | None = None,
        training_hooks: Iterable[Any] | None = None,
        scaffold: Any = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> EstimatorSpec:
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            export_outputs=_checked_export_outputs(export_outputs, predictions, mode),
            training_chief_hooks=_checked_hooks(training_chief_hooks),
            training_hooks=_checked_hooks(training_hooks),
            scaffold=_checked_scaffold(scaffold),
            evaluation_hooks=_checked_hooks(evaluation_hooks),
            prediction_hooks=_checked_hooks(prediction_hooks),
        )

    def _replace(self, **kwds: Any) -> EstimatorSpec:
        """Return a copy with other fields, checked again; ``mode`` stays."""
        if kwds.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return type(self)(**{**self._asdict(), **kwds})


def _checked_train_op(train_op: Any, mode: Any) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    _check_graph(train_op, "train_op")
    if _is_variable(train_op):
        train_op = train_op.op
    if not isinstance(train_op, (tf.Operation, tf.Tensor)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    return train_op


def _checked_loss(loss: Any, mode: Any) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    loss = _checked_tensor(loss, "loss")
    if not loss.shape.is_compatible_with([]) and not loss.shape.is_compatible_with([1]):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    _check_graph(loss, "loss")
    return loss if loss.shape.is_compatible_with([]) else tf.reshape(loss, [])


def _checked_predictions(predictions: Any, mode: Any) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if isinstance(predictions, dict):
        predictions = {key: _checked_tensor(value, f"predictions[{key}]") for key, value in predictions.items()}
        for key, value in predictions.items():
            _check_graph(value, "prediction values", f"{key}: ")
        return predictions
    predictions = _checked_tensor(predictions, "predictions")
    _check_graph(predictions, "prediction values")
    return predictions


def _checked_metrics(metrics: Any) -> dict[str, Any]:
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for key, value in metrics.items():
        if is_metric(value):
            if not value.updates:
                raise ValueError(f'Please call update_state(...) on the "{value.name}" metric')
            continue
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                f"Values of eval_metric_ops must be (metric_value, update_op) tuples, given: {value} for key: {key}"
            )
        for part in tf.nest.flatten(value):
            if not hasattr(part, "graph"):
                raise TypeError(f"Values of eval_metric_ops must be tensors or ops, given: {part} for key: {key}")
            _check_graph(part, "eval_metric_ops", f"{key}: ")
    local = {id(variable) for variable in tf.local_variables()}
    for value in metrics.values():
        for variable in value.variables if is_metric(value) else ():
            if id(variable) not in local:
                tf.add_to_collection(tf.GraphKeys.LOCAL_VARIABLES, variable)
                tf.add_to_collection(tf.GraphKeys.METRIC_VARIABLES, variable)
                local.add(id(variable))
    return dict(metrics)


def _checked_export_outputs(outputs: Any, predictions: Any, mode: Any) -> dict[str, Any] | None:
    if mode != ModeKeys.PREDICT:
        return None
    if outputs is None:
        outputs = {tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY: private.export_output.PredictOutput(predictions)}
    if not isinstance(outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {outputs}")
    if not all(isinstance(output, private.export_output.ExportOutput) for output in outputs.values()):
        raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {outputs}")
    default = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if len(outputs) == 1:
        (only,) = outputs.values()
        return {**outputs, default: only}
    if outputs and default not in outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default.  Do this by naming "
            "one of them with signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return dict(outputs)


def _checked_hooks(hooks: Any) -> tuple[Any, ...]:
    checked: tuple[Any, ...] = tuple(hooks or ())
    for hook in checked:
        if not isinstance(hook, tf.train.SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return checked


def _checked_scaffold(scaffold: Any) -> Any:
    scaffold = scaffold or tf.train.Scaffold()
    if not isinstance(scaffold, tf.train.Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold


def _checked_tensor(value: Any, name: str) -> Any:
    if _is_variable(value):
        value = tf.convert_to_tensor(value)
    if not isinstance(value, tf.Tensor):
        raise TypeError(f"{name} must be Tensor, given: {value}")
    return value


def _is_variable(value: Any) -> bool:
    """Whether it is a variable of any kind, or what assigning to one gives."""
    return hasattr(value, "read_value") and hasattr(value, "op")


def _check_graph(value: Any, name: str, key: str = "") -> None:
    if hasattr(value, "graph") and value.graph is not tf.get_default_graph():
        raise ValueError(
            f'{name} with "{key}{value.name}" must be from the default graph. Possible causes of this error include: '
            f"\n\n1) {name} was created outside the context of the default graph."
            "\n\n2) The object passed through to EstimatorSpec was not created in the most recent call to "
            '"model_fn".'
        )


def call_logit_fn(logit_fn: Callable[..., Any], features: Any, mode: Any, params: Any, config: Any) -> Any:
    """Calls ``logit_fn`` with those of the arguments that it takes, and returns its logits.

    Raises:
        ValueError: It returned neither a tensor nor a dict of tensors.
    """
    given = {"mode": mode, "params": params, "config": config}
    takes = function_args(logit_fn)
    logits = logit_fn(features=features, **{name: value for name, value in given.items() if name in takes})
    parts = logits if isinstance(logits, dict) else {"": logits}
    if not all(isinstance(key, str) and isinstance(value, tf.Tensor) for key, value in parts.items()):
        raise ValueError(
            f"logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: {logits}"
        )
    return logits
