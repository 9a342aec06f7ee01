"""The step native: programs compute what they did (native_checks.py), and what stays at the step before, and why."""

from __future__ import annotations

import ast
import errno
import json
import os
import textwrap
from pathlib import Path

import pytest
from native_programs import PROGRAMS
from native_state_programs import STATE_PROGRAMS
from native_value_programs import VALUE_PROGRAMS
from pages import NOTES, blocks
from porting_support import after, ported, remarks
from support import ROOT

from tf1sessions.porting.rewriting import printed, unported
from tf1sessions.porting.rewriting.native.kinds import Kind, Kinds
from tf1sessions.porting.rewriting.native.small_steps import SMALL_STEPS
from tf1sessions.porting.rewriting.native.tidying import tidied, without_unused_imports
from tf1sessions.porting.rewriting.native.unordered import COMMENT, UNORDERED
from tf1sessions.porting.rewriting.rewrite import port
from tf1sessions.source import files
from tf1sessions.source.files import SourceText
from tf1sessions.source.uses import FileUses, read_file

PROGRAM = "native_checks.py"
DEADLINE = 280


@pytest.mark.timeout(300)
def test_native(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]


def program(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def test_what_a_program_becomes():
    text = program(
        """
        import tensorflow as tf

        # What is fed
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.placeholder(tf.float32, [None, 1])


        def model(x, units):
            \"\"\"Two layers.\"\"\"
            with tf.variable_scope('model'):
                h = tf.layers.dense(x, units, activation=tf.nn.relu)
                return tf.layers.dense(h, 1)


        loss = tf.reduce_mean(tf.square(model(x, 4) - y))  # the mean
        optimizer = tf.train.AdamOptimizer(0.1).minimize(loss)

        with tf.Session() as sess:
            # Begin.
            sess.run(tf.global_variables_initializer())
            for i in range(3):
                _, value = sess.run([optimizer, loss], {x: [[1, 2]], y: [[3]]})
                print(value)
        """
    )
    assert after(text, "native") == program(
        """
        import os

        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # Keras 2, which TensorFlow 1 had
        import tensorflow as tf

        # What is fed
        x = tf.TensorSpec([None, 2], tf.float32, name="x")
        y = tf.TensorSpec([None, 1], tf.float32, name="y")


        class Model(tf.Module):
            \"\"\"Two layers.\"\"\"

            def __init__(self, units):
                super().__init__()
                self.dense = tf.keras.layers.Dense(units, activation=tf.nn.relu, name="dense")
                self.dense_2 = tf.keras.layers.Dense(1, name="dense_1")

            def __call__(self, x):
                with tf.name_scope('model'):
                    h = self.dense(x)
                    return self.dense_2(h)


        model = Model(units=4)
        optimizer = tf.keras.optimizers.legacy.Adam(0.1, epsilon=1e-8)


        @tf.function(input_signature=[x, y])
        def run_optimizer_and_loss(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x) - y))  # the mean
            variables = tape.watched_variables()
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss


        for i in range(3):
            value = run_optimizer_and_loss([[1, 2]], [[3]]).numpy()
            print(value)
        """
    )


ALL_PROGRAMS = PROGRAMS | STATE_PROGRAMS | VALUE_PROGRAMS


@pytest.mark.parametrize("text", ALL_PROGRAMS.values(), ids=ALL_PROGRAMS)
def test_a_program_has_nothing_more_to_do(text: str):
    found = after(text, "native")
    assert "tf1sessions" not in found and ".Session" not in found


GRAPH = """
x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable([[1.0], [2.0]])
y = tf.matmul(x, w)
"""
RUN = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(y, {x: [[1, 2]]}))
"""


def _class(statement: str, after_: str = "") -> str:
    """A class that builds, with a statement in a method, or after the class."""
    method, below = (statement, "") if "net." not in statement else ("0", f"print({statement})")
    return (
        "class Net:\n    def __init__(self, sess):\n        self.sess = sess\n        self.scale = 2.0\n"
        "        self.x = tf.placeholder(tf.float32)\n        self.y = self.x * tf.Variable(self.scale) * self.scale\n"
        "    def method(self, x):\n        print(self.sess.run(self.y, {self.x: x}))\n"
        f"        {method}\n{after_}\nnet = Net(sess=None)\n{below}\n"
    )


TWO_METHODS = """
    def a(self):
        y = tf.zeros([])
    def b(self):
        self.c = y + tf.ones([])
    def method"""
#: What a program has besides -> why it keeps its LegacyGraph.
REFUSED = {
    "z = y / 255.0\nwith tf.Session() as sess:\n    print(sess.run(tf.square(z), {z: [[1.0]]}))\n": (
        "A request feeds 'z', which is no placeholder"
    ),
    "def dense(x):\n    return tf.matmul(x, tf.get_variable('v', [int(x.shape[1]), 1]))\nz = dense(y)\n" + RUN: (
        "What makes a variable or a layer depends on a tensor"
    ),
    "def score(sess, y):\n    return sess.run(y, {x: [[1, 2]]})\n" + RUN + "    print(score(sess, y))\n": (
        "A request is put together while the program runs"
    ),
    RUN + "    for each in [sess]:\n        print(each)\n": ("The LegacyGraph is used in a way that is not known"),
    "def scaled(x):\n    w = tf.get_variable('v', [2])\n    x *= w\n    w = tf.get_variable('w', w.shape)\n"
    "    return x * w\nz = scaled(y)\n" + RUN: ("'w' is bound to several variables, and something is made of one"),
    "def show(y):\n    tf.get_variable('v', [1])\n    return y\nprint(show(y))\n" + RUN: (
        "A function of the program is called to print what it gives"
    ),
    "def factor():\n    return k\nk = 2.0\nz = y * factor()\nk = 3.0\n" + RUN.replace("y,", "z,"): (
        "'k' gets another value after the graph was built with it"
    ),
    "def show(y):\n    tf.summary.scalar('y', tf.reduce_sum(y))\n    return y * 2.0\nz = show(show(y))\n"
    + RUN.replace("y,", "z,"): ("show(), a function of the program, makes summaries"),
    "parts = []\ndef layer(t):\n    parts.append(t)\n    return t * 2.0\nz = layer(y)\n" + RUN.replace("y,", "z,"): (
        "layer() changes 'parts' while the graph is built"
    ),
    "import numpy as np\ndef noisy(t):\n    return t + np.random.rand()\nz = noisy(y)\n" + RUN.replace("y,", "z,"): (
        "Random numbers of Python or NumPy are drawn while the graph is built"
    ),
    "import numpy as np\nk = np.ones(1)\nz = y * k\nk[:] = 5.0\n" + RUN.replace("y,", "z,"): (
        "'k' is changed after the graph was built with it"
    ),
    "def yes():\n    return x * 2.0\nz = tf.cond(y[0, 0] > 0, yes, yes)\n" + RUN.replace("y,", "z,"): (
        "yes() reads 'x', which requests compute, and is not given it"
    ),
    RUN + "    sess.run(tf.variables_initializer([w]))\n    print(sess.run(w))\n": (
        "Variables are initialised more than once"
    ),
    "v = tf.get_variable('v', [2], initializer=tf.contrib.layers.xavier_initializer(uniform=False))\n" + RUN: (
        "xavier_initializer has the argument uniform"
    ),
    RUN + "print(tf.Session().run(y, dict(f)))\n": "A request is put together while the program runs",
    "q = tf.FIFOQueue(9, tf.float32)\nr = tf.train.QueueRunner(q, [q.enqueue(1.0)])\n" + RUN: "It has queue runners",
    "z = tf.sparse_placeholder(tf.float32)\n" + RUN: "It has a sparse placeholder",
    "server = tf.train.Server.create_local_server()\n" + RUN: "It has a server of a cluster",
    "tf.add_to_collection('losses', y)\n" + RUN: "It has a collection of the graph",
    "print(tf.get_default_graph())\n" + RUN: "It has the default graph",
    "w = tf.Variable(1.0)\nz = tf.tuple([y], control_inputs=[w.assign(2.0)])[0]\n"
    + RUN.replace("(y,", "(z,"): "It has tf.tuple() with control inputs",
    "averages = tf.train.ExponentialMovingAverage(0.9)\nupdate = averages.apply([y])\n"
    + RUN.replace("(y,", "(update,"): ("A moving average of what is not a list of variables"),
    "averages = tf.train.ExponentialMovingAverage(0.9)\nupdate = averages.apply()\n" + RUN.replace("(y,", "(update,"): (
        "A moving average of what is not a list of variables"
    ),
    "averages = tf.train.ExponentialMovingAverage(0.9)\nprint(averages.name)\n" + RUN: (
        "A moving average of variables is used in a way that is not known"
    ),
    "averages = tf.train.ExponentialMovingAverage(0.9)\nupdate = averages.apply([w])\n"
    "saver = tf.train.Saver(averages.variables_to_restore())\n"
    + RUN: "Averages of variables are restored from a file that may be of TensorFlow 1",
    "optimizer = tf.train.MomentumOptimizer(0.1, 0.9)\ntrain = optimizer.minimize(y)\n"
    + RUN
    + "    sess.run(train, {x: [[1, 2]]})\n    print(sess.run(optimizer.get_slot(w, 'momentum')))\n": (
        "get_slot of an optimizer is used"
    ),
    "z = tf.layers.batch_normalization(y, training=True)\n"
    "update = tf.group(*tf.get_collection(tf.GraphKeys.UPDATE_OPS))\n"
    + RUN
    + "    sess.run(update, {x: [[1, 2]]})\n": (
        "A request runs the updates of batch normalisation in layers that it does not need"
    ),
    RUN.replace("y,", "[[w.op, y]],"): "A request fetches operations in lists of lists",
    RUN.replace("y,", "*[y],"): "A request is put together while the program runs",
    "def ask(sess, y):\n    result = sess.run(y)\n    return result\nwith tf.Session() as sess:\n"
    "    with tf.device('/cpu:0'):\n        for _ in range(2):\n            sess.run(w)\n"
    "            print(ask(sess, y))\n": "A request runs in a block that builds the graph",
    RUN + "    print(sess.run([y, w.initializer], {x: [[1, 2]]}))\n": (
        "A request runs an initializer, and fetches something else"
    ),
    "slope = tf.gradients(y, w)[0]\ncurve = tf.gradients(tf.square(slope), w)\n"
    + RUN.replace("y,", "curve,"): "Gradients are taken of what is computed of gradients of variables",
    "saver = tf.train.Saver()\n" + RUN + "    saver.save(sess, 'm')\n    print(saver.last_checkpoints)\n": (
        "A saver is handed about"
    ),
    "rows = tf.data.Dataset.from_tensor_slices(x).make_initializable_iterator()\n"
    "z = tf.layers.dense([rows.get_next()], 1)\nsaver = tf.train.Saver()\n"
    + RUN
    + "    saver.save(sess, 'm')\n    sess.run(rows.initializer, {x: [[1, 2]]})\n    print(sess.run(z))\n": (
        "A checkpoint is written before layers or optimizers have their variables"
    ),
    "averages = tf.train.ExponentialMovingAverage(0.9)\nupdate = averages.apply([w])\n"
    + RUN
    + "    tf.train.Saver(averages.variables_to_restore()).restore(sess, 'old')\n": (
        "Averages of variables are restored from a file that may be of TensorFlow 1"
    ),
    "def fed():\n    return tf.placeholder(tf.float32)\na = fed()\nb = fed()\n"
    + RUN.replace(
        "y,", "a + b,"
    ): "fed() makes a placeholder, an iterator or a training step, and is no function that is",
    "def fed():\n    if w is None:\n        return 1.0\n    return tf.placeholder(tf.float32)\na = fed()\n"
    + RUN.replace(
        "y,", "a + y,"
    ): "fed() makes a placeholder, an iterator or a training step, and is no function that is",
    "def step(loss):\n    return tf.train.AdamOptimizer().minimize(loss)\na, b = step(y), step(y)\n"
    + RUN.replace("y,", "a,"): "step() makes a placeholder, an iterator or a training step, and is no function that is",
    "def step(y):\n    f = lambda loss: loss * 2.0\n    loss = f(y)\n"
    "    return tf.train.AdamOptimizer().minimize(loss)\n"
    "loss = w\nz = step(y)\n" + RUN.replace("y,", "z,"): "step() makes a placeholder, an iterator or a training step",
    "rows = tf.data.Dataset.range(3).make_initializable_iterator()\nz = rows.get_next()\n"
    + RUN
    + "    def begin():\n        sess.run(rows.initializer)\n    begin()\n    print(sess.run(z))\n": (
        "'rows' is begun anew in a function, and used in another one"
    ),
    "rows = tf.data.Dataset.range(3).make_initializable_iterator()\nprint(rows)\nz = rows.get_next()\n"
    + RUN
    + "    for _ in range(2):\n        sess.run(rows.initializer)\n        print(sess.run(z))\n": (
        "An iterator that is made anew is handed about"
    ),
    "rows = tf.data.Dataset.from_tensor_slices(x).make_initializable_iterator()\nz = rows.get_next() * y\n"
    + RUN
    + "    sess.run(rows.initializer, {x: [[1, 2]]})\n    print(sess.run(z, {x: [[1, 2]]}))\n": (
        "A request feeds a tensor, and takes elements of an iterator"
    ),
    "rows = tf.data.Dataset.from_tensor_slices(x).make_initializable_iterator()\nz = rows.get_next()\n"
    + RUN
    + "    for _ in range(2):\n        sess.run(rows.initializer)\n        print(sess.run(z))\n": (
        "A request needs 'x', which it does not feed"
    ),
    "rows = tf.data.Dataset.range(3)\nit = rows.make_initializable_iterator()\nz = it.get_next()\n"
    + RUN
    + "    rows = 3\n    for _ in range(2):\n        sess.run(it.initializer)\n        print(sess.run(z))\n": (
        "'rows' is bound anew, and an iterator of it is begun anew"
    ),
    "handle = tf.placeholder(tf.string, [])\nrows = tf.data.Iterator.from_string_handle(handle, tf.int64)\n" + RUN: (
        "It has an iterator that is chosen by what is fed"
    ),
    "v = tf.get_default_graph().get_tensor_by_name('x:0')\n" + RUN: "It has the default graph",
    "z = tf.feature_column.linear_model({'x': x}, [tf.feature_column.numeric_column('x')])\n"
    + RUN.replace("y,", "z,"): ("tf.feature_column.linear_model has no form in TensorFlow 2 that is known here"),
    "q = tf.FIFOQueue(9, tf.float32)\nr = tf.train.QueueRunner(q, [q.enqueue(1.0), q.enqueue(2.0)])\n"
    + RUN
    + "    c = tf.train.Coordinator()\n    t = r.create_threads(sess, coord=c, start=True)\n": "It has queue runners",
    "q = tf.FIFOQueue(9, tf.float32)\nr = tf.train.QueueRunner(q, [q.enqueue(1.0)] * 2)\n"
    + RUN
    + "    t = r.create_threads(sess, start=True)\n": "It has queue runners",
    "def net(y):\n    return tf.layers.dense(y, 1)\ny = net(y)\n" + RUN + "    print(net.__name__)\n": (
        "net() makes variables, and is used in a way that is not known"
    ),
    "data = tf.data.Dataset.from_tensor_slices((x, x))\n" + RUN: "'x', which is fed, decides on what is made once",
    "for i in range(2):\n    y = tf.layers.dense(y, 2)\n" + RUN: "A loop or a condition makes a variable or a layer",
    "ys = [tf.layers.dense(y, 1) for _ in range(2)]\ny = ys[1]\n" + RUN: "A loop inside of an expression makes",
    RUN + "    sess.run(tf.global_variables_initializer())\n    print(sess.run(y, {x: [[1, 2]]}))\n": (
        "Variables are initialised more than once"
    ),
    RUN
    + "    for i in range(2):\n        print(sess.run(y + i, {x: [[1, 2]]}))\n": "put together while the program runs",
    RUN + "    for i in range(2):\n        z = y + i\n        print(sess.run(z, {x: [[1, 2]]}))\n": (
        "inside of a loop, a condition or a function"
    ),
    "value, update = tf.metrics.mean(y)\n" + RUN.replace("(y,", "([value, update],"): (
        "A request updates a metric and reads its value besides, in no order"
    ),
    "for _ in range(2):\n    loss = tf.losses.mean_squared_error(y, y + 1.0)\nz = tf.losses.get_total_loss()\n"
    + RUN.replace("y,", "z,"): "It has the losses that the graph keeps",
    "loss = tf.losses.mean_squared_error(y, y + 1.0)\nz = tf.losses.get_total_loss('scope')\n"
    + RUN.replace("y,", "z,"): "It has the losses that the graph keeps",
    "def loss(y):\n    return tf.losses.mean_squared_error(y, y + 1.0)\na = loss(y) + loss(y)\n"
    "z = tf.losses.get_total_loss()\n" + RUN.replace("y,", "z,"): "It has the losses that the graph keeps",
    "def rows():\n    it = tf.data.Dataset.range(3).make_one_shot_iterator()\n    return it.get_next(), it.get_next()\n"
    "z = rows()[0]\n"
    + RUN.replace("y,", "z,"): "rows() makes a placeholder, an iterator or a training step, and is no",
    "both = tf.metrics.mean(y)\n" + RUN: "The value and the update of a metric are used apart",
    "update = tf.metrics.recall(y > 1, y > 0)[1]\n" + RUN: "It has a metric, whose variables are local",
    "scale = 2.0\ny = y * scale\n" + RUN + "    for scale in range(3):\n        pass\n": "'scale' gets another value",
    "scale = 2.0\ny = y * scale\n" + RUN + "    scale = 3.0\n    def f():\n        return scale\n": (
        "'scale' gets another value"
    ),
    "z = y * 2\ndef loss():\n    return z + 1\ny = loss()\n" + RUN: "loss() reads 'z', which requests compute",
    "y = tf.layers.Dense(2, trainable=False)(y)\n" + RUN: "tf.layers.Dense has the argument trainable",
    "y = tf.layers.SeparableConv2D(2, 1)(y)\n" + RUN: "tf.layers.SeparableConv2D has no form in TensorFlow 2",
    "y = tf.layers.BatchNormalization()(y, training=True)\n"
    + RUN: "A layer of batch normalisation is an object, whose",
    "y = tf.keras.layers.BatchNormalization()(y, training=True)\n"
    + RUN: "A layer of batch normalisation is an object, whose",
    "h = tf.hessians(y, y)[0]\n" + RUN: "tf.hessians has no form in TensorFlow 2",
    "count = tf.Variable(0)\nz = count.count_up_to(2)\n" + RUN.replace("y,", "z,"): "count_up_to has no form",
    "x.set_shape([3, 2])\n" + RUN: "A placeholder is given its shape after it was made",
    "tf.set_random_seed(1)\nz = tf.random_uniform([])\nwith tf.Session() as sess:\n    print(sess.run(z))\n"
    + "with tf.Session() as sess:\n    print(sess.run(z))\n": "A second session draws the random numbers",
    "saver = tf.train.Saver()\n" + RUN + "    saver.save(sess, 'm', write_state=False)\n": (
        "A saver has the argument write_state"
    ),
    "saver = tf.train.Saver()\n" + RUN + "    saver.save(sess, 'm')\nprint(tf.train.list_variables('m'))\n": (
        "The variables of a checkpoint are asked for by their names"
    ),
    "saver = tf.train.Saver()\n"
    + RUN
    + "    saver.save(sess, 'm')\nprint(tf.train.get_checkpoint_state('.').all_model_checkpoint_paths)\n": (
        "All checkpoints of a folder are asked for, and some have no number"
    ),
    "saver = tf.train.Saver({'v': w})\n" + RUN + "    saver.restore(sess, 'm')\n": (
        "A saver restores variables by other names than their own"
    ),
    "names = {each.op.name: each for each in [w]}\nsaver = tf.train.Saver(names)\n"
    + RUN
    + "    saver.restore(sess, 'm')\n": ("A saver restores variables by other names than their own"),
    "train_op = tf.train.AdamOptimizer().minimize(tf.reduce_sum(y))\n"
    "listed = [v for v in tf.global_variables() if v.name]\n"
    "saver = tf.train.Saver(listed)\n" + RUN.replace("y,", "train_op,") + "    saver.restore(sess, 'm')\n": (
        "A saver restores some of all variables, the state of optimizers among them"
    ),
    "norm = tf.keras.Sequential([tf.keras.layers.BatchNormalization()])\ny = norm(y, training=True)\n"
    + RUN: "A layer of batch normalisation is an object, whose",
    "class Model:\n    def __init__(self, y):\n        self.y = tf.square(y)\nmodel = Model(y)\ny = model.y\n" + RUN: (
        "The class Model builds a part of the graph"
    ),
    _class("net.y") + RUN: "'y', a part of the graph of Net, is used outside of that class",
    _class("net.sess") + RUN: "'sess', a part of the graph of Net, is used outside of that class",
    _class("getattr(self, 'y')") + RUN: "Net is asked for an attribute whose name is computed",
    _class("self.sess.run(self.y + 1, {self.x: 1.0})") + RUN: "A request is put together while the program runs",
    _class("self.sess.close()") + RUN: "A session of a class is used in a way that is not known",
    _class("self.scale = 3.0") + RUN: "'scale' is set anew after the graph was built with it",
    _class("setattr(self, 'y', self.y)") + RUN: "'y', a part of the graph, is used outside of a request",
    _class("0", "saver = tf.train.Saver()") + RUN: "A saver saves the variables of objects of Net",
    _class("self.sess.run(self.begin)").replace(
        "self.scale", "self.begin = tf.global_variables_initializer()\n        self.scale", 1
    )
    + RUN: "Variables are initialised in a method, which may be called again",
    _class("0").replace("self.scale = 2.0", "self.scale = 2.0; self.rate = 3.0")
    + RUN: "Two statements are on one line",
    _class("0").replace("self.scale = 2.0", "self.scale = 2.0\n        self.v = tf.trainable_variables('w')") + RUN: (
        "Variables are listed that may be of another object"
    ),
    _class("0") + RUN + "    sess.run(tf.global_variables_initializer())\n": "Variables are initialised more than once",
    _class("tf.square(x)") + RUN: "A method of Net builds a part of the graph where it is called",
    _class("self.writer.add_summary(x)") + RUN: "A method of Net writes summaries",
    _class("self.sess.run(self.y, {self.x: self.sess.run(self.y, {self.x: x})})") + RUN: "A request of a class is in",
    _class("0").replace("self.scale = 2.0", "self.method(2.0)") + RUN: "__init__() uses method(), which makes requests",
    _class("0").replace("self.scale = 2.0", "\n        if sess == 3: return")
    + RUN: "__init__() may end before it has built",
    _class("0").replace("class Net:", "class Net(dict):")
    + RUN: "Net, which builds a part of the graph, is made of another",
    _class("0").replace("    def method", "    __slots__ = ('sess', 'scale', 'x', 'y')\n    def method")
    + RUN: "Net, which builds a part of the graph, has attributes of a special kind",
    _class("0", "class Net:\n    pass")
    + RUN: "Net, which builds a part of the graph, or a method of it is defined twice",
    _class("0", "print(tf.trainable_variables())\nNet(None)") + RUN: (
        "tf.trainable_variables means the graph of several objects"
    ),
    _class("0", "def layer(y):\n    return tf.layers.dense(y, 1, name='d', reuse=tf.AUTO_REUSE)\nNet(None)") + RUN: (
        "tf.AUTO_REUSE means the graph of several objects"
    ),
    _class("0").replace("self.scale = 2.0", "self.a()\n        self.b()").replace("    def method", TWO_METHODS)
    + RUN: "a() has the name 'y', as b() has",
    _class("0", "class Other(Net):\n    pass") + RUN: "Net, which builds a part of the graph, has a class that",
    _class("0", "print(Net)") + RUN: "The class Net is handed about",
    "hs = [tf.Variable(1.0)]\nhs.append(y)\ny = hs[1]\n" + RUN: "'hs' is made once, and requests change it",
}


_NORMALISED = """
t = tf.placeholder(tf.bool, [])
y = tf.layers.batch_normalization(y, training=t)
loss = tf.reduce_mean(y)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train, {x: [[1, 2]], t: True})
    print(sess.run(y, {x: [[1, 2]], t: VALUE}))
