"""Attacks on the command line: job files, records of runs, options and names that no user would write on purpose."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from attacks.trial import Trial

COMMAND = [sys.executable, "-m", "tf1sessions"]
END_SECS = 60.0
MODEL = Path(__file__).resolve().parents[2] / "tests" / "golden" / "data" / "models" / "training"

JOB_FILE = """\
[defaults]
args = ["--steps={steps}"]
settings = {time_limit = 600, retries = 1}

[[job]]
script = "job.py"
name = "a job {rate}"
env = {SEED = "{repeat}", OTHER = "x"}
repeat = 2
[job.grid]
rate = [0.1, 0.01]
steps = [10, 20]

[[job]]
script = "job.py"
cwd = "."
"""

PIECES = [
    "[", "]", "{", "}", '"', "'", "=", ",", ".", "#", "\n", "\\", "\0", "é", "\x1b[31m", "[[job]]", "[job.grid]",
    "repeat", "999999999999999999999", "1e400", "nan", "-1", "0x", "true", '"""', "{rate}", "[" * 50, "a." * 50,
    "9" * 5000, "{{", "\ufeff",
]  # fmt: skip

RECORD = {
    "name": "job", "script": "job.py", "args": ["1"], "state": "failed", "exit_code": 1, "seconds": 1.5,
    "peak_memory_mb": 9.5, "log": "01-job.log", "attempts": 1, "signal": None, "reason": None, "error": "why",
    "cold_reasons": [], "leftovers": [], "warnings": [], "deprecations": 0, "path": "", "module": None,
    "env": {"A": "1"}, "cwd": "", "settings": {"threads": 1},
}  # fmt: skip

ODD = [
    "", " ", ".", "..", "-", "--", "-x", "--nothing", "job.py", "folder", "/dev/null", "/dev/full", "/proc/self/mem",
    "\x1b[2J.py", "a\nb.py", "\x07", "é", "名前.py", "\udcff.py", "x" * 5000, "job.py/", "./job.py", "~", "$HOME", "%s",
    "{}", "NUL", "9" * 400,
]  # fmt: skip

OPTIONS = [
    "-m", "-j", "--out", "--resume", "--time-limit", "--retries", "--grace", "--queue-grace", "--threads", "--gpus",
    "--memory-fraction", "--memory-limit-mb", "--fast-kernels", "--seeds", "--json", "--fail-fast", "--warnings",
    "--run", "--ignore", "--machine", "--list-rules", "--map", "--tags", "--signature", "--inputs", "--outputs", "-n",
]  # fmt: skip


def call(folder: Path, *args: str | bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *args], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=END_SECS
    )


def judged(done: subprocess.CompletedProcess[bytes], codes: set[int]) -> str:
    """What is wrong with an answer: its exit code, a traceback of ours, or bytes that steer a terminal."""
    text = done.stdout + done.stderr
    if done.returncode not in codes:
        return f"exit code {done.returncode}: {done.args} {text[-500:]!r}"
    if b"Traceback" in text:
        return f"a traceback: {done.args} {text[-500:]!r}"
    steering = re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", text)
    if steering:
        return f"a control character: {done.args} {text[max(0, steering.start() - 50) :][:200]!r}"
    return "answered"


def mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.randrange(1, 6)):
        at, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        way = rng.randrange(4)
        if way == 0:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif way == 1:
            text = text[:at] + text[min(end, at + 20) :]
        elif way == 2:
            text = text[:end] + text[at:end] * rng.randrange(1, 4) + text[end:]
        else:
            text = text[:at] + rng.choice(PIECES) + text[at + 1 :]
    return text


def job_files(folder: Path, rng: random.Random) -> str:
    (folder / "job.py").write_text("")
    (folder / "jobs.toml").write_bytes(mutated(JOB_FILE, rng).encode("utf-8", "surrogateescape"))
    done = call(folder, "run", "jobs.toml", "--dry-run", *rng.choice([(), ("--json",)]))
    if done.returncode == 2 and b"jobs.toml" not in done.stderr and b"cannot run" not in done.stderr:
        return f"the file is not named: {done.stderr!r}"
    return judged(done, {0, 2})


