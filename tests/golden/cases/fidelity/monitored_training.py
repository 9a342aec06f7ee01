"""MonitoredTrainingSession: hooks that stop, log and save; a second session that goes on from the checkpoint."""
import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(23)
xs = rng.randn(64, 4).astype(np.float32)
ys = (xs[:, 0] * xs[:, 1] > 0).astype(np.float32)[:, None]


class Report(tf.train.SessionRunHook):
    def __init__(self, loss):
        self.loss = loss

    def begin(self):
        self.step = tf.train.get_or_create_global_step()

    def after_create_session(self, session, coord):
        print("session begins at step", session.run(self.step))

    def before_run(self, run_context):
        return tf.train.SessionRunArgs([self.step, self.loss])

    def after_run(self, run_context, run_values):
        step, loss = run_values.results
        if step % 8 == 0:
            print("step = %d, loss = %.6f" % (step, loss))

    def end(self, session):
        print("session ends at step", session.run(self.step))


def train(last_step):
    tf.reset_default_graph()
    tf.set_random_seed(23)
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 1])
    step = tf.train.get_or_create_global_step()
    hidden = tf.contrib.layers.fully_connected(x + tf.random_normal(tf.shape(x), stddev=0.1), 10)
    out = tf.contrib.layers.fully_connected(hidden, 1, activation_fn=None)
    loss = tf.losses.hinge_loss(y, out)
    optimizer = tf.train.FtrlOptimizer(0.2, l1_regularization_strength=0.001)
    train_op = optimizer.minimize(loss, global_step=step)
    hooks = [tf.train.StopAtStepHook(last_step=last_step), tf.train.NanTensorHook(loss), Report(loss)]
    with tf.train.MonitoredTrainingSession(
            checkpoint_dir="train", hooks=hooks, save_checkpoint_secs=None, save_checkpoint_steps=10,
            save_summaries_steps=None, log_step_count_steps=None) as sess:
        while not sess.should_stop():
            pick = np.arange(16) * 4 % 61
            sess.run(train_op, {x: xs[pick], y: ys[pick]})


train(24)
train(40)
print(tf.train.latest_checkpoint("train"))
reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint("train"))
for name, shape in sorted(reader.get_variable_to_shape_map().items()):
    print(name, shape, "%.6f" % np.sum(reader.get_tensor(name)))
