"""ProcessSessionPool: many sessions, each in a process of its own.

::

    submit ─▶ _waiting ─▶ a thread per worker ─▶ PoolWorker ═▶ process_worker.work, forked from the warm server
                             ▲                      │          fn(session, ...), one job at a time
                             └── Reply, or its end ─┘

A thread takes a job, makes sure that it has a worker, sends the job and waits for the reply, for the end of the worker,
or for the end of the job's time. A worker that died, hung or had a job cancelled is replaced before the next job.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import dataclasses
import itertools
import logging
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

from tf1sessions.errors import (
    ClosedError,
    JobTimeoutError,
    RemoteTracebackError,
    Tf1SessionsError,
    UsageError,
    WorkerDiedError,
    WorkError,
    WorkerStartError,
)
from tf1sessions.pools.base import Job, JobOptions, PoolProgress, SessionPool, check_limit, job_error
from tf1sessions.pools.process_worker import Reply, Setup
from tf1sessions.pools.server import WorkerResult, WorkerServer
from tf1sessions.pools.worker_link import WORKER, PoolWorker, TimeUp, WorkerEnd, WorkerGone

__all__ = ["ProcessSessionPool", "make_server"]

logger = logging.getLogger("tf1sessions")

_PLACES = {  # what a job did, by the place of an exception; its type follows
    "pickle": "cannot be sent to a worker: pickling it raised",
    "unpickle": "cannot be read by its worker: unpickling it raised",
    "build": "has no worker: building it raised",
    "run": "raised",
    "return": "returned what cannot be sent: pickling it raised",
    "result": "returned what cannot be read here: unpickling it raised",
}
# What TensorFlow and what it imports set when they are imported. A server that was started before this process imported
# TensorFlow has them from its own import; as a difference they would only make its workers start anew.
_SET_BY_IMPORTS = {
    "HDF5_PLUGIN_PATH": "disable",
    "KMP_DUPLICATE_LIB_OK": "True",
    "KMP_INIT_AT_FORK": "FALSE",
    "TF2_BEHAVIOR": "1",
}
_NOT_BEGUN_TIMES = 3  # that a job may meet a worker that dies before it reads it


class _ProcessFuture(concurrent.futures.Future[Any]):
    """A future that can be cancelled until its job has ended: the base class refuses that once it is running."""

    began = False

    def running(self) -> bool:
        """Whether the job has started, and not ended."""
        return self.began and not self.done()


@dataclass
class _ProcessJob(Job):
    """Fields change under the pool's lock."""

    future: _ProcessFuture

    retries: int = 0
    worker: PoolWorker | None = field(default=None, repr=False)  # that runs it, or is being built for it

    def begin(self) -> bool:
        self.future.began = not (self.ended or self.future.cancelled())
        return self.future.began

    def end(self) -> bool:
        return self.future.set_running_or_notify_cancel()  # only now, so that it could be cancelled until now


@dataclass(frozen=True)
class _ProcessJobOptions(JobOptions):
    retries: int = 0


