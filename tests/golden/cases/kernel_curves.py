"""How training parts from TensorFlow 1.15.5's by the last bits of kernels: networks with the same seeds on both sides.

``python kernel_curves.py record OLD.json`` with the Python of an environment that has TensorFlow 1.15, the same with
``tf1sessions run kernel_curves.py -- record NEW.json``, and then ``python kernel_curves.py compare OLD.json NEW.json``,
which prints a table: when the losses, in six digits, differ first, and by how much of themselves they do later.
"""

import json
import sys

STEPS = 400


def values(shape, low, high, salt, dtype):
    from kernel_cases import values

    return values(shape, low, high, dtype, salt)


def initial(shape, dtype=None, partition_info=None, **_):
    """Weights that nothing draws."""
    import tensorflow as tf

    shape = [int(size) for size in shape]
    scale = (6.0 / (sum(shape[-2:]) if len(shape) > 1 else 1e9)) ** 0.5
    return tf.constant(values(shape, -scale, scale, len(shape), tf.as_dtype(dtype or "float32").as_numpy_dtype))


def mlp(tf, x):
    hidden = tf.layers.dense(x, 64, tf.nn.relu, kernel_initializer=initial)
    return tf.layers.dense(hidden, 10, kernel_initializer=initial)


def cnn(tf, x):
    image = tf.reshape(x, [-1, 16, 16, 1])
    hidden = tf.layers.conv2d(image, 8, 3, padding="same", activation=tf.nn.relu, kernel_initializer=initial)
    hidden = tf.layers.flatten(tf.layers.max_pooling2d(hidden, 2, 2))
    return tf.layers.dense(tf.nn.dropout(hidden, 0.8, seed=5), 10, kernel_initializer=initial)


def lstm(tf, x):
    with tf.variable_scope("rnn", initializer=initial):
        _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(32), tf.reshape(x, [-1, 16, 16]), dtype=x.dtype)
    return tf.layers.dense(state.h, 10, kernel_initializer=initial)


def batch_norm(tf, x):
    image = tf.reshape(x, [-1, 16, 16, 1])
    hidden = tf.layers.conv2d(image, 8, 3, padding="same", kernel_initializer=initial)
    hidden = tf.nn.relu(tf.layers.batch_normalization(hidden, training=True))
    return tf.layers.dense(tf.layers.flatten(hidden), 10, kernel_initializer=initial)


NETWORKS = {
    "MLP, gradient descent": (mlp, "float32", lambda tf: tf.train.GradientDescentOptimizer(0.05)),
    "MLP, Adam": (mlp, "float32", lambda tf: tf.train.AdamOptimizer(0.002)),
    "MLP, Adam, float64": (mlp, "float64", lambda tf: tf.train.AdamOptimizer(0.002)),
    "CNN with dropout, momentum": (cnn, "float32", lambda tf: tf.train.MomentumOptimizer(0.01, 0.9)),
    "CNN with dropout, Adam": (cnn, "float32", lambda tf: tf.train.AdamOptimizer(0.002)),
    "LSTM, Adam": (lstm, "float32", lambda tf: tf.train.AdamOptimizer(0.002)),
    "CNN with batch norm, gradient descent": (
        batch_norm,
        "float32",
        lambda tf: tf.train.GradientDescentOptimizer(0.02),
    ),
    "CNN with batch norm, Adam": (batch_norm, "float32", lambda tf: tf.train.AdamOptimizer(0.002)),
}


def losses(network, dtype, optimizer):
    """The loss before each step, with batches of 50 of 500 images that a hash makes, and labels that follow."""
    import tensorflow as tf

    images = values([500, 256], -1, 1, 3, dtype)
    labels = images.dot(values([256, 10], -1, 1, 4, dtype)).argmax(1).astype("int32")
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        x, y = tf.placeholder(dtype, [None, 256]), tf.placeholder(tf.int32, [None])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=network(tf, x)))
        train = optimizer(tf).minimize(loss)
        found = []
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=2)) as session:
            session.run(tf.global_variables_initializer())
            for step in range(STEPS):
                rows = slice(step * 50 % 500, step * 50 % 500 + 50)
                found.append(float(session.run([loss, train], {x: images[rows], y: labels[rows]})[0]))
    return found


def record(path):
    with open(path, "w") as file:
        json.dump({name: losses(*settings) for name, settings in NETWORKS.items()}, file)


def compare(old_path, new_path):
    with open(old_path) as old_file, open(new_path) as new_file:
        old, new = json.load(old_file), json.load(new_file)
    print("| Network | loss, step 1 | step %d | differs first | by step 10 | 100 | %d |" % (STEPS, STEPS))
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in NETWORKS:
        a, b = old[name], new[name]
        apart = [abs(left - right) / abs(left) for left, right in zip(a, b)]
        first = next((step for step in range(STEPS) if "%.6g" % a[step] != "%.6g" % b[step]), None)
        reported = ["%.0e" % max(apart[:step]) for step in (10, 100, STEPS)]
        said = "never" if first is None else "step %d" % (first + 1)
        print("| %s | %.6g | %.6g | %s | %s |" % (name, a[0], a[-1], said, " | ".join(reported)))


if __name__ == "__main__":
    {"record": record, "compare": compare}[sys.argv[1]](*sys.argv[2:])
