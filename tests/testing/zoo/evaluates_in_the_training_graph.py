"""While the training goes on a thread builds its measure into the graph that is trained.

Expected:
    mutation while running; the process's default graph; A adds operations error; B runs the graph
"""
import threading

import tensorflow as tf

w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
loss = tf.square(w - 1.0)
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
init = tf.global_variables_initializer()


def evaluate():
    return tf.sqrt(loss, name="error")  # A


with tf.Session() as sess:
    sess.run(init)
    evaluator = threading.Thread(target=evaluate)
    evaluator.start()
    for _ in range(4):
        sess.run(step)  # B
    evaluator.join()
