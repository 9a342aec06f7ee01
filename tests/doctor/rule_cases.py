"""Programs that have what a rule is about, and near misses that do not.

A line that a rule must name ends in ``# <-``; every other line must not be named by it. Each program begins with
:data:`HEAD`.
"""

from __future__ import annotations

HEAD = """\
import os, sys, threading, multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
import numpy as np
import tensorflow as tf
"""

_GRAPH = """\
x = tf.placeholder(tf.float32, [None, 3])
w = tf.get_variable("w", [3, 1])
loss = tf.reduce_mean(tf.matmul(x, w))
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
init = tf.global_variables_initializer()
"""

_QUEUE = """\
names = tf.train.string_input_producer(["a", "b"])
batch = tf.train.batch([names.dequeue()], 2)
"""

HITS: dict[str, list[str]] = {
    "late-visible-devices": [
        """
sess = tf.Session()
os.putenv("CUDA_VISIBLE_DEVICES", "1")  # <-
""",
        """
sess = tf.Session()
os.environ["CUDA_VISIBLE_DEVICES"] = "1"  # <-
""",
        """
def main(argv):
    print(tf.config.list_physical_devices("GPU"))
    os.environ.update({"CUDA_VISIBLE_DEVICES": "0"})  # <-
    with tf.Session() as sess:
        pass

if __name__ == "__main__":
    tf.app.run()
""",
        """
from tensorflow.python.client import device_lib
KEY = "CUDA_VISIBLE_DEVICES"
def gpus():
    return [d.name for d in device_lib.list_local_devices()]
if len(gpus()) > 1:
    os.environ[KEY] = "1"  # <-
sess = tf.Session()
""",
    ],
    "memory-of-several-sessions": [
        """
one = tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.3)))
two = tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.5)))  # <-
""",
        """
def session(grow):
    config = tf.ConfigProto()
    if grow:
        config.gpu_options.allow_growth = True
    return tf.Session(config=config)
first = tf.Session()
second = session(True)
config = tf.ConfigProto()
config.gpu_options.visible_device_list = "1"
third = tf.Session(config=config)  # <-
""".replace("    return tf.Session(config=config)", "    return tf.Session(config=config)  # <-"),
        """
class Model:
    def __init__(self):
        self.config = tf.ConfigProto()
        self.config.gpu_options.allow_growth = True
        self.sess = tf.Session(config=self.config)  # <-
plain = tf.Session()
model = Model()
""",
    ],
    "gpu-taken-whole": [
        """
def work(seed):
    with tf.Session() as sess:  # <-
        sess.run(tf.constant(seed))

if __name__ == "__main__":
    for seed in range(4):
        multiprocessing.Process(target=work, args=(seed,)).start()
""",
        """
def work(seed):
    config = tf.ConfigProto(intra_op_parallelism_threads=1)
    sess = tf.Session(config=config)  # <-
    return sess.run(tf.constant(seed))

with ProcessPoolExecutor(2) as pool:
    list(pool.map(work, range(10)))
""",
        """
def work():
    sess = tf.Session()  # <-
threads = [threading.Thread(target=work) for _ in range(3)]
""",
    ],
    "fraction-out-of-range": [
        """
options = tf.GPUOptions(per_process_gpu_memory_fraction=40)  # <-
""",
        """
config = tf.ConfigProto()
SHARE = 4096
config.gpu_options.per_process_gpu_memory_fraction = SHARE  # <-
""",
    ],
    "remote-config": [
        """
server = tf.train.Server.create_local_server()
config = tf.ConfigProto(intra_op_parallelism_threads=4)
sess = tf.Session("grpc://localhost:2222", config=config)  # <-
""",
        """
server = tf.train.Server({"worker": ["localhost:2222"]})
config = tf.ConfigProto()
config.gpu_options.allow_growth = True
with tf.train.MonitoredTrainingSession(master=server.target, config=config) as sess:  # <-
    pass
""",
    ],
    "graph-built-by-threads": [
        """
class Worker:
    def work(self, sess):
        with sess.as_default(), sess.graph.as_default():
            self.loss = tf.constant(1.0)  # <-
            sess.run(self.loss)
for worker in [Worker(), Worker()]:
    threading.Thread(target=lambda: worker.work(sess)).start()
""",
        """
graph = tf.Graph()
def work(number):
    with graph.as_default():
        y = tf.constant(number) + 1  # <-
for number in range(4):
    threading.Thread(target=work, args=(number,)).start()
""",
        """
x = tf.placeholder(tf.float32, [None])
logits = tf.square(x)
sess = tf.Session()
def predict(batch):
    return sess.run(tf.nn.softmax(logits), {x: batch})  # <-
with ThreadPoolExecutor(4) as pool:
    list(pool.map(predict, [[1.0]]))
""",
        """
x = tf.placeholder(tf.float32, [None])
class Worker(threading.Thread):
    def run(self):
        self.y = tf.square(x)  # <-
Worker().start()
""",
    ],
    "fork-after-session": [
        """
def work():
    sess = tf.Session()
sess = tf.Session()
context = multiprocessing.get_context("fork")
context.Process(target=work).start()  # <-
""",
        """
def work():
    with tf.Session() as sess:
        sess.run(tf.constant(1))

sess = tf.Session()
process = multiprocessing.Process(target=work)  # <-
""",
        """
def work(batch):
    return sess.run(y, {x: batch})
x = tf.placeholder(tf.float32)
y = x * 2.0
sess = tf.Session()
pool = multiprocessing.Pool(4)  # <-
pool.map(work, range(10))
""",
        """
def build():
    return tf.Session()
def work(number):
    return build().run(number)
tf.test.is_gpu_available()
with ProcessPoolExecutor() as pool:
    pool.submit(work, 1)  # <-
""",
        """
sess = tf.Session()
if os.fork() == 0:  # <-
    sys.exit(0)
""",
        """
def work(index):
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()

count = len(tf.config.list_physical_devices("GPU"))
for index in range(count):
    multiprocessing.Process(target=work, args=(index,)).start()  # <-
""",
    ],
    "oversubscribed-threads": [
        """
def work(number):
    with tf.Session() as sess:  # <-
        sess.run(tf.constant(number))
pool = multiprocessing.Pool(4)
pool.map(work, range(4))
""",
        """
def work(number):
    config = tf.ConfigProto(intra_op_parallelism_threads=64)
    with tf.Session(config=config) as sess:  # <-
        sess.run(tf.constant(number))
for number in range(500):
    multiprocessing.Process(target=work, args=(number,)).start()
""",
    ],
    "python-bound-threads": [
        """
x = tf.placeholder(tf.float32)
y = tf.square(x)
sess = tf.Session()
def work(rows):
    while rows:  # <-
        row = rows.pop()
        total = 0.0
        for value in row:
            total += value ** 2
        sess.run(y, {x: total})
for rows in parts:
    threading.Thread(target=work, args=(rows,)).start()
""",
        """
class Net:
    def act(self, state):
        return sess.run(self.action, {self.state: state})
class Worker:
    def __init__(self):
        self.net = Net()
    def work(self):
        while True:  # <-
            rewards = play(self.net.act)
            for reward in rewards[::-1]:
                total = reward + 0.9 * total
            self.net.act(total)
workers = []
for _ in range(4):
    workers.append(Worker())
threads = []
for worker in workers:
    job = lambda: worker.work()
    threads.append(threading.Thread(target=job))
""",
    ],
    "late-multi-worker": [
        """
mean = tf.function(lambda values: values)
print(tf.config.list_logical_devices())
strategy = tf.distribute.MultiWorkerMirroredStrategy()  # <-
""",
        """
def main():
    start = tf.constant(0.0)
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()  # <-
    with strategy.scope(), tf.GradientTape() as tape:
        pass
main()
""",
    ],
    "colliding-strategies": [
        """
first = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
second = tf.distribute.MirroredStrategy(devices=["GPU:2", "GPU:3"])  # <-
""",
        """
def train(devices):
    strategy = tf.distribute.MirroredStrategy(devices)  # <-
for devices in (["GPU:0", "GPU:1"], ["GPU:2", "GPU:3"]):
    threading.Thread(target=train, args=(devices,)).start()
""",
        """
for pair in ((0, 1), (2, 3)):
    strategy = tf.distribute.MirroredStrategy([f"GPU:{number}" for number in pair])  # <-
""",
    ],
    "mean-in-replica": [
        """
strategy = tf.distribute.MirroredStrategy()
def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))  # <-
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss
@tf.function
def step(batch):
    return strategy.run(replica_step, args=batch)
""",
        """
class Trainer:
    def __init__(self):
        self.strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
def step():
    cost = tf.losses.mean_squared_error(wanted, found)  # <-
    return optimizer.minimize(cost)
def train(my_strategy):
    my_strategy.experimental_run_v2(step)
""",
    ],
    "ops-in-loop": [
        """
with tf.Session() as sess:
    while True:
        sess.run(train)
        if verbose:
            print(sess.run(tf.constant(1)))  # <-
""",
        _GRAPH
        + """
sess = tf.Session()
sess.run(init)
for step in range(1000):
    sess.run(train, {x: data})
    if step % 100 == 0:
        sess.run(tf.assign(w, w * 0.5))  # <-
    print(sess.run(loss + 1.0, {x: data}))  # <-
""",
        _GRAPH
        + """
def accuracy(values):
    correct = tf.equal(tf.argmax(loss, 1), tf.argmax(x, 1))  # <-
    return sess.run(tf.reduce_mean(tf.cast(correct, tf.float32)), {x: values})

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(epochs):
        for batch in batches:
            sess.run(train, feed_dict={x: batch})
        print(accuracy(test))
""",
        _GRAPH
        + """
class Trainer:
    def __init__(self):
        self.sess = tf.Session()
    def fit(self):
        while True:
            self.sess.run(train)
            saver = tf.train.Saver()  # <-
            saver.save(self.sess, "model")
            grads = tf.gradients(loss, [w])  # <-
            summary = self.sess.run(tf.summary.merge_all())  # <-
""",
        """
import tensorflow.compat.v1 as tf1
from tensorflow import reduce_mean as mean
def train(sess, loss, data):
    for batch in data:
        sess.run(mean(loss), {"x:0": batch})  # <-
        sess.run(tf1.nn.relu(loss))  # <-
""",
    ],
    "make-callable-with-feeds": [
        _GRAPH
        + """
with tf.Session() as sess:
    step = sess.make_callable(loss, [x])  # <-
    again = sess.make_callable(loss, feed_list=[x])  # <-
""",
    ],
    "sessions-left-open": [
        """
for path in paths:
    tf.reset_default_graph()
    sess = tf.Session()  # <-
    print(sess.run(tf.constant(1)))
""",
    ],
    "reset-inside-graph": [
        """
with tf.Session() as sess:
    tf.reset_default_graph()  # <-
""",
        """
def build():
    tf.reset_default_graph()  # <-
    return tf.constant(1)
with tf.Graph().as_default():
    build()
""",
    ],
    "init-after-restore": [
        """
def load(sess, saver_path):
    saver = tf.train.Saver()
    saver.restore(sess, saver_path)
    sess.run(tf.global_variables_initializer())  # <-
""",
        """
class Model:
    def __init__(self, sess):
        self.sess = sess
        self.saver = tf.train.Saver()
    def load(self, path):
        self.saver.restore(self.sess, path)
    def train(self):
        self.load("model")
        self.sess.run(tf.global_variables_initializer())  # <-
""",
        """
w = tf.Variable(1.0)
saver = tf.train.Saver()
with tf.Session() as sess:
    saver.restore(sess, "model")
    sess.run(tf.global_variables_initializer())  # <-
""",
        """
w = tf.Variable(1.0)
init = tf.global_variables_initializer()
sess = tf.Session()
tf.train.Saver().restore(sess, "model")
sess.run([init, tf.local_variables_initializer()])  # <-
""",
    ],
    "late-seed": [
        """
def main():
    noise = tf.random_uniform([3])
    tf.set_random_seed(1)  # <-
main()
""",
        """
noise = tf.random_normal([3])
tf.set_random_seed(1)  # <-
""",
        """
def build():
    return tf.layers.dense(tf.zeros([1, 3]), 3)
net = build()
tf.compat.v1.random.set_random_seed(1)  # <-
""",
    ],
    "queues-not-started": [
        _QUEUE.replace(
            'names = tf.train.string_input_producer(["a", "b"])',
            'names = tf.train.string_input_producer(["a", "b"])  # <-',
        )
        + """
with tf.Session() as sess:
    print(sess.run(batch))
""",
    ],
    "queues-not-stopped": [
        _QUEUE
        + """
with tf.Session() as sess:
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    print(sess.run(batch))
    coord.join(threads)  # <-
""",
    ],
    "queue-threads-left": [
        _QUEUE
        + """
with tf.Session() as sess:
    tf.train.start_queue_runners(sess=sess)  # <-
    print(", ".join(sess.run(batch)), os.path.join("a", "b"))
""",
        _QUEUE
        + """
def main(_):
    sess = tf.Session()
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)  # <-
    print(sess.run(batch))
tf.app.run(main)
""",
    ],
    "eager-before-session": [
        """
x = tf.constant(1.0)  # <-
with tf.compat.v1.Session() as sess:
    sess.run(x)
""",
        """
tf.enable_eager_execution()
x = tf.constant(1.0)
sess = tf.Session()  # <-
""",
    ],
    "late-eager-switch": [
        """
x = tf.constant(1.0)
tf.enable_eager_execution()  # <-
""",
    ],
    "contrib-missing": [
        """
audio = tf.contrib.ffmpeg.decode_audio(data, "wav", 1, 1)  # <-
""",
        """
from tensorflow.contrib.boosted_trees.proto import learner_pb2  # <-
config = learner_pb2.LearnerConfig()
mode = learner_pb2.LearnerConfig.LAYER_BY_LAYER
import tensorflow.contrib.kernel_methods as kernel_methods
mapper = kernel_methods.RandomFourierFeatureMapper(2, 8)  # <-
""",
    ],
    "numpy-integer-overflow": [
        """
a = np.uint8(200) + 300  # <-
image = np.zeros([3, 3], dtype=np.uint8)
b = image * 256  # <-
c = -1 * image  # <-
d = data.astype("uint8") - 2 ** 8  # <-
e = np.uint8(-1)  # <-
f = np.add(image, 300)  # <-
g = np.maximum(-1, image)  # <-
image[0] = 300  # <-
image[:] = [1, -2]  # <-
image.fill(255 + 1)  # <-
h = np.full(3, -1, np.uint8)  # <-
""",
    ],
    "numpy-float64-scalar": [
        """
two = 2.0
half = -np.sqrt(two)
w = -np.ones(3, np.float32)
a = w - half  # <-
b = (w + w) * np.sqrt(two * 3)  # <-
c = (w * 2.0) / np.float64(len(data))  # <-
d = np.divide(w, np.float64(3))  # <-
""",
        """
w = np.zeros([3, 3], np.float32)
a = w * np.sqrt(2.0)  # <-
b = data.astype(np.float32) / np.float64(3)  # <-
""",
    ],
    "numpy-float32-scalar": [
        """
a = np.float32(3) + 3.0  # <-
b = 0.1 * np.float32(2)  # <-
c = np.multiply(np.float32(2), 0.1)  # <-
""",
    ],
    "numpy-lists-as-index": [
        """
a = data[[[0, 1], [1, 0]]]  # <-
data[[slice(0, 1), slice(0, 2)]] = 3  # <-
a[[[True, False], 1]] += 1  # <-
""",
    ],
    "numpy-bool-type": [
        """
a = isinstance(flag, np.bool)  # <-
b = isinstance(number, (float, np.long))  # <-
c = type(flag) == np.bool  # <-
d = np.bool is kind  # <-
""",
    ],
}

