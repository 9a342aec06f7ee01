"""Optimizers that leave a variable and its slots alone where the gradient is all zeros, as for a task without data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["MultitaskOptimizerWrapper", "clip_gradients_by_global_norm"]

_HOOKS = ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse")


def _is_zero(gradient: Any) -> Any:
    return tf.equal(tf.math.count_nonzero(tf.convert_to_tensor(gradient)), 0)


class MultitaskOptimizerWrapper:
    """An optimizer whose updates are left out where the gradient is all zeros; all else is that of ``opt``.

    Args:
        opt: An optimizer; its own hooks are replaced.

    Raises:
        TypeError: ``opt`` is no optimizer.
    """

    def __init__(self, opt: Any) -> None:
        if not isinstance(opt, tf.train.Optimizer):
            raise TypeError(f"Supplied optimizer must be an instance of tf.train.Optimizer, and it is {opt!r}")
        self._opt = opt
        for name in _HOOKS:
            setattr(opt, name, self._unless_zero(getattr(opt, name)))

    @staticmethod
    def _unless_zero(apply: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(gradient: Any, *args: Any, **kwargs: Any) -> Any:
            return tf.cond(_is_zero(gradient), tf.no_op, lambda: tf.group(apply(gradient, *args, **kwargs)))

        return guarded

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_opt"], name)


def clip_gradients_by_global_norm(gradients_variables: Any, clip_norm: Any = 20.0) -> tuple[list[Any], Any]:
    """Clips by a global norm to which gradients of all zeros count as nothing; those stay as they are.

    Args:
        gradients_variables: Pairs as of ``compute_gradients``.
        clip_norm: The greatest global norm.

    Returns:
        The pairs with clipped gradients, and the global norm.
    """
    gradients, variables = zip(*gradients_variables, strict=True)
    norm = tf.linalg.global_norm(gradients)
    clipped, _ = tf.clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables, strict=True)), norm
