"""``tf.contrib`` as TensorFlow 1.15 had it, on today's TensorFlow.

A file or package here has the name of the module of ``tf.contrib`` that it replaces, and that module's public names:
``from tf1sessions import contrib`` and then ``contrib.layers.batch_norm(...)``. Scripts of ``tf1sessions run`` get the
same code as ``tf.contrib`` and ``import tensorflow.contrib``. Variables have the names, shapes, dtypes and collections
that they have in 1.15.5, so that its checkpoints load. Everything is for graph mode, and importing a module changes
nothing.

A module is imported when it is used first; importing this package imports no TensorFlow.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import ModuleType
from typing import Any

from ..errors import MissingSymbolError

_NOT_CONTRIB = {"addresses"}  # files of ours that 1.15 had no module for
_MODULES = frozenset(
    module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")
) - _NOT_CONTRIB

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> ModuleType:
    if name not in _MODULES:
        raise _missing("tf.contrib", name)
    module = importlib.import_module(f"{__name__}.{name}")
    if "__getattr__" not in vars(module):

        def getattr_(attribute: str) -> Any:
            raise _missing(f"tf.contrib.{name}", attribute)

        vars(module)["__getattr__"] = getattr_
    return module


def _missing(module: str, name: str) -> AttributeError:
    """The error for reading ``name`` from ``module``, in the line that called our caller."""
    symbol = f"{module}.{name}"
    if name.startswith("__"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    line = sys._getframe(2)
    return MissingSymbolError(
        f"{symbol} is not available",
        where=f"{line.f_code.co_filename}:{line.f_lineno}",
        next_step=f"The modules of tf.contrib that are: {', '.join(__all__)}.",
        name=name,
        symbol=symbol,
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
