"""Training graphs with loops in conditions, of genuine TensorFlow 1.15.5: ``python make_training_conditions.py``.

Writes training_conditions.json.xz in ../data, in the form of training_graphs.json.xz; make_training_graphs.py
says with which Python. Each condition is decided by how often the graph ran, so that both branches are
trained. With names of cases, prints how large they are and writes nothing.
"""

import sys

import tensorflow as tf
from make_training_graphs import main, numbers

v1 = tf.compat.v1
CASES = {}


def case(build):
    """``build`` returns what is fed, the tensor or tensors that are minimized, and what else one run gives."""

    def whole():
        step = v1.train.get_or_create_global_step()
        even = tf.equal(step % 2, 0, name="even")
        fed, loss, *rest = build(even)
        return fed, [v1.train.AdamOptimizer(0.1).minimize(loss, step), loss, *rest]

    CASES[build.__name__] = whole
    return build


def sequences():
    return v1.placeholder(tf.float32, [2, 3, 2], name="x")


def encoded(x, cell=None, **options):
    """The outputs of an LSTM."""
    return v1.nn.dynamic_rnn(cell or v1.nn.rnn_cell.LSTMCell(2), x, dtype=tf.float32, **options)[0]


def weighted(x):
    with v1.variable_scope("weighted", reuse=v1.AUTO_REUSE):
        return x * v1.get_variable("w", [2], initializer=tf.ones_initializer())


def squares(x):
    return tf.reduce_mean(tf.square(x - 0.1))


def repeat(times, step, begin):
    return tf.while_loop(lambda i, a: i < times, lambda i, a: (i + 1, step(a)), [0, begin])[1]


@case
def recurrent_in_a_branch(even):
    x = sequences()
    return {x: numbers(2, 3, 2)}, squares(tf.cond(even, lambda: encoded(x), lambda: weighted(x)))


@case
def recurrent_in_both_branches(even):
    """Of one cell; the other way round in one of them."""
    x = sequences()
    cell = v1.nn.rnn_cell.GRUCell(2)
    backward = lambda: tf.reverse(encoded(tf.reverse(x, [1]), cell, sequence_length=[3, 2]), [1])  # noqa: E731
    return {x: numbers(2, 3, 2)}, squares(tf.cond(even, lambda: encoded(x, cell), backward))


@case
def recurrent_in_nested_branches(even):
    x = sequences()
    step = v1.train.get_or_create_global_step()
    inner = lambda: tf.cond(step < 1, lambda: weighted(x) * 2.0, lambda: tf.tanh(encoded(x)) * weighted(x))  # noqa: E731
    return {x: numbers(2, 3, 2)}, squares(tf.cond(even, inner, lambda: weighted(x)))


@case
def loop_of_loops_in_a_branch(even):
    x = sequences()
    inner = lambda a: repeat(2, lambda b: tf.tanh(weighted(b)), a) + a  # noqa: E731
    return {x: numbers(2, 3, 2)}, squares(tf.cond(even, lambda: repeat(3, inner, x), lambda: weighted(x)))


@case
def loop_of_branches_in_a_branch(even):
    """What decides about the loop is asked again in it, as switches for training are."""
    x = sequences()
    inner = lambda a: tf.cond(even, lambda: tf.tanh(weighted(a)), lambda: a * 2.0)  # noqa: E731
    return {x: numbers(2, 3, 2)}, squares(tf.cond(even, lambda: repeat(3, inner, x), lambda: weighted(x)))


@case
def recurrent_in_a_loop(even):
    """Sequences of sequences, as words of characters are."""
    x = sequences()
    cell = v1.nn.rnn_cell.GRUCell(2)
    words = lambda: repeat(2, lambda a: encoded(a, cell), x)  # noqa: E731
    return {x: numbers(2, 3, 2)}, squares(tf.cond(even, words, lambda: weighted(x)))


@case
def tagged(even):
    """BiLSTM and CRF; contrib.crf has conditions of its own, around a recurrent network."""
    x = sequences()
    tags = v1.placeholder(tf.int32, [2, 3], name="tags")
    lengths = v1.placeholder(tf.int32, [2], name="lengths")
    cells = v1.nn.rnn_cell.LSTMCell(2), v1.nn.rnn_cell.LSTMCell(2)
    both, _ = v1.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=tf.float32)
    scores = v1.layers.dense(tf.concat(both, 2), 3)
    likely, _ = tf.contrib.crf.crf_log_likelihood(scores, tags, lengths)
    return {x: numbers(2, 3, 2), tags: [[0, 1, 2], [2, 1, 0]], lengths: [3, 2]}, tf.reduce_mean(-likely)


@case
def tagged_in_a_branch(even):
    """The whole of it, decided by a switch."""
    x = sequences()
    tags = v1.placeholder(tf.int32, [2, 3], name="tags")
    w = v1.get_variable("scores", [2, 3], initializer=tf.constant_initializer(numbers(2, 3)))
    transitions = v1.get_variable("transitions", [3, 3], initializer=tf.constant_initializer(numbers(3, 3)))

    def likely():
        scores = tf.reshape(tf.matmul(tf.reshape(encoded(x), [6, 2]), w), [2, 3, 3])
        return -tf.contrib.crf.crf_log_likelihood(scores, tags, tf.constant([3, 2]), transitions)[0]

    rest = lambda: tf.reduce_sum(tf.square(tf.tensordot(x, w, 1)), [1, 2])  # noqa: E731
    return {x: numbers(2, 3, 2), tags: [[0, 1, 2], [2, 1, 0]]}, tf.reduce_mean(tf.cond(even, likely, rest))


@case
def masks_in_nested_branches(even):
    """Random masks two conditions deep: drawn once for the value and its gradient."""
    x = sequences()
    step = v1.train.get_or_create_global_step()

    def dropped():
        kept = tf.nn.dropout(weighted(x), rate=0.5, seed=7)
        return tf.cond(step < 1, lambda: kept, lambda: tf.nn.dropout(kept * kept, rate=0.25, seed=8) * kept)

    y = tf.cond(even, dropped, lambda: weighted(x) - 1.0)
    return {x: numbers(2, 3, 2)}, squares(y), y


@case
def masks_of_steps_in_a_branch(even):
    """A mask for each step of a loop in a branch; one step at a time, else the steps draw theirs in any order."""
    x = sequences()
    cell = v1.nn.rnn_cell.DropoutWrapper(v1.nn.rnn_cell.GRUCell(2), 0.5, 0.75, seed=5)
    y = tf.cond(even, lambda: encoded(x, cell, parallel_iterations=1), lambda: weighted(x))
    return {x: numbers(2, 3, 2)}, squares(y), y


if __name__ == "__main__":
    main(CASES, sys.argv[1:], "training_conditions.json.xz")
