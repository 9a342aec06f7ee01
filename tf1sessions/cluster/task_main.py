"""Runs a task's program in its process, with its server bound to the loopback interface.

``tf.train.Server`` listens on all interfaces, whatever its address in the ClusterSpec is, and whoever reaches it can
run any operation: its gRPC has no authentication. :func:`execute` runs a program as
:func:`tf1sessions.scripts.program.execute` does, and binds the socket of each server that it makes to the device
``lo`` (``SO_BINDTODEVICE``, for which Linux wants no privilege), so that nothing from another machine gets to it.

Many programs have the addresses of their machines in their source. Their servers get the addresses of this cluster
instead, by the names and numbers of the tasks (:func:`own_addresses`), and so do sessions on one of those servers.

A session begins by calling all tasks of its cluster, and waits for ever for one that has come and gone: of two workers
that start together, one may be through before the other makes its session. So the server of a program that is through
stays until :class:`~tf1sessions.cluster.launching.Launch` says that all are. Both sides do that by :class:`Marks`. A
worker may also end in ``server.join()``: after its work, or, of a program with one client, instead of any.
"""

from __future__ import annotations

import functools
import importlib
import json
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import ConfigError
from ..horovod import launched
from ..scripts import importer, program
from .marks import TASK_VARIABLE, Marks
from .sync_tokens import TokenGiver

__all__ = ["bind_to_loopback", "execute", "execute_rank", "ignored_options", "own_addresses", "server_options"]

_log = logging.getLogger("tf1sessions")

# Between two looks of a worker for its chief. Arbitrary: on one machine a look takes milliseconds, and so does a start.
_LOOK_SECS = 0.5
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
    task = os.environ[TASK_VARIABLE]
    servers = _Servers(payload["loopback"], json.loads(os.environ["TF_CONFIG"])["cluster"], marks, task)

    def wait_for_others(exit_code: int) -> None:
        servers.end()
        if exit_code == 0 and servers.made:
            sys.stdout.flush()
            sys.stderr.flush()
            marks.set_through(task)
            marks.wait_for_release()

    return program.execute(payload, lambda: importer.after_import(servers.watch), wait_for_others)


def execute_rank(payload: Mapping[str, Any]) -> int:
    """Run the program of a rank of Horovod and return its exit code; a mark says that it has called ``hvd.init()``.

    Args:
        payload: As for :func:`tf1sessions.scripts.program.execute`.
    """
    marks = Marks(payload["settings"]["claims_dir"])
    launched.at_init.append(functools.partial(marks.set_server, os.environ[TASK_VARIABLE]))

    def set_again(exit_code: int) -> None:
        marks.repeat()  # the program may have removed them

    return program.execute(payload, end=set_again)


