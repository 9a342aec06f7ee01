"""Names for public functions that another function makes, for a family that differs in a number or two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["named"]

_F = TypeVar("_F", bound=Callable[..., Any])


def named(name: str, doc: str, module: str | None = None) -> Callable[[_F], _F]:
    """A decorator: the function is called ``name``, with the docstring ``doc``.

    Args:
        name: The name under which the function is public.
        doc: What it does.
        module: The module where it is public, if that is another one.
    """

    def name_it(function: _F) -> _F:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = doc
        function.__module__ = module or function.__module__
        return function

    return name_it
