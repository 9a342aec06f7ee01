"""The greeting of a local server and its client, with a peer that is slow, or is another one."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tf1sessions.errors import DeadlineError, PeerGoneError
from tf1sessions.pools.messages import socket_address
from tf1sessions.serving import local_handshake
from tf1sessions.serving.session_client import SessionClient

KEY = b"k" * 32


@contextlib.contextmanager
def trickling(pause_secs: float = 0.05) -> Iterator[socket.socket]:
    """One end of a connection whose other end sends a byte, and then another one, as long as anyone is there."""
    here, there = socket.socketpair()
    over = threading.Event()

    def trickle() -> None:
        with contextlib.suppress(OSError):
            while not over.wait(pause_secs):
                there.sendall(b"x")

    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        with here, there:
            yield here
    finally:
        over.set()
        thread.join()


def test_a_peer_that_trickles_has_the_time_of_the_whole_greeting(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not that time for each byte, of which 64 make a client's part, and 72 a server's."""
    monkeypatch.setattr(local_handshake, "_SECS", 0.3)
    with trickling() as connection, pytest.raises(TimeoutError):
        local_handshake.let_in(connection, KEY)
    with trickling() as connection, pytest.raises(TimeoutError):
        local_handshake.greet(connection, KEY)
    monkeypatch.setattr(local_handshake, "_SECS", 1000.0)
    with trickling() as connection, pytest.raises(TimeoutError):
        local_handshake.greet(connection, KEY, 0.3)


def test_a_peer_that_does_not_know_the_key() -> None:
    here, there = socket.socketpair()
    with here, there:
        there.sendall(os.urandom(72))
        with pytest.raises(PeerGoneError, match="does not know the key"):
            local_handshake.greet(here, KEY)
    here, there = socket.socketpair()
    with here, there:
        there.sendall(os.urandom(64))
        assert not local_handshake.let_in(here, KEY)


def test_a_server_that_does_not_greet_has_the_time_of_the_call(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    local_handshake.make_key(str(tmp_path))
    with socket.socket(socket.AF_UNIX) as listener:
        with socket_address(str(tmp_path / local_handshake.SOCKET)) as address:
            listener.bind(address)
        listener.listen()
        with SessionClient(tmp_path, timeout_secs=0.3) as client, pytest.raises(DeadlineError, match="let this client"):
            client.names()
