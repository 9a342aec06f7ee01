"""``tf.keras.mixed_precision.experimental``: policies, whose names and loss scales are Keras' of today.

A :class:`Policy` of 1.15.5 had its loss scale; a model that is compiled under one with a loss scale gets an optimizer
that scales the loss.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["LossScaleOptimizer", "Policy", "global_policy", "policy_scope", "set_policy"]

__path__: list[str] = []
policy = loss_scale_optimizer = sys.modules[__name__]  # 1.15.5 had a file for each
_policies: Any = importlib.import_module("tf_keras.src.mixed_precision.policy")
_optimizers: Any = importlib.import_module("tf_keras.src.mixed_precision.loss_scale_optimizer")
_layers: Any = importlib.import_module("tf_keras.src.engine.base_layer_utils")
_DEFAULT = "USE_DEFAULT"
_INFER = ("infer", "infer_with_float32_vars", "_infer")


class Policy(_policies.Policy):  # type: ignore[misc]
    """The types in which layers compute and keep their variables.

    Args:
        name: A type, "mixed_float16", "mixed_bfloat16", or "infer", which is float32 here.
        loss_scale: A number, "dynamic" or None; by default dynamic for "mixed_float16" and None for others.
    """

    def __init__(self, name: str, loss_scale: Any = _DEFAULT) -> None:
        super().__init__("float32" if name in _INFER else name)
        self._loss_scale = ("dynamic" if name == "mixed_float16" else None) if loss_scale == _DEFAULT else loss_scale

    @property
    def loss_scale(self) -> Any:
        """The scale of losses: a number, "dynamic", or None."""
        return self._loss_scale

    @property
    def should_cast_variables(self) -> bool:
        """Whether layers compute in another type than that of their variables."""
        return bool(self.variable_dtype != self.compute_dtype)


class LossScaleOptimizer(_optimizers.LossScaleOptimizer):  # type: ignore[misc]
    """An optimizer of Keras that scales the loss, and its gradients back.

    Args:
        opt: The optimizer.
        loss_scale: A number, "dynamic", or a ``tf.train.experimental.LossScale``.
    """

    def __init__(self, opt: Any, loss_scale: Any = "dynamic") -> None:
        if loss_scale == "dynamic":
            super().__init__(opt)
        elif isinstance(loss_scale, (int, float)):
            super().__init__(opt, dynamic=False, initial_scale=loss_scale)
        elif hasattr(loss_scale, "increment_period"):
            super().__init__(
                opt,
                initial_scale=float(loss_scale.initial_loss_scale),
                dynamic_growth_steps=loss_scale.increment_period,
            )
        else:
            super().__init__(opt, dynamic=False, initial_scale=float(loss_scale._loss_scale_value))


def set_policy(policy: Any) -> None:
    """Lets layers that are made from now on have ``policy``, a :class:`Policy` or its name; None for the default.

    Raises:
        ValueError: It is not the default, and layers have no policies: they have them in TensorFlow 2, and after
            ``tf.keras.layers.enable_v2_dtype_behavior()``.
    """
    default = policy is None or getattr(policy, "name", policy) in _INFER
    if not default or _layers.v2_dtype_behavior_enabled():
        _policies.set_global_policy(Policy("float32") if default else policy)


def global_policy() -> Any:
    """The policy of layers that are made now."""
    return _policies.global_policy()


@contextlib.contextmanager
def policy_scope(policy: Any) -> Iterator[None]:
    """A context in which layers are made with ``policy``."""
    before = global_policy()
    try:
        set_policy(policy)
        yield
    finally:
        set_policy(before)
