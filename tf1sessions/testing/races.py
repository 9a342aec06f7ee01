"""Finds accesses to graphs and sessions that nothing orders, also when this run's timing was harmless.

::

    watching.py: TensorFlow's graphs and sessions ── access(place, action, what) ──▶ Judge ──▶ Report
    synchronisation.py: locks, events, queues, ...      ── what threads tell each other ──▶ Order ──┘

A *place* is something about which threads may get in each other's way: a graph's structure, a session's being open, its
variables. Two accesses to it by two threads are a report when their actions conflict, neither is known to come before
the other, and no lock was held both times. For each place the last access from each thread, line and set of locks is
kept, and of each line those of the latest threads, so that neither the number of operations nor a server's threads make
it slower. Threads whose names differ in their numbers alone do the same: a pair of such threads is told once.
"""

from __future__ import annotations

import _thread
import dataclasses
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from tf1sessions.testing.frames import program_frames, told
from tf1sessions.testing.locks import held_locks, opaque_locks
from tf1sessions.testing.order import Moment, Order
from tf1sessions.testing.reports import Access, Kind, Report

__all__ = ["Judge", "Place", "Seen"]

#: How many frames of the program a stack shows, and how many names an access keeps. Arbitrary.
_FRAMES = 8
_NAMES = 3
#: Of how many threads the accesses from one line are kept. Arbitrary: more than most pools have.
_THREADS = 32

_NUMBERS = re.compile(r"\d+")
#: Which kind two actions are together, and which names are concerned; None when they do not conflict.
Conflict = Callable[[Any, Any], tuple[Kind, tuple[str, ...]] | None]


@dataclass
class Seen:
    """The accesses of one thread from one line, under the same locks. Changed under the Judge's lock."""

    moment: Moment
    action: Hashable
    what: str
    stack: tuple[str, ...]
    locks: frozenset[int]
    hidden: dict[int, str]  # locks that were held, by whom is not known
    names: list[str] = field(default_factory=list)
    times: int = 0


class Place:
    """What is accessed.

    Args:
        told: How messages name it.
        conflict: See :data:`Conflict`.
    """

    def __init__(self, told: str, conflict: Conflict) -> None:
        self.told = told
        self.conflict = conflict
        self.seen: dict[tuple[Any, ...], Seen] = {}
        self.lines: dict[tuple[Any, ...], deque[tuple[Any, ...]]] = {}  # a key without its thread -> the keys
        self.last: tuple[Any, ...] | None = None
        self.reports: dict[tuple[Any, ...], tuple[int, set[Any]]] = {}  # kind, threads -> index, pairs of lines


class Judge:
    """Compares accesses, and keeps what it finds.

    Args:
        order: What is known of the order.
        ignore: Kinds that are not reported.
        changed: Called when there is something new in ``reports``, by the thread that found it.

    Attributes:
        order: As given.
        reports: What was found so far.

    Thread-safety: any thread may call any method.
    """

    def __init__(self, order: Order, ignore: Iterable[Kind] = (), changed: Callable[[], None] | None = None) -> None:
        self.order = order
        self.reports: list[Report] = []
        self._ignored = frozenset(ignore)
        self._changed = changed or (lambda: None)
        self._lock = _thread.allocate_lock()

    def access(self, place: Place, action: Hashable, what: str, name: str = "", frame: FrameType | None = None) -> Seen:
        """The calling thread does something with a place.

        Args:
            place: With what.
            action: What ``place.conflict`` is asked about.
            what: The same in words.
            name: Which operation.
            frame: The program's innermost frame.
        """
        moment = self.order.moment()
        locks = held_locks()
        key = (moment.thread, action, frame and frame.f_code, frame and frame.f_lineno, locks)
        with self._lock:
            seen = place.seen.get(key)
            if seen is not None:
                seen.moment = moment
                if name and not seen.names:  # scopes were entered for it before
                    seen.what, seen.times = what, 0
                if what == seen.what:
                    seen.times += 1
                if name and len(seen.names) < _NAMES:
                    seen.names.append(name)
                if place.last is key or place.last == key:  # nobody else came in between
                    return seen
                place.last = key
        if seen is None:
            seen = _seen(moment, action, what, frame, locks)
            seen.times = 1
            if name:
                seen.names.append(name)
            with self._lock:
                place.seen[key] = seen  # the thread's number is in the key: nobody else puts it there
                keys = place.lines.setdefault(key[1:], deque())
                keys.append(key)
                if len(keys) > _THREADS:
                    place.seen.pop(keys.popleft())
                place.last = key
        with self._lock:
            others = [other for other in place.seen.values() if other.moment.thread != moment.thread]
        for other in others:
            self._compare(place, other, seen)
        return seen

    def _compare(self, place: Place, earlier: Seen, now: Seen) -> None:
        found = place.conflict(earlier.action, now.action)
        if found is None or self.order.is_before(earlier.moment) or earlier.locks & now.locks:
            return
        kind, names = found
        kind, note = self._certainty(kind, earlier, now)
        if kind in self._ignored:
            return
        pair = (kind, *sorted(_NUMBERS.sub("", self.order.name_of(each.moment.thread)) for each in (earlier, now)))
        lines = frozenset((earlier.stack[:1], now.stack[:1]))
        with self._lock:
            index, known = place.reports.setdefault(pair, (len(self.reports), set()))
            if not known:
                self.reports.append(
                    Report(kind, place.told, self._told(earlier, names), self._told(now, names), note=note)
                )
            elif lines not in known:
                self.reports[index] = dataclasses.replace(self.reports[index], others=len(known))
            new = lines not in known
            known.add(lines)
        if new:
            self._changed()

    def _certainty(self, kind: Kind, earlier: Seen, now: Seen) -> tuple[Kind, str]:
        """The kind, or that the order is not known, and why."""
        for number in earlier.hidden.keys() & now.hidden.keys():
            return Kind.UNKNOWN, (
                f"The lock {now.hidden[number]} was made before anybody watched. It was held both times; by whom is "
                "not known."
            )
        for seen in (earlier, now):
            if self.order.began_unseen(seen.moment.thread):
                name = self.order.name_of(seen.moment.thread)
                return Kind.UNKNOWN, f"Thread {name!r} was not started by Python's threading."
        return kind, ""

    def _told(self, seen: Seen, names: tuple[str, ...] = ()) -> Access:
        name = self.order.name_of(seen.moment.thread)
        return Access(name, seen.what, seen.stack, names or tuple(seen.names), seen.times)

    def tell(self, kind: Kind, told: str, first: Seen, second: Seen, note: str = "") -> None:
        """Adds what was found otherwise."""
        if kind not in self._ignored:
            report = Report(kind, told, self._told(first), self._told(second), note=note)
            with self._lock:
                self.reports.append(report)
            self._changed()


def _seen(moment: Moment, action: Hashable, what: str, frame: FrameType | None, locks: frozenset[int]) -> Seen:
    frames = list(program_frames(frame))
    hidden = opaque_locks(frames)
    stack = tuple(map(told, frames[:_FRAMES]))
    locks |= {-lock.number for lock in hidden if lock.mine}
    return Seen(moment, action, what, stack, locks, {lock.number: lock.name for lock in hidden if lock.mine is None})
