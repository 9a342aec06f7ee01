"""Distributions of whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime import tf1 as tf
from .common import NOT_REPARAMETERIZED, Scalar, checked, natural, parameter, positive, util

__all__ = ["Binomial", "Geometric", "NegativeBinomial", "Poisson"]


class _Chance(Scalar):
    """A distribution with the chance of an event, or its logarithm over the other's."""

    _says_shapes = False
    logits = parameter("logits", "The logarithm of the odds.")
    probs = parameter("probs", "The chance.")

    def _begin(
        self,
        given: dict[str, Any],
        total_count: Any = None,
        count_checks: tuple[Any, ...] = (),
    ) -> None:
        with tf.name_scope(given["name"], values=[total_count, given["logits"], given["probs"]]) as name:
            self._logits, self._probs = util.get_logits_and_probs(
                logits=given["logits"],
                probs=given["probs"],
                validate_args=given["validate_args"],
                name="get_logits_and_probs",
            )
            parents = [self._logits, self._probs]
            if total_count is not None:
                counts = tf.convert_to_tensor(total_count, name="total_count")
                if not counts.dtype.is_floating and isinstance(total_count, int):
                    counts = tf.cast(counts, self._probs.dtype)
                self._total_count = checked(given["validate_args"], counts, *count_checks)
                parents = [self._total_count, *parents]
        super(Scalar, self).__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=given["validate_args"],
            allow_nan_stats=given["allow_nan_stats"],
            parameters=given,
            graph_parents=parents,
            name=name,
        )


class Binomial(_Chance):
    """The number of events in ``total_count`` independent trials."""

    _shaping = ("total_count", "probs")
    total_count = parameter("total_count", "The number of trials.")

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ) -> None:
        self._begin(dict(locals()), total_count, (natural,))

    def _valid(self, counts: Any) -> Any:
        return checked(
            self.validate_args,
            counts,
            natural,
            lambda t: tf.assert_less_equal(t, self.total_count, message="counts are not all at most total_count."),
        )

    def _log_prob(self, counts: Any) -> Any:
        counts = self._valid(counts)
        rest = self.total_count - counts
        ways = tf.lgamma(1.0 + self.total_count) - tf.lgamma(1.0 + rest) - tf.lgamma(1.0 + counts)
        return counts * tf.log(self.probs) + rest * tf.log1p(-self.probs) + ways

    def _cdf(self, counts: Any) -> Any:
        probs = self.probs
        if not probs.shape.is_fully_defined() or probs.shape != counts.shape:
            probs = probs + tf.zeros_like(counts)
            counts = counts + tf.zeros_like(probs)
        total = self.total_count + tf.zeros_like(counts)
        inside = tf.less(counts, total)
        ones = tf.ones_like(counts)
        a = tf.where(inside, total - counts, ones)
        b = tf.where(inside, counts + 1.0, ones)
        return tf.where(inside, tf.betainc(a, b, 1.0 - probs), ones)

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return tf.floor((1.0 + self.total_count) * self.probs)


class Geometric(_Chance):
    """The number of failures before the first success."""

    _shaping = ("probs",)

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Geometric",
    ) -> None:
        self._begin(dict(locals()))

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = tf.random_uniform(self._full_shape(n), minval=tiny, maxval=1.0, dtype=self.dtype, seed=seed)
        return tf.floor(tf.log(uniform) / tf.log1p(-self.probs))

    def _log_prob(self, counts: Any) -> Any:
        counts = checked(True, counts, natural) if self.validate_args else tf.floor(counts)
        probs = self.probs + tf.zeros_like(counts)
        # no failure is certain where a success is: 0 times the logarithm of 0
        safe = tf.where(tf.equal(counts, 0.0), tf.zeros_like(probs), probs)
        return counts * tf.log1p(-safe) + tf.log(probs)

    def _cdf(self, counts: Any) -> Any:
        if self.validate_args:
            counts = checked(True, counts, lambda t: tf.assert_non_negative(t))
        else:
            counts = tf.floor(counts)
        counts = counts + tf.zeros_like(self.probs)
        found = -tf.expm1((1.0 + counts) * tf.log1p(-self.probs))
        return tf.where(counts < 0.0, tf.zeros_like(found), found)

    def _entropy(self) -> Any:
        p = self.probs
        return -((1.0 - p) * tf.log1p(-p) + p * tf.log(p)) / p

    def _mean(self) -> Any:
        return tf.exp(-self.logits)

    def _variance(self) -> Any:
        return self._mean() / self.probs

    def _mode(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)


