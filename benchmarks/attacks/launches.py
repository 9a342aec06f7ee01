"""Attacks on `launch`: tasks that remove the run's folder, or what is in it, at any moment."""

from __future__ import annotations

import glob
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from attacks.trial import Trial

END_SECS = 100.0
PROGRAM = """
import glob, json, os, shutil, sys, time
import tensorflow as tf

config = json.loads(os.environ["TF_CONFIG"])
kind, index = config["task"]["type"], config["task"]["index"]
server = tf.train.Server(tf.train.ClusterSpec(config["cluster"]), job_name=kind, task_index=index)
if kind == "ps":
    server.join()
def act(moment):
    if (moment, index) == (MOMENT, WHO):
        time.sleep(DELAY)
        for path in glob.glob(WHAT):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    elif index != WHO:
        time.sleep(LATE)
act("before")
with tf.Session(server.target) as session:
    print("sum", session.run(tf.constant(1) + 1), flush=True)
act("after")
"""
WHAT = ["runs", "runs/*/.claims", "runs/*/.claims/*", "runs/*/jobs.json", "runs/*/*.log", "runs/*"]


def removed(folder: Path, rng: random.Random) -> str:
    """Every task is done, whichever removes what, and however late the others are."""
    values = {
        "MOMENT": rng.choice(["before", "after"]), "WHO": rng.randrange(2), "DELAY": rng.random(),
        "LATE": rng.choice([0.0, 0.5, 2.0]), "WHAT": rng.choice(WHAT),
    }  # fmt: skip
    text = PROGRAM
    for name, value in values.items():
        text = text.replace(name, repr(value))
    (folder / "train.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "launch", "--workers", "2", "train.py"], cwd=folder,
        stdin=subprocess.DEVNULL, capture_output=True, timeout=END_SECS,
    )  # fmt: skip
    if done.returncode != 0 or b"Traceback" in done.stderr:
        return f"exit code {done.returncode} of {values}: {(done.stdout + done.stderr)[-500:]!r}"
    (records,) = glob.glob(os.path.join(folder, "runs/*/jobs.json"))
    states = {record["state"] for record in json.loads(Path(records).read_text())}
    return "all are done" if states == {"done"} else f"{states} of {values}"


TRIALS = [Trial("a task removes the run folder, or a part of it", "all are done", removed, times=20, deadline_secs=120)]
