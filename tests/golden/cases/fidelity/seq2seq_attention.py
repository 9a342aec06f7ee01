"""A translator of digits: encoder, Bahdanau attention, TrainingHelper, greedy decoding with shared weights."""
import numpy as np
import tensorflow as tf
from tensorflow.python.layers.core import Dense

VOCAB, EOS, GO = 10, 1, 0
tf.set_random_seed(8)
rng = np.random.RandomState(8)
lens = rng.randint(2, 6, size=24)
source = np.full((24, 5), EOS, np.int32)
for row, n in enumerate(lens):
    source[row, :n] = rng.randint(2, VOCAB, size=n)
target = np.full((24, 6), EOS, np.int32)
for row, n in enumerate(lens):
    target[row, :n] = source[row, :n][::-1]
target_in = np.concatenate([np.full((24, 1), GO, np.int32), target[:, :-1]], axis=1)

enc_in = tf.placeholder(tf.int32, [None, None])
enc_len = tf.placeholder(tf.int32, [None])
dec_in = tf.placeholder(tf.int32, [None, None])
dec_out = tf.placeholder(tf.int32, [None, None])
dec_len = enc_len + 1
batch_size = tf.shape(enc_in)[0]

embedding = tf.get_variable("embedding", [VOCAB, 8], initializer=tf.random_uniform_initializer(-0.5, 0.5))
encoder = tf.nn.rnn_cell.GRUCell(16)
enc_out, enc_state = tf.nn.dynamic_rnn(
    encoder, tf.nn.embedding_lookup(embedding, enc_in), enc_len, dtype=tf.float32)
attention = tf.contrib.seq2seq.BahdanauAttention(12, enc_out, memory_sequence_length=enc_len)
cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(16), attention, attention_layer_size=12)
cell = tf.nn.rnn_cell.DropoutWrapper(cell, input_keep_prob=0.95)
first = cell.zero_state(batch_size, tf.float32).clone(cell_state=enc_state)
output_layer = Dense(VOCAB, use_bias=False, name="output")

with tf.variable_scope("decode"):
    helper = tf.contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, dec_in), dec_len)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, first, output_layer)
    outputs, _, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, parallel_iterations=1)
with tf.variable_scope("decode", reuse=True):
    greedy = tf.contrib.seq2seq.GreedyEmbeddingHelper(embedding, tf.fill([batch_size], GO), EOS)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, greedy, first, output_layer)
    decoded, _, _ = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=6, parallel_iterations=1)

longest = tf.reduce_max(dec_len)
weights = tf.sequence_mask(dec_len, longest, dtype=tf.float32)
loss = tf.contrib.seq2seq.sequence_loss(outputs.rnn_output, dec_out[:, :longest], weights)
optimizer = tf.train.AdamOptimizer(0.02)
gradients = [(tf.clip_by_value(g, -5.0, 5.0), v) for g, v in optimizer.compute_gradients(loss) if g is not None]
train_op = optimizer.apply_gradients(gradients)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {enc_in: source, enc_len: lens, dec_in: target_in, dec_out: target}
    for step in range(31):
        value, _ = sess.run([loss, train_op], feed)
        if step % 10 == 0:
            print("step {:>3} | loss {:.4f} | perplexity {:.3f}".format(step, value, np.exp(float(value))))
    print("lengths", sess.run(lengths, feed)[:8])
    print(sess.run(decoded.sample_id, feed)[:3])
