"""The first import of TensorFlow, for which the other threads of a program wait.

An ``import tensorflow`` that meets the one of another thread waits for its end in Python too, but then gives the module
that it saw before it waited: the real package, and not the TF1 face that has taken its place since. So, as long as a
thread imports TensorFlow, the import statements of the others wait before they look::

    other threads: import tensorflow.x ─▶ builtins.__import__, ours ─▶ waits for tensorflow ─▶ Python's ─▶ the face
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType

__all__ = ["others_wait"]

# What needs TensorFlow as a whole. One who waits for it holds no lock on these, which its import may need.
_WAITING = frozenset({"tensorflow", "tensorflow_estimator", "keras", "tf_keras"})


@contextmanager
def others_wait() -> Iterator[None]:
    """Have other threads that import TensorFlow, or what needs it, wait until this one, which is in it, has ended.

    Python ends a wait that would be for ever, as those of two modules that import each other in two threads.
    """
    importing: int | None = threading.get_ident()
    python_import = builtins.__import__

    def import_(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if level == 0 and importing not in (None, threading.get_ident()) and name.partition(".")[0] in _WAITING:
            python_import("tensorflow")
        return python_import(name, globals, locals, fromlist, level)

    builtins.__import__ = import_
    try:
        yield
    finally:
        importing = None  # where another one was put over it, which stays
        if builtins.__import__ is import_:
            builtins.__import__ = python_import
