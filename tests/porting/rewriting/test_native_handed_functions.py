"""The step ``native``: functions that make variables and are used as values stay."""

from __future__ import annotations

import textwrap

import pytest
from porting_support import after, remarks

HEAD = """import functools
import tensorflow as tf
def dense(x, n=2):
    return tf.layers.dense(x, n)
def weight(n):
    return tf.Variable(tf.ones([2, n]))
def half(x):
    return x / 2.0
x = tf.placeholder(tf.float32, [None, 2])
"""
RUN = """with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(y, {x: [[1.0, 2.0]]}))
"""
STACK = "def stack(t, layer):\n    for _ in range(2):\n        t = layer(t)\n    return t\n"

#: What builds, and the function that is used as a value there.
HANDED = [
    ("f = dense\ny = f(x)", "dense"),
    ("y = x\nfor f in [dense, dense]:\n    y = f(y)", "dense"),
    ("y = functools.partial(dense, n=3)(x)", "dense"),
    ("f = functools.partial(dense, n=3)\ny = f(x)", "dense"),
    ("nets = {'a': dense}\ny = nets['a'](x)", "dense"),
    (f"{STACK}y = stack(x, dense)", "dense"),
    ("def stack(t, layer):\n    t = tf.layers.dense(t, 2)\n    return layer(t)\ny = stack(x, dense)", "dense"),
    ("def net(t, layer=dense):\n    return layer(t)\ny = net(x)", "dense"),
    ("def use(t, make):\n    return tf.matmul(t, make(2))\ny = use(x, weight)", "weight"),
    ("def make(n):\n    def apply(t):\n        return dense(t, n)\n    return apply\nf = make(3)\ny = f(x)", "make"),
    (
        "def make(n):\n    def apply(t):\n        return tf.layers.dense(t, n)\n    return apply\ny = make(3)(x)",
        "make",
    ),
    (
        "def scoped(f):\n    def g(t):\n        with tf.variable_scope('s'):\n            return f(t)\n    return g\n"
        "y = scoped(dense)(x)",
        "dense",
    ),
    ("y = tf.map_fn(dense, tf.expand_dims(x, 0))", "dense"),
    ("if len([1]):\n    def inner(t):\n        return tf.layers.dense(t, 2)\ny = inner(x)", "inner"),
]
#: Near to these, with functions that make nothing, or are called once where the graph is built.
PORTED = [
    "y = dense(dense(x))",
    "y = x\nfor f in [half, half]:\n    y = f(y)",
    "f = functools.partial(half)\ny = f(dense(x))",
    f"{STACK}y = stack(dense(x), half)",
    "def make(n):\n    def apply(t):\n        return t * n\n    return apply\nf = make(3.0)\ny = f(dense(x))",
    "w = weight(3)\ny = tf.matmul(x, w)",
    "ws = list(map(weight, [2, 2]))\ny = tf.matmul(x, ws[0])",
    "def scale(x, weight):\n    return x * weight\ny = scale(dense(x), 2.0)",
    "layer = tf.layers.Dense(3)\ny = layer(x)",
    "def pair(x):\n    return dense(x), dense(x)\none, other = pair(x)\ny = one + other",
]


@pytest.mark.parametrize(("lines", "name"), HANDED)
def test_a_function_that_makes_and_is_a_value_stays(lines: str, name: str):
    (remark,) = remarks(f"{HEAD}{lines}\n{RUN}", "native")
    assert f"{name}() makes variables, and is used in a way that is not known" in remark


@pytest.mark.parametrize("lines", PORTED)
def test_other_functions_are_ported(lines: str):
    assert "LegacyGraph" not in after(f"{HEAD}{lines}\n{RUN}", "native")


@pytest.mark.parametrize("kind", ["tf.Variable", "tf.get_variable"])
def test_what_makes_a_variable_and_is_a_value_stays(kind: str):
    net = "def net(t, make):\n    return t * make('v', [2])\n"
    (remark,) = remarks(f"{HEAD}{net}y = net(x, {kind})\n{RUN}", "native")
    assert f"{kind} is handed about" in remark


def test_a_function_that_a_class_is_given_stays():
    text = """import tensorflow as tf
def dense(x):
    return tf.layers.dense(x, 2)
class Net(object):
    def __init__(self, layer=dense):
        self.x = tf.placeholder(tf.float32, [None, 2])
        self.y = layer(self.x)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())
    def fit(self, x):
        return self.sess.run(self.y, {self.x: x})
print(Net().fit([[1.0, 2.0]]))
"""
    (remark,) = remarks(text, "native")
    assert "dense() makes variables, and is used in a way that is not known" in remark
    assert "LegacyGraph" not in after(text.replace(", layer=dense", "").replace("layer(self", "dense(self"), "native")


def test_functions_of_a_function_that_builds_stay_where_they_are_values():
    body = "".join(f"    {line}\n" for line in (f"{HEAD}y = FIRST\n{RUN}").splitlines() if "import" not in line)
    text = f"import tensorflow as tf\ndef main():\n{body}main()\n"
    (remark,) = remarks(text.replace("FIRST", "x\n    for f in [dense]:\n        y = f(y)"), "native")
    assert "dense() makes variables, and is used in a way that is not known" in remark
    assert "LegacyGraph" not in after(text.replace("FIRST", "half(x)"), "native")


