"""Queues: QueuePipeline against what people write by hand, on the same work, in one process, side by side.

    python benchmarks/queues.py [--megabytes N] [--rounds N] [--only passing|reading]

Two jobs. Passing: items of 100 floats from a Python iterator through a FIFOQueue to a consumer that gets every item
(``queues_passing.py``); what is aimed at is 10 times the items of code that runs an operation for each item. Reading:
files of CSV and of TFRecords, which this makes and removes, are parsed, batched by 128 and reduced, and the sums are
compared (``queues_reading.py``).

In each round every side has its turn, in an order that changes. Rates are of the whole side, from building its graph to
the join of its threads; ratios are taken within a round. Printed are medians, and the least and the most. Sides that
work item by item get a part of the work.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import queues_passing
import queues_reading

import tf1sessions as t1

tf = t1.tf1


def machine():
    """The line that every figure needs beside it."""
    names = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    load = "/".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"{len(os.sched_getaffinity(0))} cores of {names[0] if names else platform.machine()}, Python"
        f" {platform.python_version()}, TensorFlow {tf.version.VERSION}, NumPy {np.__version__}; load {load}"
    )


def reported(values, digits=0):
    """Median, and the least and the most."""
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def compare(what, sides, rounds):
    """Runs the sides in turn and prints a table.

    Args:
        what: The title.
        sides: ``{name: (function, amount, expected)}``: the function returns what must equal ``expected``.
        rounds: How often each side has its turn.
    """
    order = list(sides)
    sides[order[0]][0]()  # once before, for what only the first session of a process does
    rates, cores = {name: [] for name in sides}, {name: [] for name in sides}
    for number in range(rounds):
        for name in order[number % len(order) :] + order[: number % len(order)]:
            function, amount, expected = sides[name]
            gc.collect()
            start, used = time.perf_counter(), time.process_time()
            answer = function()
            took, used = time.perf_counter() - start, time.process_time() - used
            assert np.array_equal(answer, expected), f"{name} computed {answer}, not {expected}"
            rates[name].append(amount / took)
            cores[name].append(used / amount * 1e6)
    ours = [name for name in sides if name.startswith("QueuePipeline")]
    print(f"\n{what}: median of {rounds} (least to most)")
    print(f"{'':<58}{'a second':>32}{'CPU us each':>14}    {ours[0]} is, times")
    for name in sides:
        line = f"  {name:<56}{reported(rates[name]):>32}{statistics.median(cores[name]):14.2f}"
        if name != ours[0]:
            line += f"    {reported([a / b for a, b in zip(rates[ours[0]], rates[name], strict=True)], 2)}"
        print(line, flush=True)


def passing(rounds, items, part):
    """The pass-through job: ``items`` in blocks, ``part`` of them one by one."""
    values = np.zeros((items, queues_passing.WIDTH), np.float32)
    values[:, 0] = np.arange(items) % 1000

    def side(function, count):
        return lambda: function(values[:count]), count, values[:count, 0].sum(dtype=float)

    sides = {
        name: side(function, items if function in queues_passing.IN_BLOCKS else part)
        for name, function in queues_passing.SIDES.items()
    }
    compare("items of 100 floats through a FIFOQueue", sides, rounds)


def reading(rounds, megabytes, form):
    """The reading job; the files lie in a temporary folder, and in the page cache."""
    with tempfile.TemporaryDirectory() as folder:
        digests = queues_reading.write_files(folder, form, megabytes, 8)
        paths = list(digests)

        def side(function):
            mine = paths[:1] if function in queues_reading.ONE_BY_ONE else paths
            expected = sum(digests[path] for path in mine)
            return lambda: function(mine, form), expected[0], expected

        sides = {name: side(function) for name, function in queues_reading.SIDES[form].items()}
        size = sum(os.path.getsize(path) for path in paths) / 2**20
        rows = sum(digests.values())[0]
        what = f"{size:.0f} MB of {form} in 8 files, {rows:,.0f} rows of a label and {queues_reading.COLUMNS} floats"
        compare(what, sides, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=40, help="of CSV, and of TFRecords (default: 40)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["passing", "reading"])
    options = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.ERROR)  # all of this is deprecated
    print(machine())
    if options.only != "reading":
        passing(options.rounds, 400_000, 10_000)
    if options.only != "passing":
        for form in ("csv", "tfrecord"):
            reading(options.rounds, options.megabytes, form)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
