"""Write old_graph.tar.gz: a training graph as TensorFlow 1.15.5 saves it, in each of its forms.

Run it with genuine TensorFlow 1.15.5: ``python make_old_graph.py OUT.tar.gz``. The graph has batch normalisation with
its gradients, whose shapes today's TensorFlow infers otherwise, an LSTM and Adam. The archive holds
``model.ckpt`` with its ``.meta``, a SavedModel in ``saved``, ``frozen.pb``, and ``expected.json``: inputs and outputs.
"""

import json
import os
import sys
import tarfile
import tempfile

import numpy as np
import tensorflow as tf


def build():
    """The graph: images [N, 4, 4, 1] to probabilities [N, 3]."""
    images = tf.placeholder(tf.float32, [None, 4, 4, 1], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    training = tf.placeholder_with_default(False, [], name="training")
    hidden = tf.layers.conv2d(images, 2, 3, padding="same")
    hidden = tf.nn.relu(tf.layers.batch_normalization(hidden, training=training))
    cell = tf.nn.rnn_cell.BasicLSTMCell(2)
    rows, _ = tf.nn.dynamic_rnn(cell, tf.reshape(images, [-1, 4, 4]), dtype=tf.float32)
    hidden = tf.concat([tf.layers.flatten(hidden), rows[:, -1]], 1)
    probabilities = tf.nn.softmax(tf.layers.dense(hidden, 3), name="probabilities")
    loss = -tf.reduce_mean(tf.log(tf.reduce_sum(probabilities * tf.one_hot(labels, 3), 1)))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        tf.train.AdamOptimizer(0.01).minimize(loss, name="step")
    return images, probabilities


def main(out):
    """Save the graph, with variables that are initialised but not trained."""
    tf.set_random_seed(1)
    images, probabilities = build()
    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        session.run(tf.global_variables_initializer())
        data = np.random.RandomState(0).rand(3, 4, 4, 1).astype(np.float32)
        expected = session.run(probabilities, {images: data})
        tf.train.Saver().save(session, os.path.join(folder, "model.ckpt"))
        tf.saved_model.simple_save(
            session, os.path.join(folder, "saved"), {"images": images}, {"probabilities": probabilities}
        )
        graph = session.graph.as_graph_def(add_shapes=True)
        frozen = tf.graph_util.convert_variables_to_constants(session, graph, ["probabilities"])
        tf.train.write_graph(frozen, folder, "frozen.pb", as_text=False)
        with open(os.path.join(folder, "expected.json"), "w") as file:
            json.dump({"images": data.tolist(), "probabilities": expected.tolist()}, file)
        with tarfile.open(out, "w:gz") as archive:
            archive.add(folder, "old_graph")


if __name__ == "__main__":
    main(sys.argv[1])
