"""An optimizer that drops gradients that were computed too many steps ago."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from .._wrapped_optimizer import WrappedOptimizer

__all__ = ["DropStaleGradientOptimizer"]


class DropStaleGradientOptimizer(WrappedOptimizer):
    """Reads the global step before gradients are computed; where it has gone on too far, they are not applied.

    Args:
        opt: The optimizer that computes and applies.
        staleness: How many steps may lie between the two.
        use_locking: Whether updates take locks.
        name: Of the operations.
    """

    def __init__(self, opt: Any, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient") -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._staleness = staleness

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """As ``Optimizer.compute_gradients``, after the global step was read."""
        global_step = tf.train.get_or_create_global_step()
        with tf.control_dependencies([loss]), tf.device(global_step.device):
            self._local_step = tf.identity(global_step)
        with tf.control_dependencies([self._local_step]):
            loss = tf.identity(loss)
        return self._opt.compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """As ``Optimizer.apply_gradients``, unless the gradients are stale.

        Raises:
            ValueError: There is no ``global_step``, or no gradient.
        """
        grads_and_vars = tuple(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("No variables provided.")
        if global_step is None:
            raise ValueError("Global step is required to check staleness.")
        counter = tf.get_variable("stale_counter", [], initializer=tf.zeros_initializer(), trainable=False)
        gradients = [gradient for gradient, _ in grads_and_vars if gradient is not None]
        known = len(tf.get_collection(tf.GraphKeys.TRAIN_OP))

        def apply() -> Any:
            with tf.control_dependencies([self._opt.apply_gradients(grads_and_vars, global_step)]):
                return tf.constant(0.0)

        with tf.control_dependencies(gradients):
            age = global_step - tf.cast(self._local_step, global_step.dtype.base_dtype)
        added = tf.cond(age <= self._staleness, apply, lambda: tf.constant(1.0))
        if len(tf.get_collection(tf.GraphKeys.TRAIN_OP)) == known:  # it went to the collections of the branch
            tf.add_to_collection(tf.GraphKeys.TRAIN_OP, added.op)
        stale = counter.assign_add(added, use_locking=self._use_locking)
        share = stale / (tf.cast(global_step + 1, tf.float32))
        tf.summary.scalar("Gradient staleness percentage", share)
        return tf.group(added, stale, name=name or self.get_name())
