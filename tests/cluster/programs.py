"""A distributed program as TensorFlow 1's tutorials have it, with ways to fail. Run by ``launch`` in the tests."""

BETWEEN_GRAPH = """
import os, signal, time
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("job_name", "", "")
flags.DEFINE_integer("task_index", 0, "")
flags.DEFINE_string("ps_hosts", "localhost:2222", "")
flags.DEFINE_string("worker_hosts", "localhost:2223,localhost:2224", "")
flags.DEFINE_string("way", "well", "")
flags.DEFINE_string("folder", None, "")
FLAGS = flags.FLAGS


def main(_):
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    second = FLAGS.job_name == "worker" and FLAGS.task_index == 1
    if FLAGS.way == "never" and second:
        time.sleep(600)
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    if FLAGS.way == "raise" and second:
        raise ValueError("on purpose")
    if FLAGS.way == "kill" and second and not os.path.exists("killed"):
        open("killed", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    worker = "/job:worker/task:%d" % FLAGS.task_index
    with tf.device(tf.train.replica_device_setter(worker_device=worker, cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.placeholder(tf.float32, [None, 1])
        loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1, name="fc") - y))
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    data = np.random.RandomState(FLAGS.task_index).randn(16, 2).astype("f")
    feed = {x: data, y: data.dot(np.array([[1.0], [2.0]], "f"))}
    config = tf.ConfigProto(intra_op_parallelism_threads=1)
    hooks = [tf.train.StopAtStepHook(last_step=60)]
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief=FLAGS.task_index == 0, checkpoint_dir=FLAGS.folder, hooks=hooks, config=config
    ) as session:
        print("training", flush=True)
        while not session.should_stop():
            _, value = session.run([train, loss], feed)
        print("loss", float(value) < 1.0, os.environ["TF_CONFIG"])


tf.app.run()
"""

#: The same with a Supervisor.
_head, _ = BETWEEN_GRAPH.split("    hooks =")
SUPERVISED = f"""{_head}    chief = FLAGS.task_index == 0
    keeper = tf.train.Supervisor(is_chief=chief, logdir=FLAGS.folder, global_step=step)
    with keeper.managed_session(server.target, config=config) as session:
        print("training", flush=True)
        count = 0
        while not keeper.should_stop() and count < 60:  # at most
            count, value, _ = session.run([step, loss, train], feed)
        print("loss", float(value) < 1.0, count >= 60)
    keeper.stop()


tf.app.run()
"""

#: With SyncReplicasOptimizer: the chief's first step takes as long as all of the other worker's.
_head, _ = BETWEEN_GRAPH.split("        train = ")
_slow = """
        def wait(value):
            while FLAGS.task_index == 0 and not os.path.exists("other"):
                time.sleep(0.05)
            return value

        slow = tf.py_func(wait, [x], tf.float32)
        slow.set_shape([None, 2])
        loss ="""
SYNCHRONOUS = f"""{_head.replace("dense(x,", "dense(slow,").replace("        loss =", _slow)}
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, 2)
        train = optimizer.minimize(loss, global_step=step)
    data = np.random.RandomState(FLAGS.task_index).randn(16, 2).astype("f")
    feed = {{x: data, y: data.dot(np.array([[1.0], [2.0]], "f"))}}
    chief = FLAGS.task_index == 0
    hooks = [optimizer.make_session_run_hook(chief), tf.train.StopAtStepHook(last_step=30)]
    count = 0
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief=chief, hooks=hooks, stop_grace_period_secs=1
    ) as session:
        while not session.should_stop():
            session.run([train, step], feed)
            count += 1
    print("steps", count)
    open("other", "w").close()


tf.app.run()
"""

