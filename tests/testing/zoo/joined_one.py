"""Two threads run the graph; only one is joined before it is extended.

Expected:
    mutation while running; a graph; A runs the graph; B adds operations AddN
"""
import threading

import tensorflow as tf

with tf.Graph().as_default(), tf.Session() as sess:
    parts = [tf.constant(1.0), tf.constant(2.0)]

    def evaluate(part):
        sess.run(part)  # A

    threads = [threading.Thread(target=evaluate, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    threads[0].join()
    total = tf.add_n(parts)  # B
    threads[1].join()
    print(sess.run(total))
