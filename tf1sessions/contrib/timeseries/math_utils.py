"""Statistics of a series, states for each series of a batch, densities.

Letters of shapes: B series in a batch, W times in a window, F features of the series.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...runtime import tf1 as tf
from .feature_keys import TrainEvalFeatures

__all__ = [
    "InputStatistics",
    "InputStatisticsFromMiniBatch",
    "Moments",
    "batch_end_time",
    "batch_start_time",
    "cauchy_log_prob",
    "normal_log_prob",
    "replicate_state",
]

_LOG_2_PI = math.log(2 * math.pi)


class Moments(NamedTuple):
    """Mean and variance, [F] each."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """Statistics of the series.

    Attributes:
        series_start_moments: Of the values at its start.
        overall_feature_moments: Of all values.
        start_time: Its earliest time.
        total_observation_count: About how many values it has.
    """

    series_start_moments: Moments
    overall_feature_moments: Moments
    start_time: Any
    total_observation_count: Any


class InputStatisticsFromMiniBatch:
    """Statistics that are gathered from batch to batch, in variables.

    Args:
        num_features: F.
        dtype: Of the values.
        starting_variance_window_size: How many values at the start of the series give the moments there.
    """

    def __init__(self, num_features: int, dtype: Any, starting_variance_window_size: int = 16) -> None:
        self._num_features = num_features
        self._dtype = tf.as_dtype(dtype)
        self._start_size = starting_variance_window_size

    def initialize_graph(self, features: Mapping[str, Any], update_statistics: bool = True) -> InputStatistics:
        """Makes the variables.

        Args:
            features: "times" [B, W] and "values" [B, W, F].
            update_statistics: Whether ``features`` count; what is returned then has counted them.
        """
        shape = [self._num_features]
        with tf.variable_scope("input_statistics", use_resource=True):
            statistics = InputStatistics(
                Moments(
                    _variable("series_start_mean", shape, self._dtype, 0),
                    _variable("series_start_variance", shape, self._dtype, 1),
                ),
                Moments(
                    _variable("overall_feature_mean", shape, self._dtype, 0),
                    _variable("overall_feature_var", shape, self._dtype, 1),
                ),
                _variable("start_time", [], tf.int64, tf.int64.max),
                _variable("total_observation_count", [], tf.int64, 1),
            )
        with tf.variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = _Sums(
                max_time_seen=_variable("max_time_seen", [], tf.int64, tf.int64.min),
                chunk_count=_variable("chunk_count", [], tf.int64, 0),
                inter_observation_duration_sum=_variable("inter_observation_duration_sum", [], self._dtype, 0),
                example_count=_variable("example_count", [], tf.int64, 0),
                overall_feature_sum=_variable("overall_feature_sum", shape, self._dtype, 0),
                overall_feature_sum_of_squares=_variable("overall_feature_sum_of_squares", shape, self._dtype, 0),
            )
        if not update_statistics:
            return statistics
        times, values = features[TrainEvalFeatures.TIMES], features[TrainEvalFeatures.VALUES]
        with tf.control_dependencies([self._add(sums, times, values)]):
            update = self._update(statistics, sums, times, values)
        with tf.control_dependencies([update]):
            start_moments, moments, start, count = statistics
            return InputStatistics(
                Moments(*map(tf.identity, start_moments)),
                Moments(*map(tf.identity, moments)),
                tf.minimum(tf.identity(start), tf.reduce_min(times)),
                tf.identity(count),
            )

    def _add(self, sums: _Sums, times: Any, values: Any) -> Any:
        """Adds a batch to the sums."""
        spans = tf.cast(tf.reduce_max(times, 1) - tf.reduce_min(times, 1), self._dtype)
        gaps = tf.cast(tf.shape(times)[1] - 1, self._dtype)
        return tf.group(
            sums.max_time_seen.assign(tf.maximum(sums.max_time_seen, tf.reduce_max(times))),
            sums.chunk_count.assign_add(tf.shape(times, out_type=tf.int64)[0]),
            sums.inter_observation_duration_sum.assign_add(tf.reduce_sum(spans / gaps)),
            sums.example_count.assign_add(tf.size(times, out_type=tf.int64)),
            sums.overall_feature_sum.assign_add(tf.reduce_sum(values, [0, 1])),
            sums.overall_feature_sum_of_squares.assign_add(tf.reduce_sum(values**2, [0, 1])),
        )

    def _update(self, statistics: InputStatistics, sums: _Sums, times: Any, values: Any) -> Any:
        """Brings the statistics up to date with the sums."""
        number = tf.cast(sums.example_count, self._dtype)
        mean = sums.overall_feature_sum / number
        variance = number / (number - 1) * (sums.overall_feature_sum_of_squares / number - mean**2)
        first = tf.argmin(times[:, 0])
        starts = times[first, 0] <= statistics.start_time

        def at_start() -> Any:
            found = Moments(*tf.nn.moments(values[first, : self._start_size], [0]))
            return tf.group(*map(_assign, statistics.series_start_moments, found))

        moments = [
            tf.cond(starts, lambda: _done(at_start()), lambda: _done(tf.no_op())),
            *map(_assign, statistics.overall_feature_moments, (mean, variance)),
        ]
        with tf.control_dependencies(moments[:1]):  # it compares with the start time of before
            start = statistics.start_time.assign(tf.minimum(statistics.start_time, tf.reduce_min(times)))
        with tf.control_dependencies([start]):
            step = sums.inter_observation_duration_sum / tf.cast(sums.chunk_count, self._dtype)
            span = tf.cast(sums.max_time_seen - statistics.start_time.read_value() + 1, self._dtype)
            count = statistics.total_observation_count.assign(tf.cast(tf.round(span / step), tf.int64))
        return tf.group(*moments, start, count)


class _Sums(NamedTuple):
    max_time_seen: Any
    chunk_count: Any
    inter_observation_duration_sum: Any
    example_count: Any
    overall_feature_sum: Any
    overall_feature_sum_of_squares: Any


def _variable(name: str, shape: list[int], dtype: Any, value: Any) -> Any:
    return tf.get_variable(name, shape, dtype, tf.constant_initializer(value, dtype), trainable=False)


def _assign(variable: Any, value: Any) -> Any:
    return variable.assign(value)


def _done(operation: Any) -> Any:
    with tf.control_dependencies([operation]):
        return tf.constant(True)


def replicate_state(start_state: Any, batch_size: Any) -> Any:
    """``start_state``, nested tensors, for each of B series: a first dimension B is added to each."""

    def replicated(state: Any) -> Any:
        state = tf.expand_dims(tf.convert_to_tensor(state), 0)
        return tf.tile(state, tf.concat([[batch_size], tf.ones([state.shape.rank - 1], tf.int32)], 0))

    return tf.nest.map_structure(replicated, start_state)


def batch_start_time(times: Any) -> Any:
    """The first times [B] of ``times`` [B, W]."""
    return times[:, 0]


def batch_end_time(times: Any) -> Any:
    """The last times [B] of ``times`` [B, W]."""
    return times[:, -1]


def normal_log_prob(loc: Any, scale: Any, x: Any) -> Any:
    """The logarithm of a normal density as 1.15 has it, with half of the logarithm of ``scale``."""
    return -0.5 * (tf.square((loc - x) / scale) + _LOG_2_PI + tf.math.log(scale))


def cauchy_log_prob(loc: Any, scale: Any, x: Any) -> Any:
    """The logarithm of a Cauchy density."""
    return -math.log(math.pi) - tf.math.log(scale) - tf.math.log1p(tf.square((loc - x) / scale))
