"""A py_func, which TensorFlow calls in a thread of its own, runs another session on another graph.

Expected: nothing
"""
import threading

import tensorflow as tf

with tf.Graph().as_default() as inner:
    x = tf.placeholder(tf.float32, [2])
    doubled = x * 2.0
inner_sess = tf.Session(graph=inner)
y = tf.py_func(lambda values: inner_sess.run(doubled, {x: values}), [tf.ones([2])], tf.float32)
with tf.Session() as sess:
    thread = threading.Thread(target=sess.run, args=(y,))
    thread.start()
    thread.join()
    sess.run(y)
inner_sess.close()
