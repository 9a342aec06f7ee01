"""contrib.learn against genuine TensorFlow 1.15.5: names, collections, trained values, metrics, predictions, texts."""

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
import learn_cases
import tf1sessions
from tf1sessions.runtime import tf1

parts = learn_cases.PARTS
if sys.argv[2] == "script":
    tf1sessions.enable_v1_behavior()
else:
    parts = [part for part in parts if part is not learn_cases.canned]
from tf1sessions import contrib
report(**learn_cases.run(tf1, contrib, parts))
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_programs_return_what_1_15_returned(run_python: Callable[..., PythonRun], way: str) -> None:
    ours = run_python(_PROGRAM, str(FOLDER), way, deadline=170).results
    golden = answers.golden("learn")
    assert len(golden) == 5 and len(golden["canned"]) == 9
    if way != "script":
        del golden["canned"]
    assert answers.differences(ours, golden, rtol=2e-5, atol=1e-6) == []


_MORE = """
import os, tempfile
import numpy as np
from tf1sessions import contrib
from tf1sessions import tf1 as tf
tf.logging.set_verbosity(tf.logging.ERROR)
learn, layers, predictor = contrib.learn, contrib.layers, contrib.predictor

x = np.random.RandomState(0).rand(60, 2).astype(np.float32)
y = (x[:, 0] > 0.5).astype(np.int64)

def input_fn():
    return {"x": tf.constant(x)}, tf.constant(y)

def estimator(**other):
    config = learn.RunConfig(save_checkpoints_steps=5, tf_random_seed=1)
    return learn.DNNClassifier([4], [layers.real_valued_column("x", dimension=2)], config=config, **other)

# a monitor that evaluates at new checkpoints, and one that ends the training
monitor = learn.monitors.ValidationMonitor(input_fn=input_fn, eval_steps=1, every_n_steps=5, early_stopping_rounds=10,
                                           early_stopping_metric="accuracy", early_stopping_metric_minimize=True)
stopped = estimator()
stopped.fit(input_fn=input_fn, steps=200, monitors=[monitor])
report(predictions=len(list(stopped.predict(input_fn=input_fn))), batches=len(list(stopped.predict(x={"x": x}))))
report(early=monitor.early_stopped, stopped_at=int(stopped.get_variable_value("global_step")))
at = estimator()
at.fit(input_fn=input_fn, steps=50, monitors=learn.monitors.StopAtStep(num_steps=7))
report(at=int(at.get_variable_value("global_step")))

# with scikit-learn's arguments all predictions of a classifier come, not its classes alone
skilled = learn.SKCompat(learn.DNNClassifier([4], [layers.real_valued_column("", dimension=2)]))
kinds = skilled.fit(x, y, steps=1).predict(x, batch_size=40)
report(kinds={key: list(value.shape) for key, value in kinds.items()})
report(chosen=list(skilled.predict(x, outputs=["classes"])))

# a SavedModel, and what reads it
def serving():
    placeholder = tf.placeholder(tf.float32, [None, 2], name="x")
    return learn.InputFnOps({"x": placeholder}, None, {"inputs": placeholder})

folder = stopped.export_savedmodel(os.path.join(tempfile.mkdtemp(), "export"), serving).decode()
served = predictor.from_saved_model(folder)
direct = predictor.from_contrib_estimator(stopped, serving)
want = np.array([p for p in stopped.predict_proba(x={"x": x[:3]})])
report(
    served=np.abs(served({"inputs": x[:3]})["probabilities"] - want).max().item(),
    direct=np.abs(direct({"inputs": x[:3]})["probabilities"] - want).max().item(),
    names=[sorted(served.feed_tensors), sorted(served.fetch_tensors)],
)
by_name = predictor.from_saved_model(folder, input_names={"a": "x:0"}, output_names={"b": served.fetch_tensors[
    "probabilities"].name}, tags="serve")
report(by_name=np.abs(by_name({"a": x[:3]})["b"] - want).max().item())
errors = {
    "key": lambda: served({"nothing": 1}),
    "signature": lambda: predictor.from_saved_model(folder, signature_def_key="other"),
    "two ways": lambda: predictor.from_saved_model(folder, signature_def_key="a", signature_def=1),
    "kind": lambda: predictor.from_estimator(stopped, serving),
    "boston": lambda: learn.datasets.load_dataset("boston"),
    "download": lambda: learn.datasets.base.maybe_download("a", "nowhere", "http://b"),
}
for name, call in errors.items():
    try:
        call()
        report(**{"error " + name: None})
    except Exception as error:
        report(**{"error " + name: [type(error).__name__, str(error)]})

# an estimator of tf.estimator with contrib's heads and extenders
from tf1sessions import estimator as core
columns = [tf.feature_column.numeric_column("x", shape=[2])]
def model_fn(features, labels, mode, config):
    logits = contrib.estimator.dnn_logit_fn_builder(1, [3], columns, tf.nn.relu, None, None, False)(
        features=features, mode=mode)
    head = contrib.estimator.binary_classification_head()
    optimizer = contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.0), 0.01)
    return head.create_estimator_spec(features, mode, logits, labels=labels, optimizer=optimizer)
mine = core.Estimator(model_fn, config=core.RunConfig(tf_random_seed=1))
mine.train(input_fn, steps=1)
before = {name: mine.get_variable_value(name) for name in mine.get_variable_names()}
mine.train(input_fn, steps=1)
del before["global_step"]
moved = sum(((mine.get_variable_value(name) - value) ** 2).sum() for name, value in before.items())
more = contrib.estimator.add_metrics(mine, lambda labels: {"share": tf.metrics.mean(labels)})
keyed = contrib.estimator.forward_features(mine, "x")
def receiver():
    placeholder = tf.placeholder(tf.float32, [None, 2])
    return core.export.ServingInputReceiver({"x": placeholder}, placeholder)
call = predictor.from_estimator(mine, receiver, output_key="predict")
first = next(keyed.predict(input_fn))
report(
    moved=float(moved) ** 0.5,
    share=float(more.evaluate(input_fn, steps=1)["share"]),
    key=first["x"].tolist() == x[0].tolist(),
    alike=float(np.abs(call({"input": x[:1]})["probabilities"][0] - first["probabilities"]).max()),
)
"""


def test_monitors_exports_and_predictors(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(_MORE).results
    assert found["early"] and found["stopped_at"] < 200
    assert found["predictions"] == found["batches"] == 60
    assert found["at"] == 7
    assert found["kinds"] == {"classes": [60], "logits": [60, 1], "logistic": [60, 1], "probabilities": [60, 2]}
    assert found["chosen"] == ["classes"]
    assert found["served"] == found["direct"] == found["by_name"] == 0.0
    assert found["names"] == [["inputs"], ["classes", "probabilities"]]
    assert found["error key"][0] == "ValueError" and "nothing" in found["error key"][1]
    assert found["error signature"][0] == "ValueError" and "serving_default" in found["error signature"][1]
    assert found["error two ways"][0] == "ValueError"
    assert found["error kind"][0] == "TypeError"
    assert found["error boston"][0] == "ValueError" and "data_path" in found["error boston"][1]
    assert found["error download"][0] == "FileNotFoundError" and "http://b" in found["error download"][1]
    assert 0 < found["moved"] <= 0.0101
    assert 0 < found["share"] < 1 and found["key"] and found["alike"] < 1e-6
