"""Optimizers outside TensorFlow that see the loss as a function of one vector: SciPy's.

Data flow: the variables, one after another, are the vector; at each call of the algorithm they are set to it, and loss,
constraints and gradients are run. At the end they have the best vector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import UnsupportedEnvironmentError
from ...runtime import tf1 as tf

__all__ = ["ExternalOptimizerInterface", "ScipyOptimizerInterface"]


class ExternalOptimizerInterface:
    """Base of interfaces to algorithms: subclasses give ``_minimize``.

    Args:
        loss: A scalar tensor.
        var_list: The variables to change; all trainable ones without it.
        equalities: Scalar tensors to hold at 0.
        inequalities: Scalar tensors to hold at 0 or above.
        var_to_bounds: {variable: (low, high)}, each a number or an array that broadcasts to the variable's shape.
        **optimizer_kwargs: For the algorithm.
    """

    def __init__(
        self,
        loss: Any,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Any] | None = None,
        inequalities: Sequence[Any] | None = None,
        var_to_bounds: Mapping[Any, tuple[Any, Any]] | None = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss = loss
        self._equalities = list(equalities or [])
        self._inequalities = list(inequalities or [])
        self._vars = tf.trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds: list[tuple[float, float]] | None = None
        if var_to_bounds is not None:
            self._packed_bounds = self._pack_bounds(var_to_bounds)

        self._update_placeholders = [tf.placeholder(var.dtype.base_dtype) for var in self._vars]
        self._var_updates = [
            var.assign(tf.reshape(placeholder, var.shape.as_list()))
            for var, placeholder in zip(self._vars, self._update_placeholders, strict=True)
        ]
        self._packed_var = self._pack(self._vars)
        self._packed_loss_grad = self._packed_gradient(loss)
        self._packed_equality_grads = [self._packed_gradient(equality) for equality in self._equalities]
        self._packed_inequality_grads = [self._packed_gradient(inequality) for inequality in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs
        ends = np.cumsum([int(np.prod(var.shape.as_list())) for var in self._vars])
        self._packing_slices = [slice(int(start), int(end)) for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    def _pack_bounds(self, var_to_bounds: Mapping[Any, tuple[Any, Any]]) -> list[tuple[float, float]]:
        by_name = {var.name: bounds for var, bounds in var_to_bounds.items()}  # a variable may not be hashable
        packed: list[tuple[float, float]] = []
        for var in self._vars:
            shape = var.shape.as_list()
            low, high = by_name.get(var.name, (-np.inf, np.inf))
            low, high = (-np.inf if low is None else low), (np.inf if high is None else high)
            lows, highs = np.broadcast_to(low, shape).ravel(), np.broadcast_to(high, shape).ravel()
            packed.extend(zip(lows.tolist(), highs.tolist(), strict=True))
        return packed

    def _packed_gradient(self, tensor: Any) -> Any:
        gradients = tf.gradients(tensor, self._vars)
        return self._pack(
            [
                tf.zeros(var.shape, var.dtype.base_dtype) if gradient is None else gradient
                for gradient, var in zip(gradients, self._vars, strict=True)
            ]
        )

    def minimize(
        self,
        session: Any = None,
        feed_dict: Mapping[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Minimizes the loss and leaves the variables at the result.

        Args:
            session: A session; the default one without it.
            feed_dict: Fed in each run.
            fetches: Tensors for ``loss_callback``.
            step_callback: Called at each step with the vector.
            loss_callback: Called each time the loss was computed with the values of ``fetches``.
            **run_kwargs: For ``session.run``.
        """
        session = session or tf.get_default_session()
        feed_dict = feed_dict or {}
        fetches = fetches or []
        loss_callback = loss_callback or (lambda *_: None)
        step_callback = step_callback or (lambda *_: None)
        self._run_kwargs = run_kwargs

        loss_grad_func = self._make_eval_func(
            [self._loss, self._packed_loss_grad], session, feed_dict, fetches, loss_callback
        )
        equality_funcs = self._make_eval_funcs(self._equalities, session, feed_dict, fetches)
        equality_grad_funcs = self._make_eval_funcs(self._packed_equality_grads, session, feed_dict, fetches)
        inequality_funcs = self._make_eval_funcs(self._inequalities, session, feed_dict, fetches)
        inequality_grad_funcs = self._make_eval_funcs(self._packed_inequality_grads, session, feed_dict, fetches)
        initial = session.run(self._packed_var, feed_dict)
        result = self._minimize(
            initial_val=initial,
            loss_grad_func=loss_grad_func,
            equality_funcs=equality_funcs,
            equality_grad_funcs=equality_grad_funcs,
            inequality_funcs=inequality_funcs,
            inequality_grad_funcs=inequality_grad_funcs,
            packed_bounds=self._packed_bounds,
            step_callback=step_callback,
            optimizer_kwargs=self.optimizer_kwargs,
        )
        self._set(session, result, run_kwargs)

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Any,
        equality_funcs: Any,
        equality_grad_funcs: Any,
        inequality_funcs: Any,
        inequality_grad_funcs: Any,
        packed_bounds: Any,
        step_callback: Any,
        optimizer_kwargs: Any,
    ) -> Any:
        """Runs the algorithm.

        Args:
            initial_val: The vector to begin with, [N].
            loss_grad_func: A function of a vector that returns loss and gradient [N].
            equality_funcs: Functions of a vector that return what is to be 0.
            equality_grad_funcs: Their gradients.
            inequality_funcs: Functions of a vector that return what is to be 0 or above.
            inequality_grad_funcs: Their gradients.
            packed_bounds: N pairs (low, high), or None.
            step_callback: To be called with the vector of each step.
            optimizer_kwargs: What the constructor got for the algorithm.

        Returns:
            The best vector.
        """
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement _minimize().")

    @classmethod
    def _pack(cls, tensors: Sequence[Any]) -> Any:
        """``tensors`` as one vector."""
        if not tensors:
            return None
        return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], axis=0)

    def _set(self, session: Any, vector: Any, run_kwargs: Mapping[str, Any]) -> None:
        parts = [vector[part] for part in self._packing_slices]
        feeds = dict(zip(self._update_placeholders, parts, strict=True))
        session.run(self._var_updates, feed_dict=feeds, **run_kwargs)

    def _make_eval_funcs(
        self, tensors: Any, session: Any, feed_dict: Any, fetches: Any, callback: Any = None
    ) -> list[Callable[[Any], Any]]:
        return [self._make_eval_func(tensor, session, feed_dict, fetches, callback) for tensor in tensors]

    def _make_eval_func(
        self, tensors: Any, session: Any, feed_dict: Any, fetches: Any, callback: Any = None
    ) -> Callable[[Any], Any]:
        """A function of a vector that sets the variables to it and runs ``tensors``, one or a list."""
        several = isinstance(tensors, list)
        wanted = tensors if several else [tensors]

        def evaluate(vector: Any) -> Any:
            self._set(session, vector, self._run_kwargs)
            found = session.run([*wanted, *fetches], feed_dict=feed_dict, **self._run_kwargs)
            if callback is not None:
                callback(*found[len(wanted) :])
            values = [np.asarray(value, np.float64) for value in found[: len(wanted)]]
            return values if several else values[0]

        return evaluate


