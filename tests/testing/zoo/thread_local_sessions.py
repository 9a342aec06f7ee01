"""Each worker keeps a graph and a session in a threading.local, made when it needs them first.

Expected: nothing
"""
import concurrent.futures
import threading

import tensorflow as tf

mine = threading.local()


def predict(value):
    if not hasattr(mine, "sess"):
        mine.graph = tf.Graph()
        with mine.graph.as_default():
            mine.x = tf.placeholder(tf.float32, [])
            mine.y = mine.x + 1.0
        mine.sess = tf.Session(graph=mine.graph)
    return mine.sess.run(mine.y, {mine.x: value})


with concurrent.futures.ThreadPoolExecutor(max_workers=2) as executor:
    assert list(executor.map(predict, range(6))) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
