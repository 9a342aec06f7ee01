"""``tf.keras.wrappers``."""

from __future__ import annotations

import importlib
from typing import Any

__path__: list[str] = []  # of a package, as it was


def __getattr__(name: str) -> Any:
    if name == "scikit_learn":  # it needs NumPy, which no import of ours loads by itself
        return importlib.import_module(".keras_scikit", __package__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
