"""Writes ported_models.tar.xz: models of genuine TensorFlow 1.15.5, and how they went on learning there.

Run it with genuine TensorFlow 1.15.5: ``python make_ported_models.py [CASE ...]``; with names of cases, it prints how
far each learned and writes nothing. Each function of ``CASES`` builds a graph. It is trained for some steps and then
saved, as people did: a checkpoint with its .meta, and where the case says so, a SavedModel and a frozen graph. From
there on ``record.json`` says what 1.15.5 found:

- ``inputs``, ``outputs``, ``given``, ``found``: what the saved model makes of a batch;
- ``slopes``: the gradients of :func:`probe` of these outputs, with respect to variables and inputs;
- ``gradients``: those of the loss for the first of the ``batches``, by what was to be minimized;
- ``trains``, ``losses``, ``batches``, ``curve``, ``end``: how it goes on for ten steps, and the variables then;
- ``updated``: the variables after the operations in UPDATE_OPS ran once, from the checkpoint.
"""

import io
import json
import lzma
import os
import shutil
import sys
import tarfile
import tempfile

import numpy as np
import tensorflow as tf
from folders import DATA
from tensorflow import contrib

ARCHIVE = os.path.join(DATA, "ported_models.tar.xz")
CASES = {}
BEFORE, AFTER = 3, 10  # steps before and after saving


class Case(object):
    """What a builder returns.

    ``inputs`` and ``outputs`` are tensors by name; ``batch(random)`` returns feeds of a training step; ``losses`` and
    ``trains`` go together: operations that are run one after the other in each step, and what each minimizes.
    ``given`` has what the inference is fed, by default a batch's; ``frozen`` and ``saved`` tell whether to write these.
    """

    def __init__(self, inputs, outputs, batch, losses, trains, given=None, frozen=True, saved=True, assets=False):
        self.inputs, self.outputs, self.batch, self.given = inputs, outputs, batch, given
        self.losses, self.trains = losses, trains
        self.frozen, self.saved, self.assets = frozen, saved, assets


def case(build):
    CASES[build.__name__] = build
    return build


def with_resources(build):
    """The same with resource variables."""

    def with_resource_variables():
        with tf.variable_scope("", use_resource=True):
            made = build()
        made.frozen = False  # that would be the same as without
        made.saved = build is mlp
        return made

    CASES[build.__name__ + "_resource"] = with_resource_variables
    return build


def floats(random, *shape):
    """Numbers of few digits, which are packed well and are the same in every type."""
    return (random.randint(-16, 17, shape) / 8.0).astype(np.float32)


def placeholder(name, *shape, **options):
    return tf.placeholder(options.get("dtype", tf.float32), [None] + list(shape), name=name)


def cross_entropy(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")


# --------------------------------------------------------------------------------------------------- networks


@case
@with_resources
def mlp():
    """Layers, regularization, a rate that decays, summaries."""
    x, labels = placeholder("x", 4), placeholder("labels", dtype=tf.int64)
    regularizer = contrib.layers.l2_regularizer(0.01)
    hidden = tf.layers.dense(x, 8, tf.nn.relu, kernel_regularizer=regularizer, name="hidden")
    logits = tf.layers.dense(hidden, 3, name="logits")
    loss = tf.add(cross_entropy(logits, labels), tf.losses.get_regularization_loss(), name="total_loss")
    tf.summary.scalar("loss_summary", loss)
    tf.summary.merge_all(name="summaries")
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.2, step, 2, 0.9, staircase=True)
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss, step, name="step")
    return Case(
        {"x": x},
        {"logits": logits, "probabilities": tf.nn.softmax(logits, name="probabilities")},
        lambda random: {x: floats(random, 6, 4), labels: random.randint(0, 3, 6)},
        [loss],
        [train],
    )


