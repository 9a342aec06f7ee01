"""What starting costs: python benchmarks/start.py [ROUNDS] [--scripts ROUNDS] [--oracle PYTHON].

First `tf1sessions --help` beside the interpreter's own start; then a script that runs one small session, from the call
of the command to its end: by `tf1sessions run`, cold and with a warm server, and beside it an interpreter that only
imports TensorFlow, and 1.15.5 itself, by the interpreter of an environment that has it. All are measured in turn in the
same run, and the medians are compared, so that a busy machine slows all.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

SCRIPT = """
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
y = tf.layers.dense(x, 2)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(y, {x: [[1.0, 2.0, 3.0, 4.0]]})
"""

Call = tuple[Sequence[str], Mapping[str, str]]


def seconds(command: Sequence[str], changes: Mapping[str, str]) -> float:
    """Runs ``command`` once and returns how long it took."""
    start = time.perf_counter()
    subprocess.run(command, env=dict(os.environ, **changes), capture_output=True, check=True)
    return time.perf_counter() - start


def measure(calls: Mapping[str, Call], rounds: int) -> None:
    """Runs all in turn and prints their medians, and how they compare with the first."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for command, changes in calls.values():  # once before, so that bytecode and files are there for all
        seconds(command, changes)
    for _ in range(rounds):
        for name, (command, changes) in calls.items():
            times[name].append(seconds(command, changes))
    first = statistics.median(next(iter(times.values())))
    print(f"{'median of ' + str(rounds):<36} {'seconds':>8} {'beyond the first':>17} {'ratio':>6}")
    for name, measured in times.items():
        median = statistics.median(measured)
        print(f"{name:<36} {median:8.3f} {median - first:17.3f} {median / first:6.2f}")


def commands() -> dict[str, Call]:
    """Commands that do without TensorFlow."""
    python = sys.executable
    return {
        "python -c pass": ([python, "-c", "pass"], {}),
        "import tf1sessions": ([python, "-c", "import tf1sessions"], {}),
        "tf1sessions --help": ([python, "-m", "tf1sessions", "--help"], {}),
        "tf1sessions run --help": ([python, "-m", "tf1sessions", "run", "--help"], {}),
    }


def runtime_folder(folder: str) -> str:
    """The folder of the warm server; not the scripts' own, where its "tf1sessions" would hide the package."""
    path = Path(folder, "runtime")
    path.mkdir(mode=0o700, exist_ok=True)
    return str(path)


def scripts(folder: str, oracle: str | None) -> dict[str, Call]:
    """A small script, and what it is compared with."""
    path = Path(folder, "small.py")
    path.write_text(SCRIPT)
    run = [sys.executable, "-m", "tf1sessions", "run", "--out"]
    runtime = {"XDG_RUNTIME_DIR": runtime_folder(folder), "TF_CPP_MIN_LOG_LEVEL": "3"}
    # A run folder holds one run: each call names a new one, after its process.
    cold, warm = (["sh", "-c", 'exec "$@" "$0-$$" small.py', kind, *run] for kind in ("cold", "warm"))
    found: dict[str, Call] = {
        "import tensorflow.compat.v1": ([sys.executable, "-c", "import tensorflow.compat.v1"], runtime),
        "tf1sessions run, cold": (cold, runtime | {"TF1SESSIONS_WARM": "0"}),
        "tf1sessions run, warm": (warm, runtime | {"TF1SESSIONS_WARM": "1"}),
    }
    if oracle:
        found["python of 1.15.5"] = ([oracle, str(path)], runtime)
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", type=int, nargs="?", default=20)
    parser.add_argument("--scripts", type=int, default=5, help="rounds of the script; 0: leave it out")
    parser.add_argument("--oracle", help="an interpreter that has TensorFlow 1.15.5")
    given = parser.parse_args()
    measure(commands(), given.rounds)
    if given.scripts:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                measure(scripts(folder, given.oracle), given.scripts)
            finally:
                stop = [sys.executable, "-m", "tf1sessions", "warm", "stop"]
                seconds(stop, {"XDG_RUNTIME_DIR": runtime_folder(folder)})
                os.chdir("/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
