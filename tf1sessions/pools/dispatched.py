"""The common part of pools whose workers are other processes: a thread of the pool gives them their jobs."""

from __future__ import annotations

import dataclasses
import os
import weakref
from collections.abc import Sequence
from typing import Any, Protocol, cast

from tf1sessions.pools.base import SessionPool, check_count
from tf1sessions.pools.jobs import PoolJob
from tf1sessions.pools.process_jobs import ProcessJobOptions

__all__ = ["DispatchedPool"]


class _AnyDispatcher(Protocol):
    """The interface of the thread that gives jobs to workers, as a pool uses it."""

    def submit(self, jobs: Sequence[Any]) -> None: ...

    def shut_down(self) -> None: ...

    def join(self) -> None: ...


class DispatchedPool(SessionPool):
    """A pool with a ``_dispatcher``, which subclasses make. Not for direct use."""

    _dispatcher: _AnyDispatcher

    def job(self, name: str | None = None, time_limit_secs: float | None = None, retries: int | None = None) -> Any:
        """As :meth:`SessionPool.job`, with ``retries`` of its own."""
        options = super().job(name, time_limit_secs)
        if retries is None:
            return options
        check_count("retries", retries, 0, "job()")
        return dataclasses.replace(cast(ProcessJobOptions, options), retries=retries)

    def _enqueue(self, jobs: Sequence[PoolJob]) -> None:
        self._dispatcher.submit(jobs)

    # -- the end ---------------------------------------------------------------------------------------------------

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As ``Executor.shutdown``.

        Args:
            wait: Return when all workers and threads have ended. In a callback of a future this does not wait: what
                it would wait for is the thread that it is in.
            cancel_futures: Cancel the jobs that have not started.
        """
        if self._is_inherited():
            self._shut = True
            return
        with self._lock:
            self._shut = True
        if cancel_futures:
            for job in self._accounts.unfinished():
                if job.started is None:
                    job.future.cancel()
        self._dispatcher.shut_down()
        if wait:
            self._dispatcher.join()
            self._accounts.close_progress()

    def interrupt(self) -> None:
        """Cancels waiting and running jobs; the workers of these are killed."""
        if self._is_inherited():
            return
        for job in self._accounts.unfinished():
            job.future.cancel()

    def _end_with_process(self) -> None:
        """Let :meth:`end_all` end the pool, if it is still there."""
        _pools.add(self)

    @classmethod
    def end_all(cls) -> None:
        """End the pools of this class that were not shut down: waiting jobs are cancelled, running ones killed."""
        for pool in list(_pools):
            if isinstance(pool, cls):
                pool._accounts.warn_of_unfinished()
                pool.interrupt()
                pool.shutdown(wait=True)


_pools: weakref.WeakSet[DispatchedPool] = weakref.WeakSet()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # they are the parent's
