"""Parts of a model on several devices, in one graph and one session: for a model that one GPU has no room for.

    python examples/devices/model_parts.py

`tf.device` says where the operations of a part are. `colocate_gradients_with_ops` computes the gradients of a part
where the part is; without it they are all on the first device, which then needs the memory of both. Soft placement is
off: with it, a part whose device is not there would be put on another one without a word.

The pitfall, which `tf1sessions doctor` names memory-of-several-sessions: a session for each part, that sees another
GPU. A process has one list of visible GPUs, and TensorFlow refuses or ignores the second::

    import tensorflow as tf

    first = tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list="0"))
    second = tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list="1"))
    encoder, decoder = tf.Session(config=first), tf.Session(config=second)
"""

import numpy as np

import tf1sessions as t1


def two_devices():
    """Two devices, and the configuration of a session that has them."""
    gpus = t1.MemoryPlan().machine.gpus
    if len(gpus) > 1:
        return ["/device:GPU:0", "/device:GPU:1"], t1.SessionConfig(allow_growth=True, seed=1)
    plan = t1.MemoryPlan(lanes=2)  # two parts of one GPU, or of the CPU
    print("one GPU here, in two parts" if gpus else "no GPU here: two logical CPU devices stand for two GPUs")
    return [plan.lane(0), plan.lane(1)], plan.config(seed=1)


def main():
    tf = t1.tf1
    (first, second), config = two_devices()
    with t1.GraphSession(config) as gs:
        with tf.device(first):
            x = tf.placeholder(tf.float32, [None, 2])
            hidden = tf.nn.tanh(tf.matmul(x, tf.get_variable("inner", [2, 16])) + tf.get_variable("bias", [16]))
        with tf.device(second):
            y = tf.placeholder(tf.float32, [None, 1])
            guess = tf.matmul(hidden, tf.get_variable("outer", [16, 1]))
            loss = tf.reduce_mean(tf.square(guess - y))
        train = tf.train.AdamOptimizer(0.05).minimize(loss, colocate_gradients_with_ops=True)
        gs.initialize()
        print(f"hidden layer on {hidden.device}, output on {guess.device}")

        random = np.random.default_rng(0)
        losses = []
        for _ in range(200):
            points = random.uniform(-1, 1, [64, 2]).astype(np.float32)
            value, _ = gs.run([loss, train], {x: points, y: points[:, :1] * points[:, 1:]})
            losses.append(value)
        print(f"the loss fell to less than a fifth: {bool(losses[-1] < losses[0] / 5)}")


if __name__ == "__main__":
    main()
