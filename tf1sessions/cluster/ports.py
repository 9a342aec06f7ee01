"""Free ports that are held until a task listens on them.

A port is held by a socket that is bound and does not listen. As long as it is there the kernel does not give the port
to a process that asks for any free one, and so two clusters that start at once never get the same. TensorFlow's server
still can listen on it: both sockets have ``SO_REUSEADDR``, with which Linux lets a second socket bind unless the first
listens.
The socket can stay for as long as the cluster is there, so that a task that is started again finds its port free.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Collection
from pathlib import Path
from types import TracebackType

from tf1sessions.errors import ConfigError, UnsupportedEnvironmentError

__all__ = ["HeldPorts", "check_address", "listening"]

_LISTEN = "0A"  # the state of a listening socket in /proc/net/tcp
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


class HeldPorts:
    """Ports that are held until :meth:`close`, or the end of a ``with``.

    Args:
        count: How many.
        first: The first of ``count`` ports, one after the other; None takes any that are free.

    Raises:
        ConfigError: One of the ports from ``first`` on is in use, or is none.
        UnsupportedEnvironmentError: The system has no more free ports.

    Example:
        >>> with HeldPorts(2) as held:
        ...     len(set(held.ports))
        2
    """

    def __init__(self, count: int, first: int | None = None) -> None:
        self._sockets: list[socket.socket] = []
        try:
            for number in range(count):
                self._sockets.append(_bound(0 if first is None else first + number))
        except BaseException:
            self.close()
            raise
        self.ports = tuple(int(held.getsockname()[1]) for held in self._sockets)

    def close(self) -> None:
        """Let the ports go. Idempotent."""
        for held in self._sockets:
            held.close()

    def __enter__(self) -> HeldPorts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def check_address(address: str) -> None:
    """Refuse an address at which the tasks of this machine would look for each other for ever.

    Raises:
        ConfigError: It is no address, or not one of this machine.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.bind(place)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"no server of this machine can be reached at {address!r}: {reason}",
            where="--insecure-bind",
            next_step="Give an address or a name of this machine; `hostname -I` lists them.",
        ) from None


def _bound(port: int) -> socket.socket:
    if port > 65535:
        raise ConfigError(f"port {port} is above 65535", next_step="Give a lower first port, or none.")
    if port and port in listening([port]):  # of another address than the one below, too
        raise _taken(port, "a process listens on it")
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if port:  # without SO_REUSEADDR first: a port that another cluster holds is taken
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
                trial.bind(("127.0.0.1", port))
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", port))
    except OSError as error:
        held.close()
        if port:
            raise _taken(port, str(error.strerror)) from None
        if error.errno != errno.EADDRINUSE:
            raise
        raise UnsupportedEnvironmentError("this machine has no free port") from error
    return held


def _taken(port: int, why: str) -> ConfigError:
    return ConfigError(
        f"port {port} cannot be had: {why}", next_step="Give another first port, or none: then free ones are found."
    )


def listening(ports: Collection[int]) -> set[int]:
    """Return those of ``ports`` on which a process of this machine listens, at whatever address."""
    found = set()
    for table in _TABLES:
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except FileNotFoundError:  # a kernel without IPv6
            continue
        for line in lines:
            _, local, _, state = line.split()[:4]
            if state == _LISTEN:
                found.add(int(local.rpartition(":")[2], 16))
    return found & set(ports)
