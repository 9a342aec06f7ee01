"""Functions that differentiate Python functions, on ``tf.GradientTape``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...runtime import tf1 as tf

__all__ = [
    "gradients_function",
    "implicit_gradients",
    "implicit_value_and_gradients",
    "value_and_gradients_function",
]


def value_and_gradients_function(
    f: Callable[..., Any], params: Sequence[int | str] | None = None
) -> Callable[..., Any]:
    """A function like ``f`` that returns ``(value, gradients)`` with respect to its arguments.

    Args:
        f: A function of tensors.
        params: The positions or the names of the arguments; all positional ones without it.

    The function takes ``dy``, the gradient of the value, by keyword.
    """

    @functools.wraps(f)
    def value_and_gradients(*args: Any, dy: Any = None, **kwargs: Any) -> tuple[Any, list[Any]]:
        places = _places(f, params, len(args))
        tensors = list(args)
        for place in places:
            tensors[place] = tf.nest.map_structure(tf.convert_to_tensor, tensors[place])
        sources = [tensors[place] for place in places]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            value = f(*tensors, **kwargs)
        if value is None:
            raise ValueError("Cannot differentiate a function that returns None")
        return value, tape.gradient(value, sources, output_gradients=dy)

    return value_and_gradients


def _places(f: Callable[..., Any], params: Sequence[int | str] | None, count: int) -> list[int]:
    if params is None:
        return list(range(count))
    names = getattr(getattr(f, "__code__", None), "co_varnames", ())
    found = []
    for param in params:
        if not isinstance(param, (int, str)):
            raise ValueError(f"params must be all strings or all integers; got {params}.")
        if isinstance(param, str) and param not in names:
            raise ValueError(f"params must be names of arguments of the function; {param!r} is none")
        found.append(names.index(param) if isinstance(param, str) else param)
    return found


def gradients_function(f: Callable[..., Any], params: Sequence[int | str] | None = None) -> Callable[..., Any]:
    """A function like ``f`` that returns its gradients; see :func:`value_and_gradients_function`."""
    both = value_and_gradients_function(f, params)

    @functools.wraps(f)
    def gradients(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradients


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function like ``f`` that returns ``(value, [(gradient, variable), ...])`` for the variables that it uses.

    The function raises a ``ValueError`` if ``f`` uses no trainable variable.
    """

    @functools.wraps(f)
    def value_and_gradients(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        with tf.GradientTape() as tape:
            value = f(*args, **kwargs)
        if value is None:
            raise ValueError("Cannot differentiate a function that returns None")
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        gradients = tape.gradient(value, variables)
        return value, list(zip(gradients, variables, strict=True))

    return value_and_gradients


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function like ``f`` that returns ``[(gradient, variable), ...]``, as ``Optimizer.apply_gradients`` takes it."""
    both = implicit_value_and_gradients(f)

    @functools.wraps(f)
    def gradients(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradients
