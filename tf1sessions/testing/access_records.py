"""Accesses to graphs and sessions, as the race detector keeps them: which conflict, and what a race of two says.

Locks: all of it is guarded by ``VectorClocks.lock``.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tf1sessions.testing.frames import STACK, format_frame, program_frames
from tf1sessions.testing.handed_objects import ExecutorJob
from tf1sessions.testing.locks import held_lock_places, opaque_locks
from tf1sessions.testing.reports import Access, RaceKind, Report
from tf1sessions.testing.vector_clocks import Claim, ThreadState, VectorClocks

__all__ = ["AccessKind", "AccessRecord", "Conflict", "Location", "Race", "plain_names"]

#: How many names an access keeps. Arbitrary.
_NAMES = 3
#: How many accesses from one line are kept. Arbitrary: more than most pools have threads.
_KEPT = 32

#: The place of what the main thread does without a line of the program.
_AT_EXIT = "the end of the program, in a library or a finalizer"
#: In the names of threads, also in those that Python and pools make up.
_NUMBERS = re.compile(r"(?<=^Thread-)\d+|\d+(_\d+)?$")


class Conflict(NamedTuple):
    """Hazard that two actions at one location are if nothing orders them.

    Attributes:
        kind: The kind of the hazard.
        names: The things that are concerned; empty for those of the accesses.
        what: What the earlier and the later access do, in words; empty for the accesses' own words.
        lock_orders: Whether they are ordered where the later thread has acquired a lock after the earlier one had
            released it: the later thread looked whether there was something left to do.
        any_lock: Whether that lock may be any, and not only one that was held at the earlier access.
        judge: Gives, for a pair that nothing orders, the conflict as the data show it; None where they order it.
    """

    kind: RaceKind
    names: tuple[str, ...] = ()
    what: tuple[str, str] = ("", "")
    lock_orders: bool = False
    any_lock: bool = False
    judge: Callable[[AccessRecord, AccessRecord, VectorClocks], Conflict | None] | None = None


class Location:
    """Something that threads access.

    Args:
        name: The graph or session, as reports name it.
        conflict: Gives the conflict of an earlier and a later action, or None.
        made: Where it was made, if that was seen.
        is_named_by: Says whether any worker that got a job would use it, and what a run needs; without it, that cannot
            be known.

    Attributes:
        name, made, conflict, is_named_by: As given.
        maker: The number of the thread that made it; None where that was before the watching began.
        races: The races of it, by kind and the names of the threads.
        records: The records that are kept.
        unnamed: Jobs that do not name it, by their code and the line of the access.
    """

    def __init__(
        self,
        name: str,
        conflict: Callable[[Any, Any], Conflict | None],
        made: str = "",
        is_named_by: Callable[[ExecutorJob, Any], bool] | None = None,
    ) -> None:
        self.name = name
        self.made = made
        self.is_named_by = is_named_by
        self.maker: int | None = None
        self.unnamed: set[tuple[Any, ...]] = set()
        self.conflict = conflict
        self.races: dict[tuple[Any, ...], Race] = {}
        self.records: dict[_Key, AccessRecord] = {}
        self._lines: dict[tuple[Any, ...], deque[AccessRecord]] = {}
        self._groups: dict[Hashable, dict[frozenset[int], dict[ThreadState, dict[AccessRecord, None]]]] = {}
        self._conflicts: dict[tuple[Hashable, Hashable], Conflict | None] = {}

    def keep(self, record: AccessRecord) -> None:
        """Keep a record, and drop the oldest one from its line if there are many."""
        self.records[record.key] = record
        record.kept = True
        line = self._lines.setdefault(record.key[1:4], deque())
        line.append(record)
        if len(line) > _KEPT:
            oldest = line.popleft()
            del self.records[oldest.key]
            oldest.kept, oldest.compared = False, 0
            self._drop(oldest)
        by_thread = self._groups.setdefault(record.action, {}).setdefault(record.locks, {})
        record.group = by_thread.setdefault(record.thread, {})

    def touch(self, record: AccessRecord, count: int) -> None:
        """Give a kept record its thread's count, to be compared now; it is the latest of its group then."""
        record.count = record.compared = count
        record.group.pop(record, None)
        record.group[record] = None

    def _drop(self, record: AccessRecord) -> None:
        record.group.pop(record, None)
        if not record.group:
            del self._groups[record.action][record.locks][record.thread]

    def conflicts(self, later: AccessRecord) -> list[tuple[Conflict, ThreadState, dict[AccessRecord, None]]]:
        """Return the groups of other threads' records that a record conflicts with, and under no common lock."""
        return [
            (conflict, thread, group)
            for conflict, by_thread in self._apart(later)
            for thread, group in by_thread.items()
            if thread is not later.thread
        ]

    def own_conflicts(self, later: AccessRecord) -> Iterator[tuple[Conflict, AccessRecord]]:
        """Yield the records of the same thread that a record, or another access of it, conflicts with."""
        for conflict, by_thread in self._apart(later):
            for record in by_thread.get(later.thread, ()):
                yield conflict, record

    def _apart(self, later: AccessRecord) -> Iterator[tuple[Conflict, dict[ThreadState, dict[AccessRecord, None]]]]:
        for action, by_locks in self._groups.items():
            pair = action, later.action
            if pair not in self._conflicts:
                self._conflicts[pair] = self.conflict(*pair)
            conflict = self._conflicts[pair]
            if conflict is not None:
                for locks, by_thread in by_locks.items():
                    if not locks & later.locks:
                        yield conflict, by_thread


