"""Two running jobs that write checkpoints or summaries into one folder: a warning that names both.

Data flow: the jobs of a run share a folder for claims. Before a ``Saver`` or ``FileWriter`` writes,
:meth:`Claims.claim` puts a file there whose name is made of the target folder's real path and whose content is the
job's name and process id, and which is locked (``flock``) until the process ends, however it ends. A claim that
another job holds locked is in use.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import logging
import os
import threading
from collections.abc import Callable
from types import ModuleType
from typing import IO, Any

from ..files import open_own

__all__ = ["Claims", "apply"]

_log = logging.getLogger("tf1sessions")


class Claims:
    """The folders that this process writes to. Safe from any thread; a forked child does not share its parent's.

    Args:
        folder: Where the jobs of a run keep their claims; made if it is missing.
        job: This job's name, for the warning.
        mark: What the processes of this job, and of no other, have in common; one of them may write where another does.
    """

    def __init__(self, folder: str, job: str, mark: str) -> None:
        self.folder = folder
        self.job = job
        self.mark = mark
        self._pid = os.getpid()
        self._held: dict[str, IO[str] | None] = {}
        self._lock = threading.Lock()  # protects _held

    def claim(self, target: str) -> str | None:
        """Claim ``target`` for this job; the name of another running job that holds it, the first time it is met."""
        path = os.path.realpath(target)
        with self._lock:
            if path in self._held or os.getpid() != self._pid:
                return None
            self._held[path] = None
            try:
                return self._claim(path)
            except OSError:  # the run's folder is deleted or full: a warning less, and the program goes on
                return None

    def _claim(self, path: str) -> str | None:
        if not os.path.isdir(self.folder):
            os.mkdir(self.folder, 0o700)
        name = hashlib.sha256(os.fsencode(path)).hexdigest()
        handle = open_own(os.path.join(self.folder, name), os.O_RDWR | os.O_CREAT | os.O_APPEND)
        file = open(handle, "a+", encoding="utf-8")  # kept open: the lock lives with it
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with file:
                file.seek(0)
                mark, _, holder = file.read().strip().partition("\n")
            return None if mark == self.mark else holder or "another job"
        self._held[path] = file
        file.truncate(0)
        file.write(f"{self.mark}\n{self.job} (process {self._pid})\n")
        file.flush()
        return None


def apply(claims: Claims, face: ModuleType) -> None:
    """Claim the folders of every Saver and FileWriter of this process from now on. Once a process."""

    def warn(what: str, target: str) -> None:
        other = claims.claim(target)
        if other is not None:
            _log.warning(
                f"{claims.job} (process {os.getpid()}) writes {what} to {os.path.realpath(target)}, and so does "
                f"{other}, which is running. Give each job a folder of its own."
            )

    saver, writer = face.train.Saver, face.summary.FileWriter
    saver.save = _before(saver.save, "save_path", 2, lambda path: warn("checkpoints", os.path.dirname(path)))
    writer.__init__ = _before(writer.__init__, "logdir", 1, lambda path: warn("summaries", path))


def _before(original: Callable[..., Any], name: str, index: int, first: Callable[[str], None]) -> Callable[..., Any]:
    """``original``, and before it ``first`` with the path that is its argument ``name``, or at ``index``."""

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        path = args[index] if len(args) > index else kwargs.get(name)
        if isinstance(path, (str, os.PathLike)):
            first(os.fspath(path))
        return original(*args, **kwargs)

    return call
