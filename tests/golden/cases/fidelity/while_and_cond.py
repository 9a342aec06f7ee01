"""Loops and conditions: Collatz, Newton's root, a random walk drawn inside a loop, gradients through both."""
import tensorflow as tf

tf.set_random_seed(1)
start = tf.placeholder(tf.int32, [], name="start")


def collatz(n):
    def body(n, steps):
        return tf.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1), steps + 1
    return tf.while_loop(lambda n, steps: n > 1, body, [n, tf.constant(0)])[1]


steps = collatz(start)
x = tf.placeholder(tf.float32, [])
_, root = tf.while_loop(
    lambda i, r: i < 6, lambda i, r: (i + 1, 0.5 * (r + x / r)), [tf.constant(0), tf.constant(1.0)])
slope = tf.gradients(root, x)[0]


def walk(i, position, path):
    step = tf.where(tf.random_uniform([]) < 0.5, -1.0, 1.0)
    position = position + step * tf.random_uniform([], 0.5, 1.5)
    return i + 1, position, path.write(i, position)


path = tf.TensorArray(tf.float32, size=8)
_, end, path = tf.while_loop(lambda i, *_: i < 8, walk, [0, 0.0, path], parallel_iterations=1)
walked = path.stack()

w = tf.get_variable("w", [3], initializer=tf.random_normal_initializer())
switch = tf.placeholder(tf.bool, [])
gate = tf.cond(switch, lambda: w * tf.random_normal([3]), lambda: tf.square(w))
case = tf.case([(tf.less(x, 1.0), lambda: tf.constant("small")),
                (tf.less(x, 10.0), lambda: tf.constant("middle"))],
               default=lambda: tf.constant("large"), exclusive=False)
loss = tf.reduce_sum(gate)
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for n in [6, 7, 27]:
        print("collatz", n, sess.run(steps, {start: n}))
    for value in [0.25, 2.0, 90.0]:
        print(value, sess.run([root, slope, case], {x: value}))
    print("walk", sess.run(walked), "next", sess.run(end))
    print("w", sess.run(w))
    for flag in [True, False, True]:
        print(flag, sess.run([loss, train], {switch: flag})[0], sess.run(w))
