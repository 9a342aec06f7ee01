"""WorkQueue: parts of graphs that many threads hand to a few, with priorities, in order for each key.

::

    submit(fetches, feeds) ──▶ schedule (keyed_schedule.py): which item is next ──▶ a worker ──▶ run ──▶ Future
         │ too many wait:                ▲ a key's next item may begin          │
         │ the caller is held            └── once its last one has ended ◀──────┘

A worker that is free takes what is next of all that can begin, so none ever waits for a key. Workers are threads,
started when they are needed; those without work end after a while. One thread more, the *clock*, is there while items
with a deadline wait: it ends those whose time is up while all workers are busy.

A caller may be interrupted by Ctrl-C anywhere. It then withdraws its item; what it has left half done is passed over,
and a caller that was not woken because of it looks again after a while.
"""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import itertools
import logging
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from tf1sessions import forks
from tf1sessions.errors import (
    ClosedError,
    ConfigError,
    DeadlineError,
    Overloaded,
    StragglerError,
    UsageError,
)
from tf1sessions.pipelines.batching import Percentiles, check_duration, times
from tf1sessions.pipelines.coordinator import whereabouts
from tf1sessions.pipelines.keyed_schedule import KeyedSchedule, ScheduledItem
from tf1sessions.pipelines.refilled import keeps_its_items, own
from tf1sessions.sessions.calls import watched_session
from tf1sessions.texts import figures

__all__ = ["WorkQueue", "WorkStatistics"]

logger = logging.getLogger("tf1sessions")

#: How long a worker stays without work. Arbitrary: starting one costs 0.1 ms, keeping it nothing.
_IDLE_SECS = 10.0
#: How many of the last items the percentiles are made of.
_RECENT = 4096
#: How long the end of the process waits for items that run.
_EXIT_SECS = 5.0

_numbers = itertools.count()


@dataclass(frozen=True)
class WorkStatistics:
    """The counts of a work queue so far; ``print()`` shows it as tables.

    Attributes:
        workers: How many items may run at once.
        submitted: Items that were taken; they ended in one of the four following ways, wait or run.
        succeeded, failed: Ended with a result or with an error of their run.
        expired: Their deadline passed before they were begun.
        cancelled: Withdrawn before they were begun, by their callers or by close().
        overloaded: Refused because too many waited; not among those submitted.
        waiting: Not begun, those included whose callers are held in submit().
        running: Begun, and not ended.
        queue_secs: From submit() to the run, of the last 4096 items that were run.
        run_secs: Of their runs.
    """

    workers: int
    submitted: int
    succeeded: int
    failed: int
    expired: int
    cancelled: int
    overloaded: int
    waiting: int
    running: int
    queue_secs: Percentiles
    run_secs: Percentiles

    def __str__(self) -> str:
        names = (
            "workers", "submitted", "succeeded", "failed", "expired", "cancelled", "overloaded", "waiting", "running"
        )  # fmt: skip
        lines = figures(names, [[getattr(self, name) for name in names]])
        return "\n".join([*lines, "", *times(queue=self.queue_secs, run=self.run_secs)])


# -- items ------------------------------------------------------------------------------------------------------------


class _WorkItem(concurrent.futures.Future, ScheduledItem):  # type: ignore[type-arg]
    """One request, and the Future of its result."""

    def __init__(
        self,
        queue: WorkQueue,
        fetches: Any,
        feeds: Any,
        priority: float,
        key: Hashable,
        deadline_secs: float | None,
    ) -> None:
        super().__init__()
        self._queue: WorkQueue | None = queue
        self.fetches = fetches
        self.feeds = feeds
        self.key = key
        self.number = -1  # among all items of the queue, when it is there
        self.rank = (priority, -1)
        self.arrived = time.monotonic()
        self.deadline = None if deadline_secs is None else self.arrived + deadline_secs
        self.room: threading.Lock | None = None  # of a caller that is held until there is room: released then

    def enter(self, number: int) -> None:
        self.number = number
        self.rank = (self.rank[0], number)

    def cancel(self) -> bool:
        """Cancels the item unless it runs or is done; returns whether it is cancelled."""
        cancelled = super().cancel()
        queue = self._queue
        if cancelled and queue is not None and not forks.forked():
            try:
                queue._withdraw(self)
            except BaseException:  # interrupted in the middle of it
                queue._withdraw(self)
                raise
            self._forget()
        return cancelled

    def answer(self, result: Any, error: BaseException | None = None) -> None:
        """Ends an item that was begun or has expired, and calls the functions that were added to its Future."""
        self._forget()
        try:
            if error is None:
                self.set_result(result)
            else:
                self.set_exception(error)
        except BaseException:  # Future lets through what is no Exception, and others need this thread
            logger.exception("a function that was added to a Future of a work queue raised")

    def _forget(self) -> None:
        """Drops what a Future that is kept must not keep alive."""
        self._queue = self.fetches = self.feeds = None