"""


@pytest.mark.parametrize(("value", "may_train"), [("False", False), ("True", True), ("len([1]) == 1", True)])
def test_batch_normalisation_in_training_without_its_updates(value: str, may_train: bool):
    found = after("import tensorflow as tf\n" + GRAPH + _NORMALISED.replace("VALUE", value), "native")
    assert ("    # TensorFlow 1 did not update the averages of batch normalisation here.\n" in found) == may_train
    assert found.count(".assign(value)") == may_train


def test_updates_of_other_layers_than_those_that_a_request_needs():
    others = "z = tf.layers.batch_normalization(x, training=t)\nt = tf.placeholder(tf.bool, [])\n"
    text = "import tensorflow as tf\n" + GRAPH + _NORMALISED.replace("VALUE", "False")
    (remark,) = remarks(text.replace("loss =", others.splitlines()[0] + "\nloss ="), "native")
    assert "A request runs the updates of batch normalisation in layers that it does not need" in remark
    (remark,) = remarks(
        text.replace("loss =", "y += " + others[4:].splitlines()[0] + "\nloss =").replace(
            "UPDATE_OPS)", "UPDATE_OPS, scope='batch')"
        ),
        "native",
    )
    assert "A request may not run all updates of the batch normalisation that it trains" in remark


@pytest.mark.parametrize(("text", "why"), REFUSED.items(), ids=REFUSED.values())
def test_what_stays_at_the_step_before(text: str, why: str):
    whole = "import tensorflow as tf\n" + GRAPH + text
    found = ported(whole, "native")
    assert "porting.LegacyGraph()" in found.after.text and not found.is_changed
    (remark,) = remarks(whole, "native")
    assert why in remark and remark.endswith("so this program keeps its LegacyGraph.")


#: Examples that stay at the step before -> why.
EXAMPLES_THAT_STAY = {
    "char_rnn.py": "The class Model builds a part of the graph",
    "monitored_session.py": "It has the losses that the graph keeps",
}


def test_which_examples_get_there():
    """That those compute the same is a check of native_checks.py."""
    sources = [files.read(path) for path in sorted((ROOT / "examples").glob("*.py"))]
    found = {file.after.path.name: file for file in port(sources, "native", inputs=True)[-1].files}
    kept = {name for name, file in found.items() if "tf1sessions" in file.after.text}
    assert kept == set(EXAMPLES_THAT_STAY) and len(found) == 10
    for name, why in EXAMPLES_THAT_STAY.items():
        assert any(why in note.what for note in found[name].notes)


def test_an_initialization_that_may_be_a_restoration():
    text = (
        "import tensorflow as tf\n"
        + GRAPH
        + program(
            """
        saver = tf.train.Saver()
        sess = tf.Session()
        writer = tf.summary.FileWriter("logs", graph=tf.get_default_graph())
        path = tf.train.latest_checkpoint(".")
        if path:
            saver.restore(sess, path)
        else:
            sess.run(tf.global_variables_initializer())
        print(sess.run(y, {x: [[1, 2]]}))
        """
        )
    )
    found = after(text, "native")
    assert 'writer = tf.summary.create_file_writer("logs")' in found
    assert "if path:\n    saver.read(path).assert_existing_objects_matched()\n" in found and "else:" not in found


LOOPS = """
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable([[1.0], [2.0]])
loss = tf.reduce_mean(tf.matmul(x, w))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
both = tf.group(train, tf.assign(w, w * 2.0))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(both, {x: [[1, 2]]})
    for epoch in range(2):
        for step in range(2):
            print(sess.run([FETCHED], {x: [[1, 2]]}))
        for step in range(2):
            print(sess.run([FETCHED], {x: [[1, 2]]}))
