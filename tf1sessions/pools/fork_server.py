"""Worker processes, made from a server that has imported what they need. The caller's side; no TensorFlow is imported.

A :class:`WorkerServer` starts one process of ours (fork_server_main.py describes what happens there) and asks it for
workers: a fork takes milliseconds where an interpreter that imports TensorFlow takes seconds. A worker that needs
another hash seed, library path or the like than the server was started with is made in a fresh interpreter instead
("cold"), and says why. This process's main module is never executed again.

Data flow::

    any thread: spawn() ──▶ _ForkLink ── unix socket, file descriptors ──▶ the server's process ──▶ workers
                              ▲   one reader thread per server ◀── forked, ended, end of file
                              │   one thread that continues the server when a job has stopped it
    any thread: wait() ◀── WorkerHandle

Where the user keeps a server warm (user_servers.py), a fork of that is the server's process: :class:`_UserLink`.
With method ``"spawn"``, which is that of platforms other than Linux, the server preloads nothing, and every worker is a
fresh interpreter.
"""

from __future__ import annotations

import abc
import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal

from tf1sessions.errors import ClosedError, UnsupportedEnvironmentError, UsageError, WorkerDiedError, WorkerStartError
from tf1sessions.pools import job_processes, messages, user_servers
from tf1sessions.pools.boot import BOOT, PACKAGE_PARENT
from tf1sessions.pools.cold_starts import INSPECT
from tf1sessions.pools.job_processes import MARK, new_token, server_mark
from tf1sessions.pools.resource_limits import limit_step, start_error
from tf1sessions.pools.user_servers import UserCall
from tf1sessions.pools.workers import (
    WorkerHandle,
    WorkerResult,
    WorkerSpec,
    signal_name_of,
    standard_fds,
)

__all__ = ["WorkerHandle", "WorkerResult", "WorkerServer", "WorkerSpec"]

_START_SECS = 300.0  # for the server to import what it preloads, on a slow shared disk too; arbitrary
_ANSWER_SECS = 60.0  # for the first answer of a user's server, which may be loading; to import all here takes less
_CLOSE_SECS = 15.0  # for the server to end its workers, which takes it at most about 11; then it is killed


_log = logging.getLogger("tf1sessions")


