"""Distributions that change another one's shapes or values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...runtime import tf1 as tf
from . import bijectors
from .common import NOT_REPARAMETERIZED, Distribution, parameter, shape_of, util
from .distribution_util import is_diagonal_scale, make_diag_scale, shapes_from_loc_and_scale
from .transformed_distribution import TransformedDistribution

__all__ = [
    "Autoregressive",
    "BatchReshape",
    "Independent",
    "QuantizedDistribution",
    "SinhArcsinh",
    "VectorSinhArcsinhDiag",
]


class Independent(Distribution):  # type: ignore[misc]
    """Another distribution, the last dimensions of whose batch count as those of an event.

    Args:
        distribution: The distribution.
        reinterpreted_batch_ndims: How many dimensions; all but the first without it.
        validate_args: Whether arguments are checked at run time.
        name: Independent and the distribution's without one.
    """

    distribution = parameter("distribution", "The distribution.")
    reinterpreted_batch_ndims = parameter("reinterpreted_batch_ndims", "How many dimensions are of an event.")

    def __init__(
        self,
        distribution: Any,
        reinterpreted_batch_ndims: int | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        name = name or "Independent" + distribution.name
        self._distribution = distribution
        with tf.name_scope(name) as name:
            known = distribution.batch_shape.ndims
            if reinterpreted_batch_ndims is None:
                if known is None:
                    reinterpreted_batch_ndims = tf.maximum(0, tf.size(distribution.batch_shape_tensor()) - 1)
                else:
                    reinterpreted_batch_ndims = max(0, known - 1)
            count = tf.convert_to_tensor(reinterpreted_batch_ndims, dtype=tf.int32, name="reinterpreted_batch_ndims")
            static = tf.get_static_value(count)
            message = "reinterpreted_batch_ndims({}) cannot exceed distribution.batch_ndims({})"
            checks = []
            if static is not None and known is not None:
                if static > known:
                    raise ValueError(message.format(static, known))
            elif validate_args:
                batch = tf.size(distribution.batch_shape_tensor())
                checks = [tf.assert_less_equal(count, batch, message="reinterpreted_batch_ndims exceeds the batch's")]
            self._count = count if static is None else int(static)
            self._reinterpreted_batch_ndims = count
            self._runtime_checks = checks
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=list(distribution._graph_parents),
            name=name,
        )

    def _shapes(self) -> tuple[Any, Any]:
        with tf.control_dependencies(self._runtime_checks):
            batch = self.distribution.batch_shape_tensor()
            size = tf.compat.dimension_value(batch.shape[0])
            size = tf.shape(batch)[0] if size is None else size
            return batch[: size - self._count], batch[size - self._count :]

    def _batch_shape_tensor(self) -> Any:
        return self._shapes()[0]

    def _event_shape_tensor(self) -> Any:
        return tf.concat([self._shapes()[1], self.distribution.event_shape_tensor()], axis=0)

    def _batch_shape(self) -> Any:
        batch = self.distribution.batch_shape
        if isinstance(self._count, tf.Tensor) or batch.ndims is None:
            return tf.TensorShape(None)
        return batch[: batch.ndims - self._count]

    def _event_shape(self) -> Any:
        batch = self.distribution.batch_shape
        if isinstance(self._count, tf.Tensor) or batch.ndims is None:
            return tf.TensorShape(None)
        return batch[batch.ndims - self._count :].concatenate(self.distribution.event_shape)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            return self.distribution.sample(sample_shape=n, seed=seed)

    def _sum(self, found: Any) -> Any:
        """The sum over the dimensions that are of an event."""
        if isinstance(self._count, tf.Tensor):
            return tf.reduce_sum(found, axis=tf.range(-self._count, 0))
        return tf.reduce_sum(found, axis=list(range(-self._count, 0)))

    def _log_prob(self, x: Any) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            return self._sum(self.distribution.log_prob(x))

    def _entropy(self) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            return self._sum(self.distribution.entropy())

    def _mean(self) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            return self.distribution.mean()

    def _variance(self) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            return self.distribution.variance()

    def _stddev(self) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            return self.distribution.stddev()

    def _mode(self) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            return self.distribution.mode()


class BatchReshape(Distribution):  # type: ignore[misc]
    """Another distribution, with its batch reshaped; one size of ``batch_shape`` may be -1."""

    distribution = parameter("distribution", "The distribution.")

    def __init__(
        self,
        distribution: Any,
        batch_shape: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        name = name or "BatchReshape" + distribution.name
        with tf.name_scope(name, values=[batch_shape]) as name:
            shape = tf.convert_to_tensor(batch_shape, dtype=tf.int32, name="unexpanded_batch_shape")
            self._distribution = distribution
            self._static, self._tensor, checks = self._resolved(shape, validate_args)
            self._runtime_checks = checks
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._tensor, *distribution._graph_parents],
            name=name,
        )

    def _resolved(self, shape: Any, validate_args: bool) -> tuple[Any, Any, list[Any]]:
        """The new shape of the batch, as it is known, as a tensor, and the assertions about it."""
        known, size = tf.get_static_value(shape), self.distribution.batch_shape.num_elements()
        if known is not None and (known < -1).any():
            raise ValueError("`batch_shape` elements must be >=-1.")
        if known is not None and (known == -1).sum() > 1:
            raise ValueError("`batch_shape` elements must have at most one `-1`.")
        if known is not None and size is not None:
            sizes, static = known.tolist(), tf.TensorShape([None if each == -1 else each for each in known.tolist()])
            if -1 in sizes:
                sizes[sizes.index(-1)] = size // max(1, int(np.prod([each for each in sizes if each != -1], dtype=int)))
            total = int(np.prod(sizes, dtype=int))
            if total != size:
                raise ValueError(f"`batch_shape` size ({total}) must match `distribution.batch_shape` size ({size}).")
            return static, tf.constant(sizes, tf.int32, name="batch_shape"), []
        total = tf.reduce_prod(self.distribution.batch_shape_tensor())
        rest = tf.reduce_prod(tf.where(tf.equal(shape, -1), tf.ones_like(shape), shape))
        tensor = tf.where(tf.equal(shape, -1), tf.fill(tf.shape(shape), total // tf.maximum(1, rest)), shape)
        checks = []
        if validate_args:
            same = tf.assert_equal(tf.reduce_prod(tensor), total, message="Shape sizes do not match.")
            checks = [same, tf.assert_greater_equal(shape, -1, message="elements must be >=-1.")]
        sizes = [None] * (tf.compat.dimension_value(shape.shape[0]) or 0) if known is None else known.tolist()
        static = tf.TensorShape([None if each in (None, -1) else each for each in sizes])
        return (static if shape.shape[0] is not None else tf.TensorShape(None)), tensor, checks

    def _batch_shape_tensor(self) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            return tf.identity(self._tensor)

    def _batch_shape(self) -> Any:
        return self._static

    def _event_shape_tensor(self) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            return tf.identity(self.distribution.event_shape_tensor())

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        with tf.control_dependencies(self._runtime_checks):
            x = self.distribution.sample(sample_shape=n, seed=seed)
            return tf.reshape(x, tf.concat([[n], self._tensor, self.distribution.event_shape_tensor()], axis=0))

    def _of_value(self, method: Callable[..., Any], x: Any) -> Any:
        """Make a method that calls the distribution's ``method`` with values."""
        with tf.control_dependencies(self._runtime_checks):
            x = tf.convert_to_tensor(x, self.dtype)
            event, batch = self.event_shape, self.batch_shape
            own = (event.ndims or 0) + (batch.ndims or 0)
            if event.ndims is None or batch.ndims is None:
                own = tf.size(self._tensor) + tf.size(self.distribution.event_shape_tensor())
            sample = tf.shape(x)[: tf.rank(x) - own]
            old = tf.concat(
                [sample, self.distribution.batch_shape_tensor(), self.distribution.event_shape_tensor()], axis=0
            )
            found = tf.reshape(method(tf.reshape(x, old)), tf.concat([sample, self._tensor], axis=0))
        if x.shape.ndims is not None and isinstance(own, int):
            found.set_shape(x.shape[: x.shape.ndims - own].concatenate(batch))
        return found

    def _statistic(self, method: Callable[[], Any], event: tuple[Any, Any] | None = None) -> Any:
        """Make a method that calls the distribution's ``method`` without arguments."""
        event = event or (self.distribution.event_shape, self.distribution.event_shape_tensor())
        with tf.control_dependencies(self._runtime_checks):
            found = tf.reshape(method(), tf.concat([self._tensor, event[1]], axis=0))
        found.set_shape(self.batch_shape.concatenate(event[0]))
        return found

    def _log_prob(self, x: Any) -> Any:
        return self._of_value(self.distribution.log_prob, x)

    def _prob(self, x: Any) -> Any:
        return self._of_value(self.distribution.prob, x)

    def _log_cdf(self, x: Any) -> Any:
        return self._of_value(self.distribution.log_cdf, x)

    def _cdf(self, x: Any) -> Any:
        return self._of_value(self.distribution.cdf, x)

    def _log_survival_function(self, x: Any) -> Any:
        return self._of_value(self.distribution.log_survival_function, x)

    def _survival_function(self, x: Any) -> Any:
        return self._of_value(self.distribution.survival_function, x)

    def _entropy(self) -> Any:
        return self._statistic(self.distribution.entropy, (tf.TensorShape([]), tf.constant([], tf.int32)))

    def _mean(self) -> Any:
        return self._statistic(self.distribution.mean)

    def _mode(self) -> Any:
        return self._statistic(self.distribution.mode)

    def _stddev(self) -> Any:
        return self._statistic(self.distribution.stddev)

    def _variance(self) -> Any:
        return self._statistic(self.distribution.variance)

    def _covariance(self) -> Any:
        known, event = self.distribution.event_shape, self.distribution.event_shape_tensor()
        return self._statistic(self.distribution.covariance, (known.concatenate(known), tf.concat([event, event], 0)))


