"""The dispatcher of a ProcessSessionPool: one thread that gives jobs to workers, and takes their replies in.

Data flow::

    submit() ─────▶ Inbox ─▶ Dispatcher ─▶ WorkerProxy ═ a message of jobs ═▶ pool_worker_main.work(), a process
    cancel() ─────▶   ▲        │   ▲                                              │
    shutdown() ───▶   │        │   └─────────── replies, or its end ══════════════┘
                      │        └─▶ JobAccounts: the job's future, counts, progress
                      └── short-lived threads, which start a worker, end one, or send it what takes long to copy

The dispatcher, step by step: sleep until a worker replies or ends, an item comes to the inbox, or a time is up; take
all that in; give workers the next jobs; only then set the futures of those that have ended. It alone changes the state
of workers and holds the queue of jobs, so that neither needs a lock. The states of a place::

    EMPTY ─▶ STARTING ─▶ SETTING_UP ─▶ SENDING ─▶ BUSY ─▶ IDLE ─▶ SENDING ...
      ▲          │            │            │        │       │
      └──────────┴── ENDING ◀─┴────────────┴────────┴───────┘ when it died, was killed, or is worn

A job for which a worker is started has that worker: what happens while it is built happens to the job.

Jobs of a kind that took less than a millisecond before go several in a message. The worker notes on its status page
which it has begun, and leaves small replies there, so that the dispatcher is not woken for each. When a job turns out
to be long, or a worker dies, the jobs behind it that have not begun go to other workers.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import logging
import os
import selectors
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import ClosedError, WorkerStartError
from tf1sessions.pools.accounts import JobAccounts, JobEnd, News
from tf1sessions.pools.function_pickles import FunctionPickles
from tf1sessions.pools.inbox import Inbox
from tf1sessions.pools.job_durations import SHORT_SECS, JobDurations, job_kind
from tf1sessions.pools.job_serialization import pack_message
from tf1sessions.pools.pool_worker_main import Reply, Setup, failure_here
from tf1sessions.pools.process_errors import build_time_error, death_error, job_time_error, reply_error
from tf1sessions.pools.process_jobs import JobMessage, ProcessJob
from tf1sessions.pools.process_options import ProcessPoolOptions
from tf1sessions.pools.resource_limits import start_error
from tf1sessions.pools.shared_status import MOST_JOBS
from tf1sessions.pools.worker_proxy import WorkerEnd, WorkerGone, WorkerProxy

__all__ = ["Dispatcher"]

logger = logging.getLogger("tf1sessions")

_LOOK_SECS = 0.005  # after which jobs that were thought to be short give those behind them back; arbitrary
_CHECK_SECS = 1.0  # between two looks whether a worker is there whose channel says nothing; arbitrary
_LARGE_BYTES = 16 << 20  # of a message that is sent by a thread of its own: it takes milliseconds to copy; arbitrary
_MANY = 64  # jobs for one worker; arbitrary
_MOST_NOT_BEGUN = 3  # workers that may die before they begin a job, until it counts as the job's failure; arbitrary
_NEVER = float("inf")


class _Phase(enum.Enum):
    EMPTY = "there is no worker"
    STARTING = "a thread starts one"
    SETTING_UP = "it builds its graph or model"
    IDLE = "it has no job"
    SENDING = "a thread sends it a message"
    BUSY = "it works on a message"
    ENDING = "a thread ends it"


@dataclass(eq=False)
class _WorkerState:
    """A place for a worker."""

    number: int
    phase: _Phase = _Phase.EMPTY
    worker: WorkerProxy | None = None
    building_for: ProcessJob | None = None  # the job that waits until the worker is built
    message: JobMessage | None = None  # the jobs that it has
    jobs_done: int = 0  # by this worker
    begun: int = 0  # how many jobs of the message it had begun when it ended
    build_deadline: float = _NEVER  # when it must be built
    check_at: float = _NEVER  # when to look whether it is still there
    is_late: bool = False  # it was killed because a time was up
    is_doomed: bool = False  # it was killed because a job was cancelled
    thread: threading.Thread | None = None  # the one that starts it, ends it, or sends it a message

    def next_look(self) -> float:
        """Return when to look at it, if nothing comes from it before."""
        if self.phase not in (_Phase.SETTING_UP, _Phase.BUSY):
            return _NEVER
        if self.is_late or self.is_doomed:
            return self.check_at
        due = self.build_deadline if self.message is None else self.message.next_look()
        return min(due, self.check_at)


class Dispatcher:
    """Runs jobs in worker processes. See the module's description.

    Args:
        start_worker: Makes the worker with a number; it may take long.
        setup: What each worker makes before its first job; but for the number.
        on_end: Called at the end, when there are no workers any more.
    """

    def __init__(
        self,
        options: ProcessPoolOptions,
        accounts: JobAccounts,
        durations: JobDurations,
        start_worker: Callable[[int], WorkerProxy],
        setup: Setup,
        on_end: Callable[[], None],
    ) -> None:
        self._options, self._accounts, self._durations = options, accounts, durations
        self._start_worker, self._setup, self._on_end = start_worker, setup, on_end
        try:
            self._inbox = Inbox()
        except OSError as error:
            raise start_error("The pool cannot be made", error, where=options.name) from error
        self._process = os.getpid()
        # Under the lock of the accounts: the thread that was started, the one that runs (another one, if Ctrl-C came
        # while it was started), whether it has ended.
        self._started: threading.Thread | None = None
        self._thread: threading.Thread | None = None
        self._has_ended = False
        self._ended = threading.Event()
        # Of the dispatcher's thread:
        self._waiting: deque[ProcessJob] = deque()
        self._states = [_WorkerState(number) for number in range(options.max_workers)]
        self._empty = list(self._states)
        self._idle: list[_WorkerState] = []  # the last one used is the first to get a job
        self._refused: list[_WorkerState] = []  # the system gives no worker for them; empty where there is none at all
        self._has_warned = False
        self._selector = selectors.PollSelector()
        self._functions = FunctionPickles()
        self._shuts_down = False
        self._news = News()

    # -- for any thread --------------------------------------------------------------------------------------------

    def submit(self, jobs: Sequence[ProcessJob]) -> None:
        """Take jobs, with the lock of the accounts held; :meth:`wake` is to be called without it.

        Raises:
            WorkerStartError: The system has no more threads.
        """
        if self._has_ended:
            raise ClosedError(f"{self._options.name} has ended", where="submit()", next_step="Make a new pool.")
        if self._started is None:
            thread = threading.Thread(target=self._run, name=f"{self._options.name}-dispatcher", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                raise start_error("The pool's thread does not start", error, where=self._options.name) from error
            self._started = thread
        self._inbox.put(functools.partial(self._waiting.extend, jobs))

    def wake(self) -> None:
        """Have it look at the jobs that were submitted."""
        self._inbox.wake()

    def cancel(self, job: ProcessJob) -> None:
        """Keep a job from beginning whose future was cancelled, or have its worker killed."""
        if os.getpid() != self._process:
            return  # this is a fork: jobs and workers are its parent's, and the lock may be held for ever
        with self._accounts.lock:
            if not job.ended:
                may_run = job.sent is None or job.sent[0].cancel(job.sent[1])
                self._inbox.put(functools.partial(self._on_cancelled, job, may_run))
        self._accounts.cancelled(job)
        self._inbox.wake()

    def is_current_thread(self) -> bool:
        """Whether this is the dispatcher's thread."""
        return threading.current_thread() is self._thread

    def shut_down(self) -> None:
        """Have it end when there are no jobs any more. No jobs may be submitted after this."""
        with self._accounts.lock:
            if self._started is None and self._thread is None:
                self._end()
        self._inbox.put(functools.partial(setattr, self, "_shuts_down", True))
        self._inbox.wake()

    def abandon(self) -> None:
        """As :meth:`shut_down`, for a pool that was dropped: it has no jobs, and its workers are to end.

        It takes no lock, since the collector of garbage may call it inside any statement, one that holds them too.
        """
        if os.getpid() == self._process and self._started is not None:
            self._inbox.put(functools.partial(setattr, self, "_shuts_down", True))
            self._inbox.wake()

    def join(self) -> None:
        """Wait until it has ended. Returns at once in its own thread."""
        if self.is_current_thread():
            return
        self._ended.wait()
        if self._thread is not None:
            self._thread.join()

    # -- the thread ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        with self._accounts.lock:
            if self._thread is not None or self._has_ended:
                return
            self._thread = threading.current_thread()
        try:
            self._selector.register(self._inbox, selectors.EVENT_READ)
            while not self._is_over():
                self._step()
        except BaseException as error:  # a mistake of ours: no caller shall wait for ever
            logger.exception("%s: its dispatcher failed", self._options.name)
            for state in self._states:
                if state.worker is not None:
                    state.worker.kill()
            self._accounts.end([JobEnd(job, "failed", None, error) for job in self._accounts.unfinished()], self._news)
            self._accounts.announce(self._news)
        finally:
            self._end()

    def _is_over(self) -> bool:
        without_worker = len(self._empty) + len(self._refused)
        return self._shuts_down and not self._waiting and without_worker == len(self._states)

    def _end(self) -> None:
        with self._accounts.lock:
            if self._has_ended:
                return
            self._has_ended = True
        self._inbox.close()
        self._selector.close()
        self._on_end()
        self._ended.set()

    def _step(self) -> None:
        timeout: float | None = 0.0
        if self._inbox.may_sleep():
            next_look = min([state.next_look() for state in self._states])
            timeout = None if next_look == _NEVER else max(0.0, next_look - time.monotonic())
        readable = [key.data for key, _ in self._selector.select(timeout)]
        for state in readable:
            if state is not None:
                self._guard(state, self._on_readable)
        self._take_inbox(is_woken=None in readable)
        now = time.monotonic()
        for state in self._states:
            if now >= state.next_look():
                self._guard(state, self._look, now)
        self._dispatch()
        if self._shuts_down and not self._waiting:
            for state in list(self._idle):
                self._end_worker(state)
        self._accounts.announce(self._news)  # last, so that no worker waits for it

    def _take_inbox(self, is_woken: bool) -> None:
        for handle in self._inbox.take(is_woken):  # here, so that no variable keeps a job while there is none
            handle()

    def _guard(self, state: _WorkerState, handle: Callable[..., None], *args: Any) -> None:
        """Call what handles a worker. A mistake of ours costs its jobs, and no other ones."""
        try:
            handle(state, *args)
        except BaseException as error:
            jobs = [] if state.message is None else state.message.left()
            jobs += [] if state.building_for is None else [state.building_for]
            state.building_for = state.message = None
            logger.exception("%s: jobs %s", self._options.name, ", ".join(repr(job.name) for job in jobs) or "none")
            self._accounts.end([JobEnd(job, "failed", None, error) for job in jobs], self._news)
            if state.phase not in (_Phase.EMPTY, _Phase.ENDING):
                self._end_worker(state, kill=True)

    def _in_thread(
        self, state: _WorkerState, phase: _Phase, work: Callable[[], Any], then: Callable[..., None]
    ) -> None:
        """Do what may take long in a thread; ``then(state, outcome)`` is called here with its result or exception."""

        def run() -> None:
            try:
                outcome = work()
            except BaseException as error:  # noqa: BLE001 - the handler of the outcome looks at its type
                outcome = error
            self._inbox.put(functools.partial(self._on_outcome, state, then, outcome))
            self._inbox.wake()

        state.phase = phase
        state.thread = threading.Thread(target=run, name=f"{self._options.name}-{state.number}", daemon=True)
        try:
            state.thread.start()
        except RuntimeError:  # the system has no more threads
            state.thread = None
            run()

    def _on_outcome(self, state: _WorkerState, then: Callable[..., None], outcome: Any) -> None:
        if state.thread is not None:
            state.thread.join()  # it has no more to do
            state.thread = None
        self._guard(state, then, outcome)

    # -- jobs to workers -------------------------------------------------------------------------------------------

    def _dispatch(self) -> None:
        """Give waiting jobs to workers that are idle, or have to be started."""
        while self._waiting:
            if self._waiting[0].ended:
                self._waiting.popleft()
            elif self._idle:
                state = self._idle.pop()
                state.message = JobMessage(self._take(state), _LOOK_SECS)
                self._guard(state, self._send)
            elif self._empty:
                self._start(self._empty.pop(0), self._waiting.popleft())
            else:
                return

    def _take(self, state: _WorkerState) -> list[ProcessJob]:
        """The next jobs for an idle worker: one, or several that are short in sum."""
        # Those that have nothing to do shall have some, too; and of many, half is left for when these have ended, so
        # that no worker waits until a map has submitted more.
        share = 1 + len(self._waiting) // (1 + len(self._idle) + len(self._empty))
        most = min(MOST_JOBS, share if share <= _MANY else max(_MANY, share // 2))
        if self._options.max_memory_mb is not None:
            most = 1
        if self._options.max_jobs_per_worker is not None:
            most = min(most, self._options.max_jobs_per_worker - state.jobs_done)
        jobs: list[ProcessJob] = []
        function, secs, expected = None, 0.0, 0.0
        while self._waiting and len(jobs) < most and secs < SHORT_SECS:
            job = self._waiting.popleft()
            if job.ended:
                continue
            if job.function is not function:
                function, kind = job.function, job_kind(job.function)
                expected = self._durations.expected(kind)
            job.kind = kind
            secs += expected
            jobs.append(job)
        return jobs

    def _give_back(self, jobs: Sequence[ProcessJob]) -> None:
        """Put jobs at the beginning of the queue again."""
        with self._accounts.lock:
            for job in reversed(jobs):
                job.sent = None
                if not job.ended:
                    self._waiting.appendleft(job)

    def _send(self, state: _WorkerState) -> None:
        """Send the jobs of its message, or as many as fit into one; the rest is given back, or has failed."""
        assert state.worker is not None and state.message is not None
        worker, message = state.worker, state.message
        while message.jobs:
            packed = pack_message(message.jobs, worker.in_band, self._functions)
            message.jobs = packed.jobs
            self._give_back(packed.rest)
            for job, error in packed.failed:
                self._fail(job, failure_here(error, "pickle"))
            if self._mark_sent(worker, message):
                break
            message.jobs = [job for job in message.jobs if not job.ended]
        if not message.jobs:
            return self._set_idle(state)
        self._accounts.start(message.jobs[0], self._news)  # if it was cancelled now, its worker knows
        send = functools.partial(worker.send, packed.content)
        if packed.content.nbytes >= _LARGE_BYTES:
            self._unregister(state)
            return self._in_thread(state, _Phase.SENDING, send, self._on_sent)
        try:
            send()
        except Exception as error:  # noqa: BLE001 - the next line looks at its type
            return self._on_sent(state, error)
        self._on_sent(state, None)
        return None

    def _mark_sent(self, worker: WorkerProxy, message: JobMessage) -> bool:
        """Note where each job is, so that it can be cancelled there. False if one was cancelled before."""
        with self._accounts.lock:
            if any([job.ended for job in message.jobs]):
                return False
            worker.status.clear(len(message.jobs))
            for index, job in enumerate(message.jobs):
                job.sent = worker.status, index
            return True

    def _on_sent(self, state: _WorkerState, error: BaseException | None) -> None:
        assert state.message is not None
        if isinstance(error, WorkerGone):
            return self._end_worker(state)
        self._register(state, _Phase.BUSY)
        state.message.begin()
        if error is not None:  # whatever keeps it from being sent, such as a lack of memory
            first, *others = state.message.jobs
            self._fail(first, failure_here(error, "pickle"))
            self._give_back(others)
            return self._set_idle(state)
        return None

    def _set_idle(self, state: _WorkerState) -> None:
        state.message, state.phase = None, _Phase.IDLE
        self._idle.append(state)

    # -- replies ---------------------------------------------------------------------------------------------------

    def _on_readable(self, state: _WorkerState) -> None:
        """Take in what a worker has sent, or that it has ended."""
        assert state.worker is not None
        try:
            if state.phase is _Phase.SETTING_UP:
                if (reply := state.worker.setup_reply()) is not None:
                    self._on_built(state, reply)
            else:
                self._take_in(state, state.worker.receive())
        except WorkerGone:
            self._end_worker(state)

    def _take_in(self, state: _WorkerState, replies: list[tuple[int, Reply]]) -> None:
        """End the jobs whose replies have come."""
        if state.message is None:
            return
        assert state.worker is not None
        replied = state.message.take(replies)
        for job, reply in replied:
            self._durations.learn(job.kind, reply.seconds)
        self._accounts.end([self._job_end(job, reply) for job, reply in replied], self._news)
        if not state.worker.is_busy:
            self._on_message_ended(state)

    def _job_end(self, job: ProcessJob, reply: Reply) -> JobEnd:
        if reply.errors:
            return JobEnd(job, "failed", None, reply_error(self._options.name, job, reply), reply.seconds)
        return JobEnd(job, "succeeded", reply.result, None, reply.seconds)

    def _on_message_ended(self, state: _WorkerState) -> None:
        """The worker has no more to do: what it did not begin is for others."""
        assert state.message is not None
        state.jobs_done += state.message.replied
        self._give_back(state.message.left())
        if state.is_late or state.is_doomed or not state.message.may_go_on or self._is_worn(state):
            state.message = None
            self._end_worker(state)
        else:
            self._set_idle(state)

    def _is_worn(self, state: _WorkerState) -> bool:
        """Whether a worker is to be replaced after what it has done."""
        most_jobs, most_mb = self._options.max_jobs_per_worker, self._options.max_memory_mb
        if most_jobs is not None and state.jobs_done >= most_jobs:
            return True
        return most_mb is not None and state.worker is not None and state.worker.memory_mb() > most_mb

    def _look(self, state: _WorkerState, now: float) -> None:
        """Look at a worker that has been silent for a while."""
        assert state.worker is not None
        if now >= state.check_at:
            state.check_at = now + _CHECK_SECS
            if state.worker.has_ended():
                return self._end_worker(state)
        if state.is_late or state.is_doomed:
            return None
        if state.message is None:
            if now >= state.build_deadline:
                self._kill_late(state)
            return None
        return self._look_at_message(state.worker, state, state.message, now)

    def _look_at_message(self, worker: WorkerProxy, state: _WorkerState, message: JobMessage, now: float) -> None:
        """See how far a worker has come; what is behind a job that takes long and has not begun is for others."""
        if replies := worker.posted():
            return self._take_in(state, replies)
        job, first = message.current, message.first
        if job is None:
            return None
        if job.started is None and worker.status.begun > first:
            self._accounts.start(job, self._news)
        if job.time_limit_secs is not None and now >= message.since + job.time_limit_secs:
            if worker.status.hold(first + 1) <= first + 1:
                self._kill_late(state)
        elif now >= message.look_at:
            message.look_at = now + message.look_secs
            self._durations.learn(job.kind, message.look_secs)
            behind = max(worker.status.begun, first + 1)
            if worker.status.hold(behind) <= behind:
                self._give_back(message.drop_from(behind))
        return None

    def _kill_late(self, state: _WorkerState) -> None:
        assert state.worker is not None
        state.is_late = True
        state.worker.kill()

    def _on_cancelled(self, job: ProcessJob, may_run: bool) -> None:
        """Kill the worker that runs a cancelled job, or is built for it."""
        for state in self._states:
            is_built = state.building_for is job and state.phase is _Phase.SETTING_UP
            is_here = state.message is not None and job in state.message.left()
            if may_run and (is_built or is_here) and state.worker is not None:
                state.is_doomed = True
                state.worker.kill()

    def _fail(self, job: ProcessJob, reply: Reply) -> None:
        self._accounts.end([self._job_end(job, reply)], self._news)

    # -- workers begin and end -------------------------------------------------------------------------------------

    def _start(self, state: _WorkerState, job: ProcessJob) -> None:
        """Start a worker for a job."""
        if not self._accounts.start(job, self._news):
            self._empty.insert(0, state)
            return
        job.kind = job_kind(job.function)
        state.building_for = job

        def start() -> tuple[WorkerProxy, Reply | None]:
            worker = self._start_worker(state.number)
            try:
                return worker, worker.send_setup(dataclasses.replace(self._setup, number=state.number))
            except WorkerGone:
                return worker, None  # its end is found as any other
            except BaseException:
                worker.kill()
                worker.end()
                raise

        self._in_thread(state, _Phase.STARTING, start, self._on_started)

    def _on_started(self, state: _WorkerState, outcome: tuple[WorkerProxy, Reply | None] | BaseException) -> None:
        job = state.building_for
        assert job is not None
        if isinstance(outcome, BaseException):  # there is no worker
            state.building_for = None
            self._set_empty(state)
            if isinstance(outcome, MemoryError):
                outcome = start_error("No worker can be started", outcome, where=self._options.name)
            if not self._leave_to_others(job, outcome):
                self._accounts.end([JobEnd(job, "failed", None, outcome)], self._news)
            return
        state.worker, reply = outcome
        limit = self._options.build_limit_secs
        state.build_deadline = _NEVER if limit is None else time.monotonic() + limit
        self._register(state, _Phase.SETTING_UP)
        if reply is not None:
            self._on_built(state, reply)
        elif job.ended:  # cancelled
            state.is_doomed = True
            state.worker.kill()

    def _on_built(self, state: _WorkerState, reply: Reply) -> None:
        """The worker is ready, or says why not."""
        job, state.building_for = state.building_for, None
        assert job is not None
        if reply.errors:
            if reply.place != "set up":
                reply.place = "build"
            self._fail(job, reply)
            return self._end_worker(state)
        if state.is_late or state.is_doomed:
            state.building_for = job
            return None  # its end comes
        state.message = JobMessage([job], _LOOK_SECS)
        return self._send(state)

    def _end_worker(self, state: _WorkerState, kill: bool = False) -> None:
        """End a worker, or take note of its end; its jobs are looked after when it has ended."""
        assert state.worker is not None
        if state in self._idle:
            self._idle.remove(state)
        self._unregister(state)
        if kill:
            state.worker.kill()
        state.begun = state.worker.status.begun
        self._in_thread(state, _Phase.ENDING, state.worker.end, self._on_ended)

    def _on_ended(self, state: _WorkerState, end: WorkerEnd | BaseException) -> None:
        """Find out what the end of a worker costs: the job that ran. Others go to other workers."""
        message, job, begun, is_late = state.message, state.building_for, state.begun, state.is_late
        self._set_empty(state)
        if isinstance(end, BaseException):
            raise end
        if job is not None and job.ended:  # cancelled, and its worker killed: that is no failed start
            job = None
        if job is None:
            self._admit_refused()
        where, limit = self._options.name, self._options.build_limit_secs
        if job is not None:
            error = build_time_error(where, job, limit) if is_late else death_error(where, job, end, is_building=True)
        elif message is not None and (left := message.left()):
            job, *others = left
            self._give_back(others)
            has_begun = begun > 0 and not message.has_reply(begun - 1)
            if not is_late and not has_begun and job.times_not_begun < _MOST_NOT_BEGUN:
                job.times_not_begun += 1
                return self._give_back([job])
            error = job_time_error(where, job) if is_late else death_error(where, job, end, is_building=False)
        else:
            return None
        if self._leave_to_others(job, error):
            return None
        if not job.ended and job.may_run_again:
            job.times_retried += 1
            return self._give_back([job])
        self._accounts.end([JobEnd(job, "timed_out" if is_late else "failed", None, error)], self._news)
        return None

    def _leave_to_others(self, job: ProcessJob, error: BaseException) -> bool:
        """Go on with fewer workers, if there are others, where one could not be started, and its place is empty again.

        Returns whether the job is given back for that. The place is tried again when another worker has ended.
        """
        is_alone = len(self._empty) + len(self._refused) == len(self._states)
        is_final = is_alone and (job.times_not_begun > 0 or not self._refused)
        if is_final or not isinstance(error, WorkerStartError):
            self._admit_refused()
            return False
        if is_alone:  # the others were started at the same time: once more, without them
            job.times_not_begun += 1
        else:
            self._refused.append(self._empty.pop())
        self._give_back([job])
        if not self._has_warned:
            self._has_warned = True
            logger.warning("%s goes on with fewer than %d workers: %s", self._options.name, len(self._states), error)
        return True

    def _set_empty(self, state: _WorkerState) -> None:
        self._states[state.number] = new = _WorkerState(state.number)
        self._empty.append(new)

    def _admit_refused(self) -> None:
        """Let the places be tried again that were refused: what they lacked may be there now."""
        self._empty += self._refused
        self._refused.clear()

    def _register(self, state: _WorkerState, phase: _Phase) -> None:
        """Listen to a worker from now on."""
        assert state.worker is not None
        state.phase, state.check_at = phase, time.monotonic() + _CHECK_SECS
        if state.worker.fileno() not in self._selector.get_map():
            self._selector.register(state.worker, selectors.EVENT_READ, state)

    def _unregister(self, state: _WorkerState) -> None:
        if state.worker is not None and state.worker.fileno() in self._selector.get_map():
            self._selector.unregister(state.worker)
