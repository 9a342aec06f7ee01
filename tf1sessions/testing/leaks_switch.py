"""Patches of modules that are there, and of modules that may be imported while somebody looks on."""

from __future__ import annotations

import importlib.abc
import os
import sys
import threading
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, Generic, TypeVar

from tf1sessions.testing.patching import Patch, put

__all__ = ["Late", "Observers"]

#: A module's name, and what is to be put into it, or into its classes, once it has been imported.
Late = tuple[str, Callable[[Any], Iterable[Patch]]]
_Observer = TypeVar("_Observer")


class Observers(Generic[_Observer]):
    """Those who look on, and patches that are in place while there is at least one.

    Nothing is imported for it. A module that is imported meanwhile is patched when the next one is, or when somebody
    calls :meth:`catch_up`. A forked child has no observers.

    Attributes:
        now: The observers; another tuple after each change. Patches read it without a lock.
        late: What is patched. More may be added to it before the first observer.
    """

    def __init__(self, late: Iterable[Late]) -> None:
        self.now: tuple[_Observer, ...] = ()
        self.late = list(late)
        self._lock = threading.RLock()  # for what follows; an import inside it may come back here
        self._waiting: list[Late] = []
        self._undo: list[Callable[[], None]] = []
        self._finder = _Finder(self.catch_up)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_child)

    def add(self, make: Callable[[], _Observer]) -> _Observer:
        """Another observer, made when the patches are in place."""
        with self._lock:
            if not self.now:
                self._waiting = list(self.late)
                sys.meta_path.insert(0, self._finder)
                self.catch_up()
            observer = make()
            self.now = (*self.now, observer)
        return observer

    def remove(self, observer: _Observer) -> None:
        with self._lock:
            self.now = tuple(each for each in self.now if each is not observer)
            if not self.now:
                self._end()

    def _end(self) -> None:
        self._waiting = []
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        while self._undo:
            self._undo.pop()()

    def catch_up(self) -> None:
        """Patches the modules that have been imported since."""
        if not self._waiting:
            return
        with self._lock:
            waiting, self._waiting = self._waiting, []
            for late in waiting:
                module = _imported(late[0])
                if module is None:
                    self._waiting.append(late)
                else:
                    self._undo += [put(*patch) for patch in late[1](module)]

    def _in_child(self) -> None:
        self.now, self._lock = (), threading.RLock()
        self._end()


def _imported(name: str) -> ModuleType | None:
    module = sys.modules.get(name)
    return None if getattr(getattr(module, "__spec__", None), "_initializing", False) else module


class _Finder(importlib.abc.MetaPathFinder):
    """Finds nothing, but hears of each import."""

    def __init__(self, heard: Callable[[], None]) -> None:
        self._heard = heard

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        self._heard()
