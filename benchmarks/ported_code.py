"""What examples take after each step of a port, against the original by `tf1sessions run`, in one run.

    python benchmarks/ported_code.py [--repeat 3] [EXAMPLE...]

Each example is run as a whole command with few and with many training steps: the difference is what a step takes, the
rest is the start. Seconds elapsed, the best of some turns by turns, and how many times as fast as the original it is.
What is aimed at: at least 1.0 in each line.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tf1sessions.porting.rewriting.rewrite import port
from tf1sessions.source import files

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
#: The option that says how many steps, few of them, and many.
STEPS = {
    "digits_cnn.py": ("--steps", 40, 840),
    "gan_digits.py": ("--steps", 50, 1250),
    "while_loop_orbits.py": ("--small_steps", 100, 8100),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("examples", nargs="*", default=list(STEPS))
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tf1sessions-ported-code-") as folder:
        commands = written(Path(folder))
        for example in arguments.examples:
            measure(example, commands, Path(folder), arguments.repeat)


def written(folder: Path) -> dict[str, list[str]]:
    """The examples after each step; the beginning of the command that runs one."""
    shutil.copytree(EXAMPLES, folder / "original")
    commands = {"original": [sys.executable, "-m", "tf1sessions", "run"]}
    for step in port([files.read(path) for path in sorted(EXAMPLES.glob("*.py"))], "native", [EXAMPLES]):
        if step.step in ("clean", "functions", "native"):
            shutil.copytree(EXAMPLES, folder / step.step)
            for file in step.files:
                (folder / step.step / file.after.path.name).write_bytes(file.after.encode())
            commands[step.step] = [sys.executable]
    return commands


def measure(example: str, commands: dict[str, list[str]], folder: Path, repeat: int) -> None:
    """Print a line for each step."""
    option, few, many = STEPS[example]
    best: dict[tuple[str, int], float] = {}
    for _ in range(repeat):
        for step, command in commands.items():
            for count in (few, many):
                seconds = run([*command, str(folder / step / example), *dashes(step), option, str(count)])
                best[step, count] = min(best.get((step, count), seconds), seconds)
    print(f"{example}\n  {'':10} {'start':>8} {'':>6} {'a step':>10} {'':>6} {'in all':>8}")
    first: tuple[float, float, float] | None = None
    for step in commands:
        each = (best[step, many] - best[step, few]) / (many - few)
        found = best[step, few] - few * each, each, best[step, many]
        first = first or found
        ratios = [one / other for one, other in zip(first, found, strict=True)]
        print(
            f"  {step:10} {found[0]:6.2f} s {ratios[0]:6.2f} {found[1] * 1e6:7.0f} us {ratios[1]:6.2f}"
            f" {found[2]:6.2f} s {ratios[2]:6.2f}"
        )


def dashes(step: str) -> list[str]:
    return ["--"] if step == "original" else []


def run(command: list[str]) -> float:
    """The seconds that a command takes."""
    begun = time.monotonic()
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begun


if __name__ == "__main__":
    main()
