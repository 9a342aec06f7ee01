"""A semaphore that lets two in at once.

Expected:
    concurrent construction; a graph; A adds operations Const; A adds operations Const
"""
import threading

import tensorflow as tf

few_at_a_time = threading.BoundedSemaphore(2)
graph = tf.Graph()


def build():
    with few_at_a_time, graph.as_default():
        tf.constant(1.0)  # A


threads = [threading.Thread(target=build) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