class Autoregressive(Distribution):  # type: ignore[misc]
    """A sample that is drawn ``num_steps`` times, each time from ``distribution_fn`` of the sample before.

    Args:
        distribution_fn: Takes a draw and returns a distribution whose elements depend on the draw's earlier ones.
        sample0: The first; what ``distribution_fn()`` draws without it.
        num_steps: How often; once an element of an event without it.
        validate_args: Whether arguments are checked at run time.
        allow_nan_stats: Whether undefined statistics are NaN, and no errors.
        name: The name.
    """

    distribution_fn = parameter("distribution_fn", "Makes a distribution of a draw.")
    sample0 = parameter("sample0", "The first draw, or None.")
    num_steps = parameter("num_steps", "How often is drawn.")
    distribution0 = parameter("distribution0", "The distribution of the first draw.")

    def __init__(
        self,
        distribution_fn: Callable[..., Any],
        sample0: Any = None,
        num_steps: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name) as name:
            self._distribution_fn = distribution_fn
            self._sample0 = sample0
            self._distribution0 = distribution_fn() if sample0 is None else distribution_fn(sample0)
            first = self._distribution0
            if num_steps is None:
                num_steps = first.event_shape.num_elements()
                num_steps = tf.reduce_prod(first.event_shape_tensor()) if num_steps is None else num_steps
            self._num_steps = num_steps
            if not isinstance(num_steps, tf.Tensor) and num_steps < 1:
                raise ValueError("num_steps must be at least 1.")
        super().__init__(
            dtype=first.dtype,
            reparameterization_type=first.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=first._graph_parents,
            name=name,
        )

    def _batch_shape(self) -> Any:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        drawn = self.distribution0.sample(n, seed=seed)
        steps = tf.get_static_value(self.num_steps) if isinstance(self.num_steps, tf.Tensor) else self.num_steps
        for _ in range(int(steps)):
            drawn = self.distribution_fn(drawn).sample(seed=seed)
        return drawn

    def _log_prob(self, value: Any) -> Any:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Any) -> Any:
        return self.distribution_fn(value).prob(value)


