"""ProcessSessionPool against the other pools of processes, in one run: python benchmarks/pools.py [WHAT ...].

WHAT is one or more of start, jobs, arrays, training; all by default. The ways take turns, so that a busy machine slows
all; a figure is the median of the rounds. The first column is ours, the others say how many times as long theirs takes:
above 1 ours is ahead.

    Pool       multiprocessing.Pool, method spawn
    Executor   concurrent.futures.ProcessPoolExecutor, method spawn
    loky       joblib's executor, where joblib is installed

TensorFlow after a fork of a process that has used it hangs, so spawn is what these can be used with.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import operator
import os
import statistics
import sys
import time

import numpy as np

from tf1sessions.pools.processes import ProcessSessionPool

SIZES = [1_000, 10_000, 100_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 400_000_000]  # bytes
JOBS = 2_000
STEPS = 200
ROUNDS = 3
NAMES = ("ours", "Pool", "Executor", "loky")


class Ours:
    """Each of these classes gives one kind of pool the same methods."""

    def __init__(self, workers, mode="tf2", server=None):
        self.pool = ProcessSessionPool(workers, mode=mode, server=server)
        self.close = self.pool.shutdown
        self.submit = self.pool.submit
        self.map = self.pool.map

    def map_in_chunks(self, function, items, size):
        return self.pool.map(function, items, chunksize=size)

    @staticmethod
    def result(submitted):
        return submitted.result()


class Pool:
    def __init__(self, workers):
        self.pool = multiprocessing.get_context("spawn").Pool(workers)
        self.map = self.pool.imap

    def submit(self, function, *args):
        return self.pool.apply_async(function, args)

    def map_in_chunks(self, function, items, size):
        return self.pool.imap(function, items, size)

    def close(self):
        self.pool.close()
        self.pool.join()

    @staticmethod
    def result(submitted):
        return submitted.get()


class Executor(Ours):
    def __init__(self, workers):
        self.pool = concurrent.futures.ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
        self.close, self.submit, self.map = self.pool.shutdown, self.pool.submit, self.pool.map


class Loky(Executor):
    def __init__(self, workers):
        from joblib.externals.loky import ProcessPoolExecutor

        self.pool = ProcessPoolExecutor(workers)
        self.close, self.submit, self.map = self.pool.shutdown, self.pool.submit, self.pool.map


def kinds():
    """The kinds of pools that there are, by name."""
    found = {"ours": Ours, "Pool": Pool, "Executor": Executor, "loky": Loky}
    try:
        import joblib  # noqa: F401
    except ImportError:
        print("joblib is not installed: no loky")
        del found["loky"]
    return found


# ------------------------------------------------------------------------------------------------------------- jobs


def identity(value):
    return value


def first_tensor(*_):
    """What needs TensorFlow's import, and no more."""
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default():
        return len(tf.constant(1.0).graph.get_operations())


def train(*given):
    """A small network of TensorFlow 1 for STEPS steps on one thread; the last loss."""
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default():
        x = tf.constant(np.random.default_rng(given[-1]).standard_normal([256, 64], dtype=np.float32))
        layer = x
        for number, width in enumerate([256, 256, 1]):
            weights = tf.get_variable(f"w{number}", [layer.shape[1], width], use_resource=True)
            layer = tf.tanh(tf.matmul(layer, weights))
        loss = tf.reduce_mean((layer - tf.reduce_mean(x, 1, keepdims=True)) ** 2)
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(STEPS):
                session.run(step)
            return float(session.run(loss))


def pids(pool, workers):
    """Runs jobs until all workers are there."""
    found = set()
    while len(found) < workers:
        found |= {pool.result(one) for one in [pool.submit(worker_pid, 0.05) for _ in range(2 * workers)]}


def worker_pid(secs):
    time.sleep(secs)
    return os.getpid()


# ----------------------------------------------------------------------------------------------------------- tables


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def row(title, times, unit=1e6, form="{:12,.1f}"):
    medians = {name: statistics.median(of_one) for name, of_one in times.items()}
    ours = medians["ours"]
    cells = [f"{medians[name] / ours:10.2f}" if name in medians else f"{'-':>10}" for name in NAMES[1:]]
    print(f"{title:<44}{form.format(ours * unit)} {' '.join(cells)}", flush=True)


def head(title, unit):
    print(f"\n{title:<44}{'ours, ' + unit:>12} " + " ".join(f"{name:>10}" for name in NAMES[1:]))


