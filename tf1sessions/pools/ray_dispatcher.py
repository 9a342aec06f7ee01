"""The thread of a RaySessionPool that gives jobs to workers, which are actors of Ray, and takes their answers.

::

    submit, cancel, shut_down ─▶ the inbox ─▶ _loop(): one event after another; then limits, then _assign()
    Ray's thread: an actor's call has ended ──┘
      _assign()   a job for each idle worker; another worker while there are more jobs than workers that start
      _on_built() ready, or why not         _on_answer() a result, an error, or the end of the worker
    submit, of one job while a worker is idle ─▶ _send_here(): to the worker, in the caller's thread

A worker that has ended by itself cost the job that it ran (``retries``). One that was lost with its node, or can no
longer be reached, did not: its job runs again (``node_retries``). Ray notices both; a call of an actor that died on a
node that lives ends with ``ActorDiedError``, one on a node that is gone with ``ActorUnavailableError`` about two
seconds later. The cluster's own list has that node for ten more, in which Ray would start workers there; Connection
keeps them from it.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tf1sessions.errors import ClosedError, UnsupportedEnvironmentError, WorkerDiedError, WorkError, WorkerStartError
from tf1sessions.pools.accounts import JobAccounts, JobEnd, News
from tf1sessions.pools.jobs import job_error
from tf1sessions.pools.packing import pack
from tf1sessions.pools.pool_worker_main import Reply, failure_here, unpack_reply
from tf1sessions.pools.process_errors import build_time_error, job_time_error, reply_error
from tf1sessions.pools.process_jobs import ProcessJob
from tf1sessions.pools.process_options import ProcessPoolOptions
from tf1sessions.pools.ray_cluster import Connection
from tf1sessions.pools.ray_worker import IN_BAND, StoredObject, WorkerAnswer, joined
from tf1sessions.texts import text_of

__all__ = ["RayDispatcher", "RayJob"]

logger = logging.getLogger("tf1sessions")

_LOOK_SECS = 1.0  # how often the connection is looked at, while something is waited for; arbitrary
_IDLE_SECS = 1.0  # a worker that was idle for longer is asked whether it lives before it gets a job; arbitrary
_CLOSE_SECS = 5.0  # for workers to close their sessions before they are killed; arbitrary
_NODE_DIED = "its node has died"  # in Ray's error for an actor that was to start there, too
_OWNER_GONE = "Owner worker exit type"  # in Ray's error for an actor whose caller has left the cluster
_NOTE_SECS = 30.0  # after which it is noted that Ray has not placed a worker; arbitrary


class RayJob(ProcessJob):
    """A job, and how often its node was lost."""

    times_node_lost = 0


class _ActorState:
    """An actor, as the dispatcher sees it.

    ``call`` is the future of its current call, and what an older one brings is of no interest.
    """

    def __init__(self, number: int, actor: Any) -> None:
        self.number = number
        self.actor = actor
        self.state = "starting"  # "idle", "checked", "busy"
        self.since = time.monotonic()  # it is in this state
        self.call: Any = None
        self.job: RayJob | None = None
        self.jobs_run = 0
        self.pid: int | None = None
        self.node = ""
        self.noted = False

    def turn(self, state: str) -> None:
        self.state, self.since = state, time.monotonic()


class _Turn:
    """The right to change what the dispatcher knows of jobs and workers. Its thread waits for it; callers do not.

    A signal's handler in a thread that has it does not get it again, and an exception of one loses none.
    """

    def __init__(self) -> None:
        self._lock: Any = threading.RLock()  # which knows its owner, as a plain lock does not

    def is_mine(self) -> bool:
        return bool(self._lock._is_owned())

    def try_take(self) -> bool:
        return bool(self._lock.acquire(blocking=False))

    def release_if_mine(self) -> None:
        if self.is_mine():
            self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class RayDispatcher:
    """Runs the jobs of a pool. Its methods are safe from any thread; those that begin with ``_`` are for the thread
    that has the turn, mostly its own.

    Args:
        options, node_retries: Of the pool.
        start_worker: Makes the actor of this number, and returns it with the reference to its set-up.
        wanted: The versions that workers must have.
        on_end: Called when all has ended.
    """

    def __init__(
        self,
        options: ProcessPoolOptions,
        node_retries: int,
        connection: Connection,
        accounts: JobAccounts,
        start_worker: Callable[[int], tuple[Any, Any]],
        wanted: dict[str, str],
        on_end: Callable[[], None],
    ) -> None:
        self._options, self._node_retries = options, node_retries
        self._connection = connection
        self._is_disconnected = False
        self._accounts = accounts
        self._start_worker = start_worker
        self._wanted = wanted
        self._on_end = on_end
        self._errors: Any = connection.ray.exceptions
        self._inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._queue: deque[RayJob] = deque()
        self._workers: list[_ActorState] = []
        self._news = News()
        self._closing = False
        self._turn = _Turn()
        self._thread = threading.Thread(target=self._run, name=f"{options.name}-dispatcher", daemon=True)
        self._thread.start()

    # -- from any thread -----------------------------------------------------------------------------------------------

    def submit(self, jobs: Sequence[RayJob]) -> None:
        """Take jobs over; one alone goes to an idle worker at once, without waking the dispatcher's thread."""
        if len(jobs) != 1 or not self._send_here(jobs[0]):
            self._inbox.put((self._queue.extend, jobs))

    def _send_here(self, job: RayJob) -> bool:
        """Send a job from the caller's thread, where nothing is to be done before it. Returns whether it was sent.

        The change to the dispatcher's thread and back is a tenth of what a small job costs on Ray.
        """
        if job.time_limit_secs is not None or self._accounts.reports_progress or self._turn.is_mine():
            return False
        try:
            worker = self._warmest() if self._turn.try_take() else None
            if worker is None or self._queue or self._closing or not self._inbox.empty():
                return False
            if not self._connection.has_cluster:
                return False
            self._send(worker, job)
        except BaseException as error:  # Ctrl-C in this thread: the job may have been sent or not
            self._accounts.submitted(job)
            self._inbox.put((self._on_broken_off, job, error))
            raise
        finally:
            self._turn.release_if_mine()
        if self._news.ends:  # it could not be pickled
            self._inbox.put((_look,))
        return True

    def cancel(self, job: RayJob) -> None:
        """End a job whose future was cancelled; a worker that runs it is killed."""
        self._accounts.cancelled(job)
        self._inbox.put((self._on_cancelled, job))

    def shut_down(self) -> None:
        """End when all jobs have ended."""
        self._inbox.put((self._on_shut_down,))

    def join(self) -> None:
        """Wait for the end, unless this is the dispatcher's own thread."""
        if not self.is_current_thread():
            self._thread.join()

    def is_current_thread(self) -> bool:
        """Whether the caller is a callback of the pool."""
        return threading.current_thread() is self._thread

    # -- the thread ----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._loop()
        except BaseException as error:  # an error of ours; no job may wait for ever
            logger.exception("%s: its dispatcher failed", self._options.name)
            self._fail_all(WorkError(f"the dispatcher of the pool failed: {text_of(error)}", where=self._options.name))
        finally:
            self._end_workers()
            self._on_end()

    def _loop(self) -> None:
        looked = time.monotonic()
        while not (self._closing and not self._queue and not any(worker.job for worker in self._workers)):
            event: tuple[Any, ...] | None = None
            with contextlib.suppress(queue.Empty):
                event = self._inbox.get(timeout=self._wait_secs())
            with self._turn:
                while event is not None:
                    event[0](*event[1:])
                    event = None
                    with contextlib.suppress(queue.Empty):
                        event = self._inbox.get_nowait()
                is_there = self._connection.has_cluster and not self._is_disconnected
                if is_there and time.monotonic() - looked > _LOOK_SECS:
                    looked = time.monotonic()
                    is_there = self._connection.is_there
                if (self._queue or self._workers) and not is_there:
                    self._on_disconnected()
                self._check_limits()
                self._assign()
                news, self._news = self._news, News()
            self._accounts.announce(news)

    def _wait_secs(self) -> float | None:
        """Return how long until something is to be looked at without an event."""
        if not self._workers and not self._queue:
            return None
        now, left = time.monotonic(), _LOOK_SECS
        for worker in self._workers:
            if worker.job is not None and worker.job.time_limit_secs is not None:
                left = min(left, worker.since + worker.job.time_limit_secs - now)
        return max(0.0, left)

    def _assign(self) -> None:
        while self._queue and self._queue[0].ended:
            self._queue.popleft()
        if not self._queue:
            return
        # The one that worked last: what it has loaded is warm, and others may be looked at for longer.
        idle = sorted((worker for worker in self._workers if worker.state == "idle"), key=lambda one: -one.since)
        for worker in idle:
            if not self._queue:
                break
            if time.monotonic() - worker.since > _IDLE_SECS:
                self._begin(worker, "checked", worker.actor.ping.remote(), self._on_checked)
                continue
            self._send(worker, self._queue.popleft())
        coming = sum(worker.state in ("starting", "checked") for worker in self._workers)
        while len(self._queue) > coming and len(self._workers) < self._options.max_workers:
            if not self._connection.is_there:  # it would be started in another cluster
                return self._on_disconnected()
            numbers = {worker.number for worker in self._workers}
            number = next(number for number in range(self._options.max_workers) if number not in numbers)
            try:
                actor, built = self._start_worker(number)
            except Exception as error:  # noqa: BLE001 - whatever Ray says of its options, or pickling of the setup
                reply = failure_here(error, "set up")
                self._end_next(lambda job: reply_error(self._options.name, job, reply))  # noqa: B023 - called at once
                continue
            worker = _ActorState(number, actor)
            self._workers.append(worker)
            self._begin(worker, "starting", built, self._on_built)
            coming += 1

    def _begin(self, worker: _ActorState, state: str, reference: Any, then: Callable[[_ActorState, Any], None]) -> None:
        worker.turn(state)
        worker.call = call = reference.future()
        call.add_done_callback(lambda done: self._inbox.put((self._on_call, worker, done, then)))

    def _on_call(self, worker: _ActorState, call: Any, then: Callable[[_ActorState, Any], None]) -> None:
        if worker.call is call and worker in self._workers:
            worker.call = None
            if (error := call.exception()) is not None and self._has_left(error):
                self._on_disconnected()
            else:
                then(worker, call)

    def _has_left(self, error: BaseException) -> bool:
        """Whether a call failed because this process has left the cluster, or does so just now."""
        return _OWNER_GONE in str(error) or not self._connection.is_there

    def _send(self, worker: _ActorState, job: RayJob) -> None:
        objects: list[Any] = []
        try:
            args = tuple(self._of_store(value, objects) for value in job.args)
            kwargs = {key: self._of_store(value, objects) for key, value in job.kwargs.items()}
            stream, buffers = joined(pack((job.function, args, kwargs, job.name), IN_BAND))
        except BaseException as error:  # noqa: BLE001 - whatever a foreign __reduce__ raises
            reply = failure_here(error, "pickle")
            self._end(job, "failed", error=reply_error(self._options.name, job, reply))
            return
        if not self._accounts.start(job, self._news):
            return
        worker.job = job
        more = (buffers, *objects) if buffers or objects else ()  # each argument costs Ray 0.03 ms and more
        self._begin(worker, "busy", worker.actor.run.remote(stream, *more), self._on_answer)

    def _warmest(self) -> _ActorState | None:
        """Return the idle worker that worked last, unless it is to be asked first whether it lives."""
        idle = [worker for worker in self._workers if worker.state == "idle"]
        found = max(idle, key=lambda one: one.since, default=None)
        return found if found is not None and time.monotonic() - found.since <= _IDLE_SECS else None

    def _of_store(self, value: Any, objects: list[Any]) -> Any:
        if not isinstance(value, self._connection.ray.ObjectRef):
            return value
        objects.append(value)
        return StoredObject(len(objects) - 1)

    # -- events --

    def _on_cancelled(self, job: RayJob) -> None:
        for worker in self._workers:
            if worker.job is job:
                self._drop(worker)
                return

    def _on_broken_off(self, job: RayJob, error: BaseException) -> None:
        for worker in self._workers:
            if worker.job is job:
                self._drop(worker)
                break
        self._end(job, "failed", error=error)

    def _on_shut_down(self) -> None:
        self._closing = True

    def _on_checked(self, worker: _ActorState, call: Any) -> None:
        if (error := call.exception()) is None:
            worker.turn("idle")
        else:
            self._lose(worker, error)

    def _on_built(self, worker: _ActorState, call: Any) -> None:
        where = self._options.name
        if (error := call.exception()) is not None:
            if self._lose(worker, error):
                return
            if isinstance(error, self._errors.ActorDiedError) and not _never_started(error):
                self._fail_next(lambda job: self._death_error(job, worker, error, "was built"))
            else:
                self._fail_queue(lambda job: _start_error(where, job, error))
            return
        found, worker.pid, worker.node, answer = call.result()
        if found != self._wanted:
            self._drop(worker)
            self._fail_queue(lambda job: _version_error(where, job, worker.node, found, self._wanted))
            return
        reply = _read(WorkerAnswer(*answer))
        if reply.errors:
            self._drop(worker)
            self._end_next(lambda job: reply_error(where, job, reply))
            return
        worker.turn("idle")

    def _on_answer(self, worker: _ActorState, call: Any) -> None:
        job, worker.job = worker.job, None
        assert job is not None
        if (error := call.exception()) is not None:
            self._on_failed_call(worker, job, error)
            return
        found = call.result()
        answer = WorkerAnswer(found) if isinstance(found, bytes) else WorkerAnswer(*found)
        worker.jobs_run += 1
        worker.turn("idle")
        if not answer.may_go_on or self._is_used_up(worker, answer):
            self._retire(worker)
        reply = _read(answer)
        if reply.errors:
            error = reply_error(self._options.name, job, reply)
            self._end(job, "failed", error=error, seconds=reply.seconds)
        else:
            self._end(job, "succeeded", reply.result, seconds=reply.seconds)

    def _on_failed_call(self, worker: _ActorState, job: RayJob, error: BaseException) -> None:
        where = self._options.name
        if not isinstance(error, self._errors.RayActorError):  # an argument in the store is lost, or the like
            self._drop(worker)
            self._end(job, "failed", error=job_error(where, job, error, "was not run by Ray, which raised"))
        elif self._lose(worker, error):
            job.times_node_lost += 1
            if job.times_node_lost <= self._node_retries:
                logger.warning("%s: job %r runs again: its node %s was lost", where, job.name, worker.node)
                self._queue.appendleft(job)
            else:
                self._end(job, "failed", error=self._death_error(job, worker, error, "ran", node_lost=True))
        elif job.may_run_again:
            job.times_retried += 1
            self._queue.appendleft(job)
        else:
            self._end(job, "failed", error=self._death_error(job, worker, error, "ran"))

    def _on_disconnected(self) -> None:
        self._is_disconnected = True  # for good: what Ray says does not change where its process here was killed
        self._workers.clear()  # Ray has ended them, and a call would connect to some cluster anew
        where = self._options.name
        step = "Do not call ray.shutdown() while a pool is open."
        self._fail_all(ClosedError("the connection to the Ray cluster was closed", where=where, next_step=step))

    def _check_limits(self) -> None:
        now = time.monotonic()
        for worker in list(self._workers):
            job, secs = worker.job, now - worker.since
            if job is not None and job.time_limit_secs is not None and secs >= job.time_limit_secs:
                self._drop(worker)
                if job.may_run_again:
                    job.times_retried += 1
                    self._queue.appendleft(job)
                else:
                    self._end(job, "timed_out", error=job_time_error(self._options.name, job))
            elif worker.state == "starting":
                self._check_start(worker, secs)

    def _check_start(self, worker: _ActorState, secs: float) -> None:
        limit = self._options.build_limit_secs
        if limit is not None and secs >= limit:
            self._drop(worker)
            if not any(other.state in ("idle", "busy", "checked") for other in self._workers):
                self._end_next(lambda job: build_time_error(self._options.name, job, limit), "timed_out")
        elif secs >= _NOTE_SECS and not worker.noted:
            worker.noted = True
            with contextlib.suppress(Exception):
                ray = self._connection.ray
                has, free = ray.cluster_resources(), ray.available_resources()
                text = "%s: a worker is not ready after %.0f s. Has Ray room for it? The cluster has %s, free is %s"
                logger.warning(text, self._options.name, secs, has, free)

    # -- the ends of workers --

    def _is_used_up(self, worker: _ActorState, answer: WorkerAnswer) -> bool:
        most_jobs, most_mb = self._options.max_jobs_per_worker, self._options.max_memory_mb
        if most_jobs is not None and worker.jobs_run >= most_jobs:
            return True
        return most_mb is not None and answer.memory_mb > most_mb

    def _drop(self, worker: _ActorState) -> None:
        """Kill a worker, and forget it."""
        self._workers.remove(worker)
        worker.job = None
        self._kill(worker)

    def _kill(self, worker: _ActorState) -> None:
        with contextlib.suppress(Exception):  # it is dead, or cannot be reached: Ray ends it when it can
            self._connection.ray.kill(worker.actor)

    def _retire(self, worker: _ActorState) -> None:
        """Let a worker close what it has, and end. Ray ends it when the last reference to it is gone."""
        self._workers.remove(worker)
        worker.actor.close.remote()
        del worker.actor

    def _lose(self, worker: _ActorState, error: BaseException) -> bool:
        """Forget a worker that has ended. Returns whether that was because of its node, which costs the job nothing."""
        self._drop(worker)
        if isinstance(error, self._errors.ActorUnavailableError):
            lost = True
        elif isinstance(error, self._errors.ActorDiedError):
            lost = _NODE_DIED in str(error) or (bool(worker.node) and not self._node_lives(worker.node))
        else:
            return False
        if lost and worker.node:
            self._connection.note_lost(worker.node)
            for other in [one for one in self._workers if one.node == worker.node and one.state == "idle"]:
                self._drop(other)
        return lost

    def _node_lives(self, node: str) -> bool:
        try:
            return any(each["NodeID"] == node and each["Alive"] for each in self._connection.ray.nodes())
        except Exception:  # noqa: BLE001 - the head node does not answer
            return True

    def _end_workers(self) -> None:
        if self._connection.is_there:
            ends = []
            for worker in self._workers:
                if worker.state == "idle":
                    with contextlib.suppress(Exception):
                        ends.append(worker.actor.close.remote())
            with contextlib.suppress(Exception):
                self._connection.ray.wait(ends, num_returns=len(ends), timeout=_CLOSE_SECS)
            for worker in self._workers:
                self._kill(worker)
        self._workers.clear()

    # -- the ends of jobs --

    def _end(
        self, job: RayJob, state: str, result: Any = None, error: BaseException | None = None, seconds: float = 0.0
    ) -> None:
        self._accounts.end([JobEnd(job, state, result, error, seconds)], self._news)

    def _end_next(self, error_of: Callable[[RayJob], BaseException], state: str = "failed") -> None:
        """End the next job that waits: it is the one for which a worker was to be made."""
        while self._queue:
            job = self._queue.popleft()
            if not job.ended:
                self._end(job, state, error=error_of(job))
                return

    def _fail_next(self, error_of: Callable[[RayJob], BaseException]) -> None:
        """As :meth:`_end_next`, unless that job may run again."""
        job = next((job for job in self._queue if not job.ended), None)
        if job is not None and job.may_run_again:
            job.times_retried += 1
        else:
            self._end_next(error_of)

    def _fail_queue(self, error_of: Callable[[RayJob], BaseException]) -> None:
        """End all jobs that wait: no worker could run them."""
        while self._queue:
            self._end_next(error_of)

    def _fail_all(self, error: WorkError | ClosedError) -> None:
        jobs: Iterable[Any] = self._accounts.unfinished()
        self._accounts.end([JobEnd(job, "failed", None, error) for job in jobs], self._news)
        self._queue.clear()
        self._accounts.announce(self._news)

    def _death_error(
        self, job: RayJob, worker: _ActorState, error: BaseException, doing: str, node_lost: bool = False
    ) -> WorkerDiedError:
        victim = f"its worker (pid {worker.pid}, node {worker.node})" if worker.pid else "its worker"
        text = f"job {job.name!r}: {victim} died while it {doing}"
        if node_lost:
            text = f"job {job.name!r}: its node {worker.node} was lost while it ran, {job.times_node_lost} times"
        return WorkerDiedError(
            text,
            where=self._options.name,
            next_step=f"Ray says: {_last_line(error)}",
            job=job.name,
            signal_name=None,
            returncode=None,
            stderr="",
            node=worker.node,
        )


