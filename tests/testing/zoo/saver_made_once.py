"""Checkpoints are written by one Saver, and one is restored.

Expected: nothing
"""
import os
import tempfile

import tensorflow as tf

v = tf.Variable(1.0)
loss = v * 2.0
saver = tf.train.Saver(max_to_keep=2)
with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(5):
        sess.run(loss)
        saver.save(sess, os.path.join(folder, "model"), global_step=step)
    saver.restore(sess, tf.train.latest_checkpoint(folder))
    print(sess.run(loss))
