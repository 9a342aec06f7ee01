"""word2vec, skip-gram with nce_loss; neighbours by cosine."""
import collections
import random

import numpy as np
import tensorflow as tf

tf.set_random_seed(3)
random.seed(3)
np.random.seed(3)
text = ("the quick brown fox jumps over the lazy dog and the old dog sleeps while the fox runs "
        "over the green hill and the brown bear eats honey in the old green forest").split() * 6
count = collections.Counter(text).most_common()
dictionary = {word: i for i, (word, _) in enumerate(sorted(count, key=lambda c: (-c[1], c[0])))}
reverse = {i: w for w, i in dictionary.items()}
data = [dictionary[w] for w in text]
vocabulary_size = len(dictionary)
print("Vocabulary size", vocabulary_size, "data", len(data))


def generate_batch(batch_size, window):
    batch = np.ndarray(shape=(batch_size,), dtype=np.int32)
    labels = np.ndarray(shape=(batch_size, 1), dtype=np.int32)
    for i in range(batch_size):
        center = random.randint(window, len(data) - window - 1)
        offset = np.random.choice([d for d in range(-window, window + 1) if d != 0])
        batch[i], labels[i, 0] = data[center], data[center + offset]
    return batch, labels


graph = tf.Graph()
with graph.as_default():
    tf.set_random_seed(3)
    with tf.name_scope("inputs"):
        train_inputs = tf.placeholder(tf.int32, shape=[32])
        train_labels = tf.placeholder(tf.int32, shape=[32, 1])
        valid = tf.constant([0, 1, 2], dtype=tf.int32)
    with tf.device("/cpu:0"):
        with tf.name_scope("embeddings"):
            embeddings = tf.Variable(tf.random_uniform([vocabulary_size, 16], -1.0, 1.0))
            embed = tf.nn.embedding_lookup(embeddings, train_inputs)
        with tf.name_scope("weights"):
            nce_weights = tf.Variable(tf.truncated_normal([vocabulary_size, 16], stddev=1.0 / 4))
        with tf.name_scope("biases"):
            nce_biases = tf.Variable(tf.zeros([vocabulary_size]))
    with tf.name_scope("loss"):
        loss = tf.reduce_mean(tf.nn.nce_loss(
            weights=nce_weights, biases=nce_biases, labels=train_labels, inputs=embed,
            num_sampled=8, num_classes=vocabulary_size))
    with tf.name_scope("optimizer"):
        optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
    normalized = embeddings / norm
    similarity = tf.matmul(tf.nn.embedding_lookup(normalized, valid), normalized, transpose_b=True)
    init = tf.global_variables_initializer()

with tf.Session(graph=graph) as session:
    init.run()
    average_loss = 0
    for step in range(60):
        inputs, labels = generate_batch(32, 2)
        _, value = session.run([optimizer, loss], feed_dict={train_inputs: inputs, train_labels: labels})
        average_loss += value
        if step % 20 == 19:
            print("Average loss at step ", step, ": ", "%.5f" % (average_loss / 20))
            average_loss = 0
    sim = similarity.eval()
    for i in range(3):
        nearest = (-sim[i, :]).argsort()[1:5]
        print("Nearest to %s:" % reverse[i], ", ".join(reverse[k] for k in nearest))
    print(normalized.eval()[0, :4])
