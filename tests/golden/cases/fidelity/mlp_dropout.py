"""A perceptron with dropout: placeholders, weights by hand, Adam."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(1234)
rng = np.random.RandomState(0)
centers = rng.randn(4, 20) * 1.5
labels = rng.randint(4, size=400)
data = (centers[labels] + rng.randn(400, 20)).astype(np.float32)
onehot = np.eye(4, dtype=np.float32)[labels]

x = tf.placeholder(tf.float32, [None, 20])
y_ = tf.placeholder(tf.float32, [None, 4])
keep_prob = tf.placeholder(tf.float32)


def weight_variable(shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1))


def bias_variable(shape):
    return tf.Variable(tf.constant(0.1, shape=shape))


W1, b1 = weight_variable([20, 32]), bias_variable([32])
h1 = tf.nn.dropout(tf.nn.relu(tf.matmul(x, W1) + b1), keep_prob)
W2, b2 = weight_variable([32, 16]), bias_variable([16])
h2 = tf.nn.dropout(tf.nn.relu(tf.matmul(h1, W2) + b2), keep_prob)
W3, b3 = weight_variable([16, 4]), bias_variable([4])
logits = tf.matmul(h2, W3) + b3
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=y_))
train_step = tf.train.AdamOptimizer(1e-2).minimize(cost)
correct = tf.equal(tf.argmax(logits, 1), tf.argmax(y_, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print("first weights", sess.run(W1)[0, :4])
    for epoch in range(8):
        total = 0.0
        for i in range(0, 320, 32):
            _, c = sess.run([train_step, cost], feed_dict={
                x: data[i:i + 32], y_: onehot[i:i + 32], keep_prob: 0.7})
            total += c / 10
        print("Epoch:", "%04d" % (epoch + 1), "cost={:.6f}".format(total))
    print("Accuracy:", accuracy.eval({x: data[320:], y_: onehot[320:], keep_prob: 1.0}))
    print("logits", sess.run(logits[:2], {x: data[320:], keep_prob: 1.0}))
