"""Records training graphs of genuine TensorFlow 1.15.5: ``python make_training_graphs.py``.

Writes training_graphs.json.xz in ../data: for each case the GraphDef, the first values of its variables, what is
run how often and with what, what each run gave, and the values of the variables at the end. To be run with the Python
of an environment that has TensorFlow 1.15. With names of cases, prints how large they are and writes nothing.
"""

import json
import lzma
import os
import sys

import numpy as np
import tensorflow as tf
from folders import DATA

v1 = tf.compat.v1
CASES = {}
STEPS = 5


def case(build):
    """``build`` returns what is fed, and the operations or tensors of one run."""
    CASES[build.__name__] = build
    return build


def numbers(*shape):
    return np.random.RandomState(len(shape) + sum(shape)).randn(*shape).astype(np.float32)


def loss_of(x, **options):
    """A small network; its loss."""
    hidden = v1.layers.dense(x, 3, tf.tanh, name="hidden", **options)
    return tf.reduce_mean(tf.square(v1.layers.dense(hidden, 1, name="out", **options) - 1.0))


def trained(make):
    """A case that minimizes the loss of the network, and one whose gradients are of rows of a table."""

    def dense():
        x = v1.placeholder(tf.float32, [4, 2], name="x")
        loss = loss_of(x)
        return {x: numbers(4, 2)}, [make().minimize(loss), loss]

    def rows():
        ids = v1.placeholder(tf.int32, [3], name="ids")
        table = v1.get_variable("table", [5, 2], initializer=tf.constant_initializer(numbers(5, 2)))
        loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids) - 0.5))
        return {ids: np.array([1, 3, 1], np.int32)}, [make().minimize(loss), loss]

    return dense, rows


OPTIMIZERS = {
    "gradient_descent": lambda: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: v1.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True, use_locking=True),
    "adam": lambda: v1.train.AdamOptimizer(0.1),
    "rms_prop": lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5),
    "centered_rms_prop": lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.1),
    "adagrad_da": lambda: v1.train.AdagradDAOptimizer(0.1, v1.train.get_or_create_global_step()),
    "adadelta": lambda: v1.train.AdadeltaOptimizer(1.0),
    "ftrl": lambda: v1.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "ftrl_shrinkage": lambda: v1.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1),
    "proximal_gradient_descent": lambda: v1.train.ProximalGradientDescentOptimizer(0.1, 0.01),
    "proximal_adagrad": lambda: v1.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.01),
    "adamax": lambda: tf.contrib.opt.AdaMaxOptimizer(0.1),
    "power_sign": lambda: tf.contrib.opt.PowerSignOptimizer(0.01),
    "add_sign": lambda: tf.contrib.opt.AddSignOptimizer(0.01),
}
for name, make in OPTIMIZERS.items():
    CASES[name], CASES[name + "_of_rows"] = trained(make)
del CASES["add_sign_of_rows"], CASES["power_sign_of_rows"]  # there is no such operation


@case
def resources():
    x = v1.placeholder(tf.float32, [4, 2], name="x")
    with v1.variable_scope("", use_resource=True):
        loss = loss_of(x)
        return {x: numbers(4, 2)}, [v1.train.AdamOptimizer(0.1).minimize(loss), loss]


@case
def batch_norm_and_averages():
    x = v1.placeholder(tf.float32, [4, 2], name="x")
    step = v1.train.get_or_create_global_step()
    rate = v1.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
    loss = loss_of(v1.layers.batch_normalization(x, training=True, momentum=0.5))
    averages = tf.train.ExponentialMovingAverage(0.9, step)
    optimizer = v1.train.MomentumOptimizer(rate, 0.9)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train = optimizer.apply_gradients(zip(gradients, variables), step)
    with tf.control_dependencies([train]):
        train = averages.apply(v1.trainable_variables())
    return {x: numbers(4, 2)}, [train, loss, rate]


@case
def two_sides():
    """Two losses, each with the variables of its side; both steps after all gradients."""
    x = v1.placeholder(tf.float32, [4, 2], name="x")
    with v1.variable_scope("makes"):
        made = v1.layers.dense(x, 2, name="layer")
    with v1.variable_scope("judges"):
        judged = v1.layers.dense(made, 1, name="layer")
    steps = []
    for name, sign in ("judges", 1.0), ("makes", -1.0):
        optimizer = v1.train.AdamOptimizer(0.1, name="steps_of_" + name)
        loss = tf.reduce_mean(tf.nn.softplus(sign * judged))
        steps.append((optimizer, optimizer.compute_gradients(loss, v1.trainable_variables(name))))
    with tf.control_dependencies([gradient for _, pairs in steps for gradient, _ in pairs]):
        return {x: numbers(4, 2)}, [optimizer.apply_gradients(pairs) for optimizer, pairs in steps] + [made]


