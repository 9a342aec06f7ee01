"""The clocks of races.py's order, against a model that keeps for each thread the accesses that it has heard of."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tf1sessions.testing import order as order_module
from tf1sessions.testing.locks import WatchedLock
from tf1sessions.testing.order import TOLD, Member, Order, hear, listening, tell

_Access = tuple[int, int]  # by which thread, and its number


class Token:
    """Something by which threads tell each other."""


class Slotted:
    """The same without a place for anything."""

    __slots__ = ("__weakref__",)


class Actor:
    """A thread of the model: what it knows for certain, and what perhaps."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.accesses: dict[_Access, int] = {}  # its own -> as what they count
        self.sure: set[_Access] = set()
        self.perhaps: set[_Access] = set()

    def knows(self) -> tuple[set[_Access], set[_Access]]:
        return self.sure | set(self.accesses), self.perhaps | self.sure | set(self.accesses)

    def hears(self, sure: set[_Access], perhaps: set[_Access]) -> None:
        self.sure |= sure
        self.perhaps |= perhaps


class Model:
    """Threads that take turns: the order is made to believe that each step is made by the thread whose turn it is."""

    def __init__(self, chance: random.Random, threads: int) -> None:
        self.chance = chance
        self.order = Order()
        self.actors = [Actor(self._member()) for _ in range(threads)]
        self.me = self.actors[0]
        self.items: list[tuple[Any, tuple[set[_Access], set[_Access]]]] = []
        self.tokens = [Token(), Token(), Slotted(), Slotted()]
        self.told: dict[int, tuple[set[_Access], set[_Access]]] = {}
        self.channels = [Token(), Slotted()]
        self.perhaps_told: dict[int, set[_Access]] = {}

    def _member(self) -> Member:
        vars(self.order._local).pop("member", None)
        return self.order.member()

    def step(self) -> None:
        self.me = self.chance.choice(self.actors)
        self.order._local.member = self.me.member
        steps: list[Callable[[], None]] = [self.access] * 4 + [self.send, self.receive] * 3
        steps += [self.tell, self.hear] * 3 + [self.collect, self.lock, self.perhaps_tell, self.perhaps_hear]
        self.chance.choice([*steps, self.perhaps_all] if self.chance.random() < 0.2 else steps)()
        self.check()

    def access(self) -> None:
        member = self.me.member
        member.used = member.count
        self.me.accesses[self.actors.index(self.me), len(self.me.accesses)] = member.count

    def send(self) -> None:
        self.items.append((self.order.send(), self.me.knows()))

    def receive(self) -> None:
        if self.items:
            item = self.chance.choice(self.items)  # which may be received again, by others and later
            if self.chance.random() < 0.5:
                self.items.remove(item)
            self.order.receive(item[0])
            self.me.hears(*item[1])

    def tell(self) -> None:
        token = self.chance.choice(self.tokens)
        tell(token)
        sure, perhaps = self.told.get(id(token), (set(), set()))
        mine = self.me.knows()
        self.told[id(token)] = sure | mine[0], perhaps | mine[1]

    def hear(self) -> None:
        token = self.chance.choice(self.tokens)
        hear(token)
        self.me.hears(*self.told.get(id(token), (set(), set())))

    def collect(self) -> None:
        token, collector = self.chance.sample(self.tokens, 2)
        self.order.collect(token, collector)
        sure, perhaps = self.told.get(id(collector), (set(), set()))
        more = self.told.get(id(token), (set(), set()))
        self.told[id(collector)] = sure | more[0], perhaps | more[1]

    def lock(self) -> None:
        """Which orders nothing."""
        lock = WatchedLock()
        with lock:
            pass

    def perhaps_tell(self) -> None:
        channel = self.chance.choice(self.channels)
        self.order.perhaps_sent(channel)
        self.perhaps_told[id(channel)] = self.perhaps_told.get(id(channel), set()) | self.me.knows()[1]

    def perhaps_hear(self) -> None:
        channel = self.chance.choice(self.channels)
        self.order.perhaps_received(channel, "a channel")
        self.me.perhaps |= self.perhaps_told.get(id(channel), set())

    def perhaps_all(self) -> None:
        self.order.perhaps_received_all("a loop")
        self.me.perhaps |= {access for actor in self.actors for access in actor.accesses}

    def check(self) -> None:
        for actor in self.actors:
            for access, count in actor.accesses.items():
                if actor is self.me:
                    assert self.order.is_before(actor.member, count)
                    continue
                sure = self.order.is_before(actor.member, count)
                assert sure == (access in self.me.sure), access
                assert (sure or self.order.is_perhaps_before(actor.member, count)) == (
                    access in self.me.perhaps | self.me.sure
                ), access


