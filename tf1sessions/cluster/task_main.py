"""Runs a task's program in its process, with its server bound to the loopback interface.

``tf.train.Server`` listens on all interfaces, whatever its address in the ClusterSpec is, and whoever reaches it can
run any operation: its gRPC has no authentication. :func:`execute` runs a program as
:func:`tf1sessions.scripts.program.execute` does, and binds the socket of each server that it makes to the device
``lo`` (``SO_BINDTODEVICE``, for which Linux wants no privilege), so that nothing from another machine gets to it.

A session begins by calling all tasks of its cluster, and waits for ever for one that has come and gone: of two workers
that start together, one may be through before the other makes its session. So the server of a program that is through
stays until :class:`~tf1sessions.cluster.launching.Launch` says that all are. Both sides do that by :class:`Marks`.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..scripts import importer, program
from .marks import TASK_VARIABLE, Marks

__all__ = ["bind_to_loopback", "execute", "ignored_options"]

_log = logging.getLogger("tf1sessions")

# Of a ConfigProto: what belongs to a process's devices and threads, which a session on a server cannot choose.
_PROCESS_OPTIONS = (
    "device_count",
    "gpu_options",
    "inter_op_parallelism_threads",
    "intra_op_parallelism_threads",
    "session_inter_op_thread_pool",
    "use_per_session_threads",
)


def execute(payload: Mapping[str, Any]) -> int:
    """Run a task's program and return its exit code.

    Args:
        payload: As for :func:`tf1sessions.scripts.program.execute`, with the key ``"loopback"``: whether servers are
            bound to the loopback interface.
    """
    marks = Marks(payload["settings"]["claims_dir"])
    servers = _Servers(payload["loopback"])

    def wait_for_others(exit_code: int) -> None:
        if exit_code == 0 and servers.made:
            sys.stdout.flush()
            sys.stderr.flush()
            marks.set_through(os.environ[TASK_VARIABLE])
            marks.wait_for_release()

    return program.execute(payload, lambda: importer.after_import(servers.watch), wait_for_others)


class _Servers:
    """What is done about the servers of this process, and about sessions on them."""

    def __init__(self, loopback: bool) -> None:
        self._loopback = loopback
        self._warned = False
        self.made: list[Any] = []  # kept, so that they serve when the program has lost them

    def watch(self, face: Any) -> None:
        server = face.train.Server
        server.__init__ = self._after_server(server.__init__)
        session = importlib.import_module("tensorflow.python.client.session").BaseSession
        session.__init__ = self._before_session(session.__init__)

    def _after_server(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def init(server: Any, *args: Any, **kwargs: Any) -> None:
            original(server, *args, **kwargs)
            self.made.append(server)
            if self._loopback:
                bind_to_loopback(int(str(server.target).rpartition(":")[2]))

        return init

    def _before_session(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def init(session: Any, target: Any = "", graph: Any = None, config: Any = None) -> None:
            ignored = ignored_options(config) if target and config is not None else ()
            if ignored and not self._warned:
                self._warned = True
                _log.warning(
                    f"TensorFlow ignores {', '.join(ignored)} in the config of a session on a server: devices and "
                    "threads are the server's. Give them to tf.train.Server(..., config=...)."
                )
            original(session, target, graph, config)

        return init


def ignored_options(config: Any) -> tuple[str, ...]:
    """Return the names of the options in a ConfigProto that a session on a server does not heed."""
    return tuple(field.name for field, _ in config.ListFields() if field.name in _PROCESS_OPTIONS)


def bind_to_loopback(port: int) -> None:
    """Bind the sockets of this process that listen on ``port`` to the loopback interface; connections are untouched.

    Raises:
        OSError: The system does not let us; the message says what that means.
    """
    for listener in _listeners(port):
        with listener:
            try:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
            except OSError as error:
                raise OSError(
                    error.errno,
                    f"the server on port {port} cannot be kept to this machine ({error.strerror}), and would take "
                    "orders from any other. Where the network is trusted, give launch --insecure-bind",
                ) from error


def _listeners(port: int) -> Iterator[socket.socket]:
    """Duplicates of this process's sockets that listen on a port."""
    for name in os.listdir("/proc/self/fd"):
        try:
            if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                continue
            duplicate = socket.socket(fileno=os.dup(int(name)))
        except OSError:  # closed meanwhile, or a socket of a family that Python does not know
            continue
        if duplicate.family in (socket.AF_INET, socket.AF_INET6) and _listens_on(duplicate, port):
            yield duplicate
        else:
            duplicate.close()


def _listens_on(one: socket.socket, port: int) -> bool:
    return bool(one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)) and one.getsockname()[1] == port
