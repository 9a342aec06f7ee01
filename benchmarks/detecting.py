"""Costs of the race detector: programs with it, against the same programs without, in turns in one process.

    python benchmarks/detecting.py [--quick]

The aim: at most 2 times as long while a graph is built, at most 1.5 times for tiny runs, at most 1.1 times for a
training step of a millisecond or more. A tiny run is TensorFlow's Session.run of one operation, as programs have it,
and the same by tf1sessions' calls, which take a tenth of its time; the end of "Running" has a line for either.
"hooked" is with hooks around Python's primitives and no detector, as under the pytest plugin while no test asks for
the detector; "on" is inside graph_races(). All figures are of the fastest round, so that other work on the machine
changes them little. Where threads hand requests over all of them are on one processor (on Linux): on two, waking the
other one takes now longer, now shorter, by more than what is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import queue
import statistics
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

import numpy as np

import tf1sessions as t1
from tf1sessions.testing import graph_races
from tf1sessions.testing.synchronisation import hooks_in_place

t1.enable_v1_behavior()
tf = t1.tf1
MODES = {"off": contextlib.nullcontext, "hooked": hooks_in_place, "on": graph_races}


# -- building: each makes a graph -------------------------------------------------------------------------------------


def layers():
    """About 2,000 operations: dense layers, their gradients and Adam's updates."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 8])
        for number in range(42):
            x = tf.layers.dense(x, 8, tf.nn.relu, name=f"layer{number}")
        tf.train.AdamOptimizer().minimize(tf.reduce_mean(x))
    return len(graph.get_operations())


def single():
    """Operations, one at a time."""
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        for _ in range(999):
            x = tf.add(x, x)
    return len(graph.get_operations())


def constants():
    """The cheapest of them."""
    with tf.Graph().as_default() as graph:
        for number in range(1000):
            tf.constant(number)
    return len(graph.get_operations())


def scopes():
    """Functions within functions, as models have them: twenty frames of the program above each operation."""

    def deep(x, depth):
        if depth:
            return deep(x, depth - 1)
        with tf.name_scope("block"), tf.device("/cpu:0"):
            return tf.nn.relu(x + 1.0)

    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        for _ in range(250):
            x = deep(x, 20)
    return len(graph.get_operations())


# -- running: each gives a function that runs a session once ----------------------------------------------------------


@contextlib.contextmanager
def tiny(kind):
    """A step of a few microseconds."""
    with tf.Graph().as_default(), kind() as session:
        x = tf.placeholder(tf.float32, [2])
        y, feed = x * 2.0, np.ones(2, np.float32)
        yield lambda: session.run(y, {x: feed})


@contextlib.contextmanager
def compiled():
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [2])
        call, feed = gs.compile([x], x * 2.0), np.ones(2, np.float32)
        yield lambda: call(feed)


@contextlib.contextmanager
def in_turns_of_two():
    """Two requests from one line, as a function of the program's own runs them."""
    with tf.Graph().as_default(), t1.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        requests, feed = (x * 2.0, x * 3.0), np.ones(2, np.float32)

        def run(fetches):
            return session.run(fetches, {x: feed})

        yield lambda: [run(fetches) for fetches in requests]


@contextlib.contextmanager
def waiting():
    """A run for each item of a queue, as a server's thread does. The queue is one that was made in the same mode."""
    with tiny(t1.Session) as call:

        def begin():
            nonlocal line
            line = queue.Queue()

        def run():
            line.put(None)
            line.get()
            return call()

        line = queue.Queue()
        run.begin = begin
        yield run


@contextlib.contextmanager
def served(name):
    """One of RUNS for each request to a thread, which gives back a future's result. Begun anew in each mode."""
    with RUNS[name]() as call, contextlib.ExitStack() as stack:

        def begin():
            nonlocal line
            stack.close()
            line = queue.Queue()
            thread = threading.Thread(target=serve, args=(line,))
            thread.start()
            stack.callback(thread.join)
            stack.callback(line.put, None)

        def serve(line):
            for future in iter(line.get, None):
                future.set_result(call())

        def run():
            future = Future()
            line.put(future)
            return future.result()

        line = None
        begin()
        run.begin = begin
        yield run


@contextlib.contextmanager
def training(size, kind):
    """A step that assigns variables; ``size`` of the matrices decides how long it takes."""
    with tf.Graph().as_default(), kind(config=tf.ConfigProto(intra_op_parallelism_threads=1)) as session:
        x = tf.placeholder(tf.float32, [None, size])
        y = tf.layers.dense(tf.layers.dense(x, size, tf.nn.relu), size)
        loss = tf.reduce_mean(tf.square(y))
        step = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
        feed = np.ones((32, size), np.float32)
        session.run(tf.global_variables_initializer())
        yield lambda: session.run([step, loss], {x: feed})


