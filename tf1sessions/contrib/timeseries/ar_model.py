"""Autoregression: the next times of a series from those before them.

Data flow: windows of times and values -> time features, scaled values and exogenous features -> the prediction model, a
Keras model -> mean and covariance of the last times of each window -> loss.

Letters of shapes: B series in a batch, W times in a window, F features of the series, E numbers of exogenous features,
I and O times of the input and of the output window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...estimator.model_fn import ModeKeys
from ...runtime import tf1 as tf
from .. import keras
from . import math_utils, model
from .feature_keys import PredictionFeatures, TrainEvalFeatures

__all__ = ["ARModel", "AnomalyMixtureARModel", "FlatPredictionModel"]

_LEAST_VARIANCE = 1e-5


_KerasModel: Any = keras.models.Model


class FlatPredictionModel(_KerasModel):  # type: ignore[misc]
    """Dense layers on all numbers of the windows.

    Args:
        num_features: F.
        input_window_size: I, which may be 0.
        output_window_size: O.
        hidden_layer_sizes: Of layers with relu; none without it.
    """

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        hidden_layer_sizes: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self._input_flatten = keras.layers.Flatten()
        self._output_flatten = keras.layers.Flatten()
        self._hidden = (
            keras.models.Sequential([keras.layers.Dense(size, activation="relu") for size in hidden_layer_sizes])
            if hidden_layer_sizes
            else None
        )
        outputs = num_features * output_window_size
        self._mean_transform = keras.layers.Dense(outputs, name="predicted_mean")
        self._covariance_transform = keras.layers.Dense(outputs, name="log_sigma_square")
        self._shape = [-1, output_window_size, num_features]
        self._has_input = input_window_size > 0

    def call(self, input_window_features: Any, output_window_features: Any) -> dict[str, Any]:
        """Predictions "mean" and "covariance" [B, O, F].

        Args:
            input_window_features: [B, I, ...].
            output_window_features: [B, O, ...].
        """
        parts = [self._output_flatten(output_window_features)]
        if self._has_input:
            parts.insert(0, self._input_flatten(input_window_features))
        activation = tf.concat(parts, 1)
        if self._hidden is not None:
            activation = self._hidden(activation)
        return {
            "mean": tf.reshape(self._mean_transform(activation), self._shape),
            "covariance": tf.reshape(tf.exp(self._covariance_transform(activation)), self._shape),
        }


class ARModel(model.TimeSeriesModel):
    """Autoregression with a prediction model.

    What is known of a time are its places in the periods: a period has ``num_time_buckets`` numbers, of which that of
    the time's bucket is how far it is into it, in buckets, and the others are 0.

    Args:
        periodicities: A period or several, in units of the times.
        input_window_size: I; 0 predicts from times alone.
        output_window_size: O.
        num_features: F.
        prediction_model_factory: Returns a Keras model for ``num_features``, ``input_window_size`` and
            ``output_window_size``; it is called with features of both windows, and returns "mean" and "covariance".
        num_time_buckets: In how many parts a period is.
        loss: :attr:`SQUARED_LOSS` or :attr:`NORMAL_LIKELIHOOD_LOSS`, which learns the covariance, too.
        exogenous_feature_columns: Feature columns of what is known of each time besides.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(num_features, exogenous_feature_columns)
        if output_window_size < 1:
            raise ValueError(f"output_window_size must be at least 1, and is {output_window_size}")
        if loss not in (self.SQUARED_LOSS, self.NORMAL_LIKELIHOOD_LOSS):
            raise ValueError(f"loss must be {self.SQUARED_LOSS!r} or {self.NORMAL_LIKELIHOOD_LOSS!r}, and is {loss!r}")
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        self._model_factory = prediction_model_factory
        self._buckets = num_time_buckets
        self._periodicities = _periods(periodicities)
        self._prediction_model: Any = None

    def initialize_graph(self, input_statistics: math_utils.InputStatistics | None = None) -> None:
        super().initialize_graph(input_statistics)
        self._prediction_model = self._model_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> tuple[Any, Any, Any]:
        """Times, scaled values and exogenous numbers of an input window: zeros."""
        size = self.input_window_size
        return (
            tf.zeros([size], tf.int64),
            tf.zeros([size, self.num_features], self.dtype),
            tf.zeros([size, self.exogenous_size], self.dtype),
        )

    # ------------------------------------------------------------------------------------------------- predictions

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict[str, Any]:
        """Predictions of the scaled values, "mean" and "covariance" [B, O, F].

        Args:
            times: [B, I + O].
            values: Scaled, [B, I, F].
            exogenous_regressors: [B, I + O, E].
        """
        before, after = [], []
        if self._periodicities:
            before, after = [[part] for part in self._split(self._time_features(times))]
        if self.input_window_size:
            before.append(tf.ensure_shape(values, [None, self.input_window_size, self.num_features]))
        if self.exogenous_size:
            for parts, part in zip((before, after), self._split(exogenous_regressors), strict=True):
                parts.append(part)
        nothing = tf.zeros([tf.shape(times)[0], self.output_window_size, 0], self.dtype)
        features = [tf.concat(parts, 2) if parts else nothing for parts in (before, after)]
        with tf.name_scope("model/"):  # for the names of variables
            found: dict[str, Any] = self._prediction_model(*features)
        return found

    def _split(self, window: Any) -> list[Any]:
        """[B, I + O, ...] as [B, I, ...] and [B, O, ...]."""
        parts: list[Any] = tf.split(window, [self.input_window_size, self.output_window_size], 1)
        return parts

    def _time_features(self, times: Any) -> Any:
        """[B, I + O, periods * buckets]."""
        periods = tf.constant(self._periodicities, times.dtype, [1, 1, len(self._periodicities), 1])
        times = tf.ensure_shape(times, [None, self.window_size])[:, :, None, None]
        places = tf.cast(times % periods, self.dtype) * self._buckets / tf.cast(periods, self.dtype)
        into = tf.nn.relu(places - tf.range(self._buckets, dtype=self.dtype))
        into = tf.where(into < 1, into, tf.zeros_like(into))
        return tf.reshape(into, [-1, self.window_size, len(self._periodicities) * self._buckets])

    def loss_op(self, targets: Any, prediction_ops: Mapping[str, Any]) -> Any:
        """The mean loss, of ``targets`` [B, O, F]."""
        mean = prediction_ops["mean"]
        if self.loss == self.SQUARED_LOSS:
            return tf.reduce_mean(tf.math.squared_difference(mean, targets))
        deviation = tf.sqrt(tf.maximum(prediction_ops["covariance"], _LEAST_VARIANCE))
        return -tf.reduce_mean(math_utils.normal_log_prob(mean, deviation, targets))

    def predict(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Predictions "mean" and "covariance" [B, W, F], each output window from what was predicted before.

        Args:
            features: "times" [B, W]; "start_tuple", the state before them: times [B, >= I], scaled values [B, >= I, F]
                and exogenous numbers [B, >= I, E]; and exogenous features [B, W, ...].
        """
        self._check_graph_initialized()
        times = tf.cast(features[PredictionFeatures.TIMES], tf.int64)
        exogenous = self._process_exogenous_features(times, features)
        size, step = self.input_window_size, self.output_window_size
        length = tf.shape(times)[1]
        windows = (length + step - 1) // step
        more = windows * step - length
        old_times, old_values, old_exogenous = (
            _last(tf.convert_to_tensor(part, dtype), size)
            for part, dtype in zip(
                features[PredictionFeatures.STATE_TUPLE], (tf.int64, self.dtype, self.dtype), strict=True
            )
        )
        all_times = tf.concat([old_times, tf.pad(times, [[0, 0], [0, more]])], 1)
        all_exogenous = tf.concat([old_exogenous, tf.pad(exogenous, [[0, 0], [0, more], [0, 0]])], 1)

        def window(i: Any, values: Any) -> tuple[Any, Any, Any]:
            """Values [B, I, F] of the next input window; mean and covariance of window ``i``."""
            here = slice(i * step, i * step + self.window_size)
            predicted = self.prediction_ops(all_times[:, here], values, all_exogenous[:, here])
            mean, covariance = predicted["mean"], predicted["covariance"]
            if self.loss == self.SQUARED_LOSS:
                covariance = tf.ones_like(mean)
            return _last(tf.concat([values, mean], 1), size), mean, covariance

        def later(i: Any, values: Any, means: Any, covariances: Any) -> Any:
            values, mean, covariance = window(i, values)
            return i + 1, values, tf.concat([means, mean], 1), tf.concat([covariances, covariance], 1)

        # The first window is outside of the loop: it makes the variables.
        start = (1, *window(0, old_values))
        predicted = tf.TensorShape([None, None, self.num_features])
        shapes = (tf.TensorShape([]), tf.TensorShape([None, size, self.num_features]), predicted, predicted)
        _, _, mean, covariance = tf.while_loop(lambda i, *_: i < windows, later, start, shapes)
        return {
            "mean": self._scale_back_data(mean[:, :length]),
            "covariance": self._scale_back_variance(covariance[:, :length]),
        }

    # ---------------------------------------------------------------------------------------- training and evaluation

    def get_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> model.ModelOutputs:
        """Loss and predictions of the output windows.

        In training, W is I + O. In evaluations it may be more; as many output windows as fit are predicted, up to the
        last time.
        """
        self._check_graph_initialized()
        times = tf.cast(features[TrainEvalFeatures.TIMES], tf.int64)
        values = tf.cast(features[TrainEvalFeatures.VALUES], self.dtype)
        exogenous = self._process_exogenous_features(times, features)
        if mode == ModeKeys.TRAIN:
            return self._train(times, values, exogenous)
        if mode == ModeKeys.EVAL:
            return self._evaluate(times, values, exogenous, state)
        raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")

    def _train(self, times: Any, values: Any, exogenous: Any) -> model.ModelOutputs:
        if not times.shape.is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and "
                f"output_window_size={self.output_window_size} expects feature '{TrainEvalFeatures.TIMES}' to have "
                f"shape (batch_size, {self.window_size}) (for any batch_size), but got shape {times.shape}. If you are "
                f"using RandomWindowInputFn, set window_size={self.window_size} or adjust the input_window_size and "
                "output_window_size arguments to ARModel."
            )
        scaled = self._scale_data(values)
        size = self.input_window_size
        predicted = self.prediction_ops(times, scaled[:, :size], exogenous)
        return model.ModelOutputs(
            loss=self.loss_op(scaled[:, size:], predicted),
            end_state=tuple(_last(part, size) for part in (times, scaled, exogenous)),
            predictions={**self._scaled_back(predicted), "observed": values[:, size:]},
            prediction_times=times[:, size:],
        )

    def _evaluate(self, times: Any, values: Any, exogenous: Any, state: Any) -> model.ModelOutputs:
        known = times.shape.as_list()[1]
        if known is not None and known < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to evaluate on "
                f"(input_window_size={self.input_window_size}, output_window_size={self.output_window_size}, and got "
                f"shape {times.shape} for feature '{TrainEvalFeatures.TIMES}' (batch size, window size))."
            )
        size, step = self.input_window_size, self.output_window_size
        shape = tf.shape(times)
        windows = (shape[1] - size) // step
        scaled = self._scale_data(values)
        # Window i has the times i * O ... i * O + I + O of those that are used.
        places = shape[1] - windows * step - size + tf.range(windows)[:, None] * step + tf.range(self.window_size)

        def cut(part: Any, length: int) -> Any:
            """[B, W, ...] as [B * windows, length, ...]."""
            return tf.reshape(tf.gather(part, places[:, :length], axis=1), [-1, length, *part.shape.as_list()[2:]])

        predicted = self.prediction_ops(
            cut(times, self.window_size), cut(scaled, size), cut(exogenous, self.window_size)
        )
        back = self._scaled_back(predicted)
        observed = values[:, shape[1] - windows * step :]
        if self.loss == self.SQUARED_LOSS:
            loss = self.loss_op(cut(values, self.window_size)[:, size:], back)
        else:
            loss = self.loss_op(cut(scaled, self.window_size)[:, size:], predicted)
        together = [shape[0], windows * step, self.num_features]
        return model.ModelOutputs(
            loss=loss,
            end_state=tuple(
                _last(tf.concat([old, new], 1), size)
                for old, new in zip(state, (times, scaled, exogenous), strict=True)
            ),
            predictions={
                **{name: tf.reshape(value, together) for name, value in back.items()},
                "observed": observed,
            },
            prediction_times=times[:, shape[1] - windows * step :],
        )

    def _scaled_back(self, predicted: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "mean": self._scale_back_data(predicted["mean"]),
            "covariance": self._scale_back_variance(predicted["covariance"]),
        }


class AnomalyMixtureARModel(ARModel):
    """Autoregression in which some of the values are anomalies, from a distribution of another width.

    Args:
        periodicities: See :class:`ARModel`, as for the others.
        anomaly_prior_probability: How likely an anomaly is: between 0 and 1.
        input_window_size: See there.
        output_window_size: See there.
        num_features: See there.
        prediction_model_factory: See there.
        anomaly_distribution: :attr:`GAUSSIAN_ANOMALY` or :attr:`CAUCHY_ANOMALY`, around the prediction.
        num_time_buckets: See there.
        exogenous_feature_columns: See there.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self,
        periodicities: Any,
        anomaly_prior_probability: float,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        anomaly_distribution: str = GAUSSIAN_ANOMALY,
        num_time_buckets: int = 10,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ) -> None:
        if not 0 < anomaly_prior_probability < 1:
            raise ValueError(f"anomaly_prior_probability must be between 0 and 1, and is {anomaly_prior_probability}")
        if anomaly_distribution not in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY):
            raise ValueError(
                f"anomaly_distribution must be {self.GAUSSIAN_ANOMALY!r} or {self.CAUCHY_ANOMALY!r}, and is "
                f"{anomaly_distribution!r}"
            )
        super().__init__(
            periodicities,
            input_window_size,
            output_window_size,
            num_features,
            prediction_model_factory,
            num_time_buckets,
            self.NORMAL_LIKELIHOOD_LOSS,
            exogenous_feature_columns,
        )
        self._anomaly_prior_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict[str, Any]:
        """:meth:`ARModel.prediction_ops`, and "anomaly_params", the width of anomalies."""
        found = super().prediction_ops(times, values, exogenous_regressors)
        with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE, auxiliary_name_scope=False):
            width = tf.get_variable("anomaly_log_param", [], self.dtype, tf.zeros_initializer())
        return {**found, "anomaly_params": tf.exp(width)}

    def loss_op(self, targets: Any, prediction_ops: Mapping[str, Any]) -> Any:
        mean, width = prediction_ops["mean"], prediction_ops["anomaly_params"]
        deviation = tf.sqrt(tf.maximum(prediction_ops["covariance"], _LEAST_VARIANCE))
        usual = math_utils.normal_log_prob(mean, deviation, targets) + math.log(1 - self._anomaly_prior_probability)
        if self._anomaly_distribution == self.GAUSSIAN_ANOMALY:
            unusual = math_utils.normal_log_prob(mean, tf.sqrt(tf.maximum(width, _LEAST_VARIANCE)), targets)
        else:
            unusual = math_utils.cauchy_log_prob(mean, width, targets)
        both = tf.stack([usual, unusual + math.log(self._anomaly_prior_probability)])
        return -tf.reduce_mean(tf.reduce_logsumexp(both, 0))


def _last(part: Any, size: int) -> Any:
    """The last ``size`` of [B, W, ...]."""
    return tf.ensure_shape(part[:, tf.shape(part)[1] - size :], [None, size, *part.shape.as_list()[2:]])


def _periods(periodicities: Any) -> list[Any]:
    if periodicities is None:
        return []
    return list(periodicities) if isinstance(periodicities, (list, tuple)) else [periodicities]
