"""A thread feeds a FIFOQueue with an enqueue operation for each item.

Expected:
    mutation while running; the process's default graph; A adds operations fifo_queue_enqueue
        fifo_queue_enqueue/component; B runs the graph
    graph growth in a loop; the process's default graph; A adds operations fifo_queue_enqueue
        fifo_queue_enqueue/component; C runs the graph
"""
import threading

import numpy as np
import tensorflow as tf

queue = tf.FIFOQueue(8, [tf.float32], shapes=[[2]])
graph = tf.get_default_graph()
item = queue.dequeue()


def feed():
    for number in range(20):
        with graph.as_default():
            enqueue = queue.enqueue([np.full([2], number)])  # A
        sess.run(enqueue)  # C


with tf.Session() as sess:
    feeder = threading.Thread(target=feed)
    feeder.start()
    for _ in range(20):
        sess.run(item)  # B
    feeder.join()
