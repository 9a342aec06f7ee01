"""Two towers, built under one lock.

Expected: nothing
"""
import threading

import tensorflow as tf

lock = threading.Lock()
graph = tf.get_default_graph()
towers = []


def build_tower(scale):
    with lock, graph.as_default(), tf.variable_scope("tower%d" % scale):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        towers.append(w * scale)


threads = [threading.Thread(target=build_tower, args=(scale,)) for scale in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    assert sorted(value[0] for value in sess.run(towers)) == [1.0, 2.0]