"""


@pytest.mark.parametrize(("fetched", "trains"), [("train, loss", True), ("loss, both", True), ("loss, w", False)])
def test_the_first_loop_that_trains_is_named(fetched: str, trains: bool):
    before = after(text := LOOPS.replace("FETCHED", fetched), "functions").splitlines()
    notes = [note for note in ported(text, "native").notes if note.what == SMALL_STEPS]
    loops = [number for number, each in enumerate(before, 1) if each.strip() == "for step in range(2):"]
    assert [note.place.line for note in notes] == (loops[:1] if trains else [])


def test_a_print_of_a_tensor_is_reported():
    text = "import tensorflow as tf\n" + GRAPH + "print(y)\nprint('built')\n" + RUN
    found = ported(text, "native").after.text
    assert "print(y)" not in found and "print('built')" in found
    (remark,) = remarks(text, "native", "good to know")
    assert remark.startswith("It printed a tensor of the graph")


def test_a_print_of_a_tensor_in_a_class_is_reported_at_its_line():
    text = (
        "import tensorflow as tf\n"
        + GRAPH
        + _class("0").replace("    def method", "        print(self.y)\n    def method")
    )
    notes = [each for each in ported(text + RUN, "native").notes if each.what.startswith("It printed a tensor")]
    before = ported(text + RUN, "functions").after.text.splitlines()
    assert [before[each.place.line - 1].strip() for each in notes] == ["print(self.y)"]


def test_what_a_reviewer_would_ask_for():
    """Operations are not given back as None; feeds have names; a choice of initializers goes as a whole."""
    train = "train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))\n"
    choice = (
        "if int(tf.__version__.split('.')[0]) < 1:\n    init = tf.initialize_all_variables()\n"
        "else:\n    init = tf.global_variables_initializer()\n"
    )
    run = (
        "with tf.Session() as sess:\n    sess.run(init)\n    feed = {x: [[1, 2]]}\n"
        "    print(sess.run([train, y], feed_dict=feed)[1])\n    print(sess.run([train, y], feed)[1])\n"
    )
    found = after("import tensorflow as tf\n" + GRAPH + train + choice + run, "native")
    assert "None" not in found.replace("[None, 2]", "") and "initialize" not in found and "if " not in found
    assert 'feed = {"x": [[1, 2]]}\nprint(run_train_and_y(**feed).numpy())\n' in found


def test_summaries_have_the_tags_of_tensorflow_1():
    text = (
        "import tensorflow as tf\n"
        + GRAPH
        + "with tf.name_scope('a'):\n    tf.summary.scalar('mean', tf.reduce_mean(y))\n"
        "    with tf.variable_scope('b'):\n        tf.summary.scalar('mean', tf.reduce_mean(w))\n"
        "for each in (0, 1):\n    pass\ntf.summary.scalar('mean', y[0, 0])\ntf.summary.scalar('mean', y[0, 0])\n"
        "merged = tf.summary.merge_all()\nwriter = tf.summary.FileWriter('logs')\nwith tf.Session() as sess:\n"
        "    sess.run(tf.global_variables_initializer())\n    values = sess.run(merged, {x: [[1, 2]]})\n"
        "    writer.add_summary(values, 3)\n"
    )
    found = after(text, "native")
    for tag in ("a/mean_1", "a/b/mean_1", "mean", "mean_1"):  # in the scopes, what is shown is called Mean
        assert f"tf.summary.scalar('{tag}', values['{tag}'], step=step)" in found


IMAGES = (
    f"import tensorflow as tf\n{GRAPH}shown = tf.summary.image('m', tf.reshape(y, [1, 1, 1, 1])GIVEN)\n"
    "writer = tf.summary.FileWriter('logs')\nwith tf.Session() as sess:\n"
    "    sess.run(tf.global_variables_initializer())\n    values = sess.run(shown, {x: [[1, 2]]})\n"
    "    writer.add_summary(values, 3)\n"
)


@pytest.mark.parametrize(("given", "expected"), [("", ""), (", 3", ""), (", max_outputs=1", ", max_outputs=1")])
def test_how_many_images_a_summary_shows(given: str, expected: str):
    found = after(IMAGES.replace("GIVEN", given), "native")
    assert f"tf.summary.image('m', values['m'], step=step{expected})" in found


def test_a_number_of_images_that_is_computed_stays():
    assert "A summary has arguments" in remarks(IMAGES.replace("GIVEN", ", max_outputs=len('ab')"), "native")[0]


def test_names_of_layers_and_attributes():
    """Layers of a helper are counted over its calls, those in a scope are not; variables keep the author's names."""
    helper = (
        "def layer(t, n):\n    # The weights\n    weights = tf.Variable(tf.ones([2, 2]))\n"
        "    return tf.layers.dense(tf.matmul(t, weights), n)\n"
    )
    text = "import tensorflow as tf\n" + helper + GRAPH + "z = layer(layer(x, 2), 2)\n" + RUN.replace("y,", "z,")
    found = after(text, "native")
    assert "self.dense = tf.keras.layers.Dense(n)\n" in found
    assert "        # The weights\n        self.weights = tf.Variable(tf.ones([2, 2]))\n" in found
    scoped = text.replace("z = layer", "with tf.variable_scope('s'):\n    z = layer")
    assert 'Dense(n, name="dense")' in after(scoped, "native")


