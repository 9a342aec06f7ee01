"""Checkpoints: Saver with max_to_keep, import_meta_graph in another graph, partial restore, warm start by name."""
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
prefix = os.path.join(folder, "model")
rng = np.random.RandomState(50)
xs = rng.rand(30, 3).astype(np.float32)
ys = xs.dot(np.array([[1.0], [2.0], [-1.0]], np.float32))

tf.set_random_seed(50)
x = tf.placeholder(tf.float32, [None, 3], name="x")
y = tf.placeholder(tf.float32, [None, 1], name="y")
with tf.variable_scope("net"):
    w = tf.get_variable("w", [3, 4], initializer=tf.truncated_normal_initializer(stddev=0.3))
    v = tf.get_variable("v", [4, 1])
out = tf.matmul(tf.nn.relu(tf.matmul(x, w)), v, name="out")
loss = tf.losses.mean_squared_error(y, out)
step = tf.train.get_or_create_global_step()
train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=step, name="train")
saver = tf.train.Saver(max_to_keep=2)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(40):
        value, _ = sess.run([loss, train], {x: xs, y: ys})
        if i % 10 == 9:
            print("saved", os.path.basename(saver.save(sess, prefix, global_step=step)), value)
state = tf.train.get_checkpoint_state(folder)
print([os.path.basename(p) for p in state.all_model_checkpoint_paths])
print(tf.train.list_variables(state.model_checkpoint_path))

with tf.Graph().as_default() as graph:
    tf.set_random_seed(51)
    again = tf.train.import_meta_graph(state.model_checkpoint_path + ".meta")
    extra = tf.Variable(tf.random_normal([2]), name="extra")
    with tf.Session() as sess:
        again.restore(sess, state.model_checkpoint_path)
        sess.run(extra.initializer)
        print("restored step", sess.run(graph.get_tensor_by_name("global_step:0")), "extra", sess.run(extra))
        print("out", sess.run("out:0", {"x:0": xs[:3]}).ravel())
        for i in range(3):
            sess.run("train", {"x:0": xs, "y:0": ys})
        print("after three more", sess.run("net/v:0").ravel())

tf.reset_default_graph()
tf.set_random_seed(52)
with tf.variable_scope("other"):
    w2 = tf.get_variable("w", [3, 4])
    fresh = tf.get_variable("fresh", [2, 2], initializer=tf.glorot_normal_initializer())
tf.train.init_from_checkpoint(folder, {"net/w": w2})
partial = tf.train.Saver({"net/w": w2})
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print("warm", sess.run(w2)[0], "fresh", sess.run(fresh).ravel())
    partial.restore(sess, state.all_model_checkpoint_paths[0])
    print("earlier", sess.run(w2)[0])
shutil.rmtree(folder)