class ProcessSessionPool(SessionPool):
    """A :class:`~tf1sessions.ThreadSessionPool` whose workers are processes.

    Jobs are called as there: ``fn(session, *args, **kwargs)``, with a fresh session for each, or with ``initializer``
    the worker's, whose graph is built once and sealed. Functions and classes that a worker cannot import, such as those
    of a notebook or of the main program, go there by value; arrays go through shared memory. A worker has the
    environment, the working directory, ``sys.path`` and TensorFlow behaviour (v1 or v2) that this process had when the
    pool was made. What a job changes in its process (globals, environment, random state) the worker's next job sees.

    Workers are forks of a server that has TensorFlow imported; the pools that are open at the same time share one.
    Plain ``fork`` is never used.

    Args:
        max_workers: How many jobs may run at once.
        config: The sessions' :class:`~tf1sessions.SessionConfig` or ConfigProto.
        initializer, initargs: Builds a worker's graph. With ``mode="tf2"``: ``initializer(*initargs)``, whose result is
            the first argument of each job.
        time_limit_secs: A limit for each job, from when it is sent to its worker; which is killed when it is up.
        progress: Called with a :class:`PoolProgress` at each change, from the thread where it happens. True shows a bar
            on a terminal, and else logs the jobs that end.
        name: For messages and thread names.
        mode: ``"tf1"`` for sessions; ``"tf2"`` for Keras and eager jobs, which get no session: ``fn(*args, **kwargs)``.
        model: A model that each worker loads once: a path, or the arguments of :func:`tf1sessions.load` as a dict. A
            job's first argument is then the :class:`~tf1sessions.Model`, instead of a session.
        plan: A :class:`~tf1sessions.MemoryPlan` for at least ``max_workers``: each worker gets its share of the
            machine, and waits until that is free.
        retries: How many times a job is run again when its worker died or its time was up. Not after an exception.
        build_limit_secs: A limit for building a worker: ``initializer``, ``model``, the wait for memory.
        max_jobs_per_worker: A worker that has run so many jobs is replaced.
        max_memory_mb: A worker whose resident memory is more than this after a job is replaced. It includes what it
            shares with the server, about 300 MiB. Linux only.
        method: ``"fork"``, or ``"spawn"`` for workers that are fresh interpreters; the first where it is available.
        server: One of :func:`make_server`, which the caller closes, for workers that are warm at once.

    Raises:
        UsageError: A wrong argument.

    A Future's exception is a :class:`JobError` whose ``__cause__`` is what the job raised, and the last ``__cause__``
    of that the worker's traceback; a :class:`JobTimeoutError`; or a :class:`WorkerDiedError`, which costs this job
    only.
    ``cancel()`` works until the job has ended: a worker that runs it is killed.

    Thread-safety: all methods are safe from any thread.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> def square(session, value):
        ...     return float(session.run(tf.constant(value) ** 2))
        >>> with t1.ProcessSessionPool(2) as pool:
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
        name: str = "ProcessSessionPool",
        mode: Literal["tf1", "tf2"] = "tf1",
        model: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        plan: Any = None,
        retries: int = 0,
        build_limit_secs: float | None = None,
        max_jobs_per_worker: int | None = None,
        max_memory_mb: float | None = None,
        method: Literal["fork", "spawn"] | None = None,
        server: WorkerServer | None = None,
    ) -> None:
        super().__init__(max_workers, name=name, time_limit_secs=time_limit_secs, progress=progress)
        if initializer is not None and not callable(initializer):
            raise UsageError(
                f"initializer is {initializer!r}", where=name, next_step="Pass a function that takes a session."
            )
        if mode not in ("tf1", "tf2"):
            raise UsageError(f"mode is {mode!r}", where=name, next_step='Give "tf1" or "tf2".')
        if model is not None and (initializer is not None or config is not None or mode == "tf2"):
            raise UsageError(
                "model= is given with an initializer, a config or mode='tf2'",
                where=name,
                next_step='Load it in the initializer, or give its config with it: model={"path": ..., "config": ...}.',
            )
        if mode == "tf2" and config is not None:
            raise UsageError("mode='tf2' has no sessions, and got a config", where=name, next_step="Use plan=.")
        if plan is not None and plan.workers < max_workers:
            raise UsageError(
                f"the plan has {plan.workers} workers for a pool of {max_workers}",
                where=name,
                next_step=f"Make it with MemoryPlan(workers={max_workers}).",
            )
        _check_count("retries", retries, 0, name)
        if max_jobs_per_worker is not None:
            _check_count("max_jobs_per_worker", max_jobs_per_worker, 1, name)
        check_limit(build_limit_secs, name, "build_limit_secs")
        check_limit(max_memory_mb, name, "max_memory_mb", "a number of MiB above 0")
        self._mode = mode
        self._retries = retries
        self._build_limit_secs = build_limit_secs
        self._max_jobs = max_jobs_per_worker
        self._max_memory_mb = max_memory_mb
        self._plan = plan
        if model is not None and not isinstance(model, Mapping):
            path = os.fspath(model)
            model = {"path": path if "://" in path else os.path.abspath(path)}
        self._setup = Setup(config, initializer, initargs, model, plan, 0)
        self._environment = _environment()
        self._folder = os.getcwd()
        behavior = sys.modules.get("tensorflow.python.tf2")
        self._payload = {
            "mode": mode,
            "path": [os.path.abspath(entry) for entry in sys.path],
            "v1": behavior is not None and not behavior.enabled(),
        }
        # Under _condition: jobs not taken, threads that may take one, how many of those wait, numbers for workers.
        self._waiting: deque[_ProcessJob] = deque()
        self._running: dict[int, _ProcessJob] = {}  # by identity
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._free_numbers = list(range(max_workers))
        self._releasing = False
        self._released = threading.Event()
        self._shares_server = server is None
        self._method = method
        self._server = _shared_server(mode, method) if server is None else server
        self._server.start()
        _pools.add(self)

    def job(self, name: str | None = None, time_limit_secs: float | None = None, retries: int | None = None) -> Any:
        """As :meth:`SessionPool.job`, with ``retries`` of its own."""
        options = super().job(name, time_limit_secs)
        if retries is not None:
            _check_count("retries", retries, 0, "job()")
        return _ProcessJobOptions(
            self, options.name, options.time_limit_secs, self._retries if retries is None else retries
        )

    def _new_job(
        self, options: JobOptions, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
    ) -> Job:
        retries = options.retries if isinstance(options, _ProcessJobOptions) else self._retries
        return _ProcessJob(_ProcessFuture(), fn, args, kwargs, name, options.time_limit_secs, retries=retries)

    # -- a job's state ---------------------------------------------------------------------------------------------

    def _on_cancelled(self, job: Job) -> None:
        assert isinstance(job, _ProcessJob)
        with self._condition:
            if not job.ended:
                job.ended = True
                job.future.set_running_or_notify_cancel()
            worker = job.worker
            seconds = 0.0 if job.started is None else time.monotonic() - job.started
            count = {"waiting" if job.started is None else "running": -1}
            statistics = self._count(cancelled=1, busy_seconds=seconds, **count)
        if worker is not None:
            worker.kill()
        self._tell(job, "cancelled", seconds, statistics)

    def _attach(self, job: _ProcessJob, worker: PoolWorker) -> bool:
        """Makes a worker the job's, to be killed with it; False when the job was cancelled."""
        with self._condition:
            if job.ended or job.future.cancelled():
                return False
            job.worker = worker
            return True

    # -- threads ---------------------------------------------------------------------------------------------------

    def _enqueue(self, job: Job) -> None:
        assert isinstance(job, _ProcessJob)
        self._waiting.append(job)
        self._dispatch()

    def _dispatch(self) -> None:
        """Starts threads for waiting jobs; with the lock held."""
        if self._idle:
            self._condition.notify(len(self._waiting))
        while len(self._waiting) > self._idle and self._free_numbers:
            number = self._free_numbers.pop(0)
            thread = threading.Thread(target=self._work, args=(number,), name=f"{self.name}-{number}", daemon=True)
            self._threads.add(thread)
            self._idle += 1  # it will take a job; counted down when it does
            thread.start()

    def _take(self) -> _ProcessJob | None:
        """The next job; None when there will be none."""
        with self._condition:
            while not self._waiting and not self._shut:
                self._condition.wait()
            self._idle -= 1
            if not self._waiting:
                return None
            job = self._waiting.popleft()
            self._running[id(job)] = job
            return job

    def _work(self, number: int) -> None:
        """The life of a worker's thread; the worker may be replaced."""
        seat = _Seat(number)
        try:
            while (job := self._take()) is not None:
                try:
                    if self._start(job):
                        self._run(job, seat)
                except BaseException as error:  # a mistake of ours: nobody shall wait for ever
                    logger.exception("%s: job %r", self.name, job.name)
                    seat.empty(kill=True)
                    self._finish(job, "failed", error=error)
                finally:
                    with self._condition:
                        del self._running[id(job)]
                        self._idle += 1
                del job  # its arguments, and its result
        finally:
            seat.empty()
            with self._condition:
                self._threads.discard(threading.current_thread())
                self._leave_thread()
                self._free_numbers.append(number)
                if self._waiting:
                    self._dispatch()
                last = self._shut and not self._threads
                self._condition.notify_all()
            if last:
                self._release()

    # -- running a job ---------------------------------------------------------------------------------------------

    def _run(self, job: _ProcessJob, seat: _Seat) -> None:
        """Runs one job to its end, again where its worker died and it has retries."""
        retries, not_begun = job.retries, 0
        while True:
            error: Tf1SessionsError
            try:
                reply = self._attempt(job, seat)
                break
            except WorkerGone as gone:
                building = seat.building
                end = seat.empty()
                if not gone.begun and not_begun < _NOT_BEGUN_TIMES:
                    not_begun += 1
                    continue
                error, state = self._death(job, end, building), "failed"
            except TimeUp:
                error, state = self._lateness(job, seat.building), "timed_out"
                seat.empty(kill=True)
            except (WorkError, ClosedError) as failure:  # no worker could be started
                error, state, retries = failure, "failed", 0
            if retries == 0 or job.ended:
                self._finish(job, state, error=error)
                return
            retries -= 1
        if reply is None:  # cancelled
            seat.empty(kill=True)
            return
        if reply.errors:
            finished = self._finish(job, "failed", error=self._job_error(job, reply))
        else:
            finished = self._finish(job, "succeeded", result=reply.result)
        if not finished:
            seat.empty(kill=True)
        elif not reply.may_go_on or self._is_worn(seat):
            seat.empty()

    def _attempt(self, job: _ProcessJob, seat: _Seat) -> Reply | None:
        """One try; None when the job was cancelled."""
        try:
            if seat.worker is None:
                seat.worker = self._new_worker(seat.number)
                seat.building = True
                if not self._attach(job, seat.worker):
                    return None
                setup = dataclasses.replace(self._setup, number=seat.number)
                reply = seat.worker.request(setup, self._build_limit_secs)
                if reply.errors:
                    return dataclasses.replace(reply, place="build", may_go_on=False)
                seat.building = False
            elif not self._attach(job, seat.worker):
                return None
            seat.jobs += 1
            return seat.worker.request((job.function, job.args, job.kwargs, job.name), job.time_limit_secs)
        except WorkerGone:
            if job.ended or job.future.cancelled():
                return None
            raise
        finally:
            with self._condition:
                job.worker = None

    def _new_worker(self, number: int) -> PoolWorker:
        environment = self._environment
        if self._plan is not None:
            environment = environment | self._plan.environment(number)
        name = f"{self.name}-{number}"
        return PoolWorker(self._server, name, self._payload, environment, self._folder)

    def _is_worn(self, seat: _Seat) -> bool:
        """Whether a worker is to be replaced after what it has done."""
        if self._max_jobs is not None and seat.jobs >= self._max_jobs:
            return True
        if self._max_memory_mb is None or seat.worker is None:
            return False
        return seat.worker.memory_mb() > self._max_memory_mb

    # -- errors ----------------------------------------------------------------------------------------------------

    def _job_error(self, job: Job, reply: Reply) -> BaseException:
        for error, cause in itertools.pairwise(reply.errors):
            error.__cause__ = cause
        if reply.traceback:
            reply.errors[-1].__cause__ = RemoteTracebackError(reply.traceback)
        return job_error(self, job, reply.errors[0], _PLACES[reply.place])

    def _death(self, job: Job, end: WorkerEnd, building: bool) -> WorkError:
        result = end.result
        what = f"job {job.name!r}: its worker (pid {end.pid})"
        said = f"The end of its stderr:\n{end.stderr}" if end.stderr else None
        if isinstance(result, WorkerResult) and not result.started:
            return WorkerStartError(
                f"{what} did not start", where=self.name, next_step=result.start_error or said, job=job.name
            )
        code, signal_name = None, None
        if isinstance(result, WorkError):
            how, signal_name = f"died: {result}", getattr(result, "signal_name", None)
        else:
            code, signal_name = result.returncode, result.signal_name
            how = f"was killed by {signal_name}" if signal_name else f"ended with exit code {code}"
        return WorkerDiedError(
            f"{what} {how} while it {'was built' if building else 'ran'}",
            where=self.name,
            next_step=said,
            job=job.name,
            signal_name=signal_name,
            returncode=code,
            stderr=end.stderr,
        )

    def _lateness(self, job: Job, building: bool) -> JobTimeoutError:
        if building:
            text = f"the worker of job {job.name!r} was not built within {self._build_limit_secs:g} s"
            next_step = "Give it more time (build_limit_secs)."
        else:
            text = f"job {job.name!r} did not end within {job.time_limit_secs:g} s"
            next_step = "Give it more time (time_limit_secs), or less to do."
        return JobTimeoutError(text, where=self.name, next_step=next_step, job=job.name)

    # -- the end ---------------------------------------------------------------------------------------------------

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As ``Executor.shutdown``. With ``wait``, all workers and threads have ended when it returns."""
        with self._condition:
            self._shut = True
            cancelled = list(self._waiting) if cancel_futures else []
            if cancel_futures:
                self._waiting.clear()
            last = not self._threads
            self._condition.notify_all()
        for job in cancelled:
            job.future.cancel()
        if last:
            self._release()
        if wait:
            self._released.wait()
            self._join_leaving()
            self._close_progress()

    def interrupt(self) -> None:
        """Cancels waiting and running jobs; the workers of these are killed."""
        with self._condition:
            jobs = [*self._waiting, *self._running.values()]
            self._waiting.clear()
        for job in jobs:
            job.future.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is not None and not issubclass(kind, Exception):  # Ctrl-C: do not wait for what may never end
            self.interrupt()
        self.shutdown(wait=True)
        return None

    def _release(self) -> None:
        """Gives the server back, when the last thread has ended."""
        with self._condition:
            first, self._releasing = not self._releasing, True
        if not first:
            return
        if self._shares_server:
            _give_back_server(self._mode, self._method)
        self._released.set()


# -- a thread's place for a worker ----------------------------------------------------------------------------------


@dataclass
class _Seat:
    """A thread's place for a worker."""

    number: int
    worker: PoolWorker | None = None
    building: bool = False
    jobs: int = 0

    def empty(self, kill: bool = False) -> WorkerEnd:
        """Ends its worker, which must be there unless nobody looks at the result."""
        worker, self.worker, self.building, self.jobs = self.worker, None, False, 0
        return WorkerEnd(0, WorkerStartError("there was no worker"), "") if worker is None else worker.end(kill)


