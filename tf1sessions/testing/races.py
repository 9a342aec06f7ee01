"""Finds accesses to graphs and sessions that nothing orders, also when this run's timing was harmless.

::

    watching.py: TensorFlow's graphs and sessions ── access(place, action, what) ──▶ Judge ──▶ Report
    synchronisation.py: locks, events, queues, ...      ── what threads tell each other ──▶ Order ──┘

A *place* is something about which threads may get in each other's way: a graph's structure, a session's being open, its
variables. Two accesses to it by two threads are a report when their actions conflict, neither is known to come before
the other, and no lock was held both times. For each place the last access from each thread, line and set of locks is
kept, and of each line the latest few, so that neither the number of operations nor a server's threads make it slower.
An access that is as the one before it, with no other in between that it could conflict with, is compared with nothing.

Threads whose names differ in their numbers alone do the same: a pair of such threads is told once.
"""

from __future__ import annotations

import _thread
import dataclasses
import itertools
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from types import CodeType, FrameType
from typing import Any

from tf1sessions.testing.frames import STACK, program_frames, told
from tf1sessions.testing.locks import held_locks, opaque_locks
from tf1sessions.testing.order import Member, Order
from tf1sessions.testing.reports import Access, Kind, Report

__all__ = ["Counter", "Judge", "News", "Number", "Pair", "Place", "Seen"]

#: How many names an access keeps. Arbitrary.
_NAMES = 3
#: How many accesses from one line are kept. Arbitrary: more than most pools have threads.
_KEPT = 32

#: In the names of threads, also in those that Python and pools make up.
_NUMBERS = re.compile(r"(?<=^Thread-)\d+|\d+(_\d+)?$")
_versions = itertools.count(1)

#: Which kind two actions are together, and which names are concerned; None when they do not conflict.
Conflict = Callable[[Any, Any], tuple[Kind, tuple[str, ...]] | None]
_Key = tuple[Hashable, int, int, frozenset[int]]  # what was done, the code's id, its line, the locks that were held


class Counter:
    """Counts accesses that are always made together, in one step.

    Attributes:
        times: How many there were.
        count: The thread's count, at the last of those that were compared with nothing.
    """

    __slots__ = ("count", "times")

    def __init__(self) -> None:
        self.times = self.count = 0


class Seen:
    """The accesses of one thread from one line, under the same locks. Only that thread changes it.

    Attributes:
        counters: What counts some of them as well.
        counted: How many are counted here.
    """

    __slots__ = (
        "action",
        "code",
        "count",
        "counted",
        "counters",
        "hidden",
        "kept",
        "locks",
        "member",
        "names",
        "place",
        "reported",
        "shares",
        "stack",
        "version",
        "what",
    )

    def __init__(
        self, member: Member, place: Place, action: Hashable, what: str, frame: FrameType | None, locks: frozenset[int]
    ) -> None:
        frames = list(program_frames(frame))
        opaque = opaque_locks(frames)
        self.member = member
        self.action = action
        self.place = place
        self.shares = place.shares(action)
        self.what = what
        self.code: CodeType | None = frame and frame.f_code  # kept, so that its id stays its own
        self.stack = tuple(map(told, frames[:STACK])) or tuple(f"{each}, which started it" for each in member.started)
        self.locks = locks | {-lock.number for lock in opaque if lock.mine}
        self.hidden = {lock.number: lock.doubt for lock in opaque if lock.mine is None}
        self.names: list[str] = []
        self.counters: list[Counter] = []
        self.counted = 0
        self.count = 0  # the thread's, at the last access that was compared; see last
        self.version = 0  # the place's, when it was compared last
        self.kept = True  # whether the place has it still
        self.reported = False

    @property
    def times(self) -> int:
        """How many accesses there were."""
        return self.counted + sum(counter.times for counter in self.counters)

    @property
    def last(self) -> int:
        """The thread's count, at the last access."""
        return max([self.count, *[counter.count for counter in self.counters]])

    def leave(self, counter: Counter) -> None:
        """What was counted there is counted here, and it will count other accesses."""
        self.counters.remove(counter)
        self.counted += counter.times
        self.count = max(self.count, counter.count)


