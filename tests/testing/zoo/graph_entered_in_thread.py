"""The thread enters the graph, and the session, that the main thread made.

Expected: nothing
"""
import threading

import tensorflow as tf

results = []


def evaluate(sess):
    with sess.graph.as_default(), sess.as_default():
        y = tf.constant([1.0, 2.0])
        results.append(y.eval())


with tf.Graph().as_default(), tf.Session() as sess:
    thread = threading.Thread(target=evaluate, args=(sess,))
    thread.start()
    thread.join()
    assert tf.get_default_graph() is sess.graph
