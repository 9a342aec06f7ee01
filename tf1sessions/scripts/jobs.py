"""The jobs of a run: one :class:`Job` a process, and the :class:`JobSettings` it runs under.

Everything here is frozen and may be shared between threads. A job is complete in itself: its paths are absolute
from the moment it is made, so that it means the same in another folder, in a worker, or after ``--resume``.

Settings come from three places; the first that says something counts: the command line, the ``[[job]]`` of a job
file, the ``[defaults]`` of that file. ``None`` means "not said".
"""

from __future__ import annotations

import math
import os
import re
import stat
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tf1sessions.errors import ConfigError, ScriptUsageError
from tf1sessions.texts import brief

__all__ = [
    "MAX_JOBS",
    "MAX_SECS",
    "MAX_TEXT",
    "QUEUE_GRACE_SECS",
    "SEEDS",
    "Job",
    "JobSettings",
    "check_job",
    "check_setting",
]

#: How long a program's threads hang in queues before they are ended. Arbitrary: longer than a step of most input
#: pipelines, shorter than the patience of a user that waits for a prompt.
QUEUE_GRACE_SECS = 10.0
SEEDS = ("tf1", "tf2", "report")
"""The choices of seeds for operations that draw and have none of their own, in a graph that has one."""
MAX_JOBS = 10_000
"""How many jobs a run may have. Arbitrary: each change of a job's state writes all of their records."""
MAX_SECS = 1_000_000_000
"""The longest time that can be set: more than 30 years, less than what Python's locks and queues can wait."""
MAX_TEXT = 4096
"""How many characters a name of a file, a folder or a device may have: Linux takes no longer path."""

# What CUDA_VISIBLE_DEVICES may list, and the words by which containers say none.
_DEVICE = re.compile(r"-?\d+|(GPU|MIG)-[\w/-]+|NoDevFiles|none|void|")


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise ValueError(f"{brief(value)} is not a whole number of {low} or more")
        if value > high:
            raise ValueError(f"{brief(value)} is more than {high:,}")
        return value

    return check


