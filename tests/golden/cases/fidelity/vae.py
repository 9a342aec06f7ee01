"""A variational autoencoder: reparametrised normal, KL divergence, decoding of draws from the prior."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(0)
np.random.seed(0)
n_in, n_z = 16, 2
proto = (np.random.rand(4, n_in) > 0.5).astype(np.float32)
samples = np.abs(proto[np.random.choice(4, 256)] - (np.random.rand(256, n_in) < 0.05)).astype(np.float32)


def xavier_init(fan_in, fan_out, constant=1):
    low = -constant * np.sqrt(6.0 / (fan_in + fan_out))
    high = constant * np.sqrt(6.0 / (fan_in + fan_out))
    return tf.random_uniform((fan_in, fan_out), minval=low, maxval=high, dtype=tf.float32)


class VariationalAutoencoder(object):
    def __init__(self, learning_rate=0.01, batch_size=64):
        self.x = tf.placeholder(tf.float32, [None, n_in])
        w = {name: tf.Variable(xavier_init(a, b)) for name, a, b in [
            ("h", n_in, 12), ("mean", 12, n_z), ("log_sigma", 12, n_z), ("g", n_z, 12), ("out", 12, n_in)]}
        b = {name: tf.Variable(tf.zeros([int(w[name].shape[1])])) for name in sorted(w)}
        h = tf.nn.softplus(tf.matmul(self.x, w["h"]) + b["h"])
        self.z_mean = tf.matmul(h, w["mean"]) + b["mean"]
        self.z_log_sigma_sq = tf.matmul(h, w["log_sigma"]) + b["log_sigma"]
        eps = tf.random_normal((batch_size, n_z), 0, 1, dtype=tf.float32)
        self.z = self.z_mean + tf.sqrt(tf.exp(self.z_log_sigma_sq)) * eps
        g = tf.nn.softplus(tf.matmul(self.z, w["g"]) + b["g"])
        logits = tf.matmul(g, w["out"]) + b["out"]
        self.reconstruction = tf.nn.sigmoid(logits)
        reconstruction_loss = tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=self.x, logits=logits), 1)
        latent_loss = -0.5 * tf.reduce_sum(
            1 + self.z_log_sigma_sq - tf.square(self.z_mean) - tf.exp(self.z_log_sigma_sq), 1)
        self.cost = tf.reduce_mean(reconstruction_loss + latent_loss)
        self.optimizer = tf.train.AdamOptimizer(learning_rate=learning_rate).minimize(self.cost)


vae = VariationalAutoencoder()
sess = tf.InteractiveSession()
sess.run(tf.initialize_all_variables())
for epoch in range(12):
    avg_cost = 0.0
    for i in range(4):
        _, cost = sess.run((vae.optimizer, vae.cost), feed_dict={vae.x: samples[i * 64:(i + 1) * 64]})
        avg_cost += cost / 256 * 64
    if epoch % 3 == 2:
        print("Epoch:", "%04d" % (epoch + 1), "cost=", "{:.9f}".format(avg_cost))
mean, sigma = sess.run([vae.z_mean, vae.z_log_sigma_sq], {vae.x: samples[:64]})
print("z mean", mean[:2], "log sigma", sigma[:2])
print("decoded", sess.run(vae.reconstruction, {vae.z: [[0.0, 0.0]] * 64})[0, :6])
sess.close()
