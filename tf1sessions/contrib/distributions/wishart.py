"""Wishart's distribution, of sums of outer products of normal vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...runtime import tf1 as tf
from .common import FULLY_REPARAMETERIZED, Distribution, parameter, util

__all__ = ["WishartCholesky", "WishartFull", "WishartLinearOperator"]


class WishartLinearOperator(Distribution):  # type: ignore[misc]
    """Matrices [..., K, K]: sums of ``df`` outer products of vectors with the covariance ``scale @ scale.T``.

    With ``cholesky_input_output_matrices``, matrices are given and drawn as their lower Cholesky factors.
    """

    df = parameter("df", "The degrees of freedom.")
    scale_operator = parameter("scale_operator", "The operator of the scale's Cholesky factor.")
    cholesky_input_output_matrices = parameter("cholesky_inout", "Whether Cholesky factors are drawn.")
    dimension = parameter("dimension", "K.")

    def __init__(
        self,
        df: Any,
        scale_operator: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        self._cholesky_inout = cholesky_input_output_matrices
        name = name or type(self).__name__
        with tf.name_scope(name, values=[df]) as name:
            if not scale_operator.dtype.is_floating:
                raise TypeError(f"scale_operator.dtype={scale_operator.dtype} is not a floating-point type")
            if not scale_operator.is_square:
                raise ValueError("scale_operator must be square.")
            self._scale_operator = scale_operator
            self._df = tf.convert_to_tensor(df, dtype=scale_operator.dtype, name="df")
            tf.debugging.assert_same_float_dtype([self._df], scale_operator.dtype)
            known = tf.compat.dimension_value(scale_operator.shape[-1])
            if known is None:
                self._dimension = tf.cast(scale_operator.domain_dimension_tensor(), scale_operator.dtype, "dimension")
            else:
                self._dimension = tf.convert_to_tensor(known, dtype=scale_operator.dtype, name="dimension")
            self._check_df(known, validate_args)
        super().__init__(
            dtype=scale_operator.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._df, self._dimension],
            name=name,
        )

    def _check_df(self, size: int | None, validate_args: bool) -> None:
        df = tf.get_static_value(self._df)
        message = f"Degrees of freedom (df = {df}) cannot be less than dimension of scale matrix ({size})"
        if df is not None and size is not None:
            if not df.shape:
                df = np.array([df])
            if (df < size).any():
                raise ValueError(message)
        elif validate_args:
            check = tf.assert_less_equal(self._dimension, self._df, message=message)
            with tf.control_dependencies([check]):
                self._df = tf.identity(self._df)

    def scale(self) -> Any:
        """Return the scale, as matrices."""
        if self._cholesky_inout:
            return self.scale_operator.to_dense()
        return self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)

    def _square_scale(self) -> Any:
        return self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)

    def _event_shape_tensor(self) -> Any:
        size = self.scale_operator.domain_dimension_tensor()
        return tf.stack([size, size])

    def _event_shape(self) -> Any:
        size = self.scale_operator.domain_dimension
        return tf.TensorShape([size, size])

    def _batch_shape_tensor(self) -> Any:
        return self.scale_operator.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.scale_operator.batch_shape

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        # Bartlett's decomposition: normal below the diagonal, the square roots of chi-squared values on it
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        shape = tf.concat([[n], batch, event], 0)
        x = tf.random_normal(shape=shape, mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed)
        one = tf.ones(tf.concat([batch, [1]], 0) if self.batch_shape.ndims != 0 else [], dtype=self.df.dtype)
        half = 0.5 * (self.df if self.batch_shape.ndims == 0 else self.df[..., tf.newaxis] * one)
        gamma = tf.random_gamma(
            shape=[n],
            alpha=self._sequence(half, squeezed=self.batch_shape.ndims != 0),
            beta=0.5,
            dtype=self.dtype,
            seed=util.gen_new_seed(seed, "wishart"),
        )
        x = tf.matrix_band_part(x, -1, 0)
        x = tf.matrix_set_diag(x, tf.sqrt(gamma))
        x = self.scale_operator.matmul(x)
        x.set_shape(tf.TensorShape([None]).concatenate(self.batch_shape).concatenate(self.event_shape))
        return x if self._cholesky_inout else tf.matmul(x, x, adjoint_b=True)

    def _sequence(self, a: Any, squeezed: bool = False) -> Any:
        """``a``, ``a - 1/2`` and so on, as many as a matrix has rows, as the last dimension."""
        steps = tf.linspace(
            tf.constant(0.0, dtype=self.dtype), 0.5 - 0.5 * self.dimension, tf.cast(self.dimension, tf.int32)
        )
        return steps + (a if squeezed else a[..., tf.newaxis])

    def _log_multi_gamma(self, a: Any) -> Any:
        constant = 0.25 * self.dimension * (self.dimension - 1.0) * math.log(math.pi)
        return constant + tf.reduce_sum(tf.lgamma(self._sequence(a)), axis=[-1])

    def _multi_digamma(self, a: Any) -> Any:
        return tf.reduce_sum(tf.digamma(self._sequence(a)), axis=[-1])

    def log_normalization(self, name: str = "log_normalization") -> Any:
        """Return the logarithm of what the density is divided by."""
        with self._name_scope(name):
            scale = self.df * self.scale_operator.log_abs_determinant()
            return scale + 0.5 * self.df * self.dimension * math.log(2.0) + self._log_multi_gamma(0.5 * self.df)

    def mean_log_det(self, name: str = "mean_log_det") -> Any:
        """Return the mean of the logarithm of a draw's determinant."""
        with self._name_scope(name):
            constant = self.dimension * math.log(2.0) + 2 * self.scale_operator.log_abs_determinant()
            return self._multi_digamma(0.5 * self.df) + constant

    def _log_prob(self, x: Any) -> Any:
        root = x if self._cholesky_inout else tf.cholesky(x)
        # the trace of inv(scale) @ x: the squares of inv(scale's root) @ x's root
        solved = self._solve(root)
        trace = tf.reduce_sum(tf.square(solved), axis=[-2, -1])
        log_det = tf.reduce_sum(tf.log(tf.matrix_diag_part(root)), axis=[-1])
        return (self.df - self.dimension - 1.0) * log_det - 0.5 * trace - self.log_normalization()

    def _solve(self, root: Any) -> Any:
        """inv(scale) @ root, whatever dimensions of a sample are before those of the batch."""
        known = root.shape.ndims is not None and self.batch_shape.ndims is not None
        if known and root.shape.ndims == self.batch_shape.ndims + 2:
            return self.scale_operator.solve(root)
        dense = self.scale_operator.to_dense()
        shape = tf.broadcast_dynamic_shape(tf.shape(root)[:-2], tf.shape(dense)[:-2])
        full = tf.broadcast_to(dense, tf.concat([shape, tf.shape(dense)[-2:]], axis=0))
        return tf.matrix_triangular_solve(full, root)

    def _prob(self, x: Any) -> Any:
        return tf.exp(self._log_prob(x))

    def _entropy(self) -> Any:
        half = 0.5 * self.df
        mean_log_det = self.mean_log_det()
        return self.log_normalization() - (half - 0.5 * (self.dimension + 1.0)) * mean_log_det + half * self.dimension

    def _df_matrix(self, value: Any) -> Any:
        return value[..., tf.newaxis, tf.newaxis]

    def _mean(self) -> Any:
        if self._cholesky_inout:
            return tf.sqrt(self._df_matrix(self.df)) * self.scale_operator.to_dense()
        return self._df_matrix(self.df) * self._square_scale()

    def _variance(self) -> Any:
        square = self._square_scale()
        diagonal = tf.matrix_diag_part(square)
        variance = self._df_matrix(self.df) * (
            tf.square(square) + diagonal[..., tf.newaxis] * diagonal[..., tf.newaxis, :]
        )
        return tf.cholesky(variance) if self._cholesky_inout else variance

    def _stddev(self) -> Any:
        if self._cholesky_inout:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        # as in 1.15.5, which takes the variances' Cholesky factor
        return tf.cholesky(self._variance())

    def _mode(self) -> Any:
        free = self.df - self.dimension - 1.0
        free = tf.where(free < 0.0, tf.fill(tf.shape(free), tf.constant(np.nan, self.dtype)), free)
        if self._cholesky_inout:
            return tf.sqrt(self._df_matrix(free)) * self.scale_operator.to_dense()
        return self._df_matrix(free) * self._square_scale()