@case
def cnn():
    """Batch normalization with a switch; the step waits for UPDATE_OPS."""
    images, labels = placeholder("images", 6, 6, 2), placeholder("labels", dtype=tf.int64)
    training = tf.placeholder_with_default(False, [], name="training")
    net = tf.layers.conv2d(images, 4, 3, padding="same", use_bias=False, name="conv")
    net = tf.nn.relu(tf.layers.batch_normalization(net, training=training, momentum=0.8, name="norm"))
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.separable_conv2d(net, 4, 2, name="separable")
    net = tf.layers.batch_normalization(net, training=training, momentum=0.8, fused=False, name="plain_norm")
    logits = tf.layers.dense(tf.layers.flatten(tf.nn.elu(net)), 3, name="logits")
    loss = cross_entropy(logits, labels)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, tf.train.create_global_step(), name="step")
    return Case(
        {"images": images, "training": training},
        {"logits": logits},
        lambda random: {images: floats(random, 4, 6, 6, 2), labels: random.randint(0, 3, 4), training: True},
        [loss],
        [train],
        given=lambda random: {images: floats(random, 4, 6, 6, 2), training: False},
    )


@case
def dropout():
    """A rate that is fed; it is 0 in what is recorded, and anything in tests that ask for masks."""
    x, labels = placeholder("x", 4), placeholder("labels", 2)
    rate = tf.placeholder_with_default(0.0, [], name="rate")
    hidden = tf.nn.dropout(tf.layers.dense(x, 8, tf.tanh, name="hidden"), rate=rate)
    y = tf.layers.dense(hidden, 2, name="out")
    loss = tf.losses.mean_squared_error(labels, y, scope="loss")
    train = tf.train.AdamOptimizer(0.02).minimize(loss, name="step")
    masked = tf.nn.dropout(x, rate=rate, name="masked")
    return Case(
        {"x": x, "rate": rate},
        {"y": y, "masked": tf.identity(masked, name="masked_x")},
        lambda random: {x: floats(random, 6, 4), labels: floats(random, 6, 2)},
        [loss],
        [train],
        frozen=False,
        given=lambda random: {x: floats(random, 6, 4), rate: 0.0},
    )


def sequences(network, optimizer, **rest):
    """Sequences [N, 5, 3] of given lengths to classes."""
    x, lengths = placeholder("x", 5, 3), placeholder("lengths", dtype=tf.int32)
    labels = placeholder("labels", dtype=tf.int64)
    outputs, last = network(x, lengths)
    logits = tf.layers.dense(last, 2, name="logits")
    loss = cross_entropy(logits, labels)
    pairs = optimizer.compute_gradients(loss)
    gradients, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], 1.0)
    train = optimizer.apply_gradients(zip(gradients, [each for _, each in pairs]), name="step")

    def batch(random):
        return {x: floats(random, 4, 5, 3), lengths: random.randint(1, 6, 4), labels: random.randint(0, 2, 4)}

    return Case(
        {"x": x, "lengths": lengths},
        {"logits": logits, "outputs": tf.identity(outputs, name="outputs")},
        batch,
        [loss],
        [train],
        **rest,
    )


@case
@with_resources
def lstm():
    def network(x, lengths):
        cell = tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True)
        cell = tf.nn.rnn_cell.MultiRNNCell([cell, tf.nn.rnn_cell.BasicLSTMCell(4)])
        outputs, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
        return outputs, state[-1].h

    return sequences(network, tf.train.AdamOptimizer(0.05))


@case
def gru():
    def network(x, lengths):
        return tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(5), x, lengths, dtype=tf.float32)

    return sequences(network, tf.train.RMSPropOptimizer(0.02, momentum=0.5), saved=False)


@case
def bidirectional():
    def network(x, lengths):
        cells = [tf.nn.rnn_cell.LSTMCell(3, num_proj=2), tf.nn.rnn_cell.GRUCell(3)]
        outputs, (forward, backward) = tf.nn.bidirectional_dynamic_rnn(
            *cells, inputs=x, sequence_length=lengths, dtype=tf.float32
        )
        return tf.concat(outputs, 2), tf.concat([forward.h, backward], 1)

    return sequences(network, tf.train.GradientDescentOptimizer(0.5), saved=False)


# --------------------------------------------------------------------------------------- attention, seq2seq


