"""Parameter servers: workers compute gradients each at its own pace, and the variables are in other processes (TF1).

    tf1sessions launch --ps 1 --workers 2 examples/devices/parameter_servers.py

`launch` starts a process for each task, gives each worker its part of the GPUs, keeps the servers off the network, and
ends the parameter servers when the workers are done: server.join() never returns. On TensorFlow 1 the same program is
started by hand, once for each task.

The pitfall, which `tf1sessions doctor` names remote-config: GPU options that are given to the session. Devices belong
to the server, and the session's are ignored without a word::

    import tensorflow as tf

    server = tf.train.Server({"worker": ["localhost:2222"]})
    config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))
    with tf.train.MonitoredTrainingSession(master=server.target, config=config) as session:
        pass
"""

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("job_name", "worker", "ps or worker")
flags.DEFINE_integer("task_index", 0, "the number of this task in its job")
flags.DEFINE_string("ps_hosts", "localhost:2222", "addresses")
flags.DEFINE_string("worker_hosts", "localhost:2223,localhost:2224", "addresses")
FLAGS = flags.FLAGS


def main(_):
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))
    server = tf.train.Server(cluster, FLAGS.job_name, FLAGS.task_index, config=config)
    if FLAGS.job_name == "ps":
        server.join()

    device = tf.train.replica_device_setter(cluster=cluster, worker_device="/job:worker/task:%d" % FLAGS.task_index)
    with tf.device(device):  # variables on the parameter servers, everything else on this worker
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.placeholder(tf.float32, [None, 1])
        loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1, name="line") - y))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_or_create_global_step())
        init = tf.global_variables_initializer()

    random = np.random.RandomState(FLAGS.task_index)  # each worker has other data
    # Workers look for the chief's initial values every second; with MonitoredTrainingSession it is every 30 seconds.
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=1)
    if FLAGS.task_index == 0:
        session = manager.prepare_session(server.target, init_op=init)
    else:
        session = manager.wait_for_session(server.target)
    with session:
        for _ in range(100):
            points = random.randn(32, 2).astype(np.float32)
            last, _ = session.run([loss, train], {x: points, y: points.dot([[1.0], [2.0]])})
    if not tf.config.experimental.list_physical_devices("GPU"):
        print("no GPU here: the workers divide the CPU's cores")
    print("worker %d: the loss is below 0.01: %s" % (FLAGS.task_index, last < 0.01))


if __name__ == "__main__":
    tf.app.run()
