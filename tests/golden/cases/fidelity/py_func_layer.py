"""Python inside a graph: py_func with a gradient of its own, an op whose gradient is overridden, custom_gradient."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(90)
np.random.seed(90)


def py_func(func, inp, Tout, name=None, grad=None):
    rnd_name = "PyFuncGrad%d" % np.random.randint(0, 10 ** 8)
    tf.RegisterGradient(rnd_name)(grad)
    with tf.get_default_graph().gradient_override_map({"PyFunc": rnd_name}):
        return tf.py_func(func, inp, Tout, stateful=True, name=name)


def hard_step(x):
    return (x > 0).astype(np.float32)


def straight_through(op, grad):
    return grad * tf.cast(tf.abs(op.inputs[0]) < 1.0, tf.float32)


@tf.custom_gradient
def halved(x):
    return x * 1.0, lambda dy: dy * 0.5


@tf.RegisterGradient("Reversed")
def reversed_gradient(op, grad):
    return -grad


def noise(shape):
    return np.random.uniform(-0.1, 0.1, size=shape).astype(np.float32)


x = tf.placeholder(tf.float32, [None, 4])
w = tf.Variable(tf.random_normal([4, 5]))
v = tf.Variable(tf.random_uniform([5, 1]))
z = tf.matmul(x, w) + tf.reshape(tf.py_func(noise, [tf.constant([5])], tf.float32), [5])
bits = py_func(hard_step, [z], tf.float32, grad=straight_through)
bits.set_shape([None, 5])
out = halved(tf.matmul(bits, v))
graph = tf.get_default_graph()
with graph.gradient_override_map({"Identity": "Reversed"}):
    adversary = tf.identity(out)
loss = tf.reduce_mean(tf.square(out - 1.0))
other = tf.reduce_mean(adversary)
gradients = tf.gradients(other, [v])[0]
train = tf.train.GradientDescentOptimizer(0.2).minimize(loss)

data = np.random.choice([-1.0, -0.5, 0.25, 1.0], size=(16, 4)).astype(np.float32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(6):
        value, b, _ = sess.run([loss, bits, train], {x: data})
        print(i, "loss", value, "bits on", int(b.sum()))
    print("reversed", sess.run(gradients, {x: data}).ravel())
    print("w", sess.run(w)[0])
    print(sess.run(tf.py_func(lambda a, b: (a + b, str(a.dtype)), [1.5, np.float32(2)], [tf.float32, tf.string])))
