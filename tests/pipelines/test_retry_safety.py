"""Which requests may be run a second time."""

from __future__ import annotations

import types

import numpy as np
import pytest

import tf1sessions as t1
from tf1sessions.pipelines.retry_safety import changed_by
from tf1sessions.runtime import private
from tf1sessions.sessions.operations import prune


@pytest.fixture(scope="module")
def tf():
    return t1.tf1


def changed(graph, *elements):
    tensors = [each for each in elements if not hasattr(each, "node_def")]
    return changed_by(graph, prune(tensors, [each for each in elements if hasattr(each, "node_def")], []))


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_variables(tf, resource):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2])
        v = tf.get_variable("v", initializer=np.ones((2, 2), np.float32), use_resource=resource)
        read = tf.matmul(x, v) + tf.nn.embedding_lookup(v, [0]) + tf.random_uniform([2])
        assert changed(graph, read) is None
        assert changed(graph, tf.nn.dropout(read, rate=0.5)) is None
        assert changed(graph, tf.is_variable_initialized(v)) is None
        step = tf.train.AdamOptimizer().minimize(tf.reduce_sum(read))
        assert "Adam" in changed(graph, step)
        assert "Assign" in changed(graph, tf.assign_add(v, v))
        assert "Scatter" in changed(graph, tf.scatter_update(v, [0], [[1.0, 1.0]]))
        with tf.control_dependencies([v.initializer]):
            assert "Assign" in changed(graph, tf.identity(x))
        assert changed(graph, read) is None


@pytest.fixture(params=[1, 2])
def control_flow(tf, request):
    """TensorFlow 1's control flow, then TensorFlow 2's, which is a process's."""
    switch = {False: tf.disable_control_flow_v2, True: tf.enable_control_flow_v2}
    before = tf.control_flow_v2_enabled()
    switch[request.param == 2]()
    yield request.param
    switch[before]()


def test_control_flow(tf, control_flow):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        plain = tf.cond(x > 0.0, lambda: x + v, lambda: x)
        loop = tf.while_loop(lambda i: i < 3.0, lambda i: i + v, [x])
        nested = tf.cond(x > 0.0, lambda: tf.cond(x > 1.0, lambda: v.assign_add(x), lambda: x), lambda: x)
        kinds = {operation.type for operation in graph.get_operations()}
        assert ("Switch" in kinds) == (control_flow == 1)
        assert changed(graph, plain, loop, tf.map_fn(lambda value: value * x, tf.ones([3]))) is None
        assert "AssignAddVariableOp" in changed(graph, nested)


def test_tables_queues_files_and_python(tf, tmp_path):
    with tf.Graph().as_default() as graph:
        words = tf.placeholder(tf.string, [None])
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)
        assert changed(graph, table.lookup(words), table.size()) is None
        assert "InitializeTable" in changed(graph, table.initializer) or "Import" in changed(graph, table.initializer)
        queue = tf.FIFOQueue(3, tf.string, [[]])
        assert "Queue" in changed(graph, queue.dequeue())
        assert "Queue" in changed(graph, queue.enqueue("a"))
        assert "PyFunc" in changed(graph, tf.py_func(lambda value: value, [words], tf.string))
        assert changed(graph, tf.py_func(lambda value: value, [words], tf.string, stateful=False)) is None
        assert "WriteFile" in changed(graph, tf.io.write_file(str(tmp_path / "file"), "a"))
        item = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(1)).get_next()
        assert "Iterator" in changed(graph, item)
        with tf.control_dependencies([tf.Assert(tf.size(words) > 0, ["none"])]):
            checked = tf.check_numerics(tf.strings.to_number(words), "no number")
        assert changed(graph, tf.Print(checked, [checked])) is None


def test_functions_are_looked_into(tf):
    import tensorflow

    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        v = tf.get_variable("v", initializer=1.0, use_resource=True)

        @tensorflow.function
        def reads(value):
            return value + v

        @tensorflow.function
        def adds(value):
            return reads(value) + v.assign_add(value)

        assert changed(graph, reads(x)) is None
        assert "AssignAddVariableOp" in changed(graph, adds(x))


def test_an_operation_in_the_old_form_of_a_call_is_looked_into(tf):
    """The type of such an operation is the function's name; old graphs have them."""
    from tensorflow.python.framework import function

    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])

        @function.Defun(tf.float32)
        def doubled(value):
            return value * 2.0

        @function.Defun(tf.float32)
        def python(value):
            return tf.py_func(lambda each: each, [value], tf.float32)

        one, two = doubled(x), python(x)
        assert one.op.type.startswith("doubled") and private.op_def_registry.get(one.op.type) is None
        assert changed(graph, one) is None
        assert "PyFunc" in changed(graph, two)


def test_what_is_not_known_changes_something():
    class Operation:
        def __init__(self, kind, function=None):
            self.name, self.type = "strange", kind
            self.get_attr = lambda name: types.SimpleNamespace(name=function)

    class Graph:
        _copy_functions_to_graph_def = staticmethod(lambda library, start: None)

    assert changed_by(Graph(), []) is None
    assert changed_by(Graph(), [Operation("NoOp")]) is None
    assert changed_by(Graph(), [Operation("NoSuchOperation")]) == "'strange' of type NoSuchOperation"
    assert (
        changed_by(Graph(), [Operation("PartitionedCall", "no_such_function")]) == "'strange' of type PartitionedCall"
    )
