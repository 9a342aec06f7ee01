"""Compound distributions whose mixing distribution is continuous, and a grid with weights stands for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...runtime import tf1 as tf
from . import bijectors
from .common import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, parameter, util
from .discrete import Poisson
from .distribution_util import is_diagonal_scale

__all__ = [
    "PoissonLogNormalQuadratureCompound",
    "VectorDiffeomixture",
    "quadrature_scheme_lognormal_gauss_hermite",
    "quadrature_scheme_lognormal_quantiles",
    "quadrature_scheme_softmaxnormal_gauss_hermite",
    "quadrature_scheme_softmaxnormal_quantiles",
]


def _hermite(size: int, dtype: Any) -> tuple[Any, Any]:
    """The points for a normal variable's mean, and their weights, whose sum is 1."""
    points, weights = np.polynomial.hermite.hermgauss(deg=size)
    return points.astype(dtype.as_numpy_dtype), (weights / weights.sum()).astype(dtype.as_numpy_dtype)


def _between(normal: Any, size: int, transform: Callable[[Any], Any]) -> tuple[Any, Any]:
    """The means of adjacent quantiles of what ``transform`` makes of a normal variable, and their weights."""
    dtype = normal.dtype
    # without the first and the last, which are infinite
    levels = tf.linspace(tf.constant(0.0, dtype), tf.constant(1.0, dtype), size + 3)[1:-1]
    levels = tf.reshape(levels, [-1] + [1] * len(normal.batch_shape))
    edges = transform(normal.quantile(levels))
    order = [*range(1, len(edges.shape)), 0]
    edges = tf.transpose(edges, order)
    grid = (edges[..., :-1] + edges[..., 1:]) / 2.0
    grid.set_shape(grid.shape[:-1].concatenate([size]))
    return grid, tf.fill([size], 1.0 / tf.cast(size, dtype))


def quadrature_scheme_lognormal_gauss_hermite(
    loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Return Gauss's and Hermite's points and weights for a log-normal variable, as logarithms [..., N]."""
    with tf.name_scope(name, "vector_diffeomixture_quadrature_gauss_hermite", [loc, scale]):
        loc = tf.convert_to_tensor(loc)
        points, weights = _hermite(quadrature_size, loc.dtype)
        grid = loc[..., tf.newaxis] + np.sqrt(2.0) * tf.convert_to_tensor(scale)[..., tf.newaxis] * points
        return grid, weights


def quadrature_scheme_lognormal_quantiles(
    loc: Any, scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Return points between the quantiles of a log-normal variable, [..., N], and weights that are all the same."""
    with tf.name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        normal = tf.distributions.Normal(loc, scale, validate_args=validate_args)
        return _between(normal, quadrature_size, tf.exp)


def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc: Any, normal_scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Return Gauss's and Hermite's points, [..., 2, N], and weights for the softmax of a normal variable and 0."""
    with tf.name_scope(name, "quadrature_scheme_softmaxnormal_gauss_hermite", [normal_loc, normal_scale]):
        loc, scale = tf.convert_to_tensor(normal_loc), tf.convert_to_tensor(normal_scale)
        points, weights = _hermite(quadrature_size, loc.dtype)
        chance = tf.sigmoid(loc[..., tf.newaxis] + np.sqrt(2.0) * scale[..., tf.newaxis] * points)
        return tf.concat([chance, 1.0 - chance], axis=-2), weights


def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc: Any, normal_scale: Any, quadrature_size: int, validate_args: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Return points between the quantiles of the softmax of normal variables and 0, [..., K, N], and their weights."""
    with tf.name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        normal = tf.distributions.Normal(normal_loc, normal_scale, validate_args=validate_args)
        return _between(normal, quadrature_size, bijectors.SoftmaxCentered().forward)


def _categorical(weights: Any) -> Any:
    return tf.distributions.Categorical(logits=tf.log(weights))


class PoissonLogNormalQuadratureCompound(Distribution):  # type: ignore[misc]
    """A Poisson distribution whose rate is log-normally distributed; ``quadrature_size`` points stand for that."""

    mixture_distribution = parameter("mixture_distribution", "Draws the point.")
    distribution = parameter("distribution", "The Poisson distributions of the points.")
    loc = parameter("loc", "The mean of the rate's logarithm.")
    scale = parameter("scale", "The standard deviation of the rate's logarithm.")
    quadrature_size = parameter("quadrature_size", "How many points there are.")

    def __init__(
        self,
        loc: Any,
        scale: Any,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., tuple[Any, Any]] = quadrature_scheme_lognormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "PoissonLogNormalQuadratureCompound",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[loc, scale]) as name:
            self._loc = None if loc is None else tf.convert_to_tensor(loc, name="loc")
            self._scale = None if scale is None else tf.convert_to_tensor(scale, name="scale")
            grid, weights = quadrature_fn(self._loc, self._scale, quadrature_size, validate_args)
            dtype = tf.convert_to_tensor(grid).dtype.base_dtype
            # as in 1.15.5, the grid is that of the rate's logarithm, whatever made it
            self._distribution = Poisson(log_rate=grid, validate_args=validate_args, allow_nan_stats=allow_nan_stats)
            self._mixture_distribution = _categorical(tf.convert_to_tensor(weights, dtype=dtype))
            self._quadrature_size = quadrature_size
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[each for each in (self._loc, self._scale) if each is not None],
            name=name,
        )

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape[:-1]

    def _event_shape(self) -> Any:
        return tf.TensorShape([])

    def _event_shape_tensor(self) -> Any:
        return tf.constant([], dtype=tf.int32)

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        batch = self.batch_shape_tensor()
        places = tf.reduce_prod(batch)
        salted = util.gen_new_seed(seed, "poisson_lognormal_quadrature_compound")
        points = self.mixture_distribution.sample(sample_shape=n * places, seed=salted)
        at = points + self._quadrature_size * tf.tile(tf.range(places), [n])
        rates = tf.gather(tf.reshape(self.distribution.rate, [-1]), at)
        rates = tf.reshape(rates, tf.concat([[n], batch], axis=0))
        return tf.random_poisson(rates, [], dtype=self.dtype, seed=seed)

    def _weighted(self, logs: Any) -> Any:
        return tf.reduce_logsumexp(self.mixture_distribution.logits + logs, axis=-1)

    def _log_prob(self, x: Any) -> Any:
        return self._weighted(self.distribution.log_prob(x[..., tf.newaxis]))

    def _mean(self) -> Any:
        return tf.exp(self._weighted(self.distribution.log_rate))

    def _variance(self) -> Any:
        mean = self._mean()
        weights = tf.nn.softmax(self.mixture_distribution.logits)
        difference = self.distribution.rate - mean[..., tf.newaxis]
        return mean + tf.reduce_sum(weights * tf.square(difference), axis=-1)

    def _stddev(self) -> Any:
        return tf.sqrt(self._variance())


