"""Requests of a Batcher: rows of one caller, and how that caller gets its answer.

::

    OwnRows      a thread that runs its own rows           no hand-over
    FutureRows   a thread that waits, or has a Future      a lock, or concurrent.futures.Future
    AwaitedRows  a coroutine                               a future of its event loop, by Deliveries

Those that wait in the queue have three methods, each called once at most: ``withdraw()`` when it is taken out of the
queue unanswered, else ``begin()`` before its run, which says whether it is still wanted, and ``end()``.
"""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from tf1sessions.pipelines.rows import Rows

__all__ = ["AwaitedRows", "Deliveries", "FutureRows", "OwnRows", "QueuedRows"]

logger = logging.getLogger("tf1sessions")


class OwnRows:
    """One caller's rows, which it runs itself: it needs no Future, which takes as long to make as all the rest."""

    __slots__ = ("arrived", "count", "key", "rows", "thread")

    def __init__(self, rows: Rows, arrived: float) -> None:
        self.rows = rows
        self.count = rows.count
        self.key = rows.key
        self.arrived = arrived
        self.thread = threading.get_ident()


class FutureRows(concurrent.futures.Future):  # type: ignore[type-arg]
    """One caller's rows, and the Future of its answer.

    Args:
        rows: The fed values.
        arrived: When, on the monotonic clock.
        deadline_secs: How long it may wait, or None.
        cancelled: Called with it when it has been cancelled, to take it out of the queue.
    """

    def __init__(
        self, rows: Rows, arrived: float, deadline_secs: float | None, cancelled: Callable[[FutureRows], object]
    ) -> None:
        super().__init__()
        self._on_cancel: Callable[[FutureRows], object] | None = cancelled
        self._rows: Rows | None = rows
        self.count = rows.count
        self.key = rows.key
        self.arrived = arrived
        self.deadline = None if deadline_secs is None else arrived + deadline_secs
        # Held until end(). A caller waits for this and not in result(): an interrupt in there could keep a lock that
        # the dispatcher needs.
        self.answered = threading.Lock()
        self.answered.acquire()

    @property
    def rows(self) -> Rows:
        """The fed values, until it is answered."""
        assert self._rows is not None
        return self._rows

    def seconds_left(self) -> float:
        """Return the seconds that it may still wait; -1, which stands for ever, without a deadline."""
        return -1.0 if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def cancel(self) -> bool:
        """Cancels the request unless it runs or is done; returns whether it is cancelled."""
        cancelled = super().cancel()
        on_cancel = self._on_cancel
        if cancelled and on_cancel is not None:
            on_cancel(self)
            self._forget()
        return cancelled

    def withdraw(self) -> None:
        """Lets wait() and as_completed() know, too, that it was cancelled."""
        self.set_running_or_notify_cancel()

    def begin(self) -> bool:
        """Makes it one that cannot be cancelled any more; False when it was cancelled before."""
        return self.set_running_or_notify_cancel()

    def end(self, result: Any, error: BaseException | None = None) -> None:
        """Answers it, unless it was cancelled before it was run."""
        try:
            if not self.running() and not self.begin():
                return
            self._forget()
            if error is None:
                self.set_result(result)
            else:
                self.set_exception(error)
        except BaseException:  # Future lets through what is no Exception, and others wait for this thread
            logger.exception("a function that was added to a Future of the batcher raised")
        finally:
            self.answered.release()

    def _forget(self) -> None:
        """Drops what a Future that is kept must not keep alive."""
        self._on_cancel = self._rows = None


class AwaitedRows:
    """One coroutine's rows, and the future of its answer, which belongs to the event loop.

    Args:
        rows: The fed values.
        arrived: When, on the monotonic clock.
        deadline_secs: How long it may wait, or None.
        deliveries: To the event loop.
        ended: Called when it has ended, in whichever way and thread; where its caller was cancelled while it ran, when
            that run is over. Must neither raise nor wait.
    """

    __slots__ = ("_deliveries", "_ended", "answer", "arrived", "count", "deadline", "key", "rows")

    def __init__(
        self,
        rows: Rows,
        arrived: float,
        deadline_secs: float | None,
        deliveries: Deliveries,
        ended: Callable[[], object],
    ) -> None:
        self.rows = rows
        self.count = rows.count
        self.key = rows.key
        self.arrived = arrived
        self.deadline = None if deadline_secs is None else arrived + deadline_secs
        self.answer: asyncio.Future[Any] = deliveries.loop.create_future()
        self._deliveries = deliveries
        self._ended = ended

    def withdraw(self) -> None:
        """Ends it without an answer: its caller was cancelled."""
        self._ended()

    def begin(self) -> bool:
        """Always true: one whose caller is cancelled is not in the queue any more."""
        return True

    def end(self, result: Any, error: BaseException | None = None) -> None:
        """Answers it."""
        self._ended()
        self._deliveries.add(self.answer, result, error)


QueuedRows = FutureRows | AwaitedRows


class Deliveries:
    """Answers for futures of an event loop, which is woken once for all that have come meanwhile.

    ``asyncio.wrap_future`` wakes it for each, and the thread that has the answers of a batch would have to wait for
    Python's global lock after each.

    Args:
        loop: The event loop.

    Thread-safety: :meth:`add` is safe from any thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._answers: collections.deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = collections.deque()
        self._woken = False

    def add(self, waiting: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
        """Give a future its result or error, in the event loop; one that was cancelled meanwhile stays so."""
        self._answers.append((waiting, result, error))
        if not self._woken:
            self._woken = True  # before the loop can see what is there
            try:
                self.loop.call_soon_threadsafe(self._deliver)
            except RuntimeError:  # the loop was closed, and the caller with it
                self._woken = False

    def _deliver(self) -> None:
        self._woken = False  # what comes from here on wakes the loop again
        while self._answers:
            waiting, result, error = self._answers.popleft()
            if waiting.done():  # the caller was cancelled
                continue
            if error is None:
                waiting.set_result(result)
            else:
                waiting.set_exception(error)
