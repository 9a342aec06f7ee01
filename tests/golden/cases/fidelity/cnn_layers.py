"""A convolutional network of tf.layers with batch normalisation, dropout and momentum."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(42)
rng = np.random.RandomState(42)
labels = rng.randint(0, 3, size=96)
images = rng.rand(96, 12, 12, 1).astype(np.float32) * 0.5
for i, k in enumerate(labels):
    images[i, 3 * k:3 * k + 3, 2:10, 0] += 0.4

x = tf.placeholder(tf.float32, [None, 12, 12, 1])
y = tf.placeholder(tf.int64, [None])
training = tf.placeholder_with_default(False, [])

net = tf.layers.conv2d(x, 8, 3, padding="same", use_bias=False)
net = tf.layers.batch_normalization(net, training=training)
net = tf.nn.relu(net)
net = tf.layers.max_pooling2d(net, 2, 2)
net = tf.layers.conv2d(net, 16, 3, padding="same", activation=tf.nn.relu,
                       kernel_initializer=tf.variance_scaling_initializer())
net = tf.layers.average_pooling2d(net, 2, 2)
net = tf.layers.flatten(net)
net = tf.layers.dense(net, 32, activation=tf.nn.relu,
                      kernel_regularizer=tf.nn.l2_loss)
net = tf.layers.dropout(net, 0.4, training=training)
logits = tf.layers.dense(net, 3)

loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
total = loss + 1e-3 * tf.losses.get_regularization_loss()
update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(update_ops):
    train_op = tf.train.MomentumOptimizer(0.02, 0.9).minimize(total)
acc = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), y)))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(24):
        i = step % 4 * 20
        _, l, a = sess.run([train_op, loss, acc],
                           {x: images[i:i + 20], y: labels[i:i + 20], training: True})
        if step % 4 == 3:
            print("step %d loss %.5f train acc %.3f" % (step, l, a))
    print("test loss %.5f acc %.3f" % tuple(sess.run([loss, acc], {x: images[80:], y: labels[80:]})))
    for v in tf.global_variables():
        if "moving" in v.name:
            print(v.name, np.round(v.eval()[:4], 5))