class VectorDiffeomixture(Distribution):  # type: ignore[misc]
    """``sum_k w[k] * (loc[k] + scale[k] @ x)``, of draws x of a scalar distribution, and random weights w.

    The weights are the softmax of a normal variable and 0, with the mean ``mix_loc / temperature`` and the standard
    deviation ``1 / temperature``; ``quadrature_size`` points stand for that.
    """

    mixture_distribution = parameter("mixture_distribution", "Draws the point.")
    distribution = parameter("distribution", "Draws the elements of x.")
    grid = parameter("grid", "The weights of the points, [..., K, N].")
    endpoint_affine = parameter("endpoint_affine", "The maps for k.")
    interpolated_affine = parameter("interpolated_affine", "The maps for the points.")

    def __init__(
        self,
        mix_loc: Any,
        temperature: Any,
        distribution: Any,
        loc: Sequence[Any] | None = None,
        scale: Sequence[Any] | None = None,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., tuple[Any, Any]] = quadrature_scheme_softmaxnormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDiffeomixture",
    ) -> None:
        parameters = dict(locals())
        if not scale or len(scale) < 2:
            raise ValueError("Must specify list (or list-like object) of scale LinearOperators, one a component.")
        locs = [None] * len(scale) if loc is None else list(loc)
        if len(scale) != len(locs):
            raise ValueError(f"loc/scale must be same-length lists (or same-length list-like objects): {len(locs)}")
        if len(scale) != 2:
            raise NotImplementedError(f"Currently only bimixtures are supported; len(scale)={len(scale)} is not 2.")
        dtype = scale[0].dtype.base_dtype
        with tf.name_scope(name, values=[mix_loc, temperature]) as name:
            locs = [
                None if each is None else tf.convert_to_tensor(each, dtype=dtype, name=f"loc{k}")
                for k, each in enumerate(locs)
            ]
            mix_loc = tf.convert_to_tensor(mix_loc, dtype=dtype, name="mix_loc")
            temperature = tf.convert_to_tensor(temperature, dtype=dtype, name="temperature")
            self._grid, weights = quadrature_fn(
                mix_loc / temperature, 1.0 / temperature, quadrature_size, validate_args
            )
            self._mixture_distribution = _categorical(tf.convert_to_tensor(weights, dtype=dtype))
            self._distribution = distribution
            self._endpoint_affine = [
                bijectors.AffineLinearOperator(
                    shift=shift, scale=operator, validate_args=validate_args, name=f"endpoint_affine_{k}"
                )
                for k, (shift, operator) in enumerate(zip(locs, scale, strict=True))
            ]
            self._interpolated_affine = [
                self._interpolated(self._grid[..., q], locs, scale, validate_args, q) for q in range(quadrature_size)
            ]
            self._points = quadrature_size
        super().__init__(
            dtype=dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[each for each in locs if each is not None],
            name=name,
        )

    @staticmethod
    def _interpolated(weights: Any, locs: Sequence[Any], scales: Sequence[Any], validate: bool, q: int) -> Any:
        """The map of a point with ``weights`` [..., K]."""
        parts = [weights[..., k, tf.newaxis] for k in range(len(scales))]
        shifts = [part * loc for part, loc in zip(parts, locs, strict=True) if loc is not None]
        if all([is_diagonal_scale(each) for each in scales]):
            diagonal = tf.add_n([part * each.diag_part() for part, each in zip(parts, scales, strict=True)])
            operator = tf.linalg.LinearOperatorDiag(diagonal, is_non_singular=True, is_positive_definite=True)
        else:
            tril = tf.add_n([part[..., tf.newaxis] * each.to_dense() for part, each in zip(parts, scales, strict=True)])
            operator = tf.linalg.LinearOperatorLowerTriangular(tril, is_non_singular=True)
        return bijectors.AffineLinearOperator(
            shift=tf.add_n(shifts) if shifts else None,
            scale=operator,
            validate_args=validate,
            name=f"interpolated_affine_{q}",
        )

    def _batch_shape(self) -> Any:
        found = self.grid.shape[:-2]
        for affine in self.endpoint_affine:
            found = tf.broadcast_static_shape(found, affine.scale.batch_shape)
            if affine.shift is not None:
                found = tf.broadcast_static_shape(found, affine.shift.shape[:-1])
        return found

    def _batch_shape_tensor(self) -> Any:
        found = tf.shape(self.grid)[:-2]
        for affine in self.endpoint_affine:
            found = tf.broadcast_dynamic_shape(found, affine.scale.batch_shape_tensor())
            if affine.shift is not None:
                found = tf.broadcast_dynamic_shape(found, tf.shape(affine.shift)[:-1])
        return found

    def _event_shape(self) -> Any:
        return tf.TensorShape([self.endpoint_affine[0].scale.range_dimension])

    def _event_shape_tensor(self) -> Any:
        return tf.reshape(self.endpoint_affine[0].scale.range_dimension_tensor(), [1])

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        shape = tf.concat([[n], batch, event], axis=0)
        x = self.distribution.sample(sample_shape=tf.reduce_prod(shape), seed=seed)
        x = tf.reshape(x, shape)
        places = tf.reduce_prod(batch)
        salted = util.gen_new_seed(seed, "vector_diffeomixture")
        points = tf.reshape(self.mixture_distribution.sample(n * places, seed=salted), shape[:-1])
        chosen = tf.one_hot(points, self._points, dtype=self.dtype)[..., tf.newaxis, :]
        weights = tf.reduce_sum(chosen * self.grid, axis=-1)
        parts = [weights[..., k, tf.newaxis] * affine.forward(x) for k, affine in enumerate(self.endpoint_affine)]
        return tf.add_n(parts)

    def _log_prob(self, x: Any) -> Any:
        densities = []
        for affine in self.interpolated_affine:
            inner = tf.reduce_sum(self.distribution.log_prob(affine.inverse(x)), axis=-1)
            densities.append(inner - affine.scale.log_abs_determinant())
        return tf.reduce_logsumexp(tf.stack(densities, axis=-1) + self.mixture_distribution.logits, axis=-1)

    def _weighted(self, parts: list[Any]) -> Any:
        weights = tf.unstack(tf.nn.softmax(self.mixture_distribution.logits), num=self._points, axis=-1)
        return tf.add_n([weight * part for weight, part in zip(weights, parts, strict=True)])

    def _means(self) -> list[Any]:
        shape = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], axis=0)
        inner = tf.fill(shape, tf.cast(self.distribution.mean(), self.dtype))
        return [affine.forward(inner) for affine in self.interpolated_affine]

    def _mean(self) -> Any:
        return self._weighted(self._means())

    def _covariance(self) -> Any:
        mean, variance = self._mean(), tf.cast(self.distribution.variance(), self.dtype)
        parts = []
        for affine, each in zip(self.interpolated_affine, self._means(), strict=True):
            dense = affine.scale.to_dense()
            difference = (each - mean)[..., tf.newaxis]
            outer = tf.matmul(difference, difference, adjoint_b=True)
            parts.append(variance * tf.matmul(dense, dense, adjoint_b=True) + outer)
        return self._weighted(parts)

    def _variance(self) -> Any:
        return tf.matrix_diag_part(self._covariance())
