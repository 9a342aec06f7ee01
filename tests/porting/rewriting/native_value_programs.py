"""More programs for the tests of the step ``native``: names, values and data that public programs have."""

from __future__ import annotations

from native_programs import program

__all__ = ["MNIST_PROGRAM", "VALUE_PROGRAMS", "write_mnist"]

VALUE_PROGRAMS = {
    "functions that read a variable, under other names": program(
        """
        def main():
            w = tf.Variable(tf.ones([6]))

            def total():
                return tf.reduce_sum(w * 2.0)

            def more():
                return total() + 1.0

            if len(data):
                scaled = lambda: 3.0 * w
            both, handed = total() + more(), {'a': scaled}
            first = handed['a']()
            add = tf.assign_add(w, data[0])
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(2):
                    sess.run(add)
                    print(sess.run(both), sess.run(first))

        main()
        """
    ),
    "functions that read a variable, where another name calls them": program(
        """
        import functools
        import itertools

        w = tf.Variable(tf.ones([6]))

        def total(scale=1.0):
            return tf.reduce_sum(w) * scale

        def mean():
            return tf.reduce_mean(w)

        def doubled(function):
            def inner(*args):
                return function(*args) * w
            return inner

        @doubled
        def three():
            return 3.0

        def both():
            yield total
            yield mean

        def made(function=lambda: tf.reduce_max(w)):
            return function()

        weights = {'w': w}

        def times(value, given=weights, factor=weights['w']):
            return given['w'] * factor * value

        alias, partly = total, functools.partial(total, 2.0)
        table = dict(first=total)
        chosen = None
        chosen = (chosen or total) if len(data) else mean
        numbers = [alias(3.0), partly(), table['first'](), chosen(), three(), made()]
        numbers += [function() for function in both()] + [times(2.0)] + list(itertools.starmap(total, [(4.0,)]))
        nested = tf.contrib.framework.nest.map_structure(total, {'a': 5.0, 'b': 6.0})
        add = tf.assign_add(w, data[0])
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(2):
                sess.run(add)
                print(*sess.run(numbers))
                print(sess.run(nested))
        """
    ),
    "an accuracy in a function, and feeds behind a division": program(
        """
        def compute_accuracy(v_xs, v_ys):
            global prediction
            y_pre = sess.run(prediction, feed_dict={xs: v_xs, keep_prob: 1})
            correct = tf.equal(tf.argmax(y_pre, 1), tf.argmax(v_ys, 1))
            accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
            result = sess.run(accuracy, feed_dict={xs: v_xs, ys: v_ys, keep_prob: 1})
            return result

        def layer(x, n, activation=None):
            h = tf.layers.dense(x, n, activation=activation)
            return tf.nn.dropout(h, keep_prob)

        def network(x):
            return layer(layer(x, 5, activation=tf.nn.relu), 2)

        xs = tf.placeholder(tf.float32, [None, 6]) / 255.
        ys = tf.placeholder(tf.float32, [None, 2])
        keep_prob = tf.placeholder(tf.float32)
        prediction = tf.nn.softmax(network(xs))
        cross_entropy = tf.reduce_mean(-tf.reduce_sum(ys * tf.log(prediction + 1e-7), axis=[1]))
        train_step = tf.train.AdamOptimizer(0.05).minimize(cross_entropy)
        sess = tf.Session()
        sess.run(tf.global_variables_initializer())
        labels = np.concatenate([target, 1 - target], 1)
        for i in range(8):
            sess.run(train_step, feed_dict={xs: data, ys: labels, keep_prob: 1.0})
            print(compute_accuracy(data, labels))
        total = 0
        for i in range(2):
            batch, right = data[i:i + 9], labels[i:i + 9]
            means = tf.reduce_mean(batch, 1) + tf.reduce_sum(right)
            value = tf.reduce_sum(means)
            total += sess.run(value)
            total += sess.run(cross_entropy, {xs: batch, ys: right, keep_prob: 1.0})
        print('total', total)
        """
    ),
    "two graphs one after the other, with the same names": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        y = tf.reduce_sum(x, 1)
        loss = tf.reduce_mean(tf.square(y))
        sess = tf.Session()
        for i in range(3):
            print(sess.run([loss, y], {x: data})[0])
        sess.close()
        tf.reset_default_graph()

        def scaled(w):
            return w * 2.0

        x = tf.placeholder(tf.float32, [None, 6])
        w = tf.Variable(tf.random_normal([6, 2]), name='weights')
        y = tf.tanh(tf.matmul(x, scaled(w)))
        loss = tf.reduce_mean(tf.square(y - target))
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        sess = tf.Session()
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            print(sess.run([loss, train], {x: data})[0])
        print(sess.run(w).sum())
        """
    ),
    "an array that a loop is given, in two requests": program(
        """
        n = tf.placeholder(tf.int32, [])
        empty = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        def body(i, array, s):
            s = s * 2.0 + 1.0
            return i + 1, array.write(i, s), s
        _, written, last = tf.while_loop(lambda i, array, s: i < n, body, (0, empty, 1.0))
        stacked = written.stack()
        with tf.Session() as sess:
            print(sess.run(stacked, {n: 3}), sess.run(last, {n: 2}))
        """
    ),
    "dicts with an order, written out and by name": program(
        """
        import collections
        x = tf.placeholder(tf.float32, [])
        both = collections.OrderedDict([('b', x + 1.0), ('a', x * 2.0)])
        with tf.Session() as sess:
            for found in (sess.run(both, {x: 3.0}), sess.run(collections.OrderedDict(c=x, a=x * 3.0), {x: 3.0})):
                for key in found:
                    print(key, found[key])
        """
    ),
    "the loss of a sequence": program(
        """
        x = tf.placeholder(tf.float32, [4, 10])
        y = tf.placeholder(tf.int32, [4, 5])
        logits = tf.reshape(tf.layers.dense(x, 15), [4, 5, 3])
        weights = tf.constant(np.linspace(0, 1, 20).reshape(4, 5), tf.float32)
        loss = tf.contrib.seq2seq.sequence_loss(logits=logits, targets=y, weights=weights)
        mean = tf.reduce_mean(loss)
        other = tf.nn.softmax_cross_entropy_with_logits(
            labels=tf.one_hot(y, 3), logits=logits, dim=-1)
        train = tf.train.AdamOptimizer(0.1).minimize(mean)
        labels = (np.arange(20) % 3).reshape(4, 5)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(4):
                _, l = sess.run([train, mean], {x: data.reshape(-1)[:40].reshape(4, 10), y: labels})
                print(l, sess.run(other, {x: data.reshape(-1)[:40].reshape(4, 10), y: labels}).sum())
        """
    ),
    "lists of variables whose names match": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        h = x
        for_step = 'hidden[23]|out'
        with tf.variable_scope('net'):
            h = tf.layers.dense(h, 4, tf.nn.tanh, name='hidden1')
        h = tf.layers.dense(h, 4, tf.nn.tanh, name='hidden2')
        h = tf.layers.dense(h, 4, tf.nn.tanh, name='hidden3')
        loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1, name='outputs')))
        last = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=for_step)
        first = tf.trainable_variables('net/.*kernel')
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        train_last = optimizer.minimize(loss, var_list=last)
        train_first = optimizer.minimize(loss, var_list=first)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(4):
                print(sess.run([train_last, loss], {x: data})[1])
                print(sess.run([train_first, loss], {x: data})[1])
        """
    ),
}

