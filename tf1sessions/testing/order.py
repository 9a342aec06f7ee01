"""What happened before what: vector clocks over what threads tell each other.

::

    synchronisation.py, locks.py ── send(), receive(message), tell(token), hear(token) ──▶ Order
    unseen.py ── the same by perhaps_...(): what may be an order, and may be none
    races.py ── member() and its count at each access; is_before(member, count) at a later one

Two accesses are ordered when the later thread could not have made its own before the other had: it was started after
it, joined the other thread, or got an item, an event or a result that the other gave away after it. That two threads
held the same lock one after the other orders nothing: the next time they may come the other way round. Which locks were
held is for races.py to judge.

A thread's count rises when it tells something after an access, so that each access has a count of its own as far as
anybody can tell. What is only perhaps an order is kept beside: each thread's second clock is its first one and that.

The clocks are those of Mattern ("Virtual Time and Global States of Distributed Systems", 1988); leaving locks out of
the order is hybrid race detection (O'Callahan and Choi, "Hybrid Dynamic Data Race Detection", 2003).
"""

from __future__ import annotations

import _thread
import contextlib
import itertools
import os
import threading
import weakref
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

__all__ = [
    "Member",
    "Message",
    "Order",
    "entered",
    "hand_over",
    "hear",
    "left",
    "listening",
    "orders",
    "perhaps_hear",
    "perhaps_tell",
    "take_over",
    "tell",
]

#: The latest accesses of each thread that are known to be past: the thread's number -> its count.
Clock = Mapping[int, int]
#: What a thread tells: what is past for certain, and what is perhaps; the same object when there is no difference.
Message = tuple[Clock, Clock]

#: From how many entries on a clock is looked through for threads that are gone. Arbitrary.
_MANY = 64


class Member:
    """A thread, as an order knows it. It lives as long as the thread, or as an access of it is kept.

    Attributes:
        number: Its number, in the order in which threads were met, from 0.
        name: The name that it had when it was met.
        came_unseen: Whether it came from where nobody watches, so that what was before it is not known.
        started: The stack of the program where it was started.
        passed: By whom locks had been given back when the thread got them: the lock's number -> who, and when.
        count: What its next access counts as.
        used: The count of its last access.
        waited: The loop in which the thread slept last, until an access outside of it shows that its wait is over.
        through: By what the thread may have got to know the last thing that is only perhaps past.
    """

    __slots__ = (
        "__weakref__",
        "came_unseen",
        "clock",
        "count",
        "many",
        "name",
        "number",
        "passed",
        "perhaps",
        "started",
        "through",
        "told",
        "used",
        "waited",
    )

    def __init__(self, number: int, name: str, came_unseen: bool, started: tuple[str, ...]) -> None:
        self.number = number
        self.name = name
        self.came_unseen = came_unseen
        self.started = started
        self.passed: dict[int, Clock] = {}
        self.count = 1
        self.used = 0
        self.through = ""
        self.waited: Any = None
        self.clock: dict[int, int] = {}
        self.perhaps: dict[int, int] | None = None  # None: as clock
        self.told: Message | None = None  # what was told last, unless there is more by now
        self.many = _MANY

    def finish(self) -> None:
        """Its accesses so far can be told, later ones will count more. With the order's lock held."""
        if self.used == self.count:
            self.clock[self.number] = self.count
            if self.perhaps is not None:
                self.perhaps[self.number] = self.count
            self.count += 1
            self.told = None


