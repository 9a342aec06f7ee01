"""A generative adversarial network of a mixture in the plane: two optimizers over two collections of variables."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(13)
np.random.seed(13)


def sample_data(n):
    x = np.random.uniform(-1, 1, size=(n, 1))
    return np.concatenate([x, x * x - 0.5], axis=1).astype(np.float32)


def sample_Z(m, n):
    return np.random.uniform(-1., 1., size=[m, n])


def generator(z, reuse=False):
    with tf.variable_scope("GAN/Generator", reuse=reuse):
        h1 = tf.layers.dense(z, 16, activation=tf.nn.leaky_relu)
        h2 = tf.layers.dense(h1, 16, activation=tf.nn.leaky_relu)
        return tf.layers.dense(h2, 2)


def discriminator(x, reuse=False):
    with tf.variable_scope("GAN/Discriminator", reuse=reuse):
        h1 = tf.layers.dense(x, 16, activation=tf.nn.leaky_relu)
        h1 = tf.layers.dropout(h1, 0.2, training=True)
        h2 = tf.layers.dense(h1, 8, activation=tf.nn.leaky_relu)
        return tf.layers.dense(h2, 1), h2


X = tf.placeholder(tf.float32, [None, 2])
Z = tf.placeholder(tf.float32, [None, 4])
G_sample = generator(Z)
r_logits, r_rep = discriminator(X)
f_logits, g_rep = discriminator(G_sample, reuse=True)
disc_loss = tf.reduce_mean(
    tf.nn.sigmoid_cross_entropy_with_logits(logits=r_logits, labels=tf.ones_like(r_logits)) +
    tf.nn.sigmoid_cross_entropy_with_logits(logits=f_logits, labels=tf.zeros_like(f_logits)))
gen_loss = tf.reduce_mean(
    tf.nn.sigmoid_cross_entropy_with_logits(logits=f_logits, labels=tf.ones_like(f_logits)))
gen_vars = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="GAN/Generator")
disc_vars = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="GAN/Discriminator")
gen_step = tf.train.RMSPropOptimizer(learning_rate=0.002).minimize(gen_loss, var_list=gen_vars)
disc_step = tf.train.AdamOptimizer(0.005, beta1=0.5).minimize(disc_loss, var_list=disc_vars)

with tf.Session() as sess:
    tf.global_variables_initializer().run()
    for i in range(31):
        X_batch, Z_batch = sample_data(32), sample_Z(32, 4)
        for _ in range(2):
            _, dloss = sess.run([disc_step, disc_loss], feed_dict={X: X_batch, Z: Z_batch})
        _, gloss = sess.run([gen_step, gen_loss], feed_dict={Z: Z_batch})
        if i % 6 == 0:
            print("Iterations: %d\t Discriminator loss: %.4f\t Generator loss: %.4f" % (i, dloss, gloss))
    print(sess.run(G_sample, {Z: sample_Z(3, 4)}))
