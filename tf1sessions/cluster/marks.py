"""Marks between a launch and its tasks: files in a hidden folder of the run, which goes with the run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection
from pathlib import Path

__all__ = ["TASK_VARIABLE", "Marks"]

#: The variable of a task's environment with its name.
TASK_VARIABLE = "TF1SESSIONS_TASK"
_POLL_SECS = 0.1  # arbitrary: short beside the end of a process


class Marks:
    """Marks of the tasks that are through. Used by several processes.

    Args:
        folder: Where the marks are. A program may remove it, with its run folder: it is made again, and what this
            process has set is set again with its next mark, and while it waits.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._own: set[str] = set()  # what this process has set

    def repeat(self) -> None:
        """Set again what this process has set."""
        for name in sorted(self._own):
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / name).touch()

    def _set(self, name: str) -> None:
        self._own.add(name)
        self.repeat()

    def set_server(self, task: str) -> None:
        """Say that a task has built its server; or, of TensorFlow 2, that it is about to."""
        self._set(f"server-{task}")

    def has_server(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"server-{task}").exists()

    def wait_for_servers(self, tasks: Collection[str]) -> None:
        """Wait until that was said of all these tasks; or until the folder has gone, and with it the run."""
        while self._folder.exists() and not all(map(self.has_server, tasks)):
            time.sleep(_POLL_SECS)

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
            self._own.discard(other.name)
            other.unlink(missing_ok=True)
        if task is not None:
            self._set(f"last-{task}")

    def is_last(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"last-{task}").exists()

    def forget(self, task: str) -> None:
        """Take all back that was said of a task: it starts again."""
        for what in ("joined", "server", "through"):
            self._own.discard(f"{what}-{task}")
            (self._folder / f"{what}-{task}").unlink(missing_ok=True)

    def is_through(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"through-{task}").exists()

    def release(self) -> None:
        """Let all tasks that are through end."""
        self._set("released")

    def wait_for_release(self) -> None:
        """Wait until tasks that are through may end, and set again what this process has set if a task removes it."""
        while not (self._folder / "released").exists():
            with contextlib.suppress(OSError):  # removed in this moment, or the disk is full: at the next look, then
                self.repeat()
            time.sleep(_POLL_SECS)
