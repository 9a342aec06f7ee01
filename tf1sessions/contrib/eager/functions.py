"""``defun``: a Python function that becomes a function of the graph.

Unlike ``tf.function`` it traces once for each kind of arguments, also where the first call makes variables, so that
``tf.get_variable`` and layers in it make them once.
"""

from __future__ import annotations

import functools
import inspect
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

from ...runtime import private as _private

__all__ = ["defun"]


class _Function:
    """A function of the graph for each kind of arguments. Safe to call from several threads."""

    def __init__(
        self, python_function: Callable[..., Any], signature: Any, autograph: bool, settings: Any, relax: bool
    ) -> None:
        self.python_function = python_function
        functools.update_wrapper(self, python_function)
        self._given = {"signature": signature, "autograph": autograph, "settings": settings, "relax": relax}
        self._bound: weakref.WeakKeyDictionary[Any, _Function] = weakref.WeakKeyDictionary()
        tracing: Any = _private.tracing_compilation
        kinds, defaults = _private.function_type_utils.make_function_type(python_function, signature)
        traced = (
            _private.autograph_util.py_func_from_autograph(python_function, settings) if autograph else python_function
        )
        self._options = tracing.TracingOptions(
            traced,
            getattr(python_function, "__name__", "function"),
            kinds,
            defaults,
            reduce_retracing=relax,
            bind_graph_to_function=True,
            function_cache=_private.function_cache.FunctionCache(),
            lock=threading.RLock(),
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self._with_defaults(args, kwargs)
        return _private.tracing_compilation.call_function(bound.args, bound.kwargs, self._options)

    def _with_defaults(self, args: Any, kwargs: Any) -> Any:
        utils: Any = _private.function_type_utils
        return utils.bind_function_inputs(args, kwargs, self._options.polymorphic_type, self._options.default_values)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The function for arguments, or specs, of this kind."""
        return _private.tracing_compilation.trace_function(args, kwargs, self._options)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The function as a method of this instance, traced for it alone."""
        if instance is None:
            return self
        bound = self._bound.get(instance)
        if bound is None:
            bound = self._bound.setdefault(instance, _Function(_method(self.python_function, instance), **self._given))
        return bound


def _method(function: Callable[..., Any], instance: Any) -> Callable[..., Any]:
    """The function with its first argument, which it does not keep alive."""
    owner = weakref.ref(instance)

    @functools.wraps(function)
    def method(*args: Any, **kwargs: Any) -> Any:
        return function(owner(), *args, **kwargs)

    vars(method)["__signature__"] = inspect.signature(types.MethodType(function, instance))
    return method


def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """Make ``func`` a function of the graph; without it, give the decorator that does.

    Args:
        func: A Python function that makes operations and returns a structure of tensors, or None.
        input_signature: A ``tf.TensorSpec`` for each argument; with it the function is traced once.
        autograph: Whether its ``if`` and ``while`` of tensors become operations.
        experimental_autograph_options: Of ``tf.autograph.experimental.Feature``.
        experimental_relax_shapes: Whether a trace is to serve arguments of other shapes too.
    """
    if func is None:
        return functools.partial(
            defun,
            input_signature=input_signature,
            autograph=autograph,
            experimental_autograph_options=experimental_autograph_options,
            experimental_relax_shapes=experimental_relax_shapes,
        )
    return _Function(
        func,
        signature=None if input_signature is None else tuple(input_signature),
        autograph=autograph,
        settings=experimental_autograph_options,
        relax=experimental_relax_shapes,
    )
