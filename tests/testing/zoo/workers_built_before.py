"""Asynchronous actors: all networks are built before the threads start; their updates are without a lock, on purpose.

Expected:
    variable read while assigned; a session; A assigns variables global/w; A assigns variables global/w
"""
import threading

import numpy as np
import tensorflow as tf


class Worker(object):
    def __init__(self, name, shared):
        with tf.variable_scope(name):
            self.state = tf.placeholder(tf.float32, [None, 2])
            self.w = tf.get_variable("w", [2, 1])
            loss = tf.reduce_sum(tf.matmul(self.state, self.w))
            grads = tf.gradients(loss, [self.w])
            self.push = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(grads, [shared]))
            self.pull = self.w.assign(shared)

    def work(self, sess, coord):
        for _ in range(3):
            if not coord.should_stop():
                sess.run([self.push, self.pull], {self.state: np.ones([4, 2])})  # A


with tf.variable_scope("global"):
    shared = tf.get_variable("w", [2, 1])
workers = [Worker("worker_%d" % number, shared) for number in range(2)]
init = tf.global_variables_initializer()
with tf.Session() as sess:
    sess.run(init)
    coord = tf.train.Coordinator()
    threads = [threading.Thread(target=worker.work, args=(sess, coord)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
