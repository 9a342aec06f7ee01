"""A convolutional network of tf.contrib.layers: arg_scope, xavier, l2, optimize_loss."""
import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers
from tensorflow.contrib.framework import arg_scope

tf.set_random_seed(99)
rng = np.random.RandomState(99)
labels = rng.randint(0, 2, size=64)
images = rng.rand(64, 10, 10, 3).astype(np.float32)
images[labels == 1, :5] *= 0.6

inputs = tf.constant(images)
targets = layers.one_hot_encoding(tf.constant(labels), 2)


def model(x, is_training, reuse=None):
    with tf.variable_scope("model", reuse=reuse):
        with arg_scope([layers.conv2d, layers.fully_connected],
                       weights_initializer=layers.xavier_initializer(),
                       weights_regularizer=layers.l2_regularizer(5e-4)):
            net = layers.conv2d(x, 6, [3, 3], normalizer_fn=layers.batch_norm,
                                normalizer_params={"is_training": is_training, "decay": 0.9})
            net = layers.max_pool2d(net, [2, 2])
            net = layers.conv2d(net, 8, [3, 3], padding="VALID")
            net = layers.flatten(net)
            net = layers.dropout(net, 0.8, is_training=is_training)
            return layers.fully_connected(net, 2, activation_fn=None)


logits = model(inputs, True)
tf.losses.softmax_cross_entropy(targets, logits, label_smoothing=0.1)
loss = tf.losses.get_total_loss()
step = tf.train.get_or_create_global_step()
train_op = layers.optimize_loss(
    loss, step, learning_rate=0.01, optimizer="Adam", clip_gradients=1.0,
    learning_rate_decay_fn=lambda lr, s: tf.train.exponential_decay(lr, s, 10, 0.9))
test_logits = model(inputs, False, reuse=True)
accuracy = tf.contrib.metrics.accuracy(tf.argmax(test_logits, 1), tf.constant(labels))

sess = tf.Session()
sess.run(tf.global_variables_initializer())
for i in range(20):
    value = sess.run(train_op)
    if i % 5 == 0:
        print("iteration", i, "loss", value)
print("accuracy", sess.run(accuracy), "step", sess.run(step))
for v in tf.trainable_variables():
    print(v.op.name, v.shape, "%.5f" % sess.run(tf.reduce_mean(v)))
