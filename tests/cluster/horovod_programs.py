"""Programs that use Horovod, as they were written for TensorFlow 1."""

from __future__ import annotations

#: Trains from drawn data; each rank has its part of each batch. Prints the loss of the whole batch at each step.
TRAINING = """
import sys
import numpy as np
import tensorflow as tf
import horovod.tensorflow as hvd

hvd.init()
size, rank = hvd.size(), hvd.rank()
rng = np.random.RandomState(0)
features, labels = rng.randn(320, 10).astype("f"), rng.randint(0, 5, 320)
words = rng.randint(0, 30, (320, 3))
x = tf.placeholder(tf.float32, [None, 10])
y = tf.placeholder(tf.int64, [None])
ids = tf.placeholder(tf.int64, [None, 3])
# Other values on each rank, until those of rank 0 are sent to all.
embeddings = tf.get_variable("e", [30, 4], initializer=tf.random_normal_initializer(seed=3 + rank))
hidden = tf.layers.dense(x, 16, tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=5 + rank))
hidden = tf.concat([hidden, tf.reshape(tf.nn.embedding_lookup(embeddings, ids), [-1, 12])], 1)
logits = tf.layers.dense(hidden, 5, kernel_initializer=tf.glorot_uniform_initializer(seed=7 + rank))
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
optimizer = hvd.DistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), gradient_predivide_factor=2.0)
train = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
mean = hvd.allreduce(loss, name="loss")
hooks = [hvd.BroadcastGlobalVariablesHook(0)]
with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
    for step in range(12):
        if step == 5 and rank == 1 and "raise" in sys.argv:
            raise ValueError("on purpose")
        if step == 5 and rank == 1 and "leave" in sys.argv:
            break
        if step == 5 and rank == 1 and "skip" in sys.argv:
            import time
            time.sleep(60)
        part = slice(step % 5 * 64 + rank * 64 // size, step % 5 * 64 + (rank + 1) * 64 // size)
        found, _ = session.run([mean, train], {x: features[part], y: labels[part], ids: words[part]})
        print("loss %.6f" % found, flush=True)
"""

