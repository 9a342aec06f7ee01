"""Child processes that a script starts with multiprocessing see TensorFlow 1 too, and so do workers of its pools.

A forked child has everything already. A spawned one, and one of multiprocessing's fork server, is a fresh interpreter
that first unpickles its "preparation data": :func:`install` adds an object to it whose unpickling installs the TF1
face there, with the job's settings, before the script's main module is imported again. Workers of a
ProcessSessionPool run the same code, see ``pools/preparation.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from multiprocessing import spawn
from typing import Any

from ..pools import preparation

__all__ = ["hand_on", "install"]

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


def hand_on(settings: Mapping[str, Any], job: str) -> None:
    """Let the children have a job's settings too; see settings.py. Call it before the program starts any."""
    global _code
    given = {name: value for name, value in settings.items() if value is not None and name != "line_buffered"}
    preparation.code = _code = f"from tf1sessions.scripts import settings; settings.apply({given!r}, {job!r})"


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
