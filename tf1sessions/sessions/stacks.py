"""Looking at the stacks of other threads while they run."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["current_frames", "without_collection"]

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
        try:
            gc.disable()
            yield
        finally:
            if enabled:
                gc.enable()


@without_collection()
def current_frames() -> dict[int, Any]:
    """``sys._current_frames()``: the innermost frame of each thread, by the thread's ``ident``.

    Up to Python 3.11 that may collect garbage while it holds the lock under which threads begin and end, which the end
    of a ``threading.local`` needs as well. The whole process stands still then, for ever: no signal handler runs, and
    no timer.
    """
    return sys._current_frames()
