"""The locks that a thread holds.

Data flow::

    threading.Lock() of a program ──▶ WatchedLock ── takes(lock) ──▶ what each thread holds ──▶ held_locks()
                                               └── lock_released, lock_acquired; release, acquire ──▶ vector_clocks.py
    a thread's frames ──▶ opaque_locks(): locks that were made before, of which only C knows the holder

Locks are C objects, which nothing can look into. Those that a program makes while :func:`watch_locks` is on are of our
own classes, and know which thread holds them. What the standard library, TensorFlow and tf1sessions lock among
themselves is left out: that a logger was used by two threads protects nothing of theirs.

What a thread holds is kept in that thread alone; another thread that releases one of its locks changes the lock's
``owner``, and nothing else.

Thread-safety: all functions may be called from any thread.
"""

from __future__ import annotations

import _queue
import _thread
import contextlib
import dataclasses
import dis
import functools
import itertools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from threading import Condition
from types import CodeType, FrameType
from typing import Any

from tf1sessions.testing.claimed_flags import FlagChange, FlagsUnderLock
from tf1sessions.testing.deadlocks import SLICE_SECS, check
from tf1sessions.testing.frames import asked_by_library, program_place
from tf1sessions.testing.ignored_results import ignores_result
from tf1sessions.testing.item_tokens import ItemTokens
from tf1sessions.testing.patching import Patch, Switch
from tf1sessions.testing.vector_clocks import (
    Permit,
    acquire,
    active,
    claim,
    end_claim,
    holding,
    lock_acquired,
    lock_released,
    release,
)
from tf1sessions.testing.waits import untimed

__all__ = [
    "AnyLock",
    "AnyRLock",
    "ExclusiveBlock",
    "OpaqueLock",
    "RawLock",
    "RawRLock",
    "WatchedLock",
    "WatchedRLock",
    "held_lock_places",
    "held_locks",
    "make_raw_lock",
    "new_number",
    "opaque_locks",
    "takes",
    "watch_locks",
]

#: What makes a lock of C, and its classes: this module is there before anything else is put in their places.
make_raw_lock = _thread.allocate_lock
RawLock = type(_thread.allocate_lock())
RawRLock = type(_thread.RLock())
_RAW_QUEUE = _queue.SimpleQueue
#: Up to how many held locks it is not looked whether some were released by other threads. Arbitrary.
_FEW = 8
#: How many lists are known that change under one lock. Arbitrary: more than programs have.
_LISTS = 50

_NONE: frozenset[int] = frozenset()

_numbers = itertools.count(1)


def new_number() -> int:
    """Return a number for a lock that no other has."""
    return next(_numbers)


def takes(permit: Permit) -> None:
    """Note that the calling thread holds this from now on, as long as its ``owner`` says so."""
    held = holding.locks
    if len(held) > _FEW:
        me = _thread.get_ident()
        for each in [each for each in held.values() if each.owner != me]:
            del held[each.number]
    held[permit.number] = permit


def held_locks() -> frozenset[int]:
    """Return the numbers of what the calling thread holds."""
    held = holding.locks
    if not held:
        return _NONE
    me = _thread.get_ident()
    return frozenset([number for number, each in held.items() if each.owner == me])


def held_lock_places() -> tuple[str, ...]:
    """Return where the locks that the calling thread holds were made, as ``file:line``."""
    held, me = holding.locks, _thread.get_ident()
    return tuple(each.place for each in held.values() if each.owner == me and isinstance(each, WatchedLock))


def _drops(permit: Permit) -> None:
    holding.locks.pop(permit.number, None)


