"""Functions that are called where they are given, ``map(lambda i: tf.constant(i), xs)``, build the graph there."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

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
        "y = [make][0](1.0)",
        "make_two = functools.partial(make, 2.0)\ny = make_two()",
        "alias = make\ny = alias(1.0)",
        "y = (alias := make)(1.0)",
        "alias = make if 2 > 1 else None\ny = alias(1.0)",
        "table = dict(first=make)\ny = table['first'](1.0)",
        "def given():\n    yield make\ny = next(given())(1.0)",
        "def outer(k):\n    def inner():\n        return tf.constant(k)\n    return inner\ny = outer(1.0)()",
        "def doubled(f):\n    return lambda: tf.add(f(), f())\n@doubled\ndef one(): return 1.0\ny = one()",
        "def ask(f=make): return f(1.0)\ny = ask()",
        "class Net:\n    def one(self): return tf.constant(1.0)\nnet = Net()\none = net.one\ny = one()",
        "class Net:\n    def __getitem__(self, k): return tf.constant(k)\nnet = Net()\ny = net[1.0]",
    ],
)
def test_a_function_that_is_called_where_it_is_given(line: str):
    block = after(PROGRAM.replace("LINE", line), "functions").rpartition("with legacy:\n")[2]
    assert "    y = " in block


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


@pytest.mark.parametrize(
    "line",
    [
        "class Net:\n    y = tf.square(x)\ny = Net.y",
        "def net(t=tf.square(x)):\n    return t * 2.0\ny = net()",
        "class Net:\n    def square(self, t=x + 1.0):\n        return t\ny = Net().square()",
    ],
)
def test_a_definition_that_computes_with_a_part_of_the_graph_stays(line: str):
    text = PROGRAM.replace("LINE", line)
    assert "A definition computes with a part of the graph when it is executed" in remarks(text, "functions")[0]
    assert "legacy" in after(text.replace("tf.square(x)", "x").replace("x + 1.0", "{'a': x}['a']"), "functions")
