"""Happens-before between accesses of threads, as vector clocks.

Data flow::

    synchronisation.py, locks.py ── release(token), acquire(token) ─────▶ VectorClocks of each detector
    uncertain_order.py ── release(token), may_acquire(token, means) ────▶   ... what is possibly an order
    race_detector.py ── is_before(thread, count) ──▶ is that access past for the calling thread?

A *token* is any object by which one thread lets another go on: an event, a future, a thread, an item of a queue. The
thread that releases it publishes all that is past for it, its own accesses included; for a thread that acquires it
later that is past as well. So two accesses are ordered when the later thread could not have made its own before the
other had. That two threads held the same lock one after the other orders nothing: the next time they may come the other
way round. Which locks were held is for race_detector.py to judge.

A thread's count rises with a release; an access has the count that its thread had. Clocks are never changed: a thread
that learns something gets new ones, so a snapshot is made by keeping them. Beside what is certainly past each thread
has what is possibly past, by means of which it cannot be seen whether they order anything.

Locks: ``VectorClocks.lock`` guards the counts and what is published, and the detector's locations besides. Nothing else
is locked while it is held. It is re-entrant, because a finalizer or a signal's handler may release and acquire in the
middle of its own thread's doing so.

The clocks are those of Mattern ("Virtual Time and Global States of Distributed Systems", 1988); leaving locks out of
the order is hybrid race detection (O'Callahan and Choi, "Hybrid Dynamic Data Race Detection", 2003).
"""

from __future__ import annotations

import _thread
import contextlib
import itertools
import os
import sys
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from threading import Thread, _DummyThread, local, main_thread
from threading import _active as _known_threads  # type: ignore[attr-defined]  # by their idents
from types import FrameType
from typing import Any, NamedTuple, Protocol

from tf1sessions.testing.clocks import Clock
from tf1sessions.testing.frames import program_frames
from tf1sessions.testing.handed_objects import ExecutorJob, Giver

__all__ = [
    "Claim",
    "Permit",
    "Snapshot",
    "ThreadState",
    "Token",
    "VectorClocks",
    "acquire",
    "active",
    "begin_job",
    "claim",
    "current_giver",
    "end_claim",
    "hand_over",
    "holding",
    "lock_acquired",
    "lock_released",
    "may_acquire",
    "python_thread",
    "release",
    "take_over",
    "tracking",
]

#: From how many entries on a clock is searched for threads that are gone. Arbitrary.
_MANY = 16
#: How many claims are known that were not given back. Arbitrary: many flags are set once and for all.
_CLAIMS = 50


class Snapshot(NamedTuple):
    """Clocks of what is past for a thread.

    Attributes:
        certain: What is certainly past.
        possible: That, and what is possibly past; the same object where there is no difference.
    """

    certain: Clock
    possible: Clock

    def joined(self, other: Snapshot) -> Snapshot:
        """Return what is past in one of both; this snapshot itself if the other adds nothing."""
        certain = self.certain.joined(other.certain)
        if self.possible is self.certain and other.possible is other.certain:
            return self if certain is self.certain else Snapshot(certain, certain)
        possible = self.possible.joined(other.possible)
        return self if certain is self.certain and possible is self.possible else Snapshot(certain, possible)


class Claim:
    """Time in which a lock or a flag was claimed for some work, in whatever threads that was done.

    Attributes:
        thread, count: The thread that has claimed it, and its count then.
        end: What was past when the claim was given back; None until then.
        at_end: Called with that; by what makes two calls the same.
    """

    __slots__ = ("at_end", "count", "end", "thread")

    def __init__(self, thread: ThreadState, count: int) -> None:
        self.thread = thread  # which is known as long as the claim is
        self.count = count
        self.end: Clock | None = None
        self.at_end: dict[Hashable, Callable[[Clock], None]] = {}

    def is_before(self, thread: ThreadState, count: int, past: Clock) -> bool:
        """Say whether it was claimed before an access with this count, of a thread for which this was past."""
        return (count if thread is self.thread else past.get(self.thread.number, 0)) >= self.count


_NOTHING = Clock()


