"""The objects that a job of an executor names: what any worker would have found for it.

Data flow::

    synchronisation.py: a worker begins a job ── ExecutorJob ──▶ VectorClocks.begin_job()
    race_detector.py: two jobs of one worker use a session ── named_by(job) ──▶ was it luck that one worker ran both?

Two jobs that one worker runs one after the other are in order by luck if another worker might have run the second one.
It is no luck where a worker keeps what it uses: in a ``threading.local``, in a dictionary by the thread's number, or
taken out of a queue once. So only what does not depend on the worker is looked for: the arguments of the job, what its
function and the functions that these call name in enclosing functions and in modules, and attributes of all that, where
the code has their names. Of a dictionary it is the items whose keys are strings in that code, or arguments of the job.
Other containers are not looked into, and no property is called.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tf1sessions.testing.frames import is_library

__all__ = ["ExecutorJob", "Giver", "named_by"]

#: How many objects are looked at. Arbitrary: more than most jobs name, and some milliseconds.
_MOST = 1000
#: The packages whose objects are not looked into.
_LIBRARIES = frozenset(("tensorflow", "tf_keras", "keras", "numpy", "tf1sessions"))
#: What is looked at in any object: what it does when it is called, and what a decorator has wrapped.
_ALWAYS = frozenset(("__call__", "__wrapped__"))
#: What stands for a function in a class, and the function in it.
_FUNCTIONS = (
    (property, "fget"),
    (functools.cached_property, "func"),
    (staticmethod, "__func__"),
    (classmethod, "__func__"),
)
#: What has no attributes of the program's.
_PLAIN = (int, float, str, bytes, list, tuple, set, frozenset, type(None), threading.local)


class Giver(NamedTuple):
    """The thread that gave another one its job.

    Attributes:
        passed: What it knew by locks then, for each of the detectors: it may have looked, under one, whether earlier
            work was over.
    """

    passed: Mapping[int, Mapping[int, Mapping[int, int]]] = types.MappingProxyType({})


class ExecutorJob(NamedTuple):
    """A job, as it was given to an executor.

    Attributes:
        function, args, named: As given.
        giver: The thread that gave it.
    """

    function: Any
    args: Sequence[Any]
    named: Mapping[str, Any]
    giver: Giver

    @property
    def code(self) -> Any:
        """The code of its function, or else the class of what is called."""
        function = self.function
        while issubclass(type(function), functools.partial):
            is_in_context = type(function.func) is types.BuiltinMethodType and function.args  # of asyncio.to_thread()
            function = function.args[0] if is_in_context else function.func
        function = getattr(function, "__func__", function)
        return getattr(function, "__code__", type(function))


def named_by(job: ExecutorJob, parts: Callable[[Any], Iterator[Any]]) -> dict[int, Any]:
    """Return the objects that a job names, strings among them, by their identities.

    Args:
        job: The job.
        parts: Gives what an object of TensorFlow's or tf1sessions' stands for besides itself.
    """
    names: set[str] = set()
    strings: set[str] = set()
    found: dict[int, Any] = {}
    waiting = [job.function, *job.args, *job.named.values()]
    while waiting and len(found) < _MOST:
        for thing in waiting:
            if type(thing) is str:
                strings.add(thing)
            elif _is_looked_at(thing, found):
                found[id(thing)] = thing
                names.update(_names_in(thing))
                strings.update(_strings_in(thing))
        # Attributes and items also of what was met before the code that names them.
        met = list(found.values())
        waiting = [
            part
            for thing in met
            for part in (*_parts(thing), *parts(thing), *_attributes(thing, names), *_items(thing, strings))
            if (part not in strings if type(part) is str else _is_looked_at(part, found))
        ]
    return found | {id(each): each for each in strings}


def _is_looked_at(thing: Any, found: dict[int, Any]) -> bool:
    return id(thing) not in found and not issubclass(type(thing), _PLAIN)


def _strings_in(thing: Any) -> Iterator[str]:
    """Yield the strings in the code of a function of the program."""
    if type(thing) is types.FunctionType and not is_library(thing.__code__.co_filename):
        for code in _codes(thing.__code__):
            yield from (each for each in code.co_consts if type(each) is str)


def _items(thing: Any, keys: set[str]) -> Iterator[Any]:
    """Yield the items of a dictionary that have some keys."""
    if issubclass(type(thing), dict):
        for key in keys:
            if dict.__contains__(thing, key):
                yield dict.get(thing, key)


def _names_in(thing: Any) -> Iterator[str]:
    """Yield the names in the code of a function of the program."""
    if type(thing) is types.FunctionType and not is_library(thing.__code__.co_filename):
        for code in _codes(thing.__code__):
            yield from code.co_names


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a function's code, and that of the functions inside it."""
    yield code
    for each in code.co_consts:
        if type(each) is types.CodeType:
            yield from _codes(each)


def _parts(thing: Any) -> Iterator[Any]:
    """Yield what a callable leads to."""
    kind = type(thing)
    if kind is types.FunctionType:
        for name in _names_in(thing):
            yield thing.__globals__.get(name)
        for cell in thing.__closure__ or ():
            with contextlib.suppress(ValueError):  # not assigned yet
                yield cell.cell_contents
        yield from thing.__defaults__ or ()
        yield from (thing.__kwdefaults__ or {}).values()
    elif kind is types.MethodType:
        yield from (thing.__func__, thing.__self__)
    elif issubclass(kind, functools.partial):
        yield from (thing.func, *thing.args, *thing.keywords.values())


def _attributes(thing: Any, names: set[str]) -> Iterator[Any]:
    """Yield the attributes of an object that some names are: its own, and methods and properties of its class."""
    kind = type(thing)
    if str(kind.__module__).partition(".")[0] in _LIBRARIES or issubclass(kind, (types.FunctionType, dict)):
        return
    if kind is types.ModuleType and is_library(getattr(thing, "__file__", None) or "<frozen"):
        return
    try:
        own = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        own = {}
    names = names | _ALWAYS
    for name in names & own.keys():
        yield own.get(name)
    for base in kind.__mro__[:-1]:
        for name in names & vars(base).keys():
            value = vars(base).get(name)
            for of_class, function in _FUNCTIONS:
                value = getattr(value, function) if issubclass(type(value), of_class) else value
            yield value