class Order:
    """The clocks of all threads that were met since this was made.

    Thread-safety: any thread may call any method; each is about the thread that calls it, and none waits for more than
    another method's end.
    """

    def __init__(self) -> None:
        # Not threading's: that may be watched. Re-entrant: an object that is collected meanwhile may close a session.
        self._lock = _thread.RLock()
        self._local = threading.local()
        self._numbers = itertools.count()
        self._members: weakref.WeakValueDictionary[int, Member] = weakref.WeakValueDictionary()
        # By identity, as a token may compare as it likes; whether perhaps only -> token -> what was told by it.
        self._passed: weakref.WeakKeyDictionary[Any, Clock] = weakref.WeakKeyDictionary()  # by whom, of each lock
        self._tokens: dict[bool, dict[int, tuple[weakref.ref[Any], Message]]] = {False: {}, True: {}}

    def begin(self, name: str, started: tuple[str, ...] = ()) -> None:
        """Says that the calling thread's start was seen, and where; what the starter told is to be received."""
        self._local.name, self._local.started = name, started

    def member(self) -> Member:
        """The calling thread."""
        try:
            return self._local.member  # type: ignore[no-any-return]
        except AttributeError:
            with self._lock:
                number = next(self._numbers)
                started = getattr(self._local, "started", ())
                member = self._members[number] = Member(number, *self._who(), started)
            self._local.member = member
            return member

    def is_before(self, member: Member, count: int) -> bool:
        """Whether an access is past, by all that the calling thread was told; its own always are."""
        me = self.member()
        return member is me or me.clock.get(member.number, 0) >= count

    def is_perhaps_before(self, member: Member, count: int) -> bool:
        """Whether it is, if what may be an order is one."""
        me = self.member()
        return me.perhaps is not None and me.perhaps.get(member.number, 0) >= count

    def send(self) -> Message:
        """What the calling thread tells with something that it gives away; what it does later is not in it."""
        me = self.member()
        told = me.told
        if told is not None and me.used != me.count:
            return told
        with self._lock:
            me.finish()
            if len(me.clock) > me.many:
                self._forget(me)
            sure = me.clock.copy()
            me.told = told = sure, sure if me.perhaps is None else me.perhaps.copy()
            return told

    def _forget(self, me: Member) -> None:
        """Leaves out threads that are gone and of which no access is kept."""
        for clock in (me.clock, me.perhaps or {}):
            for number in [number for number in clock if number not in self._members]:
                del clock[number]
        me.many = max(_MANY, 2 * len(me.clock))

    def receive(self, message: Message, perhaps: str = "") -> None:
        """Takes in what came with something that the calling thread got.

        Args:
            perhaps: By what it may have come, when that is not certain.
        """
        me = self.member()
        if message is me.told:
            return
        sure, unsure = message
        with self._lock:
            if perhaps or unsure is not sure:
                if me.perhaps is None:
                    me.perhaps = dict(me.clock)
                if perhaps:
                    me.through = perhaps
            if me.perhaps is not None and _take_in(me.perhaps, unsure):
                me.told = None
            if not perhaps and _take_in(me.clock, sure):
                me.told = None

    def sent(self, token: Any, perhaps: bool = False) -> None:
        """As :meth:`send`, for all who will get to know something by ``token``: an event, a future, a thread."""
        self._tell(token, self.send(), perhaps)

    def _tell(self, token: Any, told: Message, perhaps: bool = False) -> None:
        tokens, number = self._tokens[perhaps], id(token)
        with self._lock:
            known = tokens.get(number)
            if known is None:
                tokens[number] = weakref.ref(token, lambda gone: tokens.pop(number, None)), told
            elif known[1] is not told:  # new clocks: another thread may be reading the old ones
                both = [{**before, **_later(now, before)} for now, before in zip(told, known[1], strict=True)]
                if len(both[0]) > _MANY:
                    both = [{key: count for key, count in each.items() if key in self._members} for each in both]
                same = told[0] is told[1] and known[1][0] is known[1][1]
                tokens[number] = known[0], (both[0], both[0] if same else both[1])

    def collect(self, token: Any, collector: Any) -> None:
        """What was told by one token is told by another as well; the calling thread takes in nothing."""
        known = self._tokens[False].get(id(token))
        if known is not None:
            self._tell(collector, known[1])

    def received(self, token: Any, perhaps: str = "") -> None:
        """Takes in what was told by ``token`` so far."""
        known = self._tokens[bool(perhaps)].get(id(token))
        if known is not None:
            self.receive(known[1], perhaps)

    def perhaps_received_all(self, through: str) -> None:
        """The calling thread may have got to know of all that any thread has done so far."""
        self.member()
        with self._lock:
            members = list(self._members.values())
            for member in members:
                member.finish()
            past = {member.number: member.count - 1 for member in members}
        self.receive((past, past), through)

    def left(self, lock: Any) -> None:
        """The calling thread gives back a lock. That orders nothing; but see :meth:`was_passed`."""
        me = self.member()
        if me.used == me.count:
            with self._lock:
                me.finish()
                self._passed[lock] = {**self._passed.get(lock, {}), me.number: me.count - 1}

    def entered(self, lock: Any) -> None:
        """The calling thread has got a lock."""
        passed = self._passed.get(lock)
        if passed is not None:
            self.member().passed[lock.number] = passed

    def was_passed(self, member: Member, count: int, locks: Iterable[int]) -> bool:
        """Whether the calling thread has held one of these locks after a thread had given it back after an access."""
        passed = self.member().passed
        return any(passed[lock].get(member.number, 0) >= count for lock in locks if lock in passed)

    def _who(self) -> tuple[str, bool]:
        """The calling thread's name, and whether it came from where nobody watches. Makes no thread known to Python."""
        name: str | None = getattr(self._local, "name", None)
        if name is not None:
            return name, False
        ident = _thread.get_ident()
        thread = threading._active.get(ident)  # type: ignore[attr-defined]
        if thread is None or isinstance(thread, threading._DummyThread):
            return f"Dummy-{ident}" if thread is None else thread.name, True
        return thread.name, False


