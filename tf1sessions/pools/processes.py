"""ProcessSessionPool: many sessions, each in a process of its own.

::

    submit ─▶ Dispatcher, a thread of the pool ─▶ WorkerProxy ═▶ pool_worker_main.work(), forked from the warm server
    Future ◀─────┘                                                 fn(session, ...), one job at a time

This module is what a user sees; ``dispatcher.py`` describes how jobs get to workers.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Literal

from tf1sessions.pools import preparation
from tf1sessions.pools.dispatched import DispatchedPool
from tf1sessions.pools.dispatcher import Dispatcher
from tf1sessions.pools.fork_server import WorkerServer
from tf1sessions.pools.job_durations import JobDurations, job_kind
from tf1sessions.pools.jobs import JobOptions
from tf1sessions.pools.pool_worker_main import Setup
from tf1sessions.pools.process_jobs import ProcessFuture, ProcessJob, ProcessJobOptions
from tf1sessions.pools.process_options import ProcessPoolOptions
from tf1sessions.pools.progress import PoolProgress
from tf1sessions.pools.warm_servers import close_servers, environment, make_server, return_server, take_server
from tf1sessions.pools.worker_proxy import WorkerProxy
from tf1sessions.sessions.division import thread_counts
from tf1sessions.sessions.machine import usable_cores
from tf1sessions.sessions.working_folder import absolute, current_folder

__all__ = ["ProcessSessionPool", "close_servers", "make_server"]


class ProcessSessionPool(DispatchedPool):
    """A :class:`~tf1sessions.ThreadSessionPool` whose workers are processes.

    Jobs are called as there: ``fn(session, *args, **kwargs)``, with a fresh session for each, or with ``initializer``
    the worker's, whose graph is built once and sealed. Functions and classes that a worker cannot import, such as those
    of a notebook or of the main program, go there by value; arrays go through shared memory. A worker has the
    environment, the working directory, ``sys.path`` and TensorFlow behaviour (v1 or v2) that this process had when the
    pool was made; in a script under ``tf1sessions run`` ``import tensorflow`` is TensorFlow 1 there, too. What a job
    changes in its process (globals, environment, random state) the worker's next job sees.

    Without a ``plan`` the workers share the cores by ``TF_NUM_INTRAOP_THREADS`` and ``TF_NUM_INTEROP_THREADS``, unless
    these are set; a session whose config asks for threads gets those. The session that a job is given is made when
    the job uses it first, so that one which makes sessions of its own settles their threads by itself. Those have the
    compiled calls of :class:`~tf1sessions.Session`, also where ``tf.compat.v1.Session`` makes them.

    Workers are forks of a server that has TensorFlow imported; the pools that are open at the same time share one.
    Plain ``fork`` is never used.

    Args:
        max_workers: How many jobs may run at once.
        config: The sessions' :class:`~tf1sessions.SessionConfig` or ConfigProto.
        initializer, initargs: Builds a worker's graph. With ``mode="tf2"``: ``initializer(*initargs)``, whose result is
            the first argument of each job.
        time_limit_secs: A limit for each job, from when it is sent to its worker; which is killed when it is up.
        progress: ``progress(change: PoolProgress) -> None``, called at each change, from the thread where it happens:
            ``progress=lambda change: print(change.job, change.state)``. True shows a bar on a terminal, and else logs
            the jobs that end.
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

    Callbacks of futures, and ``progress``, are called in the pool's only thread, which gives jobs to all workers, or in
    the one that cancels: they shall be short. They may submit, cancel and shut down (which does not wait there), but
    not wait for another job of the pool, which would never end: ``result()`` raises a UsageError there.

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

    _dispatcher: Dispatcher

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
        self._pool_options = options = ProcessPoolOptions(
            name=name,
            max_workers=max_workers,
            config=config,
            initializer=initializer,
            initargs=initargs,
            mode=mode,
            model=model,
            plan=plan,
            retries=retries,
            build_limit_secs=build_limit_secs,
            max_jobs_per_worker=max_jobs_per_worker,
            max_memory_mb=max_memory_mb,
            method=method,
            server=server,
        )
        self._process = os.getpid()
        folder = current_folder(name)
        behavior = sys.modules.get("tensorflow.python.tf2")
        payload = {
            "mode": mode,
            "path": [absolute(entry, name) for entry in sys.path],
            "v1": behavior is not None and not behavior.enabled(),
            "prepare": preparation.code if mode == "tf1" else "",
        }
        setup = Setup(config, initializer, initargs, options.model_arguments, plan, 0)
        self._durations = JobDurations()
        self._server = take_server(mode, method) if server is None else server
        start_worker = _WorkerStarter(self._server, name, payload, plan, max_workers, folder)
        on_end = functools.partial(_return_server, self._server, server is None)
        # The dispatcher does not hold the pool: one that is dropped would never be garbage, and its workers would stay.
        self._dispatcher = Dispatcher(options, self._accounts, self._durations, start_worker, setup, on_end)
        dispatcher = self._dispatcher
        self._options = ProcessJobOptions(
            self._submit, dispatcher.cancel, None, time_limit_secs, dispatcher.is_current_thread, retries
        )
        self._server.start()
        self._end_with_process()
        weakref.finalize(self, dispatcher.abandon).atexit = False

    def _new_job(
        self, options: JobOptions, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], number: int
    ) -> ProcessJob:
        return ProcessJob(ProcessFuture(), fn, args, kwargs, options, number)

    def _enqueued(self) -> None:
        self._dispatcher.wake()

    def _prefetch(self, fn: Callable[..., Any]) -> int:
        return 2 * self._most_workers * self._durations.count_ahead(job_kind(fn))


class _WorkerStarter:
    """Makes a pool's workers, which have the environment that the process has now."""

    def __init__(
        self, server: WorkerServer, name: str, payload: dict[str, Any], plan: Any, workers: int, folder: str
    ) -> None:
        self._server, self._name, self._payload, self._plan = server, name, payload, plan
        self._environment = environment()
        self._threads_of_worker = _thread_counts(workers)
        self._folder = folder

    def __call__(self, number: int) -> WorkerProxy:
        given = self._threads_of_worker if self._plan is None else self._plan.environment(number)
        environment = given | self._environment  # what the user has set counts
        return WorkerProxy(self._server, f"{self._name}-{number}", self._payload, environment, self._folder)


def _return_server(server: WorkerServer, is_shared: bool) -> None:
    if is_shared:
        return_server(server)


def _thread_counts(workers: int) -> dict[str, str]:
    """The environment for workers that share the cores; sessions whose config asks for threads get those."""
    if workers == 1:
        return {}
    intra_op, inter_op = thread_counts(usable_cores(), workers)
    return {"TF_NUM_INTRAOP_THREADS": str(intra_op), "TF_NUM_INTEROP_THREADS": str(inter_op)}


atexit.register(ProcessSessionPool.end_all)
