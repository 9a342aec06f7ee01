"""One-hot vectors, the continuous ones that are close to them, and the continuous relative of a coin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime import tf1 as tf
from . import bijectors
from .common import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    checked,
    parameter,
    positive,
    util,
)
from .continuous import Logistic
from .transformed_distribution import TransformedDistribution

__all__ = [
    "ExpRelaxedOneHotCategorical",
    "OneHotCategorical",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
]


class _Classes(Distribution):  # type: ignore[misc]
    """A distribution of vectors, with a weight for each element."""

    logits = parameter("logits", "The logarithms of the weights, [..., K].")
    probs = parameter("probs", "The chances, [..., K].")
    event_size = parameter("event_size", "K, as a tensor.")

    def _begin(self, given: dict[str, Any], dtype: Any, reparameterization: Any, temperature: Any = None) -> None:
        validate = given["validate_args"]
        with tf.name_scope(given["name"], values=[given["logits"], given["probs"], temperature]) as name:
            self._logits, self._probs = util.get_logits_and_probs(
                name="get_logits_and_probs",
                logits=given["logits"],
                probs=given["probs"],
                validate_args=validate,
                multidimensional=True,
                **({"dtype": dtype} if temperature is not None else {}),
            )
            parents = [self._logits, self._probs]
            if temperature is not None:
                dtype = self._logits.dtype if dtype is None else dtype
                temperature = tf.convert_to_tensor(temperature, name="temperature", dtype=dtype)
                self._temperature = checked(validate, temperature, positive)
                # added to shapes that both have
                self._temperature_2d = tf.expand_dims(self._temperature, [-1], name="temperature_2d")
                parents += [self._temperature, self._temperature_2d]
            with tf.name_scope("event_size"):
                self._event_size = tf.shape(self._logits)[-1]
        super().__init__(
            dtype=dtype,
            reparameterization_type=reparameterization,
            validate_args=validate,
            allow_nan_stats=given["allow_nan_stats"],
            parameters=given,
            graph_parents=parents,
            name=name,
        )

    def _batch_shape_tensor(self) -> Any:
        return tf.shape(self.logits)[:-1]

    def _batch_shape(self) -> Any:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.logits)[-1:]

    def _event_shape(self) -> Any:
        return self.logits.shape.with_rank_at_least(1)[-1:]

    def _matched(self, x: Any) -> tuple[Any, Any]:
        """``x`` and the logits, of one shape."""
        logits = self.logits
        if x.shape.is_fully_defined() and x.shape == logits.shape:
            return x, logits
        shape = tf.broadcast_dynamic_shape(tf.shape(logits), tf.shape(x))
        return tf.broadcast_to(x, shape), tf.broadcast_to(logits, shape)


class OneHotCategorical(_Classes):
    """One-hot vectors, [..., K]."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = tf.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        self._begin(dict(locals()), dtype, NOT_REPARAMETERIZED)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], tf.shape(self.logits)], 0)
        logits = self.logits if self.logits.shape.ndims == 2 else tf.reshape(self.logits, [-1, self.event_size])
        draws = tf.transpose(tf.multinomial(logits, n, seed=seed))
        one_hot = tf.one_hot(draws, self.event_size, dtype=self.dtype)
        found = tf.reshape(one_hot, shape)
        return found

    def _log_prob(self, x: Any) -> Any:
        x = self._valid(x)
        x, logits = self._matched(tf.cast(x, self.logits.dtype))
        losses = tf.nn.softmax_cross_entropy_with_logits_v2(
            labels=tf.stop_gradient(tf.reshape(x, [-1, self.event_size])),
            logits=tf.reshape(logits, [-1, self.event_size]),
        )
        found = tf.reshape(-losses, tf.shape(logits)[:-1])
        found.set_shape(logits.shape[:-1])
        return found

    def _valid(self, x: Any) -> Any:
        return checked(
            self.validate_args,
            x,
            lambda t: tf.assert_non_negative(t),
            lambda t: tf.assert_equal(tf.reduce_sum(t, axis=[-1]), tf.ones([], t.dtype), message="not one-hot"),
        )

    def _entropy(self) -> Any:
        return -tf.reduce_sum(tf.nn.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Any:
        found = tf.one_hot(tf.argmax(self.logits, axis=-1), self.event_size, dtype=self.dtype)
        found.set_shape(self.logits.shape)
        return found

    def _covariance(self) -> Any:
        p = self.probs
        outer = -tf.matmul(p[..., tf.newaxis], p[..., tf.newaxis, :])
        return tf.matrix_set_diag(outer, self._variance())

    def _variance(self) -> Any:
        return self.probs * (1.0 - self.probs)


class ExpRelaxedOneHotCategorical(_Classes):
    """The logarithms of vectors of :class:`RelaxedOneHotCategorical`."""

    temperature = parameter("temperature", "How far the vectors are from one-hot ones.")

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:
        self._begin(dict(locals()), dtype, FULLY_REPARAMETERIZED, temperature)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], tf.shape(self.logits)], 0)
        logits = self.logits * tf.ones(shape, dtype=self.dtype)
        flat = logits if logits.shape.ndims == 2 else tf.reshape(logits, [-1, self.event_size])
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = tf.random_uniform(tf.shape(flat), minval=tiny, maxval=1, dtype=self.dtype, seed=seed)
        gumbel = -tf.log(-tf.log(uniform))
        noisy = tf.reshape(gumbel + flat, shape) / self._temperature_2d
        return tf.nn.log_softmax(noisy)

    def _log_prob(self, x: Any) -> Any:
        x = checked(
            self.validate_args,
            x,
            lambda t: tf.assert_non_positive(t),
            lambda t: tf.assert_near(tf.zeros([], dtype=self.dtype), tf.reduce_logsumexp(t, axis=[-1])),
        )
        x, logits = self._matched(x)
        size = tf.cast(self.event_size, x.dtype)
        constant = tf.lgamma(size) + (size - 1.0) * tf.log(self.temperature)
        return constant + tf.reduce_sum(tf.nn.log_softmax(logits - x * self._temperature_2d), axis=-1)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex that are the closer to one-hot vectors the lower the temperature is."""

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        base = ExpRelaxedOneHotCategorical(
            temperature,
            logits=logits,
            probs=probs,
            dtype=dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
        )
        exp = bijectors.Exp(validate_args=validate_args)
        super().__init__(base, bijector=exp, validate_args=validate_args, name=name)
        self._parameters = parameters


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that are the closer to these the lower the temperature is."""

    temperature = parameter("temperature", "How far the numbers are from 0 and 1.")
    logits = parameter("logits", "The logarithm of the odds.")
    probs = parameter("probs", "The chance.")

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[logits, probs, temperature]) as name:
            self._temperature = tf.convert_to_tensor(temperature, name="temperature")
            self._temperature = checked(validate_args, self._temperature, positive)
            self._logits, self._probs = util.get_logits_and_probs(
                logits=logits, probs=probs, validate_args=validate_args
            )
            base = Logistic(
                self._logits / self._temperature,
                1.0 / self._temperature,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name + "/Logistic",
            )
            super().__init__(
                distribution=base,
                bijector=bijectors.Sigmoid(validate_args=validate_args),
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return {"logits": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}
