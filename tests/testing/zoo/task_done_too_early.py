"""task_done() is called before the work is done, so queue.join() waits for nothing.

Expected:
    mutation while running; the process's default graph; A runs the graph; B adds operations add add/y
"""
import queue
import threading

import tensorflow as tf

jobs = queue.Queue()
sess = tf.Session()


def work():
    tensor = jobs.get()
    jobs.task_done()
    sess.run(tensor)  # A


worker = threading.Thread(target=work)
worker.start()
layer = tf.ones([2])
jobs.put(layer)
jobs.join()
layer = layer + 1.0  # B
worker.join()
sess.close()
