"""Schedules of learning rates, moving averages of weights, accumulated gradients; a model fit with them."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(33)
rng = np.random.RandomState(33)
xs = rng.randint(-4, 5, size=(48, 4)).astype(np.float32) / 4
ys = (xs[:, :1] - 0.5 * xs[:, 1:2] + 0.25).astype(np.float32)

step = tf.Variable(0, trainable=False, name="step")
rates = [
    ("exponential", tf.train.exponential_decay(0.1, step, 10, 0.5)),
    ("staircase", tf.train.exponential_decay(0.1, step, 10, 0.5, staircase=True)),
    ("polynomial", tf.train.polynomial_decay(0.1, step, 30, 0.01, power=2.0)),
    ("piecewise", tf.train.piecewise_constant(step, [8, 16], [0.1, 0.05, 0.01])),
    ("inverse time", tf.train.inverse_time_decay(0.1, step, 10, 0.5)),
    ("natural", tf.train.natural_exp_decay(0.1, step, 10, 0.5)),
    ("cosine", tf.train.cosine_decay(0.1, step, 30)),
    ("noisy", tf.train.noisy_linear_cosine_decay(0.1, step, 30)),
]
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
w = tf.Variable(tf.random_normal([4, 1]), name="w")
b = tf.Variable(0.0, name="b")
loss = tf.reduce_mean(tf.abs(tf.matmul(x, w) + b - y)) + tf.nn.l2_loss(w) * 0.01
optimizer = tf.train.GradientDescentOptimizer(dict(rates)["piecewise"])
grads = optimizer.compute_gradients(loss)
sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False) for _, v in grads]
zero = [s.assign(tf.zeros_like(s)) for s in sums]
accumulate = [s.assign_add(g / 3) for s, (g, _) in zip(sums, grads)]
apply = optimizer.apply_gradients([(s, v) for s, (_, v) in zip(sums, grads)], global_step=step)
ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
with tf.control_dependencies([apply]):
    train = ema.apply([w, b])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(25):
        sess.run(zero)
        for part in range(3):
            feed = {x: xs[part * 16:part * 16 + 16], y: ys[part * 16:part * 16 + 16]}
            sess.run(accumulate, feed)
        sess.run(train)
        if i % 8 == 0:
            print("step", sess.run(step), "loss", sess.run(loss, {x: xs, y: ys}))
            print("  ".join("%s %.6f" % (name, sess.run(rate)) for name, rate in rates[:-1]))
            print("noisy %.5f" % sess.run(rates[-1][1]))
    print("w", sess.run(w).ravel(), "average", sess.run(ema.average(w)).ravel(), sess.run([b, ema.average(b)]))
    print(sorted(ema.variables_to_restore()))
