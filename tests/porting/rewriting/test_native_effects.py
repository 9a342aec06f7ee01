"""A session runs the operations that a request fetches; the step ``native`` never runs more of a statement."""

from __future__ import annotations

import pytest
from porting_support import after, ported, remarks

HEAD = """import tensorflow as tf
a = tf.Variable(1.0)
b = tf.Variable(10.0)
x = tf.placeholder(tf.float32, [])
"""
RUN = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(FETCHED, {x: 2.0}))
    print(sess.run([a, b]))
"""
LIST = "ups = [tf.assign_add(v, x) for v in (a, b)]"
LOOP = "ups = []\nfor v in [a, b]:\n    ups.append(v.assign_add(x))"
FUNCTION = "def make():\n    one = tf.assign_add(a, x)\n    other = tf.assign_add(b, x)\n    return RETURNED\n"
ELEMENTS = "ds = tf.data.Dataset.range(9)\nit = ds.make_one_shot_iterator()\n"

#: What builds, what a request fetches of it: a function would do more.
MORE = [
    (LIST, "ups[1]"),
    (LIST, "ups[1:][0]"),
    (LIST + "\ntotal = tf.add_n(ups[1:])", "total"),
    (LOOP, "ups[1]"),
    (LOOP, "ups[-1]"),
    ("ua, ub = [tf.assign_add(v, x) for v in (a, b)]", "ub"),
    ("ups = [tf.assign_add(a, x), tf.assign_add(b, x)]", "ups[0]"),
    ("ub = [tf.assign_add(a, x), tf.assign_add(b, x)][1]", "ub"),
    ("ups = {'a': tf.assign_add(a, x), 'b': tf.assign_add(b, x)}", "ups['a']"),
    ("ups = {n: tf.assign_add(v, x) for n, v in [('a', a), ('b', b)]}", "ups['a']"),
    ("ups = {}\nfor n, v in [('a', a), ('b', b)]:\n    ups[n] = v.assign_add(x)", "ups['a']"),
    ("ups = list(map(lambda v: tf.assign_add(v, x), [a, b]))", "ups[0]"),
    ("ups = list(map(lambda v: tf.assign_add(v, 1.0), [a, b]))", "ups[0]"),
    ("ups, names = zip(*[(tf.assign_add(v, x), v.name) for v in (a, b)])", "ups[0]"),
    ("total = x\nfor i in range(3):\n    total = total + i\n    last = tf.assign_add(a, total)", "last"),
    (FUNCTION.replace("RETURNED", "one, other") + "one, other = make()", "other"),
    (FUNCTION.replace("RETURNED", "other") + "other = make()", "other"),
    ("def one(p, q):\n    return p\nup = one(*[tf.assign_add(a, x), tf.assign_add(b, x)])", "up"),
    ("def one(p, q):\n    return q\nup = one(*[tf.assign_add(v, x) for v in (a, b)])", "up"),
    ("def each(vs):\n    return [tf.assign_add(v, x * 1.0) for v in vs]\nups = each([a, b])", "ups[1]"),
    (ELEMENTS + "xs = [tf.to_float(it.get_next()) * x for _ in range(3)]", "xs[1]"),
    ("up = tf.assign_add(a, x)\nr = b * 3.0\nwith tf.control_dependencies([up]):\n    t = r", "t"),
    (
        "up = tf.assign_add(a, x)\nwith tf.control_dependencies([up]):\n"
        "    with tf.control_dependencies(None):\n        t = b * x",
        "t",
    ),
]

#: The same, where the request fetches all that a function would do.
ALL = [
    (LIST, "ups"),
    (LIST + "\nboth = tf.group(*ups)", "[x, both]"),
    (LIST + "\ntotal = tf.add_n(ups)", "total"),
    (LIST + "\nwith tf.control_dependencies(ups):\n    t = a * b", "t"),
    (LOOP, "ups"),
    ("ups = list(map(lambda v: tf.assign_add(v, 1.0), [a, b]))", "[x, ups]"),
    (LOOP + "\ntotal = tf.add_n(ups)", "total"),
    ("ua, ub = [tf.assign_add(v, x) for v in (a, b)]", "[ua, ub]"),
    ("ua, ub = tf.assign_add(a, x), tf.assign_add(b, x)", "ub"),
    ("ups = [tf.assign_add(a, x), b * x]", "ups[0]"),
    ("total = x\nfor v in (a, b):\n    total = total + tf.assign_add(v, x)", "total"),
    (FUNCTION.replace("RETURNED", "one + other") + "t = make()", "t"),
    ("def total(p, q):\n    return p + q\nt = total(*[tf.assign_add(v, x) for v in (a, b)])", "t"),
    ("def both(*ups):\n    return tf.group(*ups)\nt = both(*[tf.assign_add(v, x) for v in (a, b)])", "[x, t]"),
    (FUNCTION.replace("RETURNED", "tf.group(one, other)") + "t = make()", "[x, t]"),
    ("up = tf.cond(x > 1.0, lambda: tf.assign_add(a, 1.0), lambda: tf.assign_add(b, 1.0))", "up"),
    ("up = tf.assign_add(b, tf.assign_add(a, x) * 2.0)", "up"),
    ("f = True\nup = tf.assign_add(b, x) if f else tf.assign_add(a, x)", "up"),
    (ELEMENTS + "one = it.get_next()\nother = it.get_next()\nt = tf.to_float(other) * x", "t"),
    ("up = tf.assign_add(a, x)\nwith tf.control_dependencies([up]):\n    t = tf.identity(b)", "t"),
]


def program(build: str, fetched: str) -> str:
    return f"{HEAD}{build}{RUN.replace('FETCHED', fetched)}"


@pytest.mark.parametrize(("build", "fetched"), MORE)
def test_a_request_that_fetches_a_part_stays(build: str, fetched: str):
    text = program(build, fetched)
    assert "porting.LegacyGraph()" in ported(text, "native").after.text
    (remark,) = remarks(text, "native")
    assert "A request fetches a part of a statement, and a function would do this besides" in remark


@pytest.mark.parametrize(("build", "fetched"), ALL)
def test_a_request_that_fetches_all_of_it_is_a_function(build: str, fetched: str):
    found = after(program(build, fetched), "native")
    assert "LegacyGraph" not in found and "@tf.function" in found


@pytest.mark.parametrize(
    ("scope", "line"),
    [
        ("[tf.assign(a, x)]", "updates = [a.assign(x)]"),
        ("[tf.assign(a, 5.0), b.assign_add(x)]", "updates = [a.assign(5.0), b.assign_add(x)]"),
        ("control_inputs=[tf.assign(v, x) for v in (a, b)]", "updates = [v.assign(x) for v in (a, b)]"),
        ("[make()]", "updates = [make()]"),
    ],
)
def test_an_assignment_in_the_line_of_a_scope_is_made(scope: str, line: str):
    function = "def make():\n    return tf.assign_add(a, 1.0)\n"
    build = f"{function}with tf.control_dependencies({scope}):\n    t = b + 0.0\n"
    found = after(program(build, "t"), "native")
    assert line in found.partition("def run_t(")[2].partition("return")[0]


def test_an_assignment_in_the_line_of_several_scopes_stays():
    build = "with tf.name_scope('s'), tf.control_dependencies([tf.assign(a, x)]):\n    t = b + 0.0"
    (remark,) = remarks(program(build, "t"), "native")
    assert "A scope has an operation in its first line" in remark


@pytest.mark.parametrize("trainable", ["False", "len([1]) > 1"])
def test_a_layer_that_is_not_trained_stays(trainable: str):
    build = (
        f"y = tf.layers.dense([[x]], 1, trainable={trainable})\nloss = tf.reduce_sum(y * a)\n"
        "train = tf.train.AdamOptimizer(0.1).minimize(loss)"
    )
    (remark,) = remarks(program(build, "[train, loss]"), "native")
    assert "tf.layers.dense has the argument trainable" in remark
    assert "LegacyGraph" not in after(program(build.replace(trainable, "True"), "[train, loss]"), "native")


@pytest.mark.parametrize("text", ["[sess.run(v) for v in LIST]", "list(map(lambda v: sess.run(v), LIST))"])
def test_a_request_of_each_variable_of_a_list_stays(text: str):
    """It was a function that was made behind its call, and read the name of the comprehension."""
    found = after(f"{program('t = a * x', 't')}    print({text.replace('LIST', 'tf.global_variables()')})\n", "native")
    assert "return v" not in found and "legacy.run(v)" in found


LOSS = "y = tf.Variable(1.0)\nn = tf.Variable(0, trainable=False)\nloss = tf.square(y * ELEMENT - 1.0)\n"
SGD = "sgd = tf.train.GradientDescentOptimizer(0.1)\n"
COUNTED = """    train = sgd.apply_gradients(PAIRS)
    with tf.control_dependencies([train]):
        n.assign_add(1)
