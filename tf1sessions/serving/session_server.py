"""SessionServer: a process that has the device and the models, for SessionClients in other processes.

::

    this process: SessionServer ── stdin ──▶ local_main.py in a process of its own ◀── socket ── SessionClients
          └─ a thread waits for its end, and starts it again under restart=True

A forked child of this process has stdin's other end as well: it lets go of that at once, or the server would go on when
its owner has died. Only the process that has made a server ends it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import pickle
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from tf1sessions.errors import ClosedError, UsageError, WorkerStartError
from tf1sessions.serving.descriptors import above_streams
from tf1sessions.serving.local_handshake import make_key
from tf1sessions.serving.session_client import RESTARTS, SessionClient
from tf1sessions.serving.settings import Limits, models_from
from tf1sessions.sessions.working_folder import absolute, current_folder

__all__ = ["SessionServer"]

logger = logging.getLogger("tf1sessions.serving")

#: Not ``python -m``, which looks for modules in the working directory first: anybody may have put some there.
_PROGRAM = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
from tf1sessions.serving.local_main import main
main()
"""
_QUICK_SECS = 5.0  # a server that ends sooner after its start has not started well; arbitrary
_DECODED_BYTES = 8 << 30  # of a request; arbitrary, clients are this user's own
_MOST_QUICK = 3  # in a row, after which it is not started again; arbitrary
#: The servers that were not closed, by id(): not a set, as its change could be half done when another thread forks.
_open: weakref.WeakValueDictionary[int, SessionServer] = weakref.WeakValueDictionary()


class SessionServer:
    """Serves models, and requests of a session, to the processes of this user on this machine.

    Args:
        models: A path that :func:`~tf1sessions.load` takes, a dict of name and path or options
            (``{"half": {"path": ..., "versions": 2}}``), or a list; None for requests only.
        requests: A function that gets a :class:`~tf1sessions.GraphSession`, builds its graph, and returns a dict of
            name and ``(feeds, fetches)``, with feeds as a dict of name and tensor; or a function of arrays by name in
            place of these. It is run once in the server's process; the requests it returns are run one at a time.
            Pickled, as are functions for process pools.
        plan: A :class:`~tf1sessions.MemoryPlan`, of which the server gets one worker's share.
        worker: Which.
        restart: Whether it is started again when it ends by itself. Requests that it had begun fail, and what
            ``requests`` kept in variables is lost. One that ends within five seconds three times in a row is given up,
            with a warning in the log.
        limits: :class:`~tf1sessions.serving.settings.Limits` on requests.
        poll_secs: How often versions of models are looked for; 0 for never.
        drain_secs: How long requests may go on after close().
        start_secs: How long the start may take.

    Attributes:
        address: For :class:`~tf1sessions.SessionClient`: a folder that only this user can enter.
        pid: Of the server's process.

    Raises:
        UsageError: There is neither a model nor a request.
        WorkerStartError: It did not start: a model does not load, or the function raised.

    Thread-safety: everything is safe from any thread.

    Example:
        >>> import tf1sessions as t1
        >>> def training(gs):
        ...     tf = t1.tf1
        ...     x, w = tf.placeholder(tf.float32, [None]), tf.get_variable("w", initializer=4.0)
        ...     loss = tf.reduce_mean(tf.square(w * x))
        ...     train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        ...     gs.initialize()
        ...     return {"step": ({"x": x}, {"loss": loss, "train": train})}
        >>> with t1.SessionServer(requests=training) as server, t1.SessionClient(server.address) as client:
        ...     step = client.request("step")
        ...     [round(float(step(x=[1.0, 1.0])["loss"]), 3) for _ in range(3)]
        [16.0, 10.24, 6.554]
    """

    def __init__(
        self,
        models: Any = None,
        *,
        requests: Callable[..., Any] | None = None,
        plan: Any = None,
        worker: int = 0,
        restart: bool = False,
        limits: Limits | None = None,
        poll_secs: float = 2.0,
        drain_secs: float = 30.0,
        start_secs: float = 180.0,
    ) -> None:
        from tf1sessions.pools.packing import pack  # here, because it takes cloudpickle with it

        chosen = () if models is None else models_from(models)
        if not chosen and requests is None:
            raise UsageError(
                "there is neither a model nor a request", where="SessionServer", next_step="Give models= or requests=."
            )
        chosen = tuple(_absolute(each) for each in chosen)
        self._start_secs, self._drain_secs, self._restart = start_secs, drain_secs, restart
        self._owner = os.getpid()
        self._lock = threading.Lock()  # protects what stands below it
        self._closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self.address = tempfile.mkdtemp(prefix="tf1sessions-server-")  # with the mode 0700
        try:
            spec = {
                "models": chosen,
                "requests": requests,
                "plan": plan,
                "worker": worker,
                "limits": limits or Limits(decoded_bytes=_DECODED_BYTES, rows=1 << 40),
                "poll_secs": poll_secs,
                "drain_secs": drain_secs,
                "folder": self.address,
                "key": make_key(self.address),
            }
            whole = {
                "path": sys.path,
                "cwd": current_folder("SessionServer"),
                "spec": b"".join(pack(spec, math.inf).stream),
            }
            self._message = pickle.dumps(whole)
            if restart:
                open(os.path.join(self.address, RESTARTS), "w").close()
            _open[id(self)] = self
            process = self._start()
        except BaseException:
            _open.pop(id(self), None)
            shutil.rmtree(self.address, ignore_errors=True)
            raise
        self._watcher = threading.Thread(target=self._watch, args=(process,), name="tf1sessions-server", daemon=True)
        self._watcher.start()

    @property
    def pid(self) -> int:
        """The process's number."""
        process = self._process
        return process.pid if process is not None else 0

    @property
    def starts(self) -> int:
        """The number of times that it was started."""
        return self._starts

    def client(self, **options: Any) -> SessionClient:
        """A client of it; options are those of :class:`~tf1sessions.SessionClient`."""
        return SessionClient(self.address, **options)

    def close(self) -> None:
        """Ends the server, after the requests that have begun; kills it past the deadline. May be called again.

        In a forked child of the process that has made the server it does nothing.
        """
        if os.getpid() != self._owner:  # its lock may have been held at the fork
            return
        with self._lock:
            self._closed = True
            process = self._process
        if process is not None:
            _end(process, self._drain_secs + 10.0)
        if self._watcher is not threading.current_thread():
            self._watcher.join()
        _open.pop(id(self), None)
        shutil.rmtree(self.address, ignore_errors=True)

    def __enter__(self) -> SessionServer:
        if self._closed:
            raise ClosedError("the server is closed", where="SessionServer", next_step="Make a new one.")
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<SessionServer at {self.address}, {'closed' if self._closed else f'process {self.pid}'}>"

    # -- inside

    def _start(self) -> subprocess.Popen[bytes]:
        with contextlib.ExitStack() as stack:
            answer, their_answer = _pipe(stack)
            their_stdin, stdin = _pipe(stack)
            process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(their_answer.fileno())],
                stdin=their_stdin,
                pass_fds=[their_answer.fileno()],
                env={
                    "TF_CPP_MIN_LOG_LEVEL": "2",
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                },
                start_new_session=True,  # a signal to this group would end it before it has removed its folder
            )
            their_answer.close()
            their_stdin.close()
            with self._lock:
                if self._closed:
                    process.kill()
                process.stdin = stdin  # as under stdin=subprocess.PIPE
                self._process = process
                self._starts += 1
            try:
                with contextlib.suppress(BrokenPipeError):  # its answer says why
                    stdin.write(struct.pack("<Q", len(self._message)) + self._message)
                    stdin.flush()
                _await_ready(answer, self._start_secs)
            except BaseException:
                _end(process, 0.0)
                raise
            stack.pop_all()
            answer.close()
        return process

    def _is_over(self) -> bool:
        return self._closed or not self._restart

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        quick = 0
        while True:
            started = time.monotonic()
            process.wait()
            if self._is_over():
                return
            quick = quick + 1 if time.monotonic() - started < _QUICK_SECS else 0
            if process.stdin is not None:
                process.stdin.close()
            while quick < _MOST_QUICK:
                try:
                    process = self._start()
                    break
                except (WorkerStartError, OSError):  # it was killed before it was ready, or something was short
                    if self._is_over():
                        return
                    quick += 1
            else:
                logger.warning("the server at %s has ended soon after %d starts, and stays ended", self.address, quick)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(self.address, RESTARTS))  # clients need not wait
                return


