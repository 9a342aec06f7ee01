"""What one call costs: ``Session.run`` as TensorFlow ships it against ours, on the same graph in the same process.

    python benchmarks/calls.py [--quick]

Prints a table of ratios. What is aimed at: compile() at least 10 times Session.run on a tiny graph, run() at least
5 times, eight threads with a session each at least 10 times the calls a second; results copied in each case.
"""

from __future__ import annotations

import argparse
import functools
import os
import statistics
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

import tf1sessions as t1
from tf1sessions.sessions import operations

tf = t1.tf1


def cost(call, seconds=0.3, repeats=5):
    """Median microseconds of one call."""
    for _ in range(50):
        call()
    found = []
    for _ in range(repeats):
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds / repeats:
            for _ in range(10):
                call()
            count += 10
        found.append((time.perf_counter() - start) / count * 1e6)
    return statistics.median(found)


def calls_a_second(makers, seconds):
    """Calls a second of all threads together, each calling its own function."""
    counts = [0] * len(makers)
    start, stop = threading.Barrier(len(makers) + 1), threading.Event()

    def work(index, call):
        start.wait()
        while not stop.is_set():
            for _ in range(20):
                call()
            counts[index] += 20

    threads = [threading.Thread(target=work, args=(index, call)) for index, call in enumerate(makers)]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - began)


def tiny(graph):
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.add(x * 2.0, 1.0, name="y")
    return x, y


def large(graph):
    with graph.as_default():
        x = tf.placeholder(tf.float32, [1024, 16])
        w = tf.get_variable("w", [16, 1024], initializer=tf.ones_initializer(), use_resource=True)
        return x, tf.matmul(x, w), tf.concat([tf.matmul(x, w)], 0) + 1.0, w.initializer


def train(graph):
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 16])
        w1 = tf.get_variable("w1", [16, 32], use_resource=False)
        w2 = tf.get_variable("w2", [32, 1], use_resource=False)
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2) - 1.0))
        step = tf.train.AdamOptimizer(1e-3).minimize(loss)
        return x, [step, loss], tf.global_variables_initializer()


def layers(count, width):
    """A training step of ``count`` dense layers: graph, placeholder, request, initializer."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, width])
        hidden = x
        for index in range(count):
            hidden = tf.nn.relu(tf.matmul(hidden, tf.get_variable(f"w{index}", [width, width], use_resource=False)))
        loss = tf.reduce_mean(tf.square(hidden))
        step = tf.train.AdamOptimizer(1e-4).minimize(loss)
        return graph, x, [step, loss], tf.global_variables_initializer()


def inference(count, width):
    """A chain of dense layers without training: nothing of it can run side by side."""
    graph = tf.Graph()
    with graph.as_default():
        x = hidden = tf.placeholder(tf.float32, [None, width])
        for index in range(count):
            hidden = tf.nn.relu(tf.matmul(hidden, tf.get_variable(f"w{index}", [width, width], use_resource=False)))
        return graph, x, [hidden], tf.global_variables_initializer()


def branches(count, width):
    """Element by element, ``count`` times side by side."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, width])
        return graph, x, [tf.add_n([tf.tanh(x * float(index)) for index in range(count)])], tf.no_op()


def where_it_runs(seconds):
    """The figures behind operations.MAX_CALLER_...: the calling thread against the pool, by size of graph."""
    print(f"\n{'microseconds':<58}{'pool':>12}{'caller':>12}{'ratio':>10}")
    limits = operations.MAX_CALLER_OPERATIONS, operations.MAX_CALLER_OVERLAP
    operations.MAX_CALLER_OPERATIONS = operations.MAX_CALLER_OVERLAP = 10**9
    try:
        for what, make, count, width, batch in [
            ("training step", layers, 1, 32, 8),
            ("training step", layers, 2, 32, 8),
            ("training step", layers, 4, 32, 8),
            ("training step", layers, 6, 32, 8),
            ("training step", layers, 10, 32, 8),
            ("training step", layers, 2, 64, 32),
            ("training step", layers, 2, 128, 32),
            ("training step", layers, 2, 256, 32),
            ("training step", layers, 2, 256, 128),
            ("inference", inference, 3, 32, 32),
            ("inference", inference, 3, 512, 32),
            ("branches", branches, 8, 32, 32),
            ("branches", branches, 8, 8192, 32),
        ]:
            graph, x, request, init = make(count, width)
            tensors = [each for each in request if isinstance(each, tf.Tensor)]
            pruned = operations.prune(tensors, [each for each in request if each not in tensors], [x])
            values = np.ones((batch, width), np.float32)
            found = {"pool": [], "caller": []}
            for _ in range(3):
                for execution, costs in found.items():
                    with t1.Session(graph=graph, execution=execution) as session:
                        session.run(init)
                        costs.append(cost(lambda s=session: s.run(request, {x: values}), seconds / 2))  # noqa: B023
            size = f"{len(pruned)} operations, overlap {operations.overlap(pruned):.0f}"
            row(f"{what} {count} x {width}, batch {batch}, {size}", *map(statistics.median, found.values()))
    finally:
        operations.MAX_CALLER_OPERATIONS, operations.MAX_CALLER_OVERLAP = limits


