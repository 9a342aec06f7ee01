"""Builders put finished models into a queue; the main thread runs what it gets.

Expected: nothing
"""
import queue
import threading

import tensorflow as tf

finished = queue.Queue()


def build(rate):
    graph = tf.Graph()
    with graph.as_default():
        w = tf.Variable(1.0)
        loss = tf.square(w - 3.0)
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        init = tf.global_variables_initializer()
    finished.put((graph, init, step, loss))


threads = [threading.Thread(target=build, args=(rate,)) for rate in (0.1, 0.2)]
for thread in threads:
    thread.start()
for _ in threads:
    graph, init, step, loss = finished.get()
    with tf.Session(graph=graph) as sess:
        sess.run(init)
        for _ in range(4):
            sess.run(step)
        print(sess.run(loss))
for thread in threads:
    thread.join()