@pytest.mark.parametrize("many", [64, 2])
@pytest.mark.parametrize("seed", range(40))
def test_what_threads_know(seed: int, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_module, "_MANY", many)
    chance = random.Random(seed)
    model = Model(chance, threads=chance.randrange(2, 7))
    with listening(model.order):
        for _ in range(150):
            model.step()


def in_a_thread(function: Callable[[], object]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()


def at_once(*functions: Callable[[], object]) -> None:
    """In a thread each, between which Python changes as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=each) for each in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert not any(thread.is_alive() for thread in threads)


def test_a_token_by_which_many_tell() -> None:
    """All are heard, and it does not grow: neither by threads that are gone, nor by detectors that have ended."""
    token, order, kept = Token(), Order(), []

    def access(keep: bool) -> None:
        member = order.member()
        member.used = member.count
        if keep:
            kept.append((member, member.used))
        order.sent(token)

    for number in range(300):
        in_a_thread(lambda number=number: access(number % 30 == 0))  # type: ignore[misc]
    order.receive(vars(token)[TOLD])
    assert len(kept) == 10 and all(order.is_before(*each) for each in kept)
    assert len(vars(token)[TOLD]) <= 65 and len(order.member().clock) < 100
    for _ in range(10):
        with listening(Order()):
            tell(token)
    assert len(vars(token)[TOLD]) == 5 and type(vars(token)[TOLD]) is tuple  # one message


def test_clocks_forget_threads_that_are_gone() -> None:
    order, items = Order(), []  # type: ignore[var-annotated]

    def access() -> None:
        member = order.member()
        member.used = member.count
        items.append(order.send())

    for _ in range(300):
        in_a_thread(access)
        order.receive(items[-1])
        order.send()
    assert len(order.member().clock) <= 65


def test_handles_leave_nothing() -> None:
    with listening(Order()):
        loop = asyncio.new_event_loop()
        gc.collect()
        before = len(order_module._aside)
        handles = [asyncio.Handle(print, (), loop) for _ in range(3)]
        for handle in handles:
            tell(handle)
        assert len(order_module._aside) == before + 3
        del handle, handles
        gc.collect()
        assert len(order_module._aside) == before
        loop.close()


def test_threads_that_tell_by_one_token_at_once() -> None:
    """None of what they tell is lost."""
    order, token, start = Order(), Token(), threading.Barrier(8)
    kept: list[tuple[Member, int]] = []

    def run() -> None:
        member = order.member()
        start.wait(30)
        for _ in range(200):
            member.used = member.count
            count = member.used
            order.sent(token)
        kept.append((member, count))

    at_once(*[run] * 8)
    order.receive(vars(token)[TOLD])
    assert len(kept) == 8 and all(order.is_before(*each) for each in kept)
    assert not any(order.is_before(member, count + 1) for member, count in kept)


def test_counts_never_go_back() -> None:
    """A thread counts on while another takes all that was done so far for past, perhaps."""
    order, wrong = Order(), []  # type: ignore[var-annotated]
    ended = threading.Event()

    def count() -> None:
        member, last = order.member(), 0
        for _ in range(20_000):
            member.used = used = member.count
            if used <= last:
                wrong.append((last, used))
            last = order.send()[2]
        ended.set()

    def look() -> None:
        while not ended.is_set():
            order.perhaps_received_all("a loop")

    at_once(count, look, look)
    assert not wrong and ended.is_set()


def test_what_comes_in_the_middle_of_a_message() -> None:
    """A finalizer that sends and receives while its thread does: nothing is lost, and nothing is told too early."""
    order, others = Order(), []  # type: ignore[var-annotated]

    def other() -> None:
        member = order.member()
        member.used = member.count
        others.append((member, member.used, order.send()))

    for _ in range(2):
        in_a_thread(other)
    first, second = others

    class Interrupting(dict[int, int]):
        """What was told, which another message interrupts while it is looked through."""

        def items(self) -> Any:
            order.receive(second[2])
            return super().items()

    key, number, count, _, _ = first[2]
    order.receive((key, number, count, Interrupting(), None))
    assert order.is_before(*first[:2]) and order.is_before(*second[:2])
    told = order.send()
    in_a_thread(lambda: (order.receive(told), others.append([order.is_before(*each[:2]) for each in (first, second)])))
    assert others[-1] == [True, True]
