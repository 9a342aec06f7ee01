"""Checkpoints of tf.keras inside genuine TensorFlow 1.15.5, and of cuDNN's GRU: ``python make_keras_checkpoints.py``.

Writes keras_checkpoints.tar.xz in ../data: for each optimizer a model after four steps, as ``save_weights`` and a
``Saver`` write it, and expected.json: the losses of four more steps, and for the GRU what it gives. To be run with the
Python of an environment that has TensorFlow 1.15.
"""

import json
import os
import tarfile
import tempfile

import numpy as np
import tensorflow as tf
from folders import DATA

v1 = tf.compat.v1
keras = tf.keras
RANDOM = np.random.RandomState(0)
X = RANDOM.randn(8, 3).astype(np.float32)
Y = X.sum(1, keepdims=True)
SEQUENCES = RANDOM.randn(2, 4, 3).astype(np.float32)

OPTIMIZERS = {
    "adam": lambda: keras.optimizers.Adam(0.05),
    "sgd": lambda: keras.optimizers.SGD(0.1, momentum=0.9),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.01, momentum=0.5),
    "adadelta": lambda: keras.optimizers.Adadelta(1.0),
    "ftrl": lambda: keras.optimizers.Ftrl(0.1),
    "old_adam": lambda: v1.train.AdamOptimizer(0.05),
}


def trained(folder, name, make):
    keras.backend.clear_session()
    model = keras.Sequential(
        [keras.layers.Dense(4, "tanh", input_shape=(3,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    )
    model.compile(make(), "mse")
    for _ in range(4):
        model.train_on_batch(X, Y)
    model.save_weights(os.path.join(folder, name + "_weights"), save_format="tf")
    v1.train.Saver(v1.global_variables()).save(
        keras.backend.get_session(), os.path.join(folder, name + "_saver"), write_meta_graph=False
    )
    return [float(model.train_on_batch(X, Y)) for _ in range(4)]


def recurrent(folder):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(3)
        cell = tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(5)
        outputs, _ = v1.nn.dynamic_rnn(cell, tf.constant(SEQUENCES), dtype=tf.float32)
        step = v1.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(outputs - 0.5)))
        session.run(v1.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        v1.train.Saver().save(session, os.path.join(folder, "gru"), write_meta_graph=False)
        return session.run(outputs).tolist()


if __name__ == "__main__":
    v1.logging.set_verbosity(v1.logging.FATAL)
    with tempfile.TemporaryDirectory() as folder:
        found = {name: trained(folder, name, make) for name, make in OPTIMIZERS.items()}
        expected = {"x": X.tolist(), "y": Y.tolist(), "losses": found, "sequences": SEQUENCES.tolist()}
        expected["gru"] = recurrent(folder)
        with open(os.path.join(folder, "expected.json"), "w") as file:
            json.dump(expected, file)
        path = os.path.join(DATA, "keras_checkpoints.tar.xz")
        with tarfile.open(path, "w:xz") as packed:
            for name in sorted(os.listdir(folder)):
                if name != "checkpoint":
                    packed.add(os.path.join(folder, name), name)
