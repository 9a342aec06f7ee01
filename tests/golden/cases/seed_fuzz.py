"""Graphs of random calls, for both TensorFlows: ``python seed_fuzz.py record FIRST COUNT FILE``.

Writes the seeds of graphs FIRST to FIRST + COUNT - 1 to FILE, with the Python of genuine 1.15 or, as a script of
TensorFlow 1 (``tf1sessions run``), of today's. ``python seed_fuzz.py compare FILE FILE`` prints the numbers of those
that differ. Graph N is the same wherever it is made. seeds.json.gz has the first ones; see make_seeds.py.
"""

import json
import random
import sys

import tensorflow as tf
from seed_calls import LAYERS, LOSSES, OPTIMIZERS, ints, x

contrib = tf.contrib
layers = tf.layers
cells = tf.nn.rnn_cell

# Each takes and gives rows [N, 3], sequences [N, 6, 3], images [N, 8, 8, 3].
ROWS = LAYERS + [
    lambda value: contrib.layers.fully_connected(value, 3),
    lambda value: contrib.layers.fully_connected(value, 3, normalizer_fn=contrib.layers.batch_norm),
    lambda value: contrib.layers.dropout(value, 0.7),
    lambda value: contrib.layers.layer_norm(value),
    lambda value: contrib.slim.fully_connected(
        value, 3, weights_regularizer=contrib.slim.l2_regularizer(0.01), activation_fn=tf.tanh
    ),
    lambda value: tf.keras.layers.Dense(3, activation="relu")(value),
    lambda value: tf.keras.layers.Dropout(0.3)(value, training=True),
    lambda value: layers.dense(value, 3, tf.nn.leaky_relu),
    lambda value: layers.dense(value, 3, kernel_initializer=tf.variance_scaling_initializer(), use_bias=False),
    lambda value: tf.nn.xw_plus_b(value, tf.Variable(tf.truncated_normal([3, 3])), tf.Variable(tf.zeros([3]))),
    lambda value: value + tf.nn.embedding_lookup(tf.get_variable("e%d" % size(), [9, 3]), tf.argmax(value, 1)),
    lambda value: tf.gather(value, [2, 1, 0], axis=1),
    lambda value: tf.map_fn(lambda row: row * tf.reduce_sum(row), value),
    lambda value: tf.map_fn(tf.sigmoid, value),
    lambda value: tf.scan(lambda total, row: total * 0.5 + row, value, tf.zeros([3])),
    lambda value: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 0.5 + value), [0, value])[1],
    lambda value: tf.cond(
        tf.placeholder(tf.bool, []), lambda: value + tf.random_normal([3]), lambda: tf.sigmoid(value)
    ),
    lambda value: tf.case([(tf.placeholder(tf.bool, []), lambda: value * 2.0)], lambda: tf.tanh(value)),
    lambda value: tf.layers.dropout(value, 0.4, training=tf.placeholder(tf.bool, [])),
    lambda value: tf.layers.batch_normalization(value, training=tf.placeholder(tf.bool, [])),
    lambda value: tf.nn.elu(value) - tf.nn.selu(value),
    lambda value: tf.nn.softplus(value) * tf.sign(value),
    lambda value: tf.nn.top_k(value, 3)[0],
    lambda value: tf.reverse(value, [1]),
    lambda value: tf.cumsum(value, 1),
    lambda value: value * tf.sequence_mask(ints(None), 3, tf.float32),
    lambda value: (
        tf.tensordot(value, tf.random_uniform([3, 3], -0.1, 0.1), [[1], [1]]) if value.shape[0].value is None else value
    ),
    lambda value: tf.clip_by_norm(value, 2.0, [1]),
    lambda value: tf.Print(value, [value]),
    lambda value: tf.check_numerics(value, "bad"),
    lambda value: value + tf.one_hot(tf.multinomial(value, 1)[:, 0], 3),
    lambda value: tf.distributions.Normal(value, 1.0).sample(),
    lambda value: tf.unstack(tf.nn.static_rnn(cells.GRUCell(3), [value, value], dtype=tf.float32, scope=scope())[0])[1],
    lambda value: tf.nn.dynamic_rnn(cells.BasicLSTMCell(3), value[:, None], dtype=tf.float32, scope=scope())[0][:, 0],
    lambda value: value / tf.norm(value, axis=1, keepdims=True),
    lambda value: tf.reduce_max(tf.stack([value, -value]), 0),
    lambda value: tf.reduce_logsumexp(tf.stack([value, value], 2), 2),
    lambda value: tf.tile(value, [1, 2])[:, :3],
    lambda value: tf.pad(value, [[0, 0], [1, 1]])[:, 1:4],
    lambda value: tf.log_sigmoid(value) + tf.nn.relu6(value),
    lambda value: tf.expm1(tf.sin(value)),
]
SEQUENCES = [
    lambda value: layers.conv1d(value, 3, 3, padding="same"),
    lambda value: layers.dense(value, 3, tf.nn.relu),
    lambda value: layers.dropout(value, 0.5, training=True),
    lambda value: layers.batch_normalization(value, training=True),
    lambda value: tf.nn.dynamic_rnn(cells.GRUCell(3), value, dtype=tf.float32, scope=scope())[0],
    lambda value: tf.nn.dynamic_rnn(cells.LSTMCell(3), value, ints(None), dtype=tf.float32, scope=scope())[0],
    lambda value: tf.nn.dynamic_rnn(
        cells.DropoutWrapper(cells.BasicLSTMCell(3), output_keep_prob=0.8), value, dtype=tf.float32, scope=scope()
    )[0],
    lambda value: tf.nn.dynamic_rnn(
        cells.MultiRNNCell([cells.GRUCell(3), cells.BasicRNNCell(3)]), value, dtype=tf.float32, scope=scope()
    )[0],
    lambda value: tf.add_n(
        tf.nn.bidirectional_dynamic_rnn(cells.GRUCell(3), cells.GRUCell(3), value, dtype=tf.float32, scope=scope())[0]
    ),
    lambda value: tf.stack(
        tf.nn.static_rnn(cells.BasicLSTMCell(3), tf.unstack(value, axis=1), dtype=tf.float32, scope=scope())[0], 1
    ),
    lambda value: tf.matmul(tf.nn.softmax(tf.matmul(value, value, transpose_b=True)), value),
    lambda value: value * tf.nn.softmax(tf.reduce_sum(value, 2, keepdims=True), 1),
    lambda value: value + tf.get_variable("p%d" % size(), [6, 3]),
    lambda value: contrib.layers.layer_norm(value, begin_norm_axis=-1, begin_params_axis=-1),
    lambda value: tf.reverse_sequence(value, ints(None), 1),
    lambda value: tf.transpose(tf.transpose(value, [1, 0, 2]), [1, 0, 2]),
    lambda value: tf.nn.relu(value) - tf.reduce_mean(value, 1, keepdims=True),
    lambda value: tf.nn.dropout(value, 0.8),
    lambda value: tf.pad(value, [[0, 0], [1, 0], [0, 0]])[:, :-1],
    lambda value: tf.layers.average_pooling1d(value, 3, 1, "same"),
]
IMAGES = [
    lambda value: layers.conv2d(value, 3, 3, padding="same", activation=tf.nn.relu),
    lambda value: layers.conv2d(value, 3, 3, padding="same", use_bias=False),
    lambda value: layers.batch_normalization(value, training=True),
    lambda value: layers.batch_normalization(value, training=tf.placeholder(tf.bool, [])),
    lambda value: layers.max_pooling2d(value, 3, 1, "same"),
    lambda value: layers.average_pooling2d(value, 2, 1, "same"),
    lambda value: layers.conv2d_transpose(layers.conv2d(value, 4, 2, 2), 3, 2, 2),
    lambda value: layers.conv2d_transpose(layers.max_pooling2d(value, 2, 2), 3, 3, 2, padding="same"),
    lambda value: layers.separable_conv2d(value, 3, 3, padding="same"),
    lambda value: layers.dropout(value, 0.5, training=True),
    lambda value: contrib.layers.conv2d(value, 3, 3),
    lambda value: contrib.layers.conv2d(value, 3, 3, normalizer_fn=contrib.layers.batch_norm),
    lambda value: contrib.slim.conv2d(value, 3, 3, weights_regularizer=contrib.slim.l2_regularizer(0.01)),
    lambda value: tf.keras.layers.Conv2D(3, 3, padding="same")(value),
    lambda value: tf.keras.layers.UpSampling2D()(tf.keras.layers.MaxPooling2D()(value)),
    lambda value: tf.image.resize_images(value, [8, 8]),
    lambda value: tf.image.resize_bilinear(layers.max_pooling2d(value, 2, 2), [8, 8]),
    lambda value: tf.image.resize_nearest_neighbor(value[:, ::2, ::2], [8, 8]),
    lambda value: tf.nn.lrn(value),
    lambda value: value + layers.conv2d(value, 3, 1),
    lambda value: tf.concat([value[..., :1], layers.conv2d(value, 2, 3, padding="same")], 3),
    lambda value: value * layers.dense(tf.reduce_mean(value, [1, 2], keepdims=True), 3, tf.sigmoid),
    lambda value: tf.nn.leaky_relu(value),
    lambda value: tf.nn.conv2d(value, tf.Variable(tf.truncated_normal([3, 3, 3, 3], stddev=0.1)), [1, 1, 1, 1], "SAME"),
    lambda value: tf.nn.max_pool(value, [1, 3, 3, 1], [1, 1, 1, 1], "SAME"),
    lambda value: tf.nn.bias_add(value, tf.Variable(tf.constant(0.1, shape=[3]))),
]
PREPARED = [  # what may be done with one image [8, 8, 3] before
    lambda image: tf.image.random_flip_left_right(image),
    lambda image: tf.image.random_flip_up_down(image),
    lambda image: tf.image.random_brightness(image, 0.2),
    lambda image: tf.image.random_contrast(image, 0.2, 1.8),
    lambda image: tf.image.random_saturation(image, 0.2, 1.8),
    lambda image: tf.image.random_hue(image, 0.1),
    lambda image: tf.image.per_image_standardization(image),
    lambda image: tf.random_crop(tf.image.resize_image_with_crop_or_pad(image, 10, 10), [8, 8, 3]),
    lambda image: tf.image.resize_images(tf.image.central_crop(image, 0.5), [8, 8]),
    lambda image: tf.image.rot90(image),
]
ENDS = [  # what a program makes after it
    lambda: tf.train.Saver(),
    lambda: tf.global_variables_initializer(),
    lambda: [tf.summary.histogram("h", one) for one in tf.trainable_variables()],
    lambda: tf.train.ExponentialMovingAverage(0.9).apply(tf.trainable_variables()),
    lambda: tf.data.Dataset.range(9).shuffle(5).batch(2).make_initializable_iterator().get_next(),
    lambda: tf.train.shuffle_batch([x(3)], 2, 20, 5),
    lambda: tf.random_shuffle(tf.range(5)),
    lambda: tf.metrics.accuracy(ints(4), ints(4)),
    lambda: tf.losses.get_regularization_losses(),
]
RATES = [
    lambda now: 0.1,
    lambda now: tf.train.exponential_decay(0.1, now, 100, 0.9),
    lambda now: tf.train.piecewise_constant(now, [10], [0.1, 0.01]),
    lambda now: tf.train.polynomial_decay(0.1, now, 100),
]


