"""A hyperparameter search: each thread has a graph and a session of its own.

Expected: nothing
"""
import threading

import tensorflow as tf

losses = {}


def train(rate):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        w = tf.get_variable("w", [2, 2])
        loss = tf.reduce_sum(tf.square(w - 1.0))
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        sess.run(tf.global_variables_initializer())
        for _ in range(5):
            sess.run(step)
        losses[rate] = sess.run(loss)


threads = [threading.Thread(target=train, args=(rate,)) for rate in (0.1, 0.01)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(losses) == 2