@case
def seq2seq():
    """An encoder, a decoder with attention: trained by what is given, decoded greedily and with beams."""
    words, width, begin, end = 7, 6, 1, 2
    source, lengths = placeholder("source", None, dtype=tf.int32), placeholder("lengths", dtype=tf.int32)
    target, target_lengths = placeholder("target", None, dtype=tf.int32), placeholder("target_lengths", dtype=tf.int32)
    batch_size = tf.shape(source)[0]
    embedding = tf.get_variable("embedding", [words, width])
    encoded, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(width), tf.nn.embedding_lookup(embedding, source), lengths, dtype=tf.float32
    )
    project = tf.layers.Dense(words, use_bias=False, name="project")

    def decoder(memory, memory_lengths, state, size):
        with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE):
            attention = contrib.seq2seq.LuongAttention(width, memory, memory_lengths, scale=True)
            cell = contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(width), attention, width)
            return cell, cell.zero_state(size, tf.float32).clone(cell_state=state)

    def decode(name, made, **options):
        with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE), tf.name_scope(name):
            return contrib.seq2seq.dynamic_decode(made, **options)[0]

    cell, first = decoder(encoded, lengths, state, batch_size)
    shifted = tf.concat([tf.fill([batch_size, 1], begin), target[:, :-1]], 1)
    helper = contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, shifted), target_lengths)
    logits = decode("taught", contrib.seq2seq.BasicDecoder(cell, helper, first, project)).rnn_output
    mask = tf.sequence_mask(target_lengths, dtype=tf.float32)
    loss = contrib.seq2seq.sequence_loss(logits, target, mask, name="loss")
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, name="step")

    beginnings = tf.fill([batch_size], begin)
    greedy = contrib.seq2seq.GreedyEmbeddingHelper(embedding, beginnings, end)
    greedy = contrib.seq2seq.BasicDecoder(cell, greedy, first, project)
    greedy = decode("greedy", greedy, maximum_iterations=6)
    tiled = [contrib.seq2seq.tile_batch(each, 2) for each in (encoded, lengths, state)]
    cell, first = decoder(tiled[0], tiled[1], tiled[2], batch_size * 2)
    beams = contrib.seq2seq.BeamSearchDecoder(cell, embedding, beginnings, end, first, 2, project)
    beams = decode("beams", beams, maximum_iterations=6)

    def batch(random):
        sizes = np.sort(random.randint(2, 6, 3))[::-1].copy()
        sizes[0] = 5
        sources = random.randint(3, words, (3, 5))
        return {source: sources, lengths: sizes, target: sources[:, ::-1].copy(), target_lengths: sizes}

    return Case(
        {"source": source, "lengths": lengths},
        {
            "greedy": tf.identity(greedy.sample_id, name="greedy_ids"),
            "scores": tf.identity(greedy.rnn_output, name="greedy_scores"),
            "beams": tf.identity(beams.predicted_ids, name="beam_ids"),
        },
        batch,
        [loss],
        [train],
    )


@case
def transformer():
    """Heads of attention and normalized layers, as BERT's were written."""
    ids, labels = placeholder("ids", 5, dtype=tf.int32), placeholder("labels", dtype=tf.int64)
    mask = tf.to_float(tf.not_equal(ids, 0))
    with tf.variable_scope("embeddings"):
        table = tf.get_variable("words", [9, 8], initializer=tf.truncated_normal_initializer(stddev=0.1))
        position = tf.get_variable("positions", [5, 8], initializer=tf.truncated_normal_initializer(stddev=0.1))
        net = tf.reshape(tf.gather(table, tf.reshape(ids, [-1])), [-1, 5, 8]) + position
        net = contrib.layers.layer_norm(net, begin_norm_axis=-1)

    def heads(name):
        return tf.transpose(tf.reshape(tf.layers.dense(net, 8, name=name), [-1, 5, 2, 4]), [0, 2, 1, 3])

    with tf.variable_scope("layer_0"):
        scores = tf.matmul(heads("query"), heads("key"), transpose_b=True) / 2.0
        scores += (1.0 - mask[:, None, None, :]) * -10000.0
        context = tf.matmul(tf.nn.softmax(scores), heads("value"))
        context = tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, 5, 8])
        net = contrib.layers.layer_norm(net + tf.layers.dense(context, 8, name="output"), begin_norm_axis=-1)
        inner = tf.layers.dense(net, 12, lambda x: 0.5 * x * (1.0 + tf.erf(x / np.sqrt(2.0))), name="inner")
        net = contrib.layers.layer_norm(net + tf.layers.dense(inner, 8, name="outer"), begin_norm_axis=-1)
    logits = tf.layers.dense(tf.layers.dense(net[:, 0], 8, tf.tanh, name="pooler"), 2, name="logits")
    loss = cross_entropy(logits, labels)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="step")
    return Case(
        {"ids": ids},
        {"logits": logits},
        lambda random: {ids: random.randint(0, 9, (4, 5)), labels: random.randint(0, 2, 4)},
        [loss],
        [train],
        saved=False,
        frozen=False,
    )


