"""What TensorFlow itself needs to read, decode and enqueue one line of a file: the floor under csv_queue_regression.

    python benchmarks/queue_line.py

Runs on genuine TensorFlow 1.15.5 (Python 3.7) as well as on today's, without tf1sessions: each request is the bare C
callable, no Python of anybody around it. What the example's queue runners take on top of these figures is ours.
"""

import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import config_pb2

WINE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples", "data", "wine.csv")
CALLS, ROUNDS = 10000, 3


def operations():
    """The example's pipeline, cut after each of its stages."""
    files = tf.train.string_input_producer([WINE], shuffle=False)
    _, line = tf.TextLineReader(skip_header_lines=1).read(files)
    wine = tf.stack(tf.decode_csv(line, [[0]] + [[0.0]] * 13)[1:])
    wine = (wine - tf.constant([1.0] * 13)) / tf.constant([2.0] * 13)
    queue = tf.FIFOQueue((ROUNDS + 1) * CALLS, [tf.float32], [[13]])
    fixed = tf.constant("1,14.2,1.7,2.4,15.6,127,2.8,3.0,.28,2.2,5.6,1.04,3.9,1065")
    changing = fixed + tf.as_string(tf.random_uniform([], 0, 9, tf.int32))
    return [
        ("a line read", line.op),
        ("a line decoded, none read", tf.stack(tf.decode_csv(changing, [[0]] + [[0.0]] * 13)[1:]).op),
        ("a line read and decoded", wine.op),
        ("a line read, decoded and enqueued", queue.enqueue([wine])),
    ]


def microseconds(session, operation, in_caller):
    options = config_pb2.CallableOptions(target=[operation.name])
    if in_caller:
        options.run_options.inter_op_thread_pool = -1
    call = session._make_callable_from_options(options)
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        found.append((time.perf_counter() - start) / CALLS * 1e6)
    return statistics.median(found)


def main():
    tf.disable_eager_execution()
    print("TensorFlow {}, microseconds{:>26}{:>18}".format(tf.version.VERSION, "pool", "calling thread"))
    for number in range(4):
        costs = []
        for in_caller in (False, True):
            with tf.Graph().as_default(), tf.Session() as session:
                name, operation = operations()[number]
                coordinator = tf.train.Coordinator()
                threads = tf.train.start_queue_runners(session, coordinator)
                costs.append(microseconds(session, operation, in_caller))
                coordinator.request_stop()
                session.run(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)[0].cancel_op)
                coordinator.join(threads)
        print("{:<40}{:>15.1f}{:>18.1f}".format(name, *costs), flush=True)


if __name__ == "__main__":
    main()