class ExclusiveBlock:
    """A block that one thread at a time is in: as if a lock were held there."""

    orders = False

    def __init__(self) -> None:
        self.owner: int | None = None
        self.number = new_number()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Enter the block while this lasts; the calling thread may be in it already."""
        before, self.owner = self.owner, _thread.get_ident()
        lock_acquired(self)
        takes(self)
        try:
            yield
        finally:
            if before is None:
                lock_released(self)
                end_claim(self.number)
                _drops(self)
            self.owner = before


class WatchedLock:
    """A lock that knows which thread holds it; otherwise as ``threading.Lock``.

    Locks are used as signals, too: what is released by another thread than the one that acquired it orders that thread
    before the next that acquires it. ``orders`` is set when a Condition is made on it: then every release does.
    ``is_held`` says whether the owner will release it for sure: a recursive lock, or one that was entered by ``with``.
    One that a thread acquires and another one releases is a signal, and held by no thread.
    """

    _make: Callable[[], Any] = _thread.allocate_lock
    #: While an exploration runs: makes the lock inside one that its scheduler knows.
    adapt: Callable[[Any], Any] | None = None

    def __init__(self) -> None:
        self._lock = self._make()
        self.owner: int | None = None
        self.number = new_number()
        self.orders = False
        self.is_held = False
        self._frame = program_place()
        self._flags: FlagsUnderLock | None = None  # as they were when it was acquired
        self._lists: dict[int, tuple[Any, ItemTokens]] = {}  # by their identities, which they keep here

    @property
    def place(self) -> str:
        """``file:line`` where it was made."""
        return f"{self._frame[0]}:{self._frame[1]}"

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        got: bool
        if self.adapt is not None:
            self._lock = self.adapt(self._lock)
            got = self._lock.acquire(blocking, timeout)
        elif blocking and timeout == -1:
            while not (got := self._lock.acquire(True, SLICE_SECS)):
                check()
        else:
            got = self._lock.acquire(blocking, timeout)
        if got:
            frame = sys._getframe(1)
            if (not blocking or timeout >= 0) and ignores_result(frame):
                return got  # it was luck, and may be missing the next time
            self._acquired(frame)
        return got

    def release(self) -> None:
        owner, me = self.owner, _thread.get_ident()
        if self._is_last():
            if self._flags is not None:
                self._note_changes(sys._getframe(1))
            if self.orders or owner != me:
                release(self)
            else:
                lock_released(self)
            end_claim(self.number)
            _drops(self)
            self.owner, self.is_held = None, False
        try:
            self._lock.release()
        except RuntimeError:
            self.owner = owner
            raise

    def locked(self) -> bool:
        if not hasattr(self._lock, "locked"):  # of an RLock, before Python 3.14
            return self.owner is not None
        return bool(self._lock.locked())

    def __enter__(self) -> bool:
        got = self.acquire()
        self.is_held = True
        return got

    def __exit__(self, *error: Any) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<watched {self._lock!r}>"

    def _is_last(self) -> bool:
        return True

    def _acquired(self, frame: FrameType | None = None) -> None:
        me = _thread.get_ident()
        if self.owner != me:
            self.owner = me
            acquire(self)
            lock_acquired(self)
            if frame is not None and not self.orders and active():
                self._look_at_flags(frame)
            takes(self)

    def _look_at_flags(self, frame: FrameType) -> None:
        """Note that the calling thread may claim flags while it holds the lock."""
        self._flags = FlagsUnderLock.of(_caller(frame))
        for flag in self._flags.free if self._flags is not None else ():
            claim((self.number, flag))

    def _note_changes(self, frame: FrameType) -> None:
        """Note which flags it has claimed, or given back, and which items it has put into lists, or taken out."""
        flags, self._flags = self._flags, None
        if flags is None:
            return
        for flag, change in flags.changes(_caller(frame)):
            if change is not FlagChange.CLAIMED:
                end_claim((self.number, flag), in_vain=change is FlagChange.LEFT)
        for line, before in flags.lists:
            if len(self._lists) > _LISTS:
                self._lists.clear()
            _, tokens = self._lists.setdefault(id(line), (line, ItemTokens(before)))
            tokens.follow(before, list(line))

    def _at_fork_reinit(self) -> None:
        self._lock._at_fork_reinit()
        self.owner, self.is_held = None, False


untimed[WatchedLock.acquire.__code__] = "timeout"


_BY_WITH = frozenset((WatchedLock.__enter__.__code__, WatchedLock.__exit__.__code__))


def _caller(frame: FrameType) -> FrameType:
    """Return the frame that acquires or releases a lock, by a call or by ``with``."""
    return frame.f_back if frame.f_code in _BY_WITH and frame.f_back is not None else frame


class WatchedRLock(WatchedLock):
    """A lock that knows which thread holds it; otherwise as ``threading.RLock``."""

    _make: Callable[[], Any] = RawRLock

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0  # only the owner reads and writes it

    def _is_last(self) -> bool:
        if self.owner != _thread.get_ident():
            return False  # the lock itself will refuse it
        self._depth -= 1
        return self._depth == 0

    def _acquired(self, frame: FrameType | None = None) -> None:
        super()._acquired(frame)
        self._depth += 1
        self.is_held = True

    # What Condition asks of a lock that can be held several times.

    def _is_owned(self) -> bool:
        return bool(self._lock._is_owned())

    def _release_save(self) -> tuple[Any, int]:
        depth = self._depth
        self._depth = 0
        if self.orders:
            release(self)
        end_claim(self.number)
        self.owner, self.is_held = None, False
        return self._lock._release_save(), depth

    def _acquire_restore(self, state: tuple[Any, int]) -> None:
        self._lock._acquire_restore(state[0])
        self._acquired()
        self._depth = state[1]


@dataclasses.dataclass(frozen=True)
class OpaqueLock:
    """A lock that was made before the watching began; or a queue of C, by which threads may be ordered.

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
        """The doubt about two accesses where it was there both times."""
        unknown = "Which thread held it both times" if self.what == "lock" else "Which items went through it"
        return f"The {self.what} {self.name} was made before the watching began. {unknown} is not known."


