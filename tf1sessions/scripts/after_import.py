"""Calls a function as soon as a program has imported a module. For processes that have no TF1 face.

The import draws nothing from Python's ``random``: the program gets the numbers that it gets where TensorFlow is there
before it begins.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import random
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["AfterImport", "call_when_usable"]


def call_when_usable(call: Callable[[], object]) -> None:
    """Call a function that needs TensorFlow, which has just been imported.

    Where runtime.py imports it, nothing that needs that can be imported before it is complete.
    """
    later = getattr(sys.modules.get("tf1sessions.runtime"), "when_complete", None)
    if later is None:
        call()
    else:
        later.append(call)


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls a function as soon as a module is imported as a whole."""

    def __init__(self, module: str, call: Callable[[], None]) -> None:
        self._module = module
        self._call = call

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                drawn = random.getstate()
                execute(module)
                random.setstate(drawn)  # Rich, which Keras imports with TensorFlow, draws a number
                if fullname == "tensorflow":
                    call_when_usable(self._call)
                else:
                    self._call()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
