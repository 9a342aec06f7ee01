"""A worker of a pool prepares each request by operations that it makes in the default graph of its thread.

Expected:
    graph growth in a loop; the default graph of a thread; A adds operations Sub Sub/x Sub/y; B runs the graph
"""
import concurrent.futures

import tensorflow as tf


def normalize(pixels):
    normalized = tf.subtract(pixels, 128.0)  # A
    with tf.Session() as sess:
        return sess.run(normalized)  # B


with concurrent.futures.ThreadPoolExecutor(max_workers=1) as executor:
    futures = [executor.submit(normalize, [128.0, 129.0 + number]) for number in range(5)]
    print([future.result() for future in futures])
