"""GGT, adaptive regularization with the full matrix of the last gradients: https://arxiv.org/abs/1806.02958."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime import tf1 as tf
from .base import RuleOptimizer

__all__ = ["GGTOptimizer"]


class GGTOptimizer(RuleOptimizer):
    """All variables as one vector; the last ``window`` first moments, as a matrix, give the preconditioner.

    It has no slots, but four variables: ``global_step``, ``grad_buffer`` [window, D], ``moment1`` [D] and ``flat_grad``
    [D], where D is the number of all trained values.

    Args:
        learning_rate: A number or tensor.
        beta1: The decay of the first moment.
        use_locking: Whether updates take locks.
        name: Of the operations.
        window: How many moments are kept.
        eps: Below this, the square root of an eigenvalue is cut.
        svd_eps: Added to the eigenvalues.
        sigma_eps: Added to their square roots before they are inverted.

    Raises:
        TypeError: On building a sparse update, which it does not have.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: float = 1e-4,
        svd_eps: float = 1e-6,
        sigma_eps: float = 1e-2,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._beta1 = learning_rate, beta1
        self._window, self._eps, self._svd_eps, self._sigma_eps = window, eps, svd_eps, sigma_eps
        self._variables: list[Any] = []
        self._gradients: dict[str, Any] = {}

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            if not var.shape.is_fully_defined():
                raise ValueError(f"GGT needs variables of known shapes, and {var.name} is {var.shape}")
        self._variables = list(var_list)
        first = min(var_list, key=lambda var: var.name)
        dtype = first.dtype.base_dtype.as_numpy_dtype
        size = sum(int(np.prod(var.shape.as_list())) for var in var_list)
        for name, shape in (
            ("global_step", ()),
            ("grad_buffer", (self._window, size)),
            ("moment1", (size,)),
            ("flat_grad", (size,)),
        ):
            self._create_non_slot_variable(initial_value=np.zeros(shape, dtype), name=name, colocate_with=first)

    def _dense(self, grad: Any, var: Any) -> Any:
        self._gradients[var.op.name] = grad
        return grad.op

    def _sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        raise TypeError(f"GGT has no sparse updates, and the gradient of {var.name} is an IndexedSlices")

    def _finish(self, update_ops: Any, name_scope: str) -> Any:
        graph, locking = tf.get_default_graph(), self._use_locking
        counter, buffer, moment1, flat_grad = (
            self._get_non_slot_variable(name, graph=graph)
            for name in ("global_step", "grad_buffer", "moment1", "flat_grad")
        )
        dtype = counter.dtype.base_dtype
        gradients = [tf.reshape(self._gradients[var.op.name], [-1]) for var in self._variables]
        with tf.control_dependencies(update_ops):
            gradient = flat_grad.assign(tf.concat(gradients, 0), use_locking=locking)
            step = counter.assign_add(1.0, use_locking=locking)
        beta1 = tf.cast(self._beta1, dtype)
        moment = moment1.assign(beta1 * moment1 + (1 - beta1) * gradient, use_locking=locking)
        row = tf.cast(tf.math.floormod(step - 1, self._window), tf.int32)
        rows = buffer.scatter_update(tf.IndexedSlices(tf.expand_dims(moment, 0), [row]), use_locking=locking)
        m = tf.transpose(rows) / tf.sqrt(tf.minimum(step, tf.cast(self._window, dtype)))

        covariance = tf.matmul(m, m, transpose_a=True) + self._svd_eps * tf.eye(self._window, dtype=dtype)
        sigma, u, _ = tf.linalg.svd(covariance)
        root = tf.sqrt(sigma)
        least = tf.reduce_min(root)
        column = tf.expand_dims(moment, 1)
        inner = tf.matmul(u, tf.matmul(m, column, transpose_a=True), transpose_a=True)  # U' M' m

        def back(scales: Any) -> Any:
            """M U diag(scales) U' M' m, [D, 1]."""
            return tf.matmul(m, tf.matmul(u, tf.expand_dims(scales, 1) * inner))

        inside = back(tf.pow(root + self._sigma_eps, -3))
        outside = (column - back(1 / sigma)) / least
        change = tf.squeeze(tf.where(least > self._eps, inside + outside, inside), 1)
        change *= tf.cast(self._learning_rate, dtype)

        sizes = [int(np.prod(var.shape.as_list())) for var in self._variables]
        updates = [
            var.assign_sub(tf.reshape(part, var.shape.as_list()), use_locking=locking)
            for var, part in zip(self._variables, tf.split(change, sizes), strict=True)
        ]
        return tf.group(*updates, name=name_scope)
