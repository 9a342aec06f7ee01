"""Programs that use what is around an Estimator, against genuine TensorFlow 1.15.5: within a relative 1e-4."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import ROOT, PythonRun

FOLDER = Path(__file__).resolve().parent
GOLDEN = FOLDER.parent / "golden"
sys.path.append(str(FOLDER.parent / "contrib"))

import answers  # noqa: E402  (of that folder)

TABLES = ("cluster", "contrib", "keras")
_PROGRAM = """
import importlib
import sys
sys.path[:0] = sys.argv[1:3]
import tf1sessions.scripts
tf1sessions.scripts.install()
import tensorflow as tf
tf.logging.set_verbosity(tf.logging.ERROR)
for name in sys.argv[3:]:
    report(**{name: importlib.import_module(name + "_cases").run(tf, tf.estimator)})
"""


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_programs_do_what_they_did_on_1_15(run_python: Callable[..., PythonRun]) -> None:
    # an environment of its own: nothing has been imported
    environment = {"TF_ENABLE_ONEDNN_OPTS": "0"}
    found = run_python(_PROGRAM, str(FOLDER), str(GOLDEN / "cases"), *TABLES, env=environment, deadline=390).results
    for table in TABLES:
        theirs = json.loads(gzip.decompress((GOLDEN / "data" / "estimator" / f"{table}.json.gz").read_bytes()))
        assert answers.differences(found[table], theirs, rtol=1e-4, atol=1e-6) == [], table


_LIBRARY = """
import sys
import numpy as np
import tensorflow
import tf_keras
from tf1sessions import contrib, estimator, tf1 as tf
from tf1sessions.estimator.keras import model_to_estimator

X = np.arange(16, dtype=np.float32).reshape(8, 2) / 8
Y = X.sum(1, keepdims=True)
data = lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat(2)

class Model(tf_keras.Model):
    def __init__(self, units=1):
        super().__init__(name="model")
        self.layer = tf_keras.layers.Dense(units, name="layer")

    def call(self, inputs):
        return self.layer(inputs)

def keras(optimizer):
    model = tf_keras.Sequential(
        [tf_keras.layers.Dense(3, "relu", input_shape=(2,), name="first"), tf_keras.layers.Dense(1, name="last")]
    )
    model.compile(optimizer, "mse", metrics=["mae", tf_keras.metrics.RootMeanSquaredError(name="root")])
    model.fit(X, Y, batch_size=4, shuffle=False, verbose=0)
    return model, model.evaluate(X, Y, verbose=0)

found = []
for optimizer in (tf_keras.optimizers.SGD(0.01), tf_keras.optimizers.legacy.Adam(0.01)):
    model, expected = keras(optimizer)
    made = model_to_estimator(model)
    before = made.evaluate(data)
    made.train(data)
    after = made.evaluate(data)
    found.append([expected, [float(before[name]) for name in ("loss", "mae", "root")],
                  float(after["loss"]), made.get_variable_names(), sorted(next(made.predict(data)))])
model = Model()
model.compile("adam", "mse")
model.fit(X, Y, verbose=0)
made = model_to_estimator(model).train(data)
found.append([made.get_variable_names(), sorted(made.evaluate(data))])
report(keras=found, eager=tensorflow.executing_eagerly())

fc, sequence = tf.feature_column, contrib.feature_column
word = sequence.sequence_categorical_column_with_vocabulary_list("word", ["a", "b"])
columns = [fc.embedding_column(word, 2)]
network = contrib.estimator.RNNClassifier(columns, num_units=[3], cell_type="gru")
words = lambda: tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "a"], [2, 2])
network.train(lambda: ({"word": words()}, tf.constant([[1], [0]])), steps=400)
report(network=[float(network.evaluate(lambda: ({"word": words()}, tf.constant([[1], [0]])), steps=1)["accuracy"]),
                [[name, shape] for name, shape in tf.train.list_variables(network.model_dir)]])
"""


@pytest.mark.slow
def test_they_work_in_a_tensorflow_2_program(run_python: Callable[..., PythonRun]) -> None:
    done = run_python(_LIBRARY).results
    assert done["eager"]
    sgd, adam, (names, results) = done["keras"]
    for expected, before, after, _, predictions in (sgd, adam):
        assert before == pytest.approx(expected, rel=1e-5)
        assert after < before[0]
        assert predictions == ["last"]
    of_model = ["first/bias", "first/kernel", "global_step", "last/bias", "last/kernel"]
    assert sgd[3] == sorted([*of_model, *(f"training/SGD/{name}" for name in ("decay", "learning_rate", "momentum"))])
    assert {"training/Adam/first/kernel/m", "training/Adam/beta_1"} < set(adam[3])
    assert {"model/layer/kernel", "model/layer/bias"} < set(names)
    assert results == ["global_step", "loss"]
    accuracy, variables = done["network"]
    assert accuracy == 1.0
    assert ["rnn/rnn/gru_cell/gates/kernel", [5, 6]] in variables


_TASK = """
import sys
import numpy as np
from tf1sessions import estimator, tf1 as tf

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(-1, 1)

def model_fn(features, labels, mode):
    w = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
    if mode == "train":
        print("device", w.device)
    loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - labels))
    train_op = tf.train.GradientDescentOptimizer(0.3).minimize(loss, tf.train.get_global_step())
    return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

config = estimator.RunConfig(sys.argv[1], save_checkpoints_steps=30, experimental_max_worker_delay_secs=0)
data = lambda: tf.data.Dataset.from_tensor_slices((X, 2 * X)).repeat().batch(8)
result = estimator.train_and_evaluate(
    estimator.Estimator(model_fn, config=config),
    estimator.TrainSpec(data, max_steps=60),
    estimator.EvalSpec(data, steps=2, start_delay_secs=0, throttle_secs=0),
)
print("result", result)
"""


def _free_address() -> str:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return f"localhost:{found.getsockname()[1]}"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_cluster_of_processes_trains_and_evaluates(tmp_path: Path) -> None:
    cluster = {kind: [_free_address()] for kind in ("chief", "worker", "ps")}
    folder = tmp_path / "model"
    tasks = {}
    with contextlib.ExitStack() as stack:
        for kind in ("ps", "chief", "worker", "evaluator"):
            given = {"cluster": cluster, "task": {"type": kind, "index": 0}}
            environment = {**os.environ, "TF_CONFIG": json.dumps(given), "PYTHONPATH": str(ROOT)}
            tasks[kind] = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _TASK, str(folder)],
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=(tmp_path / f"{kind}.log").open("w"),
                    text=True,
                )
            )
            stack.callback(tasks[kind].kill)
        written = {kind: tasks[kind].communicate(timeout=200)[0] for kind in ("chief", "worker", "evaluator")}
        assert tasks["ps"].poll() is None  # it serves until it is ended
    logs = {kind: (tmp_path / f"{kind}.log").read_text() for kind in tasks}
    for kind in ("chief", "worker", "evaluator"):
        assert tasks[kind].returncode == 0, logs[kind][-3000:]
        assert "result None" in written[kind]
    assert "device /job:ps/task:0" in written["chief"]
    assert "device /job:ps/task:0" in written["worker"]
    assert "device" not in written["evaluator"]
    assert list(folder.glob("model.ckpt-6?.index"))
    assert list(folder.glob("eval/events*"))
