"""Character-level language model: a two-layer LSTM that reads four sonnets.

After every few training rounds it writes a line of its own. With so little text
it learns them more or less by heart, which is all that is expected of it.

    python char_rnn.py --num_epochs 40 --rnn_size 64
"""
from __future__ import print_function

import argparse
import collections
import os

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))

parser = argparse.ArgumentParser(
    description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('--text', default=os.path.join(HERE, 'data',
                                                   'sonnets.txt'))
parser.add_argument('--rnn_size', type=int, default=64)
parser.add_argument('--num_layers', type=int, default=2)
parser.add_argument('--batch_size', type=int, default=8)
parser.add_argument('--seq_length', type=int, default=20)
parser.add_argument('--num_epochs', type=int, default=24)
parser.add_argument('--grad_clip', type=float, default=5.0)
parser.add_argument('--learning_rate', type=float, default=0.02)
parser.add_argument('--decay_rate', type=float, default=0.98)
parser.add_argument('--sample_length', type=int, default=60)
parser.add_argument('--sample_every', type=int, default=4)


class TextLoader(object):
    """Cuts a text into (batch_size, seq_length) pieces that follow on."""

    def __init__(self, path, batch_size, seq_length):
        with open(path) as f:
            text = f.read()
        counts = collections.Counter(text)
        self.chars = sorted(counts, key=lambda c: (-counts[c], c))
        self.vocab = dict((c, i) for i, c in enumerate(self.chars))
        data = np.array([self.vocab[c] for c in text], dtype=np.int32)

        self.num_batches = (len(data) - 1) // (batch_size * seq_length)
        size = self.num_batches * batch_size * seq_length
        xs = data[:size].reshape(batch_size, -1)
        ys = data[1:size + 1].reshape(batch_size, -1)
        self.x_batches = np.split(xs, self.num_batches, axis=1)
        self.y_batches = np.split(ys, self.num_batches, axis=1)


class Model(object):

    def __init__(self, args, vocab_size, infer=False):
        batch_size = 1 if infer else args.batch_size
        seq_length = 1 if infer else args.seq_length

        self.inputs = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.targets = tf.placeholder(tf.int32, [batch_size, seq_length])

        cells = [tf.nn.rnn_cell.BasicLSTMCell(args.rnn_size)
                 for _ in range(args.num_layers)]
        self.cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        self.initial_state = self.cell.zero_state(batch_size, tf.float32)

        embedding = tf.get_variable('embedding', [vocab_size, args.rnn_size])
        inputs = tf.nn.embedding_lookup(embedding, self.inputs)
        outputs, self.final_state = tf.nn.dynamic_rnn(
            self.cell, inputs, initial_state=self.initial_state)

        with tf.variable_scope('softmax'):
            w = tf.get_variable('w', [args.rnn_size, vocab_size])
            b = tf.get_variable('b', [vocab_size],
                                initializer=tf.zeros_initializer())
        output = tf.reshape(outputs, [-1, args.rnn_size])
        self.logits = tf.nn.xw_plus_b(output, w, b)
        self.probs = tf.nn.softmax(self.logits)
        if infer:
            return

        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.reshape(self.targets, [-1]), logits=self.logits)
        self.cost = tf.reduce_mean(losses)
        self.lr = tf.Variable(0.0, trainable=False)
        tvars = tf.trainable_variables()
        grads, self.grad_norm = tf.clip_by_global_norm(
            tf.gradients(self.cost, tvars), args.grad_clip)
        optimizer = tf.train.AdamOptimizer(self.lr, epsilon=1e-3)
        self.train_op = optimizer.apply_gradients(zip(grads, tvars))

    def sample(self, sess, loader, length, prime='S', seed=0):
        rng = np.random.RandomState(seed)
        state = sess.run(self.initial_state)
        text = prime
        for _ in range(length):
            x = np.array([[loader.vocab[text[-1]]]])
            probs, state = sess.run([self.probs, self.final_state],
                                    {self.inputs: x,
                                     self.initial_state: state})
            total = np.cumsum(probs[0])
            pick = int(np.searchsorted(total, rng.rand() * total[-1]))
            text += loader.chars[pick]
        return text


def train(args):
    loader = TextLoader(args.text, args.batch_size, args.seq_length)
    vocab_size = len(loader.chars)
    print('%d characters, %d batches' % (vocab_size, loader.num_batches))

    tf.set_random_seed(1609)
    init = tf.random_uniform_initializer(-0.2, 0.2, seed=18)
    with tf.variable_scope('rnnlm', initializer=init):
        model = Model(args, vocab_size)
    with tf.variable_scope('rnnlm', reuse=True):
        sampler = Model(args, vocab_size, infer=True)
    print('%d parameters' % sum(
        np.prod(v.get_shape().as_list()) for v in tf.trainable_variables()))

    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        step = 0
        for epoch in range(args.num_epochs):
            sess.run(tf.assign(model.lr, args.learning_rate
                               * args.decay_rate ** epoch))
            state = sess.run(model.initial_state)
            total = 0.0
            for x, y in zip(loader.x_batches, loader.y_batches):
                feed = {model.inputs: x, model.targets: y}
                for i, (c, h) in enumerate(model.initial_state):
                    feed[c] = state[i].c
                    feed[h] = state[i].h
                cost, norm, state, _ = sess.run(
                    [model.cost, model.grad_norm, model.final_state,
                     model.train_op], feed)
                total += cost
                step += 1
            print('epoch %d step %d, train_loss = %.3f, last norm = %.2f'
                  % (epoch, step, total / loader.num_batches, norm))
            if (epoch + 1) % args.sample_every == 0:
                print('    %r' % sampler.sample(sess, loader,
                                                args.sample_length))


if __name__ == '__main__':
    train(parser.parse_args())
