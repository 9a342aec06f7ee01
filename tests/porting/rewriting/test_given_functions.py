"""Functions that are called where they are given, ``map(lambda i: tf.constant(i), xs)``, build the graph there."""

from __future__ import annotations

import pytest
from porting_support import after

PROGRAM = """import functools
import tensorflow as tf
x = tf.placeholder(tf.float32, [])
def make(i):
    return tf.constant(i) * 2.0
LINE
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(y, {x: 2.0}))
"""


@pytest.mark.parametrize(
    "line",
    [
        "y = list(map(lambda i: tf.Variable(i), [1.0, 2.0]))",
        "y = list(map(lambda i: tf.constant(i), [1.0, 2.0]))",
        "y = list(map(make, [1.0, 2.0]))",
        "y = functools.reduce(lambda p, q: p * q + x, [2.0, 3.0])",
        "y = [lambda v: tf.square(v), make][0](x)",
    ],
)
def test_a_function_that_is_called_where_it_is_given(line: str):
    assert "with legacy:\n    y = " in after(PROGRAM.replace("LINE", line), "functions")


@pytest.mark.parametrize(
    "line",
    [
        "y = sorted(['ab', 'c'], key=lambda v: len(v))",
        "show = lambda sess: sess.run(x, {x: 2.0})",
        "y = list(map(make_name, [1, 2]))",
    ],
)
def test_a_function_that_builds_nothing(line: str):
    text = PROGRAM.replace("LINE", f"def make_name(i):\n    return str(i)\n{line}").replace("run(y,", "run(x + 1.0,")
    assert f"\n{line}" in after(text, "functions").replace("legacy", "sess")
