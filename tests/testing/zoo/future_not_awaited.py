"""A job of an executor builds a tower while the main thread builds the next.

Expected:
    concurrent construction; the process's default graph; A adds operations tower; B adds operations head
"""
import concurrent.futures

import tensorflow as tf

graph = tf.get_default_graph()


def build_tower():
    with graph.as_default():
        return tf.ones([2], name="tower")  # A


with concurrent.futures.ThreadPoolExecutor(max_workers=1) as executor:
    future = executor.submit(build_tower)
    head = tf.zeros([2], name="head")  # B
    tower = future.result()
with tf.Session() as sess:
    print(sess.run(tower + head))
