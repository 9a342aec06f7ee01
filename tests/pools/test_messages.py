"""Messages between a process and its fork server."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence

import pytest

from tf1sessions.pools import messages

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there are no fork servers")


def test_who_has_the_message_may_close_its_side_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    send_fds, received = socket.send_fds, []

    def and_the_other_side_is_quick(control: socket.socket, data: Sequence[memoryview], fds: Sequence[int]) -> int:
        sent = send_fds(control, data, fds)
        received.append(messages.receive(theirs))
        theirs.close()
        return sent

    monkeypatch.setattr(socket, "send_fds", and_the_other_side_is_quick)
    with ours:
        messages.send(ours, {"do": "it"}, [0])
    ((message, fds),) = received
    assert message == {"do": "it"} and len(fds) == 1
    os.close(fds[0])
