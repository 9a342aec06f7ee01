"""One thread updates a counter which the main thread reads.

Expected:
    variable read while assigned; a session; A assigns variables steps; B reads variables steps
"""
import threading

import tensorflow as tf

steps = tf.Variable(0, name="steps", trainable=False)
count = tf.assign_add(steps, 1)
value = steps * 10
sess = tf.Session()
sess.run(tf.global_variables_initializer())


def work():
    for _ in range(4):
        sess.run(count)  # A


thread = threading.Thread(target=work)
thread.start()
print(sess.run(value))  # B
thread.join()
sess.close()
