"""Bijectors of vectors that are affine maps, by the parts of a matrix or by an operator."""

from __future__ import annotations

from typing import Any

from ....runtime import tf1 as tf
from ..common import parameter
from ..distribution_util import make_tril_scale
from .base import Bijector

__all__ = ["Affine", "AffineLinearOperator"]


class Affine(Bijector):  # type: ignore[misc]
    """``y = scale @ x + shift``, of a ``scale`` that is the sum of the parts that are given.

    The parts: a multiple of the identity, a diagonal, a lower triangle, and ``F @ diag(d) @ F.T`` with the perturbation
    factor F and the perturbation diagonal d. A multiple of the identity alone takes vectors of any size.
    """

    shift = parameter("shift", "The shift, or None.")
    scale = parameter("scale", "The operator, or a tensor where it is a multiple of the identity alone.")

    def __init__(
        self,
        shift: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("scale_perturb_diag needs scale_perturb_factor")
        parts = [scale_diag, scale_tril, scale_perturb_factor]
        self._multiplier_only = all([part is None for part in parts])
        values = [shift, scale_identity_multiplier, *parts, scale_perturb_diag]
        with tf.name_scope("init"), tf.name_scope(name, values=values):
            tensors = [None if value is None else tf.convert_to_tensor(value) for value in values]
            dtype = next((tensor.dtype.base_dtype for tensor in tensors if tensor is not None), tf.float32)
            self._shift = tensors[0]
            if self._multiplier_only:
                self._scale = tf.convert_to_tensor(1.0 if tensors[1] is None else tensors[1], dtype=dtype)
                if validate_args:
                    nonzero = tf.assert_none_equal(self._scale, tf.zeros([], dtype), message="scale is zero")
                    with tf.control_dependencies([nonzero]):
                        self._scale = tf.identity(self._scale)
            else:
                self._scale = self._operator(tensors, validate_args)
        super().__init__(
            graph_parents=[tensor for tensor in tensors if tensor is not None],
            is_constant_jacobian=True,
            dtype=dtype,
            validate_args=validate_args,
            forward_min_event_ndims=1,
            name=name,
        )

    @staticmethod
    def _operator(tensors: list[Any], validate_args: bool) -> Any:
        shift, multiplier, diagonal, tril, factor, perturb_diag = tensors
        hint = None if factor is None else tf.compat.dimension_value(factor.shape[-2])
        if factor is not None and hint is None:
            hint = tf.shape(factor)[-2]
        scale = make_tril_scale(
            loc=shift,
            scale_tril=tril,
            scale_diag=diagonal,
            # F @ F.T alone has no inverse: 1.15 perturbs the identity
            scale_identity_multiplier=multiplier,
            shape_hint=hint,
            validate_args=validate_args,
        )
        if factor is None:
            return scale
        return tf.linalg.LinearOperatorLowRankUpdate(
            scale,
            u=factor,
            diag_update=perturb_diag,
            is_diag_update_positive=perturb_diag is None,
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=perturb_diag is None,
        )

    def _forward(self, x: Any) -> Any:
        y = x * self._scale[..., tf.newaxis] if self._multiplier_only else self.scale.matvec(x)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x / self._scale[..., tf.newaxis] if self._multiplier_only else self.scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._multiplier_only:
            return tf.log(tf.abs(self._scale)) * tf.cast(tf.shape(x)[-1], x.dtype)
        return self.scale.log_abs_determinant()


class AffineLinearOperator(Bijector):  # type: ignore[misc]
    """``y = scale @ x + shift``, of a linear operator ``scale``."""

    shift = parameter("shift", "The shift, or None.")
    scale = parameter("scale", "The operator, or None.")

    def __init__(
        self,
        shift: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        name: str = "affine_linear_operator",
    ) -> None:
        dtype = None
        parents: list[Any] = []
        with tf.name_scope(name, values=[shift]):
            if shift is not None:
                shift = tf.convert_to_tensor(shift, name="shift")
                parents, dtype = [shift], shift.dtype.base_dtype
            if scale is not None:
                if not isinstance(scale, tf.linalg.LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if dtype is not None and dtype != scale.dtype.base_dtype:
                    raise TypeError(f"shift.dtype({dtype}) is incompatible with scale.dtype({scale.dtype}).")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                dtype = scale.dtype.base_dtype
        self._shift, self._scale = shift, scale
        super().__init__(
            graph_parents=parents,
            is_constant_jacobian=True,
            dtype=dtype,
            validate_args=validate_args,
            forward_min_event_ndims=1,
            name=name,
        )

    def _checks(self) -> list[Any]:
        return [self.scale.assert_non_singular()] if self.validate_args and self.scale is not None else []

    def _forward(self, x: Any) -> Any:
        y = x
        if self.scale is not None:
            with tf.control_dependencies(self._checks()):
                y = self.scale.matvec(y)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        if self.scale is None:
            return x
        with tf.control_dependencies(self._checks()):
            return self.scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self.scale is None:
            return tf.constant(0.0, x.dtype.base_dtype)
        with tf.control_dependencies(self._checks()):
            return self.scale.log_abs_determinant()
