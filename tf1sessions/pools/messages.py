"""Messages between a process and its fork server: a 4-byte length and JSON, with file descriptors if need be."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["receive", "send", "socket_address"]

_CHUNK = 1 << 20  # bytes that are received at once; memory is taken for what has come, and not for what is announced
_MOST_FDS = 4  # of one message


def send(control: socket.socket, message: Mapping[str, Any], fds: Iterable[int] = ()) -> None:
    """Send one message, and file descriptors with it. Raises ``OSError`` when the other side is gone."""
    body = json.dumps(message).encode()
    data = memoryview(struct.pack("!I", len(body)) + body)
    fds = list(fds)
    sent = socket.send_fds(control, [data], fds) if fds else 0
    if sent < len(data):  # else the other side may have it all, and have closed: to send nothing would fail
        control.sendall(data[sent:])


def receive(control: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Wait for one message; ``(None, [])`` when the other side is gone. The descriptors are the caller's to close.

    Raises:
        ValueError: What came is no message.
    """
    fds: list[int] = []
    try:
        header, fds = _receive_exactly(control, 4)
        body, _ = _receive_exactly(control, struct.unpack("!I", header)[0])
    except (EOFError, ConnectionError):
        for fd in fds:
            os.close(fd)
        return None, []
    try:
        message = json.loads(body)
        if not isinstance(message, dict):
            raise ValueError(f"{message!r:.80} is no message")
    except ValueError:
        for fd in fds:
            os.close(fd)
        raise
    return message, fds


def _receive_exactly(control: socket.socket, size: int) -> tuple[bytes, list[int]]:
    data = bytearray()
    fds: list[int] = []
    while len(data) < size:
        chunk, more, _, _ = socket.recv_fds(
            control, min(size - len(data), _CHUNK), _MOST_FDS, getattr(socket, "MSG_CMSG_CLOEXEC", 0)
        )
        fds += more
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data), fds


@contextlib.contextmanager
def socket_address(path: str | os.PathLike[str]) -> Iterator[str]:
    """Give a path for a Unix socket that is as good as ``path``, of which the system takes 107 bytes only. For Linux.

    Raises:
        OSError: There is no such folder.
    """
    folder, name = os.path.split(os.fspath(path))
    handle = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{handle}/{name}"
    finally:
        os.close(handle)
