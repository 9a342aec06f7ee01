"""Runs a ported program in this process as plain Python does, and records it: no face of TensorFlow 1 is there.

The recorder puts its hooks in place when the program itself has imported TensorFlow, so that what the program sets
before (``TF_USE_LEGACY_KERAS``) counts as it will without the recorder.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tf1sessions.porting.replaying import Guided, recorder

__all__ = ["AfterImport", "main"]


def main(wanted: Mapping[str, Any]) -> int:
    """Run the program that ``wanted`` describes and write its trace.

    Args:
        wanted: What :func:`tf1sessions.porting.replaying.recording` gives, with the ``script`` as it is to be named,
            and its ``arguments``.

    Returns:
        The program's exit code.
    """
    sys.argv = [wanted["script"], *wanted["arguments"]]
    sys.path.insert(0, os.path.dirname(os.path.abspath(wanted["script"])))
    with Guided.opened(wanted) as guided:
        sys.meta_path.insert(0, AfterImport("tensorflow", guided.hook_tensorflow))
        sys.meta_path.insert(0, AfterImport("tf1sessions.porting.legacy_graph", guided.hook_legacy_graphs))
        guided.seed_python()
        error = recorder._run(os.path.abspath(wanted["script"]))  # Python gives __main__.__file__ in full
        ended = recorder.how_it_ended(error)
        if error is not None:
            recorder._report(error)
        if guided.here():  # and no child that the program has forked
            guided.finish(ended)
    return int(ended["code"])


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
                execute(module)
                self._call()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