def test_what_is_built_before_a_request_keeps_its_name():
    text = "import tensorflow as tf\n" + GRAPH + "y = y * 2.0\n" + RUN + "y = tf.square(x)\n" + RUN
    found = after(text.replace("    sess.run(tf.global_variables_initializer())\n", "", 2), "native")
    assert "    y = y * 2.0\n" in found and "    y_2 = tf.square(x)\n" in found


def test_a_function_that_is_no_part_of_a_graph_stays():
    text = (
        "import threading\nimport tensorflow as tf\nlock = threading.Lock()\njobs = []\n"
        "def more(jobs):\n    jobs.enqueue(3)\n" + GRAPH + RUN + "    with lock:\n        more(jobs)\n"
    )
    assert "def more(jobs):\n    jobs.enqueue(3)\n" in after(text, "native")


def test_an_import_that_shares_its_line():
    text = "import os; import tensorflow as tf;\n" + GRAPH + RUN
    assert after(text, "native").startswith("import os\nimport tensorflow as tf\n\nx = tf.TensorSpec(")


def test_an_import_beside_another_statement_stays():
    text = "from tensorflow.python.framework import ops; x = 1\nfrom tensorflow.python.ops import math_ops\n"
    assert without_unused_imports(text) == "from tensorflow.python.framework import ops; x = 1\n"
    assert without_unused_imports("x = (\n") == "x = (\n"


