"""Relatives of Adam: Nadam, AdaMax, Adam with a global step, and those that leave unused rows alone.

Their slots are ``m`` and ``v``.
"""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf
from .base import RuleOptimizer, hyperparameter

__all__ = ["AdaMaxOptimizer", "AdamGSOptimizer", "LazyAdamGSOptimizer", "LazyAdamOptimizer", "NadamOptimizer"]


class _AdamRule:
    """The rule of Adam, to be a base before an optimizer with the slots and settings of Adam.

    ``rate``: of this step, with the corrections for the first steps.
    """

    _LAZY = False
    _NESTEROV = False  # of rows alone: dense steps of it are TensorFlow's own

    def _step(self, var: Any) -> tuple[Any, ...]:
        """The learning rate of this step, beta1, beta2 and epsilon, of the type of ``var``."""
        me: Any = self
        dtype = var.dtype.base_dtype
        power1, power2 = (tf.cast(power, dtype) for power in me._get_beta_accumulators())
        rate = tf.cast(me._lr_t, dtype) * tf.sqrt(1 - power2) / (1 - power1)
        return rate, *(tf.cast(value, dtype) for value in (me._beta1_t, me._beta2_t, me._epsilon_t))

    def _dense(self, grad: Any, var: Any) -> Any:
        me: Any = self
        rate, beta1, beta2, epsilon = self._step(var)
        locking = me._use_locking
        m, v = me.get_slot(var, "m"), me.get_slot(var, "v")
        m_t = m.assign(beta1 * m + (1 - beta1) * grad, use_locking=locking)
        v_t = v.assign(beta2 * v + (1 - beta2) * tf.square(grad), use_locking=locking)
        return var.assign_sub(rate * m_t / (tf.sqrt(v_t) + epsilon), use_locking=locking)

    def _sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        me: Any = self
        rate, beta1, beta2, epsilon = self._step(var)
        locking = me._use_locking
        m, v = me.get_slot(var, "m"), me.get_slot(var, "v")
        if self._LAZY:
            m_t = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
            v_t = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
            m_all = m.scatter_update(tf.IndexedSlices(m_t, indices), use_locking=locking)
            v_all = v.scatter_update(tf.IndexedSlices(v_t, indices), use_locking=locking)
            if getattr(var, "handle", None) is None:  # as in 1.15.5, for the seeds that follow
                m_t, v_t = tf.gather(m_all, indices), tf.gather(v_all, indices)
            change = tf.IndexedSlices(rate * m_t / (tf.sqrt(v_t) + epsilon), indices)
            return tf.group(var.scatter_sub(change, use_locking=locking), m_all, v_all)
        m_rows, v_rows = grad * (1 - beta1), (grad * grad) * (1 - beta2)
        with tf.control_dependencies([m.assign(m * beta1, use_locking=locking)]):
            m_t = m.scatter_add(tf.IndexedSlices(m_rows, indices), use_locking=locking)
        with tf.control_dependencies([v.assign(v * beta2, use_locking=locking)]):
            v_t = v.scatter_add(tf.IndexedSlices(v_rows, indices), use_locking=locking)
        if not self._NESTEROV:
            return var.assign_sub(rate * m_t / (tf.sqrt(v_t) + epsilon), use_locking=locking)
        # A variable that is gathered from does not wait for what was added to it; a tensor of it does.
        m_t, v_t = tf.convert_to_tensor(m_t), tf.convert_to_tensor(v_t)
        mean, root = m_rows + beta1 * tf.gather(m_t, indices), tf.sqrt(tf.gather(v_t, indices))
        change = tf.IndexedSlices(-rate * mean / (root + epsilon), indices)
        return tf.group(var.scatter_add(change, use_locking=locking), mean, v_t)


class _Adam(_AdamRule, RuleOptimizer, tf.train.AdamOptimizer):  # type: ignore[misc]
    """``tf.train.AdamOptimizer`` with our rule for rows."""

    def _dense(self, grad: Any, var: Any) -> Any:
        power1, power2 = self._get_beta_accumulators()
        return self._fused(
            "ApplyAdam",
            ("m", "v"),
            grad,
            var,
            beta1_power=power1,
            beta2_power=power2,
            lr=self._lr_t,
            beta1=self._beta1_t,
            beta2=self._beta2_t,
            epsilon=self._epsilon_t,
            use_nesterov=self._NESTEROV,
        )


