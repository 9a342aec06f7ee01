"""Tests that hang, and use the pytest plugin; run by test_plugin.py. All of them fail."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import tf1sessions as t1

tf: Any = t1.tf1

METHODS = pytest.mark.parametrize(
    "method", [pytest.param(name, marks=pytest.mark.timeout(20, method=name)) for name in ("thread", "signal")]
)


with t1.GraphSession() as first:  # which takes longer than others
    first.run(tf.constant(1.0))


def dequeue() -> Any:
    return tf.FIFOQueue(3, tf.float32, name="food").dequeue(name="eat")


@METHODS
@pytest.mark.tf1(timeout=3)
def test_in_a_session(tf1_session: Any, method: str) -> None:
    tf1_session.run(dequeue())


@METHODS
@pytest.mark.tf1(timeout=3)
def test_in_a_plain_session(tf1_graph: Any, method: str) -> None:
    food = dequeue()
    with tf.Session() as session:
        session.run(food)


@METHODS
@pytest.mark.tf1(timeout=3, threads=3)
def test_in_threads(tf1_session: Any, tf1_thread: Any, method: str) -> None:
    if tf1_thread.number:
        tf1_session.run(dequeue())


@METHODS
@pytest.mark.tf1(timeout=1, threads=2)
def test_in_locks(method: str) -> None:
    """Threads that nothing ends are left."""
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@METHODS
@pytest.mark.tf1(timeout=3)
def test_error_is_swallowed(tf1_session: Any, method: str) -> None:
    food = dequeue()
    tf1_session.graph.finalize()
    try:
        tf1_session.run(food)
    except Exception:  # as programs do that go on
        pass


@METHODS
@pytest.mark.tf1(timeout=3)
def test_in_a_fixture(stuck: None, method: str) -> None:
    pass


@pytest.fixture
def stuck(tf1_session: Any) -> None:
    tf1_session.run(dequeue())


def test_all_goes_on(tf1_session: Any) -> None:
    assert tf1_session.run(tf.constant(1.0)) == 1.0
    raise AssertionError("no time-out")


@pytest.mark.timeout(20, method="signal")
@pytest.mark.tf1(timeout=1)
def test_in_python() -> None:
    time.sleep(60)