def _look() -> None:
    """Do nothing: an event that has the dispatcher's thread announce what was marked in another one."""


def _read(answer: WorkerAnswer) -> Reply:
    try:
        return unpack_reply(answer.stream, answer.buffers)
    except BaseException as error:  # noqa: BLE001 - whatever a foreign __setstate__ raises
        return failure_here(error, "result")


def _never_started(error: BaseException) -> bool:
    """Whether Ray could not make the worker's process what it should be."""
    text = str(error)
    return "runtime_env" in text or "runtime environment" in text or "creation task" in text


def _last_line(error: BaseException) -> str:
    """The last line of Ray's text, without its guesses."""
    lines = text_of(error).strip().splitlines()
    return lines[-1].partition(" Some common causes")[0].strip() if lines else type(error).__name__


def _start_error(where: str, job: RayJob, error: BaseException) -> WorkerStartError:
    found = WorkerStartError(
        f"job {job.name!r}: its worker did not start: {_last_line(error)}",
        where=where,
        next_step="Check runtime_env=, and that the nodes can do what it asks for.",
        job=job.name,
    )
    found.__cause__ = error
    return found


def _version_error(
    where: str, job: RayJob, node: str, found: dict[str, str], wanted: dict[str, str]
) -> UnsupportedEnvironmentError:
    different = [name for name in wanted if found.get(name) != wanted[name]]
    there = ", ".join(f"{name} {found.get(name)}" for name in different)
    here = ", ".join(f"{name} {wanted[name]}" for name in different)
    return UnsupportedEnvironmentError(
        f"job {job.name!r} has no worker: node {node} has {there}, and this process {here}",
        where=where,
        next_step="Install the same on all nodes, or give runtime_env={'pip': [...]}.",
        job=job.name,
        node=node,
    )
