"""runtime.py: importing it changes nothing, `tf1` has TF1's layers under Keras 3, and one call changes the program."""

from __future__ import annotations

import ast
import gzip
import re
from collections.abc import Callable

import pytest
from support import PACKAGE, ROOT, PythonRun


def names_of_1_15(*modules: str) -> list[str]:
    """The public names of these modules in 1.15.5, such as ``layers.dense``."""
    with gzip.open(ROOT / "tests" / "golden" / "data" / "namespace_1_15.txt.gz", "rt", encoding="utf-8") as file:
        names = {line.split("\t")[0].removeprefix("tf.") for line in file}
    return sorted(name for name in names if name.rpartition(".")[0] in modules)


@pytest.fixture(scope="module")
def library(run_python: Callable[..., PythonRun]) -> dict[str, object]:
    """What the library finds, and leaves, in a program with Keras 3 and eager execution."""
    return run_python(
        """
        import os, sys, threading, warnings
        import numpy as np
        import tensorflow

        before = dict(os.environ), tensorflow.executing_eagerly(), list(warnings.filters)
        import tf1sessions
        from tf1sessions import runtime
        from tf1sessions.errors import MissingSymbolError, UnsupportedEnvironmentError

        after = dict(os.environ), tensorflow.executing_eagerly(), list(warnings.filters)
        report(unchanged=before == after, keras=tensorflow.keras.__version__[0])

        tf = tf1sessions.tf1
        got = []
        barrier = threading.Barrier(8, timeout=60)
        def ask():
            barrier.wait()
            got.append((tf.layers, tf.nn, tf.nn.rnn_cell, tf.nn.relu))
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        report(threads=[len(got), len({tuple(map(id, one)) for one in got})])

        def missing(name):
            value = tf
            for part in name.split("."):
                if not hasattr(value, part):
                    return True
                value = getattr(value, part)
            return False

        report(missing=[name for name in sys.argv[1].split() if missing(name)])
        v1 = tensorflow.compat.v1
        report(same=tf.Session is v1.Session and tf.nn.relu is v1.nn.relu and tf.train is v1.train)
        report(listed=sorted({"layers", "nn", "Session", "placeholder"} - set(dir(tf))),
               listed_nn=sorted({"rnn_cell", "relu"} - set(dir(tf.nn))))
        report(hasattr=[hasattr(tf, "contrib"), hasattr(tf.nn, "no_such"), hasattr(tf.layers, "no_such")])
        try:
            tf.contrib
        except MissingSymbolError as error:
            report(contrib=str(error))

        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [None, 5, 3])
            flat = tf.layers.flatten(x)
            dense = tf.layers.dense(flat, 2, kernel_initializer=tf.ones_initializer(), name="d")
            again = tf.layers.dense(flat, 2, name="d", reuse=True)
            normal = tf.layers.batch_normalization(dense, training=True)
            dropped = tf.layers.dropout(dense, 0.5, training=True, seed=1)
            pooled = tf.layers.max_pooling1d(tf.layers.conv1d(x, 4, 2), 2, 2)
            cells = tf.nn.rnn_cell.MultiRNNCell([
                tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(4), output_keep_prob=0.9),
                tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(4)),
                tf.nn.rnn_cell.LSTMCell(6, use_peepholes=True, num_proj=2),
                tf.nn.rnn_cell.BasicRNNCell(3),
            ])
            outputs, state = tf.nn.dynamic_rnn(cells, x, dtype=tf.float32)
            updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
            trainable = [v.name for v in tf.trainable_variables()]
            step = tf.train.AdamOptimizer().minimize(tf.reduce_sum(normal) + tf.reduce_sum(outputs))
            sess.run(tf.global_variables_initializer())
            data = np.ones((7, 5, 3), np.float32)
            report(dense=sess.run(dense, {x: data}).tolist(), reused=not sess.run(again - dense, {x: data}).any())
            values = sess.run([normal, dropped, pooled, outputs, step, updates], {x: data})
            report(shapes=[list(value.shape) for value in values[:4]], updates=len(updates), trainable=trainable)
            report(state=[isinstance(one, tf.nn.rnn_cell.LSTMStateTuple) for one in state])

        report(eager=int(tensorflow.constant(1) + 1), keras_after=tensorflow.keras.__version__[0])
        report(keras_layer=type(tensorflow.keras.layers.Dense(1)).__module__.partition(".")[0])
        try:
            tf1sessions.enable_v1_behavior()
        except UnsupportedEnvironmentError as error:
            report(late=[str(error), error.next_step], eager_after=tensorflow.executing_eagerly())
        """,
        " ".join(names_of_1_15("layers", "layers.experimental", "nn.rnn_cell")),
    ).results


def test_importing_changes_nothing(library: dict[str, object]) -> None:
    assert library["unchanged"]
    assert library["keras"] == library["keras_after"] == "3"
    assert library["keras_layer"] == "keras"
    assert library["eager"] == 2


def test_tf1_has_every_layer_and_cell_of_1_15(library: dict[str, object]) -> None:
    assert len(names_of_1_15("layers", "nn.rnn_cell")) > 45
    assert library["missing"] == []
    assert library["listed"] == library["listed_nn"] == []
    assert library["same"]


def test_tf1_is_the_same_for_all_threads(library: dict[str, object]) -> None:
    assert library["threads"] == [8, 1]


