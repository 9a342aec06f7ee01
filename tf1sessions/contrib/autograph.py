"""``tf.contrib.autograph``: what turns Python's control flow into a graph's; it is in ``tf.autograph`` now."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..runtime import private as _private
from ..runtime import tf1 as _tf

__all__ = [
    "AutoGraphError",
    "ConversionOptions",
    "Feature",
    "StackTraceMapper",
    "convert",
    "converted_call",
    "do_not_convert",
    "set_element_type",
    "set_loop_options",
    "stack",
    "to_code",
    "to_graph",
]

AutoGraphError: Any = _private.autograph_api.AutoGraphError
ConversionOptions: Any = _private.autograph_converter.ConversionOptions
StackTraceMapper: Any = _private.autograph_api.StackTraceMapper
set_element_type: Any = _private.autograph_directives.set_element_type
stack: Any = _private.autograph_functions.stack

Feature: Any = _tf.autograph.experimental.Feature
do_not_convert: Any = _tf.autograph.experimental.do_not_convert
set_loop_options: Any = _tf.autograph.experimental.set_loop_options
to_code: Any = _tf.autograph.to_code
to_graph: Any = _tf.autograph.to_graph


def convert(
    recursive: bool = False, optional_features: Any = None, user_requested: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function is converted by ``tf.autograph.to_graph`` when it is called first.

    Args:
        recursive: Whether the functions that it calls are converted, too.
        optional_features: A ``Feature``, or several.
        user_requested: Of no effect.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.lru_cache(maxsize=1)
        def converted() -> Callable[..., Any]:
            found: Callable[..., Any] = to_graph(
                function, recursive=recursive, experimental_optional_features=optional_features
            )
            return found

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return converted()(*args, **kwargs)

        # Keras looks for the arguments at what is decorated
        decorated: Callable[..., Any] = _private.tf_decorator.make_decorator(function, call)
        return decorated

    return decorate


def converted_call(f: Any, options: Any, args: Any, kwargs: Any, caller_fn_scope: Any = None) -> Any:
    """Return what ``f`` gives when it is converted, as ``options`` say, and called.

    Args:
        f: The function.
        options: A ``ConversionOptions``.
        args: A tuple.
        kwargs: A dict, or None.
        caller_fn_scope: The scope of the converted function that calls it, whose options are taken if these are None.
    """
    return _private.autograph_api.converted_call(f, args, kwargs, caller_fn_scope, options)