def start(found):
    """Seconds until a pool's first job has ended that needs TensorFlow; and of the next pool's, while one is open."""
    head("start (jobs that need TensorFlow)", "s")
    first = {name: [] for name in found}
    further = {name: [] for name in found}
    for _ in range(ROUNDS):
        for name, kind in found.items():
            with contextlib.ExitStack() as stack:

                def begin(kind=kind, stack=stack):
                    pool = kind(1, mode="tf1") if kind is Ours else kind(1)
                    stack.callback(pool.close)
                    assert pool.result(pool.submit(first_tensor, 0)) == 1

                first[name].append(seconds(begin))
                further[name].append(seconds(begin))
    row("the first job of the first pool", first, 1, "{:12.2f}")
    row("a further worker, to the end of its first job", further, 1, "{:12.3f}")


def jobs(found):
    """Microseconds of a job that does nothing, two workers."""
    head("jobs that do nothing, 2 workers", "us a job")
    with contextlib.ExitStack() as stack:
        pools = {}
        for name, kind in found.items():
            pools[name] = pool = kind(2)
            stack.callback(pool.close)
            pids(pool, 2)
        ways = {
            "submit, an imported function": lambda pool: [
                pool.result(one) for one in [pool.submit(operator.neg, number) for number in range(JOBS)]
            ],
            "submit, a function of the main program": lambda pool: [
                pool.result(one) for one in [pool.submit(identity, number) for number in range(JOBS)]
            ],
            "map (Pool.imap), an item a job": lambda pool: list(pool.map(operator.neg, range(JOBS))),
            "the same in chunks of 100": lambda pool: list(pool.map_in_chunks(operator.neg, range(JOBS), 100)),
            "one after the other": lambda pool: [
                pool.result(pool.submit(operator.neg, number)) for number in range(JOBS)
            ],
        }
        if "Executor" in pools:
            for name in ("Executor", "loky"):
                if name in pools:
                    executor = pools[name]
                    executor.map_in_chunks = lambda function, items, size, pool=executor.pool: pool.map(
                        function, items, chunksize=size
                    )
        for title, way in ways.items():
            times = {name: [] for name in pools}
            for _ in range(2 * ROUNDS + 1):
                for name, pool in pools.items():
                    times[name].append(seconds(lambda: way(pool)) / JOBS)  # noqa: B023
            row(title, times)


def arrays(found):
    """Milliseconds of a float32 array to a worker and back."""
    head("an array to a worker and back", "ms")
    with contextlib.ExitStack() as stack:
        pools = {}
        for name, kind in found.items():
            pools[name] = pool = kind(1)
            stack.callback(pool.close)
            pids(pool, 1)
        for size in SIZES:
            array = np.random.default_rng(0).standard_normal(size // 4, dtype=np.float32)
            times = {name: [] for name in pools}
            until = time.perf_counter() + 4.0
            while len(times["ours"]) < 4 or (len(times["ours"]) < 300 and time.perf_counter() < until):
                for name, pool in pools.items():
                    times[name].append(seconds(lambda: pool.result(pool.submit(identity, array))))  # noqa: B023
            row(f"{size / 1000:,.0f} kB", {name: of_one[1:] for name, of_one in times.items()}, 1e3, "{:12.3f}")


def training(found):
    """Seconds of four trainings of TensorFlow 1, over one worker and over two."""
    head(f"4 trainings of {STEPS} steps", "s")
    times = {workers: {name: [] for name in found} for workers in (1, 2)}
    cold = {name: [] for name in found}
    with contextlib.ExitStack() as stack:
        pools = {}
        for workers in (1, 2):
            for name, kind in found.items():

                def four(pool):
                    for one in [pool.submit(train, seed) for seed in range(4)]:
                        pool.result(one)

                began = time.perf_counter()
                pools[name, workers] = pool = kind(workers, mode="tf1") if kind is Ours else kind(workers)
                if kind is not Ours or workers == 2:
                    stack.callback(pool.close)
                four(pool)
                if workers == 2:
                    cold[name].append(time.perf_counter() - began)
                elif kind is Ours:  # so that the next one starts from nothing, too
                    pool.close()
        pools["ours", 1] = Ours(1, mode="tf1")
        stack.callback(pools["ours", 1].close)
        four(pools["ours", 1])
        for _ in range(2 * ROUNDS):
            for (name, workers), pool in pools.items():
                times[workers][name].append(seconds(lambda: four(pool)))  # noqa: B023
    row("1 worker that is warm", times[1], 1, "{:12.2f}")
    row("2 workers that are warm", times[2], 1, "{:12.2f}")
    row("2 workers, from nothing to the last result", cold, 1, "{:12.2f}")
    for name in found:
        one, two = (statistics.median(times[workers][name]) for workers in (1, 2))
        print(f"  {name}: two workers are {one / two:.2f} times as fast as one")


def main(wanted):
    found = kinds()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    parts = {"start": start, "jobs": jobs, "arrays": arrays, "training": training}
    for name in wanted or parts:
        if name not in parts:
            raise SystemExit(f"what is {name!r}? Give one or more of {', '.join(parts)}.")
        parts[name](found)
    print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
