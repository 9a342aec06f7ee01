"""A lock that one thread holds twice, and gives back once too often before it builds.

Expected:
    concurrent construction; a graph; A adds operations Const; B adds operations Const
"""
import threading

import tensorflow as tf

lock = threading.RLock()
graph = tf.Graph()


def build_under_the_lock():
    with lock, lock, graph.as_default():
        tf.constant(1.0)  # A


def build_after_it():
    with lock:
        with lock:
            pass
    with graph.as_default():
        tf.constant(2.0)  # B


threads = [threading.Thread(target=build) for build in (build_under_the_lock, build_after_it)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
