"""What `tf1sessions --help` costs beyond the interpreter's own start: python benchmarks/start.py [ROUNDS].

Both are measured in turn in the same run, and the medians are compared, so that a busy machine slows both.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import tf1sessions": [sys.executable, "-c", "import tf1sessions"],
    "tf1sessions --help": [sys.executable, "-m", "tf1sessions", "--help"],
    "tf1sessions run --help": [sys.executable, "-m", "tf1sessions", "run", "--help"],
}


def seconds(command: list[str]) -> float:
    """Runs ``command`` once and returns how long it took."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main(rounds: int) -> int:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for command in COMMANDS.values():  # once before, so that bytecode and files are there for all
        seconds(command)
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    bare = statistics.median(times["python -c pass"])
    print(f"{'median of ' + str(rounds):<24} {'seconds':>8} {'beyond python':>14} {'ratio':>6}")
    for name, measured in times.items():
        median = statistics.median(measured)
        print(f"{name:<24} {median:8.3f} {median - bare:14.3f} {median / bare:6.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
