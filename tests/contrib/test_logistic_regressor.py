"""contrib.learn.LogisticRegressor: what genuine TensorFlow 1.15.5 gave for this program, within 1e-5."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import PythonRun

_PROGRAM = """
import numpy as np
from tf1sessions import contrib
from tf1sessions import tf1 as tf

tf.logging.set_verbosity(tf.logging.ERROR)
x = np.random.RandomState(0).rand(20, 2).astype("f")
y = (x.sum(1) > 1).astype("i")[:, None]

def model_fn(features, labels, mode):
    weights = tf.get_variable("w", initializer=[[1.0], [1.0]])
    predictions = tf.sigmoid(tf.matmul(features, weights) - 1.0)
    if labels is None:
        return predictions, None, None
    loss = tf.losses.log_loss(labels, predictions)
    return predictions, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())

def input_fn():
    return tf.constant(x), tf.constant(y)

found = {}
for name, thresholds in (("plain", None), ("two", [0.3, 0.6])):
    estimator = contrib.learn.LogisticRegressor(model_fn, thresholds=thresholds)
    estimator.fit(input_fn=input_fn, steps=2)
    found[name] = {key: float(value) for key, value in estimator.evaluate(input_fn=input_fn, steps=1).items()}
found["predictions"] = [float(value[0]) for _, value in zip(range(3), estimator.predict(input_fn=input_fn))]
report(**found)
"""

_BOTH = {
    "labels/prediction_mean": 0.5458301305770874,
    "labels/actual_label_mean": 0.75,
    "accuracy/baseline_label_mean": 0.75,
    "auc": 0.9999998211860657,
    "loss": 0.5440041422843933,
    "global_step": 2.0,
}
_PLAIN = {
    "accuracy/threshold_0.500000_mean": 1.0,
    "precision/positive_threshold_0.500000_mean": 1.0,
    "recall/positive_threshold_0.500000_mean": 1.0,
}
_TWO = {
    "accuracy/threshold_0.300000_mean": 0.75,
    "precision/positive_threshold_0.300000_mean": 0.75,
    "recall/positive_threshold_0.300000_mean": 1.0,
    "accuracy/threshold_0.600000_mean": 0.44999998807907104,
    "precision/positive_threshold_0.600000_mean": 1.0,
    "recall/positive_threshold_0.600000_mean": 0.2666666805744171,
}


def test_metrics_and_predictions(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(_PROGRAM).results
    assert found["plain"] == pytest.approx({**_BOTH, **_PLAIN}, rel=1e-5)
    assert found["two"] == pytest.approx({**_BOTH, **_TWO}, rel=1e-5)
    assert found["predictions"] == pytest.approx([0.57584876, 0.546248, 0.5261986], rel=1e-5)
