"""Parts of one graph are run by threads; when all are joined the graph is extended and saved.

Expected: nothing
"""
import threading

import tensorflow as tf

with tf.Graph().as_default(), tf.Session() as sess:
    parts = [tf.constant(float(number)) * 2.0 for number in range(3)]
    results = [None] * len(parts)

    def evaluate(number):
        results[number] = sess.run(parts[number])

    threads = [threading.Thread(target=evaluate, args=(number,)) for number in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = tf.add_n(parts)
    assert sess.run(total) == sum(results)
