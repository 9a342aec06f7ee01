"""One thread builds, all meet at a barrier, all run; and once more.

Expected: nothing
"""
import threading

import tensorflow as tf

THREADS = 3
barrier = threading.Barrier(THREADS)
graph = tf.Graph()
sess = tf.Session(graph=graph)
layers = []


def train(number):
    for step in range(2):
        if number == step:
            with graph.as_default():
                layers.append(tf.ones([2]) * float(step))
        barrier.wait(30)
        sess.run(layers[-1])
        barrier.wait(30)


threads = [threading.Thread(target=train, args=(number,)) for number in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sess.close()
