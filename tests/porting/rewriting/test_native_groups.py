"""The step ``native``: what ``tf.group()`` is given is run, however it is written."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

from tf1sessions.porting.rewriting.native.attributes import with_attributes

TEXT = """import tensorflow as tf
x = tf.placeholder(tf.float32, [])
w = tf.Variable([1., 2.])
b = tf.Variable(3.0)
def bump(vs):
    return [v.assign(v * 2) for v in vs]
def bumps(vs):
    for v in vs:
        yield v.assign(v * 2)
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w) * x)
GROUP
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(g, {x: 1.})
    print(sess.run([w, b]))
"""
EACH = "v.assign(v * 2) for v in [w, b]"


def body(group: str) -> list[str]:
    """The lines of the function that runs a group."""
    found = after(TEXT.replace("GROUP", group), "native")
    assert "LegacyGraph" not in found
    return [each.strip() for each in found.partition("def run_g(x):\n")[2].partition("\n\n")[0].splitlines()]


@pytest.mark.parametrize(
    ("group", "lines"),
    [
        (f"g = tf.group(*[{EACH}])", [f"[{EACH}]"]),
        (f"g = tf.group([{EACH}])", [f"[{EACH}]"]),
        (f"g = tf.group(b.assign(x), *[{EACH}])", ["b.assign(x)", f"[{EACH}]"]),
        (f"g = tf.group(*({EACH}), name='g')", [f"[*({EACH})]"]),
        ("g = tf.group(*bump([w, b]))", ["[*bump([w, b])]"]),
        ("g = tf.group(*map(lambda v: v.assign(v * 2), [w, b]))", ["[*map(lambda v: v.assign(v * 2), [w, b])]"]),
        ("g = tf.group(*[w.assign(w * x), b.assign(x)])", ["w.assign(w * x)", "b.assign(x)"]),
        ("g = tf.group(*[w.assign(w * x)] + bump([b]))", ["w.assign(w * x)", "[*bump([b])]"]),
        ("g = tf.group(*(bump([w]) if True else []))", ["[*(bump([w]) if True else [])]"]),
        ("g = tf.group(tf.group(*bump([w])), tf.group(b.assign(x)))", ["[*bump([w])]", "b.assign(x)"]),
        ("g = tf.group([[w.assign(w * x)], (b.assign(x),)])", ["w.assign(w * x)", "b.assign(x)"]),
    ],
)
def test_what_is_written_in_a_group_is_run(group: str, lines: list[str]):
    assert body(group) == lines


@pytest.mark.parametrize(
    ("made", "lines"),
    [
        ("bump([w, b])", []),
        (f"[{EACH}]", []),
        ("[w.assign(w * x)]", []),
        (f"({EACH})", ["[*ops]"]),
        ("map(lambda v: v.assign(v * 2), [w, b])", ["[*ops]"]),
    ],
)
def test_a_list_that_has_a_name_was_made_before_and_a_generator_was_not(made: str, lines: list[str]):
    assert body(f"ops = {made}\ng = tf.group(*ops)") == [f"ops = {made}", *lines]


def test_a_function_that_yields_operations_is_refused():
    """Else they would be made with the variables, and never by a request."""
    (remark,) = remarks(TEXT.replace("GROUP", "ops = bumps([w, b])\ng = tf.group(*ops)"), "native")
    assert "A request fetches a part of a statement" in remark


def test_a_group_under_dependencies_is_run_behind_them():
    lines = body("with tf.control_dependencies([b.assign(x)]):\n    g = tf.group(*bump([w, b]))")
    assert lines == ["updates = [b.assign(x)]", "[*bump([w, b])]"]


@pytest.mark.parametrize(
    "group", ["*[train, b.assign(x)]", "*([train] + [b.assign(x)])", "tf.group(train), b.assign(x)"]
)
def test_a_training_step_in_a_list_is_made(group: str):
    lines = body(f"g = tf.group({group})")
    assert lines[-1] == "b.assign(x)" and any("apply_gradients" in each for each in lines)


def test_a_training_step_in_an_expression_is_refused():
    text = TEXT.replace("GROUP", "g = tf.group(*[each for each in [train, b.assign(x)]])")
    (remark,) = remarks(text, "native")
    assert "An expression in a group has an operation that is made elsewhere" in remark


def test_a_group_of_nothing_is_a_function_that_does_nothing():
    assert body("with tf.control_dependencies([x]):\n    g = tf.group(*[])") == ["pass"]


CLASS = """import tensorflow as tf
class Agent(object):
    def __init__(self):
        self.s = tf.placeholder(tf.float32, [None, 2])
        with tf.variable_scope('main'):
            self.q = tf.layers.dense(self.s, 1)
        with tf.variable_scope('target'):
            self.t = tf.layers.dense(self.s, 1)
        mv = tf.trainable_variables('main')
        tv = tf.trainable_variables('target')
        self.sync = tf.group(*[b.assign(a) for a, b in zip(mv, tv)])
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())
    def update(self):
        self.sess.run(self.sync)
    def value(self, s):
        return self.sess.run([self.q, self.t], {self.s: s})
a = Agent()
a.update()
print(a.value([[1., 2.]]))
"""


def test_a_group_of_a_class_is_run():
    found = after(CLASS, "native")
    assert "def run_sync():\n            [b.assign(a) for a, b in zip(mv, tv)]\n" in found


def test_a_text_that_is_no_python_stays_for_the_caller_to_refuse():
    assert with_attributes("class A:\ndef f(:\n", ["A"]) == "class A:\ndef f(:\n"


@pytest.mark.parametrize(
    "made",
    [
        "def f(a, c):\n    return c + a\ny = f(*[1, b])",
        "def f(a, c):\n    return c + a\ny = f(1, *[b])",
        "def f(a, c):\n    return c + a\ny = f(**{'a': 1, 'c': b})",
        "def f(a, *, c):\n    return c + a\ny = f(1, **{'c': b})",
        "def f(*vs):\n    return vs[0] * 2\ny = f(b)",
        "def f(n, *vs):\n    return vs[n] * 2\ny = f(0, *[b])",
        "def f(**vs):\n    return vs['c'] * 2\ny = f(c=b)",
    ],
)
def test_what_a_function_computes_of_a_variable_that_it_gets_with_a_star_is_computed_by_requests(made: str):
    found = after(TEXT.replace("GROUP", f"{made}\ng = b.assign(x)").replace("[w, b])", "y)"), "native")
    assert "LegacyGraph" not in found
    assert "y = f(" in found.partition("def run_y():\n")[2].partition("return y")[0]