NEAR_MISSES: dict[str, list[str]] = {
    "late-visible-devices": [
        'sess = tf.Session()\nos.putenv("TF_CPP_MIN_LOG_LEVEL", "1")\n',
        'os.environ["CUDA_VISIBLE_DEVICES"] = "1"\nsess = tf.Session()\n',
        """
import subprocess
sess = tf.Session()
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
subprocess.run(["python", "child.py"])
""",
        'x = tf.constant(1)\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\nsess = tf.Session()\n',
        'sess = tf.Session()\nos.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"\n',
        'if gpu:\n    sess = tf.Session()\nelse:\n    os.environ["CUDA_VISIBLE_DEVICES"] = ""\n',
        """
def one():
    sess = tf.Session()
def other():
    os.environ["CUDA_VISIBLE_DEVICES"] = "1"
other()
one()
""",
        """
if help:
    sess = tf.Session()
    sys.exit(0)
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
""",
    ],
    "memory-of-several-sessions": [
        """
config = tf.ConfigProto()
config.gpu_options.allow_growth = True
one = tf.Session(config=config)
two = tf.Session(config=config)
three = tf.Session()
""",
        """
one = tf.Session(config=given)
two = tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))
""",
        """
if small:
    sess = tf.Session()
else:
    sess = tf.Session(config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))
""",
        """
one = tf.Session()
two = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
""",
        """
config = tf.ConfigProto(log_device_placement=True)
one = tf.Session(config=config)
two = tf.Session(config=config)
config.gpu_options.allow_growth = True
""",
    ],
    "gpu-taken-whole": [
        """
def work():
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    sess = tf.Session(config=config)
for _ in range(4):
    multiprocessing.Process(target=work).start()
""",
        """
def work(number):
    os.environ["CUDA_VISIBLE_DEVICES"] = str(number)
    sess = tf.Session()
for number in range(4):
    multiprocessing.Process(target=work, args=(number,)).start()
""",
        "def work():\n    sess = tf.Session()\nmultiprocessing.Process(target=work).start()\n",
        "sess = tf.Session()\nother = tf.Session()\n",
    ],
    "fraction-out-of-range": [
        "options = tf.GPUOptions(per_process_gpu_memory_fraction=1.0)\n",
        "options = tf.GPUOptions(per_process_gpu_memory_fraction=given)\n",
    ],
    "remote-config": [
        'sess = tf.Session("", config=tf.ConfigProto(intra_op_parallelism_threads=4))\n',
        'sess = tf.Session("grpc://host:1", config=tf.ConfigProto(allow_soft_placement=True))\n',
        """
config = tf.ConfigProto(intra_op_parallelism_threads=4)
server = tf.train.Server(cluster, config=config)
sess = tf.Session(server.target)
""",
    ],
    "graph-built-by-threads": [
        """
def work(sess):
    with sess.as_default():
        with open("x") as file:
            y = tf.constant(1.0)
threading.Thread(target=work, args=(sess,)).start()
""",
        """
x = tf.placeholder(tf.float32)
y = tf.square(x)
sess = tf.Session()
def work(value):
    return sess.run(y, {x: value})
for value in range(4):
    threading.Thread(target=work, args=(value,)).start()
""",
        """
def work(value):
    with tf.Graph().as_default():
        y = tf.constant(value) + 1
        with tf.Session() as sess:
            return sess.run(y)
for value in range(4):
    threading.Thread(target=work, args=(value,)).start()
""",
        """
graph = tf.Graph()
def work(value):
    with graph.as_default():
        y = tf.constant(value) + 1
multiprocessing.Process(target=work, args=(1,)).start()
""",
    ],
    "fork-after-session": [
        """
def work():
    with tf.Session() as sess:
        sess.run(tf.constant(1))
process = multiprocessing.Process(target=work)
process.start()
sess = tf.Session()
""",
        """
def work(path):
    return open(path).read()
sess = tf.Session()
with multiprocessing.Pool(2) as pool:
    pool.map(work, ["a"])
""",
        """
def work():
    sess = tf.Session()
sess = tf.Session()
context = multiprocessing.get_context("spawn")
context.Process(target=work).start()
""",
        """
def work():
    sess = tf.Session()
multiprocessing.set_start_method("spawn")
sess = tf.Session()
multiprocessing.Process(target=work).start()
""",
        """
def work():
    sess = tf.Session()
sess = tf.Session()
ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")).submit(work)
""",
        """
def work():
    sess = tf.Session()
sess = tf.Session()
threading.Thread(target=work).start()
""",
        """
def work():
    return tf.gfile.Glob("*")
sess = tf.Session()
multiprocessing.Process(target=work).start()
""",
    ],
    "oversubscribed-threads": [
        """
server = tf.train.Server(cluster)
def work(number):
    with tf.Session(server.target) as sess:
        sess.run(tf.constant(number))
multiprocessing.Pool(4).map(work, range(4))
""",
        """
def work(number):
    with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1)) as sess:
        sess.run(tf.constant(number))
pool = multiprocessing.Pool(4)
pool.map(work, range(4))
""",
        """
os.environ["OMP_NUM_THREADS"] = "1"
def work(number):
    with tf.Session() as sess:
        sess.run(tf.constant(number))
multiprocessing.Pool(4).map(work, range(4))
""",
        "def work():\n    sess = tf.Session()\nfor _ in range(4):\n    threading.Thread(target=work).start()\n",
    ],
    "python-bound-threads": [
        """
def work(rows):
    for row in rows:
        sess.run(y, {x: row})
for rows in parts:
    threading.Thread(target=work, args=(rows,)).start()
""",
        """
def work(rows):
    while True:
        for row in rows:
            sess.run(y, {x: row})
for rows in parts:
    threading.Thread(target=work, args=(rows,)).start()
""",
        """
def work(rows):
    for row in rows:
        for value in row:
            total = value * 2
        sess.run(y, {x: total})
threading.Thread(target=work, args=(rows,)).start()
""",
    ],
    "late-multi-worker": [
        """
f = tf.function(lambda: 1)
print(tf.config.list_physical_devices("GPU"))
strategy = tf.distribute.MultiWorkerMirroredStrategy()
x = tf.constant(0.0)
""",
        """
x = tf.constant(0.0)
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with tf.Session() as sess:
    pass
""",
        """
f = tf.function(lambda: 1)
x = tf.constant(0.0)
strategy = tf.distribute.MirroredStrategy()
""",
    ],
    "colliding-strategies": [
        """
first = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
second = tf.distribute.MirroredStrategy(["/device:GPU:1", "/gpu:0"])
""",
        """
copying = tf.distribute.ReductionToOneDevice()
first = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"], cross_device_ops=copying)
second = tf.distribute.MirroredStrategy(["GPU:2", "GPU:3"], cross_device_ops=copying)
""",
        """
if len(sys.argv) > 1:
    strategy = tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
else:
    strategy = tf.distribute.MirroredStrategy(["GPU:2", "GPU:3"])
""",
        """
def train(devices):
    strategy = tf.distribute.MirroredStrategy(devices)
for devices in (["GPU:0", "GPU:1"], ["GPU:2", "GPU:3"]):
    multiprocessing.Process(target=train, args=(devices,)).start()
""",
        """
def train(rows):
    strategy = tf.distribute.MirroredStrategy()
for rows in ([1], [2]):
    threading.Thread(target=train, args=(rows,)).start()
""",
    ],
    "mean-in-replica": [
        """
def step(x, y):
    loss = tf.reduce_mean(tf.square(model(x) - y)) / strategy.num_replicas_in_sync
    optimizer.apply_gradients([(tf.gradients(loss, w)[0], w)])
strategy.run(step, args=(x, y))
""",
        """
def step(x, y):
    loss = tf.nn.compute_average_loss(tf.square(model(x) - y), global_batch_size=64)
    mean = tf.reduce_mean(loss)
    optimizer.minimize(loss)
strategy.run(step, args=(x, y))
""",
        """
def step(x, y):
    loss = tf.reduce_mean(tf.square(model(x) - y))
    return loss
strategy.run(step, args=(x, y))
""",
        """
def step(x, y):
    loss = tf.reduce_mean(tf.square(model(x) - y))
    optimizer.minimize(loss)
pool.run(step, args=(x, y))
""",
    ],
    "ops-in-loop": [
        """
first = True
with tf.Session() as sess:
    while True:
        sess.run(train)
        if first:
            saver = tf.train.Saver()
            first = False
""",
        """
with tf.Session() as sess:
    for step in range(1000):
        try:
            sess.run(train)
        except tf.errors.InvalidArgumentError:
            print(sess.run(tf.constant("failed")))
        value = tf.constant(1) if first else None
        with other_graph.as_default():
            y = tf.constant(2)
""",
        _GRAPH
        + """
sess = tf.Session()
for step in range(1000):
    sess.run(train, {x: np.reshape(data, [-1, 3])})
    value = sess.run(loss, {x: data}) * 2.0
    tf.summary.FileWriter("logs").add_summary(tf.Summary(), step)
""",
        """
h = tf.placeholder(tf.float32, [None, 3])
for width in [30, 20, 10]:
    h = tf.layers.dense(h, width)
for layer in range(100):
    h = tf.nn.relu(h + 1.0)
""",
        """
for rate in np.linspace(0.1, 1.0, 50):
    tf.reset_default_graph()
    loss = tf.square(tf.get_variable("w", []))
    with tf.Session() as sess:
        for step in range(1000):
            sess.run(loss)
""",
        """
for rate in rates:
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.constant(rate))
""",
        """
with tf.Session() as sess:
    for variable in tf.global_variables():
        sess.run(tf.assign(variable, tf.zeros_like(variable)))
    for name in ("a", "b"):
        sess.run(tf.constant(name))
""",
        _GRAPH
        + """
sess = tf.Session()
for step in range(1000):
    if step == 0:
        saver = tf.train.Saver()
    sess.run(train)
    if done:
        sess.run(tf.constant(1))
        break
""",
        """
with tf.Session() as sess:
    for logits in policies:
        print(sess.run(tf.gradients(loss, logits)))
""",
        """
numbers = range(15)
with tf.Session() as sess:
    for number in numbers:
        sess.run(tf.constant(number))
    for key in saved.keys():
        sess.run(tf.get_variable(key).assign(saved[key]))
""",
        """
tf.enable_eager_execution()
for step in range(1000):
    y = tf.square(tf.constant(step)) + 1
""",
        _GRAPH
        + """
sess = tf.Session()
for step in range(1000):
    def callback():
        return tf.constant(1)
    sess.run(train)
""",
    ],
    "make-callable-with-feeds": [
        _GRAPH + "with tf.Session() as sess:\n    step = sess.make_callable(train)\n",
        "call = factory.make_callable(1, [2])\n",
    ],
    "sessions-left-open": [
        "for path in paths:\n    sess = tf.Session()\n    model = Model(sess)\n",
        "for path in paths:\n    sess = tf.Session()\n    Model(session=sess)\n",
        "for path in paths:\n    sess = tf.Session()\n    self.sess = sess\n",
        "while True:\n    sess = tf.Session()\n    if sess.run(y):\n        break\n",
        "def f():\n    for path in paths:\n        sess = tf.Session()\n        yield sess.run(y)\n",
        "for path in paths:\n    sessions[path] = tf.Session()\n",
        "for path in paths:\n    with tf.Session() as sess:\n        sess.run(y)\n",
        "for path in paths:\n    sess = tf.Session()\n    sess.run(y)\n    sess.close()\n",
        "for path in paths:\n    sess = tf.Session()\n    with sess:\n        sess.run(y)\n",
        "for path in paths:\n    sess = tf.Session()\n    sessions.append(sess)\n",
        "sess = tf.Session()\nfor path in paths:\n    sess.run(y)\n",
        "for attempt in range(3):\n    sess = tf.Session()\n    break\n",
    ],
    "reset-inside-graph": [
        "tf.reset_default_graph()\nwith tf.Session() as sess:\n    sess.run(tf.constant(1))\n",
        "with tf.Session() as sess:\n    sess.run(tf.constant(1))\ntf.reset_default_graph()\n",
        'with open("x") as file:\n    tf.reset_default_graph()\n',
    ],
    "init-after-restore": [
        """
class Model:
    def __init__(self, sess):
        self.sess = sess
        self.saver = tf.train.Saver()
    def load(self, path):
        if path:
            self.saver.restore(self.sess, path)
            return True
        return False
    def train(self):
        if not self.load("model"):
            self.sess.run(tf.global_variables_initializer())
""",
        """
saver = tf.train.Saver()
with tf.Session() as sess:
    saver.restore(sess, "model")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
""",
        """
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    saver.restore(sess, "model")
""",
        """
saver = tf.train.Saver()
with tf.Session() as sess:
    if old:
        saver.restore(sess, "model")
    else:
        sess.run(tf.global_variables_initializer())
""",
        """
saver = tf.train.Saver()
with tf.Session() as sess:
    try:
        saver.restore(sess, "model")
    except ValueError:
        sess.run(tf.global_variables_initializer())
""",
        """
saver = tf.train.Saver()
one, two = tf.Session(), tf.Session()
saver.restore(one, "model")
two.run(tf.global_variables_initializer())
""",
        """
saver = tf.train.Saver()
with tf.Session() as sess:
    saver.restore(sess, "model")
    sess.run(tf.local_variables_initializer())
""",
    ],
    "late-seed": [
        "noise = tf.random_normal([3])\nfor seed in seeds:\n    tf.set_random_seed(seed)\n",
        "tf.set_random_seed(1)\nnoise = tf.random_normal([3])\n",
        "noise = tf.random_normal([3], seed=3)\ntf.set_random_seed(1)\n",
        "x = tf.placeholder(tf.float32)\ntf.set_random_seed(1)\n",
        "noise = tf.random_normal([3])\ntf.reset_default_graph()\ntf.set_random_seed(1)\n",
        "noise = tf.random_normal([3])\nwith tf.Graph().as_default():\n    tf.set_random_seed(1)\n",
    ],
    "queues-not-started": [
        _QUEUE + "init = tf.global_variables_initializer()\nwith tf.Session() as sess:\n    sess.run(init)\n",
        _QUEUE + "with tf.Session() as sess:\n    tf.train.start_queue_runners(sess)\n    print(sess.run(batch))\n",
        _QUEUE + "with tf.train.MonitoredTrainingSession() as sess:\n    print(sess.run(batch))\n",
        "def read():\n" + "".join(f"    {line}\n" for line in _QUEUE.splitlines()) + "    return batch\n",
    ],
    "queues-not-stopped": [
        _QUEUE
        + """
with tf.Session() as sess:
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    print(sess.run(batch))
    coord.request_stop()
    coord.join(threads)
""",
        _QUEUE.replace('"b"]', '"b"], num_epochs=1')
        + """
with tf.Session() as sess:
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    coord.join(threads)
""",
    ],
    "queue-threads-left": [
        _QUEUE
        + """
with tf.Session() as sess:
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    coord.request_stop()
    coord.join(threads)
""",
        _QUEUE
        + """
with tf.Session() as sess:
    COORD = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess=sess, coord=COORD)
    COORD.join(threads)
""",
        "q = tf.FIFOQueue(10, tf.float32)\nwith tf.Session() as sess:\n    sess.run(q.dequeue())\n",
    ],
    "eager-before-session": [
        "tf.enable_eager_execution()\ngraph = tf.Graph()\nsess = tf.Session(graph=graph)\n",
        "tf.compat.v1.disable_v2_behavior()\nx = tf.constant(1.0)\nsess = tf.compat.v1.Session()\n",
        "with tf.Graph().as_default():\n    x = tf.constant(1.0)\n    sess = tf.compat.v1.Session()\n",
        "x = tf.constant(1.0)\nsess = tf.Session()\n",
        "sess = tf.compat.v1.Session()\nx = tf.constant(1.0)\n",
        "tf.enable_eager_execution()\nwith tf.Graph().as_default():\n    sess = tf.Session()\n",
    ],
    "late-eager-switch": [
        "tf.enable_eager_execution()\nx = tf.constant(1.0)\n",
        "with tf.Graph().as_default():\n    x = tf.constant(1.0)\ntf.enable_eager_execution()\n",
    ],
    "contrib-missing": [
        "cell = tf.contrib.rnn.LSTMCell(3)\nnet = tf.contrib.layers.fully_connected(x, 3)\n",
        "from tensorflow.contrib import slim\nnet = slim.conv2d(x, 3, [3, 3])\n",
        "try:\n    audio = tf.contrib.ffmpeg.decode_audio\nexcept AttributeError:\n    pass\n",
        "import contrib\ncontrib.ffmpeg.decode_audio()\n",
    ],
    "numpy-integer-overflow": [
        "mixed = (np.zeros(3, np.uint8) + np.zeros(3, np.int64)) * 300\n",
        """
a = np.uint8(200) + 100
b = np.zeros(3, dtype=np.uint8) - 1
c = np.zeros(3, dtype=np.uint8) / 300
d = np.zeros(3, dtype=np.uint8) * 300.0
e = np.zeros(3, dtype=np.uint8) == 300
f = np.zeros(3, dtype=np.int32) * 300
g = data.astype(np.uint8).astype(np.int64) * 300
h = np.subtract(a, 1)
b[0] = 255
b[:] = [0, 255]
b.fill(2 ** 8 - 1)
data[0] = 300
data.fill(300)
i = np.full(3, -1, np.int8)
j = np.full(3, -1)
""",
    ],
    "numpy-float64-scalar": [
        """
w = np.ones(3, np.float32)
a = w * np.float32(2)
b = np.float32(w * np.sqrt(2.0))
c = np.array(w * np.sqrt(2.0), dtype=np.float32)
d = w * (not np.sqrt(2.0))
""",
        """
w = np.zeros([3, 3], np.float32)
a = w * 2.0
b = w * float(np.sqrt(2.0))
c = (w * np.sqrt(2.0)).astype(np.float32)
d = np.zeros([3, 3]) * np.sqrt(2.0)
e = w * np.sqrt(w)
f = w * np.pi
""",
    ],
    "numpy-float32-scalar": [
        """
a = np.float64(3) + 3.0
b = np.zeros(3, np.float32) + 3.0
c = np.float32(3) + np.float32(2)
d = np.float32(data) * 2.0
e = np.arctan2(np.float32(3), 2.0)
""",
    ],
    "numpy-lists-as-index": [
        """
a = data[[0, 1]]
b = data[[0, 1], [1, 0]]
c = data[np.array([[0, 1], [1, 0]])]
d = data[tuple([[0, 1], [1, 0]])]
e = [[0, 1], [1, 0]]
f = data[(slice(0, 1), slice(0, 2))]
""",
    ],
    "numpy-bool-type": [
        """
a = np.zeros(3, np.bool)
b = data.astype(np.bool)
c = data.dtype == np.bool
d = isinstance(flag, (bool, np.bool_))
e = type(flag) is bool
f = isinstance(np.bool(1), int)
""",
    ],
}
