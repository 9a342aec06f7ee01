"""ProcessSessionPool: many sessions, each in a process of its own.

::

    submit ─▶ _waiting ─▶ a thread per worker ─▶ PoolWorker ═▶ process_worker.work, forked from the warm server
       │                     ▲                      │          fn(session, ...), one job at a time
       │                     └── Reply, or its end ─┘
       └─ if a worker is idle ─▶ PoolWorker ═▶ work ═▶ Reply ─▶ result(), if it waits; else the thread

A thread takes a job, makes sure that it has a worker, sends the job and waits for the reply, for the end of the worker,
or for the end of the job's time. A worker that died, hung or had a job cancelled is replaced before the next job.

Two of the four hand-overs of a small job are left out where that is simple. A job with plain arguments, without a
limit, whose function was sent before, is sent by the thread that submits it, if a worker is idle; its seat's thread
sleeps on. The thread that waits for the result takes it in by itself, if it comes within milliseconds. Else, and when
anything is out of the ordinary, the seat's thread goes on from there. It is woken when somebody waits in another way,
or jobs wait for a worker; and as long as others use seats, one of the sleeping threads looks every few milliseconds for
what nobody has taken in.

Jobs of a kind that took less than a millisecond before are taken several at a time, and go in one message. The worker
tells on its ``board`` which it has begun and what they gave, so that nobody waits for a job that turns out to be long:
those behind it that have not begun are given back. So are those of a worker that died.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import itertools
import logging
import os
import reprlib
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
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
from tf1sessions.pools import preparation
from tf1sessions.pools.base import Job, JobOptions, PoolProgress, SessionPool, check_limit, job_error
from tf1sessions.pools.board import MOST_JOBS
from tf1sessions.pools.call_packing import Block, CallPacker
from tf1sessions.pools.fork_server import WorkerResult, WorkerServer
from tf1sessions.pools.messages import Message
from tf1sessions.pools.packing import pack
from tf1sessions.pools.process_jobs import ProcessFuture, ProcessJob, ProcessJobOptions, Seat
from tf1sessions.pools.process_worker import Reply, Setup
from tf1sessions.pools.warm_servers import close_servers, environment, make_server, return_server, take_server
from tf1sessions.pools.worker_link import PoolWorker, TimeUp, WorkerEnd, WorkerGone
from tf1sessions.sessions.division import thread_counts
from tf1sessions.sessions.machine import usable_cores

__all__ = ["ProcessSessionPool", "close_servers", "make_server"]

logger = logging.getLogger("tf1sessions")

_PLACES = {  # what a job did, by the place of an exception; its type follows
    "unpickle": "cannot be read by its worker: unpickling it raised",
    "build": "has no worker: building it raised",
    "run": "raised",
    "return": "returned what cannot be sent: pickling it raised",
    "result": "returned what cannot be read here: unpickling it raised",
}
_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 100
_SEND = "Make it in the job, or send what it can be made from, such as the name of a file."
# Jobs go to a worker together while they are so short in sum that it costs the others nothing. Arbitrary, but well
# above what a message costs, and below what anybody notices.
_TOGETHER_SECS = 0.001
_MOST_KINDS = 1000  # of jobs whose time is known; arbitrary
_HELP_SECS = 0.005  # that a thread which waits for a result looks after its job by itself; arbitrary
_LOOK_SECS = 0.002  # between two looks at the seats that others use; arbitrary
_AT_ONCE_BYTES = 128 << 10  # of a job that whoever submits it sends; the socket holds it, so that nobody waits
_AT_ONCE_ARRAY_BYTES = 1 << 20  # of an array in it; arbitrary
_NOT_BEGUN_TIMES = 3  # that a job may meet a worker that dies before it reads it


class ProcessSessionPool(SessionPool):
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
    ``cancel()`` works until the job has ended: a worker that runs it is killed. Callbacks are called in a thread of the
    pool, or in one that waits for the result.

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
        self._process = os.getpid()
        if initializer is not None and not callable(initializer):
            raise UsageError(
                f"initializer is {initializer!r}", where=name, next_step="Pass a function that takes a session."
            )
        if not isinstance(initargs, (tuple, list)):
            raise UsageError(f"initargs is {initargs!r}", where=name, next_step="Give a tuple, such as (value,).")
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
        if method not in (None, "fork", "spawn"):
            raise UsageError(f"method is {method!r}", where=name, next_step='Give "fork", "spawn" or None.')
        if server is not None and not isinstance(server, WorkerServer):
            raise UsageError(f"server is {server!r}", where=name, next_step="Make it with make_server().")
        if model is not None and not isinstance(model, (str, os.PathLike, Mapping)):
            raise UsageError(f"model is {model!r}", where=name, next_step="Give a path, or the arguments of load().")
        if plan is not None and not all(hasattr(plan, what) for what in ("workers", "apply", "environment")):
            raise UsageError(f"plan is {plan!r}", where=name, next_step=f"Give a MemoryPlan(workers={max_workers}).")
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
        self._options = ProcessJobOptions(self, None, time_limit_secs, retries)
        self._build_limit_secs = build_limit_secs
        self._max_jobs = max_jobs_per_worker
        self._max_memory_mb = max_memory_mb
        self._plan = plan
        if model is not None and not isinstance(model, Mapping):
            path = os.fspath(model)
            model = {"path": path if "://" in path else os.path.abspath(path)}
        self._setup = Setup(config, initializer, initargs, model, plan, 0)
        self._environment = environment()
        self._threads_of_worker = _thread_counts(max_workers)
        self._folder = os.getcwd()
        behavior = sys.modules.get("tensorflow.python.tf2")
        self._packer = CallPacker(with_names=mode == "tf1" and initializer is None and model is None)
        self._seconds: dict[tuple[str, str], float] = {}  # that jobs took, by kind; single operations only
        self._payload = {
            "mode": mode,
            "path": [os.path.abspath(entry) for entry in sys.path],
            "v1": behavior is not None and not behavior.enabled(),
            "prepare": preparation.code if mode == "tf1" else "",
        }
        self._may_send_at_once = self._progress is None and max_jobs_per_worker is None and max_memory_mb is None
        # Under _lock: jobs not taken, places for workers, threads that may take jobs, how many of those are to take
        # one, the seats of these that sleep and were not woken, the last one used last, the seat whose thread looks at
        # all those that others use, what it saw there last, whether one was used since then, numbers for workers.
        self._waiting: deque[ProcessJob] = deque()
        self._seats: set[Seat] = set()
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._ready: list[Seat] = []
        self._looker: Seat | None = None
        self._seen: list[Message] = []
        self._used = False
        self._free_numbers = list(range(max_workers))
        self._releasing = False
        self._released = threading.Event()
        self._shares_server = server is None
        self._server = take_server(mode, method) if server is None else server
        self._server.start()
        _pools.add(self)

    def job(self, name: str | None = None, time_limit_secs: float | None = None, retries: int | None = None) -> Any:
        """As :meth:`SessionPool.job`, with ``retries`` of its own."""
        options = super().job(name, time_limit_secs)
        if retries is not None:
            _check_count("retries", retries, 0, "job()")
        return ProcessJobOptions(
            self, options.name, options.time_limit_secs, self._retries if retries is None else retries
        )

    def _new_job(
        self, options: JobOptions, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], number: int
    ) -> Job:
        future = ProcessFuture()
        future.job = job = ProcessJob(future, fn, args, kwargs, options, number)
        return job

    def _enqueued(self, job: Job) -> None:
        """Sends it if it was given a seat. :class:`ProcessFuture` tells when it is cancelled."""
        assert isinstance(job, ProcessJob)
        if job.at_once:
            assert job.seat is not None
            self._send_at_once([job.seat])

    def _submit_all(self, fn: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Sequence[Future[Any]]:
        if len(calls) < 2:
            return super()._submit_all(fn, calls)
        self._check_call(fn)
        jobs = [ProcessJob(ProcessFuture(), fn, args, {}, self._options, next(self._numbers)) for args in calls]
        for job in jobs:
            job.future.job = job
        seats: list[Seat] = []
        try:
            with self._lock:
                self._check_not_shut()
                self._counts["submitted"] += len(jobs)
                self._counts["waiting"] += len(jobs)
                seats, rest = self._seat_all(jobs)
                for job in rest:
                    self._wait(job)
            if seats:
                self._send_at_once(seats)
        except BaseException:
            with self._lock:
                self._let_go_of_all()
            raise
        return [job.future for job in jobs]

    # -- a job's state ---------------------------------------------------------------------------------------------

    def _on_cancelled(self, job: Job) -> None:
        assert isinstance(job, ProcessJob)
        with self._lock:
            if job.future.job is None:  # another thread was first
                return
            job.future.job = None
            if not job.ended:
                job.ended = True
                job.future.set_running_or_notify_cancel()
            worker = job.worker
            kill = worker is not None and worker.stop(job.index)
            seconds = 0.0 if job.started is None else time.monotonic() - job.started
            count = {"waiting" if job.started is None else "running": -1}
            statistics = self._count(cancelled=1, busy_seconds=seconds, **count)
        if worker is not None and kill:
            worker.kill()
        self._tell(job, "cancelled", seconds, statistics)

    def _attach(self, jobs: list[ProcessJob], worker: PoolWorker, building: bool = False) -> list[ProcessJob]:
        """Makes a worker the jobs', to be stopped with them. Returns those that were not cancelled."""
        with self._lock:
            jobs = [job for job in jobs if not job.ended]
            if not building:
                worker.prepare(len(jobs))
            for index, job in enumerate(jobs):
                job.worker, job.index = worker, None if building else index
            return jobs

    # -- threads ---------------------------------------------------------------------------------------------------

    def _enqueue(self, job: Job) -> None:
        assert isinstance(job, ProcessJob)
        if self._ready and self._may_seat(job):
            self._seat_jobs(self._ready[-1], [job])
        else:
            self._wait(job)

    def _may_seat(self, job: ProcessJob) -> bool:
        """Whether an idle worker may have a job from the thread that submits it; with the lock held."""
        if self._waiting or not self._may_send_at_once or job.options.time_limit_secs is not None:
            return False
        return self._ready[-1].worker is not None and self._packer.is_simple(job, _AT_ONCE_ARRAY_BYTES)

    def _seat_jobs(self, seat: Seat, jobs: list[ProcessJob]) -> None:
        """Gives jobs to a worker whose thread sleeps on, for :meth:`_send_at_once`; with the lock held."""
        self._ready.remove(seat)
        self._idle -= 1
        seat.asleep, seat.wanted, self._used = False, False, True
        seat.helper, seat.sent = threading.get_ident(), Message(self, seat, jobs)
        seat.taken = jobs
        for job in jobs:
            job.seat, job.at_once = seat, True

    def _seat_all(self, jobs: list[ProcessJob]) -> tuple[list[Seat], list[ProcessJob]]:
        """The same for jobs of one function. Returns the seats that got some, and the jobs that none got; with the lock
        held."""
        seats = [seat for seat in self._ready if seat.worker is not None]
        if not seats or not self._may_seat(jobs[0]):  # the others are alike, as a rule; else they will wait
            return [], jobs
        secs = self._seconds.get(_kind(jobs[0].function), _TOGETHER_SECS)
        workers = len(seats) + len(self._free_numbers)
        most = min(MOST_JOBS, -(-len(jobs) // workers), int(_TOGETHER_SECS / max(secs, 1e-9)) or 1)
        del seats[-(-len(jobs) // most) :]
        for number, seat in enumerate(seats):
            self._seat_jobs(seat, jobs[number * most : (number + 1) * most])
        return seats, jobs[len(seats) * most :]

    def _wait(self, job: ProcessJob) -> None:
        """Leaves a job to the first thread that is free; with the lock held."""
        self._waiting.append(job)
        if len(self._waiting) == 1:
            self._want_all()  # who waits for a result does not take the next job
        if self._ready or self._free_numbers:
            self._dispatch()

    def _dispatch(self) -> None:
        """Wakes and starts threads for waiting jobs; with the lock held."""
        for _ in range(min(len(self._ready), len(self._waiting))):
            self._wake(self._ready.pop())
        while len(self._waiting) > self._idle and self._free_numbers:
            number = self._free_numbers.pop(0)
            thread = threading.Thread(target=self._work, args=(number,), name=f"{self.name}-{number}", daemon=True)
            self._threads.add(thread)
            self._idle += 1  # it will take a job; counted down when it does
            thread.start()

    def _wake(self, seat: Seat) -> None:
        """Wakes its thread, which sleeps for lack of jobs; with the lock held."""
        seat.asleep = False
        seat.ring()

    def _want(self, seat: Seat) -> None:
        """Has its thread look after what others have sent; with the lock held."""
        seat.wanted = True
        seat.ring()

    def _want_all(self) -> None:
        for seat in self._seats:
            if seat.sent is not None:
                self._want(seat)

    def _take(self, seat: Seat) -> tuple[list[ProcessJob], Message | None]:
        """The next jobs, several where all are short; none when there will be none. With the message in which others
        have sent them, which this thread is to look after now."""
        while True:
            with self._lock:
                if self._looker is seat:
                    self._look()
                message = seat.sent
                if message is not None:
                    if seat.wanted and not seat.helper:
                        seat.sent = None
                        self._pass_on_looking(seat)
                        return seat.taken, message
                elif not seat.asleep:
                    if self._waiting:
                        self._pass_on_looking(seat)
                        return self._take_waiting(seat), None
                    if self._shut:
                        self._pass_on_looking(seat)
                        self._idle -= 1
                        return [], None
                    seat.asleep = True
                    self._ready.append(seat)
                secs = _LOOK_SECS if self._looker is seat else -1
            del message
            seat.bell.acquire(timeout=secs)

    def _look(self) -> None:
        """Has what nobody has taken in since the last look taken in by the threads of its seats; with the lock held."""
        sent = [seat.sent for seat in self._seats if seat.sent is not None]
        for seat in self._seats:
            if seat.sent in self._seen and not seat.helper:
                self._want(seat)
        if not (sent or self._used):
            self._looker = None
        self._seen, self._used = sent, False

    def _pass_on_looking(self, seat: Seat) -> None:
        """Its thread has other things to do; with the lock held."""
        if self._looker is seat:
            self._looker, self._seen = None, []
            self._have_looks(self._seats)

    def _have_looks(self, seats: Iterable[Seat]) -> None:
        """Has a thread look at the seats that others use, if these are some, and none does; with the lock held."""
        if self._looker is None and (seat := next((one for one in seats if one.sent is not None), None)) is not None:
            self._looker = seat
            seat.ring()

    def _take_waiting(self, seat: Seat) -> list[ProcessJob]:
        """With the lock held, and at least one job waiting."""
        waiting = self._waiting
        self._idle -= 1
        job = waiting.popleft()
        jobs = seat.taken = [job]
        job.seat = seat
        function, kind = job.function, _kind(job.function)
        job.kind = kind
        secs = each = self._short_secs(job)
        most = self._most_at_once(seat)
        while secs < _TOGETHER_SECS and len(jobs) < most:
            job = waiting.popleft()
            if job.function is function:
                job.kind = kind
            else:
                function = job.function
                job.kind = kind = _kind(function)
                each = self._short_secs(job)
            secs += each
            job.seat = seat
            jobs.append(job)
        return jobs

    def _most_at_once(self, seat: Seat) -> int:
        """How many jobs may go to a worker in one message; those that have nothing to do shall have some, too."""
        if seat.worker is None or self._max_memory_mb is not None:
            return 1
        free = self._idle + len(self._free_numbers)
        most = min(MOST_JOBS, 1 + len(self._waiting) // (1 + free))
        return most if self._max_jobs is None else min(most, self._max_jobs - seat.jobs)

    def _short_secs(self, job: ProcessJob) -> float:
        """How long such a job takes; as long as one may that goes together with others, if that is not known."""
        return self._seconds.get(job.kind, _TOGETHER_SECS)

    def _prefetch(self, fn: Callable[..., Any]) -> int:
        ahead = 2 * self._most_workers
        secs = self._seconds.get(_kind(fn), _TOGETHER_SECS)
        return ahead * max(1, min(MOST_JOBS, int(_TOGETHER_SECS / max(secs, 1e-9))))

    def _work(self, number: int) -> None:
        """The life of a worker's thread; the worker may be replaced."""
        seat = Seat(number)
        with self._lock:
            self._seats.add(seat)
        try:
            while True:
                jobs, message = self._take(seat)
                if not jobs:
                    break
                try:
                    self._run_all(jobs, seat, message)
                except BaseException as error:  # a mistake of ours: nobody shall wait for ever
                    logger.exception("%s: job %r", self.name, jobs[0].name)
                    seat.empty(kill=True)
                    for job in jobs:
                        if job.seat is seat and (job.started is not None or self._start(job)):
                            self._finish(job, "failed", error=error)
                finally:
                    with self._lock:
                        for job in jobs:
                            if job.seat is seat:
                                job.seat = job.worker = None
                        seat.taken = []
                        self._idle += 1
                jobs.clear()  # arguments and results must not outlive them here
                del job, message
        finally:
            seat.empty()
            with self._lock:
                self._seats.discard(seat)
                self._threads.discard(threading.current_thread())
                self._leave_thread()
                self._free_numbers.append(number)
                if self._waiting:
                    self._dispatch()
                last = self._shut and not self._threads
            if last:
                self._release()

    def _give_back(self, jobs: Sequence[ProcessJob]) -> None:
        """Lets others take jobs that have not begun."""
        if not jobs:
            return
        with self._lock:
            for job in reversed(jobs):
                job.seat = job.worker = job.index = None
                if not job.ended:
                    self._waiting.appendleft(job)
            self._dispatch()

    # -- a sleeping thread's work, done by others ------------------------------------------------------------------

    def _send_at_once(self, seats: list[Seat]) -> None:
        """Sends the jobs that were given seats; what cannot be sent at once waits for a thread."""
        try:
            for seat in seats:
                self._send_one_at_once(seat)
        finally:
            with self._lock:  # not before: a thread that wakes delays the workers
                self._have_looks(seats)

    def _send_one_at_once(self, seat: Seat) -> None:
        assert seat.worker is not None and seat.sent is not None
        message, jobs = seat.sent, seat.taken
        ready = False
        try:
            block: Block | None = None
            with contextlib.suppress(Exception):  # it is told where the thread packs the job again
                in_band = seat.worker.in_band
                block = self._packer.run(jobs, in_band, _AT_ONCE_BYTES) or self._packer.single(jobs[0], in_band)
            if block is not None and block.length <= _AT_ONCE_BYTES:
                kind = _kind(jobs[0].function)
                for job in jobs:
                    job.kind = kind
                message.send_at_once(block)
            ready = True
        finally:
            if not ready:
                message.give_up()
            with self._lock:
                self._let_go(seat, message, is_sent=True)

    def _help(self, job: ProcessJob, timeout: float | None) -> float | None:
        """Takes a job's result in, in the thread that waits for it, if it comes soon. Returns what is left of the
        timeout."""
        seat = job.seat
        if seat is None or self._is_inherited():
            return timeout
        began = time.monotonic()
        message: Message | None = None
        ended = reading = False
        try:
            with self._lock:
                if seat.sent is None or seat.helper or self._waiting or job.seat is not seat:
                    return timeout
                seat.helper, message = threading.get_ident(), seat.sent
            until = began + (_HELP_SECS if timeout is None else min(timeout, _HELP_SECS))
            while not ended and not job.ended and message.wait(until - time.monotonic()):
                reading = True
                ended = message.take_in()
                reading = False
                if not message.is_under_way:
                    break
        except WorkerGone:
            reading = False
        finally:
            if message is not None:
                if reading:
                    message.give_up()
                with self._lock:
                    self._let_go(seat, message, ended)
        return None if timeout is None else max(0.0, began + timeout - time.monotonic())

    def _let_go(self, seat: Seat, message: Message, ended: bool = False, is_sent: bool = False) -> None:
        """Leaves a seat to its thread, or to whoever waits for its job, or ready for the next one; with the lock
        held."""
        seat.helper = 0
        if not ended:
            if not is_sent or seat.wanted or not message.is_under_way:
                self._want(seat)  # again: its thread may have looked while this one was at it
            return
        for job in seat.taken:
            if job.seat is seat:
                job.seat = job.worker = None
        seat.taken, seat.sent = [], None
        self._idle += 1
        if self._waiting or self._shut:
            seat.ring()
        else:
            seat.asleep = True
            self._ready.append(seat)

    def _let_go_of_all(self) -> None:
        """Gives up what an exception, such as Ctrl-C's, has kept this thread from letting go of; with the lock held."""
        for seat in self._seats:
            if seat.sent is not None and seat.helper == threading.get_ident():
                seat.sent.give_up()
                self._let_go(seat, seat.sent)

    # -- running jobs ----------------------------------------------------------------------------------------------

    def _run_all(self, jobs: list[ProcessJob], seat: Seat, message: Message | None) -> None:
        again = self._run(jobs, seat) if message is None else message.run(is_sent=True)
        while again is not None:
            again = self._run([again], seat)

    def _run(self, jobs: list[ProcessJob], seat: Seat) -> ProcessJob | None:
        """Runs jobs, or gives them back. Returns one that is to be run again, by itself.

        All are short, as far as is known, or it is only one.
        """
        first = jobs[0]
        if first.started is None and not self._start(first):
            self._give_back(jobs[1:])
            return None
        try:
            if seat.worker is None:
                assert len(jobs) == 1
                if (reply := self._build(first, seat)) is None or reply.errors:
                    if reply is not None:
                        self._finish(first, "failed", error=self._job_error(first, reply))
                    seat.empty(kill=reply is None)
                    return None
            return Message(self, seat, jobs).run()
        except WorkerGone:  # while it was built
            return self._after_death([first], True, seat)
        except TimeUp:
            seat.empty(kill=True)
            return self._again(first, "timed_out", self._lateness(first, building=True))
        except (WorkError, ClosedError) as error:  # no worker could be started
            self._finish(first, "failed", error=error)
            return None

    def _build(self, job: ProcessJob, seat: Seat) -> Reply | None:
        """Gives a seat a worker; None when the job was cancelled."""
        seat.worker = worker = self._new_worker(seat.number)
        seat.building = True
        try:
            if not self._attach([job], worker, building=True):
                return None
            reply = worker.set_up(dataclasses.replace(self._setup, number=seat.number), self._build_limit_secs)
            seat.building = False
            if reply.errors:
                reply = dataclasses.replace(reply, place="set up" if reply.place == "pickle" else "build")
        finally:
            with self._lock:
                job.worker = None
        return None if worker.doomed else reply

    def _after_death(self, jobs: Sequence[ProcessJob], has_run: bool, seat: Seat) -> ProcessJob | None:
        """A worker has ended: it costs the first job, if that has run; the others have not begun. Returns what is to be
        run again."""
        building = seat.building
        end = seat.empty()
        first, *others = jobs
        self._give_back(others)
        if first.ended:  # cancelled
            return None
        if not has_run and first.not_begun < _NOT_BEGUN_TIMES:
            first.not_begun += 1
            return first
        return self._again(first, "failed", self._death(first, end, building))

    def _again(self, job: ProcessJob, state: str, error: Tf1SessionsError) -> ProcessJob | None:
        """Ends a job whose worker died or whose time was up, or returns it, when it has retries."""
        if job.started is None and not self._start(job):
            return None
        if job.ended or not job.may_run_again:
            self._finish(job, state, error=error)
            return None
        job.retried += 1
        return job

    def _end_all(self, ended: Sequence[tuple[ProcessJob, Reply]]) -> None:
        """A worker has replied."""
        self._learn_all(ended)
        if self._progress is not None:
            for job, reply in ended:
                self._end(job, reply)
            return
        failed = []
        watched = []
        had_started = had_not = 0
        busy_seconds, now = 0.0, time.monotonic()
        with self._lock:
            for job, reply in ended:
                if reply.errors:
                    failed.append((job, reply))
                elif not job.ended:
                    job.ended = True
                    if not job.end(reply.result, None):
                        continue  # cancelled: its callback counts it
                    if job.started is None:  # as most that go together
                        had_not += 1
                        busy_seconds += reply.seconds
                    else:
                        had_started += 1
                        busy_seconds += max(now - job.started, reply.seconds)
                    if job.future.is_watched:
                        watched.append(job.future)
            counts = self._counts
            counts["waiting"] -= had_not
            counts["running"] -= had_started
            counts["succeeded"] += had_not + had_started
            counts["busy_seconds"] += busy_seconds
        for future in watched:
            future.call_back()
        for job, reply in failed:
            self._end(job, reply)

    def _end(self, job: ProcessJob, reply: Reply) -> None:
        """The same for one job, with all that can be told of it."""
        if job.started is None and not self._start(job):
            return
        assert job.started is not None
        job.started = min(job.started, time.monotonic() - reply.seconds)  # this thread may have learned of it later
        if reply.errors:
            self._finish(job, "failed", error=self._job_error(job, reply))
        else:
            self._finish(job, "succeeded", result=reply.result)

    def _learn_all(self, ended: Sequence[tuple[ProcessJob, Reply]]) -> None:
        """Takes in how long jobs took."""
        at = 0
        while at < len(ended):
            kind = ended[at][0].kind
            secs, first = 0.0, at
            while at < len(ended) and ended[at][0].kind == kind:
                secs += ended[at][1].seconds
                at += 1
            if secs:
                self._learn(kind, secs / (at - first), at - first)

    def _learn(self, kind: tuple[str, str], secs: float, jobs: int = 1) -> None:
        """Takes in how long jobs took, each. One that a busy machine has kept waiting must not hide that all are
        short."""
        known = self._seconds.get(kind)
        if known is None:
            if len(self._seconds) >= _MOST_KINDS:
                self._seconds.clear()
            self._seconds[kind] = secs
        else:
            self._seconds[kind] = min(secs, 2 * known) if secs > known else known + (secs - known) * min(1.0, jobs / 8)

    def _new_worker(self, number: int) -> PoolWorker:
        given = self._threads_of_worker if self._plan is None else self._plan.environment(number)
        environment = given | self._environment  # what the user has set counts
        name = f"{self.name}-{number}"
        return PoolWorker(self._server, name, self._payload, environment, self._folder)

    def _is_worn(self, seat: Seat) -> bool:
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
        assert isinstance(job, ProcessJob)
        if reply.place == "pickle":
            what = self._unpicklable(job)
            return job_error(self, job, reply.errors[0], f"cannot be sent to a worker: pickling {what} raised", _SEND)
        if reply.place == "set up":
            how = "has no worker: pickling the pool's initializer, initargs, config or model raised"
            return job_error(self, job, reply.errors[0], how, _SEND)
        return job_error(self, job, reply.errors[0], _PLACES[reply.place])

    def _unpicklable(self, job: ProcessJob) -> str:
        """What of a job cannot be pickled."""
        parts = [("its function", job.function)]
        parts += [(f"argument {number}", value) for number, value in enumerate(job.args)]
        parts += [(f"argument {name!r}", value) for name, value in job.kwargs.items()]
        for what, value in parts:
            try:
                pack(value, float("inf") if what == "its function" else 0)
            except BaseException:  # noqa: BLE001 - whatever a foreign __reduce__ raises
                return f"{what}, {_SHORT.repr(value)},"
        return "it"

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
        if self._is_inherited():
            self._shut = True
            return
        with self._lock:
            self._shut = True
            self._let_go_of_all()
            cancelled: list[ProcessJob] = []
            if cancel_futures:
                cancelled = [*self._waiting, *(job for job in self._taken() if job.started is None)]
                self._waiting.clear()
            last = not self._threads
            self._want_all()
            while self._ready:
                self._wake(self._ready.pop())
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
        if self._is_inherited():
            return
        with self._lock:
            self._let_go_of_all()
            jobs = [*self._waiting, *self._taken()]
            self._waiting.clear()
        for job in jobs:
            job.future.cancel()

    def _taken(self) -> list[ProcessJob]:
        """The jobs that threads have taken, and not given back; with the lock held."""
        return [job for seat in self._seats for job in seat.taken if job.seat is seat]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is not None and not issubclass(kind, Exception):  # Ctrl-C: do not wait for what may never end
            self.interrupt()
        self.shutdown(wait=True)
        return None

    def _release(self) -> None:
        """Gives the server back, when the last thread has ended."""
        with self._lock:
            first, self._releasing = not self._releasing, True
        if not first:
            return
        if self._shares_server:
            return_server(self._server)
        self._released.set()


def _thread_counts(workers: int) -> dict[str, str]:
    """The environment for workers that share the cores; sessions that say how many threads they want get these."""
    if workers == 1:
        return {}
    intra_op, inter_op = thread_counts(usable_cores(), workers)
    return {"TF_NUM_INTRAOP_THREADS": str(intra_op), "TF_NUM_INTEROP_THREADS": str(inter_op)}


def _kind(function: Any) -> tuple[str, str]:
    function = getattr(function, "func", function)  # of functools.partial
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return getattr(function, "__module__", None) or "", name


def _check_count(what: str, value: int, least: int, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{what} is {value!r}", where=where, next_step=f"Give an integer of {least} or more.")


# -- the end of the process --------------------------------------------------------------------------------------------


_pools: weakref.WeakSet[ProcessSessionPool] = weakref.WeakSet()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # they are the parent's


@atexit.register
def _at_exit() -> None:
    """Ends pools that nobody shut down: waiting jobs are cancelled, running ones killed."""
    for pool in list(_pools):
        pool.interrupt()
        pool.shutdown(wait=True)
