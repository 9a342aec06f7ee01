"""A server's lock that was made before the watching began; of an RLock it can be seen which thread holds it.

Watched: main()
Expected: nothing
"""
import threading

import tensorflow as tf


class Towers(object):
    def __init__(self):
        self.graph = tf.Graph()
        self.lock = threading.RLock()
        self.outputs = []

    def build(self):
        with self.lock:
            self.add([1.0, 2.0])

    def add(self, values):
        with self.lock, self.graph.as_default():
            self.outputs.append(tf.constant(values))


towers = Towers()


def main():
    threads = [threading.Thread(target=towers.build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
