"""Small programs of the kinds that a port meets: as texts, as they are of no use to linters.

Each is a folder of files and the one that is run. PYTHON_TWO has no oracle here: its numbers are whole, and what it
prints is written down.
"""

from __future__ import annotations

_TRAIN = """
from __future__ import print_function
import numpy as np
import tensorflow as tf
from net import layers
from net.losses import squared

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_integer('steps', 5, 'How many.')


def main(_):
    x = tf.placeholder(tf.float32, [None, 3], name='x')
    y = layers.regress(x)
    loss = squared(y, tf.reduce_sum(x, 1, keep_dims=True))
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
    random = np.random.RandomState(1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(FLAGS.steps):
            _, value, number = session.run([train, loss, step], {x: random.rand(8, 3)})
            print('step %d loss %.4f' % (number, value))


if __name__ == '__main__':
    tf.app.run()
"""
_LAYERS = """
import tensorflow as tf
from tensorflow.contrib import layers as contrib_layers


def regress(x):
    with tf.variable_scope('regress'):
        hidden = contrib_layers.fully_connected(
            x, 4, activation_fn=tf.nn.tanh, weights_initializer=tf.random_normal_initializer(stddev=0.5, seed=3))
        return tf.layers.dense(hidden, 1, kernel_initializer=tf.random_normal_initializer(stddev=0.5, seed=4))
"""
_LOSSES = """
import tensorflow as tf


def squared(a, b):
    return tf.reduce_mean(tf.squared_difference(a, b))
"""
_CONTRIB = """
import numpy as np
import tensorflow as tf
slim = tf.contrib.slim

x = tf.placeholder(tf.float32, [2, 4, 4, 1])
with slim.arg_scope([slim.conv2d], weights_initializer=tf.contrib.layers.xavier_initializer(seed=5)):
    net = slim.repeat(x, 2, slim.conv2d, 2, [3, 3], scope='conv')
states, _ = tf.nn.dynamic_rnn(
    tf.contrib.rnn.GRUCell(3, kernel_initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=6)),
    tf.reshape(net, [2, 4, 8]), dtype=tf.float32)
total = tf.reduce_sum(tf.abs(states))
session = tf.InteractiveSession()
tf.global_variables_initializer().run()
print('%d variables' % len(slim.get_variables()))
print('%.4f' % total.eval({x: np.arange(32.0).reshape(2, 4, 4, 1) / 32}))
session.close()
"""
_ESTIMATOR = """
import tempfile
import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)


def model_fn(features, labels, mode, params):
    y = tf.layers.dense(features['x'], 1, kernel_initializer=tf.constant_initializer(params['begin']))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'y': y})
    loss = tf.losses.mean_squared_error(labels, y)
    train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


x = np.arange(12, dtype=np.float32).reshape(6, 2) / 12
estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), params={'begin': 0.5})
inputs = tf.estimator.inputs.numpy_input_fn(
    {'x': x}, x.sum(1, keepdims=True), batch_size=3, shuffle=False, num_epochs=None)
estimator.train(inputs, steps=8)
once = tf.estimator.inputs.numpy_input_fn({'x': x}, x.sum(1, keepdims=True), batch_size=3, shuffle=False)
found = estimator.evaluate(once)
print('step %d loss %.4f' % (found['global_step'], found['loss']))
print(' '.join('%.4f' % each['y'][0] for each in estimator.predict(once)))
"""
_QUEUES = """
from __future__ import print_function
import tensorflow as tf

number = tf.train.range_input_producer(6, num_epochs=2, shuffle=False).dequeue()
batch = tf.train.batch([number, tf.square(number)], batch_size=4)
data = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    try:
        while not coord.should_stop():
            print(*[each.tolist() for each in sess.run(batch)])
    except tf.errors.OutOfRangeError:
        print('all read')
    finally:
        coord.request_stop()
    coord.join(threads)
    for _ in range(3):
        print(sess.run(data))
"""
_CELLS = (
    "import numpy as np\nimport tensorflow as tf",
    "x = tf.placeholder(tf.float32, [None])\nw = tf.Variable([2.0], name='w')\n"
    "loss = tf.reduce_sum((x * w - 1.0) ** 2)",
    "train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\nsess = tf.Session()",
    "sess.run(tf.global_variables_initializer())\n"
    "for i in range(3):\n    print('%.4f' % sess.run([loss, train], {x: [0.5, 1.0]})[0])",
    "print('%.4f' % sess.run(w)[0])\nsess.close()",
)
_PYTHON_TWO = """
import tensorflow as tf

sizes = {'a': 7, 'b': 2}
x = tf.placeholder(tf.int32, [None])
total = tf.reduce_sum(x)
with tf.Session() as sess:
    for name, size in sorted(sizes.iteritems()):
        half = size // 2
        print name, half, sess.run(total, {x: map(lambda i: i * half, xrange(size))})
"""

#: Name -> the program that is run, and all its files.
PROGRAMS: dict[str, tuple[str, dict[str, str]]] = {
    "package": (
        "train.py",
        {"train.py": _TRAIN, "net/__init__.py": "", "net/layers.py": _LAYERS, "net/losses.py": _LOSSES},
    ),
    "contrib": ("contrib_program.py", {"contrib_program.py": _CONTRIB}),
    "estimator": ("estimator_program.py", {"estimator_program.py": _ESTIMATOR}),
    "queues": ("queues_program.py", {"queues_program.py": _QUEUES}),
}
NOTEBOOK = _CELLS
PYTHON_TWO = ("python_two.py", {"python_two.py": _PYTHON_TWO})
PYTHON_TWO_PRINTS = "a 3 63\nb 1 1\n"