class Number:
    """A number that is another one as soon as something is different."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = next(_versions)


class News(Number):
    """Is another one after each access to one of some places that others have not seen.

    Attributes:
        changes: Is another one after those of them that do not share.
    """

    __slots__ = ("changes",)

    def __init__(self) -> None:
        super().__init__()
        self.changes = Number()

    def come(self) -> None:
        """There is news for all; what it tells of can be seen already."""
        self.number = self.changes.number = next(_versions)

    def come_of(self, accesses: Iterable[Seen]) -> None:
        """Accesses that share were made again, by one who has seen all changes since the last time, and looks after
        this whether there are others.
        """
        version = next(_versions)
        for seen in accesses:
            seen.place.touched = version
        self.number = version

    def come_alone(self, accesses: Iterable[Seen], number: int) -> int:
        """Accesses were made again, some of which do not share, by one who has seen all until ``number``.

        Returns:
            The number after them; 0 if others have come meanwhile, so that they must be compared.
        """
        for seen in accesses:
            place, version = seen.place, next(_versions)
            if self.number != number:  # from here on nothing comes between, see order.py
                return 0
            alone = seen.version == place.touched
            place.touched = self.number = number = version
            if not seen.shares:
                place.changed = self.changes.number = version
                if alone:
                    seen.version = version  # to here
            if seen.version != (place.changed if seen.shares else place.touched):
                return 0
        return number


class Place:
    """What is accessed.

    Args:
        told: How messages name it.
        conflict: See :data:`Conflict`.
        shares: Whether an action conflicts with none of those of which this is True.
        lazily: Whether one who shares, and has held the lock of one who did not after that one, comes after it for
            good: it looked whether there was something to do. (One who comes before it is another pair.)
        news: What tells of it; it may tell of several.
    """

    def __init__(
        self,
        told: str,
        conflict: Conflict,
        shares: Callable[[Any], bool] = lambda action: False,
        lazily: bool = False,
        news: News | None = None,
    ) -> None:
        self.told = told
        self.conflict = conflict
        self.shares = shares
        self.lazily = lazily
        self.news = news or News()
        self.seen: dict[int, dict[_Key, Seen]] = {}  # by the thread's number
        self.lines: dict[tuple[Hashable, int, int], deque[tuple[int, _Key]]] = {}
        self.touched = 0  # a new number for each access that others have not seen yet
        self.changed = 0  # ... of those that do not share
        self.pairs: dict[tuple[Any, ...], Pair] = {}  # by kind and the names of the threads


@dataclasses.dataclass(eq=False)
class Pair:
    """What becomes a report. Changed under the Judge's lock."""

    kind: Kind
    told: str
    first: Seen
    second: Seen
    names: tuple[str, ...] = ()
    note: str = ""
    lines: set[Any] = dataclasses.field(default_factory=set)  # pairs of lines

    def report(self) -> Report:
        """With what is known by now."""
        first, second = (
            Access(seen.member.name, seen.what, seen.stack, self.names or tuple(seen.names), seen.times)
            for seen in (self.first, self.second)
        )
        return Report(self.kind, self.told, first, second, max(0, len(self.lines) - 1), self.note)


