"""Each thread builds in the default graph that TensorFlow gives it, and runs that in a session of its own.

Expected: nothing
"""
import threading

import tensorflow as tf


def train(rate):
    w = tf.Variable(1.0)
    step = tf.assign_sub(w, rate * w)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(step)


train(0.3)
threads = [threading.Thread(target=train, args=(rate,)) for rate in (0.1, 0.2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
