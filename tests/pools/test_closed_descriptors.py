"""Programs that close all descriptors, as daemons do: what they open next has the numbers of ours, and is theirs."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

from tf1sessions.errors import PeerGoneError, WorkerDiedError
from tf1sessions.pools.arrays import Channel
from tf1sessions.pools.processes import ProcessSessionPool
from tf1sessions.pools.segments import Segment, identity_of

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # a worker need not import pytest

SIZE = 2_000_000
KEPT: list[Any] = []


def replaced(fd: int, path: Path) -> Any:
    """Have another file under the number of a descriptor."""
    path.write_bytes(b"m" * SIZE)
    file = path.open("rb+")
    os.dup2(file.fileno(), fd)
    return file


def array() -> np.ndarray[Any, Any]:
    return np.ones(SIZE // 8)


def become_daemon(folder: str) -> np.ndarray[Any, Any]:
    os.closerange(3, 4096)
    for number in range(600):  # descriptors of segments have high numbers
        file = open(f"{folder}/{number}", "wb+", buffering=0)
        file.write(b"m")
        file.truncate(SIZE)
        KEPT.append(file)
    return array()


@pytest.mark.parametrize("arrays", [0, 1, 2])
def test_a_job_that_closes_all_descriptors_loses_itself_and_no_file(tmp_path: Path, arrays: int) -> None:
    with ProcessSessionPool(1, mode="tf2") as pool:
        for _ in range(arrays):  # after which the worker has shared memory of its own
            pool.submit(array).result(60)
        with pytest.raises(WorkerDiedError) as caught:
            pool.submit(become_daemon, str(tmp_path)).result(60)
        assert "Traceback" not in str(caught.value)
        assert pool.submit(array).result(60).sum() == SIZE // 8
    expected = b"m".ljust(SIZE, b"\0")
    assert [path.name for path in tmp_path.iterdir() if path.read_bytes() != expected] == []


def test_segment(tmp_path: Path) -> None:
    segment = Segment(SIZE, 1)
    segment.write(0, array())
    segment.known = True
    file = replaced(segment.fileno(), tmp_path / "file")
    fd = segment._fd
    mine = identity_of(fd)
    for use in (segment.fileno, lambda: segment.state, lambda: segment.write(0, array())):
        with pytest.raises(OSError, match="the program has closed the descriptor of a segment"):
            use()
    segment.close()
    assert identity_of(fd) == mine  # still open
    os.close(fd)
    file.close()
    assert (tmp_path / "file").read_bytes() == b"m" * SIZE


def test_channel() -> None:
    here, there = map(Channel, socket.socketpair())
    mine, other = socket.socketpair()
    fd = here.fileno()
    os.dup2(mine.fileno(), fd)
    for use in (lambda: here.send("a"), here.poll, here.recv):
        with pytest.raises(PeerGoneError, match="the program has closed its descriptor"):
            use()
    assert here.closed and here.has_lost_descriptor
    here.close()
    other.setblocking(False)
    with pytest.raises(BlockingIOError):  # nothing was sent, nor was it shut down
        other.recv(1)
    assert identity_of(fd) == identity_of(mine.fileno())
    os.close(fd)
    for end in (there, mine, other):
        end.close()
