"""A thread registers a summary in a collection while the main thread merges what is there.

Expected:
    concurrent construction; the process's default graph; A changes a collection; B adds operations merged
"""
import threading

import tensorflow as tf

graph = tf.get_default_graph()
loss = tf.summary.scalar("loss", tf.constant(1.0))


def register():
    graph.add_to_collection("my_summaries", loss)  # A


thread = threading.Thread(target=register)
thread.start()
merged = tf.identity(loss, name="merged")  # B
thread.join()
with tf.Session() as sess:
    sess.run(merged)