class ThreadState:
    """A thread, as the clocks of one detector know it. It lives as long as the thread, or as an access of it is kept.

    Attributes:
        number: Its number, in the order in which threads were met, from 0.
        name: The name that it had when it was met.
        ident: Its identity, which another one may have later.
        is_main: Whether it is the main thread.
        start_unseen: Whether it was started where nothing is watched, so that what was before its start is unknown.
        start_stack: The stack of the program where it was started.
        count: The count of its next access. Guarded by ``VectorClocks.lock``, as is ``used``.
        used: The count of its last access.
        past: What is past for it. Only the thread itself changes it, and what follows.
        released: What it has released last, unless it has learned something since: many tokens may share it.
        means: By what it possibly learned what it last did.
        sleep_loop: The loop in which it slept last, until what it does outside of it shows that its wait is over.
        lock_releases: For the locks that it has acquired: which accesses had been made under them until then.
        job: The job that it runs, of a worker that is not the only one of its executor; None between jobs.
        first_job, job_begin: Its counts when the first job of all, and this one, began.
    """

    def __init__(self, number: int, name: str, start_unseen: bool, start_stack: tuple[str, ...]) -> None:
        self.number = number
        self.name = name
        self.ident = _thread.get_ident()
        self.is_main = _thread.get_ident() == main_thread().ident
        self.start_unseen = start_unseen
        self.start_stack = start_stack
        self.count = 1
        self.used = 0
        self.past = Snapshot(_NOTHING, _NOTHING)
        self.released: Snapshot | None = None
        self.means = ""
        self.sleep_loop: Any = None
        self.lock_releases: dict[int, Clock] = {}
        self.job: ExecutorJob | None = None
        self.first_job = self.job_begin = 0


def python_thread() -> Thread | None:
    """Return what Python has for the calling thread; None for one that it has not started, and does not know.

    ``threading.current_thread()`` makes something of those, and asks by names that a program may have replaced.
    """
    thread: Thread | None = _known_threads.get(_thread.get_ident())
    return thread


class Token:
    """Stand-in for something that one thread releases and others acquire."""

    __slots__ = ("__weakref__",)