def _fraction(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1:
        raise ValueError(f"{brief(value)} is not a number above 0 and at most 1")
    return float(value)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError(f"{brief(value)} is not a number of seconds above 0")
    return _not_too_long(value)


def _seconds_or_none(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise ValueError(f"{brief(value)} is not a number of seconds of 0 or more")
    return _not_too_long(value)


def _not_too_long(seconds: float) -> float:
    if seconds > MAX_SECS:
        raise ValueError(f"{brief(seconds)} is more than {MAX_SECS:,.0f} seconds")
    return float(seconds)


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{brief(value)} is not true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(f"{brief(value)} is not a text")
    if len(value) > MAX_TEXT:
        raise ValueError(f"{brief(value)} has more than {MAX_TEXT:,} characters")
    return value


def _devices(value: Any) -> str:
    """A list for CUDA_VISIBLE_DEVICES. CUDA ends it at what it does not know, and the job would have no GPU."""
    text = _text(value)
    wrong = next((part for part in text.split(",") if not _DEVICE.fullmatch(part.strip())), None)
    if wrong is not None:
        raise ValueError(
            f"{brief(wrong)} is no GPU: give numbers with commas between, as 0,1, or names as GPU-... or MIG-...; "
            "-1 or nothing for none"
        )
    return text


def _seeds(value: Any) -> str:
    if value not in SEEDS:
        raise ValueError(f"{brief(value)} is not one of {', '.join(SEEDS)}")
    return str(value)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "memory_fraction": _fraction,
    "memory_limit_mb": _whole(1, 1_000_000_000),
    "threads": _whole(1, 10_000),
    "visible_devices": _devices,
    "time_limit": _seconds,
    "retries": _whole(0, 1_000_000),
    "fast_kernels": _switch,
    "fast_path": _switch,
    "queue_grace": _seconds_or_none,
    "seeds": _seeds,
}


def check_setting(key: str, value: Any) -> Any:
    """The value of a setting as it is kept.

    Raises:
        ValueError: the value is not one for this key; the text says what is wrong with it.
    """
    if key not in _CHECKS:
        raise ValueError(f"there is no such setting; known: {', '.join(_CHECKS)}")
    return _CHECKS[key](value)


@dataclass(frozen=True)
class JobSettings:
    """Under what a job runs. ``None`` leaves the choice to the run.

    Args:
        memory_fraction: Share of a GPU's memory, above 0 and at most 1. By default an equal part of what is free.
        memory_limit_mb: Cap of a GPU's memory in MB, instead of a share.
        threads: Threads of TensorFlow's two pools (intra-op and inter-op), each. By default cores // (jobs at once).
        visible_devices: Value of ``CUDA_VISIBLE_DEVICES``; by default that of the caller's environment.
        time_limit: Seconds that one attempt may take.
        retries: How often the job is started again after it failed, was killed or ran out of time. By default 0.
        fast_kernels: Use oneDNN's kernels: faster on some CPUs, other last bits than TensorFlow 1. By default off.
        fast_path: Run sessions' calls by tf1sessions' compiled calls. By default on.
        queue_grace: Seconds after which threads are ended that hang in queues when the program has ended or has
            requested a stop; 0 waits as TensorFlow 1 does. By default 10.
        seeds: ``"tf1"``, so that operations which draw get the seeds that TensorFlow 1 gave them, or ``"tf2"`` for
            today's; ``"report"`` is "tf1" and reports at the job's end which are exact. By default "tf1".

    Raises:
        ConfigError: A value is out of its range.

    Example:
        >>> JobSettings(threads=2).over(JobSettings(threads=8, retries=1))
        JobSettings(threads=2, retries=1)
    """

    memory_fraction: float | None = None
    memory_limit_mb: int | None = None
    threads: int | None = None
    visible_devices: str | None = None
    time_limit: float | None = None
    retries: int | None = None
    fast_kernels: bool | None = None
    fast_path: bool | None = None
    queue_grace: float | None = None
    seeds: str | None = None

    def __post_init__(self) -> None:
        for key, value in self.given().items():
            try:
                object.__setattr__(self, key, check_setting(key, value))
            except ValueError as error:
                raise ConfigError(f"{key}: {error}", where=f"JobSettings({key}={brief(value)})") from None

    def given(self) -> dict[str, Any]:
        """The settings that say something, by name."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    def over(self, other: JobSettings) -> JobSettings:
        """These settings, and those of ``other`` where these say nothing."""
        return JobSettings(**(other.given() | self.given()))

    def __repr__(self) -> str:
        return f"JobSettings({', '.join(f'{key}={value!r}' for key, value in self.given().items())})"


@dataclass(frozen=True)
class Job:
    """One script, notebook or module to run in a process of its own.

    Args:
        script: Path of a script or notebook (``.ipynb``), kept as it was typed; or
        module: Name of a module to run, as ``python -m`` does.
        args: What follows the script's name in ``sys.argv``.
        env: Variables on top of the caller's environment.
        cwd: Folder in which it runs; by default the current one. Made absolute.
        name: For messages and the log's name; by default the script's name without its ending.
        settings: Under what it runs.
        path: The script's absolute path; by default ``script`` seen from the current folder.

    Raises:
        ScriptUsageError: Neither or both of ``script`` and ``module`` are given. That the script can be run is
            checked by :func:`check_job`, not here.

    Example:
        >>> Job(module="my_package.train", args=("--epochs=3",)).name
        'my_package.train'
    """

    script: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    name: str = ""
    settings: JobSettings = JobSettings()
    path: str = ""

    def __post_init__(self) -> None:
        if (self.script is None) == (self.module is None):
            raise ScriptUsageError(
                f"a job needs a script or a module, and not both: script={self.script!r}, module={self.module!r}"
            )
        object.__setattr__(self, "args", tuple(self.args))
        try:
            object.__setattr__(self, "cwd", os.path.abspath(self.cwd))
            if self.script is not None:
                object.__setattr__(self, "path", os.path.abspath(self.path or self.script))
        except FileNotFoundError as error:  # of os.getcwd()
            raise ScriptUsageError("the current folder was deleted", next_step="Change to one that exists.") from error
        if not self.name:
            stem = os.path.splitext(os.path.basename(self.path))[0]
            object.__setattr__(self, "name", self.module or stem)

    @property
    def kind(self) -> str:
        """``"script"``, ``"notebook"`` or ``"module"``."""
        if self.module is not None:
            return "module"
        return "notebook" if self.path.endswith(".ipynb") else "script"

    @property
    def shown(self) -> str:
        """The text for ``sys.argv[0]``: the path as typed, or the absolute one when the job runs elsewhere."""
        if self.script is None:
            return self.module or ""
        here = os.path.normpath(os.path.join(self.cwd, self.script)) == self.path
        return self.script if here else self.path

    def under(self, settings: JobSettings) -> Job:
        """Return the same job, with ``settings`` above its own."""
        return replace(self, settings=settings.over(self.settings))

    def identity(self) -> dict[str, Any]:
        """Return what makes it the same job in a later run: ``--resume`` compares this."""
        return {
            "script": self.path or None,
            "module": self.module,
            "args": list(self.args),
            "env": dict(self.env),
            "cwd": self.cwd,
        }


def check_job(job: Job) -> None:
    """Sees before anything starts that the job's files are there and can be read.

    Raises:
        ScriptUsageError: The script or folder is missing, of the wrong kind, or must not be read.
    """
    for key, value in job.env.items():
        if not key or "=" in key or "\0" in key + value:
            raise ScriptUsageError(
                f"{brief(key)}={brief(value)} cannot be an environment variable", where=f"job {job.name}"
            )
    if not os.path.isdir(job.cwd):
        raise ScriptUsageError(f"the folder {job.cwd!r} to run {job.name} in does not exist")
    if job.script is None:
        return
    if "\0" in job.path:
        raise ScriptUsageError(f"the path {job.script!r} has a zero byte")
    try:
        mode = os.stat(job.path).st_mode
    except OSError as error:
        next_step = None
        if isinstance(error, FileNotFoundError):
            next_step = f"Looked for {job.path}." if job.path != job.script else None
        raise ScriptUsageError(f"cannot run {job.script!r}: {error.strerror}", next_step=next_step) from None
    if stat.S_ISDIR(mode):
        raise ScriptUsageError(
            f"cannot run {job.script!r}: it is a folder",
            next_step="Name a script in it, or run the folder as a package with -m.",
        )
    if not stat.S_ISREG(mode):
        raise ScriptUsageError(
            f"cannot run {job.script!r}: it is not a regular file",
            next_step="Save the program in a file; a job may be started more than once.",
        )
    try:
        with open(job.path, "rb") as file:
            is_archive = zipfile.is_zipfile(file)
    except OSError as error:
        raise ScriptUsageError(f"cannot run {job.script!r}: {error.strerror}") from None
    if is_archive:
        raise ScriptUsageError(
            f"cannot run {job.script!r}: it is a zip archive",
            next_step="Unpack it, and name the __main__.py in it.",
        )
