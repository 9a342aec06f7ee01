"""Benign or malignant? A perceptron with batch normalisation.

Trained on the Wisconsin diagnostic breast cancer data.  Moving averages of
the weights are kept besides those of batch normalisation, saved under the
names of the weights, and used for the final answer.
"""
from __future__ import print_function

import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    'data', 'wdbc.csv')

hparams = {
    'hidden': [32, 16],
    'batch_size': 50,
    'epochs': 60,
    'learning_rate': 0.05,
    'momentum': 0.9,
    'bn_momentum': 0.9,
    'ema_decay': 0.98,
}


def load_data():
    table = np.loadtxt(DATA, delimiter=',', skiprows=1, dtype=np.float32)
    np.random.seed(0)
    np.random.shuffle(table)
    y, x = table[:, 0].astype(np.int32), table[:, 1:]
    # Raw measurements: batch normalisation has to do the scaling.
    return x[:-119], y[:-119], x[-119:], y[-119:]


def build(x, is_training):
    net = tf.layers.batch_normalization(
        x, training=is_training, momentum=hparams['bn_momentum'],
        name='input_bn')
    for i, units in enumerate(hparams['hidden']):
        with tf.variable_scope('layer%d' % (i + 1)):
            net = tf.layers.dense(
                net, units, use_bias=False,
                kernel_initializer=tf.random_normal_initializer(
                    stddev=0.2, seed=100 + i))
            net = tf.layers.batch_normalization(
                net, training=is_training, momentum=hparams['bn_momentum'],
                epsilon=1e-3)
            net = tf.nn.relu(net)
    return tf.layers.dense(
        net, 2, name='output',
        kernel_initializer=tf.random_normal_initializer(stddev=0.2,
                                                        seed=200))


tf.reset_default_graph()
tf.set_random_seed(1)

x_train, y_train, x_test, y_test = load_data()
print('train', x_train.shape, 'test', x_test.shape,
      'benign %.3f' % y_train.mean())

x = tf.placeholder(tf.float32, [None, x_train.shape[1]], name='x')
y = tf.placeholder(tf.int32, [None], name='y')
is_training = tf.placeholder(tf.bool, [], name='is_training')

logits = build(x, is_training)
loss = tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
correct = tf.nn.in_top_k(logits, y, 1)
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

global_step = tf.train.get_or_create_global_step()
learning_rate = tf.train.polynomial_decay(
    hparams['learning_rate'], global_step, decay_steps=540,
    end_learning_rate=0.002)
optimizer = tf.train.MomentumOptimizer(learning_rate, hparams['momentum'],
                                       use_nesterov=True)

update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
print('%d updates of batch normalisation' % len(update_ops))
with tf.control_dependencies(update_ops):
    minimize = optimizer.minimize(loss, global_step=global_step)
ema = tf.train.ExponentialMovingAverage(hparams['ema_decay'], global_step)
with tf.control_dependencies([minimize]):
    train_op = ema.apply(tf.trainable_variables())

for v in tf.global_variables():
    if 'layer1' in v.name:
        print('  ', v.name, v.shape.as_list())

sess = tf.InteractiveSession()
tf.global_variables_initializer().run()

test_feed = {x: x_test, y: y_test, is_training: False}
rng = np.random.RandomState(3)
for epoch in range(1, hparams['epochs'] + 1):
    order = rng.permutation(len(x_train))
    losses = []
    for i in range(0, len(order), hparams['batch_size']):
        idx = order[i:i + hparams['batch_size']]
        _, l = sess.run([train_op, loss], feed_dict={
            x: x_train[idx], y: y_train[idx], is_training: True})
        losses.append(l)
    if epoch % 5 == 0:
        print('epoch %3d  lr %.4f  loss %.4f  test loss %.4f  acc %.3f'
              % (epoch, learning_rate.eval(), np.mean(losses),
                 loss.eval(test_feed), accuracy.eval(test_feed)))

mean = tf.get_default_graph().get_tensor_by_name(
    'layer2/batch_normalization/moving_mean:0')
print('moving mean of layer2: %.4f ... %.4f'
      % (mean.eval().min(), mean.eval().max()))
print('the same patients as one training batch: loss %.4f'
      % loss.eval({x: x_test, y: y_test, is_training: True}))

# Swap the averaged weights in, by way of a checkpoint.
directory = tempfile.mkdtemp()
try:
    path = tf.train.Saver().save(sess, os.path.join(directory, 'mlp'))
    averaged = ema.variables_to_restore()
    print('%d variables restored, %d of them averaged'
          % (len(averaged), sum(name.endswith('ExponentialMovingAverage')
                                for name in averaged)))
    tf.train.Saver(averaged).restore(sess, path)
finally:
    shutil.rmtree(directory)

print('averaged weights: test loss %.4f  acc %.3f'
      % tuple(sess.run([loss, accuracy], test_feed)))
probability = tf.nn.softmax(logits)[:, 1].eval(test_feed)
print('wrongly told: %d healthy, %d ill'
      % (np.sum((probability < 0.5) & (y_test == 1)),
         np.sum((probability >= 0.5) & (y_test == 0))))
sess.close()
