"""What a training step costs under MirroredStrategy: by porting.distribute, and written by hand for TensorFlow 2.

    python benchmarks/distributing.py [--rounds 40]

Two logical CPU devices, a network of three layers, Adam, a whole batch of NumPy arrays given to each step; all ways by
turns in one process. Prints milliseconds (the median of the rounds) and how many times as long as the way by hand each
takes. By hand is what the guides of tf.distribute have: the parts of a batch as distributed values, a GradientTape in
strategy.run, and an optimizer of Keras 2. What is aimed at: at most 1.1.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf

from tf1sessions import porting

v1 = tf.compat.v1
RATE = 1e-4


def network(width, make):
    """Three layers of variables that ``make(name, shape)`` makes; gives the loss of a batch."""
    weights = [make(f"w{number}", [width, width]) for number in range(3)]

    def loss(x, y):
        for weight in weights[:-1]:
            x = tf.nn.relu(tf.matmul(x, weight))
        return tf.reduce_mean((tf.matmul(x, weights[-1]) - y) ** 2)

    return loss, weights


def ported(width, strategy):
    legacy = porting.LegacyGraph()
    with legacy:
        x, y = v1.placeholder(tf.float32, [None, width]), v1.placeholder(tf.float32, [None, width])
        loss, _ = network(width, lambda name, shape: v1.get_variable(name, shape))
        value = loss(x, y)
        step = legacy.function([v1.train.AdamOptimizer(RATE).minimize(value), value], [x, y])
        initialize = legacy.function(v1.global_variables_initializer())
    initialize()
    if strategy is not None:
        porting.distribute(legacy, strategy)
    return lambda x, y: step(x, y)[1]


def by_hand(width, strategy):
    with strategy.scope():
        loss, weights = network(width, lambda name, shape: tf.Variable(tf.random.normal(shape) * 0.05, name=name))
        optimizer = tf.keras.optimizers.Adam(RATE)
    count = strategy.num_replicas_in_sync

    @tf.function
    def step(x, y):
        def replica(x, y):
            with tf.GradientTape() as tape:
                value = loss(x, y) / count
            optimizer.apply_gradients(zip(tape.gradient(value, weights), weights, strict=True))
            return value

        return strategy.reduce("SUM", strategy.run(replica, args=(x, y)), axis=None)

    def call(x, y):
        parts = []
        for whole in (x, y):
            rows = np.array_split(whole, count)
            parts.append(
                strategy.experimental_distribute_values_from_function(
                    lambda context, rows=rows: tf.constant(rows[context.replica_id_in_sync_group])
                )
            )
        return step(*parts).numpy()

    return call


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    devices = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], devices)
    print(f"{'width, rows':16}{'by hand':>12}{'distribute':>14}{'one device':>14}")
    # One for all: by hand, a second one takes the collectives of the first (tensorflow#61314).
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    for width, rows in ((64, 64), (512, 256), (1024, 512)):
        ways = [by_hand(width, strategy), ported(width, strategy), ported(width, None)]
        x = np.random.rand(rows, width).astype(np.float32)
        spent = [[] for _ in ways]
        for number in range(rounds + 3):
            for way, times in zip(ways, spent, strict=True):
                began = time.perf_counter()
                way(x, x)
                if number >= 3:
                    times.append(time.perf_counter() - began)
        found = [statistics.median(times) * 1e3 for times in spent]
        more = "".join(f"{each:8.2f} ({each / found[0]:.2f})" for each in found[1:])
        print(f"{width:5}, {rows:<9}{found[0]:9.2f} ms {more}")


if __name__ == "__main__":
    main()
