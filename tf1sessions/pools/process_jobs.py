"""Jobs of a ProcessSessionPool, which can be cancelled until they have ended, and messages of several of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.pools.jobs import JobOptions, PoolFuture, PoolJob
from tf1sessions.pools.pool_worker_main import Reply
from tf1sessions.pools.shared_status import SharedStatus

__all__ = ["JobMessage", "ProcessFuture", "ProcessJob", "ProcessJobOptions"]


@dataclass(frozen=True)
class ProcessJobOptions(JobOptions):
    """As the base class."""

    is_in_dispatcher: Callable[[], bool]  # whether the current thread is the one that ends the pool's jobs
    retries: int  # how many times a job is run again when its worker died or its time was up


class _InterruptSafeCondition(threading.Condition):
    """A condition that no interrupt leaves locked, which would stop the thread that sets the future.

    ``with`` calls the lock's own methods, which are written in C: between taking the lock and the block that releases
    it there is no moment at which Python runs a signal's handler.
    """

    __enter__ = property(lambda self: self._lock.__enter__)
    __exit__ = property(lambda self: self._lock.__exit__)


class ProcessFuture(PoolFuture):
    """A future that can be cancelled until its job has ended."""

    job: ProcessJob | None

    def __init__(self) -> None:
        super().__init__()
        self._condition.__class__ = _InterruptSafeCondition  # to make a second one would cost as much as all else here

    def running(self) -> bool:
        """Whether the job has started, and not ended."""
        job = self.job
        return not self.done() and (super().running() or (job is not None and job.started is not None))

    def result(self, timeout: float | None = None) -> Any:
        """As the base class."""
        self._check_may_wait()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """As the base class."""
        self._check_may_wait()
        return super().exception(timeout)

    def _check_may_wait(self) -> None:
        job = self.job
        if job is not None and not self.done() and job.options.is_in_dispatcher():
            raise UsageError(
                f"a callback of the pool waits for job {job.name!r}, which cannot end before the callback has returned",
                where="result()",
                next_step="Wait in another thread, or use add_done_callback() for this future, too.",
            )


class ProcessJob(PoolJob):
    """``sent`` changes under the lock of the accounts, as ``started`` and ``ended``; the rest is the dispatcher's."""

    takes_future_at_start = False
    future: ProcessFuture
    options: ProcessJobOptions
    kind: tuple[str, str] = ("", "")  # known when it is taken
    sent: tuple[SharedStatus, int] | None = None  # the status page of its message, and its number there
    times_retried = 0
    times_not_begun = 0  # how many workers died before they began it

    @property
    def may_run_again(self) -> bool:
        """Whether it has retries left."""
        return self.times_retried < self.options.retries


class JobMessage:
    """Jobs that a worker got in one message, and their replies. For the dispatcher's thread alone.

    The first without a reply runs. Whether one behind it has begun is known when the worker has ended, or was held.

    Attributes:
        first: The number of the first job without a reply.
        since: When the last replies were taken in: about when that job began.
        look_at: When to look next whether it takes longer than expected.
    """

    def __init__(self, jobs: list[ProcessJob], look_secs: float) -> None:
        self.jobs = jobs
        self.first = 0
        self.may_go_on = True
        self.look_secs = look_secs
        self._replied: set[int] = set()
        self.begin()

    def begin(self) -> None:
        """Count the time from now: it has been sent."""
        self.since = time.monotonic()
        self.look_at = self.since + self.look_secs

    @property
    def current(self) -> ProcessJob | None:
        """The job that runs, or will be the next to run."""
        return self.jobs[self.first] if self.first < len(self.jobs) else None

    @property
    def replied(self) -> int:
        """Return the number of jobs that have replied."""
        return len(self._replied)

    def has_reply(self, index: int) -> bool:
        """Whether this job has replied."""
        return index in self._replied

    def take(self, replies: Iterable[tuple[int, Reply]]) -> list[tuple[ProcessJob, Reply]]:
        """Take replies in. Returns them with their jobs, in the order in which these ran."""
        found = sorted(replies, key=lambda numbered: numbered[0])
        self._replied.update(index for index, _ in found)
        self.may_go_on = self.may_go_on and all(reply.may_go_on for _, reply in found)
        while self.first in self._replied:
            self.first += 1
        self.since = time.monotonic()
        return [(self.jobs[index], reply) for index, reply in found]

    def left(self) -> list[ProcessJob]:
        """The jobs that have not replied."""
        return [job for index, job in enumerate(self.jobs) if index not in self._replied]

    def drop_from(self, index: int) -> list[ProcessJob]:
        """Take the jobs from this number on out of the message."""
        dropped, self.jobs = self.jobs[index:], self.jobs[:index]
        return dropped

    def next_look(self) -> float:
        """Return when to look at the worker's status page again: a time limit is up, or jobs behind a long one wait."""
        job = self.current
        if job is None:
            return float("inf")
        at = float("inf") if job.time_limit_secs is None else self.since + job.time_limit_secs
        if job.started is None or self.first + 1 < len(self.jobs):
            at = min(at, self.look_at)
        return at
