"""arg_scope: default arguments for many calls, written once.

Data flow: ``arg_scope([f, g], a=1)`` puts a dict (key of a function -> its arguments) on the thread's stack; a function
decorated with :func:`add_arg_scope` adds the arguments that the top of the stack has for it to those of the call.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

__all__ = [
    "add_arg_scope",
    "arg_scope",
    "arg_scope_func_key",
    "arg_scoped_arguments",
    "current_arg_scope",
    "has_arg_scope",
]

_F = TypeVar("_F", bound=Callable[..., Any])
Scope = dict[str, dict[str, Any]]

_local = threading.local()  # .stack: the scopes that the thread is in, the innermost last
_arguments: dict[str, tuple[str, ...]] = {}  # key of a decorated function -> its arguments that have defaults


def _stack() -> list[Scope]:
    try:
        stack: list[Scope] = _local.stack
    except AttributeError:
        stack = _local.stack = [{}]
    return stack


def arg_scope_func_key(op: Any) -> str:
    """The name by which scopes know the function ``op``."""
    key: str = getattr(op, "_key_op", str(op))
    return key


def current_arg_scope() -> Scope:
    """The scope that this thread is in; it can be given to :func:`arg_scope` later."""
    return _stack()[-1]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Sequence[Callable[..., Any]] | Mapping[str, Any], **kwargs: Any) -> Iterator[Scope]:
    """Within it, calls of the functions given have the arguments given.

    Args:
        list_ops_or_scope: A list or tuple of functions decorated with :func:`add_arg_scope`; or a scope that an
            ``arg_scope`` gave, to enter it again in place of the scope that is there.
        **kwargs: The arguments. Those of an inner scope, and of the call itself, win.

    Raises:
        TypeError: ``list_ops_or_scope`` is neither.
        ValueError: A function is not decorated, or arguments are given with a scope.

    Each thread has its own scopes.

    Example:
        >>> @add_arg_scope
        ... def layer(units, activation="none"):
        ...     return units, activation
        >>> with arg_scope([layer], activation="relu"):
        ...     layer(3), layer(3, activation="tanh")
        ((3, 'relu'), (3, 'tanh'))
    """
    if isinstance(list_ops_or_scope, Mapping):
        if kwargs:
            raise ValueError(f"arg_scope: a scope is entered again without arguments, and got {sorted(kwargs)}")
        scope = dict(list_ops_or_scope)
    elif isinstance(list_ops_or_scope, (list, tuple)):
        scope = dict(current_arg_scope())
        for op in list_ops_or_scope:
            if not has_arg_scope(op):
                raise ValueError(
                    f"arg_scope: {getattr(op, '__module__', '?')}.{getattr(op, '__name__', op)} is not decorated with "
                    "@add_arg_scope"
                )
            scope[arg_scope_func_key(op)] = {**scope.get(arg_scope_func_key(op), {}), **kwargs}
    else:
        raise TypeError(
            "arg_scope: list_ops_or_scope must be a list or tuple of functions, or a scope, and is "
            f"{type(list_ops_or_scope).__name__}"
        )
    stack = _stack()
    stack.append(scope)
    try:
        yield scope
    finally:
        stack.pop()


def add_arg_scope(func: _F) -> _F:
    """Decorates ``func`` so that :func:`arg_scope` can give its arguments."""
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def with_arguments(*args: Any, **kwargs: Any) -> Any:
        scope = current_arg_scope()
        return func(*args, **{**scope[key], **kwargs}) if key in scope else func(*args, **kwargs)

    with_arguments._key_op = key  # type: ignore[attr-defined]
    _arguments[key] = tuple(
        name
        for name, parameter in inspect.signature(func).parameters.items()
        if parameter.default is not parameter.empty
    )
    return with_arguments  # type: ignore[return-value]


def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Whether ``func`` is decorated with :func:`add_arg_scope`."""
    return arg_scope_func_key(func) in _arguments


def arg_scoped_arguments(func: Callable[..., Any]) -> tuple[str, ...]:
    """The arguments of ``func`` that have defaults: those that an :func:`arg_scope` gives.

    Raises:
        ValueError: ``func`` is not decorated with :func:`add_arg_scope`.
    """
    if not has_arg_scope(func):
        raise ValueError(f"{getattr(func, '__name__', func)} is not decorated with @add_arg_scope")
    return _arguments[arg_scope_func_key(func)]