#: Of TensorFlow 2: two workers that learn the mean of what they have.
MULTI_WORKER = """
import json, os
import tensorflow as tf

assert tf.executing_eagerly() and os.environ.get("TF_USE_LEGACY_KERAS") == os.environ.get("LEGACY_KERAS_BEFORE")
strategy = tf.distribute.MultiWorkerMirroredStrategy()
index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
with strategy.scope():
    weight = tf.Variable(0.0)


def replica():
    gradient = 2.0 * (weight - (1.0 + index))
    mean = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.MEAN, gradient)
    weight.assign_sub(0.2 * mean)


@tf.function
def step():
    strategy.run(replica)


for _ in range(30):
    step()
print("weight %.3f of %d" % (weight.numpy(), strategy.num_replicas_in_sync))
"""

#: The same. The second worker begins when there is a file, the first one has a thread that writes all the time.
LATE_WORKER = f"""
import json, os, threading, time

def tick():
    while True:
        with open("ticks", "a") as file:
            file.write(".")
        time.sleep(0.05)

if json.loads(os.environ["TF_CONFIG"])["task"]["index"] == 0:
    threading.Thread(target=tick, daemon=True).start()
while not os.path.exists("come") and json.loads(os.environ["TF_CONFIG"])["task"]["index"] == 1:
    time.sleep(0.05)
{MULTI_WORKER}"""

# A collective strategy in the session of a server; with the whole batch the losses are those of two workers.
COLLECTIVE = """
import json, os
import numpy as np
import tensorflow as tf

strategy = tf.contrib.distribute.CollectiveAllReduceStrategy()
task = json.loads(os.environ["TF_CONFIG"])
number = task["task"]["index"]
config = strategy.update_config_proto(tf.ConfigProto())
server = tf.train.Server(task["cluster"], task["task"]["type"], number, config=config)
x = np.arange(8, dtype=np.float32).reshape(8, 1)[number::2]
with strategy.scope():
    weight = tf.get_variable("weight", [1, 1], initializer=tf.ones_initializer())
    optimizer = tf.train.GradientDescentOptimizer(0.01)

    def step():
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant(x), weight) - 3.0 * x)) / strategy.num_replicas_in_sync
        with tf.control_dependencies([optimizer.minimize(loss)]):
            return tf.identity(loss)

    losses = strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.experimental_run_v2(step), axis=None)
    (loss,) = strategy.experimental_local_results(losses)
    init = tf.global_variables_initializer()
with tf.Session(server.target, config=config) as session:
    session.run(init)
    print("losses", *[round(float(session.run(loss)), 3) for _ in range(4)])
"""

IN_GRAPH = """
import sys
import tensorflow as tf

cluster = {"ps": ["pc-01:2222"], "worker": ["pc-02:2222", "pc-03:2222"]}
server = tf.train.Server(cluster, job_name=sys.argv[1], task_index=int(sys.argv[2]))
if sys.argv[1:] != ["worker", "0"]:
    server.join()
with tf.device("/job:ps/task:0"):
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
parts = []
for number in range(2):
    with tf.device("/job:worker/task:%d" % number):
        parts.append(w * (number + 1))
with tf.Session("grpc://pc-02:2222") as session:
    session.run(tf.global_variables_initializer())
    print("sum", session.run(tf.add_n(parts)))
"""

ESTIMATOR = """
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [2, 1])
    loss = tf.reduce_mean(tf.square(tf.matmul(features["x"], w) - labels))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def data():
    x = np.random.RandomState(0).randn(64, 2).astype("f")
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x.dot(np.array([[1.0], [2.0]], "f")))).repeat().batch(16)


config = tf.estimator.RunConfig(save_checkpoints_steps=50, experimental_max_worker_delay_secs=0)
estimator = tf.estimator.Estimator(model_fn, "model", config=config)
train = tf.estimator.TrainSpec(data, max_steps=100)
evaluation = tf.estimator.EvalSpec(data, steps=1, start_delay_secs=0, throttle_secs=0)
tf.estimator.train_and_evaluate(estimator, train, evaluation)
"""

ALONE = """
import tensorflow as tf

with tf.Session() as session:
    print(session.run(tf.constant(1) + 1))
"""
