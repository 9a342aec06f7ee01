"""Continuous distributions of scalars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...runtime import private as _private
from ...runtime import tf1 as tf
from . import bijectors
from .common import NOT_REPARAMETERIZED, Scalar, checked, parameter, positive, shape_of
from .transformed_distribution import TransformedDistribution

__all__ = [
    "Cauchy",
    "Chi2",
    "Chi2WithAbsDf",
    "Gumbel",
    "HalfNormal",
    "InverseGamma",
    "InverseGammaWithSoftplusConcentrationRate",
    "Kumaraswamy",
    "Logistic",
]

_special: Any = _private.distributions_special
_EULER = 0.57721566490153286


def _open_uniform(shape: Any, dtype: Any, seed: Any) -> Any:
    """Draw between 0 and 1, and never 0, so that it has a logarithm."""
    return tf.random_uniform(shape, minval=np.finfo(dtype.as_numpy_dtype).tiny, maxval=1.0, dtype=dtype, seed=seed)


class _LocationScale(Scalar):
    """A distribution whose density is a function of ``z = (x - loc) / scale``."""

    _shaping = ("loc", "scale")
    loc = parameter("loc", "Where the distribution is.")
    scale = parameter("scale", "How wide it is.")

    def _begin(self, given: dict[str, Any]) -> None:
        self._set_up(given, {"loc": given["loc"], "scale": given["scale"]}, {"scale": (positive,)})

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def _mode(self) -> Any:
        return self.loc * tf.ones_like(self.scale)


class Cauchy(_LocationScale):
    """Cauchy's distribution."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Cauchy",
    ) -> None:
        self._begin(dict(locals()))

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        probs = tf.random_uniform(self._full_shape(n), minval=0.0, maxval=1.0, dtype=self.dtype, seed=seed)
        return self._quantile(probs)

    def _log_prob(self, x: Any) -> Any:
        return -tf.log1p(tf.square(self._z(x))) - (math.log(math.pi) + tf.log(self.scale))

    def _cdf(self, x: Any) -> Any:
        return tf.atan(self._z(x)) / math.pi + 0.5

    def _log_cdf(self, x: Any) -> Any:
        return tf.log1p(2 / math.pi * tf.atan(self._z(x))) - math.log(2)

    def _quantile(self, p: Any) -> Any:
        return self.loc + self.scale * tf.tan(math.pi * (p - 0.5))

    def _entropy(self) -> Any:
        return (math.log(4 * math.pi) + tf.log(self.scale)) * tf.ones_like(self.loc)

    def _none(self, what: str) -> Any:
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return tf.fill(self.batch_shape_tensor(), tf.constant(np.nan, self.dtype))

    def _mean(self) -> Any:
        return self._none("mean")

    def _stddev(self) -> Any:
        return self._none("stddev")


