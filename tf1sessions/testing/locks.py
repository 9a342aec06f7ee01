"""Which locks a thread holds.

Locks are C objects, which nobody can look into. Those that a program makes while :func:`watch_locks` is on are of our
own classes, and know who holds them; the others are told by :func:`opaque_locks`. What the standard library, TensorFlow
and tf1sessions lock among themselves is left out: that a logger was used by two threads protects nothing of theirs.

Thread-safety: all functions may be called from any thread.
"""

from __future__ import annotations

import _queue
import _thread
import contextlib
import dataclasses
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, Protocol

from tf1sessions.testing.frames import asked_by_library
from tf1sessions.testing.order import Clock, entered, hear, left, tell
from tf1sessions.testing.patching import Patch, Switch

__all__ = [
    "Exclusive",
    "OpaqueLock",
    "Permit",
    "WatchedLock",
    "WatchedRLock",
    "held_locks",
    "new_number",
    "opaque_locks",
    "takes",
    "watch_locks",
]

_RAW_LOCK = type(_thread.allocate_lock())
_RAW_RLOCK = type(_thread.RLock())
_RAW_QUEUE = _queue.SimpleQueue
#: Below which number of held locks nobody looks whether some were given back by other threads.
_FEW = 8

_NONE: frozenset[int] = frozenset()

_numbers = itertools.count(1)
_holding = threading.local()


class Permit(Protocol):
    """What a thread can hold alone."""

    number: int
    owner: int | None


def new_number() -> int:
    """A number for a lock that no other has."""
    return next(_numbers)


def takes(permit: Permit) -> None:
    """The calling thread holds this from now on, as long as its ``owner`` says so."""
    held: dict[int, Permit] = getattr(_holding, "locks", None) or taken()
    if len(held) > _FEW:
        me = _thread.get_ident()
        for each in [each for each in held.values() if each.owner != me]:
            del held[each.number]
    held[permit.number] = permit


def taken() -> dict[int, Permit]:
    """What the calling thread has taken, always in the same dict; threads may have given back some of it since."""
    try:
        return _holding.locks  # type: ignore[no-any-return]
    except AttributeError:
        held: dict[int, Permit] = {}
        _holding.locks = held
        return held


def held_locks() -> frozenset[int]:
    """The numbers of what the calling thread holds."""
    held: dict[int, Permit] | None = getattr(_holding, "locks", None)
    if not held:
        return _NONE
    me = _thread.get_ident()
    return frozenset([number for number, each in held.items() if each.owner == me])


class Exclusive:
    """What threads do one at a time, in blocks: as if a lock were held there."""

    def __init__(self) -> None:
        self.owner: int | None = None
        self.number = new_number()
        self.passed: dict[int, dict[int, Clock]] = {}  # by whom it was given back: for each order, by its key

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """The calling thread is in such a block; it may be within another of its own."""
        before, self.owner = self.owner, _thread.get_ident()
        entered(self)
        takes(self)
        try:
            yield
        finally:
            if before is None:
                left(self)
                _holding.locks.pop(self.number, None)
            self.owner = before


class WatchedLock:
    """A lock that knows which thread holds it; otherwise as ``threading.Lock``.

    A release by another thread than the one that acquired it is a message to the next that acquires it: that is how
    locks are used as signals. ``orders`` is set when a Condition is made on it: then every release is one.
    """

    _make: Callable[[], Any] = _thread.allocate_lock
    _tf1sessions_told: Any = None  # see order.TOLD

    def __init__(self) -> None:
        self._lock = self._make()
        self.owner: int | None = None
        self.number = new_number()
        self.passed: dict[int, dict[int, Clock]] = {}  # by whom it was given back: for each order, by its key
        self.orders = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        got: bool = self._lock.acquire(blocking, timeout)
        if got:
            self._acquired()
        return got

    def release(self) -> None:
        owner, me = self.owner, _thread.get_ident()
        if self._is_last():
            if self.orders or owner != me:
                tell(self)
            else:
                left(self)
                _holding.locks.pop(self.number, None)
            self.owner = None
        try:
            self._lock.release()
        except RuntimeError:
            self.owner = owner
            raise

    def locked(self) -> bool:
        locked: bool = self._lock.locked()
        return locked

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: Any) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<watched {self._lock!r}>"

    def _is_last(self) -> bool:
        return True

    def _acquired(self) -> None:
        me = _thread.get_ident()
        if self.owner != me:
            self.owner = me
            if self._tf1sessions_told is not None:
                hear(self)
            if self.passed:
                entered(self)
            takes(self)

    def _at_fork_reinit(self) -> None:
        self._lock._at_fork_reinit()
        self.owner = None


