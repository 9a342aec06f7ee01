"""The head of an estimator with a model: training, evaluation, predictions and the signatures of an export."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...estimator.export import PredictOutput
from ...estimator.model_fn import EstimatorSpec, ModeKeys
from ...runtime import tf1 as tf
from .feature_keys import (
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from .model import ModelOutputs, TimeSeriesModel

__all__ = ["OneShotPredictionHead", "TimeSeriesRegressionHead", "state_to_dictionary"]


class _NoStatePredictOutput(PredictOutput):  # type: ignore[misc]
    """The output of a signature that takes no state."""

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The signature, without those of ``receiver_tensors`` that are parts of a state."""
        inputs = {name: tensor for name, tensor in receiver_tensors.items() if not name.startswith(State.STATE_PREFIX)}
        return super().as_signature_def(inputs)


class TimeSeriesRegressionHead:
    """Trains and runs a model.

    Args:
        model: A ``TimeSeriesModel``.
        state_manager: Gives batches their first state (state_management.py).
        optimizer: A ``tf.train.Optimizer``.
        input_statistics_generator: Gathers statistics of the series (math_utils.py); none without it.
        name: Of this head.
    """

    _returns_state = True  # whether evaluations do

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: Any,
        optimizer: Any,
        input_statistics_generator: Any = None,
        name: str | None = None,
    ) -> None:
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self._name = name

    @property
    def name(self) -> str | None:
        """The name of this head."""
        return self._name

    @property
    def logits_dimension(self) -> None:
        """There are no logits."""

    def create_estimator_spec(self, features: Any, mode: str, labels: Any = None) -> EstimatorSpec:
        """The model for ``mode``, in the default graph.

        Args:
            features: Tensors or arrays by name.
            mode: One of ``ModeKeys``.
            labels: There must be none: the series is among the features.

        Raises:
            ValueError: There are labels, or features that ``mode`` needs are missing or of other shapes.
        """
        if labels:
            raise ValueError(
                "The model received a `labels` dictionary, which is not supported. Pass '"
                f"{TrainEvalFeatures.TIMES}' and '{TrainEvalFeatures.VALUES}' as features."
            )
        with tf.name_scope("head"):
            features = {name: self._convert(name, value) for name, value in features.items()}
            training = mode == ModeKeys.TRAIN
            if training or mode == ModeKeys.EVAL:
                _check_training(features)
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(features, update_statistics=training)
            self.model.initialize_graph(input_statistics=statistics)
            self.state_manager.initialize_graph(self.model, statistics)
            if training:
                return self._train_ops(features)
            if mode == ModeKeys.EVAL:
                return self._evaluate_ops(features)
            if mode == ModeKeys.PREDICT and PredictionFeatures.STATE_TUPLE in features:
                return self._predict_ops(features)
            if mode == ModeKeys.PREDICT and TrainEvalFeatures.VALUES in features:
                return self._serving_ops(features)
            if mode == ModeKeys.PREDICT:
                raise ValueError(f"Expected a '{PredictionFeatures.STATE_TUPLE}' feature for prediction.")
        raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")

    def create_loss(self, features: Any, mode: str, logits: Any = None, labels: Any = None) -> ModelOutputs:
        """The model's outputs for a batch, and a summary of its loss."""
        del logits, labels
        with tf.variable_scope("model", use_resource=True):
            outputs: ModelOutputs = self.state_manager.define_loss(self.model, features, mode)
            tf.summary.scalar("loss", outputs.loss)
        return outputs

    def _convert(self, name: str, value: Any) -> Any:
        if name == State.STATE_TUPLE:
            return value
        value = tf.convert_to_tensor(value)
        if name == TrainEvalFeatures.TIMES:
            return tf.cast(value, tf.int64)
        return tf.cast(value, self.model.dtype) if name == TrainEvalFeatures.VALUES else value

    def _train_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        mode = ModeKeys.TRAIN
        outputs = self.create_loss(features, mode)
        train_op = self.optimizer.minimize(outputs.loss, global_step=tf.train.get_global_step())
        return EstimatorSpec(mode, loss=outputs.loss, train_op=train_op)

    def _evaluate_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        mode = ModeKeys.EVAL
        outputs = self.create_loss(features, mode)
        metrics = {name: _latest(name, value) for name, value in outputs.predictions.items()}
        metrics[FilteringResults.TIMES] = _latest(FilteringResults.TIMES, outputs.prediction_times)
        if self._returns_state:
            metrics[FilteringResults.STATE_TUPLE] = _latest_of_state(outputs.end_state)
        metrics["average_loss"] = tf.metrics.mean(outputs.loss, name="average_loss")
        return EstimatorSpec(mode, loss=outputs.loss, eval_metric_ops=metrics, predictions=outputs.predictions)

    def _predict_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        times = features[PredictionFeatures.TIMES]
        if times.shape.rank != 2:
            raise ValueError(
                f"Expected shape (batch dimension, window size) for feature '{PredictionFeatures.TIMES}' (got shape "
                f"{times.shape})."
            )
        predictions = {**self._predict(features), PredictionResults.TIMES: times}
        return EstimatorSpec(ModeKeys.PREDICT, predictions=predictions)

    def _predict(self, features: dict[str, Any]) -> dict[str, Any]:
        with tf.variable_scope("model", reuse=tf.AUTO_REUSE, use_resource=True):
            return self.model.predict(features=features)

    def _filter(self, features: dict[str, Any], state: Any) -> Any:
        """The state after ``features``; from the start without ``state``."""
        mode = ModeKeys.EVAL
        with tf.variable_scope("model", reuse=tf.AUTO_REUSE, use_resource=True):
            if state is None:
                return self.model.define_loss(features, mode).end_state
            return self.model.get_batch_loss(features, mode, state).end_state

    def _serving_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        """Predictions and new states, from a state and from the start."""
        own = {name: value for name, value in features.items() if not name.startswith(State.STATE_PREFIX)}
        parts = [features[name] for name in sorted(features) if name.startswith(State.STATE_PREFIX)]
        state = tf.nest.pack_sequence_as(self.model.get_start_state(), parts)
        return _exported(
            {
                SavedModelLabels.PREDICT: PredictOutput(self._predict({**own, State.STATE_TUPLE: state})),
                SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(self._filter(own, state))),
                SavedModelLabels.COLD_START_FILTER: _NoStatePredictOutput(state_to_dictionary(self._filter(own, None))),
            }
        )


