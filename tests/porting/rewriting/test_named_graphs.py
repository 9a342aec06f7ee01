"""The step ``functions``: graphs that a class keeps as an attribute, or that functions enter, have one LegacyGraph."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

HEAD = "import tensorflow as tf\n"
CLASS = f"""{HEAD}class Model(object):
    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None])
            self.y = self.x * 2.0
            self.init = tf.global_variables_initializer()
        self.sess = tf.Session(graph=self.graph)
        self.sess.run(self.init)
    def predict(self, x):
        return self.sess.run(self.y, {{self.x: x}})
print(Model().predict([1., 2.]))
"""


def functions(text: str) -> str:
    found = after(text, "functions")
    assert "as_default" not in found and "Session" not in found
    return found


def test_the_graph_of_a_class_is_one():
    found = functions(CLASS)
    assert found.count("LegacyGraph()") == 1 and "legacy" not in found
    assert "self.graph = porting.LegacyGraph()\n        with self.graph:\n            self.x = " in found
    assert "        self.sess = self.graph\n        self.sess.run(self.init)\n" in found


def test_the_graph_of_a_class_that_builds_in_a_method():
    text = f"""{HEAD}class Model(object):
    def __init__(self):
        self.graph = tf.Graph()
        self.build()
        with self.graph.as_default():
            self.sess = tf.Session()
            self.sess.run(tf.global_variables_initializer())
    def build(self):
        with self.graph.as_default():
            self.y = tf.Variable(2.0) * 2.0
    def ask(self):
        return self.sess.run(self.y)
print(Model().ask())
"""
    found = functions(text)
    assert found.count("LegacyGraph()") == 1
    assert "    def build(self):\n        with self.graph:\n            self.y = " in found
    assert "        self.sess = self.graph\n" in found


def test_a_session_that_another_method_makes_begins_anew():
    text = CLASS.replace("        self.sess = tf", "    def start(self):\n        self.sess = tf")
    found = functions(text.replace("print(Model()", "model = Model()\nmodel.start()\nprint(model"))
    assert "        self.graph.reset()\n        self.sess = self.graph\n" in found


def test_what_takes_a_graph_gets_that_of_tensorflow():
    found = functions(
        CLASS.replace("        self.sess.run(self.init)\n", "        print(self.graph.get_operations())\n")
    )
    assert "print(self.graph.graph.get_operations())" in found


def test_a_graph_that_a_function_enters_which_only_builds():
    build = "g = tf.Graph()\ndef build():\n    with g.as_default():\n        return tf.constant(1.0)\ny = build()\n"
    found = functions(f"{HEAD}{build}with tf.Session(graph=g) as sess:\n    print(sess.run(y))\n")
    assert "def build():\n    with g:\n" in found


ANOTHER = "        self.other = tf.Session(graph=self.graph)\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("is used in a way that is not known", f"{CLASS}model = Model()\nwith model.graph.as_default():\n    pass\n"),
        ("is used in a way that is not known", CLASS.replace("self.sess.run(self.init)", "self.graph = None")),
        ("A class makes several sessions of its graph", CLASS.replace("    def predict", f"{ANOTHER}    def predict")),
        ("A graph has no name of its own", CLASS.replace("self.graph = tf.Graph()", "self.graph = make()")),
        ("A graph has no name of its own", CLASS.replace("self.graph", "self.parts['graph']")),
    ],
)
def test_a_graph_that_may_be_another_one_stays(words: str, text: str):
    (remark,) = remarks(text, "functions")
    assert words in remark
