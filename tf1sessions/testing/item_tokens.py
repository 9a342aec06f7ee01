"""Happens-before through queues: a put releases a token with its item, the get of that item acquires it.

A queue of a certain size orders the other way, too: the get that makes room is before the put that takes the place.

Data flow::

    put(item) ──▶ release(token) ──▶ ItemTokens of the queue, by the item's identity ──▶ get() ──▶ acquire(token)

A queue into which nothing was put while a detector was on is left alone. Tokens of the queues of the standard library
are moved under the queue's mutex together with the items. What a subclass does with its items is not known; there they
are noted around put() and get().
"""

from __future__ import annotations

import collections
import contextlib
import queue
from collections.abc import Collection, Iterator
from typing import Any

from tf1sessions.testing.deadlocks import SLICE_SECS, check
from tf1sessions.testing.patching import Patch
from tf1sessions.testing.vector_clocks import Token, acquire, active, release
from tf1sessions.testing.waits import untimed

__all__ = ["ItemTokens", "WatchedSimpleQueue", "patches"]

_ATTRIBUTE = "_tf1sessions_tokens"


class ItemTokens:
    """Tokens of a queue's items: the item's identity -> one for each time it was put in, oldest first.

    None stands for an item that came while no detector was on. Guarded by the queue's mutex.
    """

    def __init__(self, items: Collection[Any]) -> None:
        self._tokens: dict[int, collections.deque[Token | None]] = {}
        self._count = 0
        #: Of the gets that made room, the oldest first; as many puts as the queue has places needed none.
        self._room: collections.deque[Token] = collections.deque()
        self._puts = len(items)
        self.match(items)

    def match(self, items: Collection[Any]) -> None:
        """Have a token or None for each of these items, where items came or went otherwise than by put() and get().

        Of equal items the latest are left.
        """
        if self._count == len(items):
            return
        before, self._tokens, self._count = self._tokens, {}, len(items)
        for number, count in collections.Counter(map(id, items)).items():
            tokens = collections.deque[Token | None]([None] * count, maxlen=count)
            tokens.extend(before.get(number, ()))
            self._tokens[number] = collections.deque(tokens)

    def add(self, item: Any) -> Token | None:
        """Release a token with an item, if a detector is on."""
        token = Token() if active() else None
        if token is not None:
            release(token)
        self._tokens.setdefault(id(item), collections.deque()).append(token)
        self._count += 1
        return token

    def take(self, item: Any) -> Token | None:
        """Return the token of an item that was got."""
        waiting = self._tokens.get(id(item))
        return None if not waiting else self._remove(item, waiting[0])

    def _remove(self, item: Any, token: Token | None) -> Token | None:
        waiting = self._tokens[id(item)]
        waiting.remove(token)
        self._count -= 1
        if not waiting:
            del self._tokens[id(item)]
        return token

    def follow(self, before: Collection[Any], after: Collection[Any]) -> None:
        """Acquire the tokens of items that the calling thread has taken out, and release some with those it put in."""
        self.match(before)
        gone, come = (collections.Counter(map(id, each)) for each in (before, after))
        gone, come = gone - come, come - gone
        for item in before:
            if gone[id(item)] > 0:
                gone[id(item)] -= 1
                if (token := self.take(item)) is not None:
                    acquire(token)
        for item in after:
            if come[id(item)] > 0:
                come[id(item)] -= 1
                self.add(item)

    def make_room(self) -> None:
        """Release a token by a get."""
        token = Token()
        release(token)
        self._room.append(token)

    def use_room(self, places: int) -> None:
        """Acquire by a put the token of the get that made room for it, in a queue of so many places."""
        self._puts += 1
        if self._puts > places and self._room:
            acquire(self._room.popleft())

    def undo(self, item: Any, token: Token | None) -> None:
        """Forget an item that could not be put in."""
        if token in self._tokens.get(id(item), ()):
            self._remove(item, token)

    def clear(self) -> None:
        """Forget all tokens: items that are thrown away order nothing."""
        self._tokens.clear()
        self._count = 0


def _tokens_of(line: Any) -> ItemTokens | None:
    """Return the tokens of a queue; None if nothing was put into it while a detector was on."""
    found: ItemTokens | None = vars(line).get(_ATTRIBUTE)
    if found is None and active():
        items = getattr(line, "queue", ())
        found = vars(line).setdefault(_ATTRIBUTE, ItemTokens(items if isinstance(items, Collection) else ()))
    return found