class WatchedRLock(WatchedLock):
    """The same for ``threading.RLock``."""

    _make: Callable[[], Any] = _thread.RLock

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0  # only the owner reads and writes it

    def _is_last(self) -> bool:
        if self.owner != _thread.get_ident():
            return False  # the lock itself will refuse it
        self._depth -= 1
        return self._depth == 0

    def _acquired(self) -> None:
        super()._acquired()
        self._depth += 1

    # What Condition asks of a lock that can be held several times.

    def _is_owned(self) -> bool:
        owned: bool = self._lock._is_owned()
        return owned

    def _release_save(self) -> tuple[Any, int]:
        depth = self._depth
        self._depth = 0
        if self.orders:
            tell(self)
        self.owner = None
        return self._lock._release_save(), depth

    def _acquire_restore(self, state: tuple[Any, int]) -> None:
        self._lock._acquire_restore(state[0])
        self._acquired()
        self._depth = state[1]


@dataclasses.dataclass(frozen=True)
class OpaqueLock:
    """A lock that was made before anybody watched; or a queue of C, which threads may use as one uses locks.

    Attributes:
        number: Its identity while it lives.
        name: How the program calls it at the place where it was found.
        mine: Whether the calling thread holds it; None where that cannot be known.
        what: ``"lock"`` or ``"queue"``.
    """

    number: int
    name: str
    mine: bool | None
    what: str = "lock"

    @property
    def doubt(self) -> str:
        """What is not known of it when it was there both times."""
        unknown = "It was held both times; by whom" if self.what == "lock" else "What was handed over by it"
        return f"The {self.what} {self.name} was made before anybody watched. {unknown} is not known."


def opaque_locks(frames: Iterable[FrameType]) -> list[OpaqueLock]:
    """The locks of C that somebody holds, and its queues, that these frames can name: by a variable or an attribute."""
    found: dict[int, OpaqueLock] = {}
    for frame in frames:
        names = dict.fromkeys((*frame.f_code.co_names, *frame.f_code.co_varnames, *frame.f_code.co_freevars))
        for name in names:
            value = frame.f_locals.get(name, frame.f_globals.get(name))
            _look_at(value, name, found)
            if isinstance(value, _LOOKED_INTO):
                continue
            for attribute in names:
                inner = getattr(value, "__dict__", None)
                if isinstance(inner, dict) and attribute in inner:
                    _look_at(inner[attribute], f"{name}.{attribute}", found)
    return list(found.values())


_LOOKED_INTO = (int, float, str, bytes, list, tuple, dict, set, type(None))


def _look_at(value: Any, name: str, found: dict[int, OpaqueLock]) -> None:
    if isinstance(value, threading.Condition):
        value = vars(value).get("_lock")
    kind = type(value)
    if kind.__module__ == "multiprocessing.synchronize" and kind.__name__ in ("Lock", "RLock"):
        if value._semlock._is_mine():
            found.setdefault(id(value), OpaqueLock(id(value), name, True))
    elif kind is _RAW_QUEUE:
        found.setdefault(id(value), OpaqueLock(id(value), name, None, "queue"))
    elif kind is _RAW_RLOCK:
        if value._is_owned():
            found.setdefault(id(value), OpaqueLock(id(value), name, True))
    elif kind is _RAW_LOCK and value.locked():
        found.setdefault(id(value), OpaqueLock(id(value), name, None))


class _Kind(type):
    """The class of the two below: makes locks, and knows those of C as its own."""

    raw: Any
    watched: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (type(cls.raw()), cls.watched))

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return (cls.raw if asked_by_library() else cls.watched)(*args, **named)


class _Lock(metaclass=_Kind):
    raw, watched = _thread.allocate_lock, WatchedLock


class _RLock(metaclass=_Kind):
    raw, watched = _thread.RLock, WatchedRLock


def _locks() -> Iterator[Patch]:
    yield threading, "Lock", _Lock
    yield threading, "RLock", _RLock


_switch = Switch(_locks)


def watch_locks() -> contextlib.AbstractContextManager[None]:
    """While this lasts, locks that are made outside of libraries know who holds them; also after its end."""
    return _switch.on()
