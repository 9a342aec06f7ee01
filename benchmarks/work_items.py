"""Parts of graphs run by a few threads: what people write by hand, an executor, and our WorkQueue, in one process.

    python benchmarks/work_items.py [--quick] [--workers N]

Two models live in one session, and items of both come in turn. Prints, as medians of rounds with ratios in each round:

- items a second, of a tiny graph and of one that computes, handed over at once by one thread;
- items a second of eight keys, whose items must run in order: eight bursts of items that wait for 2 ms each, against
  an executor and a lock for each key;
- how long an urgent item takes while 200 others wait that compute, against an executor and ``queue.PriorityQueue``.
"""

from __future__ import annotations

import argparse
import collections
import gc
import itertools
import os
import queue
import statistics
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

import tf1sessions as t1

tf = t1.tf1


class HandWritten:
    """``queue.Queue`` (or ``PriorityQueue``), threads that call ``run``, and a Future for each result."""

    def __init__(self, run, workers, waiting=None):
        self._run = run
        self._queue = waiting or queue.Queue()
        self._numbers = itertools.count()
        self._threads = [threading.Thread(target=self._work) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, fetches, feeds, priority=0):
        future = Future()
        self._queue.put((priority, next(self._numbers), fetches, feeds, future))
        return future

    def _work(self):
        while True:
            _, _, fetches, feeds, future = self._queue.get()
            if future is None:
                return
            try:
                future.set_result(self._run(fetches, feeds))
            except Exception as error:
                future.set_exception(error)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for _ in self._threads:
            self._queue.put((float("inf"), next(self._numbers), None, None, None))
        for thread in self._threads:
            thread.join()


class Executor(ThreadPoolExecutor):
    """``ThreadPoolExecutor`` with ``run`` for its function."""

    def __init__(self, run, workers):
        super().__init__(workers)
        self._run = run

    def submit(self, fetches, feeds, **ignored):
        return super().submit(self._run, fetches, feeds)


class LockForEachKey(Executor):
    """Items of a key one at a time: each waits for its key's lock. Which comes first is chance."""

    def __init__(self, run, workers):
        super().__init__(run, workers)
        self._locks = collections.defaultdict(threading.Lock)

    def submit(self, fetches, feeds, key):
        return ThreadPoolExecutor.submit(self, self._run_locked, fetches, feeds, self._locks[key])

    def _run_locked(self, fetches, feeds, lock):
        with lock:
            return self._run(fetches, feeds)


def reported(values, digits=0):
    """Median, and the least and the most."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def compare(what, ways, measure, rounds, *, digits=0, smaller_is_better=False):
    """Measures all ways in each round; prints medians, and the ratios of WorkQueue to the others."""
    found = {way: [] for way in ways}
    for make in ways.values():
        measure(make)
    for _ in range(rounds):
        for way, make in ways.items():
            found[way].append(measure(make))
    print(f"\n{what}: median of {rounds} (least to most), and how much better WorkQueue is")
    for way, values in found.items():
        ratios = [ours / theirs for ours, theirs in zip(found["WorkQueue"], values, strict=True)]
        if smaller_is_better:
            ratios = [1 / ratio for ratio in ratios]
        print(f"  {way:<44}{reported(values, digits):<28}{'' if way == 'WorkQueue' else reported(ratios, 2) + ' x'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a quarter of the items; the ratios are less steady")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    workers, part = options.workers, 4 if options.quick else 1

    gs = t1.GraphSession()
    with gs.as_default():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        tiny = [tf.nn.softmax(x), tf.reduce_sum(x, axis=1)]
        wide = tf.placeholder(tf.float32, [None, 256], name="wide")
        models = []
        for name in ("a", "b"):
            y = wide
            for layer in range(8):
                with tf.variable_scope(f"{name}{layer}"):
                    y = tf.nn.relu(tf.matmul(y, tf.get_variable("w", [256, 256])))
            models.append(y)
        waits = tf.numpy_function(lambda value: (time.sleep(0.002), value)[1], [x], tf.float32)
        gs.initialize()
        init = gs.graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
        values = gs.run(init)
        with gs.building():
            assign = [tf.assign(variable, value) for variable, value in zip(init, values, strict=True)]
    gs.seal()
    session = tf.Session(graph=gs.graph)  # TensorFlow's, with a copy of the weights
    session.run(assign)
    small, rows = {"x:0": np.ones((2, 4), np.float32)}, {"wide:0": np.ones((128, 256), np.float32)}

    def throughput(fetches, feeds, count):
        def measure(make):
            with make() as work:
                began = time.perf_counter()
                futures = [work.submit(fetches[number % len(fetches)], feeds) for number in range(count)]
                for future in futures:
                    future.result()
                return count / (time.perf_counter() - began)

        return measure

    ways = {
        "queue.Queue, threads, Session.run": lambda: HandWritten(session.run, workers),
        "ThreadPoolExecutor, Session.run": lambda: Executor(session.run, workers),
        "queue.Queue, threads, GraphSession.run": lambda: HandWritten(gs.run, workers),
        "ThreadPoolExecutor, GraphSession.run": lambda: Executor(gs.run, workers),
        "WorkQueue": lambda: t1.WorkQueue(gs, workers, queue_limit=10**6),
    }
    gc.collect()
    gc.freeze()  # else, now and then, a look at all of TensorFlow's objects takes half a second of some way's time
    print(f"{workers} workers, {os.cpu_count()} processors")
    compare("tiny items a second", ways, throughput(tiny, small, 8000 // part), options.rounds)
    compare("items that compute, a second", ways, throughput(models, rows, 400 // part), options.rounds)

    def in_order(make):
        count = 40 // part
        with make() as work:
            began = time.perf_counter()
            futures = [work.submit(waits, small, key=key) for key in range(8) for _ in range(count)]
            for future in futures:
                future.result()
            return len(futures) / (time.perf_counter() - began)

    ways = {
        "ThreadPoolExecutor, a lock for each key": lambda: LockForEachKey(gs.run, workers),
        "WorkQueue": lambda: t1.WorkQueue(gs, workers),
    }
    compare("items of eight keys a second", ways, in_order, options.rounds)

    def urgent(make):
        with make() as work:
            futures = [work.submit(models[number % 2], rows) for number in range(200)]
            began = time.perf_counter()
            work.submit(tiny[0], small, priority=-1).result()
            took = time.perf_counter() - began
            for future in futures:
                future.result()
            return took * 1e3

    ways = {
        "ThreadPoolExecutor": lambda: Executor(gs.run, workers),
        "queue.PriorityQueue, threads": lambda: HandWritten(gs.run, workers, queue.PriorityQueue()),
        "WorkQueue": lambda: t1.WorkQueue(gs, workers),
    }
    compare("an urgent item, ms", ways, urgent, options.rounds, digits=2, smaller_is_better=True)
    session.close()
    gs.close()


if __name__ == "__main__":
    main()
