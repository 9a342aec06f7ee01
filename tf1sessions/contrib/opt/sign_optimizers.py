"""AddSign and PowerSign: steps scaled by whether the gradient agrees with its average (arXiv 1709.07417).

Their slot is ``m``, the average.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf
from .base import RuleOptimizer, hyperparameter

__all__ = ["AddSignOptimizer", "PowerSignOptimizer"]


class _SignOptimizer(RuleOptimizer):
    """Base: subclasses give the factor of the gradient."""

    def __init__(
        self, learning_rate: Any, beta: Any, sign_decay_fn: Callable[[Any], Any] | None, use_locking: bool, name: str
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn

    def _factor(self, agreement: Any, sign_decay: Any) -> Any:
        """Return the factor of the gradient; ``agreement`` is the sign of both, -1 where they have not the same."""
        raise NotImplementedError

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """As ``Optimizer.apply_gradients``; the decay of the sign is that of ``global_step``."""
        self._sign_decay = 1.0 if self._sign_decay_fn is None else self._sign_decay_fn(global_step)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def _prepare(self) -> None:
        self._lr_t = hyperparameter(self._lr, "learning_rate")
        self._beta_t = hyperparameter(self._beta, "beta")
        self._sign_decay_t = tf.convert_to_tensor(self._sign_decay, name="sign_decay")

    def _settings(self) -> dict[str, Any]:
        return {"lr": self._lr_t, "beta": self._beta_t, "sign_decay": self._sign_decay_t}

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """The average of all rows decays; only those that ``grad`` has change the variable."""
        m, beta = self.get_slot(var, "m"), self._cast(self._beta_t, var)
        m_t = m.assign(m * beta + tf.convert_to_tensor(grad) * (1 - beta), use_locking=self._use_locking)
        agreement = tf.gather(tf.sign(m_t), grad.indices) * tf.sign(grad.values)
        factor = self._factor(agreement, self._cast(self._sign_decay_t, var))
        change = tf.IndexedSlices(self._cast(self._lr_t, var) * factor * grad.values, grad.indices)
        return tf.group(var.scatter_sub(change, use_locking=self._use_locking), m_t)

    def _sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._apply_sparse(tf.IndexedSlices(grad, indices, tf.shape(var)), var)


class AddSignOptimizer(_SignOptimizer):
    """Steps of ``(alpha + sign_decay * sign(g) * sign(m)) * g``.

    Args:
        learning_rate: A number or tensor.
        alpha: A number or tensor.
        beta: The decay of the average m.
        sign_decay_fn: A function of the global step, see :mod:`.sign_decay`; None for 1.
        use_locking: Whether updates take locks.
        name: Of the operations and slots.
    """

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: Any = 1.0,
        beta: Any = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _prepare(self) -> None:
        super()._prepare()
        self._alpha_t = hyperparameter(self._alpha, "alpha")

    def _dense(self, grad: Any, var: Any) -> Any:
        return self._fused("ApplyAddSign", ("m",), grad, var, alpha=self._alpha_t, **self._settings())

    def _factor(self, agreement: Any, sign_decay: Any) -> Any:
        return tf.cast(self._alpha_t, agreement.dtype) + sign_decay * agreement


class PowerSignOptimizer(_SignOptimizer):
    """Steps of ``base ** (sign_decay * sign(g) * sign(m)) * g``.

    Args:
        learning_rate: A number or tensor.
        base: A number or tensor.
        beta: The decay of the average m.
        sign_decay_fn: A function of the global step, see :mod:`.sign_decay`; None for 1.
        use_locking: Whether updates take locks.
        name: Of the operations and slots.
    """

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: Any = math.e,
        beta: Any = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._base = base

    def _prepare(self) -> None:
        super()._prepare()
        base = self._base() if callable(self._base) else self._base
        self._log_base_t = tf.math.log(base) if tf.is_tensor(base) else hyperparameter(math.log(base), "logbase")

    def _dense(self, grad: Any, var: Any) -> Any:
        return self._fused("ApplyPowerSign", ("m",), grad, var, logbase=self._log_base_t, **self._settings())

    def _factor(self, agreement: Any, sign_decay: Any) -> Any:
        log_base = tf.cast(self._log_base_t, agreement.dtype)
        return tf.pow(tf.cast(math.e, agreement.dtype), log_base * sign_decay * agreement)
