"""contrib.tpu and contrib.cluster_resolver against genuine TensorFlow 1.15.5, on a machine without a TPU."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import ROOT, PythonRun

sys.path.insert(0, str(ROOT / "tests" / "contrib"))
sys.path.insert(0, str(ROOT / "tests" / "golden" / "cases"))
import answers
import contrib_record

GOLDEN = ROOT / "tests" / "golden" / "data" / "estimator" / "tpu.json.gz"

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import tpu_cases
if sys.argv[2] == "script":
    import tf1sessions.scripts
    tf1sessions.scripts.install()
    import tensorflow as tf
    from tensorflow import contrib
    report(same=tf.estimator.tpu.TPUEstimator is tf.contrib.tpu.TPUEstimator)
else:
    from tf1sessions import contrib, estimator, tf1

    class TensorFlow:
        estimator = estimator

        def __getattr__(self, name):
            return getattr(tf1, name)

    tf = TensorFlow()
    report(same=estimator.tpu.TPUEstimator is contrib.tpu.TPUEstimator)
report(found=tpu_cases.run(tf, contrib))
"""


@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_programs_do_what_they_did(run_python: Callable[..., PythonRun], way: str) -> None:
    results = run_python(_PROGRAM, str(Path(__file__).resolve().parent), way, fresh=way == "script").results
    assert results["same"]
    golden = contrib_record.load(GOLDEN)
    assert sorted(golden) == ["configs", "graphs", "life", "specs"]
    assert answers.differences(json.loads(json.dumps(results["found"])), golden, rtol=2e-5, atol=1e-6) == []


_ONLY_OURS = """
import tempfile
from tf1sessions import contrib, estimator
from tf1sessions import tf1 as tf
tpu = contrib.tpu
tf.logging.set_verbosity(tf.logging.FATAL)

def model_fn(features, labels, mode, params):
    loss = tf.reduce_mean(tf.layers.dense(features, 1))
    step = tf.assign_add(tf.train.get_global_step(), 1)
    return tpu.TPUEstimatorSpec(mode, predictions={"y": features}, loss=loss, train_op=step)

def input_fn(params):
    return tf.data.Dataset.from_tensors(tf.ones([params["batch_size"], 2])).repeat()

def make(**options):
    options = {"use_tpu": False, "train_batch_size": 2, "eval_batch_size": 2, **options}
    return tpu.TPUEstimator(model_fn, config=tpu.RunConfig(), **options)

def serving():
    placeholder = tf.placeholder(tf.float32, [None, 2])
    return estimator.export.TensorServingInputReceiver(placeholder, placeholder)

trained = make(export_to_cpu=False)
trained.train(input_fn, steps=1)
calls = {
    "export": lambda: trained.export_saved_model(tempfile.mkdtemp(), serving),
    "tpu": lambda: make(use_tpu=True).train(input_fn, steps=1),
    "embedding": lambda: make(embedding_config_spec=1),
    "eval": lambda: make(use_tpu=True).evaluate(input_fn, steps=1),
}
for name, call in calls.items():
    try:
        call()
        report(**{name: None})
    except Exception as error:
        report(**{name: [type(error).__name__, str(error)]})
on_cpu = make(use_tpu=True, eval_on_tpu=False)
report(on_cpu=sorted(on_cpu.evaluate(input_fn, steps=1)))
from tf1sessions.contrib.tpu import tpu_function
with tpu_function.tpu_shard_context(3):
    report(shards=tpu_function.get_tpu_context().number_of_shards)
"""


def test_what_a_tpu_is_needed_for_says_so(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(_ONLY_OURS).results
    assert found["export"][0] == "ValueError" and "export_to_cpu=False" in found["export"][1]
    assert found["tpu"][0] == "RuntimeError" and "use_tpu=False" in found["tpu"][1]
    assert found["eval"][0] == "RuntimeError"
    assert found["embedding"][0] == "ValueError"
    assert found["on_cpu"] == ["global_step", "loss"]
    assert found["shards"] == 3
