"""Normal, exponential, Laplace and Student's distributions of vectors: a scalar one's draws, scaled and shifted."""

from __future__ import annotations

import math
from typing import Any

from ...runtime import tf1 as tf
from . import bijectors
from .common import parameter, util
from .distribution_util import is_diagonal_scale, make_diag_scale, make_tril_scale, shapes_from_loc_and_scale
from .transformed_distribution import TransformedDistribution

__all__ = [
    "MultivariateNormalDiag",
    "MultivariateNormalDiagPlusLowRank",
    "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance",
    "MultivariateNormalLinearOperator",
    "MultivariateNormalTriL",
    "VectorExponentialDiag",
    "VectorExponentialLinearOperator",
    "VectorLaplaceDiag",
    "VectorLaplaceLinearOperator",
]

_d: Any = tf.distributions


class _LinearOperator(TransformedDistribution):
    """``loc + scale @ x``, of an x whose elements are drawn from a scalar distribution.

    Subclasses say that, and its variance and its mean.
    """

    _element_variance = 1.0
    _element_mean = 0.0

    def _element(self, dtype: Any) -> Any:
        raise NotImplementedError

    def _build(self, given: dict[str, Any], loc: Any, scale: Any, name: str) -> None:
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with tf.name_scope(name, values=[loc]):
            loc = None if loc is None else tf.convert_to_tensor(loc, name="loc", dtype=scale.dtype)
            batch_shape, event_shape = shapes_from_loc_and_scale(loc, scale)
        TransformedDistribution.__init__(
            self,
            distribution=self._element(scale.dtype),
            bijector=bijectors.AffineLinearOperator(shift=loc, scale=scale, validate_args=given["validate_args"]),
            batch_shape=batch_shape,
            event_shape=event_shape,
            validate_args=given["validate_args"],
            name=name,
        )
        self._parameters = given

    def _build_diagonal(self, given: dict[str, Any]) -> None:
        loc, diagonal, multiplier = given["loc"], given["scale_diag"], given["scale_identity_multiplier"]
        with tf.name_scope(given["name"]) as name, tf.name_scope("init", values=[loc, diagonal, multiplier]):
            scale = make_diag_scale(loc, diagonal, multiplier, validate_args=given["validate_args"])
        self._build(given, loc, scale, name)

    @property
    def loc(self) -> Any:
        """The shift, or None."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The operator."""
        return self.bijector.scale

    def _spread(self, value: Any) -> Any:
        """``value`` at each place of an event."""
        if value.shape.is_fully_defined() and self.batch_shape.concatenate(self.event_shape) == value.shape:
            return value
        return value + tf.zeros(tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)

    def _mean(self) -> Any:
        if not self._element_mean:
            return self._mode()
        ones = tf.ones(tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)
        moved = self.scale.matvec(self._element_mean * ones)
        return moved if self.loc is None else moved + self.loc

    def _covariance(self) -> Any:
        if is_diagonal_scale(self.scale):
            product = tf.matrix_diag(tf.square(self.scale.diag_part()))
        else:
            product = self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)
        return self._element_variance * product

    def _variance(self) -> Any:
        if is_diagonal_scale(self.scale):
            found = tf.square(self.scale.diag_part())
        elif isinstance(self.scale, tf.linalg.LinearOperatorLowRankUpdate) and self.scale.is_self_adjoint:
            found = tf.matrix_diag_part(self.scale.matmul(self.scale.to_dense()))
        else:
            found = tf.matrix_diag_part(self.scale.matmul(self.scale.to_dense(), adjoint_arg=True))
        return self._element_variance * found

    def _stddev(self) -> Any:
        if is_diagonal_scale(self.scale):
            return math.sqrt(self._element_variance) * tf.abs(self.scale.diag_part())
        return tf.sqrt(self._variance())

    def _mode(self) -> Any:
        if self.loc is None:
            return tf.zeros(tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)
        return self._spread(self.loc)


class MultivariateNormalLinearOperator(_LinearOperator):
    """The normal distribution of vectors with the mean ``loc`` and the covariance ``scale @ scale.T``."""

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        self._build(dict(locals()), loc, scale, name)

    def _element(self, dtype: Any) -> Any:
        return _d.Normal(loc=tf.zeros([], dtype), scale=tf.ones([], dtype))


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """The normal distribution of vectors whose elements are independent.

    The scale is ``scale_diag + scale_identity_multiplier``, and 1 without both.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        self._build_diagonal(dict(locals()))


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """The normal distribution of vectors whose elements are independent, of the scale ``softplus(scale_diag)``."""

    def __init__(
        self,
        loc: Any,
        scale_diag: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[scale_diag]) as name:
            scale_diag = tf.nn.softplus(scale_diag)
        super().__init__(
            loc=loc, scale_diag=scale_diag, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name
        )
        self._parameters = parameters


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The normal distribution of vectors whose covariance is ``scale_tril @ scale_tril.T``, or 1."""

    def __init__(
        self,
        loc: Any = None,
        scale_tril: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name) as name, tf.name_scope("init", values=[loc, scale_tril]):
            scale = _tril_operator(loc, scale_tril, validate_args)
        self._build(parameters, loc, scale, name)


