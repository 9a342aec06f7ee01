"""Accesses of threads, against a model that keeps all of them: what nothing orders is found, and no more."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest

from tf1sessions.testing import findings, race_detector
from tf1sessions.testing.graph_accesses import GraphState, SessionState
from tf1sessions.testing.race_detector import RaceDetector
from tf1sessions.testing.race_detector_main import _ProgramWatch
from tf1sessions.testing.reports import RaceKind
from tf1sessions.testing.variable_uses import VariableUses
from tf1sessions.testing.vector_clocks import ThreadState, Token, VectorClocks

_USES = [
    VariableUses(frozenset(reads), frozenset(writes), frozenset(updates))
    for reads, writes, updates in (
        ("", "", ""),
        ("v", "", ""),
        ("w", "", ""),
        ("", "v", ""),
        ("", "w", ""),
        ("v", "w", ""),
        ("", "", "v"),
        ("", "", "vw"),
    )
]
_NAMES = ("ant", "bee", "cat")  # alike ones are reported once

Found = set[tuple[RaceKind, frozenset[str]]]


class Graph:
    """Stands for a graph."""


class Lock:
    def __init__(self, number: int) -> None:
        self.number = number
        self.free = True
        self.past: set[int] = set()  # the accesses that came before its releases


class Access(NamedTuple):
    """One of the model: a run with the variables that it uses, a change (None), or a close."""

    thread: Thread
    action: VariableUses | str | None
    locks: frozenset[int]


class Thread:
    """One of the model.

    Attributes:
        past: The numbers of the accesses that are past for it, its own among them.
        past_by_lock: For each lock that it has acquired: the accesses before its releases until then.
    """

    def __init__(self, name: str, state: ThreadState) -> None:
        self.name = name
        self.state = state
        self.locks: list[Lock] = []
        self.past: set[int] = set()
        self.past_by_lock: dict[int, set[int]] = {}

    @property
    def held(self) -> frozenset[int]:
        return frozenset(lock.number for lock in self.locks)


class Model:
    """Threads that take turns at one graph with one session."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.clocks = VectorClocks()
        self.detector = RaceDetector(self.clocks)
        self.thing = Graph()
        self.graph = GraphState("the graph", self.thing)
        self.session = SessionState("the session", None, self.graph)
        self.threads = []
        for name in _NAMES:
            vars(self.clocks._local).pop("state", None)
            self.clocks.begin(name)
            self.threads.append(Thread(name, self.clocks.thread()))
        self.me = self.threads[0]
        self.locks = [Lock(1), Lock(2)]
        self.items: list[tuple[Token, set[int]]] = []
        self.accesses: list[Access] = []
        self.expected: Found = set()
        self.repeated: dict[VariableUses, race_detector.Repeated] = {}
        self.repeats = 0

    def step(self) -> None:
        """One of the threads does something."""
        self.turn(self.chance.choice(self.threads))
        action = self.chance.random()
        if action < 0.45:
            for _ in range(self.chance.choice((1, 1, 3))):
                self.run(self.chance.choice(_USES))
        elif action < 0.55:
            self.change()
        elif action < 0.58:
            self.access("close")
            self.detector.access(None, self.session.close)
        elif action < 0.7:
            self.items.append((Token(), set(self.me.past)))
            self.clocks.release(self.items[-1][0])
        elif action < 0.8 and self.items:
            token, past = self.chance.choice(self.items[-3:])
            self.clocks.acquire(token)
            self.me.past |= past
        elif self.me.locks and self.chance.random() < 0.5:
            self.release()
        else:
            self.acquire(self.chance.choice(self.locks))

    def turn(self, thread: Thread) -> None:
        self.me = thread
        self.clocks._local.state = thread.state

    def acquire(self, lock: Lock) -> None:
        if lock.free:
            lock.free = False
            self.me.locks.append(lock)
            self.me.past_by_lock[lock.number] = set(lock.past)
            self.clocks.lock_acquired(lock)

    def release(self) -> None:
        lock = self.me.locks.pop()
        lock.free = True
        lock.past |= {number for number, access in enumerate(self.accesses) if access.thread is self.me}
        self.clocks.lock_released(lock)

    def change(self) -> None:
        self.access(None)
        self.detector.access(None, self.graph.change("changes it"))

    def run(self, uses: VariableUses) -> None:
        self.access(uses)
        repeated = self.repeated.setdefault(uses, {})
        with mock.patch.object(self.detector, "_compare_all", wraps=self.detector._compare_all) as compare:
            self.detector.run(None, (self.graph.run, self.session.run(uses)), 0, None, repeated)
        self.repeats += not compare.called

    def access(self, action: VariableUses | str | None) -> None:
        """What nothing orders before it, and conflicts with it."""
        now = Access(self.me, action, self.me.held)
        for number, earlier in enumerate(self.accesses):
            if earlier.thread is not self.me and number not in self.me.past and not earlier.locks & now.locks:
                kind = self.conflict(number, earlier, now)
                if kind is not None:
                    self.expected.add((kind, frozenset((earlier.thread.name, self.me.name))))
        self.me.past.add(len(self.accesses))
        self.accesses.append(now)

    def conflict(self, number: int, earlier: Access, now: Access) -> RaceKind | None:
        one, other = earlier.action, now.action
        if other == "close" and any(number in past for past in self.me.past_by_lock.values()):
            return None  # who closes last has counted the others
        if one == "close" or other == "close":
            return RaceKind.CLOSED if one != other and one is not None and other is not None else None
        if one is None and other is None:
            return RaceKind.CONSTRUCTION
        if one is None:  # a run that looked under the lock whether there was something to build
            if any(number in self.me.past_by_lock.get(lock, ()) for lock in earlier.locks):
                return None
        if one is None or other is None:
            return RaceKind.MUTATION
        assert isinstance(one, VariableUses) and isinstance(other, VariableUses)
        both = one.writes & (other.reads | other.writes | other.updates) or (one.reads | one.updates) & other.writes
        for reader, updater in ((one, other), (other, one)):
            both = both or (len(updater.updates) > 1 and (reader.reads - reader.updates) & updater.updates)
        return RaceKind.VARIABLE if both else None

    def found(self) -> Found:
        reports = self.detector.reports
        return {(report.kind, frozenset((report.first.thread, report.second.thread))) for report in reports}


