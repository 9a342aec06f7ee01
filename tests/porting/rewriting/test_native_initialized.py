"""The step ``native``: variables get their values once, so programs that initialise them again or late stay."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

HEAD = """import threading
import tensorflow as tf
from absl import app
x = tf.placeholder(tf.float32, [])
w = tf.Variable(1.0)
up = w.assign_add(x)
init = tf.global_variables_initializer()
saver = tf.train.Saver()
"""
TRAIN = """def train(n):
    sess.run(init)
    for _ in range(n):
        print(sess.run(up, {x: 1.0}))
"""
SESSION = "sess = tf.Session()\n"
MAIN = "def main(_):\n    train(2)\n"
TWICE = "Variables are initialised in a function that may be called more than once"

#: How a function that initialises is called.
AGAIN = [
    "train(2)\ntrain(1)",
    "for n in (2, 1):\n    train(n)",
    "n = 2\nwhile n:\n    train(n)\n    n -= 1",
    "[train(n) for n in (2, 1)]",
    "print({n: train(n) for n in (2, 1)})",
    "list(map(train, (2, 1)))",
    "list(map(lambda n: train(n), (2, 1)))",
    "go = train\ngo(2)\ngo(1)",
    "threading.Thread(target=train, args=(1,)).start()",
    "def each(n):\n    train(n)\neach(2)\neach(1)",
    "def each(n):\n    train(n)\nfor n in (2, 1):\n    each(n)",
    "def each(n):\n    return n and (train(n), each(n - 1))\neach(2)",
    "if len([1]) > 2:\n    train(2)\ntrain(1)",
    "if train(2):\n    train(1)",
    f"{MAIN}main(0)\ntf.app.run()",
]
#: The same, where it is called at most once.
ONCE = [
    "train(2)",
    "if __name__ == '__main__':\n    train(2)",
    "if len([1]) > 2:\n    train(2)\nelse:\n    train(1)",
    "if len([1]) > 2:\n    train(2)\nelif len([1]) > 1:\n    train(1)",
    "for n in [train(2)]:\n    print(n)",
    "print([n for n in [train(2)]])",
    f"{MAIN}tf.app.run()",
    f"{MAIN}tf.app.run(main)",
    f"{MAIN}tf.app.run(main=main)",
    f"{MAIN}if __name__ == '__main__':\n    app.run(main)",
    "def each(n):\n    train(n)\neach(2)",
]


@pytest.mark.parametrize("calls", AGAIN)
def test_a_function_that_initialises_and_is_called_again_stays(calls: str):
    (remark,) = remarks(f"{HEAD}{SESSION}{TRAIN}{calls}\n", "native")
    assert TWICE in remark


@pytest.mark.parametrize("calls", ONCE)
def test_a_function_that_initialises_and_is_called_once_is_ported(calls: str):
    assert "LegacyGraph" not in after(f"{HEAD}{SESSION}{TRAIN}{calls}\n", "native")


def test_a_decorated_function_that_initialises_stays():
    decorator = "def again(function):\n    return lambda n: (function(n), function(n))\n@again\n"
    (remark,) = remarks(f"{HEAD}{SESSION}{decorator}{TRAIN}train(1)\n", "native")
    assert TWICE in remark


def test_a_method_that_initialises_stays_where_it_is_called_again():
    method = (
        "class Trainer(object):\n    def go(self):\n        sess.run(init)\n        print(sess.run(up, {x: 1.0}))\n"
    )
    calls = "trainer = Trainer()\ntrainer.go()\n"
    assert "LegacyGraph" not in after(f"{HEAD}{SESSION}{method}{calls}", "native")
    (remark,) = remarks(f"{HEAD}{SESSION}{method}{calls}trainer.go()\n", "native")
    assert TWICE in remark
    method = method.replace("def go(self)", "def __init__(self)")
    assert "LegacyGraph" not in after(f"{HEAD}{SESSION}{method}trainer = Trainer()\n", "native")
    (remark,) = remarks(f"{HEAD}{SESSION}{method}trainers = [Trainer() for _ in range(2)]\n", "native")
    assert TWICE in remark


@pytest.mark.parametrize(
    ("line", "is_ported"),
    [
        ("    saver.restore(sess, './m')\n", True),
        ("    if tf.train.latest_checkpoint('.'):\n        saver.restore(sess, './m')\n", False),
    ],
)
def test_a_function_that_restores_next_is_ported(line: str, is_ported: bool):
    """What it initialises is set in any case."""
    text = f"{HEAD}{SESSION}{TRAIN.replace('    for', line + '    for')}saver.save(sess, './m')\ntrain(2)\ntrain(1)\n"
    assert ("LegacyGraph" not in after(text, "native")) is is_ported


def test_tables_and_graphs_of_a_function_are_initialised_again():
    """A table has the same values again; a function that builds makes its variables anew."""
    tables = HEAD.replace("global_variables", "tables")
    calls = "saver.restore(sess, './m')\ntrain(2)\ntrain(1)\n"
    assert "LegacyGraph" not in after(f"{tables}{SESSION}{TRAIN}{calls}", "native")
    lines = HEAD.replace("saver = tf.train.Saver()\n", "").partition("x = ")
    build = "".join(f"    {line}\n" for line in f"{''.join(lines[1:])}{SESSION}{TRAIN}train(2)".splitlines())
    assert "LegacyGraph" not in after(f"{lines[0]}def trial():\n{build}trial()\ntrial()\n", "native")


INIT = "sess.run(init)\n"
RESTORE = "saver.restore(sess, './m')\n"
UP = "sess.run(up, {x: 1.0})\n"
CKPT = "ckpt = tf.train.latest_checkpoint('.')\n"
LISTED = "v = tf.Variable(2.0)\nown = tf.train.Saver([w])\nlisted = tf.variables_initializer([v])\n"


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


#: What gives variables other values before they are initialised.
LATE = [
    f"{RESTORE}{INIT}",
    f"{CKPT}if ckpt:\n{indented(RESTORE)}{INIT}",
    f"{CKPT}if ckpt:\n{indented(RESTORE)}else:\n    print('new')\n{INIT}",
    f"{CKPT}if ckpt:\n{indented(RESTORE)}if ckpt is None:\n    print('new')\n{INIT}",
    f"found = False\nif os.path.exists('m'):\n{indented(RESTORE)}    found = True\nif not found:\n{indented(INIT)}",
    f"{UP}{INIT}",
    f"for _ in range(2):\n{indented(UP)}{INIT}",
    f"sess.run(w.assign(3.0))\n{INIT}",
    f"def warm():\n{indented(UP)}warm()\n{INIT}",
    f"def warm(n):\n    if n:\n        return\n{indented(UP)}warm(1)\n{INIT}",
    f"def begin():\n{indented(INIT)}{UP}begin()\n",
    f"def main(_):\n{indented(UP + INIT)}tf.app.run()\n",
    f"try:\n{indented(RESTORE + 'open(1)')}except IOError:\n{indented(INIT)}",
    f"{LISTED}{RESTORE}sess.run(listed)\nprint(sess.run(v))\n",
    f"class Net(object):\n    def warm(self):\n{indented(indented(UP))}Net().warm()\n{INIT}",
]
#: The same, where nothing does.
EARLY = [
    f"{INIT}{RESTORE}{UP}",
    f"{RESTORE}{UP}",
    f"{CKPT}if ckpt:\n{indented(RESTORE)}else:\n{indented(INIT)}{UP}",
    f"{CKPT}if ckpt:\n{indented(RESTORE)}if not ckpt:\n{indented(INIT)}{UP}",
    f"{CKPT}if ckpt is not None:\n{indented(RESTORE)}print(1)\nif ckpt is None:\n{indented(INIT)}{UP}",
    f"def begin():\n    if len([1]) > 2:\n{indented(indented(RESTORE))}        return\n{indented(INIT)}begin()\n{UP}",
    f"try:\n{indented(RESTORE + 'print(1)')}except IOError:\n{indented(INIT)}{UP}",
    f"def warm():\n{indented(UP)}{INIT}warm()\n",
    f"sess.run(x * 2.0, {{x: 1.0}})\n{INIT}{UP}",
    f"{LISTED}own.restore(sess, './m')\nsess.run(listed)\n{UP}",
    f"sess.run(w.assign(3.0))\n{INIT}{RESTORE}{UP}",
]


@pytest.mark.parametrize("lines", LATE)
def test_variables_that_have_values_before_they_are_initialised_stay(lines: str):
    (remark,) = remarks(f"import os\n{HEAD}{SESSION}{lines}{UP}", "native")
    assert "Variables are given their initial values after " in remark


@pytest.mark.parametrize("lines", EARLY)
def test_variables_that_are_initialised_first_are_ported(lines: str):
    assert "LegacyGraph" not in after(f"{HEAD}{SESSION}{lines}", "native")
