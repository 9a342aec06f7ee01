"""A Gaussian mixture by gradient descent on its log likelihood, with an EM step by hand; float64."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(40)
rng = np.random.RandomState(40)
data = np.concatenate([rng.randn(60, 2) * 0.5 + [2, 0], rng.randn(60, 2) * 0.8 - [1, 1]]).astype(np.float64)
x = tf.constant(data)
K = 2
mu = tf.Variable(tf.random_normal([K, 2], dtype=tf.float64))
log_sigma = tf.Variable(tf.zeros([K, 2], tf.float64))
alpha = tf.Variable(tf.ones([K], tf.float64))


def log_gauss(x, mu, log_sigma):
    z = (x[:, None, :] - mu) / tf.exp(log_sigma)
    return tf.reduce_sum(-0.5 * tf.square(z) - log_sigma - 0.5 * np.log(2 * np.pi), 2)


joint = log_gauss(x, mu, log_sigma) + tf.nn.log_softmax(alpha)
log_likelihood = tf.reduce_mean(tf.reduce_logsumexp(joint, 1))
train = tf.train.AdamOptimizer(0.1).minimize(-log_likelihood)
gamma = tf.nn.softmax(joint)
total = tf.reduce_sum(gamma, 0)
new_mu = tf.matmul(gamma, x, transpose_a=True) / total[:, None]
em = tf.group(mu.assign(new_mu), alpha.assign(tf.log(total / tf.reduce_sum(total))))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(30):
        _, value = sess.run([train, log_likelihood])
        if i % 6 == 0:
            print("iteration %d log likelihood %.8f" % (i, value))
    for i in range(3):
        sess.run(em)
        print("EM %d %.8f" % (i, sess.run(log_likelihood)))
    print(sess.run(mu), sess.run(tf.exp(log_sigma)), sess.run(tf.nn.softmax(alpha)))
