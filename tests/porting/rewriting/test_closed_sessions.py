"""The step ``functions``: a program with a request behind the end of its session, which TensorFlow 1 refuses, stays."""

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
