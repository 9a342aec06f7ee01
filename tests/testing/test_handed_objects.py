"""What a job of an executor names, and what only its worker could have: objects found, and others that must not be."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tf1sessions.testing.handed_objects import ExecutorJob, Giver, named_by


class Thing:
    """What is looked for."""


class Holder:
    """An object with attributes, a method and properties."""

    of_class = Thing()

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)

    @property
    def given(self) -> Any:
        return self.inner.thing

    @functools.cached_property
    def cached(self) -> Any:
        return self.inner.thing

    @staticmethod
    def of_module() -> Any:
        return GLOBAL

    def use(self) -> Any:
        return self.thing


class Caller(Holder):
    """What is called itself."""

    def __call__(self) -> Any:
        return self.thing


class Local(threading.local):
    """State of each thread."""


GLOBAL = Thing()
MODULE = types.ModuleType("program")
LIST = [Thing()]
LOCAL = Local()


def uses_global() -> Any:
    return GLOBAL


def uses_another_function() -> Any:
    return uses_global()


def uses_module() -> Any:
    return MODULE.thing  # type: ignore[attr-defined]


def uses_list(number: int) -> Any:
    return LIST[number]


def uses_local() -> Any:
    return LOCAL.thing


def takes(thing: Any) -> Any:
    return thing


def finds(thing: Any, function: Any, *args: Any, **named: Any) -> bool:
    return id(thing) in named_by(ExecutorJob(function, args, named, Giver()), lambda _: iter(()))


def enclosing(thing: Any) -> Callable[[], Any]:
    return lambda: [takes(each) for each in (thing,)]


def nested(thing: Any) -> Callable[[], Any]:
    def outer() -> Any:
        def inner() -> Any:
            return thing.thing

        return inner()

    return outer


@pytest.mark.parametrize(
    "job",
    [
        lambda thing: (takes, thing),
        lambda thing: (functools.partial(takes, thing=thing),),
        lambda thing: (functools.partial(functools.partial(takes), thing),),
        lambda thing: (functools.partial(contextvars.copy_context().run, takes, thing),),
        lambda thing: (enclosing(thing),),
        lambda thing: (nested(Holder(thing=thing)),),
        lambda thing: (Holder(thing=thing).use,),
        lambda thing: (Caller(thing=thing),),
        lambda thing: (lambda it: it.use(), Holder(thing=thing)),
        lambda thing: (lambda it: it.given, Holder(inner=Holder(thing=thing))),
        lambda thing: (lambda it: it.cached, Holder(inner=Holder(thing=thing))),
        lambda thing: (lambda it=thing: it,),
        lambda thing: (functools.lru_cache(lambda: thing),),
        lambda thing: (lambda it: it["a"], {"a": thing}),
        lambda thing: (lambda it: it.things["a"].thing, Holder(things={"a": Holder(thing=thing)})),
        lambda thing: (lambda it, key: it.things[key], Holder(things={"a": thing}), "a"),
        lambda thing: (lambda it: it.things.get("a"), Holder(things={"b": 1, "a": thing})),
    ],
)
def test_found(job: Callable[[Thing], tuple[Any, ...]]) -> None:
    thing = Thing()
    assert finds(thing, *job(thing))


def test_found_by_names_of_modules_and_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert finds(GLOBAL, uses_global) and finds(GLOBAL, uses_another_function)
    assert finds(GLOBAL, lambda it: it.of_module(), Holder())
    assert finds(Holder.of_class, lambda it: it.of_class, Holder())
    MODULE.thing = thing = Thing()  # type: ignore[attr-defined]
    monkeypatch.setitem(vars(MODULE), "__file__", __file__)
    assert finds(thing, uses_module)


@pytest.mark.parametrize(
    "job",
    [
        lambda thing: (takes, [thing]),
        lambda thing: (lambda it: it["b"], {"a": thing}),
        lambda thing: (lambda it, key: it[key], {0: thing}, 0),
        lambda thing: (lambda it: it.things[0], Holder(things=(thing,))),
        lambda thing: (lambda it: it.other, Holder(thing=thing)),
        lambda thing: (lambda: print("thing"),),
    ],
)
def test_not_found(job: Callable[[Thing], tuple[Any, ...]]) -> None:
    """In a container, or by no name that the job has: which worker gets what cannot be known."""
    thing = Thing()
    assert not finds(thing, *job(thing))


def test_not_found_where_a_thread_keeps_it() -> None:
    LOCAL.thing = thing = Thing()  # type: ignore[attr-defined]
    assert not finds(thing, uses_local) and not finds(LIST[0], uses_list, 0)


def test_a_variable_that_is_not_assigned_yet() -> None:
    def job() -> Any:
        return later

    assert not finds(GLOBAL, job)
    later = GLOBAL
    assert finds(GLOBAL, job)


def test_what_objects_stand_for() -> None:
    thing, holder = Thing(), Holder()

    def parts(each: Any) -> Iterator[Any]:
        if each is holder:
            yield thing

    assert id(thing) in named_by(ExecutorJob(takes, (holder,), {}, Giver()), parts)


def test_strings_in_the_code_and_in_names() -> None:
    name = "an enclosing one"
    found = named_by(
        ExecutorJob(lambda it: (it, "a constant", name), ("an argument",), {}, Giver()), lambda _: iter(())
    )
    assert {"a constant", "an enclosing one", "an argument"} <= {each for each in found.values() if type(each) is str}


def test_libraries_are_not_looked_into() -> None:
    found = named_by(ExecutorJob(asyncio.run, (), {}, Giver()), lambda _: iter(()))
    assert list(found) == [id(asyncio.run)] and not finds(sys, asyncio.run)


@pytest.mark.parametrize("function", [takes, functools.partial(takes, 1), Holder.use, Holder(thing=1).use])
def test_code(function: Any) -> None:
    meant = takes if "takes" in str(function) else Holder.use
    assert ExecutorJob(function, (), {}, Giver()).code is meant.__code__  # type: ignore[attr-defined]


def test_code_of_what_runs_in_a_context() -> None:
    run = functools.partial(contextvars.copy_context().run, takes, 1)
    assert ExecutorJob(run, (), {}, Giver()).code is takes.__code__
    assert ExecutorJob(Holder(), (), {}, Giver()).code is Holder
