"""Partitioned variables: each part drawn by an op of its own; lookups with both strategies; saved and restored."""
import numpy as np
import tensorflow as tf

tf.set_random_seed(80)
rng = np.random.RandomState(80)
ids = rng.randint(0, 20, size=(10, 3))
target = rng.rand(10, 2).astype(np.float32)

with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(4)):
    table = tf.get_variable("table", [20, 6], initializer=tf.truncated_normal_initializer(stddev=0.5))
    weights = tf.get_variable("weights", [6, 2])
with tf.variable_scope("sized", partitioner=tf.variable_axis_size_partitioner(64, axis=0)):
    big = tf.get_variable("big", [16, 4], initializer=tf.random_uniform_initializer())
with tf.variable_scope("capped", partitioner=tf.min_max_variable_partitioner(max_partitions=2, min_slice_size=32)):
    hidden = tf.layers.dense(tf.reshape(tf.nn.embedding_lookup(table, ids), [10, 18]), 6, activation=tf.nn.relu)
mod = tf.nn.embedding_lookup(table, [0, 5, 19], partition_strategy="div")
out = tf.matmul(hidden, weights)
loss = tf.reduce_sum(tf.squared_difference(out, target))
train = tf.train.AdagradOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()

for v in tf.trainable_variables():
    print(v.op.name, v.shape)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print("table", sess.run(tf.convert_to_tensor(table))[::6, :3])
    print("div", sess.run(mod)[:, 0], "big", sess.run(big.as_tensor())[::5, 0])
    for i in range(12):
        value, _ = sess.run([loss, train])
        if i % 4 == 0:
            print("step", i, "loss", value)
    path = saver.save(sess, "./parts")
with tf.Session() as sess:
    saver.restore(sess, path)
    print("restored", sess.run(loss), dict(tf.train.list_variables(path))["parts/table"])
