"""What threads wait for, as frames show it, and which of them can never go on; without TensorFlow."""

from __future__ import annotations

import concurrent.futures
import queue
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support import wait_for

from tf1sessions.testing import hangs
from tf1sessions.testing.stalls import stuck
from tf1sessions.testing.waits import Wait, waits

ANY = None


def waiting(holders: Collection[int] | None, is_idle: bool = False) -> Wait:
    return Wait(object(), "something", holders, sys._getframe(), is_idle=is_idle)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({1: waiting([2]), 2: waiting([1])}, {1, 2}),
        ({1: waiting([2]), 2: waiting([1]), 3: None}, {1, 2}),
        ({1: waiting([2]), 2: None}, set()),
        ({1: waiting([2])}, set()),  # 2 has ended, and its lock may be released by another one
        ({1: waiting(ANY), 2: waiting([1])}, {1, 2}),
        ({1: waiting(ANY), 2: waiting([1]), 3: None}, set()),
        ({1: waiting([2, 3]), 2: waiting([1]), 3: waiting([1])}, {1, 2, 3}),
        ({1: waiting([2, 3]), 2: waiting([1]), 3: None}, set()),
        ({1: waiting([2, 3]), 2: waiting([1]), 3: waiting(ANY, is_idle=True), 4: None}, set()),
        ({1: waiting(ANY), 2: waiting(ANY, is_idle=True)}, {1, 2}),
        ({1: waiting(ANY, is_idle=True)}, set()),
        ({1: None}, set()),
        ({}, set()),
    ],
)
def test_stuck(found: dict[int, Wait | None], expected: set[int]) -> None:
    assert set(stuck(found)) == expected


@contextmanager
def thread_in(function: Callable[[], Any], end: Callable[[], Any]) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    yield thread
    end()
    thread.join(30)
    assert not thread.is_alive()


def what(thread: threading.Thread) -> str:
    wait = waits(sys._current_frames())[thread.ident or 0]
    return "" if wait is None else wait.what


EVENT, ITEMS, FULL, FUTURE = (
    threading.Event(),
    queue.Queue[int](),
    queue.Queue[int](1),
    concurrent.futures.Future[int](),
)
BARRIER, PERMITS, CHANGED = threading.Barrier(2), threading.Semaphore(0), threading.Condition()
FULL.put(1)


def wait_changed() -> None:
    with CHANGED:
        CHANGED.wait()


def notify() -> None:
    with CHANGED:
        CHANGED.notify()


@pytest.mark.parametrize(
    ("wait", "end", "words"),
    [
        (EVENT.wait, EVENT.set, "the event"),
        (ITEMS.get, lambda: ITEMS.put(1), "an item of the queue"),
        (lambda: FULL.put(2), FULL.get, "room in the queue"),
        (FULL.join, lambda: [FULL.task_done() for _ in range(2)], "the end of all work for the queue"),
        (FUTURE.result, lambda: FUTURE.set_result(1), "the result of a job that no worker has begun"),
        (BARRIER.wait, BARRIER.wait, "other threads at the barrier"),
        (PERMITS.acquire, PERMITS.release, "the semaphore"),
        (wait_changed, notify, "a notification of the condition"),
    ],
)
def test_what_threads_wait_for(wait: Callable[[], Any], end: Callable[[], Any], words: str) -> None:
    with thread_in(wait, end) as thread:
        wait_for(lambda: what(thread) == words, words)


def test_the_end_of_a_thread() -> None:
    stop = threading.Event()
    with thread_in(stop.wait, stop.set) as other, thread_in(other.join, stop.set) as thread:
        wait_for(lambda: what(thread) == f"the end of thread {other.name!r}", "its join")
        assert waits(sys._current_frames())[thread.ident or 0].holders == (other.ident,)  # type: ignore[union-attr]


def test_a_wait_with_a_time_out_is_none() -> None:
    stop, line = threading.Event(), queue.Queue[int]()
    with thread_in(lambda: stop.wait(30), stop.set) as thread:
        wait_for(lambda: sys._current_frames()[thread.ident or 0].f_code.co_name == "wait", "its wait")
        assert what(thread) == ""
    with thread_in(lambda: line.get(True, 30), lambda: line.put(1)) as thread:
        wait_for(lambda: sys._current_frames()[thread.ident or 0].f_code.co_name == "wait", "its wait")
        assert what(thread) == ""


def test_a_report_fits_on_a_screen() -> None:
    """Each thread is there once; threads of many places are cut off, and counted."""
    stop = threading.Event()
    names = {}
    exec("".join(f"def f{n}(stop):\n    stop.wait()\n" for n in range(40)), names)
    threads = [threading.Thread(target=names[f"f{n}"], args=(stop,), name=f"thread {n}.") for n in range(40)]
    alike = [threading.Thread(target=stop.wait, name=f"alike {n}.") for n in range(30)]
    for thread in (*threads, *alike):
        thread.start()
    wait_for(lambda: all(what(thread) for thread in (*threads, *alike)), "all waits")
    text = hangs.report()
    stop.set()
    for thread in (*threads, *alike):
        thread.join()
    assert len(text.split("\n")) <= 45 and "no thread waits in a session" in text, text
    assert all(text.count(f"'{thread.name}'") <= 1 for thread in (*threads, *alike)), text
    assert all(f"'{thread.name}'" in text for thread in alike) and "more threads" in text, text
    assert "wait for the event, at " in text
