"""Tests that leave something behind, and the same ones tidied up; run by test_leaks_plugin.py with the plugin.

The name of each says how it ends; what it leaves behind is made by the line with "# here".
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing import shared_memory
from typing import Any

import pytest
import tensorflow.compat.v1 as tf

import tf1sessions

tf1sessions.enable_v1_behavior()
FOREVER = [sys.executable, "-c", "import time; time.sleep(100)"]
endings: list[Any] = []


@pytest.fixture(scope="module", autouse=True)
def all_ends() -> Iterator[None]:
    yield
    for ending in endings:
        ending()


# -- threads ----------------------------------------------------------------------------------------------------------


def waiting() -> threading.Thread:
    stop = threading.Event()
    endings.append(stop.set)
    return threading.Thread(target=stop.wait, name="waiting", daemon=True)


def test_threads_is_error() -> None:
    waiting().start()  # here


def test_threads() -> None:
    thread = threading.Thread(target=str)
    thread.start()
    thread.join()


@pytest.fixture
def server() -> threading.Thread:
    thread = waiting()
    thread.start()  # here
    return thread


def test_threads_of_a_fixture_is_error(server: threading.Thread) -> None:
    assert server.is_alive()


@pytest.fixture
def tidy_server() -> Iterator[threading.Thread]:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    yield thread
    stop.set()


def test_threads_that_a_fixture_ends(tidy_server: threading.Thread) -> None:
    assert tidy_server.is_alive()


@pytest.fixture(scope="module")
def pool() -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    waiting().start()
    with concurrent.futures.ThreadPoolExecutor(2) as made:
        made.submit(str).result()
        yield made


def test_what_a_module_keeps(pool: concurrent.futures.ThreadPoolExecutor) -> None:
    list(pool.map(str, range(9)))


def test_what_a_module_keeps_and_makes_late(request: pytest.FixtureRequest, tidy_server: threading.Thread) -> None:
    list(request.getfixturevalue("late_pool").map(str, range(9)))


@pytest.fixture(scope="module")
def late_pool() -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    waiting().start()
    with concurrent.futures.ThreadPoolExecutor(2) as made:
        yield made


@pytest.mark.tf1_leaks(allow=("threads",), reason="its server ends at the end of the module")
def test_threads_that_may_stay() -> None:
    waiting().start()


@pytest.mark.tf1_leaks(allow=("processes",), reason="of these it has none")
def test_threads_that_may_not_stay_is_error() -> None:
    waiting().start()  # here


@pytest.mark.tf1_leaks(reason="all may stay")
class TestAllowed:
    def test_threads_that_may_stay(self) -> None:
        waiting().start()


def test_threads_of_a_test_that_fails_fails() -> None:
    waiting().start()
    raise RuntimeError("what matters")


@pytest.mark.xfail(reason="known")
def test_threads_of_a_test_that_may_fail_is_skipped() -> None:
    waiting().start()
    raise RuntimeError("what matters")


# -- processes, shared memory -----------------------------------------------------------------------------------------


def test_processes_is_error() -> None:
    process = subprocess.Popen(FOREVER)  # here
    endings.extend([process.kill, process.wait])


def test_processes() -> None:
    with subprocess.Popen(FOREVER) as process:
        process.kill()
    with multiprocessing.get_context("spawn").Pool(1) as workers:
        assert workers.map(str, [1]) == ["1"]
        workers.close()
        workers.join()


def test_shared_memory_is_error() -> None:
    memory = shared_memory.SharedMemory(create=True, size=100)  # here
    memory.close()
    endings.append(memory.unlink)


def test_shared_memory() -> None:
    memory = shared_memory.SharedMemory(create=True, size=100)
    memory.close()
    memory.unlink()


# -- sessions ---------------------------------------------------------------------------------------------------------


def test_sessions_is_error() -> None:
    tf.Session(graph=tf.Graph())  # here


def test_sessions() -> None:
    with tf.Session(graph=tf.Graph()):
        pass


def test_sessions_of_ours_is_error() -> None:
    endings.append(tf1sessions.GraphSession().close)  # here


def test_sessions_of_fixtures(tf1_session: Any, tf1_sessions: Any, tf1_pool: Any) -> None:
    assert tf1_session.run(tf.constant(1.0)) == 1.0
    assert tf1_pool.submit(lambda session: 1).result() == 1
    assert not tf1_sessions().closed


@pytest.mark.tf1(threads=3, iterations=2)
def test_sessions_in_threads_is_error(tf1_session: Any) -> None:
    tf.Session()  # here


@pytest.mark.tf1(threads=3, iterations=2)
def test_sessions_in_threads(tf1_session: Any) -> None:
    with tf.Session() as session:
        assert session.run(tf.constant(1.0)) == 1.0


# -- queue runners ----------------------------------------------------------------------------------------------------


def queue() -> Any:
    made = tf.FIFOQueue(2, tf.float32)
    tf.train.add_queue_runner(tf.train.QueueRunner(made, [made.enqueue(1.0)]))
    return made


def test_queue_runners_is_error(tf1_graph: Any) -> None:
    queue()
    session = tf.Session()
    coordinator = tf.train.Coordinator()
    endings.extend([coordinator.request_stop, session.close])
    tf.train.start_queue_runners(session, coordinator)  # here


def test_queue_runners(tf1_graph: Any) -> None:
    made = queue()
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        assert session.run(made.dequeue()) == 1.0
        coordinator.request_stop()
        coordinator.join(threads)


# -- graphs -----------------------------------------------------------------------------------------------------------


class TestDefaults:
    @pytest.fixture(scope="class")
    def left(self) -> Iterator[list[Any]]:
        entered: list[Any] = []
        yield entered
        for each in entered:
            each.__exit__(None, None, None)

    def test_defaults_is_error(self, left: list[Any]) -> None:
        left.append(tf.Graph().as_default())
        left[0].__enter__()  # here

    def test_defaults(self) -> None:
        with tf.Graph().as_default():
            pass


def test_operations_is_error() -> None:
    tf.constant(1.0)  # here


def test_operations() -> None:
    tf.reset_default_graph()
    tf.constant(1.0)


def test_growth_is_error(tf1_session: Any) -> None:
    for _ in range(4):
        tf1_session.run(tf.constant(1.0))  # here


def test_growth(tf1_session: Any) -> None:
    x = tf.constant(1.0)
    for _ in range(4):
        tf1_session.run(x)


class TestLegacy(tf.test.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.x = tf.Variable(1.0)

    def test_a_legacy_session(self) -> None:
        with self.test_session() as session:
            session.run(tf.global_variables_initializer())
            self.assertAllClose(session.run(self.x * 2.0), 2.0)

    def test_a_legacy_cached_session(self) -> None:
        with self.cached_session():
            self.evaluate(tf.global_variables_initializer())
            self.assertEqual(self.evaluate(self.x), 1.0)  # noqa: PT009 - a test class of TensorFlow 1
