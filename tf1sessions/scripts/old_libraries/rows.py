"""The kinds of rows that the tables of libraries have, and what puts them in place.

``Name``       a name that a module or a class had            module "networkx", owner "Graph", name "node"
``Arguments``  arguments that a function took                 "sklearn.manifold", "TSNE.__init__", n_iter -> max_iter
``Wrapped``    a function that gave something else            "yaml", "load", our function around it
``Positional`` functions of a module with arguments that have to be named now
``Change``     what none of these can say
``Module``     a module that moved, or that we make

Each row names the release that made the change. Rows are put in place when the module that they name has been
imported; a row whose function or class the installed release has not is skipped, as is a name that it still has.

Thread-safety: modules are imported, and so changed, under the import system's locks; wrappers keep no state.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

__all__ = ["Arguments", "Module", "Name", "OtherChange", "Positional", "Row", "Table", "Wrapped", "around", "built"]


def _lookup(owner: Any, path: str) -> Any:
    """Return the object at ``path`` ("DataFrame.append") below a module, or None."""
    for part in path.split(".") if path else ():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            owner = getattr(owner, part, None)
    return owner


def _replace(module: ModuleType, path: str, wrapper: Any, original: Any) -> None:
    """Put ``wrapper`` in place of ``original``, also in the module that defined it, where pickle looks for it."""
    *owners, name = path.split(".")
    setattr(_lookup(module, ".".join(owners)), name, wrapper)
    home = sys.modules.get(getattr(original, "__module__", None) or "")
    if not owners and home is not None and vars(home).get(name) is original:
        setattr(home, name, wrapper)


class _Callable:
    """An object that can be called, in place of a library's: it equals that one and has all that it has."""

    def __init__(self, original: Any, call: Callable[..., Any]) -> None:
        functools.update_wrapper(self, original)
        self._call = call

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._call(self.__wrapped__, *args, **named)

    def __getattr__(self, name: str) -> Any:
        if name in ("__wrapped__", "_call"):  # of one that is being unpickled
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __eq__(self, other: object) -> bool:
        return other is self or bool(other == self.__wrapped__)

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> Any:
        return self.__wrapped__.__reduce__()


def around(original: Any, call: Callable[..., Any], method: bool = False) -> Any:
    """A function like ``original`` that is ``call(original, *args, **named)``; its signature and name are the same."""
    if not method and not isinstance(original, types.FunctionType):
        return _Callable(original, call)

    @functools.wraps(original)
    def wrapper(*args: Any, **named: Any) -> Any:
        return call(original, *args, **named)

    return wrapper


def built(name: str, names: Mapping[str, Any]) -> ModuleType:
    """A module of ours with these names."""
    made = ModuleType(name)
    vars(made).update(names)
    return made


@dataclass(frozen=True)
class Name:
    """A name that ``owner`` ("" for the module itself) had.

    Args:
        module: The module after whose import it is added.
        owner: A class or object in it.
        name: The name; or several, with blanks between them, that ``value`` gives the same way.
        since: The release without it.
        value: Makes it, of the owner and the name. A string is a path below the module.
    """

    module: str
    owner: str
    name: str
    since: str
    value: str | Callable[[Any, str], Any]

    def apply(self, module: ModuleType) -> None:
        owner = _lookup(module, self.owner)
        if owner is None:
            return
        for name in self.name.split():
            if _lookup(owner, name) is None:
                value = _lookup(module, self.value) if isinstance(self.value, str) else self.value(owner, name)
                if value is not None:
                    setattr(owner, name, value)


@dataclass(frozen=True)
class Wrapped:
    """A function that did something else: ``call`` is called with the original and the arguments.

    Args:
        module: The module after whose import it is wrapped.
        name: Its path below the module.
        since: The release that made it do something else.
        call: What is called instead.
        needs: An argument without which the function is that of an older release, and stays as it is.
    """

    module: str
    name: str
    since: str
    call: Callable[..., Any]
    needs: str = ""

    def apply(self, module: ModuleType) -> None:
        original = _lookup(module, self.name)
        if original is not None and (not self.needs or self.needs in _parameters(original)):
            method = isinstance(_lookup(module, self.name.rpartition(".")[0]), type)
            _replace(module, self.name, around(original, self.call, method), original)


