"""Attacks on `tf1sessions races`: programs whose threads wait for ever, and such as only wait long."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

from attacks.trial import Trial

END_SECS = 100.0
LIMIT_SECS = 40  # for a program; one that waits for ever is to end long before

IMPORTS = """
import asyncio, concurrent.futures, multiprocessing, os, queue, signal, socket, subprocess, threading, time
import numpy as np
import tensorflow as tf
def run(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""
HELD = """
locks, meet = [threading.Lock() for _ in range(COUNT)], threading.Barrier(COUNT)
def take(number):
    with locks[number]:
        meet.wait()
        with locks[(number + 1) % COUNT]: pass
run(*[lambda number=number: take(number) for number in range(COUNT)])
"""
TENSORS = """
line = tf.FIFOQueue(1, [tf.float32])
get, put = line.dequeue(), line.enqueue([1.0])
session = tf.Session()
"""
FOR_EVER = [
    HELD.replace("COUNT", "2"),
    HELD.replace("COUNT", "5"),
    "lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "queue.Queue().get()",
    "queue.SimpleQueue().get()",
    "line = queue.Queue(1); line.put(1); line.put(2)",
    "line = queue.Queue(); line.put(1); line.join()",
    "threading.Event().wait()",
    "threading.Semaphore(0).acquire()",
    "threading.Barrier(2).wait()",
    "changed = threading.Condition()\nwith changed: changed.wait()",
    "run(threading.main_thread().join)",
    "line = queue.Queue(); run(lambda: line.get())",
    "concurrent.futures.Future().result()",
    "concurrent.futures.wait([concurrent.futures.Future()])",
    "pool = concurrent.futures.ThreadPoolExecutor(1)\npool.submit(lambda: pool.submit(int).result()).result()",
    TENSORS + "session.run(get)",
    TENSORS + "session.run(put); session.run(put)",
    TENSORS + "run(lambda: session.run(get))",
]
LONG = [
    "done = threading.Event(); threading.Timer(1, done.set).start(); done.wait()",
    "done = threading.Event(); signal.signal(signal.SIGALRM, lambda *_: done.set()); signal.alarm(1); done.wait()",
    "line = queue.Queue(); run(line.get, lambda: (time.sleep(1), line.put(1)))",
    "try: queue.Queue().get(timeout=1)\nexcept queue.Empty: pass",
    "changed = threading.Condition()\nwith changed: changed.wait(1)",
    "run(lambda: subprocess.run(['sleep', '1']))",
    "ours, theirs = os.pipe(); run(lambda: os.read(ours, 1), lambda: (time.sleep(1), os.write(theirs, b'x')))",
    "one, other = socket.socketpair(); line = queue.Queue()\n"
    "run(line.get, lambda: line.put(one.recv(1)), lambda: (time.sleep(1), other.send(b'x')))",
    "asyncio.run(asyncio.sleep(1))",
    TENSORS + "run(lambda: session.run(get), lambda: (time.sleep(1), session.run(put)))",
    TENSORS
    + "slow = line.enqueue([tf.py_func(lambda: np.float32(time.sleep(1) or 1), [], tf.float32)])\n"
    + "run(lambda: session.run(get), lambda: session.run(slow))",
]


def ends(programs: Sequence[str], exit_code: int) -> Callable[[Path, random.Random], str]:
    def act(folder: Path, rng: random.Random) -> str:
        program = programs[int(folder.name) % len(programs)]
        (folder / "program.py").write_text(IMPORTS + textwrap.dedent(program) + "\n")
        done = subprocess.run(
            [sys.executable, "-m", "tf1sessions", "races", "--time-limit", str(LIMIT_SECS), "program.py"],
            cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=END_SECS, text=True,
        )  # fmt: skip
        said = "deadlock" if "hazard deadlock" in done.stdout else "none"
        right = done.returncode == exit_code and said == ("deadlock" if exit_code else "none")
        return "as it should" if right else f"exit code {done.returncode}, {said}: {program}: {done.stderr[-300:]}"

    return act


TRIALS = [
    Trial("threads that wait for ever", "as it should", ends(FOR_EVER, 1), times=len(FOR_EVER), deadline_secs=END_SECS),
    Trial("threads that wait long", "as it should", ends(LONG, 0), times=len(LONG), deadline_secs=END_SECS),
]
