"""The vector clocks, against a model that keeps for each thread the accesses that are past for it."""

from __future__ import annotations

import _thread
import asyncio
import gc
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tf1sessions.testing import vector_clocks
from tf1sessions.testing.clocks import Clock
from tf1sessions.testing.locks import WatchedLock
from tf1sessions.testing.vector_clocks import (
    Snapshot,
    ThreadState,
    Token,
    VectorClocks,
    acquire,
    may_acquire,
    release,
    tracking,
)

_Access = tuple[int, int]  # by which thread, and its number


class Slotted:
    """A token without a place for anything but its weak references."""

    __slots__ = ("__weakref__",)


class Actor:
    """A thread of the model: which accesses are past for it, certainly and possibly."""

    def __init__(self, state: ThreadState) -> None:
        self.state = state
        self.accesses: dict[_Access, int] = {}  # its own -> their counts
        self.certain: set[_Access] = set()
        self.possible: set[_Access] = set()

    def knows(self) -> tuple[set[_Access], set[_Access]]:
        return self.certain | set(self.accesses), self.possible | self.certain | set(self.accesses)

    def learns(self, certain: set[_Access], possible: set[_Access]) -> None:
        self.certain |= certain
        self.possible |= possible


class Model:
    """Threads that take turns: the clocks are made to believe that each step is made by the thread whose turn it is."""

    def __init__(self, chance: random.Random, threads: int) -> None:
        self.chance = chance
        self.clocks = VectorClocks()
        self.actors = [Actor(self._thread()) for _ in range(threads)]
        self.me = self.actors[0]
        self.items: list[Token] = []
        self.tokens: list[Any] = [Token(), threading.Event(), Slotted(), Slotted()]
        self.channels: list[Any] = [threading.Event(), Slotted()]
        self.published: dict[Any, tuple[set[_Access], set[_Access]]] = {}

    def _thread(self) -> ThreadState:
        vars(self.clocks._local).pop("state", None)
        return self.clocks.thread()

    def step(self) -> None:
        self.me = self.chance.choice(self.actors)
        self.clocks._local.state = self.me.state
        steps: list[Callable[[], None]] = [self.access] * 4 + [self.put, self.get, self.release, self.acquire] * 3
        steps += [self.forward, self.lock, self.release_channel, self.may_acquire]
        self.chance.choice([*steps, self.may_acquire_all] if self.chance.random() < 0.2 else steps)()
        self.check()

    def access(self) -> None:
        state = self.me.state
        state.used = state.count
        self.me.accesses[self.actors.index(self.me), len(self.me.accesses)] = state.count

    def put(self) -> None:
        self.items.append(Token())
        self._release(self.items[-1])

    def get(self) -> None:
        if self.items:
            item = self.chance.choice(self.items)  # which may be acquired again, by others and later
            if self.chance.random() < 0.5:
                self.items.remove(item)
            self._acquire(item)

    def release(self) -> None:
        self._release(self.chance.choice(self.tokens))

    def acquire(self) -> None:
        self._acquire(self.chance.choice(self.tokens))

    def _release(self, token: Any) -> None:
        release(token)
        certain, possible = self.published.get(token, (set(), set()))
        mine = self.me.knows()
        self.published[token] = certain | mine[0], possible | mine[1]

    def _acquire(self, token: Any) -> None:
        acquire(token)
        self.me.learns(*self.published.get(token, (set(), set())))

    def forward(self) -> None:
        token, other = self.chance.sample(self.tokens, 2)
        self.clocks.forward(token, other)
        certain, possible = self.published.get(other, (set(), set()))
        more = self.published.get(token, (set(), set()))
        self.published[other] = certain | more[0], possible | more[1]

    def lock(self) -> None:
        """Orders nothing."""
        lock = WatchedLock()
        with lock:
            pass

    def release_channel(self) -> None:
        self._release(self.chance.choice(self.channels))

    def may_acquire(self) -> None:
        channel = self.chance.choice(self.channels)
        may_acquire(channel, "a channel")
        self.me.possible |= self.published.get(channel, (set(), set()))[1]

    def may_acquire_all(self) -> None:
        self.clocks.may_acquire_all("a loop")
        self.me.possible |= {access for actor in self.actors for access in actor.accesses}

    def check(self) -> None:
        for actor in self.actors:
            for access, count in actor.accesses.items():
                certain = self.clocks.is_before(actor.state, count)
                if actor is self.me:
                    assert certain
                    continue
                assert certain == (access in self.me.certain), access
                possible = certain or self.clocks.is_possibly_before(actor.state, count)
                assert possible == (access in self.me.possible | self.me.certain), access


@pytest.mark.parametrize("many", [64, 2])
@pytest.mark.parametrize("seed", range(40))
def test_what_threads_know(seed: int, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_clocks, "_MANY", many)
    chance = random.Random(seed)
    model = Model(chance, threads=chance.randrange(2, 7))
    with tracking(model.clocks):
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


def published(clocks: VectorClocks, token: Any) -> Snapshot:
    return clocks._published[id(token)][1]


