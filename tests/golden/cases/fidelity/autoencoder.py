"""A denoising autoencoder: noise made in the graph, sigmoid layers, RMSProp, weights tied by a transpose."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(21)
n_input, n_hidden_1, n_hidden_2 = 24, 12, 6
np.random.seed(21)
patterns = np.random.rand(5, n_input) > 0.5
data = patterns[np.random.randint(5, size=200)].astype(np.float32)

X = tf.placeholder("float", [None, n_input])
weights = {
    "h1": tf.Variable(tf.random_normal([n_input, n_hidden_1])),
    "h2": tf.Variable(tf.random_normal([n_hidden_1, n_hidden_2])),
}
biases = {
    "b1": tf.Variable(tf.random_normal([n_hidden_1])),
    "b2": tf.Variable(tf.random_normal([n_hidden_2])),
    "d1": tf.Variable(tf.random_normal([n_hidden_1])),
    "d2": tf.Variable(tf.random_normal([n_input])),
}
corrupted = X * tf.cast(tf.random_uniform(tf.shape(X)) > 0.2, tf.float32) + 0.05 * tf.random_normal(tf.shape(X))
layer_1 = tf.nn.sigmoid(tf.add(tf.matmul(corrupted, weights["h1"]), biases["b1"]))
code = tf.nn.sigmoid(tf.add(tf.matmul(layer_1, weights["h2"]), biases["b2"]))
layer_3 = tf.nn.sigmoid(tf.add(tf.matmul(code, tf.transpose(weights["h2"])), biases["d1"]))
y_pred = tf.nn.sigmoid(tf.add(tf.matmul(layer_3, tf.transpose(weights["h1"])), biases["d2"]))
cost = tf.reduce_mean(tf.pow(X - y_pred, 2))
optimizer = tf.train.RMSPropOptimizer(0.02).minimize(cost)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(10):
        for i in range(0, 200, 40):
            _, c = sess.run([optimizer, cost], feed_dict={X: data[i:i + 40]})
        print("Epoch:", "%04d" % (epoch + 1), "cost=", "{:.9f}".format(c))
    print("Optimization Finished!")
    print(sess.run(code, feed_dict={X: data[:2]}))
    print(np.round(sess.run(y_pred, feed_dict={X: data[:1]}), 3))
