"""A timer makes a Saver, and with it operations, while the training goes on.

Expected:
    mutation while running; the process's default graph; A runs the graph; B adds operations save/Const
        save/filename save/filename/input
"""
import threading

import tensorflow as tf

graph = tf.get_default_graph()
v = tf.Variable(1.0)
loss = tf.identity(v)
init = tf.global_variables_initializer()


def checkpoint():
    with graph.as_default():
        tf.train.Saver()  # B


sess = tf.Session()
timer = threading.Timer(0.01, checkpoint)
sess.run(init)
timer.start()
for _ in range(3):
    sess.run(loss)  # A
timer.join()
sess.close()