def row(what, base, ours):
    print(f"{what:<58}{base:>12.1f}{ours:>12.1f}{base / ours:>9.1f}x")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a tenth of the time; the ratios are less steady")
    seconds = 0.1 if parser.parse_args().quick else 1.0

    print(f"{'one call, microseconds':<58}{'Session.run':>12}{'ours':>12}{'ratio':>10}")
    small = np.ones((2, 4), np.float32)
    with t1.GraphSession() as gs:
        x, y = tiny(gs.graph)
        raw = tf.Session(graph=gs.graph)
        pool = t1.Session(graph=gs.graph, execution="pool")
        base = cost(lambda: raw.run(y, {x: small}), seconds)
        compiled = gs.compile(feeds=[x], fetches=y)
        row("tiny graph, compile()", base, cost(lambda: compiled(small), seconds))
        row("tiny graph, run()", base, cost(lambda: gs.run(y, {x: small}), seconds))
        row("tiny graph, run(), a list fed", base, cost(lambda: gs.run(y, {x: [[1.0, 2.0, 3.0, 4.0]]}), seconds))
        row("tiny graph, run({name: [tensors]})", base, cost(lambda: gs.run({"a": [y]}, {x: small}), seconds))
        row("tiny graph, run(), execution='pool'", base, cost(lambda: pool.run(y, {x: small}), seconds))
        raw.close()
        pool.close()
    with t1.GraphSession() as gs:
        x, fetches, init = train(gs.graph)
        batch = np.ones((8, 16), np.float32)
        raw = tf.Session(graph=gs.graph)
        pool = t1.Session(graph=gs.graph, execution="pool")
        for each in (raw, gs, pool):
            each.run(init)
        base = cost(lambda: raw.run(fetches, {x: batch}), seconds)
        row("training step of two layers (Adam), run()", base, cost(lambda: gs.run(fetches, {x: batch}), seconds))
        row("the same, execution='pool'", base, cost(lambda: pool.run(fetches, {x: batch}), seconds))
        raw.close()
        pool.close()
    with t1.GraphSession() as gs:
        x, fresh, other, init = large(gs.graph)
        batch = np.ones((1024, 16), np.float32)
        raw = tf.Session(graph=gs.graph)
        for each in (raw, gs):
            each.run(init)
        for what, fetch in (("4 MB result of a matmul", fresh), ("4 MB result, owner unknown: copied", other)):
            row(
                what + ", run()",
                cost(lambda f=fetch: raw.run(f, {x: batch}), seconds),
                cost(lambda f=fetch: gs.run(f, {x: batch}), seconds),
            )
        raw.close()

    where_it_runs(seconds)

    print(f"\n{'eight threads, a session each, calls a second':<58}{'Session.run':>12}{'ours':>12}{'ratio':>10}")
    graphs = [tf.Graph() for _ in range(8)]
    ends = [tiny(graph) for graph in graphs]
    raws = [tf.Session(graph=graph) for graph in graphs]
    ours = [t1.Session(graph=graph) for graph in graphs]
    ways = {"raw": [], "run()": [], "compile()": []}
    for raw, session, (x, y) in zip(raws, ours, ends, strict=True):
        ways["raw"].append(lambda raw=raw, x=x, y=y: raw.run(y, {x: small}))
        ways["run()"].append(lambda session=session, x=x, y=y: session.run(y, {x: small}))
        ways["compile()"].append(functools.partial(t1.CompiledCall(session, [x], y, None), small))
    rates = {way: [] for way in ways}
    for _ in range(3):
        for way, calls in ways.items():
            rates[way].append(calls_a_second(calls, seconds))
    median = {way: statistics.median(found) for way, found in rates.items()}
    for way in ("compile()", "run()"):
        ratio = median[way] / median["raw"]
        print(f"{'tiny graphs, ' + way:<58}{median['raw']:>12.0f}{median[way]:>12.0f}{ratio:>9.1f}x")
    for session in raws + ours:
        session.close()


if __name__ == "__main__":
    main()