class WorkerServer:
    """Makes worker processes: warm forks of one process, or fresh interpreters.

    It is safe to call its methods simultaneously from multiple threads. Use it in ``with``; nothing outlives it. When
    this process ends, in whatever way, the server and its workers end too. When the server is killed, its workers end,
    their handles raise :class:`~tf1sessions.errors.WorkerDiedError`, and the next :meth:`spawn` starts a new server.

    Args:
        preload: Names of functions, ``"package.module:function"``, that are called once in the server, so
            that its forks have what they imported; a cold worker imports its target only. Nothing in them may make a
            session, run an eager operation or touch a GPU: a fork after that hangs.
        env: The server's complete environment; None is a copy of this process's.
        method: ``"fork"`` (Linux), or ``"spawn"`` for fresh interpreters; None takes the first where it is available.
        users: Whether a server of the user's (user_servers.py), which is warm already, may be used instead of one that
            ends with this process. Where it does not fit, the reason is noted.
        call: Such a server that was called already, with the same environment.

    Attributes:
        on_note: Called, from any thread, with what the user should know: that the server was stopped, and continued.
            By default it is logged.

    Example:
        >>> with WorkerServer(preload=()) as server:
        ...     spec = WorkerSpec("count", "builtins:len", {"a": 1, "b": 2}, os.environ, "/", None, 1, 2)
        ...     result = server.spawn(spec).wait(60)
        >>> result.returncode
        2
    """

    def __init__(
        self,
        preload: Sequence[str],
        env: Mapping[str, str] | None = None,
        *,
        method: Literal["fork", "spawn"] | None = None,
        users: bool = False,
        call: UserCall | None = None,
    ) -> None:
        can_fork = sys.platform.startswith("linux") and hasattr(os, "fork")
        if method not in (None, "fork", "spawn"):
            raise UsageError(f"method is {method!r}", next_step='Give "fork", "spawn" or None.')
        if method == "fork" and not can_fork:
            raise UnsupportedEnvironmentError(
                f'Worker processes cannot be made with method="fork" on {sys.platform}', next_step='Use method="spawn".'
            )
        if isinstance(preload, str) or not all(":" in name for name in preload):
            raise UsageError(f"preload is {preload!r}", next_step='Give a list of "package.module:function" names.')
        self._preload = tuple(preload)
        self._env = None if env is None else dict(env)
        self._method = method or ("fork" if can_fork else "spawn")
        self.on_note: Callable[[str], None] = _log.warning
        # Protects the three below. Held while a link is made, never while one is waited for.
        self._lock = threading.Lock()
        self._link: _ServerLink | None = None
        self._closed = False
        self._unsaid: list[str] = []  # notes of start(), whose caller may set on_note later
        self._users = users and self._method == "fork"
        self._call = call
        self._of_user = None if call is None else call.server

    def __enter__(self) -> WorkerServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def method(self) -> str:
        """``"fork"`` or ``"spawn"``."""
        return self._method

    @property
    def pid(self) -> int | None:
        """The server's process, where there is one."""
        link = self._link
        return link.pid if link is not None else None

    def start(self) -> None:
        """Start the server, which warms up in the background; returns at once. :meth:`spawn` does it by itself."""
        self._live_link()

    def wait_ready(self, timeout: float) -> None:
        """Wait until the server has preloaded.

        Args:
            timeout: Seconds.

        Raises:
            WorkerStartError: It was not ready in time, or ended; the message has the end of what it wrote to stderr.
        """
        self._ready_link(timeout)

    def spawn(self, spec: WorkerSpec) -> WorkerHandle:
        """Start a worker. Waits until the server has preloaded and the worker has a process id, not until it started.

        Raises:
            WorkerStartError: No process could be made, twice.
            ClosedError: This server was closed.
        """
        try:
            return self._ready_link(_START_SECS).spawn(spec)
        except WorkerStartError:
            return self._ready_link(_START_SECS).spawn(spec)

    def close(self) -> None:
        """End all workers (SIGTERM, a second later SIGKILL) and the server. It may be called again."""
        with self._lock:
            self._closed = True
            link = self._link
        if link is not None:
            link.close()

    def _note(self, text: str) -> None:
        self.on_note(text)  # which may have been set after the link was made

    def _ready_link(self, timeout: float) -> _ServerLink:
        link = self._live_link()
        while isinstance(link, _UserLink) and not link.wait_accepted(timeout):
            with self._lock:
                self._users = self._users and link.replaced
                self._unsaid.append(f"the warm server is not used: {'; '.join(link.refused)}")
            link = self._live_link()
        with self._lock:
            unsaid, self._unsaid = self._unsaid, []
        for text in unsaid:
            self._note(text)
        link.wait_ready(timeout)
        return link

    def _live_link(self) -> _ServerLink:
        with self._lock:
            if self._closed:
                raise ClosedError("The fork server was closed", next_step="Make a new WorkerServer.")
            if self._link is None or self._link.ended:
                self._link = self._new_link()
            return self._link

    def _new_link(self) -> _ServerLink:
        env = dict(os.environ) if self._env is None else self._env
        try:
            if self._users:
                self._of_user = self._of_user or user_servers.find(self._preload)
            if self._users and self._of_user is not None:
                call, self._call = self._call, None
                return _UserLink(call or self._of_user.call(env))
        except (OSError, WorkerStartError) as error:
            self._users = False
            self._unsaid.append(f"the warm server is not used: {error}")
        if self._method == "spawn":
            return _ForkLink((), self._env, self._note, ('method="spawn"',))
        return _ForkLink(self._preload, self._env, self._note)


