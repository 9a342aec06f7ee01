"""Each checkpoint is written by a Saver of its own.

Expected:
    graph growth in a loop; the process's default graph; A adds operations save/Const save/filename
        save/filename/input; B runs the graph
"""
import os
import tempfile

import tensorflow as tf

v = tf.Variable(1.0)
loss = v * 2.0
with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(5):
        sess.run(loss)  # B
        saver = tf.train.Saver()  # A
        saver.save(sess, os.path.join(folder, "model"), global_step=step, write_meta_graph=False)
