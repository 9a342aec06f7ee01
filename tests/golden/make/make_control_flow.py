"""Records loops and conditions of genuine TensorFlow 1.15.5 as frozen graphs: ``python make_control_flow.py``.

Writes control_flow.json.gz in ../data: for each case the GraphDef, the values that its placeholders were fed, and
what it gave: its output ``y``, and where the case names an input for it, the gradient of ``sum(y * cos(y))``. To be run
with the Python of an environment that has TensorFlow 1.15. With names of cases, prints how large they are and writes
nothing.
"""

import base64
import gzip
import json
import os
import sys

import numpy as np
import tensorflow as tf
from folders import DATA
from tensorflow.python.framework import function, graph_util
from tensorflow.python.ops import control_flow_ops

CASES = {}
RANDOM = np.random.RandomState(0)


def case(build):
    """``build`` returns what is fed, the output, and the tensor for the gradient or None."""
    CASES[build.__name__] = build
    return build


def numbers(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


def input_of(*shape):
    return tf.compat.v1.placeholder(tf.float32, shape, name="x")


def repeat(times, step, begin, **options):
    """``begin`` after so many steps."""
    return tf.while_loop(lambda i, a: i < times, lambda i, a: (i + 1, step(i, a)), [0, begin], **options)[1]


# -- conditions --------------------------------------------------------------------------------------------------------


@case
def cond_simple():
    x = input_of(3)
    return {x: numbers(3)}, tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: tf.tanh(x) - 1.0), x


@case
def cond_nested():
    x = input_of(3)
    total = tf.reduce_sum(x)
    inner = lambda: tf.cond(total > 1, lambda: x * 3.0, lambda: x * x)  # noqa: E731
    return {x: [0.2, 0.3, 0.1]}, tf.cond(total > 0, inner, lambda: -x), x


@case
def cond_with_variable_and_two_outputs():
    x = input_of(3)
    weights = tf.compat.v1.get_variable("w", [3], initializer=tf.ones_initializer())
    outside = x * weights + 1.0
    first, second = tf.cond(x[0] > 0, lambda: (outside * 2.0, outside + x), lambda: (outside, x))
    return {x: numbers(3)}, first + second * second, x


@case
def cond_twice_on_one_predicate():
    x = input_of(3)
    training = tf.reduce_sum(x) < 100
    first = tf.cond(training, lambda: x * 2.0, lambda: x)
    return {x: numbers(3)}, tf.cond(training, lambda: tf.sin(first), lambda: first - 1.0), x


@case
def conds_on_two_predicates_across():
    """Each of the two predicates has a condition before, and one behind, one of the other."""
    x = input_of(3)
    p, q = x[0] > 0, x[1] > 0
    one = tf.cond(p, lambda: x * 2.0, lambda: x)
    two = tf.cond(q, lambda: one + 1.0, lambda: one - 1.0)
    three = tf.cond(q, lambda: x + 3.0, lambda: x - 3.0)
    four = tf.cond(p, lambda: three * 2.0, lambda: three)
    return {x: [1.0, -1.0, 0.5]}, two * four, x


@case
def case_of_three():
    x = input_of(3)
    branches = [(x[0] > 5, lambda: x), (x[0] > 0, lambda: x * x)]
    return {x: [2.0, 3.0, 4.0]}, tf.case(branches, default=lambda: -x), x


@case
def cond_by_switch_and_merge():
    """As before tf.cond; and which side it was."""
    x = input_of(3)
    off, on = control_flow_ops.switch(x, x[0] > 0)
    merged, index = control_flow_ops.merge([on * 2.0, off])
    return {x: [1.0, 2.0, 3.0]}, merged + tf.cast(index, tf.float32) * 100.0, x


@case
def cond_of_one_draw():
    """What both outputs share inside of a branch is there once."""
    x = input_of(3)

    def draw():
        noise = tf.random.uniform([3], seed=7)
        return noise * 2.0, noise

    first, second = tf.cond(x[0] < 100, draw, lambda: (x, x))
    return {x: numbers(3)}, first - 2.0 * second + x, None


# -- loops -------------------------------------------------------------------------------------------------------------


@case
def loop_simple():
    x = input_of(3)
    return {x: numbers(3)}, repeat(5, lambda i, a: a * 1.1 + tf.sin(x), x), x


@case
def loop_nested():
    x = input_of(3)
    inner = lambda i, a: repeat(i + 1, lambda j, b: tf.tanh(b + x), a) * 1.5  # noqa: E731
    return {x: numbers(3)}, repeat(3, inner, x), x


