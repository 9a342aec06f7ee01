"""Python's collector of garbage: paused where much is made that stays, and kept away from what stays."""

from __future__ import annotations

import atexit
import contextlib
import gc
from collections.abc import Iterator

__all__ = ["collector_paused", "end_quickly", "settle"]


def end_quickly() -> None:
    """Spare this process the collections at the end of the interpreter, which look at all that TensorFlow has made.

    For a process of our own: they take 0.7 s, and find what is lost with the process.
    """
    atexit.register(gc.freeze)


def settle() -> None:
    """Free all garbage, and leave what stays out of the collections to come.

    For a process of our own that answers others: a collection of all there is takes 0.2 s with TensorFlow, in which no
    thread runs. Called again, it looks at what it had left out, too.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def collector_paused(make_old: bool = False) -> Iterator[None]:
    """Pause Python's garbage collector while objects are made that stay: it would look at them again and again.

    Where it is off already, it stays off. Safe from any thread: if several pause it at once, the first to do so turns
    it on again, for the others a little early.

    Args:
        make_old: Whether all objects are old ones afterwards. Else the next three collections look at what was made.
            Not where the program has frozen objects, which stay frozen; to find that out takes 60 ns for each of them.

    Example:
        >>> import gc
        >>> from tf1sessions.garbage import collector_paused
        >>> with collector_paused():
        ...     gc.isenabled()
        False
        >>> gc.isenabled()
        True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if make_old and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
