"""Methods of other classes, replaced for a while; also of modules that may be imported in the meantime."""

from __future__ import annotations

import _thread
import contextlib
import functools
import importlib.abc
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, Generic, TypeVar

from tf1sessions.testing.frames import is_library

__all__ = ["LatePatch", "Observers", "Patch", "Switch", "hooked", "put"]

#: A class or module, the name of an attribute, and what is to be there.
Patch = tuple[Any, str, Any]
#: A module's name, and what is to be put into it, or into its classes, once it has been imported.
LatePatch = tuple[str, Callable[[Any], Iterable[Patch]]]
_Observer = TypeVar("_Observer")


def put(owner: Any, name: str, value: Any) -> Callable[[], None]:
    """Put an attribute in place; returns what takes it out again, unless another one was put there since."""
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


def hooked(
    owner: Any,
    name: str,
    *,
    before: Callable[[Any], object] | None = None,
    after: Callable[[Any, Any], object] | None = None,
    at_end: Callable[[Any], object] | None = None,
    by_program: bool = False,
) -> Patch:
    """Make a method that calls hooks around the one that is there.

    Args:
        owner, name: The class, and the name of the method.
        before: Called with the object, before the method.
        after: Called with the object and the result, when the method has returned.
        at_end: Called with the object when the method has returned or raised.
        by_program: Whether they are called only where the program calls the method, and no library does.
    """
    original = getattr(owner, name)

    def method(self: Any, *args: Any, **named: Any) -> Any:
        if by_program and is_library(sys._getframe(1).f_code.co_filename):
            return original(self, *args, **named)
        if before is not None:
            before(self)
        try:
            result = original(self, *args, **named)
        finally:
            if at_end is not None:
                at_end(self)
        if after is not None:
            after(self, result)
        return result

    return owner, name, method


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


class Observers(Generic[_Observer]):
    """Observers of what a program does, and patches that are in place while there is at least one.

    Nothing is imported for it. A module that is imported in the meantime is patched when the next one is, or by
    :meth:`catch_up`. A forked child has no observers.
    """

    def __init__(self, late: Iterable[LatePatch]) -> None:
        # The observers; another tuple after each change. Patches read it without a lock.
        self.now: tuple[_Observer, ...] = ()
        self.late = list(late)  # what is patched. More may be added to it before the first observer.
        self._lock = threading.RLock()  # for what follows; an import inside it may come back here
        self._waiting: list[LatePatch] = []
        self._undo: list[Callable[[], None]] = []
        self._finder = _Finder(self.catch_up)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_child)

    def add(self, make: Callable[[], _Observer]) -> _Observer:
        """Add an observer, made when the patches are in place."""
        with self._lock:
            if not self.now:
                self._waiting = list(self.late)
                sys.meta_path.insert(0, self._finder)
                self.catch_up()
            observer = make()
            self.now = (*self.now, observer)
        return observer

    def remove(self, observer: _Observer) -> None:
        """Remove an observer, and with the last one the patches."""
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
        """Patch the modules that have been imported since the last time."""
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
    """Finds nothing, but is called at each import."""

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify = notify

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        self._notify()
