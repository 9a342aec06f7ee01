"""Ports that are held: free for a server with SO_REUSEADDR, for nothing else."""

from __future__ import annotations

import socket

import pytest

from tf1sessions.cluster.ports import HeldPorts, listening
from tf1sessions.errors import ConfigError


def test_held_ports_are_not_given_to_those_that_ask_for_any() -> None:
    with HeldPorts(50) as held:
        others = [socket.create_server(("127.0.0.1", 0)) for _ in range(200)]
        taken = {other.getsockname()[1] for other in others}
        for other in others:
            other.close()
        assert len(set(held.ports)) == 50
        assert not taken & set(held.ports)


def test_a_server_can_listen_on_a_held_port_again_and_again() -> None:
    with HeldPorts(1) as held:
        (port,) = held.ports
        for _ in range(2):
            assert listening(held.ports) == set()
            with socket.create_server(("", port)) as server, socket.create_connection(("127.0.0.1", port)) as client:
                mine, (theirs, _) = client.getsockname()[1], server.accept()
                assert listening([*held.ports, mine]) == {port}  # a connection is no server
                theirs.close()


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} cannot be had: a process listens"):
            HeldPorts(1, first=port)
    with HeldPorts(1) as held, pytest.raises(ConfigError, match=f"port {held.ports[0]} cannot be had"):
        HeldPorts(1, first=held.ports[0])
    with pytest.raises(ConfigError, match="port 65536 is above 65535") as failed:  # and keeps what it was about
        HeldPorts(2, first=65535)
    assert failed.value.where is None
    with HeldPorts(1, first=65535):  # which the attempt before has let go
        pass


def test_ports_are_free_after_the_end() -> None:
    held = HeldPorts(2)
    held.close()
    held.close()
    with HeldPorts(1, first=held.ports[0]):
        pass
