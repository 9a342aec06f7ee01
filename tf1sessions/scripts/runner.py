"""Runs jobs, several at once, each in a process of its own, and keeps their logs and states in a run folder.

Runs in the process of the command line (or of whoever calls :func:`run_jobs`); no TensorFlow here. Flow::

    jobs -> RunFolder (logs, jobs.json)
         -> _RunLoop, one thread: decides all, owns all state; others only put calls of its methods into its inbox
              a starter thread:      WorkerServer.wait_ready       -> on_ready(), or an error
              a watcher thread a job: WorkerServer.spawn, then wait -> on_spawned(), on_exited(), on_ended()
              a thread of WorkerServer: its on_note                 -> on_note()
              signal handlers, other threads: Run.interrupt        -> on_interrupt(), pass_on(), suspend(), resize()
              listeners, other threads: Run.complete, Run.fail     -> complete(), stop_all()
         -> listener(event), called in that one thread only
         -> RunSummary

A job that has to go is ended in steps, each with a deadline that the loop waits for: a signal to its process group
(SIGINT after Ctrl-C, else SIGTERM), after a grace SIGKILL to its whole tree, and if the kernel does not let it end even
then, the run says so and goes on without it.
"""

from __future__ import annotations

import functools
import math
import os
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from tf1sessions.errors import ConfigError, Tf1SessionsError, WorkerDiedError, WorkError, WorkerStartError
from tf1sessions.pools.fork_server import WorkerResult, WorkerSpec
from tf1sessions.pools.resource_limits import limit_step, start_error
from tf1sessions.pools.workers import signal_name_of
from tf1sessions.scripts import caller_signals
from tf1sessions.scripts.events import (
    Continued,
    Event,
    Interrupted,
    JobEnded,
    JobStarted,
    Note,
    RunStarted,
    RunSummary,
    ServerReady,
    Suspending,
    UnendedLine,
)
from tf1sessions.scripts.folder import JobRecord, RunFolder
from tf1sessions.scripts.jobs import QUEUE_GRACE_SECS, Job, JobSettings, check_job
from tf1sessions.scripts.logs import count_deprecations, error_line, our_messages
from tf1sessions.scripts.machine import default_parallel, default_share, may_use_gpus, mps_share, usable_cores
from tf1sessions.scripts.payload import ProgramPayload, ProgramSettings
from tf1sessions.scripts.run_settings import RunSettings
from tf1sessions.scripts.servers import Handle, base_environment
from tf1sessions.scripts.streams import Tee

__all__ = ["Run", "RunSettings", "run_jobs"]

_LOOK_SECS = 0.5
"""How often the loop looks whether a signal has come. One that another thread has taken, or that comes between Python's
last look and the beginning of a wait, does not wake the main thread, whose the handlers are. Arbitrary."""

_KILL_SECS = 30.0
"""How long the kernel may take to end a killed process (one in disk wait may take long) before we go on without it."""


def run_jobs(
    jobs: Sequence[Job] | None, settings: RunSettings | None = None, listener: Callable[[Event], None] | None = None
) -> RunSummary:
    """Runs jobs and waits for them.

    May be called from any thread, by several at once when their folders differ.

    Args:
        jobs: What to run. None or empty, with ``settings.resume``: the jobs of that run.
        settings: How.
        listener: Called with each event, in the calling thread.

    Returns:
        How it ended. A job that fails is no exception.

    Raises:
        ScriptUsageError: A job or the folder cannot be used; nothing was started.
        WorkerStartError: TensorFlow could not be loaded.
        KeyboardInterrupt: Ctrl-C in the main thread. The jobs were ended first, and ``jobs.json`` says so; a
            :class:`Run` with :meth:`Run.interrupt` gives them time to end by themselves.
    """
    return Run(jobs, settings, listener).run()


@dataclass(eq=False)
class _Active:
    """One attempt of a job. Only the loop's thread touches it."""

    index: int
    log: int
    log_start: int
    tee: Tee | None
    started: float
    deadline: float | None
    had_others: bool  # whether other attempts ran when it was started
    watcher: threading.Thread | None = None
    handle: Handle | None = None
    ending: _Ending | None = None
    exited: bool = False
    passed_on: list[int] = field(default_factory=list)  # signals for it that came before it had a handle


