"""Bijectors of matrices, and of vectors to triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....runtime import private
from ....runtime import tf1 as tf
from ..common import checked
from .base import Bijector

__all__ = ["CholeskyOuterProduct", "FillTriangular", "MatrixInverseTriL", "TransformDiagonal"]

_util: Any = private.distributions_util


class CholeskyOuterProduct(Bijector):  # type: ignore[misc]
    """``y = x @ x.T``, of a lower triangle with a positive diagonal."""

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        x = checked(
            self.validate_args,
            x,
            lambda t: tf.assert_positive(tf.matrix_diag_part(t)),
            lambda t: tf.assert_equal(tf.shape(t)[-2], tf.shape(t)[-1]),
        )
        x = tf.matrix_band_part(x, -1, 0)
        return tf.matmul(x, x, adjoint_b=True)

    def _inverse(self, y: Any) -> Any:
        return tf.cholesky(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        diagonal = checked(self.validate_args, tf.matrix_diag_part(x), lambda t: tf.assert_positive(t))
        size = tf.shape(x)[-1]
        powers = tf.cast(tf.range(size, 0, delta=-1), diagonal.dtype)
        constant = tf.cast(size, diagonal.dtype) * np.log(2.0)
        return constant + tf.reduce_sum(powers * tf.log(diagonal), axis=-1)


def _side(length: int) -> int:
    """The number of rows of the triangle with ``length`` elements.

    Raises:
        ValueError: There is none.
    """
    side = round((-1 + np.sqrt(1 + 8 * length)) / 2)
    if side * (side + 1) // 2 != length:
        raise ValueError(f"Vector of length {length} cannot be transformed to a lower-triangular matrix.")
    return int(side)


class FillTriangular(Bijector):  # type: ignore[misc]
    """Maps a vector to a triangular matrix of its elements."""

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular") -> None:
        self._upper = upper
        super().__init__(
            forward_min_event_ndims=1,
            inverse_min_event_ndims=2,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Any) -> Any:
        return _util.fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Any) -> Any:
        return _util.fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: Any) -> Any:
        length = tf.compat.dimension_value(input_shape[-1])
        side = None if length is None else _side(length)
        return input_shape[:-1].concatenate([side, side])

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        sides = [tf.compat.dimension_value(side) for side in output_shape[-2:]]
        if None not in sides and sides[0] != sides[1]:
            raise ValueError("Matrix must be square")
        length = None if None in sides else sides[0] * (sides[0] + 1) // 2
        return output_shape[:-2].concatenate([length])

    def _forward_event_shape_tensor(self, input_shape_tensor: Any) -> Any:
        length = tf.cast(input_shape_tensor[-1], tf.float64)
        side = tf.cast(tf.round((tf.sqrt(1.0 + 8.0 * length) - 1.0) / 2.0), tf.int32)
        if self.validate_args:
            whole = tf.assert_equal(side * (side + 1) // 2, input_shape_tensor[-1], message="not a triangular number")
            with tf.control_dependencies([whole]):
                side = tf.identity(side)
        return tf.concat([input_shape_tensor[:-1], [side, side]], axis=0)

    def _inverse_event_shape_tensor(self, output_shape_tensor: Any) -> Any:
        side = output_shape_tensor[-1]
        if self.validate_args:
            square = tf.assert_equal(side, output_shape_tensor[-2], message="Matrix must be square.")
            with tf.control_dependencies([square]):
                side = tf.identity(side)
        return tf.concat([output_shape_tensor[:-2], [side * (side + 1) // 2]], axis=0)


class MatrixInverseTriL(Bijector):  # type: ignore[misc]
    """``y = inv(x)``, of a lower triangle."""

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _valid(self, x: Any) -> Any:
        return checked(
            self.validate_args,
            x,
            lambda t: tf.assert_equal(tf.shape(t)[-2], tf.shape(t)[-1], message="Input must be square."),
            lambda t: tf.assert_equal(tf.matrix_band_part(t, 0, -1), tf.matrix_diag(tf.matrix_diag_part(t))),
            lambda t: tf.assert_none_equal(tf.matrix_diag_part(t), tf.zeros([], t.dtype)),
        )

    def _forward(self, x: Any) -> Any:
        x = self._valid(x)
        shape = tf.shape(x)
        return tf.matrix_triangular_solve(x, tf.eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype))

    def _inverse(self, y: Any) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        x = self._valid(x)
        columns = tf.cast(tf.shape(x)[-1], x.dtype.base_dtype)
        logs = tf.log(tf.abs(tf.matrix_diag_part(x)))
        # as in 1.15.5: the determinant of the map of all matrices, not of triangles alone
        return -2.0 * columns * tf.reduce_sum(logs, axis=-1)


class TransformDiagonal(Bijector):  # type: ignore[misc]
    """Maps a matrix's diagonal by another bijector, and leaves the rest as it is."""

    def __init__(self, diag_bijector: Any, validate_args: bool = False, name: str = "transform_diagonal") -> None:
        self._diag_bijector = diag_bijector
        super().__init__(
            forward_min_event_ndims=2,
            inverse_min_event_ndims=2,
            is_constant_jacobian=diag_bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=diag_bijector.dtype,
            name=name,
        )

    def _forward(self, x: Any) -> Any:
        return tf.matrix_set_diag(x, self._diag_bijector.forward(tf.matrix_diag_part(x)))

    def _inverse(self, y: Any) -> Any:
        return tf.matrix_set_diag(y, self._diag_bijector.inverse(tf.matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._diag_bijector.forward_log_det_jacobian(tf.matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._diag_bijector.inverse_log_det_jacobian(tf.matrix_diag_part(y), event_ndims=1)
