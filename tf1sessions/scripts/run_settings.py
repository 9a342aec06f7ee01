"""The settings by which jobs run together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tf1sessions.errors import ConfigError
from tf1sessions.scripts.jobs import MAX_SECS, JobSettings
from tf1sessions.scripts.servers import Server, script_server

__all__ = ["RunSettings"]


@dataclass(frozen=True)
class RunSettings:
    """The settings by which jobs run together.

    Args:
        parallel: How many at once; by default what cores and memory allow
            (:func:`~tf1sessions.scripts.machine.default_parallel`).
        out: The run folder, which must not hold a run; by default a new one in ``runs/``.
        resume: The folder of an earlier run, whose finished (``done``) jobs are not run again.
        fail_fast: End the run when a job has failed, and did so in its last retry.
        deprecations: Whether TensorFlow's deprecation warnings are part of a job's output; else they are in a file
            beside its log.
        job: Settings that count above those of the jobs.
        stdio: For a single job: the caller's stdin, stdout and stderr, for it to use directly. By default, and for
            several jobs, they read from the null device and write to their logs only.
        grace_secs: How long a job that must go has to clean up before it is killed.
        patient: Whether a job has no time limit for its cleaning up after SIGINT. After ``grace_secs`` a note says
            that a second Ctrl-C kills it.
        start_secs: How long TensorFlow may take to start.
        server: Makes the fork server; for tests and other kinds of jobs.
        elsewhere: The jobs run on other machines, whose shares are not divided here.
        target: The function that runs a job in its worker.
        more: Further entries of what that function is given; values that JSON can carry.

    Raises:
        ConfigError: ``parallel`` is below 1, or a number of seconds is not above 0 or too large.
    """

    parallel: int | None = None
    out: str | None = None
    resume: str | None = None
    fail_fast: bool = False
    deprecations: bool = True
    job: JobSettings = JobSettings()
    stdio: tuple[int | None, int, int] | None = None
    grace_secs: float = 5.0
    patient: bool = False
    start_secs: float = 300.0
    server: Callable[[Mapping[str, str]], Server] = script_server
    elsewhere: bool = False
    target: str = "tf1sessions.scripts.program:execute"
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.parallel is not None and self.parallel < 1:
            raise ConfigError(
                f"parallel is {self.parallel}; at least one job must run at a time",
                where=f"RunSettings(parallel={self.parallel})",
            )
        for key in ("grace_secs", "start_secs"):
            value = getattr(self, key)
            if not 0 < value <= MAX_SECS:
                raise ConfigError(
                    f"{key} is {value!r}, not above 0 and at most {MAX_SECS:,}", where=f"RunSettings({key}={value!r})"
                )
