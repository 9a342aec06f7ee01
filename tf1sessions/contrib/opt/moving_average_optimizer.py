"""An optimizer that keeps moving averages of the variables, and a saver that saves these in their place."""

from __future__ import annotations

from typing import Any

from ...runtime import tf1 as tf

__all__ = ["MovingAverageOptimizer"]


class MovingAverageOptimizer(tf.train.Optimizer):  # type: ignore[misc]
    """After the step of ``opt``, updates an ``ExponentialMovingAverage`` of the variables that it trains.

    Args:
        opt: The optimizer that computes and applies.
        average_decay: The decay of the averages.
        num_updates: As in ``tf.train.ExponentialMovingAverage``.
        sequential_update: Whether the averages wait for the step. If not, they may have some variables from before it.
    """

    def __init__(
        self, opt: Any, average_decay: Any = 0.9999, num_updates: Any = None, sequential_update: bool = True
    ) -> None:
        self._optimizer = opt
        self._ema = tf.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped: dict[str, tuple[Any, Any]] | None = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the gradients of the inner optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """As ``Optimizer.apply_gradients``, with the averages."""
        grads_and_vars = list(grads_and_vars)
        step = self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        variables = [var for _, var in grads_and_vars]
        with tf.control_dependencies([step] if self._sequential_update else []):
            averaged = self._ema.apply(variables)
        self._swapped = {var.op.name: (var, self._ema.average(var)) for var in variables}
        return tf.group(step, averaged, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Any:
        """A saver that saves averages under the names of their variables, and the variables under those of averages.

        Another saver that restores from it gets the averages. To be called after ``minimize``.

        Args:
            var_list: As for ``Saver``; all variables without it.
            name: Of the saver.
            **kwargs: Of ``Saver``.

        Raises:
            RuntimeError: ``apply_gradients`` was not called yet.
            ValueError: ``var_list`` has a variable, but not its average.
        """
        if self._swapped is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        if var_list is None:
            var_list = tf.global_variables()
        named = dict(var_list) if isinstance(var_list, dict) else {var.op.name: var for var in var_list}
        names = {id(var): key for key, var in named.items()}
        saved = dict(named)
        for var, average in self._swapped.values():
            if id(var) not in names:
                continue
            if id(average) not in names:
                raise ValueError(f"Variable to swap {average.op.name} is not part of variables to save.")
            saved[names[id(var)]], saved[names[id(average)]] = average, var
        return tf.train.Saver(saved, name=name, **kwargs)
