"""A program of TensorFlow 1 that the tests of recordings record: every way to call a session that there is.

Its golden, ``recorded.npz``, is what recorder.py wrote about it on TensorFlow 1.15.5; see ``make_recorded.py``.
Variables: SHIFT is added to what is fed, so that a run can be another.
"""

from __future__ import print_function

import os
import sys
import threading

import numpy as np
import tensorflow as tf

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
SHIFT = float(os.environ.get("SHIFT", "0"))


class CountingSession(tf.Session):
    """A program's own kind of session."""

    runs = 0

    def run(self, *args, **named):
        self.runs += 1
        return super(CountingSession, self).run(*args, **named)


def train():
    tf.set_random_seed(7)
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    hidden = tf.layers.dense(x, 5, activation=tf.nn.relu, name="hidden")
    kept = tf.nn.dropout(hidden, keep_prob=0.75)
    out = tf.layers.dense(kept, 1, name="out")
    loss = tf.losses.mean_squared_error(y, out)
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=step)
    sign = tf.cond(loss > 0.5, lambda: tf.constant(1.0, name="high"), lambda: tf.constant(-1.0, name="low"))
    word = tf.placeholder(tf.string, [2], name="word")
    twice = tf.string_join([word, word], name="twice")
    wide = tf.reshape(tf.range(3000.0), [30, 100], name="wide") * 2.0

    rng = np.random.RandomState(3)
    with CountingSession() as sess:
        sess.run(tf.global_variables_initializer())
        for number in range(STEPS):
            batch = rng.uniform(size=[8, 4]).astype(np.float32) + SHIFT
            target = batch.sum(axis=1, keepdims=True)
            _, now = sess.run([train_op, loss], {x: batch, y: target})
            print("%d: %.4f" % (number, now))
        print(sess.run({"twice": twice, "sign": sign}, {word: [b"a", b"\xff\x00"], x: batch, y: target})["twice"])
        sess.run(wide)
        total = sess.make_callable(tf.reduce_sum(wide))
        print("%.1f" % total())
        scaled = sess.make_callable(wide[0, :3] * x[0, 0], feed_list=[x])
        scaled(batch)
        handle = sess.partial_run_setup([hidden, out], [x])
        sess.partial_run(handle, hidden, {x: batch})
        sess.partial_run(handle, out)
        try:
            sess.run(tf.check_numerics(x, "found"), {x: [[np.nan] * 4]})
        except tf.errors.InvalidArgumentError:
            print("caught")
        print("%d runs" % sess.runs)


def keras_function():
    backend = tf.keras.backend
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
        backend.set_session(sess)
        x = backend.placeholder([None, 3])
        function = backend.function([x], [backend.sum(x, axis=1)])
        print(function([np.arange(6.0).reshape([2, 3])])[0])


def queue():
    with tf.Graph().as_default(), tf.Session() as sess:
        item = tf.placeholder(tf.int32, [], name="item")
        line = tf.FIFOQueue(10, tf.int32, shapes=[[]], name="line")
        put, total = line.enqueue(item), tf.reduce_sum(line.dequeue_many(6))

        def fill(first):
            for number in range(first, first + 3):
                sess.run(put, {item: number})

        threads = [threading.Thread(target=fill, args=(first,)) for first in (0, 10)]
        for thread in threads:
            thread.start()
        print(sess.run(total))
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    train()
    keras_function()
    queue()