def test_dimensions_are_numbers():
    text = "import tensorflow as tf\n" + GRAPH + "y = y * x.get_shape()[1].value / int(y.shape[-1].value)\n" + RUN
    assert "    y = y * x.shape[1] / int(y.shape[-1])\n" in after(text, "native")


def test_dimensions_that_have_names_are_numbers():
    text = (
        "import numpy as np\nimport tensorflow as tf\n"
        + GRAPH
        + "shape = x.get_shape()\nshape = shape[:]\n_, width = x.shape\n"
        "y = y * shape[1].value / width.value\n"
        "def size(tensor):\n    found = 1\n    for dim in tensor.get_shape():\n        found *= dim.value\n"
        "    return found * np.prod([each.value for each in tensor.shape[1:]])\n"
        "def other(dim, shape):\n    return dim.value + shape[0].value\n" + RUN + "print(size(w))\n"
    )
    found = after(text, "native")
    assert (
        "shape[1] / width\n" in found and "found *= dim\n" in found and "[each for each in tensor.shape[1:]]" in found
    )
    assert "return dim.value + shape[0].value" in found  # these may be anything


def test_inner_imports_that_nothing_uses_go():
    inner = "from tensorflow.python.framework import ops\nfrom tensorflow.python.ops import array_ops, math_ops\n"
    text = (
        "import tensorflow as tf\n" + inner + "ops.reset_default_graph()\n" + GRAPH + "y = math_ops.square(y)\n" + RUN
    )
    found = after(text, "native")
    assert "import ops" not in found and "from tensorflow.python.ops import math_ops\n" in found


