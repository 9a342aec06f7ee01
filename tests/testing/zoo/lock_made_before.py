"""A module's lock, made when the module is imported: which thread holds it cannot be seen from outside.

Watched: main()
Expected:
    unknown order; a graph; A adds operations Const; A adds operations Const
"""
import threading

import tensorflow as tf

graph = tf.Graph()
lock = threading.Lock()


def build_tower():
    with lock, graph.as_default():
        tf.constant([1.0, 2.0])  # A


def main():
    threads = [threading.Thread(target=build_tower) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
