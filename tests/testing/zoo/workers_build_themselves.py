"""Asynchronous actors, each of which builds its network in its own thread.

Expected:
    concurrent construction; the process's default graph; A adds operations Placeholder; A adds operations
        Placeholder
    mutation while running; the process's default graph; A adds operations Placeholder; B runs the graph
"""
import threading

import tensorflow as tf

shared = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
init = tf.global_variables_initializer()


def work(sess):
    with sess.graph.as_default():
        tf.placeholder(tf.float32, [2])  # A
    for _ in range(3):
        sess.run(shared)  # B


with tf.Session() as sess:
    sess.run(init)
    threads = [threading.Thread(target=work, args=(sess,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
