"""What the tests of QueuePipeline share: gates in place of time, states that are waited for, and what must be gone."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from support import wait_for

import tf1sessions as t1
from tf1sessions.sessions.watchdog import watchdog

DEADLINE = 30.0


class Boom(Exception):
    """What fails in these tests."""


class Gate:
    """A place where threads stand until it is opened. A py_func that stands there needs a thread of TensorFlow's."""

    def __init__(self) -> None:
        self._opened = threading.Event()
        self._arrivals = threading.Semaphore(0)

    def stand(self, value: Any = None) -> Any:
        """Stands there; returns ``value``."""
        self._arrivals.release()
        assert self._opened.wait(DEADLINE), "the gate was not opened"
        return value

    def arrive(self) -> None:
        """Notes an arrival only."""
        self._arrivals.release()

    def wait_for(self, count: int = 1) -> None:
        """Waits until so many threads more have come."""
        for number in range(count):
            assert self._arrivals.acquire(timeout=DEADLINE), f"{number} of {count} threads have come to the gate"

    def open(self) -> None:
        self._opened.set()


@contextlib.contextmanager
def once(condition: Callable[[], Any], then: Callable[[], Any], what: str) -> Iterator[None]:
    """A thread that waits for a condition while the block runs, and then does something."""

    def main() -> None:
        wait_for(condition, what)
        then()

    thread = threading.Thread(target=main, name="once", daemon=True)
    thread.start()
    yield
    thread.join(DEADLINE)
    assert not thread.is_alive()


def main_waits() -> bool:
    """Whether the main thread is in a run of a session that may wait."""
    return watchdog.call_of(threading.main_thread().ident) is not None


# -- what a pipeline is doing ----------------------------------------------------------------------------------------


def waiting_in(operation: str) -> int:
    """How many threads are in a call of a session with this operation, of those that may wait."""
    return sum(any(name == operation for name, _ in call.operations) for call in watchdog.calls())


def size_of(gs: Any, queue: Any) -> int:
    return int(gs.session.run(queue.size_now))


def is_closed(gs: Any, queue: Any) -> bool:
    """Whether a queue takes no more; looked at by an operation that the first call makes."""
    name = f"{queue.name}_looked_at"
    try:
        operation = gs.graph.get_operation_by_name(name)
    except KeyError:
        with gs.graph.as_default():
            operation = queue.is_closed(name).op
    return bool(gs.session.run(operation.outputs[0]))


def full(gs: Any, pipe: Any, queue: Any, stage: str, blocked: int = 1) -> None:
    """Waits until ``queue`` is full, and so many threads of ``stage`` (a source of operations) wait for space in it.

    The stage is the only one that has written to it.
    """

    def reached() -> bool:
        reported = pipe.statistics().stages[stage]
        return reported.runs == queue.capacity == size_of(gs, queue) and _in_runs(pipe, stage) == blocked

    wait_for(reached, f"{queue.name} full, and {blocked} threads of {stage} waiting for space")


def empty(gs: Any, pipe: Any, queue: Any, stage: str, blocked: int = 1) -> None:
    """Waits until so many threads of ``stage`` wait for items of ``queue``, which has none."""

    def reached() -> bool:
        return size_of(gs, queue) == 0 and _in_runs(pipe, stage) == blocked

    wait_for(reached, f"{queue.name} empty, and {blocked} threads of {stage} waiting for items")


def _in_runs(pipe: Any, stage: str) -> int:
    """How many threads of a stage are in a call of the session that may wait."""
    prefix = f"{pipe.name}/{stage}"
    idents = {thread.ident for thread in threading.enumerate() if thread.name.startswith(prefix)}
    return sum(call.thread in idents for call in watchdog.calls())


def state(pipe: Any, queue: Any) -> str:
    """What the pipeline has made of a queue: "open", "ended" or "cancelled"."""
    reported: str = pipe.statistics().queues[queue.name].state
    return reported


# -- what must be gone -----------------------------------------------------------------------------------------------


def threads_now() -> set[threading.Thread]:
    """Threads of Python's: not TensorFlow's that have run some Python, nor those that serve the whole process."""
    return {
        thread
        for thread in threading.enumerate()
        if not isinstance(thread, threading._DummyThread) and not thread.name.startswith("tf1sessions-watchdog")
    }


def descriptors() -> list[str]:
    """The open files of this process, by what they are; empty where there is no /proc."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(FileNotFoundError):  # that of the listing
                found.append(os.readlink(f"/proc/self/fd/{number}"))
    return sorted(found)


@contextlib.contextmanager
def nothing_leaks() -> Iterator[None]:
    """No thread that the block has started, and no file that it has opened, is there after it."""
    threads, files = threads_now(), descriptors()
    yield
    assert {thread.name for thread in threads_now() - threads} == set()
    if len(descriptors()) != len(files):
        gc.collect()  # of earlier tests
    left = descriptors()
    assert len(left) <= len(files), [each for each in left if each not in files]


@contextlib.contextmanager
def session(threads: int = 16, **settings: Any) -> Iterator[Any]:
    """A GraphSession that still works after the block, with threads of its own for py_funcs that stand at gates."""
    config = t1.SessionConfig(inter_op_threads=threads, per_session_threads=True, **settings)
    with t1.GraphSession(config) as gs:
        tf = t1.tf1
        value = tf.constant(3.0) * tf.constant(2.0)
        yield gs
        assert gs.run(value) == 6.0, "the session does not work any more"


def last_line(error: BaseException) -> str:
    """The source line at which an error was raised."""
    return traceback.extract_tb(error.__traceback__)[-1].line or ""
