"""Multi-worker: processes, here two on this machine, train one model together by collective operations (TensorFlow 2).

    python examples/devices/multi_worker.py

TF_CONFIG tells each worker the addresses of all and its own number. On several machines each runs `work` with its
number, and with addresses that the others reach. TensorFlow's servers have no authentication: on trusted networks only.

A program that is one worker, and takes its number from TF_CONFIG, is started by `tf1sessions launch --tf2 --workers 2`.

The pitfall, which `tf1sessions doctor` names late-multi-worker: the strategy starts the worker's server, and after the
first use of TensorFlow it is too late for that::

    import tensorflow as tf

    start = tf.constant(0.0)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()

    @tf.function
    def total():
        return strategy.reduce("SUM", start + 1.0, axis=None)
"""

import contextlib
import json
import os
import socket

import tf1sessions as t1
from tf1sessions.cluster.task_main import bind_to_loopback

WORKERS = 2


def work(addresses, index):
    """Runs in a process of its own, which has not used TensorFlow before."""
    task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
    os.environ["TF_CONFIG"] = json.dumps(task)
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # first of all: it starts this worker's server
    bind_to_loopback(int(addresses[index].rpartition(":")[2]))
    with strategy.scope():
        weight = tf.Variable(0.0)
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.2)  # one of Keras would do as well
    target = 1.0 + index  # stands for data, of which each worker has its own: 1.0 or 2.0

    def replica_step():
        gradient = 2.0 * (weight - target) / strategy.num_replicas_in_sync
        optimizer.apply_gradients([(gradient, weight)])  # sums them over the workers

    @tf.function(autograph=False)
    def step():
        strategy.run(replica_step)

    for _ in range(30):
        step()
    return float(weight.numpy())


def main():
    plan = t1.MemoryPlan(workers=WORKERS)
    if plan.share().gpu is None:
        print(f"no GPU here: {WORKERS} processes divide the CPU's cores")
    with contextlib.ExitStack() as held:
        free = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(WORKERS)]
        addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in free]
    with t1.ProcessSessionPool(WORKERS, mode="tf2", plan=plan, time_limit_secs=120) as pool:
        weights = list(pool.map(work, [addresses] * WORKERS, range(WORKERS)))
    print(f"weights {weights[0]:.3f} and {weights[1]:.3f}: in the middle of what the workers were given")


if __name__ == "__main__":
    main()
