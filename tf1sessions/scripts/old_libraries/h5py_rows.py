"""h5py: the mode of a file that is opened without one, and ``dataset.value``."""

from __future__ import annotations

import os
from typing import Any

from ..callers import by_program
from .rows import Name, Table, Wrapped

__all__ = ["TABLES"]


def _open(original: Any, self: Any, name: Any, mode: Any = None, *args: Any, **named: Any) -> Any:
    """Without a mode, a file was opened to be written, if it may be, and made where there was none, up to 2.10."""
    if mode is None and isinstance(name, (str, bytes, os.PathLike)) and by_program():
        mode = "r" if os.path.exists(name) and not os.access(name, os.W_OK) else "a"
    return original(self, name, *(() if mode is None else (mode,)), *args, **named)


TABLES = {
    "h5py": Table(
        changes=[
            Wrapped("h5py", "File.__init__", "3.0", _open),
            Name("h5py", "Dataset", "value", "3.0", lambda kind, name: property(lambda self: self[()])),
        ]
    )
}