class _ServerLink(abc.ABC):
    """The connection to one server process, from its first message to its end."""

    pid: int | None = None
    _how = "fork server"
    _cold_reasons: Sequence[str] = ()  # why each worker is a fresh interpreter; else the server finds out

    def __init__(self, control: socket.socket, token: str) -> None:
        self._control = control
        self._token = token
        self._last_words: str | None = None
        self.ended = False
        self._closing = False
        self._ready = threading.Event()  # set when the server has preloaded, or has ended
        # Protects sending, the number of the last job, and that no handle is added once the server has ended. The
        # reader must not take it while the server lives: the thread that has it may wait for the server, and that for
        # the reader.
        self._lock = threading.Lock()
        self._last_number = 0
        self._handles: dict[int, WorkerHandle] = {}
        self._reader = threading.Thread(target=self._read, name="tf1sessions-server", daemon=True)

    def wait_ready(self, timeout: float) -> None:
        if not self._ready.wait(timeout):
            raise WorkerStartError(
                f"The {self._how} (pid {self.pid}) was not ready after {timeout:g} seconds{self._said()}",
                where=self._where(),
            )
        if self.ended:
            raise self._start_error()

    def spawn(self, spec: WorkerSpec) -> WorkerHandle:
        self.wait_ready(_START_SECS)
        with self._lock:
            self._last_number = number = self._last_number + 1
        handle = WorkerHandle(spec.name, number, self)
        request = {
            "do": "spawn",
            "job": number,
            "target": spec.target,
            "payload": dict(spec.payload),
            "env": dict(spec.env),
            "cwd": spec.cwd,
            "mark": server_mark(self._token, number),
            "cold": self._cold_reasons,
            "holds": spec.held is not None,
        }
        held = [] if spec.held is None else [spec.held]
        try:
            with standard_fds(spec) as fds, self._lock:
                if alive := not self.ended:
                    self._handles[number] = handle
                    with contextlib.suppress(OSError):  # the server has ended, which its reader finds out
                        messages.send(self._control, request, [*fds, *held])
            if alive:
                handle._accepted.wait()  # the server answers at once, or its end does
        except BaseException:  # an interrupt, or what JSON cannot carry: no caller will have the handle
            self.kill(number)
            raise
        if not alive or (self.ended and not handle.pid):
            raise self._start_error()
        if handle._error is not None and not handle.pid:
            raise handle._error
        return handle

    def signal(self, number: int, signum: int) -> None:
        self._ask({"do": "signal", "job": number, "signum": signum})

    def pass_on(self, number: int, signum: int) -> None:
        self._ask({"do": "pass on", "job": number, "signum": signum})

    def kill(self, number: int) -> None:
        self._ask({"do": "kill", "job": number})

    def close(self) -> None:
        self._closing = True
        if self._ready.is_set():
            self._ask({"do": "close"})
            self._reader.join(_CLOSE_SECS)
        if self._reader.is_alive():
            self._kill()  # it is preloading, or does not answer; its workers die with it
        self._reader.join()

    def _ask(self, message: Mapping[str, Any]) -> None:
        with self._lock, contextlib.suppress(OSError):  # the server has ended, which its reader finds out
            messages.send(self._control, message)

    # -- the reader thread --

    def _read(self) -> None:
        try:
            self._take_messages()
        except BaseException:
            self._kill()  # nothing reads its messages any more, for which callers would wait for ever
            raise
        finally:
            self._server_ended()

    def _take_messages(self) -> None:
        while True:
            message, _ = messages.receive(self._control)
            if message is None:
                break
            handle = self._handles.get(message.get("job", 0))
            match message["event"]:
                case "ready":
                    self.pid = message["pid"]
                    self._ready.set()
                case "forked" if handle:
                    handle.pid, handle.cold_reasons = message["pid"], tuple(message["cold"])
                    handle._accepted.set()
                case "refused" if handle:
                    text = f"The worker {handle.name!r} could not be forked, twice: {message['error']}"
                    error = WorkerStartError(text, next_step=limit_step(text))
                    del self._handles[message["job"]]  # from here on it ends, or else _server_ended() would end it
                    handle._end(None, error)
                case "ended" if handle:
                    result = {key: message[key] for key in message.keys() - {"event", "job", "leftovers"}}
                    name, leftovers = signal_name_of(message["returncode"]), tuple(message["leftovers"])
                    del self._handles[message["job"]]
                    handle._end(WorkerResult(signal_name=name, leftovers=leftovers, **result))
                case event:
                    self._on_event(event, message)

    def _server_ended(self) -> None:
        returncode = self._wait_for_end()
        with self._lock:
            self.ended = True
            self._control.close()
            handles, self._handles = list(self._handles.values()), {}
        if handles:  # it was killed, and its workers with it, but not what they had started
            job_processes.kill_marked(self._token)
        self._last_words = self._said()
        self._close_output()
        signal_name = None if returncode is None else signal_name_of(returncode)
        why = self._how_it_ended() + ("" if signal_name == "SIGKILL" else self._last_words)
        for handle in handles:
            text = f"Worker {handle.name!r} (pid {handle.pid}) died because the {self._how} {why}"
            handle._end(None, WorkerDiedError(text, signal_name=signal_name))
        self._ready.set()

    def _start_error(self) -> WorkerStartError | ClosedError:
        self._reader.join()  # until all is known about its end
        if self._closing:
            return ClosedError("The fork server was closed", next_step="Make a new WorkerServer.")
        said = self._said()
        step = limit_step(said)
        if step is not None:
            said = f": {said.splitlines()[-1]}"  # the traceback before it says where in TensorFlow
        return WorkerStartError(f"The {self._how} {self._how_it_ended()}{said}", next_step=step)

    # -- what differs between a server of this process and one of the user's --

    @abc.abstractmethod
    def _on_event(self, event: str, message: Mapping[str, Any]) -> None:
        """Take in an event that is about no job."""

    @abc.abstractmethod
    def _wait_for_end(self) -> int | None:
        """Wait until the process has ended, after its control socket: its return code, where that can be known."""

    @abc.abstractmethod
    def _kill(self) -> None: ...

    @abc.abstractmethod
    def _where(self) -> str: ...

    @abc.abstractmethod
    def _how_it_ended(self) -> str: ...

    @abc.abstractmethod
    def _said(self) -> str:
        """The end of what the server wrote, for a message."""

    @abc.abstractmethod
    def _close_output(self) -> None: ...


