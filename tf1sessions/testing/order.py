"""What happened before what: vector clocks over what threads tell each other.

::

    synchronisation.py, locks.py ── enclose(), unwrap(bundle), tell(token), hear(token) ──▶ Order
    unseen.py ── the same by perhaps_...(): what may be an order, and may be none
    races.py ── member() and its count at each access; is_before(member, count) at a later one

Two accesses are ordered when the later thread could not have made its own before the other had: it was started after
it, joined the other thread, or got an item, an event or a result that the other gave away after it. That two threads
held the same lock one after the other orders nothing: the next time they may come the other way round. Which locks were
held is for races.py to judge.

A thread's count rises with each message that says something new, so each access has a count of its own as far as
anybody can tell, and a message is known by its thread and count: who has heard of a later one of that thread has heard
all that this one says, and need not look into it. What is only perhaps an order is kept beside: each thread's second
clock is its first one and that.

A clock is never changed: a thread that gets to know something has a new one. So a message is made of the clock itself,
and sending and receiving lock nothing; they may be done under any lock, also one for which finalizers wait. What a
thread knows and counts is its own, but others may raise its count (:meth:`Order.perhaps_received_all`). They do so in
one statement without a call, and within such the interpreter, which has a lock of its own, lets no other thread go on:
what they write is one more than what it was until then. The thread itself may write the same number; it goes on from
there. Code that interrupts a thread, a finalizer or a signal's handler, may send and receive in the middle of what that
thread sends or receives, though not between statements without calls: what was made is put in place only where what it
was made from is there still.

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
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

__all__ = [
    "TOLD",
    "Clock",
    "Member",
    "Message",
    "Order",
    "enclose",
    "entered",
    "hand_over",
    "hear",
    "left",
    "listening",
    "orders",
    "perhaps_hear",
    "perhaps_tell",
    "sent",
    "take_over",
    "tell",
    "unwrap",
]

#: The latest accesses of other threads that are known to be past: the thread's number -> its count.
Clock = Mapping[int, int]
#: What a thread tells: the order's number, its own, the count up to which its accesses are past, and what it knew of
#: others, for certain and perhaps; None when there is no difference.
Message = tuple[int, int, int, Clock, "Clock | None"]
#: The attribute in which a token has what was told by it, a *bundle*: a message, or a list, that is never changed, of
#: those of several threads or orders. Classes may have None there. What is left of it when nobody listens any more is a
#: few numbers, which mean nothing to others.
TOLD = "_tf1sessions_told"
#: From how many entries on a clock is looked through for threads that are gone. Arbitrary.
_MANY = 16

_keys = itertools.count()
# Not threading's: that may be watched. Re-entrant, as a finalizer or a signal's handler may come meanwhile.
_placing = _thread.RLock()  # for what tokens have
#: What was told by objects that can have no attributes: id -> the object and that.
_aside: dict[int, tuple[weakref.ref[Any], Any]] = {}


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
        clock, perhaps: What it knows of others; None as the second where that is the same.
        told: What it told last, unless it has got to know something since.
        taken: The clock that it has taken in last.
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
        "taken",
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
        self.perhaps: dict[int, int] | None = None
        self.told: Message | None = None
        self.taken: Clock | None = None
        self.many = _MANY


class Order:
    """The clocks of all threads that were met since this was made.

    Attributes:
        key: A number that no other order has.

    Thread-safety: any thread may call any method; each is about the thread that calls it, and none waits for more than
    another method's end.
    """

    def __init__(self) -> None:
        self.key = next(_keys)
        self._local = threading.local()
        self._numbers = itertools.count()
        self._members: weakref.WeakValueDictionary[int, Member] = weakref.WeakValueDictionary()
        # Re-entrant: an object that is collected meanwhile may close a session.
        self._lock = _thread.RLock()
        # By identity, as a token may compare as it likes: -> it, what was told by it if only once, and all of that.
        self._perhaps: dict[int, tuple[weakref.ref[Any], Message | None, Clock]] = {}

    def begin(self, name: str, started: tuple[str, ...] = ()) -> None:
        """Says that the calling thread's start was seen, and where; what the starter told is to be received."""
        self._local.name, self._local.started = name, started

    def member(self) -> Member:
        """The calling thread."""
        try:
            return self._local.member  # type: ignore[no-any-return]
        except AttributeError:
            number = next(self._numbers)
            started = getattr(self._local, "started", ())
            member = self._members[number] = Member(number, *self._who(), started)
            met: Member = vars(self._local).setdefault("member", member)  # a finalizer may have come here meanwhile
            return met

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
        try:
            me: Member = self._local.member
        except AttributeError:
            me = self.member()
        told = me.told
        if told is not None and told[2] >= me.used:
            return told
        if len(me.clock) > me.many:
            self._forget(me)
        count = me.count  # nothing comes between these, see the module: what has a later count says more
        me.count = count + 1
        clock, perhaps = me.clock, me.perhaps
        told = self.key, me.number, count, clock, perhaps
        if me.clock is clock and me.perhaps is perhaps:
            me.told = told
        return told

    def _forget(self, me: Member) -> None:
        """Leaves out threads that are gone and of which no access is kept."""
        clock, perhaps = me.clock, me.perhaps
        living, second = self._living(clock), None if perhaps is None else self._living(perhaps)
        if me.clock is clock and me.perhaps is perhaps:
            me.clock, me.perhaps = living, second
            me.many = max(_MANY, 2 * len(living))

    def _living(self, clock: Clock) -> dict[int, int]:
        return {number: count for number, count in clock.items() if number in self._members}

    def receive(self, bundle: Any) -> None:
        """Takes in what came with something that the calling thread got; what is another order's is left out."""
        if type(bundle) is not tuple:
            for message in bundle:
                self.receive(message)
            return
        key, number, count, sure, unsure = bundle
        if key != self.key:
            return
        try:
            me: Member = self._local.member
        except AttributeError:
            me = self.member()
        own = me.number
        while True:
            before, perhaps = me.clock, me.perhaps
            if number == own or before.get(number, 0) >= count:
                return
            clock = {**before, number: count}
            if sure is not me.taken:
                for other, its in sure.items():
                    if other != own and its > clock.get(other, 0):
                        clock[other] = its
            second = perhaps
            if perhaps is not None or unsure is not None:
                second = dict(before if perhaps is None else perhaps)
                _take_in(second, {number: count})
                _take_in(second, sure if unsure is None else unsure)
            if me.clock is before and me.perhaps is perhaps:
                me.clock = clock
                me.perhaps = second
                me.told = None
                me.taken = sure
                return

    def sent(self, token: Any) -> None:
        """As :meth:`send`, for all who will get to know something by ``token``: an event, a future, a thread.

        It does in place what send() does: after a run all this is out of the processor's caches, and a call of a
        function costs half a microsecond.
        """
        try:
            me: Member = self._local.member
        except AttributeError:
            me = self.member()
        message = me.told
        if message is None or message[2] < me.used:
            if len(me.clock) > me.many:
                self._forget(me)
            count = me.count  # nothing comes between these, as in send()
            me.count = count + 1
            clock, perhaps = me.clock, me.perhaps
            message = self.key, me.number, count, clock, perhaps
            if me.clock is clock and me.perhaps is perhaps:
                me.told = message
        try:
            known = token._tf1sessions_told
        except AttributeError:
            known = None
        if known is message:
            return
        if type(known) is tuple and known[0] == message[0]:  # what is usual; all the rest is in _tell()
            number = known[1]
            if known[2] < message[2] if number == message[1] else message[3].get(number, 0) >= known[2]:
                with _placing:
                    if token._tf1sessions_told is known:
                        _set(token, TOLD, message)
                        return
        self._tell(token, message)

    def _tell(self, token: Any, message: Message) -> None:
        while True:
            known = _told_by(token)
            new = message if known is None else self._joined(known, message)
            if new is known or _put(token, known, new):
                return

    def _joined(self, known: Any, message: Message) -> Any:
        """A bundle of what a token has and a message, without what others of them say as well."""
        key, number, count, clock, _ = message
        kept: list[Message] = []
        for each in (known,) if type(known) is tuple else known:
            if each[0] != key:
                if any(each[0] == order.key for order in _orders):
                    kept.append(each)
            elif each[2] >= count if each[1] == number else each[3].get(number, 0) >= count:
                return known
            elif each[1] != number and clock.get(each[1], 0) < each[2]:
                kept.append(each)
        if not kept:
            return message
        kept.append(message)
        return kept if len(kept) <= _MANY else self._merged(kept)

    def _merged(self, messages: list[Message]) -> Any:
        """The same with one message for this order, as of a thread that has received all of them and is gone."""
        sure: dict[int, int] = {}
        unsure: dict[int, int] = {}
        for key, number, count, clock, perhaps in messages:
            if key == self.key:
                for all_, its in ((sure, clock), (unsure, clock if perhaps is None else perhaps)):
                    _take_in(all_, {number: count})
                    _take_in(all_, its)
        both = self._living(sure), self._living(unsure)
        return [
            *(each for each in messages if each[0] != self.key),
            (self.key, next(self._numbers), 1, both[0], None if both[0] == both[1] else both[1]),
        ]

    def collect(self, token: Any, collector: Any) -> None:
        """What was told by one token is told by another as well; the calling thread takes in nothing."""
        known = _told_by(token)
        for message in () if known is None else (known,) if type(known) is tuple else known:
            if message[0] == self.key:
                self._tell(collector, message)

    def perhaps_sent(self, token: Any) -> None:
        """As :meth:`sent`, by a means of which nobody sees whether it is heard."""
        message, number = self.send(), id(token)
        _, own, count, sure, unsure = message
        clock = {**(sure if unsure is None else unsure), own: count}
        with self._lock:
            known = self._perhaps.get(number)
            if known is None:
                self._perhaps[number] = weakref.ref(token, lambda gone: self._perhaps.pop(number, None)), message, clock
            elif known[1] is not message:  # a new clock: another thread may be reading the old one
                both = dict(known[2])
                _take_in(both, clock)
                self._perhaps[number] = known[0], None, both if len(both) <= _MANY else self._living(both)

    def perhaps_received(self, token: Any, through: str) -> None:
        """The calling thread may have got to know what was told by ``token`` so far; ``through`` says by what."""
        known = self._perhaps.get(id(token))
        if known is not None and (known[1] is None or known[1] is not self.member().told):
            self._take_in_perhaps(known[2], through)

    def _take_in_perhaps(self, past: Clock, through: str) -> None:
        me = self.member()
        me.through = through
        while True:
            clock, before = me.clock, me.perhaps
            perhaps = dict(clock if before is None else before)
            news = _take_in(perhaps, past)
            if me.clock is clock and me.perhaps is before:
                if news or before is None:
                    me.perhaps, me.told = perhaps, None
                return

    def perhaps_received_all(self, through: str) -> None:
        """The calling thread may have got to know of all that any thread has done so far.

        What others do later must count more. Only here a count is raised by another thread than its own.
        """
        self.member()
        past: dict[int, int] = {}
        for reference in self._members.valuerefs():
            member = reference()
            if member is not None:
                member.count += member.used == member.count  # in one step, see the module
                past[member.number] = member.count - 1
        self._take_in_perhaps(past, through)

    def left(self, lock: Any) -> None:
        """The calling thread gives back a lock. That orders nothing; but see :meth:`was_passed`."""
        me = self.member()
        if me.used == me.count:
            count = me.count
            me.count = count + 1
            # Only who holds the lock comes here. Orders that have ended are left out.
            passed = {order.key: lock.passed[order.key] for order in _orders if order.key in lock.passed}
            mine = {**passed.get(self.key, {}), me.number: count}
            lock.passed = {**passed, self.key: mine if len(mine) <= _MANY else self._living(mine)}

    def entered(self, lock: Any) -> None:
        """The calling thread has got a lock."""
        passed = lock.passed.get(self.key)
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


