"""Distributions of what is always the same."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from .common import NOT_REPARAMETERIZED, Distribution, checked, parameter

__all__ = ["Deterministic", "VectorDeterministic"]


class _Deterministic(Distribution):  # type: ignore[misc]
    """``loc`` with the probability 1; what is within ``atol + rtol * abs(loc)`` of it counts as it."""

    _rank = 0
    loc = parameter("loc", "The value.")
    atol = parameter("atol", "The absolute tolerance.")
    rtol = parameter("rtol", "The relative tolerance.")

    def _begin(self, given: dict[str, Any]) -> None:
        validate = given["validate_args"]
        with tf.name_scope(given["name"], values=[given["loc"], given["atol"], given["rtol"]]) as name:
            loc = tf.convert_to_tensor(given["loc"], name="loc")
            if self._rank and validate:
                message = "Argument loc must be at least rank 1."
                loc = checked(True, loc, lambda t: tf.assert_rank_at_least(t, 1, message=message))
            self._loc = loc
            for key in ("atol", "rtol"):
                value = tf.convert_to_tensor(0 if given[key] is None else given[key], name=key, dtype=loc.dtype)
                setattr(self, f"_{key}", checked(validate, value, tf.assert_non_negative))
        super().__init__(
            dtype=self._loc.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate,
            allow_nan_stats=given["allow_nan_stats"],
            parameters=given,
            graph_parents=[self._loc, self._atol, self._rtol],
            name=name,
        )

    def _slack(self) -> Any:
        return self.atol + self.rtol * tf.abs(self.loc)

    def _batch_shape_tensor(self) -> Any:
        shape = tf.shape(self.loc)
        return shape[:-1] if self._rank else shape

    def _batch_shape(self) -> Any:
        return self.loc.shape[:-1] if self._rank else self.loc.shape

    def _event_shape_tensor(self) -> Any:
        return tf.shape(self.loc)[-1:] if self._rank else tf.constant([], dtype=tf.int32)

    def _event_shape(self) -> Any:
        return self.loc.shape[-1:] if self._rank else tf.TensorShape([])

    def _entropy(self) -> Any:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self) -> Any:
        return tf.identity(self.loc)

    def _variance(self) -> Any:
        return tf.zeros_like(self.loc)

    def _mode(self) -> Any:
        return tf.identity(self.loc)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], axis=0)
        return tf.broadcast_to(self.loc, shape)


class Deterministic(_Deterministic):
    """A scalar that is always the same."""

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ) -> None:
        self._begin(dict(locals()))

    def _prob(self, x: Any) -> Any:
        return tf.cast(tf.abs(x - self.loc) <= self._slack(), dtype=self.dtype)

    def _cdf(self, x: Any) -> Any:
        return tf.cast(x >= self.loc - self._slack(), dtype=self.dtype)


class VectorDeterministic(_Deterministic):
    """A vector that is always the same."""

    _rank = 1

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ) -> None:
        self._begin(dict(locals()))

    def _prob(self, x: Any) -> Any:
        if self.validate_args:
            x = checked(True, x, lambda t: tf.assert_rank_at_least(t, 1))
            x = checked(True, x, lambda t: tf.assert_equal(tf.shape(t)[-1], tf.shape(self.loc)[-1]))
        return tf.cast(tf.reduce_all(tf.abs(x - self.loc) <= self._slack(), axis=-1), dtype=self.dtype)
