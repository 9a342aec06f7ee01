"""Pickles of functions of the main program, made and read once for many jobs.

Such a function goes by value, which takes a tenth of a millisecond on either side. It is kept while nothing that its
pickle depends on can have changed: while its code is the same object, and it has and names nothing else but modules.
"""

from __future__ import annotations

import functools
import pickle
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import cloudpickle

from tf1sessions.pools.packing import pack

__all__ = ["FunctionPickles", "FunctionReader"]

_MOST_FUNCTIONS = 32  # that are kept; arbitrary
_MOST_BYTES = 16 << 10  # of the pickle of a function that several jobs share; arbitrary


class FunctionPickles:
    """Pickles functions. Attention: this is **not** thread-safe!"""

    def __init__(self) -> None:
        # By identity: which function it is, its state then, its pickle.
        self._kept: dict[int, tuple[weakref.ref[Any], tuple[Any, ...], bytes]] = {}

    def pickled(self, function: Any, in_band: float) -> bytes:
        """The pickle of a function; empty when it is long, or has arrays, so that it is for one job only.

        Raises:
            Exception: What pickling raises.
        """
        state, kept = _state(function), self._kept.get(id(function))
        if kept is not None and kept[0]() is function and kept[1] == state:
            return kept[2]
        packed = pack(function, in_band)
        if packed.buffers or packed.length > _MOST_BYTES:
            return b""
        pickled = b"".join(packed.stream)
        if state is not None:
            if len(self._kept) >= _MOST_FUNCTIONS:
                self._kept.clear()
            self._kept[id(function)] = weakref.ref(function), state, pickled
        return pickled


class FunctionReader:
    """Reads such pickles. Attention: this is **not** thread-safe!"""

    def __init__(self) -> None:
        self._kept: dict[bytes, tuple[Callable[..., Any], tuple[Any, ...]]] = {}  # with its state when it came

    def read(self, pickled: bytes) -> Callable[..., Any]:
        """The function as it was sent, whatever earlier jobs have done to theirs.

        Raises:
            Exception: What unpickling raises.
        """
        kept = self._kept.get(pickled)
        if kept is not None and _state(kept[0]) == kept[1]:
            return kept[0]
        function: Callable[..., Any] = pickle.loads(pickled)
        if (state := _state(function)) is not None:
            if len(self._kept) >= _MOST_FUNCTIONS:
                self._kept.clear()
            self._kept[pickled] = function, state
        return function


def _state(function: Any) -> tuple[Any, ...] | None:
    """The objects that a function's pickle depends on; None if they may change in place, or it may go by name."""
    if type(function) is not types.FunctionType or function.__module__ != "__main__":
        return None
    if function.__closure__ or function.__defaults__ or function.__kwdefaults__:
        return None
    if function.__dict__ or function.__annotations__:
        return None
    space = function.__globals__
    values = [space[name] for name in _names(function.__code__) if name in space]
    if not all([type(value) is types.ModuleType and sys.modules.get(value.__name__) is value for value in values]):
        return None
    # Submodules that are there go with a function that names them; a module may be registered to go by value.
    sizes = len(space), len(sys.modules), len(cloudpickle.list_registry_pickle_by_value())
    return (function.__code__, function.__name__, function.__qualname__, function.__doc__, *sizes, *values)


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """The names that code looks up, its nested functions' too: those of its globals, and others."""
    inner = [name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in _names(constant)]
    return (*code.co_names, *inner)