class _ForkLink(_ServerLink):
    """A server that is this process's child."""

    def __init__(
        self,
        preload: Sequence[str],
        env: Mapping[str, str] | None,
        on_note: Callable[[str], None],
        cold_reasons: Sequence[str] = (),
    ) -> None:
        self._preload = preload
        self._cold_reasons = cold_reasons
        self._on_note = on_note
        try:
            self._output = tempfile.TemporaryFile()  # the server's stdout and stderr
            control, theirs = socket.socketpair()
        except OSError as error:
            raise start_error("The fork server does not start", error, where=sys.executable) from error
        super().__init__(control, new_token())
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", BOOT, PACKAGE_PARENT, "serve", str(theirs.fileno()), *preload],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                env=dict(os.environ if env is None else env) | {MARK: server_mark(self._token, 0), INSPECT: ""},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except OSError as error:
            control.close()
            self._output.close()
            raise start_error("The fork server's interpreter does not start", error, where=sys.executable) from error
        finally:
            theirs.close()
        self.pid = self._process.pid
        self._continuer = threading.Thread(target=self._continue, name=f"tf1sessions-continue-{self.pid}", daemon=True)
        try:
            self._continuer.start()
            self._reader.start()
        except RuntimeError as error:  # the system has no more threads
            self._process.kill()
            self._process.wait()
            control.close()
            self._output.close()
            raise start_error("The fork server cannot be watched", error, where=sys.executable) from error

    def _on_event(self, event: str, message: Mapping[str, Any]) -> None:
        """Such a server has no other events."""

    def _wait_for_end(self) -> int | None:
        returncode = self._process.wait()
        self._continuer.join()
        return returncode

    def _kill(self) -> None:
        self._process.kill()

    def _where(self) -> str:
        return f"preload {list(self._preload)}"

    def _how_it_ended(self) -> str:
        returncode = self._process.returncode
        by_signal = signal_name_of(returncode)
        return f"(pid {self.pid}) " + (f"was killed by {by_signal}" if by_signal else f"ended with code {returncode}")

    def _said(self) -> str:
        if self._last_words is not None:
            return self._last_words
        fd = self._output.fileno()
        text = os.pread(fd, 4000, max(0, os.fstat(fd).st_size - 4000)).decode(errors="replace").strip()
        return f". The last that it wrote:\n{text}" if text else "; it wrote nothing"

    def _close_output(self) -> None:
        self._output.close()

    # -- the thread that continues the server --

    def _continue(self) -> None:
        """Continue the server whenever it is stopped, which any job can do; returns when it has ended."""
        if not hasattr(os, "waitid"):  # macOS, before Python 3.13
            return
        noted = False
        with contextlib.suppress(ChildProcessError):  # it has ended, and was waited for
            while (state := self._state_of_server()).si_code == os.CLD_STOPPED:
                self._process.send_signal(signal.SIGCONT)
                if not noted:
                    by = signal_name_of(-state.si_status)
                    self._on_note(f"the fork server (pid {self.pid}) was stopped by {by}, and is continued")
                noted = True

    def _state_of_server(self) -> os.waitid_result:
        """Wait until the server is stopped or has ended; its end stays to be waited for."""
        state = os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        assert state is not None, "without WNOHANG there is a state"
        return state


