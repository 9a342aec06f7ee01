"""The parts of contrib.learn's recurrent estimators, with what genuine TensorFlow 1.15.5 gave for the same calls."""

from __future__ import annotations

from collections.abc import Callable

from support import PythonRun

_PROGRAM = """
import numpy as np
from tf1sessions import tf1 as tf
from tf1sessions.contrib.learn import rnn_common

def kinds(**arguments):
    cell = rnn_common.construct_rnn_cell(**arguments)
    return [type(cell).__name__, np.ravel(tf.nest.flatten(cell.state_size)).tolist()]

def error(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        return type(error).__name__

x, labels = np.arange(24.0).reshape(2, 4, 3), np.arange(8).reshape(2, 4)
found = {}
with tf.Graph().as_default(), tf.Session() as session:
    for name, lengths in (("all", None), ("some", tf.constant([2, 4]))):
        last = rnn_common.select_last_activations(tf.constant(x), lengths)
        masked = rnn_common.mask_activations_and_labels(tf.constant(x), tf.constant(labels), lengths)
        found[name] = [last.shape.as_list(), *(value.tolist() for value in session.run([last, *masked]))]
    # what an unrolled cell gives is as large with all kept as without dropout
    cells = [
        rnn_common.construct_rnn_cell([3, 2], "lstm", kept) for kept in (None, [1.0, 1.0, 1.0], [1.0, 1.0, 1e-6])
    ]
    shared = []
    for cell in cells:
        with tf.variable_scope("r", reuse=tf.AUTO_REUSE, initializer=tf.ones_initializer()):
            shared.append(tf.nn.dynamic_rnn(cell, tf.ones([1, 2, 3]), dtype=tf.float32)[0])
    session.run(tf.global_variables_initializer())
    plain, kept, dropped = session.run(shared)
    found["kept"] = bool(np.allclose(plain, kept)) and bool((plain != 0).all())
    found["dropped"] = bool((dropped == 0).all())
    report(
        one=kinds(num_units=3),
        lstm=kinds(num_units=[3], cell_type="lstm"),
        two=kinds(num_units=(3, 2), cell_type="gru", dropout_keep_probabilities=[0.5, 0.6, 0.7]),
        own=kinds(num_units=(3, 2), cell_type=tf.nn.rnn_cell.LSTMCell),
        dropout=kinds(num_units=3, cell_type="lstm", dropout_keep_probabilities=[0.5, 0.6]),
        unknown=error(lambda: rnn_common.construct_rnn_cell([3], "x")),
        number=error(lambda: rnn_common.construct_rnn_cell([3], "lstm", [0.5])),
        **found,
    )
"""


def test_cells_and_their_outputs(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(_PROGRAM).results
    rows = [[3.0 * i, 3.0 * i + 1, 3.0 * i + 2] for i in range(8)]
    assert found["all"] == [[2, 3], [rows[3], rows[7]], rows, list(range(8))]
    assert found["some"] == [[2, 3], [rows[1], rows[7]], rows[:2] + rows[4:], [0, 1, 4, 5, 6, 7]]
    assert found["one"] == ["BasicRNNCell", [3]]
    assert found["lstm"] == ["LSTMCell", [3, 3]]
    assert found["two"] == ["MultiRNNCell", [3, 2]]
    assert found["own"] == ["MultiRNNCell", [3, 3, 2, 2]]
    assert found["dropout"] == ["DropoutWrapper", [3, 3]]
    assert found["kept"] and found["dropped"]
    assert (found["unknown"], found["number"]) == ("TypeError", "ValueError")
