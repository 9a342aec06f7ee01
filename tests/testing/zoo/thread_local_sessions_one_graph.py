"""Each worker has a session of its own, but all initialize their variables by an operation made in one graph.

Expected:
    concurrent construction; the process's default graph; A adds operations init; A adds operations init
    mutation while running; the process's default graph; A adds operations init; B runs the graph
"""
import threading

import tensorflow as tf

graph = tf.get_default_graph()
v = tf.Variable(1.0)


def work():
    with graph.as_default(), tf.Session() as sess:
        init = tf.global_variables_initializer()  # A
        sess.run(init)  # B


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
