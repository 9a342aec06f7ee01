"""The step ``native``: numbers that several requests draw, and reads and assignments that have no order."""

from __future__ import annotations

import pytest
from porting_support import after, ported, remarks

from tf1sessions.porting.rewriting.native.shared_draws import SHARED_DRAW
from tf1sessions.porting.rewriting.native.unordered import READ_COMMENT, READ_UNORDERED

HEAD = """import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
"""
TWO = """
y = a + 1.0
z = a * 2.0
with tf.Session() as sess:
    for _ in range(2):
        print(sess.run(y), sess.run(z))
"""
ONE = TWO.replace("print(sess.run(y), sess.run(z))", "print(sess.run([y, z]))")
SEED = "tf.set_random_seed(1)\n"
NOISE = "def noise():\n    return tf.random_normal([2], seed=3)\n"
#: Statements that draw with a seed.
DRAWING = [
    "a = tf.random_uniform([], seed=1)",
    "a = tf.random_normal([2], 0.0, 1.0, tf.float32, 7)",
    "a = tf.nn.dropout(tf.ones([2]), 0.5, seed=1)",
    "a = tf.random_shuffle([1.0, 2.0], 5)",
    f"{SEED}a = tf.random_uniform([])",
    f"{NOISE}a = noise()",
    "a = tf.distributions.Normal(0.0, 1.0).sample(seed=1)",
]


def said(text: str) -> list[str]:
    """What is good to know of a program that takes the step."""
    found = ported(text, "native")
    assert "LegacyGraph" not in found.after.text
    return [note.what for note in found.notes if note.kind == "good to know"]


@pytest.mark.parametrize("draw", DRAWING)
def test_requests_that_share_a_sequence_keep_the_graph(draw: str):
    (remark,) = remarks(f"{HEAD}{draw}{TWO}", "native")
    assert "Several requests draw from a random operation with a seed, in turn" in remark


@pytest.mark.parametrize(
    "text",
    [
        *(draw + ONE for draw in DRAWING),
        "a = tf.random_uniform([])" + TWO,
        "a = tf.random_uniform([], seed=None)" + TWO,
        f"{SEED}a = tf.nn.dropout(tf.ones([2]), 0.5)" + TWO,
        "w = tf.Variable(tf.random_normal([2], seed=1))\na = w * 1.0"
        + TWO.replace("    for", "    sess.run(tf.global_variables_initializer())\n    for"),
    ],
)
def test_one_request_or_no_seed_does_not(text: str):
    assert SHARED_DRAW not in said(HEAD + text)


@pytest.mark.parametrize(
    "draw",
    ["tf.nn.dropout(tf.ones([2]), 0.5)", "tf.distributions.Normal(0.0, 1.0).sample()", "tf.random_shuffle([1, 2])"],
)
def test_what_is_drawn_from_constants_is_drawn_by_each_call(draw: str):
    lines = after(f"{HEAD}a = {draw}{ONE}", "native").splitlines()
    (made,) = (line for line in lines if line.strip().startswith("a = "))
    assert made.startswith("    ") and lines.index("@tf.function") < lines.index(made)


WEIGHTS = """
h = LAYER
y = h + tf.random_normal([], seed=1)
loss = tf.reduce_mean(y)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        sess.run(train, {x: [[1, 2]]})
        print(sess.run(y, {x: [[1, 2]]}))
"""


@pytest.mark.parametrize(
    "layer", ["tf.layers.dense(x, 1)", "x * tf.get_variable('w', [])", "x * tf.Variable(tf.random_normal([]))"]
)
def test_where_weights_are_drawn_too_it_is_said(layer: str):
    if "dense" in layer:
        layer += "  # weights"
    text = HEAD + WEIGHTS.replace(
        "h = LAYER", f"w = {layer.removeprefix('x * ')}\nh = x * w" if "x *" in layer else f"h = {layer}"
    )
    assert said(text).count(SHARED_DRAW) == 1


@pytest.mark.parametrize("value", ["1.0", "tf.zeros([])", "tf.random_normal([], seed=3)"])
def test_where_weights_are_known_the_graph_is_kept(value: str):
    (remark,) = remarks(HEAD + WEIGHTS.replace("h = LAYER", f"w = tf.Variable({value})\nh = x * w"), "native")
    assert "Several requests draw from a random operation with a seed" in remark


READ = """
w = tf.Variable(1.0)
v = tf.Variable(1.0)
before = w.read_value()
new = NEW
with tf.control_dependencies([new]):
    behind = w * 2.0
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(FETCHED))
"""


@pytest.mark.parametrize(
    ("new", "fetched", "is_unordered"),
    [
        ("w.assign(5.0)", "[before, behind]", True),
        ("tf.assign_add(w, 5.0)", "[before, new]", True),
        ("w.assign(5.0)", "[w, new]", True),
        ("w.assign(5.0)", "[behind, new]", False),
        ("w.assign(before + 5.0)", "[before, behind]", False),
        ("v.assign(5.0)", "[before, behind]", False),
        ("w.assign(5.0)", "before", False),
    ],
)
def test_a_read_and_an_assignment_in_no_order(new: str, fetched: str, is_unordered: bool):
    text = HEAD + READ.replace("NEW", new).replace("FETCHED", fetched)
    assert (READ_UNORDERED in said(text)) is is_unordered
    assert (READ_COMMENT in after(text, "native")) is is_unordered
