"""What happened before what: vector clocks over what threads tell each other.

::

    synchronisation.py, locks.py ── send(), receive(clock), tell(token), hear(token) ──▶ Order
    races.py ── moment() at each access; is_before(moment) at a later one

Two accesses are ordered when the later thread could not have made its own before the other had: it was started after
it, joined the other thread, or got an item, an event or a result that the other gave away after it. That two threads
held the same lock one after the other orders nothing: the next time they may come the other way round. Which locks were
held is for races.py to judge.

The clocks are those of Mattern ("Virtual Time and Global States of Distributed Systems", 1988); leaving locks out of
the order is hybrid race detection (O'Callahan and Choi, "Hybrid Dynamic Data Race Detection", 2003).
"""

from __future__ import annotations

import _thread
import contextlib
import itertools
import threading
import weakref
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Clock", "Moment", "Order", "hand_over", "hear", "listening", "orders", "take_over", "tell"]

#: The latest moment of each thread that is known to be past: the thread's number -> its count.
Clock = dict[int, int]


@dataclass(frozen=True)
class Moment:
    """When a thread did something.

    Attributes:
        thread: The thread's number, in the order in which threads were met, from 0.
        count: What the thread had counted.
    """

    thread: int
    count: int


class Order:
    """The clocks of all threads that were met since this was made.

    Thread-safety: any thread may call any method; each is about the thread that calls it, and none waits for more than
    another method's end.
    """

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()  # not threading.Lock: that may be one of those that are watched
        self._local = threading.local()
        self._numbers = itertools.count()
        self._threads: dict[int, tuple[str, bool]] = {}
        self._tokens: dict[int, tuple[weakref.ref[Any], Clock]] = {}  # by identity: a token may compare as it likes

    def begin(self, name: str) -> None:
        """Says that the calling thread's start was seen; what the starter told is to be received."""
        self._local.name = name

    def name_of(self, number: int) -> str:
        """The name that a thread had when it was met."""
        return self._threads[number][0]

    def began_unseen(self, number: int) -> bool:
        """Whether a thread came from where nobody watches, so that what was before it is not known."""
        return self._threads[number][1]

    def moment(self) -> Moment:
        """The calling thread's now."""
        number, clock = self._mine()
        return Moment(number, clock[number])

    def is_before(self, moment: Moment) -> bool:
        """Whether a moment of any thread is past, by all that the calling thread was told; its own always is."""
        return self._mine()[1].get(moment.thread, 0) >= moment.count

    def send(self) -> Clock:
        """What the calling thread tells with something that it gives away; what it does later is not in it."""
        number, clock = self._mine()
        told = dict(clock)
        clock[number] += 1
        return told

    def receive(self, told: Clock) -> None:
        """Takes in what came with something that the calling thread got."""
        clock = self._mine()[1]
        for number, count in told.items():
            if count > clock.get(number, 0):
                clock[number] = count

    def sent(self, token: Any) -> None:
        """As :meth:`send`, for all who will get to know something by ``token``: an event, a future, a thread."""
        told = self.send()
        with self._lock:
            known = self._tokens.get(id(token))
            if known is None:
                number = id(token)
                self._tokens[number] = weakref.ref(token, lambda gone: self._tokens.pop(number, None)), told
            else:  # a new clock: another thread may be reading the old one
                before = known[1]
                both = {key: max(told.get(key, 0), before.get(key, 0)) for key in {**told, **before}}
                self._tokens[id(token)] = known[0], both

    def received(self, token: Any) -> None:
        """Takes in what was told by ``token`` so far."""
        known = self._tokens.get(id(token))
        if known is not None:
            self.receive(known[1])

    def _mine(self) -> tuple[int, Clock]:
        mine: tuple[int, Clock] | None = getattr(self._local, "mine", None)
        if mine is None:
            number = next(self._numbers)
            self._threads[number] = self._who()
            mine = self._local.mine = (number, {number: 1})
        return mine

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
