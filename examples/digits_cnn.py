"""A small convolutional network on the UCI handwritten digits (8x8 pixels).

Trains with feed_dict batches, writes summaries for TensorBoard, saves a
checkpoint every few steps and, at the end, reads the last one back into a
fresh session to check that it gives the same answers.

    python digits_cnn.py --steps=200 --logdir=/tmp/digits
"""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf

flags = tf.app.flags
FLAGS = flags.FLAGS

flags.DEFINE_integer('steps', 400, 'Number of training steps.')
flags.DEFINE_integer('batch_size', 64, 'Images in one training batch.')
flags.DEFINE_float('learning_rate', 0.05, 'Learning rate.')
flags.DEFINE_float('momentum', 0.9, 'Momentum of the gradient descent.')
flags.DEFINE_float('dropout', 0.25, 'Fraction of the dense units to drop.')
flags.DEFINE_string('logdir', '', 'Where summaries and checkpoints go '
                    '(default: a new temporary directory).')

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    'data', 'digits.npz')
NUM_TEST = 360


def load_digits():
    with np.load(DATA) as data:
        images = data['images'].astype(np.float32) / 16.0
        labels = data['labels'].astype(np.int64)
    order = np.random.RandomState(0).permutation(len(images))
    images, labels = images[order, :, :, np.newaxis], labels[order]
    return ((images[NUM_TEST:], labels[NUM_TEST:]),
            (images[:NUM_TEST], labels[:NUM_TEST]))


class Batches(object):
    """Endless shuffled batches of a training set."""

    def __init__(self, images, labels, batch_size, seed=1):
        self.images, self.labels = images, labels
        self.batch_size = batch_size
        self.rng = np.random.RandomState(seed)
        self.epochs = -1
        self.pos = len(images)

    def next(self):
        if self.pos + self.batch_size > len(self.images):
            self.order = self.rng.permutation(len(self.images))
            self.pos = 0
            self.epochs += 1
        take = self.order[self.pos:self.pos + self.batch_size]
        self.pos += self.batch_size
        return self.images[take], self.labels[take]


def glorot(seed):
    return tf.glorot_uniform_initializer(seed=seed)


def inference(images, is_training):
    """Builds the network up to the logits."""
    net = tf.layers.conv2d(images, 16, [3, 3], padding='same',
                           activation=tf.nn.elu,
                           kernel_initializer=glorot(11), name='conv1')
    net = tf.layers.average_pooling2d(net, pool_size=2, strides=2)
    net = tf.layers.conv2d(net, 32, [3, 3], padding='same',
                           activation=tf.nn.elu,
                           kernel_initializer=glorot(12), name='conv2')
    net = tf.layers.average_pooling2d(net, pool_size=2, strides=2)
    net = tf.layers.flatten(net)
    net = tf.layers.dense(net, 64, activation=tf.nn.elu,
                          kernel_initializer=glorot(13), name='fc1')
    net = tf.layers.dropout(net, rate=FLAGS.dropout, training=is_training,
                            seed=14)
    return tf.layers.dense(net, 10, kernel_initializer=glorot(15),
                           name='logits')


def main(_):
    logdir = FLAGS.logdir or tempfile.mkdtemp(prefix='digits_cnn')
    tf.set_random_seed(42)
    (train_x, train_y), (test_x, test_y) = load_digits()
    print('train: %d images, test: %d images' % (len(train_x), len(test_x)))

    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name='images')
    labels = tf.placeholder(tf.int64, [None], name='labels')
    is_training = tf.placeholder_with_default(False, [], name='is_training')

    logits = inference(images, is_training)
    with tf.name_scope('loss'):
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits))
    with tf.name_scope('accuracy'):
        hits = tf.equal(tf.argmax(logits, 1), labels)
        accuracy = tf.reduce_mean(tf.cast(hits, tf.float32))

    global_step = tf.Variable(0, trainable=False, name='global_step')
    optimizer = tf.train.MomentumOptimizer(FLAGS.learning_rate,
                                           FLAGS.momentum)
    train_op = optimizer.minimize(loss, global_step=global_step)

    tf.summary.scalar('loss', loss)
    tf.summary.scalar('accuracy', accuracy)
    for var in tf.trainable_variables():
        tf.summary.histogram(var.op.name, var)
        print('  %-16s %s' % (var.op.name, var.get_shape().as_list()))
    merged = tf.summary.merge_all()

    saver = tf.train.Saver(max_to_keep=2)
    batches = Batches(train_x, train_y, FLAGS.batch_size)
    everything = {images: test_x, labels: test_y}

    with tf.Session() as sess:
        writer = tf.summary.FileWriter(os.path.join(logdir, 'train'),
                                       sess.graph)
        sess.run(tf.global_variables_initializer())
        while True:
            x, y = batches.next()
            _, step, value = sess.run(
                [train_op, global_step, loss],
                feed_dict={images: x, labels: y, is_training: True})
            if step % 40 == 0:
                summary, acc = sess.run([merged, accuracy],
                                        feed_dict=everything)
                writer.add_summary(summary, step)
                print('epoch %d step %d loss %.4f test accuracy %.3f'
                      % (batches.epochs, step, value, acc))
            if step % 100 == 0:
                saver.save(sess, os.path.join(logdir, 'model.ckpt'),
                           global_step=global_step)
            if step >= FLAGS.steps:
                break
        writer.close()
        saver.save(sess, os.path.join(logdir, 'model.ckpt'),
                   global_step=global_step)
        before = sess.run(logits, feed_dict={images: test_x})

    # Somebody else comes back later with nothing but the checkpoint.
    with tf.Session() as sess:
        checkpoint = tf.train.latest_checkpoint(logdir)
        saver.restore(sess, checkpoint)
        print('restored %s' % os.path.basename(checkpoint))
        after, test_loss, acc = sess.run([logits, loss, accuracy],
                                         feed_dict=everything)
        print('same logits after restore: %s' % np.array_equal(before, after))
        print('step %d test loss %.4f accuracy %.3f'
              % (global_step.eval(), test_loss, acc))

    kept = tf.train.get_checkpoint_state(logdir).all_model_checkpoint_paths
    print('checkpoints kept: %s' % ' '.join(os.path.basename(p) for p in kept))
    events = sorted(
        tf.gfile.Glob(os.path.join(logdir, 'train', 'events.out.*')))
    losses = [v.simple_value
              for e in tf.train.summary_iterator(events[-1])
              for v in e.summary.value if v.tag == 'loss_1']
    print('test losses in the event file: %s'
          % ' '.join('%.3f' % v for v in losses))


if __name__ == '__main__':
    tf.app.run()
