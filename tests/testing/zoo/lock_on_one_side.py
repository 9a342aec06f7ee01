"""The builder holds the lock, the thread that asks for predictions does not know of it.

Expected:
    mutation while running; the process's default graph; A adds operations Const; B runs the graph
"""
import threading

import tensorflow as tf

lock = threading.Lock()
graph = tf.get_default_graph()
x = tf.placeholder(tf.float32, [None])
y = x * 2.0
sess = tf.Session()


def add_summary():
    with lock, graph.as_default():
        tf.constant("summary")  # A


builder = threading.Thread(target=add_summary)
builder.start()
print(sess.run(y, {x: [1.0, 2.0]}))  # B
builder.join()
sess.close()
