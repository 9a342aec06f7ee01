"""ThreadSessionPool: many sessions in one process, a thread each.

::

    submit ─▶ _waiting ─▶ a worker thread ─▶ GraphSession ─▶ fn(session, ...) ─▶ Future
                           without initializer: a new thread, graph and session for each job
                           with initializer:    the thread stays, its graph is built once and sealed

A new thread for each job is what keeps jobs apart: TensorFlow keeps the default graph, the default session and eager
mode in thread-local stacks, and a job that leaves something on them takes it away with its thread. A worker that stays
is checked after each job, and replaced when its stacks are not as they were. While it waits for a job it does not hold
the pool: one that is dropped is garbage then, and its workers end.

When a job's time is up its Future fails, its session is closed, which ends a run that waits, and another worker takes
its worker's place. Nothing is raised in the thread: an exception that comes from outside can strike anywhere, in the
middle of taking a lock too. The job's code ends by itself, at its next use of the session at the latest. Code that
never ends keeps its thread, which is named in the log and in the pool's statistics.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import itertools
import logging
import os
import queue
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from tf1sessions.errors import ClosedError, JobTimeoutError, StragglerError, UsageError
from tf1sessions.pools.accounts import JobEnd, News
from tf1sessions.pools.base import PoolProgress, SessionPool, check_initializer
from tf1sessions.pools.jobs import PoolJob, job_error
from tf1sessions.runtime import tf
from tf1sessions.sessions.config import SessionConfig
from tf1sessions.sessions.memory import MemoryPlan
from tf1sessions.sessions.session import GraphSession
from tf1sessions.sessions.session_methods import skip_destructors

__all__ = ["ThreadSessionPool", "leave"]

logger = logging.getLogger("tf1sessions")

#: Seconds that the code of a job whose time was up has to end, once its session was closed, before its thread is named
#: as stuck; shutdown waits as long. Arbitrary.
STRAGGLER_SECS = 5.0


class ThreadSessionPool(SessionPool):
    """A ``concurrent.futures.Executor`` whose jobs get a session each: ``fn(session, *args, **kwargs)``.

    Without an ``initializer`` every job gets a fresh :class:`~tf1sessions.GraphSession`, which is its thread's default
    and is closed after it. With one, each worker makes one GraphSession, calls ``initializer(session, *initargs)`` to
    build its graph, keeps what that returns as ``session.built`` and seals the graph; jobs then only run it.

    Args:
        max_workers: How many jobs may run at once.
        config: The sessions' :class:`~tf1sessions.SessionConfig` or ConfigProto.
        initializer, initargs: Builds a worker's graph.
        time_limit_secs: A limit for each job, from its start, with the making of its session. When it is up the Future
            gets a :class:`JobTimeoutError`, the job's session is closed, which ends a ``run`` that waits, and the
            worker is replaced. The job's own code goes on until it uses the session again, or asks
            ``session.closed``: a thread cannot be ended from outside.
        progress: ``progress(change: PoolProgress) -> None``, called at each change, from the thread where it happens:
            ``progress=lambda change: print(change.job, change.state)``. True shows a bar on a terminal, and else logs
            the jobs that end.
        name: For messages and thread names.
        plan: A :class:`~tf1sessions.MemoryPlan`, which is applied to this process if it was not before: see
            :meth:`MemoryPlan.apply`; before that, the pool waits until the share is free. With ``lanes`` of at least
            ``max_workers`` each session has a lane of its own while it is open; without lanes all share what the
            process has. A session whose job was given up and is stuck keeps its lane: then two may be on one.

    Raises:
        UsageError: A wrong argument.
        MemoryPlanConflict: The process has another plan already, or TensorFlow was used before.
        MemoryWaitError: The plan's memory does not become free.

    Thread-safety: all methods are safe from any thread.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> def square(session, value):
        ...     return float(session.run(tf.constant(value) ** 2))
        >>> with t1.ThreadSessionPool(2) as pool:
        ...     print(list(pool.map(square, [1., 2., 3.])))
        [1.0, 4.0, 9.0]
    """

    def __init__(
        self,
        max_workers: int = 4,
        *,
        config: Any = None,
        initializer: Callable[..., Any] | None = None,
        initargs: tuple[Any, ...] = (),
        time_limit_secs: float | None = None,
        progress: Callable[[PoolProgress], None] | bool | None = None,
        name: str = "ThreadSessionPool",
        plan: MemoryPlan | None = None,
    ) -> None:
        super().__init__(max_workers, name=name, time_limit_secs=time_limit_secs, progress=progress)
        check_initializer(initializer, initargs, name)
        self._config = config
        self._initializer = initializer
        self._initargs = initargs
        # Under _condition: jobs not taken, threads that may take one, how many of those wait, threads given up.
        self._waiting: deque[PoolJob] = deque()
        self._wakes: queue.SimpleQueue[ThreadSessionPool | None] = queue.SimpleQueue()  # what idle workers wait for
        self._workers: set[threading.Thread] = set()
        self._idle = 0
        self._leaving: set[threading.Thread] = set()  # at their last lines, or at a Future's callbacks
        self._given_up: dict[threading.Thread, threading.Thread] = {}  # to the thread that closes its job's session
        self._stuck: set[threading.Thread] = set()  # of those, which have been named
        self._running: dict[threading.Thread, PoolJob] = {}
        self._lanes = dict.fromkeys(_lanes_of(plan, max_workers, config, name), 0)  # how many sessions are on each
        self._thread_numbers = itertools.count()
        self._accounts.stuck_threads = self._stuck_threads
        _pools.add(self)
        weakref.finalize(self, _end_workers, self._workers, self._wakes).atexit = False

    # -- workers ---------------------------------------------------------------------------------------------------

    def _enqueue(self, jobs: Sequence[PoolJob]) -> None:
        self._waiting.extend(jobs)
        try:
            self._dispatch()
        except RuntimeError:  # the system has no more threads
            if self._workers:
                return  # one of those takes them
            self._waiting.clear()
            raise

    def _dispatch(self) -> None:
        """Starts workers for waiting jobs; with the lock held."""
        try:
            while len(self._waiting) > self._idle and len(self._workers) < self._most_workers:
                name = f"{self.name}-{next(self._thread_numbers)}"
                thread = threading.Thread(target=_work, args=(self._wakes,), name=name, daemon=True)
                thread.start()
                self._workers.add(thread)
                self._idle += 1  # it will take a job; counted down when it does
        finally:
            self._wake(min(len(self._waiting), self._idle))

    def _wake(self, workers: int) -> None:
        for _ in range(workers):
            self._wakes.put(self)

    def _take_jobs(self, session: GraphSession | None) -> tuple[bool, GraphSession | None]:
        """Runs jobs in a worker while there are any. Returns whether the worker stays, and its session then."""
        me = threading.current_thread()
        stays = False
        try:
            while True:
                with self._condition:
                    stays = not self._waiting and not self._shut
                    if stays:
                        return True, session
                    self._idle -= 1
                    if not self._waiting:
                        return False, None
                    job = self._waiting.popleft()
                if self._start(job):
                    session = self._run(me, job, session)
                if session is None:
                    return False, None  # a new thread for the next job
                with self._condition:
                    if me not in self._workers:
                        return False, None
                    self._idle += 1
        finally:
            if not stays:
                self._leave(me, session)

    def _leave(self, me: threading.Thread, session: GraphSession | None) -> None:
        """The end of a worker: there will be no more jobs, or it is not one of the workers any more."""
        if session is not None:
            self._close(session)
        with self._condition:
            self._workers.discard(me)
            self._leaving = {thread for thread in self._leaving if thread.is_alive()} | {me}
            closing = self._given_up.pop(me, None)
            self._stuck.discard(me)
            if closing is not None:
                self._leaving.add(closing)
            if not self._workers:
                with contextlib.suppress(queue.Empty):  # they hold the pool
                    while True:
                        self._wakes.get_nowait()
            if self._waiting:
                self._dispatch()
            self._condition.notify_all()

    def _start(self, job: PoolJob) -> bool:
        news = News()
        may_run = self._accounts.start(job, news)
        self._accounts.announce(news)
        return may_run

    def _run(self, me: threading.Thread, job: PoolJob, session: GraphSession | None) -> GraphSession | None:
        """Runs one job to its end. Returns the session when this worker can go on with it."""
        timer = None
        state, result, error = "succeeded", None, None
        clean = False
        try:
            if job.time_limit_secs is not None:
                secs = min(job.time_limit_secs, threading.TIMEOUT_MAX)  # what is longer, no lock can wait for
                timer = threading.Timer(secs, self._expire, (job, me))
                timer.daemon = True
                timer.start()
            if session is None:
                session = self._make(job)
            else:
                self._give_session(job, session)
            with self._condition:
                self._running[me] = job
            defaults = session.as_default()
            defaults.__enter__()
            try:
                result = job.function(session, *job.args, **job.kwargs)
            finally:
                clean = leave(defaults)
        except BaseException as raised:  # noqa: BLE001 - it becomes the Future's exception, whatever it is
            state, error = "failed", job_error(self.name, job, raised)
        finally:
            if timer is not None:
                timer.cancel()
            with self._condition:
                self._running.pop(me, None)
        news = News()
        finished = self._accounts.end([JobEnd(job, state, result, error)], news)
        self._accounts.announce(news)
        if session is None or (self._initializer is not None and finished and clean and not session.closed):
            return session
        self._close(session)
        return None

    def _make(self, job: PoolJob) -> GraphSession:
        session = self._open(job.name if self._initializer is None else threading.current_thread().name)
        try:
            self._give_session(job, session)
            if self._initializer is None:
                return session
            with session.as_default():
                session.built = self._initializer(session, *self._initargs)
                session.seal()
        except BaseException:
            self._close(session)
            raise
        return session

    def _give_session(self, job: PoolJob, session: GraphSession) -> None:
        """Gives a job its session, unless its time was up before."""
        with self._condition:
            if job.ended:
                raise ClosedError(
                    f"the time of job {job.name!r} was up before its session was there",
                    where=self.name,
                    next_step="Give it more time (time_limit_secs).",
                )
            job.session = session

    def _open(self, name: str) -> GraphSession:
        """A session, on the lane that has the fewest."""
        name = f"{self.name}/{name}"
        if not self._lanes:
            return GraphSession(self._config, name=name)
        config = self._config
        if not isinstance(config, SessionConfig):
            config = SessionConfig() if config is None else SessionConfig.from_proto(config)
        with self._condition:
            lane = min(self._lanes, key=self._lanes.__getitem__)
            self._lanes[lane] += 1
        try:
            return GraphSession(dataclasses.replace(config, lane=lane, soft_placement=True), name=name)
        except BaseException:
            self._leave_lane(lane)
            raise

    def _close(self, session: GraphSession) -> None:
        session.close()
        self._leave_lane(session.config.lane)

    def _leave_lane(self, lane: str | None) -> None:
        with self._condition:
            if lane in self._lanes:
                self._lanes[lane] -= 1

    def _expire(self, job: PoolJob, worker: threading.Thread) -> None:
        """A job's time is up: its Future ends now, its session is closed, its worker is replaced."""
        error = JobTimeoutError(
            f"job {job.name!r} did not end within {job.time_limit_secs:g} s",
            where=self.name,
            next_step="Give it more time (time_limit_secs), or less to do.",
            job=job.name,
        )
        with self._condition:
            news = News()
            if not self._accounts.end([JobEnd(job, "timed_out", error=error)], news):
                return
            # Apart from the announcement, neither of which may have to wait for the other: callbacks of the future may
            # take their time, and so may closing, for a Python function inside the graph.
            self._give_up(job, worker)
            self._leaving.add(threading.current_thread())  # the timer's: shutdown() waits for the Future, too
            if self._waiting:
                self._dispatch()
        self._accounts.announce(news)

    def _give_up(self, job: PoolJob, worker: threading.Thread) -> None:
        """Closes a job's session in a thread of its own, and does not count on its worker any more; with the lock."""
        closing = threading.Thread(target=self._close_session_of, args=(job, worker), daemon=True)
        closing.name = f"{worker.name}-close"
        closing.start()
        self._workers.discard(worker)
        self._given_up[worker] = closing

    def _close_session_of(self, job: PoolJob, worker: threading.Thread) -> None:
        """Closes the session of a job that was given up; names its thread when its code does not end after that."""
        if job.session is not None:
            job.session.close()
        worker.join(STRAGGLER_SECS)
        if not worker.is_alive():
            return
        logger.warning(
            "%s: job %r goes on although its session is closed, in thread %s, which has been replaced. A loop that "
            "does not use the session can ask session.closed.",
            self.name,
            job.name,
            worker.name,
        )
        error = StragglerError(
            f"job {job.name!r} did not end when it was interrupted; its thread is {worker.name}",
            where=self.name,
            next_step="A process can be ended, a thread cannot: use a ProcessSessionPool for such jobs.",
        )
        news = News()
        self._accounts.end([JobEnd(job, "failed", error=error)], news)  # nothing, where its time was up
        self._accounts.announce(news)
        with self._condition:
            self._stuck.add(worker)
            self._condition.notify_all()

    # -- the end ---------------------------------------------------------------------------------------------------

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As ``Executor.shutdown``.

        Args:
            wait: Return when all threads have ended. The thread of a job whose time was up gets some seconds; if its
                code goes on it is named in the log. Called by a job, or by a callback in a worker's thread, this does
                not wait: the caller's own job would never end.
            cancel_futures: Cancel the jobs that have not started.
        """
        self._end(wait, cancel_futures, None)

    def _end(self, wait: bool, cancel_futures: bool, limit_secs: float | None) -> None:
        """As shutdown(); jobs that run get ``limit_secs`` to end, or as long as they need."""
        if self._is_inherited():
            self._shut = True
            return
        with self._condition:
            self._shut = True
            cancelled = list(self._waiting) if cancel_futures else []
            if cancel_futures:
                self._waiting.clear()
            self._wake(len(self._workers))
        for job in cancelled:
            job.future.cancel()
        me = threading.current_thread()
        with self._condition:
            if not wait or me in self._workers or me in self._given_up or me in self._leaving:
                return
            self._condition.wait_for(lambda: not self._workers, timeout=limit_secs)
            self._condition.wait_for(lambda: not self._given_up.keys() - self._stuck)
        with self._condition:
            leaving = self._leaving - {me}
        for thread in leaving:
            thread.join()
        self._accounts.close_progress()

    def _stuck_threads(self) -> tuple[str, ...]:
        return tuple(thread.name for thread in self._given_up if thread.is_alive())

    def interrupt(self) -> None:
        """Cancels waiting jobs and closes the sessions of running ones, whose blocked ``run`` then ends.

        The Future of a job that goes on nevertheless gets a :class:`StragglerError` after some seconds.
        """
        if self._is_inherited():
            return
        with self._condition:
            waiting = list(self._waiting)
            self._waiting.clear()
            for worker, job in self._running.items():
                if job.session is not None and worker in self._workers:
                    self._give_up(job, worker)
        for job in waiting:
            job.future.cancel()


def _lanes_of(plan: MemoryPlan | None, max_workers: int, config: Any, name: str) -> tuple[str, ...]:
    """Applies a plan to this process; returns its lanes, none when it has only one."""
    if plan is None:
        return ()
    if not isinstance(plan, MemoryPlan):
        raise UsageError(f"plan is {plan!r:.200}", where=name, next_step="Give a MemoryPlan.")
    if 1 < plan.lanes < max_workers:
        raise UsageError(
            f"the plan has {plan.lanes} lanes for a pool of {max_workers}",
            where=name,
            next_step=f"Make it with MemoryPlan(lanes={max_workers}), or without lanes to share what the process has.",
        )
    if plan.lanes > 1 and getattr(config, "lane", None) is not None:
        raise UsageError(
            f"config has lane={config.lane!r} and the plan {plan.lanes} lanes", where=name, next_step="Leave lane out."
        )
    worker = plan.applied()
    if worker is None:
        worker = 0
        plan.wait_for_memory(worker)
        plan.apply(worker)
    return tuple(plan.lane(lane, worker) for lane in range(plan.lanes)) if plan.lanes > 1 else ()


def leave(defaults: contextlib.AbstractContextManager[Any]) -> bool:
    """Takes a session off this thread's stacks; False when the job has left something of its own on them."""
    try:
        defaults.__exit__(None, None, None)
    except (AssertionError, IndexError):  # TensorFlow's words for "nesting violated"; the thread is not used again
        return False
    return tf.get_default_session() is None


