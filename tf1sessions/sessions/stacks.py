"""Looking at the stacks of other threads while they run, and at which run at all."""

from __future__ import annotations

import functools
import gc
import os
import sys
import threading
from collections.abc import Callable
from time import sleep
from typing import Any, ParamSpec, TypeVar

__all__ = ["current_frames", "other_threads_run", "without_collection"]

#: Between the looks at which threads run; arbitrary.
_AGAIN_SECS = 0.01
_TASKS = "/proc/self/task"

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


def other_threads_run() -> bool:
    """Say whether a thread of this process runs, wants to run, or waits for a disk, but for the one that asks.

    On a busy machine a thread may want to run for long without using the processor. Without ``/proc``, False.
    """
    own = str(threading.get_native_id())
    for look_again in (True, True, False):
        for task in os.listdir(_TASKS) if os.path.isdir(_TASKS) else ():
            try:
                with open(f"{_TASKS}/{task}/stat", "rb") as file:
                    state = file.read().rpartition(b")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):  # it ended
                continue
            if state in (b"R", b"D") and task != own:
                return True
        if look_again:
            sleep(_AGAIN_SECS)
    return False
