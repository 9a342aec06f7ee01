"""Deep Q learning on a corridor: two networks, copy operations, replay memory, epsilon-greedy by NumPy."""
import collections
import random

import numpy as np
import tensorflow as tf

random.seed(4)
np.random.seed(4)
tf.set_random_seed(4)


class Corridor(object):
    def reset(self):
        self.at = 2
        return self.state()

    def state(self):
        return np.eye(6, dtype=np.float32)[self.at]

    def step(self, action):
        self.at = min(5, max(0, self.at + (1 if action else -1)))
        return self.state(), float(self.at == 5), self.at in (0, 5)


class DQN(object):
    def __init__(self, name):
        with tf.variable_scope(name):
            self.states = tf.placeholder(tf.float32, [None, 6], name="states")
            net = tf.layers.dense(self.states, 16, activation=tf.nn.relu)
            self.q = tf.layers.dense(net, 2)
            self.actions = tf.placeholder(tf.int32, [None])
            self.targets = tf.placeholder(tf.float32, [None])
            chosen = tf.reduce_sum(self.q * tf.one_hot(self.actions, 2), axis=1)
            self.loss = tf.reduce_mean(tf.square(self.targets - chosen))
            self.train = tf.train.AdamOptimizer(0.01).minimize(self.loss)


def copy_ops(src, dst):
    src_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=src)
    dst_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=dst)
    return [d.assign(s.value()) for s, d in zip(src_vars, dst_vars)]


main, target = DQN("main"), DQN("target")
copy = copy_ops("main", "target")
memory = collections.deque(maxlen=200)
env = Corridor()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(copy)
    total = 0
    for episode in range(12):
        state, done, steps = env.reset(), False, 0
        epsilon = 1.0 / (episode / 4 + 1)
        while not done and steps < 15:
            if np.random.rand() < epsilon:
                action = np.random.randint(2)
            else:
                action = np.argmax(sess.run(main.q, {main.states: [state]}))
            after, reward, done = env.step(action)
            memory.append((state, action, reward, after, done))
            state, steps, total = after, steps + 1, total + reward
        batch = random.sample(list(memory), min(16, len(memory)))
        s, a, r, s2, d = [np.array(c) for c in zip(*batch)]
        best = np.max(sess.run(target.q, {target.states: s2}), axis=1)
        loss, _ = sess.run([main.loss, main.train], {
            main.states: s, main.actions: a, main.targets: r + 0.95 * best * ~d})
        if episode % 4 == 3:
            sess.run(copy)
        print("Episode: {} steps: {} reward so far: {} loss: {:.6f}".format(episode, steps, total, loss))
    print(sess.run(main.q, {main.states: np.eye(6)}))
