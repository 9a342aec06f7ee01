"""The main thread makes the operation that closes the queue when it has had enough, while the feeder still runs.

Expected:
    mutation while running; the process's default graph; A runs the graph; B adds operations fifo_queue_Close
"""
import threading

import tensorflow as tf

x = tf.placeholder(tf.float32, [])
queue = tf.FIFOQueue(4, tf.float32, shapes=[[]])
enqueue = queue.enqueue(x)
item = queue.dequeue()


def feed():
    try:
        for number in range(100):
            sess.run(enqueue, {x: number})  # A
    except tf.errors.CancelledError:
        pass


with tf.Session() as sess:
    feeder = threading.Thread(target=feed)
    feeder.start()
    for _ in range(3):
        sess.run(item)
    sess.run(queue.close(cancel_pending_enqueues=True))  # B
    feeder.join()
