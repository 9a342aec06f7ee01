"""tf.estimator against genuine TensorFlow 1.15.5: results, logs, files and events, within a relative 1e-4."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import PythonRun, unpack

FOLDER = Path(__file__).resolve().parent
GOLDEN = FOLDER.parent / "golden" / "data" / "estimator"
sys.path.append(str(FOLDER.parent / "contrib"))

import answers  # noqa: E402  (of that folder)

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import estimator_cases
import tf1sessions
from tf1sessions.runtime import tf1

if sys.argv[2] == "script":
    tf1sessions.enable_v1_behavior()
from tf1sessions import estimator
import tensorflow
eager = tensorflow.executing_eagerly()
found = estimator_cases.run(tf1, estimator, sys.argv[3:])
report(eager=[eager, tensorflow.executing_eagerly()], found=found)
"""

#: Cases that build what a TensorFlow 2 program has another kind of: variables, datasets, queues.
IN_TENSORFLOW_2 = (
    "train evaluate predict input_functions arrays scaffold export warm_start warm_start_with_another_vocabulary "
    "evaluation_in_memory spec_errors"
).split()


def golden(name: str) -> Any:
    return json.loads(gzip.decompress((GOLDEN / "estimator.json.gz").read_bytes()))[name]


def without_steps(value: Any) -> Any:
    """``value`` without the step in lines of the log.

    What a TensorFlow 2 program counts steps in is a resource variable, which is read before the step and not after it.
    """
    if isinstance(value, dict):
        return {key: without_steps(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_steps(item) for item in value]
    return re.sub(r"step[ =]+\d+", "step", value) if isinstance(value, str) else value


@pytest.mark.slow
def test_programs_return_and_log_what_they_did_on_1_15(run_python: Callable[..., PythonRun]) -> None:
    results = run_python(_PROGRAM, str(FOLDER), "script", deadline=170).results
    assert len(results["found"]) >= 20
    assert answers.differences(results["found"], golden("cases"), rtol=1e-4, atol=1e-6) == []


@pytest.mark.slow
def test_programs_in_a_tensorflow_2_program(run_python: Callable[..., PythonRun]) -> None:
    results = run_python(_PROGRAM, str(FOLDER), "TF2 program", *IN_TENSORFLOW_2, deadline=170).results
    theirs = {name: golden("cases")[name] for name in IN_TENSORFLOW_2}
    assert results["eager"] == [True, True]
    found = without_steps(results["found"])
    assert answers.differences(found, without_steps(theirs), rtol=1e-4, atol=1e-6) == []


_SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import tf1sessions.scripts
tf1sessions.scripts.install()
import tensorflow as tf
import tensorflow_estimator
import tensorflow.estimator as as_module
from tensorflow.estimator import export, inputs
from tensorflow.python.estimator import estimator as inner
from tensorflow.python.estimator.export import export as inner_export
from tensorflow.python.estimator.inputs import numpy_io
from tensorflow_estimator import estimator as of_package
from tensorflow_estimator.python.estimator import model_fn, run_config
from tensorflow_estimator.python.estimator.estimator import Estimator, WarmStartSettings
from tensorflow_estimator.python.estimator.inputs.queues import feeding_functions
import tensorflow_estimator.python.estimator.training as training
import estimator_cases

e = tf.estimator
report(same={
    "module": as_module is e is of_package is tf.compat.v1.estimator is tensorflow_estimator.estimator,
    "estimator": inner.Estimator is Estimator is e.Estimator, "settings": WarmStartSettings is e.WarmStartSettings,
    "export": inner_export.ServingInputReceiver is export.ServingInputReceiver is e.export.ServingInputReceiver,
    "inputs": numpy_io.numpy_input_fn is inputs.numpy_input_fn is e.inputs.numpy_input_fn,
    "model_fn": model_fn.ModeKeys is e.ModeKeys, "config": run_config.RunConfig is e.RunConfig,
    "training": training.train_and_evaluate is e.train_and_evaluate,
    "hook": e.SessionRunHook is tf.train.SessionRunHook,
    "dir": set(e.__all__) <= set(dir(e)), "attribute": not hasattr(e, "no_such_thing"),
})
try:
    tf.estimator.no_such_thing
except AttributeError as error:
    report(attribute=str(error))
try:
    import tensorflow.python.estimator.no_such_thing
except ImportError as error:
    report(module=str(error))
report(resumed=estimator_cases.resume(tf, e, sys.argv[2]))

def model_fn(features, labels, mode):
    metric = tf.keras.metrics.MeanAbsoluteError(name="distance")
    metric.update_state(labels, features["x"][:, :1])
    return e.EstimatorSpec(mode, loss=tf.reduce_mean(labels), eval_metric_ops={"distance": metric})

world = estimator_cases.World(tf, e)
report(metric=float(e.Estimator(model_fn, world.folder()).evaluate(world.data())["distance"]))
"""


def test_a_script_finds_it_and_resumes_what_1_15_trained(run_python: Callable[..., PythonRun], tmp_path: Path) -> None:
    unpack(GOLDEN / "model_dir.tar.gz", tmp_path / "model")
    done = run_python(_SCRIPT, str(FOLDER), str(tmp_path / "model"), fresh=True).results
    assert done["same"] == dict.fromkeys(done["same"], True)
    assert "tf.estimator.no_such_thing is not available" in done["attribute"]
    assert "Estimator" in done["attribute"]
    assert "tensorflow.python.estimator.no_such_thing is not available" in done["module"]
    assert answers.differences(done["resumed"], golden("resumed"), rtol=1e-5, atol=1e-7) == []
    assert done["metric"] == pytest.approx(3.0)  # of |x - 2 x| for x in 0, 2, 4, 6


_PANDAS = """
import pandas as pd
import tf1sessions
from tf1sessions import estimator, tf1 as tf

frame = pd.DataFrame({"number": [1, 2, 3, 4], "ratio": [0.5, 0.6, 0.7, 0.8], "word": list("wxyz")})
target = pd.Series([9, 8, 7, 6], name="target")

def batches(*args, **kwargs):
    input_fn = estimator.inputs.pandas_input_fn(*args, shuffle=False, **kwargs)
    got = []
    with tf.Graph().as_default():
        made = input_fn()
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                got.append(session.run(made))
    def plain(value):
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, tuple):
            return [plain(item) for item in value]
        return [item.decode() if isinstance(item, bytes) else item for item in value.tolist()]
    return [plain(batch) for batch in got]

