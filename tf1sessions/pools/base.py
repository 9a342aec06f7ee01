"""What every pool of sessions shares: jobs, their names and limits, counting, and the Executor's interface.

::

    submit(fn, ...) ─▶ Job (a Future, a name, a limit) ─▶ the pool's _enqueue ─▶ … ─▶ _finish: Future, counts, progress

A pool hands each job a :class:`~tf1sessions.GraphSession` as the first argument: a fresh one, or, when the pool has an
``initializer``, the worker's, built once and sealed.
"""

from __future__ import annotations

import concurrent.futures
import functools
import itertools
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tf1sessions import forks
from tf1sessions.errors import ClosedError, JobError, UsageError
from tf1sessions.pools.mapping import lazy_map
from tf1sessions.pools.progress import PoolBar
from tf1sessions.texts import figures

__all__ = ["Job", "JobOptions", "PoolProgress", "PoolStatistics", "SessionPool", "check_limit", "job_error"]

logger = logging.getLogger("tf1sessions")


@dataclass(frozen=True)
class PoolStatistics:
    """A pool's counts at one moment; ``print()`` shows them as a table.

    Attributes:
        workers: How many jobs may run at once.
        submitted: Jobs submitted so far.
        waiting, running: Jobs not started, and started and not ended.
        succeeded, failed, timed_out, cancelled: Jobs that ended, by how they did.
        busy_seconds: Time that ended jobs took, summed over the workers.
        stuck_threads: Names of the threads of a ThreadSessionPool whose job's time was up and whose code has not ended
            yet. They are no workers any more.
    """

    workers: int
    submitted: int = 0
    waiting: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    timed_out: int = 0
    cancelled: int = 0
    busy_seconds: float = 0.0
    stuck_threads: tuple[str, ...] = ()

    def __str__(self) -> str:
        names = ("workers", *_COUNTED)
        rows = figures([name.replace("_", " ") for name in names], [[getattr(self, name) for name in names]])
        if self.stuck_threads:
            rows.append(f"stuck threads: {', '.join(self.stuck_threads)}")
        return "\n".join(rows)


_COUNTED = ("submitted", "waiting", "running", "succeeded", "failed", "timed_out", "cancelled", "busy_seconds")


@dataclass(frozen=True)
class PoolProgress:
    """What a pool's ``progress`` function is told when a job changes its state.

    Attributes:
        job: The job's name.
        state: ``"running"``, ``"succeeded"``, ``"failed"``, ``"timed_out"`` or ``"cancelled"``.
        seconds: How long the job ran; 0.0 before it has ended.
        statistics: The pool's counts after the change.
    """

    job: str
    state: str
    seconds: float
    statistics: PoolStatistics


class Job:
    """One call of a function with a session. Fields change under the pool's lock, once they are set by submit.

    A plain class whose defaults are the class's own: there may be tens of thousands a second.
    """

    started: float | None = None
    ended = False
    session: Any = None

    def __init__(
        self,
        future: concurrent.futures.Future[Any],
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        options: JobOptions,
        number: int,
    ) -> None:
        self.future = future
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.options = options
        self.number = number

    @property
    def name(self) -> str:
        """The one it was given, or the function's and a number."""
        return self.options.name or f"{getattr(self.function, '__name__', type(self.function).__name__)}-{self.number}"

    @property
    def time_limit_secs(self) -> float | None:
        """The limit that it was given, or the pool's."""
        return self.options.time_limit_secs

    def begin(self) -> bool:
        """Marks it as running, under the pool's lock; False when it was cancelled. Also :meth:`end` is for subclasses
        whose futures can be cancelled for longer."""
        return self.future.set_running_or_notify_cancel()

    def end(self, result: Any, error: BaseException | None) -> bool:
        """Gives its future what it ended with, or leaves that to :meth:`tell`; under the pool's lock. False when it was
        cancelled."""
        return True

    def tell(self, result: Any, error: BaseException | None) -> None:
        """Does the rest, without the lock."""
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


@dataclass(frozen=True)
class JobOptions:
    """Submits jobs with a name or a time limit of their own; made by :meth:`SessionPool.job`."""

    pool: SessionPool
    name: str | None
    time_limit_secs: float | None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """As :meth:`SessionPool.submit`."""
        return self.pool._submit(self, fn, args, kwargs)


