"""One thread updates a counter which the main thread reads, both under a lock; two others read what nothing sets.

Expected: nothing
"""
import threading

import tensorflow as tf

steps = tf.Variable(0, name="steps", trainable=False)
limit = tf.Variable(10, name="limit", trainable=False)
count = tf.assign_add(steps, 1)
value = steps * 10
sess = tf.Session()
sess.run(tf.global_variables_initializer())
lock = threading.Lock()


def work():
    for _ in range(4):
        with lock:
            sess.run(count)


def look():
    sess.run(limit)


threads = [threading.Thread(target=target) for target in (work, look, look)]
for thread in threads:
    thread.start()
with lock:
    print(sess.run(value))
for thread in threads:
    thread.join()
sess.close()
