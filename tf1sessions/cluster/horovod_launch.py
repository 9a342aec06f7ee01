"""Runs the ranks of a program that uses Horovod, and decides when they are done or have failed.

Data flow: :class:`HorovodLaunch` makes a :class:`~tf1sessions.scripts.jobs.Job` of each rank, with what
:mod:`tf1sessions.horovod.launched` reads from its environment, and runs them at once as one
:class:`~tf1sessions.scripts.runner.Run`. They talk to each other (horovod/hub.py); here is only looked whether each of
them has called ``hvd.init()`` by its end, which it notes by a mark (:func:`.task_main.execute_rank`). The first rank
that fails ends the run (``fail_fast``).
"""

from __future__ import annotations

import importlib.machinery
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tf1sessions.cluster.marks import TASK_VARIABLE, Marks
from tf1sessions.cluster.ports import HeldPorts
from tf1sessions.cluster.tasks import MAX_TASKS
from tf1sessions.errors import ConfigError
from tf1sessions.horovod.launched import VARIABLE, Launched
from tf1sessions.scripts.events import Event, JobEnded, Note, RunStarted, RunSummary
from tf1sessions.scripts.jobs import Job, JobSettings, check_job
from tf1sessions.scripts.runner import Run, RunSettings
from tf1sessions.source.program import Program
from tf1sessions.texts import quoted

__all__ = ["HorovodLaunch", "HorovodSettings", "check_not_installed", "uses_horovod"]

_KEY_BYTES = 32


@dataclass(frozen=True)
class HorovodSettings:
    """Ranks on this machine, and how they are run.

    Args:
        size: How many ranks.
        port: The port on which rank 0 listens; by default a free one.
        start_limit_secs: How long the ranks may take until all have called ``hvd.init()``.
        stall_limit_secs: How long a rank may wait for a tensor of the others.
        job: Settings for all ranks.
        run: How they are run together.
    """

    size: int
    port: int | None = None
    start_limit_secs: float = 300.0
    stall_limit_secs: float = 600.0
    job: JobSettings = JobSettings()
    run: RunSettings = field(default_factory=RunSettings)

    def __post_init__(self) -> None:
        if not 1 <= self.size <= MAX_TASKS:
            raise ConfigError(f"there are {self.size} ranks, not 1 to {MAX_TASKS}", where="option --horovod")


def uses_horovod(program: Program) -> bool:
    """Whether a program imports Horovod, not a module of its own by that name, and builds no ``tf.train.Server``."""
    if any(file.module.partition(".")[0] == "horovod" for file in program.files):
        return False
    lines = [line for file in program.files for line in file.lines]
    imports = any(line.lstrip().startswith(("import horovod", "from horovod")) for line in lines)
    return imports and not any("train.Server" in line for line in lines)


def check_not_installed(size: int) -> None:
    """Refuse to start ranks where Horovod itself is installed: programs would import it, and each be the only rank.

    Raises:
        ConfigError: It is.
    """
    spec = importlib.machinery.PathFinder.find_spec("horovod")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        if Path(folder, "tensorflow", "__init__.py").exists():
            raise ConfigError(
                f"Horovod itself is installed, in {quoted(folder)}, and is what a program imports: its ranks need its "
                "own launcher",
                where="option --horovod",
                next_step=f"Start them with: horovodrun -np {size} tf1sessions run SCRIPT; or uninstall horovod.",
            )


class HorovodLaunch:
    """The ranks of a program on this machine. :meth:`run` is called once.

    Args:
        job: The program, with its arguments.
        settings: The ranks.
        listener: Called with each event, in the thread of :meth:`run`.

    Raises:
        UsageError: The program or the settings cannot be used; nothing was started.
    """

    def __init__(self, job: Job, settings: HorovodSettings, listener: Callable[[Event], None] | None = None) -> None:
        check_job(job)
        check_not_installed(settings.size)
        self._settings = settings
        self._listener: Callable[[Event], None] = listener or (lambda event: None)
        self._marks: Marks | None = None
        self.is_not_distributed = False  # whether the program turned out not to use Horovod
        self._held = HeldPorts(1, settings.port)
        try:
            self.running = Run(
                self._jobs(job),
                replace(
                    settings.run,
                    parallel=settings.size,
                    fail_fast=True,
                    target="tf1sessions.cluster.task_main:execute_rank",
                ),
                self._on_event,
            )
        except BaseException:
            self._held.close()
            raise

    def _jobs(self, job: Job) -> list[Job]:
        key = secrets.token_hex(_KEY_BYTES)
        given = self._settings
        jobs = []
        for rank in range(given.size):
            launched = Launched(
                rank, given.size, self._held.ports[0], key, given.start_limit_secs, given.stall_limit_secs
            )
            name = _name(rank)
            environment = {**job.env, VARIABLE: launched.variable(), TASK_VARIABLE: name}
            jobs.append(replace(job, name=name, env=environment, settings=given.job))
        return jobs

    def run(self) -> RunSummary:
        """Run the ranks and wait for their end.

        Raises:
            ScriptUsageError: The run folder cannot be used.
            WorkerStartError: TensorFlow could not be loaded.
        """
        with self._held:
            return self.running.run()

    def _on_event(self, event: Event) -> None:
        self._listener(event)
        if isinstance(event, RunStarted):
            self._marks = Marks(event.folder / ".claims")
        elif isinstance(event, JobEnded) and event.record.state == "done":
            name = _name(event.index)
            if self._marks is not None and not self._marks.has_server(name) and not self.is_not_distributed:
                self.is_not_distributed = True
                self._listener(
                    Note(
                        f"{name} is done and has not called hvd.init(): the program does not use Horovod, or a module "
                        "of its own by that name. One that is not distributed is for tf1sessions run."
                    )
                )
                self.running.fail("a rank has not called hvd.init()")


def _name(rank: int) -> str:
    return f"rank:{rank}"
