"""Attacks on ThreadSessionPool: time limits at random moments, code that never ends, ends from inside."""

from __future__ import annotations

import collections
import concurrent.futures
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

from attacks.trial import Trial

DEADLINE = 60.0


def waits_in_a_dequeue(session):
    import tf1sessions as t1

    session.run(t1.tf1.FIFOQueue(1, [t1.tf1.float32]).dequeue())


def runs_an_endless_loop(session):
    import tf1sessions as t1

    tf = t1.tf1
    session.run(tf.while_loop(lambda i: i >= 0, lambda i: tf.maximum(i, 0), [tf.placeholder_with_default(0, [])]))


def runs_again_and_again(session):
    import tf1sessions as t1

    one = t1.tf1.constant(1.0)
    while not session.closed:
        session.run(one)


def swallows_errors(session):
    for _ in range(3):
        try:
            waits_in_a_dequeue(session)
        except Exception:
            continue


def ends_at_once(session):
    return None


KINDS = (waits_in_a_dequeue, runs_an_endless_loop, runs_again_and_again, swallows_errors, ends_at_once)


def time_outs(kinds, limit_secs, jobs=200):
    """Makes a trial of jobs whose limits are random, up to ``limit_secs``."""

    def act(folder: Path, rng: random.Random) -> str:
        import tf1sessions as t1

        with t1.ThreadSessionPool(4) as pool:
            futures = [
                pool.job(time_limit_secs=rng.uniform(1e-5, limit_secs)).submit(rng.choice(kinds)) for _ in range(jobs)
            ]
            ends = collections.Counter(type(future.exception(DEADLINE)).__name__ for future in futures)
            meet = threading.Barrier(4, timeout=DEADLINE)
            met = [pool.submit(lambda session: meet.wait()) for _ in range(4)]
            places = sorted(future.result(DEADLINE) for future in met)
        threads = [thread.name for thread in threading.enumerate() if thread.name.startswith("ThreadSessionPool")]
        if set(ends) - {"NoneType", "JobTimeoutError"} or places != [0, 1, 2, 3] or threads:
            return f"ends {dict(ends)}, workers {places}, threads left {threads}"
        return "every job ended or timed out, all workers are there"

    return act


def exits_with(body: str):
    """Makes a trial of a process that ends while a job whose time was up goes on."""

    def act(folder: Path, rng: random.Random) -> str:
        program = (
            "import threading, time\nimport tf1sessions as t1\ntf = t1.tf1\n"
            f"def job(session):\n    {body}\n"
            "pool = t1.ThreadSessionPool(1)\n"
            f"future = pool.job(time_limit_secs={rng.uniform(0.01, 0.3):.3f}).submit(job)\n"
            "print(type(future.exception()).__name__)\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=DEADLINE)
        return f"{done.stdout.strip()}, exit {done.returncode}"

    return act


def ended_by_a_job(folder: Path, rng: random.Random) -> str:
    import tf1sessions as t1

    pool = t1.ThreadSessionPool(3)

    def job(session, number):
        time.sleep(rng.random() / 100)
        if number == 5:
            pool.shutdown(wait=True, cancel_futures=rng.random() < 0.5)
        return number

    futures = []
    try:
        for number in range(10):
            futures.append(pool.submit(job, number))
    except t1.errors.ClosedError:
        pass
    for number, future in enumerate(futures):
        if not future.cancelled() and future.exception(DEADLINE) is None and future.result() != number:
            return f"job {number} returned {future.result()}"
    pool.shutdown()
    return "all jobs ended or were cancelled"


def left_when_time_is_up(folder: Path, rng: random.Random) -> str:
    """The pool is left just when the limits of its jobs are over."""
    import tf1sessions as t1

    for _ in range(25):
        with t1.ThreadSessionPool(2, time_limit_secs=0.02) as pool:
            naps = [rng.choice([0, 0.02, 0.05]) for _ in range(6)]
            futures = [pool.submit(lambda session, secs: time.sleep(secs), secs) for secs in naps]
            time.sleep(rng.random() * 0.07)
        open_futures = [future for future in futures if not future.done()]
        if open_futures:
            return f"{len(open_futures)} futures are open"
    return "no error, and all Futures are done"


def raises_in_progress(folder: Path, rng: random.Random) -> str:
    """The function for progress raises at random what ends a thread."""
    import logging

    import tf1sessions as t1

    def progress(change):
        if rng.random() < 0.5:
            raise rng.choice([SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError, ValueError])("enough")

    logging.disable()
    for kind in (t1.ThreadSessionPool, t1.ProcessSessionPool):
        with kind(2, progress=progress) as pool:
            futures = [pool.submit(ends_at_once) for _ in range(50)]
            done = concurrent.futures.wait(futures, DEADLINE).done
            wrong = [value for value, each in enumerate(futures) if each not in done or each.exception() is not None]
        if wrong:
            return f"{kind.__name__}: jobs {wrong} did not end well"
    return "all jobs ended well"


TRIALS = [
    Trial("a progress function raises what ends a thread", "all jobs ended well", raises_in_progress, 4, 180),
    Trial(
        "the pool is left just when limits are over", "no error, and all Futures are done", left_when_time_is_up, 20, 90
    ),
    Trial(
        "200 jobs that wait in a dequeue, limits up to 30 ms",
        "every job ended or timed out, all workers are there",
        time_outs((waits_in_a_dequeue,), 0.03),
        20,
        180,
    ),
    Trial(
        "200 jobs in endless loops, limits up to 30 ms",
        "every job ended or timed out, all workers are there",
        time_outs((runs_an_endless_loop,), 0.03),
        15,
        180,
    ),
    Trial(
        "200 jobs of all kinds, limits up to 10 ms",
        "every job ended or timed out, all workers are there",
        time_outs(KINDS, 0.01),
        20,
        180,
    ),
    Trial("a job shuts the pool down", "all jobs ended or were cancelled", ended_by_a_job, 30),
    Trial(
        "the process ends while a job sleeps in Python",
        "JobTimeoutError, exit 0",
        exits_with("time.sleep(1000)"),
        2,
    ),
    Trial(
        "the process ends while a Python function inside the graph sleeps",
        "JobTimeoutError, exit 0",
        exits_with("session.run(tf.py_func(lambda: time.sleep(1000), [], tf.float32))"),
        2,
    ),
    Trial(
        "the process ends while a large product is computed",
        "JobTimeoutError, exit 0",
        exits_with("a = tf.random_uniform([16000, 16000]); session.run(tf.reduce_sum(tf.matmul(tf.matmul(a, a), a)))"),
        2,
    ),
]