RUNS = {
    "a tiny compiled call": compiled,
    "a tiny run, tf1sessions": lambda: tiny(t1.Session),
    "a tiny run, GraphSession": lambda: tiny(t1.GraphSession),
    "two tiny runs from one line": in_turns_of_two,
    "a tiny run, TensorFlow": lambda: tiny(tf.Session),
    "a training step, tf1sessions": lambda: training(64, t1.Session),
    "a training step, TensorFlow": lambda: training(64, tf.Session),
    "a larger one, tf1sessions": lambda: training(512, t1.Session),
}


#: What is said at the end: the median of some.
SUMMARY = {
    "tiny runs by TensorFlow's Session.run": ["a tiny run, TensorFlow"],
    "the median of the tiny runs by tf1sessions' calls": [
        name for name in RUNS if "tiny" in name and "TensorFlow" not in name
    ],
    "the median of the training steps": [name for name in RUNS if "training" in name or "larger" in name],
}

#: A run for an item or a request from another thread: the hooks of Python's primitives count here, as in PRIMITIVES.
HANDED_OVER = {
    "an item of a queue: a tiny run": waiting,
    **{f"a request: {name}": functools.partial(served, name) for name in RUNS if ", " in name and "Graph" not in name},
}


# -- Python's primitives ----------------------------------------------------------------------------------------------


def locks():
    lock = threading.Lock()
    for _ in range(1000):
        with lock:
            pass


def events():
    event = threading.Event()
    for _ in range(1000):
        event.set()
        event.is_set()


def queues():
    line = queue.Queue()
    for _ in range(1000):
        line.put(None)
        line.get()


def jobs():
    with ThreadPoolExecutor(1) as pool:
        for _ in range(200):
            pool.submit(int).result()


def threads():
    for _ in range(100):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()


PRIMITIVES = {
    "lock": (locks, 1000),
    "event": (events, 1000),
    "queue": (queues, 1000),
    "job": (jobs, 200),
    "thread": (threads, 100),
}


# -- measuring --------------------------------------------------------------------------------------------------------


def took(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def repeat(call, count):
    for _ in range(count):
        call()


def warm(call, count):
    getattr(call, "begin", int)()
    repeat(call, count)


def in_turns(function, rounds, before=lambda: None):
    """The least seconds in each mode. Each round tries all modes, one after the other, after ``before()``."""
    found = dict.fromkeys(MODES, float("inf"))
    for _ in range(rounds):
        for name, mode in MODES.items():
            with mode():
                before()
                found[name] = min(found[name], took(function))
    return found


def of_calls(make, rounds):
    """The least seconds of so many calls in each mode, and how many.

    A millisecond at a time, which a busy machine may leave alone; what is done for each request once, and what Python
    learns of a function that was put in place, is not counted.
    """
    with make() as call:
        call()
        count = max(2, int(1e-3 / min(took(call) for _ in range(10))))
        return in_turns(functools.partial(repeat, call, count), rounds, functools.partial(warm, call, 5 * count)), count


def on_one_processor():
    """From here on all threads of this process, and those that they start, are on one."""
    if os.path.isdir("/proc/self/task"):
        one = {min(os.sched_getaffinity(0))}
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), one)


def row(name, seconds, count):
    off, quiet, on = (each / count * 1e6 for each in seconds.values())
    print(f"{name:37}{off:10.2f} us{quiet / off:10.2f} x{on / off:10.2f} x{on - off:10.2f} us", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a look")
    rounds = 3 if parser.parse_args().quick else 7
    print(f"Python {sys.version.split()[0]}, TensorFlow {tf.version.VERSION}; {rounds} rounds\n")
    head = f"{'off':>13}{'hooked':>12}{'on':>12}{'on - off':>13}"
    print(f"{'Building, an operation':37}{head}")
    for make in (layers, single, constants, scopes):
        row(f"{make.__name__}, {make()} operations", in_turns(make, rounds), make())
    print(f"\n{'Running, a call':37}{head}")
    ratios = {}
    for name, make in RUNS.items():
        seconds, count = of_calls(make, 40 * rounds)
        row(name, seconds, count)
        ratios[name] = seconds["on"] / seconds["off"]
    for what, names in SUMMARY.items():
        print(f"{what:60}{statistics.median(ratios[name] for name in names):12.2f} x")
    print(f"\n{'Python alone':37}{head}")
    for name, (function, count) in PRIMITIVES.items():
        row(f"a {name}", in_turns(function, 3 * rounds), count)
    on_one_processor()
    print(f"\n{'A run for ... (one processor)':37}{head}")
    for name, make in HANDED_OVER.items():
        row(name, *of_calls(make, 40 * rounds))


if __name__ == "__main__":
    main()
