"""The step ``native``: variables have the names of TensorFlow 1, by which its checkpoints are read."""

from __future__ import annotations

import pytest
from porting_support import after, remarks

HEAD = """import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
"""
RUN = """with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(h, {x: [[1, 2]]}))
"""
_DENSE = "h = tf.layers.dense(x, 4, name='d')"
_VARIABLE = "v = tf.Variable(1.0, name='v')\n    h = x * v"


@pytest.mark.parametrize("build", [_DENSE, "h = x * tf.get_variable('w', [2])", "h = net(x)"])
@pytest.mark.parametrize("scope", ["name_scope", "variable_scope"])
def test_a_name_scope_is_in_no_names_of_layers(build: str, scope: str):
    """Else a checkpoint of TensorFlow 1, which is read by the names of variables, would not be read."""
    scope = f"with tf.{scope}('inner'):\n    "
    net = f"def net(x):\n    {_DENSE}\n    return h\n"
    found = after(f"{HEAD}{net}{scope}{build}\n{RUN}", "native")
    assert "LegacyGraph" not in found
    assert ("name_scope('inner')" in found) is ("variable_scope" in scope)
    kept = after(f"{HEAD}{net}{scope}{_VARIABLE}\n{RUN}", "native")
    assert "name_scope('inner')" in kept
    both = after(f"{HEAD}{net}{scope}{_VARIABLE}\n    h += net(x)\n{RUN}", "native")
    assert ("LegacyGraph" in both) is ("variable_scope" not in scope)


LOOP = """def net(h):
    with tf.variable_scope('net'):
        for i in range(3):
            with tf.name_scope('l%d' % i):
                h = tf.layers.dense(h, 2)
    return h
h = net(x)
"""
CLASS = """import tensorflow as tf
class Net(object):
    def __init__(self, name):
        self.x = tf.placeholder(tf.float32, [None, 2])
        with tf.variable_scope(name):
            with tf.name_scope('a'):
                h = tf.layers.dense(self.x, 2)
            with tf.name_scope('b'):
                self.h = tf.layers.dense(h, 2)
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())
    def ask(self, value):
        return self.sess.run(self.h, {self.x: value})
net = Net('one')
print(net.ask([[1, 2]]))
"""


def test_layers_in_name_scopes_are_counted_over_all_of_them():
    """As TensorFlow 1 does: each layer would have the name of the first one, and be read from a file as that."""
    found = after(f"{HEAD}{LOOP}{RUN}", "native")
    assert ".Dense(2))" in found and 'name="dense"' not in found
    found = after(CLASS, "native")
    assert 'dense = tf.keras.layers.Dense(2, name="dense")' in found
    assert 'dense_2 = tf.keras.layers.Dense(2, name="dense_1")' in found


RESTORE = RUN.replace("with", "saver = tf.train.Saver()\nwith").replace(
    "print", "saver.restore(sess, './model')\n    print"
)


@pytest.mark.parametrize(("layer", "is_native"), [("h, 2)", False), ("h, 2, name='d%d' % i)", True)])
def test_layers_of_a_loop_that_are_restored_have_names(layer: str, is_native: bool):
    """Keras would count them over all scopes, and a file of TensorFlow 1 has other names."""
    loop = LOOP.replace("h, 2)", layer)
    assert loop != LOOP or not is_native
    found = after(f"{HEAD}{loop}{RESTORE}", "native")
    assert ("LegacyGraph" not in found) is is_native
    assert is_native or "A loop makes layers without a name in a scope" in str(
        remarks(f"{HEAD}{loop}{RESTORE}", "native")
    )
