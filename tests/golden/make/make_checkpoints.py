"""Records checkpoints of genuine TensorFlow 1.15.5: ``python make_checkpoints.py``.

Writes checkpoints.tar.gz in ../data, with a checkpoint for each case (the values after some steps of training),
and checkpoints.json.gz: what each graph gave for which inputs, and the losses of the next steps. To be run with the
Python of an environment that has TensorFlow 1.15. The inputs are those of :func:`numbers`, which the tests have too.

``python make_checkpoints.py back FOLDER`` instead restores what ``python tests/porting/checkpoint_cases.py FOLDER`` has
written with today's TensorFlow, each into the graph of its case, by ``tf.train.Saver``; it trains on and writes
checkpoints_back.json.gz.
"""

import gzip
import json
import os
import shutil
import sys
import tarfile
import tempfile

import numpy as np
import tensorflow as tf
from folders import DATA

v1 = tf.compat.v1
CASES = {}
# Steps before the checkpoint and after it; and how many of these today's TensorFlow makes before it writes back.
BEFORE, AFTER, BETWEEN = 4, 6, 2
# Cases whose graph is beside the checkpoint.
WITH_GRAPH = {"train_lstm"}


def numbers(seed, *shape):
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def case(build):
    """``build`` returns a dictionary: x and output, or x, loss and train; and what its saver is to be like."""
    CASES[build.__name__] = build
    return build


# ------------------------------------------------------------------------------------------------------- optimizers

OPTIMIZERS = {
    "sgd": lambda: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: v1.train.MomentumOptimizer(0.05, 0.9),
    "nesterov": lambda: v1.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "adam": lambda: v1.train.AdamOptimizer(0.05),
    "rmsprop": lambda: v1.train.RMSPropOptimizer(0.02),
    "rmsprop_momentum": lambda: v1.train.RMSPropOptimizer(0.02, momentum=0.5),
    "rmsprop_centered": lambda: v1.train.RMSPropOptimizer(0.02, momentum=0.5, centered=True),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.1),
    "adadelta": lambda: v1.train.AdadeltaOptimizer(1.0),
    "ftrl": lambda: v1.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001, l2_regularization_strength=0.001),
}


def trained(make):
    """A small network, its optimizer, and a count of steps."""

    def build():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        hidden = v1.layers.dense(x, 4, tf.tanh, name="hidden")
        loss = tf.reduce_mean(tf.square(v1.layers.dense(hidden, 1, name="out") - 1.0))
        step = v1.train.get_or_create_global_step()
        return {"x": x, "shape": [5, 3], "loss": loss, "train": make().minimize(loss, global_step=step)}

    return build


for name, make in OPTIMIZERS.items():
    CASES["train_" + name] = trained(make)


@case
def train_lstm():
    """Slots of a cell: their parts lie otherwise in Keras."""
    x = v1.placeholder(tf.float32, [None, 4, 3], name="x")
    states, _ = v1.nn.dynamic_rnn(v1.nn.rnn_cell.BasicLSTMCell(2), x, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(v1.layers.dense(states[:, -1], 1) - 1.0))
    step = v1.train.get_or_create_global_step()
    train = v1.train.AdamOptimizer(0.05).minimize(loss, global_step=step)
    return {"x": x, "shape": [5, 4, 3], "loss": loss, "train": train}


@case
def train_average():
    """Moving averages of what is trained, an optimizer in a scope and with a name of its own."""
    x = v1.placeholder(tf.float32, [None, 3], name="x")
    output = v1.layers.dense(x, 2)
    loss = tf.reduce_mean(tf.square(output - 1.0))
    step = v1.train.get_or_create_global_step()
    with v1.variable_scope("training"):
        train = v1.train.AdamOptimizer(0.05, name="Mine").minimize(loss, global_step=step)
        average = tf.train.ExponentialMovingAverage(0.9)
        with tf.control_dependencies([train]):
            train = average.apply(v1.trainable_variables())
    return {"x": x, "shape": [5, 3], "loss": loss, "train": train}


