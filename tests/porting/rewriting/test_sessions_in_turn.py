"""The step ``functions``: a program whose sessions have variables of their own at one time stays."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

HEAD = """import tensorflow as tf
w = tf.Variable(1.0)
up = w.assign_add(1.0)
init = tf.global_variables_initializer()
"""
MAKE = "def make():\n    s = tf.Session()\n    s.run(init)\n    return s\n"
TEST = "def test():\n    with tf.Session() as s:\n        s.run(init)\n        print(s.run(w))\n"
SAVE = "def save():\n    s = tf.Session()\n    s.run(init)\n    tf.train.Saver().save(s, 'a')\n    s.run(up)\n"
CLASS = """class Agent(object):
    def __init__(self):
        self.sess = tf.Session()
        self.sess.run(init)
    def step(self):
        return self.sess.run(up)
"""
WITH_TEST = CLASS.replace("    def step", "        test()\n    def step")
MAIN = "sess = tf.Session()\nsess.run(init)\n"
TWO = "with tf.Session() as a:\n    a.run(init)\n    with tf.Session() as b:\n        b.run(init)\n"
IN_TURN = [
    f"{TWO}    print(a.run(w))\n",
    f"{TWO}        print(a.run(w))\n",
    f"{TWO}    print(w.eval())\n",
    "sess = tf.InteractiveSession()\ninit.run()\nwith tf.Session() as b:\n    b.run(init)\nprint(w.eval())\n",
    f"{MAKE}a = make()\nb = make()\nprint(a.run(up), b.run(up))\n",
    f"{MAKE}sessions = [make() for _ in range(2)]\n",
    f"{CLASS}a = Agent()\nb = Agent()\nprint(a.step())\n",
    f"{CLASS}agents = []\nfor _ in range(2):\n    agents.append(Agent())\n",
    f"{CLASS}agents = []\nfor _ in range(2):\n    agent = Agent()\n    agents.append(agent)\n",
    "kept = []\nfor _ in range(2):\n    s = tf.Session()\n    s.run(init)\n    kept.append(s)\n",
    f"{TEST}{MAIN}test()\nprint(sess.run(w))\n",
    f"{TEST}{CLASS}a = Agent()\ntest()\nprint(a.sess.run(w))\n",
    f"{CLASS}a = Agent()\nb = Agent()\nprint(a.sess.run(w))\n",
    f"{TEST}{WITH_TEST}a = Agent()\nprint(a.sess.run(w))\n",
    f"{CLASS}a = Agent()\nkeep = a\na = Agent()\nprint(a.sess.run(w), keep.sess.run(w))\n",
    f"{TEST}def both():\n    test()\n{MAIN}both()\nprint(sess.run(w))\n",
    f"{TEST}{MAIN}for _ in range(2):\n    sess.run(up)\n    test()\n",
    f"{TEST}with tf.Session() as sess:\n    sess.run(init)\n    test()\n    print(up.eval())\n",
]
ONE_AFTER_THE_OTHER = [
    "with tf.Session() as a:\n    a.run(init)\nwith tf.Session() as b:\n    b.run(init)\n    print(w.eval())\n",
    f"{TEST}test()\ntest()\nfor _ in range(2):\n    test()\nprint([test() for _ in range(2)])\n",
    f"{TEST}{MAIN}sess.close()\ntest()\n",
    f"{TEST}test()\n{MAIN}print(sess.run(w))\n",
    f"{TEST.replace('test', 'run')}run()\nrun()\n",
    f"{SAVE}save()\nsave()\n",
    f"{MAKE}a = make()\nprint(a.run(up))\nb = make()\nprint(b.run(up))\n",
    f"{CLASS}a = Agent()\nprint(a.step())\na = Agent()\nprint(a.step())\n",
    f"{CLASS}for _ in range(2):\n    a = Agent()\n    print(a.step())\n",
    "for _ in range(2):\n    s = tf.Session()\n    s.run(init)\n    print(s.run(up))\n",
    f"{CLASS}def main():\n    a = Agent()\n    print(a.step())\n    print(a.sess.run(w))\nmain()\n",
]
REMARK = "A session is asked again after another one has begun"


@pytest.mark.parametrize("text", IN_TURN)
def test_sessions_that_are_asked_in_turn_keep_the_program(text: str):
    (remark,) = remarks(HEAD + text, "functions")
    assert REMARK in remark


@pytest.mark.parametrize("text", ONE_AFTER_THE_OTHER)
def test_sessions_one_after_the_other_do_not(text: str):
    assert "LegacyGraph" in after(HEAD + text, "functions")


def test_objects_with_a_graph_of_their_own_do_not():
    text = CLASS.replace("tf.Session()", "tf.Session(graph=self.graph)")
    text = text.replace("        self.sess = ", "        self.graph = tf.Graph()\n        self.sess = ", 1)
    assert REMARK not in "".join(
        remarks(f"import tensorflow as tf\n{text}a = Agent()\nb = Agent()\na.step()\n", "functions")
    )
