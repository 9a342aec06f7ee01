"""Marks between a launch and its tasks: files in a hidden folder of the run, which goes with the run."""

from __future__ import annotations

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
        folder: Where the marks are; it must be there.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def set_server(self, task: str) -> None:
        """Say that a task has built its server; or, of TensorFlow 2, that it is about to."""
        (self._folder / f"server-{task}").touch()

    def has_server(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"server-{task}").exists()

    def wait_for_servers(self, tasks: Collection[str]) -> None:
        """Wait until that was said of all these tasks; or until the folder has gone, and with it the run."""
        while self._folder.exists() and not all(map(self.has_server, tasks)):
            time.sleep(_POLL_SECS)

    def set_joined(self, task: str) -> None:
        """Say that a task waits in ``server.join()``, which never ends."""
        (self._folder / f"joined-{task}").touch()

    def has_joined(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"joined-{task}").exists()

    def set_through(self, task: str) -> None:
        """Say that a task has done its part, and that only its server is still there."""
        (self._folder / f"through-{task}").touch()

    def set_last(self, task: str | None) -> None:
        """Say that of the tasks that train this is the last one at work; or that there are more again."""
        for other in self._folder.glob("last-*"):
            other.unlink(missing_ok=True)
        if task is not None:
            (self._folder / f"last-{task}").touch()

    def is_last(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"last-{task}").exists()

    def forget(self, task: str) -> None:
        """Take all back that was said of a task: it starts again."""
        for what in ("joined", "server", "through"):
            (self._folder / f"{what}-{task}").unlink(missing_ok=True)

    def is_through(self, task: str) -> bool:
        """Whether that was said."""
        return (self._folder / f"through-{task}").exists()

    def release(self) -> None:
        """Let all tasks that are through end."""
        (self._folder / "released").touch()

    def wait_for_release(self) -> None:
        """Wait until tasks that are through may end; or until the folder has gone, and with it the run."""
        while self._folder.exists() and not (self._folder / "released").exists():
            time.sleep(_POLL_SECS)
