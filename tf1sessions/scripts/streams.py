"""Output of jobs: of several jobs to their logs, of a single job to the caller's terminal and its log at once.

Flow: job -> pseudo-terminal or pipe -> one thread -> the caller's stdout or stderr, and the log.

The job sees on each stream what it would see if it were started by hand. Where the caller's stream is a terminal the
job gets a terminal of the same size, so that Python flushes each line and progress bars draw; else a pipe. Where the
caller's stdout and stderr are one file (a terminal, or ``2>&1``) the job has one too, and their order is kept.
Bytes are copied as they come. When the caller's stream takes no more (the reader behind ``| head`` is gone, a disk is
full, a terminal was closed), the job's stream is closed, and the job's next write to it fails, as it would have failed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import selectors
import termios
import threading
import tty
from dataclasses import dataclass
from typing import Any, TextIO

__all__ = ["Tee", "to_log"]

#: What a write says where there is no room for it.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class _LogFile(io.FileIO):
    """A log on a disk that may be full: what does not fit is lost, and the program goes on."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            return memoryview(data).nbytes


def to_log(stream: TextIO) -> io.TextIOWrapper:
    """Return a standard stream that writes a line at a time, and loses what the disk of its log has no room for."""
    raw = _LogFile(stream.fileno(), "w", closefd=False)
    raw.name = stream.name
    buffer: Any = raw if stream.write_through else io.BufferedWriter(raw)  # type: ignore[attr-defined]
    made = io.TextIOWrapper(
        buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        newline="\n",
        line_buffering=True,
        write_through=stream.write_through,  # type: ignore[attr-defined]
    )
    vars(made)["mode"] = stream.mode
    return made


@dataclass
class _CopiedStream:
    """One of the job's streams: the job writes to ``inner``, we read from ``outer`` and copy to ``target``."""

    outer: int
    inner: int
    target: int
    terminal: bool
    is_line_begun: bool = False  # what was copied last did not end a line

    def close(self) -> None:
        os.close(self.inner)
        os.close(self.outer)


class Tee:
    """Copies a job's stdout and stderr to the caller's, and both to the log.

    Make it, give :attr:`stdout` and :attr:`stderr` to the job, and call :meth:`finish` once, when the job is over. The
    methods may be called by different threads.

    Args:
        stdout: The caller's stream for what the job writes to its stdout.
        stderr: The same for stderr.
        log: File descriptor of the log, opened for appending. It stays the caller's.

    Attributes:
        stream_error: Why a stream of the caller took no more, unless its reader was gone; complete after
            :meth:`finish`.
    """

    def __init__(self, stdout: int, stderr: int, log: int) -> None:
        self._log = log
        self._log_error: OSError | None = None
        self.stream_error: OSError | None = None
        with contextlib.ExitStack() as on_failure:  # each takes descriptors, of which there may be too few
            out = _open_channel(stdout)
            on_failure.callback(out.close)
            err = out
            if not os.path.samestat(os.fstat(stdout), os.fstat(stderr)):
                err = _open_channel(stderr)
                on_failure.callback(err.close)
            self._selector = on_failure.enter_context(selectors.DefaultSelector())
            self._over, self._say_over = os.pipe()
            on_failure.pop_all()
        self.stdout, self.stderr = out.inner, err.inner
        self._channels = [out] if err is out else [out, err]
        self._err = err
        self._ended = threading.Event()
        self._copied = False
        self._lock = threading.Lock()  # held while descriptors of the job's side are used or closed
        self._thread = threading.Thread(target=self._pump, name="tf1sessions output", daemon=True)
        self.resize()
        self._thread.start()

    def resize(self) -> None:
        """Gives the job's terminals the size that the caller's have now."""
        with self._lock:
            for channel in self._channels:
                if channel.terminal and channel.inner >= 0:
                    with contextlib.suppress(OSError):  # the caller's terminal was closed
                        size = fcntl.ioctl(channel.target, termios.TIOCGWINSZ, bytes(8))
                        fcntl.ioctl(channel.inner, termios.TIOCSWINSZ, size)

    def take_begun_line(self) -> bool:
        """Return whether a line is begun on the caller's stderr, which the caller of this then ends."""
        is_begun, self._err.is_line_begun = self._err.is_line_begun, False
        return is_begun

    def finish(self) -> str | None:
        """Copies what the job left in its streams and ends the thread; the job must be over.

        Waits for the reader of the caller's streams (a stopped pager) until :meth:`give_up`.

        Returns:
            What was lost, or None.
        """
        with self._lock:
            for channel in self._channels:
                inner, channel.inner = channel.inner, -1
                os.close(inner)
        os.close(self._say_over)
        self._ended.wait()
        if not self._copied:
            return "the last of the output was not taken by the terminal"
        lost = []
        if self.stream_error is not None:
            lost.append(f"the output could not be written: {self.stream_error.strerror}")
        if self._log_error is not None:
            lost.append(f"the log is not complete: {self._log_error.strerror}")
        return "; ".join(lost) or None

    def give_up(self) -> None:
        """Lets :meth:`finish` return though the caller's stream takes nothing."""
        self._ended.set()

    def _pump(self) -> None:
        """The thread: copies until the job is over and nothing is left in its streams."""
        try:
            with self._selector as selector:
                self._copy_all(selector)
            self._copied = True
        finally:
            os.close(self._over)
            self._ended.set()

    def _copy_all(self, selector: selectors.BaseSelector) -> None:
        selector.register(self._over, selectors.EVENT_READ)
        for channel in self._channels:
            selector.register(channel.outer, selectors.EVENT_READ, channel)
        over = False
        while not over:
            for key, _ in selector.select():
                if key.data is None:
                    over = True
                elif self._copy(key.data) is False:
                    selector.unregister(key.fd)
                    os.close(key.fd)
        for key in list(selector.get_map().values()):
            if key.data is not None:
                while self._copy(key.data):
                    pass
                os.close(key.fd)

    def _copy(self, channel: _CopiedStream) -> bool | None:
        """Copies what there is now. None: nothing is there now; False: nothing more can come, or go."""
        try:
            data = os.read(channel.outer, 65536)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno != errno.EIO:  # what a pseudo-terminal says at its end
                raise
            return False
        if not data:
            return False
        if self._log_error is None:
            try:
                _write_all(self._log, data)
            except OSError as error:  # the disk is full: the job's own streams go on
                self._log_error = error
        try:
            _write_all(channel.target, data)
        except OSError as error:  # whatever it is, only the job can say what follows from it
            if not isinstance(error, BrokenPipeError):  # which a reader that has read enough causes
                self.stream_error = error
            return False
        channel.is_line_begun = not data.endswith(b"\n")
        return True


def _open_channel(target: int) -> _CopiedStream:
    terminal = os.isatty(target)
    if terminal:
        outer, inner = os.openpty()
        tty.setraw(inner)  # no "\n" to "\r\n" here: the caller's terminal does that, and the log must not have it
    else:
        outer, inner = os.pipe()
    os.set_blocking(outer, False)
    return _CopiedStream(outer, inner, target, terminal)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:  # another process made the caller's stream non-blocking
            with selectors.DefaultSelector() as selector:
                selector.register(fd, selectors.EVENT_WRITE)
                selector.select()
