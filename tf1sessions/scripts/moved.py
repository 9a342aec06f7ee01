"""Old addresses: modules and names that moved inside TensorFlow and Keras since 1.15.

TF1 programs import from ``tensorflow.python`` as from a public place. The tables were made by comparing what the
modules of 1.15.5 had with what today's have; a name is looked up at its new address when a program first asks for it,
so that nothing is imported for a program that does not.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import missing
from .moved_tables import ENGINE, GONE, KERAS_MODULES, KERAS_PARTS, MODULES, NAMES

__all__ = [
    "add_names",
    "apply",
    "engine_modules",
    "exists",
    "gone",
    "has_names",
    "ignore",
    "is_package",
    "keras_module",
    "matrix",
    "modules",
    "scalar",
    "start_profiler_server",
    "vector",
]

_PYTHON = "tensorflow.python"
_KERAS = "tf_keras.src"
_OURS = "tf1sessions.scripts."


def scalar() -> Any:
    return _shape([])


def vector(length: Any) -> Any:
    return _shape([length])


def matrix(rows: Any, columns: Any) -> Any:
    return _shape([rows, columns])


def _shape(dimensions: list[Any]) -> Any:
    return sys.modules["tensorflow"].TensorShape(dimensions)


def ignore(*_: Any, **__: Any) -> Any:
    """A registration that TensorFlow does not need any more, also as a decorator."""
    return lambda function: function


def start_profiler_server(port: int) -> None:
    """Starts the server from which TensorBoard fetches profiles."""
    real: Any = sys.modules["tensorflow"].compat.v2
    real.profiler.experimental.server.start(port)


_MADE = {
    "=ignore": ignore,
    "=matrix": matrix,
    "=scalar": scalar,
    "=start_profiler_server": start_profiler_server,
    "=vector": vector,
}


def modules(fullname: str) -> list[str]:
    """The modules that have today what was in ``fullname`` in 1.15; empty if it did not move."""
    targets = MODULES.get(fullname.removeprefix(f"{_PYTHON}."), "").split()
    names = [target[1:] if target.startswith("!") else f"{_PYTHON}.{target}" for target in targets]
    return [name for name in names if name != fullname and exists(name)]


def exists(name: str) -> bool:
    """Whether this TensorFlow, or this library, has the module."""
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is not there
        return False


def is_package(fullname: str) -> bool:
    """Whether other modules that moved were below ``fullname``."""
    prefix = f"{fullname.removeprefix(f'{_PYTHON}.')}."
    return any(name.startswith(prefix) for name in MODULES)


def keras_module(name: str) -> list[str]:
    """The modules that have today what was in the module ``name`` below Keras: names below Keras, or in full."""
    parts = [_inner_keras(part) for part in KERAS_PARTS.get(name, "").split()]
    for pattern, target in KERAS_MODULES:
        found = re.fullmatch(pattern, name)
        if found:
            target = found.expand(target)
            return [f"{_OURS}{target}"] if target.startswith("inner.") else [target, *parts]
    return [name, *parts]


def engine_modules(name: str) -> list[str]:
    """The modules below Keras' engine that have today what was in the one called ``name``."""
    files = [*([name] if name else []), *ENGINE.get(name, "").split()]
    return [_inner_keras(file, below="engine.") for file in files]


def _inner_keras(file: str, below: str = "") -> str:
    return f"{_OURS}{file}" if file.startswith("inner.") else f"{_KERAS}.{below}{file}"


def gone(fullname: str) -> Callable[[], ModuleType] | None:
    """Return a function that makes a module of 1.15 of which nothing is left: its names raise. None for other names."""
    return functools.partial(_empty, fullname) if fullname in GONE else None


def _empty(fullname: str) -> ModuleType:
    module = ModuleType(fullname, "Nothing of this module is left in today's TensorFlow.")
    module.__path__ = []

    def getattr_(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {fullname!r} has no attribute {name!r}")
        if f"{fullname}.{name}" in GONE or modules(f"{fullname}.{name}"):
            return importlib.import_module(f"{fullname}.{name}")
        raise missing.symbol_error(f"{fullname}.{name}")

    vars(module)["__getattr__"] = getattr_
    return module


def apply() -> None:
    """Let the modules that TensorFlow has imported find their old names. Idempotent."""
    for key in NAMES:
        found = sys.modules.get(f"{_PYTHON}.{key}" if key else _PYTHON)
        if found is not None:
            add_names(found)


def has_names(fullname: str) -> bool:
    """Whether the module ``fullname`` is to be given old names once it is imported (:func:`add_names`)."""
    return fullname.startswith(f"{_PYTHON}.") and fullname[len(_PYTHON) + 1 :] in NAMES


def add_names(module: ModuleType) -> None:
    """Let a module below ``tensorflow.python`` find the names that it had in 1.15."""
    key = module.__name__[len(_PYTHON) + 1 :]
    own = vars(module)
    earlier = own.get("__getattr__")
    if getattr(earlier, "finds_old_names", False):
        return

    def getattr_(name: str) -> Any:
        found = _old_name(key, name)
        if found is not None:
            value = _find(found)
            setattr(module, name, value)
            return value
        if earlier is not None:
            return earlier(name)
        if name.startswith("__"):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        raise missing.symbol_error(f"{module.__name__}.{name}")

    getattr_.finds_old_names = True  # type: ignore[attr-defined]
    own["__getattr__"] = getattr_


def _old_name(key: str, name: str) -> str | None:
    """Return today's address of ``name`` of the module ``key``, for :func:`_find`; None if that is not known."""
    table = NAMES[key]
    if name in table or name.startswith("__"):
        return table.get(name)
    if NAMES[""].get(name, "").endswith(":"):
        return NAMES[""][name]  # a module that this one imported, or may have
    for where in table.get("*", "").split():
        if where == "tf" and name in dir(sys.modules["tensorflow"]):
            return f"tf.{name}"
        if where != "tf" and hasattr(_module(where), name):
            return f"{where}:{name}"
    if name.startswith("_") and key.startswith("ops.gen_") and hasattr(_module(key), name[1:]):
        return f"{key}:{name[1:]}"  # until 1.6 the functions of operations without a public name had the underscore
    return None


def _module(address: str) -> ModuleType:
    return importlib.import_module(address[1:] if address.startswith("!") else f"{_PYTHON}.{address}")


def _find(address: str) -> Any:
    if address in _MADE:
        return _MADE[address]
    if address.startswith("tf."):
        value: Any = sys.modules["tensorflow"]
        for part in address.split(".")[1:]:
            value = getattr(value, part)
        return value
    where, _, name = address.partition(":")
    return getattr(_module(where), name) if name else _module(where)
