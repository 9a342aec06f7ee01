"""A worker process of a ProcessSessionPool, as its pool sees it: its channel, how it ended, the end of its stderr.

::

    a thread of the pool ─▶ PoolWorker.send ═══ Channel ═══▶ process_worker.work, forked from the warm server
                         ◀─ PoolWorker.replies ═ Board, Channel ═╝
                    stderr ── a reader thread, which passes it on and keeps the end
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tf1sessions.errors import ClosedError, PeerGoneError, WorkError, WorkerStartError
from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.board import Board
from tf1sessions.pools.call_packing import Block, joined, read_plain
from tf1sessions.pools.fork_server import WorkerResult, WorkerServer, WorkerSpec
from tf1sessions.pools.process_worker import REPLY_HEAD, Reply, Setup, unpack_reply

__all__ = ["WORKER", "PoolWorker", "TimeUp", "WorkerEnd", "WorkerGone"]

WORKER = "tf1sessions.pools.process_worker"
"""The module that a worker runs."""

_STDERR_BYTES = 16384  # that are kept of what a worker wrote; arbitrary
_STDERR_LINES = 40  # of it that are told; the same
_NOISE = "Extension modules: "  # faulthandler's last line: kilobytes of names
_END_SECS = 5.0  # for a worker to end when its channel is closed; then it is killed; arbitrary
_REST_SECS = 60.0  # for a message to arrive when its beginning has; arbitrary
_LOOK_SECS = 1.0  # how often a thread that waits for a reply looks whether the worker is there; arbitrary


class WorkerGone(Exception):
    """A worker has ended."""


class TimeUp(Exception):
    """A reply did not come in time."""


@dataclass(frozen=True)
class WorkerEnd:
    """How a worker ended, and what it wrote last."""

    pid: int
    result: WorkerResult | WorkError
    stderr: str


class PoolWorker:
    """A worker process, its channel and board, and the end of its stderr.

    For one thread, except :meth:`kill`, and :meth:`stop` under its pool's lock.

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
                    name, f"{WORKER}:work", payload, environment, folder, theirs.fileno(), _stdout(stack), their_stderr
                )
                self._board = Board()
                on_failure.callback(self._board.close)
                stack.callback(self._board.close_file)
                socket.send_fds(ours, [b"b"], [self._board.fileno()])
                self._handle = server.spawn(spec)
                on_failure.pop_all()
        except OSError as error:  # too many open files
            raise WorkerStartError(f"No worker can be started: {error}", where=name) from error
        self._channel = Channel(ours, f"worker {name} (pid {self._handle.pid})")
        self._poll = select.poll()
        self._poll.register(self._channel, select.POLLIN)
        self._stderr = _Stderr(stderr, name)
        self._busy = False
        self.doomed = False  # it is killed, or will be: no job may be sent to it

    # -- for one thread --

    def set_up(self, setup: Setup, limit_secs: float | None) -> Reply:
        """Has it make what its jobs need.

        Raises:
            WorkerGone: The worker has ended.
            TimeUp: It was not ready in time.
        """
        deadline = None if limit_secs is None else time.monotonic() + limit_secs
        try:
            self._channel.send(setup)
        except Exception as error:  # noqa: BLE001 - whatever a foreign __reduce__ raises
            if self._channel.closed:
                raise WorkerGone from error
            return Reply(errors=(error,), place="pickle")
        while not self.wait(_LOOK_SECS if deadline is None else deadline - time.monotonic()):
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeUp
        try:
            return unpack_reply(*self._channel.recv_packed(_REST_SECS))
        except BaseException as error:  # noqa: BLE001 - whatever a foreign __setstate__ raises
            if self._channel.closed:
                raise WorkerGone from error
            return Reply(errors=(error,), place="result")

    @property
    def in_band(self) -> float:
        """Arrays with fewer bytes than this are to stay in the pickles of jobs."""
        return self._channel.in_band

    def prepare(self, count: int) -> None:
        """Gets ready for so many jobs; from now on :meth:`stop` is meant for them."""
        self._board.clear(count)

    def send(self, blocks: Sequence[Block]) -> None:
        """Sends the jobs.

        Raises:
            WorkerGone: The worker has ended.
            Exception: They cannot be sent, and were not.
        """
        self._busy = True
        self._stderr.forget()
        try:
            self._channel.send_packed(joined(blocks))
        except Exception as error:
            self._busy = False
            if self._channel.closed or isinstance(error, PeerGoneError):
                raise WorkerGone from error
            raise

    @property
    def busy(self) -> bool:
        """Whether it has jobs that it has not ended or refused."""
        return self._busy

    def replies(self, secs: float | None) -> list[tuple[int, Reply]]:
        """Waits for replies to the jobs; returns those that are there, by their numbers in the message.

        Args:
            secs: How long to wait until all jobs have ended; None where :meth:`wait` has told that there is something.

        Raises:
            WorkerGone: The worker has ended, and all its replies were returned.
        """
        found: list[tuple[int, Reply]] = []
        gone = False
        try:
            if secs is None or self.wait(secs):
                stream, buffers = self._channel.recv_packed(_REST_SECS)
                index, last, is_plain, took = REPLY_HEAD.unpack_from(stream)
                self._busy = not last
                if index >= 0:
                    reply = stream[REPLY_HEAD.size :]
                    found.append((index, _read_plain(reply, took) if is_plain else _read(reply, buffers)))
        except (WorkerGone, PeerGoneError, ClosedError, TimeoutError):
            gone = True
        posted = [
            (index, _read_plain(reply, took) if is_plain else _read(reply, ()))
            for index, is_plain, reply, took in self._board.replies()
        ]
        found = posted + found
        if gone and not found:
            raise WorkerGone
        return found

    @property
    def begun(self) -> int:
        """How many jobs of the message have begun; the last of them may have been refused."""
        return self._board.begun

    def wait(self, secs: float) -> bool:
        """Waits for a message or the worker's end, a while; False when there is none."""
        ended = self._handle.done()
        if self._poll.poll(1000 * max(0.0, min(secs, _LOOK_SECS))):
            return True
        if ended:  # and a fork of this process has the channel's other end open
            raise WorkerGone
        return False

    # -- for any thread --

    def hold(self, first: int) -> int:
        """Lets no job of the message begin from this one on. Returns how many had begun; see :class:`Board`."""
        return self._board.hold(first)

    def stop(self, index: int | None) -> bool:
        """Keeps a job from beginning. Returns whether it is too late for that, and the worker must be killed.

        Args:
            index: Of the job in the message; None while the worker is set up.
        """
        if index is not None:
            if self._board.hold(index + 1) > index + 1:
                return False  # it has ended, and another one has begun
            if self._board.hold(index) <= index:
                return False
        self.doomed = True
        return True

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
        self._board.close()
        return WorkerEnd(self._handle.pid, result, self._stderr.end())


def _read(stream: Any, buffers: Any) -> Reply:
    try:
        return unpack_reply(stream, buffers)
    except BaseException as error:  # noqa: BLE001 - whatever a foreign __setstate__ raises, sys.exit() too: here no job runs
        return Reply(errors=(error,), place="result")


def _read_plain(stream: Any, took: float) -> Reply:
    return Reply(read_plain(stream), seconds=took)


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
