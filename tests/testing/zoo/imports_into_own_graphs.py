"""One frozen model is imported by two threads, each into a graph of its own.

Expected: nothing
"""
import threading

import tensorflow as tf

with tf.Graph().as_default() as model:
    tf.multiply(tf.placeholder(tf.float32, [None], name="x"), 2.0, name="y")
frozen = model.as_graph_def()


def predict(values):
    with tf.Graph().as_default() as graph:
        x, y = tf.import_graph_def(frozen, return_elements=["x:0", "y:0"])
        with tf.Session(graph=graph) as sess:
            sess.run(y, {x: values})


threads = [threading.Thread(target=predict, args=([float(number)],)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
