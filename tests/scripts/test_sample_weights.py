"""Masks and weights of samples in Keras models, beside ``tf.keras`` of 1.15.5 and the package ``keras`` 2.2.4."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

GOLDEN = Path(__file__).parents[1] / "golden"
WANTED = json.loads((GOLDEN / "data" / "sample_weights.json").read_text())

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from tf1sessions import scripts
scripts.install()
import tensorflow as tf
from sample_weights import results
if sys.argv[2] == "keras":
    import keras
else:
    keras = tf.keras
report(found=results(keras))
"""

ANY_RANK = """
from tf1sessions import scripts
scripts.install()
import numpy as np
import keras
from keras.layers import Input, Lambda

x, target = Input(shape=(3,)), Input(shape=(3,))
loss = Lambda(lambda pair: keras.backend.mean(keras.backend.square(pair[0] - pair[1])), output_shape=(1,))([x, target])
model = keras.models.Model([x, target], loss)
model.compile("sgd", loss=lambda t, p: p)
report(loss=float(model.train_on_batch([np.ones((4, 3)), np.zeros((4, 3))], np.zeros(4))))
"""


@pytest.mark.slow
@pytest.mark.parametrize("package", ["keras", "tf.keras"])
def test_as_recorded(package: str, run_python: Callable[..., PythonRun]) -> None:
    run = run_python(PROGRAM, str(GOLDEN / "cases"), package, deadline=280)
    found = run.results["found"]
    assert found.keys() == WANTED[package].keys()
    for case, wanted in WANTED[package].items():
        if not isinstance(wanted, str):
            assert found[case] == [pytest.approx(numbers, rel=1e-5) for numbers in wanted], case


def test_an_output_without_a_batch(run_python: Callable[..., PythonRun]) -> None:
    """A layer that computes the loss, as detectors have it, gives one number for all samples."""
    assert run_python(ANY_RANK).results["loss"] == 1.0
