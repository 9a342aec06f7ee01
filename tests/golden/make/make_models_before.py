"""Write models_<version>.tar.gz: graphs as TensorFlow 0.12.1 and 1.4.1 wrote them, and what they computed.

Run it with each of them, in Python 2.7 and 3.6, in an empty folder: ``python make_models_before.py``. What they have
and 1.15.5 does not write any more: tables without a key for what was deleted, with handles of strings before 1.4;
GatherTree with three inputs; a frozen batch normalisation that still assigns; session bundles of the first format.
"""

from __future__ import print_function

import json
import os
import tarfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib.session_bundle import exporter
from tensorflow.python.framework import graph_util

contrib = tf.contrib
FOLDER = "models_" + tf.__version__
rnn = tf.nn.rnn_cell if tf.__version__ < "1" else contrib.rnn


def floats(*shape):
    return np.random.RandomState(7).uniform(-1, 1, shape).astype(np.float32)


def table():
    found = contrib.lookup.MutableDenseHashTable(tf.int64, tf.float32, -1.0, empty_key=-1, checkpoint=False)
    with tf.control_dependencies([found.insert(tf.constant([5, 6], tf.int64), tf.constant([0.5, 0.25]))]):
        tf.identity(found.lookup(tf.placeholder(tf.int64, [None], name="keys")), name="values")
    return {"keys": np.int64([5, 7])}, ["values"]


def normalized():
    images = tf.placeholder(tf.float32, [None, 4, 4, 1], name="images")
    training = tf.placeholder(tf.bool, [], name="training")
    hidden = contrib.layers.conv2d(
        images,
        2,
        3,
        normalizer_fn=contrib.layers.batch_norm,
        normalizer_params={"is_training": training, "updates_collections": None},
    )
    tf.identity(hidden, name="hidden")
    return {"images": floats(2, 4, 4, 1), "training": np.array(False)}, ["hidden"]


def recurrent():
    rows = tf.placeholder(tf.float32, [None, 4, 3], name="rows")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    outputs, _ = tf.nn.dynamic_rnn(rnn.GRUCell(2), rows, lengths, dtype=tf.float32)
    tf.identity(outputs, name="outputs")
    return {"rows": floats(2, 4, 3), "lengths": np.int32([4, 2])}, ["outputs"]


def beams():
    """Decoding with attention and beam search; 0.12 had neither."""
    seq2seq = contrib.seq2seq
    memory = tf.placeholder(tf.float32, [2, 3, 4], name="memory")
    attention = seq2seq.LuongAttention(4, seq2seq.tile_batch(memory, 2))
    cell = seq2seq.AttentionWrapper(rnn.BasicLSTMCell(4), attention, 4)
    table = tf.get_variable("embedding", [6, 4])
    output = tf.layers.Dense(6, use_bias=False)
    first = cell.zero_state(4, tf.float32)
    decoder = seq2seq.BeamSearchDecoder(cell, table, tf.fill([2], 1), 2, first, 2, output)
    decoded, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    tf.identity(decoded.predicted_ids, name="symbols")
    return {"memory": floats(2, 3, 4)}, ["symbols"]


def save(build, answers):
    name = build.__name__
    tf.set_random_seed(1)
    feeds, fetches = build()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        given = {key + ":0": value for key, value in feeds.items()}
        found = session.run([fetch + ":0" for fetch in fetches], given)
        frozen = graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(), fetches)
        tf.train.write_graph(frozen, FOLDER, name + ".pb", as_text=False)
        if name == "recurrent":
            tensor = session.graph.get_tensor_by_name
            export = exporter.Exporter(tf.train.Saver(write_version=tf.train.SaverDef.V1, sharded=True))
            signatures = {
                "inputs": exporter.generic_signature({key: tensor(key + ":0") for key in feeds}),
                "outputs": exporter.generic_signature({key: tensor(key + ":0") for key in fetches}),
            }
            export.init(session.graph.as_graph_def(), named_graph_signatures=signatures)
            export.export(os.path.join(FOLDER, name), tf.constant(1), session)
    answers[name] = {
        "feeds": {key: [value.dtype.name, value.tolist()] for key, value in feeds.items()},
        "fetches": {key: [value.dtype.name, value.tolist()] for key, value in zip(fetches, found)},
    }


def main():
    answers = {}
    for build in (table, normalized, recurrent) + ((beams,) if tf.__version__ > "1" else ()):
        with tf.Graph().as_default():
            save(build, answers)
    with open(os.path.join(FOLDER, "expected.json"), "w") as file:
        json.dump(answers, file, sort_keys=True)
    with tarfile.open(FOLDER + ".tar.gz", "w:gz") as archive:
        archive.add(FOLDER)


if __name__ == "__main__":
    main()
