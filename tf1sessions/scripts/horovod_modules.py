"""``horovod`` of a TF1 program, where it is not installed: modules whose names come from ``tf1sessions.horovod``.

Data flow: the import hooks ask :func:`find` for an address. The table says in which of our files a module looks for a
name, one after the other. What is in none of them is an error that names the program's line.
"""

from __future__ import annotations

import functools
import importlib
import importlib.machinery
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import MissingModuleError
from . import missing

__all__ = ["find", "is_installed", "module_error"]

_OURS = "tf1sessions.horovod"
_KERAS = "keras ranks compression operations"
# module -> our files with its names
_FILES = {
    "horovod": "",
    "horovod.common": "ranks",
    "horovod.common.basics": "ranks",
    "horovod.common.util": "ranks",
    "horovod.keras": _KERAS,
    "horovod.keras.callbacks": "keras_callbacks",
    "horovod.tensorflow": "optimizers variables operations compression ranks",
    "horovod.tensorflow.compression": "compression",
    "horovod.tensorflow.functions": "variables",
    "horovod.tensorflow.keras": _KERAS,
    "horovod.tensorflow.keras.callbacks": "keras_callbacks",
    "horovod.tensorflow.mpi_ops": "operations ranks",
}
_NEXT_STEP = "This Horovod is tf1sessions' own, for ranks on one machine; install horovod for the rest"
# Names of our files that Horovod has not.
_OWN = ("average_all", "average_values", "check_combining", "exchange", "exchanged")


def find(fullname: str) -> Callable[[], ModuleType] | None:
    """Return a function that makes the module ``fullname`` of Horovod; None if there is no such one."""
    return functools.partial(_HorovodModule, fullname) if fullname in _FILES else None


def is_installed() -> bool:
    """Whether there is a package ``horovod`` on the path: Horovod itself, or a module of the program's own.

    A folder of this name that has no Python in it, for logs or the like, is none.
    """
    spec = importlib.machinery.PathFinder.find_spec("horovod")
    if spec is None or spec.origin is not None:
        return spec is not None
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    return any(True for folder in folders for _ in (*folder.glob("*.py"), *folder.glob("*/__init__.py")))


def module_error(fullname: str) -> MissingModuleError:
    """The error for importing a module that is not there."""
    return MissingModuleError(f"{fullname} is not there", next_step=f"{_NEXT_STEP}.", name=fullname, symbol=fullname)


class _HorovodModule(ModuleType):
    """A module of Horovod."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "Horovod's API, by tf1sessions.")
        self.__path__: list[str] = []
        self.__version__ = "0.19.5"  # that of this API

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if f"{self.__name__}.{name}" in _FILES:
            return importlib.import_module(f"{self.__name__}.{name}")
        for source in self._sources():
            if name in source.__all__ and name not in _OWN:
                value = vars(self)[name] = getattr(source, name)
                return value
        raise missing.library_error(self, name, _NEXT_STEP)

    def _sources(self) -> list[Any]:
        return [importlib.import_module(f"{_OURS}.{file}") for file in _FILES[self.__name__].split()]

    def __dir__(self) -> list[str]:
        below = {name.rpartition(".")[2] for name in _FILES if name.rpartition(".")[0] == self.__name__}
        names = {name for source in self._sources() for name in source.__all__} - set(_OWN)
        return sorted({*vars(self), *below, *names})
