"""The order in which items of work begin: by priority, by arrival, and one at a time of each key.

::

    items without a key ────────────────────────┐
                                                ├─▶ ready, the smallest rank first ─▶ take()
    items of a key ─▶ lane, in order of arrival ┘
                      ready unless one of its items runs

A rank is a priority and a number in order of arrival. A lane has the rank of its most urgent item: that one cannot
begin before those in front of it, so they are as urgent as it is. Adding and removing cost the logarithm of how many
items wait.

Ctrl-C may come between any two steps of a caller's thread. Each change of a line therefore takes effect in one
operation, and they follow each other in an order that leaves something to pass over, never something lost.
"""

from __future__ import annotations

import collections
import heapq
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

__all__ = ["KeyQueue", "KeyedSchedule", "RankedQueue", "ScheduledItem"]

Rank = tuple[float, int]  # priority and number, or deadline and number; no two are equal


class ScheduledItem:
    """The fields of an item that a schedule needs.

    Attributes:
        number: Of the item, in order of arrival.
        rank: Its priority and its number.
        key: Of the items with one key, one runs at a time. None is no key.
        deadline: When its time will be up, on whatever clock. None for never.
        lane: Where those of its key wait; set by the schedule.
    """

    number: int
    rank: Rank
    key: Hashable
    deadline: float | None
    key_queue: KeyQueue[Any] | None = None


_T = TypeVar("_T")
_E = TypeVar("_E", bound=ScheduledItem)


class RankedQueue(Generic[_T]):
    """Things in order of rank; any of them can be taken out."""

    def __init__(self) -> None:
        self.things: dict[Rank, _T] = {}
        self._heap: list[Rank] = []  # the ranks of all things, and of some that are gone

    def add(self, rank: Rank, thing: _T) -> None:
        heapq.heappush(self._heap, rank)
        self.things[rank] = thing

    def remove(self, rank: Rank) -> None:
        """Does nothing if there is nothing of this rank."""
        self.things.pop(rank, None)
        if len(self._heap) > 2 * len(self.things) + 32:
            self._heap = sorted(self.things)

    def first(self) -> Rank | None:
        """The smallest rank."""
        heap = self._heap
        while heap and heap[0] not in self.things:
            heapq.heappop(heap)
        return heap[0] if heap else None


class KeyQueue(RankedQueue[_E]):
    """The items of one key that wait."""

    def __init__(self, key: Hashable) -> None:
        super().__init__()
        # In order of arrival. A plain dict would take longer to find its first, the more were taken before.
        self.things = collections.OrderedDict()
        self.key = key
        self.busy = False  # one of its items runs
        self.rank: Rank | None = None  # under which it is among the ready

    def oldest(self) -> _E | None:
        return next(iter(self.things.values()), None)


class KeyedSchedule(Generic[_E]):
    """The items that wait, and which of them is next.

    Attributes:
        waiting: All of them, by number, in order of arrival. What a line has besides is passed over.

    Attention: this is **not** thread-safe; its methods are called with the lock of the queue held. An add() or remove()
    that was interrupted is put right by a remove() of the same item.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, _E] = {}
        self.deadlines: RankedQueue[_E] = RankedQueue()
        self.ready: RankedQueue[_E | KeyQueue[_E]] = RankedQueue()
        self.key_queues: dict[Hashable, KeyQueue[_E]] = {}

    def add(self, item: _E) -> bool:
        """Adds an item; returns whether one more can begin than before."""
        before = len(self.ready.things)
        if item.key is None:
            self.ready.add(item.rank, item)
        else:
            key_queue: KeyQueue[_E] = self.key_queues.get(item.key) or KeyQueue(item.key)
            item.key_queue = self.key_queues[item.key] = key_queue
            key_queue.add(item.rank, item)
            self._place(key_queue)
        if item.deadline is not None:
            self.deadlines.add((item.deadline, item.number), item)
        self.waiting[item.number] = item
        return len(self.ready.things) > before

    def remove(self, item: _E) -> bool:
        """Takes an item out; returns whether it was there."""
        was_there = self.waiting.pop(item.number, None) is not None
        if item.deadline is not None:
            self.deadlines.remove((item.deadline, item.number))
        if item.key is None:
            self.ready.remove(item.rank)
        elif item.key_queue is not None:
            item.key_queue.remove(item.rank)
            self._place(item.key_queue)
        return was_there

    def take(self) -> _E | None:
        """Takes out the item that is next; None when none can begin. It begins: ended() must follow."""
        while (rank := self.ready.first()) is not None:
            thing = self.ready.things[rank]
            if isinstance(thing, KeyQueue):
                item = thing.oldest()
                if item is None or thing.rank != rank:  # left behind by an interrupt
                    self.ready.remove(rank)
                    self._place(thing)
                    continue
                thing.busy = True
            else:
                item = thing
            if self.remove(item):
                return item
            self.ended(item)
        return None

    def ended(self, item: _E) -> None:
        """An item that was taken has ended: the next of its key can begin."""
        if item.key_queue is not None:
            item.key_queue.busy = False
            self._place(item.key_queue)

    def next_deadline(self) -> float | None:
        """Return the time at which the deadline of a waiting item is up."""
        first = self.deadlines.first()
        return None if first is None else first[0]

    def expired(self, now: float) -> _E | None:
        """An item whose time is up. It stays until it is removed."""
        first = self.deadlines.first()
        return None if first is None or first[0] > now else self.deadlines.things[first]

    def _place(self, key_queue: KeyQueue[_E]) -> None:
        """Puts a lane among the ready, where its most urgent item stands, or takes it out."""
        rank = None if key_queue.busy else key_queue.first()
        old = key_queue.rank
        if rank != old:
            if rank is not None:
                self.ready.add(rank, key_queue)
            key_queue.rank = rank
            if old is not None:
                self.ready.remove(old)
        if not key_queue.busy and not key_queue.things and self.key_queues.get(key_queue.key) is key_queue:
            del self.key_queues[key_queue.key]