#: Reads the files that write_mnist() has written in the current folder.
MNIST_PROGRAM = """
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data
import numpy as np

mnist = input_data.read_data_sets('digits', one_hot=True, validation_size=10)
x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.float32, [None, 10])
w = tf.Variable(tf.zeros([784, 10]))
loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(x, w)))
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
np.random.seed(3)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(10):
        images, labels = mnist.train.next_batch(16)
        print(sess.run([loss, train], {x: images, y: labels})[0], mnist.train.epochs_completed)
    print(mnist.test.images.shape, mnist.validation.num_examples, mnist.train.images.max(), mnist.test.labels.sum())
    print(sess.run(loss, {x: mnist.test.images, y: mnist.test.labels}))
    print(mnist.validation.next_batch(4, shuffle=False)[0].mean())
"""


def write_mnist(folder: str) -> None:
    """Write small files in the format of MNIST, one of them gzipped."""
    import gzip
    import struct
    from pathlib import Path

    import numpy as np

    rng = np.random.RandomState(1)
    for part, count in (("train", 60), ("t10k", 20)):
        images, labels = rng.randint(0, 256, (count, 28, 28)), rng.randint(0, 10, count)
        image_bytes = struct.pack(">4I", 2051, count, 28, 28) + images.astype(np.uint8).tobytes()
        label_bytes = struct.pack(">2I", 2049, count) + labels.astype(np.uint8).tobytes()
        Path(folder, f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(image_bytes))
        Path(folder, f"{part}-labels-idx1-ubyte").write_bytes(label_bytes)
