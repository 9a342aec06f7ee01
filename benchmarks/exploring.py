"""Seconds that explore() takes for 1,000 orders of programs with three threads, the last ones with a session.

    python benchmarks/exploring.py [--quick]

The aim: under 20 seconds. Each program is right, so that no order ends the exploration; none makes a graph for each
order, but for the last one.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tf1sessions as t1
from tf1sessions.testing import explore

t1.enable_v1_behavior()
tf = t1.tf1
ORDERS = 20 if "--quick" in sys.argv else 1000


def in_threads(function: Callable[[], object]) -> None:
    threads = [threading.Thread(target=function) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def locks() -> None:
    one, other = threading.Lock(), threading.Lock()

    def work() -> None:
        for _ in range(3):
            with one, other:
                pass

    in_threads(work)


def queues() -> None:
    line: queue.Queue[int] = queue.Queue(2)
    in_threads(lambda: [line.put(1), line.get(), line.put(2), line.get()])


def executor() -> None:
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda value: 2 * value, range(4))) == [0, 2, 4, 6]


class Counter:
    """A variable that is assigned what it is fed."""

    def __init__(self) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            variable = tf.get_variable("count", initializer=0.0, use_resource=True)
            self.value = tf.placeholder(tf.float32, [])
            self.assign, self.read = variable.assign(self.value), variable.read_value()
            self.init = variable.initializer

    def count(self, session: tf.Session) -> None:
        lock = threading.Lock()

        def add() -> None:
            for _ in range(2):
                with lock:
                    session.run(self.assign, {self.value: session.run(self.read) + 1.0})

        session.run(self.init)
        in_threads(add)
        assert session.run(self.read) == 6.0


counter = Counter()
shared = tf.Session(graph=counter.graph)


def one_session() -> None:
    counter.count(shared)


def a_session_for_each_order() -> None:
    with tf.Session(graph=counter.graph) as session:
        counter.count(session)


def a_graph_for_each_order() -> None:
    made = Counter()
    with tf.Session(graph=made.graph) as session:
        made.count(session)


for program in (locks, queues, executor, one_session, a_session_for_each_order, a_graph_for_each_order):
    begin = time.perf_counter()
    found = explore(program, max_schedules=ORDERS)
    secs = time.perf_counter() - begin
    print(f"{program.__name__:26} {1000 * secs / found.schedules:6.1f} s for 1,000 orders; {found}")
