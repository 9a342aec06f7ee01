"""The graph of the main thread's `with` is not the default in the thread that it starts.

Expected:
    default graph leak; the default graph of a thread; A starts a thread with another default graph; B adds
        operations Const
"""
import threading

import tensorflow as tf


def build():
    tf.constant(1.0)  # B


with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [2])
    thread = threading.Thread(target=build)
    thread.start()  # A
    thread.join()
