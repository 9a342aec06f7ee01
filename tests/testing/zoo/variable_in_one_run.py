"""The counter is read after it was set, in one run and by control dependencies; threads run what has no variables.

Expected: nothing
"""
import threading

import tensorflow as tf

steps = tf.Variable(0, name="steps", trainable=False)
with tf.control_dependencies([tf.assign_add(steps, 1)]):
    value = tf.identity(steps) * 10
double = tf.constant(2) * 2
init = tf.global_variables_initializer()
with tf.Session() as sess:
    sess.run(init)
    threads = [threading.Thread(target=sess.run, args=(double,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert [sess.run(value) for _ in range(3)] == [10, 20, 30]
    for thread in threads:
        thread.join()
