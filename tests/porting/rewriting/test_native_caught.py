"""The step ``native``: a program that catches errors which TensorFlow 2 does not raise, or as others, stays."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

HEAD = """import contextlib
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable(1.0)
y = x * w
saver = tf.train.Saver()
def ask(sess, value):
    return sess.run(y, {x: value})
def again(sess):
    return ask(sess, np.ones([2]))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
"""
VALUE = "sess.run(y, {x: np.ones([2])})"


def caught(what: str, *errors: str) -> str:
    handlers = "".join(f"    except {error}:\n        print({number})\n" for number, error in enumerate(errors))
    return f"{HEAD}    try:\n        print({what})\n{handlers}"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (caught(VALUE, "ValueError"), "An error of a request is caught"),
        (caught("ask(sess, np.ones([2]))", "ValueError as e"), "An error of a request is caught"),
        (caught("again(sess)", "(KeyError, ValueError)"), "An error of a request is caught"),
        (caught(VALUE, "TypeError", "Exception"), "An error of a request is caught"),
        (f"{HEAD}    with contextlib.suppress(ValueError):\n        {VALUE}\n", "An error of a request is caught"),
        (caught("sess.run(w)", "tf.errors.FailedPreconditionError"), "caught that a variable has no value"),
        (caught("saver.restore(sess, 'm')", "ValueError"), "caught that a checkpoint is missing"),
        (
            HEAD.replace("y = x * w", "y = x\ntry:\n    y = y * w\nexcept ValueError:\n    y = y + 1.0")
            + f"    {VALUE}\n",
            "An error is caught that is raised while the graph is built",
        ),
    ],
)
def test_a_program_that_catches_other_errors_keeps_the_graph(text: str, what: str):
    (remark,) = remarks(text, "native")
    assert what in remark


@pytest.mark.parametrize(
    "text",
    [
        caught(VALUE, "(ValueError, TypeError)"),
        caught(VALUE, "Exception"),
        caught(VALUE, "tf.errors.InvalidArgumentError"),
        caught(VALUE, "KeyboardInterrupt"),
        caught("sess.run(w)", "ValueError"),
        caught("saver.restore(sess, 'm')", "Exception"),
        f"{HEAD}    try:\n        print(int('a'))\n    except ValueError:\n        pass\n    print({VALUE})\n",
    ],
)
def test_one_that_catches_the_same_errors_does_not(text: str):
    assert "LegacyGraph" not in after(text, "native")


def test_a_program_that_feeds_none_keeps_the_graph():
    (remark,) = remarks(f"{HEAD}    print(sess.run(y, {{x: None}}))\n", "native")
    assert "A request feeds None, which a session takes for NaN" in remark
