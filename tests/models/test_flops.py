"""FLOPs of single nodes: against TensorFlow's own profiler, and by hand where it has no opinion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support import PythonRun

CODE = """
import tensorflow.compat.v1 as tf
from tf1sessions.models import flops

graph = tf.Graph()
with graph.as_default():
    def weights(*shape):
        return tf.placeholder(tf.float32, shape)
    images = weights(2, 16, 16, 3)
    y = tf.nn.conv2d(images, weights(3, 5, 3, 8), 2, "SAME", name="strided")
    y = tf.nn.bias_add(y, weights(8), name="bias")
    y = tf.nn.conv2d(y, weights(1, 1, 8, 8), 1, "VALID", dilations=2, name="dilated")
    y = tf.nn.depthwise_conv2d_native(y, weights(3, 3, 8, 2), [1, 1, 1, 1], "SAME", name="depthwise")
    y = tf.nn.max_pool2d(y, 2, 2, "VALID", name="max_pool")
    y = tf.nn.avg_pool2d(y, 3, 1, "SAME", name="average_pool")
    tf.nn.conv2d_transpose(y, weights(3, 3, 4, 16), [2, 8, 8, 4], 2, name="transposed")
    z = tf.matmul(tf.reshape(y, [2, -1]), weights(256, 10), name="matmul")
    tf.matmul(weights(10, 4), z, transpose_a=True, transpose_b=True, name="matmul_transposed")
    z = tf.add(z, weights(10), name="add")
    z = tf.divide(tf.subtract(tf.multiply(z, 2., name="mul"), 1., name="sub"), 3., name="div")
    tf.nn.softmax(z, name="softmax")
    tf.square(z, name="square")
    tf.reduce_mean(z, name="mean")
    tf.maximum(z, 0., name="maximum")
    tf.math.squared_difference(z, z, name="squared_difference")
    tf.add_n([z, z, z], name="add_n")
profiled = {operation.name for operation in graph.get_operations() if operation.type not in ("Placeholder", "Const")}
options = {**tf.profiler.ProfileOptionBuilder.float_operation(), "output": "none"}
todo, theirs = [tf.profiler.profile(graph, options=tf.profiler.ProfileOptionBuilder(options).build())], {}
while todo:
    entry = todo.pop()
    todo += entry.children
    theirs[entry.name] = entry.float_ops
with graph.as_default():
    tf.nn.relu(z, name="relu")
    tf.reduce_sum(z, name="sum")
    tf.matmul(weights(7, 2, 3), weights(7, 3, 5), name="batched")
    tf.nn.conv2d(images, weights(3, 3, 1, 6), 1, "SAME", name="grouped")
    tf.raw_ops.Einsum(inputs=[weights(7, 2, 3), weights(7, 3, 5)], equation="bij,bjk->bik", name="contraction")
    tf.raw_ops.Einsum(inputs=[weights(3), weights(5)], equation="i,j->ij", name="outer_product")
    tf.raw_ops.LSTMBlockCell(x=weights(2, 3), cs_prev=weights(2, 4), h_prev=weights(2, 4), w=weights(7, 16),
        wci=weights(4), wcf=weights(4), wco=weights(4), b=weights(16), name="lstm")
    tf.raw_ops.FusedBatchNormV3(x=images, scale=weights(3), offset=weights(3), mean=weights(3), variance=weights(3),
        is_training=False, name="batch_norm")
    tf.reshape(z, [-1], name="free")
    tf.identity(z, name="free_too")
    tf.linalg.svd(weights(3, 3), name="no_rule")
    tf.matmul(tf.placeholder(tf.float32, [None, 3]), weights(3, 5), name="rows_unknown")
    tf.nn.relu(tf.placeholder(tf.float32), name="rank_unknown")

def shape(tensor):
    return None if tensor.shape.rank is None else tuple(tensor.shape.as_list())

ours = {}
for operation in graph.get_operations():
    inputs, outputs = [list(map(shape, tensors)) for tensors in (operation.inputs, operation.outputs)]
    ours[operation.name] = flops.count(operation.node_def, inputs, outputs)
def matmul(a, b, **flags):
    node = tf.NodeDef(op="MatMul")
    for name, value in flags.items():
        node.attr[name].b = value
    return flops.count(node, [a, b], [(1, 5)])
report(
    profiled={name: [ours[name], theirs[name]] for name in profiled if name in theirs}, ours=ours,
    one_side=[matmul((1, None), (3, 5)), matmul(None, (5, 3), transpose_b=True), matmul((1, None), (None, 5)),
              matmul((), (), transpose_a=True), matmul((1, 3), None)],
)
"""


@pytest.fixture(scope="module")
def counted(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    return run_python(CODE, deadline=120).results


def test_as_the_profiler_counts(counted: dict[str, Any]) -> None:
    pairs = counted["profiled"]
    assert pairs.keys() >= {"strided", "dilated", "depthwise", "transposed", "matmul", "matmul_transposed", "softmax"}
    assert {name: ours for name, (ours, _) in pairs.items() if ours} == {
        name: theirs for name, (_, theirs) in pairs.items() if theirs
    }


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("relu", 20),
        ("sum", 20),
        ("batched", 2 * 7 * 2 * 3 * 5),
        ("grouped", 2 * (2 * 16 * 16 * 6) * 9),
        ("contraction", 2 * 7 * 2 * 3 * 5),
        ("outer_product", 15),
        ("lstm", 2 * (2 * 7 * 16 + 12 * 4)),
        ("batch_norm", 2 * 2 * 16 * 16 * 3),
        ("free", 0),
        ("free_too", 0),
        ("no_rule", None),
        ("rows_unknown", None),
        ("rank_unknown", None),
    ],
)
def test_by_hand(name: str, number: int | None, counted: dict[str, Any]) -> None:
    assert counted["ours"][name] == number


def test_either_side_gives_the_terms_of_a_product(counted: dict[str, Any]) -> None:
    assert counted["one_side"] == [30, 30, None, None, 30]
