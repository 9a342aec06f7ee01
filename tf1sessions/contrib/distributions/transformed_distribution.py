"""Distributions of what a bijector makes of a draw from another one; conditional ones pass arguments to the bijector.

A transformed distribution may have its own shapes: n values of the base distribution, a scalar one, are an event's
elements or a batch then.
"""

from __future__ import annotations

from typing import Any

from ...runtime import private as _private
from ...runtime import tf1 as tf
from . import bijectors
from .common import Distribution, parameter

__all__ = ["ConditionalDistribution", "ConditionalTransformedDistribution", "TransformedDistribution"]


def _override(shape: Any, base_is_scalar: Any, validate_args: bool, name: str) -> Any:
    """``shape`` as an int32 vector, or an empty one for None; asserted that the base's own shape is then a scalar's.

    Raises:
        TypeError: It is not of whole numbers.
        ValueError: It is no vector, or the base distribution's own shape is not a scalar's.
    """
    if shape is None:
        return tf.constant([], dtype=tf.int32, name=f"empty_{name}")
    shape = tf.convert_to_tensor(shape, dtype_hint=tf.int32, name=name)
    if not shape.dtype.is_integer:
        raise TypeError("shape override must be an integer")
    if shape.shape.ndims not in (None, 1):
        raise ValueError("shape override must be a vector")
    scalar = tf.get_static_value(base_is_scalar)
    if scalar is not None:
        if not scalar:
            raise ValueError("shape override requires that the base distribution's own shape is a scalar's")
        return shape
    if not validate_args:
        return shape
    with tf.control_dependencies([tf.assert_equal(base_is_scalar, True, message="base distribution is not scalar")]):
        return tf.identity(shape)