# ------------------------------------------------------------------------------- tables, conditions, shards


@case
def words():
    """Strings, a table from a file that is an asset, tables from memory in both directions, an embedding."""
    with open("vocabulary.txt", "w") as file:
        file.write("the\ncat\nsat\nmat\n")
    text = placeholder("text", dtype=tf.string)
    classes = placeholder("classes", dtype=tf.string)
    split = tf.string_split(text)
    table = tf.contrib.lookup.index_table_from_file("vocabulary.txt", num_oov_buckets=2)
    ids = tf.sparse_tensor_to_dense(table.lookup(split), default_value=-1)
    embedding = tf.get_variable("embedding", [6, 3])
    present = tf.to_float(ids >= 0)
    found = tf.nn.embedding_lookup(embedding, tf.maximum(ids, 0)) * present[:, :, None]
    mean = tf.reduce_sum(found, 1) / tf.reduce_sum(present, 1, keepdims=True)
    logits = tf.layers.dense(mean, 3, name="logits")
    kinds = tf.constant(["none", "some", "all"])
    labels = contrib.lookup.index_table_from_tensor(kinds, default_value=0).lookup(classes)
    name_of = contrib.lookup.index_to_string_table_from_tensor(kinds, default_value="?")
    loss = cross_entropy(logits, labels)
    train = tf.train.AdagradOptimizer(0.5).minimize(loss, name="step")
    vocabulary = np.array(["the", "cat", "sat", "mat", "dog", "on", "moon"])

    def batch(random):
        texts = [" ".join(random.choice(vocabulary, random.randint(1, 5))) for _ in range(4)]
        return {text: np.array(texts, object), classes: random.choice(["none", "some", "all"], 4).astype(object)}

    return Case(
        {"text": text},
        {"logits": logits, "class": tf.identity(name_of.lookup(tf.argmax(logits, 1)), name="class")},
        batch,
        [loss],
        [train],
        assets=True,
    )


@case
def conditions():
    """Variables that are made and read in branches, nested ones, a loop with a condition in it."""
    x, labels = placeholder("x", 3), placeholder("labels", 2)
    deep = tf.placeholder_with_default(False, [], name="deep")
    shallow = tf.layers.Dense(2, name="shallow")
    first, second = tf.layers.Dense(4, tf.tanh, name="first"), tf.layers.Dense(2, name="second")
    gate = tf.get_variable("gate", [2], initializer=tf.constant_initializer([0.5, -0.5]))
    shallow.build([None, 3]), first.build([None, 3]), second.build([None, 4])

    def twice():
        inner = second(first(x))
        return tf.cond(tf.reduce_sum(inner) > 0.0, lambda: inner * gate, lambda: inner - tf.square(gate))

    y = tf.cond(deep, twice, lambda: shallow(x))

    def step(i, total):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: total * gate, lambda: tf.sin(total) + y)

    y = tf.identity(tf.while_loop(lambda i, _: i < 3, step, [0, y])[1], name="y")
    loss = tf.losses.mean_squared_error(labels, y, scope="loss")
    train = tf.train.AdamOptimizer(0.05).minimize(loss, name="step")
    return Case(
        {"x": x, "deep": deep},
        {"y": y},
        lambda random: {x: floats(random, 4, 3), labels: floats(random, 4, 2), deep: bool(random.randint(2))},
        [loss],
        [train],
    )