def _take_in(clock: dict[int, int], other: Clock) -> bool:
    """Whether there was something new in the other one."""
    later = {number: count for number, count in other.items() if count > clock.get(number, 0)}
    clock.update(later)
    return bool(later)


# -- what tokens have -------------------------------------------------------------------------------------------------


def _told_by(token: Any) -> Any:
    """The bundle that a token has; None if nothing was told by it."""
    told = getattr(token, TOLD, None)
    if told is None and _aside:
        known = _aside.get(id(token))
        return None if known is None else known[1]
    return told


def _put(token: Any, known: Any, new: Any) -> bool:
    """Lets a token have another bundle, if it has still the one that is known."""
    if type(token).__dictoffset__:
        with _placing:
            if getattr(token, TOLD, None) is known:
                _set(token, TOLD, new)
                return True
            return False
    number = id(token)  # it has no attributes but its own, as asyncio's handles
    if known is None:
        kept = weakref.ref(token, lambda gone: _aside.pop(number, None)), new
        return _aside.setdefault(number, kept) is kept
    with _placing:
        reference, now = _aside[number]
        if now is known:
            _aside[number] = reference, new
        return now is known


_set = object.__setattr__  # a token's class may have its own ideas of what may be set


# -- who listens ------------------------------------------------------------------------------------------------------

