"""The base of the optimizers here: one update rule for ref and for resource variables."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["RuleOptimizer", "hyperparameter"]


def hyperparameter(value: Any, name: str) -> Any:
    """``value``, a number, a tensor or a function that returns one, as a tensor."""
    return tf.convert_to_tensor(value() if callable(value) else value, name=name)


class RuleOptimizer(tf.train.Optimizer):  # type: ignore[misc]
    """Base of optimizers that write their rule once.

    Subclasses give ``_dense`` and ``_sparse``, which take the variable and the gradient and return an operation; all
    four hooks of ``tf.train.Optimizer`` lead to them. Methods of variables (``assign_sub``, ``scatter_sub``) are the
    same for both kinds of variables.
    """

    def _dense(self, grad: Any, var: Any) -> Any:
        """Applies ``grad``, of the shape of ``var``."""
        raise NotImplementedError

    def _sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        """Applies ``grad`` [N, ...] to the rows ``indices`` [N] of ``var``, none of them twice."""
        raise NotImplementedError

    def _fused(self, kernel: str, slots: tuple[str, ...], grad: Any, var: Any, **settings: Any) -> Any:
        """Applies ``grad``, of the shape of ``var``, by the operation ``Apply...`` that TensorFlow has for it."""
        handle = getattr(var, "handle", None)
        inputs = {"var": var, **{slot: self.get_slot(var, slot) for slot in slots}}
        if handle is not None:
            kernel, inputs = "Resource" + kernel, {name: variable.handle for name, variable in inputs.items()}
        for name, value in settings.items():
            inputs[name] = value if isinstance(value, bool) else self._cast(value, var)
        return getattr(tf.raw_ops, kernel)(**inputs, grad=grad, use_locking=self._use_locking)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._dense(grad, var)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._dense(grad, var)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._sparse(grad, var, indices)

    def _cast(self, tensor: Any, var: Any) -> Any:
        return tf.cast(tensor, var.dtype.base_dtype)