def test_a_token_that_many_release() -> None:
    """All are acquired, and it does not grow by threads that are gone."""
    token, clocks, kept = Token(), VectorClocks(), []

    def access(keep: bool) -> None:
        state = clocks.thread()
        state.used = state.count
        if keep:
            kept.append((state, state.used))
        clocks.release(token)

    for number in range(300):
        in_a_thread(lambda number=number: access(number % 30 == 0))  # type: ignore[misc]
    clocks.acquire(token)
    assert len(kept) == 10 and all(clocks.is_before(*each) for each in kept)
    assert len(published(clocks, token).certain) <= 65 and len(clocks.thread().past.certain) < 100


def test_threads_that_are_met_while_others_are_listed() -> None:
    clocks = VectorClocks()
    kept, failed, done = [], [], threading.Event()

    def meet() -> None:
        while not done.is_set() and len(kept) < 20_000:
            vars(clocks._local).pop("state", None)
            kept.append(clocks.thread())

    def list_all() -> None:
        try:
            for _ in range(300):
                clocks.threads()
                clocks.may_acquire_all("a look")
        except RuntimeError as error:
            failed.append(error)
        done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=each) for each in (meet, list_all)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failed and clocks.threads()


def test_clocks_forget_threads_that_are_gone() -> None:
    clocks, items = VectorClocks(), []  # type: ignore[var-annotated]

    def access() -> None:
        state = clocks.thread()
        state.used = state.count
        items.append(Token())
        clocks.release(items[-1])

    for _ in range(300):
        in_a_thread(access)
        clocks.acquire(items[-1])
    assert len(clocks.thread().past.certain) <= 65


def test_what_is_published_goes_with_its_token() -> None:
    clocks = VectorClocks()
    with tracking(clocks):
        loop = asyncio.new_event_loop()
        handles = [asyncio.Handle(print, (), loop) for _ in range(3)]
        for handle in handles:
            release(handle)
        assert {id(handle) for handle in handles} <= clocks._published.keys()
        del handle, handles
        gc.collect()
        # Looked at one by one: threads that earlier tests have left may publish meanwhile, and take an address again.
        assert all(token() is not None for token, _ in list(clocks._published.values()))
        loop.close()


def test_threads_that_release_one_token_at_once() -> None:
    """Nothing that they publish is lost."""
    clocks, token, start = VectorClocks(), Token(), threading.Barrier(8)
    kept: list[tuple[ThreadState, int]] = []

    def run() -> None:
        state = clocks.thread()
        start.wait(30)
        for _ in range(200):
            state.used = count = state.count
            clocks.release(token)
        kept.append((state, count))

    at_once(*[run] * 8)
    clocks.acquire(token)
    assert len(kept) == 8 and all(clocks.is_before(*each) for each in kept)
    assert not any(clocks.is_before(state, count + 1) for state, count in kept)


def test_counts_never_go_back() -> None:
    """A thread counts on while others take all that was done so far for possibly past."""
    clocks, wrong = VectorClocks(), []  # type: ignore[var-annotated]
    ended = threading.Event()

    def count() -> None:
        state, last, token = clocks.thread(), 0, Token()
        for _ in range(20_000):
            with clocks.lock:
                state.used = used = state.count
            if used <= last:
                wrong.append((last, used))
            clocks.release(token)
            last = published(clocks, token).certain[state.number]
        ended.set()

    def look() -> None:
        while not ended.is_set():
            clocks.may_acquire_all("a loop")

    at_once(count, look, look)
    assert not wrong and ended.is_set()


def test_a_finalizer_that_acquires_in_the_middle_of_an_acquire() -> None:
    """Nothing that either of them learns is lost."""
    clocks, others = VectorClocks(), []  # type: ignore[var-annotated]

    def other() -> None:
        state = clocks.thread()
        state.used = state.count
        token = Token()
        others.append((state, state.used, token))
        clocks.release(token)

    for _ in range(2):
        in_a_thread(other)
    (first, first_count, first_token), (second, second_count, second_token) = others

    class Interrupting(Clock):
        """A clock that another acquire interrupts while it is read."""

        def size(self) -> int:
            clocks.acquire(second_token)
            return super().size()

    reference, snapshot = clocks._published[id(first_token)]
    clock = Interrupting(snapshot.certain)
    clocks._published[id(first_token)] = reference, Snapshot(clock, clock)
    clocks.acquire(first_token)
    assert clocks.is_before(first, first_count) and clocks.is_before(second, second_count)


def test_a_finalizer_that_runs_before_python_knows_the_thread() -> None:
    clocks = VectorClocks()

    def body() -> None:
        early = clocks.thread()
        assert early.start_unseen and early.name.startswith("Dummy-")
        clocks.begin("worker", ("line",))
        assert clocks.thread() is early
        found.append((early.name, early.start_unseen, early.start_stack))

    found: list[Any] = []
    ended = threading.Event()
    _thread.start_new_thread(lambda: (body(), ended.set()), ())
    assert ended.wait(30) and found == [("worker", False, ("line",))]
