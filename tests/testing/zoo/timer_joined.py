"""A timer saves a checkpoint with a Saver that was made before.

Expected: nothing
"""
import os
import tempfile
import threading

import tensorflow as tf

v = tf.Variable(1.0)
saver = tf.train.Saver()
with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    timer = threading.Timer(0.01, lambda: saver.save(sess, os.path.join(folder, "model.ckpt"), write_meta_graph=False))
    timer.start()
    timer.join()
    sess.run(v + 1.0)
