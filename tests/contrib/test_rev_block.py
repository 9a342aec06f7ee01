"""contrib.layers.recompute_grad and rev_block: the gradients of plain functions, which keep nothing between."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import PythonRun

_PROGRAM = """
import sys
import numpy as np
import tf1sessions
from tf1sessions.runtime import tf1 as tf

if sys.argv[1] == "script":
    tf1sessions.enable_v1_behavior()
from tf1sessions import contrib

L = contrib.layers
calls = []


def counted(x):
    # x, and a note of each time that it is computed
    def note(value):
        calls.append(1)
        return value

    noted = tf.py_func(note, [x], x.dtype, stateful=False)
    noted.set_shape(x.shape)
    return x + 0 * tf.stop_gradient(noted)


def dense(size, activation=None, **kwargs):
    return lambda x: tf.layers.dense(counted(x), size, activation, **kwargs)


def halves(x):
    return tf.split(x, 2, axis=1)


def both(x, again):
    function = lambda x: dense(2)(dense(3, tf.tanh)(x))
    return (L.recompute_grad(function) if again else function)(x)


def in_parts(x, again):
    def function(x):
        kernel = tf.get_variable("w", [4, 3], partitioner=tf.fixed_size_partitioner(2))
        rows = tf.nn.embedding_lookup(tf.get_variable("e", [5, 3]), [1, 2])
        return [tf.matmul(x, kernel) * rows, tf.tanh(x)]

    return (L.recompute_grad(function) if again else function)(x)


def made_before(x, again):
    layer = tf.layers.Dense(4)
    x = layer(x)
    function = lambda x: layer(x)
    return (L.recompute_grad(function) if again else function)(x)


def twice_and_within(x, again):
    wrap = L.recompute_grad if again else lambda function: function
    inner = wrap(dense(4, tf.tanh))
    outer = wrap(lambda x: inner(dense(4)(x)))
    return outer(outer(x))


def loop(x, again):
    def function(x):
        return tf.nn.dynamic_rnn(contrib.rnn.GRUCell(3), tf.reshape(x, [2, 2, 2]), dtype=tf.float32)[0]

    return (L.recompute_grad(function) if again else function)(x)


def reversible(x, again):
    return L.rev_block(*halves(x), dense(2, tf.tanh), dense(2), num_layers=3, is_training=again)


def with_sides(x, again):
    layer = tf.layers.Dense(2)
    side = layer(x)
    f = lambda x, sides: tf.matmul(x, layer.kernel[:2]) * sides[0]
    return L.rev_block(*halves(x), f, f, 2, [side], [side], is_training=again)


def one_after_the_other(x, again):
    with tf.variable_scope("a"):
        y = L.rev_block(*halves(x), dense(2), dense(2), 2, is_training=again)
    with tf.variable_scope("a", reuse=True):
        return L.rev_block(*y, dense(2), dense(2), 2, is_training=again)


def as_layer(x, again):
    block = L.RevBlock(dense(2), dense(2), 2, use_efficient_backprop=again)
    y = block(halves(x))
    return [*block(list(y)), *block.backward(*y)]


def gradients(build, again, use_resource, inside):
    with tf.Graph().as_default() as graph:
        x = tf.constant(np.random.RandomState(0).uniform(-1, 1, (2, 4)).astype("f")) * 1
        slopes = None
        with tf.variable_scope("v", use_resource=use_resource):
            ys = tf.nest.flatten(build(x, again))
            first = graph.get_operations()
            loss = tf.add_n([tf.reduce_sum(tf.square(y)) * (i + 1) for i, y in enumerate(ys)])
            if inside:
                slopes = tf.gradients(loss, [x, *tf.trainable_variables()])
        variables = tf.trainable_variables()
        slopes = [tf.convert_to_tensor(slope) for slope in slopes or tf.gradients(loss, [x, *variables])]
        names = {operation.name for operation in first}
        kept = {
            operation.type
            for operation in first
            for output in operation.outputs
            for consumer in output.consumers()
            if consumer.name not in names and operation.name.startswith("v/")
        }
        with tf.Session() as session:
            random = np.random.RandomState(1)
            session.run(tf.global_variables_initializer())
            ordered = sorted(variables, key=lambda variable: variable.name)
            session.run([variable.assign(random.uniform(-1, 1, variable.shape.as_list())) for variable in ordered])
            del calls[:]
            found = session.run([*ys, *slopes])
        order = np.argsort([v.name for v in variables]).tolist()
        rest = found[len(ys) + 1 :]
        found = [*found[: len(ys) + 1], *(rest[i] for i in order)]
        return found, sorted(v.name for v in variables), len(calls), sorted(kept)


BUILDS = both, in_parts, made_before, twice_and_within, loop, reversible, with_sides, one_after_the_other, as_layer
results = {}
for build in BUILDS:
    plain, plain_names, once, _ = gradients(build, False, True, False)
    for use_resource, inside in ((True, False), (False, True)):
        ours, names, often, kept = gradients(build, True, use_resource, inside)
        results[f"{build.__name__} {use_resource}"] = {
            "names": names == plain_names,
            "off by": max(float(np.abs(a - b).max() / (1 + np.abs(a).max())) for a, b in zip(plain, ours)),
            "count": len(ours) == len(plain),
            "calls": [once, often],
            "kept": kept,
        }
report(**results)
"""

# How often the functions run when the loss and its gradients are computed: plain, and computed again.
CALLS = {
    "both": [2, 4],
    "twice_and_within": [4, 8],
    "reversible": [6, 12],
    "one_after_the_other": [8, 16],
}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_gradients_are_those_of_the_plain_functions(run_python: Callable[..., PythonRun], way: str) -> None:
    results = run_python(_PROGRAM, way).results
    assert len(results) == 18
    for name, found in results.items():
        assert found["names"] and found["count"] and found["off by"] < 1e-5, (name, found)
        assert found["calls"] == CALLS.get(name.split()[0], found["calls"]), name
    for build in ("both", "twice_and_within", "reversible", "one_after_the_other"):
        # the gradients read nothing of the first calls but outputs and variables
        kept = {*results[f"{build} True"]["kept"], *results[f"{build} False"]["kept"]}
        assert kept <= {"IdentityN", "Identity", "AddV2", "Const", "ReadVariableOp", "VarHandleOp", "VariableV2"}, build
