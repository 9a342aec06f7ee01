"""contrib.factorization against genuine TensorFlow 1.15.5, within 1e-5; steps of batches against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import answers  # this folder is on the path; pytest puts it there
import pytest
from support import PythonRun

FOLDER = Path(__file__).resolve().parent

_PROGRAM = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import factorization_cases
import tf1sessions
from tf1sessions.runtime import tf1 as tf

if sys.argv[2] == "script":
    tf1sessions.enable_v1_behavior()
from tf1sessions import contrib
report(found=factorization_cases.run(tf, contrib.factorization, contrib))

points = np.random.RandomState(0).uniform(-1, 1, [400, 2]).astype("f")
worst = []
for steps in (1, 2, 3):
    with tf.Graph().as_default(), tf.Session() as session:
        batch = tf.placeholder(tf.float32, [None, 2])
        graph = contrib.factorization.KMeans(batch, 3, points[:3], use_mini_batch=True,
                                             mini_batch_steps_per_iteration=steps).training_graph()
        clusters = tf.global_variables()[0]
        session.run(tf.global_variables_initializer())
        session.run(graph[4], {batch: points})
        centers = np.float64(points[:3])
        new, counts, left = centers.copy(), np.full(3, 1 if steps == 1 else 0), steps
        for i in range(8):
            part = points[50 * i : 50 * i + 50]
            index = ((part[:, None] - centers[None]) ** 2).sum(2).argmin(1)
            if steps > 1:  # the new centers are used when their steps are over
                left -= 1
                if left < 0:
                    centers, counts, left = new.copy(), np.zeros(3, int), steps - 1
            session.run(graph[5], {batch: part})
            for k in range(3):
                mine = part[index == k]
                if len(mine):
                    counts[k] += len(mine)
                    new[k] += (mine.sum(0) - len(mine) * new[k]) / counts[k]
            if steps == 1:
                centers = new.copy()
            worst.append(float(np.abs(session.run(clusters) - centers).max()))
report(worst=max(worst), moved=float(np.abs(centers - points[:3]).max()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_is_that_of_1_15(run_python: Callable[..., PythonRun], way: str) -> None:
    done = run_python(_PROGRAM, str(FOLDER), way).results
    golden = answers.golden("factorization")
    assert len(golden) == 15
    assert answers.differences(done["found"], golden, rtol=1e-5, atol=1e-5) == []
    assert done["worst"] < 1e-5 < 0.1 < done["moved"]