@case
def train_gan():
    """Two optimizers of one kind, each with its own variables."""
    x = v1.placeholder(tf.float32, [None, 3], name="x")
    with v1.variable_scope("G"):
        fake = v1.layers.dense(x, 3)
    with v1.variable_scope("D"):
        score = v1.layers.dense(fake, 1)
    loss = tf.reduce_mean(tf.square(score - 1.0))
    judge, maker = v1.train.AdamOptimizer(0.05), v1.train.AdamOptimizer(0.02)
    for_judge = judge.compute_gradients(-loss, v1.trainable_variables("D"))
    for_maker = maker.compute_gradients(loss, v1.trainable_variables("G"))
    with tf.control_dependencies([gradient for gradient, _ in for_judge + for_maker]):  # both before either is applied
        train = tf.group(judge.apply_gradients(for_judge), maker.apply_gradients(for_maker))
    return {"x": x, "shape": [5, 3], "loss": loss, "train": train}


# ----------------------------------------------------------------------------------------------------------- layers


@case
def layers_cnn():
    x = v1.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    h = v1.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu)
    h = v1.layers.batch_normalization(h)
    h = v1.layers.conv2d(h, 4, 3, padding="same", activation=tf.nn.relu)
    h = v1.layers.batch_normalization(h)
    h = v1.layers.separable_conv2d(h, 5, 3, padding="same")
    h = v1.layers.conv2d_transpose(h, 2, 3, strides=2, padding="same")
    h = v1.layers.dense(v1.layers.flatten(h), 6, tf.nn.relu)
    return {"x": x, "shape": [2, 8, 8, 3], "output": v1.layers.dense(h, 3), "scale": 0.05}  # its outputs are about 1


@case
def slim_cnn():
    slim = tf.contrib.slim
    x = v1.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    with v1.variable_scope("net"):
        h = slim.conv2d(x, 4, 3, normalizer_fn=slim.batch_norm, normalizer_params={"is_training": False})
        h = slim.conv2d(h, 4, 3)
        h = slim.fully_connected(slim.flatten(h), 6)
        return {"x": x, "shape": [2, 8, 8, 3], "output": slim.fully_connected(h, 3, activation_fn=None, scope="logits")}


def recurrent(make):
    def build():
        x = v1.placeholder(tf.float32, [None, 5, 3], name="x")
        output, _ = v1.nn.dynamic_rnn(make(), x, dtype=tf.float32)
        return {"x": x, "shape": [2, 5, 3], "output": output}

    return build


cell = v1.nn.rnn_cell
CASES["lstm"] = recurrent(lambda: cell.LSTMCell(4, forget_bias=0.7))
CASES["gru"] = recurrent(lambda: cell.GRUCell(4))
CASES["simple_rnn"] = recurrent(lambda: cell.BasicRNNCell(4))
CASES["two_lstms"] = recurrent(lambda: cell.MultiRNNCell([cell.BasicLSTMCell(3), cell.BasicLSTMCell(3)]))
CASES["peepholes"] = recurrent(lambda: cell.LSTMCell(4, use_peepholes=True))


@case
def bidirectional():
    x = v1.placeholder(tf.float32, [None, 5, 3], name="x")
    both, _ = v1.nn.bidirectional_dynamic_rnn(cell.BasicLSTMCell(2), cell.BasicLSTMCell(2), x, dtype=tf.float32)
    return {"x": x, "shape": [2, 5, 3], "output": tf.concat(both, axis=-1)}


@case
def embedding():
    x = v1.placeholder(tf.float32, [None, 3], name="x")
    table = v1.get_variable("word_vectors", [7, 3])
    return {"x": x, "shape": [2, 3], "output": tf.matmul(x, table, transpose_b=True)}


# ----------------------------------------------------------------------------------------------------- forms of files


def partitioned(second="", **options):
    """``second``: where a part of the variables is. A sharded saver writes a file for each machine."""

    def build():
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        with v1.variable_scope("", partitioner=tf.fixed_size_partitioner(2, axis=1)):
            hidden = v1.layers.dense(x, 5, name="hidden", use_bias=False)
        with tf.device(second):
            loss = tf.reduce_mean(tf.square(v1.layers.dense(hidden, 1, name="out") - 1.0))
        step = v1.train.get_or_create_global_step()
        train = v1.train.AdamOptimizer(0.05).minimize(loss, global_step=step)
        return {"x": x, "shape": [5, 3], "loss": loss, "train": train, "saver": options}

    return build


