"""``keras.legacy.interfaces`` of multi-backend Keras 2: decorators of layers and optimizers.

They took arguments by their names in Keras 1 as well, with a warning. Programs of their own layers put them around
methods that they call by today's names, for which they did nothing; here they do nothing at all.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["generate_legacy_interface"]

__path__: list[str] = []  # of the package keras.legacy, which is this module as well


def generate_legacy_interface(*args: Any, **named: Any) -> Callable[[Any], Any]:
    """Return a decorator that leaves a function as it is."""
    return _as_it_is


def _as_it_is(function: Any) -> Any:
    return function


def __getattr__(name: str) -> Any:
    if re.fullmatch(r"legacy_\w+_support", name):
        return _as_it_is
    if name == "interfaces":
        return sys.modules[__name__]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
