"""Estimators of time series."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...estimator.estimator import Estimator
from ...estimator.export import ServingInputReceiver
from ...runtime import tf1 as tf
from . import ar_model, head, math_utils, state_management
from .feature_keys import TrainEvalFeatures
from .model import TimeSeriesModel

__all__ = ["ARRegressor", "TimeSeriesRegressor"]

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class TimeSeriesRegressor(Estimator):
    """An estimator of any ``TimeSeriesModel``.

    Args:
        model: The model.
        state_manager: Where states come from (state_management.py); each batch begins anew without it.
        optimizer: A ``tf.train.Optimizer``; Adam with steps of 0.02 without it.
        model_dir: Where checkpoints and summaries go.
        config: A ``tf.estimator.RunConfig``.
        head_type: ``TimeSeriesRegressionHead`` or a class of its kind.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: Any = None,
        config: Any = None,
        head_type: Any = head.TimeSeriesRegressionHead,
    ) -> None:
        self._time_series_model = model
        make_head = functools.partial(
            head_type,
            model,
            state_manager or state_management.PassthroughStateManager(),
            optimizer or tf.train.AdamOptimizer(0.02),
            input_statistics_generator=math_utils.InputStatisticsFromMiniBatch(
                num_features=model.num_features, dtype=model.dtype
            ),
        )

        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            return make_head().create_estimator_spec(features, mode, labels)

        super().__init__(model_fn, model_dir=model_dir, config=config)

    def build_raw_serving_input_receiver_fn(
        self, default_batch_size: int | None = None, default_series_length: int | None = None
    ) -> Callable[[], ServingInputReceiver]:
        """A function for ``export_savedmodel`` of arrays: times, values, exogenous features and a state.

        Args:
            default_batch_size: B of the placeholders; any without it.
            default_series_length: W of the placeholders; any without it.
        """
        model = self._time_series_model

        def receiver() -> ServingInputReceiver:
            shape = [default_batch_size, default_series_length]
            placeholders = {
                _TIMES: tf.placeholder(tf.int64, shape, _TIMES),
                _VALUES: tf.placeholder(model.dtype, [*shape, model.num_features], _VALUES),
                **model.exogenous_placeholders(*shape),
                **self._state_placeholders(default_batch_size),
            }
            return ServingInputReceiver(placeholders, dict(placeholders))

        return receiver

    def build_one_shot_parsing_serving_input_receiver_fn(
        self,
        filtering_length: int,
        prediction_length: int,
        default_batch_size: int | None = None,
        values_input_dtype: Any = None,
        truncate_values: bool = False,
    ) -> Callable[[], ServingInputReceiver]:
        """A function for ``export_savedmodel`` of serialized ``tf.train.Example``, with ``OneShotPredictionHead``.

        Args:
            filtering_length: For how many times there are values.
            prediction_length: How many times are predicted.
            default_batch_size: How many examples there are; any number without it.
            values_input_dtype: Type of the values in an example; the model's without it.
            truncate_values: Whether an example has values for all times, of which the last ones are left out.
        """
        model = self._time_series_model

        def receiver() -> ServingInputReceiver:
            length = filtering_length + prediction_length
            values = [length if truncate_values else filtering_length, model.num_features]
            spec = {
                _TIMES: tf.io.FixedLenFeature([length], tf.int64),
                _VALUES: tf.io.FixedLenFeature(values, values_input_dtype or model.dtype),
            }
            columns = tf.feature_column.make_parse_example_spec(model.exogenous_feature_columns)
            for name, feature in columns.items():
                spec[name] = tf.io.FixedLenFeature([length, *feature.shape], feature.dtype)
            serialized = tf.placeholder(tf.string, [default_batch_size], "input")
            features = tf.io.parse_example(serialized, spec)
            features[_VALUES] = tf.cast(features[_VALUES], model.dtype)[:, :filtering_length]
            features.update(self._state_placeholders(default_batch_size))
            return ServingInputReceiver(features, {"examples": serialized})

        return receiver

    def _state_placeholders(self, batch_size: int | None) -> dict[str, Any]:
        with tf.Graph().as_default():
            self._time_series_model.initialize_graph()
            parts = head.state_to_dictionary(self._time_series_model.get_start_state())
            kinds = {name: (part.dtype, part.shape.as_list()) for name, part in parts.items()}
        return {name: tf.placeholder(dtype, [batch_size, *shape], name) for name, (dtype, shape) in kinds.items()}


class ARRegressor(TimeSeriesRegressor):
    """An estimator of an autoregressive model, of windows of ``input_window_size + output_window_size`` times.

    Args:
        periodicities: A period or several, in units of the times.
        input_window_size: From how many times predictions are made.
        output_window_size: How many times are predicted at once.
        num_features: How many numbers the series has at a time.
        exogenous_feature_columns: Feature columns of what is known of each time besides.
        num_time_buckets: In how many parts a period is.
        loss: ``ARModel.SQUARED_LOSS`` or ``ARModel.NORMAL_LIKELIHOOD_LOSS``.
        hidden_layer_sizes: Of hidden layers.
        anomaly_prior_probability: How likely an anomaly is; see ``AnomalyMixtureARModel``.
        anomaly_distribution: Of anomalies, ``AnomalyMixtureARModel.GAUSSIAN_ANOMALY`` unless given.
        optimizer: A ``tf.train.Optimizer``; Adagrad with steps of 0.1 without it.
        model_dir: Where checkpoints and summaries go.
        config: A ``tf.estimator.RunConfig``.

    Raises:
        ValueError: Arguments contradict.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        num_time_buckets: int = 10,
        loss: str = ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Any = None,
        model_dir: Any = None,
        config: Any = None,
    ) -> None:
        make: Any = ar_model.ARModel
        if anomaly_prior_probability is None:
            if anomaly_distribution is not None:
                raise ValueError("anomaly_prior_probability is required if anomaly_distribution is specified.")
            make = functools.partial(make, loss=loss)
        else:
            if loss != ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS:
                raise ValueError(
                    "AnomalyMixtureARModel only supports ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for its loss argument."
                )
            make = functools.partial(
                ar_model.AnomalyMixtureARModel,
                anomaly_prior_probability=anomaly_prior_probability,
                anomaly_distribution=anomaly_distribution or ar_model.AnomalyMixtureARModel.GAUSSIAN_ANOMALY,
            )
        super().__init__(
            make(
                periodicities=periodicities,
                input_window_size=input_window_size,
                output_window_size=output_window_size,
                num_features=num_features,
                exogenous_feature_columns=exogenous_feature_columns,
                num_time_buckets=num_time_buckets,
                prediction_model_factory=functools.partial(
                    ar_model.FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes
                ),
            ),
            state_manager=state_management.FilteringOnlyStateManager(),
            optimizer=optimizer or tf.train.AdagradOptimizer(0.1),
            model_dir=model_dir,
            config=config,
        )
