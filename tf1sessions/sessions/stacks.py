"""Looking at the stacks of other threads while they run."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Iterator

__all__ = ["without_collection"]

_lock = threading.RLock()


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """For code that follows ``f_back`` of another thread's frames, or reads their ``f_locals``.

    Both make objects. Up to Python 3.11 that may collect garbage at once, in the middle of the step; what is collected
    may let the other thread run on, and the frame that the step was about to go to is gone: a segmentation fault, seen
    once in about fifty tests that did this. Later Pythons collect between instructions only.
    """
    if sys.version_info >= (3, 12):
        yield
        return
    with _lock:
        enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if enabled:
                gc.enable()
