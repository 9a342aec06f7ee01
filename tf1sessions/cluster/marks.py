"""Marks between a launch and its tasks: files in a hidden folder of the run, which goes with the run."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Collection
from pathlib import Path
from time import sleep

__all__ = ["TASK_VARIABLE", "Marks"]

#: The variable of a task's environment with its name.
TASK_VARIABLE = "TF1SESSIONS_TASK"
_POLL_SECS = 0.1  # arbitrary: short beside the end of a process
_MOST_FAILURES = 50  # looks in which marks could not be set; arbitrary, some seconds
_log = logging.getLogger("tf1sessions")


class Marks:
    """Marks of the tasks that are through. Used by several processes.

    Args:
        folder: Where the marks are. A program may remove it, with its run folder: it is made again, and what this
            process has set is set again with its next mark, and while it waits. A warning says where that cannot be.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._own: set[str] = set()  # what this process has set
        self._is_failing = False

    def repeat(self) -> bool:
        """Set again what this process has set; says whether it could."""
        try:
            for name in sorted(self._own):
                self._folder.mkdir(parents=True, exist_ok=True)
                (self._folder / name).touch()
        except OSError as error:
            if not self._is_failing:
                _log.warning("marks for the other tasks cannot be set: %s", error)
            self._is_failing = True
            return False
        self._is_failing = False
        return True

    def _set(self, name: str) -> None:
        self._own.add(name)
        self.repeat()

    def _remove(self, name: str) -> None:
        self._own.discard(name)
        with contextlib.suppress(NotADirectoryError):  # there is no such mark then
            (self._folder / name).unlink(missing_ok=True)

    def set_server(self, task: str) -> None:
        """Say that a task has built its server; or, of TensorFlow 2, that it is about to."""
        self._set(f"server-{task}")

    def has_server(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"server-{task}").exists()

    def wait_for_servers(self, tasks: Collection[str]) -> None:
        """Wait until that was said of all these tasks; or until the folder has gone, and with it the run."""
        while self._folder.exists() and not all(map(self.has_server, tasks)):
            sleep(_POLL_SECS)

    def set_joined(self, task: str) -> None:
        """Say that a task waits in ``server.join()``, which never ends."""
        self._set(f"joined-{task}")

    def has_joined(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"joined-{task}").exists()

    def set_through(self, task: str) -> None:
        """Say that a task has done its part, and that only its server is still there."""
        self._set(f"through-{task}")

    def set_last(self, task: str | None) -> None:
        """Say that of the tasks that train this is the last one at work; or that there are more again."""
        for other in self._folder.glob("last-*"):
            self._remove(other.name)
        if task is not None:
            self._set(f"last-{task}")

    def is_last(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"last-{task}").exists()

    def forget(self, task: str) -> None:
        """Take all back that was said of a task: it starts again."""
        for what in ("joined", "server", "through"):
            self._remove(f"{what}-{task}")

    def is_through(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"through-{task}").exists()

    def release(self) -> None:
        """Let all tasks that are through end."""
        self._set("released")

    def wait_for_release(self) -> None:
        """Wait until tasks that are through may end, and set again what this process has set if a task removes it.

        A process whose marks cannot be set does not wait for long: no other knows that it does.
        """
        failures = 0
        while failures < _MOST_FAILURES and not (self._folder / "released").exists():
            failures = 0 if self.repeat() else failures + 1
            sleep(_POLL_SECS)