def records(folder: Path, rng: random.Random) -> str:
    """A jobs.json that was changed by hand, or by a disk."""
    (folder / "job.py").write_text("")
    base = [RECORD, RECORD | {"name": "other", "log": "02-other.log", "state": "pending"}]
    (folder / "run").mkdir()
    if rng.random() < 0.5:  # a field, or all of it, of another kind
        other = rng.choice([None, True, -1, 1e300, float("nan"), "", "x\0", [], [[]], ["x"], {}, {"a": 1}])
        base[rng.randrange(2)][rng.choice(list(RECORD))] = other
        text = json.dumps(rng.choice([base, base, base, other, [other]]))
    else:
        text = mutated(json.dumps(base, indent=1), rng)
    (folder / "run" / "jobs.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    return judged(call(folder, "run", "--resume", "run", *rng.choice([("--dry-run",), ()])), {0, 1, 2})


def odd_calls(folder: Path, rng: random.Random) -> str:
    """Random options and names in a random order; nothing runs."""
    (folder / "job.py").write_text("import tensorflow as tf\n")
    (folder / "folder").mkdir()
    command = rng.choice(["run", "doctor", "inspect", "convert", "verify", "races", "memory"])
    words = [rng.choice(OPTIONS if rng.random() < 0.5 else ODD) for _ in range(rng.randrange(1, 6))]
    if command == "run":
        words.append("--dry-run")
    if command in ("doctor", "races", "verify", "convert"):  # which would run job.py, or write
        words = [word for word in words if word not in ("--run", "job.py", "./job.py", "--out")]
    args = [os.fsencode(word) for word in [command, *words] if "\0" not in word]
    return judged(call(folder, *args), {0, 1, 2})


def several_scripts(folder: Path, rng: random.Random) -> str:
    """Each script that is named is looked at, wherever it stands; what follows -- is never one."""
    names = [f"script{number}.py" for number in range(rng.randrange(1, 5))]
    wrong = [name for name in names if rng.random() < 0.5]
    for name in names:
        bad = "tf.contrib.ffmpeg.decode_audio(b'')" if name in wrong else "tf.constant(1)"
        (folder / name).write_text(f"import tensorflow as tf\n{bad}\n")
    done = call(folder, "doctor", "--json", *names)
    findings = json.loads(done.stdout)["findings"]
    found = {os.path.basename(finding["place"]["file"]) for finding in findings if finding["severity"] == "error"}
    right = found == set(wrong) and done.returncode == bool(wrong)
    return "every script was looked at" if right else f"{wrong}: {done.stdout!r}"


def convert_ended(folder: Path, rng: random.Random) -> str:
    """A signal at a random moment leaves a whole SavedModel, or nothing."""
    process = subprocess.Popen(
        [*COMMAND, "convert", str(MODEL), "out"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        time.sleep(0.5 + rng.random() * 8)
        process.send_signal(rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
        process.wait(END_SECS)
    finally:
        process.kill()
        process.wait()
    left = os.listdir(folder)
    return "all or nothing" if left in ([], ["out"]) else f"left {left}"


MINE = ["labels.txt", "notes/n", ".git/config", "old.pb", "variables/notes.txt", "assets/labels.txt", "debug/x", "a\nb"]


def kept_by_force(folder: Path, rng: random.Random) -> str:
    """A SavedModel's folder in which files of the user's are, and a model that shall take its place."""
    names = rng.sample(MINE, rng.randrange(1, 4))
    for name in ["saved_model.pb", *names]:
        (folder / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "out" / name).write_text("mine")
    done = call(folder, "convert", str(MODEL), "out", "--force")
    kept = all((folder / "out" / name).is_file() for name in names)
    return judged(done, {2}) if kept else f"deleted: {names}"


def pages(folder: Path, rng: random.Random) -> str:
    """A page in the place of what is read, or of a file of the user's, as a wrong order of two names gives."""
    for name in ("m.pb", "train.py", "ck/checkpoint"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")
    page = rng.choice(["m.pb", "./m.pb", "train.py", "ck/checkpoint", "ck/page.html"])
    words = rng.choice([("inspect", "ck"), ("verify", "ck", "m.pb"), ("verify", "train.py:f", "ck")])
    done = call(folder, *words, "--html", page)
    texts = {path.read_text() for path in folder.rglob("*") if path.is_file()}
    return judged(done, {2}) if texts == {"mine"} else f"replaced by {words}: {page}"


TRIALS = [
    Trial("a page in the place of another file", "answered", pages, times=8),
    Trial("convert --force where a user's files are", "answered", kept_by_force, times=4),
    Trial("convert is ended by a signal", "all or nothing", convert_ended, times=10),
    Trial("job files that were changed at random", "answered", job_files, times=120),
    Trial("a jobs.json that was changed at random", "answered", records, times=60),
    Trial("random options and names", "answered", odd_calls, times=150),
    Trial("doctor with several scripts", "every script was looked at", several_scripts, times=15),
]
