"""Programs of TensorFlow 1 that print numbers, for the tests of the step ``native``: name -> text."""

from __future__ import annotations

import textwrap

__all__ = ["PROGRAMS", "program"]

_DATA = """
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)
data = rng.rand(40, 6).astype(np.float32)
target = (data.sum(1, keepdims=True) > 3).astype(np.float32)
"""


def program(text: str) -> str:
    return _DATA + textwrap.dedent(text)


PROGRAMS = {
    "variables in dicts, and two requests": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        y = tf.placeholder(tf.float32, [None, 1])
        weights = {'h': tf.Variable(tf.random_normal([6, 8])), 'out': tf.Variable(tf.random_normal([8, 1]))}
        bias = tf.Variable(tf.zeros([1]), name='bias')

        def perceptron(x):
            # One hidden layer
            h = tf.nn.relu(tf.matmul(x, weights['h']))
            return tf.matmul(h, weights['out']) + bias

        logits = perceptron(x)
        cost = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=y))
        optimizer = tf.train.AdamOptimizer(0.05).minimize(cost)
        right = tf.equal(tf.to_float(logits > 0), y)
        accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
        init = tf.global_variables_initializer()
        with tf.Session() as sess:
            sess.run(init)
            for i in range(6):
                _, c = sess.run([optimizer, cost], feed_dict={x: data[i * 5:][:10], y: target[i * 5:][:10]})
                print('cost', c)
            print('accuracy', accuracy.eval({x: data, y: target}), sess.run(bias))
        """
    ),
    "a name for several variables in turn": program(
        """
        def network(net, wide=True):
            for i in range(2):
                w = tf.get_variable('w%d' % i, [], initializer=tf.constant_initializer(i + 0.5))
                net = net * w
            with tf.variable_scope('a'):
                w = tf.get_variable('w', [6, 6], initializer=tf.constant_initializer(0.5))
                net = tf.matmul(net, w)
            with tf.variable_scope('b'):
                w = tf.Variable(tf.fill([6, 6], 0.25), name='w')
                net = tf.nn.tanh(tf.matmul(net, w))
                b = tf.Variable(0.5)
            if wide:
                b = tf.get_variable('v', [6], initializer=tf.constant_initializer(-1.0))
                net = net * b
            b = tf.get_variable('b', [6], initializer=tf.constant_initializer(2.0))
            b = b * 3.0
            return net + b

        x = tf.placeholder(tf.float32, [None, 6])
        out = network(x)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            print(sess.run(tf.reduce_sum(out, 0), {x: data}))
        """
    ),
    "functions that make layers in a loop": program(
        """
        def block(x, units, name):
            with tf.variable_scope(name):
                return tf.layers.dense(x, units, activation=tf.nn.tanh)

        def network(x, hidden, outputs=1):
            net = x
            for i, units in enumerate(hidden):
                net = block(net, units, 'block%d' % i)
            scale = tf.get_variable('scale', [outputs], initializer=tf.ones_initializer())
            return tf.layers.dense(net, outputs, name='logits') * scale

        def main():
            x = tf.placeholder(tf.float32, [None, 6])
            y = tf.placeholder(tf.float32, [None, 1])
            loss = tf.losses.mean_squared_error(y, network(x, [5, 4]))
            train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
            for v in sorted(tf.trainable_variables(), key=lambda v: v.name):
                print(v.op.name, v.get_shape().as_list())
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(8):
                    sess.run(train, {x: data, y: target})
                print('loss', sess.run(loss, {x: data, y: target}))

        main()
        """
    ),
    "two networks that train against each other": program(
        """
        def discriminator(x, reuse=False):
            with tf.variable_scope('discriminator', reuse=reuse):
                h = tf.layers.dense(x, 4, activation=tf.nn.elu)
                return tf.layers.dense(h, 1)

        def generator(z):
            with tf.variable_scope('generator'):
                return tf.layers.dense(z, 6, activation=tf.nn.sigmoid, name='out')

        z = tf.placeholder(tf.float32, [None, 2])
        x = tf.placeholder(tf.float32, [None, 6])
        fake = generator(z)
        real_logits = discriminator(x)
        fake_logits = discriminator(fake, reuse=True)
        d_loss = tf.reduce_mean(fake_logits - real_logits)
        g_loss = -tf.reduce_mean(fake_logits)
        variables = tf.trainable_variables()
        d_vars = [v for v in variables if v.name.startswith('discriminator')]
        g_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='generator')
        d_step = tf.train.RMSPropOptimizer(0.01).minimize(d_loss, var_list=d_vars)
        g_step = tf.train.GradientDescentOptimizer(0.1).minimize(g_loss, var_list=g_vars)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(5):
                noise = rng.rand(40, 2)
                _, d = sess.run([d_step, d_loss], {x: data, z: noise})
                _, g = sess.run([g_step, g_loss], {z: noise})
                print('losses', d, g)
        """
    ),
    "batch normalisation and its updates": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        y = tf.placeholder(tf.float32, [None, 1])
        training = tf.placeholder_with_default(False, [])
        h = tf.layers.dense(x, 4)
        h = tf.layers.batch_normalization(h, training=training, momentum=0.8)
        out = tf.layers.dense(tf.nn.relu(h), 1)
        loss = tf.losses.sigmoid_cross_entropy(y, out)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train = tf.train.AdagradOptimizer(0.3).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(5):
                print('training', sess.run([train, loss], {x: data, y: target, training: True})[1])
                print('not', sess.run(loss, {x: data, y: target}))
        """
    ),
    "a learning rate that decays, gradients that are clipped": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        y = tf.placeholder(tf.float32, [None, 1])
        w = tf.get_variable('w', [6, 1])
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(0.5, step, 2, 0.7, staircase=True)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        pairs = optimizer.compute_gradients(loss)
        clipped = [(tf.clip_by_value(g, -0.2, 0.2), v) for g, v in pairs]
        train = optimizer.apply_gradients(clipped, global_step=step)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(6):
                _, l, r, n = sess.run([train, loss, rate, step], {x: data, y: target})
                print('loss', l)
            print('step', sess.run(step))
        """
    ),
    "gradients by tf.gradients, and variables that are assigned": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        w = tf.Variable(np.full([6, 1], 0.1, np.float32))
        count = tf.Variable(0, trainable=False)
        out = tf.reduce_sum(tf.square(tf.matmul(x, w)))
        tvars = tf.trainable_variables()
        grads, norm = tf.clip_by_global_norm(tf.gradients(out, tvars), 1.0)
        train = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(grads, tvars))
        with tf.control_dependencies([train]):
            both = tf.group(tf.assign_add(count, 1))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(4):
                sess.run(both, {x: data})
                print('norm', sess.run(norm, {x: data}))
            print(sess.run([count, w]))
        """
    ),
    "a convolution, its checkpoint and a second session": program(
        """
        import os
        import tempfile

        images = tf.placeholder(tf.float32, [None, 6, 6, 1], name='images')
        net = tf.layers.conv2d(images, 3, [3, 3], padding='same', activation=tf.nn.relu)
        net = tf.layers.max_pooling2d(net, 2, 2)
        out = tf.layers.dense(tf.layers.flatten(net), 2)
        loss = tf.reduce_mean(tf.square(out - 1.0))
        train = tf.train.GradientDescentOptimizer(0.2).minimize(loss)
        saver = tf.train.Saver()
        folder = tempfile.mkdtemp()
        batch = rng.rand(4, 6, 6, 1)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(4):
                sess.run(train, {images: batch})
            saver.save(sess, os.path.join(folder, 'model'), global_step=4)
            print('loss', sess.run(loss, {images: batch}))
        with tf.Session() as sess:
            saver.restore(sess, tf.train.latest_checkpoint(folder))
            print('restored', sess.run(loss, {images: batch}))
        """
    ),
    "a recurrent network": program(
        """
        x = tf.placeholder(tf.float32, [None, 3, 2])

        def rnn(x, units):
            cell = tf.nn.rnn_cell.BasicLSTMCell(units)
            outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
            return outputs[:, -1]

        last = rnn(x, 4)
        loss = tf.reduce_mean(tf.square(last - 0.5))
        train = tf.train.AdamOptimizer(0.05).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(4):
                _, value = sess.run([train, loss], {x: data.reshape(-1, 3, 2)})
                print('loss', value)
        """
    ),
    "a dataset's iterator": program(
        """
        dataset = tf.data.Dataset.from_tensor_slices((data, target)).batch(16)
        features, labels = dataset.make_one_shot_iterator().get_next()
        w = tf.get_variable('w', [6, 1])
        loss = tf.reduce_mean(tf.abs(tf.matmul(features, w) - labels))
        train = tf.train.AdadeltaOptimizer(1.0).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            while True:
                try:
                    print('loss', sess.run([train, loss])[1])
                except tf.errors.OutOfRangeError:
                    break
        """
    ),
    "results that take the names of variables": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        a = tf.Variable(tf.random_normal([6, 3]), name='a')
        b = tf.Variable(tf.zeros([3]) + 0.5, name='b')
        scores = tf.nn.softmax(tf.matmul(x, a) + b)
        loss = tf.reduce_mean(tf.square(scores[:, 0] - 1.0))
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                _, value = sess.run([train, loss], {x: data})
                print('loss', value)
            a = sess.run(scores, {x: data[:1]})
            print(a, sess.run(tf.argmax(a, 1)))
            b = sess.run(scores, {x: data[1:2] + b.eval()[0]})
            print(b, sess.run(tf.argmax(b, 1)), a)
            scores = sess.run(scores, {x: data[:2]})
            print(scores.shape, sess.run(loss, {x: data}))
        """
    ),
    "the update of a metric": program(
        """
        x = tf.placeholder(tf.float32, [None, 6])
        labels = tf.placeholder(tf.int32, [None])
        scores = tf.layers.dense(x, 2)
        loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=scores)
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        accuracy = tf.metrics.accuracy(labels=labels, predictions=tf.argmax(scores, axis=1))[1]
        mean = tf.metrics.mean(loss, name='mean')[1]
        with tf.Session() as sess:
            sess.run(tf.group(tf.global_variables_initializer(), tf.local_variables_initializer()))
            for i in range(4):
                feed = {x: data[i * 10:][:10], labels: target[i * 10:][:10, 0]}
                print('means', sess.run([train, accuracy, mean], feed)[1:])
            print('accuracy', sess.run(accuracy, {x: data, labels: target[:, 0]}))
        """
    ),
    "loops and conditions of the graph": program(
        """
        n = tf.placeholder(tf.int32, [])
        start = tf.Variable([1.0, 2.0], name='start')

        def body(i, value):
            half = tf.cond(tf.reduce_sum(value) > 100.0, lambda: value / 2.0, lambda: value)
            return i + 1, half * 1.5

        _, end = tf.while_loop(lambda i, value: i < n, body, [0, start])
        miss = tf.reduce_sum(tf.square(end - 10.0))
        train = tf.train.GradientDescentOptimizer(0.001).minimize(miss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(4):
                sess.run(train, {n: 3})
                print('miss', sess.run(miss, {n: 3}), 'end', sess.run(end, {n: 4}))
            print(sess.run(start))
        """
    ),
}
PROGRAMS["names that are arguments, attributes and words"] = program(
    """
    def tower(net, units, depth=2, name='tower'):
        # units of each layer
        units = units + 1
        for dense in range(depth):
            net = tf.layers.dense(net, units)
            net = net + float(dense)
        w = tf.get_variable('w', [units, 1])
        scale = 1.0 / units
        tf.logging.debug('units %d in %s', units, name)
        return tf.matmul(net, w) * scale, 'units'

    x = tf.placeholder(tf.float32, [None, 6])
    out, word = tower(x, 3)
    loss = tf.reduce_mean(tf.square(out))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            print(sess.run([train, loss], {x: data})[1])
    """
)
PROGRAMS["a layer that is used again, variables by the scope of a step"] = program(
    """
    z = tf.placeholder(tf.float32, [None, 2])
    x = tf.placeholder(tf.float32, [None, 6])
    with tf.variable_scope('G'):
        fake = tf.layers.dense(z, 6, tf.nn.sigmoid)
    with tf.variable_scope('D'):
        real_score = tf.layers.dense(x, 1, name='score')
        fake_score = tf.layers.dense(fake, 1, name='score', reuse=True)
    d_loss = tf.reduce_mean(fake_score - real_score)
    d_step = tf.train.AdamOptimizer(0.1).minimize(
        d_loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='D'))
    g_step = tf.train.AdamOptimizer(0.1).minimize(
        -tf.reduce_mean(fake_score), var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='G'))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            # Two calls: in one, the gradient of G may read D's kernel before or after the step of D changes it.
            print(sess.run([d_step, d_loss], {x: data, z: data[:, :2]})[1])
            sess.run(g_step, {z: data[:, :2]})
    """
)
PROGRAMS["two training steps in one request"] = program(
    """
    x = tf.placeholder(tf.float32, [None, 6])
    y = tf.placeholder(tf.float32, [None, 1])
    a_loss = tf.losses.mean_squared_error(y, tf.layers.dense(x, 1, name='a'))
    b_loss = tf.losses.mean_squared_error(y, tf.layers.dense(x, 1, name='b'))
    a_step = tf.train.AdamOptimizer(0.1).minimize(
        a_loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='a'))
    b_step = tf.train.AdamOptimizer(0.1).minimize(
        b_loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='b'))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            _, a_value, b_value, _ = sess.run([a_step, a_loss, b_loss, b_step], {x: data, y: target})
            print(a_value, b_value)
    """
)
PROGRAMS["a penalty on gradients, and names that the functions use themselves"] = program(
    """
    def critic(x, units, name):
        with tf.variable_scope('critic', reuse=tf.AUTO_REUSE):
            h = tf.layers.dense(x, units, activation=tf.nn.tanh, name='h')
            return tf.layers.dense(h, 1, name=name)

    tape = 0.5
    x = tf.placeholder(tf.float32, [None, 6])
    score = critic(units=4, x=x, name='out')
    slopes = tf.gradients(score, [x])[0]
    penalty = tf.reduce_mean(tf.square(tf.sqrt(tf.reduce_sum(tf.square(slopes), 1)) - 1.0)) * tape
    variables = tf.trainable_variables()
    loss = tf.reduce_mean(score) + penalty
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss + 0.1 * penalty)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print(len(variables), 'variables')
        for _ in range(4):
            _, value, p = sess.run([train, loss, penalty], {x: data})
            print(value, p)
    """
)
PROGRAMS["classes that are given the session, and have attributes of the same names"] = program(
    """
    class Actor(object):
        \"\"\"Chooses.\"\"\"

        def __init__(self, sess, units, rate=0.1):
            \"\"\"Builds.\"\"\"
            self.sess = sess
            self.units = units

            # What is fed
            self.s = tf.placeholder(tf.float32, [None, 6], 'state')
            self.error = tf.placeholder(tf.float32, [None, 1], 'error')
            with tf.variable_scope('actor'):
                hidden = tf.layers.dense(self.s, self.units, activation=tf.nn.relu, name='hidden')
                self.probability = tf.layers.dense(hidden, 1, activation=tf.nn.sigmoid, name='probability')
            self.gain = tf.reduce_mean(tf.log(self.probability) * self.error)
            self.train = tf.train.AdamOptimizer(rate).minimize(-self.gain)

        def learn(self, s, error):
            feed_dict = {self.s: s, self.error: error}
            _, gain = self.sess.run([self.train, self.gain], feed_dict)
            return gain

        def choose(self, s):
            return self.sess.run(self.probability, {self.s: s})


    class Critic(object):
        def __init__(self, sess, rate=0.1):
            self.sess = sess
            self._build()
            self.optimizer = tf.train.AdamOptimizer(rate)
            self.train = self.optimizer.minimize(self.loss)
            self.steps = 0

        def _build(self):
            self.s = tf.placeholder(tf.float32, [None, 6])
            self.reward = tf.placeholder(tf.float32, [None, 1])
            with tf.variable_scope('critic'):
                self.v = tf.layers.dense(self.s, 1, name='v')
            self.error = self.reward - self.v  # of a step
            self.loss = tf.reduce_mean(tf.square(self.error))

        def learn(self, s, reward):
            self.steps += 1
            error, _ = self.sess.run([self.error, self.train], {self.s: s, self.reward: reward})
            return error

    sess = tf.Session()
    actor = Actor(sess, units=4)
    critic = Critic(sess)
    sess.run(tf.global_variables_initializer())
    for i in range(4):
        error = critic.learn(data[i * 5:][:5], target[i * 5:][:5])
        print(actor.learn(data[i * 5:][:5], error), error.mean())
    print(actor.choose(data[:2]), critic.steps)
    """
)
PROGRAMS["a class with a session of its own, and a copy of its variables"] = program(
    """
    class Network:
        def __init__(self, inputs):
            # How many columns
            self.inputs = inputs
            self._build_net()
            old = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope='old')
            new = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope='new')
            self.copy = [tf.assign(o, n) for o, n in zip(old, new)]
            self.sess = tf.Session()
            self.sess.run(tf.global_variables_initializer())
            self.losses = []

        def _build_net(self):
            self.x = tf.placeholder(tf.float32, [None, self.inputs])
            self.kind = tf.placeholder(tf.int32, [None])
            with tf.variable_scope('new'):
                self.value = tf.layers.dense(self.x, 2, name='out')
            with tf.variable_scope('old'):
                wanted = tf.layers.dense(self.x, 2, name='out')
            chosen = self.value * tf.one_hot(self.kind, 2)
            self.loss = tf.reduce_mean(tf.squared_difference(chosen, tf.stop_gradient(wanted) + 1.0))
            self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)

        def learn(self, batch, kind):
            if len(self.losses) % 2:
                self.sess.run(self.copy)
            _, loss = self.sess.run([self.train, self.loss], feed_dict={self.x: batch, self.kind: kind})
            self.losses.append(loss)

    network = Network(6)
    for i in range(4):
        network.learn(data[i * 5:][:5], target[i * 5:][:5, 0])
    print(network.losses)
    """
)
PROGRAMS["several objects of a class, in one session"] = program(
    """
    class Net:
        scale = 2.0

        def __init__(self, sess, name):
            self.sess = sess
            self.x = tf.placeholder(tf.float32, [None, 6])
            self.y = tf.placeholder(tf.float32, [None, 1])
            with tf.variable_scope(name):
                hidden = tf.layers.dense(self.x, 3, tf.nn.relu)
                self.out = tf.layers.dense(hidden, 1)
            self.out += tf.layers.dense(self.x, 1)
            self.loss = tf.reduce_mean(tf.square(self.out - self.y)) * self.scale
            self.train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(self.loss)

        def step(self, x, y):
            return self.sess.run([self.loss, self.train], {self.x: x, self.y: y})[0]

    with tf.Session() as sess:
        nets = [Net(sess, 'net%d' % i) for i in range(2)]
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            print([float(net.step(data[i * 5:][:5], target[i * 5:][:5])) for net in nets])
    """
)
PROGRAMS["tensors that are added to"] = program(
    """
    x = tf.placeholder(tf.float32, [None, 6])
    y = tf.layers.dense(x, 1)
    y += tf.layers.dense(x, 1)
    loss = tf.reduce_mean(tf.square(y))
    for power in range(2):
        loss += 0.1 * tf.reduce_sum(y) ** power
    loss *= 2.0
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            _, value = sess.run([train, loss], {x: data})
            print(value, sess.run(y, {x: data[:2]}))
    """
)
PROGRAMS["what a loop or a condition binds, in what several requests need"] = program(
    """
    x = tf.placeholder(tf.float32, [None, 6])
    w = tf.Variable(tf.ones([6, 2]))
    total = tf.matmul(x, w)
    size = tf.reduce_sum(total)
    for column in range(2):
        part = total[:, column]
        size += tf.reduce_sum(part) * column
    if len(data) > 100:
        size = size * 2.0
    loss = tf.square(size) * 1e-4
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            sess.run(train, {x: data})
            print(sess.run(loss, {x: data}), sess.run(size, {x: data[:2]}))
    """
)
PROGRAMS["lists of tensors, and sums that begin with a number"] = program(
    """
    class Net:
        def __init__(self, sess):
            self.sess = sess
            self.layers = []
            self.x = tf.placeholder(tf.float32, [None, 6])
            self.layers.append(tf.layers.dense(self.x, 3))
            self.layers.append(tf.tanh(self.layers[0]))
            self.out = tf.reduce_sum(self.layers[1])

        def both(self, x):
            return self.sess.run(self.out, {self.x: x}), self.sess.run(self.layers, {self.x: x})[1]

    x = tf.placeholder(tf.float32, [None, 6])
    parts = []
    for i in range(3):
        parts.append(x * i)
    size = 0.0
    for part in parts:
        size += tf.reduce_sum(part)
    mean = tf.reduce_mean(parts[2]) + 0.0 * size
    with tf.Session() as sess:
        net = Net(sess)
        sess.run(tf.global_variables_initializer())
        for i in range(2):
            print(sess.run(mean, {x: data}), i)
            print(sess.run(parts[1], {x: data[:1]}), *net.both(data[:2]))
    """
)
PROGRAMS["fetches in lists and tuples, and operations that give several tensors"] = program(
    """
    x = tf.placeholder(tf.float32, [None, 6])
    w = tf.Variable(tf.random_normal([6, 2]))
    best = tf.argmax(tf.matmul(x, w), 1)
    square = tf.matmul(x, x, transpose_a=True)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = sess.run([best], {x: data[:3]})
        print(len(found), found[0], sess.run([best], {x: data[:3]})[0], isinstance(found, list))
        pair = sess.run([[best, w], square], {x: data[:3]})
        pair[1] = 5
        pair[0].append(6)
        print(pair, isinstance(sess.run((best, square), {x: data}), tuple))
        values, vectors = sess.run(tf.self_adjoint_eig(tf.constant([[2.0, 1.0], [1.0, 3.0]])))
        print(values, abs(vectors), *sess.run(tf.nn.moments(w, [0])))
    """
)
PROGRAMS["gradients that are fed back, and whole numbers as constants"] = program(
    """
    x = tf.placeholder(tf.float32, [None, 6])
    w = tf.get_variable('w', [6, 1], initializer=tf.constant_initializer([1, 2, 3, 4, 5, 6]))
    start = tf.constant_initializer(7)
    b = tf.get_variable('b', [1], initializer=start)
    variables = tf.trainable_variables()
    gradients = tf.gradients(tf.reduce_mean(tf.square(tf.matmul(x, w) + b)), variables)
    given_w = tf.placeholder(tf.float32, [6, 1])
    given_b = tf.placeholder(tf.float32, [1])
    train = tf.train.GradientDescentOptimizer(0.01).apply_gradients(zip([given_w, given_b], variables))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            total = [0 * each for each in sess.run(variables)]
            for part in (data[:20], data[20:]):
                for j, each in enumerate(sess.run(gradients, {x: part})):
                    total[j] += each
            sess.run(train, {given_w: total[0], given_b: total[1]})
            print(sess.run(w).ravel(), sess.run(b))
    """
)
PROGRAMS["Keras layers that are called where they are made"] = program(
    """
    def network(x, units):
        h = tf.keras.layers.Dense(units, activation='relu', kernel_initializer='ones')(x)
        return tf.keras.layers.Dense(1, kernel_initializer='ones')(h)

    x = tf.placeholder(tf.float32, [None, 6])
    y = tf.placeholder(tf.float32, [None, 1])
    one, two = network(x, 3), network(x, 4)
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer='ones')])
    three = tf.reduce_sum(model(x), 1, keepdims=True)
    four = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer='ones')(x)
    loss = tf.reduce_mean(tf.square(one + two + three + four - y))
    train = tf.train.GradientDescentOptimizer(0.0001).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(4):
            print(sess.run([train, loss], {x: data, y: target})[1])
        print([v.shape.as_list() for v in tf.trainable_variables()])
        print(sess.run(three, {x: data[:2]}))
    """
)
PROGRAMS["what requests of two functions share, and random numbers in a list"] = program(
    """
    x = tf.placeholder(tf.float32, [None, 6])
    w = tf.Variable(tf.random_normal([6, 1]))
    hidden = tf.matmul(x, w)
    scaled = tf.tanh(hidden) * 2.0
    out = scaled + 1.0
    loss = tf.reduce_mean(tf.square(out))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    accuracy = tf.reduce_mean(tf.abs(out))
    best = tf.argmax(out, axis=0)
    noise = [tf.random_normal([4]) for _ in range(2)]
    both = noise[0] + noise[1]
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())

    def optimize(n):
        for i in range(n):
            sess.run(train, {x: data})
            print(sess.run(accuracy, {x: data}))

    def predict(values):
        return sess.run(best, {x: values})

    optimize(3)
    print(predict(data), np.size(sess.run(both)))
    """
)
PROGRAMS["helpers that make variables inside of expressions and of other functions"] = program(
    """
    def weight(shape):
        return tf.get_variable('W', shape, initializer=tf.truncated_normal_initializer(stddev=0.5))

    def bias_variable(shape):
        return tf.Variable(tf.constant(0.1, shape=shape), name='b')

    def layer(x, inputs, units, name):
        with tf.variable_scope(name):
            return tf.tanh(tf.matmul(x, weight([inputs, units])) + bias_variable([units]))

    x = tf.placeholder(tf.float32, [None, 6])
    training = tf.placeholder(tf.bool)
    n = int(x.get_shape()[1])
    w = tf.Variable(tf.ones([n, 1]))
    twice = tf.Variable(w.initialized_value() * 2)
    out = layer(layer(x, n, 2, 'one'), 2, 1, 'two') + tf.matmul(x, bias_variable([n, 1]) + twice)
    loss = tf.reduce_mean(tf.square(tf.cond(training, lambda: out, lambda: out * 2.0)))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    if data.sum() > 1e6:
        print(sess.run(loss, {x: data, training: 1}))
    for i in range(3):
        print(sess.run([train, loss], {x: data, training: 1})[1], sess.run(loss, {x: data, training: 0}))
    a, b = sess.run((w, twice))
    print(a.ravel(), b.ravel(), isinstance(sess.run((w, twice)), tuple))
    """
)
PROGRAMS["a recurrent network over another one"] = program(
    """
    x = tf.placeholder(tf.float32, [None, 6, 1])
    with tf.variable_scope('one'):
        outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(2), x, dtype=tf.float32)
    with tf.variable_scope('two'):
        outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3), outputs, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs - 0.3))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            print(sess.run([train, loss], {x: data[:, :, None]})[1])
        print(sess.run(state.h, {x: data[:2, :, None]}))
    """
)
PROGRAMS["a saver of listed variables, those of a cell among them"] = program(
    """
    import tempfile

    x = tf.placeholder(tf.float32, [None, 6, 1])
    cell = tf.nn.rnn_cell.BasicRNNCell(2)
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    w = tf.get_variable('w', [2, 1], initializer=tf.ones_initializer())
    out = tf.matmul(state, w)
    loss = tf.reduce_mean(tf.square(out - 1.0))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    saver = tf.train.Saver(tf.global_variables())
    folder = tempfile.TemporaryDirectory()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(out, {x: data[:, :, None]})
        path = saver.save(sess, folder.name + '/model')
        sess.run(train, {x: data[:, :, None]})
        trained = sess.run(out, {x: data[:, :, None]})
        saver.restore(sess, path)
        after = sess.run(out, {x: data[:, :, None]})
        print(abs(after - before).max(), int(abs(trained - before).max() > 0.01))
    """
)
PROGRAMS["a graph that is built where the script is the main program"] = program(
    """
    UNITS = 2

    def layer(x, inputs, units):
        w = tf.Variable(tf.random_normal([inputs, units], stddev=0.5))
        return tf.matmul(x, w)

    def show(value):
        print('value', value)

    if __name__ == '__main__':
        x = tf.placeholder(tf.float32, [None, 6])
        y = tf.placeholder(tf.float32, [None, 1])
        out = layer(tf.tanh(layer(x, 6, UNITS)), UNITS, 1)
        loss = tf.reduce_mean(tf.square(out - y))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

        def report(values):
            show(sess.run(loss, {x: values, y: target}))

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(3):
                _, value = sess.run([train, loss], {x: data, y: target})
                show(value)
            report(data)
    """
)
PROGRAMS["requests that are built in loops, by functions and of variables"] = program(
    """
    x = tf.placeholder(tf.float32, [None])
    w = tf.Variable(1.0, name='w')
    step = tf.Variable(0, trainable=False)
    y = x * w

    def polynomial(v):
        return tf.subtract(3 * tf.square(v), v) + 10

    def show(sess, values):
        sess.run(tf.assign_add(step, 10))
        print('y', sess.run(y, {x: values}), sess.run(step))

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            out = sess.run(y, {x: [1.0, 2.0]})
            sess.run(tf.assign(w, out[1]))
            sess.run(step.assign(i + 1))
            print('step', sess.run(tf.assign_add(step, 2)), sess.run(step), sess.run(w))
            print('polynomial', sess.run(polynomial(float(i))))
        show(sess, [float(i)])
    print('a session of its own', tf.Session().run(tf.constant(2) + 3))
    """
)
PROGRAMS["queues that the program fills and empties"] = program(
    """
    import threading

    x = tf.placeholder(tf.float32, [None, 6])
    names = tf.FIFOQueue(10, tf.string, shapes=[[]])
    pairs = tf.FIFOQueue(50, [tf.float32, tf.int32], shapes=[[6], []])
    shuffled = tf.RandomShuffleQueue(50, 0, tf.float32, shapes=[[6]], seed=3)
    put_pairs = pairs.enqueue_many([x, tf.range(tf.shape(x)[0])])
    put, close = shuffled.enqueue_many([x]), shuffled.close()
    count = pairs.size()
    rows, numbers = pairs.dequeue_many(4)
    w = tf.Variable(tf.ones([6, 1]))
    score = tf.reduce_mean(tf.matmul(rows, w)) + tf.cast(tf.reduce_sum(numbers), tf.float32)
    double = tf.assign(w, 2.0 * w)
    name, put_name = names.dequeue(), names.enqueue('one')
    row = shuffled.dequeue()
    found = []

    def drain(session):
        while True:
            try:
                found.append(session.run(row))
            except tf.errors.OutOfRangeError:
                break

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(put_pairs, {x: data[:12]})
        print('size', sess.run(count))
        print('score', sess.run(score))
        sess.run(double)
        print('score', sess.run(score), sess.run(count))
        sess.run(put_name)
        print(sess.run(name))
        threads = [threading.Thread(target=drain, args=(sess,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        sess.run(put, {x: data[:9]})
        sess.run(close)
        for thread in threads:
            thread.join()
        print('sum', np.sum(found), len(found))
    """
)
PROGRAMS["statements that share a line, and gradients for one variable"] = program(
    """
    x = tf.placeholder(tf.float32, [None]); n = tf.Variable(0.0); w = tf.Variable([2.0, -1.0])
    inc = n.assign_add(1.0); y = x * 2
    h = x * w; cube = tf.reduce_sum(h ** 3);
    gx, gh, gw = tf.gradients(cube, [x, h, w]); second = tf.gradients(gw, w)[0]
    (slope,) = tf.gradients(tf.reduce_sum(tf.stop_gradient(h) * w), w); step = w.assign_sub(0.01 * gw)
    net = tf.layers.dense(x[:, None], 2, kernel_initializer=tf.constant_initializer(0.7)); net = net + 1.0
    loss = tf.reduce_mean(tf.square(net)); train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(3):
            print('counted', sess.run([inc, y], {x: [1.0, 2.0]})[0])
            print(sess.run([gx, gh, gw, second, slope], {x: [1.0, 2.0]}))
            print('step', sess.run(step, {x: [1.0, 2.0]}), sess.run([train, loss], {x: [1.0, 2.0]})[1])
        print('n', sess.run(n), sess.run(net, {x: [1.0]}))
    """
)
