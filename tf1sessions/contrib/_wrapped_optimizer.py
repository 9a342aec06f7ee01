"""The common base of optimizers around another optimizer."""

from __future__ import annotations

from typing import Any

from ..runtime import tf1 as tf

__all__ = ["WrappedOptimizer"]


class WrappedOptimizer(tf.train.Optimizer):  # type: ignore[misc]
    """Base of an optimizer around another one, ``_opt``, which computes the gradients and has the slots."""

    _opt: Any

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the gradients of the inner optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The slot of the inner optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The slots of the inner optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)
