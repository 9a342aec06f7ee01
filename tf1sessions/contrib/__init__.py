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
from types import ModuleType

from ..errors import MissingSymbolError

_NOT_CONTRIB = {"addresses"}  # files of ours that 1.15 had no module for
_MODULES = frozenset(
    module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")
) - _NOT_CONTRIB

__all__ = sorted(_MODULES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise MissingSymbolError(
        f"tf.contrib.{name} is not available",
        where=__name__,
        next_step=f"There are: {', '.join(__all__)}.",
        name=name,
        symbol=f"tf.contrib.{name}",
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
