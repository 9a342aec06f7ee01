"""Two towers, each built under a lock of its own.

Expected:
    concurrent construction; a graph; A adds operations Const; A adds operations Const
"""
import threading

import tensorflow as tf

graph = tf.Graph()


def build_tower(lock):
    with lock, graph.as_default():
        tf.constant([1.0, 2.0])  # A


threads = [threading.Thread(target=build_tower, args=(threading.Lock(),)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
