"""Runs that threads repeat, against a model that keeps all of them: what nothing orders is found, and no more.

Threads are interrupted by others wherever the interpreter may switch while they tell that they have come.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from tf1sessions.testing import races, watching
from tf1sessions.testing.order import Member, Order
from tf1sessions.testing.races import Judge
from tf1sessions.testing.reports import Kind

Uses = tuple[frozenset[str], frozenset[str]]  # the variables that a request takes, and sets

_USES: list[Uses] = [
    (frozenset(reads), frozenset(writes)) for reads, writes in (("v", ""), ("w", ""), ("", "v"), ("", "w"), ("v", "w"))
]
_NAMES = ("ant", "bee", "cat")  # alike ones are told once


class Thread:
    """One of the model, with what it runs; ``knows`` has the accesses that are past for it, its own among them."""

    def __init__(self, name: str, member: Member, here: Any, requests: list[Any]) -> None:
        self.name = name
        self.member = member
        self.here = here
        self.requests = requests
        self.knows: set[int] = set()


class Model:
    """Threads that take turns, also in the middle of what another one does."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.order = Order()
        self.judge = Judge(self.order)
        self.watch = watching._Watch(self.judge)
        state = watching._GraphState("the graph")
        own = watching._SessionState("the session", None, state.news)
        self.threads = []
        for name in _NAMES:
            vars(self.order._local).pop("member", None)
            self.order.begin(name)
            here = watching._Here(self.order)
            requests = [watching._Request(state, own, None, None, [], uses) for uses in _USES]
            self.threads.append(Thread(name, here.member, here, requests))
        self.items: list[tuple[Any, set[int]]] = []
        self.accesses: list[tuple[str, Uses]] = []
        self.expected: set[frozenset[str]] = set()
        self.busy: list[Thread] = []  # the second of them has interrupted the first

    def step(self, harmless: bool = False) -> None:
        """One that is not busy does something, ``harmless`` if it must be; then who was interrupted goes on."""
        me = self.turn(self.chance.choice([thread for thread in self.threads if thread not in self.busy]))
        self.busy.append(me)
        action = self.chance.random()
        if action < 0.6:
            which = self.chance.randrange(len(_USES))
            for _ in range(self.chance.choice((1, 1, 3))):
                if not (harmless and self.conflicts(me, _USES[which])):
                    self.runs(me, which)
                    if self.chance.random() < 0.5:
                        self.order.send()
        elif action < 0.8 or not self.items:
            self.items.append((self.order.send(), set(me.knows)))
        else:
            message, past = self.chance.choice(self.items[-3:])
            self.order.receive(message)
            me.knows |= past
        self.busy.pop()
        if self.busy:
            self.turn(self.busy[0])

    def turn(self, thread: Thread) -> Thread:
        self.order._local.member = thread.member
        return thread

    def conflicts(self, me: Thread, uses: Uses) -> set[frozenset[str]]:
        """With whom, if the thread runs this now."""
        found = set()
        for number, (name, (reads, writes)) in enumerate(self.accesses):
            if name != me.name and number not in me.knows and (writes & (uses[0] | uses[1]) or reads & uses[1]):
                found.add(frozenset((name, me.name)))
        return found

    def runs(self, me: Thread, which: int) -> None:
        self.expected |= self.conflicts(me, _USES[which])
        me.knows.add(len(self.accesses))
        self.accesses.append((me.name, _USES[which]))
        request = me.requests[which]
        if not request.again(me.here):
            self.watch._access(me.here, request, None)

    def found(self) -> set[frozenset[str]]:
        reports = [report for report in self.judge.reports if report.kind is Kind.VARIABLE]
        return {frozenset((report.first.thread, report.second.thread)) for report in reports}


class Versions:
    """The numbers of races.py. Whoever draws one may be interrupted, before or after."""

    def __init__(self) -> None:
        self.model: Model | None = None
        self.numbers = itertools.count(1)

    def __next__(self) -> int:
        self.interrupt()
        number = next(self.numbers)
        self.interrupt()
        return number

    def interrupt(self) -> None:
        model = self.model
        if model is not None and len(model.busy) == 1 and model.chance.random() < 0.15:
            model.step()


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_threads_repeat(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are harmless for a while, so that the short ways are gone; then they come as they like."""
    chance = random.Random(seed)
    models, pairs, short = 1000, 0, 0
    versions = Versions()
    monkeypatch.setattr(races, "_versions", versions)
    for _ in range(models):
        versions.model = None
        model = Model(chance)
        for _ in range(chance.randrange(20)):
            model.step(harmless=True)
        assert not model.found() and not model.expected
        versions.model = model
        for _ in range(chance.randrange(1, 6)):
            model.step()
            assert model.found() == model.expected
        pairs += len(model.expected)
        short += sum(request.counter.times for thread in model.threads for request in thread.requests)
    assert pairs > models / 2 and short > models
