"""A loader builds the model; the one that predicts waits for it with a Condition.

Expected: nothing
"""
import threading

import numpy as np
import tensorflow as tf

model = {}
changed = threading.Condition()


def load():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.reduce_sum(x, axis=1)
        sess = tf.Session()
    with changed:
        model.update(x=x, y=y, sess=sess)
        changed.notify_all()


loader = threading.Thread(target=load)
loader.start()
with changed:
    while not model:
        changed.wait(1.0)
print(model["sess"].run(model["y"], {model["x"]: np.ones([2, 3])}))
loader.join()
model["sess"].close()
