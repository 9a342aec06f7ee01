"""A run's folder: a log a job, and ``jobs.json``, which is true at every moment, also after ``kill -9``.

``jobs.json`` is a list with an object (:class:`JobRecord`) a job, in the order of the jobs. It is replaced as a whole
each time that a job changes its state: written beside, synchronised, renamed. Whoever reads it sees the old list or
the new one. ``.lock`` in the folder is held while a run uses it, and freed by the kernel however that run ends;
``.jobs`` is held until its jobs have ended, too, which for those of a command that was killed takes a moment longer.

States: ``pending`` (not started), ``running``, ``done`` (exit code 0), ``failed`` (another exit code, or it could not
be started), ``killed`` (by a signal), ``timeout``, ``cancelled`` (by Ctrl-C or because another failed), ``skipped``
(never started because another failed). :class:`RunFolder` is not thread-safe: one thread of a run owns it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import sleep
from typing import Any

from tf1sessions import files
from tf1sessions.errors import ScriptUsageError, Tf1SessionsError
from tf1sessions.pools.resource_limits import limit_step
from tf1sessions.scripts.jobs import MAX_JOBS, Job, JobSettings
from tf1sessions.texts import brief

__all__ = ["JobRecord", "RunFolder", "plan_resume", "read_records"]

RECORDS_FILE = "jobs.json"
_LOCK_FILE, _JOBS_LOCK_FILE = ".lock", ".jobs"
#: How long a run waits for the jobs of one that was killed; its server kills them within 12 seconds.
_JOBS_SECS = 20.0
_LOOK_SECS = 0.02  # between two looks at a lock; arbitrary
#: The most bytes of a ``jobs.json`` that are read: ten times what the most jobs make.
_MOST_RECORDS = 256 << 20
_NO_SETTINGS = JobSettings()
STATES = ("pending", "running", "done", "failed", "killed", "timeout", "cancelled", "skipped")


@dataclass(frozen=True)
class JobRecord:
    """The record of one job; an object of ``jobs.json``.

    Args:
        name: The job's name.
        script: Its path as it was typed, or None for a module.
        args: Its arguments.
        state: One of the states that the module's text lists.
        exit_code: Of the last attempt, as :mod:`subprocess` gives it: negative for a signal. None before its end.
        seconds: That the last attempt took.
        peak_memory_mb: The most memory that its process held.
        log: Its log, relative to the folder.
        attempts: How often it was started, in all runs of the folder.
        signal: Name of the signal that ended it, such as ``"SIGKILL"``.
        reason: Why it is in this state, where the state alone does not say it.
        error: Of a job that failed, why: of a traceback the error, else the exit code and the last line of its log.
        cold_reasons: Why it could not be forked from the warm server; empty when it was.
        leftovers: Processes that it left behind, which were ended.
        warnings: What tf1sessions said in its log: a folder that two jobs write to, an option that was changed.
        deprecations: How many deprecation warnings of TensorFlow are in a file beside its log, and not in it.
        path: Absolute path of its script.
        module: Name of its module, or None for a script.
        env: Its variables on top of the caller's environment.
        cwd: The folder that it runs in.
        settings: Its settings, by name.
    """

    name: str
    script: str | None
    args: tuple[str, ...]
    state: str = "pending"
    exit_code: int | None = None
    seconds: float | None = None
    peak_memory_mb: float | None = None
    log: str = ""
    attempts: int = 0
    signal: str | None = None
    reason: str | None = None
    error: str | None = None
    cold_reasons: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    deprecations: int = 0
    path: str = ""
    module: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, job: Job, log: str) -> JobRecord:
        """The record of a job that was not started yet."""
        return cls(
            name=job.name,
            script=job.script,
            args=job.args,
            log=log,
            path=job.path,
            module=job.module,
            env=dict(job.env),
            cwd=job.cwd,
            settings=job.settings.given(),
        )

    def job(self) -> Job:
        """The job that this is the record of."""
        return Job(
            script=self.script,
            module=self.module,
            args=self.args,
            env=self.env,
            cwd=self.cwd,
            name=self.name,
            settings=JobSettings(**self.settings),
            path=self.path,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain lists, dicts, texts and numbers."""
        return asdict(self) | {
            "args": list(self.args),
            "cold_reasons": list(self.cold_reasons),
            "leftovers": list(self.leftovers),
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, entry: Any) -> JobRecord:
        """The opposite of :meth:`to_json`.

        Raises:
            ValueError: It is none that a run writes; the text names the field.
        """
        if not isinstance(entry, dict):
            raise ValueError(f"{brief(entry)} is not an object")
        for key in _REQUIRED - entry.keys():
            raise ValueError(f"there is no {key}")
        for key, value in entry.items():
            if key not in _FIELDS:
                raise ValueError(f"{brief(key)} is not a field of it")
            is_right, expected = _FIELDS[key]
            if not is_right(value):
                raise ValueError(f"{key} is {brief(value)}, not {expected}")
        lists = {key: tuple(value) for key, value in entry.items() if isinstance(value, list)}
        record = cls(**entry | lists)
        try:
            record.job()  # checks the settings, and that there is one program
        except (Tf1SessionsError, TypeError) as error:  # TypeError: an unknown setting
            raise ValueError(f"script, module or settings: {error}") from error
        return record

    @property
    def over(self) -> bool:
        """Whether the job will not change its state again in this run."""
        return self.state not in ("pending", "running")


