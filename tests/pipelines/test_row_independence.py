"""Which graphs a Batcher takes: those whose rows do not depend on each other, as far as that can be found."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import row_graphs

import tf1sessions as t1
from tf1sessions.errors import ConfigError
from tf1sessions.pipelines.batching import Batcher
from tf1sessions.pipelines.row_independence import RowStates
from tf1sessions.pipelines.row_states import FREE, Mixed, RowsAlong


@pytest.fixture(scope="module")
def tf() -> Any:
    return t1.tf1


class Chooses(random.Random):
    """Chooses the one of a list that it is asked to."""

    def __init__(self, index: int) -> None:
        super().__init__(0)
        self.index = index

    def choice(self, items: Any) -> Any:
        self.count = len(items)
        return items[self.index]


@pytest.mark.parametrize("way", [row_graphs.keep, row_graphs.mix])
def test_each_operation_that_keeps_rows_apart_passes_and_no_other(tf: Any, way: Callable[..., Any]) -> None:
    chooses = Chooses(0)
    while True:
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [None, row_graphs.INNER])
            state = RowStates(graph, [(x, RowsAlong(0))]).of(way(tf, x, chooses))
        assert (state == RowsAlong(0)) == (way is row_graphs.keep), (chooses.index, state)
        chooses.index += 1
        if chooses.index == chooses.count:
            break
    assert chooses.count > 20


def test_what_passes_computes_the_same_alone_together_and_permuted() -> None:
    found = [row_graphs.look(seed) for seed in range(80)]
    assert [each for each in found if each.passed and not each.independent] == []
    refused = [each for each in found if each.independent and not each.passed]
    assert len(refused) < sum(each.passed for each in found) / 4, refused


def lstm(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, None, 5])
    output, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), x, dtype=tf.float32)
    return x, tf.layers.dense(output[:, -1], 3)


def attention(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, None, 8])
    count, length = tf.shape(x)[0], tf.shape(x)[1]

    def heads() -> Any:
        return tf.transpose(tf.reshape(tf.layers.dense(x, 8), [count, length, 2, 4]), [0, 2, 1, 3])

    weights = tf.nn.softmax(tf.matmul(heads(), heads(), transpose_b=True))
    return x, x + tf.reshape(tf.transpose(tf.matmul(weights, heads()), [0, 2, 1, 3]), [count, length, 8])


def dilated(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 16, 16, 3])
    net = tf.layers.conv2d(x, 4, 3, dilation_rate=2, padding="same", activation=tf.nn.relu)
    net = tf.layers.batch_normalization(net, training=False)
    net = tf.layers.conv2d_transpose(net, 2, 3, 2)
    return x, tf.layers.flatten(net)


def examples(tf: Any) -> Any:
    x = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(x, {"a": tf.FixedLenFeature([3], tf.float32), "b": tf.FixedLenFeature([], tf.string)})
    number = tf.string_to_hash_bucket_fast(parsed["b"], 10)
    return x, tf.concat([parsed["a"], tf.nn.embedding_lookup(tf.get_variable("e", [10, 4]), number)], axis=1)


def function(tf: Any) -> Any:
    import tensorflow as tf2

    @tf2.function
    def inner(x: Any) -> Any:
        return x - tf.reduce_mean(x, 1, keepdims=True)

    @tf2.function(input_signature=[tf2.TensorSpec([None, 4])])
    def outer(x: Any) -> Any:
        return tf2.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, inner(y)), [0, x])[1]

    x = tf.placeholder(tf.float32, [None, 4])
    return x, outer(x)


@pytest.mark.parametrize("make", [lstm, attention, dilated, examples, function])
def test_models_pass(tf: Any, make: Callable[[Any], Any]) -> None:
    with tf.Graph().as_default() as graph:
        x, y = make(tf)
        assert RowStates(graph, [(x, RowsAlong(0))]).of(y) == RowsAlong(0)


def mixing_function(tf: Any) -> Any:
    import tensorflow as tf2

    @tf2.function
    def inner(x: Any) -> Any:
        return tf.reverse(x, [0])

    x = tf.placeholder(tf.float32, [None, 4])
    return x, inner(x), "ReverseV2"


def normalised(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 4])
    return x, tf.layers.batch_normalization(x, training=True), "Mean"


def dropped(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 4])
    return x, tf.nn.dropout(x, 0.5), "RandomUniform"


def python(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.py_func(lambda rows: rows[::-1], [x], tf.float32)
    y.set_shape([None, 4])
    return x, y, "PyFunc"


@pytest.mark.parametrize("make", [mixing_function, normalised, dropped, python])
def test_a_fetch_that_may_mix_rows_is_refused_with_the_operation(tf: Any, make: Callable[[Any], Any]) -> None:
    with t1.GraphSession() as gs:
        x, y, kind = make(tf)
        with pytest.raises(ConfigError, match=rf"of type \w*{kind}\w* may mix them.*row_wise="):
            Batcher(gs, x, y)
        Batcher(gs, x, {"y": y}, row_wise=["y"]).close()


def through_state(tf: Any, x: Any) -> dict[str, tuple[Any, Callable[[], Any]]]:
    """Ways to write something of the rows ``x`` [N, 4] where another operation reads it: the write, then the read."""
    total = tf.reduce_sum(x, 0)
    resource = tf.get_variable("resource", [4], use_resource=True)
    reference = tf.get_variable("reference", [4], use_resource=False)
    queue = tf.FIFOQueue(10, tf.float32, [[4]])
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0] * 4)
    keys = tf.constant([0], tf.int64)
    array = tf.TensorArray(tf.float32, 1, element_shape=[4])
    kept: list[Any] = []

    def read_python() -> Any:
        read = tf.py_func(lambda: kept[-1], [], tf.float32)
        read.set_shape([4])
        return read

    return {
        "AssignVariableOp": (resource.assign(total), resource.read_value),
        "Assign": (tf.assign(reference, total), lambda: tf.identity(reference)),
        "QueueEnqueueV2": (queue.enqueue(total), queue.dequeue),
        "LookupTableInsertV2": (table.insert(keys, total[None]), lambda: table.lookup(keys)),
        "PyFunc": (tf.py_func(lambda rows: kept.append(rows.sum(0)), [x], []), read_python),
        "an array": (array.write(0, total).flow, lambda: array.read(0)),
        "a branch": (tf.cond(keys[0] < 1, lambda: resource.assign(total), resource.read_value), resource.read_value),
    }


def test_rows_that_go_through_state_are_refused(tf: Any) -> None:
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [None, 4])
        for kind, (write, read) in through_state(tf, x).items():
            with tf.control_dependencies([write]):
                y = x + read()
            state = RowStates(gs.graph, [(x, RowsAlong(0))]).of(y)
            assert isinstance(state, Mixed) and (state.type == kind or kind.startswith("a")), (kind, state)
        with pytest.raises(ConfigError, match=r"of type \w+ may mix them.*row_wise="):
            Batcher(gs, x, y)
        Batcher(gs, x, {"y": y}, row_wise=["y"]).close()


def test_control_dependencies_that_write_nothing_of_the_rows_pass(tf: Any) -> None:
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [None, 4])
        runs = tf.get_variable("runs", [], initializer=tf.zeros_initializer(), use_resource=True)
        checks = [tf.assert_greater(x, -1e9), tf.print("a batch"), tf.cond(x[0, 0] > 0.0, tf.no_op, tf.no_op)]
        with tf.control_dependencies([*checks, runs.assign_add(1.0)]):
            y = x * 2.0
        assert RowStates(gs.graph, [(x, RowsAlong(0))]).of(y) == RowsAlong(0)


def test_what_does_not_depend_on_rows_and_what_counts_them(tf: Any) -> None:
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [None, 2])
        k = tf.placeholder(tf.float32, [None])
        with pytest.raises(ConfigError, match="computed from how many there are"):
            Batcher(gs, x, [x, tf.shape(x)])
        with pytest.raises(ConfigError, match="values lie along axis 1"):
            Batcher(gs, x, tf.transpose(x))
        with Batcher(gs, [x, k], [x * 2.0, k * 2.0, tf.shape(x)[1]], shared=[k]) as batcher:
            doubled, shared, columns = batcher([[1, 2]], [1, 2, 3])
        assert (doubled.tolist(), shared.tolist(), columns) == ([[2, 4]], [2, 4, 6], 2)
        assert RowStates(gs.graph, [(x, FREE)]).of(tf.reverse(x, [0])) == FREE
        assert isinstance(RowStates(gs.graph, [(x, RowsAlong(0)), (k, FREE)]).of(x + tf.expand_dims(k, 1)), Mixed)


def test_a_check_by_running_finds_rows_that_depend_on_each_other(tf: Any) -> None:
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        ends = tf.identity(x[::-1], name="ends")
        mean = tf.identity(x - tf.reduce_mean(x, 0), name="mean")
        for fetch in (ends, mean):
            with Batcher(gs, x, fetch, row_wise=True, check=True) as batcher:
                batcher([[1.0, 2.0]])  # one row says nothing
                with pytest.raises(ConfigError, match=f"row 0 of fetch '{fetch.name}' is another one"):
                    batcher([[1.0, 2.0], [3.0, 5.0]])
        for sizes, rows in (([4, 64], 50), ([1, 3, 64], 5), ([64], 2), (None, 7)):  # most are padded
            given = np.linspace(-1, 1, 2 * rows).reshape(rows, 2) ** 3
            with Batcher(gs, x, tf.nn.softmax(x), check=True, allowed_batch_sizes=sizes) as batcher:
                exponents = np.exp(given)
                assert batcher(given) == pytest.approx(exponents / exponents.sum(1, keepdims=True), rel=1e-5)
                assert batcher.statistics().batches == 1
            with Batcher(gs, x, mean, row_wise=True, check=True, allowed_batch_sizes=sizes) as batcher:
                with pytest.raises(ConfigError, match="row 0 of fetch 'mean.*' is another one"):
                    batcher(given)
        count = tf.get_variable("count", initializer=0)
        with tf.control_dependencies([tf.assign_add(count, 1)]):
            counted = tf.identity(x)
        with pytest.raises(ConfigError, match="changes something"):
            Batcher(gs, x, counted, check=True)


def _without_a_node(body: Any, call: Any) -> None:
    del body.node_def[0]


def _without_a_type(body: Any, call: Any) -> None:
    for node in body.node_def:
        node.attr.pop("T", None)


def _with_a_result_too_many(body: Any, call: Any) -> None:
    call.attr["Tout"].list.type.append(1)


def _with_an_argument_too_many(body: Any, call: Any) -> None:
    body.signature.input_arg.add(name="more", type=1)


@pytest.mark.parametrize(
    "damage", [_without_a_node, _without_a_type, _with_a_result_too_many, _with_an_argument_too_many]
)
def test_a_function_that_does_not_fit_mixes_rows(tf: Any, damage: Callable[[Any, Any], None]) -> None:
    """TensorFlow looks at a function of a condition when it runs it, and not when it imports the graph."""
    import tensorflow as tf2

    doubled = tf2.function(lambda x: x * 2.0, input_signature=[tf2.TensorSpec([None, 3])], autograph=False)
    with tf.Graph().as_default() as graph:
        x, chosen = tf.placeholder(tf.float32, [None, 3], name="x"), tf.placeholder(tf.bool, [], name="chosen")
        branch = doubled.get_concrete_function()
        branch.add_to_graph(graph)
        made = tf.raw_ops.StatelessIf(
            cond=chosen, input=[x], Tout=[tf.float32], then_branch=branch, else_branch=branch, output_shapes=[[None, 3]]
        )
        tf.identity(made[0], name="y")
    graph_def = graph.as_graph_def()
    call = next(node for node in graph_def.node if node.op == "StatelessIf")
    call.attr["output_shapes"].list.Clear()
    call.attr["output_shapes"].list.SetInParent()
    for damaged in (False, True):
        if damaged:
            damage(graph_def.library.function[0], call)
        with tf.Graph().as_default() as graph:
            x, y = tf.import_graph_def(graph_def, return_elements=["x:0", "y:0"], name="")
            state = RowStates(graph, [(x, RowsAlong(0))]).of(y)
        assert isinstance(state, Mixed) if damaged else state == RowsAlong(0)