@dataclass(frozen=True)
class Arguments:
    """Arguments that a function, or a class's ``__init__``, took.

    Args:
        module: The module after whose import the function is wrapped.
        name: The function's path below it.
        since: The release without them.
        renamed: Old name -> new one, which gets the value, or what ``values`` makes of it.
        dropped: Names that are taken and mean nothing any more.
        values: Old name -> what makes the new argument's value of the old one.
    """

    module: str
    name: str
    since: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    dropped: Sequence[str] = ()
    values: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def apply(self, module: ModuleType) -> None:
        original = _lookup(module, self.name)
        if original is None:
            return
        known = _parameters(original)
        old = [name for name in (*self.renamed, *self.dropped) if name not in known]
        if old:
            Wrapped(self.module, self.name, self.since, functools.partial(self._call, frozenset(old))).apply(module)

    def _call(self, old: frozenset[str], original: Any, /, *args: Any, **named: Any) -> Any:
        for name in old.intersection(named):
            value = named.pop(name)
            new = self.renamed.get(name)
            if new is not None and not named.get(new):
                named[new] = self.values[name](value) if name in self.values else value
        return original(*args, **named)


@dataclass(frozen=True)
class Positional:
    """Functions of a module whose arguments were positional, in the same order, and have to be named now."""

    module: str
    since: str

    def apply(self, module: ModuleType) -> None:
        for name, value in list(vars(module).items()):
            if name.startswith("_") or not callable(value) or isinstance(value, type):
                continue
            if getattr(value, "__module__", None) != module.__name__:
                continue
            kinds = _parameters(value)
            named = [key for key, kind in kinds.items() if kind is inspect.Parameter.KEYWORD_ONLY]
            if named and inspect.Parameter.VAR_POSITIONAL not in kinds.values():
                count = len(kinds) - len(named) - (inspect.Parameter.VAR_KEYWORD in kinds.values())
                call = functools.partial(self._call, count, named)
                Wrapped(self.module, name, self.since, call).apply(module)

    def _call(self, count: int, names: Sequence[str], original: Any, /, *args: Any, **named: Any) -> Any:
        rest = args[count:]
        if not rest or len(rest) > len(names) or set(names[: len(rest)]) & set(named):
            return original(*args, **named)
        return original(*args[:count], **dict(zip(names, rest, strict=False)), **named)


def _parameters(function: Any) -> dict[str, Any]:
    try:
        return {name: one.kind for name, one in inspect.signature(function).parameters.items()}
    except (TypeError, ValueError):  # of C code that does not say
        return {}


@dataclass(frozen=True)
class OtherChange:
    """A change that no other kind of row can express: ``call`` is called with the module."""

    module: str
    since: str
    call: Callable[[ModuleType], None]

    def apply(self, module: ModuleType) -> None:
        self.call(module)


Row = Name | Wrapped | Arguments | Positional | OtherChange


@dataclass(frozen=True)
class Module:
    """A module that is gone.

    Args:
        name: Its address.
        since: The release without it.
        make: Where it is now, or what makes it.
        always: Whether it counts even where the installed release has a module of that name.
    """

    name: str
    since: str
    make: str | Callable[[], ModuleType]
    always: bool = False

    def __call__(self) -> ModuleType:
        return importlib.import_module(self.make) if isinstance(self.make, str) else self.make()


class Table:
    """The rows of one library.

    Args:
        changes: What is put in place after the import of a module.
        modules: Modules that are gone.
        other: The row of a further module by a rule, or None.
    """

    def __init__(
        self,
        changes: Sequence[Row] = (),
        modules: Sequence[Module] = (),
        other: Callable[[str], Module | None] | None = None,
    ) -> None:
        self.rows: dict[str, list[Row]] = {}
        for change in changes:
            self.rows.setdefault(change.module, []).append(change)
        self.modules = {module.name: module for module in modules}
        self._other = other

    def releases(self) -> set[str]:
        """The releases that made the changes."""
        rows = [row.since for group in self.rows.values() for row in group]
        return {*rows, *(module.since for module in self.modules.values())}

    def changes(self, name: str) -> bool:
        """Whether there is something to do after the import of this module."""
        return name in self.rows

    def apply(self, module: ModuleType) -> None:
        """Put the rows of this module in place, once for each time that its code runs."""
        for change in self.rows.get(module.__name__, ()):
            change.apply(module)

    def module(self, name: str) -> Module | None:
        """Return a function that makes the module of this name, if it is in the table."""
        found = self.modules.get(name)
        if found is None and self._other is not None:
            return self._other(name)
        return found