@dataclass
class _Ending:
    """The reason why an attempt must end, and how far that is. ``at``: when the next, harder step is due."""

    state: str
    reason: str
    signum: int
    at: float
    killed: bool = False


_Message = Callable[["_RunLoop"], None]
"""What another thread, a listener or a signal handler has for the loop: a call of one of its methods."""


class Run:
    """One run. :meth:`run` is called once; :meth:`interrupt` by any thread or signal handler, at any time.

    Args:
        jobs: As for :func:`run_jobs`.
        settings: As for :func:`run_jobs`.
        listener: As for :func:`run_jobs`.
    """

    def __init__(
        self,
        jobs: Sequence[Job] | None,
        settings: RunSettings | None = None,
        listener: Callable[[Event], None] | None = None,
    ) -> None:
        self._settings = settings or RunSettings()
        self._listener: Callable[[Event], None] = listener or (lambda event: None)
        if not jobs and self._settings.resume is None:
            raise ConfigError("there are no jobs", next_step="Give jobs, or the run to resume.")
        self._jobs = [job.under(self._settings.job) for job in jobs or ()]
        # SimpleQueue.put is reentrant: a signal handler may call it while this thread is inside get().
        self._inbox: queue.SimpleQueue[_Message] = queue.SimpleQueue()

    def interrupt(self, signum: int = signal.SIGINT) -> None:
        """Ends the run: jobs get the signal and a grace; a second call kills them. Returns at once."""
        self._inbox.put(lambda loop: loop.on_interrupt(signum))

    def complete(self, index: int, reason: str) -> None:
        """Ends a job that has done its part, and counts it as done. Returns at once; for any thread or listener."""
        self._inbox.put(lambda loop: loop.complete(index, reason))

    def fail(self, reason: str) -> None:
        """Ends the run as one whose jobs cannot succeed. Returns at once; for any thread or listener."""
        self._inbox.put(lambda loop: loop.stop_all(reason))

    def note(self, text: str, index: int | None = None) -> None:
        """Shows the listener a :class:`Note`, in the run's own thread. For any thread and the listener."""
        self._inbox.put(lambda loop: loop.on_note(Note(text, index)))

    def resize(self) -> None:
        """Pass the caller's new terminal size to a single job's terminal. For any thread or signal handler."""
        self._inbox.put(_RunLoop.resize)

    def pass_on(self, signum: int) -> None:
        """Sends a signal to the jobs that run; where none does, it ends the run. For any thread or signal handler."""
        self._inbox.put(lambda loop: loop.pass_on(signum))

    def suspend(self) -> None:
        """Stops the jobs and this process until it is continued, as Ctrl-Z does. For any thread or signal handler."""
        self._inbox.put(_RunLoop.suspend)

    @contextmanager
    def heeding_signals(self) -> Iterator[None]:
        """Heed signals while this lasts: SIGINT, SIGTERM and SIGHUP end the run; others are the jobs'.

        One that is ignored (nohup) stays ignored. Does nothing outside of the main thread, which alone can ask for
        signals.
        """
        with caller_signals.handlers(self.interrupt, self.pass_on, self.suspend, self.resize):
            yield

    def run(self) -> RunSummary:
        """Runs the jobs; see :func:`run_jobs`."""
        began = time.monotonic()
        with self._open_folder() as folder:
            jobs = self._jobs or [record.job() for record in folder.records]
            if self._settings.resume is not None:
                for job, record in zip(jobs, folder.records, strict=True):
                    if record.state == "pending":
                        check_job(job)
            loop = _RunLoop(jobs, self._settings, self._listener, self._inbox, folder)
            loop.run()
            if folder.unwritten is not None:
                self._listener(Note(f"jobs.json could not be written: {folder.unwritten}"))
            seconds = time.monotonic() - began
            return RunSummary(folder.path, tuple(folder.records), seconds, loop.interrupted_by, loop.output_lost)

    def _open_folder(self) -> RunFolder:
        settings = self._settings
        if settings.resume is None:
            for job in self._jobs:
                check_job(job)
            return RunFolder.create(settings.out, self._jobs)
        if settings.out is not None:
            raise ConfigError(
                f"a run is resumed in its own folder {settings.resume!r}, not in {settings.out!r}",
                next_step="Give resume or out, not both.",
            )
        return RunFolder.resume(settings.resume, self._jobs or None, settings.job)


