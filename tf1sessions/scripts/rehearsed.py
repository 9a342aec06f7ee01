"""A small program of TensorFlow 1, for :func:`tf1sessions.scripts.program.rehearse`: a layer, a step, a prediction."""

from __future__ import annotations

import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
y = tf.layers.dense(x, 2)
step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y)))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(step, {x: [[1.0, 2.0, 3.0, 4.0]]})
    session.run(y, {x: [[1.0, 2.0, 3.0, 4.0]]})
