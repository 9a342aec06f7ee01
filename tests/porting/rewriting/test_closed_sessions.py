"""The step ``functions``: requests behind the end of a session, or to the default one by what is not known, stay."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

HEAD = """import tensorflow as tf
x = tf.placeholder(tf.float32, [])
y = x * 2.0
def ask(session):
    return session.run(y, {x: 1.0})
def again():
    return sess.run(y, {x: 1.0})
"""
MADE = "sess = tf.Session()\nprint(RUN)\n"
RUN = "sess.run(y, {x: 1.0})"
BLOCK = f"with tf.Session() as sess:\n    print({RUN})\n"
CLOSED = [
    f"{MADE}sess.close()\nprint({RUN})\n",
    f"{MADE}sess.close()\nprint(ask(sess))\n",
    f"{MADE}sess.close()\nprint(again())\n",
    f"{MADE}sess.close()\nprint(y.eval({{x: 1.0}}, session=sess))\n",
    f"{MADE}sess.close()\ntry:\n    {RUN}\nexcept RuntimeError:\n    print('closed')\n",
    f"{MADE}if x is None:\n    sess.close()\nprint({RUN})\n",
    f"{MADE}try:\n    {RUN}\nfinally:\n    sess.close()\nprint({RUN})\n",
    f"{MADE}for _ in range(2):\n    {RUN}\n    sess.close()\n",
    f"{MADE}while True:\n    if {RUN} > 1.0:\n        sess.close()\n        continue\n    break\n",
    f"{MADE}with sess:\n    {RUN}\nprint({RUN})\n",
    f"{BLOCK}print({RUN})\n",
    f"def main():\n    with tf.Session() as sess:\n        {RUN}\n    if sess:\n        {RUN}\nmain()\n",
]
OPEN = [
    f"{MADE}sess.close()\n",
    f"{MADE}sess.close()\nprint(sess.graph is None)\n",
    f"{MADE}sess.close()\n{MADE}",
    f"{BLOCK}{BLOCK}",
    f"{MADE}with sess.as_default():\n    {RUN}\nprint({RUN})\n",
    f"{MADE}if x is None:\n    sess.close()\n    raise SystemExit\nprint({RUN})\n",
    f"{MADE}if x is None:\n    sess.close()\n    exit()\nprint({RUN})\n",
    f"{MADE}while True:\n    if {RUN} > 1.0:\n        sess.close()\n        break\n    {RUN}\n",
    f"for _ in range(2):\n    sess = tf.Session()\n    {RUN}\n    sess.close()\n",
    f"def main():\n    sess = tf.Session()\n    {RUN}\n    sess.close()\nmain()\n",
    f"other = tf.Session()\nother.close()\n{BLOCK}",
]


@pytest.mark.parametrize("text", CLOSED)
def test_a_request_behind_the_end_of_its_session_keeps_it(text: str):
    (remark,) = remarks(HEAD + text.replace("RUN", RUN), "functions")
    assert "A request may be run after its session was closed" in remark


@pytest.mark.parametrize("text", OPEN)
def test_one_before_it_or_of_a_new_session_does_not(text: str):
    assert "LegacyGraph" in after(HEAD + text.replace("RUN", RUN), "functions")


GRAPH = """import tensorflow as tf
w = tf.Variable(1.0)
x = tf.placeholder(tf.float32, [])
init = tf.global_variables_initializer()
"""
ASKED = "sess = tf.InteractiveSession()\ninit.run()\n"
UNKNOWN = [
    f"def show(t):\n    print(t.eval())\n{ASKED}show(w)\n",
    f"def show(t):\n    print(t.eval({{x: 1.0}}))\n{ASKED}show(x)\n",
    f"def start(op):\n    op.run()\n{ASKED}start(init)\n",
    f"def start(v):\n    v.op.run()\n{ASKED}start(w)\n",
    f"kept = []\ndef keep(t):\n    kept.append(t)\n"
    f"def show():\n    return [t.eval() for t in kept]\n{ASKED}keep(w)\nshow()\n",
]
KNOWN = [
    f"class App(object):\n    def run(self):\n        return 1\ndef go(app):\n    app.run()\n{ASKED}go(App())\n",
    f"import pandas as pd\ndef go(frame):\n    return frame.eval('a + b'), pd.eval('1 + 2')\n{ASKED}print(w.eval())\n",
    f"import subprocess\nsubprocess.run(['true'])\n{ASKED}print(w.eval())\n",
]


@pytest.mark.parametrize("text", UNKNOWN)
def test_a_request_of_what_is_not_known_keeps_the_session(text: str):
    (remark,) = remarks(GRAPH + text, "functions")
    assert "A function runs a session that it is not given" in remark


@pytest.mark.parametrize("text", KNOWN)
def test_what_is_no_request_does_not(text: str):
    assert "LegacyGraph" in after(GRAPH + text, "functions")


def test_a_decorator_that_builds_at_once_keeps_the_session():
    text = "ops = []\ndef keep(f):\n    ops.append(f(x))\n    return f\n@keep\ndef double(t):\n    return t * 2.0\n"
    (remark,) = remarks(f"{GRAPH}{text}{ASKED}print(sess.run(ops, {{x: 1.0}}))\n", "functions")
    assert "A definition computes with a part of the graph when it is executed" in remark


def test_one_that_builds_when_its_function_is_called_does_not():
    text = "def twice(f):\n    def inner(t):\n        return f(t) * 2.0\n    return inner\n"
    text += "@twice\ndef double(t):\n    return t * 2.0\n"
    assert "LegacyGraph" in after(f"{GRAPH}{text}y = double(x)\n{ASKED}print(sess.run(y, {{x: 1.0}}))\n", "functions")


def test_a_with_that_is_given_a_part_of_the_graph_keeps_the_session():
    text = "import helpers\nsess = tf.Session()\n"
    text += "with helpers.Run(sess, tf.global_variables_initializer()):\n    sess.run(w)\n"
    (remark,) = remarks(GRAPH + text, "functions")
    assert "What decides about a block adds to the graph" in remark
