"""The state of a pool's jobs: which run and which have ended, their counts, and reports of progress.

::

    submitted(job) ─▶ start(job) ─▶ end(job) ─▶ announce(): the future is set, progress is reported
          └──────────── cancelled(job) ─────────▶ the same, in the thread that cancels

Whether a job ends or is cancelled is decided once, by ``set_running_or_notify_cancel()`` of its future.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tf1sessions.pools.jobs import PoolJob
from tf1sessions.pools.progress import COUNTED, PoolBar, PoolProgress, PoolStatistics

__all__ = ["JobAccounts", "JobEnd", "News"]

logger = logging.getLogger("tf1sessions")


def _ctrl_c(error: BaseException) -> KeyboardInterrupt | None:
    main = threading.current_thread() is threading.main_thread()
    return error if main and isinstance(error, KeyboardInterrupt) else None


class JobEnd(NamedTuple):
    """The end of a job."""

    job: PoolJob
    state: str  # as in PoolProgress
    result: Any = None
    error: BaseException | None = None
    seconds: float = 0.0  # that it took at least, where its worker has measured that


class News:
    """Changes of jobs that are marked, and not announced yet. For one thread."""

    def __init__(self) -> None:
        self.ends: list[JobEnd] = []
        self.events: list[PoolProgress] = []


class JobAccounts:
    """Marks jobs as running and ended, and counts them. All methods are safe to call from any thread."""

    def __init__(self, workers: int, progress: Callable[[PoolProgress], None] | bool | None, name: str) -> None:
        # Guards the counts, the jobs' ``started`` and ``ended``, and whatever the pool adds to that. It is re-entrant,
        # so that a signal's handler may use the pool; futures and progress are called without it.
        self.lock = threading.RLock()
        # Names the threads for :attr:`PoolStatistics.stuck_threads`.
        self.stuck_threads: Callable[[], tuple[str, ...]] = tuple
        self._workers = workers
        self._name = name
        self._progress = (PoolBar(name) if progress else None) if isinstance(progress, bool) else progress
        self._counts: dict[str, Any] = dict.fromkeys(COUNTED, 0) | {"busy_seconds": 0.0}
        # Sets that keep the order. A count of theirs would be wrong after a Ctrl-C between two lines.
        self._waiting: dict[PoolJob, None] = {}
        self._running: dict[PoolJob, None] = {}

    @property
    def reports_progress(self) -> bool:
        """Whether a progress callback is called at each change."""
        return self._progress is not None

    def statistics(self) -> PoolStatistics:
        """The counts now."""
        with self.lock:
            counts = self._counts | {"waiting": len(self._waiting), "running": len(self._running)}
            return PoolStatistics(self._workers, **counts, stuck_threads=self.stuck_threads())

    def unfinished(self) -> list[PoolJob]:
        """The jobs that have not ended: first those that wait, the last of them first, then those that run."""
        with self.lock:
            return [*reversed(self._waiting), *reversed(self._running)]

    def warn_of_unfinished(self) -> None:
        """Log how many jobs are not run because the program ends, and the pool was not shut down."""
        if jobs := self.unfinished():
            logger.warning(
                "%s was not shut down: %d of its jobs, the first is %r, had not ended when the program did, and are "
                "cancelled. Call shutdown(), or use the pool in a `with`.",
                self._name,
                len(jobs),
                min(jobs, key=lambda job: job.number).name,
            )

    def submitted(self, job: PoolJob) -> None:
        """Count a new job."""
        with self.lock:
            self._waiting[job] = None
            self._counts["submitted"] += 1

    def start(self, job: PoolJob, news: News) -> bool:
        """Mark a job as running, unless it is. Returns False when it has ended, by being cancelled."""
        with self.lock:
            if job.started is not None or job.ended:
                return not job.ended
            if job.takes_future_at_start and not self._take_future(job, news):
                return False
            self._set_started(job, time.monotonic(), news)
            return True

    def end(self, ends: Iterable[JobEnd], news: News) -> bool:
        """Mark jobs as ended that have not ended before: their time was up, or they were cancelled. Returns whether
        there were any."""
        before = len(news.ends)
        with self.lock:
            now = time.monotonic()
            for end in ends:
                job = end.job
                if job.ended or not (job.takes_future_at_start or self._take_future(job, news)):
                    continue
                if job.started is None:
                    self._set_started(job, now - end.seconds, news)
                assert job.started is not None
                self._set_ended(job, end.state, max(now - job.started, end.seconds), news)
                news.ends.append(end)
        return len(news.ends) > before

    def announce(self, news: News) -> None:
        """Set the futures of jobs that were marked, which runs their callbacks, and report progress.

        What these raise is logged, also ``SystemExit``: the thread is the pool's own, or that of a caller who submits
        something else. Only Ctrl-C in the main thread is raised, when all is announced.
        """
        ends, events, news.ends, news.events = news.ends, news.events, [], []
        interrupt = None
        for end in ends:
            try:
                if end.error is None:
                    end.job.future.set_result(end.result)
                else:
                    end.job.future.set_exception(end.error)
            except BaseException as error:  # a callback raised SystemExit or the like, which would end this thread
                interrupt = interrupt or _ctrl_c(error)
                logger.exception("%s: a callback of job %r raised", self._name, end.job.name)
        for event in events:
            try:
                assert self._progress is not None
                self._progress(event)
            except BaseException as error:  # the job goes on, as after an error in a future's callback
                interrupt = interrupt or _ctrl_c(error)
                logger.exception("%s: its progress function raised at %r, %s", self._name, event.job, event.state)
        if interrupt is not None:
            raise interrupt

    def cancelled(self, job: PoolJob) -> None:
        """Mark a job as ended whose future was cancelled, unless that is done."""
        news = News()
        with self.lock:
            if not job.ended:
                self._take_future(job, news)
        self.announce(news)

    def close_progress(self) -> None:
        """End the display of progress, where it has an end."""
        close = getattr(self._progress, "close", None)
        if close is not None:
            close()

    # -- with the lock held --

    def _take_future(self, job: PoolJob, news: News) -> bool:
        """Make a future one that only the pool can end; False when it was cancelled, which ends the job."""
        # It was, where an interrupt such as Ctrl-C came between that and what follows, in a caller's thread.
        was_notified = job.future._state == "CANCELLED_AND_NOTIFIED"
        if not was_notified and job.future.set_running_or_notify_cancel():
            return True
        self._set_ended(job, "cancelled", 0.0 if job.started is None else time.monotonic() - job.started, news)
        return False

    def _set_started(self, job: PoolJob, now: float, news: News) -> None:
        job.started = now
        self._running[job] = None
        self._waiting.pop(job, None)
        if self._progress is not None:
            news.events.append(PoolProgress(job.name, "running", 0.0, self.statistics()))

    def _set_ended(self, job: PoolJob, state: str, seconds: float, news: News) -> None:
        job.ended, job.future.job = True, None
        self._waiting.pop(job, None)
        self._running.pop(job, None)
        self._counts[state] += 1
        self._counts["busy_seconds"] += seconds
        if self._progress is not None:
            news.events.append(PoolProgress(job.name, state, seconds, self.statistics()))