def _limit(name: str, value: Any, dtype: Any, validate_args: bool) -> Any:
    """A limit as a tensor, which is checked to be a whole number if ``validate_args``; None where there is none."""
    if value is None:
        return None
    limit = tf.convert_to_tensor(value, name=name, dtype=dtype)
    if validate_args:
        with tf.control_dependencies([util.assert_integer_form(limit, message="limits must be whole numbers")]):
            limit = tf.identity(limit)
    return limit


class QuantizedDistribution(Distribution):  # type: ignore[misc]
    """The least whole number that is not less than a draw of ``distribution``, within ``low`` and ``high``."""

    distribution = parameter("dist", "The distribution.")
    low = parameter("low", "The least value, or None.")
    high = parameter("high", "The greatest value, or None.")

    def __init__(
        self,
        distribution: Any,
        low: Any = None,
        high: Any = None,
        validate_args: bool = False,
        name: str = "QuantizedDistribution",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[low, high]) as name:
            self._dist = distribution
            self._low = _limit("low", low, distribution.dtype, validate_args)
            self._high = _limit("high", high, distribution.dtype, validate_args)
            if validate_args and self._low is not None and self._high is not None:
                below = tf.assert_less(self._low, self._high, message="low must be strictly less than high.")
                with tf.control_dependencies([below]):
                    self._high = tf.identity(self._high)
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=[
                *distribution._graph_parents,
                *[limit for limit in (self._low, self._high) if limit is not None],
            ],
            name=name,
        )

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        drawn = tf.ceil(self.distribution.sample(n, seed=seed))
        if self.low is not None:
            drawn = tf.where(drawn < self.low, tf.ones_like(drawn) * self.low, drawn)
        if self.high is not None:
            drawn = tf.where(drawn > self.high, tf.ones_like(drawn) * self.high, drawn)
        return drawn

    def _limited(self, found: Any, j: Any, below: float, above: float) -> Any:
        """``found``, and ``below`` and ``above`` where ``j`` is less than all values, or at least the greatest."""
        zeros = tf.zeros_like(found)
        if self.low is not None:
            found = tf.where(j + zeros < self.low, zeros + below, found)
        if self.high is not None:
            found = tf.where(j + zeros >= self.high, zeros + above, found)
        return found

    def _valid(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        with tf.control_dependencies([util.assert_integer_form(y, message="value has non-integer components.")]):
            return tf.identity(y)

    def _cdf_of(self, y: Any) -> Any:
        j = tf.floor(y)
        return self._limited(self.distribution.cdf(j), j, 0.0, 1.0)

    def _log_cdf_of(self, y: Any) -> Any:
        j = tf.floor(y)
        return self._limited(self.distribution.log_cdf(j), j, -np.inf, 0.0)

    def _survival_of(self, y: Any) -> Any:
        j = tf.ceil(y)
        return self._limited(self.distribution.survival_function(j), j, 1.0, 0.0)

    def _log_survival_of(self, y: Any) -> Any:
        j = tf.ceil(y)
        return self._limited(self.distribution.log_survival_function(j), j, 0.0, -np.inf)

    def _cdf(self, y: Any) -> Any:
        return self._cdf_of(self._valid(y))

    def _log_cdf(self, y: Any) -> Any:
        return self._log_cdf_of(self._valid(y))

    def _survival_function(self, y: Any) -> Any:
        return self._survival_of(self._valid(y))

    def _log_survival_function(self, y: Any) -> Any:
        return self._log_survival_of(self._valid(y))

    @staticmethod
    def _log_difference(great: Any, small: Any) -> Any:
        """``log(exp(great) - exp(small))``."""
        return great + tf.log1p(-tf.exp(small - great))

    def _has(self, method: str, y: Any) -> Any:
        """Call ``method`` of the distribution, or return None where it has none."""
        try:
            return getattr(self, method)(y)
        except NotImplementedError:
            return None

    def _log_prob(self, y: Any) -> Any:
        y = self._valid(y)
        log_survival, before = self._has("_log_survival_of", y), None
        log_cdf = self._has("_log_cdf_of", y)
        if log_cdf is None and log_survival is None:
            raise NotImplementedError("'log_prob' not implemented unless the base distribution implements log_cdf")
        if log_survival is None:
            return self._log_difference(log_cdf, self._log_cdf_of(y - 1.0))
        before = self._log_survival_of(y - 1.0)
        if log_cdf is None:
            return self._log_difference(before, log_survival)
        # the smaller of the two is the more exact
        right = log_survival < log_cdf
        great = tf.where(right, before, log_cdf)
        small = tf.where(right, log_survival, self._log_cdf_of(y - 1.0))
        return self._log_difference(great, small)

    def _prob(self, y: Any) -> Any:
        y = self._valid(y)
        survival, cdf = self._has("_survival_of", y), self._has("_cdf_of", y)
        if cdf is None and survival is None:
            raise NotImplementedError("'prob' not implemented unless the base distribution implements cdf")
        if survival is None:
            return cdf - self._cdf_of(y - 1.0)
        by_survival = self._survival_of(y - 1.0) - survival
        return by_survival if cdf is None else tf.where(survival < cdf, by_survival, cdf - self._cdf_of(y - 1.0))


def _doubled_over_tails(tailweight: Any, dtype: Any) -> Any:
    """``2 / (F(2))`` of the map F without skewness, which leaves the value 2 where it is."""
    two = tf.constant(2.0, dtype)
    return two / bijectors.SinhArcsinh(tailweight=tailweight).forward(two)


class SinhArcsinh(TransformedDistribution):
    """``loc + scale * F(x) * 2 / F0(2)``, of an F that skews and stretches the draws of a distribution, the normal one.

    F0 is F without skewness.
    """

    loc = parameter("loc", "The location.")
    scale = parameter("scale", "The scale.")
    skewness = parameter("skewness", "The skewness.")
    tailweight = parameter("tailweight", "The weight of the tails.")

    def __init__(
        self,
        loc: Any,
        scale: Any,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            self._loc = tf.convert_to_tensor(loc, name="loc")
            dtype = self._loc.dtype
            self._scale = tf.convert_to_tensor(scale, name="scale", dtype=dtype)
            self._tailweight = tf.convert_to_tensor(
                1.0 if tailweight is None else tailweight, name="tailweight", dtype=dtype
            )
            self._skewness = tf.convert_to_tensor(0.0 if skewness is None else skewness, name="skewness", dtype=dtype)
            batch = shape_of(self._loc + self._scale + self._skewness + self._tailweight)
            if distribution is None:
                distribution = tf.distributions.Normal(
                    loc=tf.zeros([], dtype=dtype), scale=tf.ones([], dtype=dtype), allow_nan_stats=allow_nan_stats
                )
            else:
                scalar = tf.get_static_value(distribution.is_scalar_batch())
                if scalar is not None and not scalar:
                    batch = None
            skewed = bijectors.SinhArcsinh(
                skewness=self._skewness, tailweight=self._tailweight, validate_args=validate_args
            )
            affine = bijectors.AffineScalar(
                shift=self._loc,
                scale=self._scale * _doubled_over_tails(self._tailweight, dtype),
                validate_args=validate_args,
            )
            super().__init__(
                distribution=distribution,
                bijector=bijectors.Chain([affine, skewed]),
                batch_shape=batch,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters


class VectorSinhArcsinhDiag(TransformedDistribution):
    """A SinhArcsinh distribution of vectors, whose scale is diagonal."""

    skewness = parameter("skewness", "The skewness.")
    tailweight = parameter("tailweight", "The weight of the tails.")

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        parameters = dict(locals())
        values = [loc, scale_diag, scale_identity_multiplier, skewness, tailweight]
        with tf.name_scope(name, values=values) as name:
            loc = None if loc is None else tf.convert_to_tensor(loc, name="loc")
            scale = make_diag_scale(loc, scale_diag, scale_identity_multiplier, validate_args=False)
            assert is_diagonal_scale(scale)
            dtype = scale.dtype
            self._tailweight = tf.convert_to_tensor(
                1.0 if tailweight is None else tailweight, dtype=dtype, name="tailweight"
            )
            self._skewness = tf.convert_to_tensor(0.0 if skewness is None else skewness, dtype=dtype, name="skewness")
            scale = tf.linalg.LinearOperatorDiag(
                scale.diag_part() * _doubled_over_tails(self._tailweight, dtype),
                is_non_singular=scale.is_non_singular,
                is_self_adjoint=scale.is_self_adjoint,
            )
            batch_shape, event_shape = shapes_from_loc_and_scale(loc, scale)
            if distribution is None:
                distribution = tf.distributions.Normal(
                    loc=tf.zeros([], dtype=dtype), scale=tf.ones([], dtype=dtype), allow_nan_stats=allow_nan_stats
                )
            skewed = bijectors.SinhArcsinh(
                skewness=self._skewness, tailweight=self._tailweight, validate_args=validate_args
            )
            affine = bijectors.AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args)
            super().__init__(
                distribution=distribution,
                bijector=bijectors.Chain([affine, skewed]),
                batch_shape=batch_shape,
                event_shape=event_shape,
                validate_args=validate_args,
                name=name,
            )
        self._affine = affine
        self._parameters = parameters

    @property
    def loc(self) -> Any:
        """The shift, or None."""
        return self._affine.shift

    @property
    def scale(self) -> Any:
        """The operator, with what the tails' weight adds."""
        return self._affine.scale