def _work(wakes: queue.SimpleQueue[ThreadSessionPool | None]) -> None:
    """Work for the pool that is in ``wakes``, whenever it is; None when it was dropped."""
    session: GraphSession | None = None
    stays = True
    while stays and (pool := wakes.get()) is not None:
        stays, session = pool._take_jobs(session)
        del pool
    if session is not None:
        session.close()


def _end_workers(workers: set[threading.Thread], wakes: queue.SimpleQueue[ThreadSessionPool | None]) -> None:
    """End the workers of a pool that was dropped, all of them idle. Takes no lock: it may run inside any statement."""
    _ending.update(workers)
    for _ in workers:
        wakes.put(None)


_pools: weakref.WeakSet[ThreadSessionPool] = weakref.WeakSet()
#: Workers of pools that were dropped.
_ending: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def _forget_inherited() -> None:
    for pool in list(_pools):
        if pool._is_inherited():
            _pools.discard(pool)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_inherited)


@atexit.register
def _at_exit() -> None:
    """Ends pools that were not shut down: waiting jobs are cancelled, running ones interrupted and waited for.

    What TensorFlow cannot cancel is given up after STRAGGLER_SECS: the process has to end.
    """
    stuck = False
    for pool in list(_pools):
        pool._accounts.warn_of_unfinished()
        pool.interrupt()
        pool._end(True, False, STRAGGLER_SECS)
        stuck = stuck or bool(pool.statistics().stuck_threads)
    for thread in list(_ending):
        thread.join(STRAGGLER_SECS)
    if stuck:
        skip_destructors()