def patches() -> Iterator[Patch]:
    """Yield the hooks of the queues of ``queue``."""
    yield from _put_and_get()
    for kind in (queue.Queue, queue.LifoQueue, queue.PriorityQueue):
        yield from _put_in_and_take_out(kind)
    if hasattr(queue.Queue, "shutdown"):  # from Python 3.13 on
        shutdown = queue.Queue.shutdown

        def new_shutdown(self: Any, immediate: bool = False) -> None:
            tokens = vars(self).get(_ATTRIBUTE)
            if immediate and tokens is not None:
                with self.mutex:
                    tokens.clear()
            shutdown(self, immediate)

        yield queue.Queue, "shutdown", new_shutdown
    yield queue, "SimpleQueue", WatchedSimpleQueue


_PLAIN = (queue.Queue, queue.LifoQueue, queue.PriorityQueue)


def _put_in_and_take_out(kind: Any) -> Iterator[Patch]:
    """Hook the methods that put an item in and take one out, with the mutex held."""
    put_in, take_out = kind._put, kind._get

    def new_put_in(self: Any, item: Any) -> None:
        tokens = _tokens_of(self)
        put_in(self, item)
        if tokens is not None and not _is_own(type(self)):
            tokens.add(item)
            tokens.match(self.queue)
            if self.maxsize > 0:
                tokens.use_room(self.maxsize)

    def new_take_out(self: Any) -> Any:
        tokens = vars(self).get(_ATTRIBUTE)
        if tokens is None or _is_own(type(self)):
            return take_out(self)
        tokens.match(self.queue)
        item = take_out(self)
        token = tokens.take(item)
        if token is not None:
            acquire(token)
        if self.maxsize > 0:
            tokens.make_room()
        return item

    yield kind, "_put", new_put_in
    yield kind, "_get", new_take_out


def _is_own(kind: type) -> bool:
    """Say whether a class puts items in, or takes them out, by methods of its own."""
    if kind in _PLAIN:
        return False
    base = next(each for each in kind.__mro__ if each in _PLAIN)
    return any(getattr(kind, name) is not getattr(base, name) for name in ("_put", "_get"))


def _put_and_get() -> Iterator[Patch]:
    """Hook put() and get(), for classes that move items by methods of their own."""
    put, get = queue.Queue.put, queue.Queue.get

    def new_put(self: Any, item: Any, block: bool = True, timeout: float | None = None) -> None:
        tokens = _tokens_of(self) if _is_own(type(self)) else None
        if tokens is None:
            return put(self, item, block, timeout)
        with self.mutex:
            token = tokens.add(item)
        try:
            return put(self, item, block, timeout)
        except BaseException:
            with self.mutex:
                tokens.undo(item, token)
            raise

    def new_get(self: Any, block: bool = True, timeout: float | None = None) -> Any:
        item = get(self, block, timeout)
        tokens = vars(self).get(_ATTRIBUTE)
        if tokens is not None and _is_own(type(self)):
            with self.mutex:
                token = tokens.take(item)
            if token is not None:
                acquire(token)
        return item

    yield queue.Queue, "put", new_put
    yield queue.Queue, "get", new_get


class WatchedSimpleQueue(queue.SimpleQueue):  # type: ignore[type-arg]
    """The queue that programs get while this is watched: the one of C cannot be changed. It has items with tokens."""

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        if not active():
            return _put_simply(self, item)
        token = Token()
        release(token)
        return _put_simply(self, _TokenItem(item, token))

    def put_nowait(self, item: Any) -> None:
        self.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        item = self._wait() if block and timeout is None else _get_simply(self, block, timeout)
        if type(item) is _TokenItem:
            acquire(item.token)
            return item.value
        return item

    def get_nowait(self) -> Any:
        return self.get(False)

    def _wait(self) -> Any:
        """Return the next item; a thread that waits for one looks now and then whether it has to give up."""
        while True:
            with contextlib.suppress(queue.Empty):
                return _get_simply(self, True, SLICE_SECS)
            check()


untimed[WatchedSimpleQueue.get.__code__] = "timeout"


class _TokenItem:
    """An item of a WatchedSimpleQueue, and its token."""

    __slots__ = ("token", "value")

    def __init__(self, value: Any, token: Token) -> None:
        self.value = value
        self.token = token


_put_simply, _get_simply = queue.SimpleQueue.put, queue.SimpleQueue.get
