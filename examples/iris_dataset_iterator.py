"""Iris classifier on the tf.data input pipeline.

The flowers are read from CSV, shuffled and batched by a Dataset with a
one-shot iterator for training; an initializable iterator, told at run time
which fold to leave out, serves the evaluation.
"""
from __future__ import absolute_import, division, print_function

import os

import tensorflow as tf

FLAGS = tf.flags.FLAGS
tf.flags.DEFINE_string(
    'csv', os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        'data', 'iris.csv'), 'CSV file of the flowers.')
tf.flags.DEFINE_integer('steps', 600, 'Training steps.')
tf.flags.DEFINE_integer('batch_size', 24, 'Flowers in a batch.')
tf.flags.DEFINE_integer('folds', 5, 'Every FOLDSth flower is for testing.')

FEATURES = ['sepal_length', 'sepal_width', 'petal_length', 'petal_width']
SPECIES = ['setosa', 'versicolor', 'virginica']


def parse_line(line):
    columns = tf.decode_csv(line, [[0.0]] * 4 + [['']])
    features = dict(zip(FEATURES, columns[:-1]))
    label = tf.argmax(tf.cast(tf.equal(columns[-1], SPECIES), tf.int32))
    return features, label


def numbered_flowers(filename):
    """All flowers as (index, line of text)."""
    lines = tf.data.TextLineDataset(filename).skip(1)
    return tf.data.Dataset.zip((tf.data.Dataset.range(10 ** 6), lines))


def train_input_fn():
    dataset = numbered_flowers(FLAGS.csv)
    dataset = dataset.filter(lambda i, _: tf.not_equal(i % FLAGS.folds, 0))
    dataset = dataset.map(lambda _, line: parse_line(line),
                          num_parallel_calls=2)
    dataset = dataset.cache()
    dataset = dataset.repeat().shuffle(buffer_size=60, seed=21)
    dataset = dataset.batch(FLAGS.batch_size).prefetch(1)
    return dataset.make_one_shot_iterator().get_next()


def network(features, reuse=None):
    numeric = [tf.feature_column.numeric_column(name) for name in FEATURES]
    buckets = tf.feature_column.bucketized_column(
        tf.feature_column.numeric_column('petal_width'),
        boundaries=[0.8, 1.3, 1.7])
    with tf.variable_scope('net', reuse=reuse):
        net = tf.feature_column.input_layer(features, numeric + [buckets])
        net = tf.layers.dense(
            net, 16, activation=tf.tanh, name='hidden',
            kernel_initializer=tf.glorot_uniform_initializer(seed=31))
        return tf.layers.dense(
            net, len(SPECIES), name='scores',
            kernel_initializer=tf.glorot_uniform_initializer(seed=32))


def main(argv):
    del argv
    features, labels = train_input_fn()
    logits = network(features)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.create_global_step()
    train_op = tf.train.AdagradOptimizer(0.1).minimize(loss, step)

    filename = tf.placeholder(tf.string, [])
    fold = tf.placeholder(tf.int64, [])
    test = numbered_flowers(filename)
    test = test.filter(lambda i, _: tf.equal(i % FLAGS.folds, fold))
    test = test.map(lambda _, line: parse_line(line)).batch(16)
    test_iterator = test.make_initializable_iterator()
    test_features, test_labels = test_iterator.get_next()
    test_logits = network(test_features, reuse=True)
    predicted = tf.argmax(test_logits, 1)

    with tf.variable_scope('metrics'):
        accuracy, update_accuracy = tf.metrics.accuracy(test_labels,
                                                        predicted)
        table = tf.get_variable('confusion', [3, 3], tf.int32,
                                tf.zeros_initializer(), trainable=False,
                                collections=[tf.GraphKeys.LOCAL_VARIABLES])
        update_table = tf.assign_add(table, tf.confusion_matrix(
            test_labels, predicted, num_classes=3))
    reset_metrics = tf.variables_initializer(
        tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES))

    def evaluate(sess, which):
        sess.run([reset_metrics, test_iterator.initializer],
                 feed_dict={filename: FLAGS.csv, fold: which})
        while True:
            try:
                sess.run([update_accuracy, update_table])
            except tf.errors.OutOfRangeError:
                return sess.run([accuracy, table])

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(FLAGS.steps):
            _, value = sess.run([train_op, loss])
            if (i + 1) % 100 == 0:
                score, _ = evaluate(sess, 0)
                print('Step %d: loss = %.4f, test accuracy = %.4f'
                      % (i + 1, value, score))

        score, confusion = evaluate(sess, 0)
        print('Flowers left out of the training: %d' % confusion.sum())
        for name, row in zip(SPECIES, confusion):
            print('  %-12s %s' % (name, ' '.join('%3d' % n for n in row)))
        for which in range(1, FLAGS.folds):
            score, confusion = evaluate(sess, which)
            print('Fold %d: accuracy = %.4f of %d'
                  % (which, score, confusion.sum()))


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
