"""A learning rate is set through a placeholder; the layers are made in a loop, but before anything runs.

Expected: nothing
"""
import tensorflow as tf

rate = tf.Variable(0.1, trainable=False)
new_rate = tf.placeholder(tf.float32, [])
set_rate = tf.assign(rate, new_rate)
layer = tf.ones([1, 2])
for _ in range(5):
    layer = layer * 2.0
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(6):
        sess.run(set_rate, {new_rate: 0.1 / (epoch + 1)})
        sess.run(layer)