class _UserLink(_ServerLink):
    """A fork of one of the user's servers (user_servers.py), which serves this process alone, until it closes."""

    _how = "fork of the warm server"

    def __init__(self, call: UserCall) -> None:
        super().__init__(call.control, call.token)
        self._server = call.server
        self.refused: tuple[str, ...] = ()  # reasons why it does not serve this process; then it has ended
        self.replaced = False  # it ends, for one of these reasons, and the next one will do
        try:
            self._reader.start()
        except RuntimeError as error:  # the system has no more threads
            call.control.close()
            raise start_error("The warm server cannot be heard", error, where=str(call.server.path)) from error

    def wait_accepted(self, timeout: float) -> bool:
        """Wait until it has answered. False when it serves this process not."""
        if not self._ready.wait(min(timeout, _ANSWER_SECS)):
            self.refused = (f"it did not answer in {_ANSWER_SECS:g} seconds",)
            self._kill()
            self._reader.join()
        return not self.refused

    def _take_messages(self) -> None:
        try:
            super()._take_messages()
        except (ValueError, TypeError, LookupError) as error:
            if self.pid is not None:
                raise
            self.refused = (f"what it answered is no message: {error!r:.200}",)  # another process has its socket

    def _on_event(self, event: str, message: Mapping[str, Any]) -> None:
        if event == "turned away":
            self.refused, self.replaced = tuple(message["reasons"]), message["replaced"]

    def _wait_for_end(self) -> int | None:
        if self.pid is None and not self.refused and not self._closing:
            self.refused = (f"it ended when it was called{self._said()}",)
        return None  # known to its parent alone

    def _kill(self) -> None:
        with contextlib.suppress(OSError):  # it has ended
            self._control.shutdown(socket.SHUT_RDWR)  # the reader hears of it, and so does the server, when it can
        if self.pid is not None:
            job_processes.kill_marked(self._token)

    def _where(self) -> str:
        return str(self._server.path)

    def _how_it_ended(self) -> str:
        return f"(pid {self.pid}) ended"

    def _said(self) -> str:
        return f"; what it wrote is in {self._server.log}"

    def _close_output(self) -> None:
        """Do nothing: the output is the server's."""
