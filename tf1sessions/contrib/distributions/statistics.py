"""Functions of ``tf.contrib.distributions``: of samples, of moving averages, and of a normal prior."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ...runtime import tf1 as tf

__all__ = [
    "SeedStream",
    "assign_log_moving_mean_exp",
    "assign_moving_mean_variance",
    "auto_correlation",
    "moving_mean_variance",
    "normal_conjugates_known_scale_posterior",
    "normal_conjugates_known_scale_predictive",
    "percentile",
]


class SeedStream:
    """Makes seeds of a seed, one a call; those of another ``salt`` are independent of them. None gives None.

    Not thread-safe.
    """

    def __init__(self, seed: Any, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    @property
    def original_seed(self) -> Any:
        """The seed that the stream began with."""
        return self._seed

    @property
    def salt(self) -> str:
        """The salt."""
        return self._salt

    def __call__(self) -> int | None:
        """Return the next seed, of 512 bits."""
        self._counter += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._counter, self._salt))
        return int(hashlib.sha512(text.encode()).hexdigest(), 16)


def percentile(
    x: Any,
    q: Any,
    axis: Any = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Any:
    """Return the ``q``-th percentile of ``x``, of the elements along ``axis``.

    Args:
        x: Numbers.
        q: A scalar between 0 and 100.
        axis: The axis or the axes, all without it.
        interpolation: Which element is taken where ``q`` is between two: "nearest" (without it), "lower" or "higher".
        keep_dims: Whether the axes remain, with the size 1.
        validate_args: Whether ``q`` is checked at run time.
        name: The scope's name.
    """
    allowed = {"lower", "higher", "nearest"}
    interpolation = "nearest" if interpolation is None else interpolation
    if interpolation not in allowed:
        raise ValueError(f"Argument 'interpolation' must be in {allowed}. Found {interpolation}")
    with tf.name_scope(name, "percentile", [x, q]):
        x = tf.convert_to_tensor(x, name="x")
        q = tf.cast(q, tf.float64)
        if q.shape.ndims not in (None, 0):
            raise ValueError("Expected argument 'q' to be scalar")
        if validate_args:
            limits = [tf.assert_rank(q, 0), tf.assert_non_negative(q), tf.assert_less_equal(q, tf.cast(100.0, q.dtype))]
            with tf.control_dependencies(limits):
                q = tf.identity(q)
        rank = x.shape.ndims
        if rank is None and axis is not None:
            raise NotImplementedError("percentile over some axes needs a known rank")
        if axis is None:
            axes = [] if rank is None else list(range(rank))
            flat = tf.reshape(x, [-1])
        else:
            known = tf.get_static_value(axis) if tf.is_tensor(axis) else axis
            axes = sorted(int(each) % rank for each in np.ravel(known))
            kept = [each for each in range(rank) if each not in axes]
            moved = tf.transpose(x, kept + axes)
            flat = tf.reshape(moved, tf.concat([tf.shape(moved)[: len(kept)], [-1]], axis=0))
        ordered = tf.nn.top_k(flat, k=tf.shape(flat)[-1], sorted=True).values
        size = tf.cast(tf.shape(flat)[-1], tf.float64)
        # what is sorted begins with the greatest
        at = (size - 1.0) * (1.0 - q / 100.0)
        rounded = {"lower": tf.ceil, "higher": tf.floor, "nearest": tf.round}[interpolation](at)
        index = tf.clip_by_value(tf.cast(rounded, tf.int32), 0, tf.shape(flat)[-1] - 1)
        found = tf.gather(ordered, index, axis=-1)
        if keep_dims:
            if rank is None:
                return tf.reshape(found, tf.ones([tf.rank(x)], tf.int32))
            for each in axes:
                found = tf.expand_dims(found, each)
        return found


def auto_correlation(
    x: Any,
    axis: int = -1,
    max_lags: Any = None,
    center: bool = True,
    normalize: bool = True,
    name: str = "auto_correlation",
) -> Any:
    """Return the correlation of ``x`` with itself, for lags from 0 to ``max_lags``, along ``axis``.

    Args:
        x: Float or complex numbers.
        axis: The dimension of time.
        max_lags: The greatest lag; one less than the size of the dimension without it.
        center: Whether the mean is subtracted.
        normalize: Whether it is divided by that of the lag 0.
        name: The scope's name.
    """
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        rank = x.shape.ndims
        order = [each for each in range(rank) if each != axis % rank] + [axis % rank]
        moved = tf.transpose(x, order)
        if center:
            moved = moved - tf.reduce_mean(moved, axis=-1, keepdims=True)
        size = tf.shape(moved)[-1]
        known = tf.compat.dimension_value(moved.shape[-1])
        # so many zeros that the end does not meet the beginning
        length = tf.cast(2 ** tf.ceil(tf.log(2.0 * tf.cast(size, tf.float64)) / np.log(2.0)), tf.int32)
        padding = tf.concat([tf.zeros([rank - 1, 2], tf.int32), [[0, length - size]]], axis=0)
        complex_dtype = {tf.float64: tf.complex128, tf.complex128: tf.complex128}.get(x.dtype, tf.complex64)
        transformed = tf.fft(tf.cast(tf.pad(moved, padding), complex_dtype))
        product = tf.cast(tf.ifft(transformed * tf.conj(transformed)), x.dtype)
        lags = known - 1 if max_lags is None and known is not None else (size - 1 if max_lags is None else max_lags)
        lags = tf.minimum(tf.convert_to_tensor(lags, dtype=tf.int32), size - 1)
        found = product[..., : lags + 1]
        static = tf.get_static_value(lags)
        if static is not None:
            found.set_shape(moved.shape[:-1].concatenate([int(static) + 1]))
        found = found / tf.cast(tf.cast(size, tf.float64) - tf.cast(tf.range(0, lags + 1), tf.float64), x.dtype)
        if normalize:
            found = found / found[..., :1]
        return tf.transpose(found, [order.index(each) for each in range(rank)])


def assign_moving_mean_variance(
    mean_var: Any, variance_var: Any, value: Any, decay: Any, name: str | None = None
) -> Any:
    """Update variables with the exponentially weighted mean and variance by a ``value``, and return both.

    Args:
        mean_var: The mean.
        variance_var: The variance.
        value: The next value.
        decay: The old ones' weight.
        name: The scope's name.
    """
    with tf.variable_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        dtype = mean_var.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError(f"mean_var.base_dtype({dtype.name}) does not have float type `dtype`.")
        if dtype != variance_var.dtype.base_dtype:
            raise TypeError(f"mean_var.base_dtype({dtype.name}) != variance_var.base_dtype")
        with tf.colocate_with(variance_var):
            decay = tf.convert_to_tensor(decay, dtype=dtype, name="decay")
            value = tf.convert_to_tensor(value, dtype=dtype, name="value")
            delta = value - mean_var
            with tf.control_dependencies([delta]):
                mean = mean_var.assign_add((1.0 - decay) * delta)
                # by the old mean's distance
                square = tf.square(delta)
                variance = variance_var.assign_sub((1.0 - decay) * (variance_var - decay * square))
        return mean, variance


def assign_log_moving_mean_exp(log_mean_exp_var: Any, log_value: Any, decay: Any, name: str | None = None) -> Any:
    """Update a variable, the logarithm of an exponentially weighted mean, by a value's logarithm; return it.

    Args:
        log_mean_exp_var: The variable.
        log_value: The next value's logarithm.
        decay: The old ones' weight.
        name: The scope's name.
    """
    with tf.name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        # colocated with the variable, as in 1.15
        with tf.colocate_with(log_mean_exp_var):
            dtype = log_mean_exp_var.dtype.base_dtype
            if not dtype.is_floating:
                raise TypeError(f"log_mean_exp_var.base_dtype({dtype.name}) does not have float type `dtype`.")
            log_value = tf.convert_to_tensor(log_value, dtype=dtype, name="log_value")
            decay = tf.convert_to_tensor(decay, dtype=dtype, name="decay")
            parts = [tf.log(decay) + log_mean_exp_var, log_value + tf.log1p(-decay)]
            return log_mean_exp_var.assign(tf.reduce_logsumexp(tf.stack(parts), axis=0))


def moving_mean_variance(value: Any, decay: Any, collections: Any = None, name: str | None = None) -> Any:
    """Make variables of the exponentially weighted mean and variance of ``value``; return both after an update.

    Args:
        value: A tensor of a known shape.
        decay: The old ones' weight.
        collections: Of the variables; the global ones without it.
        name: The variables' scope.
    """
    collections = [tf.GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with tf.variable_scope(name, "moving_mean_variance", [value, decay]):
        value = tf.convert_to_tensor(value, name="value")
        made = [
            tf.get_variable(
                key,
                shape=value.shape,
                dtype=value.dtype.base_dtype,
                initializer=tf.zeros_initializer(),
                trainable=False,
                collections=collections,
            )
            for key in ("moving_variance", "moving_mean")
        ]
        return assign_moving_mean_variance(made[1], made[0], value, decay)


def _posterior(prior: Any, scale: Any, s: Any, n: Any) -> tuple[Any, Any]:
    """The mean, and its variance, after ``n`` normal values of the sum ``s`` and the standard deviation ``scale``."""
    if not isinstance(prior, tf.distributions.Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}")
    n = tf.cast(n, prior.dtype)
    known, unknown = tf.square(scale), tf.square(prior.scale)
    variance = 1.0 / (1 / unknown + n / known)
    return (prior.loc / unknown + s / known) * variance, variance


def normal_conjugates_known_scale_posterior(prior: Any, scale: Any, s: Any, n: Any) -> Any:
    """Return the posterior distribution, Normal, of a normal variable's mean.

    Args:
        prior: The prior one, Normal.
        scale: The variable's standard deviation.
        s: The sum of the values that were seen.
        n: Their number.
    """
    mean, variance = _posterior(prior, scale, s, n)
    return tf.distributions.Normal(loc=mean, scale=tf.sqrt(variance))


def normal_conjugates_known_scale_predictive(prior: Any, scale: Any, s: Any, n: Any) -> Any:
    """Return the distribution, Normal, of the next value of a normal variable.

    Args:
        prior: The prior one of its mean, Normal.
        scale: The variable's standard deviation.
        s: The sum of the values that were seen.
        n: Their number.
    """
    mean, variance = _posterior(prior, scale, s, n)
    return tf.distributions.Normal(loc=mean, scale=tf.sqrt(variance + tf.square(scale)))