class Judge:
    """Compares accesses, and keeps what it finds.

    Args:
        order: What is known of the order.
        ignore: Kinds that are not reported.
        changed: Called when there is something new in ``reports``, by the thread that found it.

    Attributes:
        order: As given.
        reports: What was found so far, in the words of now.

    Thread-safety: any thread may call any method. The lock is held while places get or lose accesses and reports are
    added; it is re-entrant, because an object that is collected meanwhile may close a session.
    """

    def __init__(self, order: Order, ignore: Iterable[Kind] = (), changed: Callable[[], None] | None = None) -> None:
        self.order = order
        self._found: list[Pair] = []
        self._told: dict[tuple[Any, ...], Pair] = {}  # by kind and functions
        self._ignored = frozenset(ignore)
        self._changed = changed or (lambda: None)
        self._lock = _thread.RLock()

    @property
    def reports(self) -> list[Report]:
        with self._lock:
            return [pair.report() for pair in self._found]

    def access(self, place: Place, action: Hashable, what: str, name: str = "", frame: FrameType | None = None) -> Seen:
        """The calling thread does something with a place.

        Args:
            place: With what.
            action: What ``place.conflict`` is asked about.
            what: The same in words.
            name: Which operation.
            frame: The program's innermost frame.
        """
        me, locks = self.order.member(), held_locks()
        key = (action, id(frame.f_code), frame.f_lineno, locks) if frame is not None else (action, 0, 0, locks)
        try:
            seen = place.seen[me.number][key]
        except KeyError:
            seen = Seen(me, place, action, what, frame, locks)
            self._keep(place, key, seen)
        if name and len(seen.names) < _NAMES:
            if not seen.names and seen.what != what:  # scopes were entered for it before
                seen.what, seen.counted = what, 0
            seen.names.append(name)
            if seen.reported:
                self._changed()
        if seen.what == what:
            seen.counted += 1
        self.again((seen,), me, frame)
        return seen

    def again(self, accesses: Iterable[Seen], me: Member, frame: FrameType | None, number: int = 0) -> int:
        """The calling thread, ``me``, does what it did before at ``frame``, under the same locks.

        Two threads that come here at once see each other: each tells its count first; which of them comes second is
        decided in one step, and that one looks for others.

        Returns:
            The number of the places' news after it, if it was ``number`` before and nobody else has come; else 0.
        """
        for seen in accesses:
            place = seen.place
            if seen.count != me.count:
                me.used = seen.count = me.count
                version = next(_versions)
                news, alone = place.news, seen.version == place.touched  # from here on nothing comes between
                number = version if news.number == number else 0
                place.touched = news.number = version
                if not seen.shares:
                    place.changed = news.changes.number = version
                    if alone:
                        seen.version = version  # to here, see order.py
            if seen.version != (place.changed if seen.shares else place.touched):
                self._look_around(seen, me, frame)
        return number

    def _look_around(self, seen: Seen, me: Member, frame: FrameType | None) -> None:
        """Compares an access with those of other threads, and with all that come from here on."""
        place = seen.place
        seen.version = place.changed if seen.shares else place.touched
        if me.waited is not None:
            self._end_wait(me, frame)
        with self._lock:
            others = [seen for number, kept in place.seen.items() if number != me.number for seen in kept.values()]
        for other in others:
            self._compare(place, other, seen)

    def _end_wait(self, me: Member, frame: FrameType | None) -> None:
        """A thread that has left a loop in which it slept may know all that was done until now."""
        loop = me.waited
        for each in program_frames(frame):
            if each.f_code is loop.code and loop.first <= each.f_lineno <= loop.last:
                return  # it is still in it
        me.waited = None
        self.order.perhaps_received_all(str(loop))

    def _keep(self, place: Place, key: _Key, seen: Seen) -> None:
        number = seen.member.number
        with self._lock:
            place.seen.setdefault(number, {})[key] = seen
            line = place.lines.setdefault(key[:3], deque())
            line.append((number, key))
            if len(line) > _KEPT:
                number, key = line.popleft()
                place.seen[number].pop(key).kept = False
                place.news.come()
                if not place.seen[number]:
                    del place.seen[number]

    def _compare(self, place: Place, earlier: Seen, now: Seen) -> None:
        found = place.conflict(earlier.action, now.action)
        if found is None or earlier.locks & now.locks:
            return
        count = earlier.last
        if self.order.is_before(earlier.member, count):
            return
        if place.lazily and now.shares and self.order.was_passed(earlier.member, count, earlier.locks):
            return
        kind, names = found
        kind, note = self._certainty(kind, earlier, now)
        if kind in self._ignored:
            return
        threads = (kind, *sorted(_NUMBERS.sub("", each.member.name) for each in (earlier, now)))
        lines = frozenset((earlier.stack[:1], now.stack[:1]))
        with self._lock:
            pair = place.pairs.get(threads)
            if pair is None:
                pair = place.pairs[threads] = self._add(Pair(kind, place.told, earlier, now, names, note))
            new = lines not in pair.lines
            pair.lines.add(lines)
        if new:
            self._changed()

    def _add(self, pair: Pair) -> Pair:
        with self._lock:
            self._found.append(pair)
            pair.first.reported = pair.second.reported = True
        return pair

    def _certainty(self, kind: Kind, earlier: Seen, now: Seen) -> tuple[Kind, str]:
        """The kind, or that the order is not known, and why."""
        for number in earlier.hidden.keys() & now.hidden.keys():
            return Kind.UNKNOWN, now.hidden[number]
        for seen in (earlier, now):
            if seen.member.came_unseen:
                return Kind.UNKNOWN, f"Thread {seen.member.name!r} was not started by Python's threading."
        if self.order.is_perhaps_before(earlier.member, earlier.last):
            through = now.member.through or "something between them"
            return Kind.UNKNOWN, f"Thread {now.member.name!r} may have waited for the other, by {through}."
        return kind, ""

    def tell(self, kind: Kind, told: str, first: Seen, second: Seen) -> Pair | None:
        """Adds what was found otherwise; None when it is ignored, or told of the same functions already."""
        if kind in self._ignored:
            return None
        lines = first.stack[:1], second.stack[:1]
        functions = _functions(kind, first, second)
        with self._lock:
            known = self._told.get(functions)
            if known is None:
                pair = self._told[functions] = self._add(Pair(kind, told, first, second, lines={lines}))
            elif lines in known.lines:
                return None
            else:
                known.lines.add(lines)
        self._changed()
        return pair if known is None else None

    def take_back(self, pair: Pair) -> None:
        """Removes what turned out to be none."""
        with self._lock:
            self._found.remove(pair)
            del self._told[_functions(pair.kind, pair.first, pair.second)]
        self._changed()


def _functions(kind: Kind, *sides: Seen) -> tuple[Any, ...]:
    """What makes two pairs one: the functions in which they are, by file and name."""
    return kind, *(
        (side.code and side.code.co_filename, side.stack[:1] and side.stack[0].partition(" in ")[2]) for side in sides
    )