class NadamOptimizer(_Adam):
    """Adam with Nesterov momentum (Dozat, 2015). Only the rows that a sparse gradient has change a variable.

    Args:
        learning_rate: As in ``tf.train.AdamOptimizer``, like the rest.
    """

    _NESTEROV = True


class LazyAdamOptimizer(_Adam):
    """Adam that changes the averages of those rows only that a sparse gradient has.

    Args:
        learning_rate: As in ``tf.train.AdamOptimizer``, like the rest.
    """

    _LAZY = True


class AdamGSOptimizer(_AdamRule, RuleOptimizer):
    """Adam that takes the number of the step from ``global_step``, and so has no variables of its own for it.

    Args:
        global_step: The variable that counts steps.
        learning_rate: As in ``tf.train.AdamOptimizer``, like the rest.
    """

    def __init__(
        self,
        global_step: Any = 0,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._settings = learning_rate, beta1, beta2, epsilon
        self._global_step = global_step
        self._global_step_on_worker: Any = None

    def _create_slots(self, var_list: Any) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        names = "learning_rate", "beta1", "beta2", "epsilon"
        self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t = (
            hyperparameter(value, name) for value, name in zip(self._settings, names, strict=True)
        )
        # a copy from before the step that is about to be taken
        self._global_step_on_worker = tf.identity(self._global_step) + 1

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        step = tf.cast(self._global_step_on_worker, tf.float32)
        return tf.pow(self._beta1_t, step), tf.pow(self._beta2_t, step)


class LazyAdamGSOptimizer(AdamGSOptimizer):
    """:class:`AdamGSOptimizer` that changes the averages of those rows only that a sparse gradient has."""

    _LAZY = True


class AdaMaxOptimizer(RuleOptimizer, tf.train.AdamOptimizer):  # type: ignore[misc]
    """Adam with the greatest gradient so far, decayed, in place of the average square (section 7 of the paper).

    Args:
        learning_rate: As in ``tf.train.AdamOptimizer``, like the rest.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        tf.train.AdamOptimizer.__init__(self, learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=lambda var: var.name)
        self._create_non_slot_variable(initial_value=self._beta1, name="beta1_power", colocate_with=first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _beta1_power(self) -> Any:
        return self._get_non_slot_variable("beta1_power", graph=tf.get_default_graph())

    def _change(self, grad: Any, m: Any, v: Any, var: Any) -> tuple[Any, Any, Any]:
        rate, beta1, beta2, epsilon, power = (
            self._cast(value, var)
            for value in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t, self._beta1_power())
        )
        m_t = beta1 * m + (1 - beta1) * grad
        v_t = tf.maximum(beta2 * v, tf.abs(grad))
        return m_t, v_t, -rate / (1 - power) * (m_t / (v_t + epsilon))

    def _dense(self, grad: Any, var: Any) -> Any:
        return self._fused(
            "ApplyAdaMax",
            ("m", "v"),
            grad,
            var,
            beta1_power=self._beta1_power(),
            lr=self._lr_t,
            beta1=self._beta1_t,
            beta2=self._beta2_t,
            epsilon=self._epsilon_t,
        )

    def _sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t, v_t, change = self._change(grad, tf.gather(m, indices), tf.gather(v, indices), var)
        with tf.control_dependencies([m_t, v_t, change]):
            return tf.group(
                m.scatter_update(tf.IndexedSlices(m_t, indices), use_locking=self._use_locking),
                v.scatter_update(tf.IndexedSlices(v_t, indices), use_locking=self._use_locking),
                var.scatter_add(tf.IndexedSlices(change, indices), use_locking=self._use_locking),
            )

    def _finish(self, update_ops: Any, name_scope: str) -> Any:
        with tf.control_dependencies(update_ops):
            power = self._beta1_power()
            with tf.colocate_with(power):
                decayed = power.assign(power * self._cast(self._beta1_t, power), use_locking=self._use_locking)
        return tf.group(*update_ops, decayed, name=name_scope)
