"""The Ray cluster that this process is connected to: found, checked, shared by its pools, left.

::

    connect(address) ─▶ is Ray installed? does the address answer? ─▶ ray.init() ─▶ Connection, one for all pools
    Connection.close() ─▶ the last one that we made: ray.shutdown()

Ray's own client waits forty seconds for an address where nothing answers, and then raises SystemExit; so the address is
asked first.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

from tf1sessions.errors import UnsupportedEnvironmentError, UsageError

__all__ = ["Connection", "answers", "connect", "the_ray"]

# A client of HTTP/2, which gRPC speaks, begins with these 24 bytes and a SETTINGS frame, here an empty one, and the
# server answers with its own (RFC 9113, 3.4).
_HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + struct.pack(">HBBBI", 0, 0, 4, 0, 0)
_HTTP2_HEAD = 9
_SETTINGS = 4

_LOST_SECS = 60.0
"""For how long workers are kept from a node that was lost. Ray finds out by itself within some fifteen seconds, and
until then starts actors there, which wait for that long."""

_lock = threading.Lock()  # protects what stands below it, and is held while a connection is made
_made_by_us = False
_pools = 0
_lost_nodes: dict[str, float] = {}  # Ray's id of a node, when it was lost


class Connection:
    """A connection of this process to a cluster. It is safe to call its methods simultaneously from all threads."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray
        self._ids = self._ids_now()
        self._open = True

    @property
    def is_there(self) -> bool:
        """Whether it is still the same; the program may have called ``ray.shutdown()``, and ``ray.init()`` again."""
        with contextlib.suppress(Exception):
            return self.has_cluster and self._ids_now() == self._ids
        return False

    def _ids_now(self) -> tuple[str, str]:
        """Two, since each cluster has the same number for its first job, and each job of one has this node."""
        context = self.ray.get_runtime_context()
        return context.get_node_id(), context.get_job_id()

    @property
    def has_cluster(self) -> bool:
        """Whether this process is connected to some cluster; if not, a call of an actor's method would start one."""
        return bool(self.ray.is_initialized())

    def note_lost(self, node: str) -> None:
        """Keep the next workers, of all pools, from a node."""
        with _lock:
            _lost_nodes[node] = time.monotonic()

    def lost_nodes(self) -> list[str]:
        """The nodes that were lost a short time ago."""
        with _lock:
            since = time.monotonic() - _LOST_SECS
            return [node for node, when in _lost_nodes.items() if when > since]

    def close(self) -> None:
        """Leave the cluster, if no other pool uses it and the program has not connected by itself."""
        global _made_by_us, _pools
        with _lock:
            if not self._open:
                return
            self._open = False
            _pools -= 1
            if not _pools and _made_by_us:
                _made_by_us = False
                if self.is_there:
                    self.ray.shutdown()


def the_ray(where: str) -> Any:
    """The module ``ray``.

    Raises:
        UnsupportedEnvironmentError: It is not installed.
    """
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UnsupportedEnvironmentError(
            f"Ray is not installed here: {error}",
            where=where,
            next_step="Install it with: pip install 'tf1sessions[ray]'. The nodes of the cluster need the same.",
        ) from error


def connect(address: str | None, limit_secs: float, where: str, at_exit: Callable[[], None]) -> Connection:
    """Connect this process to a cluster, unless it is; ``ray.init()`` starts one where no address is given or found.

    Args:
        address: ``host:port``, ``"auto"``, ``"local"`` or None, as for ``ray.init()``.
        limit_secs: How long the address may take to answer.
        where: For errors.
        at_exit: Called at the end of the process, before Ray's own end.

    Raises:
        UnsupportedEnvironmentError: Ray is not installed, nothing answers at the address, or Ray refuses this process.
        UsageError: The address is none, or the process is connected to another cluster.
    """
    global _made_by_us, _pools
    ray = the_ray(where)
    with _lock:
        if not ray.is_initialized():
            _init(ray, address or os.environ.get("RAY_ADDRESS") or None, limit_secs, where)
            _made_by_us = True
        elif address not in (None, "auto", "local"):
            _check_same(ray, str(address), where)
        connection = Connection(ray)
        _pools += 1
    atexit.unregister(at_exit)
    atexit.register(at_exit)  # after Ray's, so that it comes before that
    return connection


def _init(ray: Any, address: str | None, limit_secs: float, where: str) -> None:
    if address not in (None, "auto", "local"):
        _check_answer(str(address), limit_secs, where)
    try:
        ray.init(address=address, logging_level="warning")
    except (Exception, SystemExit) as error:  # SystemExit: 15, when what answers is no head node
        with contextlib.suppress(Exception):
            ray.shutdown()
        if isinstance(error, ValueError) and address is not None:
            raise UsageError(f"Ray does not take the address {address!r}: {error}", where=where) from error
        what = "what answers there is no head node of Ray" if isinstance(error, SystemExit) else str(error)
        raise UnsupportedEnvironmentError(
            f"cannot connect to the Ray cluster at {address or 'this machine'}: {what}",
            where=where,
            next_step="`ray status --address HOST:PORT` shows whether a cluster is there.",
        ) from error


def _check_same(ray: Any, address: str, where: str) -> None:
    here = str(ray.get_runtime_context().gcs_address)
    if _endpoint(address, where)[1] != _endpoint(here, where)[1] or not _same_host(address, here):
        raise UsageError(
            f"address is {address!r}, and this process is connected to the Ray cluster at {here}",
            where=where,
            next_step="Leave address= out, or call ray.shutdown() first: a process has one cluster at a time.",
        )


def _same_host(first: str, second: str) -> bool:
    hosts = [address.rpartition(":")[0] for address in (first, second)]
    if "127.0.0.1" in hosts or "localhost" in hosts:  # Ray gives the machine's own address
        return True
    with contextlib.suppress(OSError):
        return socket.gethostbyname(hosts[0]) == socket.gethostbyname(hosts[1])
    return hosts[0] == hosts[1]


def _endpoint(address: str, where: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        step = "Give HOST:PORT of the head node, as `ray start` shows it; the port is 6379 unless it was changed."
        if address.startswith("ray://"):
            step += " Ray Client (ray://) is not supported: run the program on a machine of the cluster."
        raise UsageError(f"address is {address!r}", where=where, next_step=step)
    return host, int(port)


def _check_answer(address: str, limit_secs: float, where: str) -> None:
    host, port = _endpoint(address, where)
    if reason := answers(host, port, limit_secs):
        raise UnsupportedEnvironmentError(
            f"there is no Ray cluster at {address}: {reason}",
            where=where,
            next_step="Is it started, and may this machine reach it? `ray start --head` prints its address.",
        )


def answers(host: str, port: int, limit_secs: float) -> str:
    """Whether a gRPC server answers there: an empty string, or the reason why none does."""
    deadline = time.monotonic() + limit_secs
    reason = "no time was given"
    pause = threading.Event()
    while (left := deadline - time.monotonic()) > 0:
        try:
            with socket.create_connection((host, port), timeout=left) as connection:
                connection.settimeout(max(0.1, deadline - time.monotonic()))
                connection.sendall(_HTTP2_GREETING)
                head = connection.recv(_HTTP2_HEAD, socket.MSG_WAITALL)
                if len(head) == _HTTP2_HEAD and head[3] == _SETTINGS:
                    return ""
                return "what listens there is no head node of Ray"
        except OSError as error:  # it may be about to start
            reason = str(error)
        pause.wait(min(0.2, max(0.0, deadline - time.monotonic())))
    return f"it did not answer within {limit_secs:g} s ({reason})"
