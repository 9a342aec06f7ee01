"""A worker process of a ProcessSessionPool, as its pool sees it: its channel, its status page, the end of its stderr.

::

    the dispatcher ─▶ WorkerProxy.send() ═════════ Channel ════════▶ pool_worker_main.work(), a fork of the warm server
                   ◀─ receive(), posted() ═ SharedStatus, Channel ═╝
                                  stderr ── a reader thread, which passes it on and keeps the end
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import ClosedError, PeerGoneError, WorkError
from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.fork_server import WorkerResult, WorkerServer, WorkerSpec
from tf1sessions.pools.packing import Packed
from tf1sessions.pools.pool_worker_main import REPLY_HEAD, Reply, Setup, failure_here, unpack_reply
from tf1sessions.pools.resource_limits import start_error
from tf1sessions.pools.shared_status import SharedStatus
from tf1sessions.sessions.machine import resident_mb

__all__ = ["WorkerEnd", "WorkerGone", "WorkerProxy"]

_WORKER = "tf1sessions.pools.pool_worker_main"  # the module that a worker runs
_STDERR_BYTES = 16384  # that are kept of what a worker wrote; arbitrary
_STDERR_LINES = 40  # of it that an error shows; arbitrary
_NOISE = "Extension modules: "  # faulthandler's last line: kilobytes of names
_END_SECS = 5.0  # for a worker to end when its channel is closed; then it is killed; arbitrary


class WorkerGone(Exception):
    """A worker has ended."""


@dataclass(frozen=True)
class WorkerEnd:
    """The end of a worker, and the last lines that it wrote."""

    pid: int
    result: WorkerResult | WorkError
    stderr: str


class WorkerProxy:
    """A worker process, its channel and status page, and the end of its stderr.

    Starting and ending one, :meth:`send_setup`, and :meth:`send` for large messages may take long; nothing else waits.
    For one thread at a time, except :meth:`kill`.

    Raises:
        WorkerStartError: It cannot be started.
    """

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
                    name, f"{_WORKER}:work", payload, environment, folder, theirs.fileno(), _stdout(stack), their_stderr
                )
                self.status = SharedStatus()  # what it says about the jobs of a message
                on_failure.callback(self.status.close)
                stack.callback(self.status.close_file)
                socket.send_fds(ours, [b"b"], [self.status.fileno()])
                self._handle = server.spawn(spec)
                on_failure.pop_all()
        except (OSError, MemoryError) as error:  # an error of ours may be an OSError, too
            if isinstance(error, WorkError):
                raise
            raise start_error("No worker can be started", error, where=name) from error
        self._channel = Channel(ours, f"worker {name} (pid {self.pid})")
        try:
            self._stderr = _Stderr(stderr, name)
        except RuntimeError as error:  # the system has no more threads
            os.close(stderr)
            self._handle.kill()
            self._channel.close()
            self.status.close()
            raise start_error("No worker can be started", error, where=name) from error
        self._is_busy = False

    def fileno(self) -> int:
        """The descriptor that is readable when there is a message, or the worker has ended."""
        return self._channel.fileno()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._handle.pid

    @property
    def in_band(self) -> float:
        """Arrays with fewer bytes than this are to stay in the pickles of jobs."""
        return self._channel.in_band

    @property
    def is_busy(self) -> bool:
        """Whether it has jobs that it has not ended or refused."""
        return self._is_busy

    # -- setting it up --

    def send_setup(self, setup: Setup) -> Reply | None:
        """Have it make what its jobs need. Returns None, or a reply with the error if that cannot be pickled.

        Raises:
            WorkerGone: The worker has ended.
        """
        try:
            self._channel.send(setup)
        except Exception as error:  # noqa: BLE001 - whatever a foreign __reduce__ raises
            if self._channel.closed:
                raise WorkerGone from error
            return failure_here(error, "set up")
        return None

    def setup_reply(self) -> Reply | None:
        """The reply to the setup, None if it is not there as a whole.

        Raises:
            WorkerGone: The worker has ended.
        """
        message = self._receive()
        return None if message is None else _read(*message)

    # -- jobs --

    def send(self, packed: Packed) -> None:
        """Send the jobs of a message, for which :attr:`status` was cleared.

        Raises:
            WorkerGone: The worker has ended.
            Exception: They cannot be sent, and were not.
        """
        self._is_busy = True
        self._stderr.forget()
        try:
            self._channel.send_packed(packed)
        except Exception as error:
            self._is_busy = False
            if self._channel.closed or isinstance(error, PeerGoneError):
                raise WorkerGone from error
            raise

    def receive(self) -> list[tuple[int, Reply]]:
        """The replies that are there, by the numbers of their jobs in the message, when :meth:`fileno` is readable.

        Raises:
            WorkerGone: The worker has ended, and all its replies were returned.
        """
        found: list[tuple[int, Reply]] = []
        is_gone = False
        try:
            if (message := self._receive()) is not None:
                stream, buffers = message
                index, is_last, is_plain, secs = REPLY_HEAD.unpack_from(stream)
                self._is_busy = not is_last
                if index >= 0:
                    reply = stream[REPLY_HEAD.size :]
                    found.append(
                        (index, Reply(pickle.loads(reply), seconds=secs) if is_plain else _read(reply, buffers))
                    )
        except WorkerGone:
            is_gone = True
        found = self.posted() + found
        if is_gone and not found:
            raise WorkerGone
        return found

    def posted(self) -> list[tuple[int, Reply]]:
        """The replies on the status page that were not returned before."""
        return [
            (index, Reply(pickle.loads(reply), seconds=secs) if is_plain else _read(reply, ()))
            for index, is_plain, reply, secs in self.status.replies()
        ]

    # -- its end --

    def has_ended(self) -> bool:
        """Whether it has ended and there is nothing to receive: a fork of this process may have its channel's end."""
        return self._handle.done() and not self._channel.closed and not self._channel.poll()

    def memory_mb(self) -> float:
        """Its resident memory in MiB; 0.0 where the platform has no figure."""
        return resident_mb(self.pid)

    def kill(self) -> None:
        """End the process, and do not wait for it."""
        self._handle.kill()

    def end(self) -> WorkerEnd:
        """End the process, and wait for it and all that it has started."""
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
        self.status.close()
        return WorkerEnd(self.pid, result, self._stderr.end())

    def _receive(self) -> tuple[Any, Any] | None:
        """The next message; None if it is not there as a whole."""
        try:
            return self._channel.recv_packed(0.0)
        except TimeoutError:
            return None
        except (PeerGoneError, ClosedError) as error:
            raise WorkerGone from error


def _read(stream: Any, buffers: Any) -> Reply:
    try:
        return unpack_reply(stream, buffers)
    except BaseException as error:  # noqa: BLE001 - whatever a foreign __setstate__ raises, sys.exit() too: here no job runs
        return failure_here(error, "result")


class _Stderr:
    """Passes on what a worker writes to its stderr, and keeps the end of it."""

    def __init__(self, fd: int, name: str) -> None:
        self._fd = fd
        self._lock = threading.Lock()  # protects the bytes
        self._kept = b""
        self._thread = threading.Thread(target=self._read, name=f"{name}-stderr", daemon=True)
        self._thread.start()

    def forget(self) -> None:
        """Drop what came before: from now on a new message's jobs write."""
        with self._lock:
            self._kept = b""

    def end(self) -> str:
        """The last lines, when the worker has ended."""
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
