"""LARS, a learning rate for each layer: https://arxiv.org/abs/1708.03888."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...runtime import tf1 as tf
from .base import RuleOptimizer, hyperparameter

__all__ = ["LARSOptimizer"]


class LARSOptimizer(RuleOptimizer):
    """Momentum with a rate scaled by the norms of variable and gradient; its slot is ``momentum``.

    Sparse gradients are applied without scaling and decay.

    Args:
        learning_rate: A number or tensor.
        momentum: 0 or more.
        weight_decay: Of the variables that are scaled.
        eeta: The coefficient of the paper.
        epsilon: Added to the norms, for very small gradients.
        name: Of the operations and slots.
        skip_list: A variable whose name has one of these in it is neither scaled nor decayed.
        use_nesterov: Whether the momentum is Nesterov's.

    Raises:
        ValueError: ``momentum`` is below 0.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyperparameter(self._learning_rate, "learning_rate")
        self._momentum_tensor = hyperparameter(self._momentum, "momentum")

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """The rate for ``var``, and its gradient with the decay."""
        rate = self._learning_rate_tensor if callable(self._learning_rate) else self._learning_rate
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return rate, grad
        size, slope = tf.norm(var, ord=2), tf.norm(grad, ord=2)
        scale = self._eeta * size / (slope + self._weight_decay * size + self._epsilon)
        trust = tf.where(size > 0, tf.where(slope > 0, scale, 1.0), 1.0)
        return rate * trust, grad + self._weight_decay * var

    def _dense(self, grad: Any, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        settings = {"lr": tf.cast(1.0, var.dtype.base_dtype), "grad": grad * rate, "momentum": self._momentum}
        return self._momentum_step("ApplyMomentum", var, settings)  # the rate is in the momentum

    def _sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        rate, factor = self._cast(self._learning_rate_tensor, var), self._cast(self._momentum_tensor, var)
        settings = {"lr": rate, "grad": grad, "indices": indices, "momentum": factor}
        return self._momentum_step("SparseApplyMomentum", var, settings)

    def _momentum_step(self, kernel: str, var: Any, settings: dict[str, Any]) -> Any:
        accumulated = self.get_slot(var, "momentum")
        if getattr(var, "handle", None) is not None:
            kernel, var, accumulated = f"Resource{kernel}", var.handle, accumulated.handle
        apply = getattr(tf.raw_ops, kernel)
        return apply(var=var, accum=accumulated, **settings, use_nesterov=self._use_nesterov)
