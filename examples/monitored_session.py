"""Digits with tf.train.MonitoredTrainingSession and a few hooks.

The training is run twice: the first run stops half-way, the second finds
the checkpoint of the first and goes on from there, as after a crash.

    python monitored_session.py --checkpoint_dir=/tmp/digits_mts
"""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf

tf.app.flags.DEFINE_string('checkpoint_dir', None,
                           'Default: a new temporary directory.')
tf.app.flags.DEFINE_integer('first_stop', 300, 'Steps of the first run.')
tf.app.flags.DEFINE_integer('last_step', 600, 'Step at which all ends.')
tf.app.flags.DEFINE_integer('batch_size', 60, '')
FLAGS = tf.app.flags.FLAGS

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    'data', 'digits.npz')


class BatchFeedHook(tf.train.SessionRunHook):
    """Feeds the next batch to every step of the training."""

    def __init__(self, inputs, labels, images, digits, batch_size):
        self._inputs, self._labels = inputs, labels
        self._images, self._digits = images, digits
        self._batch_size = batch_size

    def begin(self):
        self._step = tf.train.get_global_step()

    def after_create_session(self, session, coord):
        # The order follows from the step, so that a restart goes on with
        # the batches which the run before has not seen.
        self._next = int(session.run(self._step))
        print('session created at step %d' % self._next)

    def before_run(self, run_context):
        rng = np.random.RandomState(self._next)
        take = rng.randint(len(self._images), size=self._batch_size)
        self._next += 1
        return tf.train.SessionRunArgs(
            None, feed_dict={self._inputs: self._images[take],
                             self._labels: self._digits[take]})


class ReportHook(tf.train.SessionRunHook):
    """Prints the average loss now and then."""

    def __init__(self, loss, every):
        self._loss = loss
        self._timer = tf.train.SecondOrStepTimer(every_steps=every)
        self._losses = []

    def begin(self):
        self._global_step = tf.train.get_or_create_global_step()

    def before_run(self, run_context):
        return tf.train.SessionRunArgs([self._loss, self._global_step])

    def after_run(self, run_context, run_values):
        loss, step = run_values.results
        self._losses.append(loss)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            print('  step %d average loss %.4f' % (step,
                                                   np.mean(self._losses)))
            self._losses = []

    def end(self, session):
        print('  the end, at step %d' % session.run(self._global_step))


class StopWhenGood(tf.train.SessionRunHook):
    """Asks for a stop when the running average of the loss is small."""

    def __init__(self, loss, enough):
        self._loss, self._enough, self._average = loss, enough, None

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        if self._average is None:
            self._average = run_values.results
        self._average = 0.9 * self._average + 0.1 * run_values.results
        if self._average < self._enough:
            print('  good enough')
            run_context.request_stop()


def model(images, labels):
    he = tf.variance_scaling_initializer
    with tf.variable_scope('mlp'):
        net = tf.layers.dense(images, 48, tf.nn.relu, name='hidden1',
                              kernel_initializer=he(scale=2.0, seed=1))
        net = tf.layers.dense(net, 24, tf.nn.relu, name='hidden2',
                              kernel_initializer=he(scale=2.0, seed=2))
        logits = tf.layers.dense(net, 10, name='logits',
                                 kernel_initializer=he(seed=3))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    tf.losses.add_loss(1e-4 * tf.add_n(
        [tf.nn.l2_loss(v) for v in tf.trainable_variables()
         if 'kernel' in v.name]))
    return logits, loss, tf.losses.get_total_loss()


def run(directory, images, digits, last_step):
    with tf.Graph().as_default():
        tf.set_random_seed(99)
        inputs = tf.placeholder(tf.float32, [None, 64])
        labels = tf.placeholder(tf.int32, [None])
        _, loss, total_loss = model(inputs, labels)

        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.piecewise_constant(global_step, [200, 400],
                                           [0.2, 0.1, 0.05])
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(
            total_loss, global_step=global_step)
        tf.summary.scalar('loss', loss)
        tf.summary.scalar('learning_rate', rate)

        hooks = [
            BatchFeedHook(inputs, labels, images, digits, FLAGS.batch_size),
            tf.train.StopAtStepHook(last_step=last_step),
            tf.train.NanTensorHook(loss),
            tf.train.LoggingTensorHook({'loss': loss}, every_n_iter=100),
            ReportHook(loss, every=50),
            StopWhenGood(loss, enough=0.01),
        ]
        scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=3))
        with tf.train.MonitoredTrainingSession(
                checkpoint_dir=directory, scaffold=scaffold, hooks=hooks,
                save_checkpoint_secs=None, save_checkpoint_steps=100,
                save_summaries_steps=50, log_step_count_steps=100) as sess:
            while not sess.should_stop():
                sess.run(train_op)


def evaluate(directory, images, digits):
    """Reads the newest checkpoint and counts how many are right."""
    with tf.Graph().as_default():
        logits, _, _ = model(tf.constant(images), tf.constant(digits))
        right = tf.reduce_sum(tf.cast(
            tf.nn.in_top_k(logits, tf.constant(digits), 1), tf.int32))
        step = tf.train.get_or_create_global_step()
        creator = tf.train.ChiefSessionCreator(checkpoint_dir=directory)
        with tf.train.MonitoredSession(session_creator=creator) as sess:
            count, step = sess.run([right, step])
    print('checkpoint of step %d: %d of %d right'
          % (step, count, len(digits)))


def main(unused_argv):
    tf.logging.set_verbosity(tf.logging.INFO)
    directory = FLAGS.checkpoint_dir or tempfile.mkdtemp(prefix='mts')
    data = np.load(DATA)
    images = data['images'].reshape(-1, 64).astype(np.float32) / 16 - 0.3
    digits = data['labels'].astype(np.int32)
    train, test = slice(0, 1400), slice(1400, None)

    for last_step in (FLAGS.first_stop, FLAGS.last_step):
        print('run until step %d' % last_step)
        run(directory, images[train], digits[train], last_step)
        evaluate(directory, images[test], digits[test])

    print('checkpoints:')
    state = tf.train.get_checkpoint_state(directory)
    for path in state.all_model_checkpoint_paths:
        print('  %s' % os.path.basename(path))
    reader = tf.train.NewCheckpointReader(state.model_checkpoint_path)
    for name, shape in sorted(reader.get_variable_to_shape_map().items()):
        print('  %-20s %s' % (name, shape))


if __name__ == '__main__':
    tf.app.run(main=main)
