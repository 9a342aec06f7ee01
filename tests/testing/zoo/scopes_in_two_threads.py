"""Two threads enter name scopes of one graph: the stack of scopes is the graph's, not the thread's.

Expected:
    concurrent construction; a graph; A enters a name scope; A enters a name scope
"""
import threading

import tensorflow as tf

graph = tf.Graph()


def build(name):
    with graph.name_scope(name):  # A
        pass


threads = [threading.Thread(target=build, args=(name,)) for name in ("left", "right")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
