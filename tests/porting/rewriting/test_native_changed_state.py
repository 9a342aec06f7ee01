"""The step ``native``: a graph has the values of the time when it was built, and a function reads them when it runs."""

from __future__ import annotations

import pytest
from porting_support import after, ported, remarks

HEAD = """import functools
import heapq
import random
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [])
w = tf.Variable(1.0)
"""
RUN = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(y, {x: 2.0}))
"""
CONFIG = "class Config(object):\n    scale = 2.0\nconfig = Config()\n"
NAMER = (
    "class Namer(object):\n    def __init__(self):\n        self.n = 0\n"
    "    def CALLED(self):\n        self.n += 1\n        return self.n\nnamer = Namer()\n"
)

COUNTER = (
    "def make():\n    n = [0]\n    def count():\n        n[0] += 1\n        return n[0]\n    return count\n"
    "count = make()\n"
)

#: What builds, and what is done behind it: a function would see the later value, or do it again.
LATER = [
    (CONFIG + "y = x * config.scale", "config.scale = 5.0"),
    (CONFIG + "y = x * config.scale", "config.scale += 5.0"),
    (CONFIG + "y = x * config.scale", "setattr(config, 'scale', 5.0)"),
    (CONFIG + "def net(t):\n    return t * config.scale\ny = net(x)", "config.scale = 5.0"),
    (CONFIG + "def change():\n    config.scale = 5.0\ny = x * config.scale", "change()"),
    ("SCALE = 2.0\ndef change():\n    global SCALE\n    SCALE = 5.0\ny = x * SCALE", "change()"),
    ("S = 2.0\ndef change():\n    global S\n    S = 5.0\ndef more():\n    change()\ny = x * S", "more()"),
    ("t = np.ones([3])\ndef grow(a):\n    a *= 3\ny = x * t", "grow(t)"),
    ("t = np.ones([3])\ndef grow(a):\n    a[0] = 3\ny = x * t", "grow(a=t)"),
    ("t = np.arange(3.0)\ny = x * t", "random.shuffle(t)"),
    ("t = [3.0, 2.0]\ny = x * t[0]", "t.sort()"),
    ("t = [3.0, 2.0]\ny = x * sum(t)", "t.pop()"),
    ("outs = []\nfor k in range(3):\n    outs.append(x * k)\nk = 10\ny = tf.add_n(outs) + k", "k = 3"),
    ("it = iter([1.0, 2.0])\ny = x * next(it)", ""),
    ("it = iter([1.0, 2.0])\ndef net(t):\n    return t * next(it)\ny = net(net(x))", ""),
    ("m = map(float, '12')\ny = tf.add_n([x * k for k in m])", ""),
    ("m = (k for k in [1.0, 2.0])\ny = x\nfor k in m:\n    y = y * k", ""),
    ("def scales():\n    yield 2.0\nm = scales()\ny = tf.add_n([x * k for k in m])", ""),
    ("import itertools\nm = itertools.count()\ny = tf.add_n([x * k for k, _ in zip(m, [1])])", ""),
    ("import time\ny = x * time.time()", ""),
    (COUNTER + "y = x * count()", ""),
    ("t = np.ones([3])\nu = t\ny = x * t", "u += 1"),
    ("t = [np.ones([3])]\ny = x * t[0]", "for u in t:\n    u += 1"),
    ("def net(t):\n    return t * 2.0\ny = net(x)", "def net(t):\n    return t * 3.0"),
    ("def g(t):\n    return t * 2.0\ndef net(t):\n    return g(t)\ny = net(x)", "def g(t):\n    return t * 3.0"),
    ("pi = 3.0\ny = x * pi", "from math import pi"),
    ("e = 3.0\ny = x * e", "try:\n    int('q')\nexcept ValueError as e:\n    pass"),
    (NAMER.replace("CALLED", "next") + "y = x * namer.next()", ""),
    (NAMER.replace("CALLED", "__call__") + "y = x * namer()", ""),
]
#: The same, where nothing that requests read changes.
SAME = [
    (CONFIG + "y = x * config.scale", "config.rate = 5.0"),
    (CONFIG + "config.scale = 3.0\ny = x * config.scale", ""),
    (CONFIG + "scale = config.scale\ny = x * scale", ""),
    ("SCALE = 2.0\ndef change():\n    global SCALE\n    SCALE = 5.0\nchange()\ny = x * SCALE", ""),
    ("t = np.ones([3])\ndef grown(a):\n    return a * 3\ny = x * t", "grown(t)"),
    ("t = [3.0, 2.0]\nt.sort()\ny = x * t[0]", ""),
    ("outs = []\nfor k in range(3):\n    outs.append(x * k)\ny = tf.add_n(outs)", "k = 3"),
    (NAMER.replace("CALLED", "next") + "n = namer.n\ny = x * n", "namer.next()"),
    ("y = tf.reverse([x, w], [0])", ""),
    ("m = list(map(float, '12'))\ny = tf.add_n([x * k for k in m])", ""),
    ("y = tf.add_n([x * k for k in map(float, '12')])", ""),
    ("def net(t):\n    return t * 2.0\ny = net(x)", "def other(t):\n    return t * 3.0"),
    ("y = x * np.pi", "import numpy as np"),
    ("t = [np.ones([3])]\ny = x * t[0]", "for u in t:\n    print(u)"),
    ("import time\nstart = time.time()\ny = x * 2.0", "print(time.time() - start)"),
    (COUNTER + "k = count()\ny = x * k", "count()"),
]

NET = (
    "class Net(object):\n    gain = 2.0\n    def __init__(self):\n        self.rng = np.random.RandomState(0)\n"
    "    def own(self, t):\n        return t * self.gain\n    def outer(self, t):\n        return t * a\n"
    "    @staticmethod\n    def static(t):\n        return t * a\n    def noise(self, t):\n"
    "        return t + self.rng.rand()\n    def set(self, v):\n        self.gain = v\nn = Net()\n"
)
CHANGE = "def change():\n    d['a'] = 9.0\n"
KEEPER = "class Keeper(object):\n    def __init__(self, q):\n        self.q = q\n        self.q.append(9.0)\n"
SCALED = "def scaled(t):\n    return sum(t * v * (i + 1) for i, v in enumerate(l))\ny = scaled(x)"
MADE = "def make():\n    def inner(t):\n        return t * a\n    return inner\n"
READS_A = [
    "f = lambda t: t * a\ny = f(x)",
    "fs = {'k': lambda t: t * a}\ny = fs['k'](x)",
    "fs = []\nfs.append(lambda t: t * a)\ny = fs[0](x)",
    "f = lambda t: t * a\ndef net(t, act=f):\n    return act(t)\ny = net(x)",
    "f = lambda t: t * a\ndef net(t, act):\n    return act(t)\ny = net(x, act=f)",
    f"{MADE}f = make()\ny = f(x)",
    f"{NET}y = n.outer(x)",
    f"{NET}y = Net.static(x)",
    f"{NET}f = n.outer\ny = f(x)",
]
BINDS_A = [
    "a += 1.0",
    "for a in [3.0]:\n    pass",
    "del a",
    "(a, b) = (9.0, 1)",
    "try:\n    int('q')\nexcept ValueError as a:\n    pass",
    "k = 'a'\nglobals()[k] = 9.0",
    "def set_a():\n    global a\n    a = 9.0\nset_a()",
]
READS_D = [
    "def f(t):\n    return t * d['a']\ny = f(x)",
    "f = lambda t: t * d['a']\ny = f(x)",
    "def act(t, c):\n    return t * c['a']\nf = functools.partial(act, c=d)\ny = f(x)",
]
CHANGES_D = [
    "d.update(a=9.0)",
    "for e in [d]:\n    e['a'] = 9.0",
    f"{CHANGE}change()",
    "h = [d, {}]\nh[0]['a'] = 9.0",
    "h = {'d': d}\nh['d']['a'] = 9.0",
    "del d['a']",
]
#: Such values in lambdas, methods and functions of functions: what builds, and what is done behind it.
REACHED = [
    *((f"a = 2.0\n{build}", "a = 9.0") for build in READS_A),
    *((f"a = 2.0\n{READS_A[0]}", later) for later in BINDS_A),
    *((f"d = {{'a': 2.0}}\n{build}", "d['a'] = 9.0") for build in READS_D),
    *(("d = {'a': 2.0}\ny = x * d['a']", later) for later in CHANGES_D),
    ("fs = {}\nfor i in range(3):\n    fs[i] = lambda t: t * (i + 1)\ny = fs[0](x)", "for i in range(9):\n    pass"),
    *(
        (f"{NET}y = n.own(x)", later)
        for later in [
            "n.gain = 7.0",
            "setattr(n, 'gain', 7.0)",
            "Net.gain = 7.0",
            "m = n\nm.gain = 7.0",
            "n.set(7.0)",
            "n.__dict__.update(gain=7.0)",
            "k = 'gain'\nsetattr(n, k, 7.0)",
        ]
    ),
    *(
        ("t = np.ones([3])\ny = tf.reduce_sum(x * t)", later)
        for later in [
            "np.copyto(t, 0.0)",
            "np.add(t, 1.0, out=t)",
            "t.put(0, 9.0)",
            "t.resize(1)",
            "t.fill(0.0)",
            "t.sort()",
            "u = t[1:]\nu[0] = 9.0",
            "np.put(t, 0, 9.0)",
        ]
    ),
    *(
        (f"l = [3.0, 1.0]\n{SCALED}", later)
        for later in [
            "l.append(9.0)",
            "l.extend([9.0])",
            "l.insert(0, 9.0)",
            "add = l.append\nadd(9.0)",
            "list.append(l, 9.0)",
            "heapq.heappush(l, 9.0)",
            "random.shuffle(l)",
            "random.Random(1).shuffle(l)",
            f"{KEEPER}Keeper(l)",
        ]
    ),
    ("noise = lambda t: t + np.random.rand()\ny = noise(x)", ""),
    (f"{NET}y = n.noise(x)", ""),
    ("rng = np.random.RandomState(0)\nf = lambda t, r=rng: t + r.rand()\ny = f(x)", ""),
    ("d = {'a': 2.0}\nf = lambda t, d=d: t * d['a']\ny = f(x)", "d['a'] = 9.0"),
    ("d = {'a': 2.0}\nf = lambda t, y: t * y['a']\ny = f(x, d)", "d['a'] = 9.0"),
    ("l = [2.0]\nchange = lambda: l.append(9.0)\ny = x * sum(l)", "change()"),
    ("l = [2.0]\ndef change(q):\n    q[0] = 9.0\ny = x * l[0]", "change(*[l])"),
    ("t = np.ones([3])\ny = tf.reduce_sum(x * t)", "t.flat = 9.0"),
    ("l = [2.0]\nt = (l, 1)\ny = x * sum(t[0])", "l.append(9.0)"),
    ("it = iter([1.0, 2.0])\nf = lambda t: t * next(it)\ny = f(x)", ""),
    ("l = [1.0, 2.0, 3.0]\nf = lambda t: t * l.pop()\ny = f(x)", ""),
    ("n = [0]\ndef g(t):\n    n[0] += 1\n    return t * n[0]\nf = lambda t: g(t)\ny = f(f(x))", ""),
    ("import time\nf = lambda t: t + time.time()\ny = f(x)", ""),
    ("d = {'a': 2.0}\ndef same(e):\n    return e\nd = same(d)\ne = same(d)\ny = x * e['a']", "d['a'] = 9.0"),
    (f"a = 2.0\n{NET}class Other(Net):\n    pass\nm = Other()\ny = m.outer(x)", "a = 9.0"),
    ("import collections\nN = collections.namedtuple('N', 'd')\nd = [2.0]\nn = N(d)\ny = x * n.d[0]", "d[0] = 9.0"),
]
#: The same, where nothing that requests read changes.
REACHED_SAME = [
    ("a = 2.0\nf = lambda t: t * a\ny = f(x)", "b = 9.0\nprint([a for a in 'xy'])"),
    ("a = 2.0\nf = lambda t, a=a: t * a\ny = f(x)", "a = 9.0"),
    ("a = 2.0\na = 3.0\nf = lambda t: t * a\ny = f(x)", "def g():\n    a = 4.0\n    return a\ng()"),
    (f"a = 2.0\n{NET}n.gain = 3.0\ny = n.own(x)", "n.other = 7.0"),
    ("d = {'a': 2.0}\na = d['a']\nf = lambda t: t * a\ny = f(x)", "d['a'] = 9.0"),
    ("d = {'a': 2.0}\nf = lambda t: t * d['a']\ny = f(x)", "h = [d, {}]\nh[0] = 9.0"),
    ("l = [3.0, 1.0]\ny = x * l[0]", "l.append(9.0)"),
    (f"l = [3.0, 1.0]\nl.append(2.0)\n{SCALED}", "m = list(l)\nm.append(9.0)"),
    ("def data():\n    return np.random.rand(3)\nt = data()\ny = tf.reduce_sum(x * t)", ""),
    ("t = np.ones([3])\nf = lambda v: v * t.shape[0]\ny = f(x)", "t[0] = 2.0"),
]


@pytest.mark.parametrize(("build", "later"), [*LATER, *REACHED])
def test_a_value_that_changes_behind_the_graph_keeps_it(build: str, later: str):
    text = f"{HEAD}{build}\n{later}{RUN}"
    assert "porting.LegacyGraph()" in ported(text, "native").after.text
    (remark,) = remarks(text, "native")
    assert "so this program keeps its LegacyGraph" in remark


@pytest.mark.parametrize(("build", "later"), [*SAME, *REACHED_SAME])
def test_a_value_that_does_not_change_does_not(build: str, later: str):
    found = after(f"{HEAD}{build}\n{later}{RUN}", "native")
    assert "LegacyGraph" not in found and "@tf.function" in found


def test_an_attribute_that_a_class_or_its_user_sets_anew_keeps_the_graph():
    text = """import tensorflow as tf
