"""The main program of a user's server, which stays for later commands. Standard library only.

Data flow::

    a command (user_servers.py)          this process                      a fork of it
    connect ──hello: mark, env,────────▶ UserServerProcess.serve()
              surroundings                 ├─ does it fit? no ───────────▶ "turned away", with the reasons
                                           └─ fork ──────────────────────▶ returns a Caller: it serves this command
    ◀───────────────────────────────────────────────────── "ready" ─────── as a server of its own would
    status, stop ──────────────────────▶ answered here

A fork is a fork server in the command's own surroundings (limits, umask, priority, processors), and ends with it. This
process runs no program and keeps nothing of one. It ends when it has had no caller for a while, when a new interpreter
would load other files (loaded_files.py), or its socket is removed. Callers that it has then are served to their end.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import os
import selectors
import signal
import socket
import struct
import sys
import time
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tf1sessions.pools.cold_starts import cold_start_reasons, given_environment
from tf1sessions.pools.job_processes import MARK
from tf1sessions.pools.loaded_files import LoadedFiles
from tf1sessions.pools.messages import receive, send, socket_address
from tf1sessions.pools.surroundings import ignore_signals, surroundings, take_over
from tf1sessions.pools.written_pages import written_pages

__all__ = ["Caller", "UserServerProcess"]

_HELLO_SECS = 5.0  # how long a caller may take to say what it wants; arbitrary
_LOOK_SECS = 30.0  # how often it looks whether its socket is still there
_HANDLED = (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Caller(NamedTuple):
    """The process that a fork of this one serves.

    Attributes:
        control: The socket to it.
        pid: Its id.
        written: The memory that its jobs will write to, see written_pages.py.
    """

    control: socket.socket
    pid: int
    written: array[int]


# -- the process ------------------------------------------------------------------------------------------------------


class UserServerProcess:
    """This process, as a server of the user's. Attention: it has one thread.

    Args:
        path: Of its socket. Beside it, ``path.lock`` is locked as long as it takes callers.
        idle_secs: How long it stays without a caller.
    """

    def __init__(self, path: str, idle_secs: float) -> None:
        self._path = path
        self._idle_secs = idle_secs
        self._environment = given_environment()
        self._surroundings = surroundings()
        self._files: LoadedFiles | None = None
        self._written = array("Q")
        self._began = time.time()
        self._used = time.monotonic()
        self._callers = 0
        self._forks: set[int] = set()
        self._ignored: frozenset[int] = frozenset()  # in a caller's fork, the signals that the caller ignores
        self._stopping = False
        self._itself = self  # a circle that is frozen: to free the list of files in a fork would copy its pages

    def serve(self, preload: Callable[[], Sequence[Callable[[], None]]]) -> Caller | None:
        """Leave the process that started this one, preload, and take callers.

        Args:
            preload: Loads the modules, and returns functions that do what jobs will do (see written_pages.py).

        Returns:
            None when it is over, and in each fork the caller that it is to serve.
        """
        self._lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another one was quicker
            return None
        os.ftruncate(1, 0)  # the log
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)  # of one that was killed
        self._listener = socket.socket(socket.AF_UNIX)
        with socket_address(self._path) as address:
            self._listener.bind(address)
        self._listener.listen(128)
        if os.fork():  # the lock and the socket are the child's
            os._exit(0)
        self._listener.listen(128)  # from now on it is this process that callers see behind the socket
        self._inode = os.stat(self._path).st_ino
        try:
            rehearsals = preload()
            os.chdir("/")  # the folder that it was started in may be removed
            return self._take_callers(rehearsals)
        finally:
            if self._listener.fileno() >= 0:
                self._leave()

    def _leave(self) -> None:
        """Take no more callers; the next server may start."""
        if self._has_socket():
            os.unlink(self._path)
        self._listener.close()
        os.close(self._lock)

    def _has_socket(self) -> bool:
        try:
            return os.stat(self._path).st_ino == self._inode
        except OSError:
            return False

    def _take_callers(self, rehearsals: Sequence[Callable[[], None]]) -> Caller | None:
        self._files = LoadedFiles.now()
        gc.collect()
        gc.freeze()
        _use_large_pages()
        self._written = written_pages(rehearsals)
        wake_in, wake_out = socket.socketpair()
        wake_in.setblocking(False)
        wake_out.setblocking(False)
        signal.set_wakeup_fd(wake_out.fileno(), warn_on_full_buffer=False)
        handlers = {signum: signal.signal(signum, self._on_signal) for signum in _HANDLED}
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(wake_in, selectors.EVENT_READ)
            self._used = time.monotonic()
            while not self._stopping and self._has_socket():
                idle = time.monotonic() - self._used
                if idle >= self._idle_secs and not self._forks:
                    break
                for key, _ in selector.select(min(_LOOK_SECS, max(0.01, self._idle_secs - idle))):
                    if key.fileobj is wake_in:
                        wake_in.recv(4096)
                        self._look_after_forks()
                        continue
                    connection, _ = self._listener.accept()
                    caller = self._answer(connection)
                    if caller is not None:
                        self._become_fork(handlers, (self._listener, wake_in, wake_out))
                        ignore_signals(self._ignored)
                        return caller
                    connection.close()
        return None

    def _become_fork(self, handlers: Mapping[signal.Signals, Any], sockets: Iterable[socket.socket]) -> None:
        """Undo in a caller's fork what is the server's: its signals, its sockets, its lock."""
        for signum, handler in handlers.items():
            signal.signal(signum, handler)
        signal.set_wakeup_fd(-1)
        for end in sockets:
            end.close()
        os.close(self._lock)

    def _on_signal(self, signum: int, frame: object) -> None:
        self._stopping = self._stopping or signum in (signal.SIGTERM, signal.SIGHUP)

    def _look_after_forks(self) -> None:
        """Reap the forks that have ended, and continue those that one of their jobs has stopped."""
        with contextlib.suppress(ChildProcessError):
            while state := os.waitid(os.P_ALL, 0, os.WEXITED | os.WSTOPPED | os.WNOHANG):
                if state.si_code == os.CLD_STOPPED:
                    os.kill(state.si_pid, signal.SIGCONT)
                else:
                    self._forks.discard(state.si_pid)
                    self._used = time.monotonic()

    def _answer(self, connection: socket.socket) -> Caller | None:
        """Answer a caller; in the fork that serves it, return it."""
        pid, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user != os.geteuid():
            return None
        try:
            connection.settimeout(_HELLO_SECS)
            hello, _ = receive(connection)
            connection.settimeout(None)
        except (OSError, ValueError):  # it is gone, or is not one of ours
            return None
        match hello:
            case {"do": "status"}:
                self._reply(connection, self._status())
            case {"do": "stop"}:
                self._leave()
                self._reply(connection, self._status())
                self._stopping = True
            case {"do": "serve", "mark": mark, "env": env, "surroundings": theirs}:
                self._used = time.monotonic()
                if self._files and (changed := self._files.changed()):
                    self._leave()
                    self._turn_away(connection, [f"{changed} has changed since it started"], replaced=True)
                    self._stopping = True
                    return None
                cold = cold_start_reasons(self._environment, env, (), None)
                reasons = [*cold, *(each for each in self._differences(theirs["same"]) if each not in cold)]
                if reasons:
                    self._turn_away(connection, reasons)
                elif self._fork(connection):
                    return self._serve_here(connection, pid, mark, theirs)
        return None

    def _differences(self, theirs: Mapping[str, Any]) -> list[str]:
        ours = self._surroundings["same"]
        return [f"{name} differs" for name in sorted(ours | theirs) if ours.get(name) != theirs.get(name)]

    def _fork(self, connection: socket.socket) -> bool:
        """Fork; True in the child."""
        try:
            pid = os.fork()
        except OSError as error:
            self._turn_away(connection, [f"it cannot fork: {error}"])
            return False
        if pid:
            self._forks.add(pid)
            self._callers += 1
        return pid == 0

    def _serve_here(self, connection: socket.socket, pid: int, mark: str, theirs: Mapping[str, Any]) -> Caller:
        os.setsid()
        if reasons := take_over(theirs):
            self._turn_away(connection, reasons)
            os._exit(0)
        # The kernel shows a process's first environment block in /proc/<pid>/environ.
        libc = ctypes.CDLL(None)
        libc.getenv.restype = ctypes.c_void_p
        ctypes.memmove(libc.getenv(MARK.encode()), mark.encode(), len(mark))
        self._ignored = frozenset(theirs["ignored"])
        return Caller(connection, pid, self._written)

    def _turn_away(self, connection: socket.socket, reasons: list[str], replaced: bool = False) -> None:
        self._reply(connection, {"event": "turned away", "reasons": reasons, "replaced": replaced})

    @staticmethod
    def _reply(connection: socket.socket, message: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the caller is gone
            send(connection, message)

    def _status(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "python": sys.executable,
            "began": self._began,
            "callers": self._callers,
            "running": len(self._forks),
            "idle_secs": self._idle_secs,
            "unused_secs": 0.0 if self._forks else time.monotonic() - self._used,
        }


_MADV_COLLAPSE = 25  # linux/mman.h, since Linux 6.1


def _use_large_pages() -> None:
    """Have the memory of this process in pages of 2 MB, where Linux can and no file is in it.

    A fork copies the table of pages, which is shorter then. Where it writes, it copies 4 kB, as ever.
    """
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    with open("/proc/self/maps") as file:
        regions = [line.split(None, 5) for line in file]
    for region in regions:
        if region[1] == "rw-p" and region[4] == "0":  # no file
            begin, end = (int(word, 16) for word in region[0].split("-"))
            madvise(begin, end - begin, _MADV_COLLAPSE)
