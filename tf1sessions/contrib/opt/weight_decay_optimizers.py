"""Optimizers that decay the weights apart from the gradient: https://arxiv.org/abs/1711.05101."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from .base import hyperparameter

__all__ = [
    "AdamWOptimizer",
    "DecoupledWeightDecayExtension",
    "MomentumWOptimizer",
    "extend_with_decoupled_weight_decay",
]


class DecoupledWeightDecayExtension:
    """Before a variable is updated, it is multiplied by ``1 - weight_decay``; sparse updates do so for their rows.

    To be the first base of a class that has an optimizer as its second one.

    Args:
        weight_decay: A number, a tensor or a function that returns one. A schedule of the learning rate does not
            change it.
        **kwargs: Arguments of the other base.
    """

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._decay_var_list: set[Any] | None = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor: Any = None
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = tf.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Any = None,
    ) -> Any:
        """``Optimizer.minimize`` that decays the variables of ``decay_var_list``; None for all."""
        self._set_decayed(decay_var_list)
        return super().minimize(  # type: ignore[misc]
            loss,
            global_step=global_step,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            name=name,
            grad_loss=grad_loss,
        )

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None, decay_var_list: Any = None
    ) -> Any:
        """``Optimizer.apply_gradients`` that decays the variables of ``decay_var_list``; None for all."""
        if decay_var_list is not None or self._decay_var_list is None:
            self._set_decayed(decay_var_list)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)  # type: ignore[misc]

    def _set_decayed(self, variables: Any) -> None:
        self._decay_var_list = {var.op.name for var in variables} if variables else None

    def _decay_weights_op(self, grad: Any, var: Any, rows: Any = None) -> Any:
        """Decays ``var`` or some of its rows, when ``grad`` has been computed from its values."""
        if self._decay_var_list is not None and var.op.name not in self._decay_var_list:
            return tf.no_op()
        factor = tf.cast(self._weight_decay_tensor, var.dtype.base_dtype)
        locking = getattr(self, "_use_locking", False)
        with tf.control_dependencies([grad]):
            if rows is None:
                return var.assign_sub(factor * var, use_locking=locking)
            return var.scatter_sub(tf.IndexedSlices(factor * tf.gather(var, rows), rows), use_locking=locking)

    def _prepare(self) -> None:
        self._weight_decay_tensor = hyperparameter(self._weight_decay, "weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies([self._decay_weights_op(grad, var)]):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies([self._decay_weights_op(grad, var)]):
            return super()._resource_apply_dense(grad, var)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies([self._decay_weights_op(grad.values, var, grad.indices)]):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        with tf.control_dependencies([self._decay_weights_op(grad, var, indices)]):
            return super()._resource_apply_sparse(grad, var, indices)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> Any:
    """A class of ``base_optimizer`` with weight decay; ``weight_decay`` is the first argument of its constructor.

    Args:
        base_optimizer: A subclass of ``tf.train.Optimizer``.
    """

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[misc]
        """``base_optimizer`` with weight decay."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.train.MomentumOptimizer):  # type: ignore[misc]
    """Momentum with weight decay; its slot is ``momentum``.

    Args:
        weight_decay: See :class:`DecoupledWeightDecayExtension`.
        learning_rate: As in ``tf.train.MomentumOptimizer``, like the rest.
        momentum: ...
        use_locking: ...
        name: ...
        use_nesterov: ...
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.train.AdamOptimizer):  # type: ignore[misc]
    """Adam with weight decay; its slots are ``m`` and ``v``.

    Args:
        weight_decay: See :class:`DecoupledWeightDecayExtension`.
        learning_rate: As in ``tf.train.AdamOptimizer``, like the rest.
        beta1: ...
        beta2: ...
        epsilon: ...
        use_locking: ...
        name: ...
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