@case
def partitioned():
    """Variables in shards: by rows, looked up in both ways, and by columns."""
    ids, x = placeholder("ids", dtype=tf.int64), placeholder("x", 4)
    labels = placeholder("labels", 2)
    table = tf.get_variable("table", [7, 4], partitioner=tf.fixed_size_partitioner(3))
    other = tf.get_variable("other", [6, 4], partitioner=tf.fixed_size_partitioner(2))
    net = x + tf.nn.embedding_lookup(table, ids, "div") + tf.nn.embedding_lookup(other, ids % 6, "mod")
    with tf.variable_scope("dense", partitioner=tf.min_max_variable_partitioner(2, min_slice_size=8)):
        net = contrib.layers.fully_connected(net, 6, tf.tanh)
    wide = tf.get_variable("wide", [6, 2], partitioner=tf.fixed_size_partitioner(2, axis=1))
    y = tf.matmul(net, tf.convert_to_tensor(wide), name="y")
    loss = tf.losses.mean_squared_error(labels, y, scope="loss")
    train = tf.train.FtrlOptimizer(0.2, l1_regularization_strength=0.001).minimize(loss, name="step")
    return Case(
        {"ids": ids, "x": x},
        {"y": y},
        lambda random: {ids: random.randint(0, 7, 5), x: floats(random, 5, 4), labels: floats(random, 5, 2)},
        [loss],
        [train],
    )


@case
def towers():
    """Two towers on GPUs of their own, which share the variables that the CPU has."""
    x, labels = placeholder("x", 4), placeholder("labels", dtype=tf.int64)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True)
    logits, losses, gradients = [], [], []
    for number, (part, its_labels) in enumerate(zip(tf.split(x, 2), tf.split(labels, 2))):
        with tf.device("/gpu:%d" % number), tf.name_scope("tower_%d" % number):
            with tf.variable_scope("net", reuse=number > 0):
                with contrib.framework.arg_scope([contrib.framework.model_variable], device="/cpu:0"):
                    net = contrib.layers.fully_connected(part, 6, scope="hidden")
                    logits.append(contrib.layers.fully_connected(net, 3, None, scope="logits"))
            losses.append(cross_entropy(logits[-1], its_labels))
            gradients.append(optimizer.compute_gradients(losses[-1]))
    means = [(tf.add_n([each for each, _ in pairs]) / 2.0, pairs[0][1]) for pairs in zip(*gradients)]
    train = optimizer.apply_gradients(means, tf.train.create_global_step(), name="step")
    return Case(
        {"x": x},
        {"logits": tf.concat(logits, 0, name="logits")},
        lambda random: {x: floats(random, 6, 4), labels: random.randint(0, 3, 6)},
        [tf.add_n(losses, name="loss") / 2.0],
        [train],
        saved=False,
    )


@case
def gan():
    """Two train operations with variables and optimizers of their own."""
    noise, real = placeholder("noise", 2), placeholder("real", 4)
    with tf.variable_scope("generator"):
        fake = tf.layers.dense(tf.layers.dense(noise, 6, tf.nn.leaky_relu), 4, tf.tanh)

    def judge(x, reuse):
        with tf.variable_scope("discriminator", reuse=reuse):
            return tf.layers.dense(tf.layers.dense(x, 6, tf.nn.leaky_relu), 1)

    def entropy(logits, sign):
        return tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.fill(tf.shape(logits), sign), logits=logits)
        )

    of_real, of_fake = judge(real, False), judge(fake, True)
    losses = [
        tf.add(entropy(of_real, 1.0), entropy(of_fake, 0.0), name="discriminator_loss"),
        tf.identity(entropy(of_fake, 1.0), name="generator_loss"),
    ]
    trains = [
        tf.train.AdamOptimizer(0.02, beta1=0.5, name=scope + "_adam").minimize(
            loss, var_list=tf.trainable_variables(scope), name=scope + "_step"
        )
        for scope, loss in zip(("discriminator", "generator"), losses)
    ]
    return Case(
        {"noise": noise},
        {"made": tf.identity(fake, name="made")},
        lambda random: {noise: floats(random, 5, 2), real: floats(random, 5, 4)},
        losses,
        trains,
    )