def _later(clock: Clock, than: Clock) -> dict[int, int]:
    """The entries in which one clock is ahead of another."""
    return {number: count for number, count in clock.items() if count > than.get(number, 0)}


def _take_in(clock: dict[int, int], other: Clock) -> bool:
    later = _later(other, clock)
    clock.update(later)
    return bool(later)


_orders: tuple[Order, ...] = ()
_guard = _thread.allocate_lock()


@contextlib.contextmanager
def listening(order: Order) -> Iterator[None]:
    """While this lasts, ``order`` is told what is said by :func:`tell` and :func:`hear`, in all threads."""
    global _orders
    with _guard:
        _orders = (*_orders, order)
    try:
        yield
    finally:
        with _guard:
            _orders = tuple(each for each in _orders if each is not order)


def _in_child() -> None:
    """After a fork nobody listens: locks of orders may be held by threads that are not there."""
    global _orders
    _orders = ()
    _guard._at_fork_reinit()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def orders() -> tuple[Order, ...]:
    """All that listen now."""
    return _orders


def tell(token: Any) -> None:
    """The calling thread tells what it knows to all who will hear of ``token``."""
    for order in _orders:
        order.sent(token)


def hear(token: Any) -> None:
    """The calling thread gets to know what was told by ``token``."""
    for order in _orders:
        order.received(token)


def left(lock: Any) -> None:
    """The calling thread is about to give back a lock."""
    for order in _orders:
        order.left(lock)


def entered(lock: Any) -> None:
    """The calling thread has got a lock."""
    for order in _orders:
        order.entered(lock)


def perhaps_tell(token: Any) -> None:
    """As :func:`tell`, by a means of which nobody sees whether it is heard."""
    for order in _orders:
        order.sent(token, perhaps=True)


def perhaps_hear(token: Any, through: str) -> None:
    """As :func:`hear`; ``through`` says by what."""
    for order in _orders:
        order.received(token, through)


class _Token:
    """Stands for a name that :func:`hand_over` was given."""


_named: dict[Hashable, _Token] = {}


def hand_over(name: Hashable) -> None:
    """Tells the race detector of an order that it cannot see: what the calling thread did so far comes before what
    threads do after their :func:`take_over` of the same name.

    Args:
        name: Equal for both; kept for good.

    Thread-safety: may be called from any thread; does nothing while nobody detects races.

    Example:
        >>> from tf1sessions import testing
        >>> testing.hand_over("the graph is built")
        >>> testing.take_over("the graph is built")  # in another thread, when it knows
    """
    tell(_named.setdefault(name, _Token()))


def take_over(name: Hashable) -> None:
    """See :func:`hand_over`. To be called when the order is certain: after the wait, not before."""
    hear(_named.setdefault(name, _Token()))