class AccessKind(NamedTuple):
    """Kind of access: the location, the action that conflicts depend on, and the same in words."""

    location: Location
    action: Hashable
    what: str


#: The thread's number, the action, the code's id, its line, the locks that were held.
_Key = tuple[int, Hashable, int, int, frozenset[int]]


class AccessRecord:
    """The accesses of one thread from one line, of one kind and under the same locks.

    Attributes:
        location: What they are to; None of something that is done once.
        count: The thread's count at the last of them.
        compared: The same, if an access of that count needs no other comparison; 0 if the next one is compared in any
            case: something was let pass, or the record was dropped.
        group: Those of the same action, locks and thread that its location keeps.
        times: How many there were.
        names: The operations that were concerned; a few.
        code: The code of the line; kept, so that its id stays its own.
        lock_places: Where the locks that were held were made.
        lines: The codes and lines of the innermost frames.
        past: What was past for the thread at the last of them.
        claims: What was claimed then, by any thread.
        locks: The numbers of the locks that were held.
        opaque: Locks that were perhaps held, by their numbers, and why that is not known.
        kept: Whether its location keeps it.
        reported: Whether it is part of a report.
        last: The graph's number of operations at the last of the accesses, where that counts.
        needs: What the access uses that others may have made; see publications.py.
        imports: Whether it is in a module that is just imported.
    """

    def __init__(
        self, thread: ThreadState, key: _Key, what: str, frame: FrameType | None, location: Location | None = None
    ) -> None:
        frames = list(program_frames(frame))
        opaque = opaque_locks(frames)
        self.thread = thread
        self.location: Any = location
        self.key = key
        self.action = key[1]
        self.what = what
        self.code: CodeType | None = frame and frame.f_code
        started = tuple(f"{each}, which started it" for each in thread.start_stack)
        self.stack = tuple(map(format_frame, frames[:STACK])) or started or (_AT_EXIT,) * thread.is_main
        self.lock_places = held_lock_places() if key[4] else ()
        self.lines = tuple((each.f_code, each.f_lineno) for each in frames[:STACK])
        self.past = thread.past.certain
        self.claims: Mapping[Hashable, Claim] = {}
        self.locks = key[4] | {-lock.number for lock in opaque if lock.mine}
        self.opaque = {lock.number: lock.doubt for lock in opaque if lock.mine is None}
        self.names: list[str] = []
        self.times = self.count = self.compared = self.last = 0
        self.group: dict[AccessRecord, None] = {}
        self.kept = self.reported = False
        self.needs: Any = None
        self.imports = any(each.f_code.co_name == "<module>" and _is_imported(each) for each in frames)

    def add_name(self, name: str, what: str) -> bool:
        """Note an operation that is concerned; says whether a report has changed by that.

        The first one decides what the accesses are called: scopes may have been entered for it before.
        """
        if len(self.names) >= _NAMES:
            return False
        if not self.names and self.what != what:
            self.what, self.times = what, 0
        self.names.append(name)
        return self.reported

    def is_for(self, claim: Claim) -> bool:
        """Say whether the last of the accesses came after something had been claimed for it."""
        return claim.is_before(self.thread, self.count, self.past)

    def copy(self) -> AccessRecord:
        """Return a record of the accesses until now."""
        made = copy.copy(self)
        made.names = list(self.names)
        return made

    @property
    def function(self) -> tuple[Any, ...]:
        """The function that the accesses are in, by file and name."""
        return self.code and self.code.co_filename, self.stack[:1] and self.stack[0].partition(" in ")[2]


def _is_imported(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__") != "__main__" and frame.f_globals.get("__spec__") is not None


@dataclasses.dataclass(eq=False)
class Race:
    """Two accesses that become a report. Guarded by the detector's lock."""

    location: str
    conflict: Conflict
    first: AccessRecord
    second: AccessRecord
    note: str = ""
    made: str = ""  # where the location was made
    lines: set[Any] = dataclasses.field(default_factory=set)  # pairs of lines
    conditions: list[Callable[[], bool]] = dataclasses.field(default_factory=list)  # it is one while one of them holds

    def holds(self) -> bool:
        """Say whether it is one by what is known now."""
        return not self.conditions or any(each() for each in self.conditions)

    @property
    def is_minor(self) -> bool:
        """Whether it says nothing new where there is another one of such threads at the location."""
        kind, is_luck = self.conflict.kind, self.first.thread is self.second.thread
        return kind.is_note or (kind is RaceKind.UNKNOWN and is_luck)

    @property
    def pair(self) -> frozenset[tuple[str, ...]]:
        """The lines of the two."""
        return frozenset((self.first.stack[:1], self.second.stack[:1]))

    def names(self) -> tuple[str, ...]:
        """Return the names of the threads, without their numbers."""
        return plain_names(self.first, self.second)

    def report(self) -> Report:
        """Return the report, with what is known by now."""
        names = self.conflict.names
        first, second = (
            Access(
                record.thread.name,
                what or record.what,
                record.stack,
                names or tuple(record.names),
                record.times,
                record.lock_places,
                next(iter(record.thread.start_stack), ""),
            )
            for record, what in zip((self.first, self.second), self.conflict.what, strict=True)
        )
        others = max(0, len(self.lines) - 1)
        return Report(self.conflict.kind, self.location, first, second, others, self.note, self.made)


def plain_names(*records: AccessRecord) -> tuple[str, ...]:
    """Return the names of the threads of some accesses, without their numbers."""
    return tuple(sorted(_NUMBERS.sub("", each.thread.name) for each in records))
