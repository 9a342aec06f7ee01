"""Random forests as estimators of ``contrib.learn``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...estimator.util import log
from ...runtime import tf1 as tf
from .. import layers
from ..learn.constants import PredictionKey
from ..learn.estimator import Estimator
from ..learn.model_fn import ModeKeys, ModelFnOps
from .tensor_forest import ForestHParams, RandomForestGraphs

__all__ = ["TensorForestEstimator", "TensorForestLossHook"]

VARIANCE_PREDICTION_KEY = "prediction_variance"


class TensorForestLossHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Ends the training when the forest has not grown for a number of steps.

    Args:
        early_stopping_rounds: The steps.
        early_stopping_loss_threshold: The share by which the loss has to fall to count as less.
        loss_op: The loss.
    """

    def __init__(
        self,
        early_stopping_rounds: int,
        early_stopping_loss_threshold: float | None = None,
        loss_op: Any = None,
    ) -> None:
        self._rounds = early_stopping_rounds
        self._threshold = early_stopping_loss_threshold or 0.0
        self._loss_op = loss_op
        self._best: float | None = None
        self._steps = 0

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs(self._loss_op)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss = float(run_values.results)
        if self._best is None or loss < self._best - abs(self._best) * self._threshold:
            self._best, self._steps = loss, 0
            return
        self._steps += 1
        if self._steps >= self._rounds:
            log.info("TensorForestLossHook requesting stop.")
            run_context.request_stop()


class TensorForestEstimator(Estimator):
    """A random forest that classifies, or with ``params.regression`` says numbers.

    Args:
        params: The forest's parameters.
        device_assigner: Of no effect.
        model_dir: Where checkpoints and summaries go.
        feature_columns: What the forest reads of the features; all of them without it.
        graph_builder_class: What builds the forest.
        config: A ``RunConfig``.
        weight_column: None: examples with weights cannot be had.
        keys_column: Which feature has the examples' keys, which are predictions then.
        feature_engineering_fn: A function of (features, labels) that returns others.
        early_stopping_rounds: Training ends if the forest has not grown for so many steps; None goes on.
        early_stopping_loss_threshold: The share by which it has to grow.
        num_trainers: Of no effect.
        trainer_id: Of no effect.
        report_feature_importances: Whether training logs them at its end.
        local_eval: Of no effect.
        version: Of no effect.
        head: None: the head follows from ``params``.
        include_all_in_serving: Of no effect.

    Raises:
        ValueError: ``weight_column`` or ``head`` is given, or ``params`` are incomplete.
    """

    def __init__(
        self,
        params: ForestHParams,
        device_assigner: Any = None,
        model_dir: Any = None,
        feature_columns: Sequence[Any] | None = None,
        graph_builder_class: Any = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable[..., tuple[Any, Any]] | None = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: str | None = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ) -> None:
        del device_assigner, num_trainers, trainer_id, local_eval, version, include_all_in_serving
        if weight_column is not None or head is not None:
            raise ValueError("TensorForestEstimator: weight_column and head are not available")
        filled = params.fill()

        def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
            keys = features.pop(keys_column) if keys_column and isinstance(features, dict) else None
            data = features
            if feature_columns:
                data = layers.input_from_feature_columns(features, feature_columns)
            forest = graph_builder_class(filled)
            answers, _, variance = forest.inference_graph(data)
            predictions = _predictions(filled, answers, variance)
            if keys is not None:
                predictions["keys"] = keys
            if mode == ModeKeys.INFER:
                return ModelFnOps(mode, predictions=predictions)
            labels = _labels(labels)
            loss = forest.training_loss(data, labels, name="rf_training_loss")
            if mode == ModeKeys.EVAL:
                return ModelFnOps(mode, predictions, loss, eval_metric_ops=_metrics(filled, answers, labels))
            step = forest.training_graph(data, labels)
            with tf.control_dependencies([step]):
                train_op = tf.assign_add(tf.train.get_global_step(), 1)
            hooks: list[Any] = []
            if early_stopping_rounds:
                hooks.append(TensorForestLossHook(early_stopping_rounds, early_stopping_loss_threshold, loss))
            if report_feature_importances:
                hooks.append(_ReportHook(forest.feature_importances()))
            return ModelFnOps(mode, predictions, loss, train_op, training_hooks=hooks)

        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)


class _ReportHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Logs the importance of each feature when the training ends."""

    def __init__(self, importances: Any) -> None:
        self._importances = importances

    def end(self, session: Any) -> None:
        log.info("feature importances: %s", session.run(self._importances))


def _labels(labels: Any) -> Any:
    if isinstance(labels, dict):
        if len(labels) != 1:
            raise ValueError(f"TensorForestEstimator needs one label, and got {sorted(labels)}")
        (labels,) = labels.values()
    return tf.convert_to_tensor(labels)


def _predictions(params: Any, answers: Any, variance: Any) -> dict[str, Any]:
    if params.regression:
        scores = tf.squeeze(answers, [1]) if params.num_classes == 1 else answers
        return {PredictionKey.SCORES: scores, VARIANCE_PREDICTION_KEY: variance}
    return {
        PredictionKey.PROBABILITIES: answers,
        PredictionKey.CLASSES: tf.argmax(answers, 1),
        VARIANCE_PREDICTION_KEY: variance,
    }


def _metrics(params: Any, answers: Any, labels: Any) -> dict[str, Any]:
    if params.regression:
        truth = tf.reshape(tf.cast(labels, tf.float32), tf.shape(answers))
        return {"mean_squared_error": tf.metrics.mean_squared_error(truth, answers)}
    return {"accuracy": tf.metrics.accuracy(tf.reshape(labels, [-1]), tf.argmax(answers, 1))}
