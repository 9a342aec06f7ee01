"""Attacks tf1sessions: tries what has made it fail, or might, and compares what is seen with what must be.

    python benchmarks/attack.py                            all areas
    python benchmarks/attack.py batcher models             these: files of benchmarks/attacks
    python benchmarks/attack.py --only "time limit"        trials whose names contain this
    python benchmarks/attack.py --seed 7 --more 10         other random choices, ten times as many tries
    python benchmarks/attack.py --list                     the table of trials

A trial runs in a process of its own; see attacks/trial.py. Beside what it sees itself, a process or a shared-memory
file that is left behind after it counts as seen. The exit code is 1 if anything else was seen than expected. A fault
that was found once gets a trial here when it is mended.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import importlib
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from attacks.trial import Trial  # noqa: E402

# In the environment of all that a trial starts, so that what it leaves behind is known.
MARK = "TF1SESSIONS_ATTACK"

# How long what was asked to end may still be seen after a trial.
SETTLE_SECS = 10.0

# How often a trial goes on in a new process after its process has ended or hung.
MOST_PROCESSES = 4

# A worker that starts TensorFlow needs this before its first try.
START_SECS = 60.0


def areas() -> list[str]:
    return sorted(path.stem for path in (HERE / "attacks").glob("*.py") if path.stem not in ("__init__", "trial"))


def trials_of(area: str) -> list[Trial]:
    trials: list[Trial] = importlib.import_module(f"attacks.{area}").TRIALS
    repeated = [name for name, count in collections.Counter(trial.name for trial in trials).items() if count > 1]
    if repeated:
        raise SystemExit(f"benchmarks/attacks/{area}.py: two trials are named {repeated[0]!r}")
    return trials


# ---------------------------------------------------------------------------------------------- in a trial's process


def act(area: str, name: str, seed: int, first: int, times: int, results: int) -> None:
    """Makes the tries ``first`` to ``times - 1`` of a trial, and writes a line of JSON about each to ``results``."""
    trial = next(trial for trial in trials_of(area) if trial.name == name)
    base = Path.cwd()
    for number in range(first, times):
        folder = base / str(number)
        folder.mkdir()
        os.chdir(folder)
        try:
            seen = trial.act(folder, random.Random(f"{seed} {area} {name} {number}"))
        except Exception as error:
            seen = f"raised {type(error).__name__}: {error}"
        os.chdir(base)
        shutil.rmtree(folder, ignore_errors=True)
        os.write(results, json.dumps([number, seen]).encode() + b"\n")


# ------------------------------------------------------------------------------------------------------- around it


@dataclasses.dataclass
class Outcome:
    """What was seen in the tries of one trial.

    Attributes:
        seen: How often each thing was seen.
        left: What the trial left behind, processes, files and tries.
        seconds: How long all tries took.
    """

    area: str
    trial: Trial
    seen: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    left: list[str] = dataclasses.field(default_factory=list)
    seconds: float = 0.0

    @property
    def tries(self) -> int:
        return self.seen.total()

    @property
    def wrong(self) -> int:
        return self.tries - self.seen[self.trial.expected] + len(self.left)


def marked_processes(mark: str) -> dict[int, str]:
    """Returns the command lines of the processes whose environment has the mark."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(folder.name)] = command.decode("utf-8", "replace")
    return found


def shared_memory() -> set[str]:
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


def lines_until(pipe: int, process: subprocess.Popen[bytes], deadline_secs: float) -> Iterator[str | None]:
    """Yields the lines of a pipe as they come, and None where none came for ``deadline_secs``."""
    waiting, limit = b"", START_SECS + deadline_secs
    until = time.monotonic() + limit
    while True:
        if not select.select([pipe], [], [], max(0.0, until - time.monotonic()))[0]:
            yield None
            return
        part = os.read(pipe, 65536)
        if not part:
            return
        *lines, waiting = (waiting + part).split(b"\n")
        yield from (line.decode() for line in lines)
        if lines:
            until = time.monotonic() + deadline_secs


def how_it_ended(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit {code}"


def attack(area: str, trial: Trial, seed: int, times: int) -> Outcome:
    """Makes all tries of a trial."""
    outcome = Outcome(area, trial)
    began = time.monotonic()
    number = 0
    for _ in range(MOST_PROCESSES):
        number = one_process(outcome, seed, number, times)
        if number >= times:
            break
    else:
        outcome.left.append(f"{times - number} tries that were not made: {MOST_PROCESSES} processes ended before")
    outcome.seconds = time.monotonic() - began
    return outcome


def one_process(outcome: Outcome, seed: int, first: int, times: int) -> int:
    """Makes tries until all are made or their process has ended; returns the number of the next one."""
    area, trial, number = outcome.area, outcome.trial, first
    mark, shared_before = uuid.uuid4().hex, shared_memory()
    with tempfile.TemporaryDirectory(prefix="attack-", ignore_cleanup_errors=True) as folder:
        tries, temporary = Path(folder, "tries"), Path(folder, "tmp")
        tries.mkdir()
        temporary.mkdir()
        output = Path(folder, "output")
        reading, writing = os.pipe()
        with output.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, __file__, "--act", area, trial.name, str(seed), str(first), str(times), str(writing)],
                cwd=tries,
                env={**os.environ, MARK: mark, "TMPDIR": str(temporary)},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                pass_fds=[writing],
                start_new_session=True,
            )
        os.close(writing)
        hung = False
        for line in lines_until(reading, process, trial.deadline_secs):
            if line is None:
                hung = True
                break
            number, seen = json.loads(line)
            outcome.seen[seen] += 1
            number += 1
            if number == times:
                break
        os.close(reading)
        if hung:
            outcome.seen["hangs"] += 1
            number += 1
        else:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(START_SECS)
            if process.returncode != 0:
                ended = "does not end" if process.returncode is None else how_it_ended(process.returncode)
                at_its_end = number == times
                outcome.seen[f"{ended} after the last try" if at_its_end else ended] += 1
                number += not at_its_end
        if hung or process.returncode:
            sys.stderr.write(f"--- {area}: {trial.name}\n{output.read_text(errors='replace')[-2000:]}\n")
        clean_up(outcome, process, mark, shared_before)
    return number


def clean_up(outcome: Outcome, process: subprocess.Popen[bytes], mark: str, shared_before: set[str]) -> None:
    """Notes what a trial's process has left behind, and ends it."""
    if process.poll() is None:
        process.kill()
        process.wait()
    until = time.monotonic() + SETTLE_SECS
    while (left := marked_processes(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    for pid, command in left.items():
        outcome.left.append(f"process {command[:120]}")
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    # other programs use /dev/shm too; what is ours or multiprocessing's has these names
    new = [name for name in shared_memory() - shared_before if name.startswith(("tf1sessions", "psm_", "sem.mp"))]
    outcome.left += [f"/dev/shm/{name}" for name in new]


# ------------------------------------------------------------------------------------------------------ the report


def report(outcome: Outcome) -> str:
    """Says in a line how a trial ended, and in further lines what was seen otherwise."""
    sign = "ok   " if not outcome.wrong else "WRONG"
    lines = [f"{sign} {outcome.tries:6,d} tries {outcome.seconds:7.1f} s  {outcome.area}: {outcome.trial.name}"]
    if outcome.wrong:
        lines.append(f"      expected: {outcome.trial.expected}")
        for seen, count in outcome.seen.most_common():
            if seen != outcome.trial.expected:
                lines.append("      " + textwrap.shorten(f"seen {count} times: {seen}", 400))
        lines += [f"      left: {left}" for left in outcome.left]
    return "\n".join(lines)


def main() -> int:
    if sys.argv[1:2] == ["--act"]:
        area, name, seed, first, times, results = sys.argv[2:]
        act(area, name, int(seed), int(first), int(times), int(results))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=f"one or more of: {', '.join(areas())}")
    parser.add_argument("--only", default="", metavar="TEXT", help="only trials whose names contain it")
    parser.add_argument("--seed", type=int, default=0, help="of all random choices; 0 by default")
    parser.add_argument(
        "--more", type=float, default=1.0, metavar="FACTOR", help="times as many tries, where a trial has several"
    )
    parser.add_argument("--list", action="store_true", help="print the trials and what is expected of each")
    options = parser.parse_args()
    unknown = set(options.areas) - set(areas())
    if unknown:
        parser.error(f"no area is named {sorted(unknown)[0]!r}: there are {', '.join(areas())}")
    chosen = [
        (area, trial)
        for area in options.areas or areas()
        for trial in trials_of(area)
        if options.only.lower() in trial.name.lower()
    ]
    if options.list:
        for area, trial in chosen:
            print(f"{area}: {trial.name}\n    {trial.times} times, expected: {trial.expected}")
        return 0
    outcomes = []
    for area, trial in chosen:
        times = trial.times if trial.times == 1 else max(1, round(trial.times * options.more))
        outcomes.append(attack(area, trial, options.seed, times))
        print(report(outcomes[-1]), flush=True)
    tries, wrong = sum(outcome.tries for outcome in outcomes), sum(outcome.wrong for outcome in outcomes)
    print(f"{tries:,d} tries of {len(outcomes)} trials, {wrong} otherwise than expected (seed {options.seed})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
