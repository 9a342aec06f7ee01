"""A worker sets the seed of the graph in which the main thread makes its initializers.

Expected:
    concurrent construction; a graph; A sets the seed; B adds operations state
"""
import threading

import tensorflow as tf

graph = tf.Graph()


def prepare(seed):
    graph.seed = seed  # A


with graph.as_default():
    thread = threading.Thread(target=prepare, args=(7,))
    thread.start()
    state = tf.placeholder(tf.float32, name="state")  # B
    thread.join()
