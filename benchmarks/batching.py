"""Many callers of one model: ``Session.run`` for each, TensorFlow's own batching op, and our Batcher, in one process.

    python benchmarks/batching.py [--quick] [--clients N]

The model has 25 layers of 1024 x 1024; every request is one row. Prints requests a second and ratios: all clients
calling as fast as they can; one client; and, at half of each way's own load, how long requests take. What is aimed at:
at least 5 times ``Session.run`` and no less than TensorFlow's own batching with 64 clients, and with one client at most
a tenth slower than the direct compiled call.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

import tf1sessions as t1

tf = t1.tf1

LAYERS, WIDTH = 25, 1024


def model(x):
    """The layers; their weights are variables."""
    for index in range(LAYERS):
        weights = tf.get_variable(f"w{index}", [WIDTH, WIDTH], initializer=tf.random_normal_initializer(0, 0.04))
        x = tf.nn.relu(tf.matmul(x, weights))
    return x


def closed_loop(call, clients, seconds):
    """Requests a second of ``clients`` threads, each calling again as soon as it is answered."""
    counts, wrong = [0] * clients, []
    start, stop = threading.Barrier(clients + 1), threading.Event()
    rows = [np.full((1, WIDTH), 1.0 + index / clients, np.float32) for index in range(clients)]
    right = [call(row) for row in rows]

    def work(index):
        start.wait()
        while not stop.is_set():
            answer = call(rows[index])
            counts[index] += 1
        if not np.allclose(answer, right[index], rtol=0, atol=1e-3 * right[index].max()):
            wrong.append(index)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(clients)]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    time.sleep(seconds)
    rate = sum(counts) / (time.perf_counter() - began)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong, f"clients {wrong} got wrong answers"
    return rate


def open_loop(call, clients, rate, seconds):
    """Latencies of requests that come at random, ``rate`` a second in all, whether the others are answered or not."""
    found = [[] for _ in range(clients)]
    row = np.ones((1, WIDTH), np.float32)
    start = threading.Barrier(clients)

    def work(index):
        draw = random.Random(index)
        start.wait()
        began = due = time.perf_counter()
        while True:
            due += draw.expovariate(rate / clients)
            if due > began + seconds:
                return
            time.sleep(max(0.0, due - time.perf_counter()))
            call(row)
            found[index].append(time.perf_counter() - due)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    latencies = sorted(each for part in found for each in part)
    return [latencies[int(share * (len(latencies) - 1))] * 1e3 for share in (0.5, 0.99)]


def reported(values, digits=0):
    """Median, and the least and the most."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a quarter of the time; the ratios are less steady")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    seconds, clients = (0.5 if options.quick else 2.0), options.clients

    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [None, WIDTH])
        with tf.variable_scope("model"):
            y = model(x)

        def batched(threads):
            @tf.nondifferentiable_batch_function(threads, 64, 2000, max_enqueued_batches=64)
            def run(rows):
                with tf.variable_scope("model", reuse=True):
                    return model(rows)

            return run(x)

        own = {threads: batched(threads) for threads in (1, 2)}
        tf.add_to_collection("init", tf.global_variables_initializer())
        gs.initialize()
        gs.seal()
        session = tf.Session(graph=gs.graph)  # TensorFlow's, with a copy of the weights
        session.run(gs.graph.get_collection("init"))
        batcher = t1.Batcher(gs, x, y)
        ways = {
            "Session.run": lambda row: session.run(y, {x: row}),
            "TensorFlow's batching, 1 thread": lambda row: session.run(own[1], {x: row}),
            "TensorFlow's batching, 2 threads": lambda row: session.run(own[2], {x: row}),
            "Batcher": batcher,
        }
        for call in ways.values():
            closed_loop(call, clients, 0.2)
        rates = {way: [] for way in ways}
        for _ in range(options.rounds):
            for way, call in ways.items():
                rates[way].append(closed_loop(call, clients, seconds))
        print(f"{clients} clients, requests a second: median of {options.rounds} (least to most)")
        for way, found in rates.items():
            print(f"  {way:<34}{reported(found)}")
        for way in list(ways)[:-1]:
            ratios = [ours / theirs for ours, theirs in zip(rates["Batcher"], rates[way], strict=True)]
            print(f"  Batcher / {way:<34}{reported(ratios, 2)}")

        direct = gs.compile(feeds=[x], fetches=y)
        single = {"direct compiled call": direct, "Batcher": batcher, "Session.run": ways["Session.run"]}
        row = np.ones((1, WIDTH), np.float32)
        times = {way: [] for way in single}
        order = list(single.items())
        for _ in range(int(50 * options.rounds * seconds)):
            random.shuffle(order)
            for way, call in order:
                began = time.perf_counter()
                call(row)
                times[way].append((time.perf_counter() - began) * 1e3)
        print("\none client, ms a request: median, and the middle half")
        for way, found in times.items():
            low, median, high = statistics.quantiles(found, n=4)
            print(f"  {way:<34}{median:.3f} ({low:.3f} to {high:.3f})")
        slower = statistics.median(times["Batcher"]) / statistics.median(times["direct compiled call"]) - 1
        print(f"  Batcher, slower than the direct call by{100 * slower:6.1f} %")

        print("\nrequests at random: requests a second, median and p99 in ms")
        loads = [(way, "half of its own load", statistics.median(rates[way]) / 2) for way in ways]
        loads.append(("Batcher", "TensorFlow's half load", loads[1][2]))
        for way, what, load in loads:
            medians, worst = zip(*(open_loop(ways[way], clients, load, seconds) for _ in range(3)), strict=True)
            print(f"  {way + ', ' + what:<56}{load:6.0f}   {reported(medians, 1)}   {reported(worst, 1)}")
        print(f"\n{batcher.statistics()}")
        batcher.close()


if __name__ == "__main__":
    main()