def _outcome(run: Any, item: _WorkItem) -> tuple[Any, BaseException | None]:
    """Runs an item. No method of the queue, because an error that is kept keeps the frames that it has passed."""
    fetches, feeds = item.fetches, item.feeds
    del item
    try:
        return run(fetches, feeds), None
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the caller's
        return None, error


# -- the queue --------------------------------------------------------------------------------------------------------


class WorkQueue:
    """Runs items of work, each a part of one session's graph, by a few threads.

    Args:
        session: A :class:`~tf1sessions.GraphSession`, a ``Session`` or an ``InteractiveSession``.
        workers: How many items may run at once; at most this many threads, started when they are needed.
        queue_limit: How many items may wait.
        on_full: What submit() does when that many wait: ``"wait"`` until there is room, or ``"refuse"`` with
            :class:`~tf1sessions.errors.Overloaded`.
        deadline_secs: How long an item may wait before it is begun, if it does not say so itself. For ever by default.
        join_secs: How long an end that cancels waits for the items that run.
        name: For threads and messages.

    **What begins next.** As in TensorFlow's PriorityQueue and Python's, the smaller number comes first; of equal
    priorities, what was submitted first. Nothing that runs is ever interrupted for something urgent.

    **Keys.** Items with the same key run one at a time, in the order in which they were submitted, whatever their
    priorities: each begins after the one before it has ended and the functions added to its Future have returned. No
    worker waits for that: it takes other items meanwhile. Items that are before an urgent one of their key are as
    urgent as it is, because it cannot begin without them. A key's next item runs whether the last one succeeded or not;
    cancel the Futures of those that should not. Any hashable object is a key; None is no key.

    **Limits.** When too many items wait, submit() holds its caller until there is room. The item is handed over before:
    it takes part in the order, so that an urgent one is not kept back by the others. Callers go on in the order in
    which they came. A thread of this queue (it calls the functions added to Futures) is never held.

    **The end.** A ``with`` block that ends well waits until all items are done. After an exception, Ctrl-C included,
    what was not begun is cancelled, and what runs is waited for. The session stays open.

    What an item feeds is not copied: arrays must not be written to before its Future is done. Results are the caller's
    own. An item that fails gets TensorFlow's error, as from ``run``, and disturbs no other. One that waits for ever (a
    dequeue that nobody feeds) keeps its worker; after a minute the logger ``tf1sessions`` names both.

    Raises:
        ConfigError: For a setting that is out of its range.

    Raised by items, from ``result()`` of their Futures:
        DeadlineError: The item waited too long, and was not run.
        concurrent.futures.CancelledError: It was cancelled before it was begun.
        tf.errors.OpError: TensorFlow's own, as it is.

    Thread-safety: everything may be used from any number of threads at once.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     x = tf.placeholder(tf.float32, [None])
        ...     total, largest = tf.reduce_sum(x), tf.reduce_max(x)
        ...     with t1.WorkQueue(gs, workers=2) as work:
        ...         first = work.submit(total, {x: [1., 2.]})
        ...         second = work.submit({"most": largest}, {x: [3., 4.]}, priority=-1)
        ...         print(first.result(), second.result()["most"])
        3.0 4.0
    """

    def __init__(
        self,
        session: Any,
        workers: int = 4,
        *,
        queue_limit: int = 1000,
        on_full: str = "wait",
        deadline_secs: float | None = None,
        join_secs: float = 10.0,
        name: str | None = None,
    ) -> None:
        session = watched_session(session, "WorkQueue")
        for what, value in (("workers", workers), ("queue_limit", queue_limit)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ConfigError(f"{what} is {value!r}", where="WorkQueue", next_step="Give an integer of 1 or more.")
        if on_full not in ("wait", "refuse"):
            raise ConfigError(f"on_full is {on_full!r}", where="WorkQueue", next_step='Give "wait" or "refuse".')
        check_duration("join_secs", join_secs, "WorkQueue")
        if deadline_secs is not None:
            check_duration("deadline_secs", deadline_secs, "WorkQueue")
        self.name = name or f"WorkQueue-{next(_numbers)}"
        self._workers = int(workers)
        self._queue_limit = int(queue_limit)
        self._on_full = on_full
        self._deadline_secs = deadline_secs
        self._join_secs = join_secs
        self._run: Any = session.run

        # Guards all that follows. Held for moments only, never while anything runs, and entered by `with` alone: that
        # is the one form in which an interrupt cannot leave a lock behind.
        self._lock = threading.Lock()
        self._schedule: KeyedSchedule[_WorkItem] = KeyedSchedule()
        self._held: dict[int, _WorkItem] = {}  # items that wait and whose callers are held, by number
        self._closed = False
        self._cancelling = False  # nothing is begun any more
        self._threads: set[threading.Thread] = set()  # the workers
        self._left: list[threading.Thread] = []  # those that are about to end, or have ended
        self._closers: list[threading.Lock] = []  # the threads that wait for the end: each for its own
        self._idle: list[threading.Lock] = []  # of workers without work: each waits for its own
        self._thread_numbers = itertools.count(1)
        self._item_numbers = itertools.count()
        self._clock: threading.Thread | None = None
        self._clock_until = 0.0
        self._clock_wake = threading.Lock()  # the clock waits for it
        self._clock_wake.acquire()
        self._running: dict[threading.Thread, _WorkItem] = {}
        self._counts = dict.fromkeys(("succeeded", "failed", "expired", "cancelled", "overloaded"), 0)
        self._queued, self._runs = (collections.deque[float](maxlen=_RECENT) for _ in range(2))
        _queues.add(self)

    # -- items -----------------------------------------------------------------------------------------------------

    def submit(
        self,
        fetches: Any,
        feeds: Mapping[Any, Any] | None = None,
        *,
        priority: float = 0,
        key: Hashable = None,
        deadline_secs: float | None = None,
    ) -> concurrent.futures.Future[Any]:
        """Hands an item over. Waits before it returns if too many wait, unless the queue refuses then.

        Args:
            fetches, feeds: As for ``Session.run``.
            priority: The smaller, the sooner.
            key: Items with the same key run one at a time, in order.
            deadline_secs: How long it may wait before it is begun, from now; being held counts.

        Returns:
            A Future of what ``Session.run`` returns. ``cancel()`` works until the item is begun. Functions added to it
            run in the worker, which does nothing else meanwhile.

        Raises:
            UsageError: A priority or deadline that is none.
            Overloaded: Too many items wait, and the queue was set to refuse more.
            ClosedError: The queue is closed.
        """
        self._check_process()
        priority = _check_priority(priority)
        hash(key)  # a TypeError now, rather than in the middle
        if deadline_secs is None:
            deadline_secs = self._deadline_secs
        else:
            check_duration("deadline_secs", deadline_secs, "WorkQueue")
        if type(feeds) is dict:
            feeds = feeds.copy()  # callers fill one dict again and again
        item = _WorkItem(self, fetches, feeds, priority, key, deadline_secs)
        try:
            self._enter(item)
            if item.room is not None:
                item.room.acquire()
        except BaseException:  # refused, or interrupted
            item.cancel()
            raise
        return item

    def map(
        self,
        fetches: Any,
        feeds: Iterable[Mapping[Any, Any]],
        *,
        priority: float = 0,
        key: Hashable = None,
        deadline_secs: float | None = None,
        ahead: int | None = None,
    ) -> Iterator[Any]:
        """Runs the same fetches for many feeds; returns an iterator of the results, in order.

        Args:
            fetches, priority, key, deadline_secs: As for submit().
            feeds: What each item feeds. Read no further than it is run, so it may be endless. A generator may fill the
                same arrays again for each item.
            ahead: How many items may run, wait, or be done before their turn. Twice the workers by default.

        An error of an item is raised in its turn. It, and closing the iterator, cancels the rest.
        """
        if ahead is None:
            ahead = 2 * self._workers
        elif isinstance(ahead, bool) or not isinstance(ahead, (int, np.integer)) or ahead < 1:
            raise UsageError(f"ahead is {ahead!r}", where="WorkQueue.map", next_step="Give an integer of 1 or more.")
        source = iter(feeds) if keeps_its_items(feeds) else map(own, feeds)
        pending: collections.deque[concurrent.futures.Future[Any]] = collections.deque()

        def fill() -> None:
            for each in itertools.islice(source, ahead - len(pending)):
                future = self.submit(fetches, each, priority=priority, key=key, deadline_secs=deadline_secs)
                pending.append(future)

        def cancel() -> None:
            for future in pending:
                future.cancel()

        def results() -> Iterator[Any]:
            try:
                while pending:
                    result = pending[0].result()
                    pending.popleft()
                    yield result
                    fill()
            finally:
                cancel()

        try:
            fill()
        except BaseException:
            cancel()
            raise
        return results()

    def statistics(self) -> WorkStatistics:
        """Return what was done so far."""
        self._check_process()
        with self._lock:
            waiting, running, counts = len(self._schedule.waiting), len(self._running), dict(self._counts)
            queued, runs = list(self._queued), list(self._runs)
        return WorkStatistics(
            workers=self._workers,
            submitted=sum(counts.values()) - counts["overloaded"] + waiting + running,
            **counts,
            waiting=waiting,
            running=running,
            queue_secs=Percentiles.of(queued),
            run_secs=Percentiles.of(runs),
        )

    # -- closing ---------------------------------------------------------------------------------------------------

    def close(self, *, cancel_pending: bool = False, join_secs: float | None = None) -> None:
        """Takes no more items, and returns when all are done and the threads have ended. Closing again is allowed.

        Args:
            cancel_pending: Cancel what was not begun.
            join_secs: How long to wait at most. By default, as long as it takes; with ``cancel_pending``, the
                ``join_secs`` of the queue.

        If it is interrupted it cancels what was not begun. Called by a function that was added to a Future it does not
        wait, because the worker is busy calling it.

        Raises:
            StragglerError: Time was up. ``threads`` says where each is that still runs; what was not begun is
                cancelled.
        """
        if join_secs is not None:
            check_duration("join_secs", join_secs, "WorkQueue")
        elif cancel_pending:
            join_secs = self._join_secs
        if forks.forked():
            return  # the threads, and the work, are the parent's
        until = None if join_secs is None else time.monotonic() + join_secs
        try:
            self._end(cancel_pending)
            if not self._is_own_thread():
                self._join(until)
        except BaseException:  # interrupted, or time is up
            self._end(True)
            raise

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._closed

    def __enter__(self) -> WorkQueue:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
            return
        try:
            self.close(cancel_pending=True)
        except StragglerError as straggler:  # what ended the block is reported, and not hidden by this
            logger.warning("%s", straggler)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<WorkQueue {self.name!r} {state}, {len(self._schedule.waiting)} items wait, {len(self._running)} run>"

    def _end(self, cancel: bool) -> None:
        """Takes no more items; cancels those that wait, or lets them be."""
        with self._lock:
            self._closed = True
            self._cancelling = self._cancelling or cancel
            for wake in self._idle:
                _signal(wake)
            self._idle.clear()
        interrupt: BaseException | None = None
        while cancel:
            with self._lock:
                item = next(iter(self._schedule.waiting.values()), None)
            if item is None:
                break
            try:
                item.cancel()
            except BaseException as raised:  # noqa: BLE001 - Ctrl-C, or from a function that was added to it
                interrupt = raised
        if interrupt is not None:
            raise interrupt

    def _end_with_process(self) -> None:
        """Close an open queue: a run of TensorFlow that returns after the interpreter's end aborts the process."""
        if self._closed or forks.forked():
            return
        if waiting := len(self._schedule.waiting):
            logger.warning(
                "%s was not closed: %d of its items were not begun when the program ended, and are cancelled. "
                "Close it, or use it in a `with`.",
                self.name,
                waiting,
            )
        try:
            self.close(cancel_pending=True, join_secs=_EXIT_SECS)
        except StragglerError as straggler:
            logger.warning("%s", straggler)

    def _join(self, until: float | None) -> None:
        """Waits until all threads have ended.

        Not for the threads themselves: a Thread.join() that is interrupted takes the thread for ended, before 3.13.
        """
        ended = threading.Lock()
        ended.acquire()
        with self._lock:
            self._closers.append(ended)
            self._wake_closers()
        if not ended.acquire(timeout=-1 if until is None else max(0.0, until - time.monotonic())):
            with self._lock:
                late = list(self._threads or filter(None, [self._clock]))  # without work, the clock ends
                running = dict(self._running)
            raise self._straggler_error(late, running)
        for thread in self._left:
            thread.join()

    def _straggler_error(
        self, late: Iterable[threading.Thread], running: Mapping[threading.Thread, _WorkItem]
    ) -> StragglerError:
        places = {}
        for thread in late:
            item = running.get(thread)
            places[thread.name] = whereabouts(thread) + (f", running {item.fetches!r:.200}" if item else "")
        return StragglerError(
            f"{len(places)} of the threads of {self.name} did not end in time: "
            + "; ".join(f"{name} {place}" for name, place in places.items()),
            where="close()",
            next_step="Look at what should feed or drain them; closing the session ends most waits.",
            threads=places,
        )

    # -- waiting -------------------------------------------------------------------------------------------------

    def _check_process(self) -> None:
        if forks.forked():
            raise forks.error("the work queue")

    def _is_own_thread(self) -> bool:
        current = threading.current_thread()
        return current is self._clock or current in self._threads

    def _is_full(self) -> bool:
        return len(self._schedule.waiting) - len(self._held) >= self._queue_limit

    def _enter(self, item: _WorkItem) -> None:
        """Puts an item among those that wait. Its caller is to be held if it has a ``room``.

        Raises:
            Overloaded, ClosedError: As submit() does.
        """
        with self._lock:
            if self._closed:
                raise ClosedError(f"{self.name} is closed", where="submit()", next_step="Make a new one.")
            item.enter(next(self._item_numbers))
            if self._is_full() and not self._is_own_thread():
                if self._on_full == "refuse":
                    self._counts["overloaded"] += 1
                    raise Overloaded(
                        f"{len(self._schedule.waiting)} items wait already",
                        where=f"WorkQueue(queue_limit={self._queue_limit})",
                        next_step="Try again later, or allow more.",
                    )
                item.room = threading.Lock()
                item.room.acquire()
                self._held[item.number] = item
            if self._schedule.add(item):
                self._wake_worker()
            if item.deadline is not None:
                self._wake_clock(item.deadline)

    def _withdraw(self, item: _WorkItem) -> None:
        """Takes an item that was cancelled out of those that wait; does nothing if it is not there."""
        with self._lock:
            if self._remove(item):
                self._counts["cancelled"] += 1
                item.set_running_or_notify_cancel()  # wait() and as_completed() must know, too

    def _remove(self, item: _WorkItem) -> bool:
        """Takes an item out of those that wait, and lets in callers for whom there is room; with the lock held."""
        waited = self._schedule.remove(item)
        self._let_in(item)
        return waited

    def _let_in(self, item: _WorkItem) -> None:
        """The caller of an item that waits no more goes on, and others if there is room; with the lock held."""
        if item.number in self._held:
            self._let_go(item.number)
        while self._held and not self._is_full():
            self._let_go(next(iter(self._held)))

    def _let_go(self, number: int) -> None:
        room = self._held[number].room
        assert room is not None
        _signal(room)
        del self._held[number]

    def _end_expired(self) -> None:
        """Ends the items whose time is up. In our own threads only: an interrupt would leave them without an answer."""
        expired = []
        with self._lock:
            now = time.monotonic()
            while (item := self._schedule.expired(now)) is not None:
                if not self._remove(item):
                    continue
                if item.set_running_or_notify_cancel():  # from here on it cannot be cancelled
                    self._counts["expired"] += 1
                    expired.append(item)
                else:
                    self._counts["cancelled"] += 1
        for item in expired:
            error = DeadlineError(
                f"the item has waited for {now - item.arrived:.3f} s and was not run",
                where=f"deadline_secs={(item.deadline or 0.0) - item.arrived:.6g}",
                next_step="Give it more time, or have more workers.",
            )
            item.answer(None, error)

    # -- workers ---------------------------------------------------------------------------------------------------

    def _wake_worker(self) -> None:
        """One more item can begin: one more worker looks for it; with the lock held."""
        if self._idle:
            self._idle.pop().release()
        elif len(self._threads) < self._workers:
            try:
                self._threads.add(self._start(self._work, str(next(self._thread_numbers))))
            except RuntimeError:  # the system has no more threads
                if not self._threads:
                    raise

    def _start(self, target: Callable[[], None], what: str) -> threading.Thread:
        """Starts a thread; with the lock held."""
        self._left = [thread for thread in self._left if thread.is_alive()]
        thread = threading.Thread(target=target, name=f"{self.name}-{what}", daemon=True)
        thread.start()
        return thread

    def _leave(self, me: threading.Thread) -> None:
        """A thread is about to end; with the lock held."""
        self._threads.discard(me)
        if self._clock is me:
            self._clock = None
        self._left.append(me)
        if self._closed:
            self._wake_closers()

    def _wake_closers(self) -> None:
        """Wakes the threads that wait for the end if it has come, and a clock that is alone; with the lock held."""
        if self._threads:
            return
        if self._clock is not None:
            _signal(self._clock_wake)
            return
        for ended in self._closers:
            _signal(ended)

    def _work(self) -> None:
        """A worker's thread.

        An error that is kept keeps the frames that it has passed, and those that have called them. So this one drops
        what it has, and no other frame is around a run.
        """
        me = threading.current_thread()
        wake = threading.Lock()  # it waits for this when there is nothing to do
        wake.acquire()
        with self._lock:
            if me not in self._threads:  # whoever started it was interrupted just then
                if len(self._threads) >= self._workers:
                    return
                self._threads.add(me)
        try:
            while (item := self._next(me, wake)) is not None:
                started = time.monotonic()
                result, error = _outcome(self._run, item)
                self._note(me, item, started, error)  # before the caller knows
                try:
                    item.answer(result, error)
                finally:
                    self._release_key(item)
                del item, result, error
        except BaseException:
            with self._lock:
                self._running.pop(me, None)
                self._threads.discard(me)
                if self._schedule.waiting:
                    self._wake_worker()
                self._leave(me)
            raise
        finally:
            del self

    def _release_key(self, item: _WorkItem) -> None:
        if item.key_queue is not None:
            with self._lock:
                self._schedule.ended(item)

    def _note(self, me: threading.Thread, item: _WorkItem, started: float, error: BaseException | None) -> None:
        with self._lock:
            del self._running[me]
            self._counts["succeeded" if error is None else "failed"] += 1
            self._queued.append(started - item.arrived)
            self._runs.append(time.monotonic() - started)

    def _next(self, me: threading.Thread, wake: threading.Lock) -> _WorkItem | None:
        """Waits for an item to run; None when the worker is to end."""
        late = False
        while True:
            if self._schedule.deadlines.things:
                self._end_expired()
            with self._lock:
                if late and wake in self._idle:
                    self._idle.remove(wake)
                elif late:  # it was woken just now
                    wake.acquire(blocking=False)
                item = self._take(me)
                if item is not None:
                    return item
                if late or self._closed:
                    self._leave(me)
                    return None
                self._idle.append(wake)
            late = not wake.acquire(timeout=_IDLE_SECS)

    def _take(self, me: threading.Thread) -> _WorkItem | None:
        """Begins an item; with the lock held."""
        while not self._cancelling:
            item = self._schedule.take()
            if item is None:
                break
            self._let_in(item)
            if item.set_running_or_notify_cancel():
                self._running[me] = item
                return item
            self._counts["cancelled"] += 1
            self._schedule.ended(item)
        return None

    # -- the clock -------------------------------------------------------------------------------------------------

    def _wake_clock(self, deadline: float) -> None:
        """An item with a deadline waits; with the lock held."""
        if self._clock is None:
            self._clock_until = deadline
            self._clock = self._start(self._watch_deadlines, "clock")
        elif deadline < self._clock_until:
            self._clock_until = deadline
            _signal(self._clock_wake)

    def _watch_deadlines(self) -> None:
        """The clock's thread."""
        while True:
            self._end_expired()
            with self._lock:
                deadline = self._schedule.next_deadline()
                if deadline is None:
                    self._leave(threading.current_thread())
                    return
                self._clock_until = deadline
            self._clock_wake.acquire(timeout=min(max(0.0, deadline - time.monotonic()), _IDLE_SECS))


def _signal(waited_for: threading.Lock) -> None:
    """Lets the thread go on that waits for a lock, or the next time if it does not wait; with the queue's lock held."""
    if waited_for.locked():
        waited_for.release()


def _check_priority(value: Any) -> float:
    """A priority as a number of Python's, which compares in one step."""
    if isinstance(value, (np.integer, np.floating)):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        raise UsageError(f"priority is {value!r}", where="submit()", next_step="Give a number.")
    return value


_queues: weakref.WeakSet[WorkQueue] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """End the queues that the program has left open."""
    for queue in list(_queues):
        queue._end_with_process()