def test_what_loads_data_stays():
    text = "import tensorflow as tf\niris = tf.contrib.learn.datasets.load_dataset('iris')\n" + GRAPH + RUN
    found = after(text, "native")
    assert "from tf1sessions import contrib as tf_contrib" in found and "tf.function" in found


def test_a_notebook_keeps_its_cells(tmp_path):
    cells = [
        "%matplotlib inline\nimport tensorflow as tf\n" + GRAPH,
        "# Train.\nloss = tf.reduce_mean(y)\ntrain = tf.train.GradientDescentOptimizer(0.1).minimize(loss)",
        "sess = tf.Session()\nsess.run(tf.global_variables_initializer())",
        "sess.run(train, {x: [[1, 2]]})",
    ]
    notebook = {
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells],
        "metadata": {},
        "nbformat": 4,
    }
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook), "utf-8")
    source = files.read(tmp_path / "a.ipynb")
    assert isinstance(source, SourceText)
    (file,) = port([source], "native")[-1].files
    found = ["".join(cell["source"]) for cell in json.loads(file.after.encode())["cells"]]
    assert found[0].startswith("%matplotlib inline\n") and found[0].rstrip().endswith("w = tf.Variable([[1.0], [2.0]])")
    assert found[1].startswith("optimizer = tf.keras.optimizers.legacy.SGD(0.1)")
    assert sum(each.count("# Train.\n        loss = ") for each in found) == 1
    assert "def run_train(x):" in "".join(found) and found[3].rstrip().endswith("run_train([[1, 2]])")
    assert not any(cell.startswith("\n") for cell in found)


