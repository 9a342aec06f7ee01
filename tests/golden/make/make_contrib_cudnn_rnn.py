"""Writes contrib/cudnn_rnn.tar.gz: a checkpoint in which 1.15.5's cells have the names that CudnnRNN layers save.

Run it with genuine TensorFlow 1.15.5: ``python make_contrib_cudnn_rnn.py``. Beside the checkpoint, outputs.json has the
cells' outputs and states for the inputs that it has, too. The layers themselves run on GPUs only in 1.15.5; the cells
compute the same.
"""

import io
import json
import os
import tarfile
import tempfile

from folders import DATA

# isort: split
import tensorflow as tf
from contrib_record import feed, values

tf.logging.set_verbosity(tf.logging.ERROR)
rnn, cudnn = tf.contrib.rnn, tf.contrib.cudnn_rnn
LAYERS, UNITS, SIZE = 2, 3, 4
CELLS = {
    "cudnn_lstm": cudnn.CudnnCompatibleLSTMCell,
    "cudnn_gru": cudnn.CudnnCompatibleGRUCell,
    "cudnn_rnn_tanh": tf.nn.rnn_cell.BasicRNNCell,
    "cudnn_rnn_relu": lambda units: tf.nn.rnn_cell.BasicRNNCell(units, activation=tf.nn.relu),
}
x, lengths = feed([5, 3, SIZE], 1), [5, 2, 4]
found = {"inputs": x.tolist(), "lengths": lengths, "cases": {}}
fetches = {}
for direction in ("unidirectional", "bidirectional"):
    for name, cell in sorted(CELLS.items()):
        for known in (False, True):
            arguments = {"dtype": tf.float32, "sequence_length": lengths if known else None}
            with tf.variable_scope("%s/%s" % (direction, name), reuse=tf.AUTO_REUSE):
                if direction == "unidirectional":
                    cells = tf.nn.rnn_cell.MultiRNNCell([cell(UNITS) for _ in range(LAYERS)])
                    y, states = tf.nn.dynamic_rnn(cells, tf.constant(x), time_major=True, **arguments)
                else:
                    y, forward, backward = rnn.stack_bidirectional_dynamic_rnn(
                        [cell(UNITS) for _ in range(LAYERS)],
                        [cell(UNITS) for _ in range(LAYERS)],
                        tf.constant(x),
                        time_major=True,
                        **arguments,
                    )
                    states = [state for pair in zip(forward, backward) for state in pair]
            state = [tf.stack([s.h for s in states]), tf.stack([s.c for s in states])] if "lstm" in name else [states]
            fetches["%s %s %s" % (direction, name, "lengths" if known else "all")] = [y] + [
                tf.stack(list(part)) if isinstance(part, (list, tuple)) else part for part in state
            ]
with tf.Session() as session, tempfile.TemporaryDirectory() as folder:
    session.run(tf.global_variables_initializer())
    for v in tf.global_variables():
        v.load(values(v.name, v.shape.as_list()) - 0.6, session)
    for key, value in session.run(fetches).items():
        found["cases"][key] = [[float("%.8g" % n) for n in part.ravel()] for part in value]
    tf.train.Saver().save(session, os.path.join(folder, "model"), write_meta_graph=False, write_state=False)
    with open(os.path.join(folder, "outputs.json"), "w") as file:
        json.dump(found, file, sort_keys=True)
    path = os.path.join(DATA, "contrib", "cudnn_rnn.tar.gz")
    with tarfile.open(path, "w:gz") as archive:
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            info = tarfile.TarInfo(name)  # without times and owners
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
