"""Decorators of functions that are old, or new: they log a warning when the function is used."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from ...runtime import tf1 as tf

__all__ = ["deprecated", "deprecated_arg_values", "deprecated_args", "experimental"]

Function = Callable[..., Any]


def _decorator(date: str | None, instructions: str, warn_once: bool, problem: Callable[..., str | None]) -> Any:
    """A decorator; ``problem(function, arguments)`` says what of a call is old."""
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")
    if date is not None and not re.fullmatch(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError(f"Date must be YYYY-MM-DD, not {date!r}.")
    when = "in a future version" if date is None else f"after {date}"

    def decorate(function: Function) -> Function:
        said: set[str] = set()

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            text = problem(function, args, kwargs)
            if text is not None and not (warn_once and text in said):
                said.add(text)
                tf.logging.warning(
                    "From %s: %s and will be removed %s.\nInstructions for updating:\n%s",
                    inspect.stack()[1].filename,
                    text,
                    when,
                    instructions,
                )
            return function(*args, **kwargs)

        return call

    return decorate


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Any:
    """A decorator for a function that will be removed.

    Args:
        date: When: "2020-01-31"; None for some time.
        instructions: What to use in its place.
        warn_once: Whether only the first call logs it.

    Raises:
        ValueError: There are no instructions, or the date is none.
    """
    return _decorator(
        date, instructions, warn_once, lambda function, args, kwargs: f"{function.__qualname__} is deprecated"
    )


def _bound(function: Function, args: Any, kwargs: Any) -> dict[str, Any]:
    return dict(inspect.signature(function).bind_partial(*args, **kwargs).arguments)


def deprecated_args(date: str | None, instructions: str, *deprecated_arg_names_or_tuples: Any, **kwargs: Any) -> Any:
    """A decorator for a function some of whose arguments will be removed.

    Args:
        date: When; None for some time.
        instructions: What to use in their place.
        *deprecated_arg_names_or_tuples: The names of the arguments, or pairs of a name and a value that is no matter.
        **kwargs: ``warn_once``: whether only the first call with an argument logs it; True unless given.

    Raises:
        ValueError: There are no instructions or names, or the function has no such argument.
    """
    warn_once = kwargs.pop("warn_once", True)
    if kwargs:
        raise ValueError(f"Illegal argument to deprecated_args: {kwargs}")
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    pairs = [item if isinstance(item, tuple) else (item,) for item in deprecated_arg_names_or_tuples]

    def problem(function: Function, args: Any, named: Any) -> str | None:
        given = _bound(function, args, named)
        old = [name for name, *fine in pairs if name in given and not (fine and given[name] == fine[0])]
        return f"calling {function.__qualname__} with {', '.join(old)} is deprecated" if old else None

    decorate = _decorator(date, instructions, warn_once, problem)

    def checked(function: Function) -> Any:
        known = inspect.signature(function).parameters
        unknown = [name for name, *_ in pairs if name not in known]
        if unknown:
            raise ValueError(f"The following deprecated arguments are not present in the function signature: {unknown}")
        return decorate(function)

    return checked


def deprecated_arg_values(date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: Any) -> Any:
    """A decorator for a function some of whose arguments will not take a value any more.

    Args:
        date: When; None for some time.
        instructions: What to use in its place.
        warn_once: Whether only the first call with the value logs it.
        **deprecated_kwargs: The arguments and their values.

    Raises:
        ValueError: There are no instructions or arguments.
    """
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def problem(function: Function, args: Any, named: Any) -> str | None:
        given = _bound(function, args, named)
        old = [name for name, value in deprecated_kwargs.items() if name in given and given[name] == value]
        return f"calling {function.__qualname__} with {', '.join(old)} of that value is deprecated" if old else None

    return _decorator(date, instructions, warn_once, problem)


def experimental(func: Function) -> Function:
    """A decorator for a function that may change: each call logs it, and its docstring says it.

    Raises:
        ValueError: ``func`` is no function.
    """
    if not callable(func):
        raise ValueError(f"{func} is not a function. If it is a property, @property comes before @experimental")
    notice = "Warning: THIS FUNCTION IS EXPERIMENTAL. It may change or be removed at any time, and without warning."
    first, _, rest = (inspect.getdoc(func) or "").partition("\n")

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        tf.logging.warning(
            "%s (from %s) is experimental and may change or be removed at any time, and without warning.",
            func.__qualname__,
            func.__module__,
        )
        return func(*args, **kwargs)

    title = f"{first} (experimental)" if first else "EXPERIMENTAL FUNCTION"
    call.__doc__ = "\n\n".join(part for part in (title, notice, rest.strip()) if part)
    return call