class VectorClocks:
    """The clocks of all threads that were met since this was made.

    Attributes:
        lock: See the module.

    Thread-safety: any thread may call any method; each is about the thread that calls it.
    """

    def __init__(self) -> None:
        self.lock = _thread.RLock()  # not threading's: that may be watched
        self.before_release: Callable[[], None] | None = None  # called in the thread that releases something
        self._local = local()
        self._numbers = itertools.count()
        self._threads: weakref.WeakValueDictionary[int, ThreadState] = weakref.WeakValueDictionary()
        self._left: dict[int, tuple[Mapping[int, int], Mapping[int, int]]] = {}  # by identity; see _living_of()
        # By identity, as a token may compare as it likes.
        self._published: dict[int, tuple[weakref.ref[Any], Snapshot]] = {}
        self._lock_releases: weakref.WeakKeyDictionary[Any, Clock] = weakref.WeakKeyDictionary()
        self.claims: Mapping[Hashable, Claim] = {}  # what is claimed now; another mapping after each change

    def begin(self, name: str, start_stack: tuple[str, ...] = ()) -> None:
        """Note that the calling thread's start was seen, and where."""
        self._local.name, self._local.start_stack = name, start_stack
        state = self.thread()  # a finalizer may have run in it before Python knew the thread
        state.name, state.start_unseen, state.start_stack = name, False, start_stack

    def thread(self) -> ThreadState:
        """Return the state of the calling thread."""
        try:
            return self._local.state  # type: ignore[no-any-return]
        except AttributeError:
            number = next(self._numbers)
            state = ThreadState(number, *self._identity(), getattr(self._local, "start_stack", ()))
            self._threads[number] = state
            kept: ThreadState = vars(self._local).setdefault("state", state)  # a finalizer may have made one meanwhile
            return kept

    def threads(self) -> list[ThreadState]:
        """Return the threads that are known, those met last first."""
        return sorted(self._known(), key=lambda state: -state.number)

    def _known(self) -> list[ThreadState]:
        """Return the threads that are known; others may be met meanwhile, which values() would not bear."""
        return [state for each in self._threads.valuerefs() if (state := each()) is not None]

    def _identity(self) -> tuple[str, bool]:
        """Return the calling thread's name, and whether its start was unseen; makes no thread known to Python."""
        name: str | None = getattr(self._local, "name", None)
        if name is not None:
            return name, False
        thread = python_thread()
        if thread is None or isinstance(thread, _DummyThread):
            return f"Dummy-{_thread.get_ident()}" if thread is None else thread.name, True
        return thread.name, False

    # -- what is past -------------------------------------------------------------------------------------------------

    def is_before(self, thread: ThreadState, count: int) -> bool:
        """Say whether an access is certainly past for the calling thread; its own always are."""
        me = self.thread()
        return thread is me or me.past.certain.get(thread.number, 0) >= count

    def is_possibly_before(self, thread: ThreadState, count: int) -> bool:
        """Say whether an access is past for the calling thread if all that may be an order is one."""
        return self.thread().past.possible.get(thread.number, 0) >= count

    def followed_lock(self, thread: ThreadState, count: int, locks: Iterable[int] | None = None) -> bool:
        """Say whether the calling thread has acquired a lock after its release that followed an access.

        Args:
            thread, count: Of the access.
            locks: The locks that are meant; None for any.
        """
        releases = self.thread().lock_releases
        meant = releases if locks is None else [lock for lock in locks if lock in releases]
        return any(releases[lock].get(thread.number, 0) >= count for lock in meant)

    # -- jobs of executors --------------------------------------------------------------------------------------------

    def begin_job(self, job: ExecutorJob | None) -> None:
        """Note that the calling thread begins a job that another worker might have got; None for the end of one."""
        with self.lock:
            me = self.thread()
            me.count += me.used == me.count
            me.job, me.job_begin = job, me.count
            me.first_job = me.first_job or me.count

    def is_of_other_job(self, count: int) -> bool:
        """Say whether an access of the calling thread was by an earlier job of it, and nothing else orders the two.

        What it did before its first job, in an initializer, any job comes after. A lock that was passed since, by the
        thread that gave the job or by the job itself, may be where it was looked whether the earlier one was over.
        """
        me = self.thread()
        if me.job is None or not max(me.first_job, me.past.possible.get(me.number, 0) + 1) <= count < me.job_begin:
            return False
        passed = me.job.giver.passed.get(id(self), {})
        if any(releases.get(me.number, 0) >= count for releases in passed.values()):
            return False
        return not self.followed_lock(me, count)

    # -- release and acquire ------------------------------------------------------------------------------------------

    def release(self, token: Any) -> None:
        """Publish by a token what is past for the calling thread, its own accesses included."""
        if self.before_release is not None:
            self.before_release()
        me = self.thread()
        if me.sleep_loop is not None:
            self.end_wait(sys._getframe(1))
        with self.lock:
            snapshot = me.released
            if snapshot is None or snapshot.certain[me.number] < me.used:
                own = {me.number: me.count}
                me.count += 1
                certain = me.past.certain.extended(own)
                possible = certain if me.past.possible is me.past.certain else me.past.possible.extended(own)
                snapshot = me.released = Snapshot(certain, possible)
            self._publish(token, snapshot)

    def _publish(self, token: Any, snapshot: Snapshot) -> None:
        number = id(token)
        known = self._published.get(number)
        if known is None:
            reference = weakref.ref(token, lambda gone: self._published.pop(number, None))
        else:
            reference, snapshot = known[0], self._pruned(known[1].joined(snapshot))
        self._published[number] = reference, snapshot

    def forward(self, token: Any, other: Any) -> None:
        """Publish by another token what is published by this one; the calling thread learns nothing."""
        with self.lock:
            known = self._published.get(id(token))
            if known is not None:
                self._publish(other, known[1])

    def acquire(self, token: Any) -> None:
        """Take what is published by a token for past in the calling thread."""
        known = self._published.get(id(token))
        if known is None:
            return
        me = self.thread()
        while True:
            before = me.past
            past = self._pruned(before.joined(known[1]))
            if me.past is before:  # else a finalizer has acquired something meanwhile
                if past is not before:
                    me.past, me.released = past, None
                return

    def may_acquire(self, token: Any, means: str) -> None:
        """Take what is published by a token for possibly past; ``means`` says by what it came here."""
        known = self._published.get(id(token))
        if known is not None:
            self._may_learn(known[1].possible, means)

    def may_acquire_all(self, means: str) -> None:
        """Take all that any thread has done so far for possibly past. What others do later must count more."""
        past: dict[int, int] = {}
        with self.lock:
            for thread in self._known():
                thread.count += thread.used == thread.count
                past[thread.number] = thread.count - 1
        self._may_learn(Clock(past), means)

    def end_wait(self, frame: FrameType | None) -> None:
        """Let the calling thread, if it has left the loop in which it slept, know possibly all that was done until now.

        Args:
            frame: Where it is.
        """
        me = self.thread()
        loop = me.sleep_loop
        for each in program_frames(frame):
            if each.f_code is loop.code and loop.first <= each.f_lineno <= loop.last:
                return  # it is still in it
        me.sleep_loop = None
        self.may_acquire_all(str(loop))

    def _may_learn(self, past: Clock, means: str) -> None:
        me = self.thread()
        while True:
            before = me.past
            possible = before.possible.joined(past)
            if me.past is before:  # as in acquire()
                me.means = means
                if possible is not before.possible:
                    me.past, me.released = Snapshot(before.certain, possible), None
                return

    def _pruned(self, snapshot: Snapshot) -> Snapshot:
        """Leave out threads that are gone and of which no access is kept, once they are most of a clock."""
        size = snapshot.possible.size()
        if size <= _MANY or size <= 2 * len(self._threads):
            return snapshot
        certain = self._living(snapshot.certain)
        same = snapshot.possible is snapshot.certain
        return Snapshot(certain, certain if same else self._living(snapshot.possible))

    def _few(self, clock: Clock) -> Clock:
        return clock if clock.size() <= max(_MANY, 2 * len(self._threads)) else self._living(clock)

    def _living(self, clock: Clock) -> Clock:
        return clock.only(self._living_of)

    def _living_of(self, counts: Mapping[int, int]) -> Mapping[int, int]:
        """Return the counts of the threads that live. Clocks that share counts share what is left of them, too."""
        known = self._left.get(id(counts))
        if known is not None and known[0] is counts and len(known[1]) <= max(_MANY, 2 * len(self._threads)):
            return known[1]
        living = {number: count for number, count in counts.items() if number in self._threads}
        if len(counts) > _MANY:
            if len(self._left) > _MANY:
                self._left.clear()
            self._left[id(counts)] = counts, living
        return living

    # -- locks --------------------------------------------------------------------------------------------------------

    def lock_released(self, lock: Any) -> None:
        """Note that the calling thread is about to release a lock; that orders nothing, but see followed_lock()."""
        if self.before_release is not None:
            self.before_release()
        with self.lock:
            me = self.thread()
            before = self._lock_releases.get(lock, _NOTHING)
            if me.used > before.get(me.number, 0):
                releases = before.extended({me.number: me.used})
                me.count = max(me.count, me.used + 1)
                self._lock_releases[lock] = self._few(releases)

    def lock_acquired(self, lock: Any) -> None:
        """Note that the calling thread has acquired a lock."""
        releases = self._lock_releases.get(lock)
        if releases is not None:
            self.thread().lock_releases[lock.number] = releases

    # -- claims -------------------------------------------------------------------------------------------------------

    def claim(self, what: Hashable) -> None:
        """Note that the calling thread has a lock or a flag from now on, for work that it may give away."""
        with self.lock:
            me = self.thread()
            me.count += me.used == me.count
            me.used = me.count  # the next release publishes it
            kept = {each: claim for each, claim in self.claims.items() if each != what}
            if len(kept) >= _CLAIMS:
                del kept[next(iter(kept))]
            self.claims = {**kept, what: Claim(me, me.count)}

    def end_claim(self, what: Hashable, in_vain: bool = False) -> None:
        """Note that the calling thread gives back what is claimed, if it is; or that it was claimed in vain."""
        if what not in self.claims:
            return
        with self.lock:
            me = self.thread()
            kept = dict(self.claims)
            claim = kept.pop(what, None)
            if in_vain:
                self.claims = kept
            elif claim is not None:
                claim.end = me.past.certain.extended({me.number: me.used})
                me.count = max(me.count, me.used + 1)
                self.claims = kept
                for call in claim.at_end.values():
                    call(claim.end)
                claim.at_end.clear()


