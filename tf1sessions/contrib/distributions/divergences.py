"""The divergences of Kullback and Leibler that 1.15 registered for the distributions here."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from .distribution_util import is_diagonal_scale
from .mvn_linear_operator import MultivariateNormalLinearOperator
from .onehot import OneHotCategorical
from .wrappers import Independent

__all__: list[str] = []

_registered: Any = tf.distributions.RegisterKL


def _squared_norm(matrix: Any) -> Any:
    return tf.reduce_sum(tf.square(matrix), axis=[-2, -1])


@_registered(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)  # type: ignore[untyped-decorator]
def _normals(a: Any, b: Any, name: str | None = None) -> Any:
    with tf.name_scope(name, "kl_mvn", values=[a.loc, b.loc, *a.scale.graph_parents, *b.scale.graph_parents]):
        if is_diagonal_scale(a.scale) and is_diagonal_scale(b.scale):
            ratio = tf.reduce_sum(tf.square(a.scale.diag_part() / b.scale.diag_part()), axis=-1)
        else:
            ratio = _squared_norm(b.scale.solve(a.scale.to_dense()))
        size = tf.cast(a.scale.domain_dimension_tensor(), a.dtype)
        difference = b.mean() - a.mean()
        distance = _squared_norm(b.scale.solve(difference[..., tf.newaxis]))
        logs = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        found = logs + 0.5 * (-size + ratio + distance)
        found.set_shape(tf.broadcast_static_shape(a.batch_shape, b.batch_shape))
        return found


@_registered(OneHotCategorical, OneHotCategorical)  # type: ignore[untyped-decorator]
def _one_hot(a: Any, b: Any, name: str | None = None) -> Any:
    with tf.name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        difference = tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)
        return tf.reduce_sum(tf.nn.softmax(a.logits) * difference, axis=-1)


@_registered(Independent, Independent)  # type: ignore[untyped-decorator]
def _independent(a: Any, b: Any, name: str | None = None) -> Any:
    inner_a, inner_b = a.distribution, b.distribution
    if not (a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined()):
        raise NotImplementedError("KL between Independents not yet supported without static event shapes.")
    if a.event_shape != b.event_shape:
        raise ValueError("KL between Independents with different event shapes not supported.")
    if inner_a.event_shape != inner_b.event_shape:
        raise NotImplementedError("KL between Independents whose inner distributions have different event shapes.")
    count = a.event_shape.ndims - inner_a.event_shape.ndims
    found = tf.distributions.kl_divergence(inner_a, inner_b, name=name)
    return tf.reduce_sum(found, axis=[-1 - i for i in range(count)])
