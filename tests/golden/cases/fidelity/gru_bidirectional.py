"""A tagger: bidirectional GRU, orthogonal weights, masked loss, Adagrad."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(5)
rng = np.random.RandomState(5)
n_steps, n_tags = 7, 3
words = rng.randint(0, 15, size=(40, n_steps))
lens = rng.randint(4, n_steps + 1, size=40)
tags = (words + np.roll(words, 1, axis=1)) % n_tags

word_ids = tf.placeholder(tf.int32, [None, n_steps])
tag_ids = tf.placeholder(tf.int32, [None, n_steps])
sizes = tf.placeholder(tf.int32, [None])

with tf.variable_scope("words"):
    table = tf.Variable(tf.random_uniform([15, 6], -1.0, 1.0), name="table")
    embedded = tf.nn.embedding_lookup(table, word_ids)
with tf.variable_scope("bi", initializer=tf.orthogonal_initializer()):
    fw, bw = tf.contrib.rnn.GRUCell(8), tf.contrib.rnn.GRUCell(8)
    (out_fw, out_bw), states = tf.nn.bidirectional_dynamic_rnn(
        fw, bw, embedded, sequence_length=sizes, dtype=tf.float32)
both = tf.nn.dropout(tf.concat([out_fw, out_bw], axis=-1), 0.9)
scores = tf.layers.dense(both, n_tags)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=scores, labels=tag_ids)
mask = tf.sequence_mask(sizes, n_steps)
loss = tf.reduce_mean(tf.boolean_mask(losses, mask))
train_op = tf.train.AdagradOptimizer(0.3).minimize(loss)
right = tf.boolean_mask(tf.equal(tf.cast(tf.argmax(scores, -1), tf.int32), tag_ids), mask)
accuracy = tf.reduce_mean(tf.cast(right, tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {word_ids: words, tag_ids: tags, sizes: lens}
    for epoch in range(25):
        _, l, a = sess.run([train_op, loss, accuracy], feed_dict=feed)
        if (epoch + 1) % 5 == 0:
            print("epoch %2d - loss %.4f - accuracy %.4f" % (epoch + 1, l, a))
    print(sess.run(states, feed)[0][:2])
