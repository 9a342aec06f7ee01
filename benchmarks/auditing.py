"""How fast `tf1sessions audit` reads trees, against tf_upgrade_v2 on the same files, in one run.

    python benchmarks/auditing.py FOLDER...
    python benchmarks/auditing.py --lines 5000 20000 100000

The first form takes your folders, the second writes a program of each number of lines: sessions, layers, contrib.
Figures are of the whole command, its start included: elapsed seconds, and those of the processors, which a busy machine
changes little. audit uses all processors for larger trees; with `--one` it is given one, as tf_upgrade_v2 uses one.
tf_upgrade_v2 comes with TensorFlow; a file that its parser, google-pasta, cannot read ends its run, so such files are
left out for both. `--growth` audits 1, 2, 4 and 8 times as much.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pasta

MODULE = '''
import numpy as np
import tensorflow as tf
from tensorflow.contrib import slim


class Model{number}:
    """One of many models."""

    def __init__(self, size, rate=0.1):
        self.x = tf.placeholder(tf.float32, [None, size], name="x")
        self.y = tf.placeholder(tf.int32, [None], name="y")
        with tf.variable_scope("model{number}", reuse=tf.AUTO_REUSE):
            hidden = tf.layers.dense(self.x, 64, activation=tf.nn.relu)
            hidden = slim.fully_connected(hidden, 32)
            self.logits = tf.layers.dense(hidden, 10)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.y, logits=self.logits)
        self.loss = tf.reduce_mean(losses)
        self.step = tf.train.AdamOptimizer(rate).minimize(self.loss)

    def fit(self, session, data, epochs):
        session.run(tf.global_variables_initializer())
        for epoch in range(epochs):
            total = 0.0
            for x, y in data:
                value, _ = session.run([self.loss, self.step], feed_dict={{self.x: x, self.y: y}})
                total += value * len(x)
            tf.logging.info("epoch %d: %f", epoch, total / np.float64(len(data)))
        return total
'''
PARTS = 8  # models in a file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--lines", type=int, nargs="+", default=[20_000])
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--one", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.one:
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    with tempfile.TemporaryDirectory(prefix="tf1sessions-auditing-") as folder:
        if arguments.growth:
            growth(Path(folder), arguments.lines[0])
        elif arguments.folders:
            tree = Path(folder, "tree")
            compare(tree, copied(arguments.folders, tree), arguments.repeat)
        else:
            for size in arguments.lines:
                tree = Path(folder, str(size))
                compare(tree, written(tree, size), arguments.repeat)


def compare(tree: Path, lines: int, repeat: int) -> None:
    """Audit a tree and upgrade it, in turns, and print the fastest of each with their ratio."""
    processors = len(os.sched_getaffinity(0))
    print(f"{lines:,} lines in {len(list(tree.rglob('*.py'))):,} files, {processors} processors")
    runs = [(audit(tree), upgrade(tree, tree.with_name("out"))) for _ in range(repeat)]
    ours, theirs = (tuple(map(min, zip(*side, strict=True))) for side in zip(*runs, strict=True))
    report("tf1sessions audit", lines, ours)
    print(f"  first line of output after {first_output(tree):.2f} s")
    report("tf_upgrade_v2", lines, theirs)
    print(f"ratio {theirs[0] / ours[0]:.1f} elapsed, {theirs[1] / ours[1]:.1f} of the processors")


def report(name: str, lines: int, seconds: tuple[float, ...]) -> None:
    elapsed, busy = seconds
    print(
        f"{name}: {elapsed:.2f} s, {busy:.2f} of the processors; {lines / elapsed:,.0f} and {lines / busy:,.0f} lines/s"
    )


def copied(folders: list[Path], tree: Path) -> int:
    """Copy the Python files that both can parse; return how many lines they have."""
    lines = 0
    for number, folder in enumerate(folders):
        for path in folder.rglob("*.py"):
            try:
                text = path.read_text("utf-8")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    pasta.parse(text)
            except Exception:  # noqa: BLE001 - whatever it raises would end tf_upgrade_v2
                continue
            target = tree / str(number) / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
            lines += text.count("\n")
    return lines


def written(tree: Path, lines: int) -> int:
    """Write a program of about so many lines; return how many it has."""
    tree.mkdir(parents=True)
    each, done = MODULE.count("\n") * PARTS, 0
    for number in range(max(1, lines // each)):
        text = "".join(MODULE.format(number=number * PARTS + part) for part in range(PARTS))
        (tree / f"model_{number}.py").write_text(text, "utf-8")
        done += text.count("\n")
    return done


def audit(tree: Path) -> tuple[float, float]:
    return timed([sys.executable, "-m", "tf1sessions", "audit", str(tree), "--json"], (0, 1))


def upgrade(tree: Path, out: Path) -> tuple[float, float]:
    shutil.rmtree(out, ignore_errors=True)
    name = str(Path(sys.executable).with_name("tf_upgrade_v2"))
    command = [name, "--intree", str(tree), "--outtree", str(out), "--reportfile", str(out.with_suffix(".txt"))]
    return timed(command, (0,))


def timed(command: list[str], codes: tuple[int, ...]) -> tuple[float, float]:
    """Elapsed seconds of a command, and those of the processor."""
    start, before = time.perf_counter(), processor()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - start, processor() - before
    if done.returncode not in codes:
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr[-500:]}")
    return seconds


def processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_output(tree: Path) -> float:
    """Seconds until the first byte that the command writes."""
    command = [sys.executable, "-m", "tf1sessions", "audit", str(tree)]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        seconds = time.perf_counter() - start
        process.stdout.read()
    return seconds


def growth(folder: Path, lines: int) -> None:
    for factor in (1, 2, 4, 8):
        tree = folder / str(factor)
        count = written(tree, lines * factor)
        report(f"{factor} times", count, audit(tree))


if __name__ == "__main__":
    main()
