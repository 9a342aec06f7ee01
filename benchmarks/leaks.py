"""Costs of looking for leaks in a test that leaves nothing, against the same without, in turns in one process.

    python benchmarks/leaks.py [--quick]

"begin + end" is what each test pays; the rest is what things cost more while a watch is on. Medians of the processor's
time of the process, in microseconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

import tf1sessions as t1
from tf1sessions.testing import LeakWatch

t1.enable_v1_behavior()
tf = t1.tf1


def programs():
    """Each a name, a function, and how many calls of it are one measurement."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(1.0)
    plain, ours = tf.Session(graph=graph), t1.Session(graph=graph)

    def start():
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

    def session():
        with tf.Session(graph=graph):
            pass

    def enter():
        with graph.as_default():
            pass

    def build():
        with tf.Graph().as_default():
            for _ in range(100):
                tf.constant(1.0)

    yield "a thread's start and join", start, 20
    yield "a session, made and closed", session, 20
    yield "graph.as_default()", enter, 100
    yield "run() of TensorFlow's session", lambda: plain.run(x), 100
    yield "run() of ours", lambda: ours.run(x), 100
    yield "100 operations", build, 1
    plain.close()
    ours.close()


def micros(function, times):
    begin = time.process_time()
    for _ in range(times):
        function()
    return (time.process_time() - begin) / times * 1e6


def watch_nothing():
    watch = LeakWatch()
    watch.begin()
    assert not watch.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the measurements")
    rounds = 20 if parser.parse_args().quick else 200
    watch_nothing()
    print(f"{'begin + end':32} {statistics.median(micros(watch_nothing, 1) for _ in range(rounds)):8.1f}")
    print(f"{'':32} {'off':>8} {'on':>8} {'more':>8}")
    for name, function, times in programs():
        function()
        off, on = [], []
        for _ in range(rounds):
            off.append(micros(function, times))
            watch = LeakWatch()
            watch.begin()
            on.append(micros(function, times))
            assert not watch.end()
        less, more = statistics.median(off), statistics.median(on)
        print(f"{name:32} {less:8.1f} {more:8.1f} {more - less:8.1f}")


if __name__ == "__main__":
    main()
