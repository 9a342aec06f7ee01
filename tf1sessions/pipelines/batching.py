"""Batcher: rows of many callers' requests become one run of a session.

::

    batcher(rows) ── the model is idle ──▶ the caller's own thread runs its request at once
         │ the model is busy, or the caller wants a Future
         ▼
    queue (bounded, in order of arrival)
         │ once the model is free: all that goes with the oldest request, as many rows as a batch may have
         ▼
    dispatcher (one thread, there while it is needed) ──▶ rows joined, padded ──▶ run ──▶ each Future its own rows

The model is run by one thread at a time, the one that has the *turn*: a caller with its own request, or the dispatcher.
While it runs, the next batch fills. Requests go together when their inputs differ in nothing but the rows: inner
shapes, inputs without rows (by value), which optional inputs are given.

When a run has answered several callers (or others have come meanwhile) the next one waits for those callers to come
back, for at most ``max_delay_ms`` from the end of that run, so that they make one full batch and not two halves. This
is the only time that is ever waited for: an idle model answers at once. Where callers do not come back (each request
is another's), waiting is in vain, and is tried more and more rarely.

A failed batch is run again in halves until the requests that fail are alone with their errors, unless the graph changes
something (retry_safety.py); then nothing is run twice, and all of the batch fail with the cause.

Whoever is interrupted gives back what it holds. A caller that is interrupted between two steps, at a place where
Python lets it do nothing, could keep the turn; the dispatcher looks for its stack from time to time while it waits.
"""

from __future__ import annotations

import asyncio
import atexit
import collections
import concurrent.futures
import dataclasses
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import Any

import numpy as np

from tf1sessions import forks
from tf1sessions.errors import (
    BatchError,
    ClosedError,
    ConfigError,
    DeadlineError,
    Overloaded,
)
from tf1sessions.pipelines.batch_requests import AwaitedRows, Deliveries, FutureRows, OwnRows, QueuedRows
from tf1sessions.pipelines.rows import RowCall, Rows
from tf1sessions.runtime import tf
from tf1sessions.sessions.calls import watched_session
from tf1sessions.sessions.feed_values import with_own_arrays
from tf1sessions.sessions.stacks import current_frames, without_collection
from tf1sessions.texts import brief, figures

__all__ = ["Batcher", "BatcherStatistics", "Percentiles", "check_duration"]

logger = logging.getLogger("tf1sessions")

#: How long the dispatcher's thread stays without work. Arbitrary: starting one costs 0.1 ms, keeping it nothing.
_IDLE_SECS = 10.0
#: How long the dispatcher waits for a caller's run before it looks whether that caller is still there.
_LOOK_SECS = 0.5
#: The longest time that can be asked for, in whatever unit. Arbitrary: below what a lock can wait for.
_LONGEST = 1e6
#: Stands for the moment at which the dispatcher will have given all callers of a batch their answers.
_UNTIL_ANSWERED = float("inf")
#: How often a wait for callers is tried when they do not come back: after this many runs, at last. Arbitrary.
_LONGEST_PAUSE = 32
#: How many of the last requests the percentiles are made of.
_RECENT = 4096
#: How long the end of the process waits for a run.
_EXIT_SECS = 5.0


