"""Futures that make their condition late: whoever waits, in whatever way, finds the end."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import threading
from concurrent.futures import CancelledError, Future

import pytest

from tf1sessions.pools.futures import LateFuture

DEADLINE = 60.0


def end(future, result=None, error=None):
    taken = future.settle(result, error)
    future.call_back()
    return taken


def test_one_that_has_ended_before_anybody_looks():
    future = LateFuture()
    assert not future.done() and not future.cancelled() and not future.is_watched
    assert end(future, 3)
    assert future.done() and not future.cancelled() and future.result(0) == 3 and not future.is_watched
    assert future.exception(0) is None and not future.cancel() and not end(future, 4) and future.result() == 3


def test_an_error():
    future = LateFuture()
    end(future, error=ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        future.result()
    assert type(future.exception()) is ValueError


def test_a_cancelled_one_takes_no_result_and_tells_those_who_wait():
    future = LateFuture()
    assert future.cancel() and future.cancel() and future.cancelled() and future.done()
    waiting = threading.Thread(target=concurrent.futures.wait, args=([future],), daemon=True)
    waiting.start()
    assert not end(future, 3)
    waiting.join(DEADLINE)
    assert not waiting.is_alive()
    with pytest.raises(CancelledError):
        future.result()


def test_time_limits_and_callbacks():
    future = LateFuture()
    with pytest.raises(concurrent.futures.TimeoutError):
        future.result(0.001)
    told = []
    future.add_done_callback(told.append)
    assert not told
    end(future, 1)
    future.add_done_callback(told.append)
    assert told == [future, future] and "finished" in repr(future)


def test_together_with_those_of_others():
    mine, theirs = [LateFuture() for _ in range(3)], Future()
    end(mine[0], 0)
    timer = threading.Timer(0.01, lambda: (end(mine[1], 1), theirs.set_result(2), mine[2].cancel(), end(mine[2])))
    timer.start()
    found = list(concurrent.futures.as_completed([*mine, theirs], DEADLINE))
    assert len(found) == 4 and set(found) == {*mine, theirs}
    assert concurrent.futures.wait(mine, DEADLINE).done == set(mine)

    async def wait(future):
        return await asyncio.wrap_future(future)

    assert asyncio.run(wait(mine[1])) == 1


@pytest.mark.parametrize("how", ["result", "as_completed", "callback", "cancel"])
def test_the_end_and_the_first_look_at_the_same_moment(how):
    """Many times; nobody waits for ever, and nobody is told twice."""
    rounds = 2000
    futures = [LateFuture() for _ in range(rounds)]
    turn = threading.Barrier(2, timeout=DEADLINE)
    taken = []

    def settle():
        for number, future in enumerate(futures):
            if number % 50 == 0:
                turn.wait()
            taken.append(end(future, number))

    thread = threading.Thread(target=settle)
    thread.start()
    told, cancelled = itertools.count(), []
    for number, future in enumerate(futures):
        if number % 50 == 0:
            turn.wait()
        if how == "result":
            assert future.result(DEADLINE) == number
        elif how == "as_completed":
            assert list(concurrent.futures.as_completed([future], DEADLINE)) == [future]
        elif how == "callback":
            future.add_done_callback(lambda _: next(told))
        else:
            cancelled.append(future.cancel())
    thread.join(DEADLINE)
    assert not thread.is_alive()
    if how == "callback":
        assert next(told) == rounds
    if how == "cancel":
        assert [not one for one in cancelled] == taken
    assert all(future.done() for future in futures)
