"""Runs the programs of ``fidelity/`` on genuine TensorFlow 1.15 and keeps what they print.

    python tests/golden/make/make_fidelity.py [name ...]

To be run with the Python of an environment that has TensorFlow 1.15; names as
in ``fidelity/NAME.py`` (none: all of them).  Each runs twice, in folders of
its own, with one core: sums are taken in the order of one thread then.  A
program that prints something else the second time is refused.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from folders import CASES, DATA

PROGRAMS = Path(CASES) / "fidelity"
FAILED = "\n(it failed)"
RECORD = Path(DATA) / "fidelity.json.gz"


def run(arguments: list[str]) -> str:
    with tempfile.TemporaryDirectory() as cwd:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            env=dict(os.environ, TMPDIR=cwd),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    return done.stdout if done.returncode == 0 else done.stdout + done.stderr[-4000:] + FAILED


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def main(names: list[str]) -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    version = run(["-c", "import tensorflow as tf; print(tf.__version__)"]).strip()
    if not version.startswith("1.15."):
        sys.exit(f"goldens are made with TensorFlow 1.15, not {version}")
    paths = {path.stem: path for path in sorted(PROGRAMS.glob("*.py"))}
    unknown = sorted(set(names) - set(paths))
    if unknown:
        sys.exit("no such program: " + ", ".join(unknown))
    record = json.loads(gzip.decompress(RECORD.read_bytes())) if RECORD.exists() else {"programs": {}}
    record["tensorflow"] = version
    programs = {name: kept for name, kept in record["programs"].items() if name in paths}
    refused = []
    for name in names or paths:
        started = time.time()
        printed, again = run([str(paths[name])]), run([str(paths[name])])
        if printed != again or printed.endswith(FAILED):
            refused.append(name)
            print(f"{name} failed, or prints other things each time:\n{printed}\n---\n{again}", flush=True)
            continue
        programs[name] = {"program": digest(paths[name]), "printed": printed}
        print(f"{name}: {len(printed)} bytes, {time.time() - started:.1f} s", flush=True)
    record["programs"] = dict(sorted(programs.items()))
    text = json.dumps(record, indent=1, ensure_ascii=False)
    with gzip.GzipFile(str(RECORD), "wb", 9, mtime=0) as file:
        file.write(text.encode())
    if refused:
        sys.exit("not recorded: " + ", ".join(refused))


if __name__ == "__main__":
    main(sys.argv[1:])
