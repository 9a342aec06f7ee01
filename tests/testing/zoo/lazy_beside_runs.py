"""Double-checked locking keeps two requests from building the metrics twice, not from building while others predict.

Expected:
    mutation while running; a graph; A runs the graph; B adds operations Mean
"""
import threading

import tensorflow as tf


class Server(object):
    def __init__(self):
        self.lock = threading.Lock()
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.y = tf.ones([3])
            self.axis = tf.constant(0)
        self.sess = tf.Session(graph=self.graph)
        self.metrics = None

    def predict(self):
        return self.sess.run(self.y)  # A

    def get_metrics(self):
        if self.metrics is None:
            with self.lock:
                if self.metrics is None:
                    with self.graph.as_default():
                        self.metrics = tf.reduce_mean(self.y, axis=self.axis)  # B
        return self.metrics

    def handle(self):
        self.predict()
        self.get_metrics()


server = Server()
threads = [threading.Thread(target=server.handle) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
server.sess.close()