def _is_text(value: Any) -> bool:
    """Whether it is a text that may be a name of a file, an argument or a variable, as all of a run's are."""
    try:
        return isinstance(value, str) and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_variables(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _is_log(value: Any) -> bool:
    return _is_text(value) and value == os.path.basename(value) and value.endswith(".log")


def _is_whole(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= _LARGEST  # which no NaN is


def _or_null(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_right(value)


_LARGEST = 10**12  # of a count, or of seconds or MB; arbitrary, far above what a run can write
_TEXT = _is_text, "a text"
_TEXT_OR_NULL = _or_null(_is_text), "a text or null"
_TEXTS = _is_texts, "a list of texts"
_COUNT = _is_whole(0, _LARGEST), "a whole number of 0 or more"
_AMOUNT_OR_NULL = _or_null(_is_amount), "a number of 0 or more, or null"

#: What each field of a record may be in ``jobs.json``, which anybody can edit: a check, and its words.
_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": _TEXT,
    "script": _TEXT_OR_NULL,
    "args": _TEXTS,
    "state": (lambda value: value in STATES, f"one of {', '.join(STATES)}"),
    "exit_code": (_or_null(_is_whole(-255, 255)), "an exit code or null"),
    "seconds": _AMOUNT_OR_NULL,
    "peak_memory_mb": _AMOUNT_OR_NULL,
    "log": (_is_log, "the name of a file that ends with .log"),
    "attempts": _COUNT,
    "signal": _TEXT_OR_NULL,
    "reason": _TEXT_OR_NULL,
    "error": _TEXT_OR_NULL,
    "cold_reasons": _TEXTS,
    "leftovers": _TEXTS,
    "warnings": _TEXTS,
    "deprecations": _COUNT,
    "path": _TEXT,
    "module": _TEXT_OR_NULL,
    "env": (_is_variables, "variables with their texts"),
    "cwd": _TEXT,
    "settings": (lambda value: isinstance(value, dict), "an object"),
}
_REQUIRED = {"name", "script", "args", "log"}


class RunFolder:
    """The folder of one run, locked while it is open. Use it with ``with``; not thread-safe.

    Once it is made, no error of the disk stops the jobs: a folder that was deleted is made again, and what could not be
    written is kept for the run to say.

    Args:
        path: The folder; made if it is not there.
        records: A record a job.

    Attributes:
        unwritten: Why ``jobs.json`` is not what the records are, or None.
        jobs_lock: A descriptor that whoever may outlive this process with a job keeps open. None when it is closed.
    """

    def __init__(self, path: Path, records: Sequence[JobRecord]) -> None:
        self.path = path
        self.records = list(records)
        self.unwritten: OSError | None = None
        self._lock: int | None = None
        self.jobs_lock: int | None = None

    @classmethod
    def create(cls, path: str | os.PathLike[str] | None, jobs: Sequence[Job]) -> RunFolder:
        """A new run's folder, with ``jobs.json``.

        Args:
            path: Where; by default a new folder in ``runs/`` named by date and time.
            jobs: What will run.

        Raises:
            ScriptUsageError: The folder cannot be made, or holds a run already.
        """
        width = max(2, len(str(len(jobs))))
        records = [
            JobRecord.of(job, f"{number:0{width}}-{_file_name(job.name)}.log") for number, job in enumerate(jobs, 1)
        ]
        try:
            if path is None:
                folder = cls(_new_folder(Path("runs")), records)
            else:
                folder = cls(Path(path), records)
                folder.path.mkdir(parents=True, exist_ok=True)
                if (folder.path / RECORDS_FILE).exists():
                    raise ScriptUsageError(
                        f"the folder {str(path)!r} holds a run already",
                        next_step=f"Choose another folder for --out, or continue that run with --resume {path}.",
                    )
                folder._check_no_logs()
            folder._take_lock()
            folder._write(sync=False)  # nothing has begun; before the first job does, it is written again
        except OSError as error:
            raise _not_written(path or "runs", error, "Name a folder that can be written with --out.") from error
        return folder

    @classmethod
    def resume(
        cls, path: str | os.PathLike[str], jobs: Sequence[Job] | None = None, above: JobSettings = _NO_SETTINGS
    ) -> RunFolder:
        """The folder of an earlier run; what was not done in it is pending again.

        Args:
            path: The folder.
            jobs: What is asked for now; must be the same jobs. None: those of the folder.
            above: Settings that count above those of the folder's jobs.

        Raises:
            ScriptUsageError: There is no run in the folder, another run uses it now, or its jobs are others.
        """
        folder = cls(Path(path), read_records(path))  # where no run has been, no lock is left
        try:
            folder._take_lock()
        except OSError as error:
            raise _not_written(path, error, "Make room, or let yourself write there.") from error
        try:
            folder.records = plan_resume(path, jobs, above)  # as they are now: another run had the lock until then
        except BaseException:
            folder.close()
            raise
        return folder  # what it had is replaced when the first job starts: until then the run may still be refused

    def update(self, index: int, **changes: Any) -> JobRecord:
        """Changes a record and writes ``jobs.json``, if that is possible; see :attr:`unwritten`."""
        self.records[index] = replace(self.records[index], **changes)
        try:
            self._hold()
            self._write()
        except OSError as error:
            self.unwritten = error
        return self.records[index]

    def _write(self, sync: bool = True) -> None:
        """Writes ``jobs.json``, whole or not at all; with ``sync`` it is on the disk then."""
        text = json.dumps([record.to_json() for record in self.records], indent=1)
        beside = self.path / (RECORDS_FILE + ".new")
        try:
            beside.unlink(missing_ok=True)  # of a run that was killed; or a pipe, or a link
            with open(beside, "x", encoding="ascii") as file:  # never through a link that is there by now
                file.write(text + "\n")
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            os.replace(beside, self.path / RECORDS_FILE)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
        self.unwritten = None  # all that was not written before is in it

    def open_log(self, index: int) -> int:
        """Opens the log of a job for appending; the descriptor is the caller's to close.

        Raises:
            OSError: It cannot be written, or it is no regular file: a link could lead out of the folder.
        """
        self._hold()
        return files.open_own(self.log_path(index), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    @staticmethod
    def restore_log(log: int, path: Path) -> None:
        """Write a log again that was deleted while it was open. Any thread may call it.

        Args:
            log: Its descriptor, of :meth:`open_log`.
            path: Where it was.

        Raises:
            OSError: It cannot be written, or something else is there by now: a pipe would keep us for ever.
        """
        state = os.fstat(log)
        if stat.S_ISREG(state.st_mode) and not state.st_nlink and os.path.isdir("/proc/self/fd"):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = files.open_own(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)  # what is there now may be anything
            with open(handle, "ab") as file, open(f"/proc/self/fd/{log}", "rb") as deleted:
                shutil.copyfileobj(deleted, file)

    def log_path(self, index: int) -> Path:
        """The log of a job."""
        return self.path / self.records[index].log

    def deprecations_path(self, index: int) -> Path:
        """The file for TensorFlow's deprecation warnings in a job."""
        return self.log_path(index).with_suffix(".deprecations.txt")

    def _check_no_logs(self) -> None:
        """A file with the name of a log is the user's, where no run has been: what a job writes would go behind it."""
        for index in range(len(self.records)):
            for path in (self.log_path(index), self.deprecations_path(index)):
                if os.path.lexists(path):
                    raise ScriptUsageError(
                        f"the folder {str(self.path)!r} holds no run, and a file {path.name!r}, to which a job writes",
                        next_step="Choose another folder for --out, or move that file away.",
                    )

    @property
    def claims(self) -> Path:
        """A hidden folder in which running jobs say which folders they write to. Gone after the run."""
        return self.path / ".claims"

    def close(self) -> None:
        """Frees the folder for another run. Idempotent."""
        if self._lock is not None:
            if self._is_locked(self._lock):
                files.remove_folder(self.claims)
            os.close(self._lock)
            self._lock = None
        if self.jobs_lock is not None:
            os.close(self.jobs_lock)
            self.jobs_lock = None

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _hold(self) -> None:
        """Make the folder again if a job has deleted it, and lock what is there now.

        Raises:
            OSError: It cannot be made, or another run has locked it since.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        before = self._lock
        if before is None or self._is_locked(before):
            return
        try:
            self._take_lock()
        except ScriptUsageError:
            raise BlockingIOError(errno.EWOULDBLOCK, "another run uses the folder now", str(self.path)) from None
        os.close(before)

    def _is_locked(self, lock: int) -> bool:
        """Whether the lock is on the folder that is there now."""
        try:
            return os.path.samestat(os.stat(self.path / _LOCK_FILE), os.fstat(lock))
        except OSError:
            return False

    def _take_lock(self) -> None:
        lock = self._open_lock(_LOCK_FILE)
        if not _locked_within(lock, 0.0):
            os.close(lock)
            raise ScriptUsageError(
                f"another run uses the folder {str(self.path)!r} now",
                next_step="Wait for it to end, or choose another folder.",
            )
        self._lock = lock
        jobs_lock = self._open_lock(_JOBS_LOCK_FILE)
        if not _locked_within(jobs_lock, _JOBS_SECS):
            os.close(jobs_lock)
            self.close()
            raise ScriptUsageError(
                f"jobs of a run in the folder {str(self.path)!r} that was killed have not ended in {_JOBS_SECS:g} s",
                next_step="Wait for them to end, or choose another folder.",
            )
        if self.jobs_lock is not None:
            os.close(self.jobs_lock)  # of a folder that was deleted; its jobs hold it
        self.jobs_lock = jobs_lock
        files.remove_folder(self.claims)  # of a run that was killed
        self.claims.mkdir(mode=0o700)  # in it names can be foreseen, which others could lay links under

    def _open_lock(self, name: str) -> int:
        return files.open_own(self.path / name, os.O_RDWR | os.O_CREAT)


def _locked_within(lock: int, secs: float) -> bool:
    """Lock a file, or wait as long as another process has it locked. False when the time is up."""
    until = time.monotonic() + secs
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            sleep(_LOOK_SECS)
        else:
            return True


def _not_written(path: str | os.PathLike[str], error: OSError, next_step: str) -> ScriptUsageError:
    what = f"cannot write the run folder {os.fspath(path)!r}: {error.strerror} ({error.filename})"
    return ScriptUsageError(what, next_step=limit_step(what) or next_step)


def read_records(path: str | os.PathLike[str]) -> list[JobRecord]:
    """The records of a run.

    Args:
        path: Its folder.

    Raises:
        ScriptUsageError: There is no ``jobs.json``, or it is not one that a run wrote.
    """
    file = Path(path) / RECORDS_FILE
    try:
        entries = json.loads(files.read_whole(file, _MOST_RECORDS))
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise ScriptUsageError(
            f"there is no run to resume in {str(path)!r}: {error.strerror} ({file})",
            next_step="Give the folder of a run, the one with jobs.json in it.",
        ) from None
    except OSError as error:
        raise _no_record(file, str(error.strerror)) from None
    except (ValueError, RecursionError) as error:
        raise _no_record(file, repr(error)) from None
    if not isinstance(entries, list) or not 0 < len(entries) <= MAX_JOBS:
        raise _no_record(file, f"it is no list of 1 to {MAX_JOBS:,} jobs")
    records = []
    for number, entry in enumerate(entries, 1):
        try:
            records.append(JobRecord.from_json(entry))
        except ValueError as error:
            raise _no_record(file, f"job {number}: {error}") from None
    return records


def _no_record(file: Path, why: str) -> ScriptUsageError:
    return ScriptUsageError(f"{str(file)!r} is not the record of a run: {why}")


def plan_resume(
    path: str | os.PathLike[str], jobs: Sequence[Job] | None, above: JobSettings = _NO_SETTINGS
) -> list[JobRecord]:
    """The records with which a run would be resumed; nothing is written.

    Args:
        path: The folder.
        jobs: What is asked for now; must be the same jobs, whose settings may differ. None: those of the folder.
        above: Settings that count above those of the folder's jobs.

    Raises:
        ScriptUsageError: There is no run in the folder, or its jobs are others.
    """
    records = read_records(path)
    if jobs is None:
        jobs = [record.job().under(above) for record in records]
    else:
        _refuse_other_jobs(Path(path), records, jobs)
    return [
        record if record.state == "done" else replace(JobRecord.of(job, record.log), attempts=record.attempts)
        for record, job in zip(records, jobs, strict=True)
    ]


def _refuse_other_jobs(path: Path, records: Sequence[JobRecord], jobs: Sequence[Job]) -> None:
    next_step = f"Give the same jobs, or none: --resume {path} alone continues that run."
    if len(records) != len(jobs):
        raise ScriptUsageError(
            f"the run in {str(path)!r} has {len(records)} jobs, and {len(jobs)} are given", next_step=next_step
        )
    for number, (record, job) in enumerate(zip(records, jobs, strict=True), 1):
        before, now = record.job().identity(), job.identity()
        for key in before:
            if before[key] != now[key]:
                raise ScriptUsageError(
                    f"job {number} of the run in {str(path)!r} is another one: {key} was {before[key]!r}, "
                    f"and is now {now[key]!r}",
                    next_step=next_step,
                )


def _new_folder(parent: Path) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
    number = 1
    while True:
        path = parent / (stamp if number == 1 else f"{stamp}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            number += 1
        else:
            return path


def _file_name(name: str) -> str:
    """``name`` as part of a file's name: short, and without what a shell or another system stumbles on."""
    clean = re.sub(r"[^\w.,=+-]+", "_", name).strip("_.") or "job"
    return clean.encode("utf-8", "replace")[:80].decode("utf-8", "ignore")