class WishartCholesky(WishartLinearOperator):
    """Wishart's distribution, whose scale is given by its lower Cholesky factor."""

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[scale]) as name:
            scale = tf.convert_to_tensor(scale)
            if validate_args:
                checks = [
                    tf.assert_positive(tf.matrix_diag_part(scale), message="scale must be positive definite"),
                    tf.assert_equal(tf.shape(scale)[-1], tf.shape(scale)[-2], message="scale must be square"),
                ]
                with tf.control_dependencies(checks):
                    scale = tf.identity(scale)
            super().__init__(
                df,
                _triangle(scale),
                cholesky_input_output_matrices=cholesky_input_output_matrices,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


def _triangle(tril: Any) -> Any:
    return tf.linalg.LinearOperatorLowerTriangular(
        tril=tril, is_non_singular=True, is_positive_definite=True, is_square=True
    )


class WishartFull(WishartLinearOperator):
    """Wishart's distribution, whose scale is given as symmetric matrices."""

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ) -> None:
        parameters = dict(locals())
        with tf.name_scope(name, values=[scale]) as name:
            scale = tf.convert_to_tensor(scale)
            if validate_args:
                with tf.control_dependencies([util.assert_symmetric(scale)]):
                    scale = tf.identity(scale)
            super().__init__(
                df,
                _triangle(tf.cholesky(scale)),
                cholesky_input_output_matrices=cholesky_input_output_matrices,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters
