"""Attacks on ProcessSessionPool: jobs that fork, workers and servers that are killed, what cannot be pickled."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
from attacks.trial import Trial

DEADLINE = 60.0


def plain(value):
    return value


def forks_in_some_way(value, seed):
    """Forks once or twice, in this process and in its child; each child ends in a random way."""
    rng = random.Random(seed)
    children = []
    for _ in range(rng.randrange(1, 3)):
        way = rng.randrange(6)
        child = os.fork()
        if child:
            children.append(child)
            continue
        sys.stderr = open(os.devnull, "w")
        if rng.random() < 0.3 and os.fork():
            os.wait()
        time.sleep(rng.random() / 50)
        if way == 0:
            sys.exit(rng.randrange(3))
        if way == 1:
            raise ValueError("the child's")
        if way == 2:
            os._exit(rng.randrange(3))
        if way == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return "the child's"
    if rng.random() < 0.8:
        for child in children:
            os.waitpid(child, 0)
    return value


def may_die(value, seed):
    if random.Random(seed).random() < 0.1:
        os.kill(os.getpid(), signal.SIGKILL)
    return value


class Unpicklable:
    def __reduce__(self):
        raise TypeError("not this one")


class KillsTheReader:
    def __reduce__(self):
        return sys.exit, (3,)


class NeedsMore(Exception):
    def __init__(self, one, two):
        super().__init__(one)


def odd_results(value, seed):
    kind = random.Random(seed).randrange(5)
    if kind == 0:
        return Unpicklable()
    if kind == 1:
        return KillsTheReader()
    if kind == 2:
        raise NeedsMore(1, 2)
    if kind == 3:
        raise SystemExit(4)
    return value


def many(function, may_fail: tuple[str, ...] = ()):
    """Makes a trial of 40 jobs, every other one of ``function``."""

    def act(folder: Path, rng: random.Random) -> str:
        import tf1sessions as t1

        wrong = []
        with t1.ProcessSessionPool(2, mode="tf2") as pool:
            futures = [
                pool.submit(function, value, rng.random()) if value % 2 else pool.submit(plain, value)
                for value in range(40)
            ]
            for value, future in enumerate(futures):
                error = future.exception(DEADLINE)
                if error is None and future.result() != value:
                    wrong.append(f"job {value} gave {future.result()!r}")
                if error is not None and (type(error).__name__ not in may_fail or value % 2 == 0):
                    wrong.append(f"job {value}: {type(error).__name__}: {error}"[:200])
        return "; ".join(wrong[:3]) or "each job ended as it should"

    return act


def server_killed(folder: Path, rng: random.Random) -> str:
    """SIGKILL to the fork server while jobs run: its workers end, too."""
    import tf1sessions as t1

    pool = t1.ProcessSessionPool(2, mode="tf2")
    workers = {pool.submit(os.getpid).result(DEADLINE) for _ in range(4)}
    running = [pool.submit(time.sleep, rng.random() / 5) for _ in range(4)]
    servers = {int(Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1]) for pid in workers}
    time.sleep(rng.random() / 5)
    for server in servers:
        os.kill(server, signal.SIGKILL)
    ends = {type(future.exception(DEADLINE)).__name__ for future in running}
    pool.shutdown()
    until = time.monotonic() + 10
    alive = set(workers)
    while alive and time.monotonic() < until:
        alive = {pid for pid in alive if os.path.exists(f"/proc/{pid}")}
        time.sleep(0.02)
    return f"ends {ends}, alive {alive}" if alive else "all jobs ended, no worker is left"


def full(value):
    return np.full(300_000, value, np.float32)


def writes_to_descriptors(value):
    for descriptor in range(3, 60):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"\x00\xff" * 50)


def stray_writes(folder: Path, rng: random.Random) -> str:
    """A job that writes to descriptors that are not its own ends, or its worker does; results of others stay."""
    import tf1sessions as t1

    with t1.ProcessSessionPool(2, mode="tf2") as pool:
        stray = rng.randrange(12)
        futures = [pool.submit(writes_to_descriptors if each == stray else full, each) for each in range(12)]
        done = {each: future for each, future in enumerate(futures) if each != stray}
        values = {each: future.result(DEADLINE) for each, future in done.items() if not future.exception(DEADLINE)}
    wrong = [each for each, value in values.items() if not (value == each).all()]
    if len(values) < len(done) - 2:  # a worker that died may have had one more
        return f"only {len(values)} jobs gave a result"
    return f"wrong: {wrong}" if wrong else "no result has changed"


def becomes_daemon(folder, value):
    os.closerange(3, 4096)
    for number in range(600):
        file = open(f"{folder}/{number}", "wb+", buffering=0)
        file.write(b"m")
        file.truncate(1_200_000)
        KEPT.append(file)
    return full(value)


KEPT: list = []


def closed_descriptors(folder: Path, rng: random.Random) -> str:
    """A job that closes all descriptors, and has files by their numbers: its worker writes to none of them."""
    import tf1sessions as t1

    with t1.ProcessSessionPool(1, mode="tf2") as pool:
        for value in range(rng.randrange(4)):
            pool.submit(full, value).result(DEADLINE)
        error = pool.submit(becomes_daemon, str(folder), 5).exception(DEADLINE)
        if (pool.submit(full, 6).result(DEADLINE) != 6).any():
            return "another job has a wrong result"
    if "Traceback" in str(error):
        return f"a traceback: {error}"
    changed = [path.name for path in folder.iterdir() if path.read_bytes() != b"m".ljust(1_200_000, b"\0")]
    return f"changed: {changed[:3]}" if changed else "no file has changed"


TRIALS = [
    Trial("jobs that fork, children that end in any way", "each job ended as it should", many(forks_in_some_way), 25),
    Trial(
        "jobs that kill their worker", "each job ended as it should", many(may_die, ("WorkerDiedError", "JobError")), 15
    ),
    Trial(
        "results and errors that cannot be pickled",
        "each job ended as it should",
        many(odd_results, ("JobError",)),
        15,
    ),
    Trial("a job writes to descriptors that are not its own", "no result has changed", stray_writes, 10),
    Trial("a job closes all descriptors, and opens files", "no file has changed", closed_descriptors, 5),
    Trial("the server is killed", "all jobs ended, no worker is left", server_killed, 8),
]
