"""The user's fork servers: TensorFlow stays loaded for the next commands, and for pools of other programs.

Such a server has a socket in a folder that only the user can enter, and serves each process that calls with a fork of
itself (user_server_main.py), which then need not import TensorFlow. `tf1sessions warm start` starts one; with
``TF1SESSIONS_WARM=1`` in the environment it is started by what needs it first. There is one for each set of modules
that it preloads, each Python, and each copy of this package. Linux only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import struct
import sys
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

from tf1sessions.errors import UnsupportedEnvironmentError, UsageError, WorkerStartError
from tf1sessions.pools import messages
from tf1sessions.pools.boot import BOOT, PACKAGE_PARENT
from tf1sessions.pools.cold_starts import INSPECT
from tf1sessions.pools.job_processes import MARK, new_token, server_mark

__all__ = ["IDLE_SECS", "PRELOADS", "UserCall", "UserServer", "find", "folder", "named", "running"]

IDLE_SECS = 1800.0
"""How long a server stays that nothing uses. Arbitrary."""

PRELOADS = {
    "scripts": ("tf1sessions.scripts.program:preload",),
    "pools": ("tf1sessions.pools.pool_worker_main:preload_tf1",),
    "pools-tf2": ("tf1sessions.pools.pool_worker_main:preload_tf2",),
    "commands": ("tf1sessions.cli.warm_commands:preload",),
}
"""The functions that the servers preload, by the servers' names."""

_VARIABLE = "TF1SESSIONS_WARM"
_CALL_SECS = 10.0  # until a call is taken, and what is said with it, by the system mostly; arbitrary
_ANSWER_SECS = 10.0  # for a question that is answered at once, unless the server preloads; arbitrary
_SOCKET_SECS = 1.0  # between the lock that keeps others from starting and the socket, which takes no time; arbitrary
_POLL_SECS = 0.01


