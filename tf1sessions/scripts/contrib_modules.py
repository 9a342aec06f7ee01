"""``tensorflow.contrib`` of a TF1 program: modules whose names come from ``tf1sessions.contrib``.

Data flow: the import hooks ask :func:`find` for an address; ``tensorflow.contrib.layers`` and all of the inner
addresses that 1.15 had below it are modules of that name, which look a name up in our file of the address's last names,
if there is one, and then in ``tf1sessions.contrib.layers``. What is in neither is an error that names the program's
line and the replacement; of modules that are not rebuilt that is every name.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .. import contrib
from ..source import contrib_addresses
from . import missing, moved, seeds

__all__ = ["find"]

_PREFIX = "tensorflow.contrib"
_own: Callable[[ModuleType], dict[str, Any]] = vars(ModuleType)["__dict__"].__get__  # what a module has by now


class _Contrib(ModuleType):
    """A module named ``name`` with the names of ``sources``; of two that have one name, the first's."""

    def __init__(self, name: str, sources: list[ModuleType]) -> None:
        super().__init__(name, sources[0].__doc__)
        self.__path__: list[str] = []
        _own(self)["_sources"] = sources
        if hasattr(sources[0], "__all__"):
            self.__all__ = sources[0].__all__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        inside = f"{self.__name__}.{name}"
        if self.__name__.count(".") > _PREFIX.count(".") + 1 and not _is_function(inside) and find(inside):
            return importlib.import_module(inside)  # 1.15's file, and not what has the same name in it
        for source in _own(self)["_sources"]:
            if hasattr(source, name):
                value = getattr(source, name)
                break
        else:
            raise missing.symbol_error(f"tf{self.__name__[len('tensorflow') :]}.{name}")
        if isinstance(value, ModuleType) and value.__name__.startswith(contrib.__name__):
            value = importlib.import_module(inside) if find(inside) else _Contrib(inside, [value])
        _own(self)[name] = value
        return value

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """All names, for ``vars()``: none may come while a program goes through them."""
        if self.__name__ != _PREFIX:  # that would load all of contrib
            for name in dir(self):
                getattr(self, name, None)
        return _own(self)

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and _is_function(f"{self.__name__}.{name}")):  # as an import would set it
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        inside = {name for source in _own(self)["_sources"] for name in dir(source) if not name.startswith("__")}
        return sorted({*_own(self), *inside})


def _is_function(fullname: str) -> bool:
    return fullname[len(_PREFIX) + 1 :] in contrib_addresses.FUNCTIONS


def find(fullname: str) -> Callable[[], ModuleType] | None:
    """Return a function that makes ``fullname``, ``tensorflow.contrib`` or below it; None if 1.15 had no such one."""
    address = fullname[len(_PREFIX) + 1 :]
    if not address:
        return functools.partial(_Contrib, fullname, [contrib])
    top, _, inner = address.partition(".")
    if (top in contrib_addresses.INNER or top in contrib_addresses.EARLIER) and (
        not inner or contrib_addresses.is_inner(top, inner)
    ):
        return functools.partial(_module, fullname, top, inner)
    return None


def _module(fullname: str, top: str, inner: str) -> ModuleType:
    """The module at an address of 1.15: our file of the address's last names, or of those before, and the module."""
    module = getattr(contrib, top)
    seeds.apply_to_contrib()
    parts = inner.split(".") if inner else []
    for end in range(len(parts), 0, -1):
        for start in range(end):
            own = ".".join([module.__name__, *parts[start:end]])
            if moved.exists(own):
                return _Contrib(fullname, [importlib.import_module(own), module])
            inside = functools.reduce(lambda value, name: getattr(value, name, None), parts[start:end], module)
            if isinstance(inside, ModuleType):  # one that is made by our file, and has none of its own
                return _Contrib(fullname, [inside, module])
    return _Contrib(fullname, [module])
