"""A script that computes parts of a graph again for its gradients, to save memory: it copies and rewires them."""

from __future__ import annotations

from collections.abc import Callable

from support import PythonRun

PROGRAM = """
import tf1sessions.scripts
tf1sessions.scripts.install()
import numpy as np
import tensorflow as tf
import tensorflow.contrib.graph_editor as ge
from tensorflow.contrib.graph_editor import select, transform

x = tf.constant(np.linspace(-1, 1, 24).reshape(4, 6), tf.float32)
weights, layers = [], [x]
for number in range(3):
    weights.append(tf.get_variable(f"w{number}", [6, 6], initializer=tf.random_normal_initializer(seed=number)))
    layers.append(tf.tanh(tf.matmul(layers[-1], weights[-1]), name=f"layer{number}"))
loss = tf.reduce_sum(tf.square(layers[-1]), name="loss")
plain = tf.gradients(loss, weights)

def again(gradient, kept):
    # Of what the gradient takes, layers that are not kept are made from those that are.
    ops = ge.get_walks_intersection_ops(kept, [loss.op], forward_inclusive=True)
    ops = [op for op in ops if op.type in ("MatMul", "Tanh") and op.outputs[0] is not kept]
    view, info = ge.copy_with_input_replacements(ge.sgv(ops), {}, dst_scope="again")
    old = [op.outputs[0] for op in ops]
    new = [info.transformed(op)._outputs[0] for op in ops]
    backward = ge.get_backward_walk_ops(gradient, within_ops_fn=lambda op: op.name.startswith("gradients_1"))
    changed = ge.reroute_ts(new, old, can_modify=backward)
    for op in view.ops:
        if op.inputs[0] is kept:
            ge.add_control_inputs(op, [loss.op])
    return changed, view

saving = tf.gradients(loss, weights, name="gradients_1")
changed, view = again([gradient.op for gradient in saving], layers[1])
report(ops=[op.name for op in view.ops], changed=changed, waits=[op.name for op in view.ops if op.control_inputs],
       lists=[[t.name for t in loss.op._inputs], [op.name for op in view.ops[0]._control_inputs]],
       same=select.select_ops is ge.select_ops and transform.copy is ge.copy)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    first, second = session.run([plain, saving])
    report(equal=[bool(np.array_equal(a, b)) for a, b in zip(first, second)], moved=float(np.abs(first[0]).sum()) > 1)
    before = session.run(loss)
    ge.reroute_ts(tf.zeros_like(layers[2]), layers[2], can_modify=layers[3].op.inputs[0].op)
    kept = session.run(loss) == before
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    report(kept=bool(kept), edited=float(session.run(loss)))
"""


def test_parts_of_a_graph_are_computed_again(run_python: Callable[..., PythonRun]) -> None:
    results = run_python(PROGRAM, fresh=True).results
    assert results["ops"] == ["again/MatMul_1", "again/layer1", "again/MatMul_2", "again/layer2"]
    assert results["changed"] == 4  # two gradients of tanh, and one product of matrices and one square
    assert results["waits"] == ["again/MatMul_1"]
    assert results["lists"] == [["Square:0", "Const_1:0"], ["loss"]]
    assert results["same"] is True
    assert results["equal"] == [True] * 3 and results["moved"] is True
    assert results["kept"] is True  # a session has its graph as it was, as in 1.15.5
    assert results["edited"] == 0.0
