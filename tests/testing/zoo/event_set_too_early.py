"""The loader says that it is ready before it has added its last operation.

Expected:
    mutation while running; a graph; A adds operations top_classes; B runs the graph
"""
import threading

import tensorflow as tf

model = {}
ready = threading.Event()


def load():
    with tf.Graph().as_default():
        model["y"] = tf.nn.softmax(tf.constant([[1.0, 2.0]]))
        model["sess"] = tf.Session()
        ready.set()
        tf.identity(model["y"], name="top_classes")  # A


loader = threading.Thread(target=load)
loader.start()
ready.wait()
print(model["sess"].run(model["y"]))  # B
loader.join()
model["sess"].close()
