"""The linear operators by which vectors are scaled, made of what a distribution's arguments say."""

from __future__ import annotations

from typing import Any

from ...runtime import private as _private
from ...runtime import tf1 as tf

__all__ = ["is_diagonal_scale", "make_diag_scale", "make_tril_scale", "shapes_from_loc_and_scale"]

_util: Any = _private.distributions_util
_linalg: Any = tf.linalg


def _checked_diagonal(diagonal: Any, validate_args: bool, positive: bool) -> Any:
    if not validate_args:
        return diagonal
    if positive:
        check = tf.assert_positive(diagonal, message="diagonal part must be positive")
    else:
        check = tf.assert_none_equal(diagonal, tf.zeros([], diagonal.dtype), message="diagonal part must be non-zero")
    with tf.control_dependencies([check]):
        return tf.identity(diagonal)


def make_diag_scale(
    loc: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: int | None = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> Any:
    """Return the operator of ``scale_diag + scale_identity_multiplier``, as a diagonal matrix.

    Without ``scale_diag``, the size is ``shape_hint`` or that of ``loc``'s last dimension.

    Raises:
        ValueError: Nothing says the size.
    """
    with tf.name_scope(name, "make_diag_scale", [loc, scale_diag, scale_identity_multiplier]):
        loc, scale_diag, multiplier = (
            None if value is None else tf.convert_to_tensor(value, name=key)
            for key, value in (
                ("loc", loc),
                ("scale_diag", scale_diag),
                ("scale_identity_multiplier", scale_identity_multiplier),
            )
        )
        if scale_diag is not None:
            if multiplier is not None:
                scale_diag = scale_diag + multiplier[..., tf.newaxis]
            return _linalg.LinearOperatorDiag(
                diag=_checked_diagonal(scale_diag, validate_args, assert_positive),
                is_non_singular=True,
                is_self_adjoint=True,
                is_positive_definite=assert_positive,
            )
        if loc is None and shape_hint is None:
            raise ValueError(
                "Cannot infer `event_shape` unless `loc` or `shape_hint` is specified, and `scale_diag` is not."
            )
        size: Any = shape_hint
        if size is None:
            size = tf.compat.dimension_value(loc.shape[-1])
            size = tf.shape(loc)[-1] if size is None else size
        if multiplier is None:
            return _linalg.LinearOperatorIdentity(
                num_rows=size,
                dtype=None if loc is None else loc.dtype.base_dtype,
                is_self_adjoint=True,
                is_positive_definite=True,
                assert_proper_shapes=validate_args,
            )
        return _linalg.LinearOperatorScaledIdentity(
            num_rows=size,
            multiplier=_checked_diagonal(multiplier, validate_args, assert_positive),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=assert_positive,
            assert_proper_shapes=validate_args,
        )


def make_tril_scale(
    loc: Any = None,
    scale_tril: Any = None,
    scale_diag: Any = None,
    scale_identity_multiplier: Any = None,
    shape_hint: int | None = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> Any:
    """Return the operator of the sum of the given parts: that of a lower triangle, or without one of a diagonal."""
    if scale_tril is None:
        return make_diag_scale(
            loc, scale_diag, scale_identity_multiplier, shape_hint, validate_args, assert_positive, name
        )
    with tf.name_scope(name, "make_tril_scale", [loc, scale_diag, scale_identity_multiplier]):
        tril = tf.matrix_band_part(tf.convert_to_tensor(scale_tril, name="scale_tril"), -1, 0)
        diagonal = tf.matrix_diag_part(tril)
        for key, value in (("scale_diag", scale_diag), ("scale_identity_multiplier", scale_identity_multiplier)):
            if value is not None:
                part = tf.convert_to_tensor(value, name=key)
                diagonal = diagonal + (part if key == "scale_diag" else part[..., tf.newaxis])
        if scale_diag is not None or scale_identity_multiplier is not None or validate_args:
            tril = tf.matrix_set_diag(tril, _checked_diagonal(diagonal, validate_args, assert_positive))
        return _linalg.LinearOperatorLowerTriangular(
            tril=tril, is_non_singular=True, is_self_adjoint=False, is_positive_definite=assert_positive
        )


def is_diagonal_scale(scale: Any) -> bool:
    """Whether the operator ``scale`` is one of a diagonal matrix, by its class.

    Raises:
        TypeError: It is no linear operator.
    """
    if not isinstance(scale, _linalg.LinearOperator):
        raise TypeError(f"Expected argument 'scale' to be instance of LinearOperator. Found: {scale}")
    return isinstance(
        scale, (_linalg.LinearOperatorIdentity, _linalg.LinearOperatorScaledIdentity, _linalg.LinearOperatorDiag)
    )


def shapes_from_loc_and_scale(loc: Any, scale: Any, name: str = "shapes_from_loc_and_scale") -> tuple[Any, Any]:
    """Return the shapes, of the batch and of an event, of ``loc + scale @ x``: as they are known, else as tensors.

    Raises:
        ValueError: The size of ``loc`` is not that of ``scale``.
    """
    if loc is not None and loc.shape.ndims == 0:
        loc = None  # a scalar broadcasts
    with tf.name_scope(name, values=[loc]):
        size = tf.compat.dimension_value(scale.range_dimension)
        event = scale.range_dimension_tensor() if size is None else size
        batch: Any = scale.batch_shape
        batch = batch.as_list() if batch.is_fully_defined() else scale.batch_shape_tensor()
        if loc is None:
            return _vector(batch, None), _vector(event, [-1])
        known = tf.compat.dimension_value(loc.shape[-1])
        if known is not None and size is not None and known not in (1, size):
            raise ValueError(f"Event size of 'scale' ({size}) could not be broadcast up to that of 'loc' ({known}).")
        lead = loc.shape[:-1]
        lead = lead.as_list() if lead.is_fully_defined() else tf.shape(loc)[:-1]
        return _util.prefer_static_broadcast_shape(_vector(batch, None), _vector(lead, None)), _vector(event, [-1])


def _vector(shape: Any, reshaped: list[int] | None) -> Any:
    """``shape`` as a TensorShape where it is known, else as a tensor."""
    if isinstance(shape, tf.Tensor):
        return tf.reshape(shape, reshaped) if reshaped else shape
    return tf.TensorShape([shape] if isinstance(shape, int) else shape)