@case
def partitioned():
    x = v1.placeholder(tf.float32, [4, 6], name="x")
    weights = v1.get_variable(
        "weights", [6, 2], initializer=tf.ones_initializer(), partitioner=v1.fixed_size_partitioner(3)
    )
    loss = tf.reduce_mean(tf.square(tf.matmul(x, tf.convert_to_tensor(weights)) - 1.0))
    return {x: numbers(4, 6)}, [v1.train.AdagradOptimizer(0.1).minimize(loss), loss]


@case
def recurrent():
    x = v1.placeholder(tf.float32, [2, 4, 3], name="x")
    outputs, _ = v1.nn.dynamic_rnn(v1.nn.rnn_cell.LSTMCell(3), x, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs - 0.1))
    return {x: numbers(2, 4, 3)}, [v1.train.AdamOptimizer(0.1).minimize(loss), loss]


@case
def assigned():
    """Values by what was assigned, and by what waits for that."""
    x = v1.placeholder(tf.float32, [], name="x")
    count = v1.get_variable("count", [], initializer=tf.zeros_initializer())
    before = tf.identity(count)
    with tf.control_dependencies([before]):
        added = v1.assign_add(count, x)
    with tf.control_dependencies([added]):
        after = count + 0.0
        again = v1.assign(count, after * 2.0)
    return {x: np.float32(1.5)}, [before, after, again + 100.0]


@case
def assigned_in_loop_and_branch():
    x = v1.placeholder(tf.float32, [], name="x")
    count = v1.get_variable("count", [], initializer=tf.zeros_initializer())
    total = v1.get_variable("total", [], initializer=tf.zeros_initializer())

    def step(i):
        with tf.control_dependencies([v1.assign_add(count, x)]):
            return i + 1

    looped = tf.while_loop(lambda i: i < 3, step, [0])
    with tf.control_dependencies([looped]):
        seen = tf.identity(count)
    branched = tf.cond(seen > 10.0, lambda: v1.assign_add(total, seen), lambda: v1.assign_sub(total, x))
    return {x: np.float32(1.5)}, [seen, branched]


@case
def scattered():
    x = v1.placeholder(tf.float32, [2, 2], name="x")
    first = v1.get_variable("first", [4, 2], initializer=tf.ones_initializer())
    results = []
    for number, change in enumerate([v1.scatter_add, v1.scatter_sub, v1.scatter_mul, v1.scatter_div, v1.scatter_max,
                                     v1.scatter_min, v1.scatter_update]):  # fmt: skip
        with tf.control_dependencies(results[-1:]):
            results.append(tf.identity(change(first, [number % 4, 3 - number % 4], x * (number + 1.0))))
    for change in (v1.scatter_nd_add, v1.scatter_nd_sub, v1.scatter_nd_update):
        with tf.control_dependencies(results[-1:]):
            results.append(tf.identity(change(first, [[1], [2]], x)))
    with tf.control_dependencies(results[-1:]):
        results.append(tf.identity(v1.assign(first[1:3, 0], x[:, 1])))
    return {x: numbers(2, 2) + 3.0}, results


@case
def counted():
    limit = v1.get_variable("limited", [], tf.int32, initializer=tf.zeros_initializer(), trainable=False)
    other = v1.get_variable("other", [2], initializer=tf.ones_initializer())
    return {}, [v1.count_up_to(limit, 100), v1.is_variable_initialized(other)]


def record(build):
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.set_random_seed(1)
        fed, run = build()
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        variables = {variable.op.name: variable for variable in v1.global_variables()}
        begin = session.run(variables)
        runs = [session.run(run, fed) for _ in range(STEPS)]
        end = session.run(variables)
        names = [each.name if isinstance(each, tf.Tensor) else "^" + each.name for each in run]
        graph_def = v1.graph_util.extract_sub_graph(
            graph.as_graph_def(), [each.split(":")[0].lstrip("^") for each in names]
        )
    results = [[None if value is None else np.asarray(value).tolist() for value in values] for values in runs]
    return {
        "graph": graph_def.SerializeToString().hex(),
        "fed": {tensor.name: np.asarray(value).tolist() for tensor, value in fed.items()},
        "dtypes": {tensor.name: tensor.dtype.name for tensor in fed},
        "run": names,
        "results": results,
        "begin": {name: [value.dtype.name, value.tolist()] for name, value in begin.items()},
        "end": {name: value.tolist() for name, value in end.items()},
    }


def main(cases, names, file):
    v1.logging.set_verbosity(v1.logging.FATAL)
    recorded = {name: record(cases[name]) for name in names or cases}
    if names:
        print({name: len(one["graph"]) for name, one in recorded.items()})
    else:
        path = os.path.join(DATA, file)
        with lzma.open(path, "wb", preset=9) as packed:
            packed.write(json.dumps(recorded, sort_keys=True).encode())


if __name__ == "__main__":
    main(CASES, sys.argv[1:], "training_graphs.json.xz")
