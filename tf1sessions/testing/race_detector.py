"""Finds accesses to graphs and sessions that nothing orders, also when this run's timing was harmless.

Data flow::

    tensorflow_hooks.py: TensorFlow's graphs and sessions ── access(frame, kinds) ─▶ RaceDetector ──▶ Report
    synchronisation.py: locks, events, queues, ...  ── release, acquire ──▶ VectorClocks ──┘

A *location* is something about which threads may get in each other's way: a graph's structure, or a session with its
variables. Two accesses to it by two threads are a race when they conflict, neither happens before the other, and no
lock was held both times. For each location the last access from each thread, line and set of locks is kept, and of each
line the latest few, so that neither the number of operations nor a server's threads make it slower.

One step for each access: find the location's record of it, give it the thread's count, compare it with the records of
other threads. If the record was compared at that count already, the thread has released nothing since, and so the
access is a race with exactly those that its last one is a race with; these were compared then, or when they came (what
Flanagan and Freund's "FastTrack", 2009, calls the same epoch). Runs, which a program repeats most, find their records
by the instruction that they come from (``repeated``). The records are grouped by action, locks and thread, and in each
thread's the latest is the last: groups that cannot conflict, and all that is past, are passed over at once.

A conflict has the last word about a pair that nothing orders: what the later access uses may have been made by the
earlier one (``Conflict.judge``; publications.py).

Threads whose names differ in their numbers alone do the same work: a pair of such threads is reported once.

Locks: locations and reports are guarded by ``VectorClocks.lock``.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any

from tf1sessions.testing.access_records import (
    AccessKind,
    AccessRecord,
    Conflict,
    Location,
    Race,
    plain_names,
)
from tf1sessions.testing.clocks import Clock
from tf1sessions.testing.deadlocks import Waiter
from tf1sessions.testing.frames import program_frames
from tf1sessions.testing.locks import held_locks
from tf1sessions.testing.polling import passed_loop
from tf1sessions.testing.reports import MOST_PAIRS, RaceKind, Report
from tf1sessions.testing.suppressions import Suppressions
from tf1sessions.testing.vector_clocks import Claim, ThreadState, VectorClocks

__all__ = ["RaceDetector", "Repeated"]

#: How many more threads of a deadlock a report names. Arbitrary.
_OTHERS = 6
#: The note about two jobs of one worker.
_LUCK = "Worker {!r} happened to run both jobs; with another one for the second job nothing would order them."
#: How many places of a request are remembered. Arbitrary: more than most programs have.
_REPEATED = 64

#: The records of accesses of the same kinds, by the thread's number, the code's id (each record keeps its code), the
#: instruction in it, and the locks that were held.
Repeated = dict[tuple[int, int, int | None, frozenset[int]], tuple[AccessRecord, ...]]


class RaceDetector:
    """Compares accesses, and keeps the races that it finds.

    Args:
        clocks: What orders threads.
        ignore: Kinds that are not reported.
        changed: Called when there is something new in ``reports``, by the thread that found it.
        suppressions: What else is not reported.

    Attributes:
        clocks: As given.
        suppressions: As given; those that were used are marked.
        is_over: Whether what is watched has ended.

    Thread-safety: any thread may call any method.
    """

    def __init__(
        self,
        clocks: VectorClocks,
        ignore: Iterable[RaceKind] = (),
        changed: Callable[[], None] | None = None,
        suppressions: Suppressions | None = None,
    ) -> None:
        self.clocks = clocks
        self.suppressions = suppressions or Suppressions()
        self.is_over = False
        self._races: list[Race] = []
        self._by_functions: dict[tuple[Any, ...], Race] = {}
        self._doubts: dict[Any, Race] = {}  # by what is said about them
        self._ignored = frozenset(ignore)
        self._changed = changed or (lambda: None)
        self._lock = clocks.lock

    @property
    def reports(self) -> list[Report]:
        """The races that were found so far."""
        with self._lock:
            worse: set[Any] = {(race.location, race.names()) for race in self._races if not race.is_minor}
            return [
                race.report()
                for race in sorted(self._races, key=lambda race: race.conflict.kind is RaceKind.UNKNOWN)
                if race.holds() and not (race.is_minor and (race.location, race.names()) in worse)
            ]

    def access(
        self, frame: FrameType | None, kind: AccessKind, *, name: str = "", last: int = 0, needs: Any = None
    ) -> AccessRecord:
        """Note what the calling thread does at one place, and compare it with the accesses of other threads.

        Args:
            frame: The program's innermost frame.
            kind: What it does there.
            name: The operation that is concerned.
            last: The graph's number of operations, of a change.
            needs: What it uses that others may have made.

        Returns:
            The record of such accesses.
        """
        me = self.clocks.thread()
        if me.sleep_loop is not None:
            self.clocks.end_wait(frame)
        record = self._record(me, frame, held_locks(), kind)
        if name:
            with self._lock:
                is_new = record.add_name(name, kind.what)
            if is_new:
                self._changed()
        if record.what == kind.what:
            record.times += 1
        record.last, record.needs = last, needs
        if record.compared != me.count:
            self._compare_all(record)
        return record

    def run(
        self, frame: FrameType | None, kinds: Sequence[AccessKind], last: int, needs: Any, repeated: Repeated
    ) -> AccessRecord:
        """Note a run by the calling thread, and compare it with the accesses of other threads.

        Args:
            frame: The program's innermost frame.
            kinds: What the run does, always the same.
            last: The number of the session's run.
            needs: What it uses that others may have made.
            repeated: The records of such runs; gets those of this one.

        Returns:
            The record of the first of the kinds.
        """
        me, locks = self.clocks.thread(), held_locks()
        if me.sleep_loop is not None:
            self.clocks.end_wait(frame)
        place = (me.number, 0, 0, locks) if frame is None else (me.number, id(frame.f_code), frame.f_lasti, locks)
        records = repeated.get(place)
        if records is None:
            records = tuple([self._record(me, frame, locks, kind) for kind in kinds])
            if len(repeated) > _REPEATED:
                repeated.clear()
            repeated[place] = records
        for record in records:
            record.times += 1
            record.last, record.needs = last, needs
            if record.compared != me.count:
                self._compare_all(record)
        return records[0]

    def _record(
        self, me: ThreadState, frame: FrameType | None, locks: frozenset[int], kind: AccessKind
    ) -> AccessRecord:
        """Return the record of what the calling thread does at a line; a new one where there is none."""
        code, line = (0, 0) if frame is None else (id(frame.f_code), frame.f_lineno)
        key = (me.number, kind.action, code, line, locks)
        return kind.location.records.get(key) or AccessRecord(me, key, kind.what, frame, kind.location)

    def _compare_all(self, later: AccessRecord) -> None:
        """Compare an access of the calling thread with all others of its location."""
        location, me = later.location, self.clocks.thread()
        with self._lock:
            if not later.kept:  # new, or dropped in the meantime
                location.keep(later)
            me.used = count = me.count
            of_other_jobs = self._of_other_jobs(location, later) if me.job is not None else ()
            location.touch(later, count)
            later.past, later.claims = me.past.certain, self.clocks.claims
            changed = self._compare_with_others(location, later, me.past.certain)
            for conflict, earlier in of_other_jobs:
                changed |= self._compare_jobs(location, conflict, earlier, later)
        if changed:
            self._changed()

    def _compare_with_others(self, location: Location, later: AccessRecord, past: Clock) -> bool:
        """Compare an access of the calling thread with what others did; says whether there is something to report."""
        changed = False
        for conflict, thread, group in location.conflicts(later):
            seen = past.get(thread.number, 0)
            if next(reversed(group)).count <= seen:
                continue
            later_ones = list(itertools.takewhile(lambda each: each.count > seen, reversed(group)))  # noqa: B023
            for earlier in reversed(later_ones):
                race, is_new = self._compare(location, conflict, earlier, later)
                changed |= is_new
                if race is not None and race.conflict.kind is conflict.kind and len(race.lines) > MOST_PAIRS:
                    break
        return changed

    def _of_other_jobs(self, location: Location, later: AccessRecord) -> list[tuple[Conflict, AccessRecord]]:
        """Return what earlier jobs of the calling worker did that conflicts with an access of this one.

        What the worker itself has made is its own: it may keep that from job to job.
        """
        me, maker = self.clocks.thread(), location.maker
        is_own = maker == me.number or (maker is None and me.start_unseen)
        if is_own or location.is_named_by is None or later.count == me.count:
            return []
        return [
            (conflict, each.copy() if each is later else each)  # which is about to become this job's
            for conflict, each in location.own_conflicts(later)
            if self.clocks.is_of_other_job(each.count)
        ]

    def _compare_jobs(self, location: Location, conflict: Conflict, earlier: AccessRecord, later: AccessRecord) -> bool:
        """Compare accesses by two jobs that only their worker orders; says whether there is something to report.

        Where another worker would have used the same, it was luck that one has run both.
        """
        left = self._judged(conflict, earlier, later)
        if left is None or left.kind.is_note or earlier.opaque.keys() & later.opaque.keys():
            return False
        if _claim_in_turn(earlier, later) is not None:
            return False
        unknown = left._replace(kind=RaceKind.UNKNOWN)
        if self._is_accepted(left, earlier, later) or self._is_accepted(unknown, earlier, later):
            return False
        found = Race(location.name, unknown, earlier, later, _LUCK.format(later.thread.name), location.made)
        key = (RaceKind.UNKNOWN, *plain_names(earlier, later))
        known = location.races.get(key)
        if (known is not None and found.pair in known.lines) or not self._is_named(location, later):
            return False
        return self._enter(location.races, key, found)[1]

    def _is_named(self, location: Location, access: AccessRecord) -> bool:
        """Say whether any worker would have used the location, and what an access of this job needs."""
        job = self.clocks.thread().job
        if job is None or location.is_named_by is None:
            return False
        key = job.code, access.key[1:4]
        if key in location.unnamed:
            return False
        makers = access.needs.makers() if access.needs is not None else ()
        number = access.thread.number
        is_named = all(each.thread != number for each in makers) and location.is_named_by(job, access.needs)
        if not is_named:
            location.unnamed.add(key)
        return is_named

    def _compare(
        self, location: Location, conflict: Conflict, earlier: AccessRecord, later: AccessRecord
    ) -> tuple[Race | None, bool]:
        """Compare two accesses that conflict and are not ordered; gives their race, and whether it has changed."""
        left = self._judged(conflict, earlier, later)
        if left is None:
            return None, False
        doubt, note = ("", "") if left.kind.is_note else self._doubt(earlier, later)
        if note:
            left = left._replace(kind=RaceKind.UNKNOWN)
        claim = _claim_in_turn(earlier, later)
        if claim is None and self._is_accepted(left, earlier, later):
            return None, False
        # What one loop may have waited for is one doubt, whatever comes after it.
        races: dict[Any, Race] = self._doubts if note else location.races
        key = (doubt,) if note else (left.kind, *plain_names(earlier, later))
        found = Race(location.name, left, earlier, later, note, location.made)
        if claim is None:
            return self._enter(races, key, found)
        earlier.compared = 0
        claim.at_end[key, found.pair] = functools.partial(self._enter_unless_past, races, key, found, later.count)
        return None, False

    def _enter_unless_past(
        self, races: dict[Any, Race], key: tuple[Any, ...], found: Race, count: int, end: Clock
    ) -> None:
        """Add a pair of which the later access was not over when what was claimed for it was given back."""
        later = found.second
        if end.get(later.thread.number, 0) < count and not self._is_accepted(found.conflict, found.first, later):
            if self._enter(races, key, found)[1]:
                self._changed()

    def _judged(self, conflict: Conflict, earlier: AccessRecord, later: AccessRecord) -> Conflict | None:
        """Return what is left of a conflict of two accesses that the clocks do not order."""
        if earlier.locks & later.locks:
            return None
        locks = None if conflict.any_lock else earlier.locks
        if conflict.lock_orders and self.clocks.followed_lock(earlier.thread, earlier.count, locks):
            return None
        if conflict.judge is None:
            return conflict
        left = conflict.judge(earlier, later, self.clocks)
        if left is None or left.kind.is_note:
            earlier.compared = 0
        return left

    def _enter(self, races: dict[Any, Race], key: tuple[Any, ...], found: Race) -> tuple[Race, bool]:
        """Add a pair to the race of this key, or as that race; gives it, and whether it has changed."""
        race = races.setdefault(key, found)
        if race is found:
            self._add(race)
        if len(race.lines) > MOST_PAIRS:
            return race, False
        lines = found.pair
        is_new = lines not in race.lines
        race.lines.add(lines)
        return race, is_new

    def _is_accepted(self, conflict: Conflict, earlier: AccessRecord, later: AccessRecord) -> bool:
        return conflict.kind in self._ignored or self._suppresses(conflict.kind, conflict.names, earlier, later)

    def _suppresses(self, kind: RaceKind, names: tuple[str, ...], first: AccessRecord, second: AccessRecord) -> bool:
        return self.suppressions.cover(kind, names, (first.stack, second.stack))

    def _add(self, race: Race) -> None:
        self._races.append(race)
        race.first.reported = race.second.reported = True

    def _doubt(self, earlier: AccessRecord, later: AccessRecord) -> tuple[str, str]:
        """Return why it is not known whether something orders two accesses, in short and as a sentence.

        Both are empty if it is known that nothing does.
        """
        for number in earlier.opaque.keys() & later.opaque.keys():
            return later.opaque[number], later.opaque[number]
        for record in (earlier, later):
            if record.thread.start_unseen:
                name = record.thread.name
                return name, f"Thread {name!r} was not started by Python's threading."
        if self.clocks.is_possibly_before(earlier.thread, earlier.count):
            means = later.thread.means or "something between them"
            return means, f"Thread {later.thread.name!r} may have waited for the other, by {means}."
        for code, line in later.lines:
            if (loop := passed_loop(code, line)) is not None:
                return str(loop), f"Thread {later.thread.name!r} may have waited for the other, by {loop}."
        return "", ""

    def report(
        self,
        kind: RaceKind,
        location: str,
        first: AccessRecord,
        second: AccessRecord,
        holds: Callable[[], bool] | None = None,
        made: str = "",
    ) -> Race | None:
        """Add a hazard that another rule has found; None if it is ignored, or reported for these functions already.

        Args:
            kind, location, first, second, made: Of the report.
            holds: Says whether it is one, whenever the reports are asked for; without it, it is.
        """
        if kind in self._ignored:
            return None
        lines = first.stack[:1], second.stack[:1]
        functions = kind, first.function, second.function
        with self._lock:
            if self._suppresses(kind, (), first, second):
                return None
            known = self._by_functions.get(functions)
            if known is None:
                race = Race(location, Conflict(kind), first, second, made=made, lines={lines})
                self._by_functions[functions] = race
                self._add(race)
            elif lines in known.lines and holds is None:
                return None
            else:
                known.lines.add(lines)
            if holds is not None:
                (known or race).conditions.append(holds)
        self._changed()
        return race if known is None else None

    def report_deadlock(self, circle: Sequence[Waiter]) -> None:
        """Add threads that wait for each other: the first, which gives up, and the one before it; others by name."""
        records = []
        known = {state.ident: state for state in reversed(self.clocks.threads())}
        me = self.clocks.thread()
        for waiter in (circle[-1], circle[0]):
            thread = known.get(waiter.ident, me)
            frame = next(iter(program_frames(waiter.frame)), None)
            place = (id(frame.f_code), frame.f_lineno) if frame is not None else (0, 0)
            record = AccessRecord(thread, (thread.number, waiter.what, *place, frozenset()), waiter.what, frame)
            record.times = 1
            records.append(record)
        others = [
            f"{known[each.ident].name!r} {each.what}, at {each.place}" for each in circle[1:-1] if each.ident in known
        ]
        note = f"Besides, thread {'; thread '.join(others[:_OTHERS])}." if others else ""
        count = f"{len(circle)} thread{'s' * (len(circle) > 1)}"
        race = self.report(RaceKind.DEADLOCK, count, records[0], records[1])
        if race is not None:
            race.note = note

    def withdraw(self, race: Race) -> None:
        """Remove what turned out to be no hazard."""
        with self._lock:
            self._races.remove(race)
            del self._by_functions[race.conflict.kind, race.first.function, race.second.function]
        self._changed()


def _claim_in_turn(earlier: AccessRecord, later: AccessRecord) -> Claim | None:
    """Return the claim for an access of a lock or a flag that had been claimed for the earlier one, and given back.

    Each of the two threads may have held such a lock itself.
    """
    given_back = [
        what
        for what, claim in earlier.claims.items()
        if claim.end is not None and claim.end.get(earlier.thread.number, 0) >= earlier.count and earlier.is_for(claim)
    ]
    for what in (*given_back, *earlier.locks):
        claim = later.claims.get(what)
        if claim is not None and later.is_for(claim) and not earlier.is_for(claim):
            return claim
    is_held = not later.locks.isdisjoint(given_back)
    return Claim(later.thread, later.count) if is_held else None