def test_layers_and_cells_work_under_keras_3(library: dict[str, object]) -> None:
    assert library["dense"] == [[15.0, 15.0]] * 7
    assert library["reused"]
    assert library["shapes"] == [[7, 2], [7, 2], [7, 2, 4], [7, 5, 3]]
    assert library["updates"] == 2
    trainable = library["trainable"]
    assert isinstance(trainable, list)
    assert trainable[:4] == ["d/kernel:0", "d/bias:0", "batch_normalization/gamma:0", "batch_normalization/beta:0"]
    assert "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel:0" in trainable  # the names that checkpoints have
    assert library["state"] == [True, False, True, False]


def test_what_is_missing_is_an_attribute_error(library: dict[str, object]) -> None:
    assert library["hasattr"] == [False, False, False]
    assert re.match(r"tf1sessions\.tf1 has no 'contrib' \(from TensorFlow 2\.\d+\)\. ", str(library["contrib"]))


def test_enable_v1_behavior_comes_too_late(library: dict[str, object]) -> None:
    late = library["late"]
    assert isinstance(late, list)
    assert "after TensorFlow had already run an eager operation" in late[0]
    assert late[1].startswith("Call it first")
    assert library["eager_after"] is True


def test_enable_v1_behavior(run_python: Callable[..., PythonRun]) -> None:
    done = run_python(
        """
        import gc, threading
        import tf1sessions

        gc.set_threshold(700, 10, 10)  # as Python begins
        collections = []
        gc.callbacks.append(lambda phase, info: collections.append(phase))
        tf1sessions.tf1
        del gc.callbacks[:]
        report(before=[tf1sessions.tf1.executing_eagerly()], garbage=[len(collections) < 100, gc.isenabled()])
        helper = threading.Thread(target=tf1sessions.enable_v1_behavior)
        helper.start()
        helper.join()
        tf1sessions.enable_v1_behavior()  # again, from here

        import tensorflow
        tf = tf1sessions.tf1
        v = tf.get_variable("v", initializer=1.0)
        loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        new_thread = []
        helper = threading.Thread(target=lambda: new_thread.append(tensorflow.executing_eagerly()))
        helper.start()
        helper.join()
        report(
            eager=tensorflow.executing_eagerly(), eager_in_thread=new_thread,
            variable=v.op.type, loop=loop.op.type, dimension=tf.zeros([2, 3]).shape[1].value,
            layers=tf.layers.dense(tf.zeros([1, 2]), 3).shape.as_list(),
        )
        """
    ).results
    assert done == {
        "before": [True],
        "garbage": [True, True],
        "eager": False,
        "eager_in_thread": [False],
        "variable": "VariableV2",
        "loop": "Exit",
        "dimension": 3,
        "layers": [1, 3],
    }


def test_versions_and_a_missing_tf_keras(run_python: Callable[..., PythonRun]) -> None:
    done = run_python(
        """
        import importlib, sys, warnings
        from tensorflow.python.framework import versions

        def load(version):
            sys.modules.pop("tf1sessions.runtime", None)
            versions.VERSION = version
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    runtime = importlib.import_module("tf1sessions.runtime")
                except Exception as error:
                    return [type(error).__name__, str(error)]
            ours = [str(one.message) for one in said if "tf1sessions" in str(one.message)]
            return [runtime.tensorflow_version(), ours]

        real = versions.VERSION
        report(old=load("2.15.1"), oldest=load("2.16.2"), newest=load("2.21.0-rc1"), newer=load("2.22.0"))
        report(real=load(real))

        from tf1sessions import runtime

        for name in [name for name in sys.modules if name.partition(".")[0] == "tf_keras"]:
            del sys.modules[name]
        sys.modules["tf_keras"] = None  # as if it were not installed
        try:
            runtime.tf1.layers
        except Exception as error:
            report(no_keras=[type(error).__name__, error.next_step], has=None)
        """
    ).results
    error, message = done["old"]
    assert error == "UnsupportedEnvironmentError"
    assert re.match(r"TensorFlow 2\.15 is too old \(from .*tensorflow\)\. Install tensorflow 2\.16 to 2\.21", message)
    assert done["oldest"] == [[2, 16], []]
    assert done["newest"] == [[2, 21], []]
    assert done["newer"] == [[2, 22], ["tf1sessions was tested up to TensorFlow 2.21; this is 2.22"]]
    assert done["real"][1] == []
    version = ".".join(map(str, done["real"][0]))
    assert done["no_keras"] == ["UnsupportedEnvironmentError", f"Run: pip install 'tf_keras=={version}.*'"]


def test_each_private_module_that_is_used_is_in_the_table() -> None:
    """A name that is not there would be found out only when it is used: the type checker takes any name."""
    source = (PACKAGE / "runtime.py").read_text("utf-8")
    (table,) = (
        node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_MODULES"
    )
    known = {*ast.literal_eval(table), "callable_api"}
    used = {
        (path.name, name)
        for path in PACKAGE.rglob("*.py")
        if re.search(r"runtime import .*\bprivate\b", text := path.read_text("utf-8"))
        for name in re.findall(r"(?<![\w.])private\.(\w+)", text)
    }
    assert len(used) > 50
    assert not {(path, name) for path, name in used if name not in known}