class _RunLoop:
    """Runs the pending jobs of a folder, and decides about them. Only the thread of :meth:`run` touches its state.

    Args:
        jobs: All jobs of the folder.
        settings: How they are run.
        listener: Called with each event.
        inbox: The messages of other threads and of signal handlers.
        folder: The open run folder.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        settings: RunSettings,
        listener: Callable[[Event], None],
        inbox: queue.SimpleQueue[_Message],
        folder: RunFolder,
    ) -> None:
        self._jobs = jobs
        self._settings = settings
        self._listener = listener
        self._inbox = inbox
        self._folder = folder
        self._attempts_before = [record.attempts for record in folder.records]
        self._waiting = deque(index for index, record in enumerate(folder.records) if record.state == "pending")
        self._active: list[_Active] = []
        self._interrupts: list[int] = []
        self._is_ready = False  # the server can make processes
        self._is_stopping = False  # what fails now is not started again
        self._is_short = False  # the system had no more for a job, and the user knows
        self.output_lost = False
        count = len(self._waiting)
        self._parallel = min(settings.parallel or default_parallel(count), max(1, count))
        self._share: float | None = None
        self._machine = None
        if self._parallel > 1 and not settings.elsewhere:
            from tf1sessions.sessions import gpus  # here: a run of a single job starts sooner

            self._machine = gpus.look()
        on_gpus = sum(may_use_gpus(jobs[index]) for index in self._waiting)
        self._sharers = max(1, min(self._parallel, on_gpus))  # how many share the GPUs
        if self._machine is not None:
            self._share = default_share(self._sharers, self._machine)
        # A job with another choice of kernels than the first gets it by a cold start.
        first = jobs[self._waiting[0]].settings if self._waiting else JobSettings()
        self._base_env = base_environment(fast_kernels=bool(first.fast_kernels))
        self._server = settings.server(self._base_env)
        self._server.on_note = lambda text: inbox.put(lambda loop: loop.on_note(Note(text)))

    @property
    def interrupted_by(self) -> int | None:
        """The signal of the first interrupt."""
        return self._interrupts[0] if self._interrupts else None

    def run(self) -> None:
        """Run the jobs that are pending. Called once."""
        self._listener(RunStarted(self._folder.path, tuple(self._folder.records), self._parallel))
        if not self._waiting:
            return
        self._server.start()
        try:
            threading.Thread(target=self._wait_ready, name="tf1sessions server", daemon=True).start()
            self._handle_messages()
        finally:
            try:
                self._server.close()
            finally:
                self._abandon()

    # The loop --------------------------------------------------------------------------------------------------------

    def _handle_messages(self) -> None:
        while self._active or self._waiting:
            while self._is_ready and self._waiting and len(self._active) < self._parallel:
                self._launch(self._waiting.popleft())
            try:
                message = self._inbox.get(timeout=self._until_next_step())
            except queue.Empty:
                self._take_due_steps()
            else:
                message(self)

    def on_ready(self, seconds: float) -> None:
        """Start jobs from now on: the server has loaded TensorFlow."""
        self._is_ready = True
        self._listener(ServerReady(seconds))

    def on_note(self, note: Note) -> None:
        """Show the user a note."""
        self._make_room()
        self._listener(note)

    def resize(self) -> None:
        """Give a single job's terminal the size that the caller's has now."""
        for active in self._active:
            if active.tee is not None:
                active.tee.resize()

    def _until_next_step(self) -> float:
        """Seconds until the loop has to act, or to look, by itself."""
        due = [
            active.ending.at if active.ending else None if active.exited else active.deadline for active in self._active
        ]
        moments = [moment for moment in due if moment is not None]
        return min(_LOOK_SECS, max(0.0, min(moments) - time.monotonic())) if moments else _LOOK_SECS

    def _take_due_steps(self) -> None:
        now = time.monotonic()
        for active in list(self._active):
            if active.ending is None:
                if active.deadline is not None and active.deadline <= now and not active.exited:
                    limit = self._jobs[active.index].settings.time_limit
                    self._end(active, "timeout", f"ran longer than {limit:g} s", signal.SIGTERM)
            elif active.ending.at <= now:
                if active.ending.killed:
                    self.on_ended(active, WorkError(f"did not end within {_KILL_SECS:g} s after SIGKILL"))
                elif self._settings.patient and active.ending.signum == signal.SIGINT:
                    active.ending.at = math.inf
                    secs = f"{self._settings.grace_secs:g} s"
                    self.on_note(Note(f"still runs {secs} after Ctrl-C; Ctrl-C again kills it", active.index))
                else:
                    self._kill(active)

    def suspend(self) -> None:
        """Stop the jobs, then this process; once it is continued, goes on, with the time limits put off."""
        self._listener(Suspending())
        began = time.monotonic()
        self._signal_all(signal.SIGSTOP)  # which alone stops jobs too: in their sessions SIGTSTP is ignored
        os.kill(os.getpid(), signal.SIGSTOP)
        self._signal_all(signal.SIGCONT)
        stopped = time.monotonic() - began
        for active in self._active:
            if active.deadline is not None:
                active.deadline += stopped
            if active.ending is not None:
                active.ending.at += stopped
        self._listener(Continued())

    def _signal_all(self, signum: int) -> None:
        for active in self._active:
            if active.handle is not None:
                active.handle.signal(signum)

    # One job ---------------------------------------------------------------------------------------------------------

    def _launch(self, index: int) -> None:
        try:
            self._start(index)
        except (OSError, RuntimeError) as error:  # a RuntimeError: the system has no more threads
            failure = start_error(f"{self._jobs[index].shown} cannot be started", error)
            if not self._leave_to_later(index, failure):
                raise failure from error

    def _leave_to_later(self, index: int, error: WorkerResult | BaseException, had_others: bool = False) -> bool:
        """Have a job wait until others have ended, if there are any and the system had no more for it.

        With ``had_others`` there were some when it was started: without them, there may be enough by now.
        """
        is_alone = not self._active and not had_others
        if is_alone or not isinstance(error, WorkerStartError) or limit_step(str(error)) is None:
            return False
        self._parallel = max(1, len(self._active))
        self._waiting.appendleft(index)
        if not self._is_short:
            self._is_short = True
            self._listener(Note(f"fewer jobs run at a time: {error}"))
        return True

    def _start(self, index: int) -> None:
        job, settings = self._jobs[index], self._settings
        attempt = self._folder.records[index].attempts + 1
        with ExitStack() as on_failure:
            log, log_start = self._open_log(index)
            on_failure.callback(os.close, log)
            stdin, stdout, stderr = None, log, log
            tee = None
            if settings.stdio is not None and len(self._folder.records) == 1:
                tee = Tee(settings.stdio[1], settings.stdio[2], log)
                stdin, stdout, stderr = settings.stdio[0], tee.stdout, tee.stderr
            on_failure.pop_all()
        now = time.monotonic()
        limit = job.settings.time_limit
        deadline = None if limit is None else now + limit
        active = _Active(index, log, log_start, tee, now, deadline, had_others=bool(self._active))
        self._active.append(active)
        self._folder.update(index, state="running", attempts=attempt)  # on the disk before the job can do anything
        spec = WorkerSpec(
            name=job.name,
            target=settings.target,
            payload=self._payload(index, job).to_json(),
            env=self._environment(job),
            cwd=job.cwd,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            held=self._folder.jobs_lock,
        )
        active.watcher = threading.Thread(
            target=self._watch, args=(active, spec), name=f"tf1sessions {job.name}", daemon=True
        )
        try:
            active.watcher.start()
        except RuntimeError:
            self._active.remove(active)
            self._folder.update(index, state="pending", attempts=attempt - 1)
            os.close(log)
            raise

    def _open_log(self, index: int) -> tuple[int, int]:
        """The log of a job, and where this attempt's part of it begins. The null device where there can be none."""
        try:
            log = self._folder.open_log(index)
        except OSError as error:
            if limit_step(str(error)) is not None:  # then there can be no process either
                raise
            self._listener(Note(f"its log could not be made: {error}", index))
            return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), 0
        start = os.fstat(log).st_size
        if start:  # a retry, or a resumed run: what was written stays
            again = f"\n--- tf1sessions: {time.strftime('%Y-%m-%d %H:%M:%S')}, started again ---\n"
            with suppress(OSError):  # the disk is full, as the job will see
                os.write(log, again.encode())
        return log, start

    def _payload(self, index: int, job: Job) -> ProgramPayload:
        return ProgramPayload(
            kind=job.kind,
            path=job.module or job.path,
            # Where Python looks first: the script's own folder, links followed; for a module the current one.
            path0=job.cwd if job.module else os.path.dirname(os.path.realpath(job.path)),
            argv=job.args,
            display=job.shown,
            settings=self._program_settings(index, job.settings),
            extra=self._settings.more,
        )

    def _program_settings(self, index: int, wanted: JobSettings) -> ProgramSettings:
        folder = self._folder
        threads = wanted.threads
        if self._parallel > 1 and not self._settings.elsewhere:
            threads = threads or max(1, usable_cores() // self._parallel)
        return ProgramSettings(
            memory_fraction=self._memory_fraction(wanted),
            memory_limit_mb=wanted.memory_limit_mb,
            intra_op_threads=threads,
            # Two at least, unless asked for: with one, a Python function in a graph that runs its session, or a
            # reader and its consumer, wait for each other for ever, as they would not have done on TF1.
            inter_op_threads=wanted.threads or (None if threads is None else max(2, threads)),
            fast_path=wanted.fast_path is not False,
            queue_grace=QUEUE_GRACE_SECS if wanted.queue_grace is None else wanted.queue_grace,
            seeds=wanted.seeds or "tf1",
            seed_report=str(folder.log_path(index).absolute().with_suffix(".seeds.txt")),
            claims_dir=str(folder.claims.absolute()),
            deprecations=None if self._settings.deprecations else str(folder.deprecations_path(index).absolute()),
            line_buffered=self._settings.stdio is None or len(folder.records) > 1,
        )

    def _memory_fraction(self, wanted: JobSettings) -> float | None:
        if wanted.memory_fraction is None and wanted.memory_limit_mb is None:
            return self._share
        return wanted.memory_fraction

    def _environment(self, job: Job) -> dict[str, str]:
        env = dict(self._base_env)
        if self._machine is not None:
            fraction, limit_mb = self._memory_fraction(job.settings), job.settings.memory_limit_mb
            env = mps_share(self._sharers, self._machine, fraction, limit_mb) | env  # what the user has set counts
        if job.settings.fast_kernels is not None:
            env["TF_ENABLE_ONEDNN_OPTS"] = "1" if job.settings.fast_kernels else "0"
        if job.settings.visible_devices is not None:
            env["CUDA_VISIBLE_DEVICES"] = job.settings.visible_devices
        if job.cwd != os.getcwd():
            env["PWD"] = job.cwd
        return env | dict(job.env)

    def _end(self, active: _Active, state: str, reason: str, signum: int) -> None:
        """First step of ending an attempt; later ones follow in :meth:`_take_due_steps`."""
        active.ending = _Ending(state, reason, signum, time.monotonic() + self._settings.grace_secs)
        if active.handle is not None:
            active.handle.signal(signum)

    def _kill(self, active: _Active) -> None:
        assert active.ending is not None
        active.ending.killed = True
        active.ending.at = time.monotonic() + _KILL_SECS
        if active.handle is not None:
            active.handle.kill()
        if active.tee is not None:
            active.tee.give_up()

    def on_spawned(self, active: _Active, handle: Handle) -> None:
        """Take in that an attempt has a process."""
        if active not in self._active:  # given up long ago
            handle.kill()
            return
        active.handle = handle
        record = self._folder.records[active.index]
        if handle.cold_reasons != record.cold_reasons:  # of an earlier attempt
            record = self._folder.update(active.index, cold_reasons=handle.cold_reasons)
        self._listener(JobStarted(active.index, record, handle.pid))
        if active.ending is not None:
            if active.ending.killed:
                handle.kill()
            else:
                handle.signal(active.ending.signum)
        for signum in active.passed_on:
            handle.pass_on(signum)

    def on_exited(self, active: _Active) -> None:
        """Take in that an attempt's processes are over; what they wrote may still be on its way to the caller."""
        active.exited = True

    def on_ended(self, active: _Active, result: WorkerResult | BaseException, lost: str | None = None) -> None:
        """Take in how an attempt has ended, and why its log may be incomplete."""
        if active not in self._active:
            return
        self._make_room()
        self._active.remove(active)
        index = active.index
        if lost or self._is_full():
            self._listener(Note(lost or "its log may not be complete: the disk is full", index))
        if active.tee is not None and active.tee.stream_error is not None:
            self.output_lost = True
        if isinstance(result, WorkerResult) and not result.started and result.start_error:
            with suppress(OSError):  # the disk is full; the error's last line is in the record, too
                log = self._folder.open_log(index)
                with open(log, "w", encoding="utf-8", errors="replace") as file:
                    file.write(result.start_error)
        if active.ending is None and self._leave_to_later(index, result, active.had_others):
            self._folder.update(index, state="pending", attempts=self._folder.records[index].attempts - 1)
            return
        changes = _outcome(active, result)
        log_path, start = self._folder.log_path(index), active.log_start
        failed = changes["state"] == "failed"
        why = [lost, error_line(log_path, start, changes["exit_code"])] if failed else []
        changes |= {
            "warnings": our_messages(log_path, start),
            "deprecations": count_deprecations(self._folder.deprecations_path(index)),
            "error": "; ".join(filter(None, why)) or None,
        }
        job = self._jobs[index]
        retried = changes["state"] in ("failed", "killed", "timeout") and not self._is_stopping
        retried = retried and (
            self._folder.records[index].attempts - self._attempts_before[index] <= (job.settings.retries or 0)
        )
        record = self._folder.update(index, **changes | ({"state": "pending"} if retried else {}))
        self._listener(JobEnded(index, replace(record, state=changes["state"]), retried))
        if retried:
            self._waiting.appendleft(index)
        elif record.state in ("failed", "killed", "timeout") and self._settings.fail_fast:
            self._stop_after_failure(record)

    def _is_full(self) -> bool:
        with suppress(OSError):  # a job has deleted the folder
            return not os.statvfs(self._folder.path).f_bavail
        return False

    def complete(self, index: int, reason: str) -> None:
        """End a job that has done its part, and count it as done."""
        if index in self._waiting:
            self._waiting.remove(index)
            self._listener(JobEnded(index, self._folder.update(index, state="done", reason=reason), False))
        for active in self._active:
            if active.index == index and active.ending is None and not active.exited:
                self._end(active, "done", reason, signal.SIGTERM)

    def _stop_after_failure(self, failed: JobRecord) -> None:
        self.stop_all(f"{failed.name} {failed.state} (fail fast)")

    def stop_all(self, reason: str) -> None:
        """End the run: what runs is ended, and what waits is skipped."""
        self._is_stopping = True
        while self._waiting:
            index = self._waiting.popleft()
            record = self._folder.update(index, state="skipped", reason=reason)
            self._listener(JobEnded(index, record, False))
        for active in self._active:
            if active.ending is None and not active.exited:
                self._end(active, "cancelled", reason, signal.SIGTERM)

    def on_interrupt(self, signum: int) -> None:
        """End the run by a signal to its jobs; a second time kill them."""
        self._interrupts.append(signum)
        self._waiting.clear()
        if signum != signal.SIGINT:  # of which a single job's user sees nothing
            self._make_room()
        self._listener(Interrupted(signum, len(self._interrupts), tuple(active.index for active in self._active)))
        for active in self._active:
            if active.exited:  # it has earned its state; only what takes its output holds us up
                if active.tee is not None:
                    active.tee.give_up()
                continue
            if active.ending is None:
                self._end(active, "cancelled", f"interrupted by {signal_name_of(-signum)}", signum)
            if len(self._interrupts) > 1 and active.ending is not None and not active.ending.killed:
                self._kill(active)

    def _make_room(self) -> None:
        """End the line that a single job has begun on the caller's stderr, where one of ours is to follow."""
        if any(active.tee is not None and active.tee.take_begun_line() for active in self._active):
            self._listener(UnendedLine())

    def pass_on(self, signum: int) -> None:
        """Send a signal to the jobs that run."""
        running = [active for active in self._active if not active.exited]
        if not running or (signum == signal.SIGQUIT and len(self._jobs) > 1):  # a terminal's Ctrl-\ is for all of them
            self.on_interrupt(signum)
            return
        for active in running:
            if active.handle is None:
                active.passed_on.append(signum)
            else:
                active.handle.pass_on(signum)

    def _abandon(self) -> None:
        """Records jobs that an exception in the loop left running; the server has ended their processes by now."""
        for active in self._active:
            if active.watcher is not None:
                active.watcher.join(self._settings.grace_secs)
            if active.tee is not None:
                active.tee.give_up()
            self._folder.update(active.index, state="cancelled", reason="the run ended early")
        self._active.clear()

    # Other threads ---------------------------------------------------------------------------------------------------

    def _wait_ready(self) -> None:
        began = time.monotonic()
        try:
            self._server.wait_ready(self._settings.start_secs)
        except BaseException as error:  # handed to the loop, which raises it
            self._inbox.put(functools.partial(_raise, error))
        else:
            seconds = time.monotonic() - began
            self._inbox.put(lambda loop: loop.on_ready(seconds))

    def _watch(self, active: _Active, spec: WorkerSpec) -> None:
        result: WorkerResult | BaseException | None
        try:
            handle = self._server.spawn(spec)
            self._inbox.put(lambda loop: loop.on_spawned(active, handle))
            result = handle.wait()
            assert result is not None, "wait() without a timeout gives a result"
        except BaseException as error:  # handed to the loop, which records it
            result = error
        self._inbox.put(lambda loop: loop.on_exited(active))
        lost = active.tee.finish() if active.tee is not None else None
        try:
            self._folder.restore_log(active.log, self._folder.log_path(active.index))
        except OSError as error:
            lost = lost or f"its log was deleted, and cannot be written again: {error}"
        os.close(active.log)
        self._inbox.put(lambda loop: loop.on_ended(active, result, lost))


def _raise(error: BaseException, loop: _RunLoop) -> None:
    raise error


def _outcome(active: _Active, result: WorkerResult | BaseException) -> dict[str, Any]:
    """Return what an attempt's end changes in its record."""
    if isinstance(result, BaseException):
        if not isinstance(result, (Tf1SessionsError, OSError)):
            raise result
        changes: dict[str, Any] = {"state": "failed", "seconds": time.monotonic() - active.started}
        changes |= {"exit_code": None, "signal": None, "reason": str(result)}
        if isinstance(result, WorkerDiedError):  # the kernel killed it when the fork server ended
            changes |= {"state": "killed", "exit_code": -signal.SIGKILL, "signal": "SIGKILL"}
    else:
        changes = {
            "state": "done" if result.returncode == 0 else "failed" if result.returncode > 0 else "killed",
            "exit_code": result.returncode,
            "signal": result.signal_name,
            "seconds": round(result.seconds, 3),
            "peak_memory_mb": round(result.peak_memory_mb, 1),
            "leftovers": result.leftovers,
            "reason": None,
        }
        if not result.started:
            last = (result.start_error.strip().splitlines() or [""])[-1]
            changes |= {"state": "failed", "reason": f"its process ended before the script began: {last}".rstrip(": ")}
        elif result.returncode < 0:
            changes["reason"] = f"killed by {result.signal_name}"
    # What had ended by itself keeps the state that it has earned.
    if active.ending is not None and (isinstance(result, BaseException) or result.signalled):
        reason = active.ending.reason + ("; killed" if active.ending.killed else "")
        changes |= {"state": active.ending.state, "reason": reason}
    return changes
