"""Virtual devices with a stream each: the sessions of one process divide a GPU, and none takes another's memory.

    python examples/devices/lanes.py

A lane is a logical device: a part of the GPU with a hard limit of memory and a compute stream of its own, so that
kernels of two sessions may run at the same time. What a lane leaves unused helps no other.

The pitfall, which `tf1sessions doctor` names memory-of-several-sessions: a session for each thread that asks for its
part. The process has what the first one asked for, and one stream for all::

    import threading
    import tensorflow as tf

    small = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.2))
    large = tf.ConfigProto(gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.6))
    total = tf.reduce_sum(tf.ones([100, 100]))
    for session in [tf.Session(config=small), tf.Session(config=large)]:
        threading.Thread(target=session.run, args=(total,)).start()
"""

import tf1sessions as t1

LANES = 2


def train(session, rate):
    """Trains a model on the lane that the pool has chosen; the code names no device."""
    tf = t1.tf1
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    step = tf.train.GradientDescentOptimizer(rate).minimize((weight - 1.0) ** 2)
    session.initialize()
    for _ in range(10):
        session.run(step)
    return step.device, float(session.run(weight))


def main():
    plan = t1.MemoryPlan(lanes=LANES)
    if plan.share().gpu is None:
        print(f"no GPU here: {LANES} logical CPU devices stand for its parts")
    else:
        print(f"{LANES} parts of GPU {plan.share().gpu}, {plan.share().lane_mb:.0f} MiB each")
    rates = [0.1, 0.2]
    with t1.ThreadSessionPool(LANES, plan=plan) as pool:
        for rate, (device, weight) in zip(rates, pool.map(train, rates)):
            print(f"rate {rate} on {device}: weight {weight:.3f}")


if __name__ == "__main__":
    main()