"""
MINIMIZED = "zip(tape.gradient(loss, variables), variables)"


@pytest.mark.parametrize(
    ("build", "fetched", "lines"),
    [
        ("train = sgd.minimize(loss, n)", "train", COUNTED.replace("PAIRS", MINIMIZED)),
        (
            "pairs = sgd.compute_gradients(loss)\ntrain = sgd.apply_gradients(pairs, global_step=n)",
            "train",
            COUNTED.replace("PAIRS", "pairs"),
        ),
        (
            "train = sgd.minimize(loss)\nwith tf.control_dependencies([train]):\n    up = tf.assign_add(n, 1)",
            "up",
            COUNTED.replace("PAIRS", MINIMIZED).replace("n.assign", "up = n.assign"),
        ),
        (
            "train = sgd.minimize(loss)\nwith tf.control_dependencies([train]):\n    nothing = tf.no_op()\n"
            "with tf.control_dependencies([nothing]):\n    up = tf.group(tf.assign_add(n, 1))",
            "up",
            COUNTED.replace("PAIRS", MINIMIZED),
        ),
        (
            "with tf.control_dependencies([tf.assign(y, loss)]):\n    up = tf.assign_add(n, 1)\n"
            "    ua = tf.assign(a, 2.0)",
            "[up, ua]",
            "    with tf.control_dependencies(updates):\n        up = n.assign_add(1)\n        ua = a.assign(2.0)\n",
        ),
    ],
)
def test_an_assignment_waits_for_the_element_that_may_not_come(build: str, fetched: str, lines: str):
    """At the end of a data set TensorFlow 1 counted no step."""
    build = f"{ELEMENTS}{LOSS}{SGD}{build}"
    found = after(program(build.replace("ELEMENT", "tf.to_float(it.get_next())"), fetched), "native")
    assert lines in found
    found = after(program(build.replace("ELEMENT", "x"), fetched), "native")
    assert "LegacyGraph" not in found and "control_dependencies" not in found


def test_what_waits_for_a_check_does_so_in_a_function():
    build = "with tf.control_dependencies([tf.Assert(x > 1.0, [x])]):\n    y = x * a\n    z = y + 1.0"
    lines = "    with tf.control_dependencies(updates):\n        y = x * a\n        z = y + 1.0\n    return z\n"
    assert lines in after(program(build, "z"), "native")


def test_an_assignment_that_waits_for_others_without_names_stays():
    build = (
        f"{ELEMENTS}n = tf.Variable(0)\nups = tf.group(tf.assign(a, tf.to_float(it.get_next())), tf.assign(b, 1.0))\n"
        "with tf.control_dependencies([ups]):\n    up = tf.assign_add(n, 1)"
    )
    (remark,) = remarks(program(build, "up"), "native")
    assert "An assignment waits for others that have no name, and for what may fail" in remark