def opaque_locks(frames: Iterable[FrameType]) -> list[OpaqueLock]:
    """Return the locks of C that are held, and its queues, that these frames name: by a variable or an attribute."""
    found: dict[int, OpaqueLock] = {}
    for frame in frames:
        names = _names_of_locks(frame.f_code)
        own = frame.f_locals if names else {}
        for name in names:
            value = own.get(name, frame.f_globals.get(name))
            _look_at(value, name, found)
            if isinstance(value, _LOOKED_INTO):
                continue
            inner = getattr(value, "__dict__", None)
            if isinstance(inner, dict):
                for attribute in names.keys() & inner.keys():
                    _look_at(inner[attribute], f"{name}.{attribute}", found)
    return list(found.values())


#: What is done with a lock or a queue besides `with`.
_USES = frozenset(("acquire", "get", "get_nowait", "put", "put_nowait", "wait", "enter_context"))


@functools.lru_cache(maxsize=10_000)
def _names_of_locks(code: CodeType) -> dict[str, None]:
    """Return the variables and attributes of a function that may be locks: those in front of `with`, or so used.

    A program's main module may have thousands of names, and each line of it would look at all of them.
    """
    found: dict[str, None] = {}
    chain: list[str] = []
    for each in dis.get_instructions(code):
        operation, value = each.opname, each.argval
        if operation.startswith(("LOAD_ATTR", "LOAD_METHOD")):
            chain.append(value)
        elif operation.startswith(("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF")):
            chain = list(value) if isinstance(value, tuple) else [value]
            continue
        is_with = operation in ("BEFORE_WITH", "SETUP_WITH", "LOAD_SPECIAL")
        if is_with or not _USES.isdisjoint(chain):
            found |= dict.fromkeys(chain)
    if "enter_context" in code.co_names:
        found |= dict.fromkeys((*code.co_names, *code.co_varnames, *code.co_freevars))
    return found


_LOOKED_INTO = (int, float, str, bytes, list, tuple, dict, set, type(None))


def _look_at(value: Any, name: str, found: dict[int, OpaqueLock]) -> None:
    if isinstance(value, Condition):
        value = vars(value).get("_lock")
    kind = type(value)
    if kind.__module__ == "multiprocessing.synchronize" and kind.__name__ in ("Lock", "RLock"):
        if value._semlock._is_mine():
            found.setdefault(id(value), OpaqueLock(id(value), name, True))
    elif kind is _RAW_QUEUE:
        found.setdefault(id(value), OpaqueLock(id(value), name, None, "queue"))
    elif kind is RawRLock:
        if value._is_owned():
            found.setdefault(id(value), OpaqueLock(id(value), name, True))
    elif kind is RawLock and value.locked():
        found.setdefault(id(value), OpaqueLock(id(value), name, None))


class _LockClass(type):
    """The class of the two below: makes locks, and takes those of C for its own instances."""

    raw: Any
    watched: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (type(cls.raw()), cls.watched))

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return (cls.raw if asked_by_library() else cls.watched)(*args, **named)


class AnyLock(metaclass=_LockClass):
    """``threading.Lock`` while locks are watched."""

    raw, watched = make_raw_lock, WatchedLock


class AnyRLock(metaclass=_LockClass):
    """``threading.RLock`` while locks are watched."""

    raw, watched = RawRLock, WatchedRLock


def _locks() -> Iterator[Patch]:
    yield threading, "Lock", AnyLock
    yield threading, "RLock", AnyRLock
    yield _thread, "allocate_lock", AnyLock
    yield _thread, "allocate", AnyLock
    yield _thread, "RLock", AnyRLock


_switch = Switch(_locks)


def watch_locks() -> contextlib.AbstractContextManager[None]:
    """Let locks that are made outside of libraries while this lasts know which thread holds them, also after it."""
    return _switch.on()
