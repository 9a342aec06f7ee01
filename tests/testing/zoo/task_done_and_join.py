"""Jobs run in rounds; between two rounds, when queue.join() has come back, the graph is extended.

Expected: nothing
"""
import queue
import threading

import tensorflow as tf

jobs = queue.Queue()
sess = tf.Session()


def work():
    while True:
        tensor = jobs.get()
        if tensor is None:
            return
        sess.run(tensor)
        jobs.task_done()


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
layer = tf.ones([2])
for _ in range(2):
    for _ in range(4):
        jobs.put(layer)
    jobs.join()
    layer = layer + 1.0
for _ in threads:
    jobs.put(None)
for thread in threads:
    thread.join()
sess.close()