class _Servers:
    """Binds the servers of this process to the loopback interface, and moves sessions to their addresses."""

    def __init__(self, loopback: bool, cluster: Mapping[str, Sequence[str]], marks: Marks, task: str) -> None:
        self._loopback = loopback
        self._cluster = cluster
        self._marks = marks
        self._task = task
        self._has_trained = False  # whether there was a session on a server
        self._moved: dict[str, str] = {}  # addresses in the program's source -> those of this cluster
        self._warned = False
        self._tokens: TokenGiver | None = None
        self.made: list[Any] = []  # kept, so that they serve when the program has lost them

    def watch(self, face: Any) -> None:
        server = face.train.Server
        server.__init__ = self._after_server(server.__init__, face)
        server.join = self._before_join(server.join)
        session = importlib.import_module("tensorflow.python.client.session").BaseSession
        session.__init__ = self._before_session(session.__init__)
        manager = face.train.SessionManager
        manager.wait_for_session = _looking_often(manager.wait_for_session)
        self._tokens = TokenGiver(face, self._marks, self._task, lambda: self.made[-1].target)
        self._tokens.watch()

    def end(self) -> None:
        """The program is through."""
        if self._tokens is not None:
            self._tokens.end()

    def _after_server(self, original: Callable[..., None], face: Any) -> Callable[..., None]:
        @functools.wraps(original)
        def init(server: Any, server_or_cluster_def: Any, *args: Any, **kwargs: Any) -> None:
            definition = server_or_cluster_def
            if isinstance(definition, (dict, face.train.ClusterSpec)):
                given = face.train.ClusterSpec(definition).as_dict()
                moved = own_addresses(given, self._cluster)
                if moved:
                    self._moved |= moved
                    definition = dict(self._cluster)
                    _log.warning(
                        f"the program's addresses {', '.join(moved)} are those of this cluster instead: "
                        f"{', '.join(moved.values())}"
                    )
            original(server, definition, *args, **kwargs)
            self.made.append(server)
            self._marks.set_server(self._task)
            if self._loopback:
                bind_to_loopback(int(str(server.target).rpartition(":")[2]))

        return init

    def _before_join(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        @functools.wraps(original)
        def join(server: Any) -> None:
            if self._has_trained:  # a worker that serves the others when it is through
                self._marks.set_through(self._task)
            self._marks.set_joined(self._task)
            original(server)

        return join

    def _before_session(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def init(session: Any, target: Any = "", graph: Any = None, config: Any = None) -> None:
            ignored = ignored_options(config) if target and config is not None else ()
            if ignored and not self._warned:
                self._warned = True
                options = " ".join(server_options(config))
                options = f"launch {options}, or " if options else ""
                _log.warning(
                    f"TensorFlow ignores {', '.join(ignored)} in the config of a session on a server: devices and "
                    f"threads are the server's. Give {options}tf.train.Server(..., config=...)."
                )
            self._has_trained = self._has_trained or bool(target)
            address = str(target).removeprefix("grpc://")
            if target and address in self._moved:
                target = f"grpc://{self._moved[address]}"
            elif target and not self._has_port(address):
                _log.warning(
                    f"a session is on {target}, which is no task of this cluster, and waits for ever where nothing "
                    "answers. If that is the address of a task, give launch a --first-port by which it has it."
                )
            original(session, target, graph, config)

        return init

    def _has_port(self, address: str) -> bool:
        """Whether a task of this cluster, or a server of this process, has the port of an address."""
        tasks = [task for tasks in self._cluster.values() for task in tasks]
        known = [*tasks, *(str(server.target) for server in self.made)]
        return address.rpartition(":")[2] in {each.rpartition(":")[2] for each in known}


def _looking_often(original: Callable[..., Any]) -> Callable[..., Any]:
    """``SessionManager.wait_for_session``, which looks every 30 seconds whether the chief has initialized the model."""

    @functools.wraps(original)
    def wait(manager: Any, *args: Any, **kwargs: Any) -> Any:
        manager._recovery_wait_secs = min(manager._recovery_wait_secs, _LOOK_SECS)
        return original(manager, *args, **kwargs)

    return wait


def own_addresses(given: Mapping[str, Any], own: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return which addresses of a program's cluster become which of the one that was launched.

    Args:
        given: The program's cluster, as ``ClusterSpec.as_dict()`` gives it.
        own: The launched one.

    Returns:
        Nothing where they are the same already, or where the program's is something else: another kind of job.

    Raises:
        ConfigError: The jobs are the same, and the numbers of their tasks are not.

    Example:
        >>> own_addresses({"worker": ["pc-01:2222"]}, {"worker": ["127.0.0.1:40001"]})
        {'pc-01:2222': '127.0.0.1:40001'}
    """
    if not given.keys() <= own.keys() or any(not isinstance(tasks, (list, tuple)) for tasks in given.values()):
        return {}
    addresses = {address for tasks in given.values() for address in tasks}
    if addresses <= {address for tasks in own.values() for address in tasks}:
        return {}
    sizes = {job: len(given.get(job, ())) for job in own}
    if sizes != {job: len(tasks) for job, tasks in own.items()}:
        options = " ".join(
            f"--{'workers' if job == 'worker' else job} {size}"
            for job, size in sizes.items()
            if job in ("ps", "worker")
        )
        raise ConfigError(
            f"the addresses of the cluster are in the program's source, and it has other numbers of tasks than were "
            f"launched: {dict(given)}",
            next_step=f"Launch it with {options}.",
        )
    return {old: new for job in given for old, new in zip(given[job], own[job], strict=True)}


def ignored_options(config: Any) -> tuple[str, ...]:
    """Return the names of the options in a ConfigProto that a session on a server does not heed."""
    return tuple(field.name for field, _ in config.ListFields() if field.name in _PROCESS_OPTIONS)


def server_options(config: Any) -> list[str]:
    """Return the options of ``launch`` by which a server gets what a session on it asks for in vain."""
    asked = {
        "threads": max(config.intra_op_parallelism_threads, config.inter_op_parallelism_threads, 0),
        "memory-fraction": round(config.gpu_options.per_process_gpu_memory_fraction, 6),
        "gpus": config.gpu_options.visible_device_list,
    }
    return [f"--{name} {value}" for name, value in asked.items() if value]


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
