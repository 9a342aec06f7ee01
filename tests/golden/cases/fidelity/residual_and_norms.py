"""Normalisations and activations side by side, and a residual network with towers that share variables."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(71)
rng = np.random.RandomState(71)
x = tf.constant(rng.randn(8, 6, 6, 4).astype(np.float32))
labels = tf.constant(rng.randint(0, 3, 8))


def block(net, name, training=True):
    with tf.variable_scope(name):
        shortcut = net
        net = tf.contrib.layers.group_norm(net, groups=2)
        net = tf.layers.conv2d(tf.nn.elu(net), 4, 3, padding="same")
        net = tf.contrib.layers.layer_norm(net)
        net = tf.layers.conv2d(tf.nn.selu(net), 4, 3, padding="same")
        net = tf.layers.batch_normalization(net, training=training, fused=False)
        return shortcut + net


def tower(net):
    for i in range(2):
        net = block(net, "block%d" % i)
    net = tf.contrib.layers.instance_norm(net)
    net = tf.nn.local_response_normalization(net)
    net = tf.reduce_mean(net, [1, 2])
    net = tf.contrib.nn.alpha_dropout(net, 0.9)
    return tf.layers.dense(net, 3)


losses, optimizer = [], tf.train.AdadeltaOptimizer(1.0)
for i in range(2):
    with tf.variable_scope("towers", reuse=tf.AUTO_REUSE), tf.name_scope("tower%d" % i):
        logits = tower(x[i * 4:i * 4 + 4])
        losses.append(tf.losses.sparse_softmax_cross_entropy(labels[i * 4:i * 4 + 4], logits))
loss = tf.add_n(losses) / 2
update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(update_ops):
    train = optimizer.minimize(loss)
moments = tf.nn.moments(x, [0, 1, 2])
spectral = tf.nn.l2_normalize(tf.reshape(x, [8, -1]), 1)[:, :2]

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print("moments", sess.run(moments), "updates", len(update_ops))
    for i in range(10):
        value, _ = sess.run([loss, train])
        if i % 3 == 0:
            print("step", i, "loss", value)
    print("logits", sess.run(logits), "unit", sess.run(spectral)[0])
