"""Adagrad that can leave its accumulators as they are, for gradients of regularizers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ...runtime import tf1 as tf
from .base import RuleOptimizer

__all__ = ["RegAdagradOptimizer"]


class RegAdagradOptimizer(RuleOptimizer, tf.train.AdagradOptimizer):  # type: ignore[misc]
    """Adagrad; its slot is ``accumulator``.

    Args:
        learning_rate: A number or tensor.
        initial_accumulator_value: Above 0.
        use_locking: Whether updates take locks.
        name: Of the operations and slots.

    Raises:
        ValueError: ``initial_accumulator_value`` is not above 0.

    Example::

        step = optimizer.minimize(loss)
        with optimizer.avoid_updating_slots():
            step = tf.group(step, optimizer.minimize(regularization_loss))
    """

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ) -> None:
        tf.train.AdagradOptimizer.__init__(self, learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Updates built inside it read the accumulators and do not change them."""
        before, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _dense(self, grad: Any, var: Any) -> Any:
        slot = self.get_slot(var, "accumulator")
        if self._should_update_slots:
            slot = slot.assign_add(tf.square(grad), use_locking=self._use_locking)
        change = self._cast(self._learning_rate_tensor, var) * grad * tf.math.rsqrt(slot)
        return var.assign_sub(change, use_locking=self._use_locking)

    def _sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        slot = self.get_slot(var, "accumulator")
        total = tf.gather(slot, indices)
        updates = []
        if self._should_update_slots:
            total += tf.square(grad)
            updates.append(slot.scatter_update(tf.IndexedSlices(total, indices), use_locking=self._use_locking))
        change = self._cast(self._learning_rate_tensor, var) * grad * tf.math.rsqrt(total)
        updates.append(var.scatter_sub(tf.IndexedSlices(change, indices), use_locking=self._use_locking))
        return tf.group(*updates)
