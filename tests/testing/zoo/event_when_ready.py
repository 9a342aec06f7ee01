"""A server answers when its loader has set an Event; double-checked, as it was often written.

Expected: nothing
"""
import threading

import tensorflow as tf


class Server(object):
    def __init__(self):
        self.lock = threading.Lock()
        self.ready = threading.Event()

    def load(self):
        if not self.ready.is_set():
            with self.lock:
                if not self.ready.is_set():
                    with tf.Graph().as_default():
                        self.x = tf.placeholder(tf.float32, [None])
                        self.y = self.x * 2.0
                        self.sess = tf.Session()
                    self.ready.set()

    def predict(self, values):
        self.load()
        return self.sess.run(self.y, {self.x: values})


server = Server()
threads = [threading.Thread(target=server.predict, args=([1.0, 2.0],)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
server.sess.close()
