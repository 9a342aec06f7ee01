"""The model is built at the first request, under a lock that every request takes; then requests run at once.

Expected: nothing
"""
import threading

import tensorflow as tf

lock = threading.Lock()
model = {}


def get_model():
    with lock:
        if not model:
            with tf.Graph().as_default():
                x = tf.placeholder(tf.float32, [None])
                model.update(x=x, y=x * 2.0, sess=tf.Session())
        return model


def handle(values):
    found = get_model()
    found["sess"].run(found["y"], {found["x"]: values})


threads = [threading.Thread(target=handle, args=([1.0],)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
model["sess"].close()