def _tril_operator(loc: Any, scale_tril: Any, validate_args: bool) -> Any:
    loc = None if loc is None else tf.convert_to_tensor(loc, name="loc")
    if scale_tril is None and loc is None:
        raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
    return make_tril_scale(loc, scale_tril, validate_args=validate_args)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution of vectors with this covariance, of whose upper triangle nothing is read."""

    def __init__(
        self,
        loc: Any = None,
        covariance_matrix: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name) as name, tf.name_scope("init", values=[loc, covariance_matrix]):
            scale_tril = None
            if covariance_matrix is not None:
                covariance_matrix = tf.convert_to_tensor(covariance_matrix, name="covariance_matrix")
                if validate_args:
                    with tf.control_dependencies([util.assert_symmetric(covariance_matrix)]):
                        covariance_matrix = tf.identity(covariance_matrix)
                scale_tril = tf.cholesky(covariance_matrix)
            super().__init__(
                loc=loc, scale_tril=scale_tril, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name
            )
        self._parameters = parameters


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The normal distribution of vectors whose scale is a diagonal matrix and a perturbation of low rank.

    ``scale = diag(scale_diag) + scale_identity_multiplier * 1 + F @ diag(scale_perturb_diag) @ F.T`` with
    ``F = scale_perturb_factor``.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ) -> None:
        parameters = dict(locals())
        values = [loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]
        with tf.name_scope(name) as name, tf.name_scope("init", values=values):
            has_factor = scale_perturb_factor is not None
            scale = make_diag_scale(
                loc,
                scale_diag,
                scale_identity_multiplier,
                validate_args=validate_args,
                assert_positive=has_factor,
            )
            factor = _optional(scale_perturb_factor, "scale_perturb_factor")
            perturb_diag = _optional(scale_perturb_diag, "scale_perturb_diag")
            if factor is not None:
                scale = tf.linalg.LinearOperatorLowRankUpdate(
                    scale,
                    u=factor,
                    diag_update=perturb_diag,
                    is_diag_update_positive=perturb_diag is None,
                    is_non_singular=True,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                )
        self._build(parameters, loc, scale, name)


def _optional(value: Any, name: str) -> Any:
    return None if value is None else tf.convert_to_tensor(value, name=name)


class VectorExponentialLinearOperator(_LinearOperator):
    """``loc + scale @ x``, of an x whose elements are exponentially distributed."""

    _element_mean = 1.0

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialLinearOperator",
    ) -> None:
        self._build(dict(locals()), loc, scale, name)

    def _element(self, dtype: Any) -> Any:
        return _d.Exponential(rate=tf.ones([], dtype))


class VectorExponentialDiag(VectorExponentialLinearOperator):
    """``loc + scale * x``, of an x whose elements are exponentially distributed.

    The scale is ``scale_diag + scale_identity_multiplier``, and 1 without both.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ) -> None:
        self._build_diagonal(dict(locals()))


class VectorLaplaceLinearOperator(_LinearOperator):
    """``loc + scale @ x``, of an x whose elements have Laplace's distribution."""

    _element_variance = 2.0

    def __init__(
        self,
        loc: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceLinearOperator",
    ) -> None:
        self._build(dict(locals()), loc, scale, name)

    def _element(self, dtype: Any) -> Any:
        return _d.Laplace(loc=tf.zeros([], dtype), scale=tf.ones([], dtype))


class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """``loc + scale * x``, of an x whose elements have Laplace's distribution.

    The scale is ``scale_diag + scale_identity_multiplier``, and 1 without both.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ) -> None:
        self._build_diagonal(dict(locals()))


class VectorStudentT(TransformedDistribution):
    """``loc + scale @ x``, of an x whose elements have Student's distribution with ``df`` degrees of freedom.

    The scale's parts are those of the bijector Affine.
    """

    df = parameter("df", "The degrees of freedom.")

    def __init__(
        self,
        df: Any,
        loc: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorStudentT",
    ) -> None:
        parameters = dict(locals())
        parts = {
            "shift": loc,
            "scale_identity_multiplier": scale_identity_multiplier,
            "scale_diag": scale_diag,
            "scale_tril": scale_tril,
            "scale_perturb_factor": scale_perturb_factor,
            "scale_perturb_diag": scale_perturb_diag,
        }
        with tf.name_scope(name) as name, tf.name_scope("init", values=[df, *parts.values()]):
            affine = bijectors.Affine(**parts, validate_args=validate_args)
            element = _d.StudentT(
                df=df, loc=tf.zeros([], affine.dtype), scale=tf.ones([], affine.dtype), validate_args=validate_args
            )
            batch_shape, event_shape = shapes_from_loc_and_scale(affine.shift, affine.scale)
            scalar = tf.get_static_value(element.is_scalar_batch())
            if scalar is False or (scalar is not None and not bool(scalar)):
                batch_shape = None
        super().__init__(
            distribution=element,
            bijector=affine,
            batch_shape=batch_shape,
            event_shape=event_shape,
            validate_args=validate_args,
            name=name,
        )
        self._df = element.df
        self._parameters = parameters

    @property
    def loc(self) -> Any:
        """The shift, or None."""
        return self.bijector.shift

    @property
    def scale(self) -> Any:
        """The operator, or a tensor where it is a multiple of the identity alone."""
        return self.bijector.scale
