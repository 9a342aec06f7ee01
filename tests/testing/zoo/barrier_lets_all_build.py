"""All threads meet at a barrier, and then all build: the barrier brings them together instead of apart.

Expected:
    concurrent construction; a graph; A adds operations zeros; A adds operations zeros
"""
import threading

import tensorflow as tf

barrier = threading.Barrier(2)
graph = tf.Graph()


def build():
    barrier.wait(30)
    with graph.as_default():
        tf.zeros([2])  # A


threads = [threading.Thread(target=build) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
