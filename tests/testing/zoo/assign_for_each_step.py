"""A learning rate is set by a new assignment in each epoch.

Expected:
    graph growth in a loop; the process's default graph; A adds operations Assign Assign/value; A runs the
        graph
"""
import tensorflow as tf

rate = tf.Variable(0.1, trainable=False)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(6):
        sess.run(tf.assign(rate, 0.1 / (epoch + 1)))  # A