CASES["partitioned_v2"] = partitioned()
CASES["partitioned_v1"] = partitioned(write_version=v1.train.SaverDef.V1)
CASES["sharded_v1"] = partitioned("/job:worker/task:1", write_version=v1.train.SaverDef.V1, sharded=True)
CASES["sharded_v2"] = partitioned("/job:worker/task:1", sharded=True)


# --------------------------------------------------------------------------------------------------------- recording


SERVERS = []


def two_machines():
    """The address of the first of two that are both this process."""
    if not SERVERS:
        cluster = tf.train.ClusterSpec({"worker": ["localhost:23451", "localhost:23452"]})
        SERVERS.extend(tf.train.Server(cluster, "worker", index) for index in range(2))
    return SERVERS[0].target


def start(name):
    """Builds a case's graph, and a session for it."""
    v1.reset_default_graph()
    v1.set_random_seed(1)
    made = CASES[name]()
    return made, v1.Session(two_machines() if made.get("saver", {}).get("sharded") else "")


def initialize(session):
    session.run(v1.global_variables_initializer())
    for index, variable in enumerate(v1.trainable_variables()):
        shape = variable.shape.as_list()
        variable.load(0.5 * numbers(100 + index, *shape), session)
    for index, variable in enumerate(v1.global_variables()):
        if "moving_" in variable.op.name:
            variable.load(0.5 + np.abs(numbers(200 + index, *variable.shape.as_list())), session)


def short(value):
    """Nested lists of the numbers of an array, with the nine digits that tell a float32."""
    if np.ndim(value):
        return [short(each) for each in value]
    return int(value) if np.issubdtype(np.asarray(value).dtype, np.integer) else float("%.9g" % value)


def losses(made, session, first, count):
    found = []
    for step in range(first, first + count):
        loss, _ = session.run([made["loss"], made["train"]], {made["x"]: numbers(step, *made["shape"])})
        found.append(float(loss))
    return found


def output(made, session):
    given = np.float32(made.get("scale", 1.0)) * numbers(0, *made["shape"])
    return short(session.run(made["output"], {made["x"]: given}))


def record(name, folder):
    made, session = start(name)
    initialize(session)
    reported = {key: made[key] for key in ("shape", "scale") if key in made}
    if "train" in made:
        reported["before"] = losses(made, session, 0, BEFORE)
    saver = v1.train.Saver(**made.get("saver", {}))
    meta = name in WITH_GRAPH
    path = saver.save(session, os.path.join(folder, name, "model.ckpt"), write_meta_graph=meta, write_state=False)
    reported["files"] = os.path.relpath(path, folder)
    reported["values"] = {
        variable.op.name: short(session.run(variable))
        for variable in v1.global_variables()
        if variable._save_slice_info is None
    }
    if "train" in made:
        reported["losses"] = losses(made, session, BEFORE, AFTER)
    else:
        reported["output"] = output(made, session)
    return reported


def restored(name, path):
    made, session = start(name)
    initialize(session)
    v1.train.Saver().restore(session, path)
    values = {variable.op.name: short(session.run(variable)) for variable in v1.global_variables()}
    if "train" in made:
        return {"values": values, "losses": losses(made, session, BEFORE + BETWEEN, AFTER - BETWEEN)}
    return {"values": values, "output": output(made, session)}


def write(name, found):
    text = json.dumps(found, sort_keys=True)
    with gzip.GzipFile(os.path.join(DATA, name), "wb", mtime=0) as file:
        file.write(text.encode())
    print(name, os.path.getsize(os.path.join(DATA, name)), "bytes")


def main():
    if sys.argv[1:2] == ["back"]:
        folder = sys.argv[2]
        names = [name for name in CASES if os.path.exists(os.path.join(folder, name + ".index"))]
        write("checkpoints_back.json.gz", {name: restored(name, os.path.join(folder, name)) for name in names})
        return
    folder = tempfile.mkdtemp()
    for name in CASES:
        os.mkdir(os.path.join(folder, name))
    write("checkpoints.json.gz", {name: record(name, folder) for name in CASES})
    with tarfile.open(os.path.join(DATA, "checkpoints.tar.gz"), "w:gz") as archive:
        for name in CASES:
            archive.add(os.path.join(folder, name), name)
    print("checkpoints.tar.gz", os.path.getsize(os.path.join(DATA, "checkpoints.tar.gz")), "bytes")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