class TransformedDistribution(Distribution):  # type: ignore[misc]
    """The distribution of ``bijector.forward(x)``, of an x that ``distribution`` draws.

    Args:
        distribution: The base distribution.
        bijector: The identity if it is None.
        batch_shape: In place of the base distribution's, which is a scalar's then.
        event_shape: In place of the base distribution's, which is a scalar's then.
        validate_args: Whether arguments are checked at run time.
        name: The bijector's and the distribution's without one.
    """

    distribution = parameter("distribution", "The base distribution.")
    bijector = parameter("bijector", "What makes a value of a draw.")

    def __init__(
        self,
        distribution: Any,
        bijector: Any = None,
        batch_shape: Any = None,
        event_shape: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with tf.name_scope(name, values=[event_shape, batch_shape]) as name:
            self._zero = tf.constant(0, dtype=tf.int32, name="zero")
            self._bijector = bijectors.Identity(validate_args=validate_args) if bijector is None else bijector
            self._has_batch, self._has_event = batch_shape is not None, event_shape is not None
            self._batch_override = _override(batch_shape, distribution.is_scalar_batch(), validate_args, "batch_shape")
            self._event_override = _override(event_shape, distribution.is_scalar_event(), validate_args, "event_shape")
            # an event's elements are drawn before the batch's: they have to be moved behind them
            scalar_batch = tf.get_static_value(distribution.is_scalar_batch())
            self._rotates = self._has_event and not self._has_batch and not scalar_batch
            self._event_rank = self._rank_of_event_override()
        self._distribution = distribution
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=distribution._graph_parents + self.bijector.graph_parents,
            name=name,
        )

    def _rank_of_event_override(self) -> Any:
        if not self._has_event:
            return 0
        rank = tf.compat.dimension_value(self._event_override.shape[0])
        return tf.size(self._event_override) if rank is None else rank

    @staticmethod
    def _known(override: Any) -> Any:
        return _private.tensor_util.constant_value_as_shape(override)

    def _event_shape_tensor(self) -> Any:
        base = self._event_override if self._has_event else self.distribution.event_shape_tensor()
        return self.bijector.forward_event_shape_tensor(base)

    def _event_shape(self) -> Any:
        base = self._known(self._event_override) if self._has_event else self.distribution.event_shape
        return self.bijector.forward_event_shape(base)

    def _batch_shape_tensor(self) -> Any:
        return self._batch_override if self._has_batch else self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self._known(self._batch_override) if self._has_batch else self.distribution.batch_shape

    def _sample_n(self, n: Any, seed: Any = None, **distribution_kwargs: Any) -> Any:
        parts = [self._batch_override, self._event_override]
        parts = [parts[1], [n], parts[0]] if self._rotates else [[n], *parts]
        x = self.distribution.sample(sample_shape=tf.concat(parts, axis=0), seed=seed, **distribution_kwargs)
        return self._moved(x, -self._event_rank) if self._rotates else x

    def _moved(self, x: Any, by: Any) -> Any:
        """``x`` with its dimensions rotated by this number to the right."""
        rank = x.shape.ndims
        if rank is None or isinstance(by, tf.Tensor):
            order = tf.floormod(tf.range(tf.rank(x)) - by, tf.rank(x))
            return tf.transpose(x, order)
        return tf.transpose(x, [(axis - by) % rank for axis in range(rank)])

    def _call_sample_n(self, sample_shape: Any, seed: Any, name: str, **kwargs: Any) -> Any:
        bijector_kwargs, distribution_kwargs = _split(kwargs)
        with self._name_scope(name, values=[sample_shape]):
            sample_shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape")
            sample_shape, n = self._expand_sample_shape_to_vector(sample_shape, "sample_shape")
            # the bijector is given what the base drew, with all dimensions of the sample in one
            x = self._sample_n(n, seed, **distribution_kwargs)
            batch_event = tf.shape(x)[1:]
            x = tf.reshape(x, tf.concat([sample_shape, batch_event], axis=0))
            # not the values, but the tensor is what the bijector remembers: log_prob of a sample needs no inverse then
            y = self.bijector.forward(x, **bijector_kwargs)
            return self._set_sample_static_shape(y, sample_shape)

    def _rank_of_events(self) -> Any:
        known = self.event_shape.ndims
        return tf.size(self.event_shape_tensor()) if known is None else known

    def _fibers(self, y: Any, kwargs: dict[str, Any]) -> tuple[list[Any], list[Any], dict[str, Any]]:
        """All x that ``y`` may come from, and the Jacobian of each."""
        bijector_kwargs, distribution_kwargs = _split(kwargs)
        x = self.bijector.inverse(y, **bijector_kwargs)
        ildj = self.bijector.inverse_log_det_jacobian(y, event_ndims=self._rank_of_events(), **bijector_kwargs)
        if self.bijector._is_injective:
            return [x], [ildj], distribution_kwargs
        return list(x), list(ildj), distribution_kwargs

    def _density(self, x: Any, y: Any, log: bool, distribution_kwargs: dict[str, Any]) -> Any:
        """The base distribution's density at ``x``, over the dimensions of an event of our own."""
        if self._rotates:
            x = self._moved(x, self._event_rank)
        method = self.distribution.log_prob if log else self.distribution.prob
        found = method(x, **distribution_kwargs)
        if not self._has_event:
            return found
        rank = self._event_rank
        if self._rotates:
            axes = tf.range(rank) if isinstance(rank, tf.Tensor) else list(range(rank))
        elif isinstance(rank, tf.Tensor):
            axes = tf.range(tf.rank(found) - rank, tf.rank(found))
        else:
            axes = list(range(-rank, 0))
        return (tf.reduce_sum if log else tf.reduce_prod)(found, axes)

    def _finished(self, result: Any, y: Any) -> Any:
        """``result`` with the shape that is known of it."""
        rank = self.event_shape.ndims
        if self._has_event and rank is not None and y.shape.ndims is not None:
            lead = y.shape[: y.shape.ndims - rank]
            result.set_shape(tf.broadcast_static_shape(lead, self.batch_shape))
        return result

    def _log_prob(self, y: Any, **kwargs: Any) -> Any:
        fibers, jacobians, distribution_kwargs = self._fibers(y, kwargs)
        parts = [
            self._finished(self._density(x, y, True, distribution_kwargs) + ildj, y)
            for x, ildj in zip(fibers, jacobians, strict=True)
        ]
        return parts[0] if self.bijector._is_injective else tf.reduce_logsumexp(tf.stack(parts), axis=0)

    def _prob(self, y: Any, **kwargs: Any) -> Any:
        fibers, jacobians, distribution_kwargs = self._fibers(y, kwargs)
        parts = [
            self._finished(self._density(x, y, False, distribution_kwargs) * tf.exp(ildj), y)
            for x, ildj in zip(fibers, jacobians, strict=True)
        ]
        return parts[0] if self.bijector._is_injective else sum(parts)

    def _at_inverse(self, method: str, y: Any, kwargs: dict[str, Any]) -> Any:
        """Call ``method`` of the base distribution with the inverse of ``y``."""
        if self._has_event:
            raise NotImplementedError(f"{method} is not implemented when overriding event_shape")
        if not self.bijector._is_injective:
            raise NotImplementedError(f"{method} is not implemented when bijector is not injective.")
        bijector_kwargs, distribution_kwargs = _split(kwargs)
        x = self.bijector.inverse(y, **bijector_kwargs)
        return getattr(self.distribution, method)(x, **distribution_kwargs)

    def _log_cdf(self, y: Any, **kwargs: Any) -> Any:
        return self._at_inverse("log_cdf", y, kwargs)

    def _cdf(self, y: Any, **kwargs: Any) -> Any:
        return self._at_inverse("cdf", y, kwargs)

    def _log_survival_function(self, y: Any, **kwargs: Any) -> Any:
        return self._at_inverse("log_survival_function", y, kwargs)

    def _survival_function(self, y: Any, **kwargs: Any) -> Any:
        return self._at_inverse("survival_function", y, kwargs)

    def _quantile(self, value: Any, **kwargs: Any) -> Any:
        if self._has_event:
            raise NotImplementedError("quantile is not implemented when overriding event_shape")
        bijector_kwargs, distribution_kwargs = _split(kwargs)
        x = self.distribution.quantile(value, **distribution_kwargs)
        return self.bijector.forward(x, **bijector_kwargs)

    def _entropy(self) -> Any:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self.bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        # of a constant Jacobian, the entropy grows by its logarithm
        entropy = self.distribution.entropy()
        if self._has_event:
            entropy = entropy * tf.cast(tf.reduce_prod(self._event_override), entropy.dtype)
        if self._has_batch:
            entropy = entropy + tf.zeros(self.batch_shape_tensor(), entropy.dtype)
        rank = self._rank_of_events()
        shape = tf.ones([rank], tf.int32)
        dummy = tf.zeros(self.event_shape_tensor() if self.event_shape.ndims is not None else shape, self.dtype)
        entropy = entropy - self.bijector.inverse_log_det_jacobian(dummy, event_ndims=rank)
        entropy.set_shape(self.batch_shape)
        return entropy