class UserServer(NamedTuple):
    """One of the user's servers; it need not be there yet."""

    name: str  # a key of PRELOADS
    path: Path  # that of its socket

    @property
    def log(self) -> Path:
        """The file with what it wrote."""
        return self.path.with_suffix(".log")

    def call(self, env: Mapping[str, str]) -> UserCall:
        """Ask for a fork that serves this process; start the server first where there is none.

        Args:
            env: The environment that the server must have, as far as that is read when TensorFlow is imported.

        Raises:
            OSError: The folder cannot be used.
            WorkerStartError: It does not start.
        """
        from tf1sessions.pools.surroundings import surroundings  # for Linux only

        connection, token = self._call() or self._start(env, IDLE_SECS), new_token()
        hello = {"do": "serve", "mark": server_mark(token, 0), "env": dict(env), "surroundings": surroundings()}
        with contextlib.suppress(OSError):  # it has ended, which the reader of this socket finds out
            messages.send(connection, hello)
        _limit_sending(connection, 0)
        return UserCall(self, token, connection)

    def start(self, env: Mapping[str, str], idle_secs: float = IDLE_SECS) -> bool:
        """Start it, which goes on in the background; nothing happens where it is there already.

        Returns:
            Whether it was not there.

        Raises:
            OSError: The folder cannot be used.
            WorkerStartError: It does not start.
        """
        connection = self._call()
        is_new = connection is None
        (connection or self._start(env, idle_secs)).close()
        return is_new

    def _start(self, env: Mapping[str, str], idle_secs: float) -> socket.socket:
        import subprocess  # here: where a server is there, a command calls it sooner

        folder(make=True)
        arguments = [PACKAGE_PARENT, "stay", str(self.path), str(idle_secs), *PRELOADS[self.name]]
        with open(self.log, "ab", opener=lambda path, flags: os.open(path, flags, 0o600)) as log:
            # Its first process ends when the socket is there, or when another one has begun to make it.
            done = subprocess.run(
                [sys.executable, "-c", BOOT, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=dict(env) | {MARK: server_mark("0" * 16, 0), INSPECT: ""},
                start_new_session=True,
            )
        if done.returncode:
            raise WorkerStartError(f"The warm server ended with code {done.returncode}", where=str(self.log))
        deadline = time.monotonic() + _SOCKET_SECS
        while (connection := self._call()) is None:
            if time.monotonic() > deadline:
                raise WorkerStartError("The warm server ended when it was started", where=str(self.log))
            sleep(_POLL_SECS)
        return connection

    def ask(self, what: str) -> dict[str, Any] | None:
        """Ask for its ``"status"``, or to ``"stop"``; the answer is its status. None where there is no server.

        Raises:
            TimeoutError: It does not answer in 10 seconds; it may still be loading.
            UnsupportedEnvironmentError: Its answer is none: another process has its socket.
        """
        connection = self._call()
        if connection is None:
            return None
        with connection:
            connection.settimeout(_ANSWER_SECS)
            messages.send(connection, {"do": what})
            try:
                answer, _ = messages.receive(connection)
            except ValueError as error:
                raise UnsupportedEnvironmentError(
                    f"What answers is no warm server: {error}", where=str(self.path), next_step="Remove this socket."
                ) from error
        return answer

    def _call(self) -> socket.socket | None:
        connection = socket.socket(socket.AF_UNIX)
        _limit_sending(connection, _CALL_SECS)
        try:
            with messages.socket_address(self.path) as address:
                connection.connect(address)
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            return None
        except BlockingIOError as error:
            connection.close()
            raise TimeoutError(f"the process at {self.path} takes no calls") from error
        except BaseException:
            connection.close()
            raise
        pid, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user != os.geteuid():
            connection.close()
            raise PermissionError(f"the process {pid} at {self.path} is the user {user}'s")
        with contextlib.suppress(OSError):  # should it have been stopped, it would never answer
            os.kill(pid, signal.SIGCONT)
        return connection


class UserCall(NamedTuple):
    """A server that was called, and its answer when it can give one.

    Attributes:
        token: The identity of its fork.
        control: The socket on which the fork, or the server in its place, answers.
    """

    server: UserServer
    token: str
    control: socket.socket


def find(preload: Sequence[str]) -> UserServer | None:
    """Return the server that a process may use for what it wants to preload, where the user wishes one.

    That is so with ``TF1SESSIONS_WARM=1``, and as long as one of the user's servers is there, unless
    ``TF1SESSIONS_WARM=0`` says otherwise. The server itself may have to be started, which is done by its first use; not
    by a job, with which it would end.

    Raises:
        UsageError: ``TF1SESSIONS_WARM`` has another value.
        OSError: The user wishes one, and the folder cannot be used.
    """
    choice = os.environ.get(_VARIABLE, "")
    if choice not in ("", "0", "1"):
        raise UsageError(
            f"{_VARIABLE} is {choice!r}", where="the environment", next_step="Set it to 1 or to 0, or leave it out."
        )
    name = next((name for name, preloads in PRELOADS.items() if preloads == tuple(preload)), None)
    if name is None or choice == "0" or (not choice and not _sockets()):
        return None
    server = named(name)
    return None if MARK in os.environ and not server.path.exists() else server


def named(name: str) -> UserServer:
    """Return the user's server with this name, which need not be there.

    Raises:
        OSError: The folder cannot be used.
    """
    parts = (sys.executable, sys.version, PACKAGE_PARENT)
    which = "".join(f"{zlib.crc32(os.fsencode(part)):08x}" for part in parts)
    return UserServer(name, folder() / f"{name}-{which}.sock")


def folder(make: bool = False) -> Path:
    """Return the folder of the user's servers.

    Raises:
        UnsupportedEnvironmentError: This is not Linux.
        OSError: It is not a folder that only the user can enter, or cannot be made.
    """
    if not sys.platform.startswith("linux"):
        raise UnsupportedEnvironmentError(
            f"There are no warm servers on {sys.platform}", next_step="Leave TF1SESSIONS_WARM out."
        )
    base = os.environ.get("XDG_RUNTIME_DIR")
    path = Path(base, "tf1sessions") if base else Path(_temporary_folder(), f"tf1sessions-{os.geteuid()}")
    where = f"XDG_RUNTIME_DIR is {base!r}" if base else "it is in the folder for temporary files"
    step = f"Set XDG_RUNTIME_DIR to a folder of yours{', or leave it out.' if base else '.'}"
    if not path.is_absolute():  # each folder would have servers of its own
        raise NotADirectoryError(f"{path} is not an absolute path ({where}). {step}")
    try:
        if make:
            path.mkdir(mode=0o700, exist_ok=True)
        state = os.lstat(path)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not make:
            return path
        raise type(error)(f"{path} cannot be used: {error.strerror} ({where}). {step}") from error
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & 0o077:
        raise PermissionError(f"{path} is not a folder that only you can enter ({where}). Remove it; or: {step}")
    return path


def _limit_sending(connection: socket.socket, secs: float) -> None:
    """Let a call, and what is sent, wait no longer than this for the other side; 0 is no limit."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(secs), int(secs % 1 * 1e6)))


def _temporary_folder() -> str:
    import tempfile  # here: where there is another, a command calls its server sooner

    return tempfile.gettempdir()


def _sockets() -> list[Path]:
    try:
        return sorted(folder().glob("*.sock"))
    except OSError:  # another user's folder: none of ours
        return []


def running() -> dict[UserServer, dict[str, Any] | None]:
    """Return the user's servers that are there, and their status; None for one that does not answer yet.

    Raises:
        UnsupportedEnvironmentError: The folder cannot be used.
    """
    try:
        paths = sorted(folder().glob("*.sock"))
    except OSError as error:
        raise UnsupportedEnvironmentError(f"There can be no warm servers: {error}") from error
    found: dict[UserServer, dict[str, Any] | None] = {}
    for path in paths:
        server = UserServer(path.name.rpartition("-")[0], path)
        try:
            status = server.ask("status")
        except TimeoutError:
            found[server] = None
        else:
            if status is not None:
                found[server] = status
    return found