@pytest.mark.parametrize("folder", [".", "scripts"])
def test_several_files_stay(tmp_path, folder: str):
    root = tmp_path
    tmp_path = tmp_path / folder
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "model.py").write_text("import tensorflow as tf\n\ndef model(x):\n    return tf.square(x)\n")
    text = "import tensorflow as tf\nfrom model import model\n" + GRAPH + "y = model(x)\n" + RUN
    (tmp_path / "train.py").write_text(text)
    steps = port([files.read(path) for path in sorted(tmp_path.glob("*.py"))], "native", [root])
    notes = [note.what for file in steps[-1].files for note in file.notes if "LegacyGraph" in note.what]
    assert notes == ["The program uses TensorFlow in several files, so this program keeps its LegacyGraph."]


CLIPPED = """
x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable([[1.0], [2.0]])
count = tf.Variable(0, trainable=False)
bound = tf.Variable(0.5, trainable=False)
loss = tf.reduce_mean(tf.matmul(x, w) * bound)
BEFORE
train = tf.train.GradientDescentOptimizer(0.1).minimize(COST)
LINE
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run([FETCHED], {x: [[1, 2]]})
    print(sess.run([w, count]))
"""


@pytest.mark.parametrize(
    ("line", "fetched", "cost", "is_undecided"),
    [
        ("clip = tf.assign(w, tf.clip_by_value(w, -1.0, 1.0))", "train, clip", "loss", True),
        ("clip = [v.assign(v * 0.5) for v in [w]]", "train, clip", "loss", True),
        ("clip = tf.assign(w, tf.clip_by_value(w, -1.0, 1.0))", "loss, clip", "loss", False),
        ("with tf.control_dependencies([train]):\n    clip = w.assign(w * 0.5)", "clip", "loss", False),
        ("clip = w.assign(w * 0.5)", "train, loss", "loss", False),
        ("clip = count.assign_add(1)", "train, clip", "loss", False),
        ("", "train, clip", "loss + 0.0 * tf.reduce_sum(clip)", False),
    ],
)
def test_an_assignment_and_a_training_step_in_no_order(line: str, fetched: str, cost: str, is_undecided: bool):
    before = "" if line else "clip = tf.assign(w, w * 0.5)"
    text = CLIPPED.replace("LINE", line).replace("FETCHED", fetched).replace("COST", cost).replace("BEFORE", before)
    found = ported("import tensorflow as tf\n" + text, "native")
    assert "LegacyGraph" not in found.after.text
    assert (COMMENT in found.after.text) is is_undecided
    assert (UNORDERED in [note.what for note in found.notes if note.kind == "good to know"]) is is_undecided


@pytest.mark.parametrize(
    ("line", "beside", "is_kept"),
    [
        ("from model import model", "model.py", True),
        ("from model import model", "model/__init__.py", True),
        ("from tools.model import model", "tools/model.py", True),
        ("from tools import model", "tools/model.py", True),
        ("from elsewhere import model", "model.py", False),
        ("from model import model  # without TensorFlow", "model.py", False),
    ],
)
def test_a_module_that_is_not_ported_with_a_file(tmp_path, line: str, beside: str, is_kept: bool):
    path = tmp_path / beside
    path.parent.mkdir(exist_ok=True)
    path.write_text("" if "without" in line else "import tensorflow as tf\n\ndef model(x):\n    return x\n")
    text = f"import tensorflow as tf\n{line}\n{GRAPH}{RUN}print(model(2))\n"
    (file,) = port([SourceText(tmp_path / "train.py", "train.py", text)], "native")[-1].files
    module = beside.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    what = f"It imports {module}, which uses TensorFlow and is none of the files to port, so this program keeps its"
    found = [note.what for note in file.notes if note.kind == "by hand"]
    assert found == ([f"{what} LegacyGraph."] if is_kept else [])


