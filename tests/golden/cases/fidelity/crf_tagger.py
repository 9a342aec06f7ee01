"""A tagger with a conditional random field: unary scores, log likelihood, Viterbi in NumPy and in the graph."""
import numpy as np
import tensorflow as tf

num_examples, num_words, num_features, num_tags = 10, 12, 20, 5
tf.set_random_seed(27)
np.random.seed(27)
x = np.random.rand(num_examples, num_words, num_features).astype(np.float32)
y = np.random.randint(num_tags, size=[num_examples, num_words]).astype(np.int32)
sequence_lengths = np.random.randint(5, num_words + 1, size=num_examples).astype(np.int32)

with tf.Graph().as_default():
    tf.set_random_seed(27)
    with tf.Session() as session:
        x_t, y_t, lengths_t = tf.constant(x), tf.constant(y), tf.constant(sequence_lengths)
        weights = tf.get_variable("weights", [num_features, num_tags])
        scores = tf.matmul(tf.reshape(x_t, [-1, num_features]), weights)
        unary_scores = tf.reshape(scores, [num_examples, num_words, num_tags])
        log_likelihood, transition_params = tf.contrib.crf.crf_log_likelihood(unary_scores, y_t, lengths_t)
        viterbi_sequence, viterbi_score = tf.contrib.crf.crf_decode(unary_scores, transition_params, lengths_t)
        loss = tf.reduce_mean(-log_likelihood)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        mask = np.expand_dims(np.arange(num_words), axis=0) < np.expand_dims(sequence_lengths, axis=1)
        total_labels = np.sum(sequence_lengths)
        for i in range(60):
            tags, value, _ = session.run([viterbi_sequence, loss, train_op])
            if i % 20 == 0:
                correct = np.sum((y == tags) * mask)
                print("Accuracy: %.2f%% loss %.5f" % (100.0 * correct / float(total_labels), value))
        scores, transitions = session.run([unary_scores, transition_params])
        for scores_, length in list(zip(scores, sequence_lengths))[:3]:
            sequence, score = tf.contrib.crf.viterbi_decode(scores_[:length], transitions)
            print(sequence, "%.4f" % score)
        print(session.run(viterbi_score)[:3], transitions[0])