@pytest.mark.parametrize(
    ("making", "reason"),
    [
        ("if True:\n    def made(n): return tf.Variable(tf.ones([n]))", "made(), a function inside of another one,"),
        ("made = lambda n: tf.Variable(tf.ones([n]))", "A lambda makes variables"),
        ("class Maker:\n    def made(self, n): return tf.Variable(tf.ones([n]))\nmade = Maker().made", "class Maker"),
        ("made = {'a': tf.Variable}['a']", "tf.Variable is handed about"),
    ],
)
def test_variables_that_are_not_known_to_be_such_stay(making: str, reason: str):
    text = f"""import tensorflow as tf
{making}
w = made(2)
loss = tf.nn.l2_loss(w)
add = tf.assign_add(w, [1.0, 1.0])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(add)
    print(sess.run(loss))
"""
    assert reason in remarks(text, "native")[0]
    made_by_a_function = text.replace(making, "def made(n): return tf.Variable(tf.ones([n]))")
    assert "tf1sessions" not in after(made_by_a_function, "native")


#: A class that reads the variable w, and how its object gives the loss.
CLASSES = {
    "a method": ("    def loss(self): return w * 2.0", "Model().loss()"),
    "a static method": ("    @staticmethod\n    def loss(): return w * 2.0", "Model.loss()"),
    "a method by another name": ("    def loss(self): return w * 2.0", "[each.loss for each in [Model()]][0]()"),
    "a method by its text": ("    def loss(self): return w * 2.0", "getattr(Model(), 'loss')()"),
    "a property": ("    @property\n    def loss(self): return w * 2.0", "Model().loss"),
    "an operator": ("    def __mul__(self, other): return w * other", "Model() * 2.0"),
    "an element": ("    def __getitem__(self, index): return w * index", "Model()[2.0]"),
    "a call": ("    def __call__(self): return w * 2.0", "Model()()"),
    "a function of the class": ("    loss = {'a': lambda: w * 2.0}", "Model.loss['a']()"),
    "a function of the object": ("    def __init__(self): self.loss = lambda: tf.abs(w) * 2.0", "Model().loss()"),
}


@pytest.mark.parametrize(("body", "loss"), CLASSES.values(), ids=CLASSES)
@pytest.mark.parametrize("is_inside", [False, True])
def test_a_class_that_reads_a_variable_stays(body: str, loss: str, is_inside: bool):
    lines = f"""w = tf.Variable(1.0)
class Model:
{body}
loss = {loss}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(loss))
"""
    text = f"import tensorflow as tf\n{lines}"
    if is_inside:
        text = "import tensorflow as tf\ndef main():\n" + textwrap.indent(lines, "    ") + "main()\n"
    assert "The class Model builds a part of the graph" in remarks(text, "native")[0]
    without = text.replace("w * ", "2.0 * ").replace("tf.abs(w)", "abs(2.0)")
    assert "tf1sessions" not in after(without.replace("run(loss)", "run(w)"), "native")


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("def put(): parts.append(tf.abs(w))", "put()"),
        ("def put(): parts.insert(0, tf.abs(w))", "put()"),
        ("def put():\n    global parts\n    parts = [tf.abs(w)]", "put()"),
        ("def put(to): to[0:] = [tf.abs(w)]", "put(parts)"),
        ("def keep(part): parts.append(part)\ndef put(): keep(tf.abs(w))", "put()"),
        ("class Parts: pass\ndef put(): setattr(Parts, 'a', tf.abs(w))", "put()\nparts = [Parts.a]"),
        ("class Parts: pass\ndef put(): Parts.a = tf.abs(w)", "put()\nparts = [Parts.a]"),
        ("table = {}\ndef put(): table.setdefault('a', []).append(tf.abs(w))", "put()\nparts = table['a']"),
    ],
)
def test_a_function_that_puts_a_part_of_the_graph_somewhere_stays(function: str, call: str):
    text = f"""import tensorflow as tf
w = tf.Variable(1.0)
parts = []
{function}
{call}
loss = tf.add_n(parts)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(loss))
"""
    assert "put() puts a part of the graph somewhere, and does not return it" in remarks(text, "native")[0]
    without = text.replace("tf.abs(w)", "2.0").replace("tf.add_n(parts)", "w * 2.0")
    assert "tf1sessions" not in after(without, "native")


@pytest.mark.parametrize("decorator", ["functools.lru_cache(None)", "functools.lru_cache", "functools.cache"])
def test_a_function_that_keeps_its_result_stays(decorator: str):
    text = f"""import functools
import tensorflow as tf
w = tf.Variable(1.0)
@{decorator}
def half():
    return w / 2.0
y = half() + 1.0
z = half() + 2.0
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(y), sess.run(z))
"""
    assert "half() keeps what it gives, which is a part of the graph" in remarks(text, "native")[0]
    assert "tf1sessions" not in after(text.replace(f"@{decorator}\n", ""), "native")
