"""A generative adversarial network that draws handwritten digits.

Two networks, each in a variable scope of its own; the discriminator is
built twice and shares its variables.  Both have their own Adam.
"""
from __future__ import print_function, division

import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
Z_DIM = 16
X_DIM = 64


def leaky_relu(x, alpha=0.2):
    return tf.maximum(alpha * x, x)


def xavier(seed):
    return tf.glorot_normal_initializer(seed=seed)


def generator(z):
    with tf.variable_scope('generator'):
        h = tf.layers.dense(z, 64, activation=leaky_relu, name='g1',
                            kernel_initializer=xavier(1))
        h = tf.layers.dense(h, 128, activation=leaky_relu, name='g2',
                            kernel_initializer=xavier(2))
        return tf.layers.dense(h, X_DIM, activation=tf.nn.sigmoid,
                               name='g3', kernel_initializer=xavier(3))


def discriminator(x, reuse=False):
    with tf.variable_scope('discriminator') as scope:
        if reuse:
            scope.reuse_variables()
        w1 = tf.get_variable('w1', [X_DIM, 96], initializer=xavier(4))
        b1 = tf.get_variable('b1', [96],
                             initializer=tf.constant_initializer(0.0))
        h = leaky_relu(tf.matmul(x, w1) + b1)
        h = tf.layers.dense(h, 32, activation=leaky_relu, name='d2',
                            kernel_initializer=xavier(5))
        return tf.layers.dense(h, 1, name='d3',
                               kernel_initializer=xavier(6))


def sigmoid_loss(logits, truth):
    labels = tf.ones_like(logits) if truth else tf.zeros_like(logits)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
        logits=logits, labels=labels))


def ascii_art(images):
    """A row of 8x8 images as eight lines of text."""
    shades = np.array(list(' .:-=+*#%@'))
    rows = np.concatenate(list(images.reshape(-1, 8, 8)), axis=1)
    index = np.clip((rows * len(shades)).astype(int), 0, len(shades) - 1)
    return '\n'.join(''.join(line) for line in shades[index])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--steps', type=int, default=600)
    parser.add_argument('--batch', type=int, default=200)
    parser.add_argument('--out', default=None)
    args = parser.parse_args()
    out = args.out or tempfile.mkdtemp(prefix='gan')
    if not os.path.isdir(out):
        os.makedirs(out)

    with np.load(os.path.join(HERE, 'data', 'digits.npz')) as data:
        real = data['images'].reshape(-1, X_DIM).astype(np.float32) / 16.

    tf.set_random_seed(2014)
    X = tf.placeholder(tf.float32, [None, X_DIM])
    Z = tf.placeholder(tf.float32, [None, Z_DIM])
    # A little noise on what the discriminator sees helps against collapse.
    noise = tf.random_normal(tf.shape(X), stddev=0.3, seed=7)

    fake = generator(Z)
    d_real = discriminator(X + noise)
    d_fake = discriminator(fake + noise, reuse=True)

    d_loss = sigmoid_loss(d_real, True) + sigmoid_loss(d_fake, False)
    g_loss = sigmoid_loss(d_fake, True)

    tvars = tf.trainable_variables()
    d_vars = [v for v in tvars if v.name.startswith('discriminator/')]
    g_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES,
                               scope='generator')
    for name, variables in (('D', d_vars), ('G', g_vars)):
        print('%s: %s' % (name, ', '.join(v.op.name for v in variables)))
    with tf.variable_scope('train'):
        d_step = tf.train.AdamOptimizer(
            1e-3, beta1=0.5, epsilon=1e-2).minimize(d_loss, var_list=d_vars)
        g_step = tf.train.AdamOptimizer(
            1e-3, beta1=0.5, epsilon=1e-2).minimize(g_loss, var_list=g_vars)

    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    rng = np.random.RandomState(0)
    canvas = rng.uniform(-1, 1, [6, Z_DIM])

    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        for it in range(args.steps + 1):
            x = real[rng.randint(len(real), size=args.batch)]
            z = rng.uniform(-1., 1., [args.batch, Z_DIM])
            _, d = sess.run([d_step, d_loss], feed_dict={X: x, Z: z})
            _, g = sess.run([g_step, g_loss], feed_dict={X: x, Z: z})
            if it % 50 == 0:
                samples = sess.run(fake, {Z: canvas})
                print('Iter: %4d  D loss: %.3f  G loss: %.3f  mean ink: %.3f'
                      % (it, d, g, samples.mean()))
                with open(os.path.join(out, '%05d.txt' % it), 'w') as f:
                    f.write(ascii_art(samples))

    print('Mean ink of the real digits: %.3f' % real.mean())
    print('Pictures written: %d' % len(os.listdir(out)))


if __name__ == '__main__':
    main()
