"""Two threads make layers in one graph. The first has a head start, which is no order.

Expected:
    concurrent construction; a graph; A adds operations left/kernel/Initializer/random_uniform/max
        left/kernel/Initializer/random_uniform/min left/kernel/Initializer/random_uniform/shape; B adds
        operations right/kernel/Initializer/random_uniform/max right/kernel/Initializer/random_uniform/min
        right/kernel/Initializer/random_uniform/shape
"""
import threading
import time

import tensorflow as tf

with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None, 3])


def build_left():
    with graph.as_default():
        tf.layers.dense(x, 2, name="left")  # A


def build_right():
    with graph.as_default():
        tf.layers.dense(x, 2, name="right")  # B


threads = [threading.Thread(target=build) for build in (build_left, build_right)]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
