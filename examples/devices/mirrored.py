"""Mirrored: the GPUs of one machine train one model together, each on its part of every batch (TensorFlow 2).

    python examples/devices/mirrored.py

Each replica computes the loss of its part; the gradients are summed. So each divides by the size of the whole batch and
not of its part: the steps are then those of one device with that batch.

The pitfall, which `tf1sessions doctor` names mean-in-replica: a loss that is the mean of a replica's part. The gradients
are summed, and with two replicas each step is twice as large::

    import tensorflow as tf

    strategy = tf.distribute.MirroredStrategy()

    def replica_step(points, wanted):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(points @ weight - wanted))
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])

    strategy.run(replica_step, args=batch)
"""

import numpy as np
import tensorflow as tf

BATCH = 64


def two_devices():
    """The names of two devices; to be called before TensorFlow computes anything."""
    gpus = tf.config.list_logical_devices("GPU")
    if len(gpus) > 1:
        return ["GPU:0", "GPU:1"]
    print("fewer than two GPUs here: two logical CPU devices stand for them")
    return ["CPU:0", "CPU:1"]


def losses_of(strategy):
    """Trains from the same initial values on the same batches; returns the loss of each step."""
    with strategy.scope():
        weight = tf.Variable(tf.zeros([2, 1]))
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)  # one of Keras would do as well
    x = np.random.default_rng(0).normal(size=[10 * BATCH, 2]).astype(np.float32)
    batches = tf.data.Dataset.from_tensor_slices((x, x @ [[1.0], [2.0]])).batch(BATCH)

    def replica_step(points, wanted):
        with tf.GradientTape() as tape:
            errors = tf.reduce_sum(tf.square(points @ weight - tf.cast(wanted, tf.float32)), axis=1)
            loss = tf.nn.compute_average_loss(errors, global_batch_size=BATCH)
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])  # sums them over the replicas
        return loss

    @tf.function
    def step(batch):
        return strategy.reduce("SUM", strategy.run(replica_step, args=batch), axis=None)

    return [float(step(batch)) for batch in strategy.experimental_distribute_dataset(batches)]


def main():
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    devices = two_devices()
    together = losses_of(tf.distribute.MirroredStrategy(devices))
    alone = losses_of(tf.distribute.OneDeviceStrategy(devices[0]))
    print(f"two replicas learn what one device does: {np.allclose(together, alone, rtol=1e-4)}")
    print(f"the loss fell to less than a tenth: {together[-1] < together[0] / 10}")


if __name__ == "__main__":
    main()
