"""Libraries written for TensorFlow 2 (tensorflow_probability, for one): they get the real package, not the TF1 face.

Data flow: the import hooks ask :func:`find` for each module that is not TensorFlow's. If the metadata of the
distribution that its package is named after asks for TensorFlow 2, the module runs with an ``__import__`` of its own,
by which ``import tensorflow`` is what it was written for. A package that says nothing of the kind is taken for the
program's own, and has the face.
"""

from __future__ import annotations

import builtins
import functools
import importlib.abc
import importlib.machinery
import importlib.metadata
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

__all__ = ["find", "is_for_tf2"]

_WANTS_TF2 = re.compile(
    r"tensorflow([-_](cpu|gpu|intel|macos))?(\[[^]]*\])?\s*\(?[^;a-z]*(>=?|==|~=)\s*2\b|tf[-_]keras\b", re.IGNORECASE
)


@functools.cache
def is_for_tf2(package: str) -> bool:
    """Whether the distribution of this name requires TensorFlow 2, be it as an extra. Safe from any thread.

    Example:
        >>> is_for_tf2("numpy")
        False
    """
    if not package or package in sys.stdlib_module_names:  # up to Python 3.11, no name is that of any distribution
        return False
    if package == "tf_keras":  # it is the face's own Keras
        return False
    try:
        requirements = importlib.metadata.requires(package) or ()
    except (importlib.metadata.PackageNotFoundError, ValueError):  # ValueError: no name of a distribution
        return False
    return any(map(_WANTS_TF2.match, requirements))


def find(
    fullname: str, path: Sequence[str] | None, real: Callable[[], ModuleType]
) -> importlib.machinery.ModuleSpec | None:
    """The spec of a module of such a library; None for all others. ``real`` gives TensorFlow after its import."""
    if not is_for_tf2(fullname.partition(".")[0]):
        return None
    spec = importlib.machinery.PathFinder.find_spec(fullname, path)
    if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
        spec.loader = _Loader(fullname, spec.loader.path, real)
    return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a source file whose imports of TensorFlow give the real one."""

    def __init__(self, fullname: str, path: str, real: Callable[[], ModuleType]) -> None:
        super().__init__(fullname, path)
        self._real = real

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": functools.partial(_import, self._real)}
        super().exec_module(module)


def _import(
    real: Callable[[], ModuleType],
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] = (),
    level: int = 0,
) -> ModuleType:
    if level or name.partition(".")[0] != "tensorflow" or (fromlist and name != "tensorflow"):
        return builtins.__import__(name, globals, locals, fromlist, level)
    builtins.__import__(name)
    return real()
