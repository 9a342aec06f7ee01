"""Attacks on the pytest plugin: tests that hang, leak, kill, fork and raise, beside good ones."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import textwrap
from pathlib import Path

from attacks.trial import Trial

END_SECS = 120.0

GOOD = """
def test_good_NUMBER(tf1_session):
    import tf1sessions as t1
    with tf1_session.graph.as_default():
        assert tf1_session.run(t1.tf1.constant(2.0) * 3.0) == 6.0
"""

#: What a bad test does -> whether it fails.
BAD = {
    "raise ValueError('bad')": True,
    "tf1_session.run(t1.tf1.FIFOQueue(1, [t1.tf1.float32]).dequeue())": True,
    "import threading; threading.Event().wait()": True,
    "import sys; sys.exit(3)": True,
    "tf1_session.close(); tf1_session.run(t1.tf1.constant(1.0))": True,
    "import os; child = os.fork(); child or os._exit(0); os.waitpid(child, 0)": False,
    "import sys; print('x' * 10**6); sys.stdout.flush()": False,
    "import warnings; warnings.warn('a warning')": False,
    "t1.tf1.disable_eager_execution()": False,
    "raise KeyError('\\x1b[2J')": True,
    "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})": True,
}
#: What passes, and is an error of the test's clean-up.
LEAK = "t1.tf1.Session()"


def suite(folder: Path, rng: random.Random) -> str:
    """Good and bad tests in a random order: the run ends, names the bad ones, and counts the good ones."""
    tests, fails, goods = [], 0, 0
    for number in range(rng.randrange(3, 9)):
        if rng.random() < 0.5:
            tests.append(GOOD.replace("NUMBER", str(number)))
            goods += 1
            continue
        body = rng.choice([*sorted(BAD), LEAK])
        fails += body == LEAK or BAD[body]
        goods += body == LEAK or not BAD[body]
        tests.append(f"def test_bad_{number}(tf1_session):\n    import tf1sessions as t1\n    {body}\n")
    rng.shuffle(tests)
    (folder / "test_it.py").write_text("\n".join(map(textwrap.dedent, tests)))
    options = ["-p", "no:cacheprovider", "--timeout", "4"]
    options += rng.choice([[], ["-n", "2"], ["-x"], ["-p", "no:xdist"]])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, "test_it.py"],
        cwd=folder, capture_output=True, timeout=END_SECS, text=True, errors="replace",
    )  # fmt: skip
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    failed = sum(int(each) for each in re.findall(r"(\d+) (?:failed|error)", last))
    passed = sum(int(each) for each in re.findall(r"(\d+) passed", last))
    if "-x" in options and fails:
        return "as it should" if failed >= 1 and done.returncode == 1 else f"{last}: {done.stdout[-1500:]}"
    # A test that hangs in Python ends its process, with pytest-timeout's method of threads.
    hangs = "threading.Event().wait()" in "".join(tests)
    right = (failed, passed) == (fails, goods) or (hangs and "Timeout" in done.stdout + done.stderr)
    seen = f"{last}, {fails} should fail, {goods} pass: {done.stdout[-1500:]}{done.stderr[-300:]}"
    return "as it should" if right else seen


TRIALS = [Trial("good and bad tests in one run", "as it should", suite, times=20, deadline_secs=150)]
