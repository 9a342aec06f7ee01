"""Fixtures that each thread of a test makes for itself, as ``each_thread`` asks.

pytest makes a fixture once for a test, in the main thread. For these its plugin has it make None instead
(:func:`made_by_threads`), and each thread calls the fixture's function, with the values that are its own and those that
all share; what a function does after its ``yield`` is done when the thread's body has ended, in that thread.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from tf1sessions.errors import UsageError

__all__ = ["ThreadFixtures", "made_by_threads"]


@contextlib.contextmanager
def made_by_threads(definition: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Let pytest make None of a fixture, while this lasts."""
    function = definition.func
    definition.func = lambda **arguments: None  # type: ignore[misc]
    try:
        yield
    finally:
        definition.func = function  # type: ignore[misc]


class ThreadFixtures:
    """The values that the fixtures of a test have in one thread, for one iteration.

    Args:
        item: The test.
        names: The fixtures that are made here.
        own: The values of others that are the thread's own.
        stack: Gets what is to be done when the body has ended.

    Thread-safety: for one thread.
    """

    def __init__(
        self, item: pytest.Function, names: frozenset[str], own: Mapping[str, Any], stack: contextlib.ExitStack
    ) -> None:
        self._item = item
        self._names = names
        self._values = dict(own)
        self._stack = stack

    def make(self) -> dict[str, Any]:
        """Make all of them, in pytest's order, and return them."""
        return {name: self.value(name) for name in self._item.fixturenames if name in self._names}

    def value(self, name: str) -> Any:
        """Return a fixture's value for this thread; one that all share if it is none of these."""
        if name not in self._values and name in self._names:
            self._values[name] = self._call(name, -1)
        try:
            return self._values[name] if name in self._values else self._item.funcargs[name]
        except KeyError:
            raise UsageError(
                f"{name} is asked for by getfixturevalue() in a thread",
                where=self._item.nodeid,
                next_step="Make it an argument of the fixture.",
            ) from None

    def _call(self, name: str, number: int) -> Any:
        """Call the function of a fixture: of its definitions the one with this number, which may override others."""
        definition = self._item._fixtureinfo.name2fixturedefs[name][number]
        arguments: dict[str, Any] = {}
        for each in definition.argnames:
            if each == "request":
                arguments[each] = _ThreadRequest(self._item.funcargs[each], name, self._item, self._stack, self.value)
            else:
                arguments[each] = self._call(name, number - 1) if each == name else self.value(each)
        result = self._bound(definition.func)(**arguments)
        if not inspect.isgeneratorfunction(definition.func):
            return result
        value = next(result)
        self._stack.callback(_finish, result, name)
        return value

    def _bound(self, function: Any) -> Callable[..., Any]:
        """A fixture that is a method gets the test's instance, as pytest gives it."""
        instance = self._item.instance
        if instance is not None and isinstance(instance, type(getattr(function, "__self__", None))):
            bound: Callable[..., Any] = function.__func__.__get__(instance)
            return bound
        return function  # type: ignore[no-any-return]


def _finish(generator: Any, name: str) -> None:
    if next(generator, _finish) is not _finish:
        raise UsageError(f"the fixture {name!r} has more than one yield")


class _ThreadRequest:
    """The ``request`` of a fixture in a thread: pytest's, but for what belongs to the thread."""

    def __init__(
        self,
        shared: Any,
        name: str,
        item: pytest.Function,
        stack: contextlib.ExitStack,
        value: Callable[[str], Any],
    ) -> None:
        self._shared = shared
        self.fixturename = name
        self.addfinalizer = stack.callback
        self.getfixturevalue = value
        params = getattr(getattr(item, "callspec", None), "params", {})
        if name in params:
            self.param = params[name]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shared, name)
