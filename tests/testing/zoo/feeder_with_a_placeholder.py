"""A thread feeds a FIFOQueue through one enqueue operation, made before it starts.

Expected: nothing
"""
import threading

import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [2])
queue = tf.FIFOQueue(8, [tf.float32], shapes=[[2]])
enqueue = queue.enqueue([x])
close = queue.close()
batch = tf.reduce_sum(queue.dequeue_many(2))


def feed():
    for number in range(8):
        sess.run(enqueue, {x: np.full([2], number)})
    sess.run(close)


with tf.Session() as sess:
    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        while True:
            sess.run(batch)
    except tf.errors.OutOfRangeError:
        pass
    feeder.join()
