"""Linear regression by gradient descent, with shuffled mini-batches and noise made in the graph."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(7)
np.random.seed(7)
train_X = np.random.rand(96, 3).astype("float32")
train_Y = train_X.dot([[2.0], [-1.0], [0.5]]).astype("float32") + 0.25

X = tf.placeholder(tf.float32, [None, 3], name="X")
Y = tf.placeholder(tf.float32, [None, 1], name="Y")
noisy = X + tf.random_normal(tf.shape(X), stddev=0.01)
W = tf.Variable(tf.random_uniform([3, 1], -1.0, 1.0), name="weight")
b = tf.Variable(tf.zeros([1]), name="bias")
pred = tf.matmul(noisy, W) + b
loss = tf.reduce_sum(tf.pow(pred - Y, 2)) / (2 * 16)
l1 = 1e-3 * tf.reduce_sum(tf.abs(W))
global_step = tf.Variable(0, trainable=False)
optimizer = tf.train.GradientDescentOptimizer(0.2).minimize(loss + l1, global_step=global_step)

init = tf.global_variables_initializer()
with tf.Session() as sess:
    sess.run(init)
    print("W =", sess.run(W).ravel())
    for epoch in range(40):
        order = np.random.permutation(96)
        for start in range(0, 96, 16):
            batch = order[start:start + 16]
            sess.run(optimizer, feed_dict={X: train_X[batch], Y: train_Y[batch]})
        if (epoch + 1) % 10 == 0:
            c = sess.run(loss, feed_dict={X: train_X, Y: train_Y})
            print("Epoch:", "%04d" % (epoch + 1), "cost=", "{:.9f}".format(c),
                  "W=", sess.run(W).ravel(), "b=", sess.run(b))
    print("steps", sess.run(global_step))
