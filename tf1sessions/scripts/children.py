"""Child processes that a script starts with multiprocessing see TensorFlow 1 too, and so do workers of its pools.

A forked child has everything already. A spawned one, and one of multiprocessing's fork server, is a fresh interpreter
that first unpickles its "preparation data": :func:`install` adds an object to it whose unpickling installs the TF1
face there, with the job's settings, before the script's main module is imported again. Workers of a
ProcessSessionPool run the same code, see ``pools/preparation.py``.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import os
import sys
from collections.abc import Callable, Collection, Sequence
from multiprocessing import spawn
from typing import Any

from ..pools import preparation
from ..pools.hidden_modules import forget_hidden, hides_standard_library, preloaded
from .payload import ProgramSettings

__all__ = ["apply_in_children", "become_child", "install"]

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What a child runs first. What lies before the standard library on the path, such as the script's folder, is put back
# when TensorFlow and we have what we need: a helper ``html.py`` in it is the script's, and not ours.
_BECOME_CHILD = """
import sys
at_start, path = frozenset(sys.modules), sys.path[:]
sys.path[:] = [entry for entry in path if entry and entry not in {folders!r}]
if {root!r} not in sys.path:
    sys.path.append({root!r})
    path.append({root!r})
from tf1sessions.scripts.children import become_child
become_child({code!r}, {folders!r}, at_start)
sys.path[:] = path
"""
_INSTALL = "import tf1sessions.scripts; tf1sessions.scripts.install()"
_code = _INSTALL  # what a child runs; set once, before the program starts any


class _InstallInChild:
    """An entry of multiprocessing's preparation data whose unpickling makes a child ready."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, dict[str, Any]]]:
        library = {os.path.dirname(os.__file__), os.path.join(sys.base_prefix, "lib")}
        first = itertools.takewhile(lambda entry: not entry.endswith(".zip") and entry not in library, sys.path)
        folders = [os.path.abspath(entry) for entry in first if entry != _ROOT]
        return exec, (_BECOME_CHILD.format(root=_ROOT, code=_code, folders=folders), {})


def become_child(code: str, folders: Sequence[str], at_start: Collection[str]) -> None:
    """Give this process the TF1 face and forget what the program's own modules hide.

    Args:
        code: What installs the face.
        folders: They will be before the standard library on the path, and are not on it now.
        at_start: The modules that there were when this process began.
    """
    exec(code, {})
    if any(hides_standard_library(at_start, folder) for folder in folders):
        importlib.import_module("tensorflow")  # it needs the modules that are hidden
    for folder in folders:
        forget_hidden(preloaded(at_start), folder)


def apply_in_children(settings: ProgramSettings, job: str) -> None:
    """Let the children have a job's settings too; see settings.py. Call it before the program starts any."""
    global _code
    given = dataclasses.replace(settings, line_buffered=False)  # of this process's stdout only
    preparation.code = _code = (
        "from tf1sessions.scripts import settings\n"
        "from tf1sessions.scripts.payload import ProgramSettings\n"
        f"settings.apply({given!r}, {job!r})"
    )


def install() -> None:
    """Let the children that multiprocessing starts from now on install the TF1 face. Idempotent."""
    if getattr(spawn.get_preparation_data, "installs_tf1", False):
        return
    preparation.code = _code
    original = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        # First, so that it is unpickled first; multiprocessing ignores keys that it does not know.
        return {"tf1sessions": _InstallInChild(), **original(name)}

    get_preparation_data.installs_tf1 = True  # type: ignore[attr-defined]
    spawn.get_preparation_data = get_preparation_data
