"""``tf.contrib.eager.defun`` in graphs: what 1.15.5 gave was seen there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

_PROGRAM = """
import tf1sessions.scripts
tf1sessions.scripts.install()
import tensorflow as tf
import tensorflow.contrib.eager as tfe
from tensorflow.python.eager import function
traced = []
@tfe.defun
def scaled(x):
    traced.append(x.shape.as_list())
    return x * tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=True)
def once(x, sign=-1.0):
    traced.append(str(x.shape))
    return x * sign
class Model:
    weight = 0.0
    @function.defun
    def scale(self, x):
        if x > 0:
            return x * self.weight
        return -x
y = scaled(tf.constant([1.0, 2.0]))
types = [operation.type for operation in tf.get_default_graph().get_operations()]
again = scaled(tf.constant([3.0, 4.0]))
any_length = tfe.defun(once, input_signature=[tf.TensorSpec([None], tf.float32)])
flipped = [any_length(tf.constant([1.0])), any_length(tf.constant([1.0, 2.0]))]
models = [Model(), Model()]
models[0].weight, models[1].weight = 2.0, 3.0
dense = tfe.defun(lambda x: tf.layers.dense(x, 2, name="layer"))(tf.ones([1, 2]))
methods = [model.scale(tf.constant(value)) for model in models for value in (5.0, -1.0)]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    values = session.run([y, again, flipped, methods])
report(
    traced=traced,
    types=types,
    variables=[variable.name for variable in tf.trainable_variables()],
    values=[value.tolist() for value in (*values[:2], *values[2], *values[3])],
    named=[scaled.__name__, scaled.python_function.__name__, models[0].scale is models[0].scale],
    gradient=tf.gradients(y, tf.trainable_variables()[0])[0] is not None,
    concrete=scaled.get_concrete_function(tf.TensorSpec([2], tf.float32)) is not None,
)
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., Any]) -> dict[str, Any]:
    return run_python(_PROGRAM, fresh=True).results


def test_a_function_that_makes_variables_is_traced_once(found):
    assert found["traced"] == [[2], "(?,)"]
    assert found["variables"] == ["v:0", "layer/kernel:0", "layer/bias:0"]
    wanted = ["Const", "Const", "VarHandleOp", "VarIsInitializedOp", "AssignVariableOp", "ReadVariableOp"]
    assert found["types"] == [*wanted, "StatefulPartitionedCall"]


def test_functions_and_methods_compute(found):
    assert found["values"] == [[1.0, 2.0], [3.0, 4.0], [-1.0], [-1.0, -2.0], 10.0, 1.0, 15.0, 1.0]
    assert found["named"] == ["scaled", "scaled", True] and found["gradient"] and found["concrete"]
