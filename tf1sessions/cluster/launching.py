"""Runs the tasks of a cluster, and decides when it is done or has failed.

Data flow: :class:`Launch` makes a :class:`~tf1sessions.scripts.jobs.Job` of each task, with its flags and its
``TF_CONFIG``, and runs them at once as one :class:`~tf1sessions.scripts.runner.Run`. While it goes on, two things act:

- the run's listener, in the run's thread: :meth:`Launch._on_event`. When the tasks that train have ended, it ends
  those that never end by themselves. The first task that fails ends the run (``fail_fast``).
- :class:`_ServerWatcher`, a thread that looks which tasks have a server. A task without one after a while is named; at
  the time limit the run is ended, as the others would wait for it for ever. And when the programs of all tasks
  that train are through, it lets their processes end (task_main.py: why they wait for each other).
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from tf1sessions.cluster import flags
from tf1sessions.cluster.horovod_launch import uses_horovod
from tf1sessions.cluster.marks import TASK_VARIABLE, Marks
from tf1sessions.cluster.ports import HeldPorts, check_address, listening
from tf1sessions.cluster.tasks import Cluster, Task
from tf1sessions.errors import ConfigError
from tf1sessions.scripts.events import Event, JobEnded, JobStarted, Note, RunStarted, RunSummary
from tf1sessions.scripts.jobs import Job, JobSettings, check_job
from tf1sessions.scripts.runner import Run, RunSettings
from tf1sessions.scripts.servers import bare_server
from tf1sessions.source.program import Program, read_module, read_script
from tf1sessions.texts import quoted

__all__ = ["Launch", "LaunchSettings", "program_flags", "task_jobs"]

_LOOPBACK = "127.0.0.1"
_LOOK_SECS = 0.1  # between two looks at the ports; arbitrary, shorter than any program with a server runs
_NAMED_SECS = 30.0  # after which a task without a server is named; arbitrary, longer than most programs take
_CONFIG_WORDS = ("TF_CONFIG", "RunConfig", "stimator", "TFConfigClusterResolver")


@dataclass(frozen=True)
class LaunchSettings:
    """A cluster on this machine, and how it is run.

    Args:
        ps: How many parameter servers.
        workers: How many workers, besides a chief.
        chief: Whether there is a chief of its own, as Estimators want it. Otherwise worker 0 is the chief.
        evaluator: Whether there is an evaluator.
        flags: Names of the program's flags where they are not found, each ``"role=name"``.
        restart: How often a task is started again that failed or was killed.
        first_port: The first of the tasks' ports, which follow one another; by default free ones.
        address: Where the tasks find each other, if their servers are to listen on all interfaces; None keeps them on
            the loopback interface.
        start_limit_secs: How long a task may take to build its server.
        evaluator_limit_secs: How long the evaluator may go on when the training is done.
        tf2: Whether the program is TensorFlow 2 (tf2_main.py). With parameter servers it has a chief then, which gives
            the workers what they do: the cluster is done when the chief is.
        job: Settings for all tasks; parameter servers see no GPU.
        run: How they are run together.

    Raises:
        ConfigError: With ``tf2``: parameter servers without a chief, or limits of memory or threads, which such a
            program sets itself.
    """

    ps: int = 1
    workers: int = 2
    chief: bool = False
    evaluator: bool = False
    flags: tuple[str, ...] = ()
    restart: int = 0
    first_port: int | None = None
    address: str | None = None
    start_limit_secs: float = 300.0
    evaluator_limit_secs: float = 120.0
    tf2: bool = False
    job: JobSettings = JobSettings()
    run: RunSettings = field(default_factory=RunSettings)

    def __post_init__(self) -> None:
        if not self.tf2:
            return
        if self.ps and not self.chief:
            raise ConfigError(
                "a program of TensorFlow 2 with parameter servers has a chief, which gives the workers what they do",
                where="option --tf2",
                next_step="Give --chief, or for MultiWorkerMirroredStrategy --ps 0.",
            )
        if self.job.threads is not None or self.job.memory_fraction is not None:
            raise ConfigError(
                "a program of TensorFlow 2 sets its threads and its memory itself",
                where="option --tf2",
                next_step="Leave out --threads and --memory-fraction.",
            )


def program_flags(job: Job, settings: LaunchSettings) -> flags.TaskFlags:
    """Return the flags by which a program knows its task.

    Raises:
        ScriptUsageError: The program cannot be read.
        ConfigError: A flag that launch gives is among the program's arguments, the program knows of no chief, or it
            uses Horovod.
    """
    program = read_module(job.module) if job.module else read_script(job.path)
    if uses_horovod(program):
        raise ConfigError(
            f"{quoted(job.shown)} uses Horovod, and has no parameter servers and workers",
            next_step=f"Start its ranks: tf1sessions launch --horovod {settings.workers}",
        )
    found = flags.find(program, settings.flags)
    for argument in job.args:
        name = argument.partition("=")[0].lstrip("-")
        if argument.startswith("-") and name in found.names.values():
            raise ConfigError(
                f"{quoted(argument)} is an argument of the program, and launch gives each task its own --{name}",
                next_step="Leave it out.",
            )
    if settings.chief and found and "chief_hosts" not in found.names and not _reads_config(program):
        raise ConfigError(
            f"--chief, and {quoted(job.shown)} has no flag for a chief and does not read TF_CONFIG: its chief is "
            "worker 0",
            next_step="Leave --chief out.",
        )
    return found


def _reads_config(program: Program) -> bool:
    return any(word in line for file in program.files for line in file.lines for word in _CONFIG_WORDS)


def task_jobs(job: Job, cluster: Cluster, found: flags.TaskFlags, settings: LaunchSettings) -> list[Job]:
    """Return the job of each task of a cluster, in their order."""
    return [_task_job(job, cluster, task, found, settings) for task in cluster.tasks]


def _task_job(job: Job, cluster: Cluster, task: Task, found: flags.TaskFlags, settings: LaunchSettings) -> Job:
    own = replace(settings.job, retries=settings.restart)
    if task.job == "ps":  # which would take memory of a GPU, and compute nothing there
        own = replace(own, visible_devices="-1")
    return replace(
        job,
        name=task.name,
        args=(*found.arguments(cluster, task), *flags.fill_in(job.args, cluster, task)),
        env={**job.env, "TF_CONFIG": cluster.tf_config(task), TASK_VARIABLE: task.name},
        settings=own,
    )


class Launch:
    """A cluster on this machine. :meth:`run` is called once.

    Args:
        job: The program, with its arguments.
        settings: The cluster.
        listener: Called with each event, in the thread of :meth:`run`.

    Raises:
        UsageError: The program or the settings cannot be used; nothing was started.
    """

    def __init__(self, job: Job, settings: LaunchSettings, listener: Callable[[Event], None] | None = None) -> None:
        check_job(job)
        self._settings = settings
        self._listener: Callable[[Event], None] = listener or (lambda event: None)
        self._flags = program_flags(job, settings)
        if settings.address is not None:
            check_address(settings.address)
        self._held = HeldPorts(Cluster.size(settings.ps, settings.workers, settings.chief), settings.first_port)
        host = settings.address or _LOOPBACK
        self.cluster = Cluster.at(
            [f"{host}:{port}" for port in self._held.ports],
            settings.ps,
            settings.workers,
            settings.chief,
            settings.evaluator,
        )
        tasks = self.cluster.tasks
        try:
            self.running = Run(
                task_jobs(job, self.cluster, self._flags, settings),
                replace(
                    settings.run,
                    parallel=len(tasks),
                    fail_fast=True,
                    **_target(settings),
                ),
                self._on_event,
            )
        except BaseException:
            self._held.close()
            raise
        self._left = {index for index, task in enumerate(tasks) if self.cluster.trains(task, settings.tf2)}
        limit = settings.start_limit_secs
        self._watcher = _ServerWatcher(self.running, tasks, frozenset(self._left), self._held.ports, limit)
        self.is_not_distributed = False  # whether the program turned out not to be distributed

    def run(self) -> RunSummary:
        """Run the cluster and wait for its end.

        Raises:
            ScriptUsageError: The run folder cannot be used.
            WorkerStartError: TensorFlow could not be loaded.
        """
        with self._held, self._watcher.watching():
            return self.running.run()

    def _on_event(self, event: Event) -> None:
        self._listener(event)
        if isinstance(event, RunStarted):
            self._watcher.marks = Marks(event.folder / ".claims")
            self._say_how_tasks_learn_their_number()
        elif isinstance(event, JobStarted):
            self._watcher.begin(event.index)
        elif isinstance(event, JobEnded):
            self._watcher.end(event.index, event.record.state == "done")
            if not event.retried and event.record.state == "done" and event.index in self._left:
                self._left.remove(event.index)
                if not self._watcher.look():
                    self._refuse_to_go_on(event.index)
                elif not self._left:
                    self._end_the_others()

    def _say_how_tasks_learn_their_number(self) -> None:
        names = [f"--{name}" for name in self._flags.names.values()]
        self._say(f"each task learns which it is from {' '.join([*names, 'and TF_CONFIG' if names else 'TF_CONFIG'])}")
        if os.environ.get("TF_CONFIG"):
            self._say("the TF_CONFIG of the environment is of another cluster, and is replaced")

    def _say(self, text: str) -> None:
        self._listener(Note(text))  # at once: after the last job's end the run takes no more messages

    def _refuse_to_go_on(self, index: int) -> None:
        """No task has built a server, and one is through: each runs the whole program, for itself alone."""
        name, self.is_not_distributed = self.cluster.tasks[index].name, True
        self._say(
            f"{name} is done, and no task has built a tf.train.Server: the program is not distributed, or learns in "
            "another way which task it is. Name its flags with --flag ROLE=NAME, or write {job_name} and {task_index} "
            "into its arguments; one that is not distributed is for tf1sessions run."
        )
        self.running.fail("no task has built a server")

    def _end_the_others(self) -> None:
        limit = self._settings.evaluator_limit_secs
        for index, task in enumerate(self.cluster.tasks):
            if task.job == "evaluator":
                self._watcher.end_later(index, limit)
            elif not self.cluster.trains(task, self._settings.tf2):
                trained = "chief was" if self._settings.tf2 else "workers were"
                self.running.complete(index, f"ended when the {trained} done")


def _target(settings: LaunchSettings) -> dict[str, Any]:
    """The target of the tasks' processes, as arguments of RunSettings."""
    more: dict[str, Any] = {"loopback": settings.address is None}
    if not settings.tf2:
        return {"target": "tf1sessions.cluster.task_main:execute", "more": more}
    more["not_given"] = [name for name in ("TF_USE_LEGACY_KERAS", "TF_ENABLE_ONEDNN_OPTS") if name not in os.environ]
    return {"target": "tf1sessions.cluster.tf2_main:execute", "more": more, "server": bare_server}


