"""Functions over elements: map_fn with several outputs, scan, foldl, and an RNN written as a scan."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(12)
elems = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3))
noise = tf.random_normal([4, 3])
squares, sums = tf.map_fn(lambda e: (e[0] * e[0] + e[1], tf.reduce_sum(e[0])), (elems, noise),
                          dtype=(tf.float32, tf.float32))
fibonacci = tf.scan(lambda a, _: (a[1], a[0] + a[1]), tf.range(10), initializer=(0, 1))[0]
largest = tf.foldl(tf.maximum, noise, initializer=tf.fill([3], -10.0))
backwards = tf.foldr(lambda a, e: 2 * a + e, tf.constant([1, 2, 3, 4]))

W = tf.Variable(tf.random_uniform([3, 3], -0.5, 0.5))
U = tf.Variable(tf.truncated_normal([3, 3], stddev=0.5))
b = tf.get_variable("b", [3], initializer=tf.constant_initializer(0.1))
states = tf.scan(lambda h, x: tf.nn.relu(tf.matmul(h, W) + tf.matmul(x, U) + b),
                 tf.expand_dims(elems, 1) / 10.0, initializer=tf.zeros([1, 3]))
target = tf.random_uniform([3], seed=5)
loss = tf.reduce_sum(tf.square(states[-1, 0] - target))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
drawn = tf.map_fn(lambda i: tf.random_uniform([2], maxval=10, dtype=tf.int32), tf.range(3), parallel_iterations=1)
after = tf.random_normal([2])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([squares, sums]))
    print("fibonacci", sess.run(fibonacci), "largest", sess.run(largest), "backwards", sess.run(backwards))
    print(sess.run(drawn), sess.run(after))
    fixed = sess.run(target)
    for i in range(6):
        print("loss %.7f" % sess.run([loss, train], {target: fixed})[0])
    print("states", sess.run(states)[:, 0])
