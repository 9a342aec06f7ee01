"""Requests are mapped over a ThreadPool; when the results are there the graph is extended.

Expected: nothing
"""
from multiprocessing.pool import ThreadPool

import tensorflow as tf

x = tf.placeholder(tf.float32, [None])
y = tf.reduce_sum(x)
with tf.Session() as sess:
    pool = ThreadPool(2)
    sums = pool.map(lambda values: sess.run(y, {x: values}), [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]])
    z = y * 2.0
    doubled = pool.apply_async(sess.run, (z, {x: [7.0]}))
    assert (sums, doubled.get(30)) == ([3.0, 3.0, 15.0], 14.0)
    pool.close()
    pool.join()
