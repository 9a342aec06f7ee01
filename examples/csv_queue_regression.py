"""Linear regression fed by an input pipeline of queues and threads.

Reads the UCI wine measurements from CSV and predicts the colour intensity
of a wine from the other twelve chemical measurements.  One pass over the
file first collects the mean and deviation of every column, then the model
is trained on normalised batches.
"""
from __future__ import print_function

import argparse
import os

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
WINE_CSV = os.path.join(HERE, 'data', 'wine.csv')

COLUMNS = ['alcohol', 'malic_acid', 'ash', 'alcalinity_of_ash', 'magnesium',
           'total_phenols', 'flavanoids', 'nonflavanoid_phenols',
           'proanthocyanins', 'color_intensity', 'hue',
           'od280_od315_of_diluted_wines', 'proline']
TARGET = COLUMNS.index('color_intensity')


def read_wine(filename_queue):
    """One line of the file as (cultivar, vector of measurements)."""
    reader = tf.TextLineReader(skip_header_lines=1)
    _, line = reader.read(filename_queue)
    defaults = [[0]] + [[0.0]] * len(COLUMNS)
    values = tf.decode_csv(line, record_defaults=defaults)
    return values[0], tf.stack(values[1:])


def column_statistics(batch_size):
    """Mean and standard deviation over one epoch, whatever its order."""
    with tf.Graph().as_default(), tf.Session() as sess:
        files = tf.train.string_input_producer([WINE_CSV], num_epochs=1)
        cultivar, wine = read_wine(files)
        batch = tf.train.shuffle_batch(
            [cultivar, wine], batch_size=batch_size, capacity=200,
            min_after_dequeue=50, allow_smaller_final_batch=True, seed=5)
        sess.run([tf.global_variables_initializer(),
                  tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)

        rows, kinds, batches = [], np.zeros(4, np.int64), 0
        try:
            while not coord.should_stop():
                kind, values = sess.run(batch)
                rows.append(values)
                kinds += np.bincount(kind, minlength=4)
                batches += 1
        except tf.errors.OutOfRangeError:
            print('end of file after %d batches' % batches)
        finally:
            coord.request_stop()
        coord.join(threads)

    rows = np.concatenate(rows).astype(np.float64)
    print('%d wines, by cultivar: %s'
          % (len(rows), ' '.join(str(n) for n in kinds[1:])))
    return rows.mean(axis=0), rows.std(axis=0)


def train(mean, std, args):
    tf.reset_default_graph()
    tf.set_random_seed(7)

    with tf.name_scope('input'), tf.device('/cpu:0'):
        files = tf.train.string_input_producer([WINE_CSV], shuffle=False)
        _, wine = read_wine(files)
        wine = (wine - mean.astype(np.float32)) / std.astype(np.float32)
        # One thread and a plain FIFO: the wines come in the file's order.
        wines = tf.train.batch([wine], batch_size=args.batch_size,
                               num_threads=1, capacity=5 * args.batch_size)
        target = wines[:, TARGET:TARGET + 1]
        features = tf.concat([wines[:, :TARGET], wines[:, TARGET + 1:]], 1)

    num_features = len(COLUMNS) - 1
    with tf.variable_scope('linear'):
        w = tf.Variable(tf.truncated_normal([num_features, 1], stddev=0.1,
                                            seed=8), name='weights')
        b = tf.Variable(tf.zeros([1]), name='bias')
        prediction = tf.matmul(features, w) + b
    mse = tf.losses.mean_squared_error(labels=target, predictions=prediction)
    penalty = args.l2 * tf.nn.l2_loss(w)
    loss = mse + penalty

    global_step = tf.Variable(0, name='global_step', trainable=False)
    rate = tf.train.exponential_decay(args.learning_rate, global_step,
                                      decay_steps=200, decay_rate=0.5,
                                      staircase=True)
    train_op = tf.train.GradientDescentOptimizer(rate).minimize(
        loss, global_step=global_step)

    sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
    sess.run(tf.global_variables_initializer())
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    try:
        recent = []
        for step in range(1, args.steps + 1):
            if coord.should_stop():
                break
            _, value = sess.run([train_op, mse])
            recent.append(value)
            if step % 100 == 0:
                print('step %3d  rate %.4f  mean squared error %.4f'
                      % (step, sess.run(rate), np.mean(recent)))
                recent = []
    finally:
        coord.request_stop()
        coord.join(threads)

    weights, bias = sess.run([w, b])
    sess.close()
    return weights[:, 0], bias[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--steps', type=int, default=800)
    parser.add_argument('--batch_size', type=int, default=89)
    parser.add_argument('--learning_rate', type=float, default=0.1)
    parser.add_argument('--l2', type=float, default=0.001)
    args = parser.parse_args()

    mean, std = column_statistics(batch_size=32)
    for name, m, s in zip(COLUMNS, mean, std):
        print('  %-30s mean %8.3f  std %8.3f' % (name, m, s))

    weights, bias = train(mean, std, args)
    print('bias %.4f' % bias)
    names = [c for c in COLUMNS if c != 'color_intensity']
    for i in np.argsort(-np.abs(weights)):
        print('  %-30s %+.4f' % (names[i], weights[i]))


if __name__ == '__main__':
    main()
