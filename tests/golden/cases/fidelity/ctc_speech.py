"""Speech in small: an LSTM with peepholes, CTC loss, greedy and beam decoding, edit distance."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(73)
rng = np.random.RandomState(73)
frames, lengths = rng.randn(4, 14, 6).astype(np.float32), np.array([14, 12, 10, 14], np.int32)
spoken = [[1, 2, 3], [2, 2], [0, 3], [3, 1, 0, 2]]
indices = [[i, j] for i, s in enumerate(spoken) for j in range(len(s))]
targets = tf.SparseTensor(tf.constant(indices, tf.int64), tf.constant([c for s in spoken for c in s], tf.int32), [4, 4])

inputs = tf.constant(frames)
cell = tf.nn.rnn_cell.LSTMCell(16, use_peepholes=True, cell_clip=10.0,
                               initializer=tf.random_uniform_initializer(-0.2, 0.2))
outputs, _ = tf.nn.dynamic_rnn(cell, tf.transpose(inputs, [1, 0, 2]), lengths, dtype=tf.float32, time_major=True)
W = tf.Variable(tf.truncated_normal([16, 5], stddev=0.1))
b = tf.Variable(tf.constant(0., shape=[5]))
logits = tf.reshape(tf.matmul(tf.reshape(outputs, [-1, 16]), W) + b, [14, 4, 5])
cost = tf.reduce_mean(tf.nn.ctc_loss(targets, logits, lengths))
optimizer = tf.train.MomentumOptimizer(0.05, 0.9).minimize(cost)
(greedy,), _ = tf.nn.ctc_greedy_decoder(logits, lengths)
(beam,), log_prob = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=8)
ler = tf.reduce_mean(tf.edit_distance(tf.cast(beam, tf.int32), targets))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(25):
        value, _ = sess.run([cost, optimizer])
        if epoch % 6 == 0:
            print("Epoch {}, train_cost = {:.4f}, train_ler = {:.3f}".format(epoch, value, sess.run(ler)))
    print(sess.run(tf.sparse_tensor_to_dense(beam, default_value=-1)), sess.run(log_prob).ravel())
    print(sess.run(greedy).values)
