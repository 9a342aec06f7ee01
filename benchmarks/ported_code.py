"""What examples take after each step of a port, against the original by `tf1sessions run`, in one run.

    python benchmarks/ported_code.py [--repeat 3] [--processor] [EXAMPLE...]

Each example is run as a whole command with few and with many training steps: the difference is what a step takes, the
rest is the start; examples without an option for their steps are run as they are. Seconds elapsed, or with
``--processor`` seconds of the processors, which others on the machine disturb less; the best of some turns by turns,
and how many times as fast as the original it is. What is aimed at: at least 1.0 in each line. ``fewer calls`` is the
result of step ``native`` with the changes by hand that migration_notes/port-native.md shows under "Small steps".
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tf1sessions.porting.rewriting.rewrite import port
from tf1sessions.source import files

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
#: The option that says how many steps, few of them, and many; none where there is no such option.
STEPS = {
    "digits_cnn.py": ("--steps", 40, 840),
    "gan_digits.py": ("--steps", 50, 1250),
    "while_loop_orbits.py": ("--small_steps", 100, 8100),
    "iris_dataset_iterator.py": ("--steps", 100, 2100),
    "csv_queue_regression.py": ("--steps", 100, 1700),
    "char_rnn.py": ("--num_epochs", 1, 13),
    "monitored_session.py": ("--last_step", 320, 1120),
    "batchnorm_mlp.py": (None, 0, 1),
    "string_queue.py": (None, 0, 1),
    "two_queues.py": (None, 0, 1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("examples", nargs="*", default=list(STEPS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--processor", action="store_true", help="measure seconds of the processors")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tf1sessions-ported-code-") as folder:
        commands = written(Path(folder))
        for example in arguments.examples:
            measure(example, commands, Path(folder), arguments.repeat, arguments.processor)


def written(folder: Path) -> dict[str, list[str]]:
    """The examples after each step; the beginning of the command that runs one."""
    shutil.copytree(EXAMPLES, folder / "original")
    commands = {"original": [sys.executable, "-m", "tf1sessions", "run"]}
    sources = [files.read(path) for path in sorted(EXAMPLES.glob("*.py"))]
    for step in port(sources, "native", [EXAMPLES], inputs=True):
        if step.step in ("clean", "functions", "native"):
            shutil.copytree(EXAMPLES, folder / step.step)
            for file in step.files:
                (folder / step.step / file.after.path.name).write_bytes(file.after.encode())
            commands[step.step] = [sys.executable]
    (folder / "fewer calls").mkdir()
    (folder / "fewer calls" / "data").symlink_to(EXAMPLES / "data")
    page = (ROOT / "migration_notes" / "port-native.md").read_text("utf-8")
    for name in STEPS:
        before = (folder / "native" / name).read_text("utf-8")
        after = with_fewer_calls(name, before, page)
        if after != before:
            (folder / "fewer calls" / name).write_text(after, "utf-8")
    return commands | {"fewer calls": [sys.executable]}


def with_fewer_calls(name: str, text: str, page: str) -> str:
    """An example after step ``native``, changed by the diff of that name on the page, if there is one."""
    for diff in re.findall(rf"^--- {re.escape(name)}\n(.*?)^(?:---|```)", page, re.MULTILINE | re.DOTALL):
        for part in diff.split("@@\n")[1:]:
            lines = part.splitlines(keepends=True)
            before, after = ("".join(each[1:] for each in lines if each[0] in signs) for signs in (" -", " +"))
            if text.count(before) != 1:
                raise ValueError(f"{name} has {text.count(before)} times, where the page changes it:\n{before}")
            text = text.replace(before, after)
    return text


def measure(example: str, commands: dict[str, list[str]], folder: Path, repeat: int, processor: bool) -> None:
    """Print a line for each step."""
    commands = {step: command for step, command in commands.items() if (folder / step / example).exists()}
    option, few, many = STEPS[example]
    counts = (few, many) if option else (many,)
    best: dict[tuple[str, int], float] = {}
    for _ in range(repeat):
        for step, command in commands.items():
            for count in counts:
                given = [*dashes(step), option, str(count)] if option else []
                seconds = run([*command, str(folder / step / example), *given], processor)
                best[step, count] = min(best.get((step, count), seconds), seconds)
    print(f"{example}\n  {'':11} {'start':>8} {'':>6} {'a step':>10} {'':>6} {'in all':>8}")
    first: tuple[float, float, float] | None = None
    for step in commands:
        if not option:
            print(f"  {step:11} {'':33} {best[step, 1]:6.2f} s {best['original', 1] / best[step, 1]:6.2f}", flush=True)
            continue
        each = (best[step, many] - best[step, few]) / (many - few)
        found = best[step, few] - few * each, each, best[step, many]
        first = first or found
        ratios = [one / other for one, other in zip(first, found, strict=True)]
        print(
            f"  {step:11} {found[0]:6.2f} s {ratios[0]:6.2f} {found[1] * 1e6:7.0f} us {ratios[1]:6.2f}"
            f" {found[2]:6.2f} s {ratios[2]:6.2f} {overtaken(first, found)}",
            flush=True,
        )


def overtaken(first: tuple[float, float, float], found: tuple[float, float, float]) -> str:
    """After how many steps a program is as far as the first one, by the start and the step of both."""
    later, gained = found[0] - first[0], first[1] - found[1]
    if found is first:
        return ""
    if gained <= 0 and later >= 0:
        return "never the faster one"
    if gained <= 0:
        return f"the faster one for {later / gained:,.0f} steps" if gained else "the faster one"
    return f"the faster one after {max(later / gained, 0.0):,.0f} steps"


def dashes(step: str) -> list[str]:
    return ["--"] if step == "original" else []


def run(command: list[str], processor: bool) -> float:
    """The seconds that a command takes: elapsed, or of the processors in it and in what it started."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used if processor else time.monotonic() - begun


if __name__ == "__main__":
    main()