# --------------------------------------------------------------------------------------------------- optimizers


def optimized(make):
    """A network whose gradients are of rows of a table and of matrices; ``make(loss)`` gives the train operation."""

    def build():
        ids, labels = placeholder("ids", 2, dtype=tf.int32), placeholder("labels", 2)
        table = tf.get_variable("table", [6, 3])
        net = tf.reshape(tf.nn.embedding_lookup(table, ids), [-1, 6])
        y = tf.layers.dense(tf.layers.dense(net, 4, tf.tanh, name="hidden"), 2, name="y")
        loss = tf.losses.mean_squared_error(labels, y, scope="loss")
        return Case(
            {"ids": ids},
            {"y": y},
            lambda random: {ids: random.randint(0, 6, (5, 2)), labels: floats(random, 5, 2)},
            [loss],
            [make(loss)],
            frozen=False,
            saved=False,
        )

    return build


def averaged(loss):
    """The step of an optimizer, and moving averages of all variables after it."""
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(0.05).minimize(loss, step)
    with tf.control_dependencies([train]):
        return tf.train.ExponentialMovingAverage(0.9, step).apply(tf.trainable_variables())


def dual_averaged(loss):
    step = tf.train.get_or_create_global_step()
    return tf.train.AdagradDAOptimizer(0.3, step, l1_regularization_strength=0.001).minimize(loss, step)


OPTIMIZERS = {
    "gradient_descent": tf.train.GradientDescentOptimizer(0.1),
    "momentum": tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": tf.train.AdamOptimizer(0.05),
    "rms_prop": tf.train.RMSPropOptimizer(0.02, momentum=0.5),
    "centered_rms_prop": tf.train.RMSPropOptimizer(0.02, momentum=0.5, centered=True),
    "adagrad": tf.train.AdagradOptimizer(0.2),
    "adadelta": tf.train.AdadeltaOptimizer(1.0, epsilon=1e-4),
    "ftrl": tf.train.FtrlOptimizer(0.3, l1_regularization_strength=0.001),
    "proximal_gradient_descent": tf.train.ProximalGradientDescentOptimizer(0.1, 0.001, 0.001),
    "proximal_adagrad": tf.train.ProximalAdagradOptimizer(0.2, l1_regularization_strength=0.001),
}
for _name, _optimizer in OPTIMIZERS.items():
    CASES["optimizer_" + _name] = optimized(_optimizer.minimize)
CASES["optimizer_adagrad_da"] = optimized(dual_averaged)
CASES["optimizer_averages"] = optimized(averaged)


# --------------------------------------------------------------------------------------------- saving, recording


def written(value):
    """An array as JSON-able data: dtype, shape, and its bytes or strings."""
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        texts = [each.decode() if isinstance(each, bytes) else str(each) for each in array.ravel()]
        return ["string", list(array.shape), texts]
    return [array.dtype.name, list(array.shape), array.tobytes().hex()]


def probe(outputs):
    """A number that every element of the outputs takes part in; those that are no floats do not."""
    return tf.add_n([tf.reduce_sum(tf.square(each)) for each in outputs if each.dtype.is_floating])


def gradients_of(target, by_name):
    """The gradients that are not None, dense."""
    found = zip(by_name, tf.gradients(target, list(by_name.values())))
    return {name: tf.convert_to_tensor(each) for name, each in found if each is not None}


def save(session, made):
    """Writes the artifacts into the working folder."""
    saver = tf.train.Saver()
    saver.save(session, "checkpoint/model.ckpt")
    if made.saved:
        builder = tf.saved_model.Builder("saved_model")
        signature = tf.saved_model.predict_signature_def(made.inputs, made.outputs)
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {"serving_default": signature},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer() if made.assets else None,
        )
        builder.save()
    if made.frozen and not made.assets:
        names = [each.op.name for each in made.outputs.values()]
        frozen = tf.graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(), names)
        tf.train.write_graph(frozen, ".", "frozen.pb", as_text=False)


