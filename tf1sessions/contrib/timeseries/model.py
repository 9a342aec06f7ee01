"""The base of models of time series: graphs for training, filtering and predicting.

Letters of shapes: B series in a batch, W times in a window, F features of the series, E numbers that the exogenous
features of a time become.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from . import math_utils
from .feature_keys import PredictionFeatures, TrainEvalFeatures

__all__ = ["ModelOutputs", "SequentialTimeSeriesModel", "TimeSeriesModel"]


class ModelOutputs(NamedTuple):
    """The outputs of a model for a batch.

    Attributes:
        loss: A scalar.
        end_state: The state after the last time, for predictions.
        predictions: name -> [B, W, ...].
        prediction_times: [B, W].
    """

    loss: Any
    end_state: Any
    predictions: Any
    prediction_times: Any


class TimeSeriesModel(abc.ABC):
    """A model of a time series: makes graphs, which an estimator of estimators.py runs.

    Args:
        num_features: F.
        exogenous_feature_columns: Feature columns of what is known of each time besides the series.
        dtype: Of the values.
    """

    def __init__(
        self, num_features: int, exogenous_feature_columns: Sequence[Any] | None = None, dtype: Any = tf.float32
    ) -> None:
        self.num_features = num_features
        self.dtype = dtype
        self.exogenous_size = 0  # E, once the graph is initialized
        self._exogenous_feature_columns = list(exogenous_feature_columns or ())
        self._input_statistics: math_utils.InputStatistics | None = None
        self._graph_initialized = False
        self._means: Any = None
        self._deviations: Any = None

    @property
    def exogenous_feature_columns(self) -> list[Any]:
        """Feature columns of what is not predicted."""
        return self._exogenous_feature_columns

    def initialize_graph(self, input_statistics: math_utils.InputStatistics | None = None) -> None:
        """Makes what all graphs need, in the default graph; is called first.

        Args:
            input_statistics: Of the series; without it values are taken as they are.
        """
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics is not None:
            self._means, variance = input_statistics.overall_feature_moments
            self._deviations = tf.sqrt(variance)
        self.exogenous_size = self._size_of_exogenous_features()

    @abc.abstractmethod
    def get_start_state(self) -> Any:
        """The state before the first time: nested tensors, without a dimension for the batch."""

    @abc.abstractmethod
    def get_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> ModelOutputs:
        """Loss, predictions and the last state.

        Args:
            features: "times" [B, W], "values" [B, W, F] and the exogenous features [B, W, ...].
            mode: One of ``tf.estimator.ModeKeys``.
            state: The state before the first time, for each of the B series.
        """

    @abc.abstractmethod
    def predict(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Predictions, name -> [B, W, ...].

        Args:
            features: "times" [B, W], "start_tuple", the state before them, and the exogenous features [B, W, ...].
        """

    def define_loss(self, features: Mapping[str, Any], mode: str) -> ModelOutputs:
        """:meth:`get_batch_loss` from the start state, which all series of the batch have."""
        self._check_graph_initialized()
        batch_size = tf.shape(features[TrainEvalFeatures.TIMES])[0]
        state = math_utils.replicate_state(self.get_start_state(), batch_size)
        return self.get_batch_loss(features=features, mode=mode, state=state)

    def generate(
        self, number_of_series: int, series_length: int, model_parameters: Any = None, seed: int | None = None
    ) -> dict[str, Any]:
        """Samples series from the model, if it can do so."""
        raise NotImplementedError(f"{type(self).__name__} does not generate series.")

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError(
                "TimeSeriesModels require initialize_graph() to be called before use. This defines variables and ops "
                "in the default graph, and allows Tensor-valued input statistics to be specified."
            )

    # ------------------------------------------------------------------------------- values of mean 0 and variance 1

    def _scale_data(self, data: Any) -> Any:
        return data if self._input_statistics is None else (data - self._means) / self._deviations

    def _scale_back_data(self, data: Any) -> Any:
        return data if self._input_statistics is None else data * self._deviations + self._means

    def _scale_back_variance(self, variance: Any) -> Any:
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance

    # ------------------------------------------------------------------------------------------- exogenous features

    def exogenous_placeholders(self, batch_size: int | None = None, length: int | None = None) -> dict[str, Any]:
        """Placeholders [B, W, ...] of the exogenous features, by name."""
        spec = tf.feature_column.make_parse_example_spec(self._exogenous_feature_columns)
        return {
            name: tf.placeholder(
                feature.dtype, [batch_size, length, *(feature.shape if hasattr(feature, "shape") else [None])], name
            )
            for name, feature in spec.items()
        }

    def _size_of_exogenous_features(self) -> int:
        if not self._exogenous_feature_columns:
            return 0
        with tf.Graph().as_default():
            features = {name: value[0] for name, value in self.exogenous_placeholders().items()}
            size: int = tf.feature_column.input_layer(features, self._exogenous_feature_columns).shape.as_list()[1]
        return size

    def _process_exogenous_features(self, times: Any, features: Mapping[str, Any]) -> Any:
        """The exogenous features of ``times`` [B, W] as numbers [B, W, E]."""
        shape = tf.shape(times)
        if not self._exogenous_feature_columns:
            return tf.zeros(tf.concat([shape, [0]], 0), self.dtype)
        flat = {
            name: tf.reshape(value, [-1, *_dimensions(value)[2:]]) for name, value in self._exogenous(features).items()
        }
        numbers = tf.cast(tf.feature_column.input_layer(flat, self._exogenous_feature_columns), self.dtype)
        found = tf.reshape(numbers, tf.concat([shape, [self.exogenous_size]], 0))
        found.set_shape(times.shape.concatenate([self.exogenous_size]))
        return found

    def _exogenous(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Return the exogenous ones of ``features``."""
        own = {TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE}
        return {name: tf.convert_to_tensor(features[name]) for name in features.keys() - own}


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model that goes from time to time, with a state.

    At each time the state is brought to it (``_imputation_step``), takes in what is known of it
    (``_exogenous_input_step``), and gives predictions (``_prediction_step``); then, in filtering, it takes in the
    values (``_filtering_step``, which gives the loss, too). All are called with names of arguments, for tensors of a
    batch.

    Args:
        train_output_names: Names of predictions that filtering returns.
        predict_output_names: Names of predictions that predicting returns.
        num_features: F.
        normalize_features: Whether the model gets values of mean 0 and variance 1; its ``_scale_back_predictions``
            then brings predictions back.
        dtype: Of the values.
        exogenous_feature_columns: See :class:`TimeSeriesModel`.
        exogenous_update_condition: A function of times [B] and features [B, ...] that returns booleans [B]: where the
            state takes exogenous features in. Everywhere without it.
        static_unrolling_window_size_threshold: Up to which W, if that is known, the graph has each time by itself.
    """

    def __init__(
        self,
        train_output_names: Sequence[str],
        predict_output_names: Sequence[str],
        num_features: int,
        normalize_features: bool = False,
        dtype: Any = tf.float32,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        static_unrolling_window_size_threshold: int | None = None,
    ) -> None:
        super().__init__(num_features, exogenous_feature_columns, dtype)
        self._train_output_names = list(train_output_names)
        self._predict_output_names = list(predict_output_names)
        self._normalize_features = normalize_features
        self._exogenous_update_condition = exogenous_update_condition
        self._static_threshold = static_unrolling_window_size_threshold

    @abc.abstractmethod
    def _filtering_step(self, current_times: Any, current_values: Any, state: Any, predictions: Any) -> Any:
        """The state after ``current_values`` [B, F], and ``predictions`` with "loss" [B] added."""

    @abc.abstractmethod
    def _prediction_step(self, current_times: Any, state: Any) -> Any:
        """The state at ``current_times`` [B], and predictions: name -> [B, ...]."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        """The state, brought over a gap to ``current_times`` [B]."""

    @abc.abstractmethod
    def _exogenous_input_step(self, current_times: Any, current_exogenous_regressors: Any, state: Any) -> Any:
        """The state with ``current_exogenous_regressors`` [B, E] taken in."""

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        """Predictions for values as they were, from those for values of mean 0 and variance 1."""
        raise NotImplementedError(
            "SequentialTimeSeriesModel normalized input data (normalize_features=True), but no method was provided to "
            "transform the predictions back to the input scale."
        )

    def get_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> ModelOutputs:
        loss, states, predictions = self.per_step_batch_loss(features, mode, state)
        return ModelOutputs(
            loss=loss,
            end_state=tf.nest.map_structure(lambda each: each[:, -1], states),
            predictions=predictions,
            prediction_times=features[TrainEvalFeatures.TIMES],
        )

    def per_step_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> tuple[Any, Any, Any]:
        """The mean loss, the states [B, W, ...] after each time, and predictions, name -> [B, W, ...]."""
        del mode
        self._check_graph_initialized()
        values = features[TrainEvalFeatures.VALUES]
        given = self._scale_data(values) if self._normalize_features else values

        def step(t: Any, times: Any, state: Any) -> Any:
            state, predictions = self._prediction_step(current_times=times, state=state)
            return self._filtering_step(
                current_times=times, current_values=given[:, t], state=state, predictions=predictions
            )

        names = ["loss", *self._train_output_names]
        states, outputs = self._loop(step, features, state, names)
        loss = tf.reduce_mean(outputs.pop("loss"))
        if self._normalize_features:
            outputs = self._scale_back_predictions(outputs)
        return loss, states, {**outputs, "observed": values}

    def predict(self, features: Mapping[str, Any]) -> dict[str, Any]:
        self._check_graph_initialized()

        def step(t: Any, times: Any, state: Any) -> Any:
            del t
            return self._prediction_step(current_times=times, state=state)

        _, outputs = self._loop(step, features, features[PredictionFeatures.STATE_TUPLE], self._predict_output_names)
        return self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def _loop(
        self, step: Callable[[Any, Any, Any], Any], features: Mapping[str, Any], state: Any, names: list[str]
    ) -> tuple[Any, dict[str, Any]]:
        """Does ``step`` at each time; the states after it and its outputs of these names, [B, W, ...] each."""
        times = tf.convert_to_tensor(features[TrainEvalFeatures.TIMES])
        state = tf.nest.map_structure(tf.convert_to_tensor, state)
        exogenous = self._exogenous(features)
        regressors = self._process_exogenous_features(times, exogenous) if self._exogenous_feature_columns else None

        def at(t: Any, state: Any) -> tuple[Any, list[Any]]:
            with tf.variable_scope("state_update_step", reuse=tf.AUTO_REUSE):
                now = times[:, t]
                state = self._imputation_step(current_times=now, state=state)
                if regressors is not None:
                    current = {name: value[:, t] for name, value in exogenous.items()}
                    state = self._with_exogenous(now, current, regressors[:, t], state)
                state, outputs = step(t, now, state)
            return state, [outputs[name] for name in names]

        length = times.shape.as_list()[1]
        if length is not None and self._static_threshold is not None and length <= self._static_threshold:
            all_states, all_outputs = [], []
            for t in range(length):
                state, outputs = at(t, state)
                all_states.append(tf.nest.flatten(state))
                all_outputs.append(outputs)
            stacked = [tf.stack(column, 1) for column in zip(*all_states, strict=True)]
            found = [tf.stack(column, 1) for column in zip(*all_outputs, strict=True)]
        else:
            stacked, found = _while(at, tf.shape(times)[1], state, names, self.dtype)
        return tf.nest.pack_sequence_as(state, stacked), dict(zip(names, found, strict=True))

    def _with_exogenous(self, times: Any, features: dict[str, Any], regressors: Any, state: Any) -> Any:
        new = self._exogenous_input_step(current_times=times, current_exogenous_regressors=regressors, state=state)
        if self._exogenous_update_condition is None:
            return new
        update = self._exogenous_update_condition(times=times, features=features)
        return tf.nest.map_structure(lambda with_, without: tf.where(update, with_, without), new, state)


def _while(
    at: Callable[[Any, Any], tuple[Any, list[Any]]], length: Any, state: Any, names: list[str], dtype: Any
) -> tuple[list[Any], list[Any]]:
    """The states and outputs of ``at`` at times 0, 1, ... ``length``, [B, W, ...] each."""
    flat = tf.nest.flatten(state)
    arrays = [tf.TensorArray(kind, length) for kind in [each.dtype for each in flat] + [dtype] * len(names)]
    shapes: list[Any] = []  # of what is written; the loop does not know them afterwards

    def body(t: Any, state: Any, arrays: list[Any]) -> Any:
        new, outputs = at(t, state)
        new_flat = tf.nest.flatten(new)
        for old, now in zip(tf.nest.flatten(state), new_flat, strict=True):
            now.set_shape(now.shape.merge_with(old.shape))
        found = [*new_flat, *outputs]
        shapes[:] = [value.shape for value in found]
        written = [array.write(t, value) for array, value in zip(arrays, found, strict=True)]
        return t + 1, tf.nest.pack_sequence_as(state, new_flat), written

    _, _, arrays = tf.while_loop(lambda t, *_: t < length, body, (tf.constant(0), state, arrays))
    found = []
    for array, shape in zip(arrays, shapes, strict=True):
        column = tf.ensure_shape(array.stack(), tf.TensorShape([None]).concatenate(shape))
        found.append(tf.transpose(column, [1, 0, *range(2, column.shape.rank)]))
    return found[: len(flat)], found[len(flat) :]


def _dimensions(tensor: Any) -> list[Any]:
    """The dimensions of ``tensor``: numbers where they are known."""
    known = tensor.shape.as_list()
    return [tf.shape(tensor)[i] if size is None else size for i, size in enumerate(known)]
