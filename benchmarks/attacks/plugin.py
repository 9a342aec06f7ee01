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


ODD = ["", "0", "-1", "1", "nan", "inf", "1e300", "10001", "9" * 400, "x", "\x1b[2J", "true", "é"]
SETTINGS = [
    "leaks", "seed", "timeout", "threads", "races", "suppressions", "iterations", "switch-interval", "watch-locks",
    "unshareable",
]  # fmt: skip
KEYWORDS = ["seed", "config", "timeout", "threads", "iterations", "share", "explore", "nothing"]
VALUES = [
    "0", "-1", "True", "None", "1.5", "10**9", "10**30", "float('nan')", "1e300", "'x'", "''", "[2]", "{}", "object()",
    "'A99999999999999999999'", "'A' * 9999", "'\\x1b[2J'",
]  # fmt: skip


def settings(folder: Path, rng: random.Random) -> str:
    """An odd value of an option, a setting or a keyword is refused, or the one test passes."""
    keyword, value = rng.choice(KEYWORDS), rng.choice(VALUES)
    if keyword == "iterations" and "10**" in value:  # which is right, and takes for ever
        value = "0"
    marked = rng.random() < 0.5
    mark = f"@pytest.mark.tf1({keyword}={value})\n" if marked else ""
    (folder / "test_it.py").write_text(f"import pytest\n{mark}def test_it(): pass\n")
    name, odd = rng.choice(SETTINGS), rng.choice(ODD)
    in_file = not marked and rng.random() < 0.5
    line = f"tf1_{name.replace('-', '_')} = {odd}\n" if in_file else ""
    (folder / "pytest.ini").write_text(f"[pytest]\n{line}")
    options = [] if marked or in_file else [f"--tf1-{name}={odd}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *options, "test_it.py"],
        cwd=folder, capture_output=True, timeout=END_SECS, text=True, errors="replace",
    )  # fmt: skip
    text = done.stdout + done.stderr
    if done.returncode in (0, 1, 2, 4) and "INTERNALERROR" not in text and "OverflowError" not in text:
        return "answered"
    return f"exit code {done.returncode} for {options or line or mark}: {text[-800:]}"


TRIALS = [
    Trial("good and bad tests in one run", "as it should", suite, times=20, deadline_secs=150),
    Trial("odd values of settings and keywords", "answered", settings, times=60, deadline_secs=150),
]
