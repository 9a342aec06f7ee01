"""Authentication of a local server's clients: they know its key, which lies in a folder that only its user can enter.

::

    server ──▶ 32 random bytes ──▶ client
    client ──▶ 32 random bytes, HMAC of both under the key ──▶ server        nothing else is read before this is right
    server ──▶ HMAC of both, the other way round ──▶ client                 so that the client knows the server, too
    server ──▶ 8 bytes: the most that a message may have ──▶ client         longer ones need not be sent to be refused
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import socket
import struct
import time

from tf1sessions.errors import PeerGoneError, UsageError
from tf1sessions.files import open_own

__all__ = ["KEY", "SOCKET", "greet", "let_in", "make_key", "read_key"]

#: Names of files in a server's folder.
KEY, SOCKET = "key", "socket"
_SIZE = 32
_MOST = struct.Struct("<Q")
_NO_LIMIT = 2**64 - 1
_SECS = 10.0  # for the whole greeting; arbitrary


def make_key(folder: str) -> bytes:
    """A new key, written into the folder for clients to read."""
    key = secrets.token_bytes(_SIZE)
    handle = os.open(os.path.join(folder, KEY), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(handle, "wb") as file:
        file.write(key)
    return key


def read_key(folder: str) -> bytes:
    """The key of a server.

    Raises:
        UsageError: There is no server's folder, or others may enter it.
    """
    where = f"SessionClient({folder!r})"
    try:
        status = os.stat(folder)
        if status.st_uid != os.getuid() or status.st_mode & 0o077:
            raise UsageError(
                "the folder is another user's, or others may enter it",
                where=where,
                next_step="Start a server of your own.",
            )
        with open(open_own(os.path.join(folder, KEY), os.O_RDONLY), "rb") as file:
            key = file.read(_SIZE + 1)
    except OSError as error:
        raise UsageError(
            f"there is no server: {error.strerror or error}",
            where=where,
            next_step="Give the address of a SessionServer that runs: server.address.",
        ) from error
    if len(key) != _SIZE:
        raise UsageError("its key is damaged", where=where, next_step="Start the server again.")
    return key


def let_in(connection: socket.socket, key: bytes, most_bytes: int = _NO_LIMIT) -> bool:
    """For the server: whether the client knows the key. Raises OSError when it is slow, or goes.

    Args:
        connection: To the client.
        key: The server's.
        most_bytes: Of a message, for the client to know.
    """
    until = time.monotonic() + _SECS
    connection.settimeout(_SECS)
    ours = secrets.token_bytes(_SIZE)
    connection.sendall(ours)
    theirs, shown = _receive(connection, until), _receive(connection, until)
    if not hmac.compare_digest(shown, _proof(key, b"client", ours, theirs)):
        return False
    connection.settimeout(_SECS)
    connection.sendall(_proof(key, b"server", ours, theirs) + _MOST.pack(most_bytes))
    return True


def greet(connection: socket.socket, key: bytes, secs: float = _SECS) -> int:
    """For the client: show the key, and see that the server knows it; returns the most bytes of a message.

    Args:
        connection: To the server.
        key: The server's.
        secs: For all of it.

    Raises:
        PeerGoneError: The server has another key, or has gone.
        OSError: It does not answer in time.
    """
    until = time.monotonic() + min(secs, _SECS)
    try:
        theirs = _receive(connection, until)
        ours = secrets.token_bytes(_SIZE)
        connection.sendall(ours + _proof(key, b"client", theirs, ours))
        shown = _receive(connection, until)
        most = _receive(connection, until, _MOST.size)
    except (ConnectionError, EOFError) as error:
        raise PeerGoneError("the server has gone, or does not know this key", where="SessionClient") from error
    if not hmac.compare_digest(shown, _proof(key, b"server", theirs, ours)):
        raise PeerGoneError("what answers is not the server: it does not know the key", where="SessionClient")
    connection.settimeout(_SECS)
    return int(_MOST.unpack(most)[0])


def _proof(key: bytes, role: bytes, server: bytes, client: bytes) -> bytes:
    return hmac.new(key, role + server + client, hashlib.sha256).digest()


def _receive(connection: socket.socket, until: float, size: int = _SIZE) -> bytes:
    data = b""
    while len(data) < size:
        connection.settimeout(max(0.001, until - time.monotonic()))  # for all of it, and not for each piece
        piece = connection.recv(size - len(data))
        if not piece:
            raise EOFError("the other side has gone")
        data += piece
    return data