class Net(object):
    def __init__(self):
        self.scale = 2.0
        self.x = tf.placeholder(tf.float32, [])
        self.w = tf.Variable(1.0)
        self.y = self.x * self.w * self.scale
        INSIDE
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())
    def predict(self, x):
        return self.sess.run(self.y, {self.x: x})
net = Net()
OUTSIDE
print(net.predict(1.0))
"""
    for inside, outside in (("self.scale = 3.0", ""), ("", "net.scale += 1.0"), ("", "setattr(net, 'scale', 1.0)")):
        changed = text.replace("INSIDE", inside).replace("OUTSIDE", outside)
        (remark,) = remarks(changed, "native")
        assert "'scale' is set anew after the graph was built with it" in remark
    assert "LegacyGraph" not in after(text.replace("INSIDE", "").replace("OUTSIDE", ""), "native")


@pytest.mark.parametrize(
    "later",
    ["offset = 3.0", "d['g'] = 5.0", "sizes.append(5.0)", "net.grow(2.0)"],
)
def test_what_a_class_was_built_with_and_changes_keeps_the_graph(later: str):
    text = """import tensorflow as tf
class Net(object):
    def __init__(self, gain, sizes, act=lambda t: t * offset):
        self.gain = gain
        self.act = act
        self.own = [1.0, 2.0]
        self.x = tf.placeholder(tf.float32, [])
        self.w = tf.Variable(1.0)
        self.y = self.act(self.x * self.w * self.gain['g'])
        self.z = tf.add_n([self.y * each for each in sizes + self.own])
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())
    def predict(self, x):
        return self.sess.run(self.z, {self.x: x})
    def grow(self, v):
        self.own.append(v)