class Gumbel(_LocationScale):
    """Gumbel's distribution, of the greatest of many values."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gumbel",
    ) -> None:
        self._begin(dict(locals()))

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        uniform = _open_uniform(self._full_shape(n), self.dtype, seed)
        return -tf.log(-tf.log(uniform)) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        z = self._z(x)
        return -(z + tf.exp(-z)) - tf.log(self.scale)

    def _log_cdf(self, x: Any) -> Any:
        return -tf.exp(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        return tf.exp(-tf.exp(-self._z(x)))

    def _entropy(self) -> Any:
        return 1 + tf.log(self.scale * tf.ones_like(self.loc)) + _EULER

    def _mean(self) -> Any:
        return self.loc + self.scale * _EULER

    def _stddev(self) -> Any:
        return self.scale * tf.ones_like(self.loc) * (math.pi / math.sqrt(6))


class Logistic(_LocationScale):
    """The logistic distribution."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ) -> None:
        self._begin(dict(locals()))

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        uniform = _open_uniform(self._full_shape(n), self.dtype, seed)
        return (tf.log(uniform) - tf.log1p(-uniform)) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        z = self._z(x)
        return -z - 2.0 * tf.nn.softplus(-z) - tf.log(self.scale)

    def _log_cdf(self, x: Any) -> Any:
        return -tf.nn.softplus(-self._z(x))

    def _cdf(self, x: Any) -> Any:
        return tf.sigmoid(self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return -tf.nn.softplus(self._z(x))

    def _survival_function(self, x: Any) -> Any:
        return tf.sigmoid(-self._z(x))

    def _entropy(self) -> Any:
        return 2 + tf.log(self.scale * tf.ones_like(self.loc))

    def _mean(self) -> Any:
        return self.loc * tf.ones_like(self.scale)

    def _stddev(self) -> Any:
        return self.scale * tf.ones_like(self.loc) * (math.pi / math.sqrt(3))


class HalfNormal(Scalar):
    """The distribution of a normal variable's absolute value."""

    _shaping = ("scale",)
    scale = parameter("scale", "The normal variable's standard deviation.")

    def __init__(
        self, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "HalfNormal"
    ) -> None:
        self._set_up(dict(locals()), {"scale": scale}, {"scale": (positive,)})

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return tf.abs(tf.random_normal(self._full_shape(n), 0.0, 1.0, dtype=self.dtype, seed=seed) * self.scale)

    def _prob(self, x: Any) -> Any:
        density = math.sqrt(2 / math.pi) / self.scale * tf.exp(-0.5 * tf.square(x / self.scale))
        return density * tf.cast(x >= 0, self.dtype)

    def _cdf(self, x: Any) -> Any:
        return tf.erf(tf.nn.relu(x) / self.scale / math.sqrt(2.0))

    def _quantile(self, p: Any) -> Any:
        return math.sqrt(2.0) * self.scale * _special.erfinv(p)

    def _entropy(self) -> Any:
        return 0.5 * tf.log(math.pi * tf.square(self.scale) / 2.0) + 0.5

    def _mean(self) -> Any:
        return self.scale * math.sqrt(2.0 / math.pi)

    def _mode(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _variance(self) -> Any:
        return tf.square(self.scale) * (1.0 - 2.0 / math.pi)


class InverseGamma(Scalar):
    """The distribution of 1 over a gamma-distributed variable."""

    _shaping = ("concentration", "rate")
    concentration = parameter("concentration", "The gamma distribution's concentration.")
    rate = parameter("rate", "The gamma distribution's rate.")

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ) -> None:
        self._set_up(
            dict(locals()),
            {"concentration": concentration, "rate": rate},
            {"concentration": (positive,), "rate": (positive,)},
            NOT_REPARAMETERIZED,
        )

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        return 1.0 / tf.random_gamma([n], self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        x = checked(self.validate_args, x, positive)
        constant = tf.lgamma(self.concentration) - self.concentration * tf.log(self.rate)
        return -(1.0 + self.concentration) * tf.log(x) - self.rate / x - constant

    def _cdf(self, x: Any) -> Any:
        x = checked(self.validate_args, x, positive)
        return tf.igammac(self.concentration, self.rate / x)

    def _entropy(self) -> Any:
        c = self.concentration
        return c + tf.log(self.rate) + tf.lgamma(c) - (1.0 + c) * tf.digamma(c)

    def _mean(self) -> Any:
        found = self.rate / (self.concentration - 1.0)
        message = "mean undefined when any concentration <= 1"
        one = tf.ones([], self.dtype)
        return self._undefined(found, self.concentration > 1.0, message, (one, self.concentration))

    def _variance(self) -> Any:
        c = self.concentration
        found = tf.square(self.rate) / (tf.square(c - 1.0) * (c - 2.0))
        message = "variance undefined when any concentration <= 2"
        return self._undefined(found, c > 2.0, message, (tf.constant(2.0, self.dtype), c))

    def _mode(self) -> Any:
        return self.rate / (1.0 + self.concentration)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """An inverse gamma distribution with softplus of its parameters."""

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[concentration, rate]) as name:
            concentration = tf.nn.softplus(concentration, name="softplus_concentration")
            rate = tf.nn.softplus(rate, name="softplus_rate")
        super().__init__(concentration, rate, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class Chi2(tf.distributions.Gamma):  # type: ignore[misc]
    """The chi-squared distribution: a gamma distribution with half of ``df``, and the rate 1/2."""

    df = parameter("df", "The degrees of freedom.")

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2") -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[df]) as name:
            df = tf.convert_to_tensor(df, name="df")
            with tf.control_dependencies([tf.assert_positive(df)] if validate_args else []):
                self._df = tf.identity(df, name="df")
            super().__init__(
                concentration=0.5 * self._df,
                rate=tf.constant(0.5, dtype=self._df.dtype),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Any]:
        return {"df": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}


class Chi2WithAbsDf(Chi2):
    """The chi-squared distribution with ``floor(abs(df))`` degrees of freedom."""

    def __init__(
        self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2WithAbsDf"
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[df]) as name:
            super().__init__(
                df=tf.floor(tf.abs(df, name="abs_df"), name="floor_abs_df"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy's distribution, on the interval from 0 to 1."""

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Kumaraswamy",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[concentration1, concentration0]) as name:
            concentration1 = tf.convert_to_tensor(concentration1, name="concentration1")
            concentration0 = tf.convert_to_tensor(concentration0, name="concentration0")
        super().__init__(
            distribution=tf.distributions.Uniform(
                low=tf.zeros([], dtype=concentration1.dtype),
                high=tf.ones([], dtype=concentration1.dtype),
                allow_nan_stats=allow_nan_stats,
            ),
            bijector=bijectors.Kumaraswamy(concentration1, concentration0, validate_args=validate_args),
            batch_shape=shape_of(concentration1 + concentration0),
            validate_args=validate_args,
            name=name,
        )
        self._parameters = parameters

    @property
    def concentration1(self) -> Any:
        """The inner exponent of the distribution function."""
        return self.bijector.concentration1

    @property
    def concentration0(self) -> Any:
        """The outer exponent of the distribution function."""
        return self.bijector.concentration0

    def _entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        return (1 - 1.0 / a) + (1 - 1.0 / b) * (tf.digamma(b + 1) + _EULER) + tf.log(a) + tf.log(b)

    def _moment(self, n: int) -> Any:
        a, b = self.concentration1, self.concentration0
        ones = tf.ones_like(a + b)
        first, second = ones + n / a, ones * b
        return tf.exp(tf.log(b) + tf.lgamma(first) + tf.lgamma(second) - tf.lgamma(first + second))

    def _mean(self) -> Any:
        return self._moment(1)

    def _variance(self) -> Any:
        return self._moment(2) - tf.square(self._moment(1))

    def _mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** (1.0 / a)
        one = tf.ones([], self.dtype)
        if self.allow_nan_stats:
            nan = tf.fill(self.batch_shape_tensor(), tf.constant(np.nan, self.dtype), name="nan")
            return tf.where((a > 1.0) & (b > 1.0), mode, nan)
        message = "Mode undefined for concentration{} <= 1."
        checks = [
            tf.assert_less(one, a, message=message.format(1)),
            tf.assert_less(one, b, message=message.format(0)),
        ]
        with tf.control_dependencies(checks):
            return tf.identity(mode)