@pytest.mark.parametrize(
    ("place", "is_kept"), [("huge", True), ("no permission", True), ("folder", False), ("pipe", False), ("gone", False)]
)
def test_a_module_beside_a_file_that_cannot_be_read(tmp_path, monkeypatch, place: str, is_kept: bool):
    path = tmp_path / "model.py"
    if place == "huge":
        path.write_text("")
        os.truncate(path, files.LARGEST + 1)
    elif place == "no permission":
        monkeypatch.setattr(unported, "read_whole", refuse)
        path.write_text("")
    else:
        {"folder": path.mkdir, "pipe": lambda: os.mkfifo(path), "gone": lambda: path.symlink_to("nothing")}[place]()
    text = f"import tensorflow as tf\nimport model\n{GRAPH}{RUN}"
    (file,) = port([SourceText(tmp_path / "train.py", "train.py", text)], "native")[-1].files
    found = [note.what for note in file.notes if note.kind == "by hand"]
    what = "It imports model, which is none of the files to port and cannot be read: "
    assert [note.startswith(what) for note in found] == [True] * is_kept


def refuse(path: Path, most: int) -> bytes:
    raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))


def uses(text: str) -> FileUses:
    found = read_file(SourceText(None, "p.py", text))  # type: ignore[arg-type]
    assert isinstance(found, FileUses)
    return found


@pytest.mark.parametrize(
    ("expression", "kind"),
    {
        "2 + 3": Kind.STATIC,
        "tf.Variable(1.0)": Kind.VARIABLE,
        "{'a': tf.Variable(tf.random_normal([2]))}": Kind.VARIABLES,
        "[tf.Variable(1.0)][0]": Kind.VARIABLE,
        "tf.Variable(1.0) * 2": Kind.TENSOR,
        "tf.zeros([2])": Kind.CONSTANT,
        "tf.random_normal([2]) + tf.zeros([2])": Kind.RANDOM,
        "tf.matmul(tf.zeros([2, 2]), x)": Kind.TENSOR,
        "x.get_shape()": Kind.STATIC,
        "[tf.add(x, i) for i in range(2)]": Kind.TENSOR,
        "(lambda a: a)(x)": Kind.TENSOR,
        "tf.zeros_initializer()": Kind.STATIC,
    }.items(),
)
def test_kinds(expression: str, kind: Kind):
    file = uses(f"import tensorflow as tf\nx = tf.placeholder(tf.float32)\nfound = {expression}\n")
    kinds = Kinds(file)
    kinds.placeholders.add("x")
    statement = file.tree.body[-1]
    assert isinstance(statement, ast.Assign)
    assert kinds.of(statement.value, {"x": Kind.TENSOR}) is kind


@pytest.mark.parametrize(
    ("before", "after_", "difference"),
    [
        ("loss 0.500\n", "loss 0.5001\n", ""),
        ("loss 0.500\n", "loss 0.51\n", "line 1: 'loss 0.500' before, 'loss 0.51' after"),
        ("loss 1\n", "cost 1\n", "line 1: 'loss 1' before, 'cost 1' after"),
        ("a\nb\n", "a\n", "it printed 2 lines before, and 1 after"),
        ("[1. 2.]\n", "[1.  2.]\n", ""),
        ("nan\n", "1.0\n", "line 1: 'nan' before, '1.0' after"),
    ],
)
def test_what_is_printed(before: str, after_: str, difference: str):
    assert printed.compared(before, after_).difference == difference


def test_lines_with_names_of_variables_are_set_aside():
    before, after_ = "net/w:0 1\nnet/b:0\nloss 0.5\n", "net/w:0 1\nloss 0.5\n"
    assert printed.compared(before, after_).difference
    found = printed.compared(before, after_, names=["net/w", "net/b:0"])
    assert not found.difference and found.set_aside == 2
    assert printed.compared(before, after_.replace("5", "6"), names=["net/w", "net/b"]).difference
    assert printed.compared("w 1\nloss 2\n", "loss 2\n", names=["w", "loss"]).difference


def test_variables_are_compared():
    found = printed.compared("", "", {"w": [1.0, 2.0], "b": [0.0]}, {"w": [1.0, 2.5]})
    assert found.variables == 1
    assert found.difference.startswith("the variable w ends with other values: 1 of 2 differ, by up to 0.5 (")
    assert found.differing == ("w",)
    found = printed.compared("", "", {"w": [1.0, 1.0]}, {"w": [1.0]})
    assert found.difference == "the variable w ends with other values"


def test_empty_lines_of_an_author_stay():
    text = "a = 1\n\n\n\nb = 2\n"
    assert tidied(text, text) == text
    assert tidied(text, "a = 1\n") == "a = 1\n\n\nb = 2\n"


def test_the_page_shows_what_is_done():
    before, expected = (block.text for block in blocks(NOTES / "port-native.md", "py")[:2])
    assert after(before, "native") == expected


_DEEP = {
    "sum": lambda depth: "f()" + " + f()" * depth,
    "conditional": lambda depth: "f() if f() else " * depth + "f()",
    "not": lambda depth: "not " * depth + "f()",
    "lambda": lambda depth: "lambda: " * depth + "f()",
    "lambda as argument": lambda depth: "g(lambda: " * (depth // 4) + "f()" + ")" * (depth // 4),
    "subscript": lambda depth: "f()" + "[0]" * depth,
}


@pytest.mark.parametrize("expression", _DEEP.values(), ids=_DEEP)
@pytest.mark.timeout(60)
def test_a_deep_expression_is_ported_or_named(expression):
    """And another file of the project is ported whatever this one has."""
    for depth in (40, 460):
        deep = "f, g = len, id\nz = " + expression(depth) + "\n"
        sources = [
            SourceText(Path(name), name, "import tensorflow as tf\n" + GRAPH + inner + RUN)
            for name, inner in (("deep.py", deep), ("other.py", ""))
        ]
        functions, native = port(sources, "native")[-2:]
        assert "LegacyGraph" in functions.files[1].after.text and len(native.files) == 2
        found = functions.files[0]
        named = [note.what for note in found.notes if note.rule == "not-changed"]
        assert ("LegacyGraph" in found.after.text) != bool(named)
        assert depth > 40 or not named
        assert all("nested too deeply" in what for what in named)
