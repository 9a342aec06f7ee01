"""Child processes that a script starts with multiprocessing see TensorFlow 1 too.

A forked child has everything already. A spawned one, and one of multiprocessing's fork server, is a fresh interpreter
that first unpickles its "preparation data": :func:`install` adds an object to it whose unpickling installs the TF1
face there, before the script's main module is imported again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing import spawn
from typing import Any

__all__ = ["install"]

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_CODE = """import sys
if {root!r} not in sys.path:
    sys.path.append({root!r})
import tf1sessions.scripts
tf1sessions.scripts.install()
"""


class _InstallInChild:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, dict[str, Any]]]:
        return exec, (_CODE.format(root=_ROOT), {})


def install() -> None:
    """Let the children that multiprocessing starts from now on install the TF1 face. Idempotent."""
    if getattr(spawn.get_preparation_data, "installs_tf1", False):
        return
    original = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        # First, so that it is unpickled first; multiprocessing ignores keys that it does not know.
        return {"tf1sessions": _InstallInChild(), **original(name)}

    get_preparation_data.installs_tf1 = True  # type: ignore[attr-defined]
    spawn.get_preparation_data = get_preparation_data