@case
def loop_of_cond():
    x = input_of(3)
    return {x: numbers(3)}, repeat(5, lambda i, a: tf.cond(tf.equal(i % 2, 0), lambda: a * 2.0, lambda: a + x), x), x


@case
def cond_of_loop():
    x = input_of(3)
    loop = lambda: repeat(4, lambda i, a: a * x, x)  # noqa: E731
    return {x: np.abs(numbers(3))}, tf.cond(x[0] > 0, loop, lambda: x), x


@case
def loop_of_loops_in_cond():
    x = input_of(3)
    inner = lambda a: repeat(2, lambda j, b: b * 1.25, a)  # noqa: E731
    step = lambda i, a: tf.cond(i > 1, lambda: inner(a), lambda: a + x)  # noqa: E731
    return {x: numbers(3)}, repeat(4, step, x), x


@case
def loop_until_large():
    x = input_of(3)
    result = tf.while_loop(lambda a: tf.reduce_sum(a) < 100.0, lambda a: (a * a + 1.0,), [x])
    return {x: np.abs(numbers(3))}, result, x


@case
def loop_that_grows():
    x = input_of(None, 2)
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 2])]
    return {x: numbers(2, 2)}, repeat(3, lambda i, a: tf.concat([a, a * 2.0], 0), x, shape_invariants=shapes), x


@case
def loop_after_loop():
    x = input_of(3)
    first = repeat(3, lambda i, a: a * 1.2, x)
    times = tf.cast(tf.reduce_max(tf.abs(first)) * 2.0, tf.int32) + 1
    return {x: numbers(3)}, repeat(times, lambda i, b: b + first, x), x


@case
def loop_limited():
    x = input_of(3)
    step = lambda a: a * 2.0  # noqa: E731
    forever = tf.while_loop(lambda a: True, step, [x], maximum_iterations=4, swap_memory=True, parallel_iterations=1)
    return {x: numbers(3)}, forever, x


# -- arrays ------------------------------------------------------------------------------------------------------------


@case
def map_and_scan():
    x = input_of(4, 3)
    mapped = tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)
    return {x: numbers(4, 3)}, mapped + tf.scan(lambda a, row: a * 0.5 + row, x), x


@case
def array_split_and_concat():
    x = input_of(6, 2)
    parts = tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, [1, 2, 3])
    longest = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
    begin = [0, longest]
    _, turned = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, parts.read(2 - i) * 2.0)), begin)
    return {x: numbers(6, 2)}, turned.concat() + tf.cast(turned.size(), tf.float32), None


@case
def array_scattered():
    x = input_of(3, 2)
    array = tf.TensorArray(tf.float32, 5, clear_after_read=False, element_shape=[2]).scatter([4, 0, 2], x)
    array = array.write(1, x[0]).write(3, x[1] * x[2])
    return {x: numbers(3, 2)}, array.stack() + array.read(4) + array.gather([0, 0, 1, 1, 2]), x


@case
def rnn_lstm():
    x = input_of(2, 5, 3)
    cell = tf.compat.v1.nn.rnn_cell.LSTMCell(4)
    outputs, state = tf.compat.v1.nn.dynamic_rnn(cell, x, dtype=tf.float32, sequence_length=[5, 3])
    return {x: numbers(2, 5, 3)}, outputs + state.c[:, None] * state.h[:, None], x


@case
def rnn_bidirectional():
    x = input_of(2, 5, 3)
    cells = tf.compat.v1.nn.rnn_cell.GRUCell(4), tf.compat.v1.nn.rnn_cell.GRUCell(4)
    both, _ = tf.compat.v1.nn.bidirectional_dynamic_rnn(*cells, x, dtype=tf.float32, sequence_length=[5, 3])
    return {x: numbers(2, 5, 3)}, tf.concat(both, 2), x


@case
def attention():
    x = input_of(2, 5, 4)
    seq2seq = tf.contrib.seq2seq
    mechanism = seq2seq.LuongAttention(4, x)
    cell = seq2seq.AttentionWrapper(tf.compat.v1.nn.rnn_cell.LSTMCell(4), mechanism, attention_layer_size=4)
    helper = seq2seq.GreedyEmbeddingHelper(tf.compat.v1.get_variable("e", [6, 3]), tf.zeros([2], tf.int32), 1)
    state = cell.zero_state(2, tf.float32)
    decoder = seq2seq.BasicDecoder(cell, helper, state, tf.compat.v1.layers.Dense(6))
    outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=7)
    return {x: numbers(2, 5, 4)}, outputs.rnn_output, x


