"""While the training goes on a thread evaluates checkpoints, in a graph of its own.

Expected: nothing
"""
import os
import queue
import tempfile
import threading

import tensorflow as tf

checkpoints = queue.Queue()


def build():
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    return tf.square(w - 1.0), tf.train.Saver(), tf.global_variables_initializer()


def evaluate():
    with tf.Graph().as_default(), tf.Session() as sess:
        loss, saver, _ = build()
        for path in iter(checkpoints.get, None):
            saver.restore(sess, path)
            sess.run(loss)


evaluator = threading.Thread(target=evaluate)
evaluator.start()
loss, saver, init = build()
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
    sess.run(init)
    for number in range(4):
        sess.run(step)
        checkpoints.put(saver.save(sess, os.path.join(folder, "model"), global_step=number, write_meta_graph=False))
    checkpoints.put(None)
    evaluator.join()
