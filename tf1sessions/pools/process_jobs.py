"""Jobs of a ProcessSessionPool, which can be cancelled until they have ended, and the places for its workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tf1sessions.errors import WorkerStartError
from tf1sessions.pools.base import Job, JobOptions
from tf1sessions.pools.futures import LateFuture
from tf1sessions.pools.worker_link import PoolWorker, WorkerEnd

__all__ = ["ProcessFuture", "ProcessJob", "ProcessJobOptions", "Seat"]


class ProcessFuture(LateFuture):
    """A future that can be cancelled until its job has ended: the base class refuses that once it is running."""

    began = False
    job: ProcessJob | None = None  # until it has ended; a callback for each would take longer

    def cancel(self) -> bool:
        """As the base class, also while the job runs."""
        cancelled = super().cancel()
        job = self.job
        if cancelled and job is not None:
            job.options.pool._on_cancelled(job)
        return cancelled

    def running(self) -> bool:
        """Whether the job has started, and not ended."""
        return self.began and not self.done()


class ProcessJob(Job):
    """Fields change under the pool's lock. One that was cancelled has ended, a moment after its future says so."""

    future: ProcessFuture

    retried = 0  # how many times
    kind: tuple[str, str] = ("", "")  # jobs of one kind take about the same time; known when it is taken
    seat: Seat | None = None  # whose thread has taken it
    worker: PoolWorker | None = None  # that it is sent to, or that is being built for it
    index: int | None = None  # in the message that it is sent in
    not_begun = 0  # how many workers died before they began it

    def begin(self) -> bool:
        self.future.began = not self.ended  # a cancelled one has ended
        return self.future.began

    def end(self, result: Any, error: BaseException | None) -> bool:
        if not self.future.settle(result, error):
            return False
        self.future.job = None
        return True

    def tell(self, result: Any, error: BaseException | None) -> None:
        self.future.call_back()

    @property
    def may_run_again(self) -> bool:
        """Whether it has retries left."""
        options = self.options
        return isinstance(options, ProcessJobOptions) and self.retried < options.retries


@dataclass(frozen=True)
class ProcessJobOptions(JobOptions):
    retries: int = 0


@dataclass(eq=False)
class Seat:
    """A thread's place for a worker."""

    number: int
    worker: PoolWorker | None = None
    building: bool = False
    jobs: int = 0
    taken: list[ProcessJob] = field(default_factory=list)  # under the pool's lock; those whose seat this still is

    def empty(self, kill: bool = False) -> WorkerEnd:
        """Ends its worker, which must be there unless nobody looks at the result."""
        worker, self.worker, self.building, self.jobs = self.worker, None, False, 0
        return WorkerEnd(0, WorkerStartError("there was no worker"), "") if worker is None else worker.end(kill)
