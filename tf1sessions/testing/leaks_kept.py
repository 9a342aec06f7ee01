"""What a library keeps on purpose: a pool or a helper thread that it made for all who use it."""

from __future__ import annotations

import gc
import sys
from types import FrameType, ModuleType
from typing import Any

from tf1sessions.testing.leaks_makers import is_installed

__all__ = ["kept_by_library"]

#: How many references there may be from a library's global name or class to the thing. Arbitrary: executor pools are
#: three or four away, and what a test keeps in its own objects is not reached from a library at all.
_STEPS = 8
#: How many objects are looked at in one step. Arbitrary.
_WIDTH = 2000
_STACKS = ("_DefaultGraphStack", "DefaultStack")


def kept_by_library(thing: Any) -> bool:
    """Whether a global name, or a class, of an installed package holds a thing, by a chain of references.

    Such a thing was not left behind by the program, which could not end it: the library has it for the next use. What
    the standard library notes of all threads and processes does not count, nor do TensorFlow's stacks of defaults.
    Takes some ten milliseconds a step with TensorFlow in the process.
    """
    seen = {id(thing)}
    found: list[Any] = [thing]
    for _ in range(_STEPS):
        seen.add(id(found))
        seen.add(id(sys._getframe()))
        found = [each for each in gc.get_referrers(*found) if id(each) not in seen]
        if any(map(_is_of_library, found)):
            return True
        found = [each for each in found if not _is_end(each)][:_WIDTH]
        if not found:
            return False
        seen.update(map(id, found))
    return False


def _is_of_library(referrer: Any) -> bool:
    if isinstance(referrer, type):
        module = sys.modules.get(referrer.__module__)
        return module is not None and _is_library(module) and referrer.__name__ not in _STACKS
    if isinstance(referrer, dict):
        module = _module_of(referrer)
        return module is not None and _is_library(module)
    return False


def _module_of(names: dict[Any, Any]) -> ModuleType | None:
    module = sys.modules.get(names.get("__name__", "")) if "__spec__" in names else None
    return module if module is not None and vars(module) is names else None


def _is_library(module: ModuleType) -> bool:
    path = getattr(module, "__file__", None)
    return path is not None and is_installed(path)


def _is_end(referrer: Any) -> bool:
    """Whether what refers to a referrer says nothing about who keeps the thing."""
    kind = type(referrer)
    return (
        kind in (FrameType, ModuleType)
        or isinstance(referrer, type)
        or kind.__name__ in _STACKS
        or (kind is dict and _module_of(referrer) is not None)
    )
