"""A semaphore of one, which is a lock.

Expected: nothing
"""
import threading

import tensorflow as tf

one_at_a_time = threading.Semaphore(1)
graph = tf.Graph()


def build():
    one_at_a_time.acquire()
    try:
        with graph.as_default():
            tf.constant(1.0)
    finally:
        one_at_a_time.release()


threads = [threading.Thread(target=build) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
