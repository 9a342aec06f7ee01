"""A worker gets the model from a queue while its maker goes on building.

Expected:
    mutation while running; the process's default graph; A runs the graph; B adds operations ArgMax
        ArgMax/dimension
"""
import queue
import threading

import tensorflow as tf

requests = queue.Queue()
x = tf.placeholder(tf.float32, [None, 3])
y = tf.nn.softmax(x)
sess = tf.Session()


def work():
    for batch in iter(requests.get, None):
        sess.run(y, {x: batch})  # A


worker = threading.Thread(target=work)
worker.start()
requests.put([[1.0, 2.0, 3.0]])
best = tf.argmax(y, axis=1)  # B
requests.put(None)
worker.join()
sess.close()
