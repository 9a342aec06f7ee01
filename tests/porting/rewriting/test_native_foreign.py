"""The step ``native``: what code of libraries changes behind a graph, and what the code of a graph reads outside."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

HEAD = """import argparse
import copy
import functools
import os
import sys
import numpy as np
import tensorflow as tf
import helpers
class Box(object):
    gain = 2.0
class Stack(list):
    def push(self, value):
        self.append(value)
box = Box()
stack = Stack([1.0])
values = [1.0, 2.0]
names = ['a']
t = np.ones([3])
d = {'a': 2.0}
n = 3
SCALE = 2.0
data = helpers.load()
args = argparse.ArgumentParser().parse_args([])
x = tf.placeholder(tf.float32, [])
"""
RUN = """
with tf.Session() as sess:
    print(sess.run(y, {x: 2.0}))
"""
SUM = "y = x * sum(values)"
ARRAY = "y = tf.reduce_sum(x * t)"

#: What builds, and what is done behind it.
CHANGED = [
    (SUM, "helpers.normalize(values)"),
    (SUM, "h = helpers.Helper()\nh.fill(values)"),
    (SUM, "f = helpers.maker()\nf(values)"),
    (SUM, "from helpers import normalize\nnormalize([values])"),
    (SUM, "functools.reduce(lambda a, v: a.append(v) or a, [5.0], values)"),
    (SUM, "def fill(v):\n    v[0] = 9.0\nlist(map(fill, [values]))"),
    (SUM, "later = {'add': values.append}\nlater['add'](5.0)"),
    ("y = x * d['a']", "helpers.normalize(d)"),
    ("y = x * box.gain", "helpers.tweak(box)"),
    ("y = x * sum(stack)", "stack.push(4.0)"),
    (ARRAY, "helpers.normalize(t)"),
    (ARRAY, "np.multiply(t, 2.0, t)"),
    (ARRAY, "np.exp(t, t)"),
    (ARRAY, "np.nan_to_num(t, copy=False)"),
    (ARRAY, "np.ndarray.fill(t, 4.0)"),
    ("y = x * SCALE", "sys.modules['__main__'].SCALE = 9.0"),
]
#: The same, where nothing changes.
SAME = [
    (SUM, "print(len(values), os.path.join('a', *names))"),
    (SUM, "helpers.normalize(names)"),
    (SUM, "copy.copy(values).append(5.0)"),
    (SUM, "helpers.normalize(list(values))"),
    (ARRAY, "u = np.multiply(t, 2.0)"),
    ("y = x * n", "helpers.show(n)"),
    ("y = x * args.rate", "helpers.show(args)"),
    ("y = x * data.width", "print(data.next_batch(3))"),
]


@pytest.mark.parametrize(("build", "later"), CHANGED)
def test_what_other_code_may_change_keeps_the_graph(build: str, later: str):
    (remark,) = remarks(f"{HEAD}{build}\n{later}{RUN}", "native")
    assert "is changed after the graph was built with it" in remark


@pytest.mark.parametrize(("build", "later"), SAME)
def test_what_other_code_cannot_change_does_not(build: str, later: str):
    assert "LegacyGraph" not in after(f"{HEAD}{build}\n{later}{RUN}", "native")


def test_what_a_generator_changes_keeps_the_graph():
    steps = "def steps():\n    while True:\n        values.append(1.0)\n        yield 1\nit = steps()\n"
    (remark,) = remarks(f"{HEAD}{steps}{SUM}\nnext(it){RUN}", "native")
    assert "'values' is changed after the graph was built with it" in remark


@pytest.mark.parametrize(
    "value",
    ["float(open('a').read())", "np.load('a.npy')[0]", "float(os.environ['A'])", "float(input())"],
)
def test_what_is_read_outside_keeps_the_graph(value: str):
    for build in (f"def net(t):\n    return t * {value}\ny = net(x)", f"y = x * {value}"):
        (remark,) = remarks(f"{HEAD}{build}{RUN}", "native")
        assert "A file or the environment is read while the graph is built" in remark
    build = f"scale = {value}\ny = x * scale"
    assert "LegacyGraph" not in after(f"{HEAD}{build}{RUN}", "native")
