"""Shampoo, Adagrad with a preconditioner for each dimension of a variable: https://arxiv.org/abs/1802.09568."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime import tf1 as tf
from .base import RuleOptimizer
from .matrix_functions import matrix_inverse_pth_root

__all__ = ["ShampooOptimizer"]


class ShampooOptimizer(RuleOptimizer):
    """Its slots are ``gbar``, the average gradient, and for dimension i of N: ``Gbar_i``, the averages of its squares
    ([N, N], or [N] if N is too large), and ``H_i``, their power, where it is not computed at each step.

    The settings that are "a number or a function" may be functions of the step (a float tensor), that return tensors.

    Args:
        global_step: The variable that counts steps.
        max_matrix_size: A larger dimension has a diagonal preconditioner.
        gbar_decay: A number or a function: ``gbar = gbar_decay * gbar + gbar_weight * grad``.
        gbar_weight: A number or a function.
        mat_gbar_decay: A number or a function: the same for the squares.
        mat_gbar_weight: A number or a function.
        learning_rate: A number or a function.
        svd_interval: A number or a function: after how many steps the powers are computed again.
        precond_update_interval: A number or a function: after how many steps the squares are updated.
        epsilon: Added to the diagonals of the squares that are matrices.
        alpha: The power is ``-alpha / rank of the variable``.
        use_iterative_root: Whether powers are computed by iteration, and not by an SVD.
        use_locking: Whether updates take locks.
        name: Of the operations and slots.
    """

    def __init__(
        self,
        global_step: Any = 0,
        max_matrix_size: int = 768,
        gbar_decay: Any = 0.0,
        gbar_weight: Any = 1.0,
        mat_gbar_decay: Any = 1.0,
        mat_gbar_weight: Any = 1.0,
        learning_rate: Any = 1.0,
        svd_interval: Any = 1,
        precond_update_interval: Any = 1,
        epsilon: float = 1e-4,
        alpha: float = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ) -> None:
        super().__init__(use_locking, name)
        self._global_step = tf.cast(global_step, tf.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar_decay, self._gbar_weight = gbar_decay, gbar_weight
        self._mat_gbar_decay, self._mat_gbar_weight = mat_gbar_decay, mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval, self._precond_update_interval = svd_interval, precond_update_interval
        self._epsilon, self._alpha = epsilon, alpha
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: Any) -> None:
        keeps_powers = callable(self._svd_interval) or self._svd_interval > 1
        for var in var_list:
            dtype = var.dtype.base_dtype
            self._zeros_slot(var, "gbar", self._name)
            for i, size in enumerate(var.shape.as_list()):
                if size > self._max_matrix_size:
                    self._get_or_make_slot(var, tf.zeros([size], dtype), f"Gbar_{i}", self._name)
                    continue
                if keeps_powers:
                    self._get_or_make_slot(var, tf.eye(size, dtype=dtype), f"H_{i}", self._name)
                self._get_or_make_slot(var, tf.zeros([size, size], dtype), f"Gbar_{i}", self._name)

    def _at_step(self, setting: Any) -> Any:
        return setting(self._global_step) if callable(setting) else setting

    def _every(self, interval: Any, then: Any, otherwise: Any) -> Any:
        """``then()`` at each ``interval``-th step, and ``otherwise()`` at the others."""
        if not callable(interval) and interval <= 1:
            return then()
        due = tf.equal(tf.math.floormod(self._global_step + 1, tf.cast(self._at_step(interval), tf.float32)), 0)
        return tf.cond(due, then, otherwise)

    def _average(self, slot: Any, decay: Any, added: Any) -> Any:
        """``slot = decay * slot + added``, and its value; a decay of 0 keeps nothing."""
        if not callable(decay) and decay == 0:
            return added
        kept = slot * tf.cast(self._at_step(decay), slot.dtype.base_dtype)
        return slot.assign(kept + added, use_locking=self._use_locking)

    def _squares(self, var: Any, grad: Any, i: int, by_rows: bool) -> Any:
        """The products of the gradients along dimension i with each other, summed over the other dimensions.

        Those of a diagonal are divided by its size, but not where there is nothing to sum or the gradient is sparse.
        """
        size = var.shape.as_list()[i]
        others = [axis for axis in range(var.shape.rank) if axis != i]
        if size > self._max_matrix_size:
            sums = tf.reduce_sum(tf.square(grad), others)
            return sums / size if others and not (by_rows and i == 0) else sums
        return tf.tensordot(grad, grad, [others, others])

    def _updated(self, var: Any, i: int, squares: Any) -> Any:
        """``Gbar_i`` after this step; only a matrix waits for its interval, and then counts for the steps left out."""
        slot = self.get_slot(var, f"Gbar_{i}")
        interval = 1 if squares.shape.rank == 1 else self._precond_update_interval
        weight = self._at_step(self._mat_gbar_weight) * self._at_step(interval)
        added = squares * tf.cast(weight, var.dtype.base_dtype)
        return self._every(
            interval,
            lambda: tf.identity(self._average(slot, self._mat_gbar_decay, added)),
            lambda: tf.identity(slot),
        )

    def _power(self, var: Any, i: int, mat_g: Any) -> Any:
        """``(Gbar_i + epsilon) ** (-alpha / rank)``, a matrix."""
        size = var.shape.as_list()[i]
        exponent = -self._alpha / var.shape.rank
        slot = self.get_slot(var, f"H_{i}")

        def compute() -> Any:
            scaled = mat_g / size
            if self._use_iterative_root:
                power = matrix_inverse_pth_root(
                    scaled + self._epsilon * tf.eye(size), size, exponent, iter_count=100, epsilon=1e-6
                )
            else:
                values, u, _ = tf.linalg.svd(scaled)
                values = tf.pow(tf.maximum(values, 0.0) + self._epsilon, exponent)
                power = tf.matmul(u * values, u, transpose_b=True)
            return power if slot is None else tf.identity(slot.assign(power, use_locking=self._use_locking))

        if slot is None:
            return compute()
        return self._every(self._svd_interval, compute, lambda: tf.identity(slot))

    def _change(self, grad: Any, var: Any, by_rows: bool = False) -> Any:
        """The step for ``grad``; ``by_rows`` is whether it is a sparse one."""
        rank = var.shape.rank
        weight = tf.cast(self._at_step(self._gbar_weight), var.dtype.base_dtype)
        change = self._average(self.get_slot(var, "gbar"), self._gbar_decay, weight * grad)
        for i, size in enumerate(var.shape.as_list()):
            mat_g = self._updated(var, i, self._squares(var, grad, i, by_rows))
            if size > self._max_matrix_size:
                scales = tf.where(mat_g > 0, tf.pow(mat_g, -self._alpha / rank), tf.zeros_like(mat_g))
                # the first dimension becomes the last one, as tensordot does it
                change = tf.transpose(change, [*range(1, rank), 0]) * scales
            else:
                change = tf.tensordot(change, self._power(var, i, mat_g), [[0], [0]])
        return tf.cast(self._at_step(self._learning_rate), var.dtype.base_dtype) * change

    def _dense(self, grad: Any, var: Any) -> Any:
        return var.assign_sub(self._change(grad, var), use_locking=self._use_locking)

    def _sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        shape = np.array(var.shape.as_list(), "int64")
        grad = tf.scatter_nd(tf.expand_dims(tf.cast(indices, tf.int64), 1), grad, shape)
        by_rows = not callable(self._gbar_decay) and self._gbar_decay == 0
        return var.assign_sub(self._change(grad, var, by_rows), use_locking=self._use_locking)