_orders: tuple[Order, ...] = ()
_guard = _thread.allocate_lock()

#: What all who listen are told with something that the calling thread gives away; None while nobody listens.
enclose: Callable[[], Any] | None = None
#: The calling thread has got what such a bundle came with.
unwrap: Callable[[Any], None] | None = None
#: As :func:`tell`.
sent: Callable[[Any], None] | None = None


def _listen(orders: tuple[Order, ...]) -> None:
    """With the guard held. While one listens, which is usual, it is called itself."""
    global _orders, enclose, unwrap, sent
    _orders = orders
    if len(orders) == 1:
        enclose, unwrap, sent = orders[0].send, orders[0].receive, orders[0].sent
    else:
        enclose, unwrap, sent = (_enclose_for_all, _unwrap_for_all, tell) if orders else (None, None, None)


@contextlib.contextmanager
def listening(order: Order) -> Iterator[None]:
    """While this lasts, ``order`` is told what is said by :func:`tell` and :func:`hear`, in all threads."""
    with _guard:
        _listen((*_orders, order))
    try:
        yield
    finally:
        with _guard:
            _listen(tuple(each for each in _orders if each is not order))


def _in_child() -> None:
    """After a fork nobody listens: locks of orders may be held by threads that are not there."""
    _listen(())
    for lock in (_guard, _placing):
        lock._at_fork_reinit()  # type: ignore[union-attr]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def orders() -> tuple[Order, ...]:
    """All that listen now."""
    return _orders


def _enclose_for_all() -> Any:
    return [order.send() for order in _orders]


def _unwrap_for_all(bundle: Any) -> None:
    for order in _orders:
        order.receive(bundle)


def tell(token: Any) -> None:
    """The calling thread tells what it knows to all who will hear of ``token``."""
    for order in _orders:
        order.sent(token)


def hear(token: Any) -> None:
    """The calling thread gets to know what was told by ``token``."""
    if _orders:
        bundle = getattr(token, TOLD, None)
        if bundle is None:
            bundle = _told_by(token)
        if bundle is not None:
            for order in _orders:
                order.receive(bundle)


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
        order.perhaps_sent(token)


def perhaps_hear(token: Any, through: str) -> None:
    """As :func:`hear`; ``through`` says by what."""
    for order in _orders:
        order.perhaps_received(token, through)


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