class SessionPool(concurrent.futures.Executor):
    """The part of a pool that does not depend on what its workers are. Not for direct use.

    ``_lock`` guards the statistics, the jobs' states and what subclasses say that it does; ``_condition`` is made on
    it. ``progress`` is called without it.
    """

    def __init__(
        self,
        max_workers: int,
        *,
        name: str,
        time_limit_secs: float | None,
        progress: Callable[[PoolProgress], None] | bool | None,
    ) -> None:
        if isinstance(max_workers, bool) or not isinstance(max_workers, int) or max_workers < 1:
            raise UsageError(
                f"max_workers is {max_workers!r}", where=type(self).__name__, next_step="Give an integer of 1 or more."
            )
        check_limit(time_limit_secs, type(self).__name__)
        self.name = name
        self._time_limit_secs = time_limit_secs
        self._options = JobOptions(self, None, time_limit_secs)
        if progress is not None and not callable(progress) and not isinstance(progress, bool):
            raise UsageError(
                f"progress is {progress!r}",
                where=type(self).__name__,
                next_step="Give True for a bar, or a function that takes a PoolProgress.",
            )
        self._progress: Callable[[PoolProgress], None] | None
        if isinstance(progress, bool):
            self._progress = PoolBar(name) if progress else None
        else:
            self._progress = progress
        self._lock = threading.RLock()
        self._condition = threading.Condition(self._lock)
        self._most_workers = max_workers
        self._counts: dict[str, float] = dict.fromkeys(_COUNTED, 0)
        self._counts["busy_seconds"] = 0.0
        self._numbers = itertools.count()
        self._shut = False
        self._process: int | None = None  # whose threads do the jobs, once there are any
        self._leaving: set[threading.Thread] = set()  # under the lock: threads at their last lines

    # -- handing jobs over -----------------------------------------------------------------------------------------

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """Schedules ``fn(session, *args, **kwargs)``.

        Returns:
            A Future. Its exception is a :class:`JobError` with the job's name, whose ``__cause__`` is what ``fn``
            raised; or a :class:`JobTimeoutError`. ``cancel()`` works until the job starts.

        Raises:
            ClosedError: After shutdown().
            ForkedAfterSessionError: In a fork of the process whose threads do the jobs.
        """
        return self._submit(self._options, fn, args, kwargs)

    def job(self, name: str | None = None, time_limit_secs: float | None = None) -> JobOptions:
        """Names the next job, or limits its time: ``pool.job("rate 0.1", time_limit_secs=60).submit(train, 0.1)``.

        Args:
            name: For errors, progress and statistics; by default the function's name and a number.
            time_limit_secs: Seconds from the job's start; the pool's limit by default.
        """
        check_limit(time_limit_secs, "job()")
        return JobOptions(self, name, self._time_limit_secs if time_limit_secs is None else time_limit_secs)

    def _is_inherited(self) -> bool:
        """Whether this process is a fork of the one that the pool works in: its threads are not here."""
        return self._process not in (None, os.getpid())

    def _submit(
        self, options: JobOptions, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> concurrent.futures.Future[Any]:
        self._check_call(fn)
        job = self._new_job(options, fn, args, kwargs, next(self._numbers))
        with self._lock:
            self._check_not_shut()
            counts = self._counts
            counts["submitted"] += 1
            counts["waiting"] += 1
            self._enqueue(job)
        self._enqueued(job)
        return job.future

    def _submit_all(
        self, fn: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
    ) -> Sequence[concurrent.futures.Future[Any]]:
        """The same for several calls of one function, whose positional arguments are given."""
        return [self._submit(self._options, fn, args, {}) for args in calls]

    def _check_call(self, fn: Callable[..., Any]) -> None:
        if not callable(fn):
            raise UsageError(
                f"{fn!r} is not callable", where="submit()", next_step="Pass a function that takes a session first."
            )
        process = os.getpid()
        if self._process != process:
            if self._process is not None:  # before the lock, which may be held for ever
                raise forks.error(self.name)
            self._process = process

    def _check_not_shut(self) -> None:
        if self._shut:
            raise ClosedError(f"{self.name} is shut down", where="submit()", next_step="Make a new pool.")

    def _enqueued(self, job: Job) -> None:
        """What follows on :meth:`_enqueue`, without the lock: :meth:`_on_cancelled` shall be called."""
        # Weak, because who keeps the future shall not keep the arguments. The pool has the job until that has ended.
        job.future.add_done_callback(functools.partial(self._when_done, weakref.ref(job)))

    def _new_job(
        self, options: JobOptions, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], number: int
    ) -> Job:
        return Job(concurrent.futures.Future(), fn, args, kwargs, options, number)

    def _enqueue(self, job: Job) -> None:
        """Takes a job over; called with the lock held."""
        raise NotImplementedError

    def as_completed(
        self, futures: Iterable[concurrent.futures.Future[Any]], timeout: float | None = None
    ) -> Iterator[concurrent.futures.Future[Any]]:
        """Yields futures as they end; ``concurrent.futures.as_completed``."""
        return concurrent.futures.as_completed(futures, timeout)

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        prefetch: int | None = None,
        ordered: bool = True,
    ) -> Iterator[Any]:
        """Yields ``fn(session, *items)`` for the items of the iterables, which may be endless.

        Args:
            fn: As for :meth:`submit`.
            *iterables: Taken from in the thread that iterates, and no further than ``prefetch`` jobs ahead of it.
            timeout: Seconds from this call until the last result must be there; ``TimeoutError`` is raised then.
            chunksize: How many items go into one job.
            prefetch: How many jobs may be submitted, and their results not taken; by default two for each worker, and
                up to 128 in a pool of processes while they take less than a millisecond.
            ordered: False yields results as they come.

        Jobs whose results are not taken are cancelled when the iterator is closed, or a job raises.
        """
        for what, value in (("chunksize", chunksize), ("prefetch", prefetch)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise UsageError(f"{what} is {value!r}", where="map()", next_step="Give an integer of 1 or more.")
        most = self._prefetch if prefetch is None else lambda _: prefetch
        return lazy_map(self._submit_all, fn, iterables, timeout, chunksize, most, ordered)

    def _prefetch(self, fn: Callable[..., Any]) -> int:
        """How many jobs of a map are submitted ahead, each of which calls this."""
        return 2 * self._most_workers

    def _close_progress(self) -> None:
        close = getattr(self._progress, "close", None)
        if close is not None:
            close()

    def _leave_thread(self) -> None:
        """Says that the current thread is about to end; with the lock held."""
        self._leaving = {thread for thread in self._leaving if thread.is_alive()} | {threading.current_thread()}

    def _join_leaving(self) -> None:
        """Waits for the last lines of threads that have told so."""
        with self._condition:
            leaving = self._leaving - {threading.current_thread()}
        for thread in leaving:
            thread.join()

    # -- counting --------------------------------------------------------------------------------------------------

    def statistics(self) -> PoolStatistics:
        """The pool's counts now. Safe to call from any thread."""
        with self._condition:
            return self._statistics

    @property
    def _statistics(self) -> PoolStatistics:
        """The counts; with the lock held."""
        return PoolStatistics(self._most_workers, **self._counts)  # type: ignore[arg-type]

    def _count(self, **changes: float) -> PoolStatistics | None:
        """Adds to the counts; with the lock held. Returns them if there is somebody to be told."""
        counts = self._counts
        for name, change in changes.items():
            counts[name] += change
        return None if self._progress is None else self._statistics

    def _tell(self, job: Job, state: str, seconds: float, statistics: PoolStatistics | None) -> None:
        if self._progress is None or statistics is None:
            return
        try:
            self._progress(PoolProgress(job.name, state, seconds, statistics))
        except Exception:  # the job goes on, as after an error in a future's callback
            logger.exception("%s: its progress function raised at %r, %s", self.name, job.name, state)

    def _start(self, job: Job) -> bool:
        """Marks a job as running; False when it was cancelled."""
        with self._lock:
            if not job.begin():
                return False
            job.started = time.monotonic()
            self._counts["waiting"] -= 1
            self._counts["running"] += 1
            statistics = None if self._progress is None else self._statistics
        if statistics is not None:
            self._tell(job, "running", 0.0, statistics)
        return True

    def _finish(self, job: Job, state: str, *, result: Any = None, error: BaseException | None = None) -> bool:
        """Ends a job; False when it had ended before: its time was up, or it was cancelled."""
        announce = self._mark_ended(job, state, result=result, error=error)
        if announce is None:
            return False
        announce()
        return True

    def _mark_ended(
        self, job: Job, state: str, *, result: Any = None, error: BaseException | None = None
    ) -> Callable[[], None] | None:
        """Marks a job as ended and counts it; None when it had ended before.

        Returns a function that completes its future, which runs the callbacks of that, and reports the progress.
        """
        with self._condition:
            if job.ended:
                return None
            job.ended = True
            if not job.end(result, error):
                return None  # cancelled: its callback counts it
            seconds = time.monotonic() - (job.started or time.monotonic())
            statistics = self._count(running=-1, busy_seconds=seconds, **{state: 1})

        def announce() -> None:
            job.tell(result, error)
            self._tell(job, state, seconds, statistics)

        return announce

    def _when_done(self, reference: weakref.ref[Job], future: concurrent.futures.Future[Any]) -> None:
        if future.cancelled() and (job := reference()) is not None:
            self._on_cancelled(job)

    def _on_cancelled(self, job: Job) -> None:
        with self._condition:
            job.ended = True
            statistics = self._count(waiting=-1, cancelled=1)
        self._tell(job, "cancelled", 0.0, statistics)


def job_error(
    pool: SessionPool, job: Job, cause: BaseException, how: str = "raised", next_step: str | None = None
) -> JobError:
    """The error of a job that raised; it keeps the original exception and its traceback as ``__cause__``."""
    error = JobError(
        f"job {job.name!r} {how} {type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}".rstrip(
            ": "
        ),
        where=pool.name,
        next_step=next_step or "The exception it raised is this one's __cause__, with its traceback.",
        job=job.name,
    )
    error.__cause__ = cause
    return error


def check_limit(
    limit: float | None, where: str, what: str = "time_limit_secs", wanted: str = "a number of seconds above 0"
) -> None:
    """Refuses what is no limit."""
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit > 0):
        raise UsageError(f"{what} is {limit!r}", where=where, next_step=f"Give {wanted}.")