class _ServerWatcher:
    """A thread that looks for tasks that build no server. Its methods are for any thread.

    Args:
        running: The run, which gets the watcher's notes and is ended by it.
        tasks: The tasks.
        training: Those of them, by number, at whose end the cluster is done.
        ports: Of those that have an address, in their order.
        limit_secs: How long a task may take to build its server.
    """

    def __init__(
        self, running: Run, tasks: Sequence[Task], training: frozenset[int], ports: Sequence[int], limit_secs: float
    ) -> None:
        self._running = running
        self._tasks = tasks
        self._trains = training
        self._ports = dict(enumerate(ports))  # the evaluator is the last task
        self._limit_secs = limit_secs
        self._stop = threading.Event()
        self._lock = threading.Lock()  # protects what follows
        self._started: dict[int, float] = {}  # tasks that run and have no server yet
        self._named: set[int] = set()
        self._at_work: set[int] = set()  # tasks whose processes are there
        self._training = set(training)  # whose programs are not through
        self._any_through = False
        self.marks: Marks | None = None
        self._any_server = False
        self._to_end: dict[int, float] = {}
        self._joined: set[int] = set()  # tasks that train, are through, and would never end by themselves
        self._alone: tuple[int, float] | None = None  # the last task that trains, and when it will be named

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while this lasts."""
        thread = threading.Thread(target=self._watch, name="tf1sessions cluster", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def begin(self, index: int) -> None:
        """A task was started. It may have set marks by now."""
        with self._lock:
            self._at_work.add(index)
            if index in self._trains:
                self._training.add(index)
                self._alone = None
                if self.marks is not None:
                    self.marks.set_last(None)
            if index in self._ports:
                self._started[index] = time.monotonic()

    def end(self, index: int, is_done: bool) -> None:
        """A task has ended, whichever way; one that failed and is not started again ends the run."""
        with self._lock:
            self._at_work.discard(index)
            if index in self._training:
                self._training.remove(index)
                self._any_through = self._any_through or is_done
            if self.marks is not None and index in self._trains and not is_done:
                self.marks.forget(self._tasks[index].name)  # now: one that starts again may be quick to set them
            self._started.pop(index, None)
            self._to_end.pop(index, None)

    def end_later(self, index: int, seconds: float) -> None:
        """End a task after some time, unless it does so by itself."""
        with self._lock:
            self._to_end[index] = time.monotonic() + seconds

    def look(self) -> bool:
        """Whether any task has built a server up to now."""
        found = listening(self._ports.values())  # also of a server in a process that the program has started
        with self._lock:
            for index, port in self._ports.items():
                marked = self.marks is not None and self.marks.has_server(self._tasks[index].name)
                if marked or port in found:
                    self._any_server = True
                    self._started.pop(index, None)
            return self._any_server

    def _release_those_through(self) -> None:
        with self._lock:
            if self.marks is None or not self._training:
                if self.marks is not None and self._at_work:  # which may have removed the marks that they wait for
                    self.marks.repeat()
                return
            names = {index: self._tasks[index].name for index in self._training}
            done = {index for index, name in names.items() if self.marks.is_through(name)}
            joined = {index for index, name in names.items() if self.marks.has_joined(name)}
            self._any_through = self._any_through or bool(done)
            is_last = self._any_through and not self._training - done - joined
            self._joined |= done & joined
            self._training -= done
            if is_last:
                self._joined |= joined
                self._training.clear()
                self.marks.release()
            if len(self._training) == 1 and self._alone is None:
                self._alone = (min(self._training), time.monotonic() + _NAMED_SECS)
                if len(self._trains) > 1:
                    self.marks.set_last(names[self._alone[0]])
        for index in sorted(done) if not is_last else ():
            self._running.note("is through; its server stays for the other workers", index)
        for index in sorted(self._joined) if is_last else ():
            self._running.complete(index, "ended when the workers were done")

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_SECS):
            self.look()
            self._release_those_through()
            now = time.monotonic()
            with self._lock:
                alone = None
                if self._alone is not None and self._alone[1] <= now:
                    alone, self._alone = self._alone[0], (self._alone[0], math.inf)
                due = [index for index, at in self._to_end.items() if at <= now]
                slow = {i for i, began in self._started.items() if now - began > _NAMED_SECS} - self._named
                late = [index for index, began in self._started.items() if now - began > self._limit_secs]
                self._named |= slow
                for index in due:
                    del self._to_end[index]
                for index in late:
                    del self._started[index]
            if alone is not None and alone in self._training and len(self._trains) > 1:
                self._running.note(
                    f"has been at work for {_NAMED_SECS:g} s since all others are through; with SyncReplicasOptimizer "
                    "a chief waits two minutes for its threads at its end, as on TensorFlow 1",
                    alone,
                )
            for index in sorted(slow):
                self._running.note(f"has built no server after {_NAMED_SECS:g} s; the other tasks wait for it", index)
            for index in due:
                self._running.complete(index, "ended: the training was done, and its time was up")
            if late:
                names = ", ".join(self._tasks[index].name for index in late)
                self._running.note(f"{names} built no server within {self._limit_secs:g} s (--start-limit)")
                self._running.fail(f"{names} built no server within {self._limit_secs:g} s")
