"""A program of TensorFlow 1 with something of each that can part: seeds, kernels, constants, data.

Its golden, ``verify.npz``, is what recorder.py wrote about it on TensorFlow 1.15.5; see ``make_recorded.py``. The tests
of verdicts change a line of it, and ask why it parts.
"""
import numpy as np
import tensorflow as tf

RATE = 0.1

tf.set_random_seed(11)
rng = np.random.RandomState(5)
x = tf.placeholder(tf.float32, [None, 6], name='x')
y = tf.placeholder(tf.float32, [None, 1], name='y')
hidden = tf.layers.dense(
    x, 8, activation=tf.nn.tanh, kernel_initializer=tf.random_normal_initializer(stddev=0.3), name='hidden')
kept = tf.nn.dropout(hidden, keep_prob=0.8)
out = tf.layers.dense(kept, 1, name='out')
loss = tf.reduce_mean(tf.square(out - y), name='loss')
train_op = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(5):
        batch = rng.uniform(-1, 1, size=[8, 6]).astype(np.float32)
        _, now = sess.run([train_op, loss], {x: batch, y: batch.sum(axis=1, keepdims=True)})
        print('%d: %.5f' % (step, now))
