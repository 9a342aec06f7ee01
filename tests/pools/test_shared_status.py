"""The board of a message: what has begun, what may begin, and the replies."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from tf1sessions.pools.shared_status import MOST_JOBS, SharedStatus


@pytest.fixture
def sides() -> Iterator[tuple[SharedStatus, SharedStatus]]:
    """The pool's side, and the worker's."""
    pool = SharedStatus()
    worker = SharedStatus(pool.fileno())
    pool.close_file()
    yield pool, worker
    pool.close()
    worker.close()


def test_jobs_begin_in_turn_and_their_replies_arrive_in_turn(sides):
    pool, worker = sides
    for _ in range(3):  # the page is used again
        pool.clear(2)
        assert (pool.begun, pool.replies()) == (0, [])
        assert worker.begin(0) and pool.begun == 1
        assert worker.post(0, True, b"first", 0.5)
        assert pool.replies() == [(0, True, b"first", 0.5)]
        assert worker.begin(1) and worker.post(1, False, b"", 2.0)
        assert pool.begun == 2 and pool.replies() == [(1, False, b"", 2.0)] and pool.replies() == []
        assert not worker.begin(2)


def test_what_is_held_does_not_begin(sides):
    pool, worker = sides
    pool.clear(10)
    assert worker.begin(0)
    assert pool.hold(2) == 1
    assert pool.hold(5) == 1  # lets no more begin than before
    assert worker.begin(1) and not worker.begin(2)
    assert pool.hold(1) == 3, "it says that one has begun or was refused"


def test_a_reply_that_finds_no_room_is_refused_and_the_next_small_one_is_not(sides):
    pool, worker = sides
    pool.clear(2)
    assert worker.begin(0) and not worker.post(0, True, bytes(1 << 20), 0.0)
    assert worker.begin(1) and worker.post(1, True, b"small", 0.0)
    assert pool.replies() == [(1, True, b"small", 0.0)]


def test_a_closed_board_takes_what_is_said_too_late(sides):
    pool, _ = sides
    pool.close()
    pool.close()
    assert pool.hold(0) == 0 and pool.replies() == []


def test_two_processes_agree_on_what_has_begun():
    """A worker that begins jobs as fast as it can, and a pool that holds it at any moment."""
    rounds = 100
    pool = SharedStatus()
    go, going = os.pipe()
    done, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        worker = SharedStatus(pool.fileno())
        for _ in range(rounds):
            os.read(go, 1)
            index = 0
            while index < MOST_JOBS and worker.begin(index):
                sum(range(2000))
                worker.post(index, True, b"ran", 0.0)
                index += 1
            os.write(end, bytes([index]))
        os._exit(0)
    try:
        held = 0
        for _ in range(rounds):
            pool.clear(MOST_JOBS)
            os.write(going, b"g")
            until = random.randrange(MOST_JOBS)
            while pool.begun < until:
                pass
            first = max(pool.begun, 1)
            begun = pool.hold(first)
            ran = os.read(done, 1)[0]
            assert len(pool.replies()) == ran
            if begun <= first:
                held += ran < MOST_JOBS
                assert ran <= first
            else:
                assert ran in (begun - 1, begun)
        assert held, "it never happened that a job was held"
    finally:
        os.waitpid(pid, 0)
        for fd in (go, going, done, end):
            os.close(fd)
        pool.close()
