"""Child processes that a script starts with multiprocessing see TensorFlow 1 too, and so do workers of its pools.

A forked child has everything already. A spawned one, and one of multiprocessing's fork server, is a fresh interpreter
that first unpickles its "preparation data": :func:`install` adds an object to it whose unpickling installs the TF1
face there, with the job's settings, before the script's main module is imported again. Workers of a
ProcessSessionPool run the same code, see ``pools/preparation.py``.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from multiprocessing import spawn
from typing import Any

from ..pools import preparation
from .payload import ProgramSettings

__all__ = ["apply_in_children", "install"]

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_CODE = """import sys
if {root!r} not in sys.path:
    sys.path.append({root!r})
"""
_INSTALL = "import tf1sessions.scripts; tf1sessions.scripts.install()"
_code = _INSTALL  # what a child runs; set once, before the program starts any


class _InstallInChild:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, dict[str, Any]]]:
        return exec, (_CODE.format(root=_ROOT) + _code, {})


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
