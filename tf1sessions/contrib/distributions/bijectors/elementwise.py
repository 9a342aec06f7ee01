"""Bijectors that map each element by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....runtime import private
from ....runtime import tf1 as tf
from ..common import checked, parameter
from .base import Bijector

__all__ = [
    "AbsoluteValue",
    "AffineScalar",
    "Exp",
    "Gumbel",
    "Kumaraswamy",
    "PowerTransform",
    "Sigmoid",
    "SinhArcsinh",
    "Softplus",
    "Softsign",
    "Square",
    "Weibull",
]


# the checks of what lies between 0 and 1
_UNIT = (
    lambda t: tf.assert_non_negative(t, message="Elements must be at least 0."),
    lambda t: tf.assert_less_equal(t, tf.ones([], t.dtype), message="Elements must be at most 1."),
)


class _Elementwise(Bijector):  # type: ignore[misc]
    """A bijector of scalars."""

    def __init__(self, validate_args: bool, name: str, constant: bool = False, parents: Any = None) -> None:
        super().__init__(
            graph_parents=parents,
            is_constant_jacobian=constant,
            validate_args=validate_args,
            forward_min_event_ndims=0,
            name=name,
        )


def _positive(given: dict[str, Any], validate_args: bool) -> list[Any]:
    """Tensors of these names, which are checked to be positive if ``validate_args``."""
    tensors = [tf.convert_to_tensor(value, name=name) for name, value in given.items()]
    return [
        checked(validate_args, tensor, lambda t: tf.assert_positive(t, message="Argument must be positive."))
        for tensor in tensors
    ]


class AbsoluteValue(_Elementwise):
    """``y = |x|``, which two values lead to: its inverse is the pair ``(-y, y)``."""

    def __init__(self, validate_args: bool = False, name: str = "absolute_value") -> None:
        super().__init__(validate_args, name, constant=True)

    def _forward(self, x: Any) -> Any:
        return tf.abs(x)

    def _inverse(self, y: Any) -> Any:
        y = checked(self.validate_args, y, lambda t: tf.assert_non_negative(t, message="Argument y was negative"))
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = checked(self.validate_args, y, lambda t: tf.assert_non_negative(t, message="Argument y was negative"))
        zeros = tf.zeros_like(y)
        return zeros, zeros

    @property
    def _is_injective(self) -> bool:
        return False


class AffineScalar(_Elementwise):
    """``y = scale * x + shift``."""

    shift = parameter("shift", "The shift, or None.")
    scale = parameter("scale", "The scale, or None.")

    def __init__(
        self, shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_scalar"
    ) -> None:
        self._shift = self._scale = None
        with tf.name_scope(name, values=[scale, shift]):
            if shift is not None:
                self._shift = tf.convert_to_tensor(shift, name="shift")
            if scale is not None:
                scale = tf.convert_to_tensor(scale, name="scale")
                self._scale = checked(validate_args, scale, lambda t: tf.assert_none_equal(t, tf.zeros_like(t)))
        super().__init__(validate_args, name, constant=True)

    def _forward(self, x: Any) -> Any:
        y = tf.identity(x)
        if self.scale is not None:
            y = y * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = tf.identity(y)
        if self.shift is not None:
            x = x - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return tf.constant(0.0, x.dtype.base_dtype)
        return tf.log(tf.abs(self.scale))


class PowerTransform(_Elementwise):
    """``y = (1 + power * x) ** (1 / power)``, and ``exp(x)`` for a power of 0."""

    power = parameter("power", "The power.")

    def __init__(self, power: float = 0.0, validate_args: bool = False, name: str = "power_transform") -> None:
        with tf.name_scope(name, values=[power]):
            found = tf.get_static_value(tf.convert_to_tensor(power, name="power"))
        if found is None or found < 0:
            raise ValueError(f"`power` must be a non-negative TF constant: power={power!r}.")
        self._power = float(found)
        super().__init__(validate_args, name)

    def _valid_x(self, x: Any) -> Any:
        return checked(
            self.validate_args and self.power != 0.0,
            x,
            lambda t: tf.assert_non_negative(1.0 + self.power * t, message="Forward transformation input"),
        )

    def _valid_y(self, y: Any) -> Any:
        return checked(self.validate_args, y, lambda t: tf.assert_positive(t, message="Inverse input"))

    def _forward(self, x: Any) -> Any:
        x = self._valid_x(x)
        return tf.exp(x) if self.power == 0.0 else tf.exp(tf.log1p(x * self.power) / self.power)

    def _inverse(self, y: Any) -> Any:
        y = self._valid_y(y)
        return tf.log(y) if self.power == 0.0 else tf.expm1(tf.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return (self.power - 1.0) * tf.log(self._valid_y(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._valid_x(x)
        return x if self.power == 0.0 else (1.0 / self.power - 1.0) * tf.log1p(x * self.power)


class Exp(PowerTransform):
    """``y = exp(x)``."""

    def __init__(self, validate_args: bool = False, name: str = "exp") -> None:
        super().__init__(validate_args=validate_args, name=name)


class Gumbel(_Elementwise):
    """``y = exp(-exp(-(x - loc) / scale))``, the distribution function of a Gumbel distribution."""

    loc = parameter("loc", "Where the map is steepest.")
    scale = parameter("scale", "The scale.")

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool = False, name: str = "gumbel") -> None:
        with tf.name_scope(name, values=[loc, scale]):
            self._loc = tf.convert_to_tensor(loc, name="loc")
            (self._scale,) = _positive({"scale": scale}, validate_args)
            tf.debugging.assert_same_float_dtype([self._loc, self._scale])
        super().__init__(validate_args, name)

    def _valid_y(self, y: Any) -> Any:
        return checked(self.validate_args, y, *_UNIT)

    def _forward(self, x: Any) -> Any:
        return tf.exp(-tf.exp(-(x - self.loc) / self.scale))

    def _inverse(self, y: Any) -> Any:
        return self.loc - self.scale * tf.log(-tf.log(self._valid_y(y)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._valid_y(y)
        return tf.log(self.scale / (-tf.log(y) * y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        z = (x - self.loc) / self.scale
        return -z - tf.exp(-z) - tf.log(self.scale)


class Kumaraswamy(_Elementwise):
    """``y = (1 - (1 - x) ** (1 / concentration0)) ** (1 / concentration1)``, a Kumaraswamy distribution's quantile."""

    concentration1 = parameter("concentration1", "The inner exponent of the distribution function.")
    concentration0 = parameter("concentration0", "The outer exponent of the distribution function.")

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        name: str = "kumaraswamy",
    ) -> None:
        with tf.name_scope(name, values=[concentration1, concentration0]):
            self._concentration1, self._concentration0 = _positive(
                {"concentration1": concentration1, "concentration0": concentration0}, validate_args
            )
        super().__init__(validate_args, name)

    def _valid(self, value: Any) -> Any:
        return checked(self.validate_args, value, *_UNIT)

    def _forward(self, x: Any) -> Any:
        x = self._valid(x)
        return tf.exp(tf.log1p(-tf.exp(tf.log1p(-x) / self.concentration0)) / self.concentration1)

    def _inverse(self, y: Any) -> Any:
        y = self._valid(y)
        return tf.exp(tf.log1p(-((1.0 - y**self.concentration1) ** self.concentration0)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._valid(y)
        a, b = self.concentration1, self.concentration0
        return tf.log(a) + tf.log(b) + (a - 1.0) * tf.log(y) + (b - 1.0) * tf.log1p(-(y**a))


class Sigmoid(_Elementwise):
    """``y = 1 / (1 + exp(-x))``."""

    def __init__(self, validate_args: bool = False, name: str = "sigmoid") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        return tf.sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return tf.log(y) - tf.log1p(-y)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -tf.log(y) - tf.log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -tf.nn.softplus(-x) - tf.nn.softplus(x)


def _half_log_of_square_plus_one(x: Any) -> Any:
    """``log(sqrt(1 + x**2))``, without the overflow of a great ``x``'s square."""
    great = tf.abs(x) * np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) > 1.0
    small = tf.where(great, tf.ones_like(x), x)
    return tf.where(great, tf.log(tf.abs(tf.where(great, x, tf.ones_like(x)))), 0.5 * tf.log1p(small**2))


def _arcsinh(x: Any) -> Any:
    """The inverse of sinh, without the overflow of a great ``x``'s square."""
    great = tf.abs(x) > np.sqrt(np.finfo(x.dtype.as_numpy_dtype).max) / 2.0
    small = tf.asinh(tf.where(great, tf.ones_like(x), x))
    return tf.where(great, tf.sign(x) * (tf.log(tf.abs(tf.where(great, x, tf.ones_like(x)))) + np.log(2.0)), small)


def _log_cosh(x: Any) -> Any:
    return tf.abs(x) + tf.nn.softplus(-2.0 * tf.abs(x)) - np.log(2.0).astype(x.dtype.as_numpy_dtype)


class SinhArcsinh(_Elementwise):
    """``y = sinh((arcsinh(x) + skewness) * tailweight)``."""

    skewness = parameter("skewness", "The skewness.")
    tailweight = parameter("tailweight", "The weight of the tails.")

    def __init__(
        self,
        skewness: Any = None,
        tailweight: Any = None,
        validate_args: bool = False,
        name: str = "SinhArcsinh",
    ) -> None:
        with tf.name_scope(name, values=[skewness, tailweight]):
            dtype = next((each.dtype.base_dtype for each in (skewness, tailweight) if tf.is_tensor(each)), None)
            self._skewness = tf.convert_to_tensor(0.0 if skewness is None else skewness, dtype, "skewness")
            tailweight = tf.convert_to_tensor(1.0 if tailweight is None else tailweight, dtype, "tailweight")
            (self._tailweight,) = _positive({"tailweight": tailweight}, validate_args)
            tf.debugging.assert_same_float_dtype([self._skewness, self._tailweight])
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        return tf.sinh((_arcsinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y: Any) -> Any:
        return tf.sinh(_arcsinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        inner = _log_cosh(_arcsinh(y) / self.tailweight - self.skewness)
        return inner - tf.log(self.tailweight) - _half_log_of_square_plus_one(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        inner = _log_cosh((_arcsinh(x) + self.skewness) * self.tailweight)
        return inner + tf.log(self.tailweight) - _half_log_of_square_plus_one(x)


class Softplus(_Elementwise):
    """``y = hinge_softness * log(1 + exp(x / hinge_softness))``."""

    hinge_softness = parameter("hinge_softness", "How soft the bend at 0 is, or None for 1.")

    def __init__(self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus") -> None:
        self._hinge_softness = None
        with tf.name_scope(name, values=[hinge_softness]):
            if hinge_softness is not None:
                softness = tf.convert_to_tensor(hinge_softness, name="hinge_softness")
                self._hinge_softness = checked(
                    validate_args,
                    softness,
                    lambda t: tf.assert_none_equal(t, tf.zeros_like(t), message="hinge_softness must be non-zero"),
                )
        super().__init__(validate_args, name)

    def _over_softness(self, value: Any) -> Any:
        if self.hinge_softness is None:
            return value
        return value / tf.cast(self.hinge_softness, value.dtype)

    def _times_softness(self, value: Any) -> Any:
        if self.hinge_softness is None:
            return value
        return value * tf.cast(self.hinge_softness, value.dtype)

    def _forward(self, x: Any) -> Any:
        return self._times_softness(tf.nn.softplus(self._over_softness(x)))

    def _inverse(self, y: Any) -> Any:
        return self._times_softness(private.distributions_util.softplus_inverse(self._over_softness(y)))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -tf.log(-tf.expm1(-self._over_softness(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -tf.nn.softplus(-self._over_softness(x))


class Softsign(_Elementwise):
    """``y = x / (1 + |x|)``."""

    def __init__(self, validate_args: bool = False, name: str = "softsign") -> None:
        super().__init__(validate_args, name)

    def _valid_y(self, y: Any) -> Any:
        message = "Inverse transformation input must be between -1 and 1."
        return checked(
            self.validate_args, y, lambda t: tf.assert_less(tf.abs(t), tf.ones([], t.dtype), message=message)
        )

    def _forward(self, x: Any) -> Any:
        return x / (1.0 + tf.abs(x))

    def _inverse(self, y: Any) -> Any:
        y = self._valid_y(y)
        return y / (1.0 - tf.abs(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -2.0 * tf.log1p(tf.abs(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -2.0 * tf.log1p(-tf.abs(self._valid_y(y)))


class Square(_Elementwise):
    """``y = x ** 2``, of an ``x`` that is not negative."""

    def __init__(self, validate_args: bool = False, name: str = "square") -> None:
        super().__init__(validate_args, name)

    def _valid(self, value: Any) -> Any:
        message = "All elements must be non-negative."
        return checked(self.validate_args, value, lambda t: tf.assert_non_negative(t, message=message))

    def _forward(self, x: Any) -> Any:
        return tf.square(self._valid(x))

    def _inverse(self, y: Any) -> Any:
        return tf.sqrt(self._valid(y))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return np.log(2.0) + tf.log(self._valid(x))


class Weibull(_Elementwise):
    """``y = 1 - exp(-(x / scale) ** concentration)``, the distribution function of a Weibull distribution."""

    scale = parameter("scale", "The scale.")
    concentration = parameter("concentration", "The exponent.")

    def __init__(
        self, scale: Any = 1.0, concentration: Any = 1.0, validate_args: bool = False, name: str = "weibull"
    ) -> None:
        with tf.name_scope(name, values=[scale, concentration]):
            self._scale, self._concentration = _positive(
                {"scale": scale, "concentration": concentration}, validate_args
            )
        super().__init__(validate_args, name)

    def _valid_x(self, x: Any) -> Any:
        message = "Forward transformation input must be at least 0."
        return checked(self.validate_args, x, lambda t: tf.assert_non_negative(t, message=message))

    def _valid_y(self, y: Any) -> Any:
        return checked(self.validate_args, y, *_UNIT)

    def _forward(self, x: Any) -> Any:
        return -tf.expm1(-((self._valid_x(x) / self.scale) ** self.concentration))

    def _inverse(self, y: Any) -> Any:
        return self.scale * (-tf.log1p(-self._valid_y(y))) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        y = self._valid_y(y)
        exponent = 1 / self.concentration - 1
        return -tf.log1p(-y) + exponent * tf.log(-tf.log1p(-y)) + tf.log(self.scale / self.concentration)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._valid_x(x)
        c = self.concentration
        return -((x / self.scale) ** c) + (c - 1) * tf.log(x) + tf.log(c) - c * tf.log(self.scale)
