"""With which seeds layers of Keras draw on genuine TensorFlow 1.15.5: ``python layer_seeds.py``.

Writes layer_seeds.json in ../data: for each case, after ``np.random.seed(1)``, the type and both seeds of each
operation that draws, and what NumPy draws next. To be run with the Python of an environment that has TensorFlow 1.15;
CASES are for both TensorFlows. Python 3.6 and later.
"""

import json
import os

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "data", "layer_seeds.json")
L = tf.keras.layers
K = tf.keras.backend


def x(*shape):
    return tf.placeholder(tf.float32, shape)


def twice(layer):
    return layer(layer(x(4, 6), training=True), training=True)


def recurrent(layer):
    return layer(x(2, 3, 4), training=True)


CASES = {
    "noise": lambda: twice(L.GaussianNoise(0.5)),
    "noise, by the phase": lambda: L.GaussianNoise(0.5)(x(None, 6)),
    "Gaussian dropout": lambda: twice(L.GaussianDropout(0.5)),
    "alpha dropout": lambda: twice(L.AlphaDropout(0.5)),
    "alpha dropout, by the phase": lambda: L.AlphaDropout(0.5)(x(None, 6)),
    "alpha dropout with a seed": lambda: twice(L.AlphaDropout(0.5, seed=3)),
    "dropout": lambda: twice(L.Dropout(0.5)),
    "dropout, by the phase": lambda: L.Dropout(0.5)(x(None, 6)),
    "dropout with a seed": lambda: twice(L.Dropout(0.5, seed=3)),
    "tf.layers dropout with a seed": lambda: twice(tf.layers.Dropout(0.5, seed=3)),
    "spatial dropout": lambda: L.SpatialDropout1D(0.5)(x(2, 4, 6), training=True),
    "LSTM": lambda: recurrent(L.LSTM(4, dropout=0.3, recurrent_dropout=0.3)),
    "LSTM, unrolled": lambda: recurrent(L.LSTM(4, dropout=0.3, recurrent_dropout=0.3, unroll=True)),
    "LSTM, in one product": lambda: recurrent(L.LSTM(4, dropout=0.3, recurrent_dropout=0.3, implementation=2)),
    "GRU": lambda: recurrent(L.GRU(4, dropout=0.3, recurrent_dropout=0.3)),
    "simple RNN": lambda: recurrent(L.SimpleRNN(4, dropout=0.3, recurrent_dropout=0.3)),
    "LSTM of convolutions": lambda: L.ConvLSTM2D(2, 3, dropout=0.3, recurrent_dropout=0.3)(
        x(2, 3, 5, 5, 1), training=True
    ),
    "both directions": lambda: recurrent(L.Bidirectional(L.GRU(4, dropout=0.3))),
    "cells": lambda: recurrent(L.RNN([L.LSTMCell(4, dropout=0.3), L.GRUCell(4, recurrent_dropout=0.3)])),
    "model": lambda: tf.keras.Sequential([L.Dense(4, input_shape=(3,)), L.GaussianNoise(0.1), L.AlphaDropout(0.1)]),
    "initializer with a seed, twice": lambda: [one([2, 3]) for one in [tf.keras.initializers.he_normal(seed=5)] * 2],
    "backend": lambda: [
        K.dropout(x(2, 3), 0.5),
        K.random_normal([2]),
        K.random_uniform([2]),
        K.truncated_normal([2]),
        K.random_binomial([2], 0.5),
        K.random_normal_variable([2], 0, 1),
        K.random_uniform_variable([2], 0, 1),
    ],
}


def seeds(name):
    """What a case draws with."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(7)
        np.random.seed(1)
        CASES[name]()
        drawing = [one for one in graph.get_operations() if "seed2" in one.node_def.attr]
        found = [[one.type, int(one.get_attr("seed")), int(one.get_attr("seed2"))] for one in drawing]
        return found + [int(np.random.randint(1000))]


if __name__ == "__main__":
    found = {name: seeds(name) for name in CASES}
    with open(GOLDEN, "w") as golden:
        json.dump(found, golden, sort_keys=True)
        golden.write("\n")
