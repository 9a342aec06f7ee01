"""A worker as the process sees it that started it: what it is to do, and how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from tf1sessions.errors import WorkerDiedError, WorkerStartError

__all__ = [
    "Link",
    "WorkerHandle",
    "WorkerResult",
    "WorkerSpec",
    "signal_name_of",
    "standard_fds",
]


class Link(Protocol):
    """A maker of workers, which reaches them by their numbers."""

    def signal(self, number: int, signum: int) -> None: ...

    def pass_on(self, number: int, signum: int) -> None: ...

    def kill(self, number: int) -> None: ...


class WorkerSpec(NamedTuple):
    """The task of a worker, with its environment, folder and streams.

    Attributes:
        name: For messages.
        target: ``"package.module:function"``; called as ``function(payload)``, its return value (an int or None) is the
            exit code.
        payload: Anything that JSON can carry. The key ``"path0"``, where it is there, names a folder that the target
            will put first on ``sys.path``.
        env: The complete environment. The variable ``TF1SESSIONS_JOB`` is added to it.
        cwd: The working directory.
        stdin: A file descriptor, which stays the caller's; None is the null device.
        stdout: The same.
        stderr: The same.
        held: A file descriptor that the server keeps open until the worker and all that it started have ended, also
            where the caller was killed; the worker does not get it. A lock on it is held so long.
    """

    name: str
    target: str
    payload: Mapping[str, Any]
    env: Mapping[str, str]
    cwd: str
    stdin: int | None
    stdout: int
    stderr: int
    held: int | None = None


class WorkerResult(NamedTuple):
    """The end of a worker.

    Attributes:
        returncode: As :mod:`subprocess` has it: negative when a signal killed it.
        signal_name: Such as ``"SIGKILL"``, or None.
        seconds: From the fork to the end of the worker's main process.
        peak_memory_mb: The most resident memory (MiB) that the main process, or any one process that it waited for, had
            at a time. A fork of a server with TensorFlow starts at what the server has, which it shares: about 200 to
            300. 0.0 where the platform has no figure.
        started: False when it died before its target was called, twice unless it was asked to end.
        leftovers: ``"pid command"`` of the processes that were still there after it, and were ended.
        start_error: The traceback of why it did not start, where that is known.
        signalled: Whether :meth:`WorkerHandle.signal` was called before its target had returned, or
            :meth:`WorkerHandle.kill` before its main process had ended: else it ended by itself.
    """

    returncode: int
    signal_name: str | None
    seconds: float
    peak_memory_mb: float
    started: bool
    leftovers: tuple[str, ...]
    start_error: str = ""
    signalled: bool = False


class WorkerHandle:
    """A worker that was started. It is safe to call its methods simultaneously from multiple threads."""

    def __init__(self, name: str, number: int, link: Link) -> None:
        self.name = name
        self.pid = 0
        self.cold_reasons: tuple[str, ...] = ()
        self._number = number
        self._link = link
        self._accepted = threading.Event()  # set once it has a pid, or has ended, or was refused
        self._ended = threading.Event()  # set after one of the two below; they never change again
        self._result: WorkerResult | None = None
        self._error: WorkerDiedError | WorkerStartError | None = None

    def __repr__(self) -> str:
        state = "ended" if self.done() else "running"
        return f"<WorkerHandle {self.name!r} pid {self.pid}, {state}>"

    def wait(self, timeout: float | None = None) -> WorkerResult | None:
        """Wait until the worker and everything that it started have ended.

        Args:
            timeout: Seconds; None waits for ever.

        Returns:
            The result, or None when the time is up.

        Raises:
            WorkerDiedError: The server itself was killed, and its workers with it.
            WorkerStartError: It had not started at first, and no process could be made to try again.
        """
        if not self._ended.wait(timeout):
            return None
        if self._error is not None:
            raise self._error
        return self._result

    def done(self) -> bool:
        """Whether :meth:`wait` would return, or raise, at once."""
        return self._ended.is_set()

    def signal(self, signum: int) -> None:
        """Send a signal to the worker's process group; nothing happens once its target has returned."""
        if not self.done():
            self._link.signal(self._number, int(signum))

    def pass_on(self, signum: int) -> None:
        """Send a signal to the worker's main process alone, which is the worker's own matter and no call to end."""
        if not self.done():
            self._link.pass_on(self._number, int(signum))

    def kill(self) -> None:
        """Send SIGKILL to the worker and everything that it started; nothing happens when it has ended."""
        if not self.done():
            self._link.kill(self._number)

    def _end(self, result: WorkerResult | None, error: WorkerDiedError | WorkerStartError | None = None) -> None:
        self._result, self._error = result, error
        for event in (self._ended, self._accepted):
            event.set()


@contextlib.contextmanager
def standard_fds(spec: WorkerSpec) -> Iterator[list[int]]:
    """The three descriptors of a worker; the null device is open as long as this lasts."""
    if spec.stdin is not None:
        yield [spec.stdin, spec.stdout, spec.stderr]
        return
    with open(os.devnull, "rb") as null:
        yield [null.fileno(), spec.stdout, spec.stderr]


def signal_name_of(returncode: int) -> str | None:
    if returncode >= 0:
        return None
    try:
        return signal.Signals(-returncode).name
    except ValueError:  # a real-time signal
        return f"signal {-returncode}"
