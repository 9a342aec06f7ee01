"""Resources that a library keeps on purpose: a pool or a helper thread that it made for all its callers."""

from __future__ import annotations

import gc
import sys
from types import FrameType, ModuleType
from typing import Any

__all__ = ["kept_by_library"]

#: How many references there may be from a library's global name or class to the thing. Arbitrary: executor pools are
#: three or four away.
_STEPS = 8
#: How many objects are looked at in one step. Arbitrary.
_WIDTH = 2000
_STACKS = ("_DefaultGraphStack", "DefaultStack")


def kept_by_library(thing: Any, packages: frozenset[str]) -> bool:
    """Say whether a global name, or a class, of one of the packages holds a thing, by a chain of references.

    The packages are those that have made it. Then it was not left behind by the program, which could not end it: the
    library has it for the next use. What the standard library notes of all threads and processes does not count, nor
    do TensorFlow's stacks of defaults. Takes some ten milliseconds a step with TensorFlow in the process.
    """
    if thing is None or not packages:
        return False
    gc.unfreeze()  # what is frozen, such as a preloaded TensorFlow in jobs of ours, is not among the referrers
    seen = {id(thing)}
    found: list[Any] = [thing]
    for _ in range(_STEPS):
        seen.add(id(found))
        seen.add(id(sys._getframe()))
        found = [each for each in gc.get_referrers(*found) if id(each) not in seen]
        if any(_package_of(each) in packages for each in found):
            return True
        found = [each for each in found if not _is_end(each)][:_WIDTH]
        if not found:
            return False
        seen.update(map(id, found))
    return False


def _package_of(referrer: Any) -> str | None:
    """Return the package whose class or global names a referrer is."""
    if isinstance(referrer, type) and referrer.__name__ not in _STACKS:
        return str(referrer.__module__).partition(".")[0]
    if type(referrer) is dict and _is_module(referrer):
        return str(referrer["__name__"]).partition(".")[0]
    return None


def _is_module(names: dict[Any, Any]) -> bool:
    module = sys.modules.get(names.get("__name__", "")) if "__spec__" in names else None
    return module is not None and vars(module) is names


def _is_end(referrer: Any) -> bool:
    """Say whether what refers to a referrer says nothing about what keeps the thing."""
    kind = type(referrer)
    return (
        kind in (FrameType, ModuleType)
        or isinstance(referrer, type)
        or kind.__name__ in _STACKS
        or (kind is dict and _is_module(referrer))
    )
