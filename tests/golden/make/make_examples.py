"""Runs the examples on genuine TensorFlow 1.15 and keeps what they print.

    python tests/golden/make/make_examples.py [name ...]

To be run with the Python of an environment that has TensorFlow 1.15; the
names are those of ``tests/examples_cases.py`` (none: all of them).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from examples_cases import CASES, Case


def tensorflow_version() -> str:
    # Asked of a child, as a run of a case would find it.
    done = subprocess.run(
        [sys.executable, "-c", "import tensorflow as tf; print(tf.__version__)"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "missing"


def run(case: Case) -> bytes:
    with tempfile.TemporaryDirectory() as cwd:
        # What the programs put into temporary directories goes there too.
        env = dict(os.environ, TMPDIR=cwd)
        done = subprocess.run(
            [sys.executable, str(case.path), *case.args],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    if done.returncode:
        sys.stderr.write(done.stderr.decode("utf-8", "replace")[-4000:])
        sys.exit(f"{case.name}: exit status {done.returncode}")
    return done.stdout


def main(names: list[str]) -> None:
    unknown = sorted(set(names) - {case.name for case in CASES})
    if unknown:
        sys.exit("no such case: " + ", ".join(unknown))
    version = tensorflow_version()
    if not version.startswith("1.15."):
        sys.exit(f"goldens are made with TensorFlow 1.15, not {version}")
    for case in CASES:
        if names and case.name not in names:
            continue
        started = time.time()
        out = run(case)
        case.golden.parent.mkdir(parents=True, exist_ok=True)
        case.golden.write_bytes(out)
        print(f"{case.golden.name}: {len(out)} bytes, {time.time() - started:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
