"""Modules of a program's folder that have the name of another module, such as a helper ``html.py``.

Under ``python SCRIPT`` the script's folder is first on ``sys.path``: its files hide the standard library's, and those
of TensorFlow and of tf1sessions. What was imported before the folder got there is not hidden; it is forgotten when the
program begins, so that the program finds its own files and TensorFlow keeps what it needs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection

__all__ = ["forget_hidden", "hides_standard_library", "hiding", "preloaded"]


def hiding(modules: Collection[str], folder: str | None) -> dict[str, str]:
    """Return the files in a folder that an import would find instead of these modules, by the module's name."""
    try:
        files = sorted(os.listdir(folder)) if folder else []
    except (OSError, ValueError):  # no such folder: an import finds nothing there either
        files = []
    found = {}
    for file in files:
        name, _, ending = file.partition(".")
        if name in modules:
            path = os.path.join(folder or "", file)
            if os.path.isdir(path):
                is_module = not ending and os.path.isfile(os.path.join(path, "__init__.py"))
            else:
                is_module = ending in ("py", "pyc", "so") or ending.endswith(".so")
            if is_module:
                found[name] = path
    return found


def forget_hidden(loaded: Collection[str], folder: str | None) -> None:
    """Forget imported modules that have a namesake in a program's folder, so that its own imports find that.

    What was imported before (TensorFlow, ourselves) keeps the modules that it has.

    Args:
        loaded: As :func:`preloaded` returns it.
        folder: The program's.
    """
    hidden = hiding(loaded, folder)
    for name in list(sys.modules) if hidden else ():
        if name.partition(".")[0] in hidden:
            del sys.modules[name]


def preloaded(at_start: Collection[str]) -> set[str]:
    """Return the imported top-level modules that a folder before them on the path would have hidden."""
    # Compiled code imports these by name while it runs: the interpreter to import, to pickle, to replace by a regular
    # expression and when it ends; TensorFlow where it looks whether a value is a sequence.
    unhideable = {"__main__", "__mp_main__", "tf1sessions", "collections", "copyreg", "importlib", "re", "threading"}
    unhideable.update(at_start, sys.builtin_module_names)
    return {name for name in list(sys.modules) if "." not in name} - unhideable


def hides_standard_library(at_start: Collection[str], folder: str | None) -> bool:
    """Whether a folder has a namesake of a module of the standard library that is not loaded in any case."""
    return bool(hiding(sys.stdlib_module_names.difference(at_start, sys.builtin_module_names), folder))
