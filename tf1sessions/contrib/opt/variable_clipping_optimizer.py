"""An optimizer that clips the norms of variables after each step."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from ...runtime import tf1 as tf
from .._wrapped_optimizer import WrappedOptimizer

__all__ = ["VariableClippingOptimizer"]


class VariableClippingOptimizer(WrappedOptimizer):
    """After the step of ``opt``, clips variables to a greatest norm; sparse updates clip their rows only.

    Args:
        opt: The optimizer that computes and applies.
        vars_to_clip_dims: {variable: the dimensions that a norm is taken over, as for ``tf.clip_by_norm``}.
        max_norm: The greatest norm.
        use_locking: Whether clipping takes locks.
        colocate_clip_ops_with_vars: Whether the clipping is on the device of its variable.
        name: Of the operations.
    """

    def __init__(
        self,
        opt: Any,
        vars_to_clip_dims: Mapping[Any, Sequence[int]],
        max_norm: Any,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._clip_dims = {_key(var): list(dims) for var, dims in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocate = colocate_clip_ops_with_vars

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """As ``Optimizer.apply_gradients``, and then the clipping."""
        grads_and_vars = list(grads_and_vars)
        with tf.name_scope(self._name):
            applied = self._opt.apply_gradients(grads_and_vars, global_step=global_step)
            clipped = []
            with tf.control_dependencies([applied]):
                for grad, var in grads_and_vars:
                    if grad is None or _key(var) not in self._clip_dims:
                        continue
                    with tf.colocate_with(var) if self._colocate else contextlib.nullcontext():
                        sparse = isinstance(grad, tf.IndexedSlices)
                        clipped.append(self._clip_rows(grad, var) if sparse else self._clip(var))
            with tf.control_dependencies([*clipped, applied]):
                return tf.no_op(name or "Clip")

    def _clip(self, var: Any) -> Any:
        value = tf.convert_to_tensor(var)
        clipped = tf.clip_by_norm(value, self._max_norm, self._clip_dims[_key(var)])
        return var.assign(clipped, use_locking=self._use_locking).op

    def _clip_rows(self, grad: Any, var: Any) -> Any:
        dims = self._clip_dims[_key(var)]
        if 0 in dims:  # a norm over rows needs all of them
            return self._clip(var)
        rows = tf.gather(var, grad.indices)
        # as in 1.15, a row that the gradient has twice is moved twice as far
        excess = tf.IndexedSlices(rows - tf.clip_by_norm(rows, self._max_norm, dims), grad.indices)
        return var.scatter_sub(excess, use_locking=self._use_locking)


def _key(var: Any) -> str:
    name: str = var.name
    return name
