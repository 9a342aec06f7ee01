"""A worker process of a ProcessSessionPool, as its pool sees it: its channel, how it ended, the end of its stderr.

::

    a thread of the pool ─▶ PoolWorker.request ═ Channel ═▶ process_worker.work, forked from the warm server
                                  ▲
                    stderr ── a reader thread, which passes it on and keeps the end

Whether a message was read is told by the kernel: a socket whose other end closes it with something unread is reset.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import PeerGoneError, WorkError, WorkerStartError
from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.process_worker import Reply
from tf1sessions.pools.server import WorkerResult, WorkerServer, WorkerSpec

__all__ = ["WORKER", "PoolWorker", "TimeUp", "WorkerEnd", "WorkerGone"]

WORKER = "tf1sessions.pools.process_worker"
"""The module that a worker runs."""

_STDERR_BYTES = 16384  # that are kept of what a worker wrote; arbitrary
_STDERR_LINES = 40  # of it that are told; the same
_NOISE = "Extension modules: "  # faulthandler's last line: kilobytes of names
_END_SECS = 5.0  # for a worker to end when its channel is closed; then it is killed; arbitrary
_LOOK_SECS = 1.0  # how often a thread that waits for a reply looks whether the worker is there; arbitrary


class WorkerGone(Exception):
    """A worker has ended."""

    def __init__(self, begun: bool) -> None:
        super().__init__()
        self.begun = begun  # it had read what was sent to it


class TimeUp(Exception):
    """A reply did not come in time."""


@dataclass(frozen=True)
class WorkerEnd:
    """How a worker ended, and what it wrote last."""

    pid: int
    result: WorkerResult | WorkError
    stderr: str


class PoolWorker:
    """A worker process, its channel, and the end of its stderr. For one thread, except :meth:`kill`."""

    def __init__(
        self, server: WorkerServer, name: str, payload: Mapping[str, Any], environment: Mapping[str, str], folder: str
    ) -> None:
        try:
            with contextlib.ExitStack() as stack:
                ours, theirs = socket.socketpair()
                stack.callback(theirs.close)
                on_failure = stack.enter_context(contextlib.ExitStack())
                on_failure.callback(ours.close)
                stderr, their_stderr = os.pipe()
                stack.callback(os.close, their_stderr)
                on_failure.callback(os.close, stderr)
                spec = WorkerSpec(
                    name, f"{WORKER}:work", payload, environment, folder, theirs.fileno(), _stdout(stack), their_stderr
                )
                self._handle = server.spawn(spec)
                on_failure.pop_all()
        except OSError as error:  # too many open files
            raise WorkerStartError(f"No worker can be started: {error}", where=name) from error
        self._channel = Channel(ours, f"worker {name} (pid {self._handle.pid})")
        self._poll = select.poll()
        self._poll.register(self._channel, select.POLLIN)
        self._stderr = _Stderr(stderr, name)

    def request(self, message: Any, limit_secs: float | None) -> Reply:
        """Sends a message, and waits for the reply.

        Raises:
            WorkerGone: The worker has ended.
            TimeUp: The reply did not come in time.
        """
        deadline = None if limit_secs is None else time.monotonic() + limit_secs
        self._stderr.forget()
        try:
            self._channel.send(message)
        except Exception as error:  # noqa: BLE001 - whatever a foreign __reduce__ raises
            if self._channel.closed or isinstance(error, PeerGoneError):
                raise WorkerGone(begun=False) from error
            return Reply(errors=(error,), place="pickle")
        del message
        if self._wait(deadline) & select.POLLERR:
            raise WorkerGone(begun=False)
        try:
            parts = self._channel.recv(None if deadline is None else max(1.0, deadline - time.monotonic()))
        except Exception as error:  # noqa: BLE001 - whatever a foreign __setstate__ raises
            if self._channel.closed:
                raise WorkerGone(begun=True) from error
            if isinstance(error, TimeoutError) and deadline is not None and time.monotonic() > deadline:
                raise TimeUp from error
            return Reply(errors=(error,), place="result")
        return Reply(*parts)

    def _wait(self, deadline: float | None) -> int:
        """Waits for a message or the worker's end; returns what ``poll`` says of the channel."""
        while True:
            left = _LOOK_SECS if deadline is None else min(_LOOK_SECS, max(0.0, deadline - time.monotonic()))
            ended = self._handle.done()
            events = self._poll.poll(1000 * left)
            if events:
                return int(events[0][1])
            if ended:  # and a fork of this process has the channel's other end open
                raise WorkerGone(begun=True)
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeUp

    def memory_mb(self) -> float:
        """Its resident memory in MiB; 0.0 where the platform does not tell."""
        try:
            with open(f"/proc/{self._handle.pid}/statm", "rb") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        except OSError:
            return 0.0

    def kill(self) -> None:
        """Ends the process. From any thread."""
        self._handle.kill()

    def end(self, kill: bool = False) -> WorkerEnd:
        """Ends the process, and waits for it and all that it has started."""
        if kill:
            self._handle.kill()
        self._channel.close()
        result: WorkerResult | WorkError | None
        try:
            result = self._handle.wait(_END_SECS)
            if result is None:
                self._handle.kill()
                result = self._handle.wait()
        except WorkError as error:
            result = error
        assert result is not None
        return WorkerEnd(self._handle.pid, result, self._stderr.end())


class _Stderr:
    """Passes on what a worker writes to its stderr, and keeps the end of it."""

    def __init__(self, fd: int, name: str) -> None:
        self._fd = fd
        self._lock = threading.Lock()  # protects the bytes
        self._kept = b""
        self._thread = threading.Thread(target=self._read, name=f"{name}-stderr", daemon=True)
        self._thread.start()

    def forget(self) -> None:
        """What comes now belongs to the next job."""
        with self._lock:
            self._kept = b""

    def end(self) -> str:
        """The end of it, when the worker has ended."""
        self._thread.join(_END_SECS)  # longer only where a process has escaped
        with self._lock:
            lines = self._kept.decode(errors="replace").strip().splitlines()
        return "\n".join([line for line in lines if not line.startswith(_NOISE)][-_STDERR_LINES:])

    def _read(self) -> None:
        with open(self._fd, "rb", buffering=0) as pipe:
            while data := pipe.read(65536):
                with self._lock:
                    self._kept = (self._kept + data)[-_STDERR_BYTES:]
                with contextlib.suppress(OSError):  # this process's own stderr is closed
                    os.write(2, data)


def _stdout(stack: contextlib.ExitStack) -> int:
    """This process's stdout, or the null device where it has none."""
    try:
        os.fstat(1)
        return 1
    except OSError:
        return stack.enter_context(open(os.devnull, "wb")).fileno()
