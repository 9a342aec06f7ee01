"""Sequences of different lengths through dynamic_rnn: embedding, LSTM, dropout, the last output."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(11)
rng = np.random.RandomState(11)
lengths = rng.randint(3, 9, size=60)
tokens = np.zeros((60, 8), np.int32)
for row, n in enumerate(lengths):
    tokens[row, :n] = rng.randint(1, 20, size=n)
labels = (tokens.max(axis=1) > 17).astype(np.int32)

x = tf.placeholder(tf.int32, [None, 8])
seqlen = tf.placeholder(tf.int32, [None])
y = tf.placeholder(tf.int32, [None])
keep = tf.placeholder_with_default(1.0, [])

embedding = tf.get_variable("embedding", [20, 8])
inputs = tf.nn.embedding_lookup(embedding, x)
cell = tf.nn.rnn_cell.BasicLSTMCell(12)
cell = tf.nn.rnn_cell.DropoutWrapper(cell, input_keep_prob=keep, output_keep_prob=keep)
# Steps that ran at the same time would draw their dropout in any order.
outputs, state = tf.nn.dynamic_rnn(cell, inputs, sequence_length=seqlen, dtype=tf.float32, parallel_iterations=1)
index = tf.range(0, tf.shape(outputs)[0]) * 8 + (seqlen - 1)
last = tf.gather(tf.reshape(outputs, [-1, 12]), index)
weight = tf.Variable(tf.random_normal([12, 2]))
bias = tf.Variable(tf.random_normal([2]))
pred = tf.matmul(last, weight) + bias
cost = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=pred, labels=y))
tvars = tf.trainable_variables()
grads, norm = tf.clip_by_global_norm(tf.gradients(cost, tvars), 5.0)
train = tf.train.AdamOptimizer(0.02).apply_gradients(zip(grads, tvars))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(30):
        i = step % 3 * 16
        feed = {x: tokens[i:i + 16], seqlen: lengths[i:i + 16], y: labels[i:i + 16], keep: 0.8}
        _, c, n = sess.run([train, cost, norm], feed)
        if step % 6 == 0:
            print("Iter {}, Minibatch Loss= {:.5f}, gradient norm= {:.5f}".format(step, c, n))
    c, s = sess.run([cost, state], {x: tokens[48:], seqlen: lengths[48:], y: labels[48:]})
    print("test loss", c)
    print("state", s.c[0, :4], s.h[0, :4])
