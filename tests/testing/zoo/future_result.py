"""Models are built by jobs of an executor; the main thread waits for each result before it uses it.

Expected: nothing
"""
import concurrent.futures

import tensorflow as tf


def build(scale):
    graph = tf.Graph()
    with graph.as_default():
        return graph, tf.constant([1.0, 2.0]) * scale


with concurrent.futures.ThreadPoolExecutor(max_workers=2) as executor:
    futures = [executor.submit(build, float(scale)) for scale in range(4)]
    for future in concurrent.futures.as_completed(futures):
        graph, y = future.result()
        with graph.as_default(), tf.Session() as sess:
            print(sess.run(y + 1.0))