class NegativeBinomial(_Chance):
    """The number of successes before ``total_count`` failures."""

    _shaping = ("total_count", "probs")
    total_count = parameter("total_count", "The number of failures.")

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ) -> None:
        self._begin(dict(locals()), total_count, (positive,))

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # a Poisson distribution whose rate is gamma-distributed
        rate = tf.random_gamma([n], self.total_count, beta=tf.exp(-self.logits), dtype=self.dtype, seed=seed)
        return tf.random_poisson(rate, [], dtype=self.dtype, seed=util.gen_new_seed(seed, "negative_binom"))

    def _valid(self, x: Any) -> Any:
        return checked(self.validate_args, x, natural)

    def _log_prob(self, x: Any) -> Any:
        x = self._valid(x)
        r = self.total_count
        weight = r * tf.log_sigmoid(-self.logits) + x * tf.log_sigmoid(self.logits)
        return weight - (-tf.lgamma(r + x) + tf.lgamma(1.0 + x) + tf.lgamma(r))

    def _cdf(self, x: Any) -> Any:
        x = self._valid(x)
        zeros = tf.zeros_like(x) + tf.zeros(self.batch_shape_tensor(), self.dtype)
        return tf.betainc(self.total_count + zeros, 1.0 + x + zeros, tf.sigmoid(-self.logits) + zeros)

    def _mean(self) -> Any:
        return self.total_count * tf.exp(self.logits)

    def _variance(self) -> Any:
        return self._mean() / tf.sigmoid(-self.logits)

    def _mode(self) -> Any:
        found = tf.floor((self.total_count - 1.0) * tf.exp(self.logits))
        at_least_one = (self.total_count + tf.zeros_like(found)) > 1.0
        return tf.where(at_least_one, found, tf.zeros_like(found))


class Poisson(Scalar):
    """The number of events in a time in which ``rate`` are expected."""

    _says_shapes = False
    _shaping = ("rate",)
    rate = parameter("rate", "The mean.")
    log_rate = parameter("log_rate", "The logarithm of the mean.")

    def __init__(
        self,
        rate: Any = None,
        log_rate: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ) -> None:
        parameters = dict(locals())
        if (rate is None) == (log_rate is None):
            raise ValueError("Must pass exactly one of `rate` and `log_rate`.")
        with tf.name_scope(name, values=[rate]) as name:
            if log_rate is None:
                rate = tf.convert_to_tensor(rate, name="rate")
                if not rate.dtype.is_floating:
                    raise TypeError("rate must have floating-point dtype")
                self._rate = checked(validate_args, rate, positive)
                self._log_rate = tf.log(self._rate, name="log_rate")
            else:
                self._log_rate = tf.convert_to_tensor(log_rate, name="log_rate")
                if not self._log_rate.dtype.is_floating:
                    raise TypeError("log_rate must have floating-point dtype")
                self._rate = tf.exp(self._log_rate, name="rate")
        super(Scalar, self).__init__(
            dtype=self._rate.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._rate],
            name=name,
        )

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        x = checked(self.validate_args, x, natural)
        return x * self.log_rate - tf.lgamma(1.0 + x) - self.rate

    def _cdf(self, x: Any) -> Any:
        if self.validate_args:
            x = checked(True, x, lambda t: tf.assert_non_negative(t))
        return tf.igammac(1.0 + x, self.rate)

    def _log_cdf(self, x: Any) -> Any:
        return tf.log(self._cdf(x))

    def _mean(self) -> Any:
        return tf.identity(self.rate)

    def _variance(self) -> Any:
        return tf.identity(self.rate)

    def _mode(self) -> Any:
        return tf.floor(self.rate)
