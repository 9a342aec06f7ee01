"""A small U-shaped network: strided and transposed convolutions, skip connection, Dice loss, IOU."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(19)
rng = np.random.RandomState(19)
images = rng.rand(12, 16, 16, 1).astype(np.float32) * 0.3
masks = np.zeros((12, 16, 16, 1), np.float32)
for i in range(12):
    r, c = rng.randint(1, 9, size=2)
    images[i, r:r + 6, c:c + 6] += 0.6
    masks[i, r:r + 6, c:c + 6] = 1

x = tf.placeholder(tf.float32, [None, 16, 16, 1])
t = tf.placeholder(tf.float32, [None, 16, 16, 1])


def conv(net, n, name, strides=1):
    with tf.variable_scope(name):
        shape = [3, 3, int(net.shape[-1]), n]
        w = tf.get_variable("w", shape, initializer=tf.truncated_normal_initializer(stddev=0.2))
        b = tf.get_variable("b", [n], initializer=tf.constant_initializer(0.01))
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(net, w, [1, strides, strides, 1], "SAME"), b))


c1 = conv(x, 6, "down1")
c2 = conv(c1, 10, "down2", strides=2)
c3 = conv(c2, 10, "middle")
up = tf.layers.conv2d_transpose(c3, 6, 2, strides=2, activation=tf.nn.relu)
merged = tf.concat([up, c1], axis=3)
separable = tf.layers.separable_conv2d(merged, 8, 3, padding="same", activation=tf.nn.relu)
out = tf.layers.conv2d(separable, 1, 1)
soft = tf.clip_by_value(0.5 + 0.25 * out, 0.0, 1.0)
dice = 1 - (2 * tf.reduce_sum(soft * t) + 1) / (tf.reduce_sum(soft) + tf.reduce_sum(t) + 1)
loss = dice + tf.reduce_mean(tf.square(soft - t))
train = tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True).minimize(loss)
hit = tf.cast(out > 0, tf.float32)
iou = tf.reduce_sum(hit * t) / (tf.reduce_sum(tf.maximum(hit, t)) + 1e-6)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {x: images, t: masks}
    for step in range(13):
        value, d, _ = sess.run([loss, dice, train], feed)
        if step % 3 == 0:
            print("step {} loss {:.6f} dice {:.6f} iou {:.6f}".format(step, value, d, sess.run(iou, feed)))
    print(sess.run(up, feed)[0, 7:9, 7, :3])
