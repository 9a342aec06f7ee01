"""A language model with sampled softmax and a log-uniform candidate sampler, evaluated with the full softmax."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(77)
rng = np.random.RandomState(77)
vocab, dim = 50, 12
text = (rng.zipf(1.6, size=2000) - 1) % vocab

words = tf.placeholder(tf.int32, [None, 3])
targets = tf.placeholder(tf.int64, [None, 1])
with tf.variable_scope("lm", initializer=tf.random_uniform_initializer(-0.1, 0.1)):
    emb = tf.get_variable("emb", [vocab, dim])
    hidden = tf.layers.dense(tf.reshape(tf.nn.embedding_lookup(emb, words), [-1, 3 * dim]), dim,
                             activation=tf.nn.relu, name="hidden")
    softmax_w = tf.get_variable("softmax_w", [vocab, dim])
    softmax_b = tf.get_variable("softmax_b", [vocab], initializer=tf.zeros_initializer())
sampled = tf.nn.log_uniform_candidate_sampler(targets, 1, 10, True, vocab)
train_loss = tf.reduce_mean(tf.nn.sampled_softmax_loss(
    softmax_w, softmax_b, targets, hidden, 10, vocab, sampled_values=sampled))
default_loss = tf.reduce_mean(tf.nn.sampled_softmax_loss(
    softmax_w, softmax_b, targets, hidden, 10, vocab, remove_accidental_hits=True))
logits = tf.matmul(hidden, softmax_w, transpose_b=True) + softmax_b
full = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
    labels=tf.squeeze(targets, 1), logits=logits))
train = tf.train.AdagradOptimizer(0.5).minimize(train_loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    contexts = np.stack([text[i:i + 3] for i in range(len(text) - 3)])
    following = text[3:, None]
    ids, _, _ = sess.run(sampled, {targets: following[:4]})
    print("candidates", ids)
    for step in range(50):
        part = slice(step * 32, step * 32 + 32)
        value, _ = sess.run([train_loss, train], {words: contexts[part], targets: following[part]})
        if step % 10 == 0:
            print("step", step, "sampled loss", value)
    feed = {words: contexts[1600:], targets: following[1600:]}
    value, other = sess.run([full, default_loss], feed)
    print("perplexity", np.exp(value), "sampled by default", other)
