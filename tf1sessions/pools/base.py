"""The common part of all pools of sessions: jobs, their names and limits, and the Executor's interface.

::

    submit(fn, ...) ─▶ PoolJob (a future, a name, a limit) ─▶ the pool's _enqueue ─▶ … ─▶ JobAccounts: future, counts

A pool gives each job a :class:`~tf1sessions.GraphSession` as the first argument: a fresh one, or, when the pool has an
``initializer``, the worker's, built once and sealed.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

from tf1sessions import forks
from tf1sessions.errors import ClosedError, UsageError
from tf1sessions.pools.accounts import JobAccounts
from tf1sessions.pools.jobs import JobOptions, PoolFuture, PoolJob
from tf1sessions.pools.mapping import lazy_map
from tf1sessions.pools.progress import PoolProgress, PoolStatistics

__all__ = ["PoolProgress", "PoolStatistics", "SessionPool", "check_count", "check_initializer", "check_limit"]


class SessionPool(concurrent.futures.Executor):
    """The part of a pool that does not depend on what its workers are. Not for direct use.

    ``_lock`` is that of the accounts, and guards what subclasses say; ``_condition`` is made on it.
    """

    def __init__(
        self,
        max_workers: int,
        *,
        name: str,
        time_limit_secs: float | None,
        progress: Callable[[PoolProgress], None] | bool | None,
    ) -> None:
        where = type(self).__name__
        check_count("max_workers", max_workers, 1, where)
        check_limit(time_limit_secs, where)
        if progress is not None and not callable(progress) and not isinstance(progress, bool):
            raise UsageError(
                f"progress is {progress!r}",
                where=where,
                next_step="Give True for a bar, or a function that takes a PoolProgress.",
            )
        self.name = name
        self._accounts = JobAccounts(max_workers, progress, name)
        self._options = JobOptions(self._submit, self._accounts.cancelled, None, time_limit_secs)
        self._lock = self._accounts.lock
        self._condition = threading.Condition(self._lock)
        self._most_workers = max_workers
        self._numbers = itertools.count()
        self._shut = False
        self._process: int | None = None  # whose threads do the jobs, once there are any

    # -- submitting ------------------------------------------------------------------------------------------------

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """Schedules ``fn(session, *args, **kwargs)``.

        The arguments are taken as they are when the job is sent to a worker, as in ``concurrent.futures``: an array
        that is filled anew meanwhile goes with its new values. Submit a copy, or a new array.

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
        limit = self._options.time_limit_secs if time_limit_secs is None else time_limit_secs
        return dataclasses.replace(self._options, name=name, time_limit_secs=limit)

    def _is_inherited(self) -> bool:
        """Whether this process is a fork of the one that the pool works in: its threads are not here."""
        return self._process not in (None, os.getpid())

    def _submit(
        self, options: JobOptions, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> PoolFuture:
        return self._submit_jobs(fn, [(args, kwargs)], options)[0]

    def _submit_all(self, fn: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Sequence[PoolFuture]:
        """Submits several calls of one function, whose positional arguments are given."""
        return self._submit_jobs(fn, [(args, {}) for args in calls], self._options)

    def _submit_jobs(
        self, fn: Callable[..., Any], calls: Sequence[tuple[tuple[Any, ...], dict[str, Any]]], options: JobOptions
    ) -> Sequence[PoolFuture]:
        if not callable(fn):
            raise UsageError(
                f"{fn!r} is not callable", where="submit()", next_step="Pass a function that takes a session first."
            )
        process = os.getpid()
        if self._process != process:
            if self._process is not None:  # before the lock, which may be held for ever
                raise forks.error(self.name)
            self._process = process
        jobs = [self._new_job(options, fn, args, kwargs, next(self._numbers)) for args, kwargs in calls]
        with self._lock:
            if self._shut:
                raise ClosedError(f"{self.name} is shut down", where="submit()", next_step="Make a new pool.")
            self._enqueue(jobs)
            for job in jobs:
                self._accounts.submitted(job)
        self._enqueued()
        return [job.future for job in jobs]

    def _new_job(
        self, options: JobOptions, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], number: int
    ) -> PoolJob:
        return PoolJob(PoolFuture(), fn, args, kwargs, options, number)

    def _enqueue(self, jobs: Sequence[PoolJob]) -> None:
        """Takes jobs over; called with the lock held."""
        raise NotImplementedError

    def _enqueued(self) -> None:
        """Called after :meth:`_enqueue`, without the lock."""

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
        check_count("chunksize", chunksize, 1, "map()")
        if prefetch is not None:
            check_count("prefetch", prefetch, 1, "map()")
        most = self._prefetch if prefetch is None else lambda _: prefetch
        return lazy_map(self._submit_all, fn, iterables, timeout, chunksize, most, ordered)

    def _prefetch(self, fn: Callable[..., Any]) -> int:
        """Return the number of jobs of a map that are submitted ahead, each of which calls this."""
        return 2 * self._most_workers

    def statistics(self) -> PoolStatistics:
        """The pool's counts now. Safe to call from any thread."""
        return self._accounts.statistics()

    # -- the end ---------------------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Cancels waiting jobs, and ends running ones as far as that is possible."""
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is not None and not issubclass(kind, Exception):  # Ctrl-C: do not wait for what may never end
            self.interrupt()
        self.shutdown(wait=True)
        return None


def check_initializer(initializer: object, initargs: object, where: str) -> None:
    """Refuses what is no initializer, or none of its arguments."""
    if initializer is not None and not callable(initializer):
        raise UsageError(
            f"initializer is {initializer!r}", where=where, next_step="Pass a function that takes a session."
        )
    if not isinstance(initargs, (tuple, list)):
        raise UsageError(f"initargs is {initargs!r}", where=where, next_step="Give a tuple, such as (value,).")


def check_limit(
    limit: float | None, where: str, what: str = "time_limit_secs", wanted: str = "a number of seconds above 0"
) -> None:
    """Refuses what is no limit."""
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit > 0):
        raise UsageError(f"{what} is {limit!r}", where=where, next_step=f"Give {wanted}.")


def check_count(what: str, value: int, least: int, where: str) -> None:
    """Refuses what is no integer, or below ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{what} is {value!r}", where=where, next_step=f"Give an integer of {least} or more.")