# -- the detectors that are on ----------------------------------------------------------------------------------------

_active: tuple[VectorClocks, ...] = ()


class Permit(Protocol):
    """A lock, or something else that one thread at a time can hold.

    Attributes:
        number: Its own.
        owner: The thread that holds it.
        orders: Whether each release of it is before the next acquisition.
    """

    number: int
    owner: int | None
    orders: bool


class _Holding(local):
    """Locks that the calling thread has taken; other threads may have released some of it since."""

    def __init__(self) -> None:
        self.locks: dict[int, Permit] = {}


holding = _Holding()  # kept by locks.py


_guard = _thread.allocate_lock()  # for changes of _active


@contextlib.contextmanager
def tracking(clocks: VectorClocks) -> Iterator[None]:
    """Let clocks follow what all threads release and acquire while this lasts."""
    global _active
    with _guard:
        _active = (*_active, clocks)
    try:
        yield
    finally:
        with _guard:
            _active = tuple(each for each in _active if each is not clocks)


def _in_child() -> None:
    """Track nothing after a fork: locks of clocks may be held by threads that are not there."""
    global _active
    _active = ()
    _guard._at_fork_reinit()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def active() -> tuple[VectorClocks, ...]:
    """Return the clocks that follow what threads do now."""
    return _active


def release(token: Any) -> None:
    """Publish by a token what is past for the calling thread, in all clocks that are active.

    What other threads do after that may be for what this one holds locks for.
    """
    for clocks in _active:
        if holding.locks:
            _claim_held(clocks)
        clocks.release(token)


