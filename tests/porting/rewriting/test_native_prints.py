"""The step ``native``: it is said where a print becomes a part of a function."""

from __future__ import annotations

import pytest
from porting_support import ported, remarks

from tf1sessions.porting.rewriting.native.late_prints import LATE_PRINT

TEXT = """import tensorflow as tf
def net(x, n):
    print('layer with', n)  # 3
    return act(tf.layers.dense(x, n))
def act(x):
    print('activation')  # 6
    return tf.nn.relu(x)
def helper(n):
    print('helper')
    return n + 1
x = tf.placeholder(tf.float32, [None, 2])
print('begins')
y = net(x, helper(2))
w = tf.Variable(1.0)
print(y)
EXTRA
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(y, {x: [[1, 2]]}))
"""


def noted(text: str) -> list[int]:
    """The lines of the step before at which it is said, as the text of the program has them."""
    before = ported(text, "functions").after.text.splitlines()
    notes = [each for each in ported(text, "native").notes if each.what == LATE_PRINT]
    assert all(each.kind == "good to know" for each in notes)
    shown = [before[each.place.line - 1].strip() for each in notes]
    lines = [line.strip() for line in text.splitlines()]
    return [lines.index(each) + 1 for each in shown]


def test_a_print_in_a_function_that_requests_call_is_noted_once():
    found = noted(TEXT.replace("EXTRA", "z = net(y, 1)"))
    assert sorted(found) == [3, 6, 9]


@pytest.mark.parametrize("extra", ["for i in range(2):\n    y = y * 2.0\n    print('turn', i)"])
def test_a_print_in_a_loop_that_computes_is_noted(extra: str):
    assert 18 in noted(TEXT.replace("EXTRA", extra))


def test_what_prints_where_it_did_is_not_noted():
    text = TEXT.replace("y = net(x, helper(2))", "n = helper(2)\ny = tf.layers.dense(x, n)").replace("EXTRA", "")
    assert noted(text) == []


ASKED = """import tensorflow as tf
w = tf.Variable([1.0, 2.0])
y = w * 2.0
up = w.assign_add([1.0, 1.0])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    value = sess.run(y)
    PRINT
    print(value)
"""


@pytest.mark.parametrize(
    "line",
    [
        "print(value, y.shape)",
        "print(y.get_shape().as_list(), value.sum())",
        "print('%s %s' % (value, y.shape))",
        "print(tf.shape(y), value)",
        "print(list(map(sess.run, [up, w])))",
    ],
)
def test_a_print_of_a_value_and_of_the_graph_keeps_the_graph(line: str):
    assert any(
        "A print has a part of the graph, and " in each for each in remarks(ASKED.replace("PRINT", line), "native")
    )


@pytest.mark.parametrize("line", ["print(y)", "print('shape', y.get_shape().as_list(), sep=': ')", "print(type(y), y)"])
def test_one_of_the_graph_alone_is_left_out(line: str):
    assert remarks(ASKED.replace("PRINT", line), "native") == []