# -- statistics -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Percentiles:
    """Seconds, of the last 4096 requests (or runs): half of them took at most ``p50``. All 0.0 when there were none."""

    p50: float
    p90: float
    p99: float
    largest: float

    @classmethod
    def of(cls, seconds: Iterable[float]) -> Percentiles:
        """The percentiles of a collection, each one of its members."""
        ordered = sorted(seconds) or [0.0]
        count = len(ordered)
        return cls(*(ordered[-(-count * share // 100) - 1] for share in (50, 90, 99, 100)))


def times(**measured: Percentiles) -> list[str]:
    """Lines of a table of times, in milliseconds."""
    return figures(
        ["ms", "median", "90 %", "99 %", "most"],
        [[name, *(f"{1e3 * secs:,.2f}" for secs in dataclasses.astuple(each))] for name, each in measured.items()],
    )


@dataclass(frozen=True)
class BatcherStatistics:
    """The counts of a batcher so far; ``print()`` shows it as tables.

    Attributes:
        requests: Requests with valid inputs: those that ended, in any of the following ways, wait or run.
        succeeded, failed: Answered, with a result or with an error of their run.
        expired: Their deadline passed before they were run.
        cancelled: Withdrawn by their callers, or by close(), before they were run.
        overloaded: Refused because the queue was full.
        waiting: In the queue now.
        batches: Runs of the session, those of parts of a failed batch included.
        rows: Rows of requests in these runs.
        padded_rows: Rows that were added to reach an allowed size.
        batch_sizes: How many runs had how many rows of requests.
        queue_secs: From the call to the run.
        run_secs: Of runs: joining the rows, the run, parting them.
        latency_secs: From the call to the answer; of answered requests.
    """

    requests: int
    succeeded: int
    failed: int
    expired: int
    cancelled: int
    overloaded: int
    waiting: int
    batches: int
    rows: int
    padded_rows: int
    batch_sizes: Mapping[int, int]
    queue_secs: Percentiles
    run_secs: Percentiles
    latency_secs: Percentiles

    def __str__(self) -> str:
        names = (
            "requests", "succeeded", "failed", "expired", "cancelled", "overloaded", "waiting", "batches", "rows",
            "padded_rows",
        )  # fmt: skip
        lines = figures([name.replace("_", " ") for name in names], [[getattr(self, name) for name in names]])
        sizes = ", ".join(f"{rows:,} rows {count:,} times" for rows, count in sorted(self.batch_sizes.items()))
        lines += ["", *times(queue=self.queue_secs, run=self.run_secs, latency=self.latency_secs)]
        return "\n".join([*lines, "", f"batches: {sizes or 'none'}"])


class _Record:
    """The counts behind :class:`BatcherStatistics`. Changed under the batcher's lock only."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(("requests", "succeeded", "failed", "expired", "cancelled", "overloaded"), 0)
        self.padded_rows = 0
        self.batch_sizes: collections.Counter[int] = collections.Counter()
        self.queued, self.runs, self.latencies = (collections.deque[float](maxlen=_RECENT) for _ in range(3))

    def statistics(self, waiting: int) -> BatcherStatistics:
        sizes = dict(sorted(self.batch_sizes.items()))
        return BatcherStatistics(
            **self.counts,
            waiting=waiting,
            batches=sum(sizes.values()),
            rows=sum(size * count for size, count in sizes.items()),
            padded_rows=self.padded_rows,
            batch_sizes=MappingProxyType(sizes),
            queue_secs=Percentiles.of(self.queued),
            run_secs=Percentiles.of(self.runs),
            latency_secs=Percentiles.of(self.latencies),
        )


# -- the batcher ------------------------------------------------------------------------------------------------------


class Batcher:
    """Makes one run of a session of the rows that many callers ask for. The graph stays as it is.

    Args:
        session: A :class:`~tf1sessions.GraphSession`, a ``Session`` or an ``InteractiveSession``.
        feeds: What requests give: a dict of name and tensor, a list of tensors, or one tensor. Names of tensors do as
            well.
        fetches: What they get: tensors, names and operations in any structure of dicts, lists and tuples.
        max_batch_size: The most rows of a run. A request with more is run in several parts, one after the other.
        max_delay_ms: How long, after a run that answered several callers, the next one waits for them to come back.
        queue_limit: How many requests may wait.
        allowed_batch_sizes: The numbers of rows that a run may have; the last row is repeated to reach one of them.
            Any number by default.
        deadline_secs: How long a request may wait before it is run, if it does not say so itself. For ever by default.
        shared: Feeds and fetches, from among the above or by name, that have no rows although they look as if.
        row_wise: Fetches, from among the above or by name, that are known to be computed row by row although the
            analysis of the graph does not find it. True stands for all.
        check: Compute the first batch of each kind of inputs that has several rows in three ways, together, each row
            alone, and in reverse order, and raise an error if they differ. At most 16 rows are taken.

    Feeds whose first dimension the graph leaves open have rows. If the graph fixes the first dimension of all feeds to
    one number, that is the size of every batch. All other feeds must be equal for requests to share a run. Fetches that
    are computed from the rows have rows, too: each must be computed from that row of the inputs alone, which is found
    by following the operations between them. A fetch that mixes rows, or may do so (a mean or softmax over the batch, a
    sort, batch normalisation in training), is refused, and so is one of an operation that is not known to work row by
    row. Fetches that do not depend on the rows go to all callers.

    Call it like a function of the inputs: in order, ``batcher(rows)``; by name, ``batcher(images=rows)``; or with a
    dict of names or tensors. Inputs that have a default in the graph may be left out. Each array of an answer is the
    caller's own. :meth:`submit` returns a Future, :meth:`acall` is for asyncio. What a request feeds must not be
    written to before its answer is there.

    A request that fails gets TensorFlow's error, as if it had run alone. It does not disturb the others: they are run
    again without it. A graph that changes something (a variable, a queue, a table) is never run twice: all requests of
    the batch get a :class:`~tf1sessions.errors.BatchError` with the cause; nor are its requests parted: one with too
    many rows is refused.

    Raises:
        ConfigError: For a setting that is out of its range, no feed with rows, a fetch that mixes rows of requests.

    Raised by requests:
        UsageError: An input is missing, unknown, or has another dtype or shape.
        ConfigError: With ``check``: rows depend on each other.
        Overloaded: The queue is full.
        DeadlineError: The request waited too long.
        ClosedError: The batcher was closed.
        tf.errors.OpError: TensorFlow's own, as it is.

    Thread-safety: everything may be used from any number of threads at once.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     x = tf.placeholder(tf.float32, [None, 2])
        ...     y = tf.reduce_sum(x, axis=1)
        ...     with t1.Batcher(gs, {"x": x}, {"y": y}) as batcher:
        ...         print(batcher(x=[[1., 2.], [3., 4.]])["y"])
        [3. 7.]
    """

    def __init__(
        self,
        session: Any,
        feeds: Any,
        fetches: Any,
        *,
        max_batch_size: int = 64,
        max_delay_ms: float = 2.0,
        queue_limit: int = 1000,
        allowed_batch_sizes: Iterable[int] | None = None,
        deadline_secs: float | None = None,
        shared: Iterable[Any] = (),
        row_wise: Iterable[Any] | bool = (),
        check: bool = False,
    ) -> None:
        session = watched_session(session, "Batcher")
        _check_integer("max_batch_size", max_batch_size)
        _check_integer("queue_limit", queue_limit)
        sizes = None if allowed_batch_sizes is None else _listed("allowed_batch_sizes", allowed_batch_sizes, "integers")
        for size in sizes or ():
            _check_integer("a size of allowed_batch_sizes", size)
        check_duration("max_delay_ms", max_delay_ms, "Batcher")
        if deadline_secs is not None:
            check_duration("deadline_secs", deadline_secs, "Batcher")
        self._delay_secs = max_delay_ms / 1000
        self._queue_limit = queue_limit
        self._deadline_secs = deadline_secs
        self._call = RowCall(
            session,
            feeds,
            fetches,
            max_batch_size=max_batch_size,
            allowed_batch_sizes=sizes,
            shared=_listed("shared", shared, "feeds and fetches"),
            row_wise=row_wise if isinstance(row_wise, bool) else _listed("row_wise", row_wise, "fetches"),
            check=check,
        )

        # Guards all that follows. Held for moments only, never while anything runs, and entered by `with` alone: that
        # is the one form in which an interrupt cannot leave a lock behind.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)  # the dispatcher waits for it, always with a limit
        self._queue: collections.deque[QueuedRows] = collections.deque()
        self._turn: OwnRows | threading.Thread | None = None  # the caller that runs the model
        self._dispatcher: threading.Thread | None = None
        self._deliveries: Deliveries | None = None  # to the event loop that asked last
        self._closed = False
        self._record = _Record()
        # Callers that are expected back: until when, with which key, how many rows with those that wait already.
        self._expected_until = 0.0
        self._expected_key: Any = None
        self._expected_rows = 0
        self._missing_rows = 0  # what the dispatcher waits for right now
        self._in_vain = 0  # how many waits in a row nobody, or less than half of them, came back
        self._pause = 0  # how many runs are not followed by a wait because of that
        _batchers.add(self)

    # -- requests --------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, deadline_secs: float | None = None, **named: Any) -> Any:
        """Answers one request: see the class. Runs it in this thread when the model is idle.

        Args:
            *args: The inputs in order, or one dict of them.
            deadline_secs: How long it may wait before it is run.
            **named: The inputs by name.
        """
        rows, deadline_secs = self._read(args, named, deadline_secs)
        own = OwnRows(rows, time.monotonic())
        if self._take_turn(own):
            return self._run_here(own)
        request = FutureRows(rows, own.arrived, deadline_secs, self._on_cancel)
        if self._enter(request, own):
            return self._run_here(own)
        try:
            if not request.answered.acquire(timeout=request.seconds_left()):
                self._withdraw(request, "expired")  # if it still waits
                request.answered.acquire()
            return request.result()
        except BaseException:
            request.cancel()  # this caller was interrupted; if the request is done, nothing happens
            raise
        finally:
            del request  # its error has this frame

    def submit(self, *args: Any, deadline_secs: float | None = None, **named: Any) -> concurrent.futures.Future[Any]:
        """Submit a call in the background: returns a Future at once. ``cancel()`` works until the request is run.

        Arrays are copied: their owner may fill them again. Functions added to the Future run in the thread that
        answers, and hold it up.
        """
        rows, deadline_secs = self._read(with_own_arrays(args), with_own_arrays(named), deadline_secs)
        request = FutureRows(rows, time.monotonic(), deadline_secs, self._on_cancel)
        self._enter(request)
        return request

    async def acall(self, *args: Any, deadline_secs: float | None = None, **named: Any) -> Any:
        """Call from asyncio. Arrays are copied. Cancelling the task withdraws the request."""
        request = self._ask(with_own_arrays(args), with_own_arrays(named), deadline_secs)
        late = None
        if request.deadline is not None:
            left = request.deadline - time.monotonic()
            late = asyncio.get_running_loop().call_later(left, self._withdraw, request, "expired")
        try:
            return await request.answer
        except asyncio.CancelledError:
            self._withdraw(request, "cancelled")
            raise
        finally:
            if late is not None:
                late.cancel()

    def _ask(
        self,
        args: tuple[Any, ...],
        named: Mapping[str, Any],
        deadline_secs: float | None,
        ended: Callable[[], object] = lambda: None,
    ) -> AwaitedRows:
        """Puts a request of the event loop into the queue; withdraw it when its answer is not awaited any more."""
        rows, deadline_secs = self._read(args, named, deadline_secs)
        loop = asyncio.get_running_loop()
        deliveries = self._deliveries
        if deliveries is None or deliveries.loop is not loop:
            deliveries = self._deliveries = Deliveries(loop)
        request = AwaitedRows(rows, time.monotonic(), deadline_secs, deliveries, ended)
        self._enter(request)
        return request

    def statistics(self) -> BatcherStatistics:
        """Return what was done so far."""
        with self._lock:
            return self._record.statistics(len(self._queue))

    # -- closing ---------------------------------------------------------------------------------------------------

    def close(self, *, join_secs: float = 60.0) -> None:
        """Ends the batcher: requests that wait get a ClosedError, the dispatcher's run is let end.

        The session stays open. Closing again does nothing.

        Args:
            join_secs: How long to wait for that run. After it the run goes on in its thread, which is named in the log
                ``tf1sessions``, and answers its requests when it ends; closing the session ends it, if TensorFlow can.
        """
        if forks.forked():
            return  # the thread, and the work, are the parent's
        with self._lock:
            self._closed = True
            waiting = list(self._queue)
            self._queue.clear()
            self._record.counts["cancelled"] += len(waiting)
            dispatcher = self._dispatcher
            self._changed.notify_all()
        for request in waiting:
            request.end(None, self._closed_error())
        if dispatcher is not None and dispatcher.ident != threading.get_ident():
            dispatcher.join(min(max(join_secs, 0.0), threading.TIMEOUT_MAX))
            if dispatcher.is_alive():
                logger.warning(
                    "a Batcher was closed %g s ago, and its run goes on in thread %r", join_secs, dispatcher.name
                )

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._closed

    def __enter__(self) -> Batcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<Batcher {state}, of {', '.join(self._call.names)}, up to {self._call.max_rows} rows>"

    def _closed_error(self) -> ClosedError:
        return ClosedError("the batcher is closed", where="Batcher", next_step="Make a new one.")

    # -- the queue and the turn ------------------------------------------------------------------------------------

    def _read(
        self, args: tuple[Any, ...], named: Mapping[str, Any], deadline_secs: float | None
    ) -> tuple[Rows, float | None]:
        """The rows of a request, and how long it may wait."""
        if forks.forked():
            raise forks.error("the batcher")
        if deadline_secs is None:
            deadline_secs = self._deadline_secs
        else:
            check_duration("deadline_secs", deadline_secs, "Batcher")
        return self._call.read(args, named), deadline_secs

    def _take_turn(self, own: OwnRows) -> bool:
        """Gives the caller the turn, if the model is idle and nothing is to be waited for.

        Raises:
            ClosedError: The batcher is closed.
        """
        with self._lock:
            if self._closed:
                raise self._closed_error()
            if not self._may_run_at_once(own):
                return False
            self._record.counts["requests"] += 1
            self._turn = own
            return True

    def _enter(self, request: QueuedRows, own: OwnRows | None = None) -> bool:
        """Puts a request into the queue; or gives the turn to its caller (True), if it has become free meanwhile.

        Raises:
            Overloaded: The queue is full.
            ClosedError: The batcher is closed.
        """
        expired: list[QueuedRows] = []
        try:
            with self._lock:
                if self._closed:
                    raise self._closed_error()
                self._record.counts["requests"] += 1
                if own is not None and self._may_run_at_once(own):
                    self._turn = own
                    return True
                if len(self._queue) >= self._queue_limit:
                    expired = self._take_expired()
                if len(self._queue) >= self._queue_limit:
                    self._record.counts["overloaded"] += 1
                    raise Overloaded(
                        f"{len(self._queue)} requests wait already",
                        where=f"Batcher(queue_limit={self._queue_limit})",
                        next_step="Try again later, or allow more.",
                    )
                if self._dispatcher is None:
                    thread = threading.Thread(target=self._serve, name="tf1sessions-batcher", daemon=True)
                    thread.start()
                    self._dispatcher = thread
                self._queue.append(request)
                if self._turn is None:
                    self._changed.notify()
                elif self._missing_rows > 0 and request.key == self._expected_key:
                    self._missing_rows -= request.count
                    if self._missing_rows <= 0:
                        self._changed.notify()
        finally:
            self._end_expired(expired)
        return False

    def _may_run_at_once(self, request: OwnRows) -> bool:
        if self._dispatcher is not None and self._dispatcher.ident == threading.get_ident():
            return True  # a function added to a Future: waiting for itself would be for ever
        if self._turn is not None or self._queue:
            return False
        return not (
            request.count < self._expected_rows
            and time.monotonic() < self._expected_until
            and request.key == self._expected_key
        )

    def _on_cancel(self, request: QueuedRows) -> None:
        self._withdraw(request, "cancelled")

    def _withdraw(self, request: QueuedRows, how: str) -> None:
        """Takes a request out of the queue, as "cancelled" or "expired"; does nothing if it is not there."""
        with self._lock:
            if request not in self._queue:
                return
            if how == "cancelled":
                self._queue.remove(request)
                self._record.counts["cancelled"] += 1
                request.withdraw()
                return
            expired = self._take_expired([request])
        self._end_expired(expired)

    def _take_expired(self, requests: Iterable[QueuedRows] | None = None) -> list[QueuedRows]:
        """Takes requests whose time is up, or those given, out of the queue; with the lock held."""
        if requests is None:
            now = time.monotonic()
            requests = [each for each in self._queue if each.deadline is not None and each.deadline <= now]
        expired = []
        for each in requests:
            self._queue.remove(each)
            if each.begin():  # from here on it cannot be cancelled
                expired.append(each)
                self._record.counts["expired"] += 1
            else:
                self._record.counts["cancelled"] += 1
        return expired

    def _end_expired(self, expired: Iterable[QueuedRows]) -> None:
        """Answers them; without the lock, because their Futures' functions are called."""
        for request in expired:
            waited = time.monotonic() - request.arrived
            request.end(
                None,
                DeadlineError(
                    f"the request has waited for {waited:.3f} s and was not run",
                    where=f"deadline_secs={(request.deadline or 0.0) - request.arrived:.6g}",
                    next_step="Give it more time, or send fewer requests at once.",
                ),
            )

    def _give_back(
        self,
        turn: OwnRows | threading.Thread,
        batch: Sequence[OwnRows | QueuedRows],
        started: float,
        succeeded: int,
    ) -> None:
        """Ends a turn in which a batch was run; before its callers know, so that the next turn can expect them."""
        now = time.monotonic()
        with self._lock:
            record = self._record
            record.counts["succeeded"] += succeeded
            record.counts["failed"] += len(batch) - succeeded
            for request in batch:
                record.queued.append(started - request.arrived)
                record.latencies.append(now - request.arrived)
            if self._turn is not turn:
                return  # it was taken away: see _wait_for_work
            self._turn = None
            self._expected_rows = 0
            if len(batch) > 1 or (batch and self._queue):
                key = batch[0].key
                callers = [*batch, *[each for each in self._queue if each.key == key]]
                if len(callers) > 1 and self._pause:
                    self._pause -= 1
                elif len(callers) > 1:
                    self._expected_rows = min(self._call.max_rows, sum(each.count for each in callers))
                    self._expected_key = key
                    self._expected_until = _UNTIL_ANSWERED if turn is self._dispatcher else now + self._delay_secs
            if self._queue:
                self._changed.notify()

    # -- the dispatcher --------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        """The dispatcher's thread: runs batches until there is nothing to do for a while."""
        thread = threading.current_thread()
        try:
            while self._serve_batch(thread):
                pass
        finally:
            with self._lock:
                if self._dispatcher is thread:
                    self._dispatcher = None
                if self._turn is thread:
                    self._turn = None

    def _serve_batch(self, thread: threading.Thread) -> bool:
        with self._lock:
            if self._expected_until == _UNTIL_ANSWERED:
                self._expected_until = time.monotonic() + self._delay_secs
            if not self._wait_for_work():
                if self._dispatcher is thread:
                    self._dispatcher = None  # under this lock: whoever comes next starts another
                return False
            self._turn = thread
            self._wait_for_more()
            expired = self._take_expired()
            batch = self._take_batch()
        self._end_expired(expired)
        started = time.monotonic()
        outcomes = self._outcomes(batch)
        self._give_back(thread, batch, started, sum(error is None for _, error in outcomes))
        for request, (result, error) in zip(batch, outcomes, strict=True):
            request.end(result, error)
        return True

    def _wait_for_work(self) -> bool:
        """Waits until there are requests and the model is free; False when the thread is to end. With the lock held."""
        while not self._closed:
            if not self._queue:
                if not self._changed.wait(_IDLE_SECS) and not self._queue:
                    return False
            elif self._turn is None:
                return True
            elif not self._changed.wait(_LOOK_SECS) and isinstance(self._turn, OwnRows) and not _runs(self._turn):
                self._turn = None  # its caller was interrupted where it could not give the turn back
        return False

    def _wait_for_more(self) -> None:
        """Waits for the callers of the last run to come back; with the lock held."""
        until = self._expected_until
        head = self._queue[0]
        if time.monotonic() >= until or head.key != self._expected_key:
            return
        if any(each.deadline is not None and each.deadline <= until for each in self._queue):
            return
        missing = self._expected_rows - sum(each.count for each in self._queue if each.key == head.key)
        self._missing_rows = missing
        while self._missing_rows > 0 and not self._closed:
            left = until - time.monotonic()
            if left <= 0 or not self._changed.wait(left):
                break
        self._in_vain = self._in_vain + 1 if self._missing_rows > missing / 2 else 0
        self._pause = min(2**self._in_vain, _LONGEST_PAUSE) - 1
        self._missing_rows = 0

    def _take_batch(self) -> list[QueuedRows]:
        """Takes the oldest request from the queue, and what may run with it; with the lock held."""
        batch: list[QueuedRows] = []
        rows = 0
        passed: list[QueuedRows] = []
        while self._queue and (rows < self._call.max_rows or not batch):
            request = self._queue.popleft()
            if batch and (request.key != batch[0].key or rows + request.count > self._call.max_rows):
                passed.append(request)
            elif request.begin():
                batch.append(request)
                rows += request.count
            else:
                self._record.counts["cancelled"] += 1
        self._queue.extendleft(reversed(passed))
        return batch

    # -- running ---------------------------------------------------------------------------------------------------

    def _run_here(self, request: OwnRows) -> Any:
        """Runs a caller's request in its own thread; it has the turn."""
        started = time.monotonic()
        succeeded = 0
        try:
            [result] = self._run([request])
            succeeded = 1
            return result
        finally:
            self._give_back(request, [request], started, succeeded)

    def _outcomes(self, batch: list[QueuedRows]) -> list[tuple[Any, BaseException | None]]:
        """Runs a batch, in parts if it fails and may be run twice; returns a result or an error for each request."""
        if not batch:
            return []
        try:
            return [(result, None) for result in self._run(batch)]
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the callers'
            if len(batch) == 1:
                return [(None, error)]
            if isinstance(error, tf.errors.DeadlineExceededError):  # each of the parts could take as long again
                return [(None, self._late(len(batch), error)) for _ in batch]
            if not isinstance(error, Exception) or self._call.changed_by is not None:
                return [(None, self._batch_error(len(batch), error)) for _ in batch]
        middle = len(batch) // 2
        return self._outcomes(batch[:middle]) + self._outcomes(batch[middle:])

    def _late(self, count: int, cause: BaseException) -> DeadlineError:
        error = DeadlineError(
            f"the run of a batch of {count} requests was ended, as it took too long: {cause}", where="Batcher"
        )
        error.__cause__ = cause
        return error

    def _batch_error(self, count: int, cause: BaseException) -> BatchError:
        why = f", because the graph changes something: {self._call.changed_by}" if self._call.changed_by else ""
        error = BatchError(
            f"a batch of {count} requests failed with {type(cause).__name__}, and is not run again to find the one that"
            f" is to blame{why}",
            where="Batcher",
            next_step="TensorFlow's error is this one's __cause__.",
        )
        error.__cause__ = cause
        return error

    def _run(self, batch: Sequence[OwnRows | QueuedRows]) -> list[Any]:
        started = time.monotonic()
        sizes: list[tuple[int, int]] = []
        try:
            return self._call.run([request.rows for request in batch], sizes)
        finally:
            with self._lock:
                record = self._record
                record.runs.append(time.monotonic() - started)
                for rows, padding in sizes:
                    record.batch_sizes[rows] += 1
                    record.padded_rows += padding


@without_collection
def _runs(request: OwnRows) -> bool:
    """Whether the caller that has the turn is still running its request."""
    frame = current_frames().get(request.thread)
    while frame is not None:
        if frame.f_code is Batcher._run_here.__code__ and frame.f_locals.get("request") is request:
            return True
        frame = frame.f_back
    return False


def _check_integer(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ConfigError(f"{name} is {value!r}", where="Batcher", next_step="Give an integer of 1 or more.")


def _listed(name: str, values: Iterable[Any], what: str) -> tuple[Any, ...]:
    """The elements; a text is one name."""
    if isinstance(values, str):
        return (values,)
    try:
        return tuple(values)
    except TypeError as error:  # TensorFlow's own of a tensor, too
        raise ConfigError(f"{name} is {brief(values)}", where="Batcher", next_step=f"Give a list of {what}.") from error


def check_duration(name: str, value: Any, where: str) -> None:
    """Raise a ConfigError for a value that is no number from 0 to a million."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value <= _LONGEST:
        raise ConfigError(f"{name} is {value!r}", where=where, next_step="Give a number from 0 to a million.")


_batchers: weakref.WeakSet[Batcher] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """End the batchers that the program has left open: a run that ends later than Python aborts the process."""
    for batcher in list(_batchers):
        if not batcher.closed:
            batcher.close(join_secs=_EXIT_SECS)