def _claim_held(clocks: VectorClocks) -> None:
    me = _thread.get_ident()
    for permit in holding.locks.values():
        if permit.owner == me and not permit.orders and permit.number not in clocks.claims:
            clocks.claim(permit.number)


def acquire(token: Any) -> None:
    """Take what is published by a token for past, in all clocks that are active."""
    for clocks in _active:
        clocks.acquire(token)


def may_acquire(token: Any, means: str) -> None:
    """Take what is published by a token for possibly past, in all clocks that are active."""
    for clocks in _active:
        clocks.may_acquire(token, means)


def lock_released(lock: Any) -> None:
    """Note that the calling thread is about to release a lock."""
    for clocks in _active:
        clocks.lock_released(lock)


def lock_acquired(lock: Any) -> None:
    """Note that the calling thread has acquired a lock."""
    for clocks in _active:
        clocks.lock_acquired(lock)


def claim(what: Hashable) -> None:
    """Note that the calling thread has a lock or a flag from now on."""
    for clocks in _active:
        clocks.claim(what)


def end_claim(what: Hashable, in_vain: bool = False) -> None:
    """Note that the calling thread gives back a lock or a flag; or that it has not claimed it after all."""
    for clocks in _active:
        clocks.end_claim(what, in_vain)


def current_giver() -> Giver:
    """Return the calling thread as one that gives work to another, for all clocks that are active."""
    return Giver({id(clocks): dict(clocks.thread().lock_releases) for clocks in _active})


def begin_job(job: ExecutorJob | None) -> None:
    """Note that the calling thread begins a job of an executor, or that it has ended it."""
    for clocks in _active:
        clocks.begin_job(job)


_named: dict[Hashable, Token] = {}


def hand_over(name: Hashable) -> None:
    """Declare an order that the race detector cannot see: a release, acquired by :func:`take_over` of the same name.

    What the calling thread did so far happens before what threads do after their ``take_over(name)``.

    Args:
        name: Equal for both; kept for good.

    Thread-safety: may be called from any thread; does nothing while no race detector is on.

    Example:
        >>> from tf1sessions import testing
        >>> testing.hand_over("the graph is built")
        >>> testing.take_over("the graph is built")  # in another thread, when it knows
    """
    release(_named.setdefault(name, Token()))


def take_over(name: Hashable) -> None:
    """Acquire what :func:`hand_over` has released. To be called when the order is certain: after the wait."""
    acquire(_named.setdefault(name, Token()))
