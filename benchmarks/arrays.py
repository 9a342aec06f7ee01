"""An array to another process and back, from 1 kB to 400 MB: python benchmarks/arrays.py [SECONDS] [LARGEST].

Each way sends a float32 array to one process that sends it back, and has a result that it can write to. The ways take
turns, so that a busy machine slows all; SECONDS is about what the slowest gets for a size (default 1). Times are in
units of Channel's. In the last table the results are kept, so that nothing has memory to use again.

    two copies    what a program that stays in one process pays: array.copy().copy(), in memory that is new or was used
                  before, as malloc has it
    warm copies   the least that two copies can take: into two arrays that are there already
    Channel       tf1sessions.pools.arrays
    Pipe          multiprocessing.Pipe, the bare transport of the next two
    Pool          multiprocessing.Pool (spawn)
    Executor      concurrent.futures.ProcessPoolExecutor (spawn)
    loky          joblib's executor, where it is installed; it pickles functions by value, as Channel does
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import socket
import statistics
import subprocess
import sys
import time

import numpy as np

from tf1sessions.pools.arrays import Channel

SIZES = [1_000, 10_000, 100_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 400_000_000]  # bytes
MOST_ROUNDS = 400
KEPT_BYTES = 400_000_000


def identity(array):
    return array


def echo_channel(fd):
    with Channel(socket.socket(fileno=fd)) as channel, contextlib.suppress(EOFError):
        while True:
            array = channel.recv()
            channel.send(array)
            del array


def echo_pipe(end):
    with contextlib.suppress(EOFError):
        while True:
            end.send(end.recv())


def ways(stack):
    """Starts all processes; returns a function for each way, array -> its copy."""

    def two_copies(array):
        return array.copy().copy()

    kept = {}

    def warm_copies(array):
        first, second = kept.get(array.shape) or kept.setdefault(array.shape, (array.copy(), array.copy()))
        np.copyto(first, array)
        np.copyto(second, first)
        return second

    here, there = socket.socketpair()
    with there:
        command = [sys.executable, __file__, "--echo", str(there.fileno())]
        echo = subprocess.Popen(command, pass_fds=[there.fileno()])
    stack.callback(echo.wait)
    channel = stack.enter_context(Channel(here))

    def by_channel(array):
        channel.send(array)
        return channel.recv()

    spawn = multiprocessing.get_context("spawn")
    mine, theirs = spawn.Pipe()
    process = spawn.Process(target=echo_pipe, args=(theirs,))
    process.start()
    theirs.close()
    stack.callback(process.join)
    stack.callback(mine.close)

    def by_pipe(array):
        mine.send(array)
        return mine.recv()

    pool = stack.enter_context(spawn.Pool(1))
    executor = stack.enter_context(concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn))
    found = {
        "two copies": two_copies,
        "warm copies": warm_copies,
        "Channel": by_channel,
        "Pipe": by_pipe,
        "Pool": lambda array: pool.apply(identity, (array,)),
        "Executor": lambda array: executor.submit(identity, array).result(),
    }
    try:
        from joblib.externals.loky import get_reusable_executor
    except ImportError:
        return found
    loky = get_reusable_executor(max_workers=1)
    stack.callback(loky.shutdown)
    return found | {"loky": lambda array: loky.submit(identity, array).result()}


def measure(sides, size, secs):
    """Returns the seconds of each message, by side."""
    array = np.random.default_rng(0).standard_normal(size // 4, dtype=np.float32)
    times = {name: [] for name in sides}
    for index in range(MOST_ROUNDS):
        if index > 3 and max(sum(of_one) for of_one in times.values()) > secs:
            break
        for name, way in sides.items():
            start = time.perf_counter()
            result = way(array)
            times[name].append(time.perf_counter() - start)
            if index == 0 and not (result.flags.writeable and np.array_equal(result, array)):
                raise AssertionError(f"{name} gave something else")
            del result
    return times


def measure_kept(sides, size):
    """The same with results that are kept; one side after the other, because they take much memory."""
    array = np.random.default_rng(0).standard_normal(size // 4, dtype=np.float32)
    times = {}
    for name, way in sides.items():
        kept, times[name] = [], []
        for _ in range(max(4, min(100, KEPT_BYTES // size))):
            start = time.perf_counter()
            kept.append(way(array))
            times[name].append(time.perf_counter() - start)
    return times


def table(title, results, value):
    names = list(next(iter(results.values())))
    print(f"\n{title}\n{'size':>10} {'Channel, ms':>12} " + " ".join(f"{name:>11}" for name in names))
    for size, times in results.items():
        ours = value(times["Channel"])
        ratios = " ".join(f"{value(times[name]) / ours:>11.2f}" for name in names)
        print(f"{size / 1000:>7,.0f} kB {ours * 1e3:>12.3f} {ratios}", flush=True)


def main(secs, largest):
    with contextlib.ExitStack() as stack:
        sides = ways(stack)
        for way in sides.values():  # until all processes are there
            way(np.zeros(3))
        pair = {name: sides[name] for name in ("two copies", "warm copies", "Channel")}
        alone = {size: measure(pair, size, secs) for size in SIZES if size <= largest}
        results = {size: measure(sides, size, secs) for size in SIZES if size <= largest}
        kept = {size: measure_kept(sides, size) for size in SIZES if size <= min(largest, KEPT_BYTES // 4)}
    table("these take turns: median", alone, lambda times: statistics.median(times[1:]))
    table("these take turns: least", alone, lambda times: min(times[1:]))
    table("median", results, lambda times: statistics.median(times[1:]))
    table("least", results, lambda times: min(times[1:]))
    table("median, results kept", kept, statistics.median)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--echo"]:
        echo_channel(int(sys.argv[2]))
    else:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0, int(sys.argv[2]) if len(sys.argv) > 2 else SIZES[-1])