def size():
    """So many operations there are: for names that are free."""
    return len(tf.global_variables())


def scope():
    return "scope%d" % size()


def trained(loss, pick):
    """The step of an optimizer, in one of the ways that programs have."""
    now = tf.train.get_or_create_global_step()
    kind = pick(range(4))
    if kind == 0:
        return pick(OPTIMIZERS)().minimize(loss, now)
    optimizer = tf.train.AdamOptimizer(pick(RATES)(now))
    pairs = [pair for pair in optimizer.compute_gradients(loss) if pair[0] is not None]
    if kind == 1:
        return optimizer.apply_gradients(pairs, now)
    gradients, variables = zip(*pairs)
    if kind == 2:
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    else:
        gradients = [tf.clip_by_value(tf.convert_to_tensor(one), -1.0, 1.0) for one in gradients]
    return optimizer.apply_gradients(zip(gradients, variables), now)


def build(number):
    """Makes graph ``number`` in the default graph."""
    draw = random.Random(number)
    pick = lambda choices: choices[int(draw.random() * len(choices))]  # noqa: E731
    count = pick([4, None])
    kind = pick(range(4))
    if kind == 0:
        value = layers.dense(x(count, 5), 3)
    elif kind == 1:
        value = tf.nn.embedding_lookup(tf.get_variable("embedding", [20, 3]), ints(count, 6))
        for _ in range(1 + int(draw.random() * 4)):
            value = pick(SEQUENCES)(value)
        value = pick([lambda: value[:, -1], lambda: tf.reduce_mean(value, 1), lambda: tf.reduce_max(value, 1)])()
    else:
        value = x(count, 8, 8, 3)
        if kind == 3:
            image = x(8, 8, 3)
            for _ in range(1 + int(draw.random() * 3)):
                image = pick(PREPARED)(image)
            image.set_shape([8, 8, 3])
            value = tf.train.batch([image], 4)
        for _ in range(1 + int(draw.random() * 5)):
            value = pick(IMAGES)(value)
        value = layers.dense(pick([layers.flatten, lambda one: tf.reduce_mean(one, [1, 2])])(value), 3)
    for _ in range(int(draw.random() * 7)):
        value = pick(ROWS)(value)
    trained(pick(LOSSES)(value), pick)
    for _ in range(int(draw.random() * 3)):
        pick(ENDS)()


def record(first, count):
    """Seeds by number."""
    from make_seeds import drawn, graph_of  # of ../make, which must be on the path; it imports this module

    return {number: drawn(graph_of(lambda number=number: build(number))) for number in range(first, first + count)}


def main(task, *arguments):
    if task == "record":
        first, count, path = arguments
        with open(path, "w") as file:
            json.dump(record(int(first), int(count)), file)
    elif task == "compare":
        one, other = (json.load(open(path)) for path in arguments)
        differ = sorted((number for number in one.keys() & other.keys() if one[number] != other[number]), key=int)
        print("differ:", *differ)
        print("of:", len(one.keys() & other.keys()))


if __name__ == "__main__":
    main(*sys.argv[1:])