def record(build):
    """Trains, saves and goes on; returns the record."""
    random = np.random.RandomState(3)
    config = tf.ConfigProto(intra_op_parallelism_threads=1, allow_soft_placement=True)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        tf.set_random_seed(4)
        made = build()
        initialize = [tf.global_variables_initializer(), tf.tables_initializer()]
        session.run(initialize)
        for _ in range(BEFORE):
            feeds = made.batch(random)
            for train in made.trains:
                session.run(train, feeds)
        save(session, made)
        given = (made.given or made.batch)(random)
        given = {name: given[tensor] for name, tensor in made.inputs.items()}
        batches = [made.batch(random) for _ in range(AFTER)]

        variables = {each.op.name: each for each in tf.trainable_variables()}
        inputs = {name: tensor for name, tensor in made.inputs.items() if tensor.dtype.is_floating}
        slopes = gradients_of(probe(made.outputs.values()), dict(variables, **inputs))
        gradients = [gradients_of(loss, variables) for loss in made.losses]
        feeds = {made.inputs[name]: value for name, value in given.items()}
        found, slopes = session.run([made.outputs, slopes], feeds)
        gradients = session.run(gradients, batches[0])

        everything = {each.op.name: each for each in tf.global_variables()}
        begin = session.run(everything)
        curve = []
        for feeds in batches:
            curve.append([])
            for train, loss in zip(made.trains, made.losses):
                curve[-1].append(float(session.run(loss, feeds)))  # not together: a step changes what a loss reads
                session.run(train, feeds)
        end = session.run(everything)

        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        for name, variable in everything.items():
            variable.load(begin[name], session)
        session.run(updates, batches[0])
        updated = {name: value for name, value in session.run(everything).items() if not (value == begin[name]).all()}

    by_name = lambda values: {key: written(value) for key, value in values.items()}  # noqa: E731
    return {
        "inputs": {name: tensor.name for name, tensor in made.inputs.items()},
        "outputs": {name: tensor.name for name, tensor in made.outputs.items()},
        "given": by_name(
            {name: np.asarray(value, made.inputs[name].dtype.as_numpy_dtype) for name, value in given.items()}
        ),
        "found": by_name(found),
        "slopes": by_name(slopes),
        "losses": [each.name for each in made.losses],
        "trains": [each.name for each in made.trains],
        "gradients": [by_name(each) for each in gradients],
        "batches": [
            {key.op.name: written(np.asarray(value, key.dtype.as_numpy_dtype)) for key, value in feeds.items()}
            for feeds in batches
        ],
        "curve": curve,
        "trainable": sorted(variables),
        "end": by_name(end),
        "updated": by_name(updated),
    }


def pack(folder):
    """All that is in the folder as an archive that is the same each time."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, folders, files in os.walk(folder):
            folders.sort()
            for name in sorted(files):
                entry = tarfile.TarInfo(os.path.relpath(os.path.join(path, name), folder))
                entry.size = os.path.getsize(os.path.join(path, name))
                with open(os.path.join(path, name), "rb") as file:
                    archive.addfile(entry, file)
    return lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def main(names):
    tf.logging.set_verbosity(tf.logging.FATAL)
    home, folder = os.getcwd(), tempfile.mkdtemp()
    try:
        for name in names or CASES:
            os.mkdir(os.path.join(folder, name))
            os.chdir(os.path.join(folder, name))  # so that no artifact names a path of this machine
            found = record(CASES[name])
            print(name, found["curve"][0], found["curve"][-1], len(found["slopes"]), flush=True)
            with open("record.json", "w") as file:
                json.dump(found, file, sort_keys=True)
        os.chdir(home)
        archive = pack(folder)
        print(len(archive), "bytes")
        if not names:
            with open(ARCHIVE, "wb") as file:
                file.write(archive)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
