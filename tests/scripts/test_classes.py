"""What ``type`` and ``isinstance`` say in a script is what they said in TensorFlow 1.15.5."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

import pytest
from support import ROOT, PythonRun

# Objects whose class has another name today.
NAMED_OTHERWISE = {"keras_model": "Functional"}
# Public classes that an object is exactly of no more.
EXACT_NO_MORE = {"keras_model": ["tf.keras.Model"]}

# Public names that are two objects today.
APART = {"tf.compat.as_str", "tf.compat.as_text"}
# What can be pickled no more: most have a composition of 1.15.5 in front of today's function.
PICKLED_NO_MORE = set(
    """
    tf.HistogramProto tf.arg_max tf.arg_min tf.clip_by_norm tf.einsum tf.feature_column.linear_model tf.get_seed
    tf.image.adjust_jpeg_quality tf.image.per_image_standardization tf.image.resize_area tf.linalg.diag
    tf.linalg.diag_part tf.linalg.einsum tf.math.bessel_i0 tf.math.bessel_i1 tf.math.reduce_std
    tf.math.reduce_variance tf.matrix_diag tf.matrix_diag_part tf.nn.swish tf.nn.weighted_moments tf.random.get_seed
    tf.sparse_matmul tf.train.cosine_decay tf.train.cosine_decay_restarts tf.train.exponential_decay
    tf.train.inverse_time_decay tf.train.linear_cosine_decay tf.train.natural_exp_decay
    tf.train.noisy_linear_cosine_decay tf.train.piecewise_constant tf.train.piecewise_constant_decay
    tf.train.polynomial_decay
    """.split()
)

PROGRAM = """
import sys
import tf1sessions.scripts
tf1sessions.scripts.install()
sys.path[:0] = sys.argv[1:]
import make_classes
import tensorflow as tf
report(**make_classes.described())
"""

CLASSES = """
import copy, pickle
import tf1sessions.scripts
tf1sessions.scripts.install()
import tensorflow as tf
from tensorflow.python.framework import ops

class Mine(tf.Tensor):
    pass

symbolic = tf.constant([1.0])
tf.Tensor.doubled = property(lambda self: self * 2.0)
regularizer = tf.keras.regularizers.l2(0.25)
node = tf.NodeDef(name="negative", op="Neg", attr={"T": tf.AttrValue(type=tf.float32.as_datatype_enum)})
operation = tf.Operation(node, symbolic.graph, [symbolic], [tf.float32])
with tf.variable_scope("halved", custom_getter=lambda getter, *args, **named: getter(*args, **named) / 2.0):
    tf.contrib.layers.fully_connected(tf.zeros([1, 2]), 3, variables_collections={"weights": ["W"], "biases": ["B"]})
collected = [type(each).__name__ for name in ("W", "B") for each in tf.get_collection(name)]
(imported,) = tf.import_graph_def(tf.get_default_graph().as_graph_def(), return_elements=["Const:0"])
found = {
    "inner": ops.Tensor is tf.Tensor,
    "name": (tf.Tensor.__name__, tf.Tensor.__module__),
    "below": (issubclass(type(symbolic), tf.Tensor), issubclass(Mine, tf.Tensor), issubclass(int, tf.Tensor)),
    "of a class below": isinstance(symbolic, Mine),
    "made": type(tf.Tensor(symbolic.op, 0, tf.float32)) is tf.Tensor,
    "operation": (operation.name, type(operation.outputs[0]) is tf.Tensor),
    "computed": tf.Session().run(operation.outputs)[0].tolist(),
    "operation by name": tf.Operation(tf.NodeDef(name="none", op="NoOp"), g=symbolic.graph).type,
    "copied": type(copy.copy(symbolic)) is tf.Tensor,
    "by a method that was added": tf.Session().run(symbolic.doubled).tolist(),
    "imported": type(imported) is tf.Tensor,
    "class of a variable": issubclass(type(tf.get_variable("v", [1], use_resource=True)), tf.Variable),
    "no variable": isinstance(symbolic, tf.Variable),
    "names of a contrib module": [name in tf.contrib.layers.__dict__ for name in ("conv2d", "l2_regularizer", "none")],
    "while another iterates": sum(callable(each) for each in vars(tf.contrib.rnn).values()) > 40,
    "a falsy regularizer": tf.get_variable("r", [1], regularizer={}) is not None,
    "collections under a custom getter": collected,
    "regularizer": (tf.keras.regularizers.serialize(regularizer), float(regularizer.l1)),
}
report(**found)
"""

EAGER = """
import tf1sessions.scripts
tf1sessions.scripts.install()
import tensorflow as tf
from tensorflow.python.framework import ops
tf.enable_eager_execution()
one = tf.constant([1.0])
traced = []
tf.contrib.eager.defun(lambda x: traced.append(type(x) is tf.Tensor) or x + one)(one)
report(
    eager=(isinstance(one, tf.Tensor), issubclass(type(one), tf.Tensor), isinstance(1.0, tf.Tensor)),
    symbolic=ops.is_symbolic_tensor(one),
    traced=traced,
    variable=isinstance(tf.Variable(1.0), tf.Variable),
    gradient=[isinstance(each, tf.Tensor) for each in [tf.square(one)]],
)
"""


@pytest.mark.slow
def test_objects_are_of_the_classes_that_they_were_of(run_python: Callable[..., PythonRun]) -> None:
    with gzip.open(ROOT / "tests" / "golden" / "data" / "classes.json.gz", "rt") as file:
        golden = json.load(file)
    folders = [str(ROOT / "tests" / "golden" / each) for each in ("make", "cases")]
    found = run_python(PROGRAM, *folders).results
    assert found["objects"].keys() == golden["objects"].keys()
    classes = set(golden["classes"])
    assert classes <= set(found["classes"])
    for name, before in golden["objects"].items():
        today = found["objects"][name]
        today = {key: [each for each in today[key] if each in classes] for key in ("exactly", "instance of")} | {
            "class": today["class"]
        }
        expected = {
            "class": NAMED_OTHERWISE.get(name, before["class"]),
            "exactly": [each for each in before["exactly"] if each not in EXACT_NO_MORE.get(name, [])],
            "instance of": before["instance of"],
        }
        assert today == expected, name
    object_of = {name: number for number, names in enumerate(found["aliases"]) for name in names}
    for names in golden["aliases"]:
        assert len({object_of[each] for each in names if each in object_of and each not in APART}) <= 1, names
    assert set(found["not pickled"]) - set(golden["not pickled"]) == PICKLED_NO_MORE


@pytest.mark.slow
def test_the_class_of_tensors_is_a_class_as_others(run_python: Callable[..., PythonRun]) -> None:
    assert run_python(CLASSES).results == {
        "inner": True,
        "name": ["Tensor", "tensorflow.python.framework.ops"],
        "below": [True, True, False],
        "of a class below": False,
        "made": True,
        "operation": ["negative", True],
        "computed": [-1.0],
        "operation by name": "NoOp",
        "copied": True,
        "by a method that was added": [2.0],
        "imported": True,
        "class of a variable": True,
        "no variable": False,
        "names of a contrib module": [True, True, False],
        "while another iterates": True,
        "a falsy regularizer": True,
        "collections under a custom getter": ["Tensor", "Tensor"],
        "regularizer": [{"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.25}}, 0.0],
    }


@pytest.mark.slow
def test_eager_tensors_are_tensors_too(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(EAGER).results
    assert found["eager"] == [True, True, False] and found["symbolic"] is False
    assert found["traced"] and all(found["traced"])
    assert found["variable"] and found["gradient"] == [True]
