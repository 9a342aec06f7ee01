"""An evaluation is started in a ThreadPool, and the next part is built before its result is fetched.

Expected:
    mutation while running; the process's default graph; A runs the graph; B adds operations mul mul/y
"""
from multiprocessing.pool import ThreadPool

import tensorflow as tf

x = tf.placeholder(tf.float32, [None])
y = tf.reduce_sum(x)
sess = tf.Session()


def evaluate(values):
    return sess.run(y, {x: values})  # A


pool = ThreadPool(1)
result = pool.apply_async(evaluate, ([1.0, 2.0],))
z = y * 2.0  # B
assert result.get(30) == 3.0
pool.close()
pool.join()
sess.close()