def error(*args, **kwargs):
    try:
        estimator.inputs.pandas_input_fn(*args, **kwargs)()
    except ValueError as problem:
        return str(problem).splitlines()[0]

report(
    series=batches(frame, target, batch_size=3),
    alone=batches(frame[["number"]], batch_size=2),
    frames=batches(frame[["number"]], pd.DataFrame({"u": [1, 2, 3, 4]}), batch_size=4, num_epochs=2),
    errors=[
        error(frame, target, shuffle=None), error(frame, target.rename(index={0: 9}), shuffle=True),
        error(frame, target, shuffle=True, target_column="number"),
    ],
)
"""


def test_data_frames(run_python: Callable[..., PythonRun]) -> None:
    pytest.importorskip("pandas")
    done = run_python(_PANDAS).results
    assert done["series"] == [
        [{"number": [1, 2, 3], "ratio": [0.5, 0.6, 0.7], "word": ["w", "x", "y"]}, [9, 8, 7]],
        [{"number": [4], "ratio": [0.8], "word": ["z"]}, [6]],
    ]
    assert done["alone"] == [{"number": [1, 2]}, {"number": [3, 4]}]
    assert done["frames"] == [[{"number": [1, 2, 3, 4]}, {"u": [1, 2, 3, 4]}]] * 2
    assert [error.split(";")[0] for error in done["errors"]] == [
        "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training)",
        "Index for x and y are mismatched.",
        "Cannot use name number for target column: DataFrame already has a column with that name: "
        + done["errors"][2].rpartition("name: ")[2],
    ]
