"""A Keras model whose predict function is made before the threads come, as Flask servers do.

Expected: nothing
"""
import threading

import numpy as np
import tensorflow as tf

graph = tf.get_default_graph()
model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
model.predict(np.ones([1, 3], np.float32))
sess = tf.keras.backend.get_session()


def handle(row):
    with graph.as_default(), sess.as_default():
        model.predict_on_batch(row)


threads = [threading.Thread(target=handle, args=(np.ones([1, 3], np.float32),)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
tf.keras.backend.clear_session()
