"""The graph is finalized: a thread that tries to add to it gets an error, and nothing is added.

Expected: nothing
"""
import threading

import tensorflow as tf

graph = tf.get_default_graph()
y = tf.ones([2])
graph.finalize()
sess = tf.Session()
refused = []


def handle():
    sess.run(y)
    try:
        with graph.as_default():
            tf.constant(1.0)
    except RuntimeError as error:
        refused.append(error)


threads = [threading.Thread(target=handle) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(refused) == 2
sess.close()
