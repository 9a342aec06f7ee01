"""A small VGG-like network of tf.contrib.slim, with slim's losses, create_train_op and evaluation metrics."""
import numpy as np
import tensorflow as tf

slim = tf.contrib.slim


def vgg_arg_scope(weight_decay=0.0005):
    with slim.arg_scope([slim.conv2d, slim.fully_connected],
                        activation_fn=tf.nn.relu,
                        weights_regularizer=slim.l2_regularizer(weight_decay),
                        biases_initializer=tf.zeros_initializer()):
        with slim.arg_scope([slim.conv2d], padding="SAME") as scope:
            return scope


def tiny_vgg(inputs, num_classes, is_training):
    with tf.variable_scope("tiny_vgg", "tiny_vgg", [inputs]) as sc:
        end_points_collection = sc.original_name_scope + "_end_points"
        with slim.arg_scope([slim.conv2d, slim.fully_connected, slim.max_pool2d],
                            outputs_collections=end_points_collection):
            net = slim.repeat(inputs, 2, slim.conv2d, 6, [3, 3], scope="conv1")
            net = slim.max_pool2d(net, [2, 2], scope="pool1")
            net = slim.repeat(net, 2, slim.conv2d, 8, [3, 3], scope="conv2")
            net = slim.max_pool2d(net, [2, 2], scope="pool2")
            net = slim.conv2d(net, 16, [4, 4], padding="VALID", scope="fc3")
            net = slim.dropout(net, 0.7, is_training=is_training, scope="dropout3")
            net = slim.conv2d(net, num_classes, [1, 1], activation_fn=None,
                              normalizer_fn=None, scope="fc4")
            end_points = slim.utils.convert_collection_to_dict(end_points_collection)
            net = tf.squeeze(net, [1, 2], name="fc4/squeezed")
            return net, end_points


tf.set_random_seed(2017)
rng = np.random.RandomState(2017)
classes = rng.randint(0, 3, 48)
pixels = rng.rand(48, 16, 16, 3).astype(np.float32)
for i, c in enumerate(classes):
    pixels[i, :, :, c] *= 0.5

images = tf.constant(pixels)
labels = slim.one_hot_encoding(tf.constant(classes), 3)
with slim.arg_scope(vgg_arg_scope()):
    logits, end_points = tiny_vgg(images, 3, is_training=True)
for name in sorted(end_points):
    print(name, end_points[name].shape)
tf.losses.softmax_cross_entropy(labels, logits)
total_loss = tf.losses.get_total_loss()
slim.get_or_create_global_step()
optimizer = tf.train.RMSPropOptimizer(0.003, momentum=0.5)
train_op = slim.learning.create_train_op(total_loss, optimizer, clip_gradient_norm=4)
names_to_values, names_to_updates = slim.metrics.aggregate_metric_map({
    "accuracy": slim.metrics.streaming_accuracy(tf.argmax(logits, 1), tf.argmax(labels, 1)),
    "mse": slim.metrics.streaming_mean_squared_error(tf.nn.softmax(logits), labels)})

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(tf.local_variables_initializer())
    for step in range(16):
        loss = sess.run(train_op)
        if step % 4 == 0:
            print("Step %d: loss = %.4f" % (step, loss))
    for _ in range(2):
        sess.run(list(names_to_updates.values()))
    for name in sorted(names_to_values):
        print("%s: %.4f" % (name, sess.run(names_to_values[name])))
print("parameters:", sum(np.prod(v.shape.as_list()) for v in slim.get_model_variables()))
