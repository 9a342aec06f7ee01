"""``tf1sessions launch --horovod``: ranks whose losses are those of one process, and a rank that fails."""

from __future__ import annotations

import json

import pytest
from plain_jobs import Plain

pytest_plugins = ("plain_fixture",)
pytestmark = pytest.mark.slow
LAUNCH = ["-m", "tf1sessions", "launch"]
DEADLINE = 120.0

TRAIN = """
import json, sys
import numpy as np
import horovod.tensorflow as hvd
import tensorflow as tf

hvd.init()
if sys.argv[1] == "raise" and hvd.rank() == 1:
    raise ValueError("on purpose")
data = np.random.RandomState(0).randn(64, 4).astype("f")
x = tf.placeholder(tf.float32, [None, 4])
w = tf.get_variable("w", [4, 1], initializer=tf.random_normal_initializer(seed=hvd.size() if hvd.rank() else 1))
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.1)).minimize(loss)
mean = hvd.allreduce(loss)
losses = []
n = 64 // hvd.size()
with tf.train.MonitoredTrainingSession(hooks=[hvd.BroadcastGlobalVariablesHook(0)]) as session:
    for _ in range(20):
        losses.append(float(session.run([mean, train], {x: data[hvd.rank() * n : (hvd.rank() + 1) * n]})[0]))
if hvd.rank() == 0:
    json.dump(losses, open("losses%d" % hvd.size(), "w"))
"""


def run(plain: Plain, *args: str) -> tuple[int, str]:
    stdout, stderr = plain.start(*args, program=LAUNCH).communicate(timeout=DEADLINE)
    return 0, (stdout + stderr).decode()


def test_two_ranks_have_the_losses_of_one(plain: Plain) -> None:
    plain.script("train.py", TRAIN)
    texts = [run(plain, "--horovod", size, "--out", f"run{size}", "train.py", "--", "well")[1] for size in ("1", "2")]
    one, two = (json.loads((plain.folder / f"losses{size}").read_text()) for size in (1, 2))
    assert two == pytest.approx(one, rel=1e-5), texts  # sums of halves round otherwise
    assert one[-1] < one[0]


def test_a_rank_that_fails_is_shown(plain: Plain) -> None:
    plain.script("train.py", TRAIN)
    _, text = run(plain, "--horovod", "2", "--out", "run", "train.py", "--", "raise")
    assert "ValueError: on purpose" in text
    assert {record["name"]: record["state"] for record in plain.records("run")}["rank:1"] == "failed"