# -- gradients that are in the graph -----------------------------------------------------------------------------------


@case
def gradient_of_loop():
    x = input_of(3)
    y = repeat(3, lambda i, a: tf.tanh(a) * 1.2, x)
    return {x: numbers(3)}, x - 0.1 * tf.gradients(tf.reduce_sum(y * y), x)[0], None


@case
def gradient_of_nested_loops():
    x = input_of(3)
    y = repeat(3, lambda i, a: repeat(2, lambda j, b: tf.sin(b) + x, a), x)
    return {x: numbers(3)}, tf.gradients(tf.reduce_sum(y * y), x)[0] + x, None


@case
def gradient_of_loop_of_cond():
    x = input_of(3)
    y = repeat(5, lambda i, a: tf.cond(tf.equal(i % 2, 0), lambda: a * a * 0.5, lambda: a + x), x)
    return {x: numbers(3)}, tf.gradients(tf.reduce_sum(y), x)[0] + x, None


@case
def gradient_of_cond():
    x = input_of(3)
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * x, lambda: tf.tanh(x))
    return {x: numbers(3)}, tf.gradients(y, x)[0] * 2.0, None


@case
def gradient_of_rnn():
    x = input_of(2, 5, 3)
    outputs, _ = tf.compat.v1.nn.dynamic_rnn(tf.compat.v1.nn.rnn_cell.LSTMCell(4), x, dtype=tf.float32)
    return {x: numbers(2, 5, 3)}, tf.gradients(tf.reduce_sum(outputs * outputs), x)[0], None


@case
def gradient_of_map():
    x = input_of(4, 3)
    mapped = tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)
    return {x: numbers(4, 3)}, tf.gradients(tf.reduce_sum(mapped * mapped), x)[0], None


# -- functions ---------------------------------------------------------------------------------------------------------


@case
def function_in_loop():
    x = input_of(3)

    @function.Defun(tf.float32, func_name="twice_and_one")
    def twice_and_one(a):
        return a * 2.0 + 1.0

    return {x: numbers(3)}, tf.reshape(repeat(3, lambda i, a: tf.reshape(twice_and_one(a), [3]), x), [3]), None


@case
def functions_in_functions():
    x = input_of(3)

    @function.Defun(tf.float32, func_name="inner")
    def inner(a):
        return a * a

    @function.Defun(tf.float32, func_name="outer")
    def outer(a):
        return inner(a) + 1.0

    return {x: numbers(3)}, tf.reshape(outer(x), [3]) + tf.reshape(inner(x), [3]), x


@case
def function_with_gradient():
    x = input_of(3)

    @function.Defun(tf.float32, tf.float32)
    def slope(a, gradient):
        return gradient * 10.0

    @function.Defun(tf.float32, func_name="steep", grad_func=slope)
    def steep(a):
        return a * a

    @function.Defun(tf.float32, func_name="around")
    def around(a):
        return steep(a) + 1.0

    return {x: numbers(3)}, tf.reshape(around(x), [3]), x


def record(build):
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        tf.compat.v1.set_random_seed(1)
        fed, y, about = build()
        y = tf.identity(y, "y")
        wanted = [y]
        if about is not None:
            wanted.append(tf.gradients(tf.reduce_sum(y * tf.cos(y)), about)[0])
        session.run(tf.compat.v1.global_variables_initializer())
        frozen = graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
        values = session.run(wanted, fed)
    return {
        "graph": base64.b64encode(frozen.SerializeToString()).decode(),
        "fed": {tensor.name: np.asarray(value, np.float32).tolist() for tensor, value in fed.items()},
        "shapes": {tensor.name: tensor.shape.as_list() for tensor in fed},
        "y": values[0].tolist(),
        "gradient": values[1].tolist() if about is not None else None,
    }


if __name__ == "__main__":
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.FATAL)
    recorded = {name: record(CASES[name]) for name in sys.argv[1:] or CASES}
    if sys.argv[1:]:
        print({name: len(one["graph"]) for name, one in recorded.items()})
    else:
        path = os.path.join(DATA, "control_flow.json.gz")
        with open(path, "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed:
            packed.write(json.dumps(recorded, sort_keys=True).encode())
