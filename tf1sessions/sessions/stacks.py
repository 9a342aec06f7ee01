"""Looking at the stacks of other threads while they run."""

from __future__ import annotations

import functools
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

__all__ = ["current_frames", "without_collection"]

_lock = threading.RLock()
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def without_collection(function: Callable[_Given, _Found]) -> Callable[_Given, _Found]:
    """Decorates a function that follows ``f_back`` of another thread's frames, or reads their ``f_locals``.

    Both make objects. Up to Python 3.11 that may collect garbage at once, in the middle of the step; what is collected
    may let the other thread run on, and the frame that the step was about to go to is gone: a segmentation fault, seen
    once in about fifty tests that did this. Later Pythons collect between instructions only.
    """
    if sys.version_info >= (3, 12):
        return function

    @functools.wraps(function)
    def call(*args: _Given.args, **kwargs: _Given.kwargs) -> _Found:
        with _lock:
            enabled = gc.isenabled()
            try:
                gc.disable()
                return function(*args, **kwargs)
            finally:
                if enabled:
                    gc.enable()

    return call


@without_collection
def current_frames() -> dict[int, Any]:
    """``sys._current_frames()``: the innermost frame of each thread, by the thread's ``ident``.

    Up to Python 3.11 that may collect garbage while it holds the lock under which threads begin and end, which the end
    of a ``threading.local`` needs as well. The whole process stands still then, for ever: no signal handler runs, and
    no timer.
    """
    return sys._current_frames()
