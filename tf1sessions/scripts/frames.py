"""Leaves our own frames out of what a program's author reads: tracebacks, and where an operation was made.

``python SCRIPT`` would not have them either. "Ours" are the files of this package and what runs a program for it.
"""

from __future__ import annotations

import importlib
import itertools
import os
import runpy
from builtins import id, set  # the program may replace them
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = ["hide_from_operations", "outside", "strip"]

_PACKAGE = Path(__file__).resolve().parent.parent
_FILES = frozenset(["<string>", *(str(path) for path in _PACKAGE.rglob("*.py"))])  # <string>: what starts a worker
_OURS = (f"{_PACKAGE}{os.sep}", "<frozen runpy>", "<frozen importlib", runpy.__file__)


def outside(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without our frames; None if there are no others. Changes the links between its parts."""
    kept: list[TracebackType] = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_OURS):
            kept.append(traceback)
        traceback = traceback.tb_next
    for one, following in itertools.pairwise([*kept, None]):
        one.tb_next = following  # type: ignore[union-attr]
    return kept[0] if kept else None


def strip(error: BaseException) -> None:
    """Leave our frames out of the traceback of ``error`` and of all errors that it came from."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            one.__traceback__ = outside(one.__traceback__)
            waiting += [one.__cause__, one.__context__]


def hide_from_operations() -> None:
    """Leave our files out of the tracebacks that TensorFlow keeps of each operation made by this thread."""
    stack: Any = importlib.import_module("tensorflow.python.util.tf_stack")

    class Filter(stack.StackTraceFilter):  # type: ignore[misc]
        def get_filtered_filenames(self) -> frozenset[str]:
            return _FILES

    Filter().__enter__()  # for good: TensorFlow keeps a stack of filters for each thread
