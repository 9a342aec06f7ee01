"""The main thread builds in its default graph; a thread that knows nothing of that adds to one of its own.

Expected:
    default graph leak; the default graph of a thread; A starts a thread with another default graph; B
        adds operations Const
"""
import threading

import tensorflow as tf

x = tf.placeholder(tf.float32, [2])


def build():
    tf.constant(1.0)  # B


thread = threading.Thread(target=build)
thread.start()  # A
thread.join()
