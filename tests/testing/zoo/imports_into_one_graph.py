"""Two frozen models are imported into one graph, by two threads.

Expected:
    concurrent construction; a graph; A adds operations first/x first/y; A adds operations second/x second/y
"""
import threading

import tensorflow as tf

with tf.Graph().as_default() as model:
    tf.identity(tf.placeholder(tf.float32, [None], name="x"), name="y")
frozen = model.as_graph_def()
graph = tf.Graph()


def load(name):
    with graph.as_default():
        tf.import_graph_def(frozen, name=name)  # A


threads = [threading.Thread(target=load, args=(name,)) for name in ("first", "second")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
