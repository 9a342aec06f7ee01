"""contrib.timeseries against genuine TensorFlow 1.15.5: statistics, models, inputs, exports; within 2e-5."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import answers  # this folder is on the path; pytest puts it there
import pytest
from support import PythonRun

FOLDER = Path(__file__).resolve().parent

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import timeseries_cases
import tf1sessions
from tf1sessions.runtime import tf1

parts = {part.__name__: part for part in timeseries_cases.PARTS}
if sys.argv[2] == "script":
    tf1sessions.enable_v1_behavior()
from tf1sessions import contrib
report(**timeseries_cases.run(tf1, contrib, [parts[name] for name in sys.argv[3:]]))
"""


PARTS = {"script": ["autoregression", "inputs", "sequential"], "TF2 program": ["statistics", "sequential", "programs"]}


@pytest.mark.slow
@pytest.mark.parametrize("way", list(PARTS))
def test_does_what_1_15_did(run_python: Callable[..., PythonRun], way: str) -> None:
    ours = run_python(_PROGRAM, str(FOLDER), way, *PARTS[way], deadline=170).results
    golden = answers.golden("timeseries")
    assert len(golden) == 5 and len(golden["autoregression"]) == 7 and len(golden["sequential"]) == 4
    golden = {part: golden[part] for part in PARTS[way]}
    assert answers.differences(ours, golden, rtol=2e-5, atol=1e-5) == []


_MORE = """
import numpy as np
from tf1sessions import contrib
from tf1sessions import tf1 as tf

series = contrib.timeseries
times = np.array([4, 2, 3, 9, 8, 7])

def batches(number, **arguments):
    reader = series.NumpyReader({"times": times, "values": times * 0.5})
    with tf.Graph().as_default(), tf.Session() as session:
        batch, _ = series.RandomWindowInputFn(reader, 3, 2, jitter=False, **arguments)()
        session.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        try:
            return [session.run(batch) for _ in range(number)]
        except tf.errors.OutOfRangeError:
            return "ended"
        finally:
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=120)

found = batches(20, discard_out_of_order=False)  # windows are drawn at random: of two, both come
report(
    sorted=sorted({tuple(row) for value in found for row in value["times"].tolist()}),
    values=all((value["values"][:, :, 0] == value["times"] * 0.5).all() for value in found),
    ended=batches(1, discard_consecutive_batches_limit=20),
)
"""


def test_windows_out_of_order_are_sorted_or_end_the_input(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(_MORE).results
    assert found["sorted"] == [[2, 3, 4], [7, 8, 9]]  # 1.15.5 fails
    assert found["values"]
    assert found["ended"] == "ended"
