"""Methods of other classes, replaced for a while."""

from __future__ import annotations

import _thread
import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["Patch", "Switch", "put"]

#: A class or module, the name of an attribute, and what is to be there.
Patch = tuple[Any, str, Any]


def put(owner: Any, name: str, value: Any) -> Callable[[], None]:
    """Puts an attribute in place; what takes it out again, unless somebody has put another one there since."""
    own = name in vars(owner)  # else it is that of a base class, or each object has one
    before = vars(owner)[name] if own else getattr(owner, name, None)
    if callable(before) and not isinstance(value, type):
        value = functools.wraps(before)(value)
    setattr(owner, name, value)

    def undo() -> None:
        if vars(owner).get(name) is not value:
            return
        if own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)

    return undo


class Switch:
    """Patches that are in place while at least one of its blocks is open, in any thread."""

    def __init__(self, patches: Callable[[], Iterable[Patch]]) -> None:
        self._patches = patches
        self._lock = _thread.allocate_lock()
        self._undo: list[Callable[[], None]] = []
        self._open = 0

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        with self._lock:
            self._open += 1
            if self._open == 1:
                for owner, name, value in self._patches():
                    self._undo.append(put(owner, name, value))
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1
                if not self._open:
                    while self._undo:
                        self._undo.pop()()