def _split(kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments for the bijector, and those for the base distribution."""
    return kwargs.get("bijector_kwargs") or {}, kwargs.get("distribution_kwargs") or {}


class ConditionalDistribution(Distribution):  # type: ignore[misc]
    """A distribution whose methods pass keyword arguments on to the inner ones."""

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "sample", **condition_kwargs: Any) -> Any:
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **condition_kwargs: Any) -> Any:
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value: Any, name: str = "prob", **condition_kwargs: Any) -> Any:
        return self._call_prob(value, name, **condition_kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf", **condition_kwargs: Any) -> Any:
        return self._call_log_cdf(value, name, **condition_kwargs)

    def cdf(self, value: Any, name: str = "cdf", **condition_kwargs: Any) -> Any:
        return self._call_cdf(value, name, **condition_kwargs)

    def log_survival_function(self, value: Any, name: str = "log_survival_function", **condition_kwargs: Any) -> Any:
        return self._call_log_survival_function(value, name, **condition_kwargs)

    def survival_function(self, value: Any, name: str = "survival_function", **condition_kwargs: Any) -> Any:
        return self._call_survival_function(value, name, **condition_kwargs)


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution whose methods take arguments for its parts.

    ``bijector_kwargs`` and ``distribution_kwargs`` are the bijector's and the base distribution's.
    """