def _pipe(stack: contextlib.ExitStack) -> tuple[Any, Any]:
    """The ends of a new pipe, for reading and for writing, which the stack closes; both above the standard streams."""
    ends = [above_streams(fd) for fd in os.pipe()]
    return stack.enter_context(open(ends[0], "rb", buffering=0)), stack.enter_context(open(ends[1], "wb"))


def _await_ready(answer: Any, secs: float) -> None:
    """Waits for the server's first line.

    Raises:
        WorkerStartError: It says why it does not start, or ends, or is late.
    """
    until, line = time.monotonic() + secs, b""
    while not line.endswith(b"\n"):
        if not select.select([answer], [], [], max(0.0, until - time.monotonic()))[0]:
            raise WorkerStartError(f"the server was not ready after {secs:g} s", where="SessionServer(start_secs=)")
        piece = answer.read(1 << 16)
        if not piece:
            raise WorkerStartError("the server ended before it was ready", where="SessionServer")
        line += piece
    found = json.loads(line)
    if "ready" not in found:
        raise WorkerStartError(f"the server does not start: {found['kind']}: {found['message']}", where="SessionServer")


def _end(process: subprocess.Popen[bytes], secs: float) -> None:
    """Ends a server by a byte to its stdin, or by force when that takes too long."""
    if process.stdin is not None:
        with contextlib.suppress(OSError, ValueError):  # it has ended; another thread has closed it
            os.write(process.stdin.fileno(), b".")  # not by the end alone: a process forked in C may have it as well
            process.stdin.close()
    try:
        process.wait(secs)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _let_go_in_child() -> None:
    """Gives up, in a forked child, the ends of pipes by which servers see that their owner is there."""
    for server in list(_open.values()):
        process = server._process
        if process is not None and process.stdin is not None and not process.stdin.closed:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, process.stdin.fileno(), inheritable=False)  # not closed: the number is still the file's
            os.close(nowhere)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)


def _absolute(model: Any) -> Any:
    import dataclasses

    return dataclasses.replace(model, path=absolute(model.path, "SessionServer"))
