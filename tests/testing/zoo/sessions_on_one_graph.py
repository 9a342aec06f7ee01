"""Two threads, two sessions, one graph that is not changed; each has its own variables.

Expected: nothing
"""
import threading

import tensorflow as tf

graph = tf.get_default_graph()
v = tf.Variable(0.0)
count = v.assign_add(1.0)
init = tf.global_variables_initializer()
results = []


def work():
    with tf.Session(graph=graph) as sess:
        sess.run(init)
        for _ in range(3):
            value = sess.run(count)
        results.append(value)


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert results == [3.0, 3.0]