@pytest.mark.parametrize("seed", range(4))
def test_accesses_of_threads(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    found: dict[RaceKind, int] = {}
    repeats = 0
    for _ in range(250):
        model = Model(chance)
        monkeypatch.setattr(race_detector, "held_locks", lambda model=model: model.me.held)
        for _ in range(chance.randrange(3, 40)):
            model.step()
            assert model.found() == model.expected
        repeats += model.repeats
        for kind, _ in model.expected:
            found[kind] = found.get(kind, 0) + 1
        records: list[Any] = [*model.graph.location.records.values(), *model.session.close.location.records.values()]
        runs = [access for access in model.accesses if isinstance(access.action, VariableUses)]
        assert sum(record.times for record in records) == len(model.accesses) + len(runs)  # a run is two accesses
    assert min(found[kind] for kind in (RaceKind.CONSTRUCTION, RaceKind.MUTATION, RaceKind.VARIABLE)) > 80, found
    assert found[RaceKind.CLOSED] > 25 and repeats > 250, (found, repeats)


def test_a_change_after_the_other_thread_has_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    """That one had the lock after the first change, and so runs in order after that alone."""
    for again in (False, True):
        model = Model(random.Random(0))
        monkeypatch.setattr(race_detector, "held_locks", lambda model=model: model.me.held)
        ant, bee, _ = model.threads
        for thread, changes in ((ant, True), (bee, False), *([(ant, True)] * again)):
            model.turn(thread)
            model.acquire(model.locks[0])
            if changes:
                model.change()
            model.release()
        model.turn(bee)
        model.run(_USES[0])
        assert model.found() == model.expected
        assert model.expected == ({(RaceKind.MUTATION, frozenset(("ant", "bee")))} if again else set())


def test_a_change_under_two_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ordered before a run that has acquired either of them since."""
    for which in (0, 1):
        model = Model(random.Random(0))
        monkeypatch.setattr(race_detector, "held_locks", lambda model=model: model.me.held)
        ant, bee, _ = model.threads
        model.turn(ant)
        model.acquire(model.locks[0])
        model.acquire(model.locks[1])
        model.change()
        model.release()
        model.release()
        model.turn(bee)
        model.acquire(model.locks[which])
        model.release()
        model.run(_USES[0])
        assert model.found() == model.expected == set()


def test_a_race_that_a_finalizer_finds_while_the_reports_are_written(tmp_path: Path) -> None:
    watch = _ProgramWatch(str(tmp_path / "reports.json"), [], [])
    calls = []

    class Detector:
        @property
        def reports(self) -> list[Any]:
            calls.append(None)
            if len(calls) == 1:
                watch._write()  # in the same thread, in the middle of the first one
            return []

    watch._detector = Detector()  # type: ignore[assignment]
    watch._write()
    assert len(calls) == 2
    assert findings.read(str(tmp_path / "reports.json")) == {"reports": [], "forked": False, "unused": []}