class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head whose export has one signature, without states.

    It takes "times" [B, W], "values" [B, V, F] of the first V times and the exogenous features [B, W, ...], and
    predicts the values of the other times.
    """

    _returns_state = False

    def _serving_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        length = tf.shape(features[TrainEvalFeatures.VALUES])[1]
        own = {
            name: value
            for name, value in features.items()
            if name != TrainEvalFeatures.VALUES and not name.startswith(State.STATE_PREFIX)
        }
        seen = {name: value[:, :length] for name, value in own.items()}
        state = self._filter({**seen, TrainEvalFeatures.VALUES: features[TrainEvalFeatures.VALUES]}, None)
        later = {name: value[:, length:] for name, value in own.items()}
        predictions = self._predict({**later, State.STATE_TUPLE: state})
        return _exported({SavedModelLabels.PREDICT: _NoStatePredictOutput(predictions)})


def state_to_dictionary(state_tuple: Any) -> dict[str, Any]:
    """The parts of a state by names."""
    return {f"{State.STATE_PREFIX}_{i:02}": part for i, part in enumerate(tf.nest.flatten(state_tuple))}


def _exported(outputs: dict[str, Any]) -> EstimatorSpec:
    return EstimatorSpec(ModeKeys.PREDICT, export_outputs=outputs, predictions={})


def _check_training(features: Mapping[str, Any]) -> None:
    """Raises a ``ValueError`` unless there are times [B, W], and all features are [B, W, ...]."""
    for name in (TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES):
        if name not in features:
            raise ValueError(f"Expected a '{name}' feature for training/evaluation.")
    times = features[TrainEvalFeatures.TIMES].shape
    if times.rank != 2:
        raise ValueError(
            f"Expected shape (batch dimension, window size) for feature '{TrainEvalFeatures.TIMES}' (got shape {times})"
        )
    for name, value in features.items():
        if name != State.STATE_TUPLE and not value.shape[:2].is_compatible_with(times):
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) where batch dimension and window size "
                f"match the '{TrainEvalFeatures.TIMES}' feature (got shape {value.shape} for feature '{name}' but "
                f"shape {times} for feature '{TrainEvalFeatures.TIMES}')"
            )


def _latest(name: str, value: Any) -> tuple[Any, Any]:
    """A metric that is the latest value of a tensor."""
    known = value.shape.is_fully_defined()
    variable = tf.Variable(
        tf.zeros(value.shape if known else [], value.dtype),
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        validate_shape=known,
        shape=None if known else tf.TensorShape(None),
        name=f"{name}_identity_metric",
        use_resource=True,
    )
    return tf.ensure_shape(variable.read_value(), value.shape), variable.assign(value, read_value=False)


def _latest_of_state(state: Any) -> tuple[Any, Any]:
    parts = [_latest(f"{FilteringResults.STATE_TUPLE}_{i}", part) for i, part in enumerate(tf.nest.flatten(state))]
    reads, updates = zip(*parts, strict=True)
    return tf.nest.pack_sequence_as(state, list(reads)), tf.group(*updates)
