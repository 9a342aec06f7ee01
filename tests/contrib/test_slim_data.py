"""contrib.slim's readers, queues and data sets as programs use them: records of files, in batches, to the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PROGRAM = """
import contextlib, io, os, threading
import numpy as np
import tf1sessions.scripts
tf1sessions.scripts.install()
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.contrib.slim.python.slim import queues
from tensorflow.contrib.slim.python.slim.data import dataset, dataset_data_provider, tfexample_decoder
from tensorflow.contrib.slim.python.slim.data.parallel_reader import get_data_files, parallel_read, single_pass_read
from tensorflow.contrib.slim.python.slim.data.prefetch_queue import prefetch_queue

report(addresses=[
    dataset.Dataset is slim.dataset.Dataset, tfexample_decoder.Image is slim.tfexample_decoder.Image,
    prefetch_queue is slim.prefetch_queue.prefetch_queue, queues.QueueRunners is slim.queues.QueueRunners,
])

def error(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)]

for number in range(2):
    with tf.python_io.TFRecordWriter(f"train-{number}") as writer:
        for row in range(3):
            label = 10 * number + row
            pixels = np.full([2, 2, 1], label, np.uint8)
            features = {
                "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[pixels.tobytes()])),
                "image/format": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"raw"])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())

files = sorted(map(os.path.basename, get_data_files("train-*")))
report(files=[files, get_data_files(["train-1", "train-?"])[0], get_data_files("other")],
       no_files=[error(lambda: get_data_files("none*")), error(lambda: get_data_files([]))])

decoder = tfexample_decoder.TFExampleDecoder(
    {
        "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
        "image/format": tf.FixedLenFeature((), tf.string, default_value="png"),
        "label": tf.FixedLenFeature([1], tf.int64),
    },
    {
        "image": tfexample_decoder.Image(shape=[2, 2, 1], channels=1),
        "label": tfexample_decoder.Tensor("label", shape=[]),
    },
)
data = slim.dataset.Dataset("train-*", tf.TFRecordReader, decoder, 6, {"image": "all the same", "label": "that number"})

def to_the_end(session, tensors):
    found = []
    try:
        while True:
            found.append(session.run(tensors))
    except tf.errors.OutOfRangeError:
        return found

def read(**settings):
    with tf.Graph().as_default():
        provider = dataset_data_provider.DatasetDataProvider(data, num_epochs=1, common_queue_min=2, **settings)
        tensors = provider.get(["image", "label", "record_key"])
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            with queues.QueueRunners(session):
                nested = error(lambda: queues.QueueRunners(session).__enter__())
                running = any("QueueRunner" in thread.name for thread in threading.enumerate())
                found = to_the_end(session, tensors)
            left = [thread.name for thread in threading.enumerate() if "QueueRunner" in thread.name]
    right = all((image == label).all() and image.shape == (2, 2, 1) for image, label, _ in found)
    key = found[0][2].decode().partition(":")[0]
    return [int(label) for _, label, _ in found], right and running, nested, left, key

report(ordered=read(shuffle=False), shuffled=read(num_readers=2, seed=3))

with tf.Graph().as_default():
    key, value = single_pass_read(["train-1", "train-0"], tf.TFRecordReader)
    (label,) = decoder.decode(value, ["label"])
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with queues.QueueRunners(session):
            report(once=[int(one) for one in to_the_end(session, label)])
            try:
                with queues.QueueRunners(session):
                    pass
            except queues.NestedQueueRunnerError as nested:
                report(nested_again=str(nested))
        with queues.QueueRunners(session):  # and again after it
            pass

# the way of slim's examples: a provider, batches, a queue of batches, and training on them
with tf.Graph().as_default():
    tf.set_random_seed(1)
    provider = slim.dataset_data_provider.DatasetDataProvider(data, num_readers=2, common_queue_capacity=20,
                                                              common_queue_min=4, seed=1)
    image, label = provider.get(["image", "label"])
    images, labels = tf.train.batch([tf.to_float(image) / 16.0, label], batch_size=4, num_threads=1, capacity=16)
    images, labels = slim.prefetch_queue.prefetch_queue([images, tf.to_float(labels) / 16.0], capacity=2).dequeue()
    guess = slim.fully_connected(slim.flatten(images), 1, activation_fn=None, scope="guess")
    slim.losses.mean_squared_error(guess, tf.expand_dims(labels, 1))
    train_op = slim.learning.create_train_op(slim.losses.get_total_loss(), tf.train.GradientDescentOptimizer(0.1))
    shape = [images.shape.as_list(), labels.shape.as_list()]
    report(trained=float(slim.learning.train(train_op, None, number_of_steps=200, log_every_n_steps=0)), shape=shape)

with tf.Graph().as_default() as graph:
    tf.get_variable("a", [2, 3])
    tf.placeholder(tf.float32, name="unknown")
    tf.no_op(name="nothing")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        sizes = slim.model_analyzer.analyze_vars(tf.global_variables(), print_info=True)
        quiet = slim.model_analyzer.analyze_ops(graph)
        total = slim.model_analyzer.analyze_ops(graph, print_info=True)
    report(sizes=sizes, same=quiet == total > 6, printed=printed.getvalue().splitlines())
"""


def test_records_reach_the_model(run_python: Callable[..., Any]) -> None:
    found = run_python(PROGRAM, fresh=True).results
    assert found["addresses"] == [True] * 4
    assert found["files"] == [["train-0", "train-1"], "train-1", ["other"]]
    assert found["no_files"] == [
        ["ValueError", "No data files found in none*"],
        ["ValueError", "No data files found in []"],
    ]
    for key in ("ordered", "shuffled"):
        labels, right, nested, left, file = found[key]
        assert sorted(labels) == [0, 1, 2, 10, 11, 12]
        assert right and left == [] and "train-" in file
        assert nested == ["NestedQueueRunnerError", "QueueRunners cannot be nested"]
    assert found["ordered"][0] in ([0, 1, 2, 10, 11, 12], [10, 11, 12, 0, 1, 2])
    assert found["once"] == [10, 11, 12, 0, 1, 2]
    assert found["nested_again"] == "QueueRunners cannot be nested"
    assert found["shape"] == [[4, 2, 2, 1], [4]]
    assert found["trained"] < 0.01
    assert found["sizes"] == [6, 24] and found["same"]
    assert "Total bytes of variables: 24" in found["printed"]
    assert "unknown \t->  [0]" in found["printed"] and "nothing \t->  [0]" in found["printed"]
