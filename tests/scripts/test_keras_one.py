"""Arguments by their names in Keras 1, after ``import keras``, beside the package ``keras`` 2.2.4."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from support import PythonRun

GOLDEN = Path(__file__).parents[1] / "golden"
WANTED = json.loads((GOLDEN / "data" / "keras_one_arguments.json").read_text())

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from tf1sessions import scripts
scripts.install()
import tensorflow as tf
import inspect
import keras
from keras_one_arguments import results

class Mine(keras.layers.Conv2D):
    def __init__(self):
        super().__init__(4, 3, 2, border_mode="same")

report(
    found=results(keras),
    subclass=Mine().get_config()["kernel_size"],
    arguments=[*inspect.signature(keras.layers.Dense).parameters][:2],
    again=type(keras.layers.Dense.from_config(keras.layers.Dense(output_dim=3).get_config())).__name__,
)
"""

WITHOUT = """
from tf1sessions import scripts
scripts.install()
import tensorflow as tf

report(strides=tf.keras.layers.Conv2D(4, 3, 3).get_config()["strides"])
try:
    tf.keras.layers.Dense(output_dim=3)
except TypeError as error:
    report(error=str(error))
"""
#: What Keras itself gives otherwise now, by names.
OTHERWISE = {
    "kernel_initializer": {"VarianceScaling": "GlorotUniform"},
    "kernel_regularizer": {"L1L2": "L2"},
    "recurrent_regularizer": {"L1L2": "L1"},
}


def expected(values: object) -> object:
    if not isinstance(values, dict):
        return values
    return {name: OTHERWISE.get(name, {}).get(str(value), value) for name, value in values.items()}


def test_as_in_keras_2_2(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(PROGRAM, str(GOLDEN / "cases"), deadline=170).results
    assert found["found"].keys() == WANTED.keys()
    for case, wanted in WANTED.items():
        got = found["found"][case]
        if isinstance(wanted, dict):
            got = {name: value for name, value in got.items() if name in wanted}
        assert got == expected(wanted), case
    assert found["subclass"] == [3, 2]
    assert found["arguments"] == ["units", "activation"]
    assert found["again"] == "Dense"


def test_tensorflow_s_keras_alone(run_python: Callable[..., PythonRun]) -> None:
    """A program that does not import ``keras`` has the arguments of ``tf.keras``, as on 1.15.5."""
    found = run_python(WITHOUT).results
    assert found["strides"] == [3, 3]
    assert "output_dim" in found["error"] or "units" in found["error"]
