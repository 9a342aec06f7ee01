"""Jobs of a ProcessSessionPool, which can be cancelled until they have ended, and the places for its workers."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tf1sessions.errors import WorkerStartError
from tf1sessions.pools.base import Job, JobOptions
from tf1sessions.pools.futures import LateFuture
from tf1sessions.pools.worker_link import PoolWorker, WorkerEnd

if TYPE_CHECKING:
    from tf1sessions.pools.messages import Message

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

    def result(self, timeout: float | None = None) -> Any:
        """As the base class; the thread that waits may take the result in by itself."""
        job = self.job
        if job is not None and job.seat is not None and job.seat.sent is not None:
            pool: Any = job.options.pool
            timeout = pool._help(job, timeout)
        return super().result(timeout)

    @property
    def _condition(self) -> threading.Condition:  # type: ignore[override]
        """Asked for by all who wait in another way than :meth:`result`: now the seat's thread shall look after it."""
        job = self.job
        if job is not None and (seat := job.seat) is not None and seat.sent is not None and not seat.helper:
            seat.wanted = True
            seat.ring()
        return super()._condition

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
    at_once = False  # whoever submits it is to send it
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
    """A thread's place for a worker.

    While the thread sleeps, others may use the seat: who submits a job sends it, and who waits for it takes it in.
    """

    number: int
    worker: PoolWorker | None = None
    building: bool = False
    jobs: int = 0
    bell: threading.Lock = field(default_factory=threading.Lock)  # its thread sleeps on it; see ring()
    # Under the pool's lock:
    taken: list[ProcessJob] = field(default_factory=list)  # those whose seat this still is
    asleep: bool = False  # its thread is, and nobody uses the seat
    sent: Message | None = None  # by who submitted its job; whoever takes it in next
    helper: int = 0  # the thread other than its own that does so now
    wanted: bool = False  # its own shall do it; whoever says so rings

    def ring(self) -> None:
        """Wakes its thread; also if that is only about to sleep. From any thread, with any lock."""
        with contextlib.suppress(RuntimeError):  # it was rung before, and has not woken yet
            self.bell.release()

    def empty(self, kill: bool = False) -> WorkerEnd:
        """Ends its worker, which must be there unless nobody looks at the result."""
        worker, self.worker, self.building, self.jobs = self.worker, None, False, 0
        return WorkerEnd(0, WorkerStartError("there was no worker"), "") if worker is None else worker.end(kill)