def _scipy_minimize() -> Callable[..., Any]:
    try:
        from scipy.optimize import minimize  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise UnsupportedEnvironmentError(
            "ScipyOptimizerInterface needs SciPy, which is not installed", next_step="Run `pip install scipy`."
        ) from error
    found: Callable[..., Any] = minimize
    return found


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """``scipy.optimize.minimize`` on a loss; ``method``, ``options`` and ``tol`` are passed on (L-BFGS-B unless given).

    Args:
        loss: As in :class:`ExternalOptimizerInterface`, like the rest.
        var_list: ...
        equalities: Only for methods that can, such as SLSQP.
        inequalities: The same.
        var_to_bounds: ...
        **optimizer_kwargs: ...

    Example::

        optimizer = ScipyOptimizerInterface(loss, method="SLSQP", options={"maxiter": 100})
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            optimizer.minimize(session)
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Any,
        equality_funcs: Any,
        equality_grad_funcs: Any,
        inequality_funcs: Any,
        inequality_grad_funcs: Any,
        packed_bounds: Any,
        step_callback: Any,
        optimizer_kwargs: Any,
    ) -> Any:
        minimize = _scipy_minimize()
        constraints = [
            {"type": kind, "fun": function, "jac": gradient}
            for kind, functions, gradients in (
                ("eq", equality_funcs, equality_grad_funcs),
                ("ineq", inequality_funcs, inequality_grad_funcs),
            )
            for function, gradient in zip(functions, gradients, strict=True)
        ]
        kwargs = {"method": self._DEFAULT_METHOD, **optimizer_kwargs}
        for ours in ("jac", "bounds", "constraints", "callback"):
            if ours in optimizer_kwargs:
                raise ValueError(f"Optimizer keyword arg '{ours}' is set automatically and cannot be injected manually")
        if packed_bounds is not None:
            kwargs["bounds"] = packed_bounds
        if constraints:
            kwargs["constraints"] = constraints
        result = minimize(
            loss_grad_func, np.asarray(initial_val, np.float64), jac=True, callback=step_callback, **kwargs
        )
        lines = [
            "Optimization terminated with:",
            f"  Message: {result.message}",
            f"  Objective function value: {result.fun:f}",
        ]
        if hasattr(result, "nit"):
            lines.append(f"  Number of iterations: {result.nit}")
        if hasattr(result, "nfev"):
            lines.append(f"  Number of functions evaluations: {result.nfev}")
        tf.logging.info("\n".join(lines))
        return result["x"]