def _check_count(what: str, value: int, least: int, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{what} is {value!r}", where=where, next_step=f"Give an integer of {least} or more.")


# -- servers ----------------------------------------------------------------------------------------------------------


def make_server(mode: Literal["tf1", "tf2"] = "tf1", method: Literal["fork", "spawn"] | None = None) -> WorkerServer:
    """A server that has preloaded what the workers of a pool need; for ``ProcessSessionPool(server=...)``.

    It starts with the first pool that uses it. Close it, or use it in a ``with``.
    """
    return WorkerServer([f"{WORKER}:preload_{mode}"], _environment(), method=method)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if _SET_BY_IMPORTS.get(name) != value}


_servers_lock = threading.Lock()  # protects the dict; held while a server is made, never while one is closed
_servers: dict[tuple[int, str, str | None], tuple[WorkerServer, int]] = {}  # by process, mode, method; with its users


def _shared_server(mode: Literal["tf1", "tf2"], method: Literal["fork", "spawn"] | None) -> WorkerServer:
    key = os.getpid(), mode, method
    with _servers_lock:
        server, users = _servers.get(key) or (make_server(mode, method), 0)
        _servers[key] = server, users + 1
    return server


def _give_back_server(mode: str, method: str | None) -> None:
    key = os.getpid(), mode, method
    with _servers_lock:
        server, users = _servers.pop(key)
        if users > 1:
            _servers[key] = server, users - 1
            return
    server.close()


_pools: weakref.WeakSet[ProcessSessionPool] = weakref.WeakSet()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # they are the parent's


@atexit.register
def _at_exit() -> None:
    """Ends pools that nobody shut down: waiting jobs are cancelled, running ones killed."""
    for pool in list(_pools):
        pool.interrupt()
        pool.shutdown(wait=True)