#: Each operation, by values that differ between the ranks; and what programs ask of Horovod besides.
OPERATIONS = """
import numpy as np
import tensorflow as tf
import horovod.tensorflow as hvd
from horovod.tensorflow.compression import Compression
import horovod.tensorflow.keras as keras_hvd
from tensorflow.python.eager import context as eager_context

hvd.init()
rank, size = hvd.rank(), hvd.size()
assert hvd.is_initialized() and (hvd.local_rank(), hvd.local_size()) == (rank, size) == (rank, 2)
assert (hvd.cross_rank(), hvd.cross_size()) == (0, 1)
assert not hvd.nccl_built() and hvd.mpi_threads_supported() in (True, False)
assert keras_hvd.rank() == rank
try:
    hvd.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error) and "install horovod" in str(error), error
else:
    raise SystemExit("no error")
for wrong in ({"backward_passes_per_step": 2}, {"gradient_predivide_factor": 0.0},
              {"op": hvd.Sum, "gradient_predivide_factor": 2.0}):
    for optimizer in (tf.train.GradientDescentOptimizer(0.1), tf.keras.optimizers.SGD(0.1)):
        try:
            hvd.DistributedOptimizer(optimizer, **wrong)
        except ValueError as error:
            assert list(wrong)[-1] in str(error), error
        else:
            raise SystemExit(f"no error: {wrong}")
mine = tf.constant([1.0, 2.0]) * (rank + 1)
slices = tf.IndexedSlices(tf.ones([1 + rank, 2]), tf.range(1 + rank), [4, 2])
summed = hvd.allreduce(slices, average=False)
v = tf.get_variable("v", [2], initializer=tf.constant_initializer(rank + 5.0))


def taped():
    w = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(w)
        loss = tf.reduce_sum(w * w * mine_here)
    tape = hvd.DistributedGradientTape(tape, gradient_predivide_factor=8.0)
    gradients = tape.gradient(loss, {"w": w, "unused": tf.constant(0.0)})
    assert gradients["unused"] is None
    return gradients["w"]


mine_here = [1.0 + rank, 2.0 + 2.0 * rank]
with eager_context.eager_mode():
    assert taped().numpy().tolist() == [9.0, 24.0], taped()
    v_here = tf.Variable([float(rank)])
    hvd.broadcast_variables([v_here], root_rank=1)
    assert v_here.numpy().tolist() == [1.0]
order = [lambda: hvd.allreduce(mine, name="first"), lambda: hvd.allreduce(mine * 2.0, name="second")]
first, second = (order if rank == 0 else order[::-1])[0](), (order if rank == 0 else order[::-1])[1]()
fetches = {
    "average": hvd.allreduce(mine),
    "sum": hvd.allreduce(mine, op=hvd.Sum),
    "min": hvd.allreduce(mine, op=hvd.Min),
    "max": hvd.allreduce(mine, op=hvd.Max),
    "product": hvd.allreduce(mine, op=hvd.Product),
    "half": hvd.allreduce(mine, compression=Compression.fp16),
    "gather": hvd.allgather(tf.fill([1 + rank, 2], rank)),
    "text": hvd.broadcast(mine, 1),
    "slices": tf.scatter_nd(tf.expand_dims(summed.indices, 1), summed.values, [4, 2]),
    "gradient": tf.gradients(hvd.allreduce(mine, average=False), mine)[0],
    "both": (first if rank == 0 else second) + 0.0,
    "tape": taped(),
}
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(hvd.broadcast_global_variables(0))
    found = session.run(fetches)
    session.run(second if rank == 0 else first)
    expected = {
        "average": [1.5, 3.0], "sum": [3.0, 6.0], "min": [1.0, 2.0], "max": [2.0, 4.0],
        "product": [2.0, 8.0], "half": [1.5, 3.0],
        "gather": [[0, 0], [1, 1], [1, 1]], "text": [2.0, 4.0],
        "slices": [[2, 2], [1, 1], [0, 0], [0, 0]], "gradient": [2.0, 2.0], "both": [1.5, 3.0],
        "tape": [9.0, 24.0],
    }
    for name, value in expected.items():
        assert np.array_equal(found[name], value), (name, found[name])
    assert session.run(v).tolist() == [5.0, 5.0]
hvd.shutdown()
print("all as expected")
"""

#: A Keras model whose ranks begin with other weights; the metrics are averaged.
KERAS = """
import numpy as np
import tensorflow as tf
import horovod.tensorflow.keras as hvd

hvd.init()
rng = np.random.RandomState(0)
features = rng.randn(64, 4).astype("f")
targets = features.sum(1, keepdims=True)
start = tf.keras.initializers.Constant(1.0 + hvd.rank())
model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer=start)])
inner = tf.keras.optimizers.SGD(0.1 * hvd.size())
optimizer = hvd.DistributedOptimizer(inner, gradient_predivide_factor=4.0, backward_passes_per_step=1)
model.compile(optimizer, "mse")
callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback(),
             hvd.callbacks.LearningRateWarmupCallback(warmup_epochs=2)]
half = slice(hvd.rank() * 32, (hvd.rank() + 1) * 32)
fit = {"batch_size": 8, "epochs": 3, "verbose": 0, "shuffle": False}
history = model.fit(features[half], targets[half], callbacks=callbacks, **fit)
print("weights", np.concatenate([each.ravel() for each in model.get_weights()]).round(5).tolist(), "loss",
      [round(float(each), 5) for each in history.history["loss"]])
model.save("rank%d.h5" % hvd.rank())
loaded = hvd.load_model("rank%d.h5" % hvd.rank())
assert type(loaded.optimizer).__name__ == "SGD" and tf.keras.backend.get_value(loaded.optimizer.iterations) == 12
for each in (model, loaded):  # what was loaded goes on as the model does: its gradients are those of both ranks, too
    each.train_on_batch(features[half], targets[half] + hvd.rank())
after = [np.concatenate([each.ravel() for each in one.get_weights()]) for one in (model, loaded)]
assert np.allclose(*after, rtol=1e-6), after
assert np.allclose(hvd.allreduce(after[1], name="loaded"), after[1], rtol=1e-6), after
"""

PLAIN = "print('no Horovod here')"