offset = 1.0
d = {'g': 2.0}
sizes = [1.0, 2.0]
net = Net(d, sizes)
LATER
print(net.predict(1.0))
"""
    changed = text.replace("LATER", later)
    if later != "net.grow(2.0)":
        assert "LegacyGraph" not in after(text.replace("LATER", "other = 1.0"), "native")
    (remark,) = remarks(changed, "native")
    assert "after the graph was built with it" in remark


@pytest.mark.parametrize(
    ("build", "what"),
    [
        ("y = x * 2.0 if w == x else x * w", "compared"),
        ("y = x * w\nif w in [x]:\n    y = y + 1.0", "compared"),
        ("scale = {w: 2.0}\ny = x * w * scale[w]", "keys"),
        ("scale = {}\nscale[w] = 2.0\ny = x * w * scale[w]", "keys"),
        ("y = tf.case({x > 3.0: lambda: w * 1.0}, default=lambda: w * 2.0)", "keys"),
    ],
)
def test_what_asks_whether_tensors_are_the_same_keeps_the_graph(build: str, what: str):
    (remark,) = remarks(f"{HEAD}{build}{RUN}", "native")
    assert what in remark


@pytest.mark.parametrize("build", ["y = x * 2.0 if w.shape == [] else x * w", "y = x * {'a': w}['a']"])
def test_what_asks_for_something_else_does_not(build: str):
    assert "LegacyGraph" not in after(f"{HEAD}{build}{RUN}", "native")


def test_a_name_that_the_written_text_would_not_have_keeps_the_graph():
    train = "train = tf.train.GradientDescentOptimizer(0.1).minimize(w * x)\n"
    build = f"{train}with tf.control_dependencies([train, tf.assign_add(w, 1.0)]):\n    y = x + 0.0"
    (remark,) = remarks(f"{HEAD}{build}{RUN}", "native")
    assert "'train', which the graph has" in remark


def test_what_asks_the_graph_where_none_is_left_keeps_it():
    build = "def net(t):\n    with tf.variable_scope('n'):\n        return tf.layers.dense([[t]], 1)\ny = net(x)"
    run = RUN.replace("    print", "    for i in range(2):\n        print")
    (remark,) = remarks(f"{HEAD}{build}{run}        print(len(tf.global_variables()))\n", "native")
    assert "tf.global_variables() is called outside of the graph" in remark
    assert "LegacyGraph" not in after(f"{HEAD}{build}{run}", "native")


@pytest.mark.parametrize("check", ["tf.assert_positive(x)", "tf.Assert(x > 0.0, [x])", "tf.Print(x, [x])"])
def test_a_check_in_the_line_of_a_scope_is_made(check: str):
    found = after(f"{HEAD}with tf.control_dependencies([{check}]):\n    y = x * w{RUN}", "native")
    assert "updates = [" in found.partition("def run_y(")[2].partition("return")[0]


def test_an_operation_without_a_name_is_run_and_gives_nothing():
    build = "q = tf.FIFOQueue(3, tf.float32, [[]])\nput = q.enqueue(x)\ny = q.dequeue()\nup = w.assign_add(1.0)"
    run = RUN.replace("print", "sess.run(put, {x: 1.0})\n    print")
    found = after(f"{HEAD}{build}{run}    sess.run(q.close())\n    up.op.run(session=sess)\n", "native")
    assert "return q.close()" not in found and "    q.close()\n" in found and ".op" not in found


@pytest.mark.parametrize("build", ["u = tf.Variable(2.0, trainable=False)\ny = tf.gradients(x * w * u, [w, u])[1]"])
def test_a_gradient_of_what_is_not_trained_keeps_the_graph(build: str):
    (remark,) = remarks(f"{HEAD}{build}{RUN}", "native")
    assert "Gradients of a variable are taken that is not trained" in remark
    assert "LegacyGraph" not in after(f"{HEAD}{build.replace(', trainable=False', '')}{RUN}", "native")


def test_a_list_is_read_before_it_is_changed():
    build = "parts = []\nfor k in range(3):\n    parts.append(x + k)\ntotal = sum(parts)\nlast = parts.pop()"
    run = f"{RUN.replace('y,', 'parts,')}    print(sess.run([total, last], {{x: 2.0}}))\n"
    found = after(f"{HEAD}{build}{run}", "native").partition("def run_total_and_last(")[2]
    assert 0 < found.index("total = sum(parts)") < found.index("last = parts.pop()")


@pytest.mark.parametrize(
    ("build", "what"),
    [
        (
            "dense = functools.partial(tf.layers.dense, use_bias=False)\ny = dense([[x]], 1)",
            "tf.layers.dense is handed",
        ),
        ("dense = tf.layers.dense\ny = dense([[x]], 1)", "tf.layers.dense is handed"),
        (
            "def v(i):\n    return tf.get_variable('v', [2], initializer=i)\ny = x * v(tf.zeros_initializer)",
            "is handed",
        ),
        ("u = tf.Variable([1.0], validate_shape=False)\ny = x * u", "tf.Variable has the argument validate_shape"),
        ("y = x * tf.assign(w, x, validate_shape=False)", "tf.assign has the argument validate_shape"),
    ],
)
def test_what_would_fail_when_it_runs_keeps_the_graph(build: str, what: str):
    (remark,) = remarks(f"import functools\n{HEAD}{build}{RUN}", "native")
    assert what in remark


@pytest.mark.parametrize(
    "build",
    [
        "y = tf.layers.dense([[x]], 1, kernel_initializer=tf.zeros_initializer)",
        "y = x * tf.get_variable('v', [2], initializer=tf.zeros_initializer)",
        "def v(i):\n    return tf.get_variable('v', [2], initializer=i)\ny = x * v(tf.zeros_initializer())",
        "y = x * tf.assign(w, x, validate_shape=True)",
    ],
)
def test_what_runs_does_not(build: str):
    assert "LegacyGraph" not in after(f"{HEAD}{build}{RUN}", "native")


@pytest.mark.parametrize(
    ("built", "is_native"),
    [
        ("copy = [t.assign(o) for t, o in zip([w], [u])]", True),
        ("copy = tf.group(*[t.assign(o) for t, o in [(w, u)]])", True),
        ("t = w\ncopy = [t.assign(o) for o in [u]]", False),
        ("t = u\ncopy = [t.assign(o) for t, o in zip([w], [t])]", False),
    ],
)
def test_a_name_of_a_comprehension_may_be_bound_again(built: str, is_native: bool):
    """Nothing but the comprehension sees that name, as in ``for t in range(3):`` behind the graph."""
    run = "with tf.Session() as s:\n    s.run(tf.global_variables_initializer())\n"
    turns = "    for t in range(3):\n        s.run(copy)\n        print(t, s.run(w))\n"
    variables = "import tensorflow as tf\nw, u = tf.Variable(1.0), tf.Variable(2.0)\n"
    assert ("LegacyGraph" not in after(f"{variables}{built}\n{run}{turns}", "native")) is is_native
