"""Descriptors above those of the standard streams.

A process may start with its standard streams closed, as some supervisors have it. What it opens next then gets their
numbers, and with them what TensorFlow writes to its stderr.
"""

from __future__ import annotations

import fcntl
import os
import socket

__all__ = ["above_streams", "fill_closed_streams", "socket_above_streams"]

_STREAMS = 3  # stdin, stdout, stderr


def above_streams(fd: int) -> int:
    """Move a descriptor that has the number of a standard stream to a higher number; children do not inherit it.

    Returns:
        The descriptor, or the one in place of it; the same where no more files may be open.
    """
    if fd >= _STREAMS:
        return fd
    try:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _STREAMS)
    except OSError:
        return fd
    os.close(fd)
    return high


def socket_above_streams(connection: socket.socket) -> socket.socket:
    """Move a socket as :func:`above_streams` does; use the result in place of it."""
    if connection.fileno() >= _STREAMS:
        return connection
    return socket.socket(fileno=above_streams(connection.detach()))


def fill_closed_streams() -> None:
    """Give the null device to standard streams of this process that are closed; its children inherit that.

    For processes of our own: the numbers of the streams may mean other files to a caller's program.
    """
    while (fd := os.open(os.devnull, os.O_RDWR)) < _STREAMS:  # the lowest number that is free
        os.set_inheritable(fd, True)
    os.close(fd)
