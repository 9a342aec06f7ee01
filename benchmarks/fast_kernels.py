"""What `--fast-kernels` gives: training steps and products with oneDNN on, against off, as scripts have it.

python benchmarks/fast_kernels.py [ROUNDS]: processes with and without it take turns in the same run; each times every
row several times, and the medians of all are compared.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

CALLS = 15


def training(tf: Any, network: Callable[[Any], Any], shape: list[int]) -> tuple[Any, Any]:
    """A step of gradient descent, and the placeholder that it takes."""
    x = tf.placeholder(tf.float32, shape)
    loss = tf.reduce_mean(tf.square(network(x)))
    return tf.train.GradientDescentOptimizer(0.01).minimize(loss), x


def workloads(tf: Any) -> dict[str, tuple[Any, Any]]:
    """What is run, and what is fed, by name."""

    def mlp(x: Any) -> Any:
        return tf.layers.dense(tf.layers.dense(x, 1024, tf.nn.relu), 1024, tf.nn.relu)

    def cnn(x: Any) -> Any:
        hidden = tf.layers.conv2d(x, 32, 5, padding="same", activation=tf.nn.relu)
        hidden = tf.layers.conv2d(tf.layers.max_pooling2d(hidden, 2, 2), 64, 5, activation=tf.nn.relu)
        return tf.layers.dense(tf.layers.flatten(hidden), 10)

    def normalised(x: Any) -> Any:
        hidden = tf.layers.conv2d(x, 64, 3, padding="same", use_bias=False)
        return tf.nn.relu(tf.layers.batch_normalization(hidden, training=True))

    def recurrent(x: Any) -> Any:
        return tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(128), x, dtype=tf.float32)[0]

    a = tf.placeholder(tf.float32, [512, 512])
    image = tf.placeholder(tf.float32, [16, 56, 56, 64])
    return {
        "product of 512 x 512": (tf.matmul(a, a), a),
        "3 x 3 convolution of 16 x 56 x 56 x 64": (tf.layers.conv2d(image, 64, 3, padding="same"), image),
        "step of an MLP of 1024, 256 rows": training(tf, mlp, [256, 784]),
        "step of a CNN, 64 images of 28 x 28": training(tf, cnn, [64, 28, 28, 1]),
        "step with batch norm, 16 images of 32 x 32 x 16": training(tf, normalised, [16, 32, 32, 16]),
        "step of an LSTM of 128, 32 x 20 steps": training(tf, recurrent, [32, 20, 64]),
    }


def measure() -> None:
    """Prints the milliseconds of a call, by name, as JSON."""
    import numpy as np

    from tf1sessions import scripts

    scripts.install()
    import tensorflow as tf

    found = {}
    rows = workloads(tf)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for name, (fetch, place) in rows.items():
            feeds = {place: np.random.RandomState(1).rand(*place.shape.as_list()).astype("float32")}
            target = fetch if isinstance(fetch, tf.Operation) else fetch.op
            times = []
            for _ in range(CALLS):
                start = time.perf_counter()
                session.run(target, feeds)
                times.append(time.perf_counter() - start)
            found[name] = statistics.median(times[3:]) * 1000
    print(json.dumps(found))


def main(rounds: int) -> int:
    times: dict[str, dict[str, list[float]]] = {"0": {}, "1": {}}
    for _ in range(rounds):
        for switch, found in times.items():
            env = dict(os.environ, TF_ENABLE_ONEDNN_OPTS=switch, TF_CPP_MIN_LOG_LEVEL="3", TF_USE_LEGACY_KERAS="1")
            done = subprocess.run(
                [sys.executable, __file__, "--measure"],
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                check=True,
            )
            for name, milliseconds in json.loads(done.stdout.splitlines()[-1]).items():
                found.setdefault(name, []).append(milliseconds)
    print("| Milliseconds of a call | as scripts run | `--fast-kernels` | times as fast |\n| --- | --- | --- | --- |")
    for name in times["0"]:
        off, on = (statistics.median(times[switch][name]) for switch in ("0", "1"))
        print(f"| {name} | {off:.2f} | {on:.2f} | {off / on:.2f} |")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        measure()
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
